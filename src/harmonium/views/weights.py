"""Weights of views: how much each counts while a model is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harmonium.core.validation import Number, Setting, few_of, shown

_WEIGHT = Number(remedy="1 is usual")


class ViewWeights(Setting):
    """A setting that holds weights of views: "auto", None, a dict by name or a list in the order of the views."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse everything else, and weights that are not above 0."""
        if value is None or (isinstance(value, str) and value == "auto"):
            return
        items: list[tuple[str, Any]] = []
        if isinstance(value, Mapping):
            items = [(f"{name}[{key!r}]", weight) for key, weight in value.items()]
        elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
            items = [(f"{name}[{number}]", weight) for number, weight in enumerate(value)]
        if not items:
            raise TypeError(
                f"{owner} needs {name} 'auto', None, a dict of view to weight or a list; got {shown(value)}; 'auto' is "
                "usual."
            )
        for place, weight in items:
            _WEIGHT.check(owner, place, weight)


def weights_given(given: Any, names: list[str]) -> dict[str, float]:
    """Return the weights that a setting gives to views of these names; those that it does not name weigh 1.

    Examples
    --------
    >>> weights_given({"text": 4}, ["text", "image"]), weights_given("auto", ["text"])
    ({'text': 4.0, 'image': 1.0}, {'text': 1.0})
    """
    if given is None or isinstance(given, str):
        return dict.fromkeys(names, 1.0)
    if not isinstance(given, Mapping):
        if len(given) != len(names):
            raise ValueError(
                f"view_weights must have an entry for each of the {len(names)} views; got {len(given)}; pass a dict to "
                "name some of them."
            )
        given = dict(zip(names, given, strict=True))
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ValueError(
            f"view_weights may only name views of X, {few_of(names)}; got {shown(unknown[0])}; correct it or "
            "leave it out."
        )
    return {name: float(given.get(name, 1.0)) for name in names}
