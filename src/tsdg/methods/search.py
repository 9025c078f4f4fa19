"""Hyperparameters: how they are distributed, and the draws of a random search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tsdg.streams import numpy_stream


@dataclass(frozen=True)
class Distribution:
    """A hyperparameter's default and what a random search draws it from.

    Parameters
    ----------
    default : float
        The published value, taken by the draw named ``fixed``.
    kind : {"uniform", "power", "floor_power", "choice"}
        U(a, b); base^U(a, b); the floor of it; or one of `values`.
    values : tuple of float
        a and b, or the choices.
    base : float
    """

    default: float
    kind: str
    values: tuple[float, ...]
    base: float = 10.0

    def sample(self, generator: np.random.Generator) -> float:
        """One value."""
        if self.kind == "choice":
            return float(generator.choice(self.values))
        low, high = self.values
        value = generator.uniform(low, high)
        if self.kind == "uniform":
            return float(value)
        value = self.base**value
        return float(np.floor(value)) if self.kind == "floor_power" else float(value)

    @property
    def constant(self) -> bool:
        """Whether there is nothing to search."""
        return len(set(self.values)) == 1

    def __str__(self) -> str:
        low_high = ", ".join(f"{value:g}" for value in self.values)
        if self.kind == "choice":
            return f"{{{low_high}}}"
        if self.kind == "uniform":
            return f"U({low_high})"
        power = f"{self.base:g}^U({low_high})"
        return f"floor({power})" if self.kind == "floor_power" else power


def draw(
    search: Mapping[str, Distribution], number: int | str, *, seed: int, method: str
) -> dict[str, float]:
    """Hyperparameters of one draw of a method.

    Each value has a stream of its own, named by study seed, method, parameter and draw number: adding a
    draw, a parameter or a method changes no other value.

    Parameters
    ----------
    search : mapping of name to Distribution
    number : int or "fixed"
        ``fixed`` takes every default.
    seed : int
        The study's seed.
    method : str
    """
    if number == "fixed":
        return {name: distribution.default for name, distribution in search.items()}
    return {
        name: distribution.sample(numpy_stream(seed, "hparams", method, name, f"hp{number}"))
        for name, distribution in search.items()
    }
