"""What the commands share: kinds of arguments, and the progress bar."""

import argparse
from collections.abc import Callable


def natural(text: str) -> int:
    """A whole number from 0."""
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return int(text)


def positive(text: str) -> int:
    """A whole number from 1."""
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def numbers(text: str) -> list[int]:
    """Numbers and ranges: ``97-100,105``."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        block = range(natural(first), natural(last if dash else first) + 1)
        if not block:
            raise argparse.ArgumentTypeError(f"{part!r}: the first number is above the last")
        found += block
    return found


def draws(text: str) -> list[int | str]:
    """Draws of hyperparameters: numbers, ranges, or fixed."""
    return ["fixed"] if text == "fixed" else [*numbers(text.replace("hp", ""))]


def one_draw(text: str) -> int | str:
    """A draw of hyperparameters: a number, or fixed."""
    return "fixed" if text == "fixed" else natural(text.removeprefix("hp"))


class progress_bar:  # noqa: N801 - used as a function
    """A progress bar on a terminal; nothing in a log."""

    def __init__(self, what: str, unit: str):
        from tqdm import tqdm

        self.bar = tqdm(desc=what, unit=unit, disable=None, leave=False)

    def __enter__(self) -> Callable[[int, int], None]:
        return self._show

    def _show(self, done: int, total: int) -> None:
        self.bar.total = total
        self.bar.update(done - self.bar.n)

    def __exit__(self, *_: object) -> None:
        self.bar.close()
