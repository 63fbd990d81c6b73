"""Values of topics as they are shown, from those of the hidden units that they are made of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harmonium.core.batch import Batch
from harmonium.core.parameters import HIDDEN_BIAS, weights_of
from harmonium.queries.blocks import completed_blocks
from harmonium.training import FittedModel
from harmonium.training.topic_edits import TopicEdits, UnitPart
from harmonium.views import Views


def edited(model: FittedModel, edits: TopicEdits) -> FittedModel:
    """Return the model with edits in place of those that it has; refuse operations on what it does not have."""
    found = replace(model, edits=edits)
    known = {name for names in model.feature_names.values() for name in names}
    for edit in edits.operations:
        unknown = [word for word in edit.words if edit.verb == "split" and word not in known]
        if unknown:
            raise ValueError(f"split needs features of the model; got {unknown[0]!r}; see fitted_.feature_names.")
    _ = found.topics  # raises if an operation makes no sense
    return found


def of_topics(model: FittedModel, values: np.ndarray, shares: np.ndarray | None = None) -> np.ndarray:
    """Return the values of the topics that are shown, sums over their units along the last axis.

    Parameters
    ----------
    model : FittedModel
        A fitted model.
    values : ndarray of shape (..., units)
        Values of all units, or of those that are topics.
    shares : ndarray of shape (rows, parts), optional
        What `part_shares` returns; without it the parts of a unit that was split have all of it.

    Returns
    -------
    ndarray of shape (..., topics)
        Values of the topics, in order.
    """
    if not model.edits.operations:
        return values[..., : model.n_topics]
    found = np.zeros((*values.shape[:-1], len(model.topics)), dtype=values.dtype)
    for place, parts in enumerate(unit_shares(model, shares)):
        for unit, share in parts:
            found[..., place] += values[..., unit] * share
    return found


def unit_shares(model: FittedModel, shares: np.ndarray | None) -> list[list[tuple[int, np.ndarray | float]]]:
    """Return the units that each topic is made of, with the share of each that items have, as `part_shares` says."""
    divided = iter(() if shares is None else shares.T)
    return [
        [(part.unit, 1.0 if part.is_whole else next(divided, 1.0)) for part in topic.parts] for topic in model.topics
    ]


def divided_parts(model: FittedModel) -> list[UnitPart]:
    """Return the parts of units that topics are made of, in the order of the topics."""
    return [part for topic in model.topics for part in topic.parts if not part.is_whole]


def part_shares(model: FittedModel, views: Views) -> np.ndarray | None:
    """Return the share that each part of a unit has in what speaks for the unit; None if no unit was split.

    What speaks for a unit is the sum of positive weights times the statistics of their features. Where nothing does,
    the part without features of its own has all of it.
    """
    parts = divided_parts(model)
    if not parts:
        return None
    shares = np.empty((len(views), len(parts)), dtype=np.float32)
    for items, batch in completed_blocks(model, views):
        shares[items] = _block_shares(model, batch, parts)
    return shares


def _block_shares(model: FittedModel, batch: Batch, parts: list[UnitPart]) -> np.ndarray:
    units = [part.unit for part in parts]
    masked = {HIDDEN_BIAS: np.zeros(2 * len(parts), dtype=np.float32)}
    for name in batch.views:
        weights = np.maximum(model.parameters[weights_of(name)][:, units], 0)
        own = np.stack([part.has(model.feature_names.get(name, [""] * len(weights))) for part in parts], axis=1)
        masked[weights_of(name)] = np.ascontiguousarray(np.concatenate([weights * own, weights], axis=1))
    found = model.energy.hidden_natural(masked, replace(batch, natural_shift=None), with_bias=False)
    mine, whole = np.maximum(found[:, : len(parts)], 0), found[:, len(parts) :]
    rest = np.array([part.only is None for part in parts], dtype=np.float32)
    return np.where(whole > 0, np.minimum(mine / np.where(whole > 0, whole, 1), 1), rest)
