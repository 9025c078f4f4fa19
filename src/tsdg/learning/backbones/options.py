"""The options of each backbone with their defaults, as a study needs them, without PyTorch.

They are those of the backbones' constructors.
"""

from tsdg.data.own.backbone import WIDTH

OPTIONS = ("width", "depth", "kernel", "stride", "heads", "patch", "norm")  # which some backbones have
DEFAULTS: dict[str, dict[str, int | str | None]] = {
    "bearings": {"norm": "batch"},
    "har": {"width": WIDTH, "norm": "batch"},
    "resnet1d": {"width": 64, "depth": 3, "stride": 1, "norm": "batch"},
    "inception": {"width": 32, "depth": 6, "kernel": 40, "stride": 1, "norm": "batch"},
    "tcn": {"width": 25, "depth": None, "kernel": 7, "stride": 1, "norm": "weight"},
    "transformer": {"width": 64, "depth": 3, "heads": 4, "patch": 16, "norm": "layer"},
    "wdcnn": {"width": 16, "depth": 5, "norm": "batch"},
    "toy": {},
}
NORMALIZATIONS = {
    **dict.fromkeys(DEFAULTS, ("batch", "layer", "instance")),
    "tcn": ("weight", "batch", "layer", "instance"),
    "wdcnn": ("batch", "layer"),
}
