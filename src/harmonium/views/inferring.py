"""Which family fits a view, and whether the data lie in the support of the family it was given."""

from __future__ import annotations

import numpy as np

from harmonium.exceptions import InvalidViewError
from harmonium.families import Bernoulli, Family, Gaussian, Poisson, ReplicatedSoftmax
from harmonium.hidden import HiddenLayer
from harmonium.kernels.sparse import SparseRows
from harmonium.views.source import Source, Summary


def infer_family(summary: Summary, hidden: HiddenLayer) -> Family:
    """Bernoulli for zeros and ones, a count family for whole numbers from 0 up, Gaussian for the rest.

    Counts are `Poisson`, or `ReplicatedSoftmax` with unbounded hidden units, which cannot be normalised with Poisson.

    Examples
    --------
    >>> from harmonium import BernoulliUnits, Views
    >>> infer_family(Views({"x": np.array([[0, 3], [1, 1]])}).source("x").summary(), BernoulliUnits())
    Poisson()
    """
    low, high = summary.minimum.min(), summary.maximum.max()
    if not summary.all_integer or low < 0:
        return Gaussian()
    if high <= 1:
        return Bernoulli()
    return Poisson() if hidden.bounded else ReplicatedSoftmax()


def check_support(name: str, source: Source, family: Family, hidden: HiddenLayer) -> None:
    """Refuse data outside the family's support, with the first place where it fails and what to do about it."""
    support = family.support
    for items, block in source.raw_blocks():
        values = block.data if isinstance(block, SparseRows) else block
        outside = ~support.contains(values)
        if not isinstance(block, SparseRows):
            outside &= ~np.isnan(values)
        if not outside.any():
            continue
        if isinstance(block, SparseRows):
            entry = int(np.argmax(outside))
            row, column, value = block.row_of_entry()[entry], block.indices[entry], block.data[entry]
        else:
            row, column = np.argwhere(outside)[0]
            value = values[row, column]
        suggestion = type(infer_family(source.summary(), hidden)).__name__
        raise InvalidViewError(
            f"View {name!r} is {type(family).__name__} and needs {support.description}; found {value:g} at row "
            f"{int(items[row])}, column {int(column)}; pass {suggestion}() for these data, or transform them first."
        )


def check_observed(name: str, summary: Summary) -> None:
    """Refuse a view that no item has, and columns that are never observed."""
    never = summary.n_observed == 0
    if never.all():
        raise InvalidViewError(
            f"View {name!r} must be there for at least one item; all its rows are missing; leave it out."
        )
    if never.any():
        raise InvalidViewError(
            f"Every column of view {name!r} must be observed at least once; column {int(np.argmax(never))} is all NaN; "
            "drop it."
        )
