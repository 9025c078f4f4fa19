"""The table of the networks says what the networks do."""

from pathlib import Path

from tsdg.data.kinds import KINDS
from tsdg.learning import networks
from tsdg.results.about.networks import DATASETS, architectures, render
from tsdg.streams import torch_stream
from tsdg.study.study import Study


def test_parameters_are_those_of_the_networks():
    table = architectures()
    for dataset, shape in DATASETS.items():
        network = networks.build(**shape._asdict(), generators=[torch_stream(0, "weights")])
        part = table[table["dataset"] == dataset]
        assert part["parameters"].sum() == sum(p.numel() for p in network.parameters())
        assert part["output"].iloc[-1] == str(shape.classes)
    # Of MIMIC-III by hand: convolutions with biases, batch normalizations, classifier.
    convolutions = (11 * 8 + 1) * 32 + (32 * 5 + 1) * 64 + (64 * 3 + 1) * 32
    counted = convolutions + 2 * (32 + 64 + 32) + (32 + 1) * 2
    assert table.groupby("dataset")["parameters"].sum()["MIMIC-III"] == counted == 19650


def test_the_networks_are_those_that_the_study_trains():
    study = Study.load(Path(__file__).parents[3] / "params.yaml")
    for name in ("bearings", "hhar", "hapt", "mimic3"):
        shape, trained = KINDS[name].shape, study.config(name, "erm")
        assert (shape.backbone, shape.width) == (trained["backbone"], trained.get("width"))
        assert "input" not in trained
    shape, trained = DATASETS["Bearings, spectrum"], study.config("bearings", "erm-spectrum")
    assert (shape.backbone, shape.input) == (trained["backbone"], trained["input"])


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
    spectrum = table[table["dataset"] == "Bearings, spectrum"]
    assert spectrum["layer"].iloc[0] == "Log spectrum"
    assert spectrum["output"].tolist()[:2] == ["1 × 512", "8 × 226"]
    assert spectrum["layer"].iloc[1].startswith("Convolution")


def test_blocks_of_the_fields_networks_are_told_as_wholes():
    table = architectures()

    def layers(dataset):
        return table[table["dataset"] == dataset]["layer"].tolist()

    assert layers("HAPT, resnet1d") == [
        *(f"Residual block, {width} filters of 8, 5, 3" for width in (64, 128, 128)),
        "Average over time", "Fully connected",
    ]  # fmt: skip
    module, shortcut = "Inception module, 4 × 32 filters of 40, 20, 10 and 1", "Shortcut around 3 modules"
    assert [name.split(",")[0] for name in layers("HAPT, inception")] == [
        *[module.split(",")[0]] * 3, shortcut, *[module.split(",")[0]] * 3, shortcut,
        "Average over time", "Fully connected",
    ]  # fmt: skip
    assert layers("HAPT, inception")[0] == module
    assert layers("HAPT, tcn")[-2:] == ["Last time step", "Fully connected"]
    assert layers("HAPT, transformer")[-3:] == ["Layer normalization", "Average over time", "Fully connected"]
    wdcnn = table[table["dataset"] == "Bearings, wdcnn"]
    assert wdcnn["output"].tolist()[:5] == ["16 × 128", "32 × 64", "64 × 32", "64 × 16", "64 × 7"]
    assert wdcnn["layer"].tolist()[5:] == [
        "Flatten", "Fully connected", "Batch normalization, ReLU", "Fully connected"
    ]  # fmt: skip


def test_files(tmp_path):
    paths = render(tmp_path)
    assert [path.name for path in paths] == ["networks.csv", "networks.tex"]
    first = next(line for line in paths[1].read_text().splitlines() if line.startswith("Bearings &"))
    assert first == (
        r"Bearings & Convolution, 8 filters of 64, stride 2, padding 1, Batch normalization, LeakyReLU & "
        r"8 $\times$ 2018 & 536 \\"
    )
