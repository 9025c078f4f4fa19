"""Table of the networks, made by watching them at work."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tsdg.data.kinds import KINDS, Shape
from tsdg.learning.layers import NEGATIVE_SLOPE, BatchNorm, Conv1d, Linear
from tsdg.learning.network_inputs import NetworkInput
from tsdg.learning.networks import build
from tsdg.results.latex import document, escape, ruled
from tsdg.results.tables import write
from tsdg.streams import torch_stream

PAPER = {kind.title: kind.shape for kind in KINDS.values() if kind.shape}
DATASETS = {  # and that of the rows whose input is a spectrum, see params.yaml
    **PAPER,
    "Bearings, spectrum": PAPER["Bearings"]._replace(input="spectrum"),
}
NORMALIZED, LEAKY, RELU = "Batch normalization, LeakyReLU", "LeakyReLU", "ReLU"
CAPTION = "Networks: layers with their output for one window (channels x time steps) and their parameters."


def architectures() -> pd.DataFrame:
    """One row a layer, normalization or activation: dataset, backbone, layer, output, parameters."""
    rows = [
        (dataset, shape.backbone, *layer) for dataset, shape in DATASETS.items() for layer in _layers(shape)
    ]
    return pd.DataFrame(rows, columns=["dataset", "backbone", "layer", "output", "parameters"])


def render(folder: str | Path) -> list[Path]:
    """Write ``networks.csv`` and ``networks.tex``; return their paths."""
    table = architectures()
    blocks = []
    for dataset, part in table.groupby("dataset", sort=False):
        rows: list[list[str]] = []
        for layer, output, parameters in _lines(part):
            cells = [escape(cell) for cell in ("" if rows else str(dataset), layer, output)]
            rows.append([*cells, f"{parameters:,}" if parameters else ""])
        blocks.append([*rows, ["", "All", "", f"{part['parameters'].sum():,}"]])
    lines = ruled(["Data set", "Layer", "Output", "Parameters"], blocks)
    return write("networks", table, document("networks", CAPTION, "lllr", lines), folder)


def _lines(layers: pd.DataFrame) -> Iterator[tuple[str, str, int]]:
    """Layers, each with the normalization and activation that follow it, as the paper has them in a line."""
    own = ~layers["layer"].isin([NORMALIZED, LEAKY, RELU])
    for _, line in layers.groupby(own.cumsum()):
        yield ", ".join(line["layer"]), line["output"].iloc[-1], int(line["parameters"].sum())


def _layers(shape: Shape) -> Iterator[tuple[str, str, int]]:
    """Layers in the order in which a batch passes them, and what happens between them."""
    network = build(**shape._asdict(), generators=[torch_stream(0, "weights")]).eval()
    passed: list[tuple[nn.Module, Tensor, Tensor]] = []

    def watch(module: nn.Module, arguments: tuple[Any, ...], made: Tensor) -> None:
        given = arguments[0]
        if isinstance(module, NetworkInput):
            made = made.transpose(2, 3)
        elif isinstance(module, Conv1d):  # without what comes after its end
            made = made[:, :, : module.output_length(given.shape[2])]
        elif isinstance(module, BatchNorm):
            given = given[:, :, : made.shape[2]]
        passed.append((module, given.clone(), made.clone()))

    for module in network.modules():
        if isinstance(module, NetworkInput | Conv1d | BatchNorm | Linear | nn.ReLU):
            module.register_forward_hook(watch)
    with torch.no_grad():
        network(torch.randn(1, 2, shape.channels, shape.length, generator=torch_stream(0, "input")))
    for i, (module, given, made) in enumerate(passed):
        if i and (between := _between(passed[i - 1][2], given)):
            yield between, _shape(given), 0
        yield _describe(module), _shape(made), sum(p[0].numel() for p in module.parameters())


def _between(before: Tensor, after: Tensor) -> str:
    """What a network does to activations outside of its layers."""
    if before.shape == after.shape:
        changed = not torch.equal(after, before)
        return LEAKY if changed and torch.equal(after, F.leaky_relu(before, NEGATIVE_SLOPE)) else ""
    return "Average over time" if after.shape[-1] == before.shape[-1] else "Flatten"


def _describe(module: nn.Module) -> str:
    if isinstance(module, Conv1d):
        filters = f"{module.weight.shape[1]} filters of {module.kernel_size}"
        return f"Convolution, {filters}, stride {module.stride}, padding {module.padding}"
    if isinstance(module, NetworkInput):
        return module.title
    names = {BatchNorm: NORMALIZED, Linear: "Fully connected", nn.ReLU: RELU}
    return names[type(module)]


def _shape(x: Tensor) -> str:
    return f"{x.shape[3]} × {x.shape[2]}" if x.ndim == 4 else f"{x.shape[2]}"
