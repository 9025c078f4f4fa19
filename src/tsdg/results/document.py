"""One LaTeX document of all tables, and its pdf."""

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from tsdg.errors import InputError
from tsdg.files import atomic, write_text
from tsdg.results.latex import parts

LATEX = "pdflatex"
INSTALL = (
    f"{LATEX}, which makes a pdf of LaTeX, is not there: install TeX Live with the packages booktabs and "
    "arydshln (Debian, Ubuntu: apt install texlive-latex-extra), then give the same command again"
)


def combined(texts: Iterable[str]) -> str:
    """One document of the tables of several, which compile alone: in their order, as many on a page as fit.

    Raises
    ------
    ValueError
        A text is no LaTeX document.
    """
    preamble: dict[str, None] = {}
    bodies = []
    for text in texts:
        preamble_of, body = parts(text)
        preamble |= dict.fromkeys(preamble_of.splitlines())
        bodies.append(body)
    # LaTeX keeps few tables waiting for a page of their own.
    body = "\\clearpage\n".join("".join(bodies[k : k + 10]) for k in range(0, len(bodies), 10))
    return "\n".join([*preamble, r"\begin{document}", f"{body}\\end{{document}}", ""])


def write(paths: Iterable[str | Path], out: str | Path) -> Path:
    """Write `combined` of the tables' files; return the path.

    Raises
    ------
    InputError
        A file is not there, or holds no LaTeX document; or there is none.
    """
    tables = list(dict.fromkeys(map(Path, paths)))
    if not tables:
        raise InputError(f"{out}: there is no table to put into it; first make some, e.g. with `snakemake`")
    texts = []
    for path in tables:
        try:
            texts.append(path.read_text(encoding="utf-8"))
            combined(texts[-1:])
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: not a table as LaTeX ({error}); make it, or leave it out") from None
    out = Path(out)
    write_text(out, combined(texts))
    return out


def compiled(tex: str | Path) -> Path:
    """The pdf of a LaTeX document, beside it.

    Raises
    ------
    InputError
        There is no pdflatex, or it finds a mistake.
    """
    if shutil.which(LATEX) is None:
        raise InputError(INSTALL)
    tex = Path(tex).resolve()
    with TemporaryDirectory() as folder:
        command = [
            LATEX,
            "-interaction=nonstopmode",
            "-halt-on-error",
            f"-output-directory={folder}",
            str(tex),
        ]
        for _ in range(2):  # the second time, table numbers are known
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, errors="replace", check=False
            )
            if done.returncode:
                mistakes = [line for line in done.stdout.splitlines() if line.startswith("!")]
                raise InputError(f"{tex}: {LATEX} stopped: {' '.join(mistakes) or done.stdout[-300:]}")
        pdf = tex.with_suffix(".pdf")
        with atomic(pdf) as temporary:
            shutil.copyfile(Path(folder, pdf.name), temporary)
        return pdf
