"""Sparse input whose indices do not fit its shape is refused, wherever it enters; unusual types are widened."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from harmonium import Harmonium
from harmonium.exceptions import InvalidViewError
from harmonium.training import Stochastic
from harmonium.views import Sequences, Views
from harmonium.weak import Bags

MODEL = Harmonium(2, driver=Stochastic(max_iter=1), random_state=0)


def matrix(seed: int, format: str = "csr", dtype: Any = np.float32) -> Any:
    dense = (np.random.default_rng(seed).random((6, 8)) < 0.3).astype(dtype)
    dense[3, 5] = 1
    return scipy.sparse.csr_array(dense).asformat(format)


def broken(seed: int, format: str, wrong: str, amount: int) -> Any:
    """Return a matrix of 6 x 8 with one number of its indices changed."""
    result = matrix(seed, format)
    if format == "coo":
        result.coords[seed % 2][0] = -1 if wrong == "negative" else 8 + amount
        return result
    indices, indptr = result.indices, result.indptr
    if wrong == "negative":
        indices[seed % len(indices)] = -amount
    elif wrong == "beyond":
        indices[seed % len(indices)] = 7 + amount
    elif wrong == "falling":
        indptr[2] = indptr[-1] + amount
    elif wrong == "start":
        indptr[0] = amount
    elif wrong == "end":
        indptr[-1] += amount
    elif wrong == "few":
        result.indptr = indptr[:-1].copy()
    elif wrong == "lengths":
        result.indices = indices[:-1].copy()
    else:
        result.indices = indices.astype(np.float64)
    return result


WRONG = ["negative", "beyond", "falling", "start", "end", "few", "lengths", "float"]


@settings(deadline=None, max_examples=100)
@given(
    seed=st.integers(0, 1000),
    format=st.sampled_from(["csr", "csc", "coo", "bsr"]),
    wrong=st.sampled_from(WRONG),
    amount=st.integers(1, 10**9),
)
def test_indices_that_do_not_fit_are_refused(seed: int, format: str, wrong: str, amount: int) -> None:
    with pytest.raises(InvalidViewError, match=r"^View 'words' must be a sparse matrix whose indices fit"):
        Views({"words": broken(seed, format, wrong, amount)})


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr"])
def test_every_door_refuses_them(format: str) -> None:
    fitted = MODEL.fit(matrix(0))
    for call in (MODEL.fit, fitted.transform, fitted.score, fitted.score_samples, lambda X: Sequences(X, [0, 6])):
        with pytest.raises(InvalidViewError, match="indices fit its shape; an entry lies in "):
            call(broken(0, format, "beyond", 10**8))
    with pytest.raises(ValueError, match="indices fit its shape"):
        Bags(broken(0, format, "beyond", 10**8), [0, 3, 6])
    with pytest.raises(ValueError, match="indices fit its shape"):
        Bags.from_list([broken(0, format, "beyond", 10**8)])
    with pytest.raises(InvalidViewError, match="Item 0 of Sequences must be a sparse matrix whose indices fit"):
        Sequences.from_matrices([broken(0, format, "beyond", 10**8)])


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 1000),
    format=st.sampled_from(["csr", "csc", "coo", "bsr", "lil", "dok", "dia"]),
    dtype=st.sampled_from(["bool", "int8", "uint16", "int64", "float32", "float64", "longdouble"]),
)
def test_sound_matrices_of_any_type_say_the_same_and_stay_as_they_are(seed: int, format: str, dtype: str) -> None:
    given_matrix = matrix(seed, format, dtype)
    before = given_matrix.copy()
    batch = Views({"words": given_matrix}).source("words")
    assert np.array_equal(batch.matrix.toarray().astype(np.float32), matrix(seed).toarray())
    assert (given_matrix != before).nnz == 0
    assert given_matrix.dtype == before.dtype


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_half_precision_is_widened_and_what_is_no_real_number_refused(format: str) -> None:
    half = matrix(0, format)
    half.data = half.data.astype(np.float16)
    assert np.array_equal(Views({"x": half}).source("x").matrix.toarray(), matrix(0).toarray())
    for dtype in (complex, object):
        strange = matrix(0, format)
        strange.data = strange.data.astype(dtype)
        with pytest.raises(InvalidViewError, match=f"View 'x' must hold real numbers; got dtype {np.dtype(dtype)}"):
            Views({"x": strange})
