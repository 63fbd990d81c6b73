"""From views to the latent space and back."""

from __future__ import annotations

from typing import Literal

import numpy as np

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import HIDDEN_BIAS, Parameters
from harmonium.queries.blocks import blocks, completed
from harmonium.queries.directions import directions
from harmonium.queries.topics.shown import of_topics, part_shares
from harmonium.training import FittedModel
from harmonium.views import Views

Output = Literal["mean", "natural", "coordinates", "directions"]


def encode(model: FittedModel, views: Views, output: Output = "mean") -> np.ndarray:
    """Return latent representations of shape (rows, units), in float32; means over posterior draws if there are any."""
    result = np.empty((len(views), model.n_units), dtype=np.float32)
    draws = model.draws
    for items, batch in blocks(model, views):
        # what is linear in the weights has its mean at their mean
        linear = not batch.has_missing and _is_linear(model, output)
        used = [model.parameters] if linear else draws
        result[items] = np.mean([_latent(model, draw, batch, output) for draw in used], axis=0)
    return result


def shown(model: FittedModel, views: Views, output: Output = "mean") -> np.ndarray:
    """Return latent representations of the topics as they are shown, followed by all other units."""
    latent = encode(model, views, output)
    return latent if output == "directions" else _shown(model, latent, part_shares(model, views))


def shown_draws(model: FittedModel, views: Views, output: Output = "mean") -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of the latent representations that are shown, over posterior draws."""
    mean, deviation = (np.empty((len(views), len(shown_names(model, output))), dtype=np.float32) for _ in range(2))
    draws, shares = model.draws, None if output == "directions" else part_shares(model, views)
    for items, batch in blocks(model, views, len(draws)):
        latent = np.stack([_latent(model, draw, batch, output) for draw in draws])
        if output != "directions":
            latent = _shown(model, latent, None if shares is None else shares[items])
        mean[items], deviation[items] = latent.mean(axis=0), latent.std(axis=0)
    return mean, deviation


def shown_names(model: FittedModel, output: Output = "mean") -> list[str]:
    """Return the names of what `shown` returns: topics and dimensions, each counted from 0, or as they were named."""
    units = model.energy.hidden.groups.unit_names
    if output == "directions" or not model.edits.operations:
        return units
    topics = [f"topic_{topic.number}" if topic.name is None else topic.name for topic in model.topics]
    return [*topics, *units[model.n_topics :]]


def _shown(model: FittedModel, latent: np.ndarray, shares: np.ndarray | None) -> np.ndarray:
    if not model.edits.operations:
        return latent
    return np.concatenate([of_topics(model, latent, shares), latent[..., model.n_topics :]], axis=-1)


def _is_linear(model: FittedModel, output: Output) -> bool:
    """Return whether latent representations are linear in the weights."""
    return output in ("natural", "coordinates") or (output == "mean" and model.energy.hidden.linear_mean)


def _latent(model: FittedModel, parameters: Parameters, batch: Batch, output: Output) -> np.ndarray:
    """Return the latent representation of the rows of a block at some parameters, in float64."""
    batch = completed(model, parameters, batch)
    if output == "directions":
        return directions(model, parameters, batch)
    natural = model.energy.hidden_natural(parameters, batch, with_bias=output != "coordinates").astype(np.float64)
    return model.energy.layer(parameters).mean(natural) if output == "mean" else natural


def hidden_means(model: FittedModel, latent: np.ndarray, output: Output) -> np.ndarray:
    """Return E[h | x] of latent representations of any kind."""
    if output == "coordinates":
        latent = latent + model.parameters[HIDDEN_BIAS]
    return latent if output == "mean" else model.energy.layer(model.parameters).mean(latent)


def expected_views(
    model: FittedModel, hidden_mean: np.ndarray, sizes: dict[str, np.ndarray] | None = None
) -> dict[str, np.ndarray]:
    """Return the expected views given hidden means, in the units of the data.

    ``sizes`` holds totals of the rows; default: the typical ones.
    """
    sizes = typical_sizes(model, len(hidden_mean)) if sizes is None else sizes
    return {
        name: np.ascontiguousarray(
            data_given_hidden(model, model.parameters, name, hidden_mean, sizes.get(name)), dtype=np.float32
        )
        for name in model.families
    }


def data_given_hidden(
    model: FittedModel, parameters: Parameters, view: str, hidden_mean: np.ndarray, size: np.ndarray | None
) -> np.ndarray:
    """Return one view as expected at hidden means and some parameters, in the units of the data."""
    family = model.families[view]
    natural = family.domain.clamp(model.energy.view_natural(parameters, view, hidden_mean, size))
    return family.expected(natural, model.energy.extra(parameters, view), size)


def reconstruct(model: FittedModel, views: Views) -> dict[str, np.ndarray]:
    """Return the expected views given the hidden means of each row, and given what else its rows hold.

    Where sites of a family depend on each other, missing ones are expected given the observed ones of the row.
    """
    hidden_mean = encode(model, views)
    result = expected_views(model, hidden_mean, row_sizes(model, views))
    for items, batch in blocks(model, views):
        for name, view in batch.views.items():
            if view.missing is None or not isinstance(view.statistic, np.ndarray):
                continue
            partly = np.flatnonzero(view.missing.any(axis=1) & ~view.missing.all(axis=1))
            if len(partly):
                part = ViewBatch(view.statistic[partly], missing=view.missing[partly])
                result[name][items][partly] = given_observed(model, name, hidden_mean[items][partly], part)
    return result


def given_observed(model: FittedModel, name: str, hidden_mean: np.ndarray, view: ViewBatch) -> np.ndarray:
    """Return a view as expected at hidden means and given its observed sites, in the units of the data."""
    family = model.families[name]
    natural = family.domain.clamp(model.energy.view_natural(model.parameters, name, hidden_mean))
    assert view.missing is not None and isinstance(view.statistic, np.ndarray)
    return family.given(view.statistic, view.missing).expected(natural, model.energy.extra(model.parameters, name))


def row_sizes(model: FittedModel, views: Views) -> dict[str, np.ndarray]:
    """Return the totals (or lengths) of the rows, for the views that have them."""
    totals: dict[str, list[np.ndarray]] = {}
    pieces = np.array_split(np.arange(len(views)), max(1, len(views) // 1000))
    for batch in views.batches(pieces, model.families):
        for name, view in batch.views.items():
            if view.size is not None:
                totals.setdefault(name, []).append(view.size)
    return {name: np.concatenate(parts) for name, parts in totals.items()}


def typical_sizes(model: FittedModel, n_rows: int) -> dict[str, np.ndarray]:
    """Return the totals (or lengths) of rows that are not observed, for the views that have them."""
    sizes = {name: family.length.typical(n_rows) for name, family in model.families.items()}
    return {name: size for name, size in sizes.items() if size is not None}
