"""Directions in which items differ: coordinates whose distances are those between expected views.

Given an item, hidden units have other means than for an item whose statistics are all zero: one that is average in all
numbers and has no words. With the model linearised at the average item, that moves the expected statistics of view v by
V_v W_v Δ, where Δ are the moves of the means and V_v the variances of the statistics. In units of how far statistics
spread given the units, the squared length of all these moves together is

    Δᵀ M Δ    with    M = Σ_v W_vᵀ V_v W_v

which is twice the Kullback-Leibler divergence between the laws of the views, to second order. Distances between the
coordinates M^½ Δ of items are so those between what is expected of their views: a direction counts by how much of the
views it explains, and not by the scale that a unit happens to have. Rows are brought to length 1, as items that differ
in the same way, more or less, belong together.
"""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import normalize

from harmonium.core.batch import Batch
from harmonium.core.parameters import HIDDEN_BIAS, Parameters, weights_of
from harmonium.training import FittedModel


def directions(model: FittedModel, parameters: Parameters, batch: Batch) -> np.ndarray:
    """Return the directions of complete rows, of shape (rows, units), in float64; zero where units do not move."""
    layer = model.energy.layer(parameters)
    natural = model.energy.hidden_natural(parameters, batch).astype(np.float64)
    moves = layer.mean(natural) - layer.mean(parameters[HIDDEN_BIAS].astype(np.float64)[None])
    return np.asarray(normalize(moves @ _root(model, parameters)))


def _root(model: FittedModel, parameters: Parameters) -> np.ndarray:
    """Return the symmetric root of M."""
    total = np.zeros((model.n_units, model.n_units))
    for name, family in model.families.items():
        variance = family.statistic_variance(model.reference[name], model.energy.extra(parameters, name))
        weights = parameters[weights_of(name)].astype(np.float64)
        total += (weights.T * variance) @ weights
    values, axes = np.linalg.eigh(total)
    return np.asarray((axes * np.sqrt(np.maximum(values, 0))) @ axes.T)
