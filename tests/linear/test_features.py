"""Features of the linear part: naive-Bayes weights, Nystroem features, columns in the user's units."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC

from harmonium import Gaussian, HarmoniumClassifier, HarmoniumRegressor, Hinge, Stochastic, Views, load
from harmonium.heads import MultiLabelHinge
from harmonium.inspection import score_parts
from harmonium.linear.nb_weights import multiplied, naive_bayes_weights
from harmonium.linear.nystroem import Nystroem
from harmonium.linear.scaling import ViewScaler
from harmonium.linear.skip import LinearPart
from harmonium.linear.solvers import fit_label_svms, fit_svm, ridge_path, ridge_path_of_classes

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 200)
WORDS = RNG.poisson(np.where(np.arange(30) % 3 == Y[:, None], 0.6, 0.2)).astype(float)
NUMBERS = np.eye(3)[Y] + RNG.normal(size=(200, 3))
BOTH = np.hstack([WORDS, NUMBERS])
WEIGHT = RNG.uniform(0.5, 2, 200)


# ---- naive-Bayes weights ---------------------------------------------------------------------------------------------
def weights_by_hand(features: np.ndarray, towards: np.ndarray, against: np.ndarray, smoothing: float) -> np.ndarray:
    usable = [column for column in range(features.shape[1]) if features[:, column].min() >= 0]
    first = {column: towards @ features[:, column] + smoothing for column in usable}
    second = {column: against @ features[:, column] + smoothing for column in usable}
    factors = np.ones(features.shape[1])
    for column in usable:
        share, other = first[column] / sum(first.values()), second[column] / sum(second.values())
        factors[column] = abs(np.log(share / other)) ** 0.5
    return factors * np.linalg.norm(features) / np.linalg.norm(features * factors)


@pytest.mark.parametrize("sparse", [True, False])
def test_features_lean_as_by_hand_and_numbers_do_not(sparse: bool) -> None:
    features = scipy.sparse.csr_array(BOTH) if sparse else BOTH
    found = naive_bayes_weights(features, WEIGHT * (Y == 1), WEIGHT * (Y != 1), 0.3)
    np.testing.assert_allclose(found, weights_by_hand(BOTH, WEIGHT * (Y == 1), WEIGHT * (Y != 1), 0.3))
    assert len(set(found[30:])) == 1  # numbers that are negative in some rows
    product = multiplied(features, found)
    np.testing.assert_allclose(product.toarray() if sparse else product, BOTH * found)


def test_without_two_sides_nothing_leans() -> None:
    np.testing.assert_allclose(naive_bayes_weights(WORDS, np.ones(200), np.ones(200), 1.0), 1)
    np.testing.assert_allclose(naive_bayes_weights(np.zeros((3, 2)), np.ones(3), np.zeros(3), 1.0), 1)


@pytest.mark.parametrize("sparse", [True, False])
def test_models_with_naive_bayes_weights_are_those_of_scikit_learn_on_weighted_features(sparse: bool) -> None:
    features = scipy.sparse.csr_array(WORDS) if sparse else WORDS
    weights, bias = fit_svm(features, Y, WEIGHT, 4, C=0.1, smoothing=0.1)
    labels, label_bias = fit_label_svms(features, np.eye(3)[Y], WEIGHT, C=0.1, smoothing=0.1)
    for code in range(3):
        factors = weights_by_hand(WORDS, WEIGHT * (code == Y), WEIGHT * (code != Y), 0.1)
        oracle = LinearSVC(C=0.1, dual=False, tol=1e-6).fit(WORDS * factors, code == Y, WEIGHT)
        expected = oracle.decision_function(WORDS * factors)
        np.testing.assert_allclose(WORDS @ weights[:, code] + bias[code], expected, atol=5e-3)
        np.testing.assert_allclose(WORDS @ labels[:, code] + label_bias[code], expected, atol=5e-3)
    assert bias[3] == -1 and not weights[:, 3].any()  # a class without rows
    numbers = np.stack([NUMBERS[:, 0], NUMBERS.sum(axis=1)], axis=1)
    numbers[:9, 1] = np.nan
    weights, bias = ridge_path(features, numbers, WEIGHT, smoothing=1.0)(2.0)
    part, weight = numbers[9:, 1], WEIGHT[9:]
    above = weight * (part - np.average(part, weights=weight))
    factors = weights_by_hand(WORDS[9:], np.maximum(above, 0), np.maximum(-above, 0), 1.0)
    ridge = Ridge(alpha=0.5).fit(WORDS[9:] * factors, part, weight)
    np.testing.assert_allclose(WORDS @ weights[:, 1] + bias[1], ridge.predict(WORDS * factors), atol=1e-2)


def test_two_classes_that_lean_share_one_score() -> None:
    weights, bias = fit_svm(WORDS, (Y > 0).astype(int), WEIGHT, 2, C=1.0, smoothing=1.0)
    np.testing.assert_allclose(weights.sum(axis=1), 0, atol=1e-12)
    assert bias.sum() == pytest.approx(0)


def test_least_squares_of_classes_are_those_of_scikit_learn() -> None:
    weights, bias = ridge_path_of_classes(NUMBERS, Y, WEIGHT, 3)(2.0)
    oracle = RidgeClassifier(alpha=0.5).fit(NUMBERS, Y, WEIGHT)
    np.testing.assert_allclose(NUMBERS @ weights + bias, oracle.decision_function(NUMBERS), atol=1e-6)


# ---- numbers ---------------------------------------------------------------------------------------------------------
def test_columns_vary_alike_or_as_in_the_users_units() -> None:
    values = NUMBERS * np.array([1.0, 10.0, 100.0])
    views = Views({"x": values})
    family = Gaussian().bind(views.source("x").summary())
    batch = views.batch(np.arange(200), {"x": family}).views["x"]
    alike = ViewScaler.fitted(family, [batch], use_idf=False).transform(family, batch)
    np.testing.assert_allclose(alike.std(axis=0), np.sqrt(1 / 3), rtol=1e-3)
    own = ViewScaler.fitted(family, [batch], use_idf=False, data_scale=True).transform(family, batch)
    np.testing.assert_allclose(own, (values - values.mean(axis=0)) / np.sqrt(values.var(axis=0).sum()), atol=1e-5)


def test_nystroem_features_of_all_rows_are_the_kernel() -> None:
    rows = RNG.normal(size=(60, 4))
    near = Nystroem.fitted(rows, gamma=0.3)
    others = RNG.normal(size=(20, 4))
    # products with the features of landmarks are exact, whatever the row
    np.testing.assert_allclose(
        near.transform(others) @ near.transform(rows).T, rbf_kernel(others, rows, 0.3), atol=1e-5
    )
    twice = Nystroem.fitted(np.repeat(rows[:5], 4, axis=0), gamma=0.3)
    assert twice.basis.shape == (5, 5)  # equal rows are one landmark


# ---- the whole -------------------------------------------------------------------------------------------------------
def rings(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    angle = rng.uniform(0, 2 * np.pi, n_rows)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) * (1 + y)[:, None] + 0.2 * rng.normal(size=(n_rows, 2)), y


def test_what_no_line_separates_is_found_by_a_kernel_and_files_keep_it(tmp_path: Path) -> None:
    X, y = rings(300, 1)
    unseen, truth = rings(500, 2)
    model = HarmoniumClassifier(2, driver=Stochastic(max_iter=3), random_state=0).fit(X, y)
    assert model.score(unseen, truth) > 0.95 > 0.7 > LinearSVC().fit(X, y).score(unseen, truth)
    (path,) = model.fitted_.head.input_parts_
    assert path.scalers["view0"].nystroem is not None
    parts = score_parts(model, unseen)
    np.testing.assert_allclose(
        np.sum(list(parts.values()), axis=0)[:, 1] * 2, model.decision_function(unseen), atol=1e-6
    )
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict_proba(unseen), model.predict_proba(unseen))


def test_a_kernel_can_be_refused() -> None:
    X, y = rings(300, 1)
    head = Hinge(C=1.0, linear_part="linear")
    model = HarmoniumClassifier(2, head=head, driver=Stochastic(max_iter=1), random_state=0).fit(X, y)
    assert all(part.scalers["view0"].nystroem is None for part in model.fitted_.head.input_parts_)


def test_where_a_line_will_do_there_is_no_kernel() -> None:
    model = HarmoniumRegressor(2, driver=Stochastic(max_iter=3), random_state=0).fit(NUMBERS, NUMBERS.sum(axis=1))
    (path,) = model.fitted_.head.input_parts_
    assert path.scalers["view0"].nystroem is None


def test_labels_may_have_a_kernel() -> None:
    X, y = rings(300, 3)
    labels = np.stack([y, 1 - y], axis=1)
    head = MultiLabelHinge(C=1.0)
    model = HarmoniumClassifier(2, head=head, driver=Stochastic(max_iter=2), random_state=0).fit(X, labels)
    unseen, truth = rings(300, 4)
    assert (model.predict(unseen)[:, 0] == truth).mean() > 0.9


def test_files_that_do_not_fit_together_are_refused() -> None:
    X, y = rings(200, 5)
    model = HarmoniumClassifier(2, head=Hinge(C=1.0), driver=Stochastic(max_iter=1), random_state=0).fit(X, y)
    kept = model.fitted_.head.constants()
    assert LinearPart.restored(kept, 2) is not None
    for name, broken in [
        ("landmarks", kept["direct/view0/landmarks"][:, :1]),
        ("basis", kept["direct/view0/basis"][1:]),
        ("precision", np.array([np.nan])),
    ]:
        with pytest.raises(ValueError, match="linear part of view 'view0'"):
            LinearPart.restored(kept | {f"direct/view0/{name}": broken}, 2)
    with pytest.raises(ValueError, match="has"):
        LinearPart.restored({name: value for name, value in kept.items() if not name.endswith("basis")}, 2)
