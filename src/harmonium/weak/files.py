"""Files of weakly supervised classifiers: safetensors and JSON, no pickle."""

from __future__ import annotations

import os
from typing import Any, TypeVar

import numpy as np

from harmonium.core.validation import check_fitted
from harmonium.exceptions import ModelFileError
from harmonium.storage import (
    check_fields,
    decode,
    decode_settings,
    encode,
    encode_settings,
    heading,
    rebuilds,
    write_model,
)

_FORMAT = "harmonium.weak"
_FIELDS: dict[str, Any] = {
    "format": str,
    "schema": int,
    "library_version": str,
    "estimator": str,
    "parameters": dict,
    "fitted": dict,
    "names": list,
}
_CLASSIFIERS: dict[str, type] = {}
Classifier = TypeVar("Classifier", bound=type)


def saveable(classifier: Classifier) -> Classifier:
    """Let files name a classifier: a class decorator."""
    _CLASSIFIERS[classifier.__name__] = classifier
    return classifier


def save_classifier(classifier: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted classifier to a file or a folder."""
    kind: Any = type(classifier)
    if kind != _CLASSIFIERS.get(kind.__name__):
        raise TypeError(
            f"Only {', '.join(_CLASSIFIERS)} can be saved; got {kind.__name__}, whose code a file cannot hold; keep "
            "its coef_ and classes_."
        )
    check_fitted(classifier)
    if getattr(classifier, "problem", None) is not None:
        raise TypeError(
            f"A classifier can be saved if its samples are bags; problem is {type(classifier.problem).__name__}, whose "
            "code a file cannot hold; keep its coef_ and classes_."
        )
    description = {
        **heading(_FORMAT, kind.__name__),
        "parameters": encode_settings(classifier),
        "fitted": {name: encode(getattr(classifier, f"{name}_"), f"{name}_") for name in kind.facts},
        "names": list(getattr(classifier, "feature_names_in_", [])),
    }
    write_model(path, description, {name: getattr(classifier, name) for name in kind.learned})


@rebuilds(_FORMAT)
def rebuild(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> Any:
    """Return the fitted classifier; every contradiction is a `ModelFileError`."""
    check_fields(description, _FIELDS, "The description of a model")
    if description["estimator"] not in _CLASSIFIERS:
        raise ModelFileError(
            f"A model file may only name the estimators {', '.join(_CLASSIFIERS)}; got {description['estimator']!r}; "
            "use the version that saved it."
        )
    kind: Any = _CLASSIFIERS[description["estimator"]]
    check_fields(description["fitted"], kind.facts, "The fitted part of a model file")
    classifier = decode_settings(kind, description["parameters"])
    fitted = {name: decode(value, name) for name, value in description["fitted"].items()}
    _check_classes(fitted["classes"])
    _check_tensors(tensors, kind, len(fitted["classes"]))
    if getattr(classifier, "problem", None) is not None or not isinstance(fitted.get("history", {}), dict):
        raise ModelFileError("A model file must be of a classifier of bags with its history; save the model again.")
    for name, value in fitted.items():
        setattr(classifier, f"{name}_", value)
    for name, value in tensors.items():
        setattr(classifier, name, value)
    classifier.n_features_in_ = tensors[kind.learned[-1]].shape[-1]
    if description["names"]:
        _check_columns(description["names"], classifier.n_features_in_)
        classifier.feature_names_in_ = np.array(description["names"], dtype=object)
    return classifier


def _check_classes(classes: Any) -> None:
    """Refuse classes that training cannot have found."""
    try:
        is_right = isinstance(classes, np.ndarray) and len(classes) > 1 and np.array_equal(np.unique(classes), classes)
    except TypeError:  # of kinds that cannot be compared
        is_right = False
    if not is_right:
        raise ModelFileError(
            f"The classes of a model file must be two or more, different, and in order; found {str(classes)[:60]}; "
            "save the model again."
        )


def _check_columns(names: list[Any], n_columns: int) -> None:
    """Refuse names that do not fit the weights."""
    if len(names) != n_columns or len(set(map(str, names))) != n_columns or not all(isinstance(n, str) for n in names):
        raise ModelFileError(
            f"A model file must name each of its {n_columns} columns, or none; found {str(names)[:60]}; save the model "
            "again."
        )


def _check_tensors(tensors: dict[str, np.ndarray], kind: Any, n_classes: int) -> None:
    """Refuse tensors other than finite numbers of the shapes that a classifier learns."""
    wrong = kind.check_tensors(tensors, n_classes)
    if wrong is not None:
        raise ModelFileError(f"A model file must hold {' and '.join(kind.learned)}: {wrong}; save the model again.")
    for name, value in tensors.items():
        if value.dtype != np.float64 or not np.isfinite(value).all():
            raise ModelFileError(
                f"A model file must hold finite numbers of float64; tensor {name!r} has others; fit the model again."
            )
