"""Edges between the columns of a view: which are given, those of a grid, and regressions that suggest some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harmonium.core.validation import Setting, shown

_REMEDY = "number columns from 0, or use grid_edges or learn_edges"
# Penalty of least squares times C, in units of the deviation of correlations of independent columns: with C=0.1, about
# one in a hundred pairs of 20 such columns is joined, whatever the number of rows is.
_NOISE = 0.15


class Edges(Setting):
    """``"chain"``, or pairs of whole numbers, of which only the data can tell whether there are such columns."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse what are no pairs."""
        if not _is_chain(value):
            _pairs(owner, name, value)


def grid_edges(n_rows: int, n_columns: int) -> np.ndarray:
    """Return the edges between neighbours of a grid.

    The rows of the grid stand one after the other.

    Parameters
    ----------
    n_rows, n_columns : int
        Height and width of the grid.

    Returns
    -------
    ndarray of int of shape (n_edges, 2)
        Numbers of the cells that are beside each other or below each other.

    Examples
    --------
    >>> grid_edges(2, 2).tolist()
    [[0, 1], [2, 3], [0, 2], [1, 3]]
    """
    cells = np.arange(n_rows * n_columns).reshape(n_rows, n_columns)
    beside = np.stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()], axis=1)
    below = np.stack([cells[:-1].ravel(), cells[1:].ravel()], axis=1)
    return np.concatenate([beside, below])


def checked_edges(owner: str, given: Any, n_columns: int) -> np.ndarray:
    """Return edges as pairs of columns, each pair once with its smaller number first."""
    if _is_chain(given):
        return np.stack([np.arange(n_columns - 1), np.arange(1, n_columns)], axis=1)
    edges = _pairs(owner, "edges", given)
    wrong = (edges < 0).any(axis=1) | (edges >= n_columns).any(axis=1) | (edges[:, 0] == edges[:, 1])
    if wrong.any():
        raise ValueError(
            f"Edges must join two different of the {n_columns} columns; got {edges[wrong][0].tolist()}; {_REMEDY}."
        )
    edges = np.sort(edges.astype(np.int64), axis=1)
    if len(np.unique(edges, axis=0)) < len(edges):
        raise ValueError(f"Each edge may be given once; got some twice among {len(edges)}; use numpy.unique.")
    return edges


def regression_strengths(
    blocks: list[np.ndarray], coefficients: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return norms of coefficients by which columns predict each other, of shape (columns, columns).

    Parameters
    ----------
    blocks : list of ndarray of shape (rows, features)
        The features of each column.
    coefficients : callable
        Function from the features of all other columns and one feature to the coefficients of a regression.

    Returns
    -------
    ndarray
        In row i, the norm over all coefficients of each column in the regressions for the features of column i.
    """
    owner = np.repeat(np.arange(len(blocks)), [block.shape[1] for block in blocks])
    features, squares = np.concatenate(blocks, axis=1), np.zeros((len(blocks), len(blocks)))
    for number, column in enumerate(owner):
        target = features[:, number]
        if target.min() < target.max():
            others = owner != column
            found = coefficients(features[:, others], target)
            np.add.at(squares[column], owner[others], np.square(found))
    return np.sqrt(squares)


def logistic_coefficients(X: np.ndarray, y: np.ndarray, C: float) -> np.ndarray:
    """Return the coefficients of an L1-penalised logistic regression."""
    from sklearn.linear_model import LogisticRegression  # late, for a quick start

    # the name of the setting since scikit-learn 1.8, and before
    is_new = getattr(LogisticRegression(), "penalty", "deprecated") == "deprecated"
    penalty: dict[str, Any] = {"l1_ratio": 1.0} if is_new else {"penalty": "l1"}
    found: np.ndarray = LogisticRegression(C=C, solver="liblinear", random_state=0, **penalty).fit(X, y).coef_[0]
    return found


def lasso_coefficients(X: np.ndarray, y: np.ndarray, C: float) -> np.ndarray:
    """Return the coefficients of an L1-penalised least squares regression of standardised columns.

    The penalty is 0.15 / C times √(log p / n), for n rows and p columns in all, as the largest of the correlations that
    chance gives falls with it.
    """
    from sklearn.linear_model import Lasso  # late, for a quick start

    n_rows, n_columns = len(y), X.shape[1] + 1
    found: np.ndarray = Lasso(alpha=_NOISE / C * np.sqrt(np.log(n_columns) / n_rows)).fit(X, y).coef_
    return found


def _is_chain(given: Any) -> bool:
    return isinstance(given, str) and given == "chain"


def _pairs(owner: str, name: str, given: Any) -> np.ndarray:
    """Return edges as whole numbers in two columns; refuse what are no pairs of them."""
    try:
        edges = np.asarray(given)
    except ValueError:  # rows of different lengths, refused for their kind
        edges = np.array(None)
    edges = edges.reshape(-1, 2).astype(np.int64) if edges.size == 0 and edges.dtype.kind in "iuf" else edges
    if edges.dtype.kind not in "iu" or edges.ndim != 2 or edges.shape[1] != 2:
        raise ValueError(
            f"{owner} needs {name} 'chain' or an array of two columns each; got {shown(given)}; {_REMEDY}."
        )
    return edges
