"""Parameter arrays of a model, by name.

``hidden.bias`` and the layer's own, such as ``hidden.log_odds``; for a view ``<view>.weights``, ``<view>.bias``, …; for
a head ``head.weights`` and ``head.bias``.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

Parameters = dict[str, np.ndarray]
HIDDEN = "hidden"
HIDDEN_BIAS = "hidden.bias"
LOG_ODDS = "hidden.log_odds"
HEAD_WEIGHTS = "head.weights"
HEAD_BIAS = "head.bias"
# parameters that belong to no view go by these names
RESERVED = (HIDDEN, "head")


def weights_of(view: str) -> str:
    """Name of a view's weights, shape (features, units)."""
    return f"{view}.weights"


def bias_of(view: str) -> str:
    """Name of a view's bias, shape (features,)."""
    return f"{view}.bias"


def own_of(view: str, name: str) -> str:
    """Name of a parameter of the view's family itself, such as a log-variance."""
    return f"{view}.{name}"


def copy_parameters(parameters: Mapping[str, np.ndarray]) -> Parameters:
    """Independent copy."""
    return {name: value.copy() for name, value in parameters.items()}


def first_not_finite(parameters: Mapping[str, np.ndarray]) -> str | None:
    """Name of the first array with a value that is not finite, or None."""
    for name, value in parameters.items():
        # finite only if every term is, and far enough from overflow that the products of the next batch are too
        if not np.isfinite(np.vdot(value, value)):
            return name
    return None


def flatten(parameters: Mapping[str, np.ndarray]) -> np.ndarray:
    """All parameters as one float64 vector."""
    return np.concatenate([value.ravel() for value in parameters.values()]).astype(np.float64)


def unflatten(vector: np.ndarray, like: Mapping[str, np.ndarray]) -> Parameters:
    """Inverse of `flatten`: views of the shapes and dtypes of ``like``.

    Examples
    --------
    >>> like = {"a": np.zeros((2, 1)), "b": np.zeros(1)}
    >>> unflatten(flatten({"a": np.ones((2, 1)), "b": np.array([3.0])}), like)["b"].tolist()
    [3.0]
    """
    result: Parameters = {}
    start = 0
    for name, value in like.items():
        result[name] = vector[start : start + value.size].reshape(value.shape).astype(value.dtype)
        start += value.size
    return result
