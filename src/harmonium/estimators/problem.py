"""The problem that a fit solves: families chosen and bound, data checked against them, and targets added."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from harmonium.core.notices import notice
from harmonium.core.parameters import RESERVED
from harmonium.core.targets import Labels
from harmonium.energy import Energy
from harmonium.estimators.input.known import names_of_features
from harmonium.exceptions import InvalidViewError
from harmonium.families import Family
from harmonium.families.counts import length_normalized
from harmonium.heads import Head
from harmonium.hidden import HiddenLayer
from harmonium.objectives.problem import Problem
from harmonium.tables.transformer import families_asked
from harmonium.training import FittedModel
from harmonium.training.initialise import mean_statistic
from harmonium.views import Views
from harmonium.views.data import Data
from harmonium.views.inferring import (
    check_observed,
    check_support,
    infer_family,
    warn_of_large_counts,
    warn_of_large_means,
)
from harmonium.views.reading import families_given


def with_some_view(views: Views, labels: Labels | None) -> tuple[Views, Labels | None]:
    """Return the items that have at least one view, to learn from; a notice tells of the others."""
    lacking = views.lacking
    if not lacking.any():
        return views, labels
    if lacking.all():
        raise InvalidViewError(
            f"At least one row must have a view; all {len(views)} rows lack every view; pass rows with values."
        )
    notice(
        f"{int(lacking.sum())} of {len(views)} rows lack every view, the first of them "
        f"{views.place(int(np.argmax(lacking)))}, and are left out of training; drop them to be rid of this "
        "notice."
    )
    kept = np.flatnonzero(~lacking)
    if labels is not None:
        labels = replace(labels, targets=labels.targets.take(kept))
        if not labels.targets.known.any():
            raise InvalidViewError(
                "Some row with a known label must have a view; all such rows lack every view; pass rows with values."
            )
    return views[kept], labels


def prepare(
    views: Views,
    spec: Any,
    hidden: HiddenLayer,
    added: Mapping[str, Family] | None = None,
    head: Head | None = None,
) -> Problem:
    """Choose and bind the families, check the data against them, and return the problem.

    ``added`` holds families of views that the user's ``spec`` does not know about, such as labels.
    """
    added = added or {}
    given = families_given(families_asked(spec), [name for name in views.names if name not in added]) | dict(added)
    families: dict[str, Family] = {}
    reference: dict[str, np.ndarray] = {}
    for name in views.names:
        if "." in name:
            raise InvalidViewError(f"Names of views must not contain a dot; got {name!r}; rename the view.")
        if name in RESERVED:
            raise InvalidViewError(f"Views must not be named {name!r}; got a view of that name; rename the view.")
        source = views.source(name)
        summary = source.summary()
        check_observed(name, source, summary)
        family = given[name] or source.family
        if family is None:
            family = infer_family(summary, hidden)
            warn_of_large_counts(name, summary)
        check_support(name, source, family, hidden, summary)
        # a head that adds no view has a loss, to which rows of different totals should matter alike
        if hidden.groups.nonnegative or (head is not None and not head.added_views):
            family = length_normalized(family, summary)
        families[name] = family.bind(summary)
        if source.features is not None and len(source.features) != families[name].n_features_:
            raise InvalidViewError(
                f"View {name!r} holds codes that a table has made for {type(source.family).__name__}; got "
                f"{type(family).__name__}(), for which they are numbers; leave the view out, or turn its columns into "
                "zeros and ones first."
            )
        reference[name] = mean_statistic(views, name, families[name], summary)
        features = names_of_features(name, source.columns, families[name])
        warn_of_large_means(name, families[name], reference[name], features)
    return Problem(Energy(families, hidden), reference, head)


def check_same_families(spec: Any, model: FittedModel) -> None:
    """Refuse other families than training, which is to go on, began with; what is inferred stays as it is.

    ``spec`` is the parameter of the estimator.
    """
    asked = families_asked(spec)
    if asked is not spec and model.table is None:
        raise ValueError(
            f"Training can only go on with the views it began with, which are no table; got {type(spec).__name__}(); "
            "set views back, or fit with warm_start=False."
        )
    for name, family in families_given(asked, model.input_names).items():
        if family is not None and not _leads_to(family, model.families[name]):
            raise ValueError(
                f"Training can only go on with the families it began with, {model.families[name]} for {name!r}; got "
                f"{family}; set views back, or fit with warm_start=False."
            )


def _leads_to(asked: Family, bound: Family) -> bool:
    """Return whether a family that is asked for may have become another one, whose settings are decided."""
    if type(asked) is not type(bound):
        return False
    settings, decided = asked.get_params(deep=False), bound.get_params(deep=False)
    is_open = {name for name, value in settings.items() if isinstance(value, str) and value == "auto"}
    return all(np.array_equal(value, decided[name]) for name, value in settings.items() if name not in is_open)


def labelled(views: Views, head: Head | None, labels: Labels | None) -> tuple[Data, dict[str, Family]]:
    """Return the data with what is to be predicted, and the families of views that the head adds."""
    if head is None or labels is None:
        return Data(views), {}
    targets = head.targets(labels)
    for name, added in head.added_views.items():
        if name in views.names:
            raise InvalidViewError(
                f"With {type(head).__name__}() no view of X may be called {name!r}; got one; rename it, or leave it "
                "out."
            )
        views = views.with_view(name, added.data(targets))
    return Data(views, targets), {name: added.family for name, added in head.added_views.items()}
