"""Models by name, as ``--model`` takes them: recipes in small letters, and "auto"."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from harmonium import recipes
from harmonium.cli.target_column import Task
from harmonium.core.validation import misspelt
from harmonium.estimators import Harmonium, HarmoniumClassifier, HarmoniumRegressor

#: models by name: recipes in small letters, and shorter words for those that are words
MODELS: dict[str, Callable[..., Harmonium]] = {
    **{name.lower(): getattr(recipes, name) for name in recipes.__all__},
    "topics": recipes.TopicModel,
    "clusters": recipes.ClusterSpace,
}


def check_model_name(name: str) -> None:
    """Refuse a name of no model.

    Parameters
    ----------
    name : str
        "auto", or the name of a recipe in small letters.

    Raises
    ------
    ValueError
        If there is no such model.
    """
    if name != "auto" and name not in MODELS:
        raise ValueError(
            f"The model must be auto or one of {', '.join(MODELS)}; got {misspelt(name, MODELS)}; correct the name."
        )


def make_model(name: str, task: Task | None, n_topics: int | None = None, seed: int = 0, **settings: Any) -> Harmonium:
    """Return the estimator of a name.

    Parameters
    ----------
    name : str
        "auto", or the name of a recipe in small letters, such as "mmh". "auto" is what predicts best for a target, and
        readable topics without one.
    task : {"number", "class", "labels"} or None
        What is predicted; None for nothing.
    n_topics : int, optional
        Number of topics, or the largest number for models that find it. Default: that of the recipe.
    seed : int, default=0
        Seed of the fit.
    **settings : object
        Other parameters of estimators.

    Returns
    -------
    Harmonium
        An estimator that is not yet fitted.

    Raises
    ------
    ValueError
        If there is no such model, or it does not suit the task.

    Examples
    --------
    >>> type(make_model("auto", "number")).__name__, make_model("imm" + "h", "class", 30).hidden.truncation
    ('HarmoniumRegressor', 30)
    """
    settings = {"random_state": seed, **settings}
    topics: dict[str, Any] = {} if n_topics is None else {"n_components": n_topics}
    if name == "auto":
        if task is None:
            return recipes.TopicModel(**topics, **settings)
        return (HarmoniumRegressor if task == "number" else HarmoniumClassifier)(**topics, **settings)
    check_model_name(name)
    recipe = MODELS[name]
    accepted = list(inspect.signature(recipe).parameters)
    if n_topics is not None:
        topics = {accepted[0]: n_topics}  # some call it truncation
    if "task" in accepted:
        if task is None:
            raise ValueError(f"The model {name} predicts something; no target is given; name one, or choose auto.")
        settings["task"] = "regression" if task == "number" else "classification"
    model = recipe(**topics, **settings)
    predicts = isinstance(model, HarmoniumClassifier | HarmoniumRegressor)
    if predicts != (task is not None) or (task == "number" and isinstance(model, HarmoniumClassifier)):
        what = "no target" if task is None else f"a target that is a {task.rstrip('s')}"
        raise ValueError(f"A model must suit the target; {name} does not suit {what}; choose another, or auto.")
    return model
