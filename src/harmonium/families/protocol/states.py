"""Codecs of columns with a few states each: features of single columns, then features of pairs along edges."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from harmonium.families.protocol.codec import Codec


@dataclass(frozen=True)
class States(Codec):
    """Codec of columns whose values are numbers of states, some of them joined by edges.

    A *cell* is a state of a column, or a pair of states of the two ends of an edge, the second end counting fastest;
    those of columns come first. A feature is the sum of some cells, each of which is 0 or 1, and belongs to one feature
    at most.
    """

    edges: np.ndarray
    sizes: np.ndarray  # number of states of each column
    is_affine = False
    rises_together = True

    @property
    @abstractmethod
    def cell_features(self) -> np.ndarray:
        """Feature of each cell, -1 where it has none."""

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.sizes)

    @property
    def n_sites(self) -> int:
        """Number of columns."""
        return len(self.sizes)

    @property
    def keeps_zeros(self) -> bool:
        """False, as 0 is a state like the others."""
        return False

    @property
    def n_column_features(self) -> int:
        """Number of features of columns, which come before those of edges."""
        return int(self.cell_features[: self.sizes.sum()].max()) + 1

    @property
    def feature_groups(self) -> dict[str, slice]:
        """Features that say which state a column has, and which states are together."""
        n_features = self.n_column_features
        return {"present": slice(n_features), "together": slice(n_features, None)}

    @property
    def column_cells(self) -> np.ndarray:
        """The first cell of each column, and the end of the last."""
        return np.cumsum([0, *self.sizes])

    @property
    def edge_cells(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The edge, the state of its first end and the state of its second end, of each cell of edges."""
        n_cells = self.sizes[self.edges].prod(axis=1)
        edge = np.repeat(np.arange(len(self.edges)), n_cells)
        number = np.arange(len(edge)) - np.repeat(np.cumsum(n_cells) - n_cells, n_cells)
        first, second = np.divmod(number, self.sizes[self.edges[edge, 1]])
        return edge, first, second

    def pairs(self, singles: np.ndarray) -> np.ndarray:
        """Return products of cells of the two ends of all edges."""
        edge, first, second = self.edge_cells
        starts = self.column_cells[self.edges[edge]]
        return singles[:, starts[:, 0] + first] * singles[:, starts[:, 1] + second]

    def of_cells(self, singles: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """Return the features of cells, of shape (rows, features)."""
        of_columns, of_edges = np.split(self.cell_features, [int(self.sizes.sum())])
        return np.concatenate([_summed(singles, of_columns), _summed(pairs, of_edges)], axis=1)

    def potentials(self, natural: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what features weigh in the cells of columns and of edges, in float64."""
        of_columns, of_edges = np.split(self.cell_features, [int(self.sizes.sum())])
        return _spread_out(natural, of_columns), _spread_out(natural, of_edges)

    def singles(self, statistic: np.ndarray) -> np.ndarray:
        """Return the cells of columns; what they have no feature for is what others leave to 1."""
        n_singles = int(self.sizes.sum())
        feature = self.cell_features[:n_singles]
        cells = np.where(feature < 0, 0, statistic[:, feature])
        left = 1 - np.add.reduceat(cells, self.column_cells[:-1], axis=1)
        return np.where(feature < 0, np.repeat(left, self.sizes, axis=1), cells)

    @abstractmethod
    def encode(self, values: np.ndarray) -> np.ndarray:
        """Return the features of columns and of edges; a missing end makes those of an edge missing."""

    def decode(self, statistic: np.ndarray) -> np.ndarray:
        """Return the states."""
        blocks = np.split(self.singles(statistic), self.column_cells[1:-1], axis=1)
        return np.stack([block.argmax(axis=1) for block in blocks], axis=1).astype(statistic.dtype)

    def missing_sites(self, statistic: np.ndarray) -> np.ndarray:
        """Tell which columns are missing."""
        return np.isnan(self.singles(statistic)[:, self.column_cells[:-1]])

    def any_end(self, sites: np.ndarray) -> np.ndarray:
        """Tell for each edge whether either of its ends is true."""
        return sites[:, self.edges[:, 0]] | sites[:, self.edges[:, 1]]

    def spread(self, sites: np.ndarray) -> np.ndarray:
        """Repeat values of columns: for edges whether either end is true, or else the value of the first end."""
        pairs = self.any_end(sites) if sites.dtype == bool else sites[:, self.edges[:, 0]]
        sizes = self.sizes, self.sizes[self.edges].prod(axis=1)
        cells = [np.repeat(values, size, axis=1) for values, size in zip((sites, pairs), sizes, strict=True)]
        feature, first_cell = np.unique(self.cell_features, return_index=True)
        return np.concatenate(cells, axis=1)[:, first_cell[feature >= 0]]


def _summed(cells: np.ndarray, feature: np.ndarray) -> np.ndarray:
    """Return the sums of cells that belong to the same feature, in the order of features."""
    order = np.argsort(feature, kind="stable")[np.count_nonzero(feature < 0) :]
    starts = np.flatnonzero(np.diff(feature[order], prepend=-1))
    return cells[:, order] if len(order) == len(starts) else np.add.reduceat(cells[:, order], starts, axis=1)


def _spread_out(natural: np.ndarray, feature: np.ndarray) -> np.ndarray:
    """Return the natural parameter of the feature of each cell, and 0 where it has none."""
    result = np.zeros((len(natural), len(feature)))
    result[:, feature >= 0] = natural[:, feature[feature >= 0]]
    return result
