"""Shifts of what a topic says between groups of items: features that its items of a group have more or less often.

Items of a group may have other topics beside, or more of everything. So what is compared are residuals
φ(x) - E[φ(x) | E[h | x]] of items of the same length and the same other topics, each of which weighs as much as it has
of the topic.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harmonium.core.batch import Batch
from harmonium.inference.gibbs import sizes_of
from harmonium.kernels.sparse.matrix import to_dense, to_scipy
from harmonium.queries.blocks import SPARSE_CELLS, completed_blocks
from harmonium.training import FittedModel
from harmonium.views import Views

# Items that have a feature, on either side, by which a mean is about normal: Cochran's rule for tables of counts.
_FEWEST = 5.0
# Share of a topic's items that a group must be told apart by, beside other topics: a convention.
_SMALLEST = 1e-3


@dataclass(frozen=True)
class WordShifts:
    """Features of the items of a topic, in each group and in all others.

    Attributes
    ----------
    sizes : ndarray of shape (topics, groups)
        Numbers of items that have the topic, as far as they have it.
    inside, outside : ndarray of shape (topics, groups, features)
        Mean statistic of the topic's items in the group, and of those in the others.
    shift, deviation : ndarray of shape (topics, groups, features)
        Difference of the mean residuals, and its standard error if there is none; NaN where items are too few.
    """

    sizes: np.ndarray
    inside: np.ndarray
    outside: np.ndarray
    shift: np.ndarray
    deviation: np.ndarray


def word_shifts(model: FittedModel, views: Views, view: str, topics: np.ndarray, member: np.ndarray) -> WordShifts:
    """Return how the features of a view shift between groups, for each topic.

    Parameters
    ----------
    model : FittedModel
        A fitted model.
    views : Views
        Items.
    view : str
        Name of the view.
    topics : ndarray of shape (items, topics)
        How much items have of each topic.
    member : ndarray of bool of shape (items, groups)
        Which items belong to which groups; rows without a group are left out.

    Returns
    -------
    WordShifts
        The shifts.

    Notes
    -----
    With weights w of a topic's items, the shift is Σ a r / Σ a g, where g is 1 in the group and 0 outside, r the
    residual, and a = w (g - what other topics and the length of the item say of g, by a regression with weights w).
    Its variance if there is no shift is Σ a² (r - m)² / (Σ a g)², with m the mean residual of the topic's items:
    residuals may vary from item to item.
    """
    labelled = np.asarray(member.any(axis=1))
    topics = topics.astype(np.float64) * labelled[:, None]
    beside = _lengths(model, views, view)
    contrast = np.stack([_contrast(topics, place, beside, member.astype(float)) for place in range(topics.shape[1])], 1)
    n_items, n_topics, n_groups = contrast.shape
    inside = (topics[:, :, None] * member[:, None, :]).reshape(n_items, -1)
    contrast = contrast.reshape(n_items, -1)
    total = _Sums()
    n_copies = 1 + model.families[view].n_features_ // SPARSE_CELLS  # what is sparse becomes dense
    for items, batch in completed_blocks(model, views, n_copies):
        value = np.asarray(to_dense(batch.views[view].statistic), dtype=np.float64)
        residual = value - _expected(model, batch, view)
        own, part, squared = topics[items].T, contrast[items].T, np.square(contrast[items].T)
        total.add("residual", own @ residual)
        total.add("value", own @ value)
        total.add("inside", inside[items].T @ value)
        total.add("has", inside[items].T @ (value != 0))
        total.add("has of all", own @ (value != 0))
        total.add("shift", part @ residual)
        total.add("square", squared @ np.square(residual))
        total.add("cross", squared @ residual)
    shape = (n_topics, n_groups, -1)
    sizes, every = inside.sum(axis=0).reshape(shape), topics.sum(axis=0)[:, None, None]
    reach = (contrast * np.tile(member, n_topics)).sum(axis=0).reshape(shape)
    rest, has = every - sizes, total["has of all"][:, None]
    mean = np.divide(total["residual"], every[:, 0], out=np.zeros_like(total["residual"]), where=every[:, 0] > 0)
    mean, weight = mean[:, None], np.square(contrast).sum(axis=0).reshape(shape)
    spread = total["square"].reshape(shape) - 2 * mean * total["cross"].reshape(shape) + np.square(mean) * weight
    with np.errstate(divide="ignore", invalid="ignore"):
        if model.families[view].counts_something:
            fewest = has * np.minimum(sizes, rest) / every
        else:
            fewest = np.broadcast_to(np.minimum(sizes, rest), spread.shape)
        known = (fewest >= _FEWEST) & (spread > 0) & (reach > _SMALLEST * every)
        shift = np.where(known, total["shift"].reshape(shape) / reach, np.nan)
        deviation = np.where(known, np.sqrt(np.maximum(spread, 0)) / reach, np.nan)
        means = total["inside"].reshape(shape) / sizes
        others = (total["value"][:, None] - total["inside"].reshape(shape)) / rest
    return WordShifts(sizes[:, :, 0], means, others, shift, deviation)


class _Sums(dict[str, np.ndarray]):
    """Sums by name."""

    def add(self, name: str, value: np.ndarray) -> None:
        """Add to a sum, or begin it."""
        self[name] = self[name] + value if name in self else np.asarray(value)


def _lengths(model: FittedModel, views: Views, view: str) -> np.ndarray:
    """Return how much each item has of all features, in a column; none of views that count nothing."""
    if not model.families[view].counts_something:
        return np.zeros((len(views), 0))
    parts = [to_scipy(batch.views[view].statistic).sum(axis=1) for _, batch in completed_blocks(model, views)]
    return np.concatenate([np.asarray(part, dtype=np.float64).reshape(-1, 1) for part in parts])


def _contrast(topics: np.ndarray, place: int, beside: np.ndarray, member: np.ndarray) -> np.ndarray:
    """Return by how much items tell groups apart, within a topic and beside their other topics and lengths."""
    weight = topics[:, place]
    design = np.column_stack([np.ones(len(topics)), np.delete(topics, place, axis=1), beside])
    weighted = design * weight[:, None]
    solution = np.linalg.lstsq(weighted.T @ design, weighted.T @ member, rcond=None)[0]
    return np.asarray(weight[:, None] * (member - design @ solution))


def _expected(model: FittedModel, batch: Batch, view: str) -> np.ndarray:
    """Return E[φ(x) | E[h | x]] of one view."""
    energy, parameters = model.energy, model.parameters
    mean = energy.layer(parameters).mean(energy.hidden_natural(parameters, batch))
    family, size = energy.families[view], sizes_of(batch).get(view)
    natural = family.domain.clamp(energy.view_natural(parameters, view, mean, size))
    return np.asarray(family.mean(natural, energy.extra(parameters, view), size), dtype=np.float64)
