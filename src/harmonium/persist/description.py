"""From a fitted model to a JSON description and tensors."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from harmonium.core.parameters import Parameters
from harmonium.core.targets import TargetSpec
from harmonium.core.validation import check_fitted
from harmonium.persist.posterior import posterior_tensors
from harmonium.storage import encode, encode_part, encode_settings, heading, serializable
from harmonium.tables import Table
from harmonium.training import FittedModel
from harmonium.views import Columns

FORMAT = "harmonium"
# what scikit-learn remembers of X, where there is anything to remember
INPUT = ("n_features_in_", "feature_names_in_")
_ESTIMATORS: dict[str, type] = {}
Estimator = TypeVar("Estimator", bound=type)

serializable(Columns)
serializable(TargetSpec)
#: fields of a fitted model that a file keeps by their names; others have entries of their own
FACTS = tuple(
    entry.name for entry in fields(FittedModel) if entry.name not in ("problem", "training", "feature_names", "table")
)
#: fields of its training that a file keeps by their names
TRAINING = ("log", "n_items", "n_settled")


def saveable(estimator: Estimator) -> Estimator:
    """Let files name an estimator, whose fitted state is its ``fitted_``: a class decorator."""
    _ESTIMATORS[estimator.__name__] = estimator
    return estimator


def describe(estimator: Any) -> tuple[dict[str, Any], Parameters]:
    """Return the JSON description and the tensors of a fitted estimator."""
    name = type(estimator).__name__
    kind: Any = type(estimator)
    if kind != _ESTIMATORS.get(name):
        raise TypeError(f"Only {', '.join(_ESTIMATORS)} can be saved; got {name}; save the model it is made from.")
    check_fitted(estimator)
    model: FittedModel = estimator.fitted_
    facts, tensors = facts_and_tensors(model)
    description = {
        **heading(FORMAT, name),
        "parameters": encode_settings(estimator),
        "input": {key: encode(getattr(estimator, key, None), key) for key in INPUT},
        "hidden": encode_part(model.energy.hidden, "hidden") | {"n_units": model.n_units},
        "views": {
            view: {
                "family": encode_part(family, f"the family of view {view!r}"),
                "n_features": int(family.n_features_),
                "feature_names": [str(feature) for feature in model.feature_names[view]]
                if view in model.feature_names
                else None,
                "constants": sorted(family.constants()),
            }
            for view, family in model.families.items()
        },
        "head": None if model.head is None else encode_part(model.head, "head"),
        "fitted": facts,
        "tensors": {key: signature(value) for key, value in tensors.items()},
    }
    return description, tensors


def facts_and_tensors(model: FittedModel) -> tuple[dict[str, Any], Parameters]:
    """Return what is no part of the model as JSON, and all arrays by the names that they have in a file."""
    tensors = {key: np.asarray(value, order="C") for key, value in tensors_of(model).items()}
    facts = {name: encode(getattr(model, name), name, tensors) for name in FACTS}
    facts |= {name: encode(getattr(model.training, name), name, tensors) for name in TRAINING}
    others = {
        "posterior": None if model.posterior is None else model.posterior.target,
        "view_weights": dict(model.problem.view_weights),
        "table": None if model.table is None else table_facts(model.table),
    }
    if model.problem.guide is not None:  # files without one have no entry, so that earlier versions read them
        facts["guide"] = encode(model.problem.guide, "guide", tensors)
    return facts | {name: encode(value, name) for name, value in others.items()}, tensors


def table_facts(table: Table) -> list[dict[str, Any]]:
    """Return what a table has learned of each of its columns."""
    return [
        {
            "name": column.name,
            "view": column.view,
            "missing": column.missing,
            "reader": column.reader,
            "learned": column.reader.facts(),
            **({} if column.embedding is None else {"embedding": column.embedding.facts()}),
        }
        for column in table.columns
    ]


def tensors_of(model: FittedModel) -> Parameters:
    """Return the arrays of the parts of a model, by the names they have in a file."""
    constants = {view: family.constants() for view, family in model.families.items()}
    return {
        **{f"parameters/{name}": value for name, value in model.parameters.items()},
        **{f"reference/{name}": value for name, value in model.reference.items()},
        **{f"constants/{view}/{name}": value for view, own in constants.items() for name, value in own.items()},
        **({} if model.head is None else {f"head/{name}": value for name, value in model.head.constants().items()}),
        **({} if model.posterior is None else posterior_tensors(model.posterior)),
    }


def signature(tensor: np.ndarray) -> dict[str, Any]:
    """Return dtype and shape of an array."""
    return {"dtype": tensor.dtype.name, "shape": list(tensor.shape)}
