"""Parts by name, settings of parts that were left at their defaults, and what is asked before fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import harmonium
from harmonium import (
    IBP,
    EpsilonInsensitive,
    Harmonium,
    HarmoniumClassifier,
    HarmoniumRegressor,
    Hinge,
    Langevin,
    Stochastic,
)
from harmonium.core.parts import Part, as_part, named_parts, registered
from harmonium.families import Family, Poisson
from harmonium.heads import Head
from harmonium.hidden import GaussianUnits, HiddenLayer
from harmonium.objectives import Objective, PersistentCD
from harmonium.report import SensitivityDisplay
from harmonium.training import Driver
from harmonium.training.drivers.optimizers import Optimizer
from harmonium.training.posterior.priors import Prior
from harmonium.weak import LatentSVM, Loss
from tests.cases.bad_input import assert_one_sentence

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(1.0, size=(40, 4)).astype(float)
REAL = RNG.normal(size=(40, 3))
Y = np.arange(40) % 2
ROLES: list[type[Part]] = [HiddenLayer, Objective, Head, Driver, Family, Optimizer, Prior, Loss]
QUICK: dict[str, Any] = {"n_components": 2, "random_state": 0, "driver": Stochastic(max_iter=1)}


# ---- names -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.__name__)
def test_every_part_answers_to_its_names_and_no_two_to_the_same(role: type[Part]) -> None:
    names = named_parts(role.role)
    assert len(set(names.values())) == len(names)
    for name, part in names.items():
        for said in (name, name.upper(), name.replace("_", "-"), name.replace("_", " "), part.__name__):
            assert type(as_part(role, said)) is part
        assert all(type(as_part(role, said)) is part for said in part.also_called)
    missing = {part.__name__ for part in registered(role.role).values()} - {part.__name__ for part in names.values()}
    assert missing <= {"Binomial", "MatrixLoss", "FunctionLoss"}  # they need settings


def test_a_misspelt_name_is_told_what_may_have_been_meant() -> None:
    with pytest.raises(ValueError, match=r"got 'bernouli' \(did you mean 'bernoulli'\?\); take one of them"):
        Harmonium(hidden="bernouli").fit(REAL)


@pytest.mark.parametrize(
    ("name", "said", "part"),
    [
        ("hidden", "gaussian", GaussianUnits()),
        ("objective", "pcd", PersistentCD()),
        ("views", {"x": "poisson"}, {"x": Poisson()}),
        ("views", "poisson", Poisson()),
        ("views", ["Poisson"], [Poisson()]),
        ("driver", Stochastic(max_iter=1, optimizer="momentum"), None),
    ],
    ids=str,
)
def test_a_name_stands_for_a_part_with_default_settings(name: str, said: Any, part: Any, tmp_path: Path) -> None:
    X = {"x": REAL} if name == "hidden" else {"x": COUNTS}
    model = clone(Harmonium(**{**QUICK, name: said}))
    assert model.get_params(deep=False)[name] is getattr(model, name)
    assert repr(getattr(model.fit(X), name)) == repr(said)
    if part is not None:
        same = Harmonium(**{**QUICK, name: part}).fit(X)
        np.testing.assert_array_equal(model.components_, same.components_)
    model.save(tmp_path / "model.safetensors")
    again = harmonium.load(tmp_path / "model.safetensors")
    assert repr(again) == repr(model)
    np.testing.assert_array_equal(again.components_, model.components_)


def test_heads_and_drivers_go_by_name() -> None:
    kept: dict[str, Any] = {"n_components": 2, "random_state": 0, "validation_fraction": 0}
    model = HarmoniumClassifier(**kept, head="label_view", driver="lbfgs", objective="mean field")
    model.set_params(driver__max_iter=1)
    assert type(model.fit(REAL, Y).fitted_.head).__name__ == "LabelView" and not hasattr(model, "partial_fit")
    assert not hasattr(HarmoniumClassifier(driver="L-BFGS"), "partial_fit")
    assert HarmoniumClassifier(head="multi_label_hinge").__sklearn_tags__().classifier_tags.multi_label
    draws = Langevin(n_draws=1, n_warmup=2, n_chains=1, prior="empirical_bayes", start=None)
    assert Harmonium(2, driver=draws, hidden="Gaussian", random_state=0).fit(REAL).fitted_.posterior
    with pytest.raises(ValueError, match="began with, Hinge; got LabelView"):
        HarmoniumClassifier(**{**QUICK, "validation_fraction": 0}, head=Hinge(C=1.0)).partial_fit(REAL, Y).set_params(
            head="label_view"
        ).partial_fit(REAL, Y)


def test_losses_of_weak_supervision_go_by_name() -> None:
    pytest.importorskip("piqp")
    bags = [np.array([[1.0, 0], [0, 0]]), np.array([[0, 0], [0, 1.0]])] * 3
    model = LatentSVM(loss="zero-one").fit(bags, [0, 1] * 3)
    np.testing.assert_array_equal(model.coef_, LatentSVM().fit(bags, [0, 1] * 3).coef_)
    with pytest.raises(ValueError, match="LatentSVM needs loss to be 'overlap' or 'zero_one', or a Loss") as refusal:
        LatentSVM(loss="hamming").fit(bags, [0, 1] * 3)
    assert_one_sentence(str(refusal.value))


@pytest.mark.parametrize(
    ("parameters", "choices"),
    [
        ({"hidden": "gauss"}, "'bernoulli', 'binomial', 'composed', 'factor', 'gaussian', 'ibp' or 'spike_slab'"),
        ({"objective": "gradient"}, "'discriminative', 'exact_likelihood', 'mean_field', 'persistent' or 'sampled'"),
        ({"driver": "sgd"}, "'langevin', 'lbfgs', 'metropolis', 'spectral' or 'stochastic'"),
        ({"head": "svm"}, "'epsilon_insensitive', 'hinge', 'label_view', 'multi_label_hinge' or 'ordinal'"),
        (
            {"views": "normal"},
            "'bernoulli', 'beta', 'categorical', 'chain', 'gaussian', 'gaussian_mrf', 'ising', 'negative_binomial', ",
        ),
    ],
    ids=str,
)
def test_other_names_are_refused_with_the_choices(parameters: dict[str, str], choices: str) -> None:
    model = HarmoniumClassifier(2, **parameters)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=choices) as refusal:
        model.fit(REAL, Y)
    assert_one_sentence(str(refusal.value))
    assert repr(next(iter(parameters.values()))) in str(refusal.value)


# ---- settings of default parts ---------------------------------------------------------------------------------------
def test_settings_of_parts_that_were_left_out_can_be_set() -> None:
    settings = {"head__C": 2.0, "driver__max_iter": 3, "hidden__topics__n_units": 4, "objective__n_steps": 2}
    model = HarmoniumClassifier().set_params(**settings)
    assert repr(model.head) == repr(Hinge(C=2.0)) and model.get_params()["head__C"] == 2.0
    assert (model.hidden.topics.n_units, model.objective.n_steps) == (4, 2)  # type: ignore[union-attr]
    # the driver is the default of a classifier in all else
    assert (model.driver.max_iter, model.driver.average, model.driver.learning_rate) == (3, True, 0.01)  # type: ignore[union-attr]
    assert repr(clone(model)) == repr(model)
    assert HarmoniumRegressor().set_params(head__C=2.0).head.C == 2.0  # type: ignore[union-attr]
    assert isinstance(HarmoniumRegressor().set_params(head__C=2.0).head, EpsilonInsensitive)
    selecting = HarmoniumClassifier().set_params(driver__max_iter=3, hidden=IBP())
    assert selecting.driver.learning_rate == 0.03  # type: ignore[union-attr]
    named = Harmonium(hidden="gaussian").set_params(hidden__variance=2.0)
    assert repr(named.hidden) == repr(GaussianUnits(variance=2.0))
    assert HarmoniumClassifier().get_params()["head"] is None and "head__C" not in HarmoniumClassifier().get_params()


def test_the_same_fit_with_a_default_part_and_one_made_by_its_settings() -> None:
    plain = Harmonium(2, random_state=0).set_params(driver__max_iter=2).fit(REAL)
    given = Harmonium(2, driver=Stochastic(max_iter=2), random_state=0).fit(REAL)
    np.testing.assert_array_equal(plain.components_, given.components_)


def test_a_part_of_the_user_is_set_as_scikit_learn_does() -> None:
    head = Hinge()
    assert HarmoniumClassifier(head=head).set_params(head__C=3.0).head is head and head.C == 3.0
    model = HarmoniumClassifier(head=head).set_params(head=None, head__C=4.0)
    assert model.head is not head and head.C == 3.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"head__cost": 1.0, "head__D": 1}, "Invalid parameter 'D'"),
        ({"n_components": 7, "tail__C": 1}, "Invalid parameter 'tail'"),
        ({"n_components": 7, "views__n": 1}, "needs views to be a part before views__n can be set; got 'infer'"),
        ({"n_components": 7, "driver__optimizer__beta1": 1}, "needs optimizer to be a part before optimizer__beta1"),
        ({"head": "svm", "head__C": 1}, "needs head to be 'epsilon_insensitive', "),
    ],
    ids=str,
)
def test_settings_that_are_refused_change_nothing(given: dict[str, Any], message: str) -> None:
    model = HarmoniumClassifier()
    with pytest.raises(ValueError, match=message):
        model.set_params(**given)
    assert repr(model) == repr(HarmoniumClassifier())


def test_search_and_sensitivity_need_no_parts_of_the_user() -> None:
    model = HarmoniumClassifier(2, random_state=0, validation_fraction=0).set_params(driver__max_iter=1)
    search = GridSearchCV(model, {"head__C": [0.1, 1.0], "objective__n_steps": [1]}, cv=2).fit(REAL, Y)
    assert search.best_params_["head__C"] in (0.1, 1.0) and model.head is None
    display = SensitivityDisplay.from_estimator(model, REAL, Y)
    assert display.parameter == "head__C" and len(display.table) == 5 and model.head is None


def test_a_default_head_that_does_not_take_labels_says_which_does() -> None:
    model = HarmoniumClassifier(**{**QUICK, "validation_fraction": 0}).set_params(head__C=1.0)
    with pytest.raises(ValueError, match=r"leave head out, or pass MultiLabelHinge\(\)") as refusal:
        model.fit(REAL, np.eye(2)[Y])
    assert_one_sentence(str(refusal.value))


# ---- before fit ------------------------------------------------------------------------------------------------------
ESTIMATORS = [Harmonium, HarmoniumClassifier, HarmoniumRegressor]
PROPERTIES = [
    (kind, name)
    for kind in ESTIMATORS
    for name in dir(kind)
    if name.endswith("_") and not name.startswith("_") and isinstance(getattr(kind, name), property)
]


@pytest.mark.parametrize(("kind", "name"), PROPERTIES, ids=lambda value: getattr(value, "__name__", value))
def test_what_is_learned_is_asked_for_before_fit(kind: type, name: str) -> None:
    assert not hasattr(kind(), name)
    with pytest.raises(NotFittedError, match=f"{kind.__name__} must be fitted before .* call fit") as refusal:
        getattr(kind(), name)
    assert_one_sentence(str(refusal.value))


def test_questions_before_fit() -> None:
    for call in (Harmonium().transform, HarmoniumClassifier().predict, LatentSVM().predict):
        with pytest.raises(NotFittedError, match="must be fitted before") as refusal:
            call(REAL)
        assert_one_sentence(str(refusal.value))
