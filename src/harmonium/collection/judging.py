"""Rows held out: which they are, what is true of them, and what a model and simpler ones predict for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harmonium.collection.held_out import HeldOut
from harmonium.collection.measures import compared
from harmonium.collection.rivals import linear_predictions, trivial_predictions
from harmonium.targets import Meaning

# fewer rows than this say nothing about a model
_FEWEST = 20


def split_rows(y: Any, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of rows to learn from and of rows to hold out.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_columns)
        Targets. Rows whose target is unknown are learned from.
    share : float
        Share of the rows with a target to hold out; of classes with few rows none may be.
    seed : int
        Seed of the choice.

    Returns
    -------
    learned, held_out : ndarray of int64
        Row numbers in order; none are held out if there would be fewer than 20.

    Examples
    --------
    >>> learned, held_out = split_rows(["a", "b"] * 100, 0.2, seed=0)
    >>> len(learned), len(held_out)
    (160, 40)
    """
    table = _table(y)
    # column by column, as a frame of sparse columns would become one of Python objects
    known = np.flatnonzero(np.logical_or.reduce([column.notna().to_numpy() for _, column in table.items()]))
    rng = np.random.default_rng(seed)
    held_out: list[int] = []
    for rows in _strata(table, known):
        mixed = rng.permutation(rows)
        # one of a class is always learned from
        held_out += mixed[: min(round(share * len(rows)), len(rows) - 1)].tolist()
    chosen = np.sort(np.array(held_out if len(held_out) >= _FEWEST else [], dtype=np.int64))
    return np.setdiff1d(np.arange(len(table)), chosen), chosen


def _strata(table: pd.DataFrame, known: np.ndarray) -> list[np.ndarray]:
    """Return rows of the same class; numbers and labels are one stratum."""
    if table.shape[1] > 1 or table.iloc[:, 0].nunique() > max(2, len(known) // _FEWEST):
        return [known]
    classes = table.iloc[known, 0].astype(str).to_numpy()
    return [known[classes == name] for name in np.unique(classes)]


def _table(y: Any) -> pd.DataFrame:
    """Return targets as columns; those of frames stay as they are, as Python objects take far more memory."""
    if isinstance(y, pd.DataFrame | pd.Series):
        return pd.DataFrame(y)
    return pd.DataFrame(np.asarray(y, dtype=object).reshape(len(y), -1))


def truth_of(meaning: Meaning, y: Any) -> np.ndarray:
    """Return targets as `HeldOut` has them.

    Parameters
    ----------
    meaning : Meaning
        What they mean.
    y : array-like of shape (n_rows,) or (n_rows, n_columns)
        Targets.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        Class numbers (-1 where they are unknown, or no class of the model), numbers, or 0 and 1.

    Examples
    --------
    >>> truth_of(Meaning("class", [np.array(["no", "yes"])]), ["yes", None, "no"]).ravel().tolist()
    [1.0, -1.0, 0.0]
    """
    table = _table(y)
    if meaning.kind != "class":
        return table.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    values = table.to_numpy(dtype=object)
    numbers = [{entry: place for place, entry in enumerate(classes.tolist())} for classes in meaning.classes]
    cells = [[known.get(entry, -1) for known, entry in zip(numbers, row, strict=True)] for row in values.tolist()]
    return np.array(cells, dtype=np.float64).reshape(values.shape)


def judged(
    model: Any, X: Any, y: Any, learned: np.ndarray, held_out: np.ndarray, seed: int, most_rows: int | None = None
) -> HeldOut:
    """Return what a model and simpler ones predict for rows that they did not learn from.

    Parameters
    ----------
    model : HarmoniumClassifier or HarmoniumRegressor
        A model that was fitted on the rows to learn from.
    X : Views
        All rows.
    y : array-like of shape (n_rows,) or (n_rows, n_columns)
        All targets.
    learned, held_out : ndarray of int64
        Numbers of the rows that were learned from and held out.
    seed : int
        Seed of the intervals.
    most_rows : int, optional
        Rows that the linear model learns from, at most, as it takes them all into memory. Default: all.

    Returns
    -------
    HeldOut
        The rows, what is true of them, what the model predicts, and scores of all models: ``n_rows``, ``n_learned``,
        ``n_linear`` if the linear model learned from fewer, and ``measures`` as
        `harmonium.collection.measures.compared` returns them, with the models
        "harmonium", "linear" and "trivial".
    """
    meaning = model.fitted_.meaning
    n_learned = len(learned)
    if most_rows is not None and n_learned > most_rows:
        learned = learned[np.linspace(0, n_learned - 1, most_rows).astype(np.int64)]
    train, test = X[learned], X[held_out]
    known, truth = (truth_of(meaning, _table(y).iloc[rows]) for rows in (learned, held_out))
    families = {name: model.families_[name] for name in train.names}
    predicted = {
        "harmonium": predicted_by(model, test),
        "linear": linear_predictions(meaning, families, train, known, test),
        "trivial": trivial_predictions(meaning, known, len(held_out)),
    }
    scores = {
        "n_rows": len(held_out),
        "n_learned": n_learned,
        **({} if len(learned) == n_learned else {"n_linear": len(learned)}),
        "measures": compared(meaning, truth, predicted, seed),
    }
    return HeldOut(held_out, truth, predicted["harmonium"], scores)


def predicted_by(model: Any, X: Any) -> np.ndarray:
    """Return what a model predicts, in the form of `HeldOut`.

    Parameters
    ----------
    model : HarmoniumClassifier or HarmoniumRegressor
        A fitted model.
    X : object
        Items.

    Returns
    -------
    ndarray of shape (n_rows, n_outputs)
        Numbers, or probabilities of classes or labels.
    """
    if model.fitted_.meaning.kind == "number":
        return np.asarray(model.predict(X), dtype=np.float64).reshape(len(model.as_views(X)), -1)
    found = model.predict_proba(X)
    return np.hstack(found) if isinstance(found, list) else np.asarray(found, dtype=np.float64)
