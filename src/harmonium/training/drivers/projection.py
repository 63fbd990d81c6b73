"""Keeping a model in bounds: after a step, parameters are projected back to where they are allowed and log Z finite."""

from __future__ import annotations

import numpy as np

from harmonium.energy import Energy
from harmonium.params import Parameters, bias_of, weights_of

# Norm that weights between two Gaussian layers are scaled to: a convention, just below 1, where log Z becomes infinite.
_LARGEST_NORM = 0.995


def project(energy: Energy, parameters: Parameters) -> None:
    """Project in place; do nothing for models that are free and normalisable whatever their weights."""
    curvatures = {}
    units = energy.hidden.support
    energy.hidden.project(parameters, list(energy.families))
    for name, family in energy.families.items():
        weights, own = parameters[weights_of(name)], energy.own(parameters, name)
        for own_name, (lower, upper) in family.extra_parameters.bounds.items():
            if lower < upper:
                np.clip(own[own_name], lower, upper, out=own[own_name])
        family.domain.project(weights, parameters[bias_of(name)], units)
        if not units.bounded:
            curvatures[name] = family.domain.curvature(weights, own)
    curved = {name: curvature for name, curvature in curvatures.items() if curvature is not None}
    if curved:
        _bound_norm(energy, parameters, curved)


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
    norm = float(np.sqrt(max(energy.layer(parameters).gain(total), 0.0)))
    if norm > _LARGEST_NORM:
        for name in curvatures:
            parameters[weights_of(name)] *= np.float32(_LARGEST_NORM / norm)
