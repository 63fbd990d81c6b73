"""Real numbers joined by edges: temperatures of neighbouring stations, grey values of pixels, genes of a pathway."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from harmonium.core.distributions import NormalDistribution
from harmonium.core.support import Support
from harmonium.families.base import Family
from harmonium.families.mrf.edges import Edges, checked_edges, lasso_coefficients, regression_strengths
from harmonium.families.numerics.gaps import Gaps
from harmonium.families.protocol.codec import Standardized
from harmonium.families.protocol.domain import Domain
from harmonium.families.protocol.extra_parameters import NO_EXTRA, Extra, ExtraParameters
from harmonium.families.protocol.scale import scales_of
from harmonium.families.protocol.sites import Rest, log_total

# Where variances start, and limits of variances and couplings of standardised columns: conventions. The smallest one
# keeps the likelihood from growing without limit on columns that are nearly determined.
_START, _LOWEST, _HIGHEST, _STRONGEST = 0.5, 0.01, 100.0, 100.0


def precision_matrix(extra: Extra, edges: np.ndarray) -> np.ndarray:
    """Return the precision of columns given the hidden units, in float64; positive definite whatever couplings are.

    Examples
    --------
    >>> extra = {"log_variance": np.zeros(2), "coupling": np.array([-3.0])}
    >>> precision_matrix(extra, np.array([[0, 1]])).tolist()
    [[4.0, 3.0], [3.0, 4.0]]
    """
    coupling = np.asarray(extra["coupling"], dtype=np.float64)
    first, second = edges.T
    precision = np.diag(np.exp(-np.asarray(extra["log_variance"], dtype=np.float64)))
    for end in (first, second):
        np.add.at(precision, (end, end), np.abs(coupling))
    precision[first, second] -= coupling
    precision[second, first] -= coupling
    return precision


@dataclass(frozen=True)
class Couplings(ExtraParameters):
    """Logarithms of the variances of columns apart from their neighbours, and how strongly edges couple columns."""

    n_features: int
    edges: np.ndarray

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """Limits of both."""
        return {
            "log_variance": (float(np.log(_LOWEST)), float(np.log(_HIGHEST))),
            "coupling": (-_STRONGEST, _STRONGEST),
        }

    @property
    def initial(self) -> dict[str, np.ndarray]:
        """The same variance for all columns, and no coupling."""
        return {"log_variance": np.full(self.n_features, np.log(_START)), "coupling": np.zeros(len(self.edges))}

    def statistics(
        self,
        mean: np.ndarray,
        extra: Extra,
        inferred: bool | np.ndarray,
        columns: np.ndarray | None = None,
    ) -> dict[str, np.ndarray]:
        """Return expected derivatives of the log-density: a column for each column of data, and one for each edge."""
        square, product = self._moments(mean, extra, inferred)
        ends = square[:, self.edges[:, 0]] + square[:, self.edges[:, 1]]
        return {
            "log_variance": 0.5 * np.exp(-extra["log_variance"]) * square,
            "coupling": product - 0.5 * np.sign(extra["coupling"]) * ends,
        }

    def _moments(self, mean: np.ndarray, extra: Extra, inferred: bool | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return expected squares of columns and expected products along edges."""
        first, second = self.edges.T
        square, product = np.square(mean), mean[:, first] * mean[:, second]
        unknown = np.broadcast_to(inferred, mean.shape)
        if not unknown.any():
            return square, product
        for rows, columns, root in Gaps(unknown).roots(precision_matrix(extra, self.edges)):
            whole = np.zeros((*columns.shape, mean.shape[1]))
            np.put_along_axis(whole, columns[:, None, :], root, axis=2)
            square[rows] += np.square(whole).sum(axis=1)[:, None].astype(mean.dtype)
            product[rows] += (whole[:, :, first] * whole[:, :, second]).sum(axis=1)[:, None].astype(mean.dtype)
        return square, product


@dataclass(frozen=True)
class JoinedLine(Domain):
    """All natural parameters, with log-partitions that grow as their squares."""

    lower: float = -1e4
    upper: float = 1e4
    edges: np.ndarray = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))

    def curvature(self, weights: np.ndarray, extra: Extra) -> np.ndarray | None:
        """Return Wᵀ Σ W, with the covariance Σ of columns given the hidden units."""
        solved: np.ndarray = np.linalg.solve(precision_matrix(extra, self.edges), weights)
        return (weights.T @ solved).astype(weights.dtype)


@dataclass(frozen=True)
class DenseStandardized(Standardized):
    """Codec of standardised columns that depend on each other, so that zeros are values like others."""

    @property
    def keeps_zeros(self) -> bool:
        """False, whatever the location."""
        return False


class GaussianMRF(Family):
    """Family of real numbers joined by edges, a Gaussian Markov random field.

    The log-density of a standardised row is, up to a constant,
    ``Σ η_i x_i - Σ x_i² / 2σ_i² - Σ |c_ij| (x_i - sign(c_ij) x_j)² / 2``: a coupling c_ij above 0 pulls the two ends of
    an edge together, and one below 0 pulls one end to minus the other. Hidden units shift the natural parameters η;
    variances σ² and couplings are shared by all rows, and learned with the rest. Given the hidden units and all other
    columns, two columns without an edge are independent. Everything is in closed form: means, log-partitions, draws,
    and columns that are missing beside others that are not.

    Parameters
    ----------
    edges : "chain" or array-like of int of shape (n_edges, 2), default="chain"
        The columns that each edge joins. ``"chain"`` joins each column to the next. `grid_edges` gives those of
        pictures, and `learn_edges` finds some in data.

    See Also
    --------
    Gaussian : Columns that are independent given the hidden units.

    Notes
    -----
    The precision is positive definite for all couplings, as it is diagonally dominant. Diagonal dominance is less than
    what a precision may be: a column with many neighbours can have none of them strongly coupled to it alone. Couplings
    start at 0 and are learned by gradients; `Spectral` takes none, and leaves them there.

    References
    ----------
    Rue & Held (2005), Gaussian Markov random fields.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Columns, Harmonium
    >>> from harmonium.families import GaussianMRF
    >>> walk = np.random.default_rng(0).normal(size=(300, 6)).cumsum(axis=1)
    >>> model = Harmonium(1, views={"path": Columns(slice(6), GaussianMRF())}, random_state=0).fit(walk)
    >>> gap = np.array([[0, 1, np.nan, 3, 4, 5]])
    >>> bool(1 < model.reconstruct(gap)[0, 2] < 3)  # between its neighbours
    True
    """

    meant_for = "real numbers with neighbours"
    settings = {"edges": Edges()}
    whole_constants = ("edges",)
    edges_: np.ndarray
    location_: np.ndarray
    scale_: np.ndarray
    #: statistics of rows of which some columns are observed, zero where they are missing, and which columns these are
    _observed: tuple[np.ndarray, Gaps] | None = None

    def __init__(self, edges: Any = "chain") -> None:
        self.edges = edges

    @property
    def support(self) -> Support:
        """All finite real numbers."""
        return NormalDistribution(0.0).support

    def bind(self, summary: Any) -> Self:
        """Return a fitted copy that knows its edges, and location and scale of columns."""
        edges = checked_edges("GaussianMRF", self.edges, summary.n_columns)
        scale = scales_of(summary.variance, summary.mean, summary.is_sparse)
        return self.with_fitted(n_features_=summary.n_columns, edges_=edges, location_=summary.mean, scale_=scale)

    def restore(self, n_features: int, constants: Mapping[str, np.ndarray]) -> Self:
        """Return a fitted copy with the constants that were saved, if they fit."""
        edges = checked_edges("GaussianMRF", constants["edges"].reshape(-1, 2), n_features)
        return super().restore(n_features, {**constants, "edges": edges})

    @property
    def codec(self) -> DenseStandardized:
        """The standardised values."""
        return DenseStandardized(self.n_features_, self.location_, self.scale_)

    @property
    def domain(self) -> JoinedLine:
        """All natural parameters."""
        return JoinedLine(edges=self.edges_)

    @property
    def extra_parameters(self) -> Couplings:
        """Variances and couplings."""
        return Couplings(self.n_features_, self.edges_)

    def given(self, statistic: np.ndarray, missing: np.ndarray) -> Self:
        """Return the family of the missing columns given the observed ones."""
        return self.updated(_observed=(np.where(missing, 0.0, statistic), Gaps(missing)))

    def strengths(self, values: np.ndarray, C: float) -> np.ndarray:
        """Return how much columns say about each other, by L1-penalised regressions.

        Parameters
        ----------
        values : ndarray of float64 of shape (rows, columns)
            Real numbers, none of them missing.
        C : float
            Inverse strength of the penalty.

        Returns
        -------
        ndarray of shape (columns, columns)
            In row i, the absolute coefficients of all columns in the regression for column i, all standardised.
        """
        spread = values.std(axis=0)
        standardized = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        return regression_strengths(list(standardized.T[:, :, None]), lambda X, y: lasso_coefficients(X, y, C))

    # ---- the exponential family --------------------------------------------------------------------------------
    def log_base(self, values: np.ndarray, extra: Extra = NO_EXTRA, columns: np.ndarray | None = None) -> np.ndarray:
        """Return -x_i (Q x)_i / 2, the part of each column in -xᵀ Q x / 2."""
        return (-0.5 * values * (values @ precision_matrix(extra, self.edges_))).astype(values.dtype)

    def log_partition(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the log-partition of each row, in equal parts for unknown columns."""
        parts = np.zeros(natural.shape)
        for rows, columns, root, white in self._whitened(natural, extra):
            log_root = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
            total = 0.5 * np.square(white).sum(axis=2) + log_root[:, None]
            part = total / columns.shape[1] + 0.5 * np.log(2 * np.pi)
            parts[rows[:, :, None], columns[:, None, :]] = part[:, :, None]
        return parts.astype(natural.dtype)

    def mean(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the means of unknown columns; observed ones are as they are."""
        return self._moved(natural, extra, np.zeros(natural.shape))

    def sample(
        self, natural: np.ndarray, rng: np.random.Generator, extra: Extra = NO_EXTRA, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Draw all columns of a row together."""
        return self._moved(natural, extra, rng.standard_normal(natural.shape))

    def mode(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the means."""
        return self.mean(natural, extra)

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Return mean / σ² at the initial variance, when nothing is coupled yet."""
        return mean * np.exp(-self.extra_parameters.initial["log_variance"])

    def saturated_natural(
        self, statistic: np.ndarray, natural: np.ndarray, extra: Extra, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the precision times the row."""
        return (statistic @ precision_matrix(extra, self.edges_)).astype(statistic.dtype)

    def statistic_variance(self, mean: np.ndarray, extra: Extra = NO_EXTRA) -> np.ndarray:
        """Return the variances of columns given the hidden units."""
        return np.diag(np.linalg.inv(precision_matrix(extra, self.edges_))).copy()

    def probe(
        self, values: np.ndarray, sites: np.ndarray, rest: Rest, rng: np.random.Generator, size: float | None = None
    ) -> float:
        """Return the log-density of a column given others, times their number."""
        site = int(rng.choice(sites))
        present, weight = float(values[site]), rest.weights[site].astype(np.float64)
        row = precision_matrix(rest.extra, self.edges_)[site]
        # what the other columns add to the natural parameter of this one
        linear = float(rest.bias[site]) - float(row @ values - row[site] * present)

        def log_density(states: np.ndarray) -> np.ndarray:
            own = linear * states - 0.5 * row[site] * np.square(states)
            return own + rest.log_hidden(rest.natural + np.outer(states - present, weight))

        centre = (linear + float(rest.hidden_mean(rest.natural) @ weight)) / row[site]
        total = log_total(log_density, self.support, (present, centre), 0.125 / float(np.sqrt(row[site])))
        return (float(log_density(np.array([present]))[0]) - total) * len(sites)

    def _moved(self, natural: np.ndarray, extra: Extra, noise: np.ndarray) -> np.ndarray:
        """Return rows whose unknown columns are away from their means by independent noise times the root."""
        result = np.zeros(natural.shape) if self._observed is None else self._observed[0].astype(np.float64)
        for rows, columns, root, white in self._whitened(natural, extra):
            own = rows[:, :, None], columns[:, None, :]
            result[own] = (white + noise[own]) @ root
        return result.astype(natural.dtype)

    def _whitened(
        self, natural: np.ndarray, extra: Extra
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Yield what `Gaps.roots` does, and natural parameters times the transposed roots.

        Observed neighbours are in these natural parameters.
        """
        precision = precision_matrix(extra, self.edges_)
        if self._observed is None:
            shifted, gaps = natural, Gaps(np.ones(natural.shape, dtype=bool))
        else:
            known, gaps = self._observed
            shifted = natural - known @ precision
        for rows, columns, root in gaps.roots(precision):
            yield rows, columns, root, shifted[rows[:, :, None], columns[:, None, :]] @ root.swapaxes(1, 2)
