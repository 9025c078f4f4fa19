"""A table as a page of HTML, from its LaTeX, so that both say and mark the same."""

import html
import re
from collections.abc import Iterator

from tsdg.results.latex import parts, unescaped

STYLE = """
.tsdg {font: 15px/1.45 system-ui, sans-serif; color: #222; max-width: 75rem}
.tsdg h2 {font-size: 1.3rem; margin: 0 0 .4rem}
.tsdg table {border-collapse: collapse; margin: .8rem 0; border: solid #333; border-width: 2px 0; width: auto}
.tsdg td {padding: .15rem .6rem; white-space: nowrap; border: 0; font-variant-numeric: tabular-nums}
.tsdg td.p {white-space: normal; max-width: 26rem}
.tsdg .l {text-align: left} .tsdg .r {text-align: right} .tsdg .c {text-align: center}
.tsdg .rule > td {border-top: 1px solid #333} .tsdg .dashed > td {border-top: 1px dashed #777}
.tsdg .notes, .tsdg small {color: #555; font-size: .85em}
.tsdg b {font-weight: 700; color: #000}
"""
COMMANDS = {"textbf": "b", "underline": "u", "emph": "em", "mathrm": "span", "scriptsize": "small"}
SIGNS = {
    "checkmark": "✓", "uparrow": "↑", "downarrow": "↓", "cdot": "·", "lfloor": "⌊", "rfloor": "⌋", "sim": "~",
    "lambda": "λ", "xi": "ξ", "mu": "μ", "sigma": "σ", "gamma": "γ", "pm": "±", "times": "×", "dagger": "†",
}  # fmt: skip
RULES = {r"\midrule": "rule", r"\cmidrule": "", r"\addlinespace\hdashline": "dashed", r"\toprule": ""}


def page(document: str, title: str = "", lead: str = "") -> str:
    """A `tsdg.results.latex.document` as a page, whose style holds where it is put into another, too.

    Parameters
    ----------
    title, lead : str
        Plain text, above the table.
    """
    _, text = parts(document)
    caption, columns, rows = re.search(
        r"\\caption\{(.*)\}\n\\label.*\\begin\{tabular\}\{(.*?)\}\n(.*)\\end\{tabular\}", text, re.DOTALL
    ).groups()  # type: ignore[union-attr]
    above = [f"<h2>{html.escape(title)}</h2>"] * bool(title) + [f"<p>{html.escape(lead)}</p>"] * bool(lead)
    lines = [
        "<!doctype html>",
        f'<meta charset="utf-8"><style>{STYLE}</style>',
        '<div class="tsdg">',
        *above,
        "<table>",
        *_rows(rows, re.findall(r"[lrcp]", re.sub(r"\{.*?\}", "", columns))),
        "</table>",
        f'<p class="notes">{_inline(caption)}</p>',
        "</div>",
    ]
    return "\n".join(lines) + "\n"


def _rows(lines: str, columns: list[str]) -> Iterator[str]:
    rule = ""
    for line in lines.splitlines():
        if not line.endswith(r"\\"):
            rule = next((name for start, name in RULES.items() if line.startswith(start) and name), rule)
            continue
        cells, place = [], 0
        for cell in line.removesuffix(r" \\").split(" & "):
            spanned = re.fullmatch(r"\s*\\multicolumn\{(\d+)\}\{(\w)\}\{(.*)\}\s*", cell)
            count, align, text = spanned.groups() if spanned else ("1", columns[place], cell)
            span = f' colspan="{count}"' if spanned else ""
            cells.append(f'<td class="{align}"{span}>{_inline(text.strip())}</td>')
            place += int(count)
        yield f'<tr class="{rule}">{"".join(cells)}</tr>' if rule else f"<tr>{''.join(cells)}</tr>"
        rule = ""


def _inline(text: str) -> str:
    """A cell or caption as HTML."""
    letters: list[str] = []

    def kept(letter: str) -> str:  # out of the way of what follows
        letters.append(html.escape(letter))
        return f"\0{len(letters) - 1};"

    text = unescaped(text, kept)
    text = re.sub(r"\\([a-zA-Z]+)", lambda match: SIGNS.get(match[1], match[0]), text)
    text = re.sub(r"\$([^$]*)\$", lambda match: match[1].replace("-", "−"), text)
    text = re.sub(r"\^(\{[^{}]*\}|.)", r"<sup>\1</sup>", text)
    text = re.sub(r"_(\\\w+\{[^{}]*\}|\{[^{}]*\}|.)", r"<sub>\1</sub>", text)
    inner = re.compile(r"\\(textbf|underline|emph|mathrm)\{([^{}]*)\}|\{\\(scriptsize) ([^{}]*)\}")
    while match := inner.search(text):
        name, words = match[1] or match[3], match[2] if match[1] else match[4]
        tag = COMMANDS[name]
        text = f"{text[: match.start()]}<{tag}>{words}</{tag}>{text[match.end() :]}"
    text = text.replace("{", "").replace("}", "").replace("--", "–")
    return re.sub("\0(\\d+);", lambda match: letters[int(match[1])], text)
