"""Predictions and annotations of rows, as tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harmonium.core.validation import few_of
from harmonium.inspection import annotate_view
from harmonium.queries.topics.features import naming_view

# Probability of the intervals of predicted numbers: a convention.
_INTERVAL = 0.9


def prediction_table(model: Any, X: Any) -> pd.DataFrame:
    """Return what is predicted for each row, and how sure that is.

    Parameters
    ----------
    model : HarmoniumClassifier or HarmoniumRegressor
        A fitted model with something to predict.
    X : data frame, or anything else that the model takes
        Items.

    Returns
    -------
    DataFrame
        A row for each item, in order. ``prediction`` is a class, a number, or the labels as a list. Beside it stand
        ``probability``, that of the class; ``lower`` and ``upper``, between which the number lies with a probability of
        0.9, if enough rows were held out to tell; or the probability of each label under its name. If there are
        several targets, the names of columns begin with theirs.

    Raises
    ------
    ValueError
        If the model predicts nothing.
    """
    meaning = model.fitted_.meaning
    if meaning is None:
        raise ValueError("A prediction needs a model with a target; this one was fitted without; fit it with a target.")
    if meaning.kind == "label":
        return _labels(model, X)
    return _numbers(model, X) if meaning.kind == "number" else _classes(model, X)


def _classes(model: Any, X: Any) -> pd.DataFrame:
    meaning, probabilities = model.fitted_.meaning, model.predict_proba(X)
    by_column = probabilities if isinstance(probabilities, list) else [probabilities]
    columns = {}
    for number, (classes, shares) in enumerate(zip(meaning.classes, by_column, strict=True)):
        best, name = shares.argmax(axis=1), _prefix(meaning, number)
        columns[f"{name}prediction"] = classes[best]
        columns[f"{name}probability"] = shares[np.arange(len(best)), best]
    return pd.DataFrame(columns)


def _labels(model: Any, X: Any) -> pd.DataFrame:
    names, shares, has = label_names(model), model.predict_proba(X), model.predict(X)
    listed = [names[row.astype(bool)].tolist() for row in has]
    return pd.DataFrame({"prediction": pd.Series(listed, dtype=object)}).join(pd.DataFrame(shares, columns=names))


def _numbers(model: Any, X: Any) -> pd.DataFrame:
    meaning = model.fitted_.meaning
    try:
        found = model.predict(X, interval=_INTERVAL)._asdict()
    except ValueError:  # no rows, or too few, were held out, or the head predicts levels
        found = {"prediction": model.predict(X)}
    columns = {}
    for number in range(meaning.n_columns):
        for name, values in found.items():
            by_column = np.asarray(values, dtype=np.float64).reshape(-1, meaning.n_columns)
            columns[f"{_prefix(meaning, number)}{name}"] = by_column[:, number]
    return pd.DataFrame(columns)


def annotation_table(model: Any, X: Any, view: str | None, top: int) -> pd.DataFrame:
    """Return what goes best with each row: classes, labels, or features of a view.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : data frame, or anything else that the model takes
        Items.
    view : str, optional
        View to annotate with. By default it is the target, if the model has classes or labels; else the first view of
        tags, or of words.
    top : int
        Number of annotations for each row.

    Returns
    -------
    DataFrame
        Columns row, rank, label, probability, as `HarmoniumClassifier.annotate` returns them.
    """
    meaning = model.fitted_.meaning
    if (
        view is None
        and meaning is not None
        and meaning.kind != "number"
        and meaning.n_columns in (1, len(meaning.classes))
    ):
        return model.annotate(X, top=top)
    if view is None:
        table = model.fitted_.table
        if table is None or not any(column.reader.names_some for column in table.columns):
            raise ValueError(
                f"Annotations need classes, labels, tags or words; the model has none of them by itself; name one of "
                f"its views: {few_of(model.fitted_.input_names)}."
            )
        view = naming_view(model.fitted_)
    return annotate_view(model, view, X, top=top)


def label_names(model: Any) -> np.ndarray:
    """Return the names of labels; their numbers as texts if they have none.

    Parameters
    ----------
    model : HarmoniumClassifier
        A fitted model of labels.

    Returns
    -------
    ndarray of str
        The names.
    """
    meaning = model.fitted_.meaning
    return np.array([str(name) for name in meaning.names or range(meaning.n_columns)], dtype=object)


def _prefix(meaning: Any, number: int) -> str:
    if meaning.n_columns == 1:
        return ""
    return f"{meaning.names[number] if meaning.names else number} "
