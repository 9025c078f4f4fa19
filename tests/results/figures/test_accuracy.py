import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from layouts import layout, panel
from synthetic_records import grid, save
from tsdg.results.figures import WIDTHS, accuracy
from tsdg.results.selection import select
from tsdg.study.layout import Protocol

TWO_SEEDS = Protocol("paper", seeds=2, draws="fixed", iterations=100, reduced=True)


def test_a_table_is_drawn_by_its_first_metric_of_which_more_is_better():
    found = [panel("d", "P", metrics).leading for metrics in (["auc", "ece"], ["ece", "auc"], ["accuracy"])]
    assert found == ["auc", "accuracy", "accuracy"]


def keep_drawn(monkeypatch):
    """Figures as they are saved, in a list that fills."""
    drawn, keep = [], accuracy.save

    def save(figure, *rest, **more):
        drawn.append(figure)
        return keep(figure, *rest, **more)

    monkeypatch.setattr(accuracy, "save", save)
    return drawn


@pytest.mark.slow
@pytest.mark.parametrize("simulated", [True, False], ids=["simulated", "real"])
def test_accuracy_by_target_is_reproducible_and_draws_what_the_table_holds(simulated, tmp_path, monkeypatch):
    runs = grid(["erm", "ours-learned", "gone"], ["A", "C"], [0, 1], [0], dataset="bearings")
    for run in runs[:8]:
        save(tmp_path, run, ((100, 0.5, 0.6 + run.seed / 10),), simulated=simulated)
    shape = layout(
        ["erm", "gone", "ours-learned"],
        panel(
            "bearings",
            "AC",
            ["ece"],
            paper="bearings",
            legend=["A: drive end, load 0", "C: drive end, load 2"],
        ),
        ours=["ours-learned"],
        protocol=Protocol("paper", seeds=2, draws=1, iterations=100, reduced=True),
    )
    selected = select(runs, tmp_path)
    drawn = keep_drawn(monkeypatch)
    first = accuracy.draw(selected, shape, tmp_path, tmp_path / "1", "f")
    second = accuracy.draw(selected, shape, tmp_path, tmp_path / "2", "f")
    assert [p.name for p in first] == ["f.pdf", "f.png"]
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]

    a, c, average, error = drawn[0].axes
    titles = [ax.get_title().replace("\n", " ") for ax in drawn[0].axes]
    assert titles == ["A: drive end, load 0", "C: drive end, load 2", "Average", "Average, ECE"]
    assert [label.get_text() for label in a.get_yticklabels()] == list(shape.rows)
    assert [(round(x, 9), y) for x, y in points(a, "o") + points(a, "s")] == [(65, 0), (65, 2)]
    assert points(a, "D") == ([] if simulated else [(65.4, 0), (89.1, 2)])
    assert points(c, "D") == ([] if simulated else [(96.0, 0), (97.1, 2)])
    assert [text.get_text() for text in average.texts] == ["missing"]
    assert [(round(x, 9), y) for x, y in points(error, "o") + points(error, "s")] == [(10, 0), (10, 2)]
    words = " ".join(text.get_text().replace("\n", " ") for text in drawn[0].texts)
    assert ("Simulated recordings: no result" in words) == simulated
    assert ("Simulated raw files" in words) == simulated


def points(ax, marker):
    lines = [line.get_data() for line in ax.lines if line.get_marker() == marker]
    return [point for x, y in lines for point in zip(x, y, strict=True)]


def test_lines_say_what_guessing_and_baselines_give_and_intervals_end_at_100(tmp_path, monkeypatch):
    accuracies = {("base", 0): 0.7, ("base", 1): 0.8, ("erm", 0): 1.0, ("erm", 1): 0.7}
    runs = grid(["base", "erm"], ["A"], [0, 1], ["fixed"], dataset="d")
    for run in runs:
        save(tmp_path, run, ((100, 0.5, accuracies[run.variant, run.seed]),))
    shape = layout(["base", "erm"], panel("d", "A"), baselines=["base"], protocol=TWO_SEEDS)
    drawn = keep_drawn(monkeypatch)
    accuracy.draw(select(runs, tmp_path), shape, tmp_path, tmp_path / "out", "f")
    target, average = drawn[0].axes
    lines = [tuple(zip(*map(list, line.get_data()), strict=True)) for line in target.lines]
    lines = [tuple((round(float(x), 6), float(y)) for x, y in line) for line in lines]
    assert ((50, 0), (50, 1)) in lines  # guessing one of two classes
    [words] = [text.get_text() for text in drawn[0].legends[0].texts if "guessing" in text.get_text()]
    assert words == "guessing: 50%"
    assert ((75, 0), (75, 1.5)) in lines
    assert max(x for line in lines for x, _ in line) == 100  # 85 ± 21.2
    assert target.get_xlim() == average.get_xlim()
    assert target.get_xlim()[1] == 100


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_everything_is_inside_and_no_letter_is_smaller_than_7_points(width, tmp_path, monkeypatch):
    label = "A row with a name that goes on and on, and then some more of it"
    runs = grid(["erm"], "ABCDEFGH", [0], ["fixed"], dataset="d")
    for run in runs:
        save(tmp_path, run)
    legend = [f"{name}: a place that takes many words to say, load 0" for name in "ABCDEFGH"]
    shape = layout(["erm"], panel("d", "ABCDEFGH", ["accuracy", "ece"], legend=legend), labels={"erm": label})
    drawn = keep_drawn(monkeypatch)
    accuracy.draw(select(runs, tmp_path), shape, tmp_path, tmp_path / "out", "f", width=width)
    [figure] = drawn
    assert figure.get_size_inches()[0] == width
    FigureCanvasAgg(figure).draw()
    edges = figure.get_window_extent().padded(1)
    everything = [text for text in figure.findobj(Text) if text.get_text().strip()]
    assert min(text.get_fontsize() for text in everything) >= 7
    ticks = {label for ax in figure.axes for label in ax.get_xticklabels(which="both")}  # some beyond limits
    for text in set(everything) - ticks:
        box = text.get_window_extent()
        assert edges.contains(box.x0, box.y0), text
        assert edges.contains(box.x1, box.y1), text


def test_a_column_has_averages_alone_where_targets_are_higher_than_a_page(tmp_path, monkeypatch):
    rows = [f"row{k}" for k in range(40)]
    runs = grid(["row0"], "ABCDEFGH", [0], ["fixed"], dataset="d")
    for run in runs:
        save(tmp_path, run)
    shape = layout(rows, panel("d", "ABCDEFGH"))
    drawn = keep_drawn(monkeypatch)
    for width in WIDTHS.values():
        accuracy.draw(select(runs, tmp_path), shape, tmp_path, tmp_path / "out", "f", width=width)
    column, page = drawn
    assert [ax.get_title() for ax in column.axes] == ["Average"]
    assert "Averages alone" in " ".join(text.get_text() for text in column.texts)
    assert len(page.axes) == 9
