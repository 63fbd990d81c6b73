"""`Bags`: samples with different numbers of candidates, in one object that scikit-learn can index by sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike

from harmonium.kernels.compressed import check_before_conversion, compressed_rows


class Bags:
    """Samples that are sets of candidates, of which one is the right one.

    Candidates may be windows of an image or positions in a sequence. Samples can be selected by index, slice or mask,
    as rows of a matrix can.

    Parameters
    ----------
    features : array-like or sparse of shape (n_candidates, n_features)
        One row for each candidate of each sample; the candidates of a sample stand together. Single precision is kept.
    offsets : array-like of int of shape (n_samples + 1,)
        The candidates of sample ``i`` are the rows from ``offsets[i]`` up to, not including, ``offsets[i + 1]``.
    boxes : array-like of shape (n_candidates, 4) or None, default=None
        Place of each candidate as top, left, bottom and right, the last two exclusive. `OverlapLoss` needs them.

    See Also
    --------
    Bags.from_list : Make bags from one matrix per sample.

    Examples
    --------
    >>> import numpy as np
    >>> bags = Bags.from_list([np.zeros((3, 2)), np.ones((1, 2)), np.ones((2, 2))])
    >>> len(bags), bags.sizes.tolist(), bags[[0, 2]].sizes.tolist()
    (3, [3, 1, 2], [3, 2])
    """

    def __init__(self, features: Any, offsets: ArrayLike, boxes: ArrayLike | None = None) -> None:
        self.features = _read_features(features)
        self.offsets = _read_offsets(offsets, self.features.shape[0])
        self.boxes = None if boxes is None else _read_boxes(boxes, self.features.shape[0])

    @classmethod
    def from_list(cls, features: Sequence[Any], boxes: Sequence[ArrayLike] | None = None) -> Bags:
        """Make bags from one matrix of candidates per sample.

        Parameters
        ----------
        features : sequence of array-like or sparse
            One matrix per sample with a row for each candidate; all have the same columns.
        boxes : sequence of array-like or None, default=None
            One matrix of boxes per sample with a row (top, left, bottom, right) for each candidate.

        Returns
        -------
        Bags
            The samples in the order of the list.
        """
        if len(features) == 0:
            raise ValueError("Bags need at least one sample; got an empty list; pass one matrix per sample.")
        matrices = [item if scipy.sparse.issparse(item) else np.asarray(item) for item in features]
        for number, matrix in enumerate(matrices):
            if matrix.ndim != 2 or matrix.shape[1] != matrices[0].shape[-1]:
                raise ValueError(
                    f"Every sample must be a matrix of candidates with the same columns; sample {number} has shape "
                    f"{matrix.shape} and sample 0 {matrices[0].shape}; give all candidates the same features."
                )
            if scipy.sparse.issparse(matrix):
                check_before_conversion(f"Sample {number}", matrix)
        sizes = np.array([matrix.shape[0] for matrix in matrices])
        _check_sizes(sizes)
        if boxes is not None and [len(np.asarray(item)) for item in boxes] != sizes.tolist():
            raise ValueError(
                "boxes must have one row for each candidate of each sample; got other numbers of rows; pass one "
                "matrix of boxes per sample."
            )
        is_sparse = any(scipy.sparse.issparse(matrix) for matrix in matrices)
        flat = scipy.sparse.vstack(matrices, format="csr") if is_sparse else np.concatenate(matrices)
        places = None if boxes is None else np.concatenate([np.asarray(item) for item in boxes])
        return cls(flat, np.concatenate([[0], np.cumsum(sizes)]), places)

    @property
    def sizes(self) -> np.ndarray:
        """Number of candidates of each sample."""
        return np.diff(self.offsets)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and number of features."""
        return len(self), self.features.shape[1]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, rows: Any) -> Bags:
        if isinstance(rows, tuple):  # scikit-learn asks for X[rows, ...]
            rows = rows[0]
        chosen = np.atleast_1d(np.arange(len(self))[rows])
        if len(chosen) == 0:
            raise ValueError("Bags need at least one sample; got an empty choice of rows; choose one or more.")
        sizes = self.sizes[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        flat = np.repeat(self.offsets[chosen] - offsets[:-1], sizes) + np.arange(offsets[-1])
        # samples that stand together are not copied: they share memory with these bags
        at: Any = slice(flat[0], flat[-1] + 1) if np.all(np.diff(chosen) == 1) else flat
        result = Bags.__new__(Bags)  # the rows were checked already
        result.features, result.offsets = self.features[at], offsets
        result.boxes = None if self.boxes is None else self.boxes[at]
        return result

    def __iter__(self) -> Iterator[Bags]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        kind = "sparse" if scipy.sparse.issparse(self.features) else "dense"
        places = "with boxes" if self.boxes is not None else "without boxes"
        return (
            f"Bags({len(self)} samples; {self.sizes.min()} to {self.sizes.max()} candidates of "
            f"{self.shape[1]} {kind} columns, {places})"
        )


def _read_features(features: Any) -> Any:
    matrix = features if scipy.sparse.issparse(features) else np.asarray(features)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(
            f"Features must be a matrix with a row for each candidate; got shape {matrix.shape}; use Bags.from_list "
            "for one matrix per sample."
        )
    if matrix.dtype == object or not (np.issubdtype(matrix.dtype, np.number) or matrix.dtype == bool):
        raise ValueError(f"Features must be real numbers; got dtype {matrix.dtype}; encode them first.")
    if np.iscomplexobj(matrix):
        raise ValueError(f"Features must be real numbers; got dtype {matrix.dtype}; take real and imaginary parts.")
    if scipy.sparse.issparse(matrix):
        matrix = compressed_rows("The matrix of features", matrix)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    values: Any = matrix.data if scipy.sparse.issparse(matrix) else matrix
    # a finite sum proves all values finite without a second array of their size; an infinite one may be overflow
    if not np.isfinite(values.sum(dtype=np.float64)) and not np.isfinite(values).all():
        raise ValueError("Features must be finite; found NaN or infinity; remove or fill in those candidates.")
    return matrix if scipy.sparse.issparse(matrix) else np.ascontiguousarray(matrix)


def _read_offsets(offsets: ArrayLike, n_rows: int) -> np.ndarray:
    result = np.asarray(offsets)
    if result.ndim != 1 or len(result) < 2 or not np.issubdtype(result.dtype, np.integer):
        raise ValueError(
            f"offsets must be whole numbers, one more than there are samples; got shape {result.shape} of "
            f"{result.dtype}; begin with 0 and add up the numbers of candidates."
        )
    result = result.astype(np.int64)
    if result[0] != 0 or result[-1] != n_rows:
        raise ValueError(
            f"offsets must begin with 0 and end with the number of candidates, {n_rows}; got {result[0]} and "
            f"{result[-1]}; add up the numbers of candidates."
        )
    _check_sizes(np.diff(result))
    return result


def _check_sizes(sizes: np.ndarray) -> None:
    empty = np.flatnonzero(sizes < 1)
    if len(empty):
        raise ValueError(
            f"Every sample must have at least one candidate; sample {empty[0]} has {max(sizes[empty[0]], 0)}; leave it "
            "out."
        )


def _read_boxes(boxes: ArrayLike, n_rows: int) -> np.ndarray:
    result = np.asarray(boxes, dtype=np.float64)
    if result.shape != (n_rows, 4):
        raise ValueError(
            f"boxes must have a row of top, left, bottom, right for each of {n_rows} candidates; got shape "
            f"{result.shape}; pass one box per candidate."
        )
    if not np.isfinite(result).all() or not (result[:, 2:] > result[:, :2]).all():
        raise ValueError(
            "boxes must be finite with bottom > top and right > left; got one that is not; order them as top, left, "
            "bottom, right."
        )
    return result
