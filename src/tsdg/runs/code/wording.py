"""The text of a definition, which says what it does and not how it is written.

It leaves out docstrings, comments, layout, annotations, imports, the words of errors and logs with what is
only computed for them, and the names of local variables; where it names another definition it refers to that,
whatever its name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from tsdg.runs.code.definitions import (
    COMPREHENSIONS,
    EXCEPTIONS,
    Definition,
    External,
    Imported,
    Modules,
    bound,
    imported,
    is_idle,
    modules_imported,
)  # fmt: skip

_SKIPPED = {"ctx", "annotation", "returns", "type_comment", "kind", "type_params", "simple"}
_BY_NAME = {"getattr", "hasattr", "setattr", "delattr"}
_BY_NAMES = {"operator.attrgetter", "operator.methodcaller"}
_OF_OBJECT = {"vars", "dir"}  # without an argument, of the scope
_SCOPES = {"globals", "locals", "vars", "dir", "eval", "exec"}
_ENDS = {"sys.exit"}
_LOGS = {"warnings.warn", "logging"}
_STREAMS = {"sys.stdout", "sys.stderr"}
# Builtins of which a call changes nothing.
_PURE = {
    "abs", "all", "any", "bool", "dict", "enumerate", "float", "format", "int", "len", "list", "map", "max",
    "min", "range", "repr", "round", "set", "sorted", "str", "sum", "tuple", "type", "zip",
}  # fmt: skip
_KINDS = ("ClassVar", "InitVar", "KW_ONLY")  # annotations of a dataclass that make no field


class Attribute(NamedTuple):
    """A private attribute; of which class, where that is known."""

    name: str
    owner: Definition | None


class Text(NamedTuple):
    """What a definition does.

    Attributes
    ----------
    words : str
        With a gap for each reference.
    references : list of Definition, Imported or Attribute
        An `Imported` is a module as a value, any name of which may be used.
    attributes : set of str
        Names of the attributes that it reads or sets.
    imports : list of Imported
        What it imports when it is called.
    dynamic : set of Definition or None
        Classes of which it reads attributes by names that only a run knows; None for objects of any class.
    """

    words: str
    references: list[Definition | Imported | Attribute]
    attributes: set[str]
    imports: list[Imported]
    dynamic: set[Definition | None]


def is_private(name: str) -> bool:
    """Whether a name is private, so that it may be changed together with all that use it."""
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


class Wording:
    """Texts of definitions; of a class without its members."""

    def __init__(self, modules: Modules):
        self.modules = modules
        self._texts: dict[Definition, Text] = {}

    def __getitem__(self, definition: Definition) -> Text:
        if definition not in self._texts:
            self._texts[definition] = _Writer(self.modules, definition).text()
        return self._texts[definition]


class _Writer:
    """Writes the text of one definition."""

    def __init__(self, modules: Modules, definition: Definition):
        self.modules, self.definition = modules, definition
        self.words: list[str] = []
        self.references: list[Definition | Imported | Attribute] = []
        self.attributes: set[str] = set()
        self.imports: list[Imported] = []
        self.dynamic: set[Definition | None] = set()
        # Scopes from the outermost in; names of a class are seen in its own scope alone.
        self.scopes: list[tuple[dict[str, Any], bool]] = []
        self.locals = 0
        self.silent: list[set[str]] = []  # local variables of each function that only errors and logs use
        self.writers: dict[type, Callable[[Any], None]] = {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Call: self._call,
            ast.Expr: self._expression,
            ast.Raise: self._raise,
            ast.Assert: lambda node: self._put("(Assert ", node.test, ")"),
            ast.Assign: self._assign,
            ast.AugAssign: self._assign,
            ast.AnnAssign: self._annotated,
            ast.FunctionDef: self._function,
            ast.AsyncFunctionDef: self._function,
            ast.Lambda: self._function,
            ast.ClassDef: self._inner_class,
            ast.Import: self._import,
            ast.ImportFrom: self._import,
            ast.Global: lambda node: None,
            ast.Nonlocal: lambda node: None,
            **dict.fromkeys(COMPREHENSIONS, self._comprehension),
        }

    def text(self) -> Text:
        owner = self.definition.owner
        if owner:
            of_class = {name: Attribute(name, owner) for name in owner.body.members}
            if len(self.definition.nodes) == 1:
                of_class.pop(self.definition.name, None)  # `x = x` takes the module's
            self.scopes.append((of_class, True))
        if self.definition.is_class and not owner:
            self._class()
        else:
            self._put(self.definition.nodes)
        return Text("".join(self.words), self.references, self.attributes, self.imports, self.dynamic)

    def _put(self, *values: Any) -> None:
        """Write words, nodes and lists of nodes."""
        for value in values:
            if isinstance(value, str):
                self.words.append(value)
            elif isinstance(value, list):
                self.words.append("[")
                for item in value:
                    before = len(self.words)
                    if not is_idle(item):
                        self._item(item)
                    if len(self.words) > before:
                        self.words.append(" ")
                self.words.append("]")
            else:
                self._item(value)

    def _item(self, value: Any) -> None:
        if not isinstance(value, ast.AST):
            self.words.append(repr(value))
        elif writer := self.writers.get(type(value)):
            writer(value)
        else:
            self._plain(value)

    def _plain(self, node: ast.AST) -> None:
        """Write a node field by field, alike in all versions of Python."""
        self.words.append(f"({type(node).__name__}")
        for name, value in ast.iter_fields(node):
            if name in _SKIPPED or value is None or value == []:
                continue
            self.words.append(f" {name}=")
            if isinstance(value, str):
                self._put(self._label(value) if name in ("name", "rest") else repr(value))
            else:
                self._put(value if isinstance(value, ast.AST | list) else repr(value))
        if isinstance(node, ast.MatchClass):
            self.attributes.update(node.kwd_attrs)
        self.words.append(")")

    # Names

    def _meaning(self, name: str, *, label: bool = True) -> Any:
        """The label of a local name, or what a global one means; None for a builtin name.

        A local name gets its label when it is written first; before, and without `label`, it is empty.
        """
        for place in reversed(range(len(self.scopes))):
            scope, of_class = self.scopes[place]
            if name in scope and (not of_class or place == len(self.scopes) - 1):
                if scope[name] is None and label:
                    scope[name] = f"%{self.locals}"
                    self.locals += 1
                found = scope[name] or ""
                return self.modules.target(found) if isinstance(found, Imported) else found
        return self.modules.named(self.definition.module, name)

    def _label(self, name: str) -> str:
        meaning = self._meaning(name)
        return meaning if isinstance(meaning, str) else repr(name)

    def _name(self, node: ast.Name) -> None:
        self._refer(self._meaning(node.id), node.id)

    def _refer(self, meaning: Any, name: str) -> None:
        if meaning is None:
            self._put(name)
        elif isinstance(meaning, str):
            self._put(meaning)
        elif isinstance(meaning, External):
            self._put(f"<{meaning.name}>")
            if meaning.name == "sys.modules":
                self.references.append(Imported(self.definition.module.name))
        elif isinstance(meaning, Attribute):
            self._put("(class")
            self._attribute_name(*meaning)
            self._put(")")
        elif isinstance(meaning, Definition) and meaning.shared:
            if meaning.nodes != self.definition.nodes:
                self._reference(meaning)
            self._put(repr(name))
        else:
            self._reference(meaning)

    def _reference(self, to: Definition | Imported | Attribute) -> None:
        self.references.append(to)
        self.words.append("\0")

    def _attribute(self, node: ast.Attribute) -> None:
        names, value = [node.attr], node.value
        while isinstance(value, ast.Attribute):
            names.append(value.attr)
            value = value.value
        meaning = self._meaning(value.id) if isinstance(value, ast.Name) else None
        root = value.id if isinstance(value, ast.Name) else ""
        while names and isinstance(meaning, Imported | External):
            root = names.pop()
            meaning = self.modules.attribute(meaning, root)
        self._put("(." * len(names))
        if isinstance(value, ast.Name):
            self._refer(meaning, root)
        else:
            self._put(value)
        owner = self._owner(value)
        for name in reversed(names):
            self._attribute_name(name, owner)
            self._put(")")
            owner = None

    def _owner(self, node: ast.expr) -> Definition | None:
        """The class of an object, where it is that of the method."""
        made = isinstance(node, ast.Call)
        name = node.func if isinstance(node, ast.Call) else node
        names = ("cls", "super") if made else ("cls", "self")
        return self.definition.owner if isinstance(name, ast.Name) and name.id in names else None

    def _attribute_name(self, name: str, owner: Definition | None) -> None:
        if is_private(name):
            self._put(" ")
            self._reference(Attribute(name, owner))
        else:
            self._put(f" {name}")
            self.attributes.add(name)

    # Calls

    def _call(self, node: ast.Call) -> None:
        meaning = self._value_meaning(node.func)
        if self._ends(node):
            self._put("(", node.func, ")")
            return
        builtin = node.func.id if isinstance(node.func, ast.Name) and meaning is None else ""
        if builtin in _BY_NAME and node.args:
            self._by_name(node.args[1:2], node.args[0])
        elif isinstance(meaning, External) and meaning.name in _BY_NAMES:
            self._by_name(node.args)
        elif builtin in _OF_OBJECT and node.args:
            self._by_name([node.func], node.args[0])
        elif builtin in _SCOPES:
            self.dynamic.add(None)
            self.references.append(Imported(self.definition.module.name))
            for name in sorted({name for scope, _ in self.scopes for name in scope}):
                self._put(f"{name}=", self._label(name))
        elif isinstance(meaning, External) and meaning.name == "importlib.import_module":
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and self.modules.module(str(first.value)):
                self.references.append(Imported(str(first.value)))
        self._plain(node)

    def _by_name(self, names: list[ast.expr], of: ast.expr | None = None) -> None:
        """Take note of attributes that are read by names that are texts, of an object or of any."""
        for name in names:
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                self.attributes.update(name.value.split("."))
            elif of is None or not isinstance(self._value_meaning(of), Imported | External):
                self.dynamic.add(self._owner(of) if of else None)

    def _value_meaning(self, node: ast.expr) -> Any:
        """What a name means, alone or with attributes of modules."""
        if isinstance(node, ast.Name):
            return self._meaning(node.id, label=False)
        if isinstance(node, ast.Attribute):
            of = self._value_meaning(node.value)
            if isinstance(of, Imported | External):
                return self.modules.attribute(of, node.attr)
        return None

    def _ends(self, call: ast.Call) -> bool:
        """Whether a call makes an error, or ends the program, so that its arguments are words."""
        meaning = self._value_meaning(call.func)
        if isinstance(meaning, Definition):
            return meaning.is_class and self.modules.family(meaning).is_exception
        if isinstance(meaning, External):
            return meaning.name in _ENDS
        return meaning is None and isinstance(call.func, ast.Name) and call.func.id in EXCEPTIONS

    # Statements

    def _expression(self, node: ast.Expr) -> None:
        """An expression that is a statement; of one that only tells, what the telling calls."""
        if isinstance(node.value, ast.Call) and self._tells(node.value):
            self._put(*self._called([*node.value.args, *node.value.keywords]))
        else:
            self._plain(node)

    def _assign(self, node: ast.Assign | ast.AugAssign) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        silent = self.silent[-1] if self.silent else set()
        if all(isinstance(target, ast.Name) and target.id in silent for target in targets):
            self._put(*self._called([node.value]))
        else:
            self._plain(node)

    def _called(self, nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
        """What of expressions may change anything: calls of all but a few builtins."""
        for node in nodes:
            function = node.func if isinstance(node, ast.Call) else None
            is_pure = (
                isinstance(function, ast.Name)
                and function.id in _PURE
                and self._meaning(function.id, label=False) is None
            ) or (isinstance(function, ast.Attribute) and isinstance(function.value, ast.Constant))
            if isinstance(node, ast.Call | ast.NamedExpr | ast.Await) and not is_pure:
                yield node
            else:
                yield from self._called(ast.iter_child_nodes(node))

    def _heard(self, body: Iterable[ast.AST]) -> set[str]:
        """Names that statements read otherwise than for errors and logs."""
        names: set[str] = set()
        todo = list(body)
        while todo:
            node = todo.pop()
            if isinstance(node, ast.Name):
                if isinstance(node.ctx, ast.Load):
                    names.add(node.id)
            elif isinstance(node, ast.Raise):
                todo += [node.exc.func if isinstance(node.exc, ast.Call) else node.exc] if node.exc else []
            elif isinstance(node, ast.Assert):
                todo.append(node.test)
            elif isinstance(node, ast.Call) and self._ends(node):
                todo.append(node.func)
            elif (
                isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _OF_OBJECT
            ):
                todo += node.args or [node.func]
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and self._tells(node.value):
                todo += self._called([*node.value.args, *node.value.keywords])
            else:
                todo += ast.iter_child_nodes(node)
        return names

    def _tells(self, call: ast.Call) -> bool:
        meaning = self._value_meaning(call.func)
        if isinstance(meaning, External):
            return bool({meaning.name, meaning.name.partition(".")[0]} & _LOGS)
        if isinstance(call.func, ast.Name):
            files = [self._value_meaning(key.value) for key in call.keywords if key.arg == "file"]
            to_screen = all(isinstance(file, External) and file.name in _STREAMS for file in files)
            return call.func.id == "print" and meaning is None and to_screen
        if not isinstance(call.func, ast.Attribute):
            return False
        of = self._value_meaning(call.func.value)
        if call.func.attr == "add_note":
            return True
        if isinstance(of, Definition) and isinstance(made := of.nodes[0], ast.Call):
            maker = self.modules.meaning(made.func, of.module)
            return isinstance(maker, External) and maker.name == "logging.getLogger"
        return False

    def _raise(self, node: ast.Raise) -> None:
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        self._put("(Raise ", *([raised] if raised else []), ")")

    def _annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assign(ast.Assign(targets=[node.target], value=node.value))

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.imports += modules_imported(node, self.definition.module.package)
        for name, target in imported(node, self.definition.module.package):
            is_known = self.scopes and isinstance(self.scopes[-1][0].get(name), Imported)
            found = self.modules.target(target)
            if not is_known and isinstance(found, Definition | Imported):
                self._reference(found)  # one of several that the name may mean

    # Scopes

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        self._put(f"({type(node).__name__} ")
        if not isinstance(node, ast.Lambda):
            if node not in self.definition.nodes:
                self._put(self._label(node.name))
            self._put(node.decorator_list)
        self._plain(node.args)
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        inside = bound(body)
        given = node.args
        names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
        names += [a.arg for a in (given.vararg, given.kwarg) if a]
        scope: dict[str, Any] = dict.fromkeys(sorted(inside.names))
        scope |= {name: repr(name) for name in names}
        for name, statement in inside.imports.items():
            if name not in scope:
                scope[name] = dict(imported(statement, self.definition.module.package))[name]
        self.scopes.append((scope, False))
        heard = self._heard(body)
        self.silent.append(inside.names - heard - set(names) if heard.isdisjoint(_SCOPES) else set())
        self._put(body, ")")
        self.silent.pop()
        self.scopes.pop()

    def _comprehension(self, node: Any) -> None:
        self._put(f"({type(node).__name__} ", node.generators[0].iter)
        targets = bound([generator.target for generator in node.generators]).names
        self.scopes.append((dict.fromkeys(sorted(targets)), False))
        for place, generator in enumerate(node.generators):
            self._put(" for", "" if not generator.is_async else " async", generator.target)
            self._put(*([generator.iter] if place else []), generator.ifs)
        for name in ("elt", "key", "value"):
            if part := getattr(node, name, None):
                self._put(" ", part)
        self._put(")")
        self.scopes.pop()

    def _inner_class(self, node: ast.ClassDef) -> None:
        """A class that is no definition of its own: all of it."""
        self._put(f"(ClassDef {self._label(node.name)}", node.decorator_list, node.bases, node.keywords)
        names = bound(node.body).names
        self.scopes.append(({name: repr(name) for name in names}, True))
        self._put(node.body, ")")
        self.scopes.pop()

    def _class(self) -> None:
        family = self.modules.family(self.definition)
        for node in self.definition.nodes:
            if not isinstance(node, ast.ClassDef):
                self._put(node)
                continue
            self._put("(ClassDef", node.decorator_list, node.bases, node.keywords)
        body = self.definition.body
        self.scopes.append(({name: Attribute(name, self.definition) for name in body.members}, True))
        if family.is_open:
            self._put(" ".join(body.members))
        if family.has_fields:
            for statement in body.fields:
                annotation = ast.unparse(statement.annotation)
                if not family.is_open:
                    annotation = " ".join(word for word in _KINDS if word in annotation)
                self._put(f" {ast.unparse(statement.target)}:{annotation}")
                self._put(*(["=", statement.value] if statement.value else []))
        self._put(body.rest, ")")
