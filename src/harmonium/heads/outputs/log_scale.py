"""Numbers that are learned on a logarithmic scale, and their expected values on the scale of the user.

A model of z = log(y + c) predicts the median of y, which is below its mean. Duan's smearing factor, the mean of
exp(z - ẑ) over held-out rows, makes up for that whatever the law of the errors: E[y] = factor · exp(ẑ) - c.

References: Duan (1983), Smearing estimate: a nonparametric retransformation method.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np

from harmonium.heads.outputs.constants import Constants, constant

_PREFIX = "log/"
# Skewness of targets from which another scale is worth a try: a convention (that of exponential waiting times is 2).
_SKEWED = 1.0


@dataclass(frozen=True, eq=False)
class LogScale:
    """Logarithms of some outputs.

    Attributes
    ----------
    offset : ndarray of shape (outputs,)
        What is added before the logarithm is taken.
    smearing : ndarray of shape (outputs,)
        Duan's factor, 1 until held-out rows tell; 0 for outputs that are learned as they are.
    lowest, highest : ndarray of shape (outputs,)
        Range of the logarithms of training rows, beyond which none are predicted.
    """

    offset: np.ndarray
    smearing: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, offset: np.ndarray, is_log: np.ndarray) -> Self:
        """Return the logarithms of those columns of targets, NaN where they are unknown, that are marked.

        Examples
        --------
        >>> scale = LogScale.of(np.array([[1.0, 5.0], [10.0, 7.0]]), np.zeros(2), np.array([True, False]))
        >>> scale.to_log(np.array([[1.0, 5.0]])).tolist(), scale.back(np.array([[0.0, 5.0]])).tolist()
        ([[0.0, 5.0]], [[1.0, 5.0]])
        """
        start = cls(np.where(is_log, offset, 0.0), is_log.astype(np.float64), *np.zeros((2, len(offset))))
        logs = start.to_log(values)
        return replace(start, lowest=np.nanmin(logs, axis=0), highest=np.nanmax(logs, axis=0))

    @property
    def is_log(self) -> np.ndarray:
        """Mask of the outputs that are learned as logarithms."""
        return self.smearing > 0

    def to_log(self, values: np.ndarray) -> np.ndarray:
        """Return log(y + c); refuse numbers that have no logarithm."""
        shifted = values + self.offset
        wrong = self.is_log & (shifted <= 0)
        if wrong.any():
            limit = 0.0 - self.offset[wrong.any(axis=0)][0]
            raise ValueError(
                f"y must be above {limit:g}, as it is learned on a logarithmic scale; got {values[wrong][0]:g}; fit "
                "anew with EpsilonInsensitive(target_scale='linear')."
            )
        return np.where(self.is_log, np.log(np.where(self.is_log, shifted, 1.0)), values)

    def inverse(self, logs: np.ndarray) -> np.ndarray:
        """Return the numbers whose logarithms these are."""
        return np.where(self.is_log, np.exp(np.where(self.is_log, logs, 0.0)) - self.offset, logs)

    def back(self, logs: np.ndarray) -> np.ndarray:
        """Return expected numbers for predicted logarithms."""
        bounded = np.where(self.is_log, logs.clip(self.lowest, self.highest), 0.0)
        return np.where(self.is_log, self.smearing * np.exp(bounded) - self.offset, logs)

    def smeared(self, logs: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> Self:
        """Return the scale with Duan's factor by logarithms of held-out rows; NaN is unknown."""
        counts = np.where(np.isnan(logs), 0.0, weight[:, None])
        ratio = np.exp(np.where(counts > 0, logs - predicted.clip(self.lowest, self.highest), 0.0))
        total = counts.sum(axis=0)
        factor = (counts * ratio).sum(axis=0) / np.where(total > 0, total, 1.0)
        return replace(self, smearing=np.where(self.is_log, np.where(total > 0, factor, 1.0), 0.0))

    def constants(self) -> dict[str, np.ndarray]:
        """Return the arrays that a file has to keep."""
        return {_PREFIX + one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def restored(cls, constants: Constants, n_outputs: int) -> Self | None:
        """Return the scale that `constants` described; None if there was none."""
        if not any(name.startswith(_PREFIX) for name in constants):
            return None
        found = cls(*(constant(constants, _PREFIX + one.name, n_outputs) for one in fields(cls)))
        if (found.smearing < 0).any():
            raise ValueError("the smearing factors of the head must be numbers above 0, or 0")
        return found


def log_scales(values: np.ndarray) -> list[LogScale]:
    """Return logarithmic scales to try for targets: for columns that are skewed, and have no number below 0.

    They are log y, if no column has a 0, and log(y + median), which is close to y below the median.
    """
    low, middle = np.nanmin(values, axis=0), np.nanmedian(values, axis=0)
    spread = np.nanstd(values, axis=0)
    skewness = np.nanmean((values - np.nanmean(values, axis=0)) ** 3, axis=0) / np.where(spread > 0, spread, 1.0) ** 3
    suits = (low >= 0) & (middle > 0) & (skewness > _SKEWED)
    if not suits.any():
        return []
    plain = suits & (low > 0)
    tries = [(np.zeros_like(low), plain)] if (plain == suits).all() else []
    return [LogScale.of(values, offset, is_log) for offset, is_log in (*tries, (middle, suits))]
