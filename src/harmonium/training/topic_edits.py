"""Edits of topics by hand: which topics a fitted model shows, under which names, and of which units they are made.

Units and predictions stay as they are. Edits are a list of operations; the last one is undone by leaving it out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal

import numpy as np

from harmonium.storage import serializable

Verb = Literal["merge", "split", "rename", "hide", "order"]


@dataclass(frozen=True)
class UnitPart:
    """A unit, or what some features have of it.

    Attributes
    ----------
    unit : int
        Number of the unit.
    only : frozenset of str, optional
        Features that it is limited to; None for all.
    without : frozenset of str
        Features that were split off.
    """

    unit: int
    only: frozenset[str] | None = None
    without: frozenset[str] = frozenset()

    @property
    def is_whole(self) -> bool:
        """Whether it is all of the unit."""
        return self.only is None and not self.without

    def has(self, names: Sequence[str]) -> np.ndarray:
        """Return which of some features belong to it."""
        among = np.ones(len(names), dtype=bool) if self.only is None else np.isin(names, list(self.only))
        return among & ~np.isin(names, list(self.without))

    def divided(self, features: frozenset[str]) -> tuple[UnitPart, UnitPart]:
        """Return what is left without some features, and what these features have of it."""
        taken = features if self.only is None else features & self.only
        return replace(self, without=self.without | features), replace(self, only=taken - self.without)


@dataclass(frozen=True)
class ShownTopic:
    """A topic as it is shown.

    Attributes
    ----------
    number : int
        Its number, which edits of other topics do not change.
    parts : tuple of UnitPart
        What it is made of: its value is the sum of theirs.
    name : str, optional
        The name that it was given.
    """

    number: int
    parts: tuple[UnitPart, ...]
    name: str | None = None

    @property
    def key(self) -> str | int:
        """Its name, or its number if it has none."""
        return self.number if self.name is None else self.name

    @property
    def is_unit(self) -> bool:
        """Whether it is one unit, and all of it."""
        return len(self.parts) == 1 and self.parts[0].is_whole

    @property
    def units(self) -> list[int]:
        """Numbers of its units, in order."""
        return sorted({part.unit for part in self.parts})


@serializable
@dataclass(frozen=True)
class TopicEdit:
    """One operation on topics: what is done, to which of them, and the name or the features that it takes."""

    verb: Verb
    topics: tuple[int, ...]
    words: tuple[str, ...] = ()


@serializable
@dataclass(frozen=True)
class TopicEdits:
    """Operations on the topics of a fitted model, in order.

    Every method returns new edits and leaves these as they are. Topics go by their numbers, which stay the same
    whatever is done to others: a merged topic has the number of the first, and a topic that is split off a new one.

    Parameters
    ----------
    operations : tuple of TopicEdit, default=()
        What was done, the first operation first.

    See Also
    --------
    harmonium.inspection.edit_topics : A fitted model with edits.

    Examples
    --------
    >>> edits = TopicEdits().merge(0, 2).rename(0, "noise").hide(1)
    >>> [topic.key for topic in edits.shown(4)]
    ['noise', 3]
    >>> [topic.key for topic in edits.undo().shown(4)]
    ['noise', 1, 3]
    """

    operations: tuple[TopicEdit, ...] = ()

    def merge(self, *topics: int) -> TopicEdits:
        """Return edits that make one topic of several.

        Parameters
        ----------
        *topics : int
            Numbers of two topics or more. The first lends its number, its name and its place.

        Returns
        -------
        TopicEdits
            These edits and the new one.
        """
        return self._and(TopicEdit("merge", _whole(topics)))

    def split(self, topic: int, features: Sequence[str] = ()) -> TopicEdits:
        """Return edits that make several topics of one.

        Parameters
        ----------
        topic : int
            Number of the topic.
        features : sequence of str, default=()
            Features, such as words, that make a topic of their own. It stands behind the other one, and an item has as
            much of it as these features have in what speaks for the topic. Without features, a topic that was merged
            falls apart into what it was made of.

        Returns
        -------
        TopicEdits
            These edits and the new one.
        """
        words = (features,) if isinstance(features, str) else tuple(str(name) for name in features)
        return self._and(TopicEdit("split", _whole((topic,)), words))

    def rename(self, topic: int, name: str) -> TopicEdits:
        """Return edits that give a topic a name.

        Parameters
        ----------
        topic : int
            Number of the topic.
        name : str
            Its name, which no other topic has; an empty one takes it away.

        Returns
        -------
        TopicEdits
            These edits and the new one.
        """
        return self._and(TopicEdit("rename", _whole((topic,)), (str(name),)))

    def hide(self, *topics: int) -> TopicEdits:
        """Return edits that leave topics out of everything that is shown.

        Parameters
        ----------
        *topics : int
            Their numbers.

        Returns
        -------
        TopicEdits
            These edits and the new one.
        """
        return self._and(TopicEdit("hide", _whole(topics)))

    def order(self, *topics: int) -> TopicEdits:
        """Return edits that put topics in another order.

        Parameters
        ----------
        *topics : int
            Numbers of those that come first; the others follow as they stood.

        Returns
        -------
        TopicEdits
            These edits and the new one.
        """
        return self._and(TopicEdit("order", _whole(topics)))

    def undo(self) -> TopicEdits:
        """Return the edits without the last one.

        Returns
        -------
        TopicEdits
            All other edits.
        """
        return TopicEdits(self.operations[:-1])

    @property
    def can_grow(self) -> bool:
        """Whether they mean the same of a model with more units.

        Topics that were split off have numbers that new units would take.
        """
        return not any(edit.verb == "split" for edit in self.operations)

    def shown(self, n_units: int) -> tuple[ShownTopic, ...]:
        """Return the topics that are shown of a number of units.

        Parameters
        ----------
        n_units : int
            Number of units that are topics.

        Returns
        -------
        tuple of ShownTopic
            The topics, in order.

        Raises
        ------
        ValueError
            If an operation makes no sense after those before it.
        """
        topics, fresh = [ShownTopic(unit, (UnitPart(unit),)) for unit in range(n_units)], count(n_units)
        for edit in self.operations:
            topics = _VERBS[edit.verb](topics, edit, fresh)
        return tuple(topics)

    def _and(self, edit: TopicEdit) -> TopicEdits:
        return TopicEdits((*self.operations, edit))


def _whole(topics: Sequence[int]) -> tuple[int, ...]:
    """Return numbers of topics; refuse what is none, and numbers that come twice."""
    numbers = tuple(int(topic) for topic in topics if isinstance(topic, int | np.integer))
    if not numbers or len(numbers) < len(topics) or len(set(numbers)) < len(numbers):
        raise ValueError(f"Topics go by different whole numbers; got {list(topics)}; topics() has them as its index.")
    return numbers


def _places(topics: list[ShownTopic], numbers: tuple[int, ...]) -> list[int]:
    """Return the places of topics among those that are shown; refuse the numbers of others."""
    places = {topic.number: place for place, topic in enumerate(topics)}
    for number in numbers:
        if number not in places:
            raise ValueError(
                f"An edit needs topics that are shown, {', '.join(map(str, places))}; got {number}; correct the number."
            )
    return [places[number] for number in numbers]


def _merged(topics: list[ShownTopic], edit: TopicEdit, _: Iterator[int]) -> list[ShownTopic]:
    if len(edit.topics) < 2:
        raise ValueError(f"merge needs two topics or more; got {list(edit.topics)}; name the others, too.")
    first, *others = _places(topics, edit.topics)
    parts = tuple(part for place in (first, *others) for part in topics[place].parts)
    made = replace(topics[first], parts=parts)
    return [made if place == first else topic for place, topic in enumerate(topics) if place not in others]


def _split(topics: list[ShownTopic], edit: TopicEdit, fresh: Iterator[int]) -> list[ShownTopic]:
    (place,) = _places(topics, edit.topics)
    topic = topics[place]
    if edit.words:
        pairs = [part.divided(frozenset(edit.words)) for part in topic.parts]
        left = replace(topic, parts=tuple(rest for rest, _ in pairs))
        made = [left, ShownTopic(next(fresh), tuple(taken for _, taken in pairs))]
    elif len(topic.units) > 1:
        by_unit = {unit: tuple(part for part in topic.parts if part.unit == unit) for unit in topic.units}
        taken = {other.number for other in topics} - {topic.number}
        own = topic.number if topic.number in by_unit else next(iter(by_unit))
        made = [replace(topic, parts=by_unit.pop(own))]
        made += [ShownTopic(next(fresh) if unit in taken else unit, parts) for unit, parts in by_unit.items()]
    else:
        raise ValueError(
            f"split needs a topic that was merged, or features that make a topic of their own; topic {topic.number} "
            "is one unit; pass features, such as some of its words."
        )
    return [*topics[:place], *made, *topics[place + 1 :]]


def _renamed(topics: list[ShownTopic], edit: TopicEdit, _: Iterator[int]) -> list[ShownTopic]:
    (place,) = _places(topics, edit.topics)
    name = " ".join(edit.words[0].split())
    if name and any(topic.name == name for topic in topics[:place] + topics[place + 1 :]):
        raise ValueError(f"Topics need different names; {name!r} is taken; choose another, or merge them.")
    return [*topics[:place], replace(topics[place], name=name or None), *topics[place + 1 :]]


def _hidden(topics: list[ShownTopic], edit: TopicEdit, _: Iterator[int]) -> list[ShownTopic]:
    places = _places(topics, edit.topics)
    if len(places) == len(topics):
        raise ValueError("One topic at least has to be shown; got all of them to hide; leave one out.")
    return [topic for place, topic in enumerate(topics) if place not in places]


def _ordered(topics: list[ShownTopic], edit: TopicEdit, _: Iterator[int]) -> list[ShownTopic]:
    places = _places(topics, edit.topics)
    return [topics[place] for place in [*places, *(p for p in range(len(topics)) if p not in places)]]


_VERBS = {"merge": _merged, "split": _split, "rename": _renamed, "hide": _hidden, "order": _ordered}
