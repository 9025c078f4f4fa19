"""Download of the official HAPT archive.

Address, size (79,596,192 bytes) and SHA-256 are as public files state them.
"""

from pathlib import Path

from tsdg.data.download import fetch_archive
from tsdg.data.hapt.raw import LABELS, ZIP, is_simulated
from tsdg.errors import InputError

URL = f"https://archive.ics.uci.edu/static/public/341/{ZIP}"
SHA256 = "4ac4ae064227c07045a99551876b54d204837e995e298b6488559e209b3deb09"


def fetch(out: str | Path, *, url: str = URL, progress: bool = True) -> list[Path]:
    """Download the HAPT archive; an interrupted download goes on where it was.

    Parameters
    ----------
    out : path
        Folder of the raw recordings.
    url : str
        The official archive or a copy, http or https.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    list of Path
        The file; that of an unpacked archive which is there is its ``labels.txt``.

    Raises
    ------
    InputError
        If `out` holds a simulated archive, or the archive could not be had; what came of it stays.
    """
    out = Path(out)
    path = out / ZIP
    if (out / LABELS).is_file():
        return [out / LABELS]
    if path.is_file():
        if is_simulated(path):
            raise InputError(f"{out}: holds a simulated {ZIP}; delete it, or take another folder")
        return [path]
    fetch_archive(path, url=url, sha256=SHA256, progress=progress)
    return [path]
