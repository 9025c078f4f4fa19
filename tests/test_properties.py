"""Laws that hold for whatever comes in: cases are drawn by hypothesis, the same ones every time."""

import json
import random
from collections import Counter
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict

from synthetic_records import make_record, metrics
from tiny_study import PARAMS
from tsdg.data.hhar.prepare import prepare as prepare_hhar
from tsdg.data.hhar.raw import CSV, MODELS, USERS
from tsdg.data.hhar.simulate import COLUMNS as HHAR_COLUMNS
from tsdg.data.mimic3.prepare import prepare as prepare_mimic3
from tsdg.data.mimic3.simulate import simulate
from tsdg.data.own.raw import open_source
from tsdg.data.split import TRAIN, UNUSED, VALIDATION, split
from tsdg.data.windows import FILES
from tsdg.results.selected import read_csv, write_csv
from tsdg.results.selection import select
from tsdg.runs.compact import expanded
from tsdg.runs.record import read, typed
from tsdg.runs.writing import FORMAT, write
from tsdg.study.jobs import TrainingJob, training_jobs
from tsdg.study.run import Run, parse_run_path, run_path
from tsdg.study.study import Study

# ------------------------------------------------------------------------------- packs partition the runs

DOMAINS = "ABCDEFG"
VARIANTS = {
    "erm": {"label": "ERM", "method": "erm"},  # nothing to search: one draw
    "vrex": {"label": "V-REx", "method": "vrex"},
    "irm": {"label": "IRM", "method": "irm"},
}


@st.composite
def studies(draw) -> dict:
    """A study of three to seven domains, and of two tables with rows and targets of their own."""
    domains = DOMAINS[: draw(st.integers(3, len(DOMAINS)))]
    params = deepcopy(PARAMS) | {"variants": deepcopy(VARIANTS), "protocol": "large"}
    params["datasets"]["tiny"] |= {
        "domains": {name: {"site": name} for name in domains},
        "clusters": ["site"],
    }
    params["tables"] = {
        name: {
            "dataset": "tiny", "metrics": ["accuracy"], "caption": name,
            "rows": draw(st.lists(st.sampled_from(list(VARIANTS)), min_size=1, unique=True)),
            "targets": draw(st.lists(st.sampled_from(domains), min_size=1, unique=True)),
        }
        for name in ("one", "other")
    }  # fmt: skip
    params["protocols"]["large"] = {"seeds": draw(st.integers(1, 3)), "draws": draw(st.integers(1, 45))}
    params["runs_per_job"] = draw(st.integers(1, 400))
    return params


def jobs_of(params: dict, **protocol: int) -> list[TrainingJob]:
    return training_jobs(
        Study(params, [f"protocols.large.{name}={value}" for name, value in protocol.items()])
    )


@given(studies())
def test_every_wanted_run_is_in_exactly_one_job(params: dict) -> None:
    study = Study(params)
    jobs = training_jobs(study)
    wanted = {run for table in study.tables for run in study.table_runs(table)}
    assert Counter(run for job in jobs for run in job.runs) == Counter(wanted)
    assert max(len(job.runs) for job in jobs) <= params["runs_per_job"]
    assert {len({(run.dataset, run.variant, run.seed) for run in job.runs}) for job in jobs} == {1}
    assert len({job.log for job in jobs}) == len(jobs)


@given(studies(), st.integers(1, 3), st.integers(1, 45))
def test_a_growing_study_leaves_jobs_as_they_are(params: dict, seeds: int, draws: int) -> None:
    """Another seed leaves all; another draw all but those of the last draws, if these do not fill a job."""
    protocol = params["protocols"]["large"]
    jobs = jobs_of(params)
    assert {*jobs} <= {*jobs_of(params, seeds=protocol["seeds"] + seeds)}
    grown = jobs_of(params, draws=protocol["draws"] + draws)
    most = Counter[str]()  # draws of a variant in one job
    for job in grown:
        most[job.runs[0].variant] = max(most[job.runs[0].variant], len(draws_of(job)))
    for job in jobs:
        if protocol["draws"] - 1 not in draws_of(job) or len(draws_of(job)) == most[job.runs[0].variant]:
            assert job in grown


def draws_of(job: TrainingJob) -> set[int | str]:
    return {run.draw for run in job.runs}


# ----------------------------------------------------------------------------------- splits never overlap


@st.composite
def windows_tables(draw) -> pd.DataFrame:
    """Windows of one length in recordings of three domains, at any distance, classes mixed, rows shuffled."""
    length, offset, rows = draw(st.integers(1, 12)), 0, []
    for number in range(draw(st.integers(1, 8))):
        domain = draw(st.sampled_from("ABC"))
        for gap in draw(st.lists(st.integers(1, 15), min_size=1, max_size=12)):
            rows.append((offset, length, draw(st.integers(0, 2)), domain, f"{domain}{number}"))
            offset += gap
        offset += length
    table = pd.DataFrame(rows, columns=["start", "length", "label", "domain", "recording"])
    return table.sample(frac=1, random_state=draw(st.integers(0, 99))).reset_index(drop=True)


fractions = st.floats(0.01, 0.99)


@given(windows_tables(), fractions, st.integers(0, 9))
def test_a_random_split_takes_its_share_and_every_window(windows, fraction, seed) -> None:
    parts = split(windows, fraction=fraction, seed=seed)
    assert {*parts} <= {TRAIN, VALIDATION}
    for _, here in windows.assign(part=parts).groupby("domain"):
        validation = (here.part == VALIDATION).sum()
        assert validation < len(here)
        if len(here) > 1:
            assert abs(validation - fraction * len(here)) < 1
            assert validation >= 1


@given(windows_tables(), fractions, st.integers(0, 9))
def test_a_blocked_split_shares_no_time_step(windows, fraction, seed) -> None:
    parts = split(windows, fraction=fraction, seed=seed, method="blocked")
    steps = {
        part: {
            step for start in windows.start[parts == part] for step in range(start, start + windows.length[0])
        }
        for part in (TRAIN, VALIDATION)
    }
    assert not steps[TRAIN] & steps[VALIDATION]
    for start in windows.start[parts == UNUSED]:  # and nothing is left out for another reason
        assert {*range(start, start + windows.length[0])} & steps[VALIDATION]
    assert {*windows.domain[parts == TRAIN]} == {*windows.domain}


# ----------------------------------------------------------------------------- records and paths round-trip

letters = st.characters(exclude_categories=("Cs", "Zs", "Zl", "Zp", "Cc"), exclude_characters="/")
names = st.text(letters, min_size=1, max_size=8).filter(lambda text: text[0] != ".")
runs = st.builds(
    Run, names, names, names, st.integers(0, 10**6), st.one_of(st.just("fixed"), st.integers(0, 10**6))
)
checkpoints = st.tuples(  # iteration, accuracies of validation and target, ECE, and AUC or a gap
    st.integers(1, 10**9), *[st.floats(0, 1)] * 3, st.one_of(st.none(), st.floats(0, 1))
)


@given(runs, st.lists(names, max_size=3))
def test_a_runs_path_says_which_run_it_is(run: Run, folders: list[str]) -> None:
    assert parse_run_path("/".join([*folders, run_path(run)])) == run


@given(st.lists(runs, min_size=2, max_size=20))
def test_runs_of_one_path_are_one_run(several: list[Run]) -> None:
    assert len({run_path(run) for run in several}) == len({*several})
    assert sorted({*several}) == sorted({*several[::-1]})


@given(
    run=runs,
    checkpoints=st.lists(checkpoints, min_size=1, max_size=3, unique_by=lambda values: values[0]).map(sorted),
    sources=st.lists(names, min_size=1, max_size=4, unique=True),
    diverged=st.booleans(),
)  # fmt: skip
def test_a_record_is_read_as_it_was_written(tmp_path_factory, run, checkpoints, sources, diverged) -> None:
    assume({*sources} - {run.target})
    path = tmp_path_factory.mktemp("record") / "record.json"
    record = make_record(run, checkpoints, sources, diverged=diverged)
    write(path, record)
    back = read(path, run)
    assert expanded(json.loads(path.read_bytes())) | {"format": FORMAT} == record
    assert back == typed(record)
    for typed_one, written in zip(back.checkpoints, record["checkpoints"], strict=True):
        assert asdict(typed_one.target).items() >= written["target"].items()
        assert {name: scores.accuracy for name, scores in typed_one.validation.items()} == {
            name: scores["accuracy"] for name, scores in written["validation"].items()
        }


# ----------------------------------------------------------------------- streaming in blocks equals the whole


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """Recordings of six people of 10 to 60 rows, some cells empty, as csv, parquet and npz."""
    rng = np.random.default_rng(0)
    parts = []
    for number, steps in enumerate(rng.integers(10, 60, 6)):
        signal = rng.normal(size=(steps, 2)) * 10.0 ** rng.integers(-3, 4)
        signal[rng.random(steps) < 0.1, 1] = np.nan
        labels = np.repeat(["sit", "walk", ""], steps)[rng.integers(steps) :][:steps]
        facts = {"recording": f"r{number}", "user": number % 3, "label": labels}
        parts.append(
            pd.DataFrame(facts | {"time": np.arange(steps) / 10, "x": signal[:, 0], "y": signal[:, 1]})
        )
    table = pd.concat(parts, ignore_index=True)
    folder = tmp_path_factory.mktemp("own")
    table.to_csv(folder / "data.csv", index=False)
    table.to_parquet(folder / "data.parquet")
    arrays = {name: table[name].to_numpy(kind) for name, kind in
              {"recording": "U4", "user": int, "label": "U4", "time": float}.items()}  # fmt: skip
    np.savez(
        folder / "data.npz", signal=table[["x", "y"]].to_numpy(), channels=np.array(["x", "y"]), **arrays
    )
    return folder


def own_recordings(path) -> list[tuple]:
    source = open_source(path)
    columns = source.columns(channels=["x", "y"], fields=["user"])
    return [
        (one.name, one.fields, one.signal.tobytes(), one.time.tobytes(),
         [["", *source.labels(columns)][label + 1] for label in one.labels])
        for one in source.recordings(columns)
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["csv", "parquet", "npz"])
def test_own_recordings_do_not_depend_on_what_is_read_at_once(own, form) -> None:
    whole = own_recordings(own / f"data.{form}")
    assert len(whole) == 6

    @given(st.integers(1, 400))
    def in_blocks(size: int) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tsdg.data.own.tables._ROWS", size)
            patch.setattr("tsdg.data.own.arrays._ROWS", size)
            patch.setattr("tsdg.data.own.tables._BYTES", 64 + size)
            assert own_recordings(own / f"data.{form}") == whole

    in_blocks()


def prepared_in_blocks(module: str, prepare, raw, out, longest: int, size: int) -> None:
    """Preparing in blocks of any size that holds a line gives the files of preparing at once."""
    prepare(raw, out / "whole")

    @settings(max_examples=4)
    @given(st.integers(longest, size))
    def in_blocks(block: int) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(f"{module}._BLOCK", block)
            prepare(raw, out / "parts")
        for name in FILES:
            assert (out / "parts" / name).read_bytes() == (out / "whole" / name).read_bytes(), name

    in_blocks()


@pytest.mark.slow
def test_hhar_does_not_depend_on_what_is_read_at_once(tmp_path) -> None:
    rng = np.random.default_rng(0)
    parts = []
    for number in range(8):
        steps = int(rng.integers(100, 300))
        clock = 10**15 * number + np.arange(steps) * 5_000_000
        clock[steps // 2 :] += rng.integers(2) * 10**9  # a gap, or none
        who = {
            "User": rng.choice([*USERS, "d"]),
            "Model": rng.choice(MODELS),
            "gt": rng.choice(["walk", "sit"]),
        }
        xyz = pd.DataFrame(rng.normal(size=(steps, 3)), columns=list("xyz"))
        facts = {"Index": np.arange(steps), "Arrival_Time": clock // 10**6, "Creation_Time": clock}
        part = xyz.assign(**facts, **who, Device=f"{who['Model']}_{number % 2 + 1}")
        part.loc[rng.random(steps) < 0.01, "gt"] = "null"
        parts.append(part)
    table = pd.concat(parts).sample(frac=1, random_state=0)[list(HHAR_COLUMNS)]
    table.to_csv(tmp_path / CSV, index=False)
    prepared_in_blocks("tsdg.data.hhar.raw", prepare_hhar, tmp_path, tmp_path, 256, 100_000)


@pytest.mark.slow
def test_mimic3_does_not_depend_on_what_is_read_at_once(tmp_path) -> None:
    simulate(tmp_path / "raw", patients=100)
    prepared_in_blocks("tsdg.data.mimic3.raw", prepare_mimic3, tmp_path / "raw", tmp_path, 4096, 1_000_000)


# -------------------------------------------------------------------------------- selection is order-free


@settings(max_examples=10)
@given(st.data())
def test_selection_knows_no_order(tmp_path_factory, data) -> None:
    """Neither of the runs, nor of the records' writing, nor of the sources in a record; ties included."""
    first, second = (tmp_path_factory.mktemp("records") for _ in range(2))
    asked = [
        Run("toy", variant, target, seed, draw)
        for variant in ("erm", "vrex") for target in "ST" for seed in (0, 1) for draw in (0, 1, 2)
    ]  # fmt: skip
    values = st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.0])
    made = {}
    for run in data.draw(st.lists(st.sampled_from(asked), unique=True, min_size=1)):
        record = make_record(run, sources="ABC", diverged=data.draw(st.integers(0, 5)) == 0)
        record["checkpoints"][0]["validation"] = {name: metrics(data.draw(values)) for name in "ABC"}
        record["checkpoints"][0]["target"] = metrics(data.draw(values))
        made[run] = record
    turn = random.Random(data.draw(st.integers(0, 99)))
    texts = []
    for folder in (first, second):
        for run, record in turn.sample(list(made.items()), len(made)):
            [checkpoint] = record["checkpoints"]
            checkpoint["validation"] = dict(turn.sample(list(checkpoint["validation"].items()), 3))
            write(folder / run_path(run), record | {"sources": turn.sample(record["sources"], 3)})
        write_csv(select(turn.sample(asked, len(asked)), folder), folder / "selected.csv")
        texts.append((folder / "selected.csv").read_bytes())
    assert texts[0] == texts[1]
    assert len(read_csv(first / "selected.csv")) == 2 * len({run.order[:4] for run in asked})
