"""From seeds that a user gives to a guide of topics: seeds that the data do not support are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse
from scipy.stats import norm

from harmonium.core.batch import Batch
from harmonium.objectives.guide import Feature, Guide, SeedPrior, kept_out, resolved
from harmonium.objectives.problem import Problem
from harmonium.training.clusters import AVERAGE_ITEMS, SAMPLE, sampled_items, totals_of_groups
from harmonium.training.topic_edits import TopicEdits
from harmonium.views.data import Data

# Items with seeds that make a topic at least, and the probability by chance that they seem to have something else in
# common: conventions.
_FEWEST, _LEVEL = 10, 0.01
# Items that each feature is taken to have besides its own, so that rare ones do not decide: a convention.
_CHANCE = 10.0


def guided(
    problem: Problem, data: Data, seeds: Mapping[str, Sequence[str | int]], names: Mapping[str, Sequence[str]]
) -> tuple[Problem, tuple[str, ...]]:
    """Return the problem with a guide of its first topics, and the names of topics whose seeds are not supported.

    A topic is supported if enough items have its seeds, and if these items have another feature more often than others
    do, beyond chance (with the correction of Bonferroni for all features).

    Parameters
    ----------
    problem : Problem
        The model to be trained.
    data : Data
        The training data.
    seeds : mapping of str to sequence
        Features and numbers of items, by the names of the topics.
    names : mapping of str to sequence of str
        Names of the features of each view.

    Returns
    -------
    problem : Problem
        The problem, with a guide if a seed is supported.
    unsupported : tuple of str
        Names of the other topics.
    """
    layer = problem.energy.hidden.groups.topics
    if layer.lower_bound < 0:
        raise ValueError(
            f"seeds need topics that only raise features; got {layer}, whose weights have any sign; use TopicModel, or "
            "hidden=BernoulliUnits(weights='nonnegative')."
        )
    if len(seeds) > layer.n_units_:
        raise ValueError(f"seeds need a topic each; got {len(seeds)} for {layer.n_units_} topics; ask for more topics.")
    wrong = [row for own in seeds.values() for row in own if not isinstance(row, str) and not 0 <= row < len(data)]
    if wrong:
        raise ValueError(f"Seeds that are items need numbers from 0 to {len(data) - 1}; got {wrong[0]}; correct it.")
    found = [_features(topic, own, names) for topic, own in seeds.items()]
    rows = tuple(tuple(sorted({int(row) for row in own if not isinstance(row, str)})) for own in seeds.values())
    guide = Guide(tuple(seeds), tuple(own for own, _ in found), tuple(out for _, out in found), rows, len(data), {})
    items = guide.with_rows(sampled_items(data.views, problem.energy.families, SAMPLE), len(data))
    batch = data.views.batch(items, problem.energy.families)
    member = guide.members(batch, items, len(data))
    supported = np.array([_is_supported(problem, batch, guide, member, topic) for topic in range(len(seeds))])
    unsupported = tuple(name for name, is_kept in zip(seeds, supported, strict=True) if not is_kept)
    if not supported.any():
        return problem, unsupported
    return replace(problem, guide=_with_prior(problem, guide.of_topics(supported), batch, items)), unsupported


def named(guide: Guide | None) -> TopicEdits:
    """Return edits that give the topics of a guide their names."""
    edits = TopicEdits()
    for topic, name in enumerate(() if guide is None else guide.names):
        edits = edits.rename(topic, name)
    return edits


def _features(
    topic: str, seeds: Sequence[str | int], names: Mapping[str, Sequence[str]]
) -> tuple[tuple[tuple[Feature, ...], ...], tuple[Feature, ...]]:
    """Return what the seeds of a topic that are no items stand for, and the features that are kept out of it."""
    texts = [seed for seed in seeds if isinstance(seed, str)]
    out = {seed: kept_out(seed, names) for seed in texts}
    if len(texts) == len(seeds) and None not in out.values():
        raise ValueError(
            f"seeds must say what a topic is about; those of {topic!r} only say what is kept out; add a word of it."
        )
    found = tuple(own for own in (resolved(seed, names) for seed in texts if out[seed] is None) if own)
    excluded = tuple(dict.fromkeys(one for own in out.values() if own for one in own))
    both = {feature for seed in found for feature in seed} & set(excluded)
    if both:
        view, number = min(both)
        raise ValueError(f"seeds of {topic!r} name {names[view][number]!r} and keep it out; leave one of the two out.")
    return found, excluded


def _is_supported(problem: Problem, batch: Batch, guide: Guide, member: np.ndarray, topic: int) -> bool:
    """Tell whether the items that have the seeds of a topic have something else in common."""
    own = np.flatnonzero(member == topic)
    if guide.rows[topic]:
        return len(own) > 0  # items say by themselves what they have in common
    if len(own) < _FEWEST:
        return False
    seeds = {feature for seed in guide.features[topic] for feature in seed} | set(guide.excluded[topic])
    group = scipy.sparse.csr_array(
        (np.ones(len(own), dtype=np.float32), (np.zeros(len(own), dtype=int), own)), shape=(1, len(member))
    )
    found = []
    for name, family in problem.energy.families.items():
        mean = problem.reference[name].astype(np.float64)
        totals, counts = totals_of_groups(batch.views[name], family, problem.reference[name], group)
        variance = family.statistic_variance(mean, family.extra_parameters.initial)
        deviation = np.sqrt(variance + _CHANCE / batch.n_rows)
        z = totals[0] / deviation / np.sqrt(max(counts[0], 1.0))
        # long items have more of everything, which is nothing that they have in common
        usual = mean / deviation
        z -= (z @ usual) / max(usual @ usual, 1e-12) * usual
        found.append(np.delete(z, [number for view, number in seeds if view == name]))
    every = np.concatenate(found)
    return bool(len(every) and every.max() > norm.isf(_LEVEL / len(every)))


def _with_prior(problem: Problem, guide: Guide, batch: Batch, items: np.ndarray) -> Guide:
    """Return the guide with a prior of the weights of its seeds, as the items that have them suggest.

    The prior counts as much as the items of a topic do: the precision is the variance of a feature times the share of
    the items that a topic has.
    """
    member, n_topics = guide.members(batch, items, guide.n_rows), len(guide.names)
    groups = scipy.sparse.csr_array(member == np.arange(n_topics)[:, None], dtype=np.float32)
    activity = problem.energy.hidden.selection.activity
    share = np.full(n_topics, activity) if activity is not None else np.asarray(groups.sum(axis=1)) / len(items)
    prior = {}
    for name, family in problem.energy.families.items():
        mean = problem.reference[name].astype(np.float64)
        totals, counts = totals_of_groups(batch.views[name], family, problem.reference[name], groups)
        lifted = mean + totals / (counts + AVERAGE_ITEMS)[:, None]
        start = family.natural_from_mean(mean)
        moved = np.stack([family.natural_from_mean(row) - start for row in lifted], axis=1)
        features, topics = guide.places(name)
        variance = family.statistic_variance(mean, family.extra_parameters.initial)
        means, precision = np.maximum(moved, 0)[features, topics], variance[features] * share[topics]
        prior[name] = SeedPrior(features, topics, means.astype(np.float32), precision.astype(np.float32))
    return replace(guide, prior={name: own for name, own in prior.items() if len(own.features)})
