"""Learn the edges between the columns of a view from data."""

from __future__ import annotations

from typing import Any

import numpy as np

from harmonium.families.gaussian_mrf import GaussianMRF
from harmonium.families.ising import Ising
from harmonium.families.pairwise import Pairwise
from harmonium.families.potts import Potts


def learn_edges(
    X: Any, C: float = 0.1, max_edges: int | None = None, family: Pairwise | GaussianMRF | None = None
) -> np.ndarray:
    """Find edges by L1-penalised regressions of columns on others.

    Regressions are logistic for zeros and ones and for codes, and of least squares for real numbers, which are
    standardised. Codes of categories are one-hot there: two columns are as strongly joined as the vector of all their
    coefficients is long. Rows that lack something are left out.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns)
        Data of the view.
    C : float, default=0.1
        Inverse strength of the penalty; more gives more edges.
    max_edges : int or None, default=None
        Keep the strongest edges up to this number; ``None`` keeps all.
    family : Ising, Potts or GaussianMRF, optional
        Family that the view is to have. By default `Ising` for zeros and ones, `Potts` for other whole numbers from 0
        up, and `GaussianMRF` for other numbers.

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
    values = np.asarray(X, dtype=np.float64)
    values = values[~np.isnan(values).any(axis=1)]
    family = _family_of(values) if family is None else family
    if not family.support.contains(values).all():
        raise ValueError(
            f"learn_edges needs {family.support.description} for {family}; got other values; pass another family."
        )
    found = family.strengths(values, C)
    strength = np.triu(np.minimum(found, found.T))
    edges = np.argwhere(strength > 0)
    return edges[np.argsort(-strength[tuple(edges.T)], kind="stable")][:max_edges]


def _family_of(values: np.ndarray) -> Pairwise | GaussianMRF:
    """Return the first family whose support holds all values, or else the last."""
    families = (Ising(), Potts(), GaussianMRF())
    return next((family for family in families if family.support.contains(values).all()), GaussianMRF())
