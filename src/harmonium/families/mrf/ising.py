"""Binary variables joined by edges: pixels beside each other, tags of an ontology, mutations of a pathway."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from harmonium.core.support import Support
from harmonium.families.mrf.edges import checked_edges
from harmonium.families.mrf.pairwise import BY_CHANCE, INSIDE, Pairwise
from harmonium.families.protocol.states import States


@dataclass(frozen=True)
class NodesAndProducts(States):
    """Codec of binary columns, with their products along edges after them."""

    @property
    def cell_features(self) -> np.ndarray:
        """The ones of columns, and pairs of ones."""
        columns = np.stack([np.full(self.n_columns, -1), np.arange(self.n_columns)], axis=1)
        pairs = np.full((len(self.edges), 4), -1)
        pairs[:, 3] = self.n_columns + np.arange(len(self.edges))
        return np.concatenate([columns.ravel(), pairs.ravel()])

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Return the columns and their products."""
        return np.concatenate([values, values[:, self.edges[:, 0]] * values[:, self.edges[:, 1]]], axis=1)

    def decode(self, statistic: np.ndarray) -> np.ndarray:
        """Return the columns."""
        return statistic[:, : self.n_columns]

    def feature_names(self, columns: list[str]) -> list[str]:
        """Return the names of the columns, and ``a & b`` for products."""
        return [*columns, *(f"{columns[i]} & {columns[j]}" for i, j in self.edges)]


class Ising(Pairwise):
    """Family of zeros and ones joined by edges, an Ising model.

    The log-potential of a row is Σ node_i x_i + Σ edge_ij x_i x_j, and both kinds of natural parameters are biases plus
    weights times hidden units: a hidden unit may make columns more frequent, and may make two of them come together.
    Trees, cycles and narrow grids (up to a width of ten) are summed exactly, for means, log-partitions, draws, and
    columns that are missing beside others that are not. On wider graphs means and log-partitions are those of
    tree-reweighted message passing, an upper bound that is exact on trees, and draws come from Gibbs sampling.

    Parameters
    ----------
    edges : "chain" or array-like of int of shape (n_edges, 2), default="chain"
        The columns that each edge joins. ``"chain"`` joins each column to the next. `grid_edges` gives those of
        pictures, and `learn_edges` finds some in data.

    References
    ----------
    Chen, Zhu, Sun & Xing (2012), Large-margin predictive latent subspace learning for multiview data analysis, §3.1
    and §4.1.2.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Columns, Harmonium
    >>> from harmonium.families import Ising, grid_edges
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.integers(0, 2, size=(200, 2)).repeat(2, axis=1)  # four pixels; those beside each other agree
    >>> model = Harmonium(2, views={"pixels": Columns(slice(4), Ising(grid_edges(2, 2)))}, random_state=0).fit(rows)
    >>> half = np.array([[0, np.nan, 0, np.nan], [1, np.nan, 1, np.nan]])
    >>> filled = model.reconstruct(half)
    >>> bool(filled[0, 1] < 0.2), bool(filled[1, 1] > 0.8)
    (True, True)
    """

    meant_for = "zeros and ones with neighbours"

    def __init__(self, edges: Any = "chain") -> None:
        self.edges = edges

    @property
    def support(self) -> Support:
        """The values 0 and 1."""
        return Support("0 or 1", 0, 1, integer=True)

    def bind(self, summary: Any) -> Self:
        """Return a fitted copy that knows its edges."""
        edges = checked_edges("Ising", self.edges, summary.n_columns)
        return self.with_fitted(n_features_=summary.n_columns + len(edges), edges_=edges)

    def restore(self, n_features: int, constants: Mapping[str, np.ndarray]) -> Self:
        """Return a fitted copy with the edges that were saved."""
        given = constants["edges"].reshape(-1, 2)
        edges = checked_edges("Ising", given, n_features - len(given))
        return self.with_fitted(n_features_=n_features, edges_=edges)

    @property
    def codec(self) -> NodesAndProducts:
        """The columns and their products along edges."""
        sizes = np.full(self.n_features_ - len(self.edges_), 2)
        return NodesAndProducts(self.n_features_, self.edges_, sizes)

    def indicators(self, values: np.ndarray) -> list[np.ndarray]:
        """Return the columns."""
        return list(values.T[:, :, None])

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Return natural parameters with these means.

        They are exact on trees, and those of tree-reweighted means on other graphs. How often two ends are together is
        shrunk towards what chance gives.
        """
        n_columns, (first, second), share = self.codec.n_columns, self.edges_.T, self._plan.share
        one = np.clip(mean[:n_columns].astype(np.float64), INSIDE, 1 - INSIDE)
        a, b = one[first], one[second]
        both = (mean[n_columns:] + BY_CHANCE * a * b) / (1 + BY_CHANCE)
        lowest, highest = np.maximum(0, a + b - 1), np.minimum(a, b)
        inside = INSIDE * (highest - lowest)
        both = np.clip(both, lowest + inside, highest - inside)
        left, right, neither = a - both, b - both, 1 - a - b + both
        node = np.log(one) - np.log1p(-one)
        np.add.at(node, first, share * (np.log(left) - np.log(neither) - np.log(a) + np.log1p(-a)))
        np.add.at(node, second, share * (np.log(right) - np.log(neither) - np.log(b) + np.log1p(-b)))
        edge = share * (np.log(both) + np.log(neither) - np.log(left) - np.log(right))
        return np.concatenate([node, edge]).astype(mean.dtype)
