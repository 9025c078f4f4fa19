"""One finished study for all tests of the workflow."""

import pytest
from tiny import Workflow


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Workflow:
    """The whole study, run once; tests must not change its results."""
    workflow = Workflow(tmp_path_factory.mktemp("study"))
    workflow.run()
    return workflow
