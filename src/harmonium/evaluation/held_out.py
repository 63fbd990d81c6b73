"""Predictions for rows that the model which made them had not seen, and their scores beside those of baselines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from harmonium.core.targets import TargetSpec
from harmonium.estimators.input import known_views
from harmonium.evaluation.baselines import linear_predictions, trivial_predictions
from harmonium.evaluation.measures import compare
from harmonium.evaluation.split import target_frame


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows that were held out, what is true of them, and what was predicted.

    Parameters
    ----------
    rows : ndarray of int64 of shape (n_rows,)
        Their numbers among the items.
    truth : ndarray of shape (n_rows, n_columns)
        Class numbers (-1 where they are unknown), numbers, or 0 and 1 for labels (NaN where they are unknown), in
        float64.
    predicted : ndarray of shape (n_rows, n_outputs)
        Probabilities of the classes, those of each column side by side; predicted numbers; or probabilities of labels,
        in float64.
    scores : dict
        Scores of the predictions, beside those of simpler models, as JSON can hold it; see
        `harmonium.evaluation.evaluate`.

    Examples
    --------
    >>> held_out = HeldOut(np.array([3, 8]), np.array([[0.0], [1.0]]), np.array([[0.9, 0.1], [0.4, 0.6]]))
    >>> len(held_out)
    2
    """

    rows: np.ndarray
    truth: np.ndarray
    predicted: np.ndarray
    scores: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def among(self, kept: np.ndarray) -> HeldOut:
        """Return those of the rows that are kept, numbered among these.

        Scores stay those of all rows.

        Parameters
        ----------
        kept : ndarray of int64
            Numbers of the items that are kept, in order.

        Returns
        -------
        HeldOut
            The rows that are kept.

        Examples
        --------
        >>> HeldOut(np.array([3, 8]), np.zeros((2, 1)), np.zeros((2, 1))).among(np.array([0, 2, 8])).rows.tolist()
        [2]
        """
        is_kept = np.isin(self.rows, kept)
        numbers = np.searchsorted(kept, self.rows[is_kept]).astype(np.int64)
        return HeldOut(numbers, self.truth[is_kept], self.predicted[is_kept], self.scores)

    def tensors(self) -> dict[str, np.ndarray]:
        """Return the arrays, as a folder keeps them.

        Returns
        -------
        dict of str to ndarray
            Arrays by name.
        """
        return {
            "held_out/rows": np.asarray(self.rows, dtype=np.int64),
            "held_out/truth": np.asarray(self.truth, dtype=np.float64),
            "held_out/predicted": np.asarray(self.predicted, dtype=np.float64),
        }

    @classmethod
    def restored(cls, tensors: Mapping[str, np.ndarray], scores: dict[str, Any], n_items: int) -> Self:
        """Return the held-out rows that `tensors` described.

        Parameters
        ----------
        tensors : mapping of str to ndarray
            What `tensors` returned, among others.
        scores : dict
            Scores of the predictions.
        n_items : int
            Number of items.

        Returns
        -------
        HeldOut
            The same rows and predictions.

        Raises
        ------
        ValueError
            If the arrays are no such thing.
        """
        arrays = {name: tensors[f"held_out/{name}"] for name in ("rows", "truth", "predicted")}
        rows = arrays["rows"]
        if any(len(value) != len(rows) or value.ndim != 2 - (name == "rows") for name, value in arrays.items()):
            raise ValueError("held-out rows, truth and predictions of different lengths")
        if rows.dtype != np.int64 or (len(rows) and not (rows.min() >= 0 and rows.max() < n_items)):
            raise ValueError("held-out rows that are no items")
        return cls(scores=scores, **arrays)


def evaluate(
    model: Any, X: Any, y: Any, train: np.ndarray, test: np.ndarray, seed: int, max_baseline_rows: int | None = None
) -> HeldOut:
    """Return what a model and its baselines predict for rows that they did not learn from.

    Parameters
    ----------
    model : HarmoniumClassifier or HarmoniumRegressor
        A model that was fitted on the rows to learn from.
    X : Views
        All rows.
    y : array-like of shape (n_rows,) or (n_rows, n_columns)
        All targets.
    train, test : ndarray of int64
        Numbers of the rows that were learned from and held out.
    seed : int
        Seed of the intervals.
    max_baseline_rows : int, optional
        Rows that the linear model learns from, at most, as it takes them all into memory. Default: all.

    Returns
    -------
    HeldOut
        The rows, what is true of them, what the model predicts, and scores of all models: ``n_rows``, ``n_learned``,
        ``n_linear`` if the linear model learned from fewer, and ``measures`` as
        `harmonium.evaluation.measures.compare` returns them, with the models
        "harmonium", "linear" and "trivial".
    """
    meaning = model.fitted_.meaning
    n_train = len(train)
    if max_baseline_rows is not None and n_train > max_baseline_rows:
        train = train[np.linspace(0, n_train - 1, max_baseline_rows).astype(np.int64)]
    X_train, X_test = X[train], X[test]
    y_train, y_test = (encoded_targets(meaning, target_frame(y).iloc[rows]) for rows in (train, test))
    families = {name: model.families_[name] for name in X_train.names}
    predicted = {
        "harmonium": predicted_outputs(model, X_test),
        "linear": linear_predictions(meaning, families, X_train, y_train, X_test),
        "trivial": trivial_predictions(meaning, y_train, len(test)),
    }
    scores = {
        "n_rows": len(test),
        "n_learned": n_train,
        **({} if len(train) == n_train else {"n_linear": len(train)}),
        "measures": compare(meaning, y_test, predicted, seed),
    }
    return HeldOut(test, y_test, predicted["harmonium"], scores)


def encoded_targets(meaning: TargetSpec, y: Any) -> np.ndarray:
    """Return targets in the form of the truth of `HeldOut`.

    Parameters
    ----------
    meaning : TargetSpec
        What they mean.
    y : array-like of shape (n_rows,) or (n_rows, n_columns)
        Targets.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        Class numbers (-1 where they are unknown, or no class of the model), numbers, or 0 and 1.

    Examples
    --------
    >>> encoded_targets(TargetSpec("class", [np.array(["no", "yes"])]), ["yes", None, "no"]).ravel().tolist()
    [1.0, -1.0, 0.0]
    """
    frame = target_frame(y)
    if meaning.kind != "class":
        return frame.map(_number).to_numpy(dtype=np.float64)
    values = frame.to_numpy(dtype=object)
    codes = [{entry: code for code, entry in enumerate(classes.tolist())} for classes in meaning.classes]
    cells = [[code.get(entry, -1) for code, entry in zip(codes, row, strict=True)] for row in values.tolist()]
    return np.array(cells, dtype=np.float64).reshape(values.shape)


def _number(cell: Any) -> float:
    """Return a cell as a number, NaN if it is none; pandas ends the process for texts such as "1e99999999999"."""
    try:
        return float(cell)
    except (TypeError, ValueError):
        return math.nan


def predicted_outputs(model: Any, X: Any) -> np.ndarray:
    """Return what a model predicts, in the form of the predictions of `HeldOut`.

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
        return np.asarray(model.predict(X), dtype=np.float64).reshape(len(known_views(model, X)), -1)
    probabilities = model.predict_proba(X)
    return np.hstack(probabilities) if isinstance(probabilities, list) else np.asarray(probabilities, dtype=np.float64)
