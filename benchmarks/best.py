"""Which of several numbers is bold: the best, if it is better than the next by more than a standard error.

This is decided here and nowhere else. Where both have values of the same seeds, splits or folds, the standard error is
that of their differences; otherwise that of both spreads. A stored spread without values may be a standard deviation,
which only makes the rule stricter. Numbers without any spread are never bold: nothing says how far they could be off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Number:
    """A number of a table.

    Parameters
    ----------
    mean : float
        The number itself.
    spread : float or None, default=None
        Its standard error, or more; None where it is not known.
    each : tuple of float, default=()
        The values it is the mean of, by seed, split or fold.
    """

    mean: float
    spread: float | None = None
    each: tuple[float, ...] = ()

    @property
    def error(self) -> float | None:
        """Standard error of the mean; None where it is not known."""
        return standard_error(np.array(self.each)) if len(self.each) > 1 else self.spread


def standard_error(values: np.ndarray) -> float:
    """Return the standard error of the mean of some values."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def clearly_best(numbers: Mapping[str, Number], smaller: bool = False) -> str | None:
    """Return the name of the best number if it is better than the next by more than a standard error, else None.

    Examples
    --------
    >>> clearly_best({"ours": Number(0.75, 0.01), "theirs": Number(0.72, 0.01)})
    'ours'
    >>> clearly_best({"ours": Number(0.73, 0.01), "theirs": Number(0.72, 0.01)})
    >>> clearly_best({"ours": Number(0.73, each=(0.72, 0.74)), "theirs": Number(0.72, each=(0.71, 0.73))})
    'ours'
    """
    order = sorted(numbers, key=lambda name: numbers[name].mean, reverse=not smaller)
    best, following = (numbers[name] for name in order[:2])
    error = error_of_difference(best, following)
    return order[0] if error is not None and abs(best.mean - following.mean) > error else None


def error_of_difference(one: Number, other: Number) -> float | None:
    """Return the standard error of the difference of two numbers, paired where their values are; None if unknown."""
    if len(one.each) > 1 and len(one.each) == len(other.each):
        return standard_error(np.subtract(one.each, other.each))
    errors = [number.error for number in (one, other) if number.error is not None]
    return float(np.hypot.reduce(errors)) if errors else None
