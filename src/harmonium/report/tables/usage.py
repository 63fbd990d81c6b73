"""Use of units by the data: how much, in which classes, and what the items that use them most have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harmonium.core.batch import ViewBatch
from harmonium.core.validation import check_whole
from harmonium.estimators import Harmonium
from harmonium.estimators.input import known_views
from harmonium.families import Family
from harmonium.kernels.sparse.entries import entries
from harmonium.queries.topics.features import topic_index, view_name
from harmonium.report.tables.groups import read_groups
from harmonium.report.tables.latent import unit_use
from harmonium.views.sources.source import Source

# items that are looked at together; it decides about memory and speed alone
_BLOCK_ROWS = 1000


def usage_table(model: Harmonium, X: Any, y: Any = None) -> pd.DataFrame:
    """Return how much items use each unit, and how well that tells classes apart.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : dict, Views, matrix, …
        Items.
    y : array-like of shape (n_items,) or (n_items, n_labels), optional
        Class of each item; -1, NaN or None where it is unknown. Or an indicator matrix of labels; or numbers, which are
        cut into four ranges if they are not whole, or more than 100 different ones. Items
        whose class is unknown count in ``usage`` and ``mean`` alone.

    Returns
    -------
    DataFrame
        One row per unit, the most used first, by topic number. ``mean`` is the mean of E[h], or of E[z h] for units
        that items may lack. ``usage`` is the mean of E[z], the share of items that have the unit; in layers other than
        `SpikeSlab` and `IBP` every item has all units, and it is the same as ``mean``. With y there is one column for
        each class, with the mean of E[h] over its items; ``spread``, the standard deviation of these means, which is
        large for units that tell classes apart; and ``closest class``, the one with the largest mean.

    References
    ----------
    Chen, Zhu, Sun & Zhang (2013), Learning harmonium models with infinite latent features, Fig. 5-7 and note 9.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> words = np.tile(np.eye(3), (4, 1))
    >>> model = Harmonium(n_components=2, driver=Stochastic(max_iter=2)).fit(words)
    >>> usage_table(model, words, ["space", "cars", "cars"] * 4).columns.tolist()
    ['usage', 'mean', 'cars', 'space', 'spread', 'closest class']
    """
    use = unit_use(model, X)
    usage = use.presence.mean(axis=0)
    # joined side by side, not by name, as a class may be called "mean"
    parts = [pd.DataFrame({"usage": usage, "mean": use.mean.mean(axis=0)})]
    if y is not None:
        means = read_groups(X, y, len(use.mean)).means(use.mean).T
        parts += [means, pd.DataFrame({"spread": means.std(axis=1, ddof=0), "closest class": means.idxmax(axis=1)})]
    return pd.concat(parts, axis=1).set_axis(topic_index(model.fitted_)).iloc[_by_use(usage)]


def feature_examples(
    model: Harmonium, X: Any, view: str | None = None, y: Any = None, n_features: int = 8, n_items: int = 15
) -> pd.DataFrame:
    """Return what the items that have most of each unit have in common.

    It is the features that these items show more often than other items do. While `topic_table` tells which features a
    unit weighs, this tells which ones occur with it, even if another view brought it about.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : dict, Views, matrix, …
        Items; those that lack the view are left out.
    view : str, optional
        View whose features are shown; needed if there are several.
    y : array-like of shape (n_items,) or (n_items, n_labels), optional
        Class of each item; -1, NaN or None where it is unknown. Or an indicator matrix of labels; or numbers, which are
        cut into four ranges if they are not whole, or more than 100 different ones.
    n_features : int, default=8
        Largest number of features for each unit.
    n_items : int, default=15
        Number of items, those with the largest E[h].

    Returns
    -------
    DataFrame
        One row per unit, the most used first, by topic number. ``features`` are those that stand out most; ``usage`` is
        that of `usage_table`. With y there are ``class``, the most frequent class of the items, and ``class share``,
        its share of the items whose class is known.

    Notes
    -----
    In binary views and views of counts, features stand out by the difference between the share of the ``n_items`` items
    that have them and the share of all items. A word that all items have therefore has no advantage, nor has one that
    occurs in a single item, as it would by a ratio; and as counts are not added up, one long item does not decide. In
    real-valued views they stand out by the difference between the two means in standard deviations. Features below the
    average are left out.

    References
    ----------
    Chen, Zhu, Sun & Zhang (2013), Learning harmonium models with infinite latent features, Table III, which has the
    default numbers, and in which words are not compared with other documents.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> words = np.tile(np.eye(3), (4, 1))
    >>> model = Harmonium(n_components=2, driver=Stochastic(max_iter=2)).fit({"words": words})
    >>> feature_examples(model, {"words": words}, y=["space", "cars", "cars"] * 4, n_items=4).columns.tolist()
    ['features', 'usage', 'class', 'class share']
    """
    check_whole("feature_examples", "n_features", n_features, remedy="8 is usual")
    check_whole("feature_examples", "n_items", n_items, remedy="15 is usual")
    use = unit_use(model, X)
    name, views = view_name(model.fitted_, view), known_views(model, X)
    if name not in views.names:
        raise ValueError(f"X must have view {name!r}, as its features are asked for; it is not there; add it.")
    source, family = views.source(name), model.families_[name]
    rows = np.flatnonzero(source.rows >= 0)
    overall = np.zeros((3, family.n_features_))
    for first in range(0, len(rows), _BLOCK_ROWS):
        overall += _sums(source, rows[first : first + _BLOCK_ROWS], family)
    best = rows[np.argsort(-use.natural[rows], axis=0, kind="stable")[:n_items]].T
    names = np.asarray(model.fitted_.feature_names[name])
    usage = use.presence.mean(axis=0)
    table = pd.DataFrame(index=topic_index(model.fitted_))
    table["features"] = [
        ", ".join(names[_standing_out(_sums(source, items, family), overall, family)[:n_features]]) for items in best
    ]
    table["usage"] = usage
    if y is not None:
        groups = read_groups(X, y, len(use.natural))
        table["class"], table["class share"] = zip(*map(groups.most_frequent, best), strict=True)
    return table.iloc[_by_use(usage)]


def _by_use(usage: np.ndarray) -> np.ndarray:
    """Return the numbers of the units, the most used first."""
    return np.argsort(-usage, kind="stable")


def _sums(source: Source, rows: np.ndarray, family: Family) -> np.ndarray:
    """Return the number of observations, the sum and the sum of squares of each feature; counts are 0 or 1 here."""
    batch: ViewBatch = source.batch(rows, family)
    cells = entries(batch.statistic)
    values = (cells.values > 0 if family.support.integer else cells.values).astype(np.float64)
    observed = np.full(family.n_features_, float(len(rows)))
    if batch.missing is not None:
        missing = family.codec.spread(batch.missing)
        observed -= missing.sum(axis=0)
        values = np.where(cells.at(missing), 0, values)
    return np.array([observed, cells.column_sums(values), cells.column_sums(np.square(values))])


def _standing_out(sums: np.ndarray, overall: np.ndarray, family: Family) -> np.ndarray:
    """Return the numbers of the features that lie above their average, those that do so most first."""
    mean, average = (total / np.maximum(observed, 1) for observed, total, _ in (sums, overall))
    score = np.where(sums[0] > 0, mean - average, 0)
    if not family.support.integer:
        variance = overall[2] / np.maximum(overall[0], 1) - np.square(average)
        # a feature that never varies does not stand out, whatever rounding errors say
        varies = variance > 1e-9 * np.square(average)
        score = np.where(varies, score / np.sqrt(np.where(varies, variance, 1.0)), 0)
    order = np.argsort(-score, kind="stable")
    return order[score[order] > 1e-9]
