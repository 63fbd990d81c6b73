"""Regression of topics on covariates, which holds what is not known of the topics of each item.

What an item has of a topic is inferred. A regression of E[h | x] takes it for known, and its effects are too small:
items of which the model is unsure are pulled to the average. The method of composition draws the topics of each item,
given the item and what the covariates say of it, regresses the draws, and draws again. Here is what that comes to with
infinitely many draws: the root of an estimating equation, with the robust covariance of such a root.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harmonium.hidden import HiddenLayer

# Newton steps at most, and how often one is halved: conventions, they end much earlier. So is what counts as the root,
# a share of a standard error.
_STEPS, _HALVINGS, _CLOSE = 50, 8, 1e-4
# Items that the distribution of a topic is taken from, at most; tilts of it that are tabulated, and the largest of them
# in units of one over its standard deviation. Conventions: tilts between are interpolated.
_ITEMS, _N_TILTS, _LARGEST = 2000, 161, 8.0
# Share of a topic's variance that items tell, from which on errors are believed whatever covariates say. Below it,
# where covariates would have topics be what they cannot, 60 % of the effects of noise had p < 0.05; of all others 5 %.
_TOLD = 0.5

#: units that a topic is made of, each with the share of it that items have
Parts = Sequence[tuple[int, np.ndarray | float]]


@dataclass(frozen=True)
class Regression:
    """Coefficients of a regression for each topic.

    Attributes
    ----------
    coefficients, deviations : ndarray of shape (terms, topics)
        Estimates and their standard errors, which are NaN where a line leaves the range of what a topic can be.
    freedom : int
        Degrees of freedom of the residuals.
    """

    coefficients: np.ndarray
    deviations: np.ndarray
    freedom: int


def regress(
    layer: HiddenLayer, natural: np.ndarray, design: np.ndarray, topics: Sequence[Parts] | None = None
) -> Regression:
    """Return the regression of what items have of each topic on the columns of a design.

    Residuals may vary from item to item: to each square, the share of the residual variance is added that the item's
    leverage takes from it, so that a group of one item has an error as well.

    Parameters
    ----------
    layer : HiddenLayer
        Fitted layer of the topics.
    natural : ndarray of shape (items, units)
        Natural parameters of the units given the items.
    design : ndarray of shape (items, terms)
        Columns of full rank, the constant among them.
    topics : sequence of Parts, optional
        Topics that are sums of shares of units. Default: each unit is a topic.

    Notes
    -----
    With m(t) the mean of a topic given an item when its distribution is tilted by exp(t h), and t(μ) the tilt by which
    the topic has the mean μ over all items, the coefficients b solve Σ z (m(t(zᵀb)) - zᵀb) = 0: the topics of the
    items, given items and covariates, are on average as the covariates say. The coefficients of a sum Σ s h of shares s
    are those of Σ s m(t(zᵀb)), whose error is that of its own residual and of the b of each unit.
    """
    units = _TiltedUnits(layer, natural.astype(np.float64))
    projection = np.linalg.pinv(design)
    coefficients, residual, missing = _root(units, design, projection)
    freedom = max(len(design) - design.shape[1], 1)
    leverage = np.einsum("ij,ji->i", design, projection)[:, None]
    squares = np.square(residual)
    squares += leverage * squares.sum(axis=0) / freedom
    spread = np.linalg.pinv(_information(missing, design, projection)) @ projection
    deviations = np.sqrt(np.einsum("tqi,it->qt", np.square(spread), squares))
    beyond = units.are_left(design @ coefficients)
    deviations[:, beyond] = np.nan
    if topics is None:
        return Regression(coefficients, deviations, freedom)
    means = design @ coefficients + residual
    estimates, errors = np.full((2, design.shape[1], len(topics)), np.nan)
    for place, parts in enumerate(topics):
        value = np.sum([share * means[:, unit] for unit, share in parts], axis=0)
        estimates[:, place] = projection @ value
        reach, left = [projection], [value - design @ estimates[:, place]]
        for unit, share in parts:
            reach.append(projection @ ((share * missing[:, unit])[:, None] * design) @ spread[unit])
            left.append(residual[:, unit])
        if not any(beyond[unit] for unit, _ in parts):
            errors[:, place] = _deviation(np.stack(reach), np.stack(left), leverage[:, 0], freedom)
    return Regression(estimates, errors, freedom)


def _deviation(reach: np.ndarray, left: np.ndarray, leverage: np.ndarray, freedom: int) -> np.ndarray:
    """Return the standard errors of what several residuals of an item move together, each by its reach."""
    own = np.square(np.einsum("cqi,ci->qi", reach, left)).sum(axis=1)
    common = np.einsum("cd,dqi->cqi", left @ left.T / freedom, reach)
    return np.asarray(np.sqrt(own + np.einsum("cqi,cqi,i->q", reach, common, leverage)))


def _root(units: _TiltedUnits, design: np.ndarray, projection: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the coefficients by Newton steps, what is left of each item, and the share supplied by covariates."""

    def at(coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        fitted = design @ coefficients
        mean, by_fitted = units.given(fitted)
        return mean - fitted, by_fitted, np.linalg.norm(design @ (projection @ (mean - fitted)), axis=0)

    coefficients = projection @ units.own_mean
    residual, missing, size = at(coefficients)
    for _ in range(_STEPS):
        if (size <= _CLOSE * np.linalg.norm(residual, axis=0) / np.sqrt(len(design))).all():
            break
        inverse = np.linalg.pinv(_information(missing, design, projection))
        step = np.einsum("tqr,rt->qt", inverse, projection @ residual)
        for _ in range(_HALVINGS):
            trial = at(coefficients + step)
            worse = trial[2] > size
            if not worse.any():
                break
            step[:, worse] /= 2
        step[:, worse] = 0.0
        coefficients = coefficients + step
        residual, missing, size = at(coefficients)
    return coefficients, residual, missing


def _information(missing: np.ndarray, design: np.ndarray, projection: np.ndarray) -> np.ndarray:
    """Return the share of the information on the coefficients that items bring, a matrix for each topic."""
    return np.eye(len(projection)) - np.stack([projection @ (column[:, None] * design) for column in missing.T])


class _TiltedUnits:
    """Units given items, when something else is known: p(h | x) exp(t h), up to a factor, with a tilt t for each item.

    Over all items, a unit has the mean of their distributions. Tilted to another mean, this is what covariates say of
    an item; its ratio to the mean distribution is what they add to p(h | x).
    """

    def __init__(self, layer: HiddenLayer, natural: np.ndarray) -> None:
        self.layer, self.natural = layer, natural
        self.own_mean, self.own_variance = layer.mean(natural), layer.mean_derivative(natural)
        deviation = np.sqrt(np.maximum(self.own_mean.var(axis=0) + self.own_variance.mean(axis=0), 1e-12))
        grid = np.sinh(np.linspace(-4, 4, _N_TILTS)) / np.sinh(4)
        self._grid = _LARGEST * grid[:, None] / deviation
        rows = np.unique(np.linspace(0, len(natural) - 1, min(len(natural), _ITEMS)).astype(np.int64))
        self._marginal = np.stack([self._marginal_mean(tilt, rows) for tilt in self._grid])
        self._is_told = self.own_mean.var(axis=0) >= _TOLD * np.square(deviation)

    def are_left(self, fitted: np.ndarray) -> np.ndarray:
        """Tell which units cannot have the means of some item, and are told too little by items to do without."""
        is_beyond = (fitted <= self._marginal[0]) | (fitted >= self._marginal[-1])
        return np.asarray(is_beyond.any(axis=0) & ~self._is_told)

    def given(self, fitted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the means of units given each item and what covariates say they are, and derivatives by the latter."""
        tilt, slope = np.empty_like(fitted), np.empty_like(fitted)
        for topic, (known, grid) in enumerate(zip(self._marginal.T, self._grid.T, strict=True)):
            tilt[:, topic] = np.interp(fitted[:, topic], known, grid)
            by_mean = np.gradient(grid) / np.maximum(np.gradient(known), 1e-12)
            inside = (fitted[:, topic] > known[0]) & (fitted[:, topic] < known[-1])  # tilts end there
            slope[:, topic] = inside * np.interp(fitted[:, topic], known, by_mean)
        mean, variance = self._tilted(tilt, slice(None))
        return mean, variance * slope

    def _tilted(self, tilt: np.ndarray, rows: np.ndarray | slice) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of each unit for some items."""
        if self.layer.linear_mean:  # normal units, which may be correlated: each is tilted by itself
            return self.own_mean[rows] + self.own_variance[rows] * tilt, self.own_variance[rows]
        natural = self.natural[rows] + tilt
        return self.layer.mean(natural), self.layer.mean_derivative(natural)

    def _marginal_mean(self, tilt: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the mean of each unit over the items, tilted."""
        if self.layer.linear_mean:
            weight = self.own_mean[rows] * tilt + self.own_variance[rows] * np.square(tilt) / 2
        else:
            natural = self.natural[rows]
            weight = self.layer.log_partition(natural + tilt) - self.layer.log_partition(natural)
        weight = np.exp(weight - weight.max(axis=0))
        return np.asarray((weight * self._tilted(tilt, rows)[0]).sum(axis=0) / weight.sum(axis=0))
