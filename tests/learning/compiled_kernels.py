"""Has Triton compile every kernel for a GPU that need not be there, and prints their names."""

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tsdg.learning.kernels import conv, norm

HOPPER = GPUTarget("cuda", 90, 32)


class Compiled:
    """A kernel that is compiled where it would be launched."""

    def __init__(self, kernel):
        self.kernel = kernel

    def __getitem__(self, grid):
        return self.compile

    def compile(self, *args, **constants):
        values = dict(zip(self.kernel.arg_names, args, strict=False)) | constants
        fixed = {p.name: values.pop(p.name) for p in self.kernel.params if p.is_constexpr}
        types = {torch.Tensor: "*fp32", int: "i32", float: "fp32"}
        signature = {name: types.get(type(values.get(name)), "constexpr") for name in self.kernel.arg_names}
        places = {(self.kernel.arg_names.index(name),): value for name, value in fixed.items()}
        triton.compile(ASTSource(self.kernel, signature, places), target=HOPPER)
        print(self.kernel.__name__)


for module in (conv, norm):
    for name in module.KERNELS:
        setattr(module, name, Compiled(getattr(module, name)))

x = torch.zeros(2, 3, 40, 8, requires_grad=True)
conv.Convolve.apply(x, torch.zeros(2, 8, 8, 3, requires_grad=True), torch.zeros(2, 8), 2, 1).sum().backward()
y, *_ = norm.NormalizeActivate.apply(x.unsqueeze(1), torch.ones(2, 8), torch.zeros(2, 8), 39, 1e-5, 0.01)
y.sum().backward()
