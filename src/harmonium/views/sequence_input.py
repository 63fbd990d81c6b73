"""Checks of what `Sequences` are made from; each refusal is one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import scipy.sparse

from harmonium.exceptions import InvalidViewError
from harmonium.kernels.sparse.validation import checked_csr


def binary_rows(rows: Any) -> scipy.sparse.csr_array:
    """Return compressed rows without stored zeros, in single precision; the user's matrix stays as it is."""
    try:
        if scipy.sparse.issparse(rows) and rows.ndim == 2:
            matrix = checked_csr("The matrix of Sequences", rows)
        else:
            matrix = scipy.sparse.csr_array(np.atleast_1d(np.asarray(rows)))
        matrix = matrix.astype(np.float32)
    except InvalidViewError:
        raise
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
    """Return offsets that are whole numbers, do not fall, and run from 0 to the number of vectors."""
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
    """Return the vectors of one item, given as an array, a sparse matrix or a frame; None if it has none."""
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
            f"{type(matrix).__name__} of shape {values.shape}; use reshape(1, -1) for a single vector."
        )
    if not values.shape[0]:
        return None
    sparse = scipy.sparse.issparse(values)
    return checked_csr(f"Item {number} of Sequences", values) if sparse else scipy.sparse.csr_array(values)


def columns(frame: Any, *names: str) -> dict[str, np.ndarray]:
    """Return columns of a data frame, by name."""
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


def numbered(label: str, values: np.ndarray, known: Sequence[Any] | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the known values, by default all in order, and the number of each value among them, or -1."""
    if pd.isna(values).any():
        raise InvalidViewError(
            f"Every row of the frame must have an item and a feature; row {int(np.argmax(pd.isna(values)))} lacks one; "
            "drop such rows."
        )
    index = pd.Index(np.unique(values) if known is None else known)
    if not index.is_unique:
        raise InvalidViewError(f"items and feature_names must differ; got {index[index.duplicated()][0]!r} twice.")
    number = index.get_indexer(values)
    if known is not None and len(values) and (number < 0).all():
        # feature names of training data are text, whatever they were before
        number = index.astype(str).get_indexer(values.astype(str))
        if (number < 0).all():
            raise InvalidViewError(
                f"{label} must name something that the frame has; it has {values[0]!r}, and {label} begin with "
                f"{index[0] if len(index) else None!r}; pass those of the frame."
            )
    return np.asarray(index), number


def possible_counts(counts: Any, lengths: np.ndarray) -> scipy.sparse.coo_array:
    """Return counts of ones and of neighbouring pairs, (items, 2 features); refuse any that no sequence can have."""
    counted = scipy.sparse.csr_array(counts) if not scipy.sparse.issparse(counts) else checked_csr("Counts", counts)
    if counted.shape[1] % 2 or counted.shape[0] != len(lengths):
        raise InvalidViewError(
            f"Counts must have a row per item, {len(lengths)}, and two columns per feature; got shape {counted.shape}; "
            "pass what Sequences.counts gives."
        )
    counted.sum_duplicates()
    counted.eliminate_zeros()
    ones = counted[:, : counted.shape[1] // 2].astype(np.float64)
    pairs = counted[:, counted.shape[1] // 2 :].astype(np.float64)
    has = ones.astype(bool).astype(np.float64)
    length = scipy.sparse.diags_array(lengths.astype(np.float64)) @ has
    # n ones among P vectors have at most n - 1 neighbouring pairs, and at least 2n - 1 - P
    too_many = (ones - length) > 0
    out_of_range = ((pairs - ones + has) > 0) + ((ones * 2 - has - length - pairs) > 0) + (pairs < 0) + (ones < 0)
    fraction = abs(counted - counted.astype(np.int64)) > 0
    for wrong in (too_many, out_of_range, fraction):
        if wrong.nnz:
            item, column = (int(axis[0]) for axis in wrong.tocoo().coords)
            raise InvalidViewError(
                f"Counts must be those of some sequence of so many vectors; item {item} of {lengths[item]} vectors has "
                f"others at column {column}; pass what Sequences.counts gives."
            )
    return counted.tocoo()
