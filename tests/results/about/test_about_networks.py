"""The table of the networks says what the networks do."""

from tsdg.learning import networks
from tsdg.results.about.networks import DATASETS, architectures, render
from tsdg.streams import torch_stream


def test_parameters_are_those_of_the_networks():
    table = architectures()
    for dataset, (backbone, channels, length, classes) in DATASETS.items():
        network = networks.build(
            backbone,
            channels=channels,
            length=length,
            classes=classes,
            generators=[torch_stream(0, "weights")],
        )
        part = table[table["dataset"] == dataset]
        assert part["parameters"].sum() == sum(p.numel() for p in network.parameters())
        assert part["output"].iloc[-1] == str(classes)


def test_what_happens_between_layers_is_told():
    table = architectures()
    bearings = table[table["dataset"] == "Bearings"]["layer"].tolist()
    assert [name.split(",")[0] for name in bearings] == [
        *["Convolution", "Batch normalization"] * 4, "Convolution", "LeakyReLU", "Convolution", "Flatten",
        "Fully connected", *["Fully connected", "ReLU"] * 2, "Fully connected",
    ]  # fmt: skip
    hhar = table[table["dataset"] == "HHAR"].set_index("layer")
    assert hhar.loc["Average over time", "output"] == "128"
    assert hhar["output"].iloc[0] == "128 × 123"


def test_files(tmp_path):
    paths = render(tmp_path)
    assert [path.name for path in paths] == ["networks.csv", "networks.tex"]
    assert r"8 $\times$ 2018" in paths[1].read_text()
