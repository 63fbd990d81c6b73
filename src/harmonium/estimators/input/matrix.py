"""X as one matrix of numbers, checked as scikit-learn checks it."""

from __future__ import annotations

from copy import copy
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.utils.validation import validate_data

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
        validate_data(checked, data.to_native(), reset=is_new, skip_check_array=True)
    else:
        data, index = _one_array(data), None
        # scikit-learn's own checks and messages
        matrix = validate_data(
            checked, data, reset=is_new, accept_sparse="csr", dtype="numeric", ensure_all_finite=False
        )
    return matrix, index, getattr(checked, "feature_names_in_", None)


def _one_array(X: Any) -> Any:
    """Return what is no data frame for scikit-learn to check; refuse, or turn into numbers, what it words badly."""
    if scipy.sparse.issparse(X):
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
    if not isinstance(X, list | tuple | np.ndarray):
        return X
    try:
        array = dense_numbers(SINGLE, X)
    except InvalidViewError as error:
        if error.__cause__ is None:
            raise
        # what scikit-learn's own checks expect of objects that are nothing like a number
        raise TypeError(f"{str(error)[:-1]} ({error.__cause__}).") from None
    if array.ndim != 2:
        raise InvalidViewError(
            f"X must have two dimensions, a row for each item and a column for each feature; got shape {array.shape}; "
            "Reshape your data, by reshape(-1, 1) if it has a single feature or reshape(1, -1) if a single item."
        )
    return array
