"""Learn the edges between the columns of a view from data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from harmonium.core.validation import IsInstance, Number, Whole, shown
from harmonium.families.base import Family
from harmonium.families.mrf.gaussian_mrf import GaussianMRF
from harmonium.families.mrf.ising import Ising
from harmonium.families.mrf.pairwise import Pairwise
from harmonium.families.mrf.potts import Potts

# Whole numbers from 0 that are taken for codes of categories: a convention. Each code costs a regression.
_MOST_CODES = 20


def learn_edges(
    X: Any, C: float = 0.1, max_edges: int | None = None, family: Pairwise | GaussianMRF | None = None
) -> np.ndarray:
    """Find edges by L1-penalised regressions of columns on others.

    Regressions are logistic for zeros and ones and for codes, and of least squares for real numbers, which are
    standardised. Codes of categories are one-hot there: two columns are as strongly joined as the vector of all their
    coefficients is long. Rows that lack something are left out.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
        Data of the view, of two columns or more.
    C : float, default=0.1
        Inverse strength of the penalty; more gives more edges. In logistic regressions it is the ``C`` of scikit-learn.
        For real numbers the penalty is 0.15 / C √(log p / n), with n rows of p columns: with the default, about one in
        a hundred pairs of 20 independent columns is joined, however many rows there are.
    max_edges : int or None, default=None
        Keep the strongest edges up to this number; ``None`` keeps all.
    family : Ising, Potts or GaussianMRF, optional
        Family that the view is to have. By default `Ising` for zeros and ones, `Potts` for other whole numbers from 0
        to 19, and `GaussianMRF` for other numbers, such as counts and ages.

    Returns
    -------
    ndarray of int of shape (n_edges, 2)
        Pairs of columns that the regressions of both join, the strongest first.

    References
    ----------
    Ravikumar, Wainwright & Lafferty (2010), High-dimensional Ising model selection using l1-regularized logistic
    regression; Meinshausen & Bühlmann (2006), High-dimensional graphs and variable selection with the lasso.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.integers(0, 2, size=(300, 3))
    >>> rows[:, 2] = np.where(rng.random(300) < 0.9, rows[:, 0], 1 - rows[:, 0])
    >>> learn_edges(rows).tolist()
    [[0, 2]]
    >>> learn_edges(2 * rows).tolist()  # codes
    [[0, 2]]
    """
    Number(remedy="0.1 is usual").check("learn_edges", "C", C)
    Whole(0, "None keeps all edges", also=(None,)).check("learn_edges", "max_edges", max_edges)
    IsInstance(Family, "Ising()").check("learn_edges", "family", family)
    if family is not None and not isinstance(family, Pairwise | GaussianMRF):
        raise TypeError(f"learn_edges needs a family of columns with edges; got {family}; pass for example Ising().")
    values = _complete_rows(X)
    family = _family_of(values) if family is None else family
    if not family.support.contains(values).all():
        raise ValueError(
            f"learn_edges needs {family.support.description} for {family}; got other values; pass another family."
        )
    found = family.strengths(values, C)
    strength = np.triu(np.minimum(found, found.T))
    edges = np.argwhere(strength > 0)
    return edges[np.argsort(-strength[tuple(edges.T)], kind="stable")][:max_edges]


def _complete_rows(X: Any) -> np.ndarray:
    """Return the rows that lack nothing; refuse what leaves nothing to learn from."""
    values = _numbers(X)
    if values.ndim != 2 or values.shape[1] < 2:
        raise ValueError(
            f"learn_edges needs a matrix of two columns or more; got shape {values.shape}; pass the whole view."
        )
    complete = values[~np.isnan(values).any(axis=1)]
    if len(complete) < 2:
        raise ValueError(
            f"learn_edges needs two rows or more that lack nothing; got {len(complete)} among {len(values)}; leave out "
            "columns that lack much, or fill them in."
        )
    return complete


def _numbers(X: Any) -> np.ndarray:
    """Return data in double precision, with NaN for whatever stands for a missing cell."""
    try:
        cells = np.asarray(X.toarray() if scipy.sparse.issparse(X) else X)
        return np.where(pd.isna(cells), np.nan, cells).astype(np.float64)
    except (TypeError, ValueError):  # rows of different lengths, and objects that are no numbers
        raise ValueError(f"learn_edges needs a matrix of real numbers; got {shown(X)}; pass codes for texts.") from None


def _family_of(values: np.ndarray) -> Pairwise | GaussianMRF:
    """Return the first family whose support holds all values, or else the last; many different codes are numbers."""
    families = (Ising(), Potts()) if values.max() < _MOST_CODES else ()
    return next((family for family in families if family.support.contains(values).all()), GaussianMRF())
