"""Estimators that predict are those of scikit-learn: checks, clones, search, containers."""

from __future__ import annotations

from typing import Any

import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from harmonium import (
    LBFGS,
    DiscriminativeRBM,
    EpsilonInsensitive,
    Gaussian,
    HarmoniumClassifier,
    HarmoniumRegressor,
    Hinge,
    Stochastic,
    Views,
)
from harmonium.heads import LabelView
from harmonium.hidden import BernoulliUnits
from harmonium.objectives import MeanFieldCD, SampledCD
from harmonium.recipes import TWH
from tests.cases.sklearn_checks import run_check
from tests.cases.supervised import (
    FRESH,
    N_ROWS,
    QUICK,
    Y_FRESH,
    X,
    Y,
    assert_same_predictions,
    classifier,
    regressor,
    two_numbers,
)

BY_DESIGN = (
    "rows of weight 0 are unlabelled, not absent, and a weight of 2 doubles a row's label, not its views, which teach "
    "the model too; training is stochastic besides"
)


@parametrize_with_checks(
    [
        classifier(),
        regressor(),
        HarmoniumClassifier(**{**QUICK, "driver": Stochastic(8, 25, learning_rate=0.1)}),
        HarmoniumRegressor(**{**QUICK, "driver": Stochastic(8, 25, learning_rate=0.1)}),
        TWH(**QUICK, hidden=BernoulliUnits(), objective=SampledCD(), validation_fraction=0),
        TWH(**QUICK, task="regression", views=Gaussian("learn"), validation_fraction=0),
        DiscriminativeRBM(**QUICK, validation_fraction=0),
        classifier(
            head=Hinge(C=1.0, ridge=0.02, solver="alternate"), objective=MeanFieldCD(), driver=LBFGS(max_iter=20)
        ),
        regressor(
            head=EpsilonInsensitive(1.0, 0.02, solver="alternate"), objective=MeanFieldCD(), driver=LBFGS(max_iter=20)
        ),
    ],
    expected_failed_checks=lambda estimator: (
        {
            "check_sample_weight_equivalence_on_dense_data": BY_DESIGN,
            "check_sample_weight_equivalence_on_sparse_data": BY_DESIGN,
            "check_classifier_multioutput": "labels are cut where F1 is largest, not at one half",
        }
        | (
            {"check_class_weight_classifiers": "a label that is a view has no weights: class_weight is refused"}
            if isinstance(estimator.head, LabelView)
            else {}
        )
    ),
)
def test_passes_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    run_check(check, estimator)


def test_clone_and_nested_parameters() -> None:
    model = classifier(head=Hinge(C=1.0, cost=[[0, 1, 1], [2, 0, 1], [1, 1, 0]])).fit(X, Y)
    copy = clone(model)
    assert copy.head is not model.head and not hasattr(copy, "head_")
    assert copy.get_params()["head__C"] == 1.0
    assert_same_predictions(copy.fit(X, Y), model)
    copy.set_params(head__C=0.1, head__solver="alternate", driver__max_iter=2)
    assert (copy.head.C, copy.head.solver, copy.driver.max_iter) == (0.1, "alternate", 2)
    assert model.head.C == 1.0 and model.head is not model.fitted_.head  # the user's part stays as it is


def test_stock_search_over_the_weight_of_the_head() -> None:
    grid = {"head__C": [0.1, 1.0], "head__solver": ["joint", "alternate"]}
    search = GridSearchCV(classifier(n_components=10), grid, cv=2, error_score="raise").fit(Views(X), Y)
    assert (search.cv_results_["mean_test_score"] > 0.85).all()
    assert search.score(Views(FRESH), Y_FRESH) > 0.9
    numbers, y = two_numbers()
    assert cross_val_score(regressor(), Views(numbers), y[:, 0], cv=2, error_score="raise").mean() > 0.6


def test_output_containers_and_names() -> None:
    frame = pd.DataFrame(X["colour"], columns=["red", "green", "blue"])
    model = classifier().set_output(transform="pandas")
    latent = model.fit_transform(frame, Y)
    assert list(latent.columns) == list(model.get_feature_names_out())
    assert latent.columns[0] == "topic_0"
    assert list(model.feature_names_in_) == ["red", "green", "blue"]
    assert model.coef_.shape == (3, 35) and model.components_.shape == (35, 3)
    assert list(regressor().fit(frame, Y).get_feature_names_out())[-1] == "dimension_29"
    # a label that is a view is no input
    label = classifier(head=LabelView()).fit(frame, Y)
    assert label.n_features_in_ == 3 and label.fitted_.input_names == ["view0"] and label.coef_.shape == (3, 5)
    assert label.transform(frame).shape == (N_ROWS, 5)
