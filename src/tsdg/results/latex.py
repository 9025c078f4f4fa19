"""LaTeX of tables: documents of one, which compile alone; rows; plain text escaped."""

import re
from collections.abc import Callable, Iterable

LONG = 50  # lines of a table, beyond which they stand closer, so that a page holds them
_ESCAPES = str.maketrans(
    {character: rf"\{character}" for character in "&%$#_{}"}
    | {character: f"${character}$" for character in "<>|"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "–": "--",
        "−": "$-$",
    }
    | {
        "†": r"$^\dagger$",
        "λ": r"$\lambda$",
        "ξ": r"$\xi$",
        "μ": r"$\mu$",
        "σ": r"$\sigma$",
        "γ": r"$\gamma$",
        "±": r"$\pm$",
        "×": r"$\times$",
    }
)
_ESCAPED = {tex: chr(character) for character, tex in _ESCAPES.items()}


def escape(text: str) -> str:
    """Plain text for LaTeX: special characters, and the few symbols that labels use, in one line.

    What begins with ``[`` or ``*`` would be an option of the row before it, so that it is put in braces.
    """
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    escaped = line.translate(_ESCAPES)
    return f"{{{escaped[0]}}}{escaped[1:]}" if line[:1] in ("[", "*") else escaped


def unescaped(text: str, letter: Callable[[str], str]) -> str:
    """LaTeX with every character that `escape` has escaped replaced by what `letter` makes of it."""
    pattern = "|".join(map(re.escape, sorted(_ESCAPED, key=len, reverse=True)))
    return re.sub(pattern, lambda match: letter(_ESCAPED[match[0]]), text)


def row(cells: Iterable[str]) -> str:
    """A row of a tabular from LaTeX cells."""
    return " & ".join(cells) + r" \\"


def ruled(heads: Iterable[str], blocks: Iterable[Iterable[Iterable[str]]]) -> list[str]:
    """Lines of a tabular: heads, as plain text, and blocks of rows, as LaTeX cells, between rules."""
    lines = [r"\toprule", row(map(escape, heads))]
    for block in blocks:
        lines += [r"\midrule", *map(row, block)]
    return [*lines, r"\bottomrule"]


def document(name: str, text: str, columns: str, lines: Iterable[str]) -> str:
    """A LaTeX document of one table, which compiles alone.

    Parameters
    ----------
    name : str
        Its label.
    text : str
        Its caption, as plain text.
    columns : str
        Column types of the tabular.
    lines : iterable of str
        LaTeX of the rows, rules included.
    """
    rows = list(lines)
    body = "\n".join(rows)
    spacing = "\n\\renewcommand{\\arraystretch}{0.85}" if len(rows) > LONG else ""
    return rf"""\documentclass{{article}}
\usepackage[a4paper,landscape,margin=15mm]{{geometry}}
\usepackage{{booktabs}}
\usepackage{{arydshln}}
\usepackage{{amssymb}}
\begin{{document}}
\begin{{table}}
\centering
\footnotesize
\setlength{{\tabcolsep}}{{4pt}}{spacing}
\caption{{{escape(text)}}}
\label{{tab:{name}}}
\begin{{tabular}}{{{columns}}}
{body}
\end{{tabular}}
\end{{table}}
\end{{document}}
"""


def parts(text: str) -> tuple[str, str]:
    """Preamble and body of a LaTeX document.

    Raises
    ------
    ValueError
        The text is none.
    """
    match = re.search(r"(.*)^\\begin\{document\}\n(.*)^\\end\{document\}", text, re.DOTALL | re.MULTILINE)
    if match is None:
        raise ValueError("no LaTeX document")
    return match[1], match[2]


def body(text: str) -> str:
    """The table of a `document`, to be put into another by ``\\input``, with what that must load."""
    packages = re.findall(r"\\usepackage\{(\w+)\}", parts(text)[0])
    return f"% In the preamble: \\usepackage{{{','.join(packages)}}}\n{parts(text)[1]}"
