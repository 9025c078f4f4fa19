"""`params.yaml`: read, overridden and validated; an error names its place and the nearest valid spelling."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from copy import deepcopy
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from tsdg.data.kinds import KINDS
from tsdg.errors import InputError, all_of, nearest
from tsdg.study import backbones, figure_kinds, selection
from tsdg.study.metric import METRICS

Tree = dict[str, Any]  # a mapping of YAML


def read(path: Path) -> Tree:
    """What a file of parameters holds, not validated yet.

    Raises
    ------
    InputError
        The file is absent, no YAML of a study, or holds overrides.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
        params = yaml.load(text, _Loader)
    except FileNotFoundError:
        raise InputError(
            f"{path}: not found; work in the project's folder, or name the file with --params"
        ) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InputError(
            f"{path}: not readable as YAML: line {line} is not UTF-8; save it as UTF-8"
        ) from None
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        raise InputError(f"{path}: not readable as YAML: line {line}: {error.reason}") from None
    except RecursionError:
        raise InputError(f"{path}: not readable as YAML: it is nested too deeply") from None
    except (OSError, yaml.YAMLError) as error:
        words = " ".join(str(error).replace('in "<unicode string>", ', "in ").split())
        raise InputError(f"{path}: not readable as YAML: {words}") from None
    if not isinstance(params, dict):
        raise InputError(f"{path}: should hold keys such as `datasets:` and `variants:`, but does not")
    if "set" in params:
        raise InputError(
            f"{path}: set: overrides are given on the command line (`snakemake --config`, `tsdg --set`); "
            "here, write the values in their places"
        )
    return params


def value_of(text: str) -> Any:
    """A value written as YAML.

    Raises
    ------
    ValueError
        It is none.
    """
    try:
        return yaml.load(text, _Loader)
    except (yaml.YAMLError, RecursionError):
        raise ValueError("the value is not valid YAML") from None


def resolved(params: Mapping[str, Any], overrides: Iterable[str] = ()) -> Tree:
    """Parameters with their overrides, less what is null, validated against the schema.

    Raises
    ------
    InputError
        If anything is unknown, misspelt, or of the wrong kind.
    """
    tree = deepcopy(dict(params))
    # The protocol first: settings given alone go to it.
    for assignment in sorted(overrides, key=lambda text: not text.startswith("protocol=")):
        _assign(tree, assignment)
    tree = _without_null(tree)
    _validate(tree)
    return tree


def give(tree: Tree, values: Mapping[str, Any]) -> None:
    """Put what the command line gives into a study: mappings merge, all else replaces what is there.

    What the chosen protocol sets would hide it: a `checkpoint` goes to the protocol too.

    Raises
    ------
    InputError
        The protocol sets what is given for all.
    """
    update(tree, values)
    protocol, training = _chosen(tree), values.get("training")
    for name in training if isinstance(training, Mapping) else ():
        if name in protocol:
            chosen = tree["protocol"]
            raise InputError(f"training.{name}: protocol {chosen} sets it; set protocols.{chosen}.{name}")
    if "checkpoint" in values and "checkpoint" in protocol:
        update(tree, {"protocols": {tree["protocol"]: {"checkpoint": values["checkpoint"]}}})


def update(tree: Tree, other: Mapping[str, Any]) -> None:
    """Put one tree over another: mappings merge, all else replaces what is there."""
    for key, value in other.items():
        if isinstance(value, Mapping):
            if not isinstance(tree.get(key), dict):
                tree[key] = {}
            update(tree[key], value)
        else:
            tree[key] = deepcopy(value)


@cache
def schema() -> Tree:
    """JSON schema of `params.yaml`: the file beside this one, with what its registries add.

    These are the kinds of data sets, the backbones, the metrics, what may select and the kinds of figures.
    """
    tree = yaml.safe_load((files("tsdg.study") / "params.schema.yaml").read_text(encoding="utf-8"))
    tree["$defs"] |= {
        "metric": {"enum": list(METRICS)},
        "selection": {"enum": selection.NAMES},
        "figure": figure_kinds.schema(),
        "backbone": backbones.schema(),
        "data_backbone": backbones.schema(auto=True),
    }
    recorded = tree["$defs"]["recorded"]
    recorded["properties"]["kind"] = {"enum": list(KINDS)}
    recorded["allOf"] = [
        {
            "if": {"required": ["kind"], "properties": {"kind": {"const": name}}},
            "then": kind.entry_schema({"$ref": f"#/$defs/{'data_backbone' if kind.own else 'backbone'}"}),
        }
        for name, kind in KINDS.items()
    ]
    return tree


def _assign(tree: Tree, assignment: str) -> None:
    key, equals, text = assignment.partition("=")
    if not equals or not key:
        raise InputError(f"override {assignment!r}: write key=value, e.g. iterations=100")
    try:
        value = value_of(text)
    except ValueError as error:
        raise InputError(f"override {assignment!r}: {error}") from None
    path = key.split(".")
    sections = schema()["properties"]
    if len(path) == 1 and key not in sections:
        settings = sections["protocols"]["additionalProperties"]["properties"]
        if key not in settings:
            meant = nearest(key, [*settings, *sections])
            raise InputError(
                f"override {assignment!r}: unknown key {key!r}{meant}; alone stand {', '.join(settings)}"
            )
        path = ["protocols", str(tree.get("protocol")), path[0]]
    whole = tree
    for depth, part in enumerate(path[:-1]):
        if depth == 2 and part not in tree:
            tree[part] = {}
        if not isinstance(tree.get(part), dict):
            place = ".".join(path[: depth + 1])
            there = [k for k, v in tree.items() if isinstance(v, dict)]
            raise InputError(f"override {assignment!r}: there is no {place}{nearest(part, there)}")
        tree = tree[part]
    for part in reversed(path):
        value = {part: value}
    give(whole, value)


def _chosen(tree: Tree) -> Mapping[str, Any]:
    """What the chosen protocol sets, of a tree that is not validated."""
    protocols, name = tree.get("protocols"), tree.get("protocol")
    found = protocols.get(name) if isinstance(protocols, dict) and isinstance(name, str) else None
    return found if isinstance(found, dict) else {}


def _without_null(tree: Mapping[str, Any]) -> Tree:
    """The study less the sections, and entries of sections, that are null: so an override takes one away."""
    return {
        key: {name: entry for name, entry in value.items() if entry is not None}
        if isinstance(value, Mapping)
        else value
        for key, value in tree.items()
        if value is not None
    }


class _Loader(yaml.SafeLoader):
    """YAML's safe loader that reads 1e-3 as a number and refuses what readers of YAML take differently."""

    def construct_object(self, node, deep=False):
        try:
            return super().construct_object(node, deep)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise _refused(node, f"no value of kind {node.tag.rpartition(':')[2]}") from None

    def construct_yaml_int(self, node):
        text = self.construct_scalar(node).lstrip("+-")
        if ":" in text or (text.isdigit() and text != "0" and text.startswith("0")):
            raise _refused(
                node, f"the number {text} is read in different ways; write it without leading 0 or colon"
            )
        return super().construct_yaml_int(node)

    def construct_mapping(self, node, deep=False):
        if not isinstance(node, yaml.MappingNode):
            raise _refused(node, "here belong keys and values")
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                raise _refused(key, "the merge key << is not known here; write the keys out")
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for number, (key, (where, _)) in enumerate(zip(keys, node.value, strict=True)):
            if key in keys[:number]:
                raise _refused(where, f"the key {key!r} is given twice")
        return super().construct_mapping(node, deep)


def _refused(node: yaml.Node, why: str) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, why, node.start_mark)


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
)


def _is_number(_checker: object, value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: type(value) is int
    ).redefine("number", _is_number),
)


def _validate(tree: Tree) -> None:
    validator = _Validator(schema())
    errors = sorted(validator.iter_errors(tree), key=lambda error: list(map(str, error.absolute_path)))
    if errors:
        raise all_of(map(_explain, errors))


def _explain(error: jsonschema.ValidationError) -> str:
    """A schema error in words: place, what is wrong, nearest valid spelling."""
    place = ".".join(map(str, error.absolute_path)) or "top level"
    if error.validator == "additionalProperties":
        properties = list(error.schema.get("properties", {}))
        unknown = [key for key in error.instance if key not in properties]
        if "estimator" in unknown and isinstance(method := error.instance.get("method"), str):
            meant = nearest(method, ["estimator"])
            return (
                f"{place}.method: {method!r} fits no class{meant}; a variant with `estimator` has that method"
            )
        words = ", ".join(f"{key!r}{nearest(key, properties)}" for key in unknown)
        why = f" ({error.schema['description']})" if "description" in error.schema else ""
        return f"{place}: unknown key {words}; known are {', '.join(properties)}{why}"
    if error.validator == "enum":
        values = [str(value) for value in error.validator_value]
        return (
            f"{place}: {error.instance!r} is not one of {', '.join(values)}{nearest(error.instance, values)}"
        )
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        return f"{place}: key {', '.join(map(repr, missing))} is missing"
    if error.validator == "type" and error.validator_value == "object":
        return f"{place}: {error.instance!r} should hold keys, such as {place.split('.')[-1]}: {{key: value}}"
    if description := error.schema.get("description"):
        return f"{place}: {error.instance!r} is wrong: {description}"
    return f"{place}: {error.message}"
