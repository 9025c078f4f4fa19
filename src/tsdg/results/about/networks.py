"""Table of the networks, made by watching them at work."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tsdg.data.kinds import KINDS, Shape
from tsdg.learning.layers import NEGATIVE_SLOPE, BatchNorm, Conv1d, InstanceNorm, LayerNorm, Linear
from tsdg.learning.network_inputs import NetworkInput
from tsdg.learning.networks import build
from tsdg.results.latex import document, escape, ruled
from tsdg.results.tables import write
from tsdg.streams import torch_stream

PAPER = {kind.title: kind.shape for kind in KINDS.values() if kind.shape}
DATASETS = {  # that of the rows whose input is a spectrum, see params.yaml, and the field's as published
    **PAPER,
    "Bearings, spectrum": PAPER["Bearings"]._replace(input="spectrum"),
    "Bearings, wdcnn": PAPER["Bearings"]._replace(backbone="wdcnn"),
    **{
        f"HAPT, {name}": PAPER["HAPT"]._replace(backbone=name)
        for name in ("resnet1d", "inception", "tcn", "transformer")
    },
}
NORMALIZED = {
    BatchNorm: "Batch normalization",
    LayerNorm: "Layer normalization",
    InstanceNorm: "Instance normalization",
}
LEAKY, RELU = "LeakyReLU", "ReLU"
ACTIVATIONS = {NEGATIVE_SLOPE: f", {LEAKY}", 0: f", {RELU}", 1: ""}  # by the slope below zero
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
    follows = layers["layer"].isin([LEAKY, RELU]) | layers["layer"].str.startswith(tuple(NORMALIZED.values()))
    for _, line in layers.groupby((~follows).cumsum()):
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
        elif isinstance(module, BatchNorm | LayerNorm | InstanceNorm):
            given = given[:, :, : made.shape[2]]
        passed.append((module, given.clone(), made.clone()))

    for module in _parts(network):
        module.register_forward_hook(watch)
    with torch.no_grad():
        network(torch.randn(1, 2, shape.channels, shape.length, generator=torch_stream(0, "input")))
    for i, (module, given, made) in enumerate(passed):
        if i and (between := _between(passed[i - 1][2], given)):
            yield between, _shape(given), 0
        yield _describe(module), _shape(made), sum(p[0].numel() for p in module.parameters())


def _parts(module: nn.Module) -> Iterator[nn.Module]:
    """What is told of a network: its blocks that have titles, as wholes, and layers outside of them."""
    if hasattr(module, "title") or isinstance(module, (Conv1d, Linear, nn.ReLU, *NORMALIZED)):
        yield module
        return
    for child in module.children():
        yield from _parts(child)


def _between(before: Tensor, after: Tensor) -> str:
    """What a network does to activations outside of its layers."""
    if before.shape == after.shape:
        changed = not torch.equal(after, before)
        return LEAKY if changed and torch.equal(after, F.leaky_relu(before, NEGATIVE_SLOPE)) else ""
    if before.ndim <= after.ndim or before.shape[2] == 1:
        return ""
    if torch.equal(after, before[:, :, -1]):
        return "Last time step"
    return "Average over time" if after.shape[-1] == before.shape[-1] else "Flatten"


def _describe(module: nn.Module) -> str:
    if isinstance(module, Conv1d):
        filters = f"{module.weight.shape[1]} filters of {module.kernel_size}"
        return f"Convolution, {filters}, stride {module.stride}, padding {module.padding}"
    if isinstance(module, BatchNorm | LayerNorm | InstanceNorm):
        return NORMALIZED[type(module)] + ACTIVATIONS[module.slope]
    if isinstance(module, Linear):
        return "Fully connected"
    return RELU if isinstance(module, nn.ReLU) else str(module.title)


def _shape(x: Tensor) -> str:
    return f"{x.shape[3]} × {x.shape[2]}" if x.ndim == 4 else f"{x.shape[2]}"
