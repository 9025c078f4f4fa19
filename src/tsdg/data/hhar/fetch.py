"""Download of the official HHAR archive."""

from pathlib import Path

from tsdg.data.download import fetch_archive
from tsdg.data.hhar.raw import CSV, ZIP
from tsdg.data.simulated import is_simulated
from tsdg.errors import InputError

URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/00344/Activity%20recognition%20exp.zip"
SHA256 = "d4c0c53b195b523859bf71f5a349d164c7a604a321ff6b0972fbed6e03b46582"


def fetch(out: str | Path, *, url: str = URL, progress: bool = True) -> list[Path]:
    """Download the HHAR archive; an interrupted download goes on where it was.

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
        The file.

    Raises
    ------
    InputError
        If `out` holds a simulated file, or the archive could not be had; what came of it stays.
    """
    out = Path(out)
    path = out / ZIP
    if (out / CSV).is_file():
        if is_simulated(out / CSV):
            raise InputError(f"{out}: holds a simulated {CSV}; delete it, or take another folder")
        return [out / CSV]
    if not path.is_file():
        fetch_archive(path, url=url, sha256=SHA256, progress=progress)
    return [path]
