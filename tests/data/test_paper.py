"""The paper's printed numbers."""

from importlib import resources
from pathlib import Path

import pandas as pd
import pytest

from tsdg.data import paper
from tsdg.data.bearings.recordings import CLASSES as BEARINGS
from tsdg.data.hhar.raw import CLASSES as HHAR
from tsdg.data.toy import DOMAINS as TOY
from tsdg.errors import InputError
from tsdg.study.layout import AVERAGE
from tsdg.study.metric import METRICS
from tsdg.study.study import Study

SAMPLES = {"bearings-samples": BEARINGS, "hhar-samples": HHAR, "mimic3-samples": ["each class"]}


def test_every_number_is_there_once():
    files = {path.name: path for path in resources.files(paper).iterdir() if path.name.endswith(".csv")}
    assert set(files) == {f"{name}.csv" for name in (*paper.WHOLE, *paper.PARTS, *paper.OTHERS)}
    tables = [pd.read_csv(files[name], dtype={"target": "str"}) for name in sorted(files)]
    assert sum(map(len, tables)) == 693
    for table in tables:
        assert list(table.columns) == ["table", "row", "target", "metric", "value"]
        assert not table.isna().any(axis=None)
        assert not table.duplicated(["row", "target", "metric"]).any()


def test_every_number_is_of_a_row_a_domain_and_a_metric_that_the_study_has():
    study = Study.load(Path(__file__).parents[2] / "params.yaml")
    compared = {}
    for name in study.tables:
        layout = study.layout(name)
        for panel in layout.panels:
            if panel.paper:
                assert compared.setdefault(panel.paper, panel) is panel
                found = paper.numbers(panel.paper)
                assert set(found["row"]) <= set(layout.rows), panel.paper
                assert set(found["target"]) <= {*panel.targets, AVERAGE}, panel.paper
                assert set(found["metric"]) <= set(panel.metrics) <= set(METRICS), panel.paper
    assert set(compared) == {*paper.WHOLE, *paper.PARTS}
    for name in ("target_risk", "target_risk_full"):
        found = paper.numbers(name)
        assert set(found["row"]) <= set(study.toy["variants"])
        assert set(found["target"]) <= {*TOY, "mean"}
        assert set(found["metric"]) == {"source_risk", "divergence", "target_risk"}


@pytest.mark.parametrize(("name", "classes"), SAMPLES.items())
def test_sample_sizes_are_of_the_classes_and_domains_of_their_data_set(name, classes):
    kind = name.removesuffix("-samples")
    domains = Study.load(Path(__file__).parents[2] / "params.yaml").dataset(kind)["domains"]
    found = paper.numbers(name)
    assert set(found["row"]) == set(classes)
    assert set(found["target"]) == set(domains)


def test_the_papers_sample_sizes_add_up():
    bearings = paper.numbers("bearings-samples")
    assert bearings.groupby("target")["value"].sum().to_dict() == dict.fromkeys("ABCDEFGH", 4000)
    assert paper.numbers("mimic3-samples")["value"].sum() == 164 + 625 + 1179 + 495
    assert paper.samples("mimic3", "C", "died") == 1179
    assert paper.samples("hhar", "A", "bike") == 626
    assert paper.samples("table", "A", "bike") is None
    with pytest.raises(InputError, match="bearings, hhar, mimic3, ablation-bearings"):
        paper.numbers("haar")


def test_either_reading_of_xi_has_the_number_that_the_paper_prints():
    found = paper.numbers("bearings_locdrive").set_index(["row", "target", "metric"])["value"]
    both = [found[f"learned-nearest-{reading}", "A", "accuracy"] for reading in ("bandwidth", "gamma")]
    assert both == [93.9, 93.9]
    rows = paper.numbers("ablation_learned_reg").set_index("row")["value"]
    assert rows["learned-random-bandwidth-plain"] == rows["learned-random-gamma-plain"] == 81.2
