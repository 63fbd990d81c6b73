"""Summary of the predictions for held-out rows: curves, calibration, and the mistakes the model was surest of."""

from __future__ import annotations

from typing import Any

import numpy as np

from harmonium.evaluation import HeldOut
from harmonium.model_folder import ModelFolder
from harmonium.model_folder.json_values import json_value
from harmonium.report.summary.cards import Cards
from harmonium.report.summary.curves import calibration, number_calibration, precision_recall

# mistakes that are shown: as many as one reads
_MISTAKES = 8


def held_out_summary(folder: ModelFolder, cards: Cards) -> dict[str, Any] | None:
    """Return what the predictions for held-out rows show.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    cards : Cards
        What is shown of its items.

    Returns
    -------
    dict or None
        ``kind`` of the target, the number ``n`` of rows, ``precision_recall``, ``calibration``, ``numbers`` (what is
        true of similar predictions) and ``mistakes``; entries that do not apply are None. None if no rows were
        held out, or there are several targets.
    """
    held_out, meaning = folder.held_out, folder.model.fitted_.meaning
    if held_out is None or meaning is None or not len(held_out):
        return None
    if meaning.kind == "label":
        return _labels(held_out, [str(name) for name in meaning.names or range(meaning.n_columns)])
    if meaning.n_columns != 1:
        return None
    labelled = np.flatnonzero(
        np.isfinite(held_out.truth[:, 0]) & (held_out.truth[:, 0] >= 0 if meaning.kind == "class" else True)
    )
    rows, truth, predicted = held_out.rows[labelled], held_out.truth[labelled, 0], held_out.predicted[labelled]
    if not len(rows):
        return None
    if meaning.kind == "number":
        return _numbers(rows, truth, predicted[:, 0], cards)
    return _classes(rows, truth.astype(int), predicted, [json_value(name) for name in meaning.classes[0]], cards)


def _classes(rows: np.ndarray, truth: np.ndarray, shares: np.ndarray, names: list[Any], cards: Cards) -> dict[str, Any]:
    best = shares.argmax(axis=1)
    confidence, right = shares.max(axis=1), best == truth
    worst = [row for row in np.argsort(-confidence, kind="stable") if not right[row]][:_MISTAKES]
    mistakes = [
        {
            "card": cards.with_picture(int(rows[row])),
            "truth": names[truth[row]],
            "predicted": names[best[row]],
            "probability": float(confidence[row]),
        }
        for row in worst
    ]
    return {
        "kind": "class",
        "n": len(rows),
        "precision_recall": precision_recall([str(name) for name in names], np.eye(len(names))[truth], shares),
        "calibration": calibration(confidence, right),
        "numbers": None,
        "mistakes": mistakes,
    }


def _numbers(rows: np.ndarray, truth: np.ndarray, predicted: np.ndarray, cards: Cards) -> dict[str, Any]:
    worst = np.argsort(-np.abs(truth - predicted), kind="stable")[:_MISTAKES]
    mistakes = [
        {
            "card": cards.with_picture(int(rows[row])),
            "truth": float(truth[row]),
            "predicted": float(predicted[row]),
            "probability": None,
        }
        for row in worst
    ]
    return {
        "kind": "number",
        "n": len(rows),
        "precision_recall": None,
        "calibration": None,
        "numbers": number_calibration(truth, predicted),
        "mistakes": mistakes,
    }


def _labels(held_out: HeldOut, names: list[str]) -> dict[str, Any] | None:
    labelled = np.isfinite(held_out.truth).all(axis=1)
    truth, shares = held_out.truth[labelled].astype(int), held_out.predicted[labelled]
    if not len(truth):
        return None
    return {
        "kind": "label",
        "n": len(truth),
        "precision_recall": precision_recall(names, truth, shares),
        "calibration": calibration(shares.ravel(), truth.ravel().astype(bool)),
        "numbers": None,
        "mistakes": [],
    }
