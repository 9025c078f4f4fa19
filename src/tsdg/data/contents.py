"""What raw files hold, as hashes: a file is read again only where its size or time has changed."""

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tsdg.files import sha256, write_text


class Contents:
    """Hashes of raw files.

    Parameters
    ----------
    known : path
        A JSON file of the hashes taken so far: of each path the size, the time in ns, and the SHA-256.
    """

    def __init__(self, known: str | Path):
        self.place = Path(known)
        self._known: dict[str, list] = _read(self.place)

    def hashes(self, paths: Iterable[str]) -> dict[str, str]:
        """SHA-256 of each file that is there and can be read."""
        found = {}
        fresh = {}
        for path in paths:
            with suppress(OSError):
                stamp = _stamp(path)
                if self._known.get(path, [])[:2] != stamp:
                    digest = sha256(path)
                    if _stamp(path) != stamp:  # somebody is writing it
                        continue
                    fresh[path] = self._known[path] = [*stamp, digest]
                found[path] = self._known[path][2]
        if fresh:
            with suppress(OSError):
                known = json.dumps(_read(self.place) | fresh, indent=1, ensure_ascii=False)
                write_text(self.place, known + "\n")
        return found


def _stamp(path: str) -> list[int]:
    status = Path(path).stat()
    return [status.st_size, status.st_mtime_ns]


def _read(path: Path) -> dict[str, list]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    entries = found.items() if isinstance(found, dict) else ()
    return {key: value for key, value in entries if isinstance(value, list) and len(value) == 3}
