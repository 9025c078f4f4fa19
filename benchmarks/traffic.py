"""Memory that a step moves, counted operator by operator: no device is needed for it."""

from collections.abc import Iterator
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

ALLOCATE = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")
OVERWRITE = ("copy_", "fill_", "zero_")


class Traffic(TorchDispatchMode):
    """Counts what operators and Triton kernels read and write while it is on.

    Each is taken to read its inputs and write its results once, the least it can. Kernels of ours are counted
    and not run, so that the step's results are of no use.

    Attributes
    ----------
    bytes, calls : int
    """

    def __init__(self) -> None:
        super().__init__()
        self.bytes = self.calls = 0
        self._kernels: list[tuple[Any, str, Any]] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if func.is_view or name in ALLOCATE:
            return result
        written = {a.name for a in func._schema.arguments if a.kwarg_only and a.alias_info is not None}
        read = [value for key, value in (kwargs or {}).items() if key not in written]
        self._count(tree_leaves((args[1:] if name in OVERWRITE else args, read, result)))
        return result

    def __enter__(self):  # type: ignore[no-untyped-def]
        for module in _modules():
            for name in module.KERNELS:
                self._kernels.append((module, name, getattr(module, name)))
                setattr(module, name, self)
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        for module, name, value in self._kernels:
            setattr(module, name, value)
        super().__exit__(*error)

    def __getitem__(self, grid: tuple[int, ...]):  # type: ignore[no-untyped-def]
        return lambda *args, **constants: self._count(args)

    def _count(self, values: Any) -> None:
        tensors = [value for value in values if isinstance(value, Tensor)]
        self.calls += 1
        self.bytes += sum(min(t.nbytes, t.untyped_storage().nbytes()) for t in tensors)


def _modules() -> Iterator[Any]:
    """Those that kernels are in, where there is Triton."""
    try:
        from tsdg.learning.kernels import conv, norm
    except ImportError:
        return
    yield from (conv, norm)
