"""One view from the others, with intervals; scores of what is predicted."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import HEAD_BIAS, Parameters
from harmonium.queries.blocks import blocks, completed, completed_blocks
from harmonium.queries.latent import data_given_hidden
from harmonium.training import FittedModel
from harmonium.views import Views

# Values that are drawn at least for an interval, and Gibbs steps from the mean-field expectation to each: conventions.
_SIMULATIONS = 200
_GIBBS_STEPS = 5


class ViewInterval(NamedTuple):
    """Expected values of a view and the ends of an interval around them, each of shape (rows, features)."""

    mean: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def scores(model: FittedModel, views: Views) -> np.ndarray:
    """Return the scores of the head for each row, in float64."""
    head = model.head
    assert head is not None
    parts = [head.scores(model.energy, model.parameters, batch) for _, batch in completed_blocks(model, views)]
    return np.concatenate(parts).astype(np.float64, copy=False)


def score_parts(model: FittedModel, views: Views) -> dict[str, np.ndarray]:
    """Return what the scores of each row are the sum of, in float64.

    They are "topics"; if there is one, "bias"; and the name of each view that adds to the scores directly. Those of
    numbers are in the units of y, or of its logarithm where that is learned.
    """
    assert model.head is not None
    found = [_parts_of_batch(model, batch) for _, batch in completed_blocks(model, views)]
    factor, shift = model.head.outputs_.units()
    parts = {name: np.concatenate([part[name] for part in found]) * np.float64(factor) for name in found[0]}
    if np.any(shift):
        parts["bias"] = parts.get("bias", np.zeros(())) + np.broadcast_to(shift, parts["topics"].shape)
    return parts


def _parts_of_batch(model: FittedModel, batch: Batch) -> dict[str, np.ndarray]:
    head, bias = model.head, model.parameters.get(HEAD_BIAS)
    assert head is not None
    total = head.scores(model.energy, model.parameters, batch)
    constant = {} if bias is None else {"bias": np.broadcast_to(bias.astype(np.float64), total.shape)}
    by_view: dict[str, np.ndarray] = {}
    for part in head.input_parts_:
        for name, added in part.parts(model.families, batch).items():
            by_view[name] = by_view.get(name, 0.0) + added
    return {"topics": total - sum(constant.values()) - sum(by_view.values()), **constant, **by_view}


def expected_view(model: FittedModel, view: str, views: Views, n_iterations: int = 10) -> np.ndarray:
    """Return E[view | other views], in the units of the data; the mean over posterior draws if there are any."""
    draws, parts = model.draws, []
    for _, batch in blocks(model, views):
        mean = np.zeros(())
        for draw in draws:  # in turn: side by side they would fill the memory
            mean = mean + _expected(model, draw, view, batch, n_iterations) / len(draws)
        parts.append(mean)
    return np.concatenate(parts).astype(np.float32, copy=False)


def view_interval(
    model: FittedModel, view: str, views: Views, interval: float, of: Literal["value", "mean"], n_iterations: int = 10
) -> ViewInterval:
    """Return E[view | other views], and central intervals of the values or of their expectation."""
    draws, rng = model.draws, np.random.default_rng(0)
    # values are uncertain even if there are only a few sets of weights, or one
    simulated = draws * -(-_SIMULATIONS // len(draws))
    # ends are drawn values, so that intervals of counts end at counts
    ends = [(1 - interval) / 2, (1 + interval) / 2]
    parts = []
    for _, batch in blocks(model, views, len(simulated)):
        spread = expected = np.stack([_expected(model, draw, view, batch, n_iterations) for draw in draws])
        if of == "value":
            spread = np.stack([_simulated(model, draw, view, batch, n_iterations, rng) for draw in simulated])
        lower, upper = np.quantile(spread, ends, axis=0, method="inverted_cdf")
        parts.append((expected.mean(axis=0), lower, upper))
    return ViewInterval(*(np.concatenate(arrays).astype(np.float32, copy=False) for arrays in zip(*parts, strict=True)))


def _expected(model: FittedModel, parameters: Parameters, view: str, batch: Batch, n_iterations: int) -> np.ndarray:
    """Return E[view | other views] at some parameters, in the units of the data."""
    batch = completed(model, parameters, batch, n_iterations)
    hidden_mean = model.energy.layer(parameters).mean(model.energy.hidden_natural(parameters, batch))
    return np.ascontiguousarray(data_given_hidden(model, parameters, view, hidden_mean, batch.views[view].size))


def _simulated(
    model: FittedModel, parameters: Parameters, view: str, batch: Batch, n_iterations: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the view drawn given the others, a few Gibbs steps from its mean-field expectation."""
    energy, family = model.energy, model.families[view]
    batch = completed(model, parameters, batch, n_iterations)
    size = batch.views[view].size
    for _ in range(_GIBBS_STEPS):
        hidden = energy.layer(parameters).sample(energy.hidden_natural(parameters, batch), rng)
        natural = family.domain.clamp(energy.view_natural(parameters, view, hidden, size))
        drawn = family.sample(natural, rng, energy.extra(parameters, view), size)
        batch = Batch({**batch.views, view: ViewBatch(drawn, size)}, batch.n_rows)
    return np.asarray(family.codec.decode(drawn))
