"""Intervals of predicted numbers that hold for new rows as often as they say, by the errors of held-out rows.

How far the errors reach to either side depends on the prediction: quantiles of the errors of held-out rows whose
predictions are near make a band. It is widened until it holds as many held-out rows as it should, each judged by the
band of other rows: if new rows are like the held-out ones, intervals hold for them as often as they say, whatever the
model and the law of the errors are.

References: Vovk, Gammerman & Shafer (2005), Algorithmic learning in a random world; Lei, G'Sell, Rinaldo, Tibshirani &
Wasserman (2018), Distribution-free predictive inference for regression; Romano, Patterson & Candès (2019),
Conformalized quantile regression; Vovk (2015), Cross-conformal predictors; Tibshirani, Barber, Candès & Ramdas (2019),
Conformal prediction under covariate shift, for weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Rows whose errors make the band at one place: this many, or this share of all if that is more. Conventions: fewer than
# five errors beyond the ends of a 90 % interval hardly tell where these are.
_FEWEST_NEAR, _SHARE_NEAR = 100, 0.05
# Groups of rows, each of which is judged by the band of the others: a convention.
_GROUPS = 5
# Rows that share a value on average where targets are taken for a scale with ends, such as ratings: a convention.
_ROWS_OF_A_LEVEL = 10


def conformal_quantile(errors: np.ndarray, weight: np.ndarray, level: float) -> float:
    """Return the error that a new row does not exceed with a probability of at least ``level``.

    The new row has the mean weight of the others, and an error that may be larger than all of theirs. Of n rows of the
    same weight it is the ⌈(n + 1) level⌉-th smallest error.

    Parameters
    ----------
    errors : ndarray of shape (rows,)
        Errors of held-out rows, in ascending order.
    weight : ndarray of shape (rows,)
        Weights of the rows; those of weight 0 do not count.
    level : float
        A probability.

    Returns
    -------
    float
        One of the errors; infinity if there are too few rows for such a level.

    Examples
    --------
    >>> conformal_quantile(np.arange(1.0, 20.0), np.ones(19), 0.9)  # the 18th of 19
    18.0
    >>> conformal_quantile(np.arange(1.0, 20.0), np.ones(19), 0.99)
    inf
    """
    used = weight > 0
    errors, weight = errors[used], weight[used]
    if not len(errors):
        return np.inf
    below = np.cumsum(weight)
    # sums of equal terms differ by rounding errors
    place = int(np.searchsorted(below, level * (below[-1] + weight.mean()) * (1 - 1e-12)))
    return float(errors[place]) if place < len(errors) else np.inf


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Predictions of held-out rows in ascending order, what is true of them, and their weights above 0."""

    predicted: np.ndarray
    truth: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, predicted: np.ndarray, truth: np.ndarray, weight: np.ndarray) -> HeldOutRows:
        """Return the rows that have a weight."""
        used = weight > 0
        return cls(predicted[used], truth[used], weight[used])

    def take(self, rows: np.ndarray) -> HeldOutRows:
        """Return some of the rows."""
        return HeldOutRows(self.predicted[rows], self.truth[rows], self.weight[rows])

    def ends_of_scale(self) -> tuple[float, float]:
        """Return the lowest and the highest value if there are few different ones; else there are no ends."""
        return ends_of_scale(self.truth)

    def intervals(self, predicted: np.ndarray, level: float, stops: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of intervals around predictions.

        Parameters
        ----------
        predicted : ndarray of shape (rows,)
            Predictions of new rows.
        level : float
            Probability of the intervals.
        stops : bool, default=True
            Whether no end is beyond those of the scale, if the truth is on a scale of few values.

        Returns
        -------
        lower, upper : ndarray of shape (rows,)
            Ends that are infinite if there are too few held-out rows for such a level.

        Examples
        --------
        >>> predicted = np.linspace(0, 1, 2000)
        >>> signs = np.where(np.arange(2000) % 2, 1, -1)
        >>> rows = HeldOutRows(predicted, predicted + signs * predicted / 2, np.ones(2000))
        >>> lower, upper = rows.intervals(np.array([0.2, 0.8]), 0.9)  # errors are half of what is predicted
        >>> (upper - lower).round(1).tolist()
        [0.2, 0.8]
        """
        more = self._widening(level)
        if not np.isfinite(more):
            return np.full(len(predicted), -np.inf), np.full(len(predicted), np.inf)
        lower, upper = self._band(predicted, level)
        reach = more * self._width(lower, upper)
        # where errors are on one side, an interval still begins or ends at its prediction
        lower, upper = np.minimum(lower - reach, predicted), np.maximum(upper + reach, predicted)
        if not stops:
            return lower, upper
        ends = self.ends_of_scale()
        return np.clip(lower, *ends), np.clip(upper, *ends)

    def _widening(self, level: float) -> float:
        """Return by which share of its width the band is to reach further to both sides; less than 0 to narrow it."""
        n_rows = len(self.truth)
        if n_rows < 2 or np.isinf(conformal_quantile(np.zeros(n_rows), self.weight, level)):
            return np.inf
        groups, beyond = np.arange(n_rows) % _GROUPS, np.empty(n_rows)
        for group in range(min(_GROUPS, n_rows)):
            judged = self.take(groups == group)
            lower, upper = self.take(groups != group)._band(judged.predicted, level)
            outside = np.maximum(lower - judged.truth, judged.truth - upper)
            beyond[groups == group] = outside / self._width(lower, upper)
        order = np.argsort(beyond, kind="stable")
        found = conformal_quantile(beyond[order], self.weight[order], level)
        # a little less than the band may leave out all rows at one level of a scale
        return found if np.isinf(self.ends_of_scale()[0]) else max(0.0, found)

    def _width(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Return the widths of a band, above 0 even where all errors are the same."""
        largest = np.abs(self.truth - self.predicted).max()
        return np.maximum(upper - lower, 1e-9 * largest if largest > 0 else 1.0)

    def _band(self, predicted: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return predictions and central quantiles of errors near them: lines between places with as many rows each."""
        n_rows = len(self.truth)
        n_near = min(n_rows, max(_FEWEST_NEAR, int(np.ceil(_SHARE_NEAR * n_rows))))
        n_places = max(1, round(2 * n_rows / n_near) - 1)  # neighbours share half of their rows
        starts = np.linspace(0, n_rows - n_near, n_places).round().astype(np.int64)
        near = starts[:, None] + np.arange(n_near)
        places = self.predicted[near].mean(axis=1)
        errors = (self.truth - self.predicted)[near]
        tail = (1 - level) / 2
        found = [weighted_quantiles(*each, [tail, 1 - tail]) for each in zip(errors, self.weight[near], strict=True)]
        low, high = np.array(found).T
        return predicted + np.interp(predicted, places, low), predicted + np.interp(predicted, places, high)


def ends_of_scale(values: np.ndarray) -> tuple[float, float]:
    """Return the lowest and the highest of some numbers if few of them differ, as ratings; else there are no ends.

    Examples
    --------
    >>> ends_of_scale(np.tile([1.0, 2.0, 5.0], 10)), ends_of_scale(np.arange(30.0))
    ((1.0, 5.0), (-inf, inf))
    """
    if not len(values) or len(np.unique(values)) * _ROWS_OF_A_LEVEL > len(values):
        return -np.inf, np.inf
    return float(values.min()), float(values.max())


def weighted_quantiles(values: np.ndarray, weight: np.ndarray, levels: list[float]) -> np.ndarray:
    """Return quantiles of weighted values, on lines between the middles of the steps of their distribution function.

    Examples
    --------
    >>> weighted_quantiles(np.array([3.0, 1.0, 2.0]), np.ones(3), [0.5, 2 / 3]).tolist()
    [2.0, 2.5]
    """
    order = np.argsort(values, kind="stable")
    weight = weight[order]
    below = np.cumsum(weight)
    return np.interp(levels, (below - weight / 2) / below[-1], values[order])
