"""Curves of predictions against the truth: precision over recall, and calibration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve

# Points of a curve, bins of a calibration, and classes with curves of their own: as many as one can see.
_POINTS = 60
_BINS = 10
_CURVES = 6


def precision_recall(names: Sequence[str], truth: np.ndarray, probabilities: np.ndarray) -> list[dict[str, Any]]:
    """Return curves of precision over recall, one for each of the most frequent classes or labels.

    Parameters
    ----------
    names : sequence of str
        Names of the classes or labels.
    truth : ndarray of shape (n_rows, n_classes)
        Which rows have which, 0 or 1.
    probabilities : ndarray of shape (n_rows, n_classes)
        How probable each was held to be.

    Returns
    -------
    list of dict
        ``name``, ``n_rows`` (how many have it), ``average_precision``, ``share`` (the precision of guessing), and the
        curve as lists ``recall`` and ``precision``; the most frequent first.

    Examples
    --------
    >>> curves = precision_recall(["sea", "sky"], np.eye(2)[[0, 1, 0]], np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]))
    >>> [(curve["name"], curve["average_precision"]) for curve in curves]
    [('sea', 1.0), ('sky', 1.0)]
    """
    sizes = truth.sum(axis=0)
    there = [column for column in np.argsort(-sizes, kind="stable") if 0 < sizes[column] < len(truth)]
    curves = []
    for column in there[:_CURVES]:
        precision, recall, _ = precision_recall_curve(truth[:, column], probabilities[:, column])
        chosen = np.unique(np.linspace(0, len(recall) - 1, _POINTS).astype(int))
        curves.append(
            {
                "name": str(names[column]),
                "n_rows": int(sizes[column]),
                "average_precision": float(average_precision_score(truth[:, column], probabilities[:, column])),
                "share": float(sizes[column] / len(truth)),
                "recall": _rounded(recall[chosen]),
                "precision": _rounded(precision[chosen]),
            }
        )
    return curves


def calibration(confidence: np.ndarray, right: np.ndarray) -> dict[str, Any]:
    """Return how often predictions of some confidence are right.

    Parameters
    ----------
    confidence : ndarray of shape (n,)
        How probable each prediction was held to be.
    right : ndarray of bool of shape (n,)
        Whether it is right.

    Returns
    -------
    dict
        ``error``, the expected calibration error, and ``bins``, each with its mean ``confidence``, its share
        ``right`` and the number ``n`` of its predictions; bins without any are left out.

    Examples
    --------
    >>> curve = calibration(np.array([0.8, 0.8, 0.8, 0.8, 0.8]), np.array([True, True, True, True, False]))
    >>> curve["bins"], round(curve["error"], 6)
    ([{'confidence': 0.8, 'right': 0.8, 'n': 5}], 0.0)
    """
    edges = np.linspace(0, 1, _BINS + 1)[1:-1]
    bins = np.digitize(confidence, edges, right=True)
    shown = [
        {
            "confidence": round(float(confidence[bins == number].mean()), 4),
            "right": round(float(right[bins == number].mean()), 4),
            "n": int((bins == number).sum()),
        }
        for number in np.unique(bins)
    ]
    gaps = np.bincount(bins, weights=confidence - right)
    return {"error": float(np.abs(gaps).sum() / len(confidence)), "bins": shown}


def number_calibration(truth: np.ndarray, predicted: np.ndarray) -> list[dict[str, Any]]:
    """Return what is true of rows with similar predictions, which should be what was predicted.

    Parameters
    ----------
    truth : ndarray of shape (n_rows,)
        What is right.
    predicted : ndarray of shape (n_rows,)
        What was predicted.

    Returns
    -------
    list of dict
        For each of up to ten groups of equally many rows, by their predictions: the mean ``predicted``, the mean
        ``truth``, its quartiles ``lower`` and ``upper``, and the number ``n`` of rows.

    Examples
    --------
    >>> number_calibration(np.array([1.0, 3.0]), np.array([2.0, 2.5]))[0]
    {'predicted': 2.0, 'truth': 1.0, 'lower': 1.0, 'upper': 1.0, 'n': 1}
    """
    order = np.argsort(predicted, kind="stable")
    return [
        {
            "predicted": float(predicted[rows].mean()),
            "truth": float(truth[rows].mean()),
            "lower": float(np.quantile(truth[rows], 0.25)),
            "upper": float(np.quantile(truth[rows], 0.75)),
            "n": len(rows),
        }
        for rows in np.array_split(order, min(_BINS, len(order)))
    ]


def _rounded(values: np.ndarray) -> list[float]:
    return [round(float(value), 4) for value in values]
