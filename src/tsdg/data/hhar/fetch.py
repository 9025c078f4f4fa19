"""Download of the official HHAR archive."""

import os
import zipfile
from pathlib import Path

from tsdg.data.hhar.raw import CSV, ZIP
from tsdg.data.simulated import is_simulated
from tsdg.errors import InputError
from tsdg.files import sha256

URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/00344/Activity%20recognition%20exp.zip"
SHA256 = "d4c0c53b195b523859bf71f5a349d164c7a604a321ff6b0972fbed6e03b46582"
BLOCK = 1 << 20  # bytes


def fetch(out: str | Path, *, url: str = URL, progress: bool = True) -> list[Path]:
    """Download the HHAR archive.

    It appears under its name only when it is complete and right by its SHA-256; from there it is kept. An
    interrupted download goes on where it was.

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
    import requests

    if not url.startswith(("http://", "https://")):
        raise InputError(f"url: {url} is not an http or https address")
    out = Path(out)
    path, partial = out / ZIP, out / f".{ZIP}.partial"
    if (out / CSV).is_file():
        if is_simulated(out / CSV):
            raise InputError(f"{out}: holds a simulated {CSV}; delete it, or take another folder")
        return [out / CSV]
    if path.is_file():
        return [path]
    again = "run the command again to go on, give a copy as --url, or put the file there by hand"
    try:
        out.mkdir(parents=True, exist_ok=True)
        _download(url, partial, progress)
    except (requests.ConnectionError, requests.Timeout) as error:
        told = "the download broke off" if partial.exists() else "the server cannot be reached"
        raise InputError(f"{url}: {told} ({type(error).__name__}); {again}") from None
    except requests.HTTPError as error:
        code = error.response.status_code if error.response is not None else error
        raise InputError(f"{url}: the server answers {code}; {again}") from None
    except requests.RequestException as error:
        raise InputError(f"{url}: the download broke off ({error}); {again}") from None
    except OSError as error:
        raise InputError(f"{partial}: could not be written ({error.strerror or error}); {again}") from None
    if sha256(partial) != SHA256:
        kind = "another SHA-256" if zipfile.is_zipfile(partial) else "no zip archive"
        partial.unlink()
        raise InputError(f"{url}: not the official archive ({kind}), and deleted; give another --url")
    os.replace(partial, path)
    return [path]


def _download(url: str, partial: Path, progress: bool) -> None:
    """Append to a file what is still missing of it."""
    import requests
    from tqdm import tqdm

    have = partial.stat().st_size if partial.exists() else 0
    answer = requests.get(url, headers={"Range": f"bytes={have}-"} if have else {}, stream=True, timeout=30)
    if have and answer.status_code == 416:  # nothing is missing
        return
    answer.raise_for_status()
    if answer.status_code != 206:  # the server begins anew
        have = 0
    size = have + int(answer.headers.get("Content-Length", 0))
    bar = tqdm(desc=ZIP, total=size or None, initial=have, unit="B", unit_scale=True, leave=False,
               disable=None if progress else True)  # fmt: skip
    with bar, open(partial, "ab" if have else "wb") as file:
        for block in answer.iter_content(BLOCK):
            file.write(block)
            bar.update(len(block))
    if size and partial.stat().st_size < size:
        raise requests.ConnectionError
