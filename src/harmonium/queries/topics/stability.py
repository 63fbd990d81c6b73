"""Stability of topics: whether they come again when topics are learned from resampled rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harmonium.core.parameters import bias_of, units_of, weights_of
from harmonium.energy import Energy
from harmonium.hidden import HiddenLayer
from harmonium.metrics import topic_stability
from harmonium.queries.latent import encode
from harmonium.training import FittedModel
from harmonium.training.fit import fit
from harmonium.training.growth.prune import SAME, use_of_units, without_duplicates
from harmonium.training.plan import Plan
from harmonium.training.state import Training
from harmonium.training.supervised.composing import composed_start, learn_topics
from harmonium.views import Views
from harmonium.views.data import Data

# Rows that topics are learned again from, at most: a convention, for time.
_MOST_ROWS = 10_000


def bootstrap_stability(
    model: FittedModel, asked: HiddenLayer, views: Views, plan: Plan, n_resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the stability of each topic over models of rows that are drawn with replacement.

    ``asked`` is the layer that the user asks for: topics that say the same may have become one in the model.
    """
    if model.problem.guide is not None:
        model = replace(model, problem=replace(model.problem, guide=model.problem.guide.of_other_rows()))
    data = Data(views).spread_sample(_MOST_ROWS)
    data = data.take(np.unique(np.linspace(0, len(data) - 1, min(len(data), _MOST_ROWS)).astype(int)))
    relearned = _composed_again if model.energy.hidden.groups.dimensions is not None else _fitted_again
    fits = [model]
    for _ in range(n_resamples):
        rows = np.sort(rng.integers(len(data), size=len(data)))
        fits.append(relearned(model, asked, data.take(rows), plan, rng))
    return topic_stability([encode(one, data.views)[:, : one.n_topics] for one in fits])


def _fitted_again(
    model: FittedModel, asked: HiddenLayer, data: Data, plan: Plan, rng: np.random.Generator
) -> FittedModel:
    """Return the model of other rows."""
    if model.head is not None:
        raise ValueError(
            "Topics are learned again without targets; got a model whose loss moves its topics, which needs them; fit "
            "several models, and pass what transform returns to harmonium.metrics.topic_stability."
        )
    return fit(replace(model.problem, energy=Energy(model.families, asked)), data, plan, rng)


def _composed_again(
    model: FittedModel, asked: HiddenLayer, data: Data, plan: Plan, rng: np.random.Generator
) -> FittedModel:
    """Return the model with topics of other rows, learned beside the same dimensions."""
    are_topics, parameters = model.energy.hidden.groups.are_topics, model.parameters
    alone, mean = units_of(parameters, ~are_topics), use_of_units(model.problem, parameters, data).mean[are_topics]
    for name in model.families:
        # biases make up for what the average item has of the topics
        added = parameters[weights_of(name)][:, are_topics] @ mean
        alone[bias_of(name)] = (parameters[bias_of(name)] + added).astype(np.float32)
    layer = model.energy.hidden.bind(asked.groups.topics.n_units_)
    problem = replace(model.problem, energy=Energy(model.families, layer), head=None)
    training = composed_start(problem, Training(alone), data, rng)
    learn_topics(problem, data, training, plan, rng)
    if plan.merges_topics:
        problem, merged = without_duplicates(problem, training.result, data, SAME)
        training = Training(merged)
    return replace(model, problem=problem, training=training)
