"""`Bags`: samples with different numbers of candidates, in one object that scikit-learn can index by sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse
from narwhals.exceptions import DuplicateError
from numpy.typing import ArrayLike

from harmonium.core.raw_target import names_of_columns
from harmonium.core.validation import few_of
from harmonium.kernels.sparse.validation import check_sparse_indices, checked_csr


class Bags:
    """Samples that are sets of candidates, of which one is the right one.

    Candidates may be windows of an image or positions in a sequence. Samples can be selected by index, slice or mask,
    as rows of a matrix can.

    Parameters
    ----------
    features : array-like, data frame or sparse of shape (n_candidates, n_features)
        One row for each candidate of each sample; the candidates of a sample stand together. Single precision is kept,
        and so are the names of the columns of a data frame.
    offsets : array-like of int of shape (n_samples + 1,)
        The candidates of sample ``i`` are the rows from ``offsets[i]`` up to, not including, ``offsets[i + 1]``.
    boxes : array-like of shape (n_candidates, 4) or None, default=None
        Place of each candidate as top, left, bottom and right, the last two exclusive. `OverlapLoss` needs them.

    Attributes
    ----------
    keys : ndarray of shape (n_samples,) or None
        Names of the samples, if they came from a data frame with a column of them.

    See Also
    --------
    Bags.from_list : Make bags from one matrix per sample.
    Bags.from_frame : Make bags from a data frame with a column that names the bag of each row.

    Examples
    --------
    >>> import numpy as np
    >>> bags = Bags.from_list([np.zeros((3, 2)), np.ones((1, 2)), np.ones((2, 2))])
    >>> len(bags), bags.sizes.tolist(), bags[[0, 2]].sizes.tolist()
    (3, [3, 1, 2], [3, 2])
    """

    def __init__(self, features: Any, offsets: ArrayLike, boxes: ArrayLike | None = None) -> None:
        features, self.feature_names = _matrix("The matrix of candidates", features)
        self.features = _read_features(features)
        self.offsets = _read_offsets(offsets, self.features.shape[0])
        self.boxes = None if boxes is None else _read_boxes(boxes, self.features.shape[0])
        self.keys: np.ndarray | None = None

    @classmethod
    def from_list(cls, features: Sequence[Any], boxes: Sequence[ArrayLike] | None = None) -> Bags:
        """Make bags from one matrix of candidates per sample.

        Parameters
        ----------
        features : sequence of array-like, data frame or sparse
            One matrix per sample with a row for each candidate; all have the same columns in the same order.
        boxes : sequence of array-like or None, default=None
            One matrix of boxes per sample with a row (top, left, bottom, right) for each candidate.

        Returns
        -------
        Bags
            The samples in the order of the list.
        """
        if not isinstance(features, Sequence | np.ndarray):
            raise TypeError(
                f"Bags are made from a list with one matrix per sample; got {type(features).__name__}; put the samples "
                "in a list."
            )
        if len(features) == 0:
            raise ValueError("Bags need at least one sample; got an empty list; pass one matrix per sample.")
        read = [_matrix(f"Sample {number}", item) for number, item in enumerate(features)]
        matrices, names = [matrix for matrix, _ in read], _common([columns for _, columns in read])
        for number, matrix in enumerate(matrices):
            if matrix.ndim != 2 or matrix.shape[1] != matrices[0].shape[-1]:
                raise ValueError(
                    f"Every sample must be a matrix of candidates with the same columns; sample {number} has shape "
                    f"{matrix.shape} and sample 0 {matrices[0].shape}; give all candidates the same features."
                )
            if scipy.sparse.issparse(matrix):
                check_sparse_indices(f"Sample {number}", matrix)
        sizes = np.array([matrix.shape[0] for matrix in matrices])
        _check_sizes(sizes)
        tables = None if boxes is None else [_numbers(item) for item in boxes]
        if tables is not None and [len(table) for table in tables] != sizes.tolist():
            raise ValueError(
                "boxes must have one row for each candidate of each sample; got other numbers of rows; pass one "
                "matrix of boxes per sample."
            )
        is_sparse = any(scipy.sparse.issparse(matrix) for matrix in matrices)
        flat = scipy.sparse.vstack(matrices, format="csr") if is_sparse else np.concatenate(matrices)
        places = None if tables is None else np.concatenate(tables)
        result = cls(flat, np.concatenate([[0], np.cumsum(sizes)]), places)
        result.feature_names = names
        return result

    @classmethod
    def from_frame(cls, frame: Any, bag: str, label: str | None = None) -> Any:
        """Make bags from a data frame with a column that names the bag of each row.

        Parameters
        ----------
        frame : data frame
            A row for each candidate. All columns but ``bag`` and ``label`` are features. Rows of a bag need not stand
            together.
        bag : str
            The column that tells which bag a row is of.
        label : str or None, default=None
            The column with the label of the bag, the same in all its rows.

        Returns
        -------
        bags : Bags
            The bags in the order in which they first occur, with their names in ``keys``.
        labels : ndarray of shape (n_bags,)
            Their labels. Only if ``label`` is given.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"molecule": ["a", "b", "a"], "active": [1, 0, 1], "size": [0.5, 0.1, 0.7]})
        >>> bags, y = Bags.from_frame(frame, "molecule", label="active")
        >>> bags.keys.tolist(), bags.sizes.tolist(), y.tolist()
        (['a', 'b'], [2, 1], [1, 0])
        """
        table = nw.from_native(frame, eager_only=True)
        for name in (bag,) if label is None else (bag, label):
            if name not in table.columns:
                raise ValueError(
                    f"The frame must have a column {name!r}; got {few_of(table.columns)}; name one of its columns."
                )
        groups = table[bag]
        if groups.is_null().any():
            raise ValueError(f"Every row must name its bag; found a missing value in column {bag!r}; leave it out.")
        keys, first, own = _first_come(groups.to_numpy())
        order = np.argsort(own, kind="stable")
        features = table.drop([name for name in (bag, label) if name is not None])[order.tolist()]
        result = cls(features.to_native(), np.concatenate([[0], np.cumsum(np.bincount(own))]))
        result.keys = keys
        if label is None:
            return result
        labels = table[label].to_numpy()
        differs = np.flatnonzero(labels != labels[first][own])
        if len(differs):
            raise ValueError(
                f"All rows of a bag must have the same label; bag {keys[own[differs[0]]]} has "
                f"{labels[first][own[differs[0]]]} and {labels[differs[0]]}; give the bag one."
            )
        return result, labels[first]

    @classmethod
    def of_single_candidates(cls, features: Any) -> Bags:
        """Make bags from a matrix in which every row is a sample with one candidate.

        Then there is nothing to choose from, and learning is that of a linear SVM without an intercept.

        Parameters
        ----------
        features : array-like, data frame or sparse of shape (n_samples, n_features)
            One row for each sample.

        Returns
        -------
        Bags
            The samples in the order of the rows.

        Examples
        --------
        >>> import numpy as np
        >>> Bags.of_single_candidates(np.eye(3)).sizes.tolist()
        [1, 1, 1]
        """
        matrix, names = _matrix("The matrix of samples", features)
        result = cls(matrix, np.arange(matrix.shape[0] + 1))
        result.feature_names = names
        return result

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
        result.features, result.offsets, result.feature_names = self.features[at], offsets, self.feature_names
        result.boxes = None if self.boxes is None else self.boxes[at]
        result.keys = None if self.keys is None else self.keys[chosen]
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


def _matrix(what: str, given: Any) -> tuple[Any, tuple[str, ...] | None]:
    """Return a matrix of candidates, and the names of its columns if it has any."""
    if scipy.sparse.issparse(given):
        return given, None
    try:
        frame = nw.from_native(given, eager_only=True, pass_through=True)
    except DuplicateError:
        raise ValueError(f"{what} must have columns of different names; some occur twice; rename them.") from None
    names = names_of_columns(frame) if isinstance(frame, nw.DataFrame) else None
    try:
        return np.asarray(nw.to_native(given, pass_through=True)), names
    except ValueError:
        raise ValueError(
            f"{what} must have as many numbers in every row; got rows of different lengths; give all candidates the "
            "same features."
        ) from None


def _first_come(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return different values in the order of their first rows, these rows, and the number of each row's value."""
    distinct, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return distinct[order], first[order], rank[inverse]


def _common(names: list[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    """Return the names of the columns that all samples have; refuse samples that name them differently."""
    first = next((columns for columns in names if columns is not None), None)
    for number, columns in enumerate(names):
        if columns is not None and columns != first:
            raise ValueError(
                f"Every sample must have the same columns in the same order; sample {number} has "
                f"{few_of(columns)}, others {few_of(first or ())}; reorder or "
                "rename them."
            )
    return first


def _numbers(boxes: Any) -> np.ndarray:
    """Return boxes as numbers."""
    try:
        return np.asarray(boxes, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "boxes must hold numbers, as many in every row; got something else; order them as top, left, bottom, right."
        ) from None


def _read_features(features: Any) -> Any:
    matrix = features if scipy.sparse.issparse(features) else np.asarray(features)
    if matrix.ndim != 2 or 0 in matrix.shape:
        found = f"got shape {matrix.shape}"
        if matrix.ndim == 2:  # in the words of scikit-learn
            found = f"got {matrix.shape[1]} feature(s) (shape={matrix.shape}) while a minimum of 1 is required"
        raise ValueError(
            f"Features must be a matrix with a row for each candidate and at least one column; {found}; use "
            "Bags.from_list for one matrix per sample."
        )
    if np.iscomplexobj(matrix):
        raise ValueError(
            f"Complex data not supported: features must be real numbers; got dtype {matrix.dtype}; take real and "
            "imaginary parts."
        )
    if matrix.dtype == object and not scipy.sparse.issparse(matrix):
        matrix = _as_numbers(matrix)
    if not (np.issubdtype(matrix.dtype, np.number) or matrix.dtype == bool):
        raise ValueError(f"Features must be real numbers; got dtype {matrix.dtype}; encode them first.")
    if scipy.sparse.issparse(matrix):
        matrix = checked_csr("The matrix of features", matrix)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    values: Any = matrix.data if scipy.sparse.issparse(matrix) else matrix
    # a finite sum proves all values finite without a second array of their size; an infinite one may be overflow
    if not np.isfinite(values.sum(dtype=np.float64)) and not np.isfinite(values).all():
        raise ValueError("Features must be finite; found NaN or infinity; remove or fill in those candidates.")
    return matrix if scipy.sparse.issparse(matrix) else np.ascontiguousarray(matrix)


def _as_numbers(matrix: np.ndarray) -> np.ndarray:
    """Return objects as numbers; refuse texts, even of digits, and whatever else is no number."""
    if any(isinstance(value, str) for value in matrix.flat):
        raise ValueError("Features must be real numbers; got texts; encode them first.")
    try:
        return matrix.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"Features must be real numbers: {error}; encode them first.") from None


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
    result = _numbers(boxes)
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
