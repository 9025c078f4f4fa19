"""The definitions of Python modules, and what names mean in them. Modules are parsed, never imported."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.util import resolve_name
from pathlib import Path
from pkgutil import resolve_name as resolve
from typing import Any, NamedTuple

from tsdg.runs.code.places import file_of

EXCEPTIONS = {
    name for name, of in vars(builtins).items() if isinstance(of, type) and issubclass(of, BaseException)
}
# Base classes from outside that call nothing of a subclass but its special methods. PyTorch's call only what
# they have themselves. Any other may call and read everything, in its order, annotations included.
CALLING = "torch."
INERT = {"object", "abc.ABC", "typing.Generic", "typing.Protocol", "typing.NamedTuple", *EXCEPTIONS}

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Imported(NamedTuple):
    """What an import binds: a module, or a name of one."""

    module: str
    name: str | None = None


class External(NamedTuple):
    """What no module that is looked at defines, by its absolute name."""

    name: str


@dataclass(eq=False, repr=False)
class Definition:
    """What a name of a module or of a class stands for.

    Attributes
    ----------
    name : str
    module : Module
    nodes : list of ast.AST
        The statements that bind the name, in their order; of a plain assignment the value.
    owner : Definition, optional
        The class that it is a member of.
    shared : bool
        Whether a statement binds more names, so that a reference has to say which it means.
    """

    name: str
    module: Module
    nodes: list[ast.AST] = field(default_factory=list)
    owner: Definition | None = None
    shared: bool = False

    @property
    def is_class(self) -> bool:
        return isinstance(self.nodes[0], ast.ClassDef)

    @property
    def decorators(self) -> list[ast.expr]:
        return [d for node in self.nodes for d in getattr(node, "decorator_list", ())]

    @cached_property
    def body(self) -> Body:
        """What is in a class."""
        body = Body()
        for node in self.nodes:
            for statement in live(getattr(node, "body", ())):
                bound = _bindings(statement)
                if isinstance(statement, ast.AnnAssign):
                    body.fields.append(statement)
                elif bound is None:
                    body.rest.append(statement)
                for name, part in bound or ():
                    known = body.members.setdefault(name, Definition(name, self.module, owner=self))
                    known.nodes.append(part)
        return body


@dataclass
class Body:
    """Members of a class by name, its annotated names, and the statements that define nothing."""

    members: dict[str, Definition] = field(default_factory=dict)
    fields: list[ast.AnnAssign] = field(default_factory=list)
    rest: list[ast.stmt] = field(default_factory=list)


class Family(NamedTuple):
    """Where a class comes from: ancestors that are defined here, and the names of those from outside."""

    ancestors: tuple[Definition, ...]
    outside: frozenset[str]

    @property
    def is_exception(self) -> bool:
        return not self.outside.isdisjoint(EXCEPTIONS)

    @property
    def is_open(self) -> bool:
        """Whether a class from outside may use all of it."""
        return any(not name.startswith(CALLING) for name in self.outside - INERT)

    @property
    def has_fields(self) -> bool:
        """Whether annotations make fields."""
        decorated = any(ancestor.decorators for ancestor in self.ancestors)
        return decorated or self.is_open or "typing.NamedTuple" in self.outside


class Module:
    """A module's names, and what importing it does beside defining them.

    Attributes
    ----------
    names : dict of str to Definition or Imported
    stars : list of str
        Modules of which it imports all names.
    imports : list of Imported
    effects : list of Definition
        Statements that define nothing.
    """

    def __init__(self, name: str, source: str, *, is_package: bool):
        self.name = name
        self.package = name if is_package else name.rpartition(".")[0]
        self.names: dict[str, Definition | Imported] = {}
        self.stars: list[str] = []
        self.imports: list[Imported] = []
        self.effects: list[Definition] = []
        self._imported: dict[str, list[ast.AST]] = {}
        for statement in live(_parsed(source).body):
            if isinstance(statement, ast.Import | ast.ImportFrom):
                self._import(statement)
                continue
            bound = _bindings(statement)
            if bound is None:
                self._effect(statement)
            for bound_name, part in bound or ():
                self._define(bound_name, part)

    def _define(self, name: str, part: ast.AST) -> None:
        known = self.names.get(name)
        if not isinstance(known, Definition):
            known = self.names[name] = Definition(name, self, self._imported.get(name, [])[:])
        known.nodes.append(part)
        known.shared |= isinstance(part, ast.stmt) and not isinstance(
            part, (*FUNCTIONS, ast.ClassDef, ast.AugAssign)
        )

    def _import(self, statement: ast.Import | ast.ImportFrom) -> None:
        self.imports += modules_imported(statement, self.package)
        for name, target in imported(statement, self.package):
            if name == "*":
                self.stars.append(target.module)
            else:
                self.names[name] = target
                self._imported[name] = [statement]

    def _effect(self, statement: ast.stmt) -> None:
        self.effects.append(Definition("", self, [statement]))
        inside = bound([statement])
        for name in inside.names | set(inside.imports):
            self._define(name, statement)
        for imports in inside.imports.values():
            self.imports += modules_imported(imports, self.package)


class Bound(NamedTuple):
    """Names that statements bind in their scope, the imports among them, and names of scopes outside."""

    names: set[str]
    imports: dict[str, ast.Import | ast.ImportFrom]
    outside: set[str]


def bound(nodes: Iterable[ast.AST]) -> Bound:
    found = Bound(set(), {}, set())
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                found.names.add(node.id)
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            found.names.add(node.name)
            todo += node.decorator_list
        elif isinstance(node, COMPREHENSIONS):
            todo += [inner.target for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr)]
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.imports.update({name: node for name, _ in imported(node, "")})
        elif isinstance(node, ast.Global | ast.Nonlocal):
            found.outside.update(node.names)
        elif not isinstance(node, ast.Lambda):
            for key in ("name", "rest"):  # of an exception, of a pattern
                if isinstance(name := getattr(node, key, None), str):
                    found.names.add(name)
            todo += ast.iter_child_nodes(node)
    return Bound(found.names - found.outside, found.imports, found.outside)


def imported(statement: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, Imported]]:
    """Names that an import binds in a module of a package, and what each stands for."""
    for alias in statement.names:
        if isinstance(statement, ast.Import):
            first = alias.name.partition(".")[0]
            yield alias.asname or first, Imported(alias.name if alias.asname else first)
        else:
            module = "." * statement.level + (statement.module or "")
            if statement.level and package:
                module = resolve_name(module, package)
            yield alias.asname or alias.name, Imported(module, alias.name)


def modules_imported(statement: ast.Import | ast.ImportFrom, package: str) -> list[Imported]:
    """Modules that an import runs; of a name imported from one, it may be a module or not."""
    if isinstance(statement, ast.Import):
        return [Imported(alias.name) for alias in statement.names]
    return [target for _, target in imported(statement, package)]


@cache
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)


def live(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a module or a class, but those that do nothing there."""
    for statement in body:
        test = ast.unparse(statement.test) if isinstance(statement, ast.If) else ""
        if isinstance(statement, ast.If) and test in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            yield from (s for s in statement.body if isinstance(s, ast.Import | ast.ImportFrom))
            yield from live(statement.orelse)
        elif test != "__name__ == '__main__'" and not is_idle(statement):
            yield statement


def is_idle(node: object) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _bindings(statement: ast.stmt) -> list[tuple[str, ast.AST]] | None:
    """Names that a statement defines, and what of it; None where it does anything else."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return [(statement.name, statement)]
    if isinstance(statement, ast.AugAssign):
        return [(statement.target.id, statement)] if isinstance(statement.target, ast.Name) else None
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return [(statement.target.id, statement.value)] if statement.value else []
    if type(statement).__name__ == "TypeAlias":
        return [(statement.name.id, statement.value)]  # type: ignore[attr-defined]
    if not isinstance(statement, ast.Assign):
        return None
    bound: list[tuple[str, ast.AST]] = []
    for target in statement.targets:
        targets = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        if not all(isinstance(name, ast.Name) for name in targets):
            return None
        names = [name.id for name in targets if isinstance(name, ast.Name)]
        value = statement.value
        if isinstance(target, ast.Name):
            bound.append((target.id, value))
        elif (
            isinstance(value, ast.Tuple | ast.List)
            and len(value.elts) == len(names)
            and not any(isinstance(element, ast.Starred) for element in value.elts)
        ):
            bound += zip(names, value.elts, strict=True)
        else:
            bound += [(name, statement) for name in names]
    return bound


class Modules:
    """Modules of some packages, what their names mean, and the texts of their definitions.

    Parameters
    ----------
    packages : set of str
        The others are outside.
    find : callable
        The file of a module, or None.
    beside : set of str
        Definitions that are taken for outside, as ``module:name``.
    """

    def __init__(
        self, packages: Set[str], find: Callable[[str], Path | None], beside: Set[str] = frozenset()
    ):
        self.packages, self.find, self.beside = packages, find, beside
        self._modules: dict[str, Module | None] = {}
        self._families: dict[Definition, Family] = {}

    def module(self, name: str) -> Module | None:
        """A module by name; None where it is outside."""
        if name.partition(".")[0] not in self.packages:
            return None
        if name not in self._modules:
            path = self.find(name)
            self._modules[name] = path and Module(  # type: ignore[assignment]
                name, path.read_text(encoding="utf-8"), is_package=path.name == "__init__.py"
            )
        return self._modules[name]

    def named(self, module: Module, name: str, seen: tuple = ()) -> Definition | Imported | External | None:
        """What a module's global name means; None for a builtin name, or one that is unknown."""
        if (module, name) in seen:  # a package that imports its own module
            return None
        seen = (*seen, (module, name))
        found = module.names.get(name)
        if isinstance(found, Imported):
            return self.target(found, seen)
        if found is not None:
            return External(f"beside {name}") if f"{module.name}:{name}" in self.beside else found
        for star in reversed(module.stars):
            inside = self.module(star)
            meaning = self.named(inside, name, seen) if inside else None
            if meaning is not None:
                return meaning
        return None

    def target(self, imported: Imported, seen: tuple = ()) -> Definition | Imported | External:
        """What an import means: a definition, a module, or something outside."""
        module = self.module(imported.module)
        if imported.name is None:
            return imported if module else External(imported.module)
        dotted = f"{imported.module}.{imported.name}"
        if module is None:
            return External(dotted)
        found = self.named(module, imported.name, seen)
        if found is not None:
            return found
        if self.module(dotted):
            return Imported(dotted)
        return self.named(module, "__getattr__", seen) or External(dotted)

    def family(self, definition: Definition) -> Family:
        """Where a class comes from, itself first."""
        if definition not in self._families:
            self._families[definition] = Family((definition,), frozenset())  # should it be its own ancestor
            ancestors, outside = [definition], set[str]()
            for node in definition.nodes:
                for base in getattr(node, "bases", ()):
                    of = self.meaning(
                        base.value if isinstance(base, ast.Subscript) else base, definition.module
                    )
                    if isinstance(of, Definition) and of.is_class:
                        family = self.family(of)
                        ancestors += family.ancestors
                        outside |= family.outside
                    else:
                        outside.add(of.name if isinstance(of, External) else ast.unparse(base))
                outside |= {"metaclass" for key in getattr(node, "keywords", ()) if key.arg == "metaclass"}
            self._families[definition] = Family(tuple(dict.fromkeys(ancestors)), frozenset(outside))
        return self._families[definition]

    def registers(self, definition: Definition) -> bool:
        """Whether defining it runs code of these modules, which may keep it somewhere."""
        heads = (d.func if isinstance(d, ast.Call) else d for d in definition.decorators)
        if any(isinstance(self.meaning(head, definition.module), Definition) for head in heads):
            return True
        if not definition.is_class:
            return False
        family = self.family(definition)
        return "metaclass" in family.outside or any(
            "__init_subclass__" in ancestor.body.members for ancestor in family.ancestors[1:]
        )

    def meaning(self, node: ast.expr, module: Module) -> Any:
        """What a name with attributes means outside of functions: of an object's attribute, the object."""
        if isinstance(node, ast.Name):
            return self.named(module, node.id)
        if isinstance(node, ast.Attribute):
            of = self.meaning(node.value, module)
            return self.attribute(of, node.attr) if isinstance(of, Imported | External) else of
        return None

    def attribute(self, of: Imported | External, name: str) -> Definition | Imported | External:
        """What an attribute of a module, or of something outside, means."""
        if isinstance(of, External):
            return External(f"{of.name}.{name}")
        return self.target(Imported(of.module, name))


def called_from_outside(family: Family) -> set[str]:
    """Names of members that a class from outside may call, beside special ones."""
    return {name for cls in family.outside if cls.startswith(CALLING) for name in _members(cls)}


@cache
def _members(name: str) -> set[str]:
    """Names of the members of a class of PyTorch, as its modules say without being imported."""
    module, _, cls = name.rpartition(".")
    modules = _pytorch()
    found = modules.target(Imported(module, cls))
    if not isinstance(found, Definition) or not found.is_class:
        return set(dir(resolve(name)))  # it is not written in Python
    bodies = [ancestor.body for ancestor in modules.family(found).ancestors]
    fields = {ast.unparse(field.target) for body in bodies for field in body.fields}
    return fields.union(*(body.members for body in bodies))


@cache
def _pytorch() -> Modules:
    return Modules({CALLING.rstrip(".")}, file_of)
