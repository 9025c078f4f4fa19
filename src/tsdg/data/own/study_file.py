"""A params file for recordings: a whole study, with a comment on every choice."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

import yaml

_HEAD = """\
# A study of {raw}, written by `tsdg check`. Which training method still works on a domain nobody has seen?
#   tsdg check {name} --params {file}                     # what is in the data set
# To see it work, and then, without protocol=quick, the real study:
#   tsdg plan --params {file} --set protocol=quick   # runs and hours
#   snakemake --configfile {file} --cores 2 results/tables/{name}.tex --config protocol=quick --quiet rules
#   tsdg status --params {file} --set protocol=quick # what is done, failed and waiting
#   tsdg show results/tables/{name}.csv
#   snakemake --configfile {file} --cores 2 results/tables/{name}.tex --quiet rules # the real study

seed: 0 # of the hyperparameter draws
protocol: single # one of `protocols`; `quick` is to see it work
checkpoint: last # selection takes the last checkpoint, or the `best` by source validation
runs_per_job: 5 # trainings in one job; on a GPU they run at once
device: auto # auto, cpu, cuda

protocols:
  search: {{seeds: 3, draws: 20, iterations: 3000, evaluate_every: 300}} # 20 draws of hyperparameters a seed
  single: {{seeds: 3, draws: fixed, iterations: 3000, evaluate_every: 300}} # published hyperparameters
  quick: {{seeds: 1, draws: fixed, iterations: 120, evaluate_every: 120, batch_size: 8, learning_rate: 0.003}}

training:
  iterations: 3000
  evaluate_every: 300 # iterations
  batch_size: 32 # of each source domain
  learning_rate: 0.001
  weight_decay: 5.0e-5
  decay_at: 0.8 # share of the iterations after which the learning rate
  decay: 0.1 # is multiplied by this
  validation_fraction: 0.2 # of every source domain
"""
_ABOUT = {
    "kind": "recordings of one's own",
    "raw": "the recordings, a file or a folder",
    "source": "or `simulated`",
    "backbone": "har for windows below 1,024 time steps, bearings from there on",
    "split": "blocked: validation windows overlap no training window; or random",
    "standardize": "each channel is scaled, and filled where it is missing, by the training domains alone",
    "augmentation": "for methods with `augment: true`",
}
_OPTIONS = {
    "channels": "columns that are signals; leave out what is none",
    "label": "column of the class",
    "intervals": "a file with the recording, start, end and label of each",
    "interval_unit": "of start and end: time, s since the recording begins, samples from 0, or rows from 1",
    "recording": "column of the recording's name; no window crosses from one to the next",
    "time": "column of the time",
    "time_unit": "as its magnitude says",
    "ties": "equal times share the time to the next one; or drop",
    "gap": "sample periods above which no window goes on",
    "classes": "labels in the order of the classes, or {label: name}; take out what is to be no class",
    "window": "time steps",
    "stride": "time steps from one window to the next; the window's length if not given",
    "short": "what becomes of a stretch shorter than a window: drop, or pad with its last value",
    "files": "what the names of files say",
    "header": "names of the columns of texts whose first line is a row",
    "metadata": "what is the same in all of a recording, a row for each (or for each window, in order)",
    "rows": "what a row is: windows already cut, or time steps",
    "axes": "windows, time steps and channels, in the order of the array's axes",
    "sampling_rate": "Hz",
    "resample": "Hz that all recordings are brought to",
    "join": "files of other sensors, joined by recording and time",
    "order": "column of a shaft's speed; signals are resampled to its angle",
    "order_unit": "of this speed: rpm or Hz",
    "per_revolution": "samples",
    "domain": "columns that tell domains apart",
    "cap": "windows of each class and domain, at most",
    "seed": "of drawing these",
    "separator": "of the cells of a text",
}
BASELINES = ["spectrum-logistic", "statistics-logistic", "both-logistic"]
ROWS = [*BASELINES, "erm", "coral", "groupdro", "ours-learned"]
METRICS = {False: ["accuracy", "ece"], True: ["macro_f1", "balanced_accuracy", "accuracy", "ece"]}
MEASURED = {
    False: "accuracy and expected calibration error",
    True: "macro F1, balanced accuracy, accuracy and expected calibration error",
}
_METRICS = {
    False: "also balanced_accuracy, macro_f1, worst_class, auc, nll, brier",
    True: "classes are unbalanced, and the first two count each alike; also worst_class, auc, nll, brier",
}
VARIANTS = """\
variants: # rows of tables: a method, and its settings
  # No networks, and done in seconds: any class of scikit-learn's form, on features of the windows.
  spectrum-logistic: {label: 'Spectrum, logistic', method: estimator, features: spectrum,
    estimator: sklearn.linear_model.LogisticRegression, arguments: {C: 0.1, max_iter: 1000}}
  statistics-logistic: {label: 'Statistics, logistic', method: estimator, features: statistics,
    estimator: sklearn.linear_model.LogisticRegression, arguments: {C: 0.1, max_iter: 1000}}
  both-logistic: {label: 'Both, logistic', method: estimator, features: [statistics, spectrum],
    estimator: sklearn.linear_model.LogisticRegression, arguments: {C: 0.1, max_iter: 1000}}
  erm: {label: ERM, method: erm} # of networks the plain one: all source domains as one
  coral: {label: CORAL-DG, method: coral}
  groupdro: {label: GroupDRO, method: groupdro}
  ours-learned: {label: Ours (learned), method: ours-learned, augment: true}
"""


def study_text(name: str, entry: Mapping[str, Any], file: str, *, unbalanced: bool = False) -> str:
    """The text of a params file with one data set and one table.

    Parameters
    ----------
    name : str
        Of the data set, and of its table.
    entry : mapping
        The data set's.
    file : str
        Name of the params file, for the commands in its head.
    unbalanced : bool
        Whether metrics that count each class alike come first.
    """
    lines = [_HEAD.format(raw=entry["raw"], name=name, file=file), "datasets:", f"  {name}:"]
    for key, value in entry.items():
        if key == "prepare":
            lines.append("    prepare: # `tsdg prepare table --help` says more of these, and of others")
            lines += [_line(6, option, chosen, _OPTIONS.get(option)) for option, chosen in value.items()]
        elif key == "domains":
            lines.append("    domains: # each is held out in turn; rows of no domain are left out")
            lines += [_line(6, domain, values) for domain, values in value.items()]
        else:
            lines.append(_line(4, key, value, _ABOUT.get(key)))
    lines += ["", VARIANTS]
    caption = f"{name}: {MEASURED[unbalanced]} on each domain held out in turn."
    lines += [
        "tables:",
        f"  {name}:",
        _line(4, "dataset", name),
        _line(4, "rows", ROWS),
        _line(4, "baselines", BASELINES, "come first, above a rule"),
    ]
    lines += [
        "    ours: [ours-learned] # set apart from the others",
        _line(4, "metrics", METRICS[unbalanced], _METRICS[unbalanced]),
    ]
    return "\n".join([*lines, _line(4, "caption", caption), ""])


def _line(indent: int, key: object, value: object, comment: str | None = None) -> str:
    """``key: value # comment`` in one line of YAML."""
    text = yaml_text({key: value}, flow=True, width=10**9).strip()[1:-1]
    return " " * indent + text + (f" # {comment}" if comment else "")


def yaml_text(tree: object, *, flow: bool | None = None, width: int = 100) -> str:
    """A tree as YAML, every text of which is read as a text again."""
    return yaml.dump(
        tree, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=flow, width=width
    )


class _Dumper(yaml.SafeDumper):
    """Quotes a text such as 1e3 too, which some readers take for a number."""


def _represented(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    try:
        float(text)
    except ValueError:
        return dumper.represent_str(text)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="'")


_Dumper.add_representer(str, _represented)


def name_of(text: str) -> str:
    """Text as a name in params.yaml: letters, digits, - and _."""
    letters = unicodedata.normalize("NFKD", text.replace("ß", "ss")).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9_]+", "-", letters).strip("-_")
