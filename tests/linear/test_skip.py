"""The linear part: scaled views, linear models, stacking, missing views, files, parts of decisions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from harmonium import EpsilonInsensitive, HarmoniumClassifier, HarmoniumRegressor, Hinge, Stochastic, Views, load
from harmonium.heads import MultiLabelHinge
from harmonium.inspection import score_parts
from harmonium.linear.common_factors import CommonFactors
from harmonium.linear.nystroem import Nystroem
from harmonium.linear.scaling import ViewScaler
from harmonium.linear.search import linear_search
from harmonium.linear.skip import LinearPart
from harmonium.linear.solvers import fit_label_svms, fit_logistic, fit_svm, ridge_path
from harmonium.report import decision_table
from harmonium.views.data import Data

RNG = np.random.default_rng(0)
N_ROWS, N_WORDS = 300, 60
Y = RNG.integers(0, 3, N_ROWS)
WORDS = scipy.sparse.csr_array(RNG.poisson(np.where(np.arange(N_WORDS) % 3 == Y[:, None], 0.5, 0.2)).astype(float))
COLOUR = np.eye(3)[Y] * 1.5 + RNG.normal(size=(N_ROWS, 3))
X = {"words": WORDS, "colour": COLOUR}
FEW_EPOCHS = Stochastic(max_iter=10)  # what is asked about here does not depend on how good topics are


def classifier(**keywords: Any) -> HarmoniumClassifier:
    return HarmoniumClassifier(5, driver=FEW_EPOCHS, random_state=0, **keywords)


def regressor() -> HarmoniumRegressor:
    return HarmoniumRegressor(3, head=EpsilonInsensitive(C=1.0), driver=FEW_EPOCHS, random_state=0)


@pytest.fixture(scope="module")
def model() -> HarmoniumClassifier:
    return classifier().fit(X, Y)


# ---- features --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("sparse", [True, False])
def test_words_are_those_of_scikit_learn(sparse: bool, model: HarmoniumClassifier) -> None:
    views = Views({"words": WORDS if sparse else WORDS.toarray()})
    family = model.families_["words"]
    batch = views.batch(np.arange(N_ROWS), {"words": family}).views["words"]
    scaler = ViewScaler.fitted(family, [batch], use_idf=True)
    found = scaler.transform(family, batch)
    expected = TfidfTransformer(sublinear_tf=True).fit_transform(WORDS).toarray()
    np.testing.assert_allclose(found.toarray() if sparse else found, expected, atol=1e-6)


def test_numbers_have_rows_of_length_one_on_average(model: HarmoniumClassifier) -> None:
    family = model.families_["colour"]
    batch = Views({"colour": COLOUR}).batch(np.arange(N_ROWS), {"colour": family}).views["colour"]
    found = ViewScaler.fitted(family, [batch], use_idf=True).transform(family, batch)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-6)
    assert np.square(found).sum(axis=1).mean() == pytest.approx(1)


# ---- linear models: scikit-learn is the oracle -----------------------------------------------------------------------
def test_linear_models_are_those_of_scikit_learn() -> None:
    weight = RNG.uniform(0.5, 2, N_ROWS)
    weights, bias = fit_svm(COLOUR, Y, weight, 4, C=0.5)
    oracle = LinearSVC(C=0.5, dual=False).fit(COLOUR, Y, weight)
    np.testing.assert_allclose(COLOUR @ weights[:, :3] + bias[:3], oracle.decision_function(COLOUR), atol=2e-3)
    assert bias[3] == -1 and not weights[:, 3].any()  # a class without rows
    weights, bias = fit_logistic(COLOUR, Y, weight, 3, C=0.5)
    smooth = LogisticRegression(C=0.5, tol=1e-6).fit(COLOUR, Y, weight)
    np.testing.assert_allclose(COLOUR @ weights + bias, smooth.decision_function(COLOUR), atol=1e-2)
    labels = np.stack([Y == 0, Y == 5], axis=1).astype(float)
    weights, bias = fit_label_svms(COLOUR, labels, weight, C=0.5)
    one = LinearSVC(C=0.5, dual=False).fit(COLOUR, Y == 0, weight).decision_function(COLOUR)
    np.testing.assert_allclose(COLOUR @ weights[:, 0] + bias[0], one, atol=2e-3)
    assert bias[1] == -1
    numbers = np.stack([COLOUR.sum(axis=1), COLOUR[:, 0]], axis=1)
    numbers[:7, 1] = np.nan
    weights, bias = ridge_path(COLOUR, numbers, weight)(0.1)
    ridge = Ridge(alpha=10).fit(COLOUR[7:], numbers[7:, 1], weight[7:])
    np.testing.assert_allclose(COLOUR @ weights[:, 1] + bias[1], ridge.predict(COLOUR), atol=1e-3)


def test_two_classes_share_one_score() -> None:
    for separate in (fit_svm, fit_logistic):
        weights, bias = separate(COLOUR, (Y > 0).astype(int), np.ones(N_ROWS), 2, C=1.0)
        np.testing.assert_allclose(weights.sum(axis=1), 0, atol=1e-12)
        assert bias.sum() == pytest.approx(0)


def test_of_equal_models_the_one_with_the_smallest_weights_is_taken(model: HarmoniumClassifier) -> None:
    rows = np.arange(N_ROWS)
    folds = [(rows[100:], rows[:100]), (rows[:100], rows[100:])]
    targets = model.fitted_.head.targets(_labels())
    found = linear_search(model.fitted_.head, model.fitted_.families, Data(Views(X), targets), folds)
    best = found.best()
    lowest = min(one.error for one in found.tried)
    assert lowest <= best.error < lowest + 0.03
    alike = [one for one in found.tried if one.settings.weights == best.settings.weights and one.error == lowest]
    assert all(best.settings.C <= one.settings.C for one in alike if one.settings.loss == best.settings.loss)


def _labels() -> Any:
    from tests.cases.heads import labelled

    return labelled("class", Y[:, None], [3])


# ---- the whole -------------------------------------------------------------------------------------------------------
def test_a_linear_truth_is_found_directly_and_files_keep_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    wide = rng.normal(size=(900, 30))
    y = wide @ rng.normal(size=30) + 0.5 * rng.normal(size=900)
    topics, both = (
        HarmoniumRegressor(
            3, head=EpsilonInsensitive(linear_part=setting), driver=Stochastic(max_iter=40), random_state=0
        ).fit(wide[:300], y[:300])
        for setting in (False, "auto")
    )
    ridge = Ridge(alpha=1.0).fit(wide[:300], y[:300]).score(wide[300:], y[300:])
    assert both.score(wide[300:], y[300:]) > max(ridge - 0.01, topics.score(wide[300:], y[300:]))
    both.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(wide), both.predict(wide))


def test_parts_add_up_and_tell_where_decisions_come_from(model: HarmoniumClassifier) -> None:
    parts = score_parts(model, X)
    np.testing.assert_allclose(np.sum(list(parts.values()), axis=0), model.decision_function(X), atol=1e-6)
    table = decision_table(model, X)
    assert len(table) == N_ROWS and table["share of topics"].between(0, 1).all()
    alone = classifier(head=Hinge(C=1.0, linear_part=False)).fit(X, Y)
    assert set(score_parts(alone, X)) == {"topics", "bias"}
    assert (decision_table(alone, X)["share of topics"] == 1).all()
    tags = classifier(head=MultiLabelHinge(C=1.0)).fit(X, np.eye(3)[Y])
    assert decision_table(tags, X)["share of topics"].between(0, 1).all()
    number = regressor().fit(X, Y + 0.1 * RNG.normal(size=N_ROWS))
    assert decision_table(number, X)["share of topics"].between(0, 1).all()
    two = regressor().fit(X, COLOUR[:, :2])
    with pytest.raises(ValueError, match="one column of classes or numbers; got 2 columns"):
        decision_table(two, X)


def test_a_view_that_is_lacking_adds_what_is_expected_given_the_others(model: HarmoniumClassifier) -> None:
    (path,) = model.fitted_.head.input_parts_
    whole = score_parts(model, X)
    parts = score_parts(model, {"colour": COLOUR})["words"]
    np.testing.assert_allclose(path.typical["words"], whole["words"].mean(axis=0), atol=1e-6)
    # the conditional mean of a normal vector, by its covariance
    both = np.hstack([whole["colour"], whole["words"]])
    covariance = np.cov(both.T, bias=True) + path.common.noise * np.eye(6)
    slope = np.linalg.solve(covariance[:3, :3], covariance[:3, 3:])
    expected = both[:, 3:].mean(axis=0) + (both[:, :3] - both[:, :3].mean(axis=0)) @ slope
    np.testing.assert_allclose(parts, expected, atol=1e-5)
    errors = [np.square(given - whole["words"]).sum() for given in (parts, path.typical["words"])]
    assert errors[0] < 0.9 * errors[1]
    assert model.score({"colour": COLOUR}, Y) > 0.6
    nothing = score_parts(model, {"colour": np.full((2, 3), np.nan)})
    np.testing.assert_allclose(nothing["words"], np.tile(path.typical["words"], (2, 1)))


def test_explanations_of_rows_that_lack_a_view_add_up(model: HarmoniumClassifier) -> None:
    rows = {"colour": COLOUR[:3]}
    expected = np.sum(list(score_parts(model, rows).values()), axis=0)
    for row, why in enumerate(model.explain(rows)):
        np.testing.assert_allclose(
            why.base + why.topics.sum(axis=0) + why.directly.sum(axis=0), expected[row], atol=1e-5
        )


def test_common_factors_are_kept_and_checked(model: HarmoniumClassifier, tmp_path: Path) -> None:
    rows = {"words": WORDS, "colour": np.where(np.arange(N_ROWS)[:, None] % 3 == 0, np.nan, COLOUR)}
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.decision_function(rows), model.decision_function(rows))
    (path,) = model.fitted_.head.input_parts_
    kept = path.constants()
    wide = kept["direct/words/loadings"]
    for name, broken in {
        "loadings": wide[:, :1],
        "loadings ": wide[:2],
        "loadings  ": np.full_like(wide, np.nan),
        "mean": np.zeros(2),
        "noise": np.zeros(1),
        "noise ": np.ones(2),
    }.items():
        with pytest.raises(ValueError, match="common factors need finite loadings and means of 3 scores"):
            LinearPart.restored(kept | {f"direct/words/{name.strip()}": broken}, 3)
    doubled = path.scaled(2.0)
    families, batch = model.families_, Views(rows).batch(np.arange(N_ROWS), model.families_)
    np.testing.assert_allclose(doubled.scores(families, batch), 2 * path.scores(families, batch), atol=1e-9)


def test_a_view_whose_absence_tells_something_keeps_what_was_learned_of_that() -> None:
    colour = np.where(Y[:, None] == 0, np.nan, COLOUR)  # to lack it tells the class
    more = {**X, "colour": colour, "shade": COLOUR + RNG.normal(size=(N_ROWS, 3))}
    model = classifier(head=Hinge(linear_part="linear")).fit(more, Y)
    (path,) = model.fitted_.head.input_parts_
    assert set(path.common.loadings) == {"words", "shade"}
    parts = score_parts(model, {"words": WORDS})
    np.testing.assert_allclose(parts["colour"], np.tile(path.typical["colour"], (N_ROWS, 1)))
    assert np.ptp(parts["shade"], axis=0).max() > 0.01
    alone = classifier(head=Hinge(linear_part="linear")).fit({"words": WORDS, "colour": colour}, Y)
    common = alone.fitted_.head.input_parts_[0].common
    assert common is None or np.abs(common.loadings["colour"]).max() < 1e-6  # words say nothing of it


def test_others_speak_for_a_view_that_few_training_rows_lacked_by_chance() -> None:
    # held-out rows that lack the view are some 45, which say the other way in a quarter of all draws: this one is kept
    rng = np.random.Generator(np.random.PCG64(1))
    noise = 2 * rng.normal(size=(N_ROWS, 3))  # shared by the views, which are good together alone
    rows = {"one": COLOUR + noise, "other": COLOUR - noise + 0.1 * rng.normal(size=(N_ROWS, 3))}
    rows |= {"third": np.hstack([COLOUR, noise]) + 0.1 * rng.normal(size=(N_ROWS, 6))}
    rows["other"][rng.random(N_ROWS) < 0.15] = np.nan
    model = classifier(head=Hinge(linear_part="linear")).fit(rows, Y)
    (path,) = model.fitted_.head.input_parts_
    assert set(path.common.loadings) == {"one", "other", "third"}


def test_many_scores_share_a_few_factors() -> None:
    rng = np.random.default_rng(0)
    factors, loadings = rng.normal(size=(400, 5)), rng.normal(size=(5, 160))
    added = dict(zip("ab", np.split(factors @ loadings + 0.1 * rng.normal(size=(400, 160)), 2, axis=1), strict=True))
    found = CommonFactors.of(added)
    assert found is not None and found.loadings["a"].shape == (80, 64)
    expected = found.expected({"a": added["a"] - added["a"].mean(axis=0)})["b"]
    assert np.square(expected - added["b"]).sum() < 0.02 * np.square(added["b"]).sum()
    assert CommonFactors.of({"a": added["a"]}) is None
    assert CommonFactors.of({name: np.ones((4, 2)) for name in "ab"}) is None


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match="linear_part 'auto', 'linear' or False; got True"):
        classifier(head=Hinge(linear_part=True)).fit(X, Y)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="solver='alternate' has topics alone; got linear_part='linear'"):
        classifier(head=Hinge(linear_part="linear", solver="alternate")).fit(X, Y)


@pytest.mark.parametrize("dense", [True, False])
def test_rows_that_lack_a_view_are_predicted_as_they_were_judged(dense: bool) -> None:
    views = Views(
        {"words": WORDS.toarray() if dense else WORDS, "colour": COLOUR},
        present={"words": Y != 0},  # to lack the view tells the class
    )
    model = classifier(head=Hinge(linear_part="linear")).fit(views, Y)
    problem, rows = model.fitted_.problem, np.arange(N_ROWS)
    data = Data(views, model.fitted_.head.targets(_labels()))
    search = linear_search(
        problem.head, problem.energy.families, data, [(rows[::2], rows[1::2]), (rows[1::2], rows[::2])]
    )
    best = search.best()
    path, bias = search.linear_part(best, np.ones(3))
    scores = path.scores(problem.energy.families, data.batch(rows, problem.energy.families)) + bias
    features = search.views.joined(best.settings.preparation, best.settings.weights)
    weights, intercept = search.solve(best.settings, features, rows)
    np.testing.assert_allclose(scores, features @ weights + intercept, atol=1e-5)
    assert np.mean(scores.argmax(axis=1)[Y == 0] == 0) > 0.9


def test_means_are_those_of_what_is_observed(model: HarmoniumClassifier) -> None:
    family, colour = model.families_["colour"], COLOUR + 5
    colour[::3] = np.nan
    batch = Views({"colour": colour}).batch(np.arange(N_ROWS), {"colour": family}).views["colour"]
    found = ViewScaler.fitted(family, [batch], use_idf=True).transform(family, batch)
    np.testing.assert_allclose(found[batch.observed_rows].mean(axis=0), 0, atol=1e-5)
    assert np.square(found[batch.observed_rows]).sum(axis=1).mean() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("by_kernel", [True, False])
def test_rows_may_be_sparse_where_training_rows_were_dense(by_kernel: bool, model: HarmoniumClassifier) -> None:
    family = model.families_["words"]
    dense, sparse = (
        Views({"words": words}).batch(np.arange(N_ROWS), {"words": family}).views["words"]
        for words in (WORDS.toarray(), WORDS)
    )
    scaler = ViewScaler.fitted(family, [dense], use_idf=False)
    if by_kernel:
        scaler = replace(scaler, nystroem=Nystroem.fitted(scaler.transform(family, dense)[:50], 0.5))
    np.testing.assert_allclose(scaler.transform(family, sparse), scaler.transform(family, dense), atol=1e-6)


def test_a_fold_may_lack_all_values_of_a_column() -> None:
    numbers = np.stack([COLOUR[:, 0], np.full(N_ROWS, np.nan)], axis=1)
    for smoothing in (None, 0.1):
        weights, bias = ridge_path(COLOUR, numbers, np.ones(N_ROWS), smoothing)(1.0)
        assert weights[:, 0].any() and not weights[:, 1].any() and bias[1] == 0
