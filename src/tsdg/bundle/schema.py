"""What a bundle's card holds, as types: what predicts rests on nothing else."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from tsdg.learning.backbones.options import DEFAULTS, OPTIONS
from tsdg.learning.network_inputs import INPUTS
from tsdg.runs.record import ROUNDING
from tsdg.runs.strict import Number, converted

FORMAT = 2

Positive = Annotated[int, Meta(ge=1, le=2**31 - 1)]
AboveZero = Annotated[float, Meta(gt=0, le=1e30)]
Deviation = Annotated[float, Meta(gt=0, le=3.5e38)]  # of float32
Fraction = Annotated[float, Meta(ge=0, le=1 + ROUNDING)]


class Window(Struct, frozen=True):
    """Of which length and how far apart windows are, and what becomes of a stretch that is shorter."""

    length: Positive
    stride: Positive
    short: Literal["drop", "pad"]


class Scale(Struct, frozen=True):
    """What a channel is reduced by and divided by."""

    channel: str
    mean: Number
    deviation: Deviation


class Order(Struct, frozen=True):
    """Resampling to a shaft's angle, see `tsdg.data.own.order`."""

    column: str
    unit: Literal["rpm", "Hz"]
    per_revolution: Positive


class Network(Struct, frozen=True):
    """A network's backbone, or an estimator's features."""

    backbone: str | None = None
    width: Positive | None = None
    depth: Positive | None = None
    kernel: Positive | None = None
    stride: Positive | None = None
    heads: Positive | None = None
    patch: Positive | None = None
    norm: str | None = None
    input: str = "raw"
    features: Any = None

    def __post_init__(self) -> None:
        if (self.backbone is None) == (self.features is None):
            raise ValueError("it names neither a backbone nor features, or both")
        if self.backbone is not None and self.backbone not in DEFAULTS:
            raise ValueError(f"backbone {self.backbone!r:.40} is not known")
        has = {} if self.backbone is None else DEFAULTS[self.backbone]
        for name in OPTIONS:
            if getattr(self, name) is not None and name not in has:
                raise ValueError(f"backbone {self.backbone} has no {name}")
        if self.input not in ("raw", *INPUTS):
            raise ValueError(f"input {self.input!r:.40} is not known")

    @property
    def has_features(self) -> bool:
        """Whether something is computed of windows, whose mean may be taken."""
        return self.features is not None or self.input in INPUTS


class Given(Struct, frozen=True):
    """What the model takes of a new domain, see `tsdg.bundle.new_domain.Given`."""

    center: Literal["none", "reference", "domain"]
    reference: str | None
    one_kind: Number
    all_kinds: Number


class Scores(Struct, frozen=True):
    """How good the model was on a domain's validation windows."""

    accuracy: Fraction
    ece: Fraction
    n: Positive


class Card(Struct, frozen=True):
    """A card, see `tsdg.bundle.card.make_card`."""

    format: Literal[2]
    checksum: str
    dataset: str
    variant: str
    label: str
    method: dict[str, str]
    classes: list[str]
    channels: list[str]
    sampling_rate: AboveZero | None
    resample: AboveZero | None
    columns: dict[str, str | None]
    window: Window
    input: str
    output: str
    network: Network
    standardize: list[Scale] | None
    temperature: AboveZero
    domains: dict[str, dict[str, Any]]
    validation: dict[str, Scores]
    draw: int | str
    draw_chosen: str
    hparams: dict[str, Number]
    seed: int
    config: dict[str, Any]
    simulated: bool
    data: str
    code: dict[str, str]
    notes: list[str]
    order: Order | None = None
    given: Given | None = None
    members: Positive = 1  # of an ensemble

    def __post_init__(self) -> None:
        for name, values, least in (("classes", self.classes, 2), ("channels", self.channels, 1)):
            if twice := next((value for value in values if values.count(value) > 1), None):
                raise ValueError(f"{name} holds {twice!r:.40} twice")
            if len(values) < least or not all(values):
                raise ValueError(f"{name} does not hold {least} or more names")
        scaled = self.standardize
        if scaled is not None and [scale.channel for scale in scaled] != self.channels:
            raise ValueError("standardize is not of the channels, in their order")
        if self.given and self.given.center != "none" and not self.network.has_features:
            raise ValueError(f"given centres features, and the network's input is {self.network.input}")
        if self.domains.keys() != self.validation.keys():
            raise ValueError("validation is not of the domains")


def check(card: Any) -> None:
    """Raise `ValueError`, which says where and why, unless parsed JSON is a bundle's card."""
    if not isinstance(card, dict):
        raise ValueError("it holds no JSON object")
    if card.get("format") != FORMAT:
        raise ValueError(f"its format is {card.get('format')!r:.40} where this version reads {FORMAT}")
    converted(card, Card)
