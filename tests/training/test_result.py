"""What a fit leaves: one frozen object, replaced as a whole by whatever succeeds, and by nothing that is refused."""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import FrozenInstanceError, fields
from typing import Any

import numpy as np
import pytest

from harmonium import IBP, Harmonium, HarmoniumClassifier, Stochastic
from harmonium.exceptions import DivergenceError, InvalidViewError
from harmonium.heads import LabelView
from harmonium.hidden import FactorUnits
from harmonium.inspection import canonical_signs
from harmonium.objectives.problem import Problem
from harmonium.training import FittedModel
from tests.cases.supervised import X, Y, classifier, regressor, two_numbers


def unsupervised(**keywords: Any) -> Harmonium:
    return Harmonium(3, driver=Stochastic(max_iter=2), random_state=0, **keywords)


def assert_same_state(now: FittedModel, before: FittedModel) -> None:
    assert now.training.log == before.training.log and now.training.n_items == before.training.n_items
    assert now.training.stream.bit_generator.state == before.training.stream.bit_generator.state
    assert list(now.parameters) == list(before.parameters)
    for name, value in before.parameters.items():
        np.testing.assert_array_equal(now.parameters[name], value)


def test_problem_and_fitted_model_are_frozen() -> None:
    fitted = classifier().fit(X, Y).fitted_
    assert isinstance(fitted, FittedModel) and isinstance(fitted.problem, Problem)
    for frozen in (fitted, fitted.problem):
        for field in fields(frozen):
            with pytest.raises(FrozenInstanceError):
                setattr(frozen, field.name, None)


def test_all_that_is_fitted_is_in_one_place() -> None:
    for model in (unsupervised().fit(X), classifier().fit(X, Y)):
        fitted = [name for name in vars(model) if name.endswith("_") or name.startswith("_")]
        assert sorted(fitted) == ["fitted_", "n_features_in_"]


@pytest.mark.parametrize("make", [unsupervised, classifier, lambda: classifier(head=LabelView())])
def test_what_succeeds_replaces_the_fitted_model_and_leaves_the_old_one_alone(make: Any) -> None:
    model = make().fit(X, Y)
    for call in (
        lambda: model.fit(X, Y),
        lambda: model.partial_fit(X, Y),
        lambda: model.set_params(warm_start=True).fit(X, Y),
    ):
        old, copy = model.fitted_, deepcopy(model.fitted_)
        call()
        assert model.fitted_ is not old
        assert_same_state(old, copy)
    old, copy = model.fitted_, deepcopy(model.fitted_)
    assert canonical_signs(model).fitted_ is not old and model.fitted_ is old
    assert_same_state(old, copy)


@pytest.mark.parametrize("make", [unsupervised, classifier])
def test_what_is_refused_or_diverges_leaves_the_same_object(make: Any) -> None:
    model = make().fit(X, Y)
    fitted, copy = model.fitted_, deepcopy(model.fitted_)
    wrong = {"words": X["words"][:, :3]}
    for warm_start in (False, True):
        model.set_params(warm_start=warm_start)
        with pytest.raises(InvalidViewError):
            model.fit({"words": X["words"], "a.b": X["colour"]}, Y)
        with pytest.raises(InvalidViewError):
            model.partial_fit(wrong, Y)
        assert model.fitted_ is fitted
    model.set_params(driver=Stochastic(learning_rate=1e30, batch_size=20))
    for warm_start in (False, True):
        model.set_params(warm_start=warm_start)
        for call in (model.fit, model.partial_fit):
            with warnings.catch_warnings(), pytest.raises(DivergenceError):
                warnings.simplefilter("ignore", RuntimeWarning)
                call(X, Y)
            assert model.fitted_ is fitted
    assert_same_state(fitted, copy)


def test_a_first_fit_that_is_refused_leaves_nothing() -> None:
    model = unsupervised()
    with pytest.raises(InvalidViewError):
        model.fit({"a.b": X["words"]})
    assert not hasattr(model, "fitted_") and vars(model) == model.get_params(deep=False)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_refused_call_draws_no_random_numbers(method: str) -> None:
    state = np.random.RandomState(0)
    model = HarmoniumClassifier(3, driver=Stochastic(max_iter=1), random_state=state)
    before = state.get_state()[2]
    for data, y in (({"a.b": X["words"]}, Y), (X, Y[:-1]), (X, np.zeros(len(Y)))):
        with pytest.raises(ValueError):
            getattr(model, method)(data, y)
    assert state.get_state()[2] == before


def test_a_label_that_is_a_view_has_names_of_its_own() -> None:
    data, y = two_numbers()
    for model, expected in (
        (classifier(head=LabelView()).fit(X, Y), ["label_0=0", "label_0=1", "label_0=2"]),
        (regressor(head=LabelView()).fit(data, y), ["label_0", "label_1"]),
    ):
        assert model.fitted_.feature_names["label"] == expected
        assert list(model.topics("label", n=None, by="weight").index) == expected
        assert model.fitted_.input_names == ["words", "colour"]


@pytest.mark.parametrize("hidden", [FactorUnits(), IBP(truncation=4)])
def test_units_that_a_fit_has_rotated_or_removed_go_on_with_an_optimizer_that_starts_afresh(hidden: Any) -> None:
    driver = Stochastic(max_iter=3, batch_size=20)
    model = Harmonium(3, hidden=hidden, driver=driver, random_state=0).fit(X)
    assert model.fitted_.training.optimizer is None
    model.partial_fit(X)
    assert model.fitted_.training.optimizer.n_updates == -(-len(Y) // 20)
