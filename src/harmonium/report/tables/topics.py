"""Tables of topics: their features, labels, items and classes, and the weights of single features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from harmonium.core.validation import check_whole
from harmonium.estimators import Harmonium
from harmonium.metrics import topic_distribution
from harmonium.queries.named_views import named_views
from harmonium.queries.topics import labels
from harmonium.queries.topics.features import By, topic_index, typical_rows, view_name
from harmonium.queries.topics.shown import of_topics
from harmonium.report.tables.groups import read_groups
from harmonium.report.tables.latent import check_model, topic_means

# classes named for each topic: as many as fit into a cell
_N_CLASSES = 3


def topic_table(
    model: Harmonium,
    X: Any = None,
    y: Any = None,
    n_features: int = 10,
    n_items: int = 3,
    item_names: Sequence[Any] | None = None,
    by: By = "relevance",
) -> pd.DataFrame:
    """Return what each topic is about: its features, share, items and classes.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : dict, Views, matrix, …, optional
        Items to look for the topics in.
    y : array-like of shape (n_items,) or (n_items, n_labels), optional
        Class of each item; -1, NaN or None where it is unknown. Or an indicator matrix of labels; or numbers, which are
        cut into four ranges if they are not whole, or more than 100 different ones.
    n_features : int, default=10
        Number of features shown for each view.
    n_items : int, default=3
        Number of items shown.
    item_names : sequence, optional
        Names of the items. By default they are row numbers.
    by : {"relevance", "effect", "weight"}, default="relevance"
        What features are ranked by; see ``model.topics``.

    Returns
    -------
    DataFrame
        One row per topic. A column for each view, embeddings aside, holds the features that say most about the topic,
        in order; if hidden units may be negative, ``"<view> (negative)"`` holds those of its negative side. A view
        whose columns have several statistics has a column for each instead, such as ``"<view> (present)"`` and
        ``"<view> (continues)"`` for sequences. With X there are ``share``, the mean of the topic in the items' topic
        distributions, and ``items``, those with the largest E[h]. With y there is ``classes``, the classes that use the
        topic most, with their shares of it. If the model predicts classes by a score for each, ``speaks for`` names
        those whose scores the topic raises most; it says nothing if no topic has a share in the scores.

    References
    ----------
    Chen, Zhu, Sun and Xing, "Large-margin predictive latent subspace learning for multiview data analysis", IEEE
    Transactions on Pattern Analysis and Machine Intelligence 34(12), 2012, Fig. 3, Table 1 and note 8.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> words = np.tile(np.eye(3), (4, 1))
    >>> model = Harmonium(n_components=2, driver=Stochastic(max_iter=2)).fit({"words": words})
    >>> topic_table(model, {"words": words}, ["space", "cars", "cars"] * 4).columns.tolist()
    ['words', 'share', 'items', 'classes']
    """
    check_model(model)
    check_whole("topic_table", "n_features", n_features, remedy="10 is usual")
    check_whole("topic_table", "n_items", n_items, remedy="3 is usual")
    if X is None and (y is not None or item_names is not None):
        given = "y" if y is not None else "item_names"
        raise ValueError(f"{given} says something about the rows of X; got no X; pass X as well.")
    columns = {}
    for view in named_views(model.fitted_):
        for group in model.families_[view].codec.feature_groups:
            columns[f"{view} ({group})" if group else view] = _strongest(model.topics(view, n_features, by), group)
            if not model.fitted_.energy.hidden.support.bounded:
                label = f"{view} ({group}, negative)" if group else f"{view} (negative)"
                columns[label] = _strongest(model.topics(view, n_features, by, "negative"), group)
    # joined side by side, not by name, as a view may be called "items"
    parts: list[pd.DataFrame | pd.Series] = [pd.DataFrame(columns).reset_index(drop=True)]
    if X is not None:
        latent = topic_means(model, X)
        parts.append(_use_of_topics(latent, n_items, item_names))
        if y is not None:
            parts.append(_classes_of_topics(class_profiles(class_means(X, y, latent))))
    raised = _classes_raised(model)
    if raised is not None:
        parts.append(raised)
    return pd.concat(parts, axis=1).set_axis(topic_index(model.fitted_))


def _strongest(topics: pd.DataFrame, group: str) -> pd.Series:
    """Return the names of the features of a group as one text, by topic."""
    return (topics[group] if group else topics).agg(", ".join, axis=1)


def _use_of_topics(latent: np.ndarray, n_items: int, item_names: Sequence[Any] | None) -> pd.DataFrame:
    names = np.arange(len(latent)) if item_names is None else np.asarray(item_names)
    if names.shape != (len(latent),):
        raise ValueError(
            f"item_names must have one name for each of the {len(latent)} rows of X; got shape {names.shape}; pass "
            "the names in the order of the rows."
        )
    best = names[typical_rows(latent, n_items)]
    items = [", ".join(map(str, row)) for row in best]
    return pd.DataFrame({"share": topic_distribution(latent).mean(axis=0), "items": items})


def _classes_of_topics(profiles: pd.DataFrame) -> pd.Series:
    def described(profile: pd.Series) -> str:
        largest = profile[profile > 0].nlargest(_N_CLASSES)
        return ", ".join(f"{name} {value:.2f}" for name, value in largest.items())

    return pd.Series([described(profiles[topic]) for topic in profiles], name="classes")


def _classes_raised(model: Harmonium) -> pd.Series | None:
    """Return the classes whose scores a topic raises most; None if there is not a score for each class."""
    classes = getattr(model, "classes_", None)
    if not isinstance(classes, np.ndarray) or len(model.coef_) != len(classes):
        return None
    # what is added to all scores decides nothing
    weights = pd.DataFrame(of_topics(model.fitted_, model.coef_ - model.coef_.mean(axis=0)), index=classes)

    def described(weight: pd.Series) -> str:
        return ", ".join(f"{name} {value:+.2f}" for name, value in weight[weight > 0].nlargest(_N_CLASSES).items())

    return pd.Series([described(weights[topic]) for topic in weights], name="speaks for")


def topic_labels(model: Harmonium, view: str | None = None, n: int = 3) -> pd.Series:
    """Return a short label of each topic, different from all others.

    Report, explorer and command line call topics by the same labels.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    view : str, optional
        View whose features make the labels. Default: tags if the model was fitted on a table that has some, then words,
        then the first view.
    n : int, default=3
        Number of features in a label. Topics with the same ones get up to as many more, by which they differ; those
        that differ by none of these get numbers. Of words with the same stem, such as "printer" and "printers", the
        first is taken.

    Returns
    -------
    Series
        Labels by topic: the features that ``topics()`` of the model ranks first, or the name that a topic was given.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> words = np.tile(np.eye(3), (4, 1))
    >>> model = Harmonium(n_components=2, driver=Stochastic(max_iter=2), random_state=0).fit({"words": words})
    >>> names = topic_labels(model, n=2)
    >>> names.nunique(), names.name
    (2, 'label')
    """
    check_model(model)
    check_whole("topic_labels", "n", n, remedy="3 is usual")
    names = labels.topic_labels(model.fitted_, None if view is None else view_name(model.fitted_, view), n)
    return pd.Series(names, index=topic_index(model.fitted_), name="label")


def class_table(model: Harmonium, X: Any, y: Any) -> pd.DataFrame:
    """Return how each class uses the topics: the mean distribution of its items.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : dict, Views, matrix, …
        Items.
    y : array-like of shape (n_items,) or (n_items, n_labels)
        Class of each item; -1, NaN or None where it is unknown. Or an indicator matrix of labels; or numbers, which are
        cut into four ranges if they are not whole, or more than 100 different ones.

    Returns
    -------
    DataFrame
        Classes by topics; rows sum to 1. Classes are in sorted order; ordered categories are in theirs.

    See Also
    --------
    harmonium.metrics.average_divergence : How far the classes are apart.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> words = np.tile(np.eye(3), (4, 1))
    >>> model = Harmonium(n_components=2, driver=Stochastic(max_iter=2)).fit(words)
    >>> class_table(model, words, ["space", "cars", "cars"] * 4).sum(axis=1).tolist()
    [1.0, 1.0]
    """
    return class_means(X, y, topic_means(model, X)).set_axis(topic_index(model.fitted_), axis=1)


def class_means(X: Any, y: Any, latent: np.ndarray) -> pd.DataFrame:
    """Return the mean topic distribution of the items of each class, from E[h] of each."""
    return read_groups(X, y, len(latent)).means(topic_distribution(latent)).rename_axis(columns="topic")


def class_profiles(table: pd.DataFrame) -> pd.DataFrame:
    """Return how the classes share each topic.

    Parameters
    ----------
    table : DataFrame
        Classes by topics, as `class_table` returns it.

    Returns
    -------
    DataFrame
        The columns of the table divided by their sums; 0 for a topic that no class uses.

    Examples
    --------
    >>> class_profiles(pd.DataFrame({"first": [0.2, 0.6], "second": [0.0, 0.0]}))
       first  second
    0   0.25     0.0
    1   0.75     0.0
    """
    totals = table.sum()
    return table / totals.where(totals > 0, 1.0)


def feature_table(model: Harmonium, features: Sequence[str] | str, view: str | None = None) -> pd.DataFrame:
    """Return the weights of some features on all topics.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    features : str or list of str
        Names of features, as in ``model.fitted_.feature_names``.
    view : str, optional
        View that they belong to; needed if there are several.

    Returns
    -------
    DataFrame
        Features, in the order given, by topics.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> model = Harmonium(n_components=2, driver=Stochastic(max_iter=2)).fit({"words": np.tile(np.eye(3), (4, 1))})
    >>> feature_table(model, ["words_2", "words_0"]).index.tolist()
    ['words_2', 'words_0']
    """
    check_model(model)
    loadings = model.topics(view, n=None, by="weight")
    names = [features] if isinstance(features, str) else list(features)
    unknown = [name for name in names if name not in loadings.index]
    if unknown or not names:
        name = loadings.index.name
        got = repr(unknown[0]) if unknown else "none"
        raise ValueError(f"features must name features of view {name!r}; got {got}; see fitted_.feature_names.")
    return loadings.loc[names]
