"""Small data with something to predict, estimators that learn it quickly, and a comparison of predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from harmonium import EpsilonInsensitive, HarmoniumClassifier, HarmoniumRegressor, Hinge, Stochastic

N_ROWS = 240
QUICK: dict[str, Any] = {"n_components": 5, "random_state": 0, "driver": Stochastic(10, 20, learning_rate=0.1)}


def classifier(**keywords: Any) -> HarmoniumClassifier:
    """Trains in a tenth of a second."""
    return HarmoniumClassifier(**{**QUICK, "head": Hinge(C=1.0), "validation_fraction": 0, **keywords})


def regressor(**keywords: Any) -> HarmoniumRegressor:
    return HarmoniumRegressor(**{**QUICK, "head": EpsilonInsensitive(C=1.0), "validation_fraction": 0, **keywords})


def two_views(n_rows: int = N_ROWS, seed: int = 0, n_classes: int = 3) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Words and colours that both tell of the class, though neither for certain."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, size=n_rows)
    likely = np.arange(6 * n_classes) // 6 == y[:, None]
    words = (rng.random(likely.shape) < np.where(likely, 0.6, 0.15)).astype(float)
    return {"words": words, "colour": 2 * np.eye(n_classes)[y] + rng.normal(size=(n_rows, n_classes))}, y


def two_numbers(n_rows: int = N_ROWS, seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Two numbers behind both views; words are on the sunny side of the first."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n_rows, 2))
    words = (rng.random((n_rows, 12)) < 1 / (1 + np.exp(-3 * causes[:, [0] * 6 + [1] * 6]))).astype(float)
    colour = np.repeat(causes, 3, axis=1) + 0.5 * rng.normal(size=(n_rows, 6))
    return {"words": words, "colour": colour}, 10 + 5 * causes


def some_labels(n_rows: int = N_ROWS, seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """An indicator matrix of four labels, of which the last is less frequent."""
    rng = np.random.default_rng(seed)
    labels = (rng.random((n_rows, 4)) < [0.5, 0.5, 0.4, 0.3]).astype(int)
    words = (rng.random((n_rows, 16)) < np.where(np.repeat(labels, 4, axis=1) > 0, 0.7, 0.1)).astype(float)
    return {"words": words, "colour": labels[:, :2] + 0.5 * rng.normal(size=(n_rows, 2))}, labels


X, Y = two_views()
FRESH, Y_FRESH = two_views(400, seed=1)


def assert_same_predictions(one: Any, two: Any, data: Any = FRESH) -> None:
    for method in ("predict", "decision_function", "predict_proba", "transform"):
        if hasattr(one, method):
            first, second = getattr(one, method)(data), getattr(two, method)(data)
            for a, b in zip(*([p] if not isinstance(p, list) else p for p in (first, second)), strict=True):
                np.testing.assert_array_equal(a, b)
