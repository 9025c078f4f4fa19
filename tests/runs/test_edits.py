"""Edits of the package's own sources: what keeps the fingerprint of a training, and what changes it."""

# ruff: noqa: E501
import ast
import re
from pathlib import Path

import pytest

import tsdg
from tsdg.methods import METHODS, class_path
from tsdg.runs.code.definitions import Modules
from tsdg.runs.code.wording import Wording
from tsdg.runs.fingerprint import BESIDE, fingerprint

ROOT = Path(tsdg.__file__).parents[1]
pytestmark = pytest.mark.slow
SOURCES = {path.relative_to(ROOT).as_posix(): path.read_text() for path in ROOT.glob("tsdg/**/*.py")}
LEARNED = {"ours-learned", "rsc-ours-learned"}
METADATA = {"ours-metadata", "rsc-ours-metadata"}
ADVERSARIAL = {"dann", "cdann"}


BACKBONE = "tsdg.learning.backbones.paper:HAR"


def prints(sources, folder, loop="tsdg.runs.training"):
    """Fingerprints of all methods, of sources that are written to a folder as far as they are edited."""
    for path, text in sources.items():
        if SOURCES.get(path) != text:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)

    def find(module):
        stem = module.replace(".", "/")
        paths = [path for path in (f"{stem}.py", f"{stem}/__init__.py") if path in sources]
        return next(
            (root / path for path in paths for root in (folder, ROOT) if (root / path).exists()), None
        )

    wording = Wording(Modules({"tsdg"}, find, BESIDE))
    entries = {name: class_path(name) for name in METHODS}
    return {name: fingerprint(wording, f"{loop}:train", entry, BACKBONE) for name, entry in entries.items()}


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    return prints(SOURCES, tmp_path_factory.mktemp("before"))


def replaced(*edits):
    """Sources with texts replaced, each ``(path below tsdg, old, new)``; the old one is there once."""
    sources = dict(SOURCES)
    for path, old, new in edits:
        assert sources[f"tsdg/{path}"].count(old) == 1, (path, old)
        sources[f"tsdg/{path}"] = sources[f"tsdg/{path}"].replace(old, new)
    return sources


def renamed(*names, path=None):
    """Sources with names replaced as whole words, everywhere or in one file."""
    sources = dict(SOURCES)
    for old, new in names:
        for file in [f"tsdg/{path}"] if path else sources:
            assert not re.search(rf"\b{new}\b", sources[file])
            sources[file] = re.sub(rf"\b{old}\b", new, sources[file])
    assert sources != SOURCES
    return sources


def moved(old, new):
    """Sources with a module elsewhere."""
    package, _, name = f"tsdg.{old}".rpartition(".")
    other, _, other_name = f"tsdg.{new}".rpartition(".")
    sources = {}
    for path, text in SOURCES.items():
        if path == f"tsdg/{old.replace('.', '/')}.py":
            path = f"tsdg/{new.replace('.', '/')}.py"
        text = re.sub(rf"\bfrom {package}\.{name} import", f"from {other}.{other_name} import", text)
        text = re.sub(
            rf"^from {package} import (.*, )?{name}(, .*)?$",
            lambda found: "\n".join(
                [f"from {other} import {other_name} as {name}"]
                + [f"from {package} import {left}" for left in _others(found) if left]
            ),
            text, flags=re.M,
        )  # fmt: skip
        sources[path] = text
    return sources


def _others(found):
    """What else a line imports, of which one name was found."""
    return [", ".join(part.strip(", ") for part in found.groups() if part)]


def taken(path, *names):
    """A file's text without some functions, and these functions' text."""
    text = SOURCES[f"tsdg/{path}"]
    nodes = [node for node in ast.parse(text).body if getattr(node, "name", "") in names]
    assert len(nodes) == len(names)
    parts = [ast.get_source_segment(text, node) for node in nodes]
    for part in parts:
        text = text.replace(part, "")
    return text, "\n\n\n".join(parts)


def split_in_two():
    """The learned similarity in a file of its own."""
    path = "methods/similarity.py"
    names = ("centroids", "squared_distances", "nearest_neighbours", "neighbour_weights")
    rest, parts = taken(path, *names)
    head = "import torch\nfrom torch import Tensor\n\n\n"
    back = f"from tsdg.methods.neighbours import {', '.join(names)}\n"
    return SOURCES | {
        f"tsdg/{path}": rest.replace("import torch\n", f"import torch\n{back}", 1),
        "tsdg/methods/neighbours.py": head + parts,
    }


def helper_elsewhere():
    """RSC's quantile beside the kernels."""
    rest, part = taken("methods/rsc.py", "quantile")
    return SOURCES | {
        "tsdg/methods/rsc.py": rest.replace(
            "import torch\n", "import torch\nfrom tsdg.methods.kernels import quantile\n", 1
        ),
        "tsdg/methods/kernels.py": SOURCES["tsdg/methods/kernels.py"] + "\n\n" + part,
    }


def reversed_functions():
    """Methods of classes, and functions of modules, in the reverse order."""
    return transformed(_Reversed())


class _Reversed(ast.NodeTransformer):
    def visit_ClassDef(self, node):
        functions = iter([item for item in node.body if isinstance(item, ast.FunctionDef)][::-1])
        names = [item.name for item in node.body if isinstance(item, ast.FunctionDef)]
        if len(names) == len(set(names)):
            node.body = [next(functions) if isinstance(item, ast.FunctionDef) else item for item in node.body]
        return node


class _NoAnnotations(ast.NodeTransformer):
    def visit_arg(self, node):
        node.annotation = None
        return node

    def visit_FunctionDef(self, node):
        node.returns = None
        return self.generic_visit(node)


class _OtherErrors(ast.NodeTransformer):
    def visit_Raise(self, node):
        if isinstance(node.exc, ast.Call):
            node.exc.args = [ast.Constant("Something else is wrong.")]
        return node


class _NoDocstrings(ast.NodeTransformer):
    def visit_Expr(self, node):
        return ast.Pass() if isinstance(node.value, ast.Constant) else node


def transformed(transformer):
    """All sources but those with an entry point's annotations, transformed and written anew."""
    return {path: ast.unparse(transformer.visit(ast.parse(text))) for path, text in SOURCES.items()}


def all_private_renamed():
    """Private functions, methods and constants of the whole package, under other names."""
    names = set()
    for text in SOURCES.values():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
        names |= set(re.findall(r"^(_[A-Z_]+)\b.* = ", text, flags=re.M))
    private = sorted(name for name in names if re.fullmatch(r"_[a-zA-Z][a-zA-Z_]*", name))
    assert len(private) > 100
    return renamed(*((name, f"_other{name}") for name in private))


HARMLESS = {
    "an error in other words": lambda: replaced(
        ("data/windows.py", "is not in the card", "is unknown to the card"),
        ("data/split.py", "is not between 0 and 1", "must lie between 0 and 1"),
        ("learning/sources.py", "leave the domain out or change the split", "leave it out"),
    ),
    "every error in other words": lambda: transformed(_OtherErrors()),
    "another layout, no comments": lambda: transformed(ast.NodeTransformer()),
    "no docstrings": lambda: transformed(_NoDocstrings()),
    "another docstring, another comment": lambda: replaced(
        ("methods/erm.py", "Mean cross-entropy over", "The mean cross-entropy of"),
        ("learning/augment.py", "up to which a window counts as constant", "of a constant window"),
    ),
    "another annotation": lambda: replaced(
        ("learning/optimizer.py", "parameters: Iterable[nn.Parameter],", "parameters: list[nn.Parameter],"),
        ("learning/optimizer.py", "    def zero_grad(self) -> None:", "    def zero_grad(self):"),
    ),
    "no annotations but those of the entry point": lambda: transformed(_NoAnnotations())
    | {"tsdg/runs/training.py": SOURCES["tsdg/runs/training.py"]},
    "a field's annotation": lambda: replaced(("methods/search.py", "    default: float\n", "    default: int | float\n")),
    "an annotated local variable": lambda: replaced(
        ("learning/optimizer.py", "        steps = self.steps + 1", "        steps: Tensor = self.steps + 1")
    ),
    "another type alias": lambda: replaced(
        ("methods/base.py", "Losses = dict[str, Tensor]", "Losses = Mapping[str, Tensor]")
    ),
    "another title": lambda: replaced(
        ("methods/declarations.py", 'title = "Interdomain Mixup"', 'title = "Mixup"'),
        ("methods/declarations.py", 'title = "ERM"', 'title = "Empirical risk"'),
    ),
    "another citation": lambda: replaced(
        ("methods/declarations.py", "Extrapolation, ICML 2021", "Extrapolation, ICML, 2021"),
    ),
    "a private method under another name": lambda: renamed(("_probabilities", "_scores_of"), path="runs/training.py"),
    "a private function under another name": lambda: renamed(("_parts", "_slices"), path="learning/layers.py"),
    "a private constant under another name": lambda: renamed(("_SUM_TOLERANCE", "_STRAY"), path="learning/metrics.py"),
    "a public function under another name": lambda: renamed(("pairwise_consistency", "consistency_of_pairs")),
    "all that is private under another name": all_private_renamed,
    "a local variable under another name": lambda: renamed(("denominator", "below"), path="learning/optimizer.py"),
    "an unused function": lambda: replaced(
        ("streams.py", "def torch_stream(", "def unused(seed: int) -> int:\n    return seed + 1\n\n\ndef torch_stream(")
    ),
    "an unused class, constant and method": lambda: replaced(
        ("learning/metrics.py", "BINS = 15\n", "BINS = 15\nUNUSED = 16\n\n\nclass Unused:\n    bins = UNUSED\n"),
        ("runs/losses.py", "    def all_diverged(", "    def unused(self):\n        return 1\n\n    def all_diverged("),
    ),
    "a module elsewhere": lambda: moved("learning.metrics", "scores"),
    "another module elsewhere": lambda: moved("streams", "learning.chance"),
    "a file split in two": split_in_two,
    "a helper in another module": helper_elsewhere,
    "methods of classes in another order": reversed_functions,
    "imports in another order": lambda: replaced(
        (
            "runs/training.py",
            "from tsdg.learning.cuda_graphs import GraphedStep\nfrom tsdg.learning.inputs import Windows\n",
            "from tsdg.learning.inputs import Windows\nfrom tsdg.learning.cuda_graphs import GraphedStep\n",
        ),
        ("learning/optimizer.py", "import torch\nfrom torch import Tensor, nn\n", "from torch import nn, Tensor\nimport torch\n"),
    ),
    "imports in another form": lambda: replaced(
        ("methods/base.py", "from tsdg.streams import numpy_stream\n", "from tsdg import streams\n"),
        ("methods/base.py", "[numpy_stream(seed", "[streams.numpy_stream(seed"),
        ("learning/optimizer.py", "import torch\nfrom torch import Tensor, nn\n", "import torch\nimport torch.nn as nn\nfrom torch import Tensor\n"),
        ("learning/layers.py", "import torch.nn.functional as F", "from torch.nn import functional as F"),
        ("methods/erm.py", "from tsdg.methods.base import", "from .base import"),
    ),
    "more is told": lambda: replaced(
        ("runs/training.py", "        runs = len(self.seeds)\n", '        print(f"training {len(self.seeds)}", flush=True)\n        runs = len(self.seeds)\n'),
        ("learning/inputs.py", "        self.incomplete = bool(", '        warnings.warn("windows are read")\n        self.incomplete = bool('),
        ("learning/inputs.py", "from copy import copy\n", "import warnings\nfrom copy import copy\n"),
    ),
    "another way to say what machine it was": lambda: replaced(("runs/machine.py", '"device": device.type', '"device": str(device.type)')),
    "another version": lambda: replaced(("__init__.py", '__version__ = "', '__version__ = "9')),
    "another network's layer": lambda: replaced(
        ("learning/backbones/paper.py", "self.conv6 = Conv1d(8, 8, 8,", "self.conv6 = Conv1d(8, 8, 4,")
    ),
    "an input that the network does not have": lambda: replaced(
        ("learning/features.py", "min(128, segment // 2)", "min(64, segment // 2)")
    ),
    "another backbone in the registry": lambda: replaced(
        ("learning/networks.py", '    "toy": toy,\n', '    "toy": toy,\n    "har1": toy,\n')
    ),
    "another method in the registry": lambda: replaced(
        ("methods/__init__.py", '    "erm": declarations.ERM,\n', '    "erm": declarations.ERM,\n    "also": declarations.ERM,\n')
    ),
}  # fmt: skip


@pytest.mark.parametrize("edit", HARMLESS)
def test_what_changes_no_number_keeps_all_fingerprints(edit, before, tmp_path):
    assert prints(HARMLESS[edit](), tmp_path) == before


ALL = set(METHODS)
REAL = {
    "a formula": ("methods/irm.py", "even_gradient * odd_gradient)", "even_gradient * even_gradient)", {"irm"}),
    "a formula in a function": ("methods/alignment.py", "return means + covariances", "return means - covariances", {"coral"}),
    "a formula of several": ("methods/rsc.py", "(high - low) * (place - below)", "(high - low) * (below - place)", {"rsc", "rsc-ours-metadata", "rsc-ours-learned"}),
    "a constant": ("methods/kernels.py", "100.0, 1000.0)", "100.0)", {"mmd", "rdm"} | METADATA | LEARNED),
    "a constant of all": ("learning/layers.py", "NEGATIVE_SLOPE = 0.01", "NEGATIVE_SLOPE = 0.02", ALL),
    "a default": ("methods/selective.py", "every: int = 100", "every: int = 50", LEARNED),
    "the optimizer's epsilon": ("learning/optimizer.py", "eps: float = 1e-8", "eps: float = 1e-7", ALL),
    "batch normalization's momentum": ("learning/layers.py", "momentum: float = 0.1", "momentum: float = 0.01", ALL),
    "the split's fraction": ("data/split.py", "fraction: float = 0.2", "fraction: float = 0.25", ALL),
    "the augmentation's probability": ("learning/augment.py", "< 0.5", "< 0.4", ALL),
    "the metric's bins": ("learning/metrics.py", "BINS = 15", "BINS = 10", ALL),
    "the metric's edges": ("learning/metrics.py", 'side="left"', 'side="right"', ALL),
    "how often losses are kept": ("runs/losses.py", "LOG_EVERY = 50", "LOG_EVERY = 25", ALL),
    "the order of two draws": (
        "learning/augment.py",
        "            taken = stream.random((iterations, coins, positions)) < 0.5\n            taken[..., 1:] &= taken[..., :1]\n            scale = stream.uniform(self.scale[0], self.scale[1], size=iterations)\n",
        "            scale = stream.uniform(self.scale[0], self.scale[1], size=iterations)\n            taken = stream.random((iterations, coins, positions)) < 0.5\n            taken[..., 1:] &= taken[..., :1]\n",
        ALL,
    ),
    "a stream's name": ("runs/training.py", 'torch_stream(seed, "weights")', 'torch_stream(seed, "weight")', ALL),
    "a method's stream": ("methods/mldg.py", 'stream = "MLDG"', 'stream = "mldg"', {"mldg"}),
    "an adversary's stream": ("methods/adversarial.py", '"discriminator")', '"critic")', ADVERSARIAL),
    "a helper of two": ("methods/pairs.py", "order.roll(-1, dims=1)", "order.roll(1, dims=1)", {"mixup", "mldg"}),
    "a draw in what is told": ("learning/augment.py", "            taken[..., 1:] &= taken[..., :1]\n", "            taken[..., 1:] &= taken[..., :1]\n            print(stream.random())\n", ALL),
    "a decorator": ("methods/selective.py", "    @torch.no_grad()\n    def weights(", "    def weights(", LEARNED),
    "a base class": ("methods/vrex.py", "class VREx(declarations.VREx, AnnealedPenalty)", "class VREx(declarations.VREx, IRM)", {"vrex"}),
    "an overridden method": ("methods/groupdro.py", "    def losses(", "    def rate(self):\n        return 1.0\n\n    def losses(", {"groupdro"}),
    "an overridden method of PyTorch": ("methods/mtl.py", "    def losses(", "    def train(self, mode=True):\n        return super().train(False)\n\n    def losses(", {"mtl"}),
    "a registry's entry": ("methods/consistency.py", '"cosine": cosine', '"cosine": l2', METADATA),
    "a function that only a registry names": ("methods/consistency.py", "return 1 - F.cosine_similarity", "return -F.cosine_similarity", METADATA),
    "which of two methods is called": ("learning/augment.py", "x[rows] = self._shifted(x[rows])", "x[rows] = self._scaled(x[rows], 1)", ALL),
    "a backbone": ("learning/backbones/paper.py", "(width, 2 * width, 5)", "(width, 2 * width, 7)", ALL),
    "a search space": ("methods/declarations.py", '{"eta": Distribution(0.01,', '{"eta": Distribution(0.1,', {"groupdro"}),
    "an option's values": ("methods/declarations.py", '("noise", "average")', '("average", "noise")', {"mtl"}),
    "a property of the data set": ("data/windows.py", 'return list(self.card["domains"])', 'return sorted(self.card["domains"])', ALL),
    "a condition of an error": (
        "learning/sources.py", "if len(self.names) < least:", "if len(self.names) < least - 1:", ALL,
    ),
    "what importing a module does": ("learning/layers.py", "NEGATIVE_SLOPE = 0.01\n", "NEGATIVE_SLOPE = 0.01\ntorch.set_default_dtype(torch.float64)\n", ALL),
    "a definition by a condition": ("methods/erm.py", "class ERM", "if torch.cuda.is_available():\n    cross_entropy = sum\n\n\nclass ERM", {"erm"}),
    "a member that is set from outside": ("learning/networks.py", "class Network(nn.Module)", "Bearings.features = 16\n\n\nclass Network(nn.Module)", ALL),
}  # fmt: skip


@pytest.mark.parametrize("edit", REAL)
def test_what_may_change_a_number_changes_the_fingerprints_of_its_methods(edit, before, tmp_path):
    path, old, new, expected = REAL[edit]
    sources = replaced((path, old, new))
    if ", IRM)" in new:
        sources[f"tsdg/{path}"] = "from tsdg.methods.irm import IRM\n" + sources[f"tsdg/{path}"]
    after = prints(sources, tmp_path)
    assert {name for name in METHODS if after[name] != before[name]} == expected
