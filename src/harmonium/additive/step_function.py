"""Functions of one column that are constant between thresholds, with a value of their own for what is missing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np


@dataclass(frozen=True, eq=False)
class StepFunction:
    """A step function of one column, for each output.

    Codes of categories are whole numbers whose thresholds lie half-way between them.

    Attributes
    ----------
    thresholds : ndarray of shape (steps,)
        Where the function changes, in ascending order; a threshold belongs to what is below it.
    values : ndarray of shape (steps + 1, outputs)
        What the function is below the first threshold, between two of them, and above the last.
    missing : ndarray of shape (outputs,)
        What it is where the column is NaN.

    Examples
    --------
    >>> age = StepFunction(np.array([30.0]), np.array([[-1.0], [1.0]]), np.array([0.5]))
    >>> age(np.array([20.0, 30.0, 31.0, np.nan])).ravel().tolist()
    [-1.0, -1.0, 1.0, 0.5]
    """

    thresholds: np.ndarray
    values: np.ndarray
    missing: np.ndarray

    def __call__(self, column: np.ndarray) -> np.ndarray:
        """Return the value of each row, of shape (rows, outputs)."""
        found = self.values[np.searchsorted(self.thresholds, column, side="left")]
        found[np.isnan(column)] = self.missing
        return found

    def scaled(self, factor: np.ndarray | float) -> Self:
        """Return the function times a factor, one for each output or one for all."""
        return replace(self, values=self.values * factor, missing=self.missing * factor)

    def centred(self, column: np.ndarray, weight: np.ndarray) -> tuple[Self, np.ndarray]:
        """Return the function less its mean over some rows, and that mean.

        If none of these rows is missing, nothing is known of missing ones, and they are worth the mean.
        """
        mean = np.average(self(column), axis=0, weights=weight)
        missing = self.missing - mean if np.isnan(column).any() else np.zeros_like(mean)
        return replace(self, values=self.values - mean, missing=missing), mean

    def simplified(self) -> Self:
        """Return the same function without thresholds at which nothing changes."""
        changes = np.flatnonzero((np.diff(self.values, axis=0) != 0).any(axis=1))
        kept = np.append(changes, len(self.values) - 1)
        return replace(self, thresholds=self.thresholds[changes], values=self.values[kept])
