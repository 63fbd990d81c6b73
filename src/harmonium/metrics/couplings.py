"""Errors of weights that are known up to a rotation of the hidden units."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["CouplingErrors", "coupling_errors"]


class CouplingErrors(NamedTuple):
    """Errors of the entries of WWᵀ.

    Parameters
    ----------
    mae : float
        Mean absolute error.
    mre : float
        Mean relative error.

    Examples
    --------
    >>> coupling_errors(np.ones((2, 1)), np.ones((2, 1))).mre
    0.0
    """

    mae: float
    mre: float


def coupling_errors(weights: np.ndarray, estimate: np.ndarray) -> CouplingErrors:
    """Return errors of weights that are known up to a rotation of the units.

    Models with Gaussian units say the same with W and W Q for any orthogonal Q, so that V = WWᵀ is compared: its
    entries couple pairs of features.

    Parameters
    ----------
    weights : array-like of shape (n_features, n_units)
        True weights.
    estimate : array-like of shape (n_features, n_units) or (n_draws, n_features, n_units)
        Weights that were found, with any number of units. Of draws from a posterior the mean of WWᵀ is taken.

    Returns
    -------
    CouplingErrors
        ``mae``, the mean of ``|V - V'|``, and ``mre``, that of ``|V - V'| / max(|V|, |V'|)``, over all entries;
        entries of which both are zero count as right.

    References
    ----------
    Guo & Xing (2006), Bayesian exponential family harmoniums, eq. 29-30.

    Examples
    --------
    >>> weights = np.array([[1.0, 0.0], [0.0, 2.0]])
    >>> turned = weights @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    >>> coupling_errors(weights, turned)
    CouplingErrors(mae=0.0, mre=0.0)
    >>> coupling_errors(weights, weights / 2)
    CouplingErrors(mae=0.9375, mre=0.375)
    """
    truth, found = np.asarray(weights, dtype=np.float64), np.asarray(estimate, dtype=np.float64)
    if truth.ndim != 2 or found.ndim not in (2, 3) or found.shape[-2] != len(truth):
        raise ValueError(
            "coupling_errors needs weights of shape (features, units), and an estimate of as many features; got "
            f"{truth.shape} and {found.shape}; transpose one of them, or pass weights of the same view."
        )
    couplings = truth @ truth.T
    other = found @ np.swapaxes(found, -1, -2)
    if other.ndim == 3:
        other = other.mean(axis=0)
    error, largest = np.abs(couplings - other), np.maximum(np.abs(couplings), np.abs(other))
    return CouplingErrors(float(error.mean()), float((error / np.where(largest > 0, largest, 1.0)).mean()))
