"""The same model with fewer units: those that agree become one, and those that say nothing go."""

from __future__ import annotations

from dataclasses import replace

from harmonium.training import FittedModel
from harmonium.training.finalize.relevance import feature_relevance
from harmonium.training.growth.prune import without_duplicates
from harmonium.training.guiding import named
from harmonium.views import Views
from harmonium.views.data import Data


def merged(model: FittedModel, views: Views, threshold: float) -> FittedModel:
    """Return the model with topics that correlate by ``threshold`` or more over the items added to one of them."""
    _check(model)
    data = Data(views)
    problem, parameters = without_duplicates(model.problem, model.parameters, data, threshold)
    training = model.training.with_parameters(parameters, log=replace(model.training.log, idle_units=0))
    found = feature_relevance(problem, parameters, data)
    return replace(model, problem=problem, training=training, relevance=found, remarks=(), edits=named(problem.guide))


def _check(model: FittedModel) -> None:
    """Refuse models whose units cannot be added up."""
    layer = model.energy.hidden
    if layer.selection.selects:
        raise ValueError(
            f"Units that agree are merged while a layer that selects its units is fitted; got {type(layer).__name__}; "
            "use the model as it is."
        )
    if not layer.support.bounded:
        raise ValueError(
            "Only units with a largest value are the same if they agree, such as BernoulliUnits; got "
            f"{type(layer).__name__}; fit again with fewer units."
        )
    if model.posterior is not None:
        raise ValueError(
            "Units of several posterior draws agree in some draws and not in others; got a model with draws; fit "
            "again with fewer units."
        )
