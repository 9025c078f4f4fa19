"""Hyperparameters: how they are distributed, and the draws of a random search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from numbers import Real

import numpy as np

from tsdg.errors import InputError, nearest
from tsdg.streams import numpy_stream

KINDS = ("uniform", "power", "floor_power", "choice")


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

    Raises
    ------
    InputError
        Another kind, values that do not fit it, or a number that is not finite.
    """

    default: float
    kind: str
    values: tuple[float, ...]
    base: float = 10.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(
                f"no distribution {self.kind!r}{nearest(self.kind, KINDS)}; there are {', '.join(KINDS)}"
            )
        numbers = (self.default, self.base, *self.values)
        if not all(isinstance(number, Real) and isfinite(number) for number in numbers):
            raise InputError(f"a distribution takes finite numbers, not {numbers}")
        if self.kind == "choice" and not self.values:
            raise InputError("a distribution 'choice' has one value or more")
        if self.kind != "choice" and not (len(self.values) == 2 and self.values[0] <= self.values[1]):
            raise InputError(
                f"a distribution {self.kind!r} has two values, the lower one first, not {self.values}"
            )
        if self.base <= 0:
            raise InputError(f"the base of a distribution is above 0, not {self.base}")

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
    def ends(self) -> tuple[float, float]:
        """Least and greatest value."""
        if self.kind in ("uniform", "choice"):
            return float(min(self.values)), float(max(self.values))
        low, high = sorted(self.base**value for value in self.values)
        return (float(np.floor(low)), float(np.floor(high))) if self.kind == "floor_power" else (low, high)

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
    search: Mapping[str, Distribution],
    number: int | str,
    *,
    seed: int,
    method: str,
    trial: int | None = None,
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
    trial : int, optional
        Of a search that every trial makes anew. Default: one search for all.
    """
    of_trial = [] if trial is None else [f"trial{trial}"]
    if number == "fixed":
        return {name: distribution.default for name, distribution in search.items()}
    return {
        name: distribution.sample(numpy_stream(seed, "hparams", method, name, f"hp{number}", *of_trial))
        for name, distribution in search.items()
    }
