"""Short names of topics, made of their features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from harmonium.estimators import Harmonium
from harmonium.features.text import tokenize
from harmonium.report.latent import check_model
from harmonium.validation import check_whole

_NO_FEATURES = "–"
# features looked at for one in a label, as words with the same stem are passed over: a convention
_SPARE = 5


def topic_labels(model: Harmonium, view: str | None = None, n: int = 3) -> pd.Series:
    """Return a short label of each topic, different from all others.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    view : str, optional
        View whose features make the labels; needed if there are several.
    n : int, default=3
        Number of features in a label. Topics with the same ones get up to as many more, by which they differ; those
        that differ by none of these get numbers. Of words with the same stem, such as "printer" and "printers", the
        first is taken.

    Returns
    -------
    Series
        Labels by topic: the features that ``topics()`` of the model ranks first.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> words = np.tile(np.eye(3), (4, 1))
    >>> model = Harmonium(n_components=2, driver=Stochastic(max_iter=2), random_state=0).fit({"words": words})
    >>> labels = topic_labels(model, n=2)
    >>> labels.nunique(), labels.name
    (2, 'label')
    """
    check_model(model)
    check_whole("topic_labels", "n", n, remedy="3 is usual")
    labels = distinct_labels(ranked_names(model, view, _SPARE * n), n)
    return pd.Series(labels, index=pd.RangeIndex(len(labels), name="topic"), name="label")


def ranked_names(model: Harmonium, view: str | None, n: int) -> list[list[str]]:
    """Return the features that the model ranks first, for each topic.

    Of a view whose columns have several statistics, it is the first of them.
    """
    topics = model.topics(view, n)
    if topics.columns.nlevels > 1:
        topics = topics[topics.columns[0][0]]
    return [[name for name in names if not pd.isna(name)] for names in topics.to_numpy().tolist()]


def distinct_labels(names: Sequence[Sequence[str]], n: int) -> list[str]:
    """Return labels of the first n names of each, and of up to 2n where labels would have the same names.

    Of words with the same stem only the first is taken.

    Examples
    --------
    >>> distinct_labels([["a", "b", "c"], ["b", "a", "d"], ["car", "cars", "oil"], ["car", "oil"]], 2)
    ['a, b, c', 'b, a, d', 'car, oil', 'car, oil (2)']
    """
    once = [_once(own)[: 2 * n] for own in names]
    chosen = [own[:n] for own in once]
    for length in range(n + 1, 2 * n + 1):
        chosen = _where_same(chosen, once, length)
    chosen = _where_same(chosen, once, n)  # names that do not tell topics apart only make labels longer
    labels, seen = [], Counter[str]()
    for own in chosen:
        label = ", ".join(own) or _NO_FEATURES
        seen[label] += 1
        labels.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return labels


def _once(names: Sequence[str]) -> list[str]:
    """Return the first of the names that have the same stem."""
    first: dict[str, str] = {}
    for name in names:
        # only words have stems: "words_1" and "words_10" are different features
        stem = tokenize(name, stem=True, min_length=1, stop_words=None)[0] if name.isalpha() else name
        first.setdefault(stem, name)
    return list(first.values())


def _where_same(chosen: list[list[str]], names: list[list[str]], length: int) -> list[list[str]]:
    """Return what was chosen, with another number of names where several have chosen the same."""
    times = Counter(map(frozenset, chosen))
    return [own[:length] if times[frozenset(old)] > 1 else old for old, own in zip(chosen, names, strict=True)]
