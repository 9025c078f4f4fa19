"""What definitions reach: all that can play a part when they run.

A name reaches what it means. An attribute may be any object's: it reaches the members of that name of every
class reached. Importing a module reaches its statements that define nothing. What cannot be seen is a module
imported by a computed name, and a method that only a library calls, of a class that has no base class there.
"""

import ast
from collections.abc import Iterable

from tsdg.runs.code.definitions import Definition, Imported, Module, called_from_outside
from tsdg.runs.code.wording import Attribute, Wording

_NAMES = {"__name__", "__qualname__"}


class Reach:
    """What some definitions reach.

    Attributes
    ----------
    definitions : dict of Definition to None
    classes : dict of Definition to set of str
        Names of the members that are reached whoever uses them.
    modules : dict of str to Module
        Modules as values, of which every definition is reached.
    attributes : set of str
        Names of attributes that are read or set; of private ones only those that are given as text.
    names_count : bool
        Whether names of definitions are read.
    """

    def __init__(self, wording: Wording, roots: Iterable[Definition | Imported]):
        self.wording, self.code = wording, wording.modules
        self.definitions: dict[Definition, None] = {}
        self.classes: dict[Definition, set[str]] = {}
        self.modules: dict[str, Module] = {}
        self.names_count = False
        self.attributes: set[str] = set()
        self._private: set[str] = set()
        self._dynamic: set[Definition | None] = set()
        self._imported: set[str] = set()
        self._todo: list[Definition] = []
        for root in roots:
            self._reach(root)
            if isinstance(root, Definition):
                self._reach_parameters(root)
        self._follow()

    def _reach(self, found: Definition | Imported) -> None:
        if isinstance(found, Definition):
            if found not in self.definitions:
                self.definitions[found] = None
                self._todo.append(found)
        elif found.module not in self.modules and (module := self.code.module(found.module)):
            self.modules[found.module] = module
            self._import(found.module)
            for name in module.names:
                if isinstance(definition := self.code.named(module, name), Definition):
                    self._reach(definition)

    def _reach_parameters(self, root: Definition) -> None:
        """Reach the classes that an entry point says it is given: their objects are made elsewhere."""
        for node in root.nodes:
            if not isinstance(node, ast.FunctionDef):
                continue
            for argument in ast.walk(node.args):
                if isinstance(argument, ast.arg) and argument.annotation is not None:
                    self._reach_classes(root, argument.annotation)

    def _reach_classes(self, of: Definition, annotation: ast.AST) -> None:
        for node in ast.walk(annotation):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                self._reach_classes(of, ast.parse(node.value))
            elif isinstance(node, ast.Name | ast.Attribute):
                found = self.code.meaning(node, of.module)
                if isinstance(found, Definition) and found.is_class:
                    self._reach(found)

    def _follow(self) -> None:
        while self._todo:
            definition = self._todo.pop()
            text = self.wording[definition]
            self._import(definition.module.name)
            for target in text.imports:
                self._import_target(target)
            self.attributes |= text.attributes
            for reference in text.references:
                if isinstance(reference, Attribute):
                    self._private.add(reference.name)
                else:
                    self._reach(reference)
            self._dynamic |= text.dynamic
            if "__dict__" in text.attributes:
                self._dynamic.add(None)
            self.names_count |= not _NAMES.isdisjoint(text.attributes)
            if definition.is_class and not definition.owner:
                self._reach_class(definition)
            if not self._todo:
                self._use()

    def _reach_class(self, definition: Definition) -> None:
        family = self.code.family(definition)
        called = called_from_outside(family)
        self.classes[definition] = {
            name
            for name, member in definition.body.members.items()
            if family.is_open
            or name in called
            or name[:2] == name[-2:] == "__"
            or self.code.registers(member)
        }

    def _use(self) -> None:
        """Reach the members of all classes that something reached may mean."""
        names = self.attributes | self._private
        dynamic = set(self.classes) if None in self._dynamic else self._parts(self._dynamic)
        for cls, always in self.classes.items():
            if cls in dynamic:
                always.update(cls.body.members)
            for name, member in cls.body.members.items():
                if name in always or name in names:
                    self._reach(member)

    def _parts(self, classes: set[Definition | None]) -> set[Definition]:
        """Classes that the objects of some classes, and of their heirs, are made of."""
        families = (self.code.family(cls).ancestors for cls in self.classes)
        return {part for family in families if not classes.isdisjoint(family) for part in family}

    def _import_target(self, target: Imported) -> None:
        self._import(target.module)
        if target.name:
            self._import(f"{target.module}.{target.name}")

    def _import(self, name: str) -> None:
        """Reach what importing a module does, and what it and the packages around it import."""
        if name in self._imported:
            return
        self._imported.add(name)
        module = self.code.module(name)
        if module is None:
            return
        self._import(name.rpartition(".")[0])
        for effect in module.effects:
            self._reach(effect)
        for target in module.imports:
            self._import_target(target)
        for definition in module.names.values():
            if isinstance(definition, Definition) and self.code.registers(definition):
                self._reach(definition)
