"""From a fitted model to a description and tensors, and back with every claim checked."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, TypeVar

import numpy as np

from harmonium.exceptions import HarmoniumWarning, ModelFileError
from harmonium.families import Family
from harmonium.hidden import HiddenLayer, SpikeSlab
from harmonium.params import HIDDEN, HIDDEN_BIAS, Parameters, bias_of, first_not_finite, own_of, weights_of
from harmonium.persist.values import check_names, decode, decode_part, encode, encode_part

SCHEMA = 1
_FIELDS: dict[str, type] = {
    "format": str,
    "schema": int,
    "library_version": str,
    "estimator": str,
    "parameters": dict,
    "hidden": dict,
    "views": dict,
    "fitted": dict,
    "tensors": dict,
}
_VIEW_FIELDS: dict[str, type | tuple[type, ...]] = {
    "family": dict,
    "n_features": int,
    "feature_names": (list, type(None)),
    "constants": list,
}
_ESTIMATORS: dict[str, type] = {}
Estimator = TypeVar("Estimator", bound=type)


@dataclass
class Fitted:
    """What a fitted model consists of beside its constructor parameters.

    Attributes
    ----------
    families : dict of Family
        Bound family of each view.
    hidden : HiddenLayer
        Bound hidden layer.
    parameters, reference : dict of ndarray
        Parameters of the energy by name, and mean statistics of the training data by view.
    feature_names : dict of list of str
        Names of the features, for the views that have some.
    facts : dict
        Whatever else `encode` takes: number of epochs, history, classes.
    extra : dict of ndarray
        Arrays beyond those of the energy, such as a head's; the estimator checks them itself.
    """

    families: dict[str, Family]
    hidden: HiddenLayer
    parameters: Parameters
    reference: dict[str, np.ndarray]
    feature_names: dict[str, list[str]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, np.ndarray] = field(default_factory=dict)


def saveable(estimator: Estimator) -> Estimator:
    """Class decorator: files may name this estimator. It has ``_state() -> Fitted`` and ``_restore(Fitted)``."""
    _ESTIMATORS[estimator.__name__] = estimator
    return estimator


# ---- saving ----------------------------------------------------------------------------------------------------------
def describe(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """JSON description and tensors of a fitted model."""
    from harmonium._version import __version__

    name = type(model).__name__
    kind: Any = type(model)
    if _ESTIMATORS.get(name) is not kind:
        raise TypeError(f"Only {', '.join(_ESTIMATORS)} can be saved; got {name}; save the model it is made from.")
    fitted: Fitted = model._state()
    _check_parameters(fitted)
    tensors = {key: np.asarray(value, order="C") for key, value in _tensors_of(fitted).items()}
    hidden = encode_part(fitted.hidden, "hidden")
    description = {
        "format": "harmonium",
        "schema": SCHEMA,
        "library_version": __version__,
        "estimator": name,
        "parameters": {
            key: encode(_seed(value) if key == "random_state" else value, key)
            for key, value in model.get_params(deep=False).items()
        },
        "hidden": hidden | {"n_units": fitted.hidden.n_units_},
        "views": {
            view: {
                "family": encode_part(family, f"the family of view {view!r}"),
                "n_features": int(family.n_features_),
                "feature_names": [str(feature) for feature in fitted.feature_names[view]]
                if view in fitted.feature_names
                else None,
                "constants": sorted(family.constants()),
            }
            for view, family in fitted.families.items()
        },
        "fitted": {key: encode(value, key) for key, value in fitted.facts.items()},
        "tensors": {key: _signature(value) for key, value in tensors.items()},
    }
    return description, tensors


def _seed(random_state: Any) -> Any:
    """Whole numbers and None as they are; the state of a generator is not worth a file format."""
    if random_state is None or isinstance(random_state, Integral):
        return random_state
    warnings.warn(
        f"Only a random_state that is a whole number or None is saved; got {type(random_state).__name__}, which is "
        "saved as None; set it with set_params after loading.",
        HarmoniumWarning,
        stacklevel=4,
    )
    return None


def _tensors_of(fitted: Fitted) -> dict[str, np.ndarray]:
    return {
        **{f"parameters/{name}": value for name, value in fitted.parameters.items()},
        **{f"reference/{name}": value for name, value in fitted.reference.items()},
        **{
            f"constants/{view}/{name}": value
            for view, family in fitted.families.items()
            for name, value in family.constants().items()
        },
        **{f"extra/{name}": value for name, value in fitted.extra.items()},
    }


def _signature(tensor: np.ndarray) -> dict[str, Any]:
    return {"dtype": tensor.dtype.name, "shape": list(tensor.shape)}


# ---- loading ---------------------------------------------------------------------------------------------------------
def rebuild(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> Any:
    """The fitted model; every contradiction is a `ModelFileError`."""
    _check_header(description)
    _check_fields(description, _FIELDS, "The description of a model")
    if description["estimator"] not in _ESTIMATORS:
        raise ModelFileError(
            f"A model file may only name the estimators {', '.join(_ESTIMATORS)}; got {description['estimator']!r}; "
            "use the version that saved it."
        )
    _check_signatures(description["tensors"], tensors)
    estimator: Any = _ESTIMATORS[description["estimator"]]
    check_names(description["parameters"], estimator._get_param_names(), description["estimator"])
    model = estimator(**{key: decode(value, key) for key, value in description["parameters"].items()})
    fitted = _fitted(description, tensors)
    try:
        model._validate_params()
        return model._restore(fitted)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelFileError(
            f"A model file must hold a model that can be put together; it cannot ({str(error).rstrip('.')}); save the "
            "model again."
        ) from error


def _check_header(description: dict[str, Any]) -> None:
    if description.get("format") != "harmonium":
        raise ModelFileError(
            f"A model file must be of the format 'harmonium'; got {str(description.get('format'))[:60]!r}; pass the "
            "path that save was given."
        )
    schema = description.get("schema")
    if isinstance(schema, bool) or not isinstance(schema, int) or schema != SCHEMA:
        newer = isinstance(schema, int) and schema > SCHEMA
        advice = "install a newer harmonium" if newer else "save the model again with this version"
        raise ModelFileError(
            f"This version of harmonium reads model files of schema {SCHEMA}; got {str(schema)[:60]}; {advice}."
        )


def _check_fields(found: Any, expected: dict[str, Any], where: str) -> None:
    if not isinstance(found, dict):
        raise ModelFileError(f"{where} must be a JSON object; found {type(found).__name__}; save the model again.")
    for name in sorted(set(found) ^ set(expected)):
        problem = "is missing" if name in expected else "is unknown"
        raise ModelFileError(
            f"{where} must have the entries {', '.join(expected)}; {name!r} {problem}; save the model again."
        )
    for name, kind in expected.items():
        if not isinstance(found[name], kind) or (kind is int and isinstance(found[name], bool)):
            raise ModelFileError(
                f"{where} must have the right kind of value in every entry; {name!r} is "
                f"{type(found[name]).__name__}; save the model again."
            )


def _check_signatures(described: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    for name in sorted(set(described) ^ set(tensors)):
        problem = "is missing" if name in described else "is not described"
        raise ModelFileError(
            f"A model file must hold exactly the tensors of its description; {name!r} {problem}; save the model again."
        )
    for name, tensor in tensors.items():
        if described[name] != _signature(tensor):
            raise ModelFileError(
                f"Tensor {name!r} must be as described ({str(described[name])[:80]}); found {_signature(tensor)}; save "
                "the model again."
            )


def _fitted(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> Fitted:
    views = description["views"]
    for view, entry in views.items():
        _check_fields(entry, _VIEW_FIELDS, f"View {view!r} of a model file")
    fitted = Fitted(
        families={},
        hidden=_hidden(dict(description["hidden"]), tensors.get(f"parameters/{HIDDEN_BIAS}")),
        parameters=_under("parameters/", tensors),
        reference=_under("reference/", tensors),
        feature_names={
            view: _names(view, entry) for view, entry in views.items() if entry["feature_names"] is not None
        },
        facts={key: decode(value, key) for key, value in description["fitted"].items()},
        extra=_under("extra/", tensors),
    )
    for view, entry in views.items():
        # the width is checked against a tensor before anything of that width is made
        _check_shape(f"parameters/{bias_of(view)}", fitted.parameters.get(bias_of(view)), (entry["n_features"],))
        fitted.families[view] = _family(view, entry, tensors)
    _check_parameters(fitted)
    unknown = sorted(set(tensors) - set(_tensors_of(fitted)))
    if unknown:
        raise ModelFileError(
            f"A model file may only hold tensors of its views; {unknown[0]!r} belongs to none; save the model again."
        )
    return fitted


def _under(prefix: str, tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _names(view: str, entry: dict[str, Any]) -> list[str]:
    names = entry["feature_names"]
    if len(names) != entry["n_features"] or not all(isinstance(name, str) for name in names):
        raise ModelFileError(
            f"View {view!r} must have a name for each of its {entry['n_features']} features; found {len(names)} "
            "entries; save the model again."
        )
    return list(names)


def _hidden(entry: dict[str, Any], bias: np.ndarray | None) -> HiddenLayer:
    n_units = entry.pop("n_units", None)
    hidden = decode_part(entry, "hidden")
    if isinstance(n_units, bool) or not isinstance(n_units, int) or n_units < 1 or not isinstance(hidden, HiddenLayer):
        raise ModelFileError(
            f"A model file must have a hidden layer of at least one unit; found {type(hidden).__name__} with "
            f"{str(n_units)[:20]}; save the model again."
        )
    # the number is checked against a tensor before anything of that size is made
    _check_shape(f"parameters/{HIDDEN_BIAS}", bias, (n_units,))
    try:
        # units may have been removed
        return hidden.keep(n_units) if isinstance(hidden, SpikeSlab) else hidden.bind(n_units)
    except (ValueError, TypeError) as error:
        raise ModelFileError(
            f"The hidden layer of a model file must be valid; it is not ({str(error).rstrip('.')}); save the "
            "model again."
        ) from error


def _family(view: str, entry: dict[str, Any], tensors: dict[str, np.ndarray]) -> Family:
    family = decode_part(entry["family"], f"the family of view {view!r}")
    if not isinstance(family, Family):
        raise ModelFileError(f"View {view!r} must have a family; found {type(family).__name__}; save the model again.")
    prefix = f"constants/{view}/"
    constants = {str(name): tensors.get(f"{prefix}{name}") for name in entry["constants"]}
    try:
        if any(value is None for value in constants.values()):
            raise ValueError("a constant is missing")
        bound = family.restore(
            entry["n_features"], {name: value for name, value in constants.items() if value is not None}
        )
        if set(bound.constants()) != set(constants):
            raise ValueError(f"the constants are {sorted(bound.constants())}")
        # one row there and back says whether the constants fit the width
        statistic = np.asarray(bound.encode(np.zeros((1, bound.n_columns), dtype=np.float32)))
        sites = np.asarray(bound.spread(np.zeros((1, bound.n_sites), dtype=bool)))
        bound.decode(statistic)
        if {statistic.shape, sites.shape} != {(1, bound.n_features_)}:
            raise ValueError(f"they do not fit {entry['n_features']} features")
        bound.support  # noqa: B018 (reads the parameters of the family)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise ModelFileError(
            f"View {view!r} must have the constants of {type(family).__name__}; found {sorted(constants)} "
            f"({str(error).rstrip('.')}); save the model again."
        ) from error
    return bound


def _check_parameters(fitted: Fitted) -> None:
    """Names, shapes and values of parameters and reference means, as the families and the hidden layer imply them."""
    units = fitted.hidden.n_units_
    shapes: dict[str, tuple[int, ...]] = {HIDDEN_BIAS: (units,)}
    shapes |= {own_of(HIDDEN, name): np.shape(value) for name, value in fitted.hidden.own_parameters().items()}
    for view, family in fitted.families.items():
        shapes |= {weights_of(view): (family.n_features_, units), bias_of(view): (family.n_features_,)}
        shapes |= {own_of(view, name): np.shape(value) for name, value in family.own_parameters().items()}
    references = {view: (family.n_features_,) for view, family in fitted.families.items()}
    for group, found, expected in (
        ("parameters", fitted.parameters, shapes),
        ("reference", fitted.reference, references),
    ):
        for name in sorted(set(found) | set(expected)):
            _check_shape(f"{group}/{name}", found.get(name), expected.get(name))
        lost = first_not_finite(found)
        if lost is not None:
            raise ModelFileError(
                f"A model file must hold finite numbers; tensor '{group}/{lost}' has others; fit the model again."
            )


def _check_shape(name: str, found: np.ndarray | None, expected: tuple[int, ...] | None) -> None:
    if found is None or expected is None or found.shape != expected or found.dtype.kind != "f":
        got = "none" if found is None else f"{found.dtype.name} of shape {found.shape}"
        need = "no such tensor" if expected is None else f"numbers of shape {expected}"
        raise ModelFileError(f"Tensor {name!r} must be {need}; found {got}; save the model again.")
