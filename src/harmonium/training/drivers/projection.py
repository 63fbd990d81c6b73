"""Keeping a model in bounds: after a step, parameters are projected back to where they are allowed and log Z finite."""

from __future__ import annotations

import numpy as np

from harmonium.core.parameters import Parameters, bias_of, record, weights_of
from harmonium.energy import Energy
from harmonium.hidden import HiddenLayer

# Norm that weights between two Gaussian layers are scaled to: a convention, just below 1, where log Z becomes infinite.
_LARGEST_NORM = 0.995


def project(energy: Energy, parameters: Parameters) -> None:
    """Project in place; do nothing for models that are free and normalisable whatever their weights."""
    curvatures = {}
    units = energy.hidden.support
    _bound_weights(energy, parameters)
    for name, family in energy.families.items():
        weights, extra = parameters[weights_of(name)], energy.extra(parameters, name)
        for extra_name, (lower, upper) in family.extra_parameters.bounds.items():
            if lower < upper:
                np.clip(extra[extra_name], lower, upper, out=extra[extra_name])
        family.domain.project(weights, parameters[bias_of(name)], units)
        if not units.bounded:
            curvatures[name] = family.domain.curvature(weights, extra)
    curved = {name: curvature for name, curvature in curvatures.items() if curvature is not None}
    if curved:
        _bound_norm(energy, parameters, curved)


def _bound_weights(energy: Energy, parameters: Parameters) -> None:
    """Move weights of views to where the units' groups allow them, and dimensions back that are frozen, in place."""
    groups = energy.hidden.groups
    for units, layer in groups.parts:
        if np.isfinite(layer.lower_bound):
            for name in energy.families:
                weights = parameters[weights_of(name)][:, units]
                np.maximum(weights, layer.lower_bound, out=weights)
    for name, value in groups.frozen.items():
        axis = record(name).unit_axis
        part = parameters[name]
        (part.T if axis == 1 else part)[groups.topics.n_units_ :] = value.T if axis == 1 else value


def shorten(energy: Energy, parameters: Parameters, length: float) -> None:
    """Take a length off the absolute values of all weights of views, down to zero, in place."""
    for name in energy.families:
        weights = parameters[weights_of(name)]
        weights -= np.clip(weights, -length, length)


def _bound_norm(energy: Energy, parameters: Parameters, curvatures: dict[str, np.ndarray]) -> None:
    """Scale weights down unless I/s² - Σ_v G_v is positive definite (two Gaussian layers)."""
    total = np.zeros((energy.hidden.n_units_,) * 2)
    for curvature in curvatures.values():
        total += curvature
    parts = energy.layer(parameters).groups.parts
    gain = max(_gain(layer, total[units, units]) for units, layer in parts if not layer.support.bounded)
    norm = float(np.sqrt(max(gain, 0.0)))
    if norm > _LARGEST_NORM:
        for name in curvatures:
            parameters[weights_of(name)] *= np.float32(_LARGEST_NORM / norm)


def _gain(layer: HiddenLayer, curvature: np.ndarray) -> float:
    """Return by how much a round to real-valued views and back multiplies units: the largest eigenvalue of SG.

    The model can be normalised if it is below 1. S is the variance of the units given the views, G the sum of the
    curvatures of the views, Wᵀ diag(σ²) W.
    """
    variance = layer.conditional_variance
    if not isinstance(variance, np.ndarray):
        return variance * float(np.linalg.eigvalsh(curvature)[-1])
    root = np.linalg.cholesky(variance.astype(np.float64))
    return float(np.linalg.eigvalsh(root.T @ curvature @ root)[-1])
