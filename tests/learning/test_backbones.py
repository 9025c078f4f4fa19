"""Backbones with a run axis against PyTorch's own modules, one run at a time, wired as in their papers."""

import inspect

import pytest
import torch
import torch.nn.functional as F
from reference import SLOPE, close, normal, streams
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

from tsdg.errors import InputError
from tsdg.learning import networks
from tsdg.learning.backbones.options import DEFAULTS, NORMALIZATIONS, OPTIONS
from tsdg.learning.networks import BACKBONES

CLASSES = 4


class Layer(nn.Module):
    """`torch.nn.LayerNorm` of channels, the second axis."""

    def __init__(self, channels):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))

    def forward(self, x):
        return F.layer_norm(x.movedim(1, -1), self.weight.shape, self.weight, self.bias).movedim(-1, 1)


NORMS = {"batch": nn.BatchNorm1d, "layer": Layer, "instance": lambda c: nn.InstanceNorm1d(c, affine=True)}


def stem(channels, width, stride, norm):
    conv = nn.Conv1d(channels, width, 4 * stride, stride, 3 * stride // 2)
    return nn.ModuleDict({"conv": conv, "norm": NORMS[norm](width)} if stride > 1 else {})


def stemmed(layers, x):
    return F.relu(layers["norm"](layers["conv"](x))) if layers else x


class ResNet1d(nn.Module):
    def __init__(self, channels, length, width=64, depth=3, stride=1, norm="batch"):
        super().__init__()
        self.stem = stem(channels, width, stride, norm)
        widths = [width if stride > 1 else channels, width, *[2 * width] * (depth - 1)]
        self.blocks = nn.ModuleList()
        for i, o in zip(widths, widths[1:], strict=False):
            block = nn.Module()
            block.convs = nn.ModuleList(
                nn.Conv1d(a, o, k, padding="same") for a, k in ((i, 8), (o, 5), (o, 3))
            )
            block.norms = nn.ModuleList(NORMS[norm](o) for _ in range(3))
            block.shortcut = nn.Conv1d(i, o, 1) if i != o else nn.Identity()
            block.shortcut_norm = NORMS[norm](o)
            self.blocks.append(block)

    def forward(self, x):
        x = stemmed(self.stem, x)
        for b in self.blocks:
            y = F.relu(b.norms[0](b.convs[0](x)))
            y = F.relu(b.norms[1](b.convs[1](y)))
            x = F.relu(b.norms[2](b.convs[2](y)) + b.shortcut_norm(b.shortcut(x)))
        return x.mean(2)


class Inception(nn.Module):
    def __init__(self, channels, length, width=32, depth=6, kernel=40, stride=1, norm="batch"):
        super().__init__()
        self.stem = stem(channels, width, stride, norm)
        self.blocks, self.shortcuts = nn.ModuleList(), nn.ModuleList()
        inputs = before = width if stride > 1 else channels
        for place in range(depth):
            block = nn.Module()
            narrow = width if inputs > 1 else 1
            block.bottleneck = nn.Conv1d(inputs, width, 1, bias=False) if inputs > 1 else nn.Identity()
            block.convs = nn.ModuleList(
                nn.Conv1d(narrow, width, kernel // 2**i, padding="same", bias=False) for i in range(3)
            )
            block.pooled = nn.Conv1d(inputs, width, 1, bias=False)
            block.norm = NORMS[norm](4 * width)
            self.blocks.append(block)
            inputs = 4 * width
            if place % 3 == 2:
                shortcut = {"conv": nn.Conv1d(before, inputs, 1, bias=False), "norm": NORMS[norm](inputs)}
                self.shortcuts.append(nn.ModuleDict(shortcut))
                before = inputs
        self.pool = nn.MaxPool1d(3, 1, padding=1)

    def forward(self, x):
        x = before = stemmed(self.stem, x)
        shortcuts = iter(self.shortcuts)
        for place, b in enumerate(self.blocks):
            narrow = b.bottleneck(x)
            x = F.relu(b.norm(torch.cat([*(c(narrow) for c in b.convs), b.pooled(self.pool(x))], 1)))
            if place % 3 == 2:
                shortcut = next(shortcuts)
                x = before = F.relu(x + shortcut["norm"](shortcut["conv"](before)))
        return x.mean(2)


class TCN(nn.Module):
    def __init__(self, channels, length, width=25, depth=None, kernel=7, stride=1, norm="weight"):
        super().__init__()
        self.stem = stem(channels, width, stride, norm if norm in NORMS else "batch")
        inputs = width if stride > 1 else channels
        self.norm = norm
        self.blocks = nn.ModuleList()
        for place in range(depth):
            block, step = nn.Module(), 2**place
            convs = [nn.Conv1d(i, width, kernel, padding=step * (kernel - 1), dilation=step)
                     for i in (inputs, width)]  # fmt: skip
            block.convs = nn.ModuleList(map(weight_norm, convs) if norm == "weight" else convs)
            block.norms = nn.ModuleList(
                nn.Identity() if norm == "weight" else NORMS[norm](width) for _ in range(2)
            )
            block.shortcut = nn.Conv1d(inputs, width, 1) if inputs != width else nn.Identity()
            self.blocks.append(block)
            inputs = width

    def forward(self, x):
        x = stemmed(self.stem, x)
        for b in self.blocks:
            y = x
            for conv, norm in zip(b.convs, b.norms, strict=True):
                y = F.relu(norm(conv(y)[:, :, : x.shape[2]]))
            x = F.relu(y + b.shortcut(x))
        return x[:, :, -1]


class Transformer(nn.Module):
    def __init__(self, channels, length, width=64, depth=3, heads=4, patch=16, norm="layer"):
        super().__init__()
        self.patches = nn.Module()
        self.patch, self.surplus = patch, -length % patch
        self.patches.linear = nn.Linear(channels * patch, width)
        self.patches.place = nn.Parameter(torch.zeros((length + self.surplus) // patch, width))
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(
                width, heads, 4 * width, dropout=0, activation="gelu", batch_first=True, norm_first=True
            )
            for _ in range(depth)
        )
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        x = F.pad(x, (0, self.surplus), mode="replicate").unfold(2, self.patch, self.patch)  # (N, C, L, p)
        x = self.patches.linear(x.transpose(1, 2).flatten(2)) + self.patches.place
        for block in self.blocks:
            x = block(x)
        return self.norm(x).mean(1)


class WDCNN(nn.Module):
    def __init__(self, channels, length, width=16, depth=5, norm="batch"):
        super().__init__()
        widths = [width, 2 * width, *[4 * width] * (depth - 2)]
        self.blocks = nn.ModuleList()
        for place, (i, o) in enumerate(zip([channels, *widths], widths, strict=False)):
            conv = nn.Conv1d(i, o, 3, padding=int(place < depth - 1))
            if place == 0:
                conv = nn.Conv1d(i, o, 64, 16, padding=24)
            self.blocks.append(nn.ModuleDict({"conv": conv, "norm": NORMS[norm](o)}))
        self.pool = nn.MaxPool1d(2)
        x = torch.zeros(1, channels, length)
        for block in self.blocks:
            x = self.pool(block["conv"](x))
        self.linear, self.norm = nn.Linear(x.numel(), 100), NORMS[norm](100)

    def forward(self, x):
        for block in self.blocks:
            x = self.pool(F.relu(block["norm"](block["conv"](x))))
        return F.relu(self.norm(self.linear(x.flatten(1))))


class HAR(nn.Module):
    def __init__(self, channels, length, width=128, norm="batch"):
        super().__init__()
        shapes = [(channels, width, 8), (width, 2 * width, 5), (2 * width, width, 3)]
        self.convs = nn.ModuleList(nn.Conv1d(i, o, k, padding=1) for i, o, k in shapes)
        self.norms = nn.ModuleList(NORMS[norm](o) for _, o, _ in shapes)

    def forward(self, x):
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = F.leaky_relu(norm(conv(x)), SLOPE)
        return x.mean(2)


class Bearings(nn.Module):
    def __init__(self, channels, length, norm="batch"):
        super().__init__()
        shapes = [(channels, 64, 2), *[(8, 3, 2)] * 4, (8, 8, 1)]
        for place, (i, k, stride) in enumerate(shapes, start=1):
            setattr(self, f"conv{place}", nn.Conv1d(i, 8, k, stride, padding=1))
            length = (length + 2 - k) // stride + 1
            if place <= 4:
                setattr(self, f"norm{place}", NORMS[norm](8))
        self.linear = nn.Linear(8 * length, 32)

    def forward(self, x):
        for place in range(1, 5):
            x = F.leaky_relu(getattr(self, f"norm{place}")(getattr(self, f"conv{place}")(x)), SLOPE)
        return self.linear(self.conv6(F.leaky_relu(self.conv5(x), SLOPE)).flatten(1))


OURS = {  # names of the twins' weights where they have others
    "self_attn.in_proj_": "attention.inner.",
    "self_attn.out_proj.": "attention.outer.",
    "parametrizations.weight.original0": "magnitude",
    "parametrizations.weight.original1": "weight",
}


def copied(twin, network, r):
    """The weights of a run, in the twin; nothing is left over on either side."""
    state = {name: value[r] for name, value in network.state_dict().items()}
    theirs = {}
    for name, value in twin.state_dict().items():
        if name.endswith("num_batches_tracked"):
            continue
        ours = name
        for old, new in OURS.items():
            ours = ours.replace(old, new)
        theirs[name] = state.pop(ours).reshape(value.shape)
    assert not state, "weights without a twin"
    twin.load_state_dict(theirs, strict=False)


class Twin(nn.Module):
    def __init__(self, featurizer, features, hidden):
        super().__init__()
        widths = [features, *hidden, CLASSES]
        layers = [m for i, o in zip(widths, widths[1:], strict=False) for m in (nn.Linear(i, o), nn.ReLU())]
        self.featurizer, self.classifier = featurizer, nn.Sequential(*layers[:-1])

    def forward(self, x):
        return self.classifier(self.featurizer(x))


CASES = {
    "har": (HAR, [(2, 33, {"width": 8, "norm": "layer"}), (2, 33, {"width": 8, "norm": "instance"})]),
    "bearings": (Bearings, [(1, 401, {"norm": "layer"}), (2, 350, {"norm": "instance"})]),
    "resnet1d": (ResNet1d, [
        (6, 128, {}), (1, 101, {"width": 5, "depth": 4, "stride": 3}), (2, 24, {"norm": "layer"}),
        (3, 37, {"width": 4, "depth": 1, "norm": "instance"}), (8, 24, {"width": 8, "depth": 2}),
    ]),
    "inception": (Inception, [
        (6, 128, {"width": 8}), (1, 101, {"width": 3, "depth": 3, "kernel": 11}),
        (11, 24, {"width": 4, "depth": 4, "norm": "layer"}),
        (1, 400, {"width": 3, "depth": 3, "stride": 16, "norm": "instance"}),
    ]),
    "tcn": (TCN, [
        (6, 128, {"depth": 4}), (1, 101, {"width": 5, "depth": 3, "kernel": 4, "stride": 2}),
        (5, 24, {"width": 5, "depth": 2, "norm": "batch"}),
        (2, 31, {"width": 4, "depth": 2, "norm": "layer"}),
    ]),
    "transformer": (Transformer, [
        (6, 128, {}), (1, 101, {"width": 12, "depth": 1, "heads": 3, "patch": 7}), (11, 24, {"depth": 2}),
    ]),
    "wdcnn": (WDCNN, [
        (1, 4096, {}), (2, 701, {"width": 3, "depth": 3}), (1, 801, {"depth": 4, "norm": "layer"}),
    ]),
}  # fmt: skip
SHAPES = [(name, *case) for name, (_, cases) in CASES.items() for case in cases]


@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize(("name", "channels", "length", "options"), SHAPES, ids=str)
def test_a_backbone_trains_as_its_twin(name, channels, length, options, runs):
    network = networks.build(
        name, channels=channels, length=length, classes=CLASSES, generators=streams(range(runs)), **options
    ).double()
    twins = [Twin(CASES[name][0](channels, length, **options), network.features, network.featurizer.hidden)
             for _ in range(runs)]  # fmt: skip
    for r, twin in enumerate(twins):
        copied(twin.double(), network, r)
    x, labels = normal(runs, 6, channels, length), torch.arange(6) % CLASSES

    def step(module, loss):
        module.zero_grad()
        loss.backward()
        with torch.no_grad():
            for parameter in module.parameters():
                parameter -= 0.1 * parameter.grad

    for _ in range(2):
        logits = network(x)
        step(network, F.cross_entropy(logits.flatten(0, 1), labels.repeat(runs), reduction="sum"))
        for r, twin in enumerate(twins):
            expected = twin(x[r])
            close(logits[r], expected, 1e-10)
            step(twin, F.cross_entropy(expected, labels, reduction="sum"))
    logits = network.eval()(x)
    for r, twin in enumerate(twins):
        close(logits[r], twin.eval()(x[r]), 1e-10)


NEW = [name for name in CASES if name not in ("har", "bearings")]
SMALL = {"width": 4, "depth": 2}


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("name", BACKBONES)
def test_a_run_that_diverges_leaves_the_other_alone(name, groups):
    shape = {"channels": 2, "length": 450, "classes": 3} | (SMALL if name in NEW else {})
    pack = networks.build(name, **shape, generators=streams([3, 7])).double()
    alone = networks.build(name, **shape, generators=streams([7])).double()
    x = normal(2, 6, 2, 450)
    x[0, 0, 0] = torch.inf
    for network, batch in ((pack, x), (alone, x[1:])):
        network(batch, groups).sum().backward()
    assert not pack.eval()(x)[0].isfinite().all()
    close(pack(x)[1], alone.eval()(x[1:])[0], 1e-12)
    for mine, other in zip(pack.parameters(), alone.parameters(), strict=True):
        assert torch.allclose(mine.grad[1], other.grad[0], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", BACKBONES)
def test_blocks_are_where_a_hook_acts(name):
    shape = {"channels": 2, "length": 450, "classes": 3} | (SMALL if name in NEW else {})
    network = networks.build(name, **shape, generators=streams([0, 1]))
    x = normal(2, 6, 2, 450, dtype=torch.float32)
    plain, seen = network(x), []

    def doubled(module, arguments, made):
        seen.append(made.shape)
        return 2 * made

    for block in network.featurizer.blocks:
        block.register_forward_hook(doubled)
    assert not torch.allclose(network(x), plain)
    assert len(seen) == len(network.featurizer.blocks)
    assert all(len(shape) == 4 and shape[:2] == (2, 6) for shape in seen)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("resnet1d", 507_654), ("inception", 491_398), ("tcn", 32_406),
        ("transformer", 157_190), ("har", 270_598),
    ],
)  # fmt: skip
def test_parameters_of_the_published_networks_on_hapt(name, parameters):
    network = networks.build(name, channels=6, length=128, classes=6, generators=streams([0]))
    assert sum(p[0].numel() for p in network.parameters()) == parameters


@pytest.mark.parametrize(("channels", "length"), [(1, 4096), (6, 128), (3, 128), (11, 24), (2, 57)])
@pytest.mark.parametrize("name", BACKBONES)
def test_windows_of_any_length_make_features_or_a_clear_message(name, channels, length):
    shape = {"channels": channels, "length": length, "classes": 3, "generators": streams([0])}
    if name in ("bearings", "wdcnn") and length <= 128:
        with pytest.raises(InputError, match=r"too short for the .*`"):
            networks.build(name, **shape)
        return
    network = networks.build(name, **shape)
    assert network(normal(1, 2, channels, length, dtype=torch.float32)).isfinite().all()


@pytest.mark.parametrize(
    ("name", "length", "options", "words"),
    [
        ("transformer", 15, {}, "too short for the transformer backbone with `patch: 16`"),
        ("transformer", 128, {"heads": 5}, "`width` 64 is no multiple of its `heads`, 5"),
        ("wdcnn", 300, {}, "too short for the wdcnn backbone with `depth: 5`"),
        ("resnet1d", 15, {"stride": 16}, "too short for the backbone's `stride: 16`"),
        ("har", 8, {"norm": "instance"}, "`norm: instance` needs two time steps"),
    ],
)
def test_networks_that_cannot_be_are_refused(name, length, options, words):
    with pytest.raises(InputError, match=words):
        networks.build(name, channels=1, length=length, classes=2, generators=streams([0]), **options)


def test_the_last_step_of_a_tcn_sees_the_whole_window():
    for length, kernel in ((24, 7), (128, 7), (101, 4)):
        network = networks.build(
            "tcn", channels=1, length=length, classes=2, generators=streams([0]), kernel=kernel, width=4
        ).double()
        for parameter in network.parameters():  # so that no activation is cut off
            parameter.data.abs_()
        x = normal(1, 1, 1, length).abs().requires_grad_()
        network.featurizer(x).sum().backward()
        assert (x.grad > 0).all()
        deep = len(network.featurizer.blocks)
        assert 1 + 2 * (kernel - 1) * (2 ** (deep - 1) - 1) < length


def test_a_tcn_deeper_than_its_window_is_long_is_that_of_ever_wider_dilations():
    network = networks.build(
        "tcn", channels=1, length=16, classes=2, generators=streams([0]), width=3, depth=70
    ).double()
    blocks = network.featurizer.blocks
    assert [conv.dilation for block in blocks[3:] for conv in block.convs] == [8, 8] + [16, 16] * 66
    x = normal(1, 2, 1, 16)
    capped = network(x)
    for place, block in enumerate(blocks[:9]):
        for conv in block.convs:
            conv.dilation = 2**place
            conv.before = (conv.kernel_size - 1) * conv.dilation
    torch.testing.assert_close(network(x), capped, rtol=0, atol=0)


@pytest.mark.parametrize("name", BACKBONES)
def test_options_are_those_of_the_constructor(name):
    named = inspect.signature(BACKBONES[name]).parameters.values()
    assert DEFAULTS[name] == {
        option.name: option.default for option in named if option.kind is option.KEYWORD_ONLY
    }
    assert set(DEFAULTS[name]) <= set(OPTIONS)
    if "norm" in DEFAULTS[name]:
        assert NORMALIZATIONS[name] == BACKBONES[name].normalizations
