"""Derivatives of the units' means by their natural parameters, and of a loss through them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from harmonium.hidden.base import HiddenLayer

# Closer naturals than this have the slope between two that are this far apart, which is the same up to rounding.
_CLOSE = 1e-5


def by_natural(layer: HiddenLayer, natural: np.ndarray, by_mean: np.ndarray) -> np.ndarray:
    """Return the derivatives of a loss by the natural parameters of the units that it moves, and 0 for the others.

    Parameters
    ----------
    layer : HiddenLayer
        The layer.
    natural : ndarray of shape (rows, units)
        Natural parameters.
    by_mean : ndarray of shape (rows, units)
        Derivatives of the loss by the means.

    Returns
    -------
    ndarray of shape (rows, units)
        Derivatives, in the precision of `natural`.
    """
    # where means are linear, units may depend on each other; the matrix by which they are is symmetric
    found = layer.mean(by_mean) if layer.linear_mean else by_mean * layer.mean_derivative(natural)
    groups = layer.groups
    if groups.dimensions is not None:
        found[..., : groups.topics.n_units_] = 0
    return found


def moved_by(layer: HiddenLayer, natural: np.ndarray, before: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Return which parts of a move of the means come from parts of the naturals'.

    The means move by the secant between both ends, so that parts which add up to the move of the naturals add up to the
    move of the means. That is the integral of the slopes along the straight line between the ends.

    Parameters
    ----------
    layer : HiddenLayer
        The layer.
    natural, before : ndarray of shape (units,)
        Naturals after and before the move, in float64.
    parts : ndarray of shape (parts, units)
        Parts of ``natural - before``.

    Returns
    -------
    ndarray of shape (parts, units)
        Parts of ``mean(natural) - mean(before)``.
    """
    return layer.mean(parts) if layer.linear_mean else parts * secant(layer.mean, natural, before)


def secant(function: Callable[[np.ndarray], np.ndarray], after: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return slopes of the secants of a function of each unit's natural; of tangents where both ends meet.

    Parameters
    ----------
    function : callable
        From naturals of shape (rows, units) to values of shape (rows, units, ...).
    after, before : ndarray of shape (units,)
        The ends, in float64.

    Returns
    -------
    ndarray of shape (units, ...)
        Slopes.

    Examples
    --------
    >>> secant(np.square, np.array([3.0, 1.0]), np.array([1.0, 1.0])).round(6).tolist()
    [4.0, 2.0]
    """
    close = np.abs(after - before) < _CLOSE
    middle = (after + before) / 2
    upper, lower = (np.where(close, middle + step, end) for step, end in ((_CLOSE / 2, after), (-_CLOSE / 2, before)))
    values = function(np.stack([upper, lower]))
    distance = (upper - lower).reshape(-1, *(1,) * (values.ndim - 2))
    return (values[0] - values[1]) / distance
