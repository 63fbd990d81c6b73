"""Choice of a family for a view, and the check that data lie in the support of the one that was given."""

from __future__ import annotations

from typing import cast

import numpy as np

from harmonium.core.notices import notice
from harmonium.core.parts import registered
from harmonium.core.support import Support
from harmonium.exceptions import InvalidViewError
from harmonium.families import Family
from harmonium.families.counts import LARGEST_COUNT, are_counts
from harmonium.hidden import HiddenLayer
from harmonium.kernels.sparse.entries import Entries, entries
from harmonium.views.sources.source import Source
from harmonium.views.sources.summary import Summary


def infer_family(summary: Summary, hidden: HiddenLayer) -> Family:
    """Return the registered family that suits the data best with these hidden units.

    It is `Bernoulli` for zeros and ones, a family of counts for whole numbers that look like counts, `Chain` for
    sequences and `Gaussian` for the rest: for ages, years, ratings and codes, too. Counts are `Poisson`, or
    `ReplicatedSoftmax` with unbounded hidden units, with which Poisson cannot be normalised.
    `harmonium.families.counts.looks_like_counts` has the rule.

    Examples
    --------
    >>> from harmonium import Views
    >>> from harmonium.hidden import BernoulliUnits
    >>> infer_family(Views({"x": np.array([[0, 3], [1, 0], [4, 0]])}).source("x").summary(), BernoulliUnits())
    Poisson()
    >>> infer_family(Views({"x": np.array([[1990, 3], [2004, 5]])}).source("x").summary(), BernoulliUnits())
    Gaussian()
    """
    families = cast("list[type[Family]]", list(registered("family").values()))
    able = [family() for family in families if family.suits(summary, hidden.support.bounded)]
    of_kind = [family for family in able if family.support.data == summary.data]
    return max(of_kind, key=lambda family: family.suits(summary, hidden.support.bounded))


def warn_of_large_counts(name: str, summary: Summary) -> None:
    """Warn of counts that no family of counts was inferred for because some are too large."""
    largest = float(summary.maximum.max())
    if largest > LARGEST_COUNT and are_counts(summary, largest=np.inf):
        notice(
            f"View {name!r} holds counts up to {largest:g}, too large for a family of counts, and is taken as real "
            "numbers; pass np.log1p of it, on which scale large counts are alike."
        )


def warn_of_large_means(name: str, family: Family, mean: np.ndarray, features: list[str]) -> None:
    """Warn of means of the statistic that a fitted family cannot express, as its naturals have a limit."""
    natural = family.natural_from_mean(mean.astype(np.float64))
    beyond = natural > family.domain.upper
    if beyond.any():
        feature = int(np.argmax(beyond))
        notice(
            f"View {name!r} is {type(family).__name__}, which cannot express means as large as that of "
            f"{features[feature]!r}, {mean[feature]:g}; pass np.log1p of the view as Gaussian()."
        )


def check_support(
    name: str, source: Source, family: Family, hidden: HiddenLayer, summary: Summary | None = None
) -> None:
    """Refuse data outside the family's support, naming the first offending cell and what to do about it.

    A ``summary`` of the data that leaves no doubt spares the pass over them.
    """
    _check_data(name, source, family)
    if source.lengths is not None:
        return  # values are checked when sequences are made
    support = family.support
    if summary is not None and _is_inside(summary, family):
        return
    for items, block in source.raw_blocks():
        cells = entries(block)
        found = _first_outside(cells, support)
        if found is not None:
            row, column, value = found
            suggestion = infer_family(source.summary(), hidden)
            other = f"{type(suggestion).__name__}() for {suggestion.meant_for}"
            raise InvalidViewError(
                f"View {name!r} is {type(family).__name__} and needs {support.description}; found {value:g} at "
                f"{source.cell_place(int(items[row]), column)}; pass {other}, or {support.remedy}."
            )
        if support.whole_rows:
            _check_whole_rows(name, source, items, cells, family)


def _is_inside(summary: Summary, family: Family) -> bool:
    """Return whether the smallest and largest values say that all lie in the support, and rows are whole."""
    ends = family.support.contains(summary.minimum) & family.support.contains(summary.maximum)
    whole = not family.support.integer or bool(summary.whole.all())
    return bool(ends.all()) and whole and (summary.is_sparse or not family.support.whole_rows)


def _first_outside(cells: Entries, support: Support) -> tuple[int, int, float] | None:
    """Return row, column and value of a cell outside the support; None if all lie in it."""
    outside = ~(support.contains(cells.values) | np.isnan(cells.values))
    if outside.any():
        return cells.first_where(outside)
    return None if support.contains(np.zeros(1)).all() else cells.first_implicit_zero()


def check_largest(name: str, source: Source, family: Family) -> None:
    """Refuse values above the largest that a fitted family knows for their column."""
    largest = family.codec.largest
    if largest is None:
        return
    for items, block in source.raw_blocks():
        # comparisons with NaN are false
        cells = entries(block)
        outside = cells.values > cells.at(largest)
        if outside.any():
            row, column, value = cells.first_where(outside)
            raise InvalidViewError(
                f"View {name!r} is {type(family).__name__} and knows codes up to {largest[column]} in "
                f"{source.column_place(column)}; found {value:g} at {source.row_place(int(items[row]))}; fit "
                "with n_categories large enough for every code."
            )


def _check_data(name: str, source: Source, family: Family) -> None:
    if family.support.data == source.data:
        return
    if source.data == "matrix":
        raise InvalidViewError(
            f"View {name!r} is {type(family).__name__} and needs Sequences; got a matrix, which has no order; pass "
            "Sequences, or Bernoulli() for zeros and ones."
        )
    raise InvalidViewError(
        f"View {name!r} is {type(family).__name__} and needs a matrix; got Sequences; pass Chain() for them, or "
        "Sequences.presence() in their place."
    )


def _check_whole_rows(name: str, source: Source, items: np.ndarray, cells: Entries, family: Family) -> None:
    n_missing = cells.row_sums(np.isnan(cells.values))
    partly = (n_missing > 0) & (n_missing < cells.shape[1])
    if partly.any():
        raise InvalidViewError(
            f"View {name!r} is {type(family).__name__} and needs rows that are observed or missing as a whole; "
            f"{source.row_place(int(items[np.argmax(partly)]))} has some NaN cells; pass Poisson() if "
            "single counts may be missing."
        )


def check_observed(name: str, source: Source, summary: Summary) -> None:
    """Refuse a view that no item has, and columns that are never observed."""
    never = summary.n_observed == 0
    if never.all():
        raise InvalidViewError(
            f"View {name!r} must be there for at least one item; all its rows are missing; leave it out."
        )
    if never.any():
        raise InvalidViewError(
            f"Every column of view {name!r} must be observed at least once; "
            f"{source.column_place(int(np.argmax(never)))} is all NaN; drop it."
        )
