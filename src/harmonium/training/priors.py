"""Gaussian priors of weights: given, or estimated from the draws themselves (empirical Bayes)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from harmonium.parts import Part
from harmonium.validation import Choice, Flag, Number

# no variance is smaller: below, weights are zero for all that single precision can tell
_SMALLEST = 1e-12


@dataclass
class Normal:
    """Mean and variance of the weights of each feature of a view, shape (features,), in float32."""

    mean: np.ndarray
    variance: np.ndarray

    def log_density(self, weights: np.ndarray) -> float:
        """Log-density of the weights, (features, units), but for its constant."""
        square = np.square(weights - self.mean[:, None], dtype=np.float64)
        return -0.5 * float((square / self.variance[:, None]).sum())


@dataclass
class Moments:
    """Sums over draws, chains and units of the weights of each feature and of their squares."""

    total: np.ndarray
    squares: np.ndarray
    count: int = 0

    @classmethod
    def none(cls, n_features: int) -> Moments:
        """Nothing added yet."""
        return cls(np.zeros(n_features), np.zeros(n_features))

    def add(self, weights: np.ndarray) -> None:
        """Add one draw of the weights, (features, units)."""
        self.total += weights.sum(axis=1, dtype=np.float64)
        self.squares += np.square(weights, dtype=np.float64).sum(axis=1)
        self.count += weights.shape[1]


class Prior(Part):
    """What is believed of a view's weights before the data: independent normal numbers, N(μ, σ²) for each feature."""

    role = "prior"
    learns = False

    def start(self, weights: np.ndarray, unit_scale: float) -> Normal:
        """The prior as chains begin at these weights, (features, units).

        ``unit_scale`` is the standard deviation of weights that give an average item hidden naturals of about one.
        """
        raise NotImplementedError

    def update(self, current: Normal, moments: Moments) -> Normal:
        """The prior after the draws of a step of Monte Carlo EM."""
        return current


class GaussianPrior(Prior):
    """The same normal prior for all weights of a view.

    Parameters
    ----------
    mean : float, default=0.0
        Mean μ.
    scale : float, optional
        Standard deviation σ; a large one says little, but leaves chains of brief sampling without hold. Default: such
        that an average item gives hidden units naturals of about one.

    Examples
    --------
    >>> GaussianPrior(scale=0.1).start(np.ones((2, 3)), unit_scale=1.0).variance.astype(float).round(4).tolist()
    [0.01, 0.01]
    """

    settings = {
        "mean": Number(lower=-np.inf, remedy="0 is usual"),
        "scale": Number(remedy="None takes it from the data", also=(None,)),
    }

    def __init__(self, mean: float = 0.0, scale: float | None = None) -> None:
        self.mean = mean
        self.scale = scale

    def start(self, weights: np.ndarray, unit_scale: float) -> Normal:
        """The prior itself."""
        return _constant(len(weights), self.mean, unit_scale if self.scale is None else self.scale)


class EmpiricalBayes(Prior):
    """Mean and variance estimated from draws of the weights (Monte Carlo EM; eq. 23-27 of Guo & Xing 2006).

    They follow the draws during warm-up, and stay as they are while draws are kept.

    Parameters
    ----------
    per : {"view", "input"}, default="view"
        Whether all features of a view share one prior, or each has its own, as in the paper. The latter has as many
        means to learn as there are features; with few items they take up what weights should say, with too much trust.
    centred : bool, default=False
        Hold the mean at zero. Then the prior is the same in all rotations of Gaussian units, which are arbitrary.
    begin : {"data", "weights"}, default="data"
        Where it begins: as `GaussianPrior()` does, or as mean and variance of the weights that chains start from, the
        paper's choice. Where data say little, Monte Carlo EM moves little, so that it matters.

    Examples
    --------
    >>> moments = Moments.none(2)
    >>> moments.add(np.array([[0.0, 2.0], [3.0, 3.0]]))
    >>> before = GaussianPrior(scale=1.0).start(np.zeros((2, 2)), 1.0)
    >>> EmpiricalBayes().update(before, moments).mean.tolist()
    [2.0, 2.0]
    >>> EmpiricalBayes(per="input").update(before, moments).mean.tolist()
    [1.0, 3.0]
    """

    settings = {"per": Choice(("view", "input")), "centred": Flag(), "begin": Choice(("data", "weights"))}
    learns = True

    def __init__(
        self,
        per: Literal["view", "input"] = "view",
        centred: bool = False,
        begin: Literal["data", "weights"] = "data",
    ) -> None:
        self.per = per
        self.centred = centred
        self.begin = begin

    def start(self, weights: np.ndarray, unit_scale: float) -> Normal:
        """The scale alone, or moments of the weights, where features whose weights are all alike get some variance."""
        if self.begin == "data":
            return _constant(len(weights), 0.0, unit_scale)
        moments = Moments.none(len(weights))
        moments.add(weights)
        found = self._estimate(moments)
        typical = float(found.variance.mean(dtype=np.float64))
        return Normal(found.mean, np.maximum(found.variance, np.float32(0.1 * typical)))

    def update(self, current: Normal, moments: Moments) -> Normal:
        """Moments of the weights over units, chains and draws."""
        return self._estimate(moments)

    def _estimate(self, moments: Moments) -> Normal:
        mean, square = moments.total / moments.count, moments.squares / moments.count
        if self.centred:
            mean = np.zeros_like(mean)
        if self.per == "view":
            mean, square = np.full_like(mean, mean.mean()), np.full_like(square, square.mean())
        return Normal(mean.astype(np.float32), np.maximum(square - mean**2, _SMALLEST).astype(np.float32))


def _constant(n_features: int, mean: float, scale: float) -> Normal:
    return Normal(np.full(n_features, mean, np.float32), np.full(n_features, max(scale**2, _SMALLEST), np.float32))
