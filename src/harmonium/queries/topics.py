"""Features of topics: their loadings, and how much they say about a topic."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from harmonium.core.parameters import weights_of
from harmonium.core.validation import misspelt
from harmonium.features._function_words import are_function_words
from harmonium.training import FittedModel

#: what features may be ranked by
By = Literal["relevance", "effect", "weight"]
# A view of counts that comes without a table holds words if it has so many features, and half of the most frequent ones
# are function words: tags and columns of counts are not like that. Conventions.
_FEWEST_WORDS, _MOST_FREQUENT = 100, 10
# A word in more than half of the texts says nothing about a topic. One that is counted occurs about twice in a text
# that has it, so that its mean is above 1. Conventions, for vocabularies of texts and not of a few words.
_PRESENT, _COUNTED = 0.5, 1.0
# Digits of a coordinate by which rows differ in how much they have of a topic: a convention.
_DIGITS = 2


def view_name(model: FittedModel, view: str | None) -> str:
    """Return the name of a view of the model; None stands for the only one."""
    known = ", ".join(map(repr, model.families))
    if view is None and len(model.families) == 1:
        return next(iter(model.families))
    if view is None:
        raise ValueError(f"With several views one has to be named; got None; pass one of {known}.")
    if view not in model.families:
        raise ValueError(f"view must be one of {known}; got {misspelt(view, model.families)}; correct the name.")
    return view


def loadings(model: FittedModel, view: str) -> pd.DataFrame:
    """Return the weights of one view, features by topics."""
    return pd.DataFrame(
        model.parameters[weights_of(view)][:, : model.n_topics],
        index=pd.Index(model.feature_names[view], name=view),
        columns=pd.RangeIndex(model.n_topics, name="topic"),
    )


def effects(model: FittedModel, view: str) -> pd.DataFrame:
    """Return the weights times the standard deviation of each feature at its training mean, under the family."""
    own = model.energy.own(model.parameters, view)
    deviation = np.sqrt(model.families[view].statistic_variance(model.reference[view], own))
    return loadings(model, view).mul(deviation, axis=0)


def relevance(model: FittedModel, view: str) -> pd.DataFrame:
    """Return how much features say about each topic, judged by its most typical items.

    A model that has not seen all its items at once does not know them; then it is the effects.
    """
    if not model.relevance:
        return effects(model, view)
    table = loadings(model, view)
    return pd.DataFrame(
        model.relevance[view][:, : model.n_topics].astype(np.float64), index=table.index, columns=table.columns
    )


def ranking(model: FittedModel, view: str, by: By = "relevance") -> pd.DataFrame:
    """Return what the features of a view are ranked by for each topic: the larger, the more it says about the topic.

    Relevance is multiplied by the root of the topic's share in all relevance of a feature, so that features which only
    one topic has come before those that many have. Function words are not ranked: they have 0, unless a topic has
    nothing else.
    """
    if by not in ("relevance", "effect", "weight"):
        raise ValueError(
            f"by must be 'relevance', 'effect' or 'weight'; got {by!r}; 'relevance' goes by what typical items have in "
            "common."
        )
    if by == "weight":
        return loadings(model, view)
    if by == "effect":
        return effects(model, view)
    table = relevance(model, view)
    size = np.maximum(np.linalg.norm(table, axis=1), 1e-12)
    table = table * np.sqrt(table.abs().div(size, axis=0))
    content = table.mul(~function_words(model, view), axis=0)
    return content.mask(np.broadcast_to(~(content > 0).any().to_numpy(), table.shape), table)


def function_words(model: FittedModel, view: str) -> np.ndarray:
    """Tell which features of a view are words that say nothing about a topic; none if the view does not hold words.

    They are function words of any language, and words that stand in more than half of the texts.
    """
    names, family = model.feature_names[view], model.families[view]
    frequency = np.abs(model.reference[view].astype(np.float64))
    found = are_function_words(names, frequency)
    is_large = len(names) >= _FEWEST_WORDS
    if not _holds_texts(model, view):
        most_frequent = np.argsort(-frequency, kind="stable")[:_MOST_FREQUENT]
        if not (family.counts_something and is_large and found[most_frequent].mean() >= 0.5):
            return np.zeros(len(names), dtype=bool)
    often = _PRESENT if family.support.upper == 1 and family.support.data == "matrix" else _COUNTED
    return found | (frequency > often) if is_large else found


def naming_view(model: FittedModel) -> str:
    """Return the view whose features name topics best: tags, then words, then whatever comes first."""
    columns = () if model.table is None else model.table.columns
    naming = [column.view for column in columns if column.reader.names_some and column.view in model.feature_names]
    # tags have fewer features than words
    return min(naming, key=lambda view: len(model.feature_names[view]), default=model.input_names[0])


def _holds_texts(model: FittedModel, view: str) -> bool:
    """Tell whether a view was read from a column of texts."""
    columns = () if model.table is None else model.table.columns
    return any(column.view == view and column.reader.reads_texts for column in columns)


def typical_rows(latent: np.ndarray, n: int) -> np.ndarray:
    """Return the rows that have most of each topic, at most so many, and of those as good the ones with least others.

    Long texts have many topics in full; they are typical of none.

    Examples
    --------
    >>> typical_rows(np.array([[1.0, 1.0], [1.0, 0.0], [0.2, 1.0]]), 1).tolist()
    [[1], [2]]
    """
    others = np.abs(latent).sum(axis=1)
    orders = [np.lexsort((others, -np.round(column, _DIGITS)))[:n] for column in latent.T]
    return np.array(orders, dtype=np.int64).reshape(latent.shape[1], -1)


def ranked_features(model: FittedModel, view: str, table: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return the names of the features with the largest values in a table of features by topics, one row per topic.

    Function words that are not ranked come last.
    """
    groups, last = model.families[view].codec.feature_groups, function_words(model, view)
    tables = {group: _ranked(table.iloc[features], last[features], n) for group, features in groups.items()}
    return tables[""] if "" in tables else pd.concat(tables, axis=1, names=["weight"])


def _ranked(table: pd.DataFrame, last: np.ndarray, n: int) -> pd.DataFrame:
    values = table.to_numpy()
    order = np.lexsort((-values, last[:, None] & (values == 0)), axis=0)[:n].T
    ranks = pd.RangeIndex(1, order.shape[1] + 1, name="rank")
    return pd.DataFrame(np.asarray(table.index)[order], index=table.columns, columns=ranks)
