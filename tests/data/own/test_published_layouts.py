"""Data sets as they are published, in small: `tsdg check` alone takes each to a data set that prepares."""

import glob
import itertools
import shlex
from pathlib import Path

import edfio
import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.io.wavfile
import wfdb
import yaml

from tsdg.commands.main import main
from tsdg.data.own.prepare import prepare

RNG = np.random.default_rng(0)
USERS, STEPS = 4, 64
ACTIVITIES = ("Walking", "Jogging")


def walk(*shape):
    return RNG.normal(size=shape).cumsum(0).round(3)


def phone(folder):
    """MotionSense: a folder an activity and trial, a file a person, an index without a name."""
    for activity in ("wlk_7", "sit_5"):
        (folder / activity).mkdir(parents=True)
        for user in range(USERS):
            frame = pd.DataFrame(walk(STEPS, 3), columns=["gravity.x", "gravity.y", "rotationRate.x"])
            frame.to_csv(folder / activity / f"sub_{user + 1}.csv")


def mfpt(folder):
    """A struct a file, with the signal, its rate, the load and the shaft's speed."""
    faults = itertools.product(("InnerRaceFault", "OuterRaceFault"), (25, 50, 100))
    for k, (kind, load) in enumerate(faults):
        names = [("sr", 48828.0), ("gs", walk(900)[:, None]), ("load", float(load)), ("rate", 25.0)]
        (folder / f"{kind} Conditions").mkdir(parents=True, exist_ok=True)
        path = folder / f"{kind} Conditions" / f"{kind}_vload_{k % 3 + 1}.mat"
        scipy.io.savemat(path, {"bearing": dict(names)})


def eicu(folder):
    """Vital signs each five minutes, long, and what became of each stay in another table."""
    folder.mkdir()
    rows = [
        {"vitalperiodicid": 10_000 * stay + t, "patientunitstayid": 141168 + stay, "observationoffset": 5 * t,
         "temperature": "", "sao2": 97, "heartrate": 70 + stay + t % 5, "respiration": RNG.integers(12, 20)}
        for stay in range(12) for t in range(STEPS)
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(folder / "vitalPeriodic.csv.gz", index=False)
    patients = pd.DataFrame(
        {"patientunitstayid": range(141168, 141168 + 14), "age": ["> 89", *range(40, 53)]}
    )
    patients["hospitalid"] = np.arange(14) % 3 + 59
    alive = ["Alive"] * 3 + ["Expired"] * 3
    patients["hospitaldischargestatus"] = [*alive, *alive, "", "Alive"]
    patients.to_csv(folder / "patient.csv.gz", index=False)


def wisdm_lines():
    stamp = 49_105_962_326_000
    for user in range(1, USERS + 1):
        for activity in ACTIVITIES:
            for x, y, z in walk(STEPS, 3):
                stamp += 50_000_000
                yield f"{user},{activity},{stamp},{x},{y},{z};"


def wisdm_raw(path):
    """No names of columns, a semicolon at the ends of lines, some of which are empty or hold two rows."""
    lines = list(wisdm_lines())
    lines[7] += lines.pop(8)
    lines.insert(20, "")
    path.write_text("\n".join(lines) + "\n")


def smartwatch(folder):
    """WISDM 2019: a file a person without names of columns, the activity a letter."""
    folder.mkdir()
    for user in range(1600, 1600 + USERS):
        stamps = 90_426_708_196_641 + 50_000_000 * np.arange(2 * STEPS)
        lines = [
            f"{user},{'AB'[k // STEPS]},{stamp},{x},{y},{z};"
            for k, (stamp, (x, y, z)) in enumerate(zip(stamps, walk(2 * STEPS, 3), strict=True))
        ]
        (folder / f"data_{user}_accel_watch.txt").write_text("\n".join(lines) + "\n")


def wisdm_features(path):
    """Forty-three features a window, with their names in quotes, and values that are missing."""
    names = [*(f"{axis}{k}" for axis in "XYZ" for k in range(10)), *("XAVG", "YAVG", "ZAVG", "RESULTANT")]
    head = [
        "@relation person_activity_recognition",
        '@attribute "UNIQUE_ID" numeric',
        '@attribute "user" numeric',
    ]
    head += [f'@attribute "{name}" numeric' for name in names]
    head += ['@attribute "class" { "Walking" , "Jogging" }', "", "@data"]
    rows = [
        f"{k},{k % USERS + 1},{','.join(str(v) for v in walk(len(names)))},{ACTIVITIES[k // 4 % 2]}"
        for k in range(USERS * 12)
    ]
    rows[3] = ",".join(["?" if n == 32 else cell for n, cell in enumerate(rows[3].split(","))])
    path.write_text("\n".join([*head, *rows, ""]))


def gunpoint_rows():
    """Windows, and their labels; in no order that says whose they are."""
    return walk(150, 48).T, RNG.permutation(["1", "2"] * 24)


def people(folder, count):
    pd.DataFrame({"actor": np.arange(count) % USERS}).to_csv(folder / "actors.csv", index=False)


def gunpoint_ts(folder):
    folder.mkdir()
    lines = [",".join(map(str, x)) + f":{y}" for x, y in zip(*gunpoint_rows(), strict=True)]
    head = "@problemName GunPoint\n@timeStamps false\n@missing false\n@univariate true\n@equalLength true\n"
    head += "@seriesLength 150\n@classLabel true 1 2\n@data\n"
    (folder / "GunPoint_TRAIN.ts").write_text(head + "\n".join(lines) + "\n")
    people(folder, 48)


def gunpoint_tsv(folder):
    folder.mkdir()
    lines = ["\t".join([y, *map(str, x)]) for x, y in zip(*gunpoint_rows(), strict=True)]
    (folder / "GunPoint_TRAIN.tsv").write_text("\n".join(lines) + "\n")
    people(folder, 48)


def gunpoint_arff(folder):
    folder.mkdir()
    head = "@relation GunPoint\n" + "".join(f"@attribute att{t} numeric\n" for t in range(150))
    lines = [",".join([*map(str, x), y]) for x, y in zip(*gunpoint_rows(), strict=True)]
    (folder / "GunPoint_TRAIN.arff").write_text(
        head + "@attribute target {1,2}\n\n@data\n" + "\n".join(lines) + "\n"
    )
    people(folder, 48)


def basicmotions(folder):
    """Six channels, of one class after another."""
    folder.mkdir()
    names = np.repeat(["Standing", "Running"], 20)
    lines = [":".join([*(",".join(map(str, x)) for x in walk(100, 6).T), y]) for y in names]
    head = (
        "@problemName BasicMotions\n@timeStamps false\n@univariate false\n@dimensions 6\n@equalLength true\n"
    )
    head += "@seriesLength 100\n@classLabel true Standing Running\n@data\n"
    (folder / "BasicMotions_TRAIN.ts").write_text(head + "\n".join(lines) + "\n")
    people(folder, 40)


def daphnet(folder):
    """Time in ms, nine accelerations, and 0, 1 or 2 at each step."""
    folder.mkdir()
    for user in range(1, USERS + 1):
        label = np.repeat([0, 1, 2, 1], STEPS)
        table = np.column_stack([15 + 15 * np.arange(len(label)), walk(len(label), 9).astype(int), label])
        np.savetxt(folder / f"S{user:02}R01.txt", table, fmt="%d")


def physionet(folder):
    """A header, signals, and annotations of rhythm."""
    folder.mkdir()
    for user in range(USERS):
        name = f"{user + 100}"
        signals = {"units": ["mV"] * 2, "sig_name": ["MLII", "V5"], "p_signal": walk(6 * STEPS, 2) / 100}
        wfdb.wrsamp(name, fs=100, fmt=["212"] * 2, write_dir=str(folder), **signals)
        wfdb.wrann(name, "atr", np.array([0, 10, 2 * STEPS, 4 * STEPS, 5 * STEPS]), list("+N++N"),
                   aux_note=["(N", "", "(AFIB", "(N", ""], write_dir=str(folder))  # fmt: skip


def sleep(folder):
    """Signals and, in annotations of 30 s, stages of sleep."""
    folder.mkdir()
    for user in range(USERS):
        waves = zip(["EEG Fpz-Cz", "EOG"], walk(1200, 2).T.clip(-99, 99), strict=True)
        signals = [edfio.EdfSignal(w, 10, label=n, physical_range=(-99, 99)) for n, w in waves]
        stages = [edfio.EdfAnnotation(30 * k, 30, f"Sleep stage {'W1'[k % 2]}") for k in range(4)]
        edfio.Edf(signals, annotations=stages).write(folder / f"SC40{user}1.edf")


def sounds(folder):
    for machine in range(USERS):
        for label in ("normal", "abnormal"):
            (folder / f"id_0{machine}" / label).mkdir(parents=True)
            for k in range(2):
                pcm = np.round(1000 * walk(800)).clip(-32768, 32767).astype(np.int16)
                scipy.io.wavfile.write(folder / f"id_0{machine}" / label / f"{k:08}.wav", 16_000, pcm)


def ucihar(folder):
    """Windows, a text a channel without a header, their labels and subjects in others."""
    (folder / "train" / "Inertial Signals").mkdir(parents=True)
    for name in (f"{kind}_{axis}" for kind in ("body_acc", "body_gyro", "total_acc") for axis in "xyz"):
        np.savetxt(folder / "train" / "Inertial Signals" / f"{name}_train.txt", walk(128, 40).T, fmt="%16.7e")
    np.savetxt(folder / "train" / "X_train.txt", walk(561, 40).T, fmt="%16.7e")
    np.savetxt(folder / "train" / "y_train.txt", np.tile([1, 1, 2, 2], 10), fmt="%d")
    np.savetxt(folder / "train" / "subject_train.txt", np.arange(40) // 10 + 1, fmt="%d")


def hdf5(path):
    with h5py.File(path, "w") as file:
        for user in range(USERS):
            for label in ("a", "b"):
                group = file.create_group(f"p{user}{label}")
                group.attrs.update({"user": user, "label": label, "fs": 50.0})
                group["acc"] = walk(STEPS, 3)


def npz(path):
    np.savez(path, X=walk(100, 40, 3).transpose(1, 0, 2), y=np.tile([0, 1], 20), subject=np.arange(40) // 10)


def npy(folder):
    folder.mkdir()
    for name, array in {"X": walk(100, 40, 3).transpose(1, 2, 0), "y": np.tile([0, 1], 20)}.items():
        np.save(folder / f"{name}.npy", array)
    np.save(folder / "subject.npy", np.arange(40) // 10)


AXES = "--header user activity timestamp x y z --domain user"
ACTORS = "--metadata raw/actors.csv --domain actor"
LAYOUTS = {
    "phone, 23 people": (phone, "", "raw --files '{label}_{trial}/sub_{user}.csv' --domain user"),
    "MFPT": (
        mfpt, "", "raw --files '*/{label}_vload_{recording}.mat' --channels bearing.gs "
        "--sampling-rate bearing.sr --domain bearing.load",
    ),
    "eICU": (
        eicu, "", "raw/vitalPeriodic.csv.gz --metadata raw/patient.csv.gz --recording patientunitstayid "
        "--time observationoffset --time-unit min --channels sao2 heartrate respiration "
        "--label hospitaldischargestatus --domain hospitalid",
    ),
    "smartwatch": (smartwatch, "", f"raw --files 'data_{{person}}_accel_watch.txt' {AXES}"),
    "WISDM, raw": (wisdm_raw, ".txt", f"raw.txt {AXES}"),
    "WISDM, features": (wisdm_features, ".arff", "raw.arff --domain user"),
    "GunPoint, ts": (gunpoint_ts, "", f"raw/GunPoint_TRAIN.ts {ACTORS}"),
    "GunPoint, tsv": (gunpoint_tsv, "", f"raw/GunPoint_TRAIN.tsv {ACTORS}"),
    "GunPoint, arff": (gunpoint_arff, "", f"raw/GunPoint_TRAIN.arff {ACTORS}"),
    "BasicMotions": (basicmotions, "", f"raw/BasicMotions_TRAIN.ts {ACTORS}"),
    "Daphnet": (
        daphnet, "", "raw --files 'S{user:d}R{run:d}.txt' --time-unit ms --label freeze --classes 1 2 "
        "--header time ax ay az bx by bz cx cy cz freeze --domain user",
    ),
    "WFDB": (physionet, "", "raw --files '{user}.hea' --domain user"),
    "EDF": (sleep, "", "raw --files 'SC4{user:d}.edf' --domain user"),
    "wav": (sounds, "", "raw --files '{machine}/{label}/{recording}.wav' --domain machine"),
    "HDF5": (hdf5, ".h5", "raw.h5 --domain user --sampling-rate fs"),
    "npz": (npz, ".npz", "raw.npz"),
    "npy": (npy, "", "raw"),
}  # fmt: skip


def test_the_two_lines_for_uci_har(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ucihar(tmp_path)
    text = (Path(__file__).parents[3] / "docs/own-data.md").read_text()
    lines = [line.strip() for line in text.splitlines() if "_train.txt" in line]
    assert len(lines) == 2
    exec("\n".join(lines), {"np": np, "glob": glob})
    assert not main(["check", "har.npz", "--quick", "--write", "study.yaml"])
    [entry] = yaml.safe_load((tmp_path / "study.yaml").read_text())["datasets"].values()
    assert len(entry["prepare"]["channels"]) == 9
    assert entry["domains"] == {f"subject{n}": {"subject": n} for n in range(1, 5)}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_published_layout_needs_one_command(tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write, suffix, words = LAYOUTS[name]
    write(tmp_path / f"raw{suffix}")
    assert not main(["check", *shlex.split(words), "--quick", "--write", "study.yaml"])
    [entry] = yaml.safe_load((tmp_path / "study.yaml").read_text())["datasets"].values()
    card = prepare(entry["raw"], tmp_path / "out", domains=entry["domains"], **entry["prepare"])
    assert len(card["domains"]) >= 3
    assert len(card["classes"]) == 2
    assert all(min(counts.values()) > 0 for counts in card["counts"].values())
