"""The commands `tsdg export` and `tsdg predict`."""

import argparse
from functools import partial
from pathlib import Path

from tsdg.commands.arguments import (
    DATA,
    RUNS,
    Commands,
    command,
    load_study,
    natural,
    number_or_name,
    one_draw,
    path_or_name,
    positive,
    preparing,
    selection,
)
from tsdg.commands.options import add_options, given
from tsdg.data.own.options import PREDICT
from tsdg.errors import InputError
from tsdg.files import write_text

EXTRA = "pip install 'tsdg[export]'"


def add(commands: Commands) -> None:
    """Add the commands to the command line."""
    export = command(commands, "export", _export, "train on all domains, to take away", study=True)
    export.add_argument(
        "--data", type=path_or_name, required=True, help="folder of the prepared data set, or its name"
    )
    export.add_argument(
        "--dataset", help="data set in params.yaml (default: the name on the prepared one's card)"
    )
    export.add_argument("--variant", required=True, help="variant in params.yaml")
    export.add_argument(
        "--draw", type=one_draw, help="hyperparameters: a number, or fixed (default: selected)"
    )
    export.add_argument(
        "--selection",
        type=selection,
        metavar="POLICY",
        help="what the draw is selected by (default: what the tables in params.yaml with this variant say)",
    )
    export.add_argument("--seed", type=natural, default=0, help="default: 0")
    export.add_argument("--runs", type=Path, default=RUNS, help="folder of records")
    export.add_argument("--out", type=Path, help="folder (default: results/bundles/{dataset}-{variant})")
    export.add_argument("--onnx", action="store_true", help="write model.onnx too")
    export.add_argument("--device", choices=["auto", "cpu", "cuda"], help="default: as in params.yaml")
    export.add_argument("--threads", type=positive, default=1, help="CPU threads (default: 1)")

    predict = command(commands, "predict", _predict, "classify recordings with an exported model")
    predict.add_argument("bundle", type=Path, help="folder made by `tsdg export`")
    predict.add_argument("file", type=Path, help="a file of recordings, or a folder of files")
    predict.add_argument("--out", type=Path, help="csv (default: beside the file, {file}_classes.csv)")
    predict.add_argument(
        "--recording", help="column of the recording (default: as in training, or recording)"
    )
    predict.add_argument(
        "--time", help="column of the time, in seconds or dates (default: as in training, or time)"
    )
    predict.add_argument("--sampling-rate", type=number_or_name, help="Hz, or the column that holds it")
    predict.add_argument("--files", metavar="PATTERN", help="what the names of a folder's files say")
    predict.add_argument("--stride", type=positive, help="distance of two windows (default: as in training)")
    predict.add_argument("--order", help="column of the shaft's speed (default: as in training)")
    predict.add_argument(
        "--reference", type=Path, metavar="FILE",
        help="recordings of the reference class of the same machine or person, for a model that takes them",
    )  # fmt: skip
    predict.add_argument(
        "--adapt", action="store_true",
        help="use statistics of the windows, which are of one machine or person and of all kinds",
    )  # fmt: skip
    add_options(predict, PREDICT)


def _export(options: argparse.Namespace) -> None:
    _need("safetensors", *(["onnx", "onnxscript"] if options.onnx else []))
    import torch

    from tsdg.bundle.card import summary
    from tsdg.bundle.export import export, members
    from tsdg.bundle.model import write_onnx
    from tsdg.data.windows import CARD
    from tsdg.methods.estimators import METHOD
    from tsdg.runs.job import Report
    from tsdg.runs.machine import keep_freed_memory

    study = load_study(options)
    data = Path(options.data)
    name = options.dataset
    if not data.is_dir() and options.data in study.datasets:
        name = name or options.data
        data = DATA / study.prepared(options.data)
        if not (data / CARD).exists():
            command = preparing(options, data / CARD)
            raise InputError(f"data set {options.data!r} is not prepared; first `{command}`")
    torch.set_num_threads(options.threads)
    keep_freed_memory()
    method = study.variant(options.variant)["method"]
    with Report(
        members(study, options.variant), 1 if method == METHOD else study.training["iterations"]
    ) as progress:
        bundle = export(
            study, data, dataset=name, variant=options.variant, draw=options.draw, seed=options.seed,
            runs=options.runs, device=options.device, progress=progress, say=partial(print, flush=True),
        )  # fmt: skip
    out = options.out or Path("results/bundles") / f"{bundle.card['dataset']}-{options.variant}"
    paths = bundle.save(out)
    if options.onnx:
        paths.append(write_onnx(bundle, out))
    print(summary(bundle.card), *(f"note: {note}" for note in bundle.card["notes"]), *paths, sep="\n")


def _predict(options: argparse.Namespace) -> None:
    _need("safetensors")
    from tsdg.bundle.model import Bundle
    from tsdg.bundle.predict import is_output, predict

    file = options.file if options.file.name else options.file.absolute()
    out = options.out or file.parent / f"{file.stem}_classes.csv"
    if out.is_dir():
        raise InputError(f"--out: {out} is a folder where a file belongs; name a csv")
    votes_out = out.with_name(f"{out.stem}_votes.csv")
    for path in (out, votes_out):
        if path.is_file() and not is_output(path):
            raise InputError(f"--out: {path} is there and no output of `tsdg predict`; choose another name")
    bundle = Bundle.load(options.bundle)
    windows, votes = predict(
        bundle, options.file, recording=options.recording, time=options.time,
        sampling_rate=options.sampling_rate, stride=options.stride, files=options.files,
        order=options.order, reference=options.reference, adapt=options.adapt,
        **given(options, PREDICT), say=lambda text: print(f"note: {text}"),
    )  # fmt: skip
    for table, path in ((windows, out), (votes, votes_out)):
        write_text(path, table.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
    print(votes.to_string(index=False, float_format="%.3f", max_rows=40))
    print(out, votes_out, sep="\n")


def _need(*packages: str) -> None:
    """Say how to get a package that is not there."""
    from importlib.util import find_spec

    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise InputError(f"{', '.join(missing)} is not installed; get it with {EXTRA}")
