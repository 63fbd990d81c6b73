"""Start of training: biases from the marginals; weights from clusters, or so small that no unit is saturated."""

from __future__ import annotations

import numpy as np

from harmonium.core.parameters import HIDDEN, HIDDEN_BIAS, Parameters, bias_of, extra_of, weights_of
from harmonium.energy import Energy
from harmonium.families import Family
from harmonium.kernels.sparse.entries import entries
from harmonium.kernels.sparse.products import add_column_sums
from harmonium.objectives.guide import Guide
from harmonium.objectives.problem import Problem
from harmonium.training.clusters import bias_of_activity, cluster_weights
from harmonium.training.drivers.projection import project
from harmonium.training.state import Training
from harmonium.views import Views
from harmonium.views.data import Data
from harmonium.views.sources.summary import Summary

# Standard deviation over items of the hidden naturals at the start, and largest scale of a weight. Conventions: small
# enough that binary units start where they respond linearly, large enough that they differ from each other.
_SPREAD = 0.3
_LARGEST_SCALE = 0.1
# Activity at which units that start from clusters begin if something is predicted. A head only moves units where they
# respond, and clusters are so small that most items would have none. It was the best of 0, 0.1, 0.3 and 0.5 on held-out
# training rows (docs/how_it_works/defaults.md).
_LEAST_ACTIVITY = 0.3
# Largest weight of units that start from no cluster: a convention.
_SMALLEST_START = 0.01
# Items by which the spread is measured: a convention.
_SAMPLE = 500


def mean_statistic(views: Views, name: str, family: Family, summary: Summary) -> np.ndarray:
    """Return the mean over the observed items of a view's statistic, in float32."""
    if family.codec.is_affine:
        return np.asarray(family.codec.encode(summary.mean[None, :])[0], dtype=np.float32)
    total, count = np.zeros(family.n_features_), np.zeros(family.n_features_)
    for items, _ in views.source(name).raw_blocks():
        batch = views.source(name).batch(items, family)
        add_column_sums(batch.statistic, 1.0, total)
        if batch.missing is None:
            count += len(items)
        else:
            count += (1 - family.codec.spread(batch.missing)).sum(axis=0)
    return (total / np.maximum(count, 1)).astype(np.float32)


def initial_parameters(
    energy: Energy,
    views: Views,
    reference: dict[str, np.ndarray],
    rng: np.random.Generator,
    least_activity: float = 0.0,
    guide: Guide | None = None,
) -> Parameters:
    """Return where training starts: from random weights, or from clusters of the items if units only raise features.

    The biases of the views give the marginal means at the mean of the hidden units. Units that start from clusters are
    at least as active as ``least_activity``, a share of their largest value, unless they have a target of their own.
    The first of them may be guided by seeds.
    """
    extra = energy.hidden.extra_parameters()
    starts = [
        _clustered(group, views, reference, rng, least_activity, guide)
        if group.hidden.groups.nonnegative
        else _scattered(group, views, reference, rng)
        for group in (Energy(energy.families, layer) for _, layer in energy.hidden.groups.parts)
    ]
    hidden_bias, centre = (np.concatenate([start[place] for start in starts]) for place in (1, 2))
    parameters: Parameters = {HIDDEN_BIAS: hidden_bias.astype(np.float32)}
    for name, family in energy.families.items():
        weights = np.concatenate([start[0][name] for start in starts], axis=1)
        parameters[weights_of(name)] = weights.astype(np.float32)
        bias = family.natural_from_mean(reference[name].astype(np.float64)) - weights @ centre
        parameters[bias_of(name)] = bias.astype(np.float32)
        for extra_name, value in family.extra_parameters.initial.items():
            parameters[extra_of(name, extra_name)] = value.astype(np.float32)
    parameters.update({extra_of(HIDDEN, extra_name): value.astype(np.float32) for extra_name, value in extra.items()})
    return parameters


#: weights by view, biases of the units, and means of the units at which views should have their marginal means
_Start = tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]


def _scattered(energy: Energy, views: Views, reference: dict[str, np.ndarray], rng: np.random.Generator) -> _Start:
    """Return random weights, scaled so that every view moves the hidden naturals equally and by little.

    The hidden bias cancels the mean of the data, so that units start half on.
    """
    n_units = energy.hidden.n_units_
    sample = rng.permutation(len(views))[:_SAMPLE]
    batch = views.batch(np.sort(sample), energy.families)
    weights, hidden_bias = {}, np.zeros(n_units)
    for name, family in energy.families.items():
        spread = entries(batch.views[name].statistic).mean_squared_distance(reference[name])
        scale = _SPREAD / np.sqrt(len(energy.families) * max(spread, 1e-12))
        # one feature alone must not saturate the units either
        weights[name] = rng.standard_normal((family.n_features_, n_units)) * min(scale, _LARGEST_SCALE)
        hidden_bias -= reference[name] @ weights[name]
    centre = energy.hidden.at(energy.hidden.extra_parameters()).mean(np.zeros(n_units))
    return weights, hidden_bias, centre


def _clustered(
    energy: Energy,
    views: Views,
    reference: dict[str, np.ndarray],
    rng: np.random.Generator,
    least_activity: float,
    guide: Guide | None,
) -> _Start:
    """Return a unit for each cluster of the items, as active as the cluster is large or as it is meant to be."""
    found, share = cluster_weights(energy, views, reference, guide)
    weights = {name: np.maximum(value, 0.0) for name, value in found.items()}
    without = np.all([value.max(axis=0) == 0 for value in weights.values()], axis=0)
    for value in weights.values():  # units that no cluster told anything have to begin somewhere
        value[:, without] = rng.uniform(0, _SMALLEST_START, size=(len(value), without.sum()))
    if guide is not None:
        for name, value in weights.items():
            guide.exclude(name, value)
    batch = views.batch(np.sort(rng.permutation(len(views))[:_SAMPLE]), energy.families)
    parameters = {HIDDEN_BIAS: np.zeros(len(share), dtype=np.float32)}
    parameters |= {weights_of(name): value.astype(np.float32) for name, value in weights.items()}
    least = min(max(least_activity, 1.0 / len(views)), 0.5)
    target = energy.hidden.selection.activity
    activity = np.clip(share, least, 0.5) if target is None else target
    bias = bias_of_activity(energy, energy.hidden_natural(parameters, batch), activity)
    return weights, bias, np.broadcast_to(activity * energy.hidden.groups.largest, bias.shape)


def initial_training(problem: Problem, data: Data, rng: np.random.Generator) -> Training:
    """Return a training at its start: parameters of the model, projected, and the head's own."""
    least_activity = 0.0 if problem.head is None else _LEAST_ACTIVITY
    parameters = initial_parameters(problem.energy, data.views, problem.reference, rng, least_activity, problem.guide)
    project(problem.energy, parameters)
    if problem.head is not None:
        parameters |= problem.head.initial_parameters(problem.energy.hidden, rng)
    return Training(parameters)
