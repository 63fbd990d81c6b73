"""Short names of topics, made of their features: the one place that labels them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harmonium.features.text import tokenize
from harmonium.queries.topics.features import naming_view, ranked_features, ranking
from harmonium.training import FittedModel

_NO_FEATURES = "–"
# features looked at for one in a label, as words with the same stem are passed over: a convention
_SPARE = 5


def topic_labels(model: FittedModel, view: str | None = None, n: int = 3) -> list[str]:
    """Return a short label of each topic, different from all others.

    Parameters
    ----------
    model : FittedModel
        A fitted model.
    view : str, optional
        View whose features make the labels. Default: tags if there are any, then words, then the first view.
    n : int, default=3
        Number of features in a label.

    Returns
    -------
    list of str
        The labels, or the names that topics were given; see `harmonium.report.topic_labels`.
    """
    labels = distinct_labels(ranked_names(model, view, _SPARE * n, raised_only=True), n)
    return [label if topic.name is None else topic.name for label, topic in zip(labels, model.topics, strict=True)]


def ranked_names(model: FittedModel, view: str | None, n: int, raised_only: bool = False) -> list[list[str]]:
    """Return the features that rank first for each topic, only those that it raises if it raises any.

    Of a view whose columns have several statistics, it is the first of them.
    """
    view = naming_view(model) if view is None else view
    if view not in model.feature_names:
        return [[] for _ in model.topics]
    table = ranking(model, view)
    table = table.iloc[next(iter(model.families[view].codec.feature_groups.values()))]
    names = ranked_features(model, view, table, n)
    raised = (table > 0).sum() if raised_only else dict.fromkeys(table, n)
    return [names.loc[topic].iloc[: raised[topic] or n].tolist() for topic in table]


def distinct_labels(names: Sequence[Sequence[str]], n: int) -> list[str]:
    """Return labels of the first n names of each, and of up to 2n where labels would have the same names.

    Of words with the same stem only the first is taken.

    Examples
    --------
    >>> distinct_labels([["a", "b", "c"], ["b", "a", "d"], ["car", "cars", "oil"], ["car", "oil"]], 2)
    ['a, b, c', 'b, a, d', 'car, oil', 'car, oil (2)']
    >>> distinct_labels([["desk", "front desk", "staff"]], 2)
    ['front desk, staff']
    """
    once = [_once(extra)[: 2 * n] for extra in names]
    chosen = [extra[:n] for extra in once]
    for length in range(n + 1, 2 * n + 1):
        chosen = _where_same(chosen, once, length)
    chosen = _where_same(chosen, once, n)  # names that do not tell topics apart only make labels longer
    labels, seen = [], Counter[str]()
    for extra in chosen:
        label = ", ".join(extra) or _NO_FEATURES
        seen[label] += 1
        labels.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return labels


def _once(names: Sequence[str]) -> list[str]:
    """Return the first of the names that have the same stem; words of a phrase are left to the phrase."""
    first: dict[str, str] = {}
    of_phrases = {word for name in names if " " in name for word in name.split(" ")}
    for name in names:
        if name in of_phrases:
            continue
        # only words have stems: "words_1" and "words_10" are different features
        stem = tokenize(name, stem=True, min_length=1, stop_words=None)[0] if name.isalpha() else name
        first.setdefault(stem, name)
    return list(first.values())


def _where_same(chosen: list[list[str]], names: list[list[str]], length: int) -> list[list[str]]:
    """Return what was chosen, with another number of names where several have chosen the same."""
    times = Counter(map(frozenset, chosen))
    return [extra[:length] if times[frozenset(old)] > 1 else old for old, extra in zip(chosen, names, strict=True)]
