"""Guided topics: seeds that a user gives, as a prior on the weights of some units.

A seed says what a topic should be about. Items that have it start as a cluster, and the weights of its features have a
normal prior around what these items suggest, which counts as much as the items of the topic do. A feature that is kept
out of a topic has a weight of zero there, from beginning to end: two topics that must not share a word each name it.

References
----------
Basu, Banerjee & Mooney (2002), Semi-supervised clustering by seeding; Jagarlamudi, Daumé & Udupa (2012), Incorporating
lexical priors into topic models; Andrzejewski, Zhu & Craven (2009), Incorporating domain knowledge into topic modeling
via Dirichlet forest priors (which has "cannot-link" as a prior, too).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np

from harmonium.core.batch import Batch
from harmonium.core.parameters import Parameters, weights_of
from harmonium.core.validation import Setting, shown
from harmonium.hidden.selection import Pruned, Selection, Use
from harmonium.kernels.sparse.matrix import to_scipy
from harmonium.storage import serializable

#: features that an item must all have, each by its view and its number: one for a word, several for a phrase
Feature = tuple[str, int]


class SeedsGiven(Setting):
    """A setting that holds seeds of topics: None, or lists of features and of numbers of items by the topics' names."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse everything else."""
        if value is None:
            return
        if not isinstance(value, Mapping) or not all(_is_name(k) and _is_seed_list(v) for k, v in value.items()):
            raise TypeError(
                f"{owner} needs {name} to be None, or a dict from names of topics to lists of features, such as words, "
                f"or numbers of items; got {shown(value)}; pass {{'noise': ['noise', 'thin walls']}}, say."
            )
        names = [" ".join(topic.split()) for topic in value]
        if len(set(names)) < len(names):
            raise ValueError(f"{owner} needs {name} of topics with different names; got {names}; rename some.")


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and bool(name.strip())


def _is_seed_list(seeds: Any) -> bool:
    if isinstance(seeds, str) or not isinstance(seeds, Sequence) or not seeds:
        return False
    return all(isinstance(seed, str | int | np.integer) and not isinstance(seed, bool) for seed in seeds)


@serializable
@dataclass(frozen=True)
class SeedPrior:
    """Normal prior of the weights of some features of a view, each of them in one topic.

    Attributes
    ----------
    features, topics : ndarray of int of shape (weights,)
        Whose weights these are.
    means : ndarray of float32 of shape (weights,)
        Means of the prior.
    precision : ndarray of float32 of shape (weights,)
        How much an item counts in it.
    """

    features: np.ndarray
    topics: np.ndarray
    means: np.ndarray
    precision: np.ndarray


@serializable
@dataclass(frozen=True)
class Guide:
    """Seeds of the first topics of a model, and the prior that they make.

    Attributes
    ----------
    names : tuple of str
        Names of the topics.
    features : tuple of tuple of tuple of Feature
        For each topic its seeds, each of them the features that an item must all have.
    excluded : tuple of tuple of Feature
        For each topic the features that are kept out of it.
    rows : tuple of tuple of int
        For each topic the numbers of items that are seeds.
    n_rows : int
        Number of items that these numbers are of.
    prior : dict of str to SeedPrior
        Prior of weights of each view.

    Examples
    --------
    >>> prior = SeedPrior(np.array([1]), np.array([0]), np.array([2.0]), np.array([0.5]))
    >>> guide = Guide(("noise",), (((("words", 1),),),), ((("words", 0),),), ((),), 2, {"words": prior})
    >>> gradient = {"words.weights": np.ones((2, 3))}
    >>> guide.charge(gradient, {"words.weights": np.ones((2, 3))}, 10)
    2.5
    >>> gradient["words.weights"].tolist()
    [[0.0, 1.0, 1.0], [-4.0, 1.0, 1.0]]
    """

    names: tuple[str, ...]
    features: tuple[tuple[tuple[Feature, ...], ...], ...]
    excluded: tuple[tuple[Feature, ...], ...]
    rows: tuple[tuple[int, ...], ...]
    n_rows: int
    prior: dict[str, SeedPrior]

    def places(self, view: str) -> tuple[np.ndarray, np.ndarray]:
        """Return features and topics of the weights of a view that seeds are about, in order."""
        found = sorted({(f, t) for t, own in enumerate(self.features) for seed in own for v, f in seed if v == view})
        features, topics = np.array(found, dtype=np.int64).reshape(-1, 2).T
        return features.copy(), topics.copy()

    def of_topics(self, kept: np.ndarray) -> Guide:
        """Return the guide of some of the topics, without a prior."""
        names, features = tuple(compress(self.names, kept)), tuple(compress(self.features, kept))
        excluded, rows = tuple(compress(self.excluded, kept)), tuple(compress(self.rows, kept))
        return Guide(names, features, excluded, rows, self.n_rows, {})

    def of_other_rows(self) -> Guide:
        """Return the guide for other items, none of which is a seed."""
        return replace(self, n_rows=-1)

    def with_rows(self, items: np.ndarray, n_rows: int) -> np.ndarray:
        """Return numbers of items with those that are seeds, if there are as many items as these are of."""
        rows = sorted({row for own in self.rows for row in own}) if n_rows == self.n_rows else []
        return np.union1d(items, np.array(rows, dtype=np.int64))

    def members(self, batch: Batch, items: np.ndarray, n_rows: int) -> np.ndarray:
        """Return the topic whose seeds each item has, -1 where it has none, or as many of two topics.

        Parameters
        ----------
        batch : Batch
            The items.
        items : ndarray of int
            Their numbers.
        n_rows : int
            Number of items that there are; seeds that are items count if it is theirs.

        Returns
        -------
        ndarray of int of shape (items,)
            Numbers of topics.
        """
        found = np.zeros((batch.n_rows, len(self.names)))
        for topic, (seeds, rows) in enumerate(zip(self.features, self.rows, strict=True)):
            for seed in seeds:
                found[:, topic] += np.all([_has(batch, view, feature) for view, feature in seed], axis=0)
            if rows and n_rows == self.n_rows:
                found[np.isin(items, list(rows)), topic] += np.inf
        most = found.max(axis=1, initial=0.0)
        alone = (most > 0) & ((found == most[:, None]).sum(axis=1) == 1)
        return np.where(alone, found.argmax(axis=1), -1)

    def charge(self, gradient: Parameters, parameters: Parameters, n_rows: int) -> float:
        """Add the gradient of the prior's share of some rows to that of their loss, in place, and return its loss.

        Weights of features that are kept out stay as they are: their gradient becomes zero.
        """
        loss = 0.0
        for view, prior in self.prior.items():
            name, places = weights_of(view), (prior.features, prior.topics)
            away = parameters[name][places] - prior.means
            gradient[name][places] += n_rows * prior.precision * away
            loss += 0.5 * n_rows * float((prior.precision * away**2).sum())
        for view in {view for own in self.excluded for view, _ in own}:
            self.exclude(view, gradient[weights_of(view)])
        return loss

    def exclude(self, view: str, values: np.ndarray) -> None:
        """Set values, features by units, of features of a view that are kept out of a topic to zero, in place."""
        for topic, own in enumerate(self.excluded):
            values[[feature for owner, feature in own if owner == view], topic] = 0.0


def _has(batch: Batch, view: str, feature: int) -> np.ndarray:
    """Return which items have more than nothing of a feature."""
    column = to_scipy(batch.views[view].statistic)[:, [feature]]
    dense = column.toarray() if hasattr(column, "toarray") else column
    return np.asarray(dense).ravel() > 0


class GuidedSelection(Selection):
    """What a layer does about its units, with the prior of a guide.

    Parameters
    ----------
    inner : Selection
        What the layer does.
    guide : Guide
        The guide.
    """

    def __init__(self, inner: Selection, guide: Guide) -> None:
        self.inner, self.guide = inner, guide

    def begin(self, parameters: Parameters) -> None:
        """Set the prior of the layer to its initial state."""
        self.inner.begin(parameters)

    def charge(
        self, gradient: Parameters, parameters: Parameters, n_rows: int, last: bool = False, at_once: bool = False
    ) -> float:
        """Charge a batch for its units, and for how far weights are from the guide."""
        own = self.guide.charge(gradient, parameters, n_rows)
        return own + self.inner.charge(gradient, parameters, n_rows, last, at_once)

    def update(
        self, parameters: Parameters, counts: np.ndarray | float, n_rows: int, n_before: int | None = None
    ) -> None:
        """Update the prior of the layer."""
        self.inner.update(parameters, counts, n_rows, n_before)

    def read(self, parameters: Parameters, presence: Callable[[Parameters], np.ndarray]) -> dict[str, float]:
        """Return entries for the record of an epoch."""
        return self.inner.read(parameters, presence)

    def prune(self, parameters: Parameters, use: Use) -> Pruned | None:
        """Return what the layer leaves."""
        return self.inner.prune(parameters, use)


def resolved(seed: str, names: Mapping[str, Sequence[str]]) -> tuple[Feature, ...]:
    """Return the features that a seed stands for: one of that name, or one for each word of it; none if one lacks.

    Examples
    --------
    >>> resolved("thin walls", {"words": ["bed", "thin", "walls"]}), resolved("bath", {"words": ["bed"]})
    ((('words', 1), ('words', 2)), ())
    """
    for wanted in ([seed], seed.split()):
        found = [
            next(((view, list(own).index(word)) for view, own in names.items() if word in own), None) for word in wanted
        ]
        if found and None not in found:
            return tuple(one for one in found if one is not None)
    return ()


def kept_out(seed: str, names: Mapping[str, Sequence[str]]) -> tuple[Feature, ...] | None:
    """Return the feature that a seed with a minus keeps out, or none if there is no such; None for other seeds.

    Examples
    --------
    >>> names = {"words": ["bed", "-bed", "noise"]}
    >>> kept_out("-noise", names), kept_out("-bath", names), kept_out("noise", names), kept_out("-bed", names)
    ((('words', 2),), (), None, None)
    """
    if not seed.startswith("-") or resolved(seed, names):
        return None
    found = resolved(seed[1:].strip(), names)
    if len(found) > 1:
        raise ValueError(f"A topic is kept free of features; {seed!r} are {len(found)} of them; name each by itself.")
    return found
