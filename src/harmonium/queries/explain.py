"""Explanations of predictions: topics and features that move them away from that of the average item.

A score is a sum over hidden units k (topics and dimensions) and views v, b the bias of the head:

    score = b + Σ_k V_k m_k(a_k) + Σ_v d_v(x_v)        a_k = λ_k + Σ_i W_ik φ_i

With m̄ the means of the units at the average item, whose statistics φ̄ are the means of the training data, and d̄_v what
the average row of a view adds directly,

    score = [b + Σ_k V_k m̄_k + Σ_v d̄_v] + Σ_k V_k (m_k - m̄_k) + Σ_v (d_v - d̄_v)

The first bracket is ``base``, the same for all rows. A unit's part is split over features by what they move its natural
a_k, where φ_i is multiplied by the weight of the row if rows are length-normalised:

    V_k (m_k - m̄_k) = Σ_i V_k s_k W_ik (φ_i - φ̄_i)        s_k = (m_k - m̄_k) / (a_k - ā_k)

s_k is the slope of the secant. As a_k is linear in φ, that is the integral of the gradient along the straight line from
the average item to the row (integrated gradients, Sundararajan, Taly & Yan 2017), for Bernoulli units too; it adds up
exactly, and where m is linear it is V_k W_ik (φ_i - φ̄_i), as anyone would say. Statistics that are missing are what
the model expects, and are marked. A linear part adds x̃_i U_i; one of Nystroem features is followed from the mean row by
integrated gradients as well, and the error of the quadrature is spread over all features. Curves are zero at the
average row, and the share of a column is what its curve is.

Words and tags that a row has not are one feature, "(absent)", to which belongs what the average row has of them
directly; a view that a row lacks is one feature, "(missing)"; the codes of a category are one feature, its value; and
the coordinates of an embedding are one feature.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import HIDDEN_BIAS, weights_of
from harmonium.families import Family
from harmonium.families.protocol.sites import code_counts
from harmonium.heads import Head
from harmonium.kernels.sparse.matrix import dense_row, is_sparse
from harmonium.queries.blocks import blocks, completed
from harmonium.queries.explanation import ABSENT, ALL_SCORES, LINEAR_SCORE, MISSING, Explanation, Explanations
from harmonium.queries.named_views import named_views
from harmonium.queries.topics.labels import topic_labels
from harmonium.training import FittedModel
from harmonium.views import Views


@dataclass(frozen=True, eq=False)
class _Part:
    """Features of a view, and what they add: a row for each."""

    table: pd.DataFrame
    moves: np.ndarray
    directly: np.ndarray
    curves: np.ndarray


def explain(model: FittedModel, views: Views) -> Explanations:
    """Return what moves the scores of each row.

    Parameters
    ----------
    model : FittedModel
        A model with a head.
    views : Views
        Rows to explain.

    Returns
    -------
    Explanations
        One for each row.
    """
    labels, origins = topic_labels(model), _origins(model)
    found = Explanations()
    for row in range(len(views)):
        for _, batch in blocks(model, views[row : row + 1]):
            found.append(_explained(model, completed(model, model.parameters, batch), labels, origins))
    return found


def _explained(model: FittedModel, batch: Batch, labels: list[str], origins: dict[str, np.ndarray]) -> Explanation:
    head, energy, parameters = model.head, model.energy, model.parameters
    assert head is not None
    batch, readout = head.readout.seen(batch), head.readout
    before = parameters[HIDDEN_BIAS].astype(np.float64) + np.sum(
        [model.reference[name].astype(np.float64) @ parameters[weights_of(name)] for name in batch.views], axis=0
    )
    statistics = {name: _statistic(view) for name, view in batch.views.items()}
    moves = {name: _natural_moves(model, name, view, statistics[name]) for name, view in batch.views.items()}
    if batch.natural_shift is not None:
        _add_to_missing(model, batch, moves)
    natural = before + np.sum([part.sum(axis=0) for part in moves.values()], axis=0)
    parts, (by_statistic, by_score) = [], _curves(model, head, batch)
    for name in batch.views:
        unit_moves, rates = readout.unit_effects(energy, parameters, natural, before, moves[name])
        added = by_statistic.get(name, np.zeros((len(unit_moves), head.n_outputs_)))
        parts.append(_listed(model, head, name, batch, statistics[name], unit_moves, added, origins[name]))
    n_units = parts[0].moves.shape[1]
    parts += [_linear_only(model, head, name, batch, n_units) for name in batch.inputs]
    for name, added in by_score.items():
        parts.append(_of_score(model, name, added, n_units, origins))
    unit_moves = np.concatenate([part.moves for part in parts])
    curves = np.concatenate([part.curves for part in parts])
    directly = np.concatenate([part.directly for part in parts]) + curves
    base = readout.scores(energy, parameters, before[None])[0].astype(np.float64)
    for part in head.input_parts_:
        base = base + np.sum(list(part.average.values()), axis=0)
    scores = base + unit_moves.sum(axis=0) @ rates + directly.sum(axis=0)
    factor, shift = head.outputs_.units()
    return Explanation(
        outputs=output_names(model),
        scores=scores * factor + shift,
        base=base * factor + shift,
        features=pd.concat([part.table for part in parts], ignore_index=True),
        moves=unit_moves,
        rates=rates * factor,
        directly=directly * factor,
        curves=curves * factor if by_statistic or by_score else None,
        predicted=_predicted(model, scores),
        labels=labels,
        log_offset=head.outputs_.log_offset,
        limits=head.outputs_.limits,
        shown=model.topics,
        n_topic_units=model.n_topics,
    )


def _statistic(view: ViewBatch) -> np.ndarray:
    """Return the statistics of one row, with those that are inferred, in float64."""
    statistic = dense_row(view.statistic, 0).astype(np.float64).ravel()
    if view.fill is not None and len(view.fill[0]):
        statistic = statistic + view.fill[1][0]
    return statistic


def _natural_moves(model: FittedModel, name: str, view: ViewBatch, statistic: np.ndarray) -> np.ndarray:
    """Return by how much each statistic of one row moves the naturals away from the average item's."""
    row_weight = model.families[name].length.row_weight(view.size)
    weight = 1.0 if row_weight is None else float(row_weight[0])
    difference = weight * statistic - model.reference[name].astype(np.float64)
    return np.asarray(difference[:, None] * model.parameters[weights_of(name)].astype(np.float64))


def _add_to_missing(model: FittedModel, batch: Batch, moves: dict[str, np.ndarray]) -> None:
    """Give what missing sites do to the naturals of one row beyond their expectations to them, in equal parts."""
    assert batch.natural_shift is not None
    lacking = {
        name: model.families[name].codec.spread(view.missing)[0]
        for name, view in batch.views.items()
        if view.missing is not None
    }
    share = batch.natural_shift[0] / max(1, sum(mask.sum() for mask in lacking.values()))
    for name, mask in lacking.items():
        moves[name][mask] += share


def _origins(model: FittedModel) -> dict[str, np.ndarray]:
    """Return what each feature of a view belongs to: a column of a table, or else the view itself."""
    known = {} if model.table is None else model.table.origins
    return {
        name: np.array(known.get(name, [name] * family.n_features_), dtype=object)
        for name, family in model.families.items()
    }


def _listed(
    model: FittedModel,
    head: Head,
    name: str,
    batch: Batch,
    statistic: np.ndarray,
    moves: np.ndarray,
    curves: np.ndarray,
    origins: np.ndarray,
) -> _Part:
    """Return the features of a view: those that a row has by their names, others together."""
    family, view = model.families[name], batch.views[name]
    directly, rest = np.zeros((len(moves), head.n_outputs_)), np.zeros(head.n_outputs_)
    for part in head.input_parts_:
        if name in part.view_names:
            more, left = part.explained(model.families, name, batch)
            directly, rest = directly + more, rest + left
    names = np.array(model.feature_names.get(name, [str(place) for place in range(len(moves))]), dtype=object)
    present = np.ones(len(moves), dtype=bool)
    several = len(moves) > 1 and origins[0] == origins[-1]
    if not view.observed_rows[0]:
        names[:], present[:] = MISSING, False
    elif several and (family.counts_something or is_sparse(view.statistic)):
        present = statistic != 0
        names[~present] = ABSENT
        # a line without any statistic, for what the average row adds
        names, origins = np.append(names, ABSENT), np.append(origins, origins[:1])
        present = np.append(present, False)
        moves = np.vstack([moves, np.zeros((1, moves.shape[1]))])
        directly, rest = np.vstack([directly, rest]), np.zeros_like(rest)
        curves = np.vstack([curves, rest])
    else:
        if view.missing is not None:
            present = ~family.codec.spread(view.missing)[0]
        names = _values(family, names, statistic)
        if name in model.input_names and name not in named_views(model):
            names[:] = f"({name})"  # coordinates of an embedding say nothing one by one
    directly = directly + rest / len(directly)
    table = pd.DataFrame({"view": origins, "feature": names, "present": present})
    group = table.groupby(["view", "feature"], sort=False).ngroup().to_numpy()
    totals = (_totals(values, group) for values in (moves, directly, curves))
    return _Part(table.drop_duplicates(["view", "feature"]), *totals)


def _curves(model: FittedModel, head: Head, batch: Batch) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return what curves add to the scores of one row, by statistics of views and by linear scores of views."""
    parts = (part for part in head.input_parts_ if part.curves is not None)
    return next((part.explained_curves(model.families, batch) for part in parts), ({}, {}))


def _of_score(model: FittedModel, name: str, added: np.ndarray, n_units: int, origins: dict[str, np.ndarray]) -> _Part:
    """Return what trees add because of the linear score of a view, or of all views, as one feature."""
    known = origins if model.table is None else model.table.origins
    columns = sorted(set(known[name])) if name else [ALL_SCORES]
    view, feature = columns[0] if len(columns) == 1 else name, LINEAR_SCORE
    if view != name and name:  # a column may have several views
        feature = f"{LINEAR_SCORE[:-1]} of {name})"
    line = {"view": view, "feature": feature, "present": True}
    return _Part(pd.DataFrame([line]), np.zeros((1, n_units)), np.zeros_like(added[None]), added[None])


def _linear_only(model: FittedModel, head: Head, name: str, batch: Batch, n_units: int) -> _Part:
    """Return a view that the linear part alone sees as one feature, as few of its own can be read."""
    assert model.table is not None  # which alone makes such views
    whole = np.zeros(head.n_outputs_)
    for part in head.input_parts_:
        if name in part.view_names:
            whole = whole + part.beyond_average(model.families, name, batch)
    line = {
        "view": model.table.origins[name][0],
        "feature": f"({name})",
        "present": bool(batch.inputs[name].observed_rows[0]),
    }
    return _Part(pd.DataFrame([line]), np.zeros((1, n_units)), whole[None], np.zeros_like(whole[None]))


def _values(family: Family, names: np.ndarray, statistic: np.ndarray) -> np.ndarray:
    """Return the names of features, where all codes of a category are called by the one that is there or likeliest."""
    names = names.copy()
    ends = np.cumsum(code_counts(family))
    for codes in np.split(np.arange(ends[-1]), ends[:-1]):
        if len(codes):
            names[codes] = names[codes[np.argmax(statistic[codes])]]
    return names


def _totals(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Return the sums of rows by group."""
    total = np.zeros((group.max() + 1, values.shape[1]))
    np.add.at(total, group, values)
    return total


def output_names(model: FittedModel) -> list[str]:
    """Return the names of the scores of a model.

    Parameters
    ----------
    model : FittedModel
        A model with a head.

    Returns
    -------
    list of str
        Classes (with the name of their column if there are several), labels or numbers by their names; scores of levels
        in order are called "above" the level before.
    """
    meaning, head = model.meaning, model.head
    assert meaning is not None
    assert head is not None
    columns = [str(name) for name in meaning.names or range(meaning.n_columns)]
    if meaning.kind == "class" and head.n_outputs_ == sum(meaning.n_classes):
        if len(meaning.classes) == 1:
            return [str(name) for name in meaning.classes[0]]
        pairs = zip(columns, meaning.classes, strict=True)
        return [f"{column}={name}" for column, classes in pairs for name in classes]
    if meaning.kind != "class" and head.n_outputs_ == meaning.n_columns:
        return columns if meaning.names else (["prediction"] if meaning.n_columns == 1 else columns)
    levels = meaning.classes[0] if meaning.classes else range(head.n_outputs_ + 1)
    return [f"above {level}" for level in list(levels)[: head.n_outputs_]]


def _predicted(model: FittedModel, scores: np.ndarray) -> int:
    """Return the number of the score of the predicted class, or of the likeliest label."""
    meaning, head = model.meaning, model.head
    assert meaning is not None
    assert head is not None
    if meaning.kind == "class" and head.n_outputs_ == sum(meaning.n_classes):
        return int(np.argmax(scores[: meaning.n_classes[0]]))
    return int(np.argmax(scores)) if meaning.kind == "label" else 0
