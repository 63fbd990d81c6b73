"""Binary variables joined by edges: pixels beside each other, tags of an ontology, mutations of a pathway."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp

from harmonium.core.support import Support
from harmonium.core.validation import Setting, shown
from harmonium.families.base import Family
from harmonium.families.protocol.codec import Codec
from harmonium.families.protocol.extra_parameters import NO_EXTRA, Extra
from harmonium.families.protocol.sites import Rest
from harmonium.kernels.graphs.elimination import CLAMPED, draw, log_partition_and_means
from harmonium.kernels.graphs.plan import Plan, plan_of
from harmonium.kernels.graphs.tree_reweighted import bound_and_means, gibbs, local_mode

# Slots of a frontier up to which sums are exact, at a cost of 2 to that power for each variable: a convention.
_WIDEST = 11
# Means nearer to 0 or 1 would need infinite natural parameters: a convention, that of the other families.
_INSIDE = 1e-6
# Natural parameters under which a state is as good as certain, those of means of `_INSIDE`.
_CERTAIN = float(np.log1p(-_INSIDE) - np.log(_INSIDE))
# Pseudo-observations, as a share of all rows, after which two ends are together as often as chance has it, as rare
# columns say nothing about their neighbours: a convention.
_BY_CHANCE = 1e-3
_REMEDY = "number columns from 0, or use grid_edges or learn_edges"


class Edges(Setting):
    """``"chain"``, or pairs of whole numbers, of which only the data can tell whether there are such columns."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse what are no pairs."""
        if not _is_chain(value):
            _pairs(owner, name, value)


@dataclass(frozen=True)
class NodesAndProducts(Codec):
    """Codec of binary columns, with their products along edges after them."""

    edges: np.ndarray
    is_affine = False
    rises_together = True

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.n_features - len(self.edges)

    @property
    def n_sites(self) -> int:
        """Number of columns."""
        return self.n_columns

    @property
    def keeps_zeros(self) -> bool:
        """False, as products make columns of their own."""
        return False

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Return the columns and their products; a missing end makes a product missing."""
        return np.concatenate([values, values[:, self.edges[:, 0]] * values[:, self.edges[:, 1]]], axis=1)

    def decode(self, statistic: np.ndarray) -> np.ndarray:
        """Return the columns."""
        return statistic[:, : self.n_columns]

    def missing_sites(self, statistic: np.ndarray) -> np.ndarray:
        """Tell which columns are missing."""
        return np.isnan(statistic[:, : self.n_columns])

    def spread(self, sites: np.ndarray) -> np.ndarray:
        """Repeat values of columns for products: whether either end is true, or else the value of the first end."""
        first, second = sites[:, self.edges[:, 0]], sites[:, self.edges[:, 1]]
        return np.concatenate([sites, first | second if sites.dtype == bool else first], axis=1)

    def feature_names(self, columns: list[str]) -> list[str]:
        """Return the names of the columns, and ``a & b`` for products."""
        return [*columns, *(f"{columns[i]} & {columns[j]}" for i, j in self.edges)]

    @property
    def feature_groups(self) -> dict[str, slice]:
        """Features that say whether a column is present, and whether two are together."""
        return {"present": slice(self.n_columns), "together": slice(self.n_columns, None)}


class Ising(Family):
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
    settings = {"edges": Edges()}
    edges_: np.ndarray

    def __init__(self, edges: Any = "chain") -> None:
        self.edges = edges

    @property
    def support(self) -> Support:
        """The values 0 and 1."""
        return Support("0 or 1", 0, 1, integer=True)

    def bind(self, summary: Any) -> Self:
        """Return a fitted copy that knows its edges."""
        edges = _checked_edges(self.edges, summary.n_columns)
        return self.with_fitted(n_features_=summary.n_columns + len(edges), edges_=edges)

    def restore(self, n_features: int, constants: Mapping[str, np.ndarray]) -> Self:
        """Return a fitted copy with the edges that were saved."""
        edges = np.asarray(constants["edges"], dtype=np.int64).reshape(-1, 2)
        return self.with_fitted(n_features_=n_features, edges_=edges)

    @property
    def codec(self) -> NodesAndProducts:
        """The columns and their products along edges."""
        return NodesAndProducts(self.n_features_, self.edges_)

    @property
    def is_exact(self) -> bool:
        """Whether the graph is narrow enough for exact sums."""
        return self._plan.width <= _WIDEST

    @property
    def _plan(self) -> Plan:
        return plan_of(self.edges_, self.codec.n_columns)

    def _halves(self, natural: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return parameters of nodes and of products, in float64."""
        n_columns = self.codec.n_columns
        return natural[:, :n_columns].astype(np.float64), natural[:, n_columns:].astype(np.float64)

    def _sums(self, natural: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        summed = log_partition_and_means if self.is_exact else bound_and_means
        return summed(*self._halves(natural), self._plan)

    # ---- the exponential family --------------------------------------------------------------------------------
    def log_base(self, values: np.ndarray, extra: Extra = NO_EXTRA, columns: np.ndarray | None = None) -> np.ndarray:
        """Return zeros."""
        return np.zeros_like(values)

    def log_partition(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the log-partition of each row, in equal parts for unknown columns."""
        unknown = np.abs(natural[:, : self.codec.n_columns]) < CLAMPED
        shares = unknown / np.maximum(unknown.sum(axis=1, keepdims=True), 1)
        return (self._sums(natural)[0][:, None] * shares).astype(natural.dtype)

    def mean(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the probabilities of ones, and of both ends of edges."""
        _, means, products = self._sums(natural)
        return np.concatenate([means, products], axis=1).astype(natural.dtype)

    def given_observed(self, natural: np.ndarray, statistic: np.ndarray, missing: np.ndarray) -> np.ndarray:
        """Return the natural parameters of missing columns given the observed ones."""
        n_columns = self.codec.n_columns
        partly = np.logical_and(missing.any(axis=1), ~missing.all(axis=1))
        result = np.where(self.codec.spread(missing), natural, natural.dtype.type(0))
        signs = np.sign(statistic[:, :n_columns] - 0.5).astype(natural.dtype)
        result[:, :n_columns] = np.where(missing, natural[:, :n_columns], 10 * CLAMPED * signs)
        return np.where(partly[:, None], result, natural)

    def sample(
        self, natural: np.ndarray, rng: np.random.Generator, extra: Extra = NO_EXTRA, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Draw all columns of a row together."""
        node, edge = self._halves(natural)
        exact = self.is_exact
        drawn = draw(node, edge, self._plan, rng.random(node.shape)) if exact else gibbs(node, edge, self._plan, rng)
        return self.codec.encode(drawn).astype(natural.dtype)

    def mode(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the most probable state of each row.

        On wide graphs it is one that no single change improves.
        """
        node, edge = self._halves(natural)
        best = draw(node, edge, self._plan, None) if self.is_exact else local_mode(node, edge, self._plan)
        return self.codec.encode(best).astype(natural.dtype)

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Return natural parameters with these means.

        They are exact on trees, and those of tree-reweighted means on other graphs. How often two ends are together is
        shrunk towards what chance gives.
        """
        n_columns, (first, second), share = self.codec.n_columns, self.edges_.T, self._plan.share
        one = np.clip(mean[:n_columns].astype(np.float64), _INSIDE, 1 - _INSIDE)
        a, b = one[first], one[second]
        both = (mean[n_columns:] + _BY_CHANCE * a * b) / (1 + _BY_CHANCE)
        lowest, highest = np.maximum(0, a + b - 1), np.minimum(a, b)
        inside = _INSIDE * (highest - lowest)
        both = np.clip(both, lowest + inside, highest - inside)
        left, right, neither = a - both, b - both, 1 - a - b + both
        node = np.log(one) - np.log1p(-one)
        np.add.at(node, first, share * (np.log(left) - np.log(neither) - np.log(a) + np.log1p(-a)))
        np.add.at(node, second, share * (np.log(right) - np.log(neither) - np.log(b) + np.log1p(-b)))
        edge = share * (np.log(both) + np.log(neither) - np.log(left) - np.log(right))
        return np.concatenate([node, edge]).astype(mean.dtype)

    def saturated_natural(
        self, statistic: np.ndarray, natural: np.ndarray, extra: Extra, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Return parameters of nodes under which each row is all but certain."""
        result = np.zeros_like(natural)
        n_columns = self.codec.n_columns
        result[:, :n_columns] = _CERTAIN * np.sign(statistic[:, :n_columns] - 0.5)
        return result

    def statistic_variance(self, mean: np.ndarray, extra: Extra = NO_EXTRA) -> np.ndarray:
        """Return the variance of zeros and ones."""
        return mean.astype(np.float64) * (1 - mean)

    def probe(
        self, values: np.ndarray, sites: np.ndarray, rest: Rest, rng: np.random.Generator, size: float | None = None
    ) -> float:
        """Return the log-probability of a column given others, times their number."""
        site = int(rng.choice(sites))
        states = np.tile(values[: self.codec.n_columns], (2, 1))
        states[:, site] = [0, 1]
        away = self.codec.encode(states) - values
        score = away @ rest.bias + rest.log_hidden(rest.natural + away @ rest.weights.astype(np.float64))
        return len(sites) * float(score[int(values[site] > 0.5)] - logsumexp(score))


def grid_edges(n_rows: int, n_columns: int) -> np.ndarray:
    """Return the edges between neighbours of a grid.

    The rows of the grid stand one after the other.

    Parameters
    ----------
    n_rows, n_columns : int
        Height and width of the grid.

    Returns
    -------
    ndarray of int of shape (n_edges, 2)
        Numbers of the cells that are beside each other or below each other.

    Examples
    --------
    >>> grid_edges(2, 2).tolist()
    [[0, 1], [2, 3], [0, 2], [1, 3]]
    """
    cells = np.arange(n_rows * n_columns).reshape(n_rows, n_columns)
    beside = np.stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()], axis=1)
    below = np.stack([cells[:-1].ravel(), cells[1:].ravel()], axis=1)
    return np.concatenate([beside, below])


def learn_edges(X: Any, C: float = 0.1, max_edges: int | None = None) -> np.ndarray:
    """Find edges by L1-penalised logistic regressions of columns on others.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns)
        Zeros and ones.
    C : float, default=0.1
        Inverse strength of the penalty; more gives more edges.
    max_edges : int or None, default=None
        Keep the strongest edges up to this number; ``None`` keeps all.

    Returns
    -------
    ndarray of int of shape (n_edges, 2)
        Pairs of columns that both regressions join, the strongest first.

    References
    ----------
    Ravikumar, Wainwright & Lafferty (2010), High-dimensional Ising model selection using l1-regularized logistic
    regression.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.integers(0, 2, size=(300, 3))
    >>> rows[:, 2] = np.where(rng.random(300) < 0.9, rows[:, 0], 1 - rows[:, 0])
    >>> learn_edges(rows).tolist()
    [[0, 2]]
    """
    from sklearn.linear_model import LogisticRegression  # late, for a quick start

    values = np.asarray(X, dtype=np.float64)
    n_columns = values.shape[1]
    # the name of the setting since scikit-learn 1.8, and before
    is_new = getattr(LogisticRegression(), "penalty", "deprecated") == "deprecated"
    penalty: dict[str, Any] = {"l1_ratio": 1.0} if is_new else {"penalty": "l1"}
    found = np.zeros((n_columns, n_columns))
    for column in range(n_columns):
        target = values[:, column]
        if target.min() < target.max():
            others = np.delete(np.arange(n_columns), column)
            model = LogisticRegression(C=C, solver="liblinear", random_state=0, **penalty)
            found[column, others] = model.fit(values[:, others], target).coef_[0]
    strength = np.triu(np.minimum(np.abs(found), np.abs(found.T)))
    edges = np.argwhere(strength > 0)
    return edges[np.argsort(-strength[tuple(edges.T)], kind="stable")][:max_edges]


def _checked_edges(given: Any, n_columns: int) -> np.ndarray:
    """Return edges as pairs of columns, each pair once with its smaller number first."""
    if _is_chain(given):
        return np.stack([np.arange(n_columns - 1), np.arange(1, n_columns)], axis=1)
    edges = _pairs("Ising", "edges", given)
    wrong = (edges < 0).any(axis=1) | (edges >= n_columns).any(axis=1) | (edges[:, 0] == edges[:, 1])
    if wrong.any():
        raise ValueError(
            f"Edges must join two different of the {n_columns} columns; got {edges[wrong][0].tolist()}; {_REMEDY}."
        )
    edges = np.sort(edges.astype(np.int64), axis=1)
    if len(np.unique(edges, axis=0)) < len(edges):
        raise ValueError(f"Each edge may be given once; got some twice among {len(edges)}; use numpy.unique.")
    return edges


def _is_chain(given: Any) -> bool:
    return isinstance(given, str) and given == "chain"


def _pairs(owner: str, name: str, given: Any) -> np.ndarray:
    """Return edges as whole numbers in two columns; refuse what are no pairs of them."""
    try:
        edges = np.asarray(given)
    except ValueError:  # rows of different lengths, refused for their kind
        edges = np.array(None)
    edges = edges.reshape(-1, 2).astype(np.int64) if edges.size == 0 and edges.dtype.kind in "iuf" else edges
    if edges.dtype.kind not in "iu" or edges.ndim != 2 or edges.shape[1] != 2:
        raise ValueError(
            f"{owner} needs {name} 'chain' or an array of two columns each; got {shown(given)}; {_REMEDY}."
        )
    return edges
