"""Weak supervision beside the other estimators: checks of scikit-learn, a matrix as samples, threads, progress."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from rich.progress import Progress
from sklearn.datasets import load_iris, make_blobs
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from harmonium.weak import Bags, DissimilarityClassifier, IterativeLatentSVM, LatentSVM, OverlapLoss
from harmonium.weak import problem as problems
from harmonium.weak.progress import Bar, Silent, reporting
from tests.cases.sklearn_checks import run_check

ALL = [LatentSVM, IterativeLatentSVM, DissimilarityClassifier]


@parametrize_with_checks(
    [kind(random_state=0) for kind in ALL],
    expected_failed_checks=lambda estimator: {
        "check_class_weight_classifiers": "without an intercept no weights make all samples one class; see below"
    },
)
def test_passes_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    """All of them apply: scikit-learn's matrices are samples with one candidate each."""
    run_check(check, estimator)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ALL)
def test_passes_the_check_of_class_weights_with_a_constant_column(kind: type, n_classes: int) -> None:
    X, y = make_blobs(centers=n_classes, random_state=0, cluster_std=20)
    X = np.hstack([X, np.ones((len(X), 1))])
    train, test, y_train, _ = train_test_split(X, y, test_size=0.5, random_state=0)
    for heavy in range(n_classes):
        weights = {label: 1000 if label == heavy else 0.0001 for label in range(n_classes)}
        model = kind(class_weight=weights, max_iter=1000, random_state=0).fit(train, y_train)
        assert (model.predict(test) == heavy).mean() > 0.87  # as scikit-learn asks


def test_a_matrix_is_samples_with_one_candidate_each() -> None:
    X, y = load_iris(return_X_y=True)
    X = X - X.mean(axis=0)
    expected = LatentSVM(random_state=0).fit([row[None] for row in X], y)
    frame = pd.DataFrame(X, columns=list("abcd"))
    for samples in (X, X[:, None], X.tolist(), frame, scipy.sparse.csr_array(X), Bags.of_single_candidates(X)):
        model = LatentSVM(random_state=0).fit(samples, y)
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-6)
        labels, candidates = model.predict_latent(samples)
        assert (labels == expected.predict(X)).all() and not candidates.any()
    assert LatentSVM().fit(frame, y).feature_names_in_.tolist() == list("abcd")


@pytest.mark.parametrize("kind", ALL)
def test_with_one_candidate_each_all_are_the_svm_of_crammer_and_singer(kind: type) -> None:
    X, y = load_iris(return_X_y=True)
    X = np.hstack([X, np.ones((len(X), 1))])
    model = kind(C=3.0, tol=1e-5, random_state=0).fit(X, y)
    oracle = LinearSVC(C=3.0 / len(X), multi_class="crammer_singer", fit_intercept=False, tol=1e-6, max_iter=100_000)
    np.testing.assert_allclose(model.coef_, oracle.fit(X, y).coef_, atol=5e-3)


def test_pipelines_and_searches_take_matrices() -> None:
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(make_pipeline(StandardScaler(), LatentSVM()), {"latentsvm__C": [0.01, 10.0]}, cv=3)
    assert search.fit(X, y).best_score_ > -0.2


def many(n_samples: int = 250, n_candidates: int = 40) -> tuple[Bags, np.ndarray]:
    """Return bags of so many candidates that they are searched in several blocks."""
    rng = np.random.default_rng(0)
    y = np.arange(n_samples) % 2
    features = rng.normal(size=(n_samples, n_candidates, 3))
    features[np.arange(n_samples), rng.integers(0, n_candidates, n_samples), y] += 5
    starts = np.arange(n_candidates)
    boxes = np.stack([np.zeros(n_candidates), starts, np.full(n_candidates, 4), starts + 4], axis=1)
    return Bags.from_list(list(features), [boxes] * n_samples), y


@pytest.mark.parametrize("kind", ALL)
def test_the_result_is_the_same_for_any_number_of_threads(kind: type) -> None:
    bags, y = many()
    assert bags.offsets[-1] > 2 * problems._BLOCK  # else there would be nothing to share
    models = [kind(loss=OverlapLoss(), random_state=0, max_iter=3, n_jobs=n).fit(bags, y) for n in (1, 2, 3)]
    for other in models[1:]:
        np.testing.assert_array_equal(other.coef_, models[0].coef_)
        np.testing.assert_array_equal(other.predict_latent(bags)[1], models[0].predict_latent(bags)[1])
        posteriors = (np.concatenate(each.latent_posterior(bags, y)) for each in (models[0], other))
        np.testing.assert_array_equal(*posteriors)


# ---- progress ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ALL)
def test_verbose_shows_a_bar_that_ends_full_and_changes_nothing(kind: type, capsys: Any) -> None:
    bags, y = many(60, 5)
    silent = kind(random_state=0, max_iter=3).fit(bags, y)
    assert capsys.readouterr().out == ""
    shown = kind(random_state=0, max_iter=3, verbose=1).fit(bags, y)
    output = capsys.readouterr().out
    assert "training" in output and f"{shown.n_passes_} passes" in output and "bound" in output
    np.testing.assert_array_equal(shown.coef_, silent.coef_)
    with pytest.raises(ValueError, match="verbose"):
        kind(verbose=-1).fit(bags, y)


def test_the_bar_counts_passes_and_rounds() -> None:
    progress = Progress(disable=True)
    bar, task = Bar(progress), progress.tasks[0]
    bar.passed()
    assert task.total is None and task.fields["state"] == "round 1, 1 passes"
    bar.round(1, 0.5)
    bar.passed()
    assert task.fields["state"] == "round 2, bound 0.5, 2 passes"
    bar.complete()
    assert task.finished and task.total == 2


def test_without_a_bar_rounds_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    bags, y = many(60, 5)
    with caplog.at_level(logging.INFO, logger="harmonium"):
        model = LatentSVM(random_state=0, max_iter=3).fit(bags, y)
    assert [record.message.split(":")[0] for record in caplog.records] == [
        f"round {number + 1}" for number in range(model.n_iter_)
    ]
    with reporting(0) as reporter:
        assert type(reporter) is Silent
