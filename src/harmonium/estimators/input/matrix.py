"""X as one matrix of numbers, checked as scikit-learn checks it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.utils.validation import validate_data

from harmonium.core.validation import shown
from harmonium.exceptions import InvalidViewError
from harmonium.kernels.sparse.validation import check_sparse_indices
from harmonium.views.container import as_matrix
from harmonium.views.frames import as_frame
from harmonium.views.reading import SINGLE
from harmonium.views.sources.dense import dense_numbers


def checked_matrix(estimator: Any, data: Any, is_new: bool) -> tuple[Any, pd.Index | None, Any]:
    """Return a matrix, the labels of its rows and the names of its columns, each None if there are none.

    The number and names of the columns must be those of the last fit, unless the matrix ``is_new``.
    """
    checked = copy(estimator)  # scikit-learn writes what it finds to what it checks
    if isinstance(data, nw.DataFrame):
        matrix, _, index = as_matrix(SINGLE, data)
        _check_column_names(data.columns)
        _validated(checked, data.to_native(), is_new, skip_check_array=True)
    else:
        data, index = _one_array(data), None
        matrix = _validated(checked, data, is_new, accept_sparse="csr", dtype="numeric", ensure_all_finite=False)
    return matrix, index, getattr(checked, "feature_names_in_", None)


def _validated(estimator: Any, data: Any, is_new: bool, **settings: Any) -> Any:
    """Return data as scikit-learn checks them; what it says in one line becomes a sentence with a remedy.

    Its lists of names that differ take several lines, which its own checks of estimators ask for.
    """
    try:
        return validate_data(estimator, data, reset=is_new, **settings)
    except ValueError as error:
        said = str(error)
        if "\n" in said:
            raise
        raise InvalidViewError(
            f"X must have the columns that the model was fitted on; {said.rstrip('.')}; pass them in the same order."
        ) from None


def _check_column_names(names: Sequence[Any]) -> None:
    """Refuse names of which some are texts and others not, which scikit-learn takes for no names."""
    kinds = {isinstance(name, str) for name in names}
    if len(kinds) > 1:
        strange = next(name for name in names if not isinstance(name, str))
        raise TypeError(
            f"Columns of X must have names that are all texts, or none that is; got texts and {shown(strange)}, a "
            f"{type(strange).__name__}; call X.rename(columns=str) first."
        )


def _one_array(X: Any) -> Any:
    """Return what is no data frame for scikit-learn to check; refuse, or turn into numbers, what it words badly."""
    if scipy.sparse.issparse(X):
        _check_shape(X.shape)
        _check_real(X.dtype)
        check_sparse_indices("X", X)
        return X
    if as_frame(SINGLE, X) is not None:
        raise InvalidViewError(
            "X must have two dimensions, a row for each item; got a series, which may be a row or a column; pass a "
            "frame, or a dict such as {'age': series} for a view of one column."
        )
    if isinstance(X, list | tuple) and len(X) and all(as_frame(SINGLE, row) is not None for row in X):
        raise InvalidViewError(
            "X must be a matrix or several views; got a list of series, which may be rows or columns; pass a frame, or "
            "a dict of name → series for views of one column each."
        )
    try:
        array = dense_numbers(SINGLE, _array_of(X))
    except InvalidViewError as error:
        if error.__cause__ is None:
            raise
        # what scikit-learn's own checks expect of objects that are nothing like a number
        raise TypeError(f"{str(error)[:-1]} ({error.__cause__}).") from None
    _check_shape(array.shape)
    return array


def _array_of(X: Any) -> Any:
    """Return what NumPy can make an array of; refuse a single object."""
    if isinstance(X, list | tuple | np.ndarray):
        return X
    array = np.asarray(X)
    if array.ndim == 0:
        raise InvalidViewError(
            f"X must be a matrix with a row for each item, a data frame, or several views; got {shown(X)}, a "
            f"{type(X).__name__}; pass one of them."
        )
    return array


def _check_shape(shape: tuple[int, ...]) -> None:
    """Refuse anything but rows and columns, at least one of each, in words that hold those of scikit-learn."""
    if len(shape) != 2:
        raise InvalidViewError(
            f"X must have two dimensions, a row for each item and a column for each feature; got shape {shape}; "
            "Reshape your data, by reshape(-1, 1) if it has a single feature or reshape(1, -1) if a single item."
        )
    for number, (size, what) in enumerate(zip(shape, ("sample(s)", "feature(s)"), strict=True)):
        if size == 0:
            raise InvalidViewError(
                f"X must have rows and columns; got 0 {what} (shape={shape}) while a minimum of 1 is required; pass "
                f"{('the items', 'their columns')[number]}."
            )


def _check_real(dtype: np.dtype) -> None:
    """Refuse complex numbers."""
    if dtype.kind == "c":
        raise InvalidViewError(
            f"X must hold real numbers (Complex data not supported); got {dtype}; pass real and imaginary parts as "
            "columns."
        )
