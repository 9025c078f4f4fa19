"""Raw files of a data set: the workflow's inputs."""

from tsdg.data.raw import raw_files


def entry(kind, raw, source="official", **options):
    return {"kind": kind, "raw": str(raw), "source": source, "prepare": options}


def test_bearings_are_numbered_files(tmp_path):
    assert len(raw_files(entry("bearings", tmp_path))) == 40
    assert "294.mat" in raw_files(entry("bearings", tmp_path, location="fault"))


def test_what_is_there_is_taken(tmp_path):
    assert raw_files(entry("hhar", tmp_path)) == ["Activity recognition exp.zip"]
    assert raw_files(entry("mimic3", tmp_path))[3] == "CHARTEVENTS.csv.gz"
    (tmp_path / "Phones_accelerometer.csv").touch()
    (tmp_path / "CHARTEVENTS.csv").touch()
    assert raw_files(entry("hhar", tmp_path)) == ["Phones_accelerometer.csv"]
    names = ["PATIENTS.csv.gz", "ADMISSIONS.csv.gz", "ICUSTAYS.csv.gz", "CHARTEVENTS.csv"]
    assert raw_files(entry("mimic3", tmp_path)) == names


def test_simulated_files_are_plain(tmp_path):
    assert raw_files(entry("hhar", tmp_path, "simulated")) == ["Phones_accelerometer.csv"]
    assert raw_files(entry("mimic3", tmp_path, "simulated"))[0] == "PATIENTS.csv"
