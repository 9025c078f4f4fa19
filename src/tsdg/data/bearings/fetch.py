"""Download of the official Bearings recordings."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from tsdg.data.bearings.raw import is_simulated
from tsdg.data.bearings.recordings import choose, read_table
from tsdg.data.download import destined
from tsdg.errors import InputError

URL = "https://engineering.case.edu/sites/default/files/"
SHA256 = Path(__file__).with_name("sha256.csv")


def fetch(
    out: str | Path,
    *,
    base_url: str = URL,
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
    known = pd.read_csv(SHA256, index_col="number")["sha256"]
    hashes = {f"{number}.mat": f"sha256:{value}" for number, value in known.items()}
    files = pooch.create(out, base_url, registry={name: hashes.get(name) for name in names})
    pooch.get_logger().setLevel("WARNING")  # else a line a file
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
            f"{count} of {len(names)} recordings are missing in {destined(out)}; run the command again to "
            "get only these, give a mirror with --base-url (`fetch: {base_url: ...}` of the data set in "
            f"params.yaml), or put the files there by hand\n  {lines}"
        )
    return [out / name for name in names]
