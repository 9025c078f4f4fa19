"""The tiny study of `tiny_study` as fixtures; one thread a process, as several test at once."""

import os
from copy import deepcopy

import pytest
import torch
import yaml
from hypothesis import settings

from tiny_study import FIGURES, PARAMS, TOY, write_tiny
from tsdg.data.windows import WindowedDataset
from tsdg.study.study import Study

os.environ["OMP_NUM_THREADS"] = "1"  # of what tests start, too
if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # which Triton reads when it is first imported
torch.set_num_threads(1)
settings.register_profile("same", derandomize=True, database=None, deadline=None, max_examples=30)
settings.load_profile("same")


def pytest_collection_modifyitems(items):
    """The longest first: files go to processes in this order."""
    items.sort(key=lambda item: "workflow" not in item.path.parts)


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory):
    return write_tiny(tmp_path_factory.mktemp("data") / "tiny")


@pytest.fixture(scope="session")
def tiny(tiny_folder):
    return WindowedDataset.load(tiny_folder)


@pytest.fixture
def params():
    """Contents of a study of the tiny data set, to be changed at will."""
    return deepcopy(PARAMS)


@pytest.fixture
def project(tmp_path, params, monkeypatch):
    """A project's folder, entered, with `params.yaml`."""
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def figure_params(params):
    """The same with figures and a ranking."""
    return params | deepcopy(FIGURES)


@pytest.fixture
def toy_params(params):
    """The same with a toy study, small too."""
    return params | {"toy": deepcopy(TOY)}


@pytest.fixture
def toy_study(toy_params):
    return Study(toy_params)
