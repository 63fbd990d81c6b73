"""Estimators that select units are those of scikit-learn: checks, search, pickle, threads."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from harmonium import IBP, LBFGS, Harmonium, HarmoniumClassifier, Hinge, Stochastic
from harmonium.objectives import MeanFieldCD
from tests.cases.selection import FEW, HAS, X, classes_of, quick, select
from tests.cases.sklearn_checks import run_check


@pytest.fixture(scope="module")
def selected() -> Harmonium:
    return select()


BY_DESIGN = "rows of weight 0 are unlabelled, not absent; training is stochastic besides"


@parametrize_with_checks(
    [
        quick(6, driver=FEW),
        quick(6, layer={"kind": "real"}, objective=MeanFieldCD(), driver=LBFGS(max_iter=3)),
        HarmoniumClassifier(
            hidden=IBP(truncation=6),
            head=Hinge(C=1.0),
            driver=Stochastic(25, 25, learning_rate=0.2),
            validation_fraction=0,
            random_state=0,
        ),
    ],
    expected_failed_checks=lambda estimator: {
        "check_sample_weight_equivalence_on_dense_data": BY_DESIGN,
        "check_sample_weight_equivalence_on_sparse_data": BY_DESIGN,
    },
)
def test_passes_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    run_check(check, estimator)


def test_parameters_are_nested_and_cloned(selected: Harmonium) -> None:
    model = clone(selected)
    assert not hasattr(model, "unit_usage_") and model.hidden is not selected.hidden
    assert model.get_params()["hidden__truncation"] == 8 and model.get_params()["hidden__alpha"] == 2.0
    model.set_params(hidden__truncation=4, hidden__alpha="learn")
    assert repr(model.hidden) == "IBP(alpha='learn', truncation=4)" and selected.hidden.truncation == 8
    assert "n_units" not in IBP().get_params()
    # the layer wins over the estimator's own number, which is the default
    assert IBP(truncation=4).bind(9).n_units_ == 4 and IBP().bind(9).n_units_ == 9


def test_search_over_alpha() -> None:
    search = GridSearchCV(quick(5, driver=FEW), {"hidden__alpha": [0.5, 5.0, "learn"]}, cv=2).fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.hidden.alpha == search.best_params_["hidden__alpha"]


def test_pickle_keeps_the_model(selected: Harmonium) -> None:
    again = pickle.loads(pickle.dumps(selected))
    np.testing.assert_array_equal(again.transform(X), selected.transform(X))
    np.testing.assert_array_equal(again.fitted_.usage, selected.fitted_.usage)


@pytest.mark.parametrize("head", [None, Hinge(C=1.0)], ids=["views", "head"])
def test_same_result_on_one_thread_or_two(head: Hinge | None) -> None:
    results = []
    for n_jobs in (1, 2):
        settings_: dict[str, Any] = {"hidden": IBP(truncation=8), "driver": FEW, "random_state": 3, "n_jobs": n_jobs}
        if head is None:
            model = Harmonium(**settings_).fit(X)
        else:
            model = HarmoniumClassifier(head=head, **settings_).fit(X, classes_of(HAS))
        results.append(model)
    for name, value in results[0].fitted_.parameters.items():
        np.testing.assert_array_equal(results[1].fitted_.parameters[name], value)
    np.testing.assert_array_equal(results[0].fitted_.usage, results[1].fitted_.usage)
