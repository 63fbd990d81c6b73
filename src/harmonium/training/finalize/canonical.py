"""Canonical forms of fitted models: coordinates of units that may be rotated, signs of those that may be turned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harmonium.core.parameters import Parameters, weights_of
from harmonium.energy import Energy
from harmonium.inference.symmetry import in_coordinates, is_length_normalized, turn_over, unaligned
from harmonium.objectives.problem import Problem
from harmonium.training.balance import balanced_scales, standard_scales
from harmonium.training.growth.prune import use_of_units
from harmonium.training.state import Training
from harmonium.views.data import Data

# Directions in which expectations vary by less than this, or than this share of the largest, are rounding errors.
_ROUNDING = 1e-6


def canonical(problem: Problem, parameters: Parameters, data: Data) -> tuple[Problem, Parameters] | None:
    """Return the same model in the coordinates that its layer asks for; None if the layer has none to choose.

    Directions in which the expectations of the training rows do not vary are dropped: at their means, they are a part
    of the biases.
    """
    layer = problem.energy.hidden
    if layer.coordinates is None:  # spares the passes over the items
        return None
    use = use_of_units(problem, parameters, data)
    covariance = use.correlation * np.outer(use.deviation, use.deviation)
    variances, axes = np.linalg.eigh(covariance)
    kept = variances > _ROUNDING**2 * max(float(variances[-1]), 1.0)
    whitened = axes[:, kept] * np.sqrt(variances[kept])
    if not kept.any():  # all rows are the same: one unit stays, as it is
        whitened = axes[:, -1:]
    scales = (balanced_scales if layer.coordinates.balances_views else standard_scales)(problem, data)
    loadings = np.concatenate(
        [
            (scale * family.statistic_variance(problem.reference[name], problem.energy.extra(parameters, name)))[
                :, None
            ]
            * (parameters[weights_of(name)] @ whitened)
            for (name, family), scale in zip(problem.energy.families.items(), scales.values(), strict=True)
        ]
    )
    matrix = whitened @ layer.coordinates.matrix(loadings)
    # where rows weigh differently, what centring adds to the bias of a view would differ from row to row
    shift = np.zeros(len(use.mean)) if is_length_normalized(problem.energy) else use.mean
    moved = in_coordinates(problem.energy, parameters, matrix, shift)
    smaller = Energy(problem.energy.families, layer.restore(matrix.shape[1]))
    return replace(problem, energy=smaller), moved


def with_signs(problem: Problem, training: Training) -> Training:
    """Return the training with topics aligned with the mean item, w_j·x̄ ≥ 0, where their signs are free.

    They are free in binary and binomial topics of signed weights and no given activity, where rows weigh alike and
    nothing is predicted: a head is at its optimum for the units as they are.
    """
    energy, topics = problem.energy, problem.energy.hidden.groups.parts[0]
    if (
        problem.head is not None
        or not topics[1].has_free_signs
        or is_length_normalized(energy)
        or training.posterior is not None
    ):
        return training
    turned = np.zeros(energy.hidden.n_units_, dtype=bool)
    turned[topics[0]] = unaligned(energy, training.result, problem.reference)[topics[0]]
    return training.with_parameters(turn_over(energy, training.result, turned)) if turned.any() else training
