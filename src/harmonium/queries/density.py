"""The model as a distribution: densities, partition function, samples, modes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from harmonium.core.batch import Batch
from harmonium.inference.ais import LogPartition, annealed_log_partition
from harmonium.inference.exact import exact_log_partition
from harmonium.inference.gibbs import gibbs_step, sizes_of
from harmonium.inference.modes import iterate_modes
from harmonium.inference.naive import naive_log_partition
from harmonium.inference.perfect import perfect_sample
from harmonium.inference.pseudo import pseudo_log_likelihood
from harmonium.inference.symmetry import canonical_signs, turn_over
from harmonium.queries.blocks import completed_blocks
from harmonium.queries.latent import typical_sizes
from harmonium.training import FittedModel
from harmonium.views import Views
from harmonium.views.sources.drawn import as_data


def log_density(model: FittedModel, views: Views) -> np.ndarray:
    """Return the unnormalised log-density of each row, in the units of the data: minus its free energy."""
    return np.concatenate(
        [
            _log_volume(model, batch) - model.energy.free_energy(model.parameters, batch)
            for _, batch in completed_blocks(model, views)
        ]
    )


def _log_volume(model: FittedModel, batch: Batch) -> np.ndarray:
    """Return what encoding does to the density of what is observed, for each row."""
    total = np.zeros(batch.n_rows)
    for name, view in batch.views.items():
        family = model.families[name]
        volume = family.codec.log_volume
        total += volume.sum() if view.missing is None else (~family.codec.spread(view.missing)) @ volume
    return total


def mean_pseudo_likelihood(model: FittedModel, views: Views) -> float:
    """Return the mean pseudo-log-likelihood of the rows in the units of the data, by one random site of each view."""
    rng = np.random.default_rng(0)
    total = sum(
        float((pseudo_log_likelihood(model.energy, model.parameters, batch, rng) + _log_volume(model, batch)).sum())
        for _, batch in completed_blocks(model, views)
    )
    return total / len(views)


def log_partition(
    model: FittedModel,
    method: str,
    n_chains: int,
    n_temperatures: int,
    sizes: dict[str, float] | None,
    rng: np.random.Generator,
) -> LogPartition:
    """Return log Z, exactly, by naive Monte Carlo or by annealed importance sampling.

    ``sizes`` holds totals of rows; default: the typical ones.
    """
    totals = {name: float(size[0]) for name, size in typical_sizes(model, 1).items()}
    unknown = set(sizes or {}) - set(totals)
    if unknown:
        raise ValueError(
            f"sizes may only name views with totals ({', '.join(map(repr, totals)) or 'none here'}); got "
            f"{', '.join(sorted(map(repr, unknown)))}; leave them out."
        )
    totals |= sizes or {}
    if method == "exact":
        rows = {name: np.array([total]) for name, total in totals.items()}
        return LogPartition(exact_log_partition(model.energy, model.parameters, rows), 0.0)
    if method == "naive":
        return naive_log_partition(model.energy, model.parameters, rng, n_chains, totals)
    return annealed_log_partition(
        model.energy,
        model.parameters,
        rng,
        n_chains=n_chains,
        n_temperatures=n_temperatures,
        reference=model.reference,
        sizes=totals,
    )


def sample(model: FittedModel, n_samples: int, n_steps: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return items drawn by block Gibbs sampling from random hidden states."""
    sizes, parameters = typical_sizes(model, n_samples), model.parameters
    hidden = model.energy.layer(parameters).sample(np.zeros((n_samples, model.n_units), dtype=np.float32), rng)
    for _ in range(n_steps):
        hidden, batch = gibbs_step(model.energy, parameters, hidden, rng, sizes)
    return _as_data(model, [batch], rng)


def sample_exact(model: FittedModel, n_samples: int, max_sweeps: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return items drawn exactly, by coupling from the past."""
    batch, _ = perfect_sample(model.energy, model.parameters, n_samples, rng, max_sweeps)
    return _as_data(model, [batch], rng)


def modes(model: FittedModel, views: Views, max_iterations: int) -> tuple[dict[str, Any], np.ndarray]:
    """Return views and hidden states of the nearest mode of the joint distribution, climbed to from each row."""
    parts = [
        iterate_modes(model.energy, model.parameters, batch, sizes_of(batch), max_iterations)
        for _, batch in completed_blocks(model, views)
    ]
    # sequences with the same counts are equally probable, so any of them will do
    drawn = _as_data(model, [batch for batch, _ in parts], np.random.default_rng(0))
    return drawn, np.concatenate([state for _, state in parts])


def _as_data(model: FittedModel, batches: Sequence[Batch], rng: np.random.Generator) -> dict[str, Any]:
    """Return drawn statistics as data of each view."""
    drawn: dict[str, Any] = {}
    for name, family in model.families.items():
        statistic = np.concatenate([np.asarray(batch.views[name].statistic) for batch in batches])
        sizes = [size for batch in batches if (size := batch.views[name].size) is not None]
        size = np.concatenate(sizes) if sizes else None
        drawn[name] = as_data(statistic, family, size, model.feature_names[name], rng)
    return drawn


def with_canonical_signs(model: FittedModel) -> FittedModel:
    """Return a model of the same p(x) whose binary and binomial units are aligned with the mean item."""
    parameters, turned = canonical_signs(model.energy, model.parameters, model.reference)
    posterior = model.training.posterior
    if posterior is not None:
        chains = [
            replace(chain, draws=[turn_over(model.energy, draw, turned) for draw in chain.draws])
            for chain in posterior.chains
        ]
        posterior = replace(posterior, chains=chains)
    training = model.training.with_parameters(parameters, posterior=posterior)
    # rows that had a unit now lack it
    usage = None if model.usage is None else np.where(turned, 1 - model.usage, model.usage)
    # relevance is judged by the items that have most of a unit, which are others now
    return replace(model, training=training, usage=usage, relevance={} if turned.any() else model.relevance)
