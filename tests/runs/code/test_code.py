"""What of Python code counts, one form of the language at a time."""

# ruff: noqa: E501
import pytest

from tsdg.runs.code.definitions import Modules
from tsdg.runs.code.wording import Wording
from tsdg.runs.fingerprint import fingerprint


@pytest.fixture
def prints(tmp_path):
    """Fingerprint of `main` in a package: its module, and another one if there is a line ``---``."""

    def of(source):
        main, _, other = source.partition("\n---\n")
        texts = {"code": "", "code.main": main, "code.other": other}
        paths = {name: tmp_path / f"{name}{hash(texts[name])}.py" for name in texts}
        for name, path in paths.items():
            path.write_text(texts[name])
        return fingerprint(Wording(Modules({"code"}, paths.get)), "code.main:main")

    return of


SAME = {
    "names of definitions": ("def main(): return f(K)\ndef f(x): return x\nK = 1", "def main(): return g(L)\nL = 1\ndef g(x): return x"),
    "names of local variables": ("def main(x):\n a = x\n return [a for b in x]", "def main(x):\n b = x\n return [b for a in x]"),
    "a private method": (
        "class C:\n def __init__(self): self._f()\n def _f(self): return 1\ndef main(): C()",
        "class C:\n def __init__(self): self._g()\n def _g(self): return 1\ndef main(): C()",
    ),
    "a private method of one of two classes": (
        "class A:\n def a(self): return self._f()\n def _f(self): return 1\n"
        "class B:\n def a(self): return self._f()\n def _f(self): return 2\ndef main(): A().a(), B().a()",
        "class A:\n def a(self): return self._g()\n def _g(self): return 1\n"
        "class B:\n def a(self): return self._f()\n def _f(self): return 2\ndef main(): A().a(), B().a()",
    ),
    "methods that nobody calls": (
        "class C:\n def a(self): pass\ndef main(): return C().a()",
        "class C:\n def a(self): pass\n def b(self): return 1\n c = 2\ndef main(): return C().a()",
    ),
    "words of errors": (
        "class E(ValueError): pass\ndef main(x):\n if x: raise E(f'a {x}')\n assert x, 'a'\n return KeyError('a')",
        "class E(ValueError): pass\ndef main(x):\n if x: raise E('b', word(x)) from None\n assert x\n return KeyError('b')\ndef word(x): return 'c'",
    ),
    "words kept for errors": (
        "def main(x):\n if x: raise KeyError(f'a {x}')\n return x",
        "def main(x):\n wanted = f'{type(x).__name__}'\n wanted += ', '.join('ab')\n if x: raise KeyError(wanted)\n return x",
    ),
    "words of logs": (
        "import logging, sys\nlog = logging.getLogger()\ndef main(x): return x",
        "import logging, sys\nlog = logging.getLogger()\ndef main(x):\n log.info('a %s', x)\n print(f'a {len(x):3}', file=sys.stderr)\n return x",
    ),
    "annotations": ("def main(x):\n y = x\n return y", "def main(x: int) -> 'C':\n y: C = x\n z: int\n return y\nclass C: pass"),
    "annotations of fields": (
        "from dataclasses import dataclass\n@dataclass\nclass C:\n a: int\n b: float = 0\ndef main(): return C(1)",
        "from dataclasses import dataclass\n@dataclass\nclass C:\n a: 'float | None'\n b: str = 0\ndef main(): return C(1)",
    ),
    "annotations that make no fields": ("class C: pass\ndef main(): return C()", "class C:\n a: int\ndef main(): return C()"),
    "the form of imports": (
        "import numpy as np\nfrom code import other\ndef main(x): return np.mean(other.f(x))\n---\ndef f(x): return x",
        "from numpy import mean\nfrom .other import f as g\ndef main(x): return mean(g(x))\n---\ndef f(x): return x",
    ),
    "where an import stands": (
        "import numpy\ndef main(x): return numpy.mean(x)",
        "def main(x):\n import numpy\n return numpy.mean(x)",
    ),
    "imports of types": ("def main(x): return x", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n from code.other import f\ndef main(x): return x"),
    "a star": (
        "from code.other import f\ndef main(x): return f(x)\n---\ndef f(x): return x",
        "from code.other import *\ndef main(x): return f(x)\n---\ndef f(x): return x",
    ),
    "a module": (
        "from code.other import K\ndef main(): return K\n---\nK = [1]",
        "def main(): return K\nK = [1]",
    ),
    "constants in one line": ("A, B = 1, 2\ndef main(): return B", "A = 3\nB = 2\ndef main(): return B"),
    "docstrings": ("class C:\n 'a'\ndef main():\n 'b'\n return C", "class C: pass\ndef main(): return C"),
    "a guarded main": ("def main(): return 1", "def main(): return 1\nif __name__ == '__main__': main()"),
    "the order of bases' members": (
        "class A:\n def a(self): return 1\n def b(self): return 2\ndef main(x): return A().a(), x.b",
        "class A:\n def b(self): return 2\n def a(self): return 1\ndef main(x): return A().a(), x.b",
    ),
}  # fmt: skip

OTHER = {
    "two private methods changed for each other": (
        "class C:\n def a(self): return self._f() - self._g()\n def _f(self): return 1\n def _g(self): return 2\ndef main(): C().a()",
        "class C:\n def a(self): return self._g() - self._f()\n def _f(self): return 1\n def _g(self): return 2\ndef main(): C().a()",
    ),
    "two constants changed for each other": ("A, B = 1, 2\ndef main(): return A - B", "A, B = 2, 1\ndef main(): return A - B"),
    "two of one statement": ("A, B = f\ndef main(): return A", "A, B = f\ndef main(): return B"),
    "a private method overridden": (
        "class A:\n def a(self): return self._f()\n def _f(self): return 1\nclass B(A): pass\ndef main(): B().a()",
        "class A:\n def a(self): return self._f()\n def _f(self): return 1\nclass B(A):\n def _f(self): return 2\ndef main(): B().a()",
    ),
    "an override that no longer is one": (
        "class A:\n def a(self): return self._f()\n def _f(self): return 1\nclass B(A):\n def _f(self): return 2\ndef main(): B().a()",
        "class A:\n def a(self): return self._f()\n def _f(self): return 1\nclass B(A):\n def _g(self): return 2\ndef main(): B().a()",
    ),
    "what a property gives": (
        "class C:\n @property\n def a(self): return 1\ndef main(c=C): return c().a",
        "class C:\n @property\n def a(self): return 2\ndef main(c=C): return c().a",
    ),
    "a special method": (
        "class C:\n def __len__(self): return 1\ndef main(): return len(C())",
        "class C:\n def __len__(self): return 2\ndef main(): return len(C())",
    ),
    "an attribute by its name": (
        "class C:\n def a(self): return 1\ndef main(): return getattr(C(), 'a')()",
        "class C:\n def a(self): return 2\ndef main(): return getattr(C(), 'a')()",
    ),
    "an attribute by a computed name": (
        "class C:\n def a(self): return 1\ndef main(x): return getattr(C(), 'a' * x)()",
        "class C:\n def a(self): return 2\ndef main(x): return getattr(C(), 'a' * x)()",
    ),
    "attributes that are all read": (
        "class C:\n a = 1\ndef main(): return vars(C)",
        "class C:\n a = 2\ndef main(): return vars(C)",
    ),
    "attributes by computed names": (
        "from operator import attrgetter\nclass C:\n a = 1\ndef main(x): return attrgetter(x)(C)",
        "from operator import attrgetter\nclass C:\n a = 2\ndef main(x): return attrgetter(x)(C)",
    ),
    "a name that is computed": (
        "class C:\n def _a(self): return 1\ndef main(x): return getattr(C(), '_' + x)()",
        "class C:\n def _b(self): return 1\ndef main(x): return getattr(C(), '_' + x)()",
    ),
    "an attribute that an heir computes": (
        "class A:\n def a(self, x): return getattr(self, x)()\nclass B(A):\n def b(self): return 1\ndef main(x): B().a(x)",
        "class A:\n def a(self, x): return getattr(self, x)()\nclass B(A):\n def b(self): return 2\ndef main(x): B().a(x)",
    ),
    "a function of a module by a computed name": (
        "from code import other\ndef main(x): return getattr(other, x)\n---\ndef f(): return 1",
        "from code import other\ndef main(x): return getattr(other, x)\n---\ndef f(): return 2",
    ),
    "the module's own names": ("def main(x): return globals()[x]\ndef f(): return 1", "def main(x): return globals()[x]\ndef f(): return 2"),
    "local names that are read": ("def main():\n a = 1\n return locals()", "def main():\n b = 1\n return locals()"),
    "a function's name that is read": ("def f(): pass\ndef main(): return f.__name__", "def g(): pass\ndef main(): return g.__name__"),
    "a global that a comprehension hides": (
        "x = [1]\ndef main(): return [x for x in x]",
        "x = [2]\ndef main(): return [x for x in x]",
    ),
    "a global that another function's local hides": (
        "K = 1\ndef main():\n def f(K): return K\n return f(K)",
        "K = 2\ndef main():\n def f(K): return K\n return f(K)",
    ),
    "a global set by a function": ("K = 1\ndef main():\n global K\n K += 1\n return K", "K = 2\ndef main():\n global K\n K += 1\n return K"),
    "a member of the same name": ("k = 1\nclass C:\n k = k\ndef main(): return C.k", "k = 2\nclass C:\n k = k\ndef main(): return C.k"),
    "a member by another member": ("class C:\n a = 1\n b = a\ndef main(): return C.b", "class C:\n a = 2\n b = a\ndef main(): return C.b"),
    "a decorator of one's own": (
        "K = {}\ndef keep(f): K[f] = f\n@keep\ndef f(): return 1\ndef main(): return K",
        "K = {}\ndef keep(f): K[f] = f\n@keep\ndef f(): return 2\ndef main(): return K",
    ),
    "an heir that registers itself": (
        "K = []\nclass A:\n def __init_subclass__(cls): K.append(cls)\n def a(self): pass\nclass B(A):\n def a(self): return 1\ndef main(): return K[0]().a()",
        "K = []\nclass A:\n def __init_subclass__(cls): K.append(cls)\n def a(self): pass\nclass B(A):\n def a(self): return 2\ndef main(): return K[0]().a()",
    ),
    "what importing does": ("import code.other\ndef main(): return 1", "import code.other\ndef main(): return 1\n---\nimport os\nos.environ['A'] = '1'"),
    "what importing in a function does": (
        "def main():\n import code.other\n---\nimport os\nos.environ['A'] = '1'",
        "def main():\n import code.other\n---\nimport os\nos.environ['A'] = '2'",
    ),
    "a definition by a condition": (
        "if x:\n def f(): return 1\nelse:\n def f(): return 2\ndef main(): return f()",
        "if x:\n def f(): return 1\nelse:\n def f(): return 3\ndef main(): return f()",
    ),
    "an import by a condition": (
        "try:\n from code.other import f\nexcept ImportError:\n f = None\ndef main(): return f()\n---\ndef f(): return 1",
        "try:\n from code.other import f\nexcept ImportError:\n f = None\ndef main(): return f()\n---\ndef f(): return 2",
    ),
    "an import that may be replaced": (
        "from code.other import f\nif x:\n f = None\ndef main(): return f()\n---\ndef f(): return 1",
        "from code.other import f\nif x:\n f = None\ndef main(): return f()\n---\ndef f(): return 2",
    ),
    "a constant that is added to": ("K = 1\nK += 1\ndef main(): return K", "K = 1\nK += 2\ndef main(): return K"),
    "a class's attribute set from outside": ("class C:\n a = 1\nC.a = 2\ndef main(): return C.a", "class C:\n a = 1\nC.a = 3\ndef main(): return C.a"),
    "what telling calls": ("def main(x):\n print(1)\n return x", "def main(x):\n print(x.pop())\n return x"),
    "what words kept for errors call": (
        "def main(x):\n word = x.pop()\n if x: raise KeyError(word)",
        "def main(x):\n word = x[0]\n if x: raise KeyError(word)",
    ),
    "words that are also read": (
        "def main(x):\n word = 'a'\n if x: raise KeyError(word)\n return word",
        "def main(x):\n word = 'b'\n if x: raise KeyError(word)\n return word",
    ),
    "words that an inner function reads": (
        "def main(x):\n word = 'a'\n def f(): return word\n return f",
        "def main(x):\n word = 'b'\n def f(): return word\n return f",
    ),
    "what is written by print": ("def main(f):\n print('a', file=f)", "def main(f):\n print('b', file=f)"),
    "the kind of an error": ("def main(): raise KeyError(1)", "def main(): raise ValueError(1)"),
    "an error's helper": (
        "class E(Exception):\n def __init__(self): self.args = 1,\ndef main(): raise E()",
        "class E(Exception):\n def __init__(self): self.args = 2,\ndef main(): raise E()",
    ),
    "a field's default": (
        "from dataclasses import dataclass\n@dataclass\nclass C:\n a: int = 1\ndef main(): return C()",
        "from dataclasses import dataclass\n@dataclass\nclass C:\n a: int = 2\ndef main(): return C()",
    ),
    "the order of fields": (
        "from typing import NamedTuple\nclass C(NamedTuple):\n a: int\n b: int\ndef main(): return C(1, 2)",
        "from typing import NamedTuple\nclass C(NamedTuple):\n b: int\n a: int\ndef main(): return C(1, 2)",
    ),
    "a field that is none": (
        "from dataclasses import dataclass\n@dataclass\nclass C:\n a: int = 1\ndef main(): return C()",
        "from dataclasses import dataclass\n@dataclass\nclass C:\n a: ClassVar[int] = 1\ndef main(): return C()",
    ),
    "types that are checked": (
        "import msgspec\nclass C(msgspec.Struct):\n a: int\ndef main(x): return msgspec.convert(x, C)",
        "import msgspec\nclass C(msgspec.Struct):\n a: float\ndef main(x): return msgspec.convert(x, C)",
    ),
    "a method that a foreign base may call": (
        "import io\nclass C(io.StringIO):\n def write(self, x): return 1\ndef main(): return C()",
        "import io\nclass C(io.StringIO):\n def write(self, x): return 2\ndef main(): return C()",
    ),
    "a class that a pattern matches": (
        "class C:\n def a(self): return 1\ndef main(x):\n match x:\n  case C(a=1): return 1",
        "class C:\n def a(self): return 2\ndef main(x):\n match x:\n  case C(a=1): return 1",
    ),
    "a class that a parameter has": (
        "from code.other import C\ndef main(x: 'C'): return x.a\n---\nclass C:\n a = 1",
        "from code.other import C\ndef main(x: 'C'): return x.a\n---\nclass C:\n a = 2",
    ),
    "a parameter's name": ("def main(x): return x", "def main(y): return y"),
    "a public attribute's name": ("def main(x): x.a = 1", "def main(x): x.b = 1"),
    "a string": ("def main(x): return x('a')", "def main(x): return x('b')"),
    "a number's type": ("def main(): return 1", "def main(): return True"),
    "the order of statements": ("def main(x):\n x.a()\n x.b()", "def main(x):\n x.b()\n x.a()"),
    "a walrus in a comprehension": ("y = 1\ndef main(x): return [y := z for z in x], y", "y = 1\ndef main(x): return [z for z in x], y"),
}  # fmt: skip


@pytest.mark.parametrize("case", SAME)
def test_alike(case, prints):
    one, other = SAME[case]
    assert prints(one) == prints(other)


@pytest.mark.parametrize("case", OTHER)
def test_different(case, prints):
    one, other = OTHER[case]
    assert prints(one) != prints(other)
