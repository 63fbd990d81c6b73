"""Which topics, and which features through them or directly, move a prediction away from that of the average item.

A score is a sum over topics k and views v, b the bias of the head:

    score = b + Σ_k V_k m_k(a_k) + Σ_v d_v(x_v)        a_k = λ_k + Σ_i W_ik φ_i

With m̄ the means of the units at the average item, whose statistics φ̄ are those of the training data (at the row's own
size, for families that have sizes), and d̄_v what a typical row of a view adds directly,

    score = [b + Σ_k V_k m̄_k + Σ_v d̄_v] + Σ_k V_k (m_k - m̄_k) + Σ_v (d_v - d̄_v)

The first bracket is ``base``. A topic's part is split over features by what they move its natural a_k:

    V_k (m_k - m̄_k) = Σ_i V_k s_k W_ik (φ_i - φ̄_i)        s_k = (m_k - m̄_k) / (a_k - ā_k)

s_k is the slope of the secant. As a_k is linear in φ, that is the integral of the gradient along the straight line from
the average item to the row (integrated gradients, Sundararajan, Taly & Yan 2017), for Bernoulli units too; it adds up
exactly, and where m is linear it is V_k W_ik (φ_i - φ̄_i), as anyone would say. Statistics that are missing are what
the model expects, and are marked. A direct path that is linear adds x̃_i U_i; one that goes by resemblance is followed
from the mean row by integrated gradients as well, and what the mean row itself adds beyond the typical one, with the
error of the quadrature, stands for itself as "(average)".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from harmonium.batch import Batch, ViewBatch
from harmonium.heads import Head
from harmonium.kernels.rows import arrays_of, dense_row, is_sparse
from harmonium.params import weights_of
from harmonium.queries.blocks import blocks, completed
from harmonium.queries.explanation import Explanation
from harmonium.training import FittedModel
from harmonium.views import Views

ABSENT, MISSING, AVERAGE = "(absent)", "(missing)", "(average)"


@dataclass(frozen=True, eq=False)
class _Part:
    """Some features of a view: their names, which are inferred, and what they add."""

    view: str
    names: list[str]
    inferred: np.ndarray
    moves: np.ndarray
    directly: np.ndarray

    @property
    def table(self) -> pd.DataFrame:
        return pd.DataFrame({"view": self.view, "feature": self.names, "inferred": self.inferred})


def explain(model: FittedModel, views: Views) -> list[Explanation]:
    """Return what moves the scores of each row.

    Parameters
    ----------
    model : FittedModel
        A model with a head.
    views : Views
        Rows to explain.

    Returns
    -------
    list of Explanation
        One for each row.
    """
    found = []
    for row in range(len(views)):
        for _, batch in blocks(model, views[row : row + 1]):
            found.append(_explained(model, completed(model, model.parameters, batch)))
    return found


def _explained(model: FittedModel, batch: Batch) -> Explanation:
    head, energy, parameters = model.head, model.energy, model.parameters
    assert head is not None
    scores = head.scores(energy, parameters, batch)[0].astype(np.float64)
    batch = head.seen(batch)
    natural = energy.hidden_natural(parameters, batch)[0].astype(np.float64)
    moves = {name: _natural_moves(model, name, view) for name, view in batch.views.items()}
    before = natural - np.sum([part.sum(axis=0) for part in moves.values()], axis=0)
    parts = []
    for name, view in batch.views.items():
        unit_moves, rates = head.unit_effects(energy, parameters, natural, before, moves[name])
        parts += _listed(model, head, name, view, unit_moves)
    unit_moves = np.concatenate([part.moves for part in parts])
    directly = np.concatenate([part.directly for part in parts])
    topics = unit_moves.sum(axis=0)[:, None] * rates
    factor, shift = head.outputs_.units()
    base = head.scores_at(energy, parameters, before[None])[0].astype(np.float64)
    if head.direct_ is not None:
        base = base + np.sum(list(head.direct_.typical.values()), axis=0)
    return Explanation(
        outputs=output_names(model),
        scores=scores * factor + shift,
        base=base * factor + shift,
        topics=topics * factor,
        features=pd.concat([part.table for part in parts], ignore_index=True),
        moves=unit_moves,
        rates=rates * factor,
        directly=directly * factor,
        predicted=_predicted(model, scores),
        units=energy.hidden.unit_names,
    )


def _natural_moves(model: FittedModel, name: str, view: ViewBatch) -> np.ndarray:
    """Return by how much each statistic of one row moves the naturals away from the average item's, in float64."""
    family, weights = model.families[name], model.parameters[weights_of(name)].astype(np.float64)
    statistic = dense_row(view.statistic, 0).astype(np.float64).ravel()
    if view.fill is not None and len(view.fill[0]):
        statistic = statistic + view.fill[1][0]
    average = model.reference[name].astype(np.float64)
    if view.size is not None:
        own = model.energy.own(model.parameters, name)
        average = family.mean(family.natural_from_mean(average)[None], own, view.size)[0]
    pull = family.pull(view.size)
    return (1.0 if pull is None else float(pull[0])) * (statistic - average)[:, None] * weights


def _listed(model: FittedModel, head: Head, name: str, view: ViewBatch, moves: np.ndarray) -> list[_Part]:
    """Return the features of a view: those that a row has by their names, others together, and what is average."""
    family, path = model.families[name], head.direct_
    names = np.array(model.feature_names.get(name, [str(place) for place in range(len(moves))]), dtype=object)
    is_direct = path is not None and name in path.typical
    directly = np.zeros((len(moves), head.n_outputs_))
    parts = []
    if path is not None and is_direct:
        directly = path.explained(model.families, name, view)
        whole = path.parts(model.families, Batch({name: view}, 1))[name][0]
        rest = whole - path.typical[name] - directly.sum(axis=0)
        parts.append(_together(name, AVERAGE, np.zeros((1, moves.shape[1])), rest[None], False))
    if not view.observed_rows[0]:
        return [_together(name, MISSING, moves, directly, True), *parts]
    there = np.ones(len(moves), dtype=bool)
    if is_sparse(view.statistic):
        there = np.zeros(len(moves), dtype=bool)
        there[arrays_of(view.statistic)[1]] = True
        parts.append(_together(name, ABSENT, moves[~there], directly[~there], False))
    inferred = np.zeros(len(moves), dtype=bool) if view.missing is None else family.spread(view.missing)[0]
    return [_Part(name, names[there].tolist(), inferred[there], moves[there], directly[there]), *parts]


def _together(view: str, called: str, moves: np.ndarray, directly: np.ndarray, inferred: bool) -> _Part:
    """Return features as one."""
    sums = (part.sum(axis=0, keepdims=True) for part in (moves, directly))
    return _Part(view, [called], np.array([inferred]), *sums)


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
