"""Assembly of recipes from parts: defaults that settings replace, the estimator of a task, the driver of a prior."""

from __future__ import annotations

from inspect import signature
from typing import Any, Literal, TypeVar

from harmonium.core.validation import misspelt
from harmonium.estimators import Harmonium, HarmoniumClassifier, HarmoniumRegressor
from harmonium.training import EmpiricalBayes, Langevin, Prior

Model = TypeVar("Model", bound=Harmonium)
Task = Literal["classification", "regression"]


def assemble(kind: type[Model], views: Any, parts: dict[str, Any], settings: dict[str, Any]) -> Model:
    """Return the estimator with the views (inferred if None) and parts of a recipe, or what its caller sets instead."""
    known = signature(kind).parameters
    if unknown := [name for name in settings if name not in known]:
        raise TypeError(
            f"Beside settings of its own a recipe takes those of {kind.__name__}, {', '.join(known)}; got "
            f"{misspelt(unknown[0], known)}; correct the name."
        )
    return kind(**{"views": "infer" if views is None else views, **parts, **settings})


def estimator_for(task: Task) -> type[HarmoniumClassifier] | type[HarmoniumRegressor]:
    """Return the class of the estimator that learns this task."""
    if task not in ("classification", "regression"):
        raise ValueError(f"task must be 'classification' or 'regression'; got {task!r}; take one of them.")
    return HarmoniumClassifier if task == "classification" else HarmoniumRegressor


def with_langevin(prior: Prior | dict[str, Prior] | None, published: bool, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with the Langevin driver, unless another one is given, which then brings its own prior."""
    if prior is not None and "driver" in settings:
        raise ValueError(f"A driver that is given has the prior; got prior={prior!r} beside it; pass it to the driver.")
    if not published:
        return {"driver": Langevin(prior=prior), **settings}
    theirs = EmpiricalBayes(per="input", begin="weights") if prior is None else prior
    return {"driver": Langevin(prior=theirs, biases="learned"), **settings}
