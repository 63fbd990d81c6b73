"""Category codes joined by edges: grey levels of pixels, states of a sequence, labels of a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from harmonium.core.support import Support
from harmonium.core.validation import Anything, Choice
from harmonium.families.categorical import OneHot, bound_groups, checked_groups
from harmonium.families.mrf.edges import Edges, checked_edges
from harmonium.families.mrf.pairwise import BY_CHANCE, INSIDE, Pairwise
from harmonium.families.protocol.extra_parameters import NO_EXTRA, Extra
from harmonium.families.protocol.states import States

# Rounds of iterative proportional fitting, which ends where margins and agreements are met: a convention.
_ROUNDS = 50


@dataclass(frozen=True)
class OneHotAndPairs(States):
    """Codec of category codes: one-hot, then whether the ends of edges agree, or all pairs of their codes."""

    has_tables: bool

    @property
    def cell_features(self) -> np.ndarray:
        """All codes; codes that agree, or all pairs."""
        edge, first, second = self.edge_cells
        own = np.arange(self.sizes.sum())
        pairs = np.arange(len(edge)) if self.has_tables else np.where(first == second, edge, -1 - len(own))
        return np.concatenate([own, len(own) + pairs])

    @property
    def largest(self) -> np.ndarray | None:
        """Largest code of each column."""
        return self.sizes - 1

    @property
    def codes(self) -> OneHot:
        """Codec of the columns alone."""
        return OneHot(int(self.sizes.sum()), self.column_cells)

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Return the features of codes and of pairs; refuse codes that are too large."""
        singles = self.codes.encode(values)
        return self.of_cells(singles, self.pairs(singles)).astype(values.dtype)

    def feature_names(self, columns: list[str]) -> list[str]:
        """Return names such as ``column=code``, then ``a = b`` for agreement or ``a=code & b=code`` for pairs."""
        names = self.codes.feature_names(columns)
        if not self.has_tables:
            return [*names, *(f"{columns[i]} = {columns[j]}" for i, j in self.edges)]
        blocks = np.split(np.array(names, dtype=object), self.column_cells[1:-1])
        return [*names, *(f"{a} & {b}" for i, j in self.edges for a in blocks[i] for b in blocks[j])]


class Potts(Pairwise):
    """Family of category codes joined by edges, a Potts model.

    The log-potential of a row is Σ node_i(x_i) + Σ edge_ij(x_i, x_j), and both kinds of natural parameters are biases
    plus weights times hidden units: a hidden unit may make codes more frequent, and may make neighbours agree. Trees,
    cycles and narrow grids are summed exactly, for means, log-partitions, draws, and columns that are missing beside
    others that are not; a variable then costs as many additions as the columns that wait for their last neighbour have
    joint states, and 2,048 are the most. On wider graphs means and log-partitions are those of tree-reweighted message
    passing, an upper bound that is exact on trees, and draws come from Gibbs sampling.

    Parameters
    ----------
    edges : "chain" or array-like of int of shape (n_edges, 2), default="chain"
        The columns that each edge joins. ``"chain"`` joins each column to the next. `grid_edges` gives those of
        pictures, and `learn_edges` finds some in data.
    coupling : {"agree", "table"}, default="agree"
        What an edge looks at: "agree" is whether its two ends have the same code, one number for each edge; "table" is
        which codes they have, one number for each pair of codes.
    n_categories : int or list of int, optional
        Number n of categories of all columns, or of each column; codes are 0 to n - 1. By default it is the largest
        code in the training data plus 1.

    See Also
    --------
    Ising : The same for zeros and ones.
    Categorical : Codes that are independent given the hidden units.

    References
    ----------
    Chen, Zhu, Sun & Xing (2012), Large-margin predictive latent subspace learning for multiview data analysis, §3.1
    and §4.1.2.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Columns, Harmonium
    >>> from harmonium.families import Potts, grid_edges
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.integers(0, 3, size=(200, 2)).repeat(2, axis=1)  # four pixels; those beside each other agree
    >>> model = Harmonium(2, views={"pixels": Columns(slice(4), Potts(grid_edges(2, 2)))}, random_state=0).fit(rows)
    >>> filled = model.reconstruct(np.array([[0, np.nan, 2, np.nan]]))
    >>> filled[0, 3:6].argmax(), filled[0, 9:12].argmax()  # probabilities of the three codes of two pixels
    (np.int64(0), np.int64(2))
    """

    meant_for = "category codes with neighbours"
    settings = {"edges": Edges(), "coupling": Choice(("agree", "table")), "n_categories": Anything()}
    groups_: np.ndarray
    whole_constants = ("edges", "groups")

    def __init__(
        self,
        edges: Any = "chain",
        coupling: Literal["agree", "table"] = "agree",
        n_categories: int | list[int] | None = None,
    ) -> None:
        self.edges = edges
        self.coupling = coupling
        self.n_categories = n_categories

    @property
    def support(self) -> Support:
        """Codes from 0 up; the largest one of each column is checked when encoding."""
        return Support("category codes 0, 1, 2, …", 0, integer=True)

    def bind(self, summary: Any) -> Self:
        """Return a fitted copy that knows its edges and the features of each column."""
        edges = checked_edges("Potts", self.edges, summary.n_columns)
        return self._fitted(edges, bound_groups("Potts", self.n_categories, summary))

    def restore(self, n_features: int, constants: Mapping[str, np.ndarray]) -> Self:
        """Return a fitted copy with the edges and blocks that were saved, if they fit."""
        groups = checked_groups(constants["groups"])
        family = self._fitted(checked_edges("Potts", constants["edges"].reshape(-1, 2), len(groups) - 1), groups)
        if family.n_features_ != n_features:
            raise ValueError(f"edges and groups must make {n_features} features; they make {family.n_features_}")
        return family

    def _fitted(self, edges: np.ndarray, groups: np.ndarray) -> Self:
        tables = np.diff(groups)[edges].prod(axis=1)
        n_pairs = tables.sum() if self.coupling == "table" else len(edges)
        return self.with_fitted(n_features_=int(groups[-1] + n_pairs), edges_=edges, groups_=groups)

    @property
    def codec(self) -> OneHotAndPairs:
        """The one-hot code of each column, and what edges look at."""
        return OneHotAndPairs(self.n_features_, self.edges_, np.diff(self.groups_), self.coupling == "table")

    def indicators(self, values: np.ndarray) -> list[np.ndarray]:
        """Return the one-hot code of each column, of the codes that occur."""
        return [(column[:, None] == np.unique(column)).astype(np.float64) for column in values.T]

    def expected(self, natural: np.ndarray, extra: Extra = NO_EXTRA, size: np.ndarray | None = None) -> np.ndarray:
        """Return the probabilities of the codes of all columns, as codes have no mean."""
        return self.mean(natural, extra, size)[:, : self.codec.n_column_features]

    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Return natural parameters with these means.

        They are exact on trees, and those of tree-reweighted means on other graphs. What edges look at is shrunk
        towards what chance gives.
        """
        codec, share = self.codec, self._plan.share
        n_codes, most = int(codec.sizes.sum()), int(codec.sizes.max())
        given = mean.astype(np.float64)
        exists = np.arange(most) < codec.sizes[:, None]
        margins = np.zeros(exists.shape)
        margins[exists] = np.maximum(given[:n_codes], INSIDE)
        margins /= margins.sum(axis=1, keepdims=True)
        first, second = (margins[self.edges_[:, end]] for end in (0, 1))
        chance = first[:, :, None] * second[:, None, :]
        node = np.log(margins, where=exists, out=np.zeros(exists.shape))
        if codec.has_tables:
            tables = np.zeros(chance.shape)
            tables[chance > 0] = given[n_codes:]
            tables = _with_margins(np.maximum(tables, 0) + BY_CHANCE * chance, first, second)
            ratio = np.divide(tables, chance, where=chance > 0, out=np.ones(chance.shape))
            edge = (share[:, None, None] * np.log(np.maximum(ratio, INSIDE)))[chance > 0]
        else:
            by_chance = np.trace(chance, axis1=1, axis2=2)
            agree = (given[n_codes:] + BY_CHANCE * by_chance) / (1 + BY_CHANCE)
            edge, of_first, of_second = _agreement(chance, first, second, agree)
            edge = share * edge
            np.add.at(node, self.edges_[:, 0], share[:, None] * of_first)
            np.add.at(node, self.edges_[:, 1], share[:, None] * of_second)
        return np.concatenate([node[exists], edge]).astype(mean.dtype)


def _ratio(wanted: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Return what sums are to be multiplied by; 1 where there is nothing to multiply."""
    return np.divide(wanted, found, where=found > 0, out=np.ones(np.broadcast_shapes(wanted.shape, found.shape)))


def _with_margins(tables: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return tables with given margins and the odds ratios of others, by iterative proportional fitting."""
    for _ in range(_ROUNDS):
        tables = tables * _ratio(first, tables.sum(axis=2))[:, :, None]
        tables = tables * _ratio(second, tables.sum(axis=1))[:, None, :]
    return tables


def _agreement(
    chance: np.ndarray, first: np.ndarray, second: np.ndarray, agree: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log-odds of agreement, and what both ends add, of tables with given margins and shares of agreement."""
    highest = np.minimum(first, second).sum(axis=1)
    lowest = np.maximum(0, (first + second).max(axis=1) - 1)
    inside = INSIDE * (highest - lowest)
    agree = np.clip(agree, lowest + inside, highest - inside)
    tables, log_odds = chance, np.zeros(len(chance))
    of_first, of_second, diagonal = np.zeros(first.shape), np.zeros(second.shape), np.eye(first.shape[1]) > 0
    for _ in range(_ROUNDS):
        now = np.trace(tables, axis1=1, axis2=2)
        same, different = _ratio(agree, now), _ratio(1 - agree, 1 - now)
        tables = tables * np.where(diagonal, same[:, None, None], different[:, None, None])
        log_odds += np.log(same) - np.log(different)
        rows = _ratio(first, tables.sum(axis=2))
        tables = tables * rows[:, :, None]
        columns = _ratio(second, tables.sum(axis=1))
        tables = tables * columns[:, None, :]
        of_first += np.log(rows)
        of_second += np.log(columns)
    return log_odds, of_first, of_second
