"""Adam whose state belongs to runs: one run can be reset or held still without touching the others."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn


class Adam:
    """Adam with L2 weight decay (Kingma & Ba, 2015), as `torch.optim.Adam`, one state for each run.

    Parameters
    ----------
    parameters : iterable of nn.Parameter
        Each with a leading run axis R.
    lr, weight_decay, beta1 : float or Tensor (R,)
    beta2, eps : float
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        *,
        lr: float | Tensor,
        weight_decay: float | Tensor = 0.0,
        beta1: float | Tensor = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
    ):
        self.parameters = list(parameters)
        first = self.parameters[0]
        runs = first.shape[0]

        def column(value: float | Tensor) -> Tensor:
            if isinstance(value, Tensor):
                return value.to(first).expand(runs).unsqueeze(1)
            return torch.full((runs, 1), value, dtype=first.dtype, device=first.device)

        self.lr, self.weight_decay, self.beta1 = column(lr), column(weight_decay), column(beta1)
        self.beta2, self.eps = beta2, eps
        self.sizes = [parameter[0].numel() for parameter in self.parameters]
        self.mean = torch.zeros(runs, sum(self.sizes), dtype=first.dtype, device=first.device)
        self.square = torch.zeros_like(self.mean)
        self.steps = torch.zeros(runs, 1, dtype=first.dtype, device=first.device)

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self, *, scale: float | Tensor = 1.0, active: Tensor | None = None) -> None:
        """Move the parameters against their gradients.

        Parameters
        ----------
        scale : float, or Tensor of no axis or (R, 1)
            Multiplies the learning rate.
        active : Tensor (R,) of bool, optional
            Runs that take the step; the others keep parameters and state.
        """
        if self.mean.shape[0] == 1 and not self.mean.is_cuda:
            if active is None or active.item():
                self._fused(float(scale))
            return
        values = self._flat(self.parameters)
        gradient = self._flat(
            [p.grad if p.grad is not None else torch.zeros_like(p) for p in self.parameters]
        )
        gradient = gradient + self.weight_decay * values
        steps = self.steps + 1
        mean = torch.lerp(gradient, self.mean, self.beta1)
        square = torch.lerp(gradient * gradient, self.square, self.beta2)
        denominator = (square / (1 - self.beta2**steps)).sqrt_().add_(self.eps)
        change = self.lr * scale / (1 - self.beta1**steps) * mean / denominator
        if active is not None:
            active = active.unsqueeze(1)
            change = torch.where(active, change, 0.0)
            mean = torch.where(active, mean, self.mean)
            square = torch.where(active, square, self.square)
            steps = torch.where(active, steps, self.steps)
        self.mean.copy_(mean)
        self.square.copy_(square)
        self.steps.copy_(steps)
        for parameter, part in zip(self.parameters, change.split(self.sizes, dim=1), strict=True):
            parameter.sub_(part.view_as(parameter))

    def _fused(self, scale: float) -> None:
        """The step of one run, by PyTorch's own operator."""
        self.steps.add_(1)
        likes: list[Tensor] = list(self.parameters)
        # It takes tensors' memory in order, whatever their strides.
        gradients = [p.grad.contiguous() if p.grad is not None else torch.zeros_like(p) for p in likes]
        mean, square = (
            [part.view_as(p) for part, p in zip(state.split(self.sizes, dim=1), likes, strict=True)]
            for state in (self.mean, self.square)
        )
        torch._fused_adam_(
            likes, gradients, mean, square, [], [self.steps.view(())] * len(likes),
            lr=self.lr.item() * scale, beta1=self.beta1.item(), beta2=self.beta2,
            weight_decay=self.weight_decay.item(), eps=self.eps, amsgrad=False, maximize=False,
        )  # fmt: skip

    @torch.no_grad()
    def reset(self, runs: Tensor) -> None:
        """Begin anew in the runs of a mask (R,): no moments, no steps taken."""
        for state in (self.mean, self.square, self.steps):
            state.masked_fill_(runs.unsqueeze(1), 0.0)

    @staticmethod
    def _flat(tensors: Sequence[Tensor]) -> Tensor:
        return torch.cat([tensor.flatten(1) for tensor in tensors], dim=1)
