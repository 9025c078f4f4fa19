"""Download of an archive, which goes on where it was interrupted."""

import os
import zipfile
from pathlib import Path

from tsdg.errors import InputError
from tsdg.files import sha256 as sha256_of

BLOCK = 1 << 20  # bytes


def destined(folder: Path) -> Path:
    """The folder that files are for: the workflow has them wait in its ``.partial`` until all are there."""
    return folder.parent if folder.name == ".partial" else folder


def fetch_archive(path: Path, *, url: str, sha256: str, progress: bool) -> None:
    """Download a zip archive.

    It appears under its name only when it is complete and right by its SHA-256. An interrupted download goes
    on where it was.

    Parameters
    ----------
    path : Path
        Of the archive to be.
    url : str
        Http or https.
    sha256 : str
    progress : bool
        Whether to show a progress bar.

    Raises
    ------
    InputError
        If the archive could not be had; what came of it stays.
    """
    import requests

    if not url.startswith(("http://", "https://")):
        raise InputError(f"url: {url} is not an http or https address")
    partial = path.with_name(f".{path.name}.partial")
    again = (
        "run the command again to go on, give a copy as --url (`fetch: {url: ...}` of the data set in "
        f"params.yaml), or put {path.name} into {destined(path.parent)} by hand"
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _download(url, partial, path.name if progress else None)
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
    if sha256_of(partial) != sha256:
        kind = "another SHA-256" if zipfile.is_zipfile(partial) else "no zip archive"
        partial.unlink()
        raise InputError(f"{url}: not the official archive ({kind}), and deleted; give another --url")
    os.replace(partial, path)


def _download(url: str, partial: Path, shown: str | None) -> None:
    """Append to a file what is still missing of it, with a progress bar of the name `shown`."""
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
    bar = tqdm(desc=shown, total=size or None, initial=have, unit="B", unit_scale=True, leave=False,
               disable=None if shown else True)  # fmt: skip
    with bar, open(partial, "ab" if have else "wb") as file:
        for block in answer.iter_content(BLOCK):
            file.write(block)
            bar.update(len(block))
    if size and partial.stat().st_size < size:
        raise requests.ConnectionError
