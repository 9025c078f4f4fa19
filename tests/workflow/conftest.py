"""One finished study for all tests of the workflow, and their marker."""

import os
import shutil
from pathlib import Path

import pytest
from filelock import FileLock
from tiny import Workflow


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("slow")


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Workflow:
    """The whole study, run once for all processes that test; each has a copy, which tests must not change."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    whole, done = root / "finished", root / "finished.done"
    with FileLock(root / "finished.lock"):
        if not done.exists():
            whole.mkdir()
            Workflow(whole).run()
            done.touch()
    folder = tmp_path_factory.mktemp("study")
    shutil.copytree(whole, folder, dirs_exist_ok=True)
    return Workflow(folder)
