"""Similar topics: pairs that say the same, and groups of those that items have together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import cut_tree, leaves_list, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import silhouette_score

from harmonium.core.validation import check_real, check_whole
from harmonium.estimators import Harmonium
from harmonium.queries.topics.features import topic_index
from harmonium.queries.topics.labels import distinct_labels, ranked_names
from harmonium.report.tables.latent import UnitUse, unit_use
from harmonium.report.tables.topics import topic_labels

# features of a topic that are compared and that name groups, and words of such a name: conventions
_N_FEATURES, _N_WORDS = 10, 3
#: group of the topics that are the same for all items
IDLE = "(idle)"


def near_duplicates(model: Harmonium, X: Any, threshold: float = 0.9, view: str | None = None) -> pd.DataFrame:
    """Return pairs of topics that say the same: where one is strong, so is the other.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : dict, Views, matrix, …
        Items, at least two; best those that the model was fitted on.
    threshold : float, default=0.9
        Least absolute correlation of E[h] of two topics over the items. A pair with a negative one says the same with
        opposite signs.
    view : str, optional
        View whose features make the labels; by default that of `topic_labels`.

    Returns
    -------
    DataFrame
        One row for each pair, the most alike first: ``topic`` and ``other``, their ``correlation``, the share
        ``common`` of their ten first features that they have in common, and both labels. Topics that are the same for
        all items, which say nothing, are left out.

    See Also
    --------
    harmonium.inspection.merge_duplicates : A model in which such topics have become one.
    topic_tree : Groups of topics that are less alike.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> words = np.tile(np.eye(3), (4, 1))
    >>> model = Harmonium(n_components=2, driver=Stochastic(max_iter=2)).fit({"words": words})
    >>> near_duplicates(model, {"words": words}).columns.tolist()
    ['topic', 'other', 'correlation', 'common', 'label', 'other label']
    """
    check_real("near_duplicates", "threshold", threshold, remedy="0.9 is usual")
    use = unit_use(model, X)
    labels = topic_labels(model, view).to_numpy()
    active, correlation = _correlations(model, use)
    first, second = np.nonzero(np.triu(np.abs(correlation) >= threshold, k=1))
    of_pairs = correlation[first, second]
    order = np.argsort(-np.abs(of_pairs), kind="stable")
    one, other = active[first[order]], active[second[order]]
    features = [set(names) for names in ranked_names(model.fitted_, view, _N_FEATURES)]
    pairs = [(features[a], features[b]) for a, b in zip(one, other, strict=True)]
    common = [len(a & b) / max(len(a), len(b), 1) for a, b in pairs]
    return pd.DataFrame(
        {
            "topic": topic_index(model.fitted_)[one],
            "other": topic_index(model.fitted_)[other],
            "correlation": of_pairs[order],
            "common": np.array(common, dtype=np.float64),
            "label": labels[one],
            "other label": labels[other],
        }
    )


def topic_tree(model: Harmonium, X: Any, n_groups: int | None = None, view: str | None = None) -> pd.DataFrame:
    """Return the topics in groups of those that items have together.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : dict, Views, matrix, …
        Items, at least two; best those that the model was fitted on.
    n_groups : int, optional
        Number of groups. By default it is the number from 2 to 2√K with the largest mean silhouette, for K topics.
    view : str, optional
        View whose features make the labels; by default that of `topic_labels`.

    Returns
    -------
    DataFrame
        One row for each topic, by the label of its group and its number, with its ``label`` of `topic_labels` and its
        ``usage`` of `usage_table`. Groups and topics that are alike stand next to each other. A group is named after
        the features that rank highest in its topics. Topics that are the same for all items are in a last group of
        their own, ``"(idle)"``.

    Notes
    -----
    Topics are clustered by 1 minus the correlation of their E[h] over the items, with complete linkage: two
    groups are as alike as those two of their topics that are least so.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> words = np.tile(np.eye(6), (4, 1))
    >>> model = Harmonium(n_components=4, driver=Stochastic(max_iter=2), random_state=0).fit({"words": words})
    >>> tree = topic_tree(model, {"words": words}, n_groups=2)
    >>> tree.index.names, tree.columns.tolist(), tree.index.get_level_values("group").nunique()
    (FrozenList(['group', 'topic']), ['label', 'usage'], 2)
    """
    if n_groups is not None:
        check_whole("topic_tree", "n_groups", n_groups, remedy="None finds a number")
    use = unit_use(model, X)
    labels = topic_labels(model, view)
    active, correlation = _correlations(model, use)
    if n_groups is not None and n_groups > len(active):
        raise ValueError(
            f"n_groups must be at most {len(active)}, the number of topics that differ between items; got {n_groups}; "
            "ask for fewer."
        )
    order, groups = _clustered(1 - correlation, n_groups)
    names = ranked_names(model.fitted_, view, _N_FEATURES)
    members = [active[groups == group] for group in range(groups.max(initial=-1) + 1)]
    group_names = distinct_labels([_common_names([names[topic] for topic in topics]) for topics in members], _N_WORDS)
    idle = np.setdiff1d(np.arange(len(labels)), active)
    owners = [*(group_names[group] for group in groups[order]), *([IDLE] * len(idle))]
    table = pd.DataFrame({"label": labels, "usage": use.presence.mean(axis=0)})
    table = table.iloc[np.concatenate([active[order], idle])]
    return table.set_index(pd.Index(owners, name="group"), append=True).swaplevel()


def _correlations(model: Harmonium, use: UnitUse) -> tuple[np.ndarray, np.ndarray]:
    """Return the topics that differ between the items, and the correlations of their means."""
    if len(use.mean) < 2:
        raise ValueError(
            f"X must have at least two items to see which topics go together; got {len(use.mean)}; pass those that "
            "the model was fitted on."
        )
    active = np.flatnonzero(~model.fitted_.energy.hidden.groups.idle(use.mean.std(axis=0)))
    return active, np.atleast_2d(np.corrcoef(use.mean[:, active], rowvar=False)) if len(active) else np.zeros((0, 0))


def _clustered(distance: np.ndarray, n_groups: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return topics in an order in which those that are alike are next to each other, and the group of each."""
    n_topics = len(distance)
    if n_topics < 2:
        return np.arange(n_topics), np.zeros(n_topics, dtype=np.int64)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), "complete", optimal_ordering=True)
    # silhouettes are defined for two groups or more, and for fewer than there are topics
    numbers = range(2, min(int(2 * np.sqrt(n_topics)), n_topics - 1) + 1)
    cuts = {number: cut_tree(tree, number)[:, 0] for number in (numbers if n_groups is None else [n_groups])}
    if n_groups is None:
        quality = {number: silhouette_score(distance, groups, metric="precomputed") for number, groups in cuts.items()}
        n_groups = max(quality, key=quality.__getitem__, default=1)
    return leaves_list(tree), cuts.get(n_groups, np.zeros(n_topics, dtype=np.int64))


def _common_names(topics: Sequence[Sequence[str]]) -> list[str]:
    """Return the features of some topics, those that rank highest in most of them first."""
    scores = Counter[str]()
    for names in topics:
        scores.update({name: 1 / rank for rank, name in enumerate(names, start=1)})
    return [name for name, _ in scores.most_common()]
