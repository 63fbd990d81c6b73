"""Input of the estimators, read and checked before anything is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from harmonium.core.raw_target import of_one_kind, read_raw_target
from harmonium.core.validation import Setting, check_real, few_of, shown
from harmonium.weak.bags import Bags
from harmonium.weak.enumerated import Definition, EnumeratedProblem
from harmonium.weak.losses import Candidates, Loss
from harmonium.weak.problem import BagProblem, CandidateProblem


def read_samples(X: Any, definition: Definition | None) -> tuple[Any, Candidates]:
    """Return the samples, and where their candidates lie."""
    if definition is not None:
        if not isinstance(definition, Definition):
            raise TypeError(
                f"problem must be an instance of a subclass of Definition, or None for bags; got {definition!r}; "
                "define joint_features in a subclass."
            )
        sizes = np.array([definition.n_candidates(sample) for sample in X], dtype=np.int64)
        if len(sizes) == 0 or sizes.min() < 1:
            raise ValueError("Every sample must have at least one candidate; found one with none; leave it out.")
        return X, Candidates(np.concatenate([[0], np.cumsum(sizes)]))
    bags = X if isinstance(X, Bags) else _as_bags(X)
    return bags, Candidates(bags.offsets, bags.boxes)


def _as_bags(X: Any) -> Bags:
    """Return bags; each row of a matrix or frame is a sample with one candidate, whose label alone is to be learned."""
    if isinstance(X, list | tuple):
        return Bags.of_single_candidates(X) if _is_list_of_rows(X) else Bags.from_list(X)
    dimensions = X.ndim if hasattr(X, "ndim") else np.asarray(X).ndim
    if dimensions == 3:
        return Bags.from_list(list(np.asarray(X)))
    if dimensions == 2:
        return Bags.of_single_candidates(X)
    raise ValueError(
        f"Samples must be Bags, a list of matrices, an array of shape (samples, candidates, columns), or a matrix with "
        f"a row for each sample; got {type(X).__name__} of {dimensions} dimensions; Reshape your data, or use "
        "Bags.from_list."
    )


def _is_list_of_rows(X: Sequence[Any]) -> bool:
    """Tell whether a list holds rows of numbers, not matrices of candidates."""
    rows = [isinstance(row, list | tuple) and len(row) and all(np.ndim(v) == 0 for v in row[:1]) for row in X]
    return len(rows) > 0 and all(rows)


def names_of(samples: Any) -> tuple[str, ...] | None:
    """Return the names of the columns, if samples are bags that have them."""
    return samples.feature_names if isinstance(samples, Bags) else None


def width_of(samples: Any) -> int | None:
    """Return the number of columns, if samples are bags."""
    return samples.shape[1] if isinstance(samples, Bags) else None


def check_columns(estimator: Any, samples: Any) -> None:
    """Refuse other columns than those of training; only names that both have can disagree."""
    width, expected_width = width_of(samples), getattr(estimator, "n_features_in_", None)
    if None not in (width, expected_width) and width != expected_width:
        raise ValueError(
            f"X has {width} features, but {type(estimator).__name__} is expecting {expected_width} features as input; "
            "compute the features of candidates in the same way."
        )
    for name, expected in zip(names_of(samples) or (), getattr(estimator, "feature_names_in_", ()), strict=False):
        if name != expected:
            raise ValueError(
                f"Candidates must have the columns of training, in the same order; got {name!r} in place of "
                f"{str(expected)!r}; reorder or rename the columns."
            )


class ClassWeight(Setting):
    """Weights of classes: None, "balanced", or a dict of class to weight."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse everything else, and weights that are not above 0."""
        if value is None or (isinstance(value, str) and value == "balanced"):
            return
        if not isinstance(value, dict):
            raise TypeError(
                f"{owner} needs {name} None, 'balanced' or a dict of class to weight; got {shown(value)}; "
                "'balanced' is usual."
            )
        for label, weight in value.items():
            check_real(owner, f"{name}[{label!r}]", weight, remedy="1 is usual")


def sample_weights(class_weight: Any, classes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the weight of each sample by its class, 1 on average."""
    if class_weight is None:
        return np.ones(len(labels))
    if isinstance(class_weight, str):
        by_class = 1 / np.bincount(labels, minlength=len(classes))
    else:
        known = classes.tolist()
        unknown = [label for label in class_weight if label not in known]
        if unknown:
            raise ValueError(
                f"class_weight may only name classes of y, {few_of(known)}; got {shown(unknown[0])}; "
                "correct it or leave it out."
            )
        by_class = np.array([class_weight.get(label, 1.0) for label in known], dtype=np.float64)
    weights = by_class[labels]
    return np.asarray(weights / weights.mean())


def read_labels(y: Any, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes in sorted order, and the labels as positions among them."""
    labels = _labels(y, n_samples)
    classes, numbers = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        found = f"one class, {classes[0]}" if len(classes) else "none"
        raise ValueError(f"y must hold at least two classes; got {found}; add samples of another class.")
    return classes, numbers.astype(np.int32)


def _labels(y: Any, n_samples: int) -> np.ndarray:
    """Return one label for each sample, all known and of one kind."""
    values = read_raw_target(y).values
    if values.shape != (n_samples,):
        raise ValueError(
            f"y must have one label for each of {n_samples} samples; got shape {values.shape}; pass a flat array."
        )
    unknown = pd.isna(values)
    if unknown.any():
        raise ValueError(
            f"Labels must be known for all samples; found None or NaN in y, at sample {int(np.argmax(unknown))}; leave "
            "those samples out."
        )
    return of_one_kind(values, "turn numbers that are not whole into texts")


def numbers_of(y: Any, classes: np.ndarray, n_samples: int) -> np.ndarray:
    """Return labels as positions among the classes that were learned."""
    labels = _labels(y, n_samples)
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        raise ValueError(f"Labels must be classes that were learned; got {labels[unknown][0]}; leave those out.")
    return np.searchsorted(classes, labels).astype(np.int32)


def read_candidates(name: str, given: Any, offsets: np.ndarray, may_be_unknown: bool) -> np.ndarray:
    """Return candidates as numbers within their samples, -1 for unknown ones."""
    n_samples = len(offsets) - 1
    if given is None and may_be_unknown:
        return np.full(n_samples, -1)
    try:
        result = np.asarray(given)
    except ValueError:  # rows of different lengths, refused for their shape
        result = np.asarray(given, dtype=object)
    if result.shape != (n_samples,) or not np.issubdtype(result.dtype, np.integer):
        raise ValueError(
            f"{name} must be the number of a candidate for each of {n_samples} samples; got shape {result.shape} of "
            f"{result.dtype}; pass whole numbers{', -1 where unknown' if may_be_unknown else ''}."
        )
    wrong = np.flatnonzero((result < (-1 if may_be_unknown else 0)) | (result >= np.diff(offsets)))
    if len(wrong):
        raise ValueError(
            f"{name} must number the candidates of each sample from 0; sample {wrong[0]} has "
            f"{np.diff(offsets)[wrong[0]]} and got {result[wrong[0]]}; correct it."
        )
    return result.astype(np.int64)


def build_problem(
    samples: Any,
    candidates: Candidates,
    definition: Definition | None,
    loss: Loss,
    labels: np.ndarray,
    classes: np.ndarray,
    known: np.ndarray | None = None,
) -> CandidateProblem:
    """Return the problem that the solvers see."""
    bound = loss.bind(candidates, labels, classes)
    if definition is None:
        return BagProblem(samples, bound, known)
    return EnumeratedProblem(definition, samples, classes, bound, known)
