"""From a JSON description and tensors back to a fitted model, with every claim checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from harmonium.energy import Energy
from harmonium.exceptions import ModelFileError
from harmonium.families import Family
from harmonium.heads import Head
from harmonium.hidden import HiddenLayer
from harmonium.objectives.problem import Problem
from harmonium.params import HIDDEN, HIDDEN_BIAS, Parameters, bias_of, first_not_finite, own_of, weights_of
from harmonium.persist.description import _ESTIMATORS, FORMAT, INPUT, facts_of, signature, tensors_of
from harmonium.persist.posterior import restored_posterior
from harmonium.storage import check_fields, decode, decode_part, decode_settings, rebuilds
from harmonium.tables.table import Table, TableColumn
from harmonium.targets import Targets, TargetSpec
from harmonium.training import FittedModel
from harmonium.training.state import Training

_FIELDS: dict[str, Any] = {
    "format": str,
    "schema": int,
    "library_version": str,
    "estimator": str,
    "parameters": dict,
    "input": dict,
    "hidden": dict,
    "views": dict,
    "head": (dict, type(None)),
    "fitted": dict,
    "tensors": dict,
}
_VIEW_FIELDS: dict[str, Any] = {
    "family": dict,
    "n_features": int,
    "feature_names": (list, type(None)),
    "constants": list,
}
# what parts raise when a file contradicts them
_CONTRADICTIONS = (ValueError, TypeError, KeyError, AttributeError, IndexError, ArithmeticError)
_PUT_TOGETHER = "A model file must hold a model that can be put together; it cannot ({reason}); save the model again."


@rebuilds(FORMAT)
def rebuild(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> Any:
    """Return the fitted estimator; every contradiction is a `ModelFileError`."""
    check_fields(description, _FIELDS, "The description of a model")
    check_fields(description["input"], dict.fromkeys(INPUT, object), "The input of a model file")
    if description["estimator"] not in _ESTIMATORS:
        raise ModelFileError(
            f"A model file may only name the estimators {', '.join(_ESTIMATORS)}; got {description['estimator']!r}; "
            "use the version that saved it."
        )
    _check_signatures(description["tensors"], tensors)
    kind: Any = _ESTIMATORS[description["estimator"]]
    estimator = decode_settings(kind, description["parameters"])
    try:
        rng = np.random.default_rng(check_random_state(estimator.random_state).randint(2**31 - 1))
        estimator.fitted_ = _fitted(description, tensors, rng, kind.kinds)
        for key, value in description["input"].items():
            if value is not None:
                setattr(estimator, key, decode(value, key))
    except _CONTRADICTIONS as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(_PUT_TOGETHER.format(reason=str(error).rstrip("."))) from error
    return estimator


def _fitted(
    description: dict[str, Any], tensors: dict[str, np.ndarray], rng: np.random.Generator, kinds: tuple[str, ...]
) -> FittedModel:
    """Return the fitted model from its description and tensors."""
    views, parameters = description["views"], _under("parameters/", tensors)
    families: dict[str, Family] = {}
    for view, entry in views.items():
        check_fields(entry, _VIEW_FIELDS, f"View {view!r} of a model file")
        # the width is checked against a tensor before anything of that width is made
        _check_shape(f"parameters/{bias_of(view)}", parameters.get(bias_of(view)), (entry["n_features"],))
        families[view] = _family(view, entry, tensors)
    hidden = _hidden(dict(description["hidden"]), parameters.get(HIDDEN_BIAS))
    facts = {key: decode(value, key) for key, value in description["fitted"].items()}
    meaning = _meaning(facts["targets"])
    head = _head(description["head"], meaning, _under("head/", tensors))
    if (head is None) != (not kinds) or (meaning is not None and meaning.kind not in kinds):
        raise ValueError(f"{description['estimator']} does not go with the head {type(head).__name__}")
    reference = _under("reference/", tensors)
    _check_parameters(families, hidden, head, parameters, reference)
    posterior = facts["posterior"]
    baseline_nll, C = float(facts["nats"]), facts["C"]
    if (C is None) != (head is None):
        raise ValueError("a weight C of the loss goes with a head, and a head with one")
    model = FittedModel(
        Problem(
            Energy(families, hidden), reference, head, float(C or 0.0) * baseline_nll, _view_weights(facts, families)
        ),
        Training(
            parameters,
            n_iter=int(facts["n_iter"]),
            history=dict(facts["history"]),
            stopped=str(facts["stopped"]),
            n_items=int(facts["n_items"]),
            n_settled=int(facts["n_settled"]),
            posterior=None
            if posterior is None
            else restored_posterior(tensors, parameters, families, str(posterior), rng),
            stream=rng,
        ),
        feature_names={
            view: _names(view, entry) for view, entry in views.items() if entry["feature_names"] is not None
        },
        meaning=meaning,
        baseline_nll=baseline_nll,
        C=None if C is None else float(C),
        validation=facts["validation"],
        usage=_usage(tensors, hidden),
        truncation_reached=bool(facts["truncation_reached"]),
        relevance=_relevance(_under("relevance/", tensors), families, hidden),
        missing={str(view): float(share) for view, share in facts["missing"].items()},
        table=None if facts["table"] is None else _table(facts["table"], families),
        shares={str(part): float(share) for part, share in facts["shares"].items()},
        remarks=tuple(map(str, facts["remarks"])),
    )
    strange = sorted(set(facts) - set(facts_of(model)))
    if strange:
        raise ModelFileError(
            f"A model file may only hold facts that this version of harmonium knows; {strange[0]!r} is unknown; use "
            "the version that saved it."
        )
    unknown = sorted(set(tensors) - set(tensors_of(model)))
    if unknown:
        raise ModelFileError(
            f"A model file may only hold tensors of its parts; {unknown[0]!r} belongs to none; save the model again."
        )
    return model


def _view_weights(facts: dict[str, Any], families: dict[str, Family]) -> dict[str, float]:
    """Return the weights of the views; refuse those of others, and what is no weight."""
    weights = {str(view): float(weight) for view, weight in facts["view_weights"].items()}
    if not set(weights) <= set(families) or not all(0 < weight < np.inf for weight in weights.values()):
        raise ValueError("view_weights must be numbers above 0, of views that the model has")
    return weights


def _table(columns: Any, families: dict[str, Family]) -> Table:
    """Return the table that a model was fitted on; refuse one that does not make its views."""
    table = Table(
        tuple(
            TableColumn(str(c["name"]), c["reader"].restore(c["learned"]), str(c["view"]), float(c["missing"]))
            for c in columns
        )
    )
    for view, features in table.features.items():
        if view not in families or families[view].n_features_ != len(features):
            raise ValueError(f"the table makes {len(features)} features of view {view!r}")
    return table


def _under(prefix: str, tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the tensors whose names start with a prefix, without it."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _usage(tensors: dict[str, np.ndarray], hidden: HiddenLayer) -> np.ndarray | None:
    """Return the use of the units, if it was saved; refuse other shapes."""
    usage = tensors.get("usage")
    if usage is not None and (usage.shape != (hidden.n_units_,) or usage.dtype.kind != "f"):
        raise ValueError(f"usage must have {hidden.n_units_} numbers")
    return usage


def _relevance(found: dict[str, np.ndarray], families: dict[str, Family], hidden: HiddenLayer) -> dict[str, np.ndarray]:
    """Return what features are ranked by, if it was saved; refuse other views and shapes."""
    for view in set(found) | (set(families) if found else set()):
        shape = (families[view].n_features_, hidden.n_units_) if view in families else None
        _check_shape(f"relevance/{view}", found.get(view), shape)
        if not np.isfinite(found[view]).all():
            raise ModelFileError(
                f"A model file must hold finite numbers; tensor 'relevance/{view}' has others; fit the model again."
            )
    return found


def _meaning(targets: Any) -> TargetSpec | None:
    """Return what targets stand for."""
    if targets is None:
        return None
    found = targets["classes"]
    if not all(isinstance(classes, np.ndarray) and len(classes) > 1 for classes in found):
        raise ValueError("the classes must be two or more in every column")
    classes = list(found)
    if not all(np.array_equal(np.unique(c), c) for c in classes):
        raise ValueError("the classes must be different, and in order")
    names = targets.get("names")
    if names is not None and (len(names) != targets["n_columns"] or not all(isinstance(name, str) for name in names)):
        raise ValueError(f"the names of the targets must be {targets['n_columns']} texts")
    meaning = TargetSpec(targets["kind"], classes, bool(targets["one_column"]), int(targets["n_columns"]), names)
    if meaning.one_column != (meaning.n_columns == 1) or len(classes) not in (0, meaning.n_columns):
        raise ValueError(f"the classes must be those of {meaning.n_columns} columns")
    if bool(classes) == (meaning.kind == "number"):
        raise ValueError(f"targets of kind {meaning.kind!r} must have classes, unless they are numbers")
    return meaning


def _head(entry: dict[str, Any] | None, meaning: TargetSpec | None, constants: dict[str, np.ndarray]) -> Head | None:
    """Return the head, which checks its own constants."""
    if entry is None or meaning is None:
        return None
    head = decode_part(entry, "head")
    if not isinstance(head, Head) or meaning.kind not in head.kinds:
        raise ValueError(f"the head is {type(head).__name__}, for targets of kind {meaning.kind!r}")
    return head.restored(meaning, constants)


def _check_parameters(
    families: dict[str, Family],
    hidden: HiddenLayer,
    head: Head | None,
    parameters: Parameters,
    reference: dict[str, np.ndarray],
) -> None:
    """Refuse names, shapes and values of parameters and mean statistics that the parts do not imply."""
    units = hidden.n_units_
    shapes: dict[str, tuple[int, ...]] = {HIDDEN_BIAS: (units,)}
    shapes |= {own_of(HIDDEN, name): np.shape(value) for name, value in hidden.own_parameters().items()}
    for view, family in families.items():
        shapes |= {weights_of(view): (family.n_features_, units), bias_of(view): (family.n_features_,)}
        shapes |= {own_of(view, name): np.shape(value) for name, value in family.own_parameters().items()}
    if head is not None:
        shapes |= {name: value.shape for name, value in head.initial_parameters(hidden).items()}
        if head.linear_part_ is not None and head.linear_part_.curves is not None:
            head.linear_part_.curves.check(families)
        for view, (family, _) in head.added_views(Targets(np.zeros((0, 1)), np.zeros(0))).items():
            found_family = families.get(view)
            if type(found_family) is not type(family) or found_family.n_features_ != head.n_outputs_:
                raise ValueError(f"view {view!r} must be {type(family).__name__} with {head.n_outputs_} features")
    references = {view: (family.n_features_,) for view, family in families.items()}
    for group, found, expected in (("parameters", parameters, shapes), ("reference", reference, references)):
        for name in sorted(set(found) | set(expected)):
            _check_shape(f"{group}/{name}", found.get(name), expected.get(name))
        broken = first_not_finite(found)
        if broken is not None:
            raise ModelFileError(
                f"A model file must hold finite numbers; tensor '{group}/{broken}' has others; fit the model again."
            )


def _hidden(entry: dict[str, Any], bias: np.ndarray | None) -> HiddenLayer:
    """Return the hidden layer with its number of units."""
    n_units = entry.pop("n_units", None)
    hidden = decode_part(entry, "hidden")
    if isinstance(n_units, bool) or not isinstance(n_units, int) or n_units < 1 or not isinstance(hidden, HiddenLayer):
        raise ModelFileError(
            f"A model file must have a hidden layer of at least one unit; found {type(hidden).__name__} with "
            f"{str(n_units)[:20]}; save the model again."
        )
    # the number is checked against a tensor before anything of that size is made
    _check_shape(f"parameters/{HIDDEN_BIAS}", bias, (n_units,))
    return hidden.restore(n_units)


def _family(view: str, entry: dict[str, Any], tensors: dict[str, np.ndarray]) -> Family:
    """Return the family of a view with its constants, tried out on one row."""
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
        if {statistic.shape, sites.shape, (1, *bound.log_volume().shape)} != {(1, bound.n_features_)}:
            raise ValueError(f"they do not fit {entry['n_features']} features")
        bound.support  # noqa: B018 (reads the parameters of the family)
    except _CONTRADICTIONS as error:
        raise ModelFileError(
            f"View {view!r} must have the constants of {type(family).__name__}; found {sorted(constants)} "
            f"({str(error).rstrip('.')}); save the model again."
        ) from error
    return bound


def _names(view: str, entry: dict[str, Any]) -> list[str]:
    """Return the names of a view's features."""
    names = entry["feature_names"]
    if len(names) != entry["n_features"] or not all(isinstance(name, str) for name in names):
        raise ModelFileError(
            f"View {view!r} must have a name for each of its {entry['n_features']} features; found {len(names)} "
            "entries; save the model again."
        )
    return list(names)


def _check_shape(name: str, found: np.ndarray | None, expected: tuple[int, ...] | None) -> None:
    """Refuse a tensor that is missing, unexpected, or of another shape or kind than expected."""
    if found is None or expected is None or found.shape != expected or found.dtype.kind != "f":
        got = "none" if found is None else f"{found.dtype.name} of shape {found.shape}"
        need = "no such tensor" if expected is None else f"numbers of shape {expected}"
        raise ModelFileError(f"Tensor {name!r} must be {need}; found {got}; save the model again.")


def _check_signatures(described: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    """Refuse tensors that are not exactly those of the description."""
    for name in sorted(set(described) ^ set(tensors)):
        problem = "is missing" if name in described else "is not described"
        raise ModelFileError(
            f"A model file must hold exactly the tensors of its description; {name!r} {problem}; save the model again."
        )
    for name, tensor in tensors.items():
        if described[name] != signature(tensor):
            raise ModelFileError(
                f"Tensor {name!r} must be as described ({str(described[name])[:80]}); found {signature(tensor)}; save "
                "the model again."
            )
