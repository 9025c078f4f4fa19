"""MIMIC-III: cohort, ages, units, errors: on tables made by hand, simulated and, where at hand, the demo."""

import gzip
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tsdg.data.mimic3.cohort import AGES, years
from tsdg.data.mimic3.items import read_items
from tsdg.data.mimic3.prepare import prepare
from tsdg.data.mimic3.raw import TABLES
from tsdg.data.mimic3.simulate import simulate
from tsdg.data.windows import WindowedDataset
from tsdg.errors import InputError

REAL = Path(os.environ.get("TSDG_REAL_DATA", Path(__file__).parents[3] / "../shared/data")) / "mimic3_demo"
real = pytest.mark.skipif(
    not REAL.is_dir(), reason="the open demo is not at hand (set TSDG_REAL_DATA to its folder)"
)
IN = "2150-06-15 12:00:00"
HEART, TEMP_C, TEMP_F, OTHER = 211, 676, 678, 128


class Raw:
    """The four tables, a patient at a time."""

    def __init__(self):
        self.tables = {name: [] for name in TABLES}

    def stay(
        self, subject, died=0, *, age=50, dob=None, into=IN, hours=48, death=None, discharge=90, events=None
    ):
        start = pd.Timestamp(into).as_unit("s")
        time = {"death": death, "discharge": discharge, "out": hours}
        at = {key: str(start + pd.Timedelta(hours=h)) if h is not None else "" for key, h in time.items()}
        stay = 1000 + len(self.tables["ICUSTAYS"])
        birth = dob or f"{2150 - age}-01-01 00:00:00"
        if not any(row["SUBJECT_ID"] == subject for row in self.tables["PATIENTS"]):
            self.tables["PATIENTS"].append({"SUBJECT_ID": subject, "DOB": birth})
        self.tables["ADMISSIONS"].append(
            {"HADM_ID": stay + 5000, "ADMITTIME": into, "DISCHTIME": at["discharge"],
             "DEATHTIME": at["death"], "HOSPITAL_EXPIRE_FLAG": died}
        )  # fmt: skip
        self.tables["ICUSTAYS"].append(
            {"SUBJECT_ID": subject, "HADM_ID": stay + 5000, "ICUSTAY_ID": stay, "INTIME": into,
             "OUTTIME": at["out"]}
        )  # fmt: skip
        for hour, item, value, *error in [(1.0, HEART, 80)] if events is None else events:
            self.tables["CHARTEVENTS"].append(
                {"ICUSTAY_ID": stay, "ITEMID": item,
                 "CHARTTIME": str(start + pd.Timedelta(seconds=round(hour * 3600))),
                 "VALUENUM": value, "ERROR": error[0] if error else ""}
            )  # fmt: skip
        return stay

    def write(self, folder, lower=False, zipped=False):
        folder.mkdir(parents=True, exist_ok=True)
        for name, rows in self.tables.items():
            table = pd.DataFrame(rows).assign(ROW_ID=1, NOTE='a "quoted, text')
            table.columns = [column.lower() if lower else column for column in table]
            table.to_csv(folder / f"{name}.csv{'.gz' if zipped else ''}", index=False)
        return folder


def prepared(folder, raw, *, lower=False, zipped=False, **options):
    card = prepare(raw.write(folder / "raw", lower, zipped), folder / "out", **options)
    return WindowedDataset.load(folder / "out"), card


def measured(folder, events, **options):
    """A window ``(24, C)`` of a stay with these measurements, and the card."""
    raw = Raw()
    raw.stay(1, events=events)
    data, card = prepared(folder, raw, balance="none", **options)
    assert len(data.windows) == 1
    return pd.DataFrame(data.signals, columns=card["channels"]), card


@pytest.mark.parametrize(
    ("age", "domain"),
    [(20, "A"), (45, "A"), (46, "B"), (65, "B"), (66, "C"), (85, "C"), (86, "D"), (89, "D"), (300, "D")],
)
def test_domains_by_age(tmp_path, age, domain):
    raw = Raw()
    raw.stay(1, age=age)
    data, _ = prepared(tmp_path, raw, balance="none")
    assert data.windows["domain"].tolist() == [domain]


def test_age_counts_completed_years_even_over_centuries():
    def age(birth, at):
        return years(np.array([birth], "datetime64[s]"), np.array([at], "datetime64[s]"))[0]

    assert age("2104-06-15", "2150-06-15T12:00:00") == 46
    assert age("2104-06-16", "2150-06-15T12:00:00") == 45
    assert age("1850-06-15", "2150-06-15T00:00:00") == 300
    assert age("1700-01-01", "2211-01-01") == 511
    assert age("2128-02-29", "2149-02-28") == 20
    assert age("2128-02-29", "2149-03-01") == 21


def test_the_cohort_step_by_step(tmp_path):
    raw = Raw()
    raw.stay(1)
    raw.stay(2, age=19)
    raw.stay(3, into="2150-06-15 12:00:00")
    raw.stay(3, into="2149-06-15 12:00:00", hours=23)  # the first, and too short: the second does not count
    raw.stay(4, hours=23)
    raw.stay(5, hours=24)
    raw.stay(6, died=1, hours=48, death=23)
    raw.stay(7, discharge=20)
    raw.stay(8, events=[(25, HEART, 80), (-1, HEART, 80), (2, OTHER, 80)])
    raw.stay(9, hours=None)
    data, card = prepared(tmp_path, raw, balance="none")
    assert card["cohort"] == {
        "ICU stays": 10,
        "with patient and admission": 10,
        "aged 20 or more": 9,
        "the patient's first": 8,
        "24 hours in the unit": 5,
        "alive and in hospital for them": 3,
        "at least one measurement in these hours": 2,
        "drawn": 2,
    }
    assert len(data.windows) == 2


def test_the_first_of_two_stays_is_the_patients(tmp_path):
    raw = Raw()
    raw.stay(1, into="2151-01-01 00:00:00", events=[(0, HEART, 111)])
    raw.stay(1, into="2150-01-01 00:00:00", events=[(0, HEART, 77)])
    data, _ = prepared(tmp_path, raw, balance="none")
    assert len(data.windows) == 1
    assert data.signals[0, 0] == 77


def test_hourly_means_merge_both_systems_and_keep_missing_hours(tmp_path):
    events = [(0, HEART, 70), (0.99, 220045, 90), (1.0, HEART, 60), (23.999, HEART, 50), (24, HEART, 40)]
    signal, card = measured(tmp_path, events)
    assert signal["heart rate"].dropna().to_dict() == {0: 80, 1: 60, 23: 50}
    assert signal.drop(columns="heart rate").isna().all(axis=None)
    assert len(card["channels"]) == 11
    assert "99% of all hours are missing" in " ".join(card["notes"])


def test_fahrenheit_by_item_and_under_a_celsius_item(tmp_path):
    events = [(0, TEMP_F, 98.6), (1, TEMP_C, 37.0), (2, TEMP_C, 98.6), (3, TEMP_C, 60.0), (4, TEMP_F, 37.0)]
    signal, card = measured(tmp_path, events)
    assert signal["temperature"].dropna().round(3).to_dict() == {0: 37.0, 1: 37.0, 2: 37.0}
    assert "2 implausible" in card["notes"][1]
    assert "1 of a Celsius item were in Fahrenheit" in card["notes"][1]


def test_flagged_and_implausible_values_are_dropped_and_counted(tmp_path):
    events = [
        (0, HEART, 80, 0),
        (0, HEART, 200, 1),
        (1, HEART, 9999),
        (2, HEART, 0),
        (3, HEART, ""),
        (4, HEART, 300),
    ]
    signal, card = measured(tmp_path, events)
    assert signal["heart rate"].dropna().to_dict() == {0: 80, 4: 300}
    assert "1 were flagged as errors and 2 implausible" in card["notes"][1]


def many():
    raw = Raw()
    for subject in range(60):
        raw.stay(subject + 70_000, died=int(subject % 4 == 0), age=(30, 50, 70, 90)[subject // 15],
                 death=60 if subject % 4 == 0 else None, events=[(0, HEART, 60 + subject)])  # fmt: skip
    return raw


def test_survivors_are_drawn_down_to_the_number_of_those_who_died(tmp_path):
    data, card = prepared(tmp_path, many())
    assert all(counts["survived"] == counts["died"] > 0 for counts in card["counts"].values())
    heart = set(data.signals[data.windows["start"], 0])
    again, _ = prepared(tmp_path, many())
    other, _ = prepared(tmp_path, many(), seed=1)
    assert set(again.signals[again.windows["start"], 0]) == heart
    assert set(other.signals[other.windows["start"], 0]) != heart
    everyone, card = prepared(tmp_path, many(), balance="none")
    assert len(everyone.windows) == card["cohort"]["drawn"] == 60


def test_a_domain_of_one_class_is_said(tmp_path):
    raw = many()
    for row in raw.tables["ADMISSIONS"][:15]:
        row["HOSPITAL_EXPIRE_FLAG"] = 1
    for row in raw.tables["ADMISSIONS"][15:30]:
        row["HOSPITAL_EXPIRE_FLAG"], row["DEATHTIME"] = 0, ""
    _, card = prepared(tmp_path, raw)
    assert card["counts"]["A"] == {"survived": 0, "died": 15}
    assert card["counts"]["B"] == {"survived": 0, "died": 0}
    assert "Nobody survived: domains A, B." in card["notes"]
    assert "Nobody died: domains B." in card["notes"]


def test_no_identifier_is_in_the_data_set(tmp_path):
    data, _ = prepared(tmp_path, many())
    assert data.windows["recording"].tolist() == [str(n) for n in range(len(data.windows))]
    text = (tmp_path / "out/card.json").read_text() + data.windows.to_csv()
    for column in ("SUBJECT_ID", "HADM_ID", "ICUSTAY_ID"):
        ids = {str(row[column]) for rows in many().tables.values() for row in rows if column in row}
        assert not [one for one in ids if one in text]
    first = data.signals[data.windows["start"], 0]
    assert (np.diff(first) < 0).any()  # in no order of the stays


@pytest.mark.parametrize(("lower", "zipped"), [(True, False), (False, True), (True, True)])
def test_lower_case_and_gz_are_the_same(tmp_path, lower, zipped):
    expected, _ = prepared(tmp_path / "plain", many())
    data, _ = prepared(tmp_path / "other", many(), lower=lower, zipped=zipped)
    assert data.fingerprint == expected.fingerprint


def rewrite(name, edit):
    def damage(folder):
        path = folder / f"{name}.csv"
        path.write_text(edit(path.read_text()))

    return damage


def cut_gz(folder):
    path = folder / "CHARTEVENTS.csv"
    content = gzip.compress(path.read_bytes())
    (folder / "CHARTEVENTS.csv.gz").write_bytes(content[: len(content) // 2])
    path.unlink()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda folder: [path.unlink() for path in folder.glob("[AC]*")], "ADMISSIONS, CHARTEVENTS missing"),
        (cut_gz, "CHARTEVENTS.csv.gz: damaged or not"),
        (rewrite("CHARTEVENTS", lambda text: text.replace("VALUENUM", "VALUE")), "VALUENUM missing"),
        (rewrite("CHARTEVENTS", lambda text: text.replace(",211,", ",heart,", 1)), r"invalid value\)"),
        (rewrite("CHARTEVENTS", lambda text: text + "1059,211\n"), "Expected 7 columns, got 2"),
        (rewrite("CHARTEVENTS", lambda text: text.replace(",211,", ",212,")), "no plausible measurement"),
        (rewrite("PATIENTS", lambda text: text.replace("2120-01-01 00", "1/1/20 00", 1)), "DOB is not a"),
        (rewrite("ADMISSIONS", lambda text: text.replace(",1,1,", ",yes,1,", 1)), "FLAG is not a number"),
        (rewrite("ADMISSIONS", lambda text: text.replace(",1,1,", ",2,1,", 1)), "EXPIRE_FLAG is neither"),
        (rewrite("ADMISSIONS", lambda text: text.replace(",1,1,", ",0,1,")), "nobody of the cohort died"),
        (rewrite("ICUSTAYS", lambda text: text.splitlines()[0] + "\n"), "no stay is left of the cohort"),
        (rewrite("ICUSTAYS", lambda text: ""), "ICUSTAYS.csv: "),
        (rewrite("ICUSTAYS", lambda text: "<html>"), "ICUSTAYS.csv: column SUBJECT_ID"),
    ],
)  # fmt: skip
def test_a_bad_table_is_named_with_a_remedy(tmp_path, damage, words):
    folder = many().write(tmp_path / "raw")
    damage(folder)
    with pytest.raises(InputError, match=words) as caught:
        prepare(folder, tmp_path / "out")
    assert str(folder) in str(caught.value)
    assert not set(re.findall(r"\d{4,}", str(caught.value).replace(str(folder), ""))) - {
        "1000"
    }  # nobody's id
    assert not (tmp_path / "out").exists()


def test_an_unknown_option_is_named(tmp_path):
    for option in ({"balance": "yes"}, {"seed": -1}):
        with pytest.raises(InputError, match=next(iter(option))):
            prepare(tmp_path, tmp_path / "out", **option)


def test_a_table_of_items_of_ones_own(tmp_path):
    own = tmp_path / "items.csv"
    own.write_text("itemid,variable,unit,low,high\n128,pain,,0,10\n211,heart rate,bpm,10,300\n")
    signal, card = measured(tmp_path, [(0, OTHER, 7), (0, HEART, 80), (1, TEMP_C, 37)], items=own)
    assert card["channels"] == ["pain", "heart rate"]
    assert signal.iloc[0].tolist() == [7, 80]
    own.write_text("itemid,variable,unit,low,high\n128,,,0,10\n211,a,,5,5\n211,b,,1,2\n")
    with pytest.raises(InputError) as caught:
        read_items(own)
    assert str(caught.value).count("\n") == 4
    assert "line 2: variable is empty" in str(caught.value)
    own.write_text("itemid,variable,unit,low,high\n1e19,a,,1,2\n\n-1,b,,1,2\n3,  ,,1,2\n")
    with pytest.raises(
        InputError, match=r"line 2: itemid .*\n  line 4: itemid .*\n  line 5: variable is empty$"
    ):
        read_items(own)
    own.write_text("itemid,variable\n")
    with pytest.raises(InputError, match="column unit, low, high missing"):
        read_items(own)
    with pytest.raises(InputError, match="gone"):
        read_items(tmp_path / "gone.csv")


def test_simulated_tables(tmp_path):
    simulate(tmp_path / "raw", patients=300, rows=100_000)
    card = prepare(tmp_path / "raw", tmp_path / "out")
    assert card["simulated"] is True
    assert all(min(counts.values()) >= 3 for counts in card["counts"].values())
    flow = list(card["cohort"].values())
    assert len({*flow[1:5]}) == 4  # the young, the second stays and the short ones are there
    with open(tmp_path / "raw/CHARTEVENTS.csv") as file:
        assert sum(1 for _ in file) >= 99_000
    (tmp_path / "raw/PATIENTS.csv").write_text("SUBJECT_ID,DOB\n")
    with pytest.raises(InputError, match=r"PATIENTS\.csv, not simulated"):
        simulate(tmp_path / "raw")
    for option in ({"patients": 9}, {"seed": -1}):
        with pytest.raises(InputError, match=next(iter(option))):
            simulate(tmp_path / "new", **option)


@real
def test_the_open_demo(tmp_path):
    card = prepare(REAL, tmp_path / "out", balance="none")
    assert card["cohort"] == {
        "ICU stays": 136,
        "with patient and admission": 136,
        "aged 20 or more": 134,
        "the patient's first": 98,
        "24 hours in the unit": 81,
        "alive and in hospital for them": 78,
        "at least one measurement in these hours": 77,
        "drawn": 77,
    }
    assert card["simulated"] is False
    data = WindowedDataset.load(tmp_path / "out")
    assert list(data.windows.groupby("domain").size()) == [7, 12, 43, 15]
    mean = pd.Series(np.nanmean(data.signals, 0), card["channels"])
    assert 80 < mean["heart rate"] < 95
    assert 36 < mean["temperature"] < 37.5
    assert set(AGES) == set(card["domains"])
