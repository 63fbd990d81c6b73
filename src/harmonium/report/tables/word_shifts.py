"""Words of topics that shift between periods or groups, with intervals and tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control, norm

from harmonium.core.validation import check_whole
from harmonium.estimators import Harmonium
from harmonium.estimators.input import known_views
from harmonium.kernels.runtime.threads import compute
from harmonium.queries.topics.features import naming_view, topic_index, view_name
from harmonium.queries.topics.word_shifts import word_shifts
from harmonium.report.tables.covariates import read_covariates
from harmonium.report.tables.effects import check_level, read_periods
from harmonium.report.tables.groups import read_groups
from harmonium.report.tables.latent import topic_means


def word_shift_table(
    model: Harmonium,
    X: Any,
    by: Any,
    view: str | None = None,
    freq: str | None = None,
    n_features: int = 5,
    level: float = 0.95,
    held_out: bool = False,
) -> pd.DataFrame:
    """Return how words of each topic shift between periods or groups, with a test.

    Parameters
    ----------
    model : Harmonium
        A fitted model whose topics are not negative, such as `TopicModel`.
    X : dict, Views, matrix, …
        Items, with the view.
    by : array-like of shape (n_items,) or (n_items, n_labels), or str
        Date, class, label or number of each item, as for `prevalence_table`. Or the name of a column of the data frame
        X, which topics are then inferred without.
    view : str, optional
        View of words or tags whose features are compared; by default that of `topic_labels`.
    freq : {"D", "W", "M", "Q", "Y"}, optional
        Length of the periods that dates are cut into. Default: the shortest that makes at most 24.
    n_features : int, default=5
        Number of features shown for each topic and group, the clearest first.
    level : float, default=0.95
        Probability that an interval holds the shift.
    held_out : bool, default=False
        Whether the items are ones that the model was not fitted on; see `covariate_table`.

    Returns
    -------
    DataFrame
        A row for each topic, group and feature: ``topic``, ``group``, ``n`` items of the group that have the topic,
        ``feature``; ``inside``, its mean over these items (of words that are there or not, their share), and
        ``outside``, that of the topic's items in other groups; ``shift``, the difference that the topics of the items
        do not explain, with the interval from ``low`` to ``high``; the probability ``p`` of so large a shift by chance;
        and ``q``, that probability after the correction of Benjamini and Hochberg for all topics, groups and features,
        shown or not.

    See Also
    --------
    prevalence_table : How much of each topic there is by group or period.
    trend_table : Topics that come up or fade away.

    Notes
    -----
    An item has a say by how much it has of the topic. Other topics of an item bring words of their own, and so do more
    words, so that what is compared is the mean of φ(x) - E[φ(x) | E[h | x]], given other topics and length. Standard
    errors are those without a shift, and allow variances that differ between items. Features that fewer than about five
    items have inside or outside are not tested.

    Examples
    --------
    >>> from harmonium import TopicModel
    >>> rng = np.random.default_rng(0)
    >>> year, topic = rng.integers(2020, 2022, size=(1, 600))[0], rng.integers(2, size=600)
    >>> chance = np.where(topic[:, None] == np.arange(12) // 6, 0.6, 0.05)
    >>> chance[(topic == 0) & (year == 2021), 0] = 0.2  # one word of a topic goes out of use
    >>> words = (rng.random(chance.shape) < chance).astype(float)
    >>> model = TopicModel(2, random_state=0).fit(words)
    >>> table = word_shift_table(model, words, year)
    >>> table.loc[table["q"] < 0.01, ["group", "feature"]].sort_values("group").to_numpy().tolist()
    [[2020, 'view0_0'], [2021, 'view0_0']]
    """
    check_level(level, "word_shift_table")
    check_whole("word_shift_table", "n_features", n_features, remedy="5 is usual")
    X, frame = read_covariates(model, X, by if isinstance(by, str) else {}, held_out)
    fitted = model.fitted_
    if not fitted.energy.hidden.support.bounded:
        raise ValueError(
            f"Shifts of words need topics that items have or lack; got {fitted.energy.hidden}, whose units may be "
            "negative; use TopicModel."
        )
    name = naming_view(fitted) if view is None else view_name(fitted, view)
    topics = topic_means(model, X)
    groups = read_groups(X, read_periods(frame[by] if isinstance(by, str) else by, freq), len(topics))
    member = np.zeros((len(topics), len(groups.names)), dtype=bool)
    member[groups.items, groups.numbers] = True
    with compute(model.n_jobs):
        found = word_shifts(fitted, known_views(model, X), name, topics, member)
    z = found.shift / found.deviation
    half = norm.isf(0.5 - level / 2) * found.deviation
    p = 2 * norm.sf(np.abs(z))
    q, tested = np.full(p.shape, np.nan), ~np.isnan(p)
    if tested.any():
        q[tested] = false_discovery_control(p[tested])
    best = np.argsort(np.where(tested, p, np.inf), axis=2, kind="stable")[:, :, :n_features]
    shown = np.take_along_axis(tested, best, axis=2)
    topic, group, _ = np.nonzero(shown)
    feature = best[shown]
    columns = {"inside": found.inside, "outside": found.outside, "shift": found.shift}
    columns |= {"low": found.shift - half, "high": found.shift + half, "p": p, "q": q}
    table = pd.DataFrame({column: values[topic, group, feature] for column, values in columns.items()})
    table.insert(0, "feature", [fitted.feature_names[name][number] for number in feature])
    table.insert(0, "n", found.sizes[topic, group])
    table.insert(0, "group", [groups.names[number] for number in group])
    table.insert(0, "topic", topic_index(fitted)[topic])
    return table
