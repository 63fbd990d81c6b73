"""Estimators on shards: the same answers as on data in memory."""

import numpy as np
import pytest
import scipy.sparse

from harmonium import (
    EFH,
    IBP,
    LBFGS,
    Harmonium,
    HarmoniumClassifier,
    HarmoniumRegressor,
    Hinge,
    Langevin,
    Shards,
    Stochastic,
)
from harmonium.heads import LabelView
from harmonium.hidden import FactorUnits
from harmonium.objectives import ExactLikelihood, MeanFieldCD
from harmonium.search import NearestNeighbours
from harmonium.training import AdjustedLangevin, Metropolis
from tests.cases.shards import in_shards, two_views

VIEWS, Y = two_views()
SHARDS = in_shards(VIEWS, Y)


def quick():
    return HarmoniumClassifier(4, head=Hinge(C=1.0), driver=Stochastic(max_iter=3), random_state=0)


@pytest.fixture(scope="module")
def classifier():
    return quick().fit(SHARDS)


def test_all_questions_have_the_answers_of_data_in_memory(classifier):
    for name in ("transform", "predict", "predict_proba", "decision_function", "search_coordinates", "score_samples"):
        ask = getattr(classifier, name)
        assert np.array_equal(ask(SHARDS), ask(VIEWS)), name
    colours = {"colours": VIEWS["colours"]}
    found = classifier.predict_view("words", in_shards(colours))
    np.testing.assert_allclose(found, classifier.predict_view("words", colours), rtol=1e-5)
    for name, expected in classifier.reconstruct(VIEWS).items():
        np.testing.assert_allclose(classifier.reconstruct(SHARDS)[name], expected, rtol=1e-5)
    index = NearestNeighbours().fit(classifier.search_coordinates(SHARDS))
    assert np.array_equal(classifier.search(SHARDS, index, n=2)[0], classifier.search(VIEWS, VIEWS, n=2)[0])


def test_targets_come_with_shards_or_beside_them(classifier):
    assert classifier.score(SHARDS) == classifier.score(VIEWS, Y) > 0.8
    again = quick().fit(in_shards(VIEWS), Y)
    assert np.array_equal(again.coef_, classifier.coef_)
    assert np.array_equal(again.components_, classifier.components_)


def test_the_result_depends_on_seed_and_shards_alone(classifier):
    other = in_shards(VIEWS, Y, cuts=((0, 100), (100, 240)))
    elsewhere = quick().fit(other)
    assert not np.array_equal(elsewhere.components_, classifier.components_)
    assert elsewhere.fitted_.C == classifier.fitted_.C


def test_what_is_chosen_is_chosen_in_memory_as_without_shards(classifier):
    whole = quick().fit(VIEWS, Y)
    assert classifier.fitted_.validation == whole.fitted_.validation


@pytest.mark.parametrize("driver", [LBFGS(max_iter=20), None], ids=["LBFGS", "Spectral"])
def test_drivers_that_see_all_rows_find_the_same(driver):
    matrix = VIEWS["colours"][75:]
    shards = Shards([matrix[:100], matrix[100:]])
    settings = {"driver": driver, "objective": MeanFieldCD(), "random_state": 0}
    if driver is None:
        settings = {"hidden": FactorUnits(), "random_state": 0}
    found, expected = (Harmonium(2, **settings).fit(X) for X in (shards, matrix))
    np.testing.assert_allclose(found.components_, expected.components_, rtol=2e-3, atol=2e-3)


def test_the_exact_likelihood_is_that_of_data_in_memory():
    words = VIEWS["words"].toarray()[:, :6]
    settings = {"objective": ExactLikelihood(), "driver": LBFGS(max_iter=5), "random_state": 0}
    found, expected = (Harmonium(2, **settings).fit(X) for X in (Shards([words[:100], words[100:]]), words))
    np.testing.assert_allclose(found.components_, expected.components_, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    "settings",
    [
        {"driver": Langevin(2, 2, 1, 2, start=None)},
        {"driver": Langevin(2, 2, 1, 2, start=None, batch_size=150)},
        {"driver": Langevin(2, 2, 1, 2, start=LBFGS(max_iter=3)), "objective": MeanFieldCD()},
        {"driver": AdjustedLangevin(2, 2, 1, 2, start=LBFGS(max_iter=3)), "objective": ExactLikelihood()},
        {"driver": Metropolis(2, 2, 1, 2, start=None), "hidden": "gaussian"},
    ],
    ids=["no start", "part of the rows", "start by sums", "adjusted", "Metropolis"],
)
def test_chains_from_the_same_start_make_the_same_draws(settings):
    words = VIEWS["words"].toarray()[:, :6]
    shards = Shards([words[:100], words[100:]])
    found, expected = (Harmonium(2, random_state=0, **settings).fit(X) for X in (shards, words))
    assert np.array_equal(found.components_, expected.components_)


def test_chains_that_start_by_epochs_start_in_the_order_of_shards():
    settings = {"driver": Langevin(2, 2, 1, 1, start=Stochastic(max_iter=1)), "random_state": 0}
    found, again, elsewhere = (Harmonium(2, **settings).fit(X) for X in (SHARDS, SHARDS, VIEWS))
    assert np.array_equal(found.components_, again.components_)
    assert not np.array_equal(found.components_, elsewhere.components_)
    assert np.array_equal(found.transform(SHARDS), found.transform(VIEWS))


def test_layers_that_select_units_count_all_rows():
    settings = {"hidden": IBP(), "driver": Stochastic(max_iter=5), "random_state": 0}
    found, expected = (Harmonium(6, **settings).fit(X) for X in (in_shards({"words": VIEWS["words"]}), VIEWS["words"]))
    assert found.fitted_.training.n_items == expected.fitted_.training.n_items == 240
    assert abs(found.n_components_ - expected.n_components_) <= 2


def test_stochastic_training_learns_as_much_from_shards():
    settings = {"driver": Stochastic(max_iter=30, learning_rate=0.02), "random_state": 0}
    found, expected = (Harmonium(4, **settings).fit(X) for X in (SHARDS, VIEWS))
    start = expected.history_["reconstruction"][0]
    gains = [start - model.history_["reconstruction"][-1] for model in (found, expected)]
    assert gains[1] > 0.2
    assert gains[0] == pytest.approx(gains[1], rel=0.25)


def test_a_label_that_is_a_view_stands_beside_shards():
    model = HarmoniumClassifier(4, head=LabelView(), driver=Stochastic(max_iter=10), random_state=0).fit(SHARDS)
    assert np.array_equal(model.predict(SHARDS), model.predict(VIEWS))


def test_partial_fit_takes_shards():
    model = HarmoniumClassifier(4, driver=Stochastic(learning_rate=0.05), random_state=0)
    for _ in range(8):
        model.partial_fit(SHARDS)
    assert model.score(SHARDS) > 0.8


def test_numbers_to_predict_and_rows_that_lack_every_view():
    rng = np.random.default_rng(3)
    matrix = rng.normal(size=(120, 4))
    y = matrix[:, 0] + 0.1 * rng.normal(size=120)
    matrix[50] = np.nan
    shards = Shards([matrix[:60], matrix[60:]], [y[:60], y[60:]])
    with pytest.warns(match=r"1 of 120 rows lack every view, the first of them shard 0 \(block 0\), row 50"):
        model = HarmoniumRegressor(3, driver=Stochastic(max_iter=5), random_state=0).fit(shards)
    with pytest.warns(match="lack every view"):
        assert np.array_equal(model.predict(shards), model.predict(matrix))


def test_choices_go_by_a_sample_of_many_rows(monkeypatch):
    monkeypatch.setattr("harmonium.training.supervised.fit._CHOSEN_BY", 100)
    model = quick().fit(SHARDS)
    assert model.fitted_.training.n_items == 240
    assert model.score(SHARDS) > 0.7


def test_views_by_columns_and_names():
    import pandas as pd

    frame = pd.DataFrame(VIEWS["colours"][75:], columns=["r", "g", "b"])
    model = EFH(2, views={"two": ["r", "b"], "one": ["g"]}, driver=Stochastic(max_iter=2), random_state=0)
    model.fit(Shards([frame[:80], frame[80:]]))
    assert model.fitted_.feature_names == {"two": ["r", "b"], "one": ["g"]}
    assert list(model.feature_names_in_) == ["r", "g", "b"]
    assert np.array_equal(model.transform(frame), model.transform(Shards([frame[:5], frame[5:]])))
    swapped = frame[["g", "r", "b"]]
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(Shards([swapped]))


def test_a_checkpoint_knows_the_data_again(tmp_path):
    path = tmp_path / "fit"
    driver = Stochastic(max_iter=2, checkpoint=path)
    model = Harmonium(2, driver=driver, random_state=0).fit(SHARDS)
    plain = Harmonium(2, driver=Stochastic(max_iter=2), random_state=0).fit(SHARDS)
    assert np.array_equal(model.components_, plain.components_)


def test_dense_shards_of_which_some_are_nearly_all_zeros():
    rng = np.random.default_rng(0)
    rare, many = (rng.random((40, 400)) < 0.02).astype(float), (rng.random((40, 400)) < 0.4).astype(float)
    shards = Shards([rare, many])
    model = Harmonium(2, driver=Stochastic(max_iter=1), random_state=0).fit(shards)
    whole = np.concatenate([rare, many])
    np.testing.assert_allclose(model.transform(shards), model.transform(whole), rtol=1e-5)
    assert scipy.sparse.issparse(shards.views()._reader.get(0).source("view0").nonzeros)
