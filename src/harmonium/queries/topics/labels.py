"""Short names of topics, made of their features: the one place that labels them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harmonium.features.text import tokenize
from harmonium.queries.topics.features import holds_texts, naming_view, ranked_features, ranking
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
    view = naming_view(model) if view is None else view
    labels = distinct_labels(ranked_names(model, view, _SPARE * n, raised_only=True), n, holds_texts(model, view))
    return [label if topic.name is None else topic.name for label, topic in zip(labels, model.topics, strict=True)]


def ranked_names(model: FittedModel, view: str | None, n: int, raised_only: bool = False) -> list[list[str]]:
    """Return the features that rank first for each topic, only those that it raises if it raises any.

    Of a view whose columns have several statistics, it is the first of them.
    """
    view = naming_view(model) if view is None else view
    if view not in model.feature_names:
        return [[] for _ in model.topics]
    table = ranking(model, view)
    group, features = next(iter(model.families[view].codec.feature_groups.items()))
    names = ranked_features(model, view, table, n)
    names = names[group] if group else names
    raised = (table.iloc[features] > 0).sum() if raised_only else dict.fromkeys(table, n)
    return [names.loc[topic].iloc[: raised[topic] or n].tolist() for topic in table]


def distinct_labels(names: Sequence[Sequence[str]], n: int, of_texts: bool = False) -> list[str]:
    """Return labels of the first n names of each, and of up to 2n where labels would have the same names.

    Of words with the same stem only the first is taken, and of phrases of texts those that say something new.

    Examples
    --------
    >>> distinct_labels([["a", "b", "c"], ["b", "a", "d"], ["car", "cars", "oil"], ["car", "oil"]], 2)
    ['a, b, c', 'b, a, d', 'car, oil', 'car, oil (2)']
    >>> distinct_labels([["desk", "front desk", "staff"]], 2)
    ['front desk, staff']
    >>> distinct_labels([["past midnight", "music past midnight", "made music past", "loud"]], 2, of_texts=True)
    ['music past midnight, loud']
    """
    once = [_once(extra, of_texts)[: 2 * n] for extra in names]
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


def _once(names: Sequence[str], of_texts: bool) -> list[str]:
    """Return the first of the names that have the same stem; words of a phrase are left to the phrase.

    Of texts, so are phrases within a phrase, and phrases most of whose words were said are passed over.
    """
    first: dict[str, str] = {}
    of_phrases = {part for name in names for part in _within(name.split(" ")) if of_texts or " " not in part}
    said: set[str] = set()
    for name in names:
        words = name.split(" ")
        nothing_new = of_texts and len(words) > 1 and 2 * len(said.intersection(words)) > len(words)
        if name in of_phrases or nothing_new:
            continue
        said.update(words)
        # only words have stems: "words_1" and "words_10" are different features
        stem = tokenize(name, stem=True, min_length=1, stop_words=None)[0] if name.isalpha() else name
        first.setdefault(stem, name)
    return list(first.values())


def _within(words: Sequence[str]) -> list[str]:
    """Return the shorter runs of words in a phrase."""
    ends = [(i, j) for i in range(len(words)) for j in range(i + 1, len(words) + 1) if j - i < len(words)]
    return [" ".join(words[i:j]) for i, j in ends]


def _where_same(chosen: list[list[str]], names: list[list[str]], length: int) -> list[list[str]]:
    """Return what was chosen, with another number of names where several have chosen the same."""
    times = Counter(map(frozenset, chosen))
    return [extra[:length] if times[frozenset(old)] > 1 else old for old, extra in zip(chosen, names, strict=True)]
