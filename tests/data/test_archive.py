"""Archives are read where they are, and what is odd about them is told."""

import stat
import zipfile
from contextlib import suppress

import pytest

import tsdg.data.archive
from tsdg.data.archive import only, opened
from tsdg.data.hapt.raw import LABELS
from tsdg.data.hapt.raw import ZIP as HAPT
from tsdg.data.hapt.raw import opened as hapt_opened
from tsdg.data.hhar.prepare import prepare
from tsdg.data.hhar.raw import CSV, ZIP
from tsdg.errors import InputError


def link():
    info = zipfile.ZipInfo(CSV)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def encrypted(path):
    """A file whose flag says that it is encrypted, in both of the archive's places."""
    data = bytearray(path.read_bytes())
    for mark, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(mark) + place] |= 1
    path.write_bytes(data)


def packed_otherwise(path):
    data = bytearray(path.read_bytes())
    for mark, place in ((b"PK\3\4", 8), (b"PK\1\2", 10)):
        data[data.index(mark) + place] = 77
    path.write_bytes(data)


def flipped(path):
    data = bytearray(path.read_bytes())
    for place in range(60, 90):
        data[place] ^= 0xFF
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("members", "damage", "words"),
    [
        ([f"../../{CSV}"], None, "is outside of the archive"),
        ([f"/etc/{CSV}"], None, "is outside of the archive"),
        ([link()], None, "is no plain file but a link"),
        ([CSV, f"again/{CSV}"], None, f"holds 2 files called {CSV}"),
        (["other.csv"], None, f"holds no {CSV}"),
        ([f"{CSV}/"], None, f"holds no {CSV}"),
        ([CSV], encrypted, "encrypted"),
        ([CSV], packed_otherwise, "damaged or no"),
        ([CSV], flipped, "damaged or no"),
        ([CSV], lambda path: path.write_bytes(b"PK\3\4"), "no zip archive"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_odd_archive_is_refused(tmp_path, members, damage, words):
    (tmp_path / "raw").mkdir()
    path = tmp_path / "raw" / ZIP
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in members:
            archive.writestr(member, "".join(f"{n},{n * n % 97}\n" for n in range(500)))
    with suppress(TypeError):
        damage(path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match=words) as error:
        prepare(tmp_path / "raw", tmp_path / "out")
    assert "tsdg fetch hhar" in str(error.value)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_bomb_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(tsdg.data.archive, "SMALL", 1 << 16)
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.csv", b"0" * (1 << 20))
    with opened(path, "so") as archive, pytest.raises(InputError, match=r"would be 1,048,576 bytes of"):
        only(archive, path, "bomb.csv", "so")


@pytest.mark.parametrize("damage", [encrypted, packed_otherwise, flipped])
def test_the_other_archive_too(tmp_path, damage):
    with zipfile.ZipFile(tmp_path / HAPT, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"RawData/{LABELS}", "".join(f"{n} {n * n % 97}\n" for n in range(500)))
    damage(tmp_path / HAPT)
    with pytest.raises(InputError, match="tsdg fetch hapt"), hapt_opened(tmp_path) as read:
        read(LABELS)
