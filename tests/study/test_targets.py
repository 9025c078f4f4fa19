"""What is held out: targets that are groups of domains, their names and folders."""

import pytest

from tsdg.errors import InputError
from tsdg.study.run import target_folder, target_of
from tsdg.study.targets import check_apart, held_out, legend, named

DOMAINS = {
    "A": {"user": "a b", "load": 0},
    "B": {"user": "a b", "load": 1},
    "C": {"user": "c,d", "load": 0},
    "D": {"user": "c,d", "load": 1},
}


@pytest.mark.parametrize(
    ("holdout", "groups"),
    [
        (None, {"A": "A", "B": "B", "C": "C", "D": "D"}),
        ("user", {"user=a b": "AB", "user=c,d": "CD"}),
        (["load"], {"load=0": "AC", "load=1": "BD"}),
        (["load", "user"], {"user=a b,load=0": "A", "user=a b,load=1": "B", "user=c,d,load=0": "C",
                            "user=c,d,load=1": "D"}),
        ([["B", "A"], ["D"]], {"A+B": "AB", "D": "D"}),
        ("single-source", {"not A": "BCD", "not B": "ACD", "not C": "ABD", "not D": "ABC"}),
    ],
)  # fmt: skip
def test_a_holdout_makes_groups_that_their_names_name(holdout, groups):
    found = held_out(DOMAINS, holdout)
    assert {target.name: "".join(target.domains) for target in found} == groups
    for target in found:
        assert named(DOMAINS, target.name) == target
        assert target_of(target_folder(target.name)) == target.name
        assert not set(target_folder(target.name)) & set(" =,%/")


def test_a_name_is_spelled_in_one_way():
    assert named(DOMAINS, "load=0,user=a b").name == "user=a b,load=0"
    assert named(DOMAINS, "C+A").name == "A+C"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("user=a", "no domain has user 'a'.*there are a b, c,d"),
        ("usr=a b", "no metadata 'usr', did you mean 'user'"),
        ("A+E", "'E' is not a domain"),
        ("A+B+C+D", "nothing is left to learn from"),
        ("not not A", "'not not A' is what 'A' is"),
        ("not not user=a b", "is what 'user=a b' is"),
    ],
)
def test_what_is_no_target_is_refused(name, message):
    with pytest.raises(InputError, match=message):
        named(DOMAINS, name)


def test_a_domain_may_have_the_name_of_a_rest():
    domains = {"not A": {}, "A": {}, "B": {}}
    assert named(domains, "not not A").domains == ("A", "B")


def test_targets_of_the_same_domains_are_refused():
    """Whatever each is called, they would count twice in an average."""
    check_apart(named(DOMAINS, name) for name in ("A", "B", "A+B", "A+C"))
    for first, second in (("user=a b", "A+B"), ("not user=a b", "user=c,d"), ("B+A", "A+B")):
        with pytest.raises(InputError, match=r"are the same domains, ., .*count twice; leave out one"):
            check_apart(named(DOMAINS, name) for name in ("A", first, second))


def test_fields_stand_in_the_order_of_the_first_domain_whatever_that_of_others():
    mixed = DOMAINS | {"D": {"load": 1, "user": "c,d"}}
    assert held_out(mixed, ["load", "user"]) == held_out(DOMAINS, ["user", "load"])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["a", "b,load=1"], "cannot have ',NAME='"),
        (["a", "b "], "values of one line that do not end with a space"),
        (["a", "b\nc"], "values of one line"),
        (["a", "ü" * 40], "its folder would have 247 characters, more than 200"),
    ],
)
def test_a_value_that_makes_no_name_is_refused(values, message):
    domains = {name: {"user": values[k // 2], "load": k % 2} for k, name in enumerate("ABCD")}
    with pytest.raises(InputError, match=message):
        held_out(domains, "user")


def test_one_group_alone_is_refused():
    same = {name: {"user": "a"} for name in "ABC"}
    with pytest.raises(InputError, match="every domain has user=a: one group"):
        held_out(same, "user")


def test_a_folder_that_is_no_targets_is_refused():
    for folder in ("a b", "a.2", "a.41", ""):
        with pytest.raises(InputError, match="not the folder of a target"):
            target_of(folder)


def test_a_legend_names_fields_whose_values_do_not_speak():
    domains = {
        "P": {"site": "drive end", "load": 0, "age": "over 85", "on": True},
        "Q": {"site": "fan end", "load": 1, "age": "20-45", "on": False},
    }
    assert legend(domains, ["P"]) == [
        "P: drive end, load 0, age over 85, on true",
        "Q: fan end, load 1, age 20-45, on false",
    ]
    assert legend(domains, ["load=0", "load=1"]) == []
    assert legend({"P": {}}, ["P"]) == []
