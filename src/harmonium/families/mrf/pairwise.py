"""Base of the families of columns with a few states each that are joined by edges: pairwise Markov random fields."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

import numpy as np
from scipy.special import logsumexp

from harmonium.families.base import Family
from harmonium.families.mrf.edges import Edges, logistic_coefficients, regression_strengths
from harmonium.families.protocol.extra_parameters import NO_EXTRA, Extra
from harmonium.families.protocol.sites import Rest
from harmonium.families.protocol.states import States
from harmonium.kernels.graphs.elimination import CLAMPED, draw, log_partition_and_means
from harmonium.kernels.graphs.plan import Plan, plan_of
from harmonium.kernels.graphs.tree_reweighted import bound_and_means, gibbs, local_mode

# Means nearer to 0 or 1 would need infinite natural parameters: a convention, that of the other families.
INSIDE = 1e-6
# Natural parameters under which a state is as good as certain, those of means of `INSIDE`.
_CERTAIN = float(np.log1p(-INSIDE) - np.log(INSIDE))
# Pseudo-observations, as a share of all rows, after which two ends are together as often as chance has it, as rare
# states say nothing about their neighbours: a convention.
BY_CHANCE = 1e-3


class Pairwise(Family):
    """Base of families whose log-potential is Σ node_i(x_i) + Σ edge_ij(x_i, x_j).

    A subclass says which features columns and edges have, by its codec, and where natural parameters start. Sums are
    exact on graphs of small frontiers; on others means and log-partitions are those of tree-reweighted message passing,
    an upper bound, and draws come from Gibbs sampling.
    """

    role = "family"  # named here, as this is no family by itself
    settings = {"edges": Edges()}
    edges_: np.ndarray
    #: statistics of rows of which some columns are observed, and which columns of them are missing
    _observed: tuple[np.ndarray, np.ndarray] | None = None

    @property
    @abstractmethod
    def codec(self) -> States:
        """Features of columns and of edges."""

    @abstractmethod
    def indicators(self, values: np.ndarray) -> list[np.ndarray]:
        """Return zeros and ones that say which state each column has.

        Parameters
        ----------
        values : ndarray of float64 of shape (rows, columns)
            Data of the family, none of them missing.

        Returns
        -------
        list of ndarray of shape (rows, indicators)
            One array for each column.
        """

    def strengths(self, values: np.ndarray, C: float) -> np.ndarray:
        """Return how much columns say about each other, by L1-penalised regressions.

        Parameters
        ----------
        values : ndarray of float64 of shape (rows, columns)
            Data of the family, none of them missing.
        C : float
            Inverse strength of the penalty.

        Returns
        -------
        ndarray of shape (columns, columns)
            In row i, the norm of the coefficients of each column in the regressions for column i.
        """
        indicators = self.indicators(values)
        return regression_strengths(indicators, lambda X, y: logistic_coefficients(X, y, C))

    @property
    def is_exact(self) -> bool:
        """Whether the graph is narrow enough for exact sums."""
        return self._plan.elimination is not None

    @property
    def _plan(self) -> Plan:
        return plan_of(self.edges_, self.codec.n_columns, self.codec.sizes)

    def given(self, statistic: np.ndarray, missing: np.ndarray) -> Self:
        """Return the family of the missing columns given the observed ones."""
        return self.updated(_observed=(statistic, missing))

    def _potentials(self, natural: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return potentials of states and of pairs of states; those of observed columns say what their states are."""
        node, edge = self.codec.potentials(natural)
        if self._observed is None:
            return node, edge
        statistic, missing = self._observed
        sizes, partly = self.codec.sizes, missing.any(axis=1, keepdims=True)
        known = np.repeat(~missing & partly, sizes, axis=1)
        # what edges between observed columns weigh is no part of the distribution of the others
        apart = np.repeat(~self.codec.any_end(missing) & partly, sizes[self.edges_].prod(axis=1), axis=1)
        signs = np.sign(self.codec.singles(statistic) - 0.5)
        return np.where(known, 10 * CLAMPED * signs, node), np.where(apart, 0, edge)

    def _sums(self, natural: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        summed = log_partition_and_means if self.is_exact else bound_and_means
        return summed(*self._potentials(natural), self._plan)

    # ---- the exponential family --------------------------------------------------------------------------------
    def log_base(self, values: np.ndarray, extra: Extra = NO_EXTRA, columns: np.ndarray | None = None) -> np.ndarray:
        """Return zeros."""
        return np.zeros_like(values)

    def log_partition(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the log-partition of each row, in equal parts for unknown columns."""
        shape = len(natural), self.codec.n_columns
        unknown = np.ones(shape, dtype=bool) if self._observed is None else self._observed[1]
        shares = unknown / np.maximum(unknown.sum(axis=1, keepdims=True), 1)
        return (self._sums(natural)[0][:, None] * shares).astype(natural.dtype)

    def mean(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the probabilities of what features stand for."""
        return self.codec.of_cells(*self._sums(natural)[1:]).astype(natural.dtype)

    def sample(
        self, natural: np.ndarray, rng: np.random.Generator, extra: Extra = NO_EXTRA, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Draw all columns of a row together."""
        node, edge = self._potentials(natural)
        if self.is_exact:
            drawn = draw(node, edge, self._plan, rng.random((len(node), self.codec.n_columns)))
        else:
            drawn = gibbs(node, edge, self._plan, rng)
        return self.codec.encode(drawn).astype(natural.dtype)

    def mode(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the most probable state of each row.

        On wide graphs it is one that no single change improves.
        """
        node, edge = self._potentials(natural)
        best = draw(node, edge, self._plan, None) if self.is_exact else local_mode(node, edge, self._plan)
        return self.codec.encode(best).astype(natural.dtype)

    def saturated_natural(
        self, statistic: np.ndarray, natural: np.ndarray, extra: Extra, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Return parameters of columns under which each row is all but certain."""
        result = np.zeros_like(natural)
        n_features = self.codec.n_column_features
        result[:, :n_features] = _CERTAIN * np.sign(statistic[:, :n_features] - 0.5)
        return result

    def statistic_variance(self, mean: np.ndarray, extra: Extra = NO_EXTRA) -> np.ndarray:
        """Return the variance of zeros and ones."""
        return mean.astype(np.float64) * (1 - mean)

    def probe(
        self, values: np.ndarray, sites: np.ndarray, rest: Rest, rng: np.random.Generator, size: float | None = None
    ) -> float:
        """Return the log-probability of a column given others, times their number."""
        site, codec = int(rng.choice(sites)), self.codec
        cells = slice(*codec.column_cells[site : site + 2])
        singles = np.repeat(codec.singles(values[None].astype(np.float64)), codec.sizes[site], axis=0)
        present = int(singles[0, cells].argmax())
        singles[:, cells] = np.eye(codec.sizes[site])
        depends = codec.spread(np.arange(codec.n_columns)[None] == site)
        away = np.where(depends, codec.of_cells(singles, codec.pairs(singles)) - values, 0)
        score = away @ rest.bias + rest.log_hidden(rest.natural + away @ rest.weights.astype(np.float64))
        return len(sites) * float(score[present] - logsumexp(score))
