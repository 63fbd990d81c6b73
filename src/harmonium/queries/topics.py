"""Which features load on which topic, and which of them say most about it."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from harmonium.params import weights_of
from harmonium.training import FittedModel

#: what features may be ranked by
By = Literal["relevance", "effect", "weight"]


def view_name(model: FittedModel, view: str | None) -> str:
    """Return the name of a view of the model; None stands for the only one."""
    known = ", ".join(map(repr, model.families))
    if view is None and len(model.families) == 1:
        return next(iter(model.families))
    if view is None:
        raise ValueError(f"With several views one has to be named; got None; pass one of {known}.")
    if view not in model.families:
        raise ValueError(f"view must be one of {known}; got {view!r}; correct the name.")
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
    one topic has come before those that many have.
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
    return table * np.sqrt(table.abs().div(size, axis=0))


def ranked_features(model: FittedModel, view: str, table: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return the names of the features with the largest values in a table of features by topics, one row per topic."""
    groups = model.families[view].feature_groups
    tables = {group: _ranked(table.iloc[features], n) for group, features in groups.items()}
    return tables[""] if "" in tables else pd.concat(tables, axis=1, names=["weight"])


def _ranked(table: pd.DataFrame, n: int) -> pd.DataFrame:
    order = np.argsort(-table.to_numpy(), axis=0, kind="stable")[:n].T
    ranks = pd.RangeIndex(1, order.shape[1] + 1, name="rank")
    return pd.DataFrame(np.asarray(table.index)[order], index=table.columns, columns=ranks)
