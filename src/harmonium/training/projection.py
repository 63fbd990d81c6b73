"""Keeping a model normalisable: after a step, parameters are projected back to where log Z is finite."""

from __future__ import annotations

import numpy as np

from harmonium.energy import Energy
from harmonium.families import Growth
from harmonium.kernels.elementwise import positive_sums
from harmonium.params import Parameters, bias_of, own_of, weights_of

# how far inside the border a projected model stays
_MARGIN = 1e-3
_LARGEST_NORM = 0.995


def project(energy: Energy, parameters: Parameters) -> None:
    """Project in place; does nothing for models that are normalisable whatever their weights."""
    quadratic = []
    for name, family in energy.families.items():
        for own_name, (lower, upper) in family.own_bounds().items():
            if lower < upper:
                own = parameters[own_of(name, own_name)]
                np.clip(own, lower, upper, out=own)
        if family.growth is Growth.POLE:
            _below_pole(parameters[weights_of(name)], parameters[bias_of(name)], energy.hidden.support.upper)
        elif family.growth is Growth.QUADRATIC and not energy.hidden.bounded:
            quadratic.append(name)
    if quadratic:
        _bound_norm(energy, parameters, quadratic)


def _below_pole(weights: np.ndarray, bias: np.ndarray, largest: float) -> None:
    """Move each feature to the half-space where its natural is negative for every hidden state.

    The natural is largest when every unit with a positive weight is at its largest value: θ + M Σ max(W, 0). The step
    is the Euclidean projection for the units that are positive now; rounds are repeated as weights cross zero.
    """
    rows = np.flatnonzero(bias + largest * positive_sums(weights) + _MARGIN > 0)
    for _ in range(3):
        if not len(rows):
            return
        part = weights[rows]
        positive = part > 0
        excess = bias[rows] + largest * np.where(positive, part, 0).sum(axis=1) + _MARGIN
        share = np.maximum(excess, 0) / (1.0 + largest**2 * positive.sum(axis=1))
        bias[rows] -= share
        weights[rows] = part - positive * np.minimum(part, (largest * share)[:, None])
        rows = rows[bias[rows] + largest * np.maximum(weights[rows], 0).sum(axis=1) + _MARGIN > 0]
    excess = bias[rows] + largest * np.maximum(weights[rows], 0).sum(axis=1) + _MARGIN
    bias[rows] -= np.maximum(excess, 0)


def _bound_norm(energy: Energy, parameters: Parameters, views: list[str]) -> None:
    """Two Gaussian layers need I/s² - Σ_v W_vᵀ diag(σ²) W_v positive definite: scale the weights down if it is not."""
    gram = np.zeros((energy.hidden.n_units_,) * 2)
    for name in views:
        weights = parameters[weights_of(name)]
        variance = np.exp(parameters[own_of(name, "log_variance")])
        gram += (weights * variance[:, None]).T @ weights
    norm = float(np.sqrt(max(np.linalg.eigvalsh(gram)[-1], 0.0) * energy.hidden.conditional_variance))
    if norm > _LARGEST_NORM:
        for name in views:
            parameters[weights_of(name)] *= np.float32(_LARGEST_NORM / norm)
