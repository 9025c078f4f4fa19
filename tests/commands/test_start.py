"""What starts without PyTorch, which takes longer to load than all that these commands do."""

import subprocess
import sys

import pytest
import yaml

from synthetic_records import save
from tsdg.study.run import Run

PROGRAM = """
import sys

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise RuntimeError("PyTorch is loaded")

sys.meta_path.insert(0, Refused())
"""
COMMANDS = """
from tsdg.commands.main import main

for words in ("status", "plan", "select tiny", "table tiny", "hparams"):
    assert main(words.split()) == 0, words
"""
WORKFLOW = """
from tsdg.study.study import Study
from tsdg.workflow import CODE, Workflow, code

flow = Workflow(Study.load())
flow.hparams(), flow.results()
for rule in flow.training_rules:
    for dataset in rule.datasets:
        for variant in rule.variants:
            flow.training_code(dataset, variant)
for result in CODE:
    code(result)
"""


@pytest.mark.slow
@pytest.mark.parametrize("use", [COMMANDS, WORKFLOW], ids=["commands", "workflow"])
def test_a_study_is_read_planned_and_tabled_without_pytorch(use, project, figure_params):
    (project / "params.yaml").write_text(yaml.safe_dump(figure_params))
    save(project / "results/runs", Run("tiny", "erm", "A", 0, "fixed"), sources="ABCD")
    ran = subprocess.run([sys.executable, "-c", PROGRAM + use], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
