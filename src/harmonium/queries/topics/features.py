"""Features of topics: their loadings, and how much they say about a topic."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from harmonium.core.parameters import weights_of
from harmonium.core.validation import misspelt
from harmonium.features._function_words import are_function_words
from harmonium.queries.named_views import named_views
from harmonium.queries.topics.shown import divided_parts, of_topics
from harmonium.training import FittedModel
from harmonium.training.finalize.relevance import exclusive

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
    """Return the name of a view of the model; None stands for the only one whose features can be read."""
    known = ", ".join(map(repr, model.families))
    if view is None and len(model.families) - len(model.input_names) + len(named_views(model)) == 1:
        return named_views(model)[0]
    if view is None:
        raise ValueError(f"With several views one has to be named; got None; pass one of {known}.")
    if view not in model.families:
        raise ValueError(f"view must be one of {known}; got {misspelt(view, model.families)}; correct the name.")
    return view


def loadings(model: FittedModel, view: str) -> pd.DataFrame:
    """Return the weights of one view, features by topics."""
    return _by_topic(model, view, model.parameters[weights_of(view)])


def _by_topic(model: FittedModel, view: str, values: np.ndarray) -> pd.DataFrame:
    """Return values of shape (features, units) as features by the topics that are shown."""
    names = model.feature_names[view]
    parts = divided_parts(model)
    own = np.stack([part.has(names) for part in parts], axis=1) if parts else None
    return pd.DataFrame(of_topics(model, values, own), index=pd.Index(names, name=view), columns=topic_index(model))


def topic_index(model: FittedModel) -> pd.Index:
    """Return the topics that are shown: their numbers, or names where they have some."""
    if not model.edits.operations:
        return pd.RangeIndex(model.n_topics, name="topic")
    return pd.Index([topic.key for topic in model.topics], name="topic")


def effects(model: FittedModel, view: str) -> pd.DataFrame:
    """Return the weights times the standard deviation of each feature at its training mean, under the family."""
    extra = model.energy.extra(model.parameters, view)
    deviation = np.sqrt(model.families[view].statistic_variance(model.reference[view], extra))
    return loadings(model, view).mul(deviation, axis=0)


def relevance(model: FittedModel, view: str) -> pd.DataFrame:
    """Return how much features say about each topic, judged by its most typical items.

    A model that has not seen all its items at once does not know them; then it is the effects.
    """
    if not model.relevance:
        return effects(model, view)
    return _by_topic(model, view, model.relevance[view].astype(np.float64))


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
    table = pd.DataFrame(exclusive(table.to_numpy()), table.index, table.columns)
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
    if not holds_texts(model, view):
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
    return min(naming, key=lambda view: len(model.feature_names[view]), default=named_views(model)[0])


def holds_texts(model: FittedModel, view: str) -> bool:
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
