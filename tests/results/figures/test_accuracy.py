import pytest

from layouts import layout, panel
from synthetic_records import grid, save
from tsdg.results import figures
from tsdg.results.figures import accuracy
from tsdg.results.selection import select
from tsdg.study.layout import Protocol


def test_a_table_is_drawn_by_its_first_metric_of_which_more_is_better():
    found = [panel("d", "P", metrics).leading for metrics in (["auc", "ece"], ["ece", "auc"], ["accuracy"])]
    assert found == ["auc", "accuracy", "accuracy"]


@pytest.mark.slow
def test_accuracy_by_target_is_reproducible_and_draws_what_the_table_holds(tmp_path, monkeypatch):
    runs = grid(["erm", "ours-learned", "gone"], ["A", "C"], [0, 1], [0], dataset="bearings")
    for run in runs[:8]:
        save(tmp_path, run, ((100, 0.5, 0.6 + run.seed / 10),), simulated=True)
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
    drawn = []
    keep = accuracy.save
    monkeypatch.setattr(accuracy, "save", lambda figure, *rest: drawn.append(figure) or keep(figure, *rest))
    selected = select(runs, tmp_path)
    first = figures.accuracy_by_target(selected, shape, tmp_path / "1", "f")
    second = figures.accuracy_by_target(selected, shape, tmp_path / "2", "f")
    assert [p.name for p in first] == ["f.pdf", "f.png"]
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]

    a, c, average = (ax for ax in drawn[0].axes if ax.get_visible())
    assert [ax.get_title() for ax in (a, c, average)] == ["Target A", "Target C", "Average"]
    assert [label.get_text() for label in a.get_yticklabels()] == list(shape.rows)

    def points(ax, marker):
        lines = [line.get_data() for line in ax.lines if line.get_marker() == marker]
        return [point for x, y in lines for point in zip(x, y, strict=True)]

    assert [(round(x, 9), y) for x, y in points(a, "o")] == [(65, 0), (65, 2)]
    assert points(a, "D") == [(65.4, 0), (89.1, 2)]
    assert points(c, "D") == [(96.0, 0), (97.1, 2)]
    assert [text.get_text() for text in average.texts] == ["missing"]
    below = drawn[0].texts[-1].get_text().replace("\n", " ")
    assert below.startswith("A: drive end, load 0; C: drive end, load 2. ")
    assert "Simulated raw files" in drawn[0].texts[-1].get_text().replace("\n", " ")
