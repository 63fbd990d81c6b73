"""Groups of items that reports compare: classes, labels, or ranges of a number."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from harmonium.core.raw_target import RawTarget, read_raw_target
from harmonium.estimators.input.labels import as_indicator, in_order_of
from harmonium.estimators.input.read_input import split_target

# ranges that a number is cut into: quarters of the items, a convention
_N_RANGES = 4
# more different numbers than this are a measurement, not classes: a convention, that of `Ordinal`
_MOST_NUMBERS = 100


@dataclass(frozen=True, eq=False)
class Groups:
    """Memberships of items in groups; an item that has several labels belongs to several.

    Attributes
    ----------
    names : list
        Classes, names of labels or ranges, in their order.
    items, numbers : ndarray of int of shape (memberships,)
        Row of the item, and number of the group, of each membership.
    labelled : ndarray of bool of shape (items,)
        Mask of the items of which it is known where they belong.
    """

    names: list[Any]
    items: np.ndarray
    numbers: np.ndarray
    labelled: np.ndarray

    def means(self, values: np.ndarray) -> pd.DataFrame:
        """Return the mean of each column over the items of each group that has any, groups by columns."""
        table = pd.DataFrame(values[self.items]).groupby(self.numbers).mean()
        return table.set_axis(pd.Index([self.names[number] for number in table.index], name="class"))

    def most_frequent(self, items: np.ndarray) -> tuple[Any, float]:
        """Return the group that most of some items belong to, the first of several, and its share of those labelled."""
        numbers = self.numbers[np.isin(self.items, items)]
        if not len(numbers):
            return None, float("nan")
        counts = np.bincount(numbers)
        return self.names[np.argmax(counts)], float(counts.max() / self.labelled[items].sum())


def read_groups(X: Any, y: Any, n_rows: int) -> Groups:
    """Return the groups that y sorts the rows of X into.

    Classes are in sorted order, or in that of their categories if these have one. Numbers that are not whole, and more
    than 100 different ones, are cut into ranges of as many items each, named by their intervals.
    """
    raw = _read(X, y, n_rows)
    if raw.values.ndim == 2:
        return _labels(raw)
    labels = _classes(raw.values)
    labelled = ~pd.isna(labels)
    if not labelled.any():
        raise ValueError("y must give at least one item a class; got only -1, NaN or None; leave it out.")
    if is_scale(labels) and len(set(labels[labelled])) > _N_RANGES:
        names, numbers = _ranges(labels[labelled].astype(np.float64))
    elif raw.order is not None:
        names = list(raw.order)
        numbers = pd.Categorical(labels[labelled], categories=names).codes
    else:
        numbers, classes = pd.factorize(labels[labelled], sort=True)
        names = classes.tolist()
    return Groups(names, np.flatnonzero(labelled), numbers.astype(np.int64), labelled)


def read_labels(X: Any, y: Any, n_rows: int) -> pd.Series:
    """Return the label of each row, None where it is unknown; ordered categories stay such."""
    if y is None:
        return pd.Series(np.full(n_rows, None))
    raw = _read(X, y, n_rows)
    if raw.values.ndim == 2:
        raise ValueError(
            f"y must give each item one class or number to colour it by; got {raw.values.shape[1]} columns; pass one "
            "of them."
        )
    labels = pd.Series(_classes(raw.values), dtype=object)
    return labels if raw.order is None else labels.astype(pd.CategoricalDtype(list(raw.order), ordered=True))


def is_scale(labels: np.ndarray) -> bool:
    """Tell whether labels are numbers on a scale: some of them are not whole, or there are very many."""
    values = np.array(labels[~pd.isna(labels)].tolist())
    if values.dtype.kind not in "iuf":
        return False
    return bool((values != np.round(values)).any()) or len(np.unique(values)) > _MOST_NUMBERS


def _read(X: Any, y: Any, n_rows: int) -> RawTarget:
    """Return y in the order of X; refuse another number of rows."""
    X, y = split_target(X, y)
    raw = read_raw_target(in_order_of(X, "y", y))
    if len(raw.values) != n_rows:
        raise ValueError(
            f"y must have one label for each of the {n_rows} rows of X; got {len(raw.values)}; pass labels and views "
            "of the same items."
        )
    return raw


def _classes(values: np.ndarray) -> np.ndarray:
    """Return labels as objects, None where they are unknown."""
    unknown = pd.isna(values)
    if not is_scale(values):
        unknown[~unknown] = values[~unknown] == -1
        if values.dtype.kind == "f":
            # whole numbers that are floats only because NaN is one
            values = np.where(unknown, -1, values).astype(np.int64)
    result = values.astype(object)
    result[unknown] = None
    return result


def _ranges(values: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Return the intervals between quantiles, and the number of the one that each value lies in."""
    edges = np.unique(np.quantile(values, np.linspace(0, 1, _N_RANGES + 1)))
    texts = [f"{edge:.3g}" for edge in edges]
    if len(set(texts)) < len(texts):  # they lie so close together that it takes all digits
        texts = [repr(edge) for edge in edges.tolist()]
    names = [f"({low}, {high}]" for low, high in pairwise(texts)]
    names[0] = f"[{names[0][1:]}"
    return names, np.searchsorted(edges[1:-1], values)


def _labels(raw: RawTarget) -> Groups:
    """Return a group for each column of an indicator matrix."""
    indicator = as_indicator(raw.values)
    if indicator is None:
        raise ValueError(
            f"y must be one column of classes or numbers, or an indicator matrix of zeros and ones; got "
            f"{raw.values.shape[1]} columns of other values; pass one of them."
        )
    items, numbers = np.nonzero(indicator == 1)
    names = list(raw.names or range(indicator.shape[1]))
    return Groups(names, items, numbers, ~np.isnan(indicator).all(axis=1))
