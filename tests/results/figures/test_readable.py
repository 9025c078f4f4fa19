"""Every kind of figure in both widths, as the renderer measures it: as wide as said, letters, collisions."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from layouts import layout, panel
from synthetic_records import grid, make_record, metrics, save
from tsdg.learning.metrics import reliability
from tsdg.results import figures
from tsdg.results.figures import squares
from tsdg.results.figures.critical_difference import critical_difference
from tsdg.results.figures.style import MOST, fitted, lines_of
from tsdg.results.figures.transfer import Matrix, render
from tsdg.results.ranking import block_values, rank
from tsdg.results.selection import select
from tsdg.runs.record import read
from tsdg.runs.writing import write
from tsdg.study.layout import Protocol, joined
from tsdg.study.run import Run, run_path

DOMAINS = "ABCDEF"
ROWS = {
    "base": "Modulation, random filter, logistic",
    "erm": "ERM",
    "other": "Interdomain Mixup (joint), twice",
    "ours": "Ours (metadata), no aug.",
}
CLASSES = ["inner race", "ball", "outer race"]
OPTIONS = {
    "accuracy": {},
    "forest": {"baseline": "erm"},
    "reliability": {"rows": list(ROWS)},
    "confusion": {"rows": list(ROWS)},
    "neighbours": {"variant": "ours", "clusters": {"one": {d: "north" if d < "D" else "" for d in DOMAINS}}},
    "optimization": {"variant": "ours"},
}
SHAPE = layout(
    ROWS,
    panel("one", DOMAINS, ["accuracy", "ece"], legend=[f"{d}: drive end, size 0.007" for d in DOMAINS]),
    labels=ROWS,
    baselines=["base"],
    ours=["ours"],
    protocol=Protocol("small", seeds=2, draws="fixed", iterations=100, reduced=True),
)


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """Folder of records of all rows, but of `other` at the last target, and the selected runs."""
    folder = tmp_path_factory.mktemp("runs")
    runs = grid(ROWS, DOMAINS, [0, 1], ["fixed"], dataset="one")
    for k, run in enumerate(runs):
        if run.variant == "other" and run.target == DOMAINS[-1]:
            continue
        sources = [domain for domain in DOMAINS if domain != run.target]
        right = 30 + 10 * (k % 7)
        accuracy = right / 100
        record = make_record(run, ((100, 0.5, accuracy),), sources, simulated=True)
        p = np.repeat([[0.99, 0.01], [0.4, 0.6]], [right, 100 - right], axis=0)
        bins = reliability(p, np.zeros(100, int))
        counts = [[right - 20, 0, 0], [0, 10, 100 - right], [0, 0, 10]]
        record["classes"] = CLASSES
        record["checkpoints"][0]["target"] = metrics(accuracy) | {"reliability": bins, "confusion": counts}
        record["config"]["clusters"] = {domain: int(domain in "DEF") for domain in DOMAINS}
        record["losses"] = {"iteration": [50, 100], "loss": [2.0, 1.0], "consistency": [30.0, 0.1]}
        if run.variant == "ours":
            of = dict(zip(sources, sources[::-1], strict=True))
            record["neighbours"] = [{"iteration": 0, "of": of}]
        write(folder / run_path(run), record)
    return folder, select(runs, folder)


ODD_ROWS = {"base": "W" * 100, "erm": "ERM " + "n" * 63, "ours": "Ours"}
ODD_DOMAINS = [f"participant-number-{k:02}-of-the-study" for k in range(4)]


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """Folder of records of rows and domains whose names are long words, the selected runs and the layout."""
    folder = tmp_path_factory.mktemp("odd")
    runs = grid(ODD_ROWS, ODD_DOMAINS, [0, 1], ["fixed"], dataset="one")
    bins = reliability(np.repeat([[0.9, 0.1], [0.4, 0.6]], [60, 30], axis=0), np.zeros(90, int))
    for run in runs:
        record = make_record(run, ((100, 0.5, 2 / 3),), [name for name in ODD_DOMAINS if name != run.target])
        record["classes"] = [f"class number {k}" for k in range(30)]
        counts = 2 * np.eye(30, dtype=int) + np.eye(30, k=1, dtype=int)
        counts[29, 0] = 1
        found = metrics(2 / 3) | {"n": 90, "reliability": bins, "confusion": counts.tolist()}
        record["checkpoints"][0]["target"] = found
        write(folder / run_path(run), record)
    shape = layout(
        ODD_ROWS, panel("one", ODD_DOMAINS, ["accuracy", "ece"]), labels=ODD_ROWS, baselines=["base"]
    )
    return folder, select(runs, folder), shape


@pytest.fixture
def saved(monkeypatch):
    """Figures that are saved, with their boxes in inches, in a list that fills; nothing is drawn."""
    drawn = []

    def savefig(figure, path, **more):
        drawn.append((figure, more["bbox_inches"]))
        path.touch()

    monkeypatch.setattr(Figure, "savefig", savefig)
    return drawn


def boxes(figure):
    """Texts that are seen, with where they are; ticks beyond the limits are not."""
    figure.set_dpi(300)  # as it is saved
    figure.draw_without_rendering()
    unseen = set()
    for ax in figure.axes:
        for axis, limits in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
            low, high = sorted(limits)
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            off = {t for t in ticks if not (ax.axison and low <= t.get_loc() <= high and t.get_visible())}
            unseen |= {t.label1 for t in off}
            unseen |= {t.label2 for t in ticks}
    texts = [t for t in figure.findobj(Text) if t.get_text().strip() and t.get_visible() and t not in unseen]
    return [(text, text.get_window_extent()) for text in texts]


def check(figure, whole, width):
    assert whole.width == width
    found = boxes(figure)
    edges = whole.transformed(figure.dpi_scale_trans)
    assert len(found) > 5
    for text, box in found:
        assert text.get_fontsize() >= 7, text
        assert edges.x0 - 1 <= box.x0, text
        assert box.x1 <= edges.x1 + 1, text
        assert edges.y0 - 1 <= box.y0, text
        assert box.y1 <= edges.y1 + 1, text
    for (one, a), (other, b) in combinations(found, 2):
        apart = max(a.x0, b.x0) >= min(a.x1, b.x1) - 1 or max(a.y0, b.y0) >= min(a.y1, b.y1) - 2
        assert apart, f"{one.get_text()!r} on {other.get_text()!r}"


@pytest.mark.parametrize("width", figures.WIDTHS.values(), ids=figures.WIDTHS)
@pytest.mark.parametrize("kind", OPTIONS)
def test_no_text_is_small_or_cut_or_on_another(kind, width, records, saved, tmp_path):
    folder, selected = records
    figures.DRAW[kind](selected, SHAPE, folder, tmp_path, "f", width=width, **OPTIONS[kind])
    check(*saved[0], width)


@pytest.mark.parametrize("width", figures.WIDTHS.values(), ids=figures.WIDTHS)
@pytest.mark.parametrize("kind", ["accuracy", "forest", "reliability", "confusion"])
def test_long_words_have_room(kind, width, odd, saved, tmp_path):
    folder, selected, shape = odd
    options = {"rows": list(ODD_ROWS)} if "rows" in OPTIONS[kind] else OPTIONS[kind]
    figures.DRAW[kind](selected, shape, folder, tmp_path, "f", width=width, **options)
    check(*saved[0], width)


def test_long_words_are_broken_where_they_have_hyphens_and_shortened_only_where_they_still_differ():
    [broken] = fitted(["target participant-number-00-of"], 1.0)
    assert broken.split("\n") == ["target", "participant-number-", "00-of"]
    letters = "".join(lines_of("n" * 90, 1.0))
    assert letters == "n" * 90
    [short] = fitted(["a" * 50 + "m" * 100 + "z" * 50], 1.0)
    assert short.count("\n") < MOST
    assert short.startswith("aaa")
    assert short.endswith("zzz")
    assert len(set(fitted(["a" * 99 + middle + "z" * 99 for middle in "xy"], 1.0))) == 2
    assert "\\\n" not in fitted([r"\$" * 90], 1.0)[0]


@pytest.mark.parametrize("width", figures.WIDTHS.values(), ids=figures.WIDTHS)
def test_names_and_ranks_are_apart(width, records, saved, tmp_path):
    _, selected = records
    shape = joined([SHAPE], metrics=["accuracy"])
    ranked = rank(block_values(selected, shape), higher_is_better=True)
    critical_difference(ranked, shape, ["Some."], tmp_path, width=width, stamp="Simulated")
    check(*saved[0], width)


@pytest.mark.parametrize("width", figures.WIDTHS.values(), ids=figures.WIDTHS)
def test_a_matrix_is_parted_by_metadata_that_its_order_keeps_together(width, saved, tmp_path):
    names = [f"P{k}" for k in range(1, 13)]
    blocks = np.kron(np.eye(2), np.ones((6, 6)))
    accuracies = pd.DataFrame(0.2 + 0.7 * blocks, index=names, columns=names)
    scattered = {name: {"group": k % 3} for k, name in enumerate(names)}
    kept = {name: {"site": "north" if k < 6 else "south", **scattered[name]} for k, name in enumerate(names)}
    for metadata, lines in ((scattered, 0), (kept, 2)):
        render([Matrix("Some", accuracies, metadata)], ["Some words."], tmp_path, "f", width=width)
        check(*saved[-1], width)
        assert len(saved[-1][0].axes[0].lines) == lines


def test_roles_are_told_apart_in_grey_and_guessing_that_is_not_drawn_is_said(saved, tmp_path):
    runs = grid(["base", "erm", "ours"], "A", [0], ["fixed"], dataset="one")
    for run in runs:
        save(tmp_path, run, ((100, 0.5, 0.95 + 0.01 * (run.variant == "ours")),))
    shape = layout(["base", "erm", "ours"], panel("one", "A"), baselines=["base"], ours=["ours"])
    figures.DRAW["accuracy"](select(runs, tmp_path), shape, tmp_path, tmp_path / "out", "f")
    figure = saved[0][0]
    markers = {line.get_marker() for line in figure.axes[0].lines if len(line.get_xdata()) == 1}
    assert len(markers) == 3
    assert not [text for text in figure.legends[0].texts if "guessing" in text.get_text()]
    assert "Guessing gives 50%, beyond what is drawn." in " ".join(text.get_text() for text in figure.texts)
    assert figure.axes[0].get_xlim()[0] > 50


def test_classes_without_room_are_numbered_and_listed(odd, saved, tmp_path):
    folder, selected, shape = odd
    figures.DRAW["confusion"](selected, shape, folder, tmp_path, "f", rows=["ours"])
    figure = saved[0][0]
    ticks = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert ticks == [str(k) for k in range(0, 30, int(ticks[1]))]
    words = " ".join(" ".join(text.get_text() for text in figure.texts).split())
    assert all(f"{k} is class number {k}" in words for k in range(30))


def test_targets_of_more_than_a_page_are_drawn_together(records, saved, tmp_path, monkeypatch):
    """One run lacks: of the row the sum has the other seed alone, and says that it is of those with all."""
    folder, selected = records
    lacks = (selected["variant"] == "erm") & (selected["target"] == "A") & (selected["seed"] == 1)
    fewer = selected[~lacks]
    monkeypatch.setattr(squares, "HIGHEST", 6.0)
    for kind in ("reliability", "confusion"):
        figures.DRAW[kind](fewer, SHAPE, folder, tmp_path, kind, rows=list(ROWS), width=figures.COLUMN)
        figure, whole = saved[-1]
        check(figure, whole, figures.COLUMN)
        assert len(figure.axes) == len(ROWS)
        assert "of the seeds that have all" in " ".join(text.get_text() for text in figure.texts)
        assert [text.get_text() for text in figure.axes[2].texts] == ["missing"]  # other, at the last target
    table = pd.read_csv(tmp_path / "confusion.csv").query("variant == 'erm'")
    true = (table["true"] == "inner race") & (table["predicted"] == "inner race")
    both = table[true].set_index("target")["windows"]
    by_seed = {
        seed: sum(
            int(
                read(folder / run_path(Run("one", "erm", target, seed, "fixed")))
                .checkpoints[-1]
                .target.confusion[0][0]
            )
            for target in DOMAINS
        )
        for seed in (0, 1)
    }
    assert both["All targets"] == by_seed[0]
    assert both.drop("All targets").sum() > by_seed[0]


@pytest.mark.parametrize("kind", ["forest", "reliability", "confusion"])
def test_what_diverged_is_not_called_missing(kind, records, saved, tmp_path):
    folder, selected = records
    gone = (selected["variant"] == "ours") & (selected["target"] == "A")
    changed = selected.assign(status=selected["status"].mask(gone, "diverged"))
    options = {"rows": list(ROWS)} if "rows" in OPTIONS[kind] else OPTIONS[kind]
    figures.DRAW[kind](changed, SHAPE, folder, tmp_path, "f", **options)
    said = [text.get_text() for ax in saved[0][0].axes for text in ax.texts]
    averages = 2 if kind == "forest" else 1
    assert said.count("diverged") == said.count("missing") == averages


def test_what_is_higher_than_a_page_is_said(records, saved, tmp_path, capsys, monkeypatch):
    folder, selected = records
    monkeypatch.setattr(squares, "HIGHEST", 20.0)  # so that targets are not drawn together
    figures.DRAW["reliability"](selected, SHAPE, folder, tmp_path, "f", rows=list(ROWS), width=figures.COLUMN)
    assert "inches high, where a page has 9.2" in capsys.readouterr().err
    figures.DRAW["reliability"](selected, SHAPE, folder, tmp_path, "f", rows=["erm"], width=figures.COLUMN)
    assert capsys.readouterr().err == ""
