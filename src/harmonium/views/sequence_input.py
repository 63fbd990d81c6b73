"""What `Sequences` are made from, checked: each refusal is one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import scipy.sparse

from harmonium.exceptions import InvalidViewError


def binary_rows(rows: Any) -> scipy.sparse.csr_array:
    """Compressed rows without stored zeros, in single precision; what the user passed stays as it is."""
    try:
        matrix = scipy.sparse.csr_array(rows if scipy.sparse.issparse(rows) else np.atleast_1d(np.asarray(rows)))
        matrix = matrix.astype(np.float32)
    except (TypeError, ValueError):
        raise InvalidViewError(
            f"Sequences need a matrix of zeros and ones; got {type(rows).__name__} that is none; pass an array or a "
            "SciPy sparse matrix."
        ) from None
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise InvalidViewError(
            f"Sequences need a matrix with a row per vector and a column per feature; got shape {matrix.shape}; "
            "put the vectors of all items below each other."
        )
    if not matrix.has_canonical_format or (matrix.data == 0).any():
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return matrix


def checked_offsets(offsets: Any, n_rows: int) -> np.ndarray:
    """Whole numbers that do not fall, from 0 to the number of vectors."""
    checked = np.asarray(offsets)
    if checked.ndim != 1 or len(checked) < 1 or checked.dtype.kind not in "iu":
        raise InvalidViewError(
            f"offsets must be whole numbers, where each item begins and the end of the last; got {checked.dtype} of "
            f"shape {checked.shape}; pass for example [0, 2, 5] for items of 2 and 3 vectors."
        )
    checked = checked.astype(np.int64)
    if (np.diff(checked) < 0).any():
        item = int(np.argmax(np.diff(checked) < 0))
        raise InvalidViewError(
            f"offsets must not fall; item {item} begins at {checked[item]} and ends at {checked[item + 1]}; put the "
            "items in order."
        )
    if checked[0] != 0 or checked[-1] != n_rows:
        raise InvalidViewError(
            f"offsets must begin with 0 and end with the number of vectors, {n_rows}; got {checked[0]} to "
            f"{checked[-1]}; pass where each item begins and the end of the last."
        )
    return checked


def one_item(number: int, matrix: Any) -> scipy.sparse.csr_array | None:
    """Vectors of one item, from an array, a sparse matrix or a frame; None if it has none."""
    native = nw.from_native(matrix, eager_only=True, pass_through=True)
    values = native.to_numpy() if isinstance(native, nw.DataFrame) else matrix
    if not scipy.sparse.issparse(values):
        try:
            values = np.asarray(values, dtype=np.float32)
        except (TypeError, ValueError):
            values = np.empty(0)  # refused for its shape
        if values.ndim != 2:
            raise InvalidViewError(
                f"Every item of Sequences must be a matrix of numbers, (vectors, features); item {number} is "
                f"{type(matrix).__name__} of shape {np.shape(values)}; use reshape(1, -1) for a single vector."
            )
    return scipy.sparse.csr_array(values) if values.shape[0] else None


def columns(frame: Any, *names: str) -> dict[str, np.ndarray]:
    """Columns of a data frame, by name."""
    native = nw.from_native(frame, eager_only=True, pass_through=True)
    if not isinstance(native, nw.DataFrame):
        raise TypeError(
            f"Sequences.from_frame needs a data frame; got {type(frame).__name__}; use from_matrices for matrices."
        )
    for name in names:
        if name not in native.columns:
            raise InvalidViewError(
                f"The frame must have columns for item, position and feature; it has no {name!r}; name the columns "
                "that hold them."
            )
    return {name: native[name].to_numpy() for name in names}


def numbered(values: np.ndarray, known: Sequence[Any] | None) -> tuple[np.ndarray, np.ndarray]:
    """What is known, all values in order by default, and the number of each value among it, -1 if it is not there."""
    index = pd.Index(np.unique(values) if known is None else known)
    if not index.is_unique:
        raise InvalidViewError(f"items and feature_names must differ; got {index[index.duplicated()][0]!r} twice.")
    return np.asarray(index), index.get_indexer(values)
