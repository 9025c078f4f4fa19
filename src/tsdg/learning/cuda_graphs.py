"""CUDA graphs of a method's step: hundreds of small kernels launched as one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

import torch
from torch import Tensor

Losses = dict[str, Tensor]
Step = Callable[[Tensor, Tensor, Mapping[str, Tensor]], Losses]

WARM_UP = 3


class GraphedStep:
    """Replays a step that does the same operations whenever its phase is the same.

    The first steps of each phase run as they are; the next is captured. A step must not depend on values
    that only the host knows, other than through its phase.

    Parameters
    ----------
    step : callable
        ``step(x, y, draws) -> losses``.
    phase : callable
        Names the operations of the next step.
    """

    def __init__(self, step: Step, phase: Callable[[], Hashable]):
        self.step, self.phase = step, phase
        self.seen: dict[Hashable, int] = {}
        self.graphs: dict[Hashable, torch.cuda.CUDAGraph] = {}
        self.inputs: dict[Hashable, dict[str, Tensor]] = {}
        self.outputs: dict[Hashable, Losses] = {}
        self.stream = torch.cuda.Stream()

    def __call__(self, x: Tensor, y: Tensor, draws: Mapping[str, Tensor]) -> Losses:
        phase = self.phase()
        self.seen[phase] = self.seen.get(phase, 0) + 1
        if self.seen[phase] <= WARM_UP:
            self.stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.stream):
                losses = self.step(x, y, draws)
            torch.cuda.current_stream().wait_stream(self.stream)
            return losses
        given = {"x": x, "y": y, **draws}
        if phase not in self.graphs:
            self._capture(phase, given)
        for name, value in given.items():
            self.inputs[phase][name].copy_(value)
        self.graphs[phase].replay()
        return {name: value.clone() for name, value in self.outputs[phase].items()}

    def _capture(self, phase: Hashable, given: Mapping[str, Tensor]) -> None:
        static = {name: value.clone() for name, value in given.items()}
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self.stream):
            draws = {name: value for name, value in static.items() if name not in ("x", "y")}
            losses = self.step(static["x"], static["y"], draws)
            self.outputs[phase] = {name: value.detach() for name, value in losses.items()}
        self.inputs[phase], self.graphs[phase] = static, graph
