"""What the rules are told of a study, without Snakemake."""

import html
import json
import re
import shlex
from copy import deepcopy
from itertools import product
from pathlib import Path
from types import SimpleNamespace as Namespace

import pytest
import yaml
from snakemake.cli import parse_config

from synthetic_records import save
from tiny_study import LINE
from tsdg.commands.main import parser
from tsdg.data import contents
from tsdg.errors import InputError
from tsdg.study.jobs import training_rules
from tsdg.study.run import parse_run_path, run_path
from tsdg.study.study import Study
from tsdg.workflow import (
    CODE,
    Workflow,
    after_failure,
    code,
    configured,
    flags,
    merged,
    toy_seeds,
    training_runs,
    written,
)

ENTRIES = {
    "hhar": {"kind": "hhar", "raw": "raw/hhar", "source": "official", "backbone": "har"},
    "mimic3": {"kind": "mimic3", "raw": "raw/mimic3", "source": "official", "backbone": "har"},
    "mine": {
        "kind": "table", "raw": "recordings/mine.csv", "source": "own", "backbone": "auto",
        "prepare": {"window": 20, "channels": ["-x", "y z"], "classes": {"1": "on", "2": "it's off"}},
    },
}  # fmt: skip


@pytest.fixture
def study_of(params, tmp_path, monkeypatch):
    """Make the workflow of the tiny study with other data sets, each with a table, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def make(*names, **changes):
        tree = deepcopy(params)
        domains = {"domains": tree["datasets"]["tiny"]["domains"], "split": "random"}
        for name in names:
            tree["datasets"][name] = ENTRIES[name] | domains
            tree["tables"][name] = {
                "dataset": name, "rows": ["erm", "vrex"], "metrics": ["accuracy"], "caption": name,
            }  # fmt: skip
        for place, value in changes.items():
            *path, last = place.split("__")
            entry = tree
            for part in path:
                entry = entry.setdefault(part, {})
            entry[last] = value
        return Workflow(Study(tree))

    return make


def touch(*paths):
    for path in map(Path, paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


# ------------------------------------------------------------------------------------------- the study


def test_numbers_that_snakemake_leaves_as_text_are_numbers_again(params):
    given = {
        "runs_per_job": 2,
        "protocols": {"small": {"seeds": "3"}},
        "tables": {"tiny": {"caption": "12 a"}},
    }
    config = deepcopy(params)
    config["runs_per_job"], config["protocols"]["small"]["seeds"] = 2, "3"
    config["tables"]["tiny"]["caption"] = "12 a"
    before = deepcopy(config)
    study = configured(config, given)
    assert (study.params["runs_per_job"], study.protocol.seeds) == (2, 3)
    assert study.tables["tiny"]["caption"] == "12 a"
    assert config == before


@pytest.mark.parametrize(
    "given",
    [
        "protocols.small.seeds=5",
        ["iterations=3", "protocols.small.seeds=5"],
        "[tables.tiny.rows=[erm, ours-learned], protocols.small.seeds=5]",
        "[tables.tiny.rows=[erm, ours-learned], protocols.small.seeds=5,]",
        """[tables.tiny.caption="a], b", tables.tiny.title='it''s, x', protocols.small.seeds=5]""",
        """["tables.tiny.caption=it's a, b", tables.tiny.rows=[erm], protocols.small.seeds=5]""",
    ],
)
def test_overrides_are_as_those_of_the_commands(params, given):
    assert configured(params | {"set": given}, {"set": given}).protocol.seeds == 5


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ("[tables.tiny.caption=a] b, iterations=7]", "brackets"),
        ("[tables.tiny.caption=[a, iterations=7]", "brackets"),
        ("[iterations=7, tables.tiny.rows=[erm]", "brackets"),
        (['tables.tiny.caption="x', 'y"', "iterations=7"], "quote the whole override"),
    ],
)
def test_overrides_that_would_be_parted_at_the_wrong_place_are_refused(params, given, fault):
    with pytest.raises(InputError, match=fault):
        configured(params, {"set": given})


@pytest.mark.parametrize(
    "given",
    [
        "datasets={tiny: {split: blocked}}",
        "protocols={small: {seeds: 4}}",
        "variants={vrex: {hparams: {lambda: 2}}}",
        "tables={tiny: {rows: [erm], caption: 12 a}}",
        "variants={new: {label: New, method: erm}}",
        "training={decay: 1e-2}",
        "ranking=null",
        "variants={gone: null}",
        "protocol=large",
        "checkpoint=best",
    ],
)
def test_the_same_is_given_to_snakemake_and_to_the_commands(params, given):
    """Nested mappings merge, lists and values replace, null leaves out."""
    params["ranking"] = {"tables": ["tiny"], "metric": "accuracy"}
    params["protocols"]["small"]["checkpoint"] = "last"
    params["variants"]["vrex"]["hparams"] = {"lambda": 1, "annealing": 0}
    params["variants"]["gone"] = {"label": "Gone", "method": "erm"}
    study = Study(params, [given])
    assert study.params == configured(params, parse_config([given])).params
    assert study.params == configured(params, {"set": given}).params
    assert study.params != Study(params).params
    assert study.checkpoint == ("best" if given == "checkpoint=best" else "last")
    kept = {"annealing": 0, "lambda": 2 if "lambda" in given else 1}
    assert study.variants["vrex"]["hparams"] == kept


def test_what_the_protocol_sets_is_not_set_in_vain(params):
    params["protocols"]["small"]["iterations"] = 5
    for study in (
        lambda: Study(params, ["training.iterations=3"]),
        lambda: configured(params, parse_config(["training={iterations: 3}"])),
    ):
        with pytest.raises(InputError, match=r"protocol small sets it; set protocols\.small\.iterations"):
            study()


def test_a_module_with_a_section_of_its_own_takes_what_is_given(params):
    table = {**params["tables"]["tiny"], "rows": ["erm", "vrex"]}
    given = {
        "set": "[protocols.small.seeds=5]",
        "tables": {"tiny": {"rows": ["vrex"]}, "new": table},
        "samples": "another workflow's",
    }
    study = configured(params, given, own=False)
    assert study.protocol.seeds == 5
    assert study.tables["tiny"]["rows"] == ["vrex"]
    assert study.tables["new"]["rows"] == ["erm", "vrex"]
    with pytest.raises(InputError, match="unknown key 'samples'"):
        configured(params | given, given, own=False)


def test_what_no_rule_makes_has_a_nearest_target(study_of):
    flow = study_of()
    for target, meant in (
        ("results/tables/tinny.tex", "results/tables/tiny.tex"),
        ("tiny", "results/tables/tiny.tex"),
        ("al", "all"),
    ):
        assert flow.nearest_target(target, ["all", "data"]) == f", did you mean {meant!r}?"
    assert flow.nearest_target("zzz", ["all", "data"]) == ""


def test_overrides_have_no_place_in_the_file(params):
    with pytest.raises(InputError, match=r"not valid: .*unknown key 'set'"):
        configured(params | {"set": ["iterations=3"]}, {})


def test_a_wrong_study_is_said_of_its_files_and_overrides(params, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = [tmp_path / "row.yaml", "other/more.yaml"]
    with pytest.raises(
        InputError, match=r"^The study \(row.yaml and other/more.yaml\) is not valid: top level"
    ):
        configured(params | {"sed": 1}, {}, files=files)
    wrong = r"^The study \(params.yaml and --config\) is not valid: override 'iteratons=5': unknown key"
    with pytest.raises(InputError, match=wrong):
        configured(params, {"set": "[iteratons=5]"})


def test_the_study_is_written_once_under_a_name_of_its_own(params, tmp_path):
    study = Study(params)
    path = Path(written(study, tmp_path))
    assert Study.load(path).params == study.params
    before = path.stat().st_mtime_ns
    assert written(study, tmp_path) == path.as_posix()
    assert path.stat().st_mtime_ns == before
    assert written(Study(params, ["iterations=7"]), tmp_path) != path.as_posix()


# -------------------------------------------------------------------------------------------- raw files


def test_raw_files_count_by_what_they_hold_and_are_read_once(study_of, monkeypatch):
    def written_to(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        read.clear()
        workflow = study_of("mine")
        found = workflow.raw_content("mine"), workflow.raw_changed("mine")
        assert (workflow.raw_content("mine"), workflow.raw_changed("mine")) == found
        return *found, list(read)

    read, sha256 = [], contents.sha256
    monkeypatch.setattr(contents, "sha256", lambda path: read.append(path) or sha256(path))
    raw, card = Path("recordings/mine.csv"), Path("results/data/mine/card.json")
    first, changed, reads = written_to(raw, "first")
    assert (changed, reads) == ({str(raw)}, [str(raw)])  # no card says yet what it was prepared from
    card_of_first = json.dumps({"sources": [{"file": raw.name, "sha256": sha256(raw)}]})
    assert written_to(card, card_of_first) == (first, set(), [])
    assert written_to(raw, "first") == (first, set(), [str(raw)])  # copied anew
    second, changed, _ = written_to(raw, "other")
    assert second != first
    assert changed == {str(raw)}
    raw.unlink()  # what it held, the card says
    Path("results/study/raw.json").write_text("{")
    assert (study_of("mine").raw_content("mine"), study_of("mine").raw_changed("mine")) == (first, set())


def test_how_files_are_simulated_is_what_they_hold(study_of):
    simulated = {"datasets__tiny__source": "simulated"}
    seeds = [study_of(**simulated, datasets__tiny__simulate={"seed": seed}) for seed in (0, 0, 1)]
    contents = [workflow.raw_content("tiny") for workflow in seeds]
    assert contents[0] == contents[1] != contents[2]


def test_only_what_is_missing_is_fetched(study_of):
    every = study_of().raw_paths("tiny")
    touch(*every[3:])
    [fetch] = study_of().fetches
    assert (fetch.kind, fetch.folder, fetch.name, fetch.into) == (
        "bearings",
        "nowhere",
        "nowhere",
        "nowhere/.partial",
    )
    assert fetch.paths == sorted(every[:3])
    options = parser().parse_args(["fetch", "bearings", *shlex.split(fetch.options)])
    assert {f"nowhere/{number}.mat" for number in options.numbers} == set(every[:3])
    touch(*every)
    assert study_of().fetches == []


def test_official_files_may_lie_elsewhere(study_of):
    [fetch] = study_of(datasets__tiny__fetch={"base_url": "http://mirror/a b"}).fetches
    options = parser().parse_args(["fetch", "bearings", *shlex.split(fetch.options)])
    assert options.base_url == "http://mirror/a b"
    with pytest.raises(InputError, match=r"datasets\.tiny\.fetch: unknown key 'numbers'"):
        study_of(datasets__tiny__fetch={"numbers": 97})


def test_two_data_sets_of_one_folder_are_fetched_once(study_of, params):
    entry = params["datasets"]["tiny"] | {"prepare": {"location": "fault"}}
    workflow = study_of(datasets__other=entry)
    [fetch] = workflow.fetches
    assert set(fetch.paths) == {*workflow.raw_paths("tiny"), *workflow.raw_paths("other")}


def test_a_folder_has_a_name_for_rules(study_of):
    [fetch] = study_of(
        "hhar", datasets__hhar__raw="/data set/hhar-2/", datasets__tiny__source="simulated"
    ).fetches
    assert fetch.name == "data_set_hhar_2"
    assert fetch.options == ""


def test_what_cannot_be_had_is_withheld_with_what_is_derived_of_it(study_of):
    young = {"of": "mimic3", "domains": ["A", "B", "C"], "backbone": "har", "split": "random"}
    panels = [{"dataset": name, "title": name, "metrics": ["accuracy"]} for name in ("tiny", "young")]
    both = {"rows": ["erm"], "panels": panels, "caption": "c"}
    changes = {"datasets__young": young, "tables__both": both}
    changes["tables__tiny__rows"] = ["erm", "vrex", "ours-learned"]
    changes["figures"] = {
        "some": {"kind": "forest", "tables": ["tiny", "mine"], "baseline": "erm", "caption": "Some."},
        "none": {"kind": "forest", "tables": ["mimic3", "mine"], "baseline": "erm", "caption": "None."},
    }
    changes["ranking"] = {"tables": ["tiny", "mine"], "metric": "accuracy"}
    workflow = study_of("mimic3", "mine", **changes)
    assert workflow.withheld == ["mimic3", "mine", "young"]
    assert workflow.at_hand == workflow.tabled_datasets == ["tiny"]
    assert workflow.without[1] == "Without mine: its raw files are not in recordings and cannot be fetched"
    assert workflow.tables_at_hand == workflow.ranked_tables == ["tiny"]
    assert workflow.figure_tables("some") == ["tiny"]
    assert workflow.figures_at_hand == ["some", "tiny"]
    assert not {"mimic3", "mine", "both"} & set(workflow.documented)
    assert "results/figures/some.png" in workflow.results()

    touch(*workflow.raw_paths("mimic3"), "recordings/mine.csv")
    workflow = study_of("mimic3", "mine", **changes)
    assert workflow.withheld == workflow.without == []
    assert {"mimic3", "mine", "both", "ranking"} <= set(workflow.documented)
    assert workflow.figure_tables("some") == ["tiny", "mine"]


def test_where_nothing_can_be_made_it_is_said_why(study_of):
    tables = {"mine": {"dataset": "mine", "rows": ["erm"], "metrics": ["accuracy"], "caption": "c"}}
    with pytest.raises(InputError, match="no table can be made: mine's raw files are not in recordings"):
        study_of("mine", tables=tables).results()
    with pytest.raises(InputError, match=r"params\.yaml has none in `tables`"):
        study_of(tables={}).results()


def test_recordings_are_a_file_or_a_folder(study_of):
    workflow = study_of("mine")
    assert workflow.raw_paths("mine") == ["recordings/mine.csv"]
    assert workflow.raw_argument("mine") == "recordings/mine.csv"
    touch("recordings/1.csv", "recordings/2.csv")
    Path("recordings/metadata.csv").write_text("file\n1.csv\n2.csv\n")
    workflow = study_of("mine", datasets__mine__raw="recordings/")
    assert workflow.raw_argument("mine") == "recordings"
    assert {Path(path).name for path in workflow.raw_paths("mine")} == {"metadata.csv", "1.csv", "2.csv"}
    assert workflow.withheld == []
    workflow = study_of("mine", datasets__mine__raw="mine.csv")
    assert workflow.raw_paths("mine") == [workflow.raw_argument("mine")] == ["mine.csv"]
    workflow = study_of("mine", datasets__mine__source="simulated")
    assert workflow.simulated == ["mine"]
    assert workflow.raw_argument("mine").startswith("data/simulated/mine/")
    assert study_of().raw_argument("tiny") == "nowhere"


def test_other_files_that_are_read_are_raw_files_too(study_of):
    touch("recordings/mine.csv", "labels.csv", "watch/1.csv")
    Path("watch/metadata.csv").write_text("file\n1.csv\n")
    prepare = {"channels": ["x"], "intervals": "labels.csv", "join": ["gyro.csv", "watch"], "window": 20}
    workflow = study_of("mine", datasets__mine__prepare=prepare)
    joined = ["gyro.csv", "watch/metadata.csv", "watch/1.csv"]
    assert workflow.raw_paths("mine") == ["recordings/mine.csv", "labels.csv", *joined]
    assert workflow.withheld == ["mine"]
    words = shlex.split(workflow.prepare_options("mine"))
    options = parser().parse_args(["prepare", "table", "--raw", "r", "--out", "o", *words])
    assert (options.intervals, options.join) == ("labels.csv", ["gyro.csv", "watch"])


def test_a_wrong_list_of_recordings_is_said_of_its_data_set(study_of):
    touch("recordings/1.csv")
    Path("recordings/metadata.csv").write_text("fil\n1.csv\n")
    with pytest.raises(InputError, match=r"datasets\.mine is not valid: recordings/metadata.csv"):
        study_of("mine", datasets__mine__raw="recordings")


def test_options_of_a_preparation_are_read_as_they_are_written(study_of):
    workflow = study_of("mine")
    words = shlex.split(workflow.prepare_options("mine"))
    options = parser().parse_args(["prepare", "table", "--raw", "r", "--out", "o", *words])
    entry = workflow.study.dataset("mine")
    assert options.channels == ["-x", "y z"]
    assert options.classes == {"1": "on", "2": "it's off"}
    assert (options.window, options.domains) == (20, entry["domains"])


def test_flags_may_hold_anything():
    options = {"samples": None, "per_class": "a b", "channels": ["-x", "$HOME"], "seed": 0}
    assert shlex.split(flags(options)) == [
        "--channels=-x", "--channels=$HOME", "--per-class=a b", "--samples=all", "--seed=0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("prepare", "location"),
    [({}, "sensor"), ({"location": "fault"}, "both"), ({"recordings": "recordings.csv"}, "both")],
)
def test_what_a_preparation_needs_is_simulated(study_of, prepare, location):
    from tsdg.data.bearings import prepare as bearings

    Path("recordings.csv").write_text((Path(bearings.__file__).parent / "recordings.csv").read_text())
    workflow = study_of(datasets__tiny__source="simulated", datasets__tiny__prepare=prepare)
    words = shlex.split(workflow.simulate_options("tiny"))
    assert getattr(parser().parse_args(["simulate", "bearings", *words]), "location", "sensor") == location


# --------------------------------------------------------------------------------------------- training


@pytest.mark.parametrize("size", [1, 8])
def test_every_training_has_a_rule_and_only_those_on_prepared_data_a_card(toy_params, size):
    study = Study(toy_params, ["protocol=large", f"runs_per_job={size}"])
    workflow = Workflow(study)
    assert {rule.datasets for rule in workflow.training_rules} == {("tiny",)}
    assert {rule.datasets for rule in workflow.toy_rules} == {("toy",)}
    assert len(workflow.training_rules + workflow.toy_rules) == len(training_rules(study))


def test_a_jobs_command_trains_the_records_that_it_makes(params):
    records = [
        f"results/runs/tiny/ours-learned/{target}/seed3/{draw}.json"
        for target, draw in product(["A", "D"], ["hp0", "hp12"])
    ]
    words = ["train", "--data", "d", "--variant", "ours-learned", *training_runs(records).split()]
    options = parser().parse_args(words)
    asked = product(options.target, options.seed, [draw for draws in options.draw for draw in draws])
    runs = [parse_run_path(path) for path in records]
    assert set(asked) == {(run.target, run.seed, run.draw) for run in runs}
    fixed = training_runs(["results/runs/tiny/erm/A/seed0/fixed.json"])
    assert parser().parse_args([*words[:5], *fixed.split()]).draw == [["fixed"]]
    assert toy_seeds([f"results/runs/toy/erm/D/seed{seed}/fixed.json" for seed in (5, 6)]) == [5, 6]


def test_a_derived_data_set_trains_on_the_others_card(study_of):
    part = {"of": "tiny", "domains": ["A", "B", "C"], "backbone": "har", "split": "random"}
    workflow = study_of(datasets__part=part)
    assert workflow.card("part") == workflow.card("tiny") == "results/data/tiny/card.json"
    assert workflow.recorded == ["tiny"]


def test_longer_jobs_have_more_time_and_failed_ones_more_of_all(params):
    workflow = Workflow(Study(params, ["iterations=6000"]))
    packed = Workflow(Study(params, ["iterations=6000", "runs_per_job=8"]))
    assert (workflow.training_minutes(1), packed.training_minutes(1)) == (25, 95)
    assert workflow.training_minutes(2) == 50
    assert (workflow.training_memory(1), workflow.training_memory(3)) == (2000, 6000)
    params["variants"]["line"] = LINE
    on_gpu = Workflow(Study(params, ["device=cuda"]))
    assert [flow.gpus("tiny", "erm") for flow in (workflow, on_gpu)] == [0, 1]
    assert on_gpu.gpus("tiny", "line") == 0


def test_a_change_trains_again_what_it_changes_alone(params):
    def identities(*overrides):
        workflow = Workflow(Study(params, ["protocol=large", *overrides]))
        return {name: workflow.training_identity("tiny", name) for name in ("erm", "ours-learned")}

    before = identities()
    assert identities("runs_per_job=8", "device=cuda", "protocols.large.seeds=5") == before
    assert identities("tables.tiny.caption=Other.", "variants.erm.label=Other") == before
    changed = identities("iterations=7")
    assert all(changed[name] != before[name] for name in before)
    changed = identities("variants.ours-learned.options.every=2")
    assert (changed["erm"] == before["erm"], changed["ours-learned"] == before["ours-learned"]) == (
        True,
        False,
    )


def test_a_table_is_selected_again_whenever_its_readers_would_refuse_what_is_there(params):
    def under(*overrides):
        return Workflow(Study(params, overrides)).table_settings("tiny")

    assert under("checkpoint=best") != under() != under("datasets.tiny.raw=elsewhere")
    assert under("protocols.small.seeds=3") != under() == under("variants.vrex.hparams={lambda: 7}")


# ---------------------------------------------------------------------------------------------- results


LAYOUTS = {
    "table": lambda workflow: workflow.table_layout("tiny"),
    "accuracy": lambda workflow: workflow.accuracy_layout("tiny"),
    "figure": lambda workflow: workflow.figure_layout("gains"),
    "ranking": lambda workflow: workflow.ranking_layout(),
    "summary": lambda workflow: workflow.summary_layouts(),
    "hparams": lambda workflow: workflow.hparams(),
}


@pytest.mark.parametrize(
    ("change", "again"),
    [
        ("tables.tiny.caption=Other.", {"table"}),
        ("figures.gains.caption=Other.", set()),
        ("variants.erm.label=Other", {"table", "accuracy", "figure", "ranking"}),
        ("figures.gains.baseline=ours-learned", {"figure"}),
        ("tables.tiny.rows=[erm, ours-learned, vrex]", {*LAYOUTS} - {"hparams"}),
        ("variants.vrex.hparams={lambda: 7}", {"hparams"}),
        ("runs_per_job=8", set()),
    ],
)
def test_a_change_makes_again_what_it_changes_alone(figure_params, change, again):
    before, after = Workflow(Study(figure_params)), Workflow(Study(figure_params, [change]))
    assert {name for name, layout in LAYOUTS.items() if layout(before) != layout(after)} == again


@pytest.mark.parametrize(
    "caption",
    [
        "Plain, as most are.", ".. raw:: html\n\n   <script>alert(1)</script>", ".. include:: /etc/passwd",
        "a\n\n.. include:: params.yaml\n   :literal:",
        "`x <javascript:alert(1)>`_ *a* **b** ``c`` |d| [1]_ e_",
        "- a", "1. a", "\\ ", "\\.. raw:: html", "====", "Title\n=====", "{{ snakemake.config }} {% for %}",
        "::\n\n  a", "http://a.b/c user@a.b", ":raw-html:`<b>` .. role:: raw-html(raw)",
        "a\x07b\x00.. raw:: html",
        "é † 'q' \"q\" -- ...", "__ a", "i. a", "+-+\n|a|\n+-+", ">>> 1", "<b>&amp;</b>",
    ],
)  # fmt: skip
def test_a_caption_is_nothing_but_text_in_the_report(figure_params, caption):
    """By the template and the two readers that Snakemake's report puts it through."""
    jinja2, docutils = pytest.importorskip("jinja2"), pytest.importorskip("docutils.core")
    figure_params["figures"]["gains"]["caption"] = caption
    told = Workflow(Study(figure_params)).figure_caption("gains")
    template = (Path(__file__).parents[1] / "workflow/report/figure.rst").read_text()
    text = (
        jinja2.Environment().from_string(template).render(snakemake=Namespace(params=Namespace(caption=told)))
    )
    body = docutils.publish_parts(text, writer="html")["body"]
    shown = "".join(letter for letter in " ".join(caption.split()) if letter.isprintable())
    (line,) = re.fullmatch(r"<p>([^<>]*)</p>\n", body).groups()
    assert html.unescape(line).strip() == shown.strip()


def test_layouts_are_json(figure_params):
    workflow = Workflow(Study(figure_params))
    for name in LAYOUTS.keys() - {"hparams"}:
        json.loads(LAYOUTS[name](workflow))


def test_every_result_has_the_fingerprint_of_its_code():
    prints = {result: code(result) for result in CODE}
    assert len(set(prints.values())) == len(CODE)


def test_a_table_with_a_figure_of_its_name_has_no_other(figure_params):
    figure_params["figures"]["tiny"] = figure_params["figures"].pop("gains")
    workflow = Workflow(Study(figure_params))
    assert workflow.accuracy_tables == []
    assert workflow.results().count("results/figures/tiny.png") == 1


def test_all_makes_what_the_document_holds(figure_params, toy_params):
    workflow = Workflow(Study(figure_params | toy_params))
    tables = {Path(path).stem for path in workflow.results() if path.endswith(".tex")}
    assert tables == {"all", *workflow.documented}


def test_the_report_shows_what_is_made_and_numbers_it_from_1(
    figure_params, toy_params, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    study = Study(figure_params | toy_params)
    with pytest.raises(InputError, match="no table or figure is made yet"):
        Workflow(study).made()
    paths = [
        "results/tables/tiny.html",
        "results/figures/near.png",
        "results/figures/gains.png",
        "results/tables/networks.html",
        "results/figures/toy_dataset.png",
    ]
    for path in [*paths, "results/tables/tiny.tex", "results/tables/other.html"]:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).touch()
    workflow = Workflow(study)
    assert sorted(workflow.made()) == sorted(paths)
    assert list(map(workflow.section, workflow.reported)) == [
        "1 Results",
        "2 Figures",
        "3 What went in",
        "4 Toy study",
    ]
    assert [workflow.number(name, "Figures") for name in workflow.reported["Figures"]] == ["1", "2"]
    Path(paths[0]).unlink()
    assert Workflow(study).section("Figures") == "1 Figures"


def test_the_toy_study_is_all_or_nothing(params, toy_params):
    without = Workflow(Study(params))
    assert without.toy_rules == without.toy_results == []
    workflow = Workflow(Study(toy_params))
    assert {result.name for result in workflow.toy_results if not result.records} == {
        "toy_attributes",
        "toy_dataset",
    }
    for result in workflow.toy_results:
        assert parser().parse_args(["toy", result.kind, result.name]).out == Path(result.paths[0]).parent
    changed = Workflow(Study(toy_params, ["toy.variants.ours.hparams.lambda=2"]))
    same = {
        name: workflow.training_identity("toy", name) == changed.training_identity("toy", name)
        for name in ("erm", "ours")
    }
    assert same == {"erm": True, "ours": False}


def test_what_to_do_after_a_failure_can_be_done():
    text = after_failure("study.yaml", ["tiny", "other"])
    lines = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    commands = [shlex.split(command) for line in lines for command in line.split(" && ")]
    assert len(commands) == 7
    for word, *arguments in commands:
        assert word == "tsdg"
        options = parser().parse_args(arguments)
        assert options.params == Path("study.yaml")
        if options.name != "status":  # what has gaps goes out of the way of the rules
            assert options.out is None
    assert "tables asked for" not in after_failure("study.yaml", [])
    of_data = after_failure("study.yaml", ["tiny"], {"fetch_bearings_raw"})
    assert "source: simulated" in of_data
    assert "tsdg" not in of_data  # nothing was trained, so that there is nothing to look at
    trained = after_failure("study.yaml", ["tiny"], {"fetch_bearings_raw", "train"})
    assert "tsdg status" in trained
    assert "tsdg select tiny" in trained


def test_after_a_failure_unusable_records_are_to_be_deleted_before_anything_is_selected(study_of):
    flow = study_of("mine")
    table = next(iter(flow.study.tables))
    whole, other, cut, _ = flow.study.table_runs(table)[:4]
    save(Path("results/runs"), whole, ((50, 0.4, 0.4), (100, 0.5, 0.5)))
    for run in (other, cut):
        (Path("results/runs") / run_path(run)).parent.mkdir(parents=True, exist_ok=True)
    record = (Path("results/runs") / run_path(whole)).read_text()
    (Path("results/runs") / run_path(other)).write_text(record)
    (Path("results/runs") / run_path(cut)).write_text(record[:99])
    unusable = flow.unusable([table])
    assert [str(path) for path in unusable] == [f"results/runs/{run_path(run)}" for run in (other, cut)]
    text = after_failure("study.yaml", [table], {"select"}, unusable)
    first, _, then = text.partition(f"\n    rm {unusable[0]} {unusable[1]}\n")
    assert "count as there until they are deleted" in first
    assert f"tsdg select {table}" in then
    assert "    rm " not in after_failure("study.yaml", [table], {"select"})


def test_snakemake_reads_a_study_as_the_command_line_does(params, tmp_path):
    """A file given takes the place of params.yaml; 1e-3 is a number to both."""
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(params).replace("learning_rate: 0.001", "learning_rate: 1e-3"))
    given = {"protocols": {"small": {"seeds": 2}}}
    study = configured(merged([path]), given)
    assert study.params == Study.load(path, ["seeds=2"]).params
    path.write_text(path.read_text() + "seed: 1\n")
    with pytest.raises(InputError, match="given twice"):
        merged([path])
