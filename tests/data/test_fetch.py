"""The download, from a server on this machine."""

import hashlib
import http.server
import os
import threading
import zipfile
from types import SimpleNamespace

import pytest

from tsdg.commands.main import main
from tsdg.data import download
from tsdg.data.bearings import fetch as bearings
from tsdg.data.bearings.simulate import simulate as simulate_bearings
from tsdg.data.hapt import fetch as hapt
from tsdg.data.hapt.simulate import simulate as simulate_hapt
from tsdg.data.hhar import fetch as hhar
from tsdg.data.hhar.simulate import simulate as simulate_hhar
from tsdg.errors import InputError

pytest.importorskip("pooch")

MAT = b"MATLAB 5.0 MAT-file" + bytes(1000)


@pytest.fixture
def server(tmp_path, monkeypatch):
    """97 and 105 have known hashes, 98 none, 99 is a page, 106 has another content, 107 breaks off."""
    files = {"97": MAT + b"97", "98": MAT, "99": b"<html>", "105": MAT + b"105", "106": MAT, "107": MAT}
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            number = self.path.strip("/").removesuffix(".mat")
            asked.append(number)
            if number not in files:
                return self.send_error(404)
            self.send_response(200)
            self.send_header("Content-Length", str(len(files[number]) + (number == "107")))
            self.end_headers()
            self.wfile.write(files[number])
            return None

        def log_message(self, *args):
            pass

    known = "".join(f"{n},{hashlib.sha256(MAT + n.encode()).hexdigest()}\n" for n in ("97", "105", "106"))
    (tmp_path / "known.csv").write_text("number,sha256\n" + known)
    monkeypatch.setattr(bearings, "SHA256", tmp_path / "known.csv")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        threading.Thread(target=httpd.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}", asked
        httpd.shutdown()


def test_only_what_is_missing_or_wrong_is_fetched(tmp_path, server):
    url, asked = server
    raw = tmp_path / "raw"
    paths = bearings.fetch(raw, base_url=url, numbers=[105, 97, 98], progress=False)
    assert [path.name for path in paths] == ["97.mat", "98.mat", "105.mat"]
    assert paths[2].read_bytes() == MAT + b"105"
    paths[0].write_bytes(b"cut off")
    bearings.fetch(raw, base_url=url + "/", numbers=[105, 97, 98], progress=False)
    assert asked == ["97", "98", "105", "97"]
    assert paths[0].read_bytes() == MAT + b"97"


def test_one_error_names_every_bad_file_and_the_good_ones_stay(tmp_path, server):
    raw = tmp_path / "raw"
    with pytest.raises(InputError) as caught:
        bearings.fetch(raw, base_url=server[0], numbers=[97, 99, 105, 106, 107, 130], progress=False)
    text = str(caught.value)
    assert "4 of 6" in text
    assert f"{server[0]}/99.mat: not the official file" in text
    assert f"{server[0]}/106.mat: not the official file" in text
    assert f"{server[0]}/107.mat: the download broke off" in text
    assert f"{server[0]}/130.mat: the server answers 404" in text
    assert sorted(os.listdir(raw)) == ["105.mat", "97.mat"]


def test_a_dead_server_is_asked_twice_not_forty_times(tmp_path, server, monkeypatch):
    import requests

    bearings.fetch(tmp_path / "raw", base_url=server[0], numbers=[105], progress=False)
    tries = []

    def refuse(*args, **options):
        tries.append(args)
        raise requests.ConnectionError

    monkeypatch.setattr(requests, "get", refuse)
    with pytest.raises(InputError, match="39 of 40"):
        bearings.fetch(tmp_path / "raw", base_url=server[0], progress=False)
    assert len(tries) == 2
    with pytest.raises(InputError, match=rf"40 of 40 recordings are missing in {tmp_path}/there;"):
        bearings.fetch(tmp_path / "there/.partial", base_url=server[0], progress=False)


def test_real_and_simulated_recordings_are_not_mixed(tmp_path, server):
    simulate_bearings(tmp_path / "raw", seconds=1)
    with pytest.raises(InputError, match=r"simulated recordings \(97\.mat"):
        bearings.fetch(tmp_path / "raw", base_url=server[0], numbers=[97], progress=False)


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """A server of one zip that breaks off once, at the given number of bytes, and what it was asked for."""
    with zipfile.ZipFile(tmp_path / "official.zip", "w") as file:
        file.writestr(f"Activity recognition exp/{hhar.CSV}", os.urandom(5000))
    content = (tmp_path / "official.zip").read_bytes()
    monkeypatch.setattr(hhar, "SHA256", hashlib.sha256(content).hexdigest())
    state = SimpleNamespace(content=content, break_at=None, ranges=True, asked=[])

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked = self.headers.get("Range") if state.ranges else None
            state.asked.append(asked)
            first = int(asked[6:-1]) if asked else 0
            if first >= len(state.content):
                return self.send_error(416)
            self.send_response(206 if asked else 200)
            self.send_header("Content-Length", str(len(state.content) - first))
            self.end_headers()
            end, state.break_at = state.break_at, None
            self.wfile.write(state.content[first:end])
            return None

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        threading.Thread(target=httpd.serve_forever, args=(0.01,), daemon=True).start()
        state.url = f"http://127.0.0.1:{httpd.server_port}/exp.zip"
        yield state
        httpd.shutdown()


@pytest.mark.parametrize("ranges", [True, False])
def test_an_interrupted_archive_goes_on_where_it_was(tmp_path, archive, ranges, monkeypatch):
    monkeypatch.setattr(download, "BLOCK", 1000)
    archive.break_at, archive.ranges = 2000, ranges
    raw = tmp_path / "raw"
    with pytest.raises(InputError, match=r"broke off .* run the command again"):
        hhar.fetch(raw, url=archive.url, progress=False)
    assert not (raw / hhar.ZIP).exists()
    [path] = hhar.fetch(raw, url=archive.url, progress=False)
    assert path.read_bytes() == archive.content
    assert archive.asked == [None, "bytes=2000-" if ranges else None]
    assert os.listdir(raw) == [hhar.ZIP]
    hhar.fetch(raw, url=archive.url, progress=False)
    assert len(archive.asked) == 2  # it is there


def test_another_archive_is_refused(tmp_path, archive):
    raw = tmp_path / "raw"
    for content, words in ((b"<html>", "no zip archive"), (archive.content + b"x", "another SHA-256")):
        archive.content = content
        with pytest.raises(InputError, match=words):
            hhar.fetch(raw, url=archive.url, progress=False)
        assert os.listdir(raw) == []
    with pytest.raises(InputError, match="not an http"):
        hhar.fetch(raw, url="ftp://x", progress=False)
    simulate_hhar(raw, rows=200_000)
    with pytest.raises(InputError, match="holds a simulated"):
        hhar.fetch(raw, url=archive.url, progress=False)


def test_hapt_is_fetched_in_the_same_way(tmp_path, archive, monkeypatch):
    monkeypatch.setattr(hapt, "SHA256", hashlib.sha256(archive.content).hexdigest())
    raw = tmp_path / "raw"
    for _ in range(2):
        assert hapt.fetch(raw, url=archive.url, progress=False) == [raw / hapt.ZIP]
    assert len(archive.asked) == 1
    assert (raw / hapt.ZIP).read_bytes() == archive.content
    simulate_hapt(tmp_path / "simulated", seconds=5)
    with pytest.raises(InputError, match="holds a simulated"):
        hapt.fetch(tmp_path / "simulated", url=archive.url, progress=False)


def test_mimic3_is_explained_not_fetched(tmp_path, capsys):
    assert main(["fetch", "mimic3", "--out", str(tmp_path / "raw")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert "credentials" in lines[0]
    assert str(tmp_path / "raw") in lines[2]
    assert not (tmp_path / "raw").exists()
