"""From a JSON description and tensors back to a fitted model, with every claim checked."""

from __future__ import annotations

from typing import Any, get_type_hints

import numpy as np
from sklearn.utils import check_random_state

from harmonium.core.parameters import HIDDEN, HIDDEN_BIAS, Parameters, bias_of, extra_of, first_not_finite, weights_of
from harmonium.core.targets import TargetSpec
from harmonium.energy import Energy
from harmonium.exceptions import ModelFileError
from harmonium.families import Family
from harmonium.heads import Head
from harmonium.hidden import HiddenLayer
from harmonium.objectives.guide import Guide
from harmonium.objectives.problem import Problem
from harmonium.persist import schema_6
from harmonium.persist.description import _ESTIMATORS, FACTS, FORMAT, INPUT, TRAINING, facts_and_tensors, signature
from harmonium.persist.guide import check_guide
from harmonium.persist.posterior import restored_posterior
from harmonium.storage import check_fields, decode, decode_part, decode_settings, reason_of, rebuilds
from harmonium.storage.annotations import conforms
from harmonium.storage.models import SCHEMA
from harmonium.tables.embedding import Embedding
from harmonium.tables.table import Table, TableColumn
from harmonium.training import FittedModel
from harmonium.training.state import Training, TrainingLog

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
# facts beside those of the model and of its training
_OTHER_FACTS = ("posterior", "view_weights", "table", "guide")
# what the others are, by their names
_DECLARED = {name: hint for name, hint in get_type_hints(FittedModel).items() if name in FACTS}
_DECLARED |= {"log": TrainingLog, "n_items": int, "n_settled": int, "guide": Guide}
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
        given = {key: decode(value, key) for key, value in description["input"].items() if value is not None}
        _check_width(given.get("n_features_in_"), given.get("feature_names_in_"), estimator.fitted_.table is not None)
        for key, value in given.items():
            setattr(estimator, key, value)
    except _CONTRADICTIONS as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(_PUT_TOGETHER.format(reason=reason_of(error))) from error
    return estimator


def _check_width(found: Any, names: Any, is_table: bool) -> None:
    """Refuse a number of columns that is none, or that their names contradict."""
    if is_table and found is None:
        raise ValueError("a model of a table must have n_features_in_")
    if found is not None and (isinstance(found, bool) or not isinstance(found, int) or found < 1):
        raise ValueError("n_features_in_ must be a whole number above 0")
    if names is not None and (found is None or np.shape(names) != (found,) or len(set(names)) != found):
        raise ValueError(f"feature_names_in_ must be another name for each of {found} columns")


def _fitted(
    description: dict[str, Any], tensors: dict[str, np.ndarray], rng: np.random.Generator, kinds: tuple[str, ...]
) -> FittedModel:
    """Return the fitted model from its description and tensors."""
    views, parameters = description["views"], _under("parameters/", tensors)
    families = {view: _family(view, entry, parameters.get(bias_of(view)), tensors) for view, entry in views.items()}
    hidden = _hidden(dict(description["hidden"]), parameters.get(HIDDEN_BIAS))
    facts = _facts(description, tensors)
    meaning, C = facts["meaning"], facts["C"]
    head = _head(description["head"], meaning, _under("head/", tensors))
    if (head is None) != (not kinds) or (meaning is not None and meaning.kind not in kinds):
        raise ValueError(f"{description['estimator']} does not go with the head {type(head).__name__}")
    if (C is None) != (head is None):
        raise ValueError("a weight C of the loss goes with a head, and a head with one")
    energy, reference = Energy(families, hidden), _under("reference/", tensors)
    _check_parameters(families, hidden, head, parameters, reference)
    weights = _view_weights(facts.pop("view_weights"), families)
    target, table, guide = facts.pop("posterior"), facts.pop("table"), facts.pop("guide", None)
    if guide is not None:
        check_guide(guide, energy)
    posterior = None if target is None else restored_posterior(tensors, parameters, families, str(target), rng)
    own = {name: facts.pop(name) for name in TRAINING}
    model = FittedModel(
        Problem(energy, reference, head, float(C or 0.0) * facts["baseline_nll"], weights, guide),
        Training(parameters, posterior=posterior, stream=rng, **own),
        feature_names={
            view: _names(view, entry) for view, entry in views.items() if entry["feature_names"] is not None
        },
        table=None if table is None else _table(table, families, head),
        **facts,
    )
    _check_units(model)
    unknown = sorted(set(tensors) - set(facts_and_tensors(model)[1]))
    if unknown:
        raise ModelFileError(
            f"A model file may only hold tensors of its parts; {unknown[0]!r} belongs to none; save the model again."
        )
    return model


def _facts(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return the facts of a file, each of them what the field that is to hold it declares.

    Facts of the model that a file does not have take the defaults of their fields.
    """
    encoded = description["fitted"]
    if description["schema"] == SCHEMA - 1:
        encoded = schema_6.upgraded(encoded, tensors)
    strange = sorted(set(encoded) - {*FACTS, *TRAINING, *_OTHER_FACTS})
    if strange:
        raise ModelFileError(
            f"A model file may only hold facts that this version of harmonium knows; {strange[0]!r} is unknown; use "
            "the version that saved it."
        )
    facts = {name: decode(value, name, tensors) for name, value in encoded.items()}
    for name, declared in _DECLARED.items():
        if name in facts and not conforms(facts[name], declared):
            raise ValueError(f"{name} must be of the type {getattr(declared, '__name__', declared)}")
    return facts


def _view_weights(found: dict[str, float], families: dict[str, Family]) -> dict[str, float]:
    """Return the weights of the views; refuse those of others, and what is no weight."""
    weights = {str(view): float(weight) for view, weight in found.items()}
    if not set(weights) <= set(families) or not all(0 < weight < np.inf for weight in weights.values()):
        raise ValueError("view_weights must be numbers above 0, of views that the model has")
    return weights


def _table(columns: Any, families: dict[str, Family], head: Head | None) -> Table:
    """Return the table that a model was fitted on; refuse one that does not make its views."""
    table = Table(
        tuple(
            TableColumn(
                str(c["name"]),
                c["reader"].restore(c["learned"]),
                str(c["view"]),
                float(c["missing"]),
                Embedding.restored(c["embedding"]) if "embedding" in c else None,
            )
            for c in columns
        )
    )
    widths = {view: family.n_features_ for view, family in families.items()}
    for part in () if head is None else head.input_parts_:
        widths = part.n_features | widths
    for view, features in table.features.items():
        if view in table.linear_only and view not in widths:
            continue  # a model without a linear part does not see it
        if widths.get(view) != len(features):
            raise ValueError(f"the table makes {len(features)} features of view {view!r}")
    return table


def _under(prefix: str, tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the tensors whose names start with a prefix, without it."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _check_units(model: FittedModel) -> None:
    """Refuse what is said of units and features if it is of other ones."""
    usage, relevance, families = model.usage, model.relevance, model.families
    if usage is not None and (usage.shape != (model.n_units,) or usage.dtype.kind != "f"):
        raise ValueError(f"usage must have {model.n_units} numbers")
    for view in set(relevance) | (set(families) if relevance else set()):
        shape = (families[view].n_features_, model.n_units) if view in families else None
        _check_shape(f"relevance/{view}", relevance.get(view), shape)
    broken = first_not_finite(relevance)
    if broken is not None:
        raise ModelFileError(
            f"A model file must hold finite numbers; tensor 'relevance/{broken}' has others; fit the model again."
        )


def _check_targets(meaning: TargetSpec) -> None:
    """Refuse what targets cannot stand for."""
    classes, names = meaning.classes, meaning.names
    if not all(len(found) > 1 for found in classes):
        raise ValueError("the classes must be two or more in every column")
    if not all(np.array_equal(np.unique(found), found) for found in classes):
        raise ValueError("the classes must be different, and in order")
    if names is not None and len(names) != meaning.n_columns:
        raise ValueError(f"the names of the targets must be {meaning.n_columns} texts")
    if meaning.separator is not None and (meaning.kind != "label" or names is None):
        raise ValueError("tags must be labels with names")
    if meaning.one_column != (meaning.n_columns == 1) or len(classes) not in (0, meaning.n_columns):
        raise ValueError(f"the classes must be those of {meaning.n_columns} columns")
    if bool(classes) == (meaning.kind == "number"):
        raise ValueError(f"targets of kind {meaning.kind!r} must have classes, unless they are numbers")


def _head(entry: dict[str, Any] | None, meaning: TargetSpec | None, constants: dict[str, np.ndarray]) -> Head | None:
    """Return the head, which checks its own constants."""
    if meaning is not None:
        _check_targets(meaning)
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
    shapes |= {extra_of(HIDDEN, name): np.shape(value) for name, value in hidden.extra_parameters().items()}
    for view, family in families.items():
        shapes |= {weights_of(view): (family.n_features_, units), bias_of(view): (family.n_features_,)}
        shapes |= {extra_of(view, name): np.shape(value) for name, value in family.extra_parameters.initial.items()}
    if head is not None:
        shapes |= {name: value.shape for name, value in head.initial_parameters(hidden).items()}
        for part in head.input_parts_:
            part.check(families)
        for view, added in head.added_views.items():
            expected_family, found_family = type(added.family), families.get(view)
            if type(found_family) is not expected_family or found_family.n_features_ != head.n_outputs_:
                raise ValueError(f"view {view!r} must be {expected_family.__name__} with {head.n_outputs_} features")
    references = {view: (family.n_features_,) for view, family in families.items()}
    for group, found, expected in (("parameters", parameters, shapes), ("reference", reference, references)):
        for name in sorted(set(found) | set(expected)):
            _check_shape(f"{group}/{name}", found.get(name), expected.get(name))
        broken = first_not_finite(found)
        if broken is not None:
            raise ModelFileError(
                f"A model file must hold finite numbers; tensor '{group}/{broken}' has others; fit the model again."
            )
    for view, family in families.items():
        _check_domain(view, family, hidden, parameters[weights_of(view)], parameters[bias_of(view)])


def _check_domain(view: str, family: Family, hidden: HiddenLayer, weights: np.ndarray, bias: np.ndarray) -> None:
    """Refuse parameters with which a view has no distribution, and to which no step of training leads."""
    allowed = weights.copy(), bias.copy()
    family.domain.project(*allowed, hidden.support)
    if not all(np.allclose(*pair, rtol=1e-3, atol=1e-3) for pair in zip(allowed, (weights, bias), strict=True)):
        raise ModelFileError(
            f"A model file must hold parameters that its families allow; those of view {view!r} are not allowed by "
            f"{type(family).__name__}; fit the model again."
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


def _family(view: str, entry: dict[str, Any], bias: np.ndarray | None, tensors: dict[str, np.ndarray]) -> Family:
    """Return the family of a view with its constants, tried out on one row."""
    check_fields(entry, _VIEW_FIELDS, f"View {view!r} of a model file")
    # the width is checked against a tensor before anything of that width is made
    _check_shape(f"parameters/{bias_of(view)}", bias, (entry["n_features"],))
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
        codec = bound.codec
        statistic = np.asarray(codec.encode(np.zeros((1, codec.n_columns), dtype=np.float32)))
        sites = np.asarray(codec.spread(np.zeros((1, codec.n_sites), dtype=bool)))
        codec.decode(statistic)
        if {statistic.shape, sites.shape, (1, *codec.log_volume.shape)} != {(1, bound.n_features_)}:
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
