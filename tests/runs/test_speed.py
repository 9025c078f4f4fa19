"""How fast the machine is, is measured unless a sensible answer is kept."""

import json
import platform
from pathlib import Path

import pytest

from tsdg.runs import speed

MACHINE = f"{platform.node()} {platform.processor() or platform.machine()}"


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(speed, "probe", lambda: 0.25)
    path = tmp_path / "tsdg" / "speed.json"
    path.parent.mkdir()
    return path


@pytest.mark.parametrize(
    "text",
    ["[1, 2]", "null", "5", "{", "[" * 100000, '"a"']
    + [json.dumps({MACHINE: value}) for value in (float("nan"), 0.0, -1.0, 1e300, "a", None, True)],
    ids=lambda text: text[:40],
)
def test_a_kept_speed_that_cannot_be_is_measured_anew(kept, text):
    kept.write_text(text)
    assert speed.measured() == 0.25
    assert json.loads(kept.read_text()) == {MACHINE: 0.25}


def test_a_kept_speed_is_believed_beside_others(kept):
    kept.write_text(json.dumps({"other": 0.5}))
    assert speed.measured() == 0.25
    assert json.loads(kept.read_text()) == {"other": 0.5, MACHINE: 0.25}
    kept.write_text(json.dumps({MACHINE: 0.5}))
    assert speed.measured() == 0.5


def test_a_user_without_a_home_has_a_speed(kept, monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    assert speed.measured() == 0.25
