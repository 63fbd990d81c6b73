"""From a fitted model to a JSON description and tensors."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from harmonium.params import Parameters
from harmonium.persist.posterior import posterior_tensors
from harmonium.storage import encode, encode_part, encode_settings, heading, serializable
from harmonium.tables import Table
from harmonium.training import FittedModel
from harmonium.validation import check_fitted
from harmonium.views import Columns

FORMAT = "harmonium"
# what scikit-learn remembers of X, where there is anything to remember
INPUT = ("n_features_in_", "feature_names_in_")
_ESTIMATORS: dict[str, type] = {}
Estimator = TypeVar("Estimator", bound=type)

serializable(Columns)


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
    tensors = {key: np.asarray(value, order="C") for key, value in tensors_of(model).items()}
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
        "fitted": {key: encode(value, key) for key, value in facts_of(model).items()},
        "tensors": {key: signature(value) for key, value in tensors.items()},
    }
    return description, tensors


def facts_of(model: FittedModel) -> dict[str, Any]:
    """Return what is neither a part nor an array of the model."""
    training, meaning = model.training, model.meaning
    facts: dict[str, Any] = {
        "history": training.log.history,
        "n_iter": training.log.n_iter,
        "stopped": training.log.stopped,
        "n_items": training.n_items,
        "n_settled": training.n_settled,
        "nats": model.baseline_nll,
        "C": model.C,
        "validation": model.validation,
        "truncation_reached": model.truncation_reached,
        "remarks": list(model.remarks),
        "posterior": None if model.posterior is None else model.posterior.target,
        "missing": model.missing,
        "shares": model.shares,
        "view_weights": dict(model.problem.view_weights),
        "table": None if model.table is None else table_facts(model.table),
        "targets": None,
    }
    if meaning is not None:
        facts["targets"] = {
            "kind": meaning.kind,
            "classes": meaning.classes,
            "one_column": meaning.one_column,
            "n_columns": meaning.n_columns,
            "names": meaning.names,
        }
    return facts


def table_facts(table: Table) -> list[dict[str, Any]]:
    """Return what a table has learned of each of its columns."""
    return [
        {
            "name": column.name,
            "view": column.view,
            "missing": column.missing,
            "reader": column.reader,
            "learned": column.reader.facts(),
        }
        for column in table.columns
    ]


def tensors_of(model: FittedModel) -> Parameters:
    """Return all arrays of a model, by the names they have in a file."""
    constants = {view: family.constants() for view, family in model.families.items()}
    return {
        **{f"parameters/{name}": value for name, value in model.parameters.items()},
        **{f"reference/{name}": value for name, value in model.reference.items()},
        **{f"constants/{view}/{name}": value for view, own in constants.items() for name, value in own.items()},
        **({} if model.head is None else {f"head/{name}": value for name, value in model.head.constants().items()}),
        **{f"relevance/{view}": value for view, value in model.relevance.items()},
        **({} if model.usage is None else {"usage": model.usage}),
        **({} if model.posterior is None else posterior_tensors(model.posterior)),
    }


def signature(tensor: np.ndarray) -> dict[str, Any]:
    """Return dtype and shape of an array."""
    return {"dtype": tensor.dtype.name, "shape": list(tensor.shape)}
