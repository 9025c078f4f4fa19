"""The registry of kinds: one entry, from which command line, schema, functions and rules agree."""

import argparse
import inspect
import json
import re
import shlex
import subprocess
import sys
from importlib import import_module

import jsonschema
import pytest

from tsdg.commands.main import parser
from tsdg.data.kinds import KINDS
from tsdg.errors import InputError
from tsdg.study.params import schema
from tsdg.study.study import Study
from tsdg.workflow import flags

COMMANDS = [(command, kind) for kind, entry in KINDS.items() for command in entry.options]
WRITTEN = [pair for pair in COMMANDS if pair[0] in ("prepare", "simulate")]
PLACES = {"raw", "out", "help", "write_recordings"}


def function(command, kind):
    """What `tsdg COMMAND KIND` calls in the end."""
    return getattr(import_module(f"tsdg.data.{KINDS[kind].package}.{command}"), command)


def subparser(command, kind):
    level = parser()
    for name in (command, kind):
        [choices] = [action.choices for action in level._actions if isinstance(action.choices, dict)]
        level = choices[name]
    return level


def in_params(command, kind):
    """JSON schema of the options in params.yaml, as the study's schema has it."""
    [then] = [
        branch["then"]
        for branch in schema()["$defs"]["recorded"]["allOf"]
        if branch["if"]["properties"]["kind"]["const"] == kind
    ]
    return then["properties"][command]


def arguments(command, kind, *words):
    places = ["--raw", "x", "--out", "x"] if command == "prepare" else []
    needed = ["--domains", "{}", "--window", "2"] if (command, kind) == ("prepare", "table") else []
    return vars(parser().parse_args([command, kind, *places, *needed, *words]))


@pytest.mark.parametrize(("command", "kind"), WRITTEN)
def test_command_schema_and_function_have_the_same_options_and_defaults(command, kind):
    entry = KINDS[kind]
    by_name = {option.name: option for option in entry.options[command]}
    actions = {action.dest: action for action in subparser(command, kind)._actions}
    given = set(in_params(command, kind)["properties"])
    following = {name for name, option in by_name.items() if option.of_entry}
    parameters = dict(inspect.signature(function(command, kind)).parameters)
    takes = set(parameters) - PLACES - {"progress"}
    if command == "prepare" and entry.presets:
        assert set(in_params(command, kind)["properties"]["preset"]["enum"]) == set(entry.presets)
        takes.add("preset")
    assert set(actions) - PLACES == given | following == takes
    assert set(in_params(command, kind)["required"]) == given & {
        name for name in takes & set(parameters) if parameters[name].default is inspect.Parameter.empty
    }
    for name in takes & set(parameters):
        default = parameters[name].default
        if default is not inspect.Parameter.empty:
            assert by_name[name].default == default, name
            assert not actions[name].required
        else:
            assert actions[name].required


def samples(value):
    """Values that a schema allows."""
    for part in value.get("anyOf", [value]):
        least = part.get("minimum", 1)
        kind = part.get("type")
        yield from part.get("enum", [])
        yield from {
            "integer": [least, least + 7],
            "number": [least, 2.5 + least],
            "string": ["x" if "maxLength" in part else "a -b", "-"],
            "array": [["-x", "y z"]],
            "object": part.get("examples", []),
            "null": [None],
        }.get(kind, [])


@pytest.mark.parametrize(("command", "kind"), WRITTEN)
def test_values_of_params_yaml_arrive_by_way_of_the_rules(command, kind):
    for option in KINDS[kind].options[command]:
        for value in samples(option.value):
            if not isinstance(value, dict):  # whose keys are the data set's
                assert jsonschema.Draft202012Validator(option.value).is_valid(value), (option.name, value)
            words = shlex.split(flags({option.name: value}))
            assert arguments(command, kind, *words)[option.name] == value
        if option.value.get("minimum", 0) >= 1 and option.value["type"] == "integer":
            with pytest.raises(SystemExit):
                arguments(command, kind, f"{option.flag}=0")


@pytest.mark.parametrize(("command", "kind"), WRITTEN)
def test_the_functions_refuse_what_the_schema_does(command, kind, tmp_path):
    entry = KINDS[kind]
    given = {"domains": {}, "window": 2} if entry.own and command == "prepare" else {}
    places = [tmp_path, tmp_path / "out"] if command == "prepare" else [tmp_path]
    for option in entry.options[command]:
        words, least = option.value.get("enum"), option.value.get("minimum")
        if option.name == "preset" or (words is None and least is None):
            continue
        wrong = "nonsense" if words else least - 1
        with pytest.raises(InputError, match=f"^{option.name}: '?{wrong}") as caught:
            getattr(entry, command)(*places, **given | {option.name: wrong})
        message = str(caught.value)
        if words:
            assert " or ".join(map(str, words)) in message
        else:
            assert re.findall(r"(?:at least |give )(\d+)", message) in ([str(least)], [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("command", "kind"), COMMANDS)
def test_help_says_what_each_option_is(command, kind, capsys):
    with pytest.raises(SystemExit):
        parser().parse_args([command, kind, "--help"])
    text = " ".join(capsys.readouterr().out.split())
    for option in KINDS[kind].options[command]:
        assert f"{option.flag} " in text
        assert " ".join(option.described.split()) in text


def test_one_mapping_of_classes_is_no_list_of_them():
    assert arguments("prepare", "table", "--classes", '{"1": "a", "2": "b"}')["classes"] == {
        "1": "a",
        "2": "b",
    }
    assert arguments("prepare", "table", "--classes=1", "--classes=2")["classes"] == ["1", "2"]
    with pytest.raises(SystemExit):
        arguments("prepare", "table", "--classes", "1", '{"1": "a"}')


def test_a_misspelt_option_of_a_data_set_is_named(params):
    params["datasets"]["tiny"] |= {"kind": "hhar", "prepare": {"window": 128}}
    with pytest.raises(InputError, match=r"tiny\.prepare: unknown key 'window', did you mean 'windows'"):
        Study(params)


def test_the_shape_is_that_of_what_is_prepared():
    from tsdg.data.bearings import recordings as bearings
    from tsdg.data.hapt import prepare as hapt
    from tsdg.data.hhar import prepare as hhar
    from tsdg.data.mimic3 import prepare as mimic3
    from tsdg.data.mimic3.items import read_items

    window = {option.name: option.default for option in KINDS["bearings"].options["prepare"]}["window"]
    assert KINDS["bearings"].shape[1:4] == (1, window, len(bearings.CLASSES))
    assert KINDS["hhar"].shape[1:4] == (3, hhar.WINDOW, len(hhar.CLASSES))
    by_size = {"prepare": {"location": "fault", "domains": "bearing", "window": 2048}}
    assert KINDS["bearings"].shape_of(by_size)[1:4] == (1, 2048, len(bearings.FAULTS))
    for transitions, (classes, _) in hapt.CLASSES.items():
        shape = KINDS["hapt"].shape_of({"prepare": {"transitions": transitions}})
        assert shape[1:4] == (len(hapt.CHANNELS), hapt.WINDOW, len(classes))
    assert KINDS["hapt"].shape == KINDS["hapt"].shape_of({})
    vitals = read_items()["variable"].nunique()
    assert KINDS["mimic3"].shape[1:4] == (vitals, mimic3.HOURS, len(mimic3.CLASSES))
    assert KINDS["table"].shape is None


def test_the_registry_loads_no_implementation():
    heavy = "{'torch', 'scipy', 'sklearn', 'numpy', 'pandas', 'pyarrow'}"
    code = f"import sys, tsdg.data.kinds; print(sorted({heavy} & sys.modules.keys()))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


# ------------------------------------------------------------------------------------ what the rules ask


def names(kind, raw, source="official", **options):
    return KINDS[kind].raw_names({"kind": kind, "raw": str(raw), "source": source, "prepare": options})


def test_bearings_are_numbered_files(tmp_path):
    assert len(names("bearings", tmp_path)) == 40
    assert "294.mat" in names("bearings", tmp_path, location="fault")
    by_size = names("bearings", tmp_path, location="fault", domains="bearing")
    assert len(by_size) == 72
    assert "97.mat" not in by_size


def test_what_is_there_is_taken(tmp_path):
    assert names("hhar", tmp_path) == ["Activity recognition exp.zip"]
    assert names("mimic3", tmp_path)[3] == "CHARTEVENTS.csv.gz"
    (tmp_path / "Phones_accelerometer.csv").touch()
    (tmp_path / "CHARTEVENTS.csv").touch()
    assert names("hhar", tmp_path) == ["Phones_accelerometer.csv"]
    assert names("mimic3", tmp_path) == [
        "PATIENTS.csv.gz", "ADMISSIONS.csv.gz", "ICUSTAYS.csv.gz", "CHARTEVENTS.csv"
    ]  # fmt: skip


def test_simulated_files_are_plain(tmp_path):
    assert names("hhar", tmp_path, "simulated") == ["Phones_accelerometer.csv"]
    assert names("mimic3", tmp_path, "simulated")[0] == "PATIENTS.csv"


@pytest.mark.parametrize(
    ("raw", "source", "one"), [("a/b.csv", "own", True), ("a", "own", False), ("a", "simulated", True)]
)
def test_own_recordings_may_be_one_file(raw, source, one):
    assert KINDS["table"].in_one_file({"raw": raw, "source": source}) is one
    assert not KINDS["hhar"].in_one_file({"raw": raw, "source": source})


def test_options_that_a_data_set_implies():
    """More recordings are simulated where more are prepared; a table's domains are those of its entry."""
    bearings, table = KINDS["bearings"], KINDS["table"]
    assert bearings.arguments("simulate", {"simulate": {"seconds": 2}}) == {"seconds": 2}
    for prepare in ({"location": "fault"}, {"recordings": "own.csv"}):
        assert bearings.arguments("simulate", {"prepare": prepare}) == {"location": "both"}
    entry = {"domains": {"A": {"user": 1}}, "prepare": {"window": 8}}
    assert table.arguments("prepare", entry) == {"window": 8, "domains": {"A": {"user": 1}}}
    given = arguments("prepare", "table", f"--domains={json.dumps(entry['domains'])}")
    assert given["domains"] == entry["domains"]


def test_only_missing_files_are_fetched_where_there_are_many():
    assert KINDS["bearings"].fetch_only(["105.mat", "97.mat"]) == {"numbers": "97,105"}
    assert KINDS["hhar"].fetch_only(["Activity recognition exp.zip"]) == {}


def test_a_value_without_a_reader_is_a_mistake_of_the_registry():
    from tsdg.commands.options import reading

    with pytest.raises(ValueError, match="no option reads"):
        argparse.ArgumentParser().add_argument("--x", **reading({"type": "null"}))
