"""Normal rows of which some columns are missing: roots of the covariances of what is missing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg.lapack import dtrtri

# Cells of blocks with all columns, and those of roots that are kept at most: for memory only.
_BLOCK_CELLS, _MOST_KEPT = 1 << 20, 1 << 24


class Gaps:
    """Rows of which some columns are missing, in blocks of patterns that are alike in shape.

    A pattern is a set of missing columns. Each is solved once for all rows that have it, and those with as many columns
    and as many rows are solved together.

    Parameters
    ----------
    missing : ndarray of bool of shape (rows, columns)
        True where a column is missing.

    Examples
    --------
    >>> gaps = Gaps(np.array([[True, False], [False, False], [True, False], [True, True]]))
    >>> for rows, columns, root in gaps.roots(np.diag([4.0, 1.0])):
    ...     print(rows.tolist(), columns.tolist(), (root.swapaxes(1, 2) @ root).tolist())
    [[0, 2]] [[0]] [[[0.25]]]
    [[3]] [[0, 1]] [[[0.25, 0.0], [0.0, 1.0]]]
    """

    def __init__(self, missing: np.ndarray) -> None:
        packed = np.ascontiguousarray(np.packbits(missing, axis=1))
        keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
        _, first, kind, n_rows = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        by_kind, starts = np.argsort(kind, kind="stable"), np.cumsum(n_rows) - n_rows
        masks = missing[first]
        shapes = np.stack([masks.sum(axis=1), n_rows], axis=1)
        self._blocks: list[tuple[np.ndarray, np.ndarray]] = []
        for n_missing, n_alike in np.unique(shapes[shapes[:, 0] > 0], axis=0):
            patterns = np.flatnonzero((shapes == (n_missing, n_alike)).all(axis=1))
            step = max(1, _BLOCK_CELLS // int(n_missing * masks.shape[1]))
            for some in np.split(patterns, np.arange(step, len(patterns), step)):
                rows = by_kind[starts[some][:, None] + np.arange(n_alike)]
                self._blocks.append((rows, np.nonzero(masks[some])[1].reshape(len(some), n_missing)))
        self._are_kept = sum(columns.size * columns.shape[1] for _, columns in self._blocks) <= _MOST_KEPT
        self._precision: np.ndarray | None = None
        self._roots: list[np.ndarray] = []

    def roots(self, precision: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield rows, what they lack, and the root of the covariance of that given the columns that are not missing.

        Those of the same precision are found once, unless they are too many to be kept.

        Parameters
        ----------
        precision : ndarray of shape (columns, columns)
            Inverse of the covariance of all columns.

        Yields
        ------
        rows : ndarray of int of shape (patterns, n_alike)
            Rows that lack the same columns.
        columns : ndarray of int of shape (patterns, n_missing)
            The missing columns, in ascending order.
        root : ndarray of shape (patterns, n_missing, n_missing)
            Lower triangles R with covariance RᵀR.
        """
        if self._precision is None or not np.array_equal(precision, self._precision):
            roots = (_root(precision, columns) for _, columns in self._blocks)
            if not self._are_kept:
                yield from ((*block, root) for block, root in zip(self._blocks, roots, strict=True))
                return
            self._precision, self._roots = precision, list(roots)
        yield from ((*block, root) for block, root in zip(self._blocks, self._roots, strict=True))


def _root(precision: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the inverses of the roots of some rows and columns of a precision."""
    own = precision[columns[:, :, None], columns[:, None, :]]
    # by dtrtri, as numpy's inv takes triangles for full matrices
    return np.stack([dtrtri(root, lower=1)[0] for root in np.linalg.cholesky(own)])
