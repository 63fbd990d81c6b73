"""Labels and numbers to predict, some of them possibly unknown, from y."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from narwhals import to_native

from harmonium.core.notices import notice
from harmonium.core.raw_target import check_finite, of_one_kind, plain, read_raw_target
from harmonium.core.targets import Labels, Targets, TargetSpec
from harmonium.core.validation import few_of, shown
from harmonium.estimators.input.tags import read_tags
from harmonium.views.index import counts_rows, is_shuffled_count, row_names, rows_in_order

# Cells of a matrix of labels that are looked at together: for memory only.
_CELLS_AT_ONCE = 2**20
# Scores of a fit from which on its user is told how long it takes; seconds that one costs at least, measured on one
# processor (2,000 rows of 400 classes and of 100); and cells of labels, each a byte there and 8 as a score.
_MANY_SCORES, _SECONDS_A_SCORE, _MOST_LABELS = 5_000_000, 4e-5, 2_000_000_000


def read_classes(
    y: Any, sample_weight: Any, known: list[np.ndarray] | None = None, separator: str | None = None
) -> Labels:
    """Return classes (one or several columns), an indicator matrix or a column of tags as `Labels`.

    ``known`` holds the classes that a model already has, or its tags, whose ``separator`` it has then.
    """
    tags = known[0].tolist() if known is not None and len(known) == 1 else None
    tagged = read_tags(y, tags, separator)
    if tagged is not None:
        check_table_of_tags(len(tagged.present), len(tagged.tags))
        of_tags = tagged.labels(_weights(sample_weight, len(tagged.present)))
        _check_some_known(bool(of_tags.targets.known.any()))
        return of_tags
    given = read_raw_target(y)
    if tags is not None and separator is not None:  # an indicator matrix of the tags
        known, given = [np.array([0, 1])] * len(tags), replace(given, names=given.names or tuple(tags))
    values = given.values
    weight = _weights(sample_weight, len(values))
    are_labels = known is not None and values.ndim == 2 and _may_be_labels(known)
    if known is not None and values.ndim == 2 and np.array_equal(known, [np.arange(values.shape[1])]):
        known, are_labels = None, True  # numbers of the columns of an indicator matrix
    labels = _label_codes(values, are_labels) if values.ndim == 2 and _may_be_labels(known) else None
    if labels is not None:
        labels[weight <= 0] = -1
        _check_some_known(bool((labels >= 0).any()))
        both = [np.array([0, 1])] * labels.shape[1]
        spec = TargetSpec("label", both, False, labels.shape[1], given.names, separator)
        return Labels(spec, Targets(labels, weight))
    table = values[:, None] if values.ndim == 1 else values
    if known is not None and len(known) != table.shape[1]:
        raise ValueError(
            f"y must have as many columns as training began with, {len(known)}; got {table.shape[1]}; pass the same "
            "columns, or fit anew."
        )
    codes, classes = [], []
    for column in range(table.shape[1]):
        number, found = _codes(table[:, column], None if known is None else known[column])
        codes.append(np.where(weight > 0, number, -1))
        classes.append(found)
    targets = Targets(np.stack(codes, axis=1), weight)
    _check_some_known(bool(targets.known.any()))
    meaning = TargetSpec("class", classes, values.ndim == 1, table.shape[1], given.names)
    return Labels(meaning, targets, _order(given.order, classes[0]))


def read_numbers(y: Any, sample_weight: Any) -> Labels:
    """Return numbers, one or several columns, as `Labels`; NaN is unknown."""
    given = read_raw_target(y)
    values = given.values
    if values.dtype.kind not in "biuf":
        try:
            values = np.where(pd.isna(values), np.nan, values).astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"y must hold numbers to predict; got dtype {values.dtype}; use HarmoniumClassifier for classes."
            ) from None
    values = values.astype(np.float64)
    check_finite(values)
    weight = _weights(sample_weight, len(values))
    table = np.where(weight[:, None] > 0, values[:, None] if values.ndim == 1 else values, np.nan)
    _check_some_known(not np.isnan(table).all())
    empty = np.isnan(table).all(axis=0)
    if empty.any():
        raise ValueError(
            f"Every column of y must be known for some rows; column {int(np.argmax(empty))} is all NaN; leave it out."
        )
    return Labels(TargetSpec("number", [], values.ndim == 1, table.shape[1], given.names), Targets(table, weight))


def in_order_of(data: Any, what: str, given: Any) -> Any:
    """Return y, or the weights of rows, in the order of the rows of the data, if both name their rows.

    The data are what `harmonium.estimators.input.read_input.as_data` makes of X.
    """
    data = to_native(data, pass_through=True)
    names, order = row_names(given), row_names(data)
    if names is not None and counts_rows(data) and is_shuffled_count(names):
        notice(
            f"{what} goes by position, as the rows of X merely count, but its own index counts in another order; sort "
            f"{what} by its index if it was shuffled alone."
        )
    rows = rows_in_order(what, names, "X", order)
    return given if rows is None else to_native(given, pass_through=True).iloc[rows]


def without_unknown(y: Any, sample_weight: Any, classes: list[np.ndarray] | None = None) -> tuple[Any, Any]:
    """Return targets to compare predictions with, and weights that are zero where they are missing.

    Of classes, -1 is missing where training takes it for that.
    """
    values = read_raw_target(y).values
    table = values.reshape(len(values), -1)
    gone = np.asarray(pd.isna(table))
    if classes is not None and len(classes) in (1, table.shape[1]):
        known = classes * table.shape[1] if len(classes) == 1 else classes
        for column, one in enumerate(known):
            gone[:, column] |= _minus_ones(table[:, column], ~gone[:, column], one)
    if classes is not None:
        _check_kind(plain(table[~gone]), classes[0])
    missing = gone.any(axis=1)
    # texts and numbers that are Python objects, as beside missing values, are a riddle to scikit-learn's scores
    if not missing.any():
        return plain(values), sample_weight
    if missing.all():
        raise ValueError("y must be known for some rows; all are missing; pass what is right.")
    values = values.copy()
    values[missing] = values[~missing][0]  # of no weight, so that any will do
    return plain(values), np.where(missing, 0.0, _weights(sample_weight, len(values)))


def _check_kind(seen: np.ndarray, classes: np.ndarray) -> None:
    """Refuse texts where classes are numbers, and numbers where they are texts."""
    if seen.dtype.kind in "biufU" and len(seen) and (seen.dtype.kind == "U") != (classes.dtype.kind == "U"):
        began = few_of(classes)
        raise ValueError(
            f"y must hold the classes that the model was fitted on, {began}; got {shown(seen[0].item())}; pass labels "
            "of the same kind."
        )


def check_names(given: TargetSpec, began: TargetSpec) -> None:
    """Refuse columns of other names than training began with; only names that both have can disagree."""
    for name, expected in zip(given.names or (), began.names or (), strict=False):
        if name != expected:
            raise ValueError(
                f"y must have the columns that training began with, in the same order; got {name!r} in place of "
                f"{expected!r}; reorder or rename the columns."
            )


def check_length(labels: Labels, n_rows: int) -> None:
    """Refuse a y whose length is not that of X."""
    if len(labels.targets.weight) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, y "
            f"{len(labels.targets.weight)}; pass one label per row, and -1 or NaN where it is unknown."
        )


def announce_size(meaning: TargetSpec, n_rows: int) -> None:
    """Tell whoever predicts very many classes or labels, before anything is computed, how long that takes at least."""
    n_outputs = sum(meaning.n_classes) if meaning.kind == "class" else meaning.n_columns
    if meaning.kind == "number" or n_rows * n_outputs < _MANY_SCORES:
        return
    minutes = _SECONDS_A_SCORE * n_rows * n_outputs / 60
    time = f"{minutes:.0f} minutes" if minutes < 120 else f"{minutes / 60:,.0f} hours"
    notice(
        f"Every row has a score for every class; {n_rows:,} rows of {n_outputs:,} take {time} or more, and at least "
        f"{8e-9 * n_rows * n_outputs:.1g} GB; merge or leave out the rare ones, or try fewer rows first."
    )


def check_table_of_tags(n_rows: int, n_tags: int) -> None:
    """Refuse tags whose table of zeros and ones would not fit into memory beside what is computed of it."""
    if n_rows * n_tags > _MOST_LABELS:
        raise ValueError(
            f"Tags to predict become a table of rows and tags, of {_MOST_LABELS:,} cells at most; got {n_rows:,} rows "
            f"of {n_tags:,} tags; keep the most frequent ones."
        )


def _weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Return a weight for each row; refuse what is no such thing."""
    try:
        weight = np.asarray(1.0 if sample_weight is None else sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"sample_weight must hold one number per row; got {str(sample_weight)[:60]!r}; leave it out."
        ) from None
    if weight.shape not in ((), (n_rows,)):
        raise ValueError(
            f"sample_weight must have one dimension and as many numbers as y has rows, {n_rows}; got shape "
            f"{weight.shape}; pass one weight per row, or HarmoniumMultiOutput a weight for each target."
        )
    weight = np.broadcast_to(weight, n_rows).copy()
    wrong = ~(np.isfinite(weight) & (weight >= 0))
    if wrong.any():
        raise ValueError(
            f"sample_weight must hold finite numbers >= 0; got {weight[wrong][0]:g} in row {int(np.argmax(wrong))}; 0 "
            "leaves a label out."
        )
    if n_rows and not weight.any():
        raise ValueError("sample_weight must be above zero for some rows; got zero for all of them; leave it out.")
    return weight


def _check_some_known(some: bool) -> None:
    """Refuse labels that are all unknown."""
    if not some:
        raise ValueError("y must be known for some rows; all are missing; use Harmonium to learn without labels.")


def _may_be_labels(known: list[np.ndarray] | None) -> bool:
    """Return whether a model that has these classes can have begun with an indicator matrix."""
    return known is None or all(np.array_equal(classes, [0, 1]) for classes in known)


def as_indicator(values: np.ndarray) -> np.ndarray | None:
    """Return a matrix of labels as 0, 1 and NaN; None if it holds anything else."""
    codes = _label_codes(values)
    return None if codes is None else Targets(codes, np.ones(len(codes))).values


def _label_codes(values: np.ndarray, are_labels: bool = False) -> np.ndarray | None:
    """Return a matrix of labels as 0, 1 and -1 where they are unknown; None if it holds anything else.

    Without a zero, -1 and 1 may be classes, unless it is known that these ``are_labels``.
    """
    codes = np.full(values.shape, -1, dtype=np.int8)
    distinct: set[Any] = set()
    width = max(1, _CELLS_AT_ONCE // max(len(values), 1))
    for first in range(0, values.shape[1], width):
        columns = slice(first, first + width)
        known = ~np.asarray(pd.isna(values[:, columns]))
        seen = plain(values[:, columns][known])
        if seen.ndim != 1 or seen.dtype.kind not in "biuf":
            return None
        distinct |= set(np.unique(seen).tolist())
        if not distinct <= {-1, 0, 1}:
            return None
        codes[:, columns][known] = seen
    if not distinct or (distinct in ({-1}, {-1, 1}) and not are_labels):
        return None
    if distinct in ({-1, 0, 1}, {-1, 1}):
        _warn_about_minus_one()
    return codes


def _codes(column: np.ndarray, known: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return class numbers, -1 where unknown, and the classes."""
    rows = np.flatnonzero(~pd.isna(column))
    seen = of_one_kind(column[rows], "use HarmoniumRegressor to predict numbers")
    if _marks_unknown_by_minus_one(seen, known):
        rows, seen = rows[seen != -1], seen[seen != -1]
    _check_some_known(len(seen) > 0)
    if seen.dtype.kind == "f" and known is None and len(seen) < len(column) and np.abs(seen).max() < 2**53:
        seen = seen.astype(np.int64)  # whole numbers that are floats only because NaN is one
    classes = np.unique(seen) if known is None else known
    if (classes.dtype.kind == "U") == (seen.dtype.kind == "U"):
        position = np.minimum(np.searchsorted(classes, seen), len(classes) - 1)
        strange = classes[position] != seen
    else:
        strange = np.ones(len(seen), dtype=bool)
    if strange.any():
        began = few_of(classes)
        raise ValueError(
            f"y may only hold the classes that training began with, {began}; got "
            f"{shown(seen[strange][0].item())}; name all classes in the first call of partial_fit, or fit anew."
        )
    codes = np.full(len(column), -1)
    codes[rows] = position
    return codes, classes


def _order(categories: tuple[Any, ...] | None, classes: np.ndarray) -> np.ndarray | None:
    """Return the numbers of the classes in the order of the categories; None if these have none, or are others."""
    if categories is None:
        return None
    number = {value: i for i, value in enumerate(classes.tolist())}
    order = [number[category] for category in categories if category in number]
    return np.array(order) if len(order) == len(classes) else None


def _marks_unknown_by_minus_one(seen: np.ndarray, known: np.ndarray | None) -> bool:
    """Return whether -1 stands for unknown: in whole numbers, unless classes are -1 and 1 or others are negative."""
    if seen.dtype.kind not in "if" or not (seen == -1).any():
        return False
    if known is not None:
        return known.dtype.kind == "U" or -1 not in known
    others = set(np.unique(seen[seen != -1]).tolist())
    if others == {0, 1}:
        _warn_about_minus_one()
    return others != {1} and min(others, default=0) >= 0


def _minus_ones(column: np.ndarray, known: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return a mask of the cells of -1, of those that are ``known``, that stand for unknown ones."""
    seen, found = plain(column[known]), np.zeros(len(column), dtype=bool)
    if _marks_unknown_by_minus_one(seen, classes):
        found[known] = seen == -1
    return found


def _warn_about_minus_one() -> None:
    """Warn that -1 is taken as unknown beside 0 and 1."""
    notice(
        "Labels of -1 are taken as unknown, and 0 and 1 as the classes; if -1 is a class, recode it, for example as "
        "text."
    )
