"""Lengths of rows: totals of counts and numbers of positions, which are given and not modelled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harmonium.kernels.sparse.entries import entries
from harmonium.kernels.sparse.matrix import Matrix

# The largest weight, that of rows with a sixteenth of the typical total or less: a convention, as one word alone should
# not count as much as a whole text does.
_LARGEST_WEIGHT = 4.0


class Length:
    """Sizes of rows, which densities take as given; by default there are none.

    Examples
    --------
    >>> Length().typical(3) is None, Totals(7.0).typical(3).tolist()
    (True, [7.0, 7.0, 7.0])
    """

    @property
    def largest_row_weight(self) -> float:
        """Largest value of `row_weight`."""
        return 1.0

    def sizes(self, statistic: Matrix) -> np.ndarray | None:
        """Return the size of each row, its total or its length.

        Parameters
        ----------
        statistic : ndarray or SparseRows of shape (rows, features)
            Observed statistics, zero where something is missing.

        Returns
        -------
        ndarray of shape (rows,), or None
            Sizes; None if rows of the family have none.
        """
        return None

    def typical(self, n_rows: int) -> np.ndarray | None:
        """Return the sizes that are assumed for rows that are not observed.

        Parameters
        ----------
        n_rows : int
            Number of rows.

        Returns
        -------
        ndarray of shape (n_rows,), or None
            The same size for all rows; None if rows of the family have none.
        """
        return None

    def row_weight(self, size: np.ndarray | None) -> np.ndarray | None:
        """Return what the coupling φ(x)ᵀ W h of rows of a size is multiplied by.

        Parameters
        ----------
        size : ndarray of shape (rows,), optional
            Sizes of the rows.

        Returns
        -------
        ndarray of shape (rows,), or None
            Positive factors, 1 for the typical size; None if all of them are 1.
        """
        return None


@dataclass(frozen=True)
class Totals(Length):
    """Totals of rows of counts, with that of the training data on average for rows that are missing."""

    mean: float

    def sizes(self, statistic: Matrix) -> np.ndarray | None:
        """Return the total of each row."""
        cells = entries(statistic)
        return cells.row_sums(cells.values)

    def typical(self, n_rows: int) -> np.ndarray | None:
        """Return the mean total of the training data."""
        return np.full(n_rows, self.mean)


class NormalizedTotals(Totals):
    """Totals of rows that are brought to one scale.

    The weight of a row is the root of the typical total divided by that of the row, but at most 4. The power of one
    half is a compromise: with 0 a text of twice the length tells the units twice as much, with 1 just as much.
    """

    @property
    def largest_row_weight(self) -> float:
        """4, by convention."""
        return _LARGEST_WEIGHT

    def row_weight(self, size: np.ndarray | None) -> np.ndarray | None:
        """Return the root of the typical total divided by the total, at most 4."""
        if size is None:
            return None
        # an empty row has nothing to weigh, but filled-in cells may have totals below 1
        return np.minimum(np.sqrt(self.mean / np.maximum(size, 1.0)), _LARGEST_WEIGHT)
