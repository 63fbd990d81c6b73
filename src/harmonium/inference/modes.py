"""Modes of the joint distribution, by iterating the conditional modes (eq. 4-5 of Gehler et al. 2006)."""

from __future__ import annotations

import numpy as np

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import Parameters
from harmonium.energy import Energy
from harmonium.inference.gibbs import Sizes


def iterate_modes(
    energy: Energy, parameters: Parameters, batch: Batch, sizes: Sizes | None = None, max_iterations: int = 100
) -> tuple[Batch, np.ndarray]:
    """Climb from each row to a mode, and return the views and hidden units there.

    The mode of the hidden units given the views and that of the views given the hidden units take turns until nothing
    moves. Each half-step maximises the joint density over its block, so the density never falls. The limit of 100
    rounds is a convention.
    """
    layer = energy.layer(parameters)
    hidden = layer.mode(energy.hidden_natural(parameters, batch))
    for _ in range(max_iterations):
        views = {}
        for name, family in energy.families.items():
            size = (sizes or {}).get(name)
            natural = family.domain.clamp(energy.view_natural(parameters, name, hidden, size))
            views[name] = ViewBatch(family.mode(natural, energy.extra(parameters, name), size), size)
        batch = Batch(views, len(hidden))
        climbed = layer.mode(energy.hidden_natural(parameters, batch))
        if np.allclose(climbed, hidden, rtol=1e-5, atol=1e-6):
            break
        hidden = climbed
    return batch, hidden
