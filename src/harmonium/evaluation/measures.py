"""Measures of predictions, over weighted rows, and intervals for them by resampling rows.

Every measure takes (truth, predicted, weight) in the form of `HeldOut`, and is a function of sums over rows, so that
resampled rows are other weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from harmonium.core.targets import TargetSpec

# Resampled sets of rows, and probability of the intervals: conventions.
_RESAMPLES = 1000
_INTERVAL = 0.95
# Probabilities of classes and labels are kept this far from 0 and 1 where logarithms are taken: a convention.
_SMALLEST = 1e-6


@dataclass(frozen=True)
class Measure:
    """A measure of predictions.

    Attributes
    ----------
    name : str
        What it is called.
    higher_is_better : bool
        Which way is up.
    value : callable
        The measure of (truth, predicted, weight).
    """

    name: str
    higher_is_better: bool
    value: Callable[[np.ndarray, np.ndarray, np.ndarray], float]


def measures_for(meaning: TargetSpec) -> list[Measure]:
    """Return the measures that suit a kind of targets, the most telling first.

    Parameters
    ----------
    meaning : TargetSpec
        What is predicted.

    Returns
    -------
    list of Measure
        R² and mean absolute error of numbers; accuracy and log loss of classes; F1, cut at one half, and log loss of
        labels. Several columns have the mean of their values.
    """
    if meaning.kind == "number":
        return [Measure("R²", True, _explained), Measure("mean absolute error", False, _absolute_error)]
    if meaning.kind == "label":
        return [Measure("F1 at 0.5", True, _f1), Measure("log loss", False, _label_log_loss)]
    ends = np.cumsum(meaning.n_classes)
    columns = [slice(int(end) - number, int(end)) for end, number in zip(ends, meaning.n_classes, strict=True)]

    def accuracy(truth: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> float:
        pairs = enumerate(columns)
        return float(np.mean([_accuracy(truth[:, i], predicted[:, column], weight) for i, column in pairs]))

    def log_loss(truth: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> float:
        pairs = enumerate(columns)
        return float(np.mean([_log_loss(truth[:, i], predicted[:, column], weight) for i, column in pairs]))

    return [Measure("accuracy", True, accuracy), Measure("log loss", False, log_loss)]


def compare(
    meaning: TargetSpec, truth: np.ndarray, predicted: dict[str, np.ndarray], seed: int = 0
) -> list[dict[str, Any]]:
    """Return every measure of several models on the same rows, with intervals.

    Parameters
    ----------
    meaning : TargetSpec
        What is predicted.
    truth : ndarray of shape (n_rows, n_columns)
        What is true, as `HeldOut` has it.
    predicted : dict of str to ndarray of shape (n_rows, n_outputs)
        What each model predicts; the first is the one that the others are compared with.
    seed : int, default=0
        Seed of the resampling.

    Returns
    -------
    list of dict
        A dict for each measure: ``measure``, ``higher_is_better``, and ``models``, a list with ``name``, ``value`` and
        the ends ``lower`` and ``upper`` of its 95 % interval; after the first also ``ahead``, by how much the first is
        better (positive) or worse, with ``ahead_lower`` and ``ahead_upper``. Rows are resampled together.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(size=(200, 1))
    >>> table = compare(TargetSpec("number", []), truth, {"good": truth + 0.1, "mean": np.zeros((200, 1))})
    >>> [round(model["value"], 2) for model in table[0]["models"]], table[0]["models"][1]["ahead_lower"] > 0.9
    ([0.99, -0.0], True)
    """
    rng = np.random.default_rng(seed)
    n_rows = len(truth)
    once = np.ones(n_rows)
    draws = [np.bincount(rng.integers(0, n_rows, n_rows), minlength=n_rows).astype(float) for _ in range(_RESAMPLES)]
    table = []
    for measure in measures_for(meaning):
        drawn = {name: np.array([measure.value(truth, guess, w) for w in draws]) for name, guess in predicted.items()}
        values = {name: measure.value(truth, guess, once) for name, guess in predicted.items()}
        first = next(iter(predicted))
        sign = 1.0 if measure.higher_is_better else -1.0
        models = []
        for name, value in values.items():
            lower, upper = _ends(drawn[name])
            entry = {"name": name, "value": value, "lower": lower, "upper": upper}
            if name != first:
                entry["ahead"] = sign * (values[first] - value)
                entry["ahead_lower"], entry["ahead_upper"] = _ends(sign * (drawn[first] - drawn[name]))
            models.append(entry)
        table.append({"measure": measure.name, "higher_is_better": measure.higher_is_better, "models": models})
    return table


def _ends(values: np.ndarray) -> tuple[float, float]:
    """Return the ends of the interval that most of the resampled values lie in."""
    lower, upper = np.quantile(values, [(1 - _INTERVAL) / 2, (1 + _INTERVAL) / 2])
    return float(lower), float(upper)


def _explained(truth: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> float:
    observed = ~np.isnan(truth)
    cells = weight[:, None] * observed
    values = np.where(observed, truth, 0.0)
    total = np.maximum(cells.sum(axis=0), 1e-300)
    mean = (cells * values).sum(axis=0) / total
    around = (cells * np.square(values - mean)).sum(axis=0)
    left = (cells * np.square(values - predicted)).sum(axis=0)
    return float(np.mean(np.where(around > 0, 1 - left / np.where(around > 0, around, 1.0), 0.0)))


def _absolute_error(truth: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> float:
    observed = ~np.isnan(truth)
    cells = weight[:, None] * observed
    return float((cells * np.abs(np.where(observed, truth - predicted, 0.0))).sum() / max(cells.sum(), 1e-300))


def _accuracy(truth: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> float:
    used = weight * (truth >= 0)
    return float(used @ (predicted.argmax(axis=1) == truth) / max(used.sum(), 1e-300))


def _log_loss(truth: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> float:
    used = weight * (truth >= 0)
    share = predicted[np.arange(len(truth)), np.maximum(truth, 0).astype(int)]
    return float(-(used @ np.log(np.clip(share, _SMALLEST, 1.0))) / max(used.sum(), 1e-300))


def _f1(truth: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> float:
    """Return F1 over all cells, for all models alike if their probability is at least one half.

    What `predict` of a classifier returns is cut where the F1 of its held-out rows is largest.
    """
    guess = weight[:, None] * (predicted >= 0.5) * ~np.isnan(truth)
    hits, guessed, there = (guess * (truth == 1)).sum(), guess.sum(), (weight[:, None] * (truth == 1)).sum()
    return float(2 * hits / max(guessed + there, 1e-300))


def _label_log_loss(truth: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> float:
    cells = weight[:, None] * ~np.isnan(truth)
    share = np.clip(np.where(truth == 1, predicted, 1 - predicted), _SMALLEST, 1.0)
    return float(-(cells * np.log(share)).sum() / max(cells.sum(), 1e-300))
