"""The same model with fewer units: those that agree become one, and those that say nothing go."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harmonium.energy import Energy
from harmonium.hidden.merging import add_unit, agreeing_units
from harmonium.params import copy_parameters, couplings, units_of
from harmonium.training import FittedModel
from harmonium.training.feature_relevance import feature_relevance
from harmonium.training.pruning import use_of_units
from harmonium.views import Views
from harmonium.views.data import Data


def merged(model: FittedModel, views: Views, threshold: float) -> FittedModel:
    """Return the model with units that correlate by ``threshold`` or more over the items added to one of them.

    Units that are the same for all items are removed; one unit is always left. What all units together add to a feature
    or a score, on average over the items, stays as it is.
    """
    _check(model)
    data = Data(views)
    use = use_of_units(model.problem, model.parameters, data)
    others = ~model.energy.hidden.are_topics
    kept = ~model.energy.hidden.idle(use.deviation) | others
    kept[np.argmax(np.where(others, -1.0, use.deviation))] = True
    order = np.argsort(-use.deviation, kind="stable")
    order = order[~others[order]]
    parameters = copy_parameters(model.parameters)
    for unit, leader in agreeing_units(use.correlation, order[kept[order]], threshold):
        add_unit(parameters, unit, leader)
        kept[unit] = False
    n_units = int(kept.sum())
    smaller = model.energy.hidden.restore(n_units)
    if smaller.n_units is not None:
        smaller.set_params(n_units=n_units)
    training = replace(
        model.training,
        parameters=units_of(parameters, kept),
        # what remembers units that are gone
        slots=None,
        chains=None,
        n_updates=0,
        dual=None,
        average=None,
        n_averaged=0,
        idle_units=0,
    )
    problem = replace(model.problem, energy=Energy(model.families, smaller))
    after = use_of_units(problem, training.parameters, data)
    pairs = zip(couplings(model.parameters), couplings(training.parameters), strict=True)
    for (weights, _), (left, bias) in pairs:
        bias += (use.mean @ weights - after.mean @ left).astype(bias.dtype)
    found = feature_relevance(problem, training.parameters, data)
    return replace(model, problem=problem, training=training, relevance=found, remarks=())


def _check(model: FittedModel) -> None:
    """Refuse models whose units cannot be added up."""
    layer = model.energy.hidden
    if layer.selects:
        raise ValueError(
            f"Units that agree are merged while a layer that selects its units is fitted; got {type(layer).__name__}; "
            "use the model as it is."
        )
    if not layer.bounded:
        raise ValueError(
            "Only units with a largest value are the same if they agree, such as BernoulliUnits; got "
            f"{type(layer).__name__}; fit again with fewer units."
        )
    if model.posterior is not None:
        raise ValueError(
            "Units of several posterior draws agree in some draws and not in others; got a model with draws; fit "
            "again with fewer units."
        )
