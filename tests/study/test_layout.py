"""What a table shows is checked once, when it is built; as text it changes when what is shown does."""

from dataclasses import replace

import pytest

from golden import layout
from layouts import panel
from tsdg.errors import InputError
from tsdg.study.layout import joined, text
from tsdg.study.selection import Selection


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": [], "ours": []}, "needs rows"),
        ({"targets": []}, "toy: a panel needs targets and metrics"),
        ({"metrics": ["acc"]}, "acc unknown; known are accuracy"),
        ({"ours": ["dann"]}, "dann must be among rows"),
        ({"baselines": ["dann"]}, "baselines: dann must be among rows"),
        ({"baselines": ["ours"]}, "baselines: ours cannot be among ours too"),
        ({"panels": [panel("a", "PQ"), panel("a", "PQ")]}, "a data set can have one panel"),
        ({"panels": [panel("a", "PQ"), panel("b", "PQ", ["ece", "nll"])]}, "equally many metrics"),
        ({"arrange": "above"}, "neither 'beneath' nor 'beside'"),
    ],
)
def test_a_wrong_layout_is_refused(changes, message):
    with pytest.raises(InputError, match=message):
        layout(**changes)


def test_rows_are_printed_with_baselines_first_and_ours_last():
    shape = layout(["a", "ours", "b", "mine"], ours=["mine", "ours"])
    assert (shape.groups, shape.ordered) == ([["a", "b"], ["ours", "mine"]], ["a", "b", "ours", "mine"])
    assert layout(["a", "ours", "line"], baselines=["line"]).groups == [["line"], ["a"], ["ours"]]
    assert layout(["a"], ours=[]).groups == [["a"]]


def test_the_text_of_a_layout_changes_with_all_of_it():
    shape = layout()
    changes = [
        {"caption": "Other."},
        {"ours": ()},
        {"baselines": ("erm",)},
        {"rows": ("ours", "irm", "erm")},
        {"labels": {**shape.labels, "irm": "IRM"}},
        {"arrange": "beside"},
        {"protocol": replace(shape.protocol, seeds=2)},
    ]
    of_panel = [
        {"title": "x"},
        {"targets": ("P",)},
        {"metrics": ("ece",)},
        {"average_only": True},
        {"paper": "x"},
        {"groups": {"P": ("A", "B")}},
        {"selection": Selection("leave-one-source-out")},
        {"selection": Selection(metric="nll")},
    ]
    changes += [{"panels": (replace(shape.panels[0], **change),)} for change in of_panel]
    texts = [text(replace(shape, **change)) for change in [{}, *changes]]
    assert len(set(texts)) == len(texts)
    assert text(layout()) == texts[0]


def test_tables_are_joined_with_what_they_share():
    one = layout(["x", "a", "b"], panels=[panel("one", "PQ", ["ece"])], ours=["x"], labels={"x": "X"})
    two = layout(["b", "c", "x"], panels=[panel("two", "R", ["accuracy"], title="Two")], ours=[])
    both = joined([one, two], metrics=["auc"])
    assert (both.rows, both.ours, both.labels) == (("b", "x"), ("x",), {"b": "b", "x": "x"})
    assert [(p.dataset, p.metrics) for p in both.panels] == [("one", ("auc",)), ("two", ("auc",))]
    assert [(p.title, target) for p, target in both.places] == [("one", "P"), ("one", "Q"), ("Two", "R")]
    with pytest.raises(InputError, match="a data set can have one panel"):
        joined([one, one])
