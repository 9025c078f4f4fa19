import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from synthetic_records import make_record, save
from tsdg.errors import InputError
from tsdg.learning.metrics import evaluate_all, evaluate_target
from tsdg.runs.compact import expanded
from tsdg.runs.record import read, read_end
from tsdg.runs.writing import is_sealed, plain, write
from tsdg.study.run import Run, parse_run_path, run_path

RUN = Run("bearings", "erm", "B", 0, 3)


def test_paths_and_runs_are_inverse():
    assert run_path(RUN) == "bearings/erm/B/seed0/hp3.json"
    fixed = Run("toy", "ours-learned", "user_1", 12, "fixed")
    assert run_path(fixed) == "toy/ours-learned/user_1/seed12/fixed.json"
    for run in (RUN, fixed):
        assert parse_run_path(run_path(run)) == run
        assert parse_run_path(f"results/runs/{run_path(run)}") == run
    for bad in ("erm/B/seed0/hp3.json", "bearings/erm/B/seedx/hp3.json", "bearings/erm/B/seed0/hp3.json.tmp"):
        with pytest.raises(InputError, match="not a run record's path"):
            parse_run_path(bad)


def test_runs_sort_fixed_first_then_by_number():
    runs = [Run("d", "v", "t", 0, draw) for draw in (10, "fixed", 9)]
    assert [run.draw for run in sorted(runs)] == ["fixed", 9, 10]


@pytest.mark.parametrize(
    "fields",
    [("a/b", "v", "t", 0, 0), ("a", "..", "t", 0, 0), ("", "v", "t", -1, 0), ("a", "v", "t", 0, "hp1")],
)
def test_a_run_that_cannot_be_a_path_is_refused(fields):
    with pytest.raises(InputError):
        Run(*fields)


def test_what_is_written_is_read_and_numpy_and_nan_become_json(tmp_path):
    record = make_record(RUN)
    record["losses"] = {"iteration": np.arange(2), "total": [np.float32(0.5), float("nan")], "w": [np.inf, 1]}
    path = tmp_path / "deep" / "record.json"
    write(path, record)
    back = read(path)
    assert back.losses == {"iteration": [0, 1], "total": [0.5, None], "w": [None, 1]}
    assert expanded(json.loads(path.read_text()))["checkpoints"] == record["checkpoints"]
    assert [p.name for p in path.parent.iterdir()] == ["record.json"]


def test_a_failed_write_leaves_the_old_record_and_no_temporary(tmp_path, monkeypatch):
    path = tmp_path / "record.json"
    write(path, make_record(RUN))
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InputError, match=r"record.json: .* \(disk full\).*same command again"):
        write(path, make_record(RUN, ((100, 0.9, 0.9),)))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


BINS = {"count": [60, 40], "confidence": [0.4, 0.9], "accuracy": [0.5, 1.0]}


def changed(change):
    """A damage by a change of what the JSON holds."""

    def damage(text):
        record = json.loads(text)
        change(record)
        return json.dumps(record)

    return damage


def config(**values):
    return changed(lambda record: record["config"].update(values))


def target(**values):
    return changed(lambda record: record["checkpoints"][0]["target"].update(values))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[: len(text) // 2], "truncated"),
        (lambda text: "", "truncated"),
        (lambda text: text.replace('"accuracy":0.5', '"accuracy":NaN', 1), "NaN"),
        (lambda text: text.replace('"format":1', '"format":3'), "format is 3"),
        (lambda text: text.replace('"finished"', '"running"'), "status is 'running'"),
        (lambda text: text.replace('"simulated"', '"simulation"'), "data lacks simulated"),
        (lambda text: text.replace('"config":{', '"config":null,"c":{'), "config is None where a JSON"),
        (lambda text: json.dumps({**json.loads(text), "sources": ["S", "X"]}), "validation accuracy of X"),
        (
            lambda text: text.replace('"validation":{', '"validation":{"X":{"accuracy":1.0},', 1),
            "validation accuracy of X, which are no sources",
        ),
        (lambda text: json.dumps({**json.loads(text), "checkpoints": []}), "no checkpoint"),
        (lambda text: text.replace('"finished"', '"diverged"'), "diverged_at"),
        (
            lambda text: text.replace('"accuracy":0.5', '"accuracy":7', 1),
            r"checkpoints.0.validation.S.accuracy is 7 where a number <= 1",
        ),
        (lambda text: text.replace('"nll":1.5', '"nll":1e999'), "nll is inf where"),
        (
            lambda text: text.replace('"iteration":100', '"iteration":"100"'),
            "iteration is '100' where a whole",
        ),
        (lambda text: text.replace('"n":100', f'"n":{10**30}'), "n is 10*0* where"),
        (lambda text: json.dumps({**json.loads(text), "sources": []}), "no sources"),
        (lambda text: "[" * 100_000, "nested too deeply"),
        (lambda text: text.replace('"seed":0', '"seed":1,"seed":0'), "the key 'seed' twice"),
        (lambda text: text.replace('"draw":3', '"draw":-3'), "run: draw -3"),
        (lambda text: text.replace('"target":"B"', '"target":"S"'), "its target S is among its sources"),
        (config(iterations=0), "config.iterations is 0 where"),
        (config(clusters={"S": 0, "T": -1}), "config.clusters.T is -1"),
        (config(iterations=600), "last checkpoint is of iteration 100 where the training ended at 600"),
        (changed(lambda record: record.update(checkpoints=2 * record["checkpoints"])), "not in the order"),
        (changed(lambda record: record["losses"].update(total=[float("inf")])), "Infinity"),
        (changed(lambda record: record["losses"].pop("iteration")), "losses lacks whole numbers"),
        (target(auc=1.5), "target.auc is 1.5 where a number <= 1 belongs"),
        (target(brier=-0.1), "target.brier is -0.1 where a number >= 0"),
        (target(accuracy=0.99, reliability=BINS), "accuracy is 0.99 where its bins say 0.7"),
        (target(n=99, accuracy=0.7, reliability=BINS), "bins hold 100 windows where n is 99"),
        (target(reliability=BINS | {"count": [100]}), "the lists of its reliability differ in length"),
        (target(confusion=[[30, 20], [20, 20]]), "confusion holds 90 windows where n is 100"),
        (target(confusion=[[30, 20], [10, 40]]), "accuracy is 0.5 where its confusion says 0.7"),
        (target(confusion=[[50, 50]]), "not as many columns as rows"),
        (target(confusion=[[50, 50, 0], [0, 0, 0], [0, 0, 0]]), "confusion .* is of 3 classes, not of 2"),
        *(
            (lambda text, part=part, value=value: json.dumps({**json.loads(text), part: value}), part)
            for part, value in [
                ("code", "x"),
                ("code", {}),
                ("checkpoints", 5),
                ("checkpoints", [5]),
                ("timing", {}),
                ("machine", []),
                ("hparams", {"lambda": "1"}),
                ("losses", {"iteration": [1], "loss": [1, 2]}),
                ("neighbours", [{"iteration": 1, "of": {"S": "X"}}]),
                ("neighbours", {}),
            ]
        ),
    ],
)
def test_a_damaged_record_names_the_file_the_fault_and_the_remedy(tmp_path, damage, message):
    path = tmp_path / "record.json"
    path.write_text(damage(json.dumps(make_record(RUN), separators=(",", ":"))))
    with pytest.raises(InputError, match=message) as error:
        read(path)
    assert str(path) in str(error.value)
    assert "run the same command again" in str(error.value)


def test_a_file_is_compact_and_gives_every_score_back_to_the_bit(tmp_path):
    rng = np.random.default_rng(0)

    def scored(names):
        """Of windows in halves of the precision that networks have."""
        parts = {name: rng.dirichlet(np.ones(3), 70).astype(np.float32) for name in names}
        return {name: (part, rng.integers(0, 3, 70)) for name, part in parts.items()}

    record = make_record(RUN, [(50, 0.5, 0.5), (100, 0.5, 0.5)]) | {"classes": ["0", "1", "2"]}
    for checkpoint in record["checkpoints"]:
        checkpoint |= evaluate_all(scored("ST"), RUN.target, scored("XY"))
        checkpoint["averaged"] = evaluate_all(scored("ST"), RUN.target, scored("XY"))
        checkpoint["adapted"] = {"statistics": evaluate_target(RUN.target, scored("XY"))}
    record["checkpoints"][0]["validation"]["S"] |= {
        "auc": None,
        "auc_reason": "the split holds class 1 alone",
    }
    record["losses"] = {"iteration": [50, 100], "loss": np.float32([1 / 3, 2e-9])}
    path = tmp_path / "record.json"
    path.write_text(json.dumps(plain(record)))  # as format 1 has it
    whole = read(path)
    size = path.stat().st_size
    write(path, record)
    assert path.stat().st_size < 0.7 * size
    found = read(path)
    assert found.losses["loss"] == pytest.approx(whole.losses["loss"], rel=6e-8)
    assert np.float32(found.losses["loss"]).tolist() == record["losses"]["loss"].tolist()
    for one, other in zip(found.checkpoints, whole.checkpoints, strict=True):
        assert (one.validation, one.averaged.validation) == (other.validation, other.averaged.validation)
        for mine, theirs in (
            (one.target, other.target),
            (one.averaged.target, other.averaged.target),
            (one.adapted["statistics"], other.adapted["statistics"]),
        ):
            confidences = (np.float32(one.reliability["confidence"]).tolist() for one in (mine, theirs))
            assert next(confidences) == pytest.approx(next(confidences), nan_ok=True, rel=1e-9)
            bins = {**mine.reliability, "confidence": theirs.reliability["confidence"]}
            assert msgspec.structs.replace(mine, reliability=bins) == theirs


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.pop("scores"),
        lambda record: record["scores"].append("auc"),
        lambda record: record.update(checkpoints=5),
        lambda record: record["checkpoints"][0].update(validation={"S": 1}),
        lambda record: record["checkpoints"][0]["target"].update(reliability={"count": [1], "right": "1"}),
    ],
)
def test_a_damaged_compact_file_is_told(tmp_path, change):
    path = tmp_path / run_path(save(tmp_path, RUN))
    path.write_text(changed(change)(path.read_text()))
    with pytest.raises(InputError, match=r"scores are not as format 2 has them. Delete it and run the same"):
        read(path)


def test_without_its_course_a_record_has_its_last_checkpoint_and_no_less_is_refused(tmp_path):
    path = tmp_path / run_path(save(tmp_path, RUN, ((50, 0.4, 0.4), (100, 0.5, 0.5))))
    whole, text = read(path), path.read_text()
    short = msgspec.structs.replace(whole, checkpoints=whole.checkpoints[-1:], losses={"iteration": []})
    assert len(whole.checkpoints) == 2
    assert read_end(path, RUN) == short
    path.write_text(json.dumps(json.loads(text), indent=1))
    assert read_end(path) == whole
    for damage, message in (
        (text[:-9], "truncated"),
        (text.replace('"iteration":50,', '"iteration":50 50,'), "truncated"),
        (text.replace('"losses":', '"loss":'), "lacks losses"),
        (text.replace('"checkpoints":', '"checkpoints":[],"checkpoints":'), "'checkpoints' twice"),
        (text.replace('"iteration":100,', '"iteration":99,'), "training ended at 100"),
    ):
        assert damage != text
        path.write_text(damage)
        with pytest.raises(InputError, match=message):
            read_end(path)


def test_a_file_is_sealed_by_a_checksum_of_all_before_it(tmp_path):
    path = tmp_path / run_path(save(tmp_path, RUN))
    body, _, checksum = path.read_text().rpartition(',"checksum":')
    assert json.loads(checksum.rstrip("}\n")) == hashlib.sha256(body.encode()).hexdigest()
    assert is_sealed(path.read_bytes())
    assert "checksum" not in expanded(json.loads(path.read_bytes()))


@pytest.mark.parametrize(
    "damage",
    [
        changed(lambda record: record.update(losses=None)),
        changed(lambda record: record["losses"].update(total=[1, 2])),
        changed(lambda record: record["checkpoints"][0]["target"].update(accuracy=7.0)),
        changed(lambda record: record["checkpoints"][0]["validation"].pop("S")),
        changed(lambda record: record["checkpoints"].insert(0, record["checkpoints"].pop(1))),
        lambda text: text.replace('"iteration":50,', '"iteration":50,"iteration":50,'),
        lambda text: text.replace('"total":[1.0', '"total":[1.0\0'),
        lambda text: text.replace('"iteration":30,', '"iteration":30,"note":"\udcff",'),
    ],
)
def test_a_record_damaged_in_its_course_is_refused_without_it_too(tmp_path, damage):
    path = tmp_path / run_path(save(tmp_path, RUN, ((30, 0.3, 0.3), (50, 0.4, 0.4), (100, 0.5, 0.5))))
    text = path.read_text()
    for damaged in (damage(text), damage(text.partition(',"checksum"')[0] + "}")):  # one of before
        assert damaged != text
        path.write_bytes(damaged.encode(errors="surrogateescape"))
        messages = []
        for reader in (read, read_end):
            with pytest.raises(InputError, match="unusable run record") as error:
                reader(path, RUN)
            messages.append(str(error.value))
        assert messages[0] == messages[1]


def test_a_valid_record_that_was_edited_or_has_no_checksum_counts(tmp_path):
    path = tmp_path / run_path(save(tmp_path, RUN, ((50, 0.4, 0.4), (100, 0.5, 0.5))))
    whole, text = read(path), path.read_text()
    for edited in (
        text.replace('"iteration":50,', '"iteration":51,'),
        text.partition(',"checksum"')[0] + "}",
    ):
        path.write_text(edited)
        assert read_end(path, RUN) == read(path, RUN)
        assert len(read_end(path).checkpoints) == len(whole.checkpoints)


def test_the_worst_class_and_domain_are_those_of_the_record(tmp_path):
    path = tmp_path / run_path(save(tmp_path, RUN))
    assert read(path).checkpoints[0].target.worst_class is None
    text = json.dumps(make_record(RUN))
    domains = {"X": {"accuracy": 0.9}, "Y": {"accuracy": 0.4}}
    path.write_text(target(confusion=[[40, 0], [50, 10]], domains=domains)(text))
    scores = read(path).checkpoints[0].target
    assert (scores.worst_class, scores.worst_domain) == (10 / 60, 0.4)
    path.write_text(target(confusion=[[50, 50], [0, 0]], domains={})(text))
    scores = read(path).checkpoints[0].target  # a class that is not there is not the worst
    assert (scores.worst_class, scores.worst_domain) == (0.5, 0.5)


@pytest.mark.parametrize(
    "other",
    [{"dataset": "x"}, {"variant": "x"}, {"target": "A"}, {"seed": 1}, {"draw": 4}, {"draw": "fixed"}],
)
def test_a_record_of_another_run_is_noticed(tmp_path, other):
    path = tmp_path / run_path(save(tmp_path, RUN))
    assert read(path, RUN).run == RUN
    with pytest.raises(InputError, match=r"hp3.json: the record says that it is of run bearings/erm/B/"):
        read(path, replace(RUN, **other))


@pytest.mark.slow
def test_what_trains_does_without_what_reads():
    blocked = "import sys; sys.modules |= dict.fromkeys(('msgspec', 'jsonschema', 'tqdm'));"
    subprocess.run(
        [sys.executable, "-c", f"{blocked} import tsdg.runs.training, tsdg.runs.writing"], check=True
    )
