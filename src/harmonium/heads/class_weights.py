"""Weights of classes in the loss of a head."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from harmonium.core.targets import Labels, Targets
from harmonium.core.validation import Setting, check_real, few_of, shown

# Power of a class's number of rows to which its weight is in inverse proportion.
_EXPONENTS = {"soft": 0.5, "balanced": 1.0}
# Classes are uneven if the largest has this many times as many rows as the smallest: a convention.
_UNEVEN = 5.0


def are_uneven(targets: Targets) -> bool:
    """Return whether the largest class has five times as many rows as the smallest."""
    sizes = [np.bincount(codes[codes >= 0]) for codes in targets.values[targets.counting].T]
    return any(counts.max() >= _UNEVEN * counts[counts > 0].min() for counts in sizes if counts.any())


def with_class_weights(labels: Labels, class_weight: Any) -> Targets:
    """Return targets with an emphasis by the weights of their classes, those of all columns multiplied."""
    targets, classes = labels.targets, labels.meaning.classes
    if class_weight is None or class_weight == "auto":
        return targets
    if not isinstance(class_weight, dict):
        return _emphasised(targets, _EXPONENTS[class_weight])
    unknown = [label for label in class_weight if not any(label in c.tolist() for c in classes)]
    if unknown:
        raise ValueError(
            f"class_weight may only name classes of y, {few_of(classes[0])}; got "
            f"{shown(unknown[0])}; correct it or leave it out."
        )
    weights = [np.array([class_weight.get(label, 1.0) for label in known.tolist()]) for known in classes]
    return _with_weights(targets, weights)


class ClassWeights(Setting):
    """A setting that holds weights of classes: None, "auto", "soft", "balanced", or a dict."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse everything else, and weights below 0."""
        if value is None or (isinstance(value, str) and value in ("auto", *_EXPONENTS)):
            return
        if not isinstance(value, dict):
            raise TypeError(
                f"{owner} needs {name} None, 'auto', 'soft', 'balanced' or a dict of class to weight; got "
                f"{shown(value)}; 'auto' is usual."
            )
        for label, weight in value.items():
            check_real(owner, f"{name}[{label!r}]", weight, inclusive=True, remedy="1 is usual")


def _emphasised(targets: Targets, exponent: float) -> Targets:
    """Return targets whose classes weigh as an inverse power of their rows, 1 on average over rows."""
    weights = []
    for codes in targets.values.T:
        rows = np.bincount(codes[codes >= 0])
        by_class = np.maximum(rows, 1.0) ** -exponent
        weights.append(by_class / (by_class @ rows / max(rows.sum(), 1) or 1.0))
    return _with_weights(targets, weights)


def _with_weights(targets: Targets, weights: list[np.ndarray]) -> Targets:
    """Return targets with the weights of their classes as emphasis."""
    emphasis = np.ones(len(targets.weight))
    for codes, by_class in zip(targets.values.T, weights, strict=True):
        seen = codes >= 0
        emphasis[seen] *= by_class[codes[seen]]
    return replace(targets, emphasis=emphasis)
