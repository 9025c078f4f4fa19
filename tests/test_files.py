import os
import resource
import stat
from contextlib import contextmanager

import pytest

from tsdg.commands.main import main
from tsdg.files import atomic, sha256, write_text


@contextmanager
def small_files(size):
    """The system writes no file beyond a size, as if the disk were full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_file_is_there_once_it_is_whole(tmp_path):
    path = tmp_path / "new" / "folder" / "table.csv"
    with atomic(path) as temporary:
        temporary.write_text("half")
        assert not path.exists()
        temporary.write_text("whole")
    assert path.read_text() == "whole"
    assert [file.name for file in path.parent.iterdir()] == ["table.csv"]


def test_a_file_may_be_read_by_whom_the_user_lets(tmp_path):
    mask = os.umask(0o022)
    try:
        write_text(tmp_path / "a.txt", "a")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o644


@pytest.mark.parametrize("end", [KeyboardInterrupt, ValueError])
def test_what_breaks_off_leaves_what_was_there(tmp_path, end):
    path = tmp_path / "table.csv"
    path.write_text("before")

    def break_off():
        with atomic(path) as temporary:
            temporary.write_text("half")
            raise end

    with pytest.raises(end):
        break_off()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_said_of_the_file_itself(tmp_path):
    path = tmp_path / "table.csv"
    with small_files(1000), pytest.raises(OSError, match=r"File too large: .*/table.csv'$") as caught:
        write_text(path, "text\n" * 1000)
    assert caught.value.filename == str(path)
    assert list(tmp_path.iterdir()) == []


def test_a_command_says_which_result_the_disk_had_no_room_for(tmp_path, capsys):
    assert main(["networks", "--out", str(tmp_path)]) == 0
    before = (tmp_path / "networks.csv").read_bytes()
    capsys.readouterr()
    with small_files(100):
        assert main(["networks", "--out", str(tmp_path)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"tsdg networks: error: {tmp_path / 'networks.csv'}: File too large")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "networks.body.tex",
        "networks.csv",
        "networks.html",
        "networks.tex",
    ]
    assert (tmp_path / "networks.csv").read_bytes() == before


def test_another_files_error_keeps_its_name(tmp_path):
    def read_another():
        with atomic(tmp_path / "table.csv"):
            (tmp_path / "raw.csv").read_text()

    with pytest.raises(FileNotFoundError, match=r"raw\.csv"):
        read_another()
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_folders_place_is_named(tmp_path):
    (tmp_path / "results").write_text("")
    with pytest.raises(OSError, match=r"results'$"):
        write_text(tmp_path / "results" / "table.csv", "text")


@pytest.mark.parametrize("name", [".", "", "/", "folder"])
def test_a_folder_in_the_files_place_is_named(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        write_text(name, "text")
    assert caught.value.filename == (name or ".")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
    assert pipe.is_fifo()


def test_sha256_is_that_of_the_standard(tmp_path):
    (tmp_path / "abc").write_bytes(b"abc")  # FIPS 180-2, appendix B.1
    assert sha256(tmp_path / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
