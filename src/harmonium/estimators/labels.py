"""The only reader of y: labels and numbers to predict, some of them possibly unknown."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from harmonium.batch import Targets
from harmonium.exceptions import HarmoniumWarning

Kind = Literal["class", "number", "label"]


@dataclass
class Labels:
    """What the user wants predicted, in numbers.

    Attributes
    ----------
    kind : {"class", "number", "label"}
        Classes, numbers, or several labels that are there or not.
    targets : Targets
        Class numbers (-1 = unknown), numbers or 0/1 (NaN = unknown), always with columns; weights of the rows.
    classes : list of ndarray
        Classes of each column; of each label [0, 1].
    one_column : bool
        Whether y had one dimension, so that predictions should.
    """

    kind: Kind
    targets: Targets
    classes: list[np.ndarray]
    one_column: bool


def read_classes(y: Any, sample_weight: Any, known: list[np.ndarray] | None = None) -> Labels:
    """Classes (one or several columns) or an indicator matrix of labels; ``known``: classes a model already has."""
    values = _as_array(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = column_or_1d(values, warn=True)
    weight = _weights(sample_weight, len(values))
    if values.ndim == 2 and _is_indicator(values):
        labels = np.where(pd.isna(values), np.nan, values).astype(np.float64)
        _check_some_known(not np.isnan(labels).all())
        both = [np.array([0, 1])] * labels.shape[1]
        return Labels("label", Targets(labels, weight), both, one_column=False)
    if values.ndim > 2:
        raise ValueError(f"y must have one or two dimensions; got shape {values.shape}; pass one row per item.")
    table = values[:, None] if values.ndim == 1 else values
    codes, classes = [], []
    for column in range(table.shape[1]):
        number, found = _codes(table[:, column], None if known is None else known[column])
        codes.append(number)
        classes.append(found)
    return Labels("class", Targets(np.stack(codes, axis=1), weight), classes, one_column=values.ndim == 1)


def read_numbers(y: Any, sample_weight: Any) -> Labels:
    """Numbers, one or several columns; NaN is unknown."""
    values = _as_array(y)
    if values.dtype.kind not in "biuf":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"y must hold numbers to predict; got dtype {values.dtype}; use HarmoniumClassifier for classes."
            ) from None
    values = values.astype(np.float64)
    if values.ndim == 2 and values.shape[1] == 1:
        values = column_or_1d(values, warn=True)
    _check_not_infinite(values)
    _check_some_known(not np.isnan(values).all())
    table = values[:, None] if values.ndim == 1 else values
    if table.ndim != 2:
        raise ValueError(f"y must have one or two dimensions; got shape {values.shape}; pass one row per item.")
    empty = np.isnan(table).all(axis=0)
    if empty.any():
        raise ValueError(
            f"Every column of y must be known for some rows; column {int(np.argmax(empty))} is all NaN; leave it out."
        )
    return Labels("number", Targets(table, _weights(sample_weight, len(table))), [], one_column=values.ndim == 1)


def check_length(labels: Labels, n_rows: int) -> None:
    """Refuse a y of another length than X."""
    if len(labels.targets.weight) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, y "
            f"{len(labels.targets.weight)}; pass one label per row, and -1 or NaN where it is unknown."
        )


def _as_array(y: Any) -> np.ndarray:
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None; pass one label per row.")
    if scipy.sparse.issparse(y):
        return y.toarray()
    values = np.asarray(y)
    if values.ndim == 0:
        raise ValueError(f"y must have one label per row; got a single value, {y!r}; pass an array.")
    return values


def _weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    weight = _check_sample_weight(sample_weight, np.empty((n_rows, 1)), dtype=np.float64)
    if (weight < 0).any():
        raise ValueError("sample_weight must hold numbers >= 0; got negative ones; 0 leaves a label out.")
    return weight


def _check_not_infinite(values: np.ndarray) -> None:
    if np.isinf(values).any():
        raise ValueError(
            "Input y contains infinity or a value too large for dtype('float64'); targets must be finite, and NaN "
            "where they are unknown."
        )


def _check_some_known(some: bool) -> None:
    if not some:
        raise ValueError("y must be known for some rows; all are missing; use Harmonium to learn without labels.")


def _is_indicator(values: np.ndarray) -> bool:
    """Whether a matrix says which labels are there: 0, 1 and what is missing, nothing else."""
    missing = pd.isna(values)
    known = values[~missing]
    return bool(len(known)) and bool(np.isin(known.astype(object), (0, 1)).all())


def _codes(column: np.ndarray, known: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Class numbers, -1 where unknown, and the classes."""
    if column.dtype.kind == "f":
        _check_not_infinite(column)
    unknown = pd.isna(column)
    column = column.copy()
    if _marks_unknown_by_minus_one(column[~unknown], known):
        unknown = unknown | (column == -1)
    seen = column[~unknown]
    _check_some_known(len(seen) > 0)
    if column.dtype.kind == "O":
        seen = np.array(seen.tolist())
    elif column.dtype.kind == "f" and known is None and (seen == np.round(seen)).all() and unknown.any():
        seen = seen.astype(np.int64)  # whole numbers that are floats only because NaN is one
    check_classification_targets(seen)
    classes = np.unique(seen) if known is None else known
    codes = np.full(len(column), -1)
    position = np.minimum(np.searchsorted(classes, seen), len(classes) - 1)
    strange = classes[position] != seen
    if np.any(strange):
        raise ValueError(
            f"y may only hold the classes that training began with, {', '.join(map(str, classes[:10]))}; got "
            f"{seen[strange][0]!r}; name all classes in the first call of partial_fit, or fit anew."
        )
    codes[~unknown] = position
    return codes, classes


def _marks_unknown_by_minus_one(seen: np.ndarray, known: np.ndarray | None) -> bool:
    """Whether -1 stands for an unknown label: in whole numbers, unless -1 and 1 are the two classes."""
    if seen.dtype.kind not in "if" or not (seen == -1).any() or type_of_target(seen) == "continuous":
        return False
    if known is not None:
        return -1 not in known
    others = np.unique(seen[seen != -1])
    if len(others) == 2 and set(others) == {0, 1}:
        warnings.warn(
            "Labels of -1 are taken as unknown, and 0 and 1 as the classes; if -1 is a class, recode it, for example "
            "as text.",
            HarmoniumWarning,
            stacklevel=6,
        )
    return len(others) > 1
