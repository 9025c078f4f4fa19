"""Download of the official raw recordings."""

import os
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd

from tsdg.data.bearings.prepare import choose, is_simulated, read_table
from tsdg.data.hhar import prepare as hhar
from tsdg.errors import InputError
from tsdg.files import sha256

BEARINGS_URL = "https://engineering.case.edu/sites/default/files/"
BEARINGS_SHA256 = Path(__file__).parent / "bearings" / "sha256.csv"
HHAR_URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/00344/Activity%20recognition%20exp.zip"
BLOCK = 1 << 20  # bytes
HHAR_SHA256 = "d4c0c53b195b523859bf71f5a349d164c7a604a321ff6b0972fbed6e03b46582"


def fetch_bearings(
    out: str | Path,
    *,
    base_url: str = BEARINGS_URL,
    numbers: Iterable[int] | None = None,
    progress: bool = True,
) -> list[Path]:
    """Download Bearings recordings.

    A file appears under its name only when it is complete and, where its SHA-256 is known, right. Files
    already there are kept if they are right, so an interrupted download goes on where it was.

    Parameters
    ----------
    out : path
        Folder of the raw recordings.
    base_url : str
        Where ``{number}.mat`` lies: the official site or a mirror, http or https.
    numbers : iterable of int, optional
        Official numbers; by default what `tsdg.data.bearings.prepare.prepare` needs by default.
    progress : bool
        Whether to show progress bars.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    InputError
        If `out` holds simulated recordings, or any file could not be had; all such files are named, the
        others stay.
    """
    try:
        import pooch
        import requests
        import tqdm  # noqa: F401  (the progress bars of pooch)
    except ImportError as error:
        raise InputError(f"downloads need {error.name}: pip install 'tsdg[workflow]'") from None
    if not base_url.startswith(("http://", "https://")):
        raise InputError(f"base_url: {base_url} is not an http or https address")
    out = Path(out)
    base_url = base_url.rstrip("/") + "/"
    if numbers is None:
        numbers = {view.number for view in choose(read_table())}
    names = [f"{number}.mat" for number in sorted(numbers)]
    simulated = [name for name in names if (out / name).is_file() and is_simulated(out / name)]
    if simulated:
        raise InputError(
            f"{out}: holds simulated recordings ({', '.join(simulated)}); delete them, or take another folder"
        )
    known = pd.read_csv(BEARINGS_SHA256, index_col="number")["sha256"]
    hashes = {f"{number}.mat": f"sha256:{value}" for number, value in known.items()}
    files = pooch.create(out, base_url, registry={name: hashes.get(name) for name in names})
    http = pooch.HTTPDownloader(progressbar=progress, timeout=30)
    unreachable = 0

    def download(url: str, file: str, caller: Any) -> None:
        nonlocal unreachable
        if unreachable >= 2:  # forty timeouts would take half an hour
            raise requests.ConnectionError
        http(url, file, caller)
        unreachable = 0
        if not Path(file).read_bytes().startswith(b"MATLAB 5.0 MAT-file"):
            raise ValueError  # a page in place of the file, which matters where no hash is known

    problems: list[str] = []
    for name in names:
        try:
            files.fetch(name, downloader=download)
        except (requests.ConnectionError, requests.Timeout):
            unreachable += 1
            problems.append(f"{base_url}{name}: the server cannot be reached")
        except requests.HTTPError as error:
            answer = error.response.status_code if error.response is not None else error
            problems.append(f"{base_url}{name}: the server answers {answer}")
        except requests.RequestException as error:
            problems.append(f"{base_url}{name}: the download broke off ({error})")
        except ValueError:
            problems.append(f"{base_url}{name}: not the official file (no MATLAB file, or another SHA-256)")
        except OSError as error:
            problems.append(f"{out / name}: could not be written ({error.strerror or error})")
    if count := len(problems):
        if unreachable == len(problems):
            problems = [f"{base_url}: the server cannot be reached"]
        lines = "\n  ".join(problems)
        raise InputError(
            f"{out}: {count} of {len(names)} recordings are missing; run the command again to get "
            f"only these, give a mirror with --base-url, or put the files there by hand\n  {lines}"
        )
    return [out / name for name in names]


def fetch_hhar(out: str | Path, *, url: str = HHAR_URL, progress: bool = True) -> list[Path]:
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
    path, partial = out / hhar.ZIP, out / f".{hhar.ZIP}.partial"
    if (out / hhar.CSV).is_file():
        if hhar.is_simulated(out / hhar.CSV):
            raise InputError(f"{out}: holds a simulated {hhar.CSV}; delete it, or take another folder")
        return [out / hhar.CSV]
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
    if sha256(partial) != HHAR_SHA256:
        kind = "another SHA-256" if zipfile.is_zipfile(partial) else "no zip archive"
        partial.unlink()
        raise InputError(f"{url}: not the official archive ({kind}), and deleted; give another --url")
    os.replace(partial, path)
    return [path]


def fetch_mimic3(out: str | Path) -> NoReturn:
    """Say how to get MIMIC-III: it needs credentials, so that nothing is fetched.

    Raises
    ------
    InputError
        Always.
    """
    raise InputError(
        "MIMIC-III needs credentials, so nothing is fetched.\n"
        "  Get access at https://physionet.org/content/mimiciii/1.4/ (a course, a data use agreement), then "
        "download PATIENTS, ADMISSIONS, ICUSTAYS and CHARTEVENTS.\n"
        f"  Put the four .csv.gz files into {out}, as they are; for a first try without them there are "
        "`tsdg simulate mimic3` and the open demo of 100 patients."
    )


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
    bar = tqdm(desc=hhar.ZIP, total=size or None, initial=have, unit="B", unit_scale=True, leave=False,
               disable=None if progress else True)  # fmt: skip
    with bar, open(partial, "ab" if have else "wb") as file:
        for block in answer.iter_content(BLOCK):
            file.write(block)
            bar.update(len(block))
    if size and partial.stat().st_size < size:
        raise requests.ConnectionError
