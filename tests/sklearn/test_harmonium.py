"""`Harmonium` as a scikit-learn estimator: its own checks, nested parameters, search, pipelines, reproducibility."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from joblib import parallel_config
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from harmonium import LBFGS, Bernoulli, Columns, Gaussian, Harmonium, Poisson, Stochastic, Views
from harmonium.hidden import BernoulliUnits, GaussianUnits
from harmonium.objectives import MeanFieldCD, PersistentCD, SampledCD
from tests.cases.sklearn_checks import run_check

N_ROWS, N_WORDS, N_COLOURS = 90, 50, 4
TWO_VIEWS = {"words": Columns(slice(0, 50), Bernoulli()), "colour": slice(50, 54)}


def quick(**keywords: Any) -> Harmonium:
    """A model of three units that trains in milliseconds."""
    defaults: dict[str, Any] = {"n_components": 3, "driver": Stochastic(max_iter=3, batch_size=30), "random_state": 0}
    return Harmonium(**{**defaults, **keywords})


@pytest.fixture(scope="module")
def words() -> scipy.sparse.csr_array:
    rng = np.random.default_rng(0)
    return scipy.sparse.csr_array((rng.random((N_ROWS, N_WORDS)) < 0.1).astype(np.float64))


@pytest.fixture(scope="module")
def colour() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(N_ROWS, N_COLOURS))


@pytest.fixture(scope="module")
def stacked(words: scipy.sparse.csr_array, colour: np.ndarray) -> scipy.sparse.csr_matrix:
    return scipy.sparse.csr_matrix(scipy.sparse.hstack([words, scipy.sparse.csr_array(colour)]))


@parametrize_with_checks(
    [
        quick(),
        quick(hidden=GaussianUnits()),
        quick(objective=MeanFieldCD(), driver=LBFGS(max_iter=3)),
        quick(objective=PersistentCD(), views=Gaussian(variance="learn"), output="natural"),
    ]
)
def test_passes_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    run_check(check, estimator)


# ---- parameters ------------------------------------------------------------------------------------------------------
def test_nested_parameters_are_seen_and_set() -> None:
    model = Harmonium(hidden=BernoulliUnits(n_units=4), driver=Stochastic(learning_rate=0.01), objective=SampledCD())
    assert model.get_params()["hidden__n_units"] == 4
    model.set_params(hidden__n_units=7, driver__learning_rate=0.5, objective__n_steps=2)
    assert model.hidden.n_units == 7
    assert model.driver.learning_rate == 0.5
    assert model.objective.n_steps == 2


def test_clone_copies_parts_and_forgets_the_fit(colour: np.ndarray) -> None:
    model = quick(hidden=BernoulliUnits(n_units=2), views={"view0": Gaussian(variance="learn")}).fit(colour)
    copy = clone(model)
    assert copy.hidden is not model.hidden
    assert copy.hidden.n_units == 2
    assert not hasattr(copy, "families_")
    assert copy.views["view0"].variance == "learn"
    np.testing.assert_array_equal(copy.fit_transform(colour), model.transform(colour))


def test_units_of_the_layer_win_over_n_components(colour: np.ndarray) -> None:
    model = quick(n_components=9, hidden=GaussianUnits(n_units=2)).fit(colour)
    assert model.n_components_ == 2
    assert model.transform(colour).shape == (N_ROWS, 2)


def test_fit_leaves_parameters_as_given(colour: np.ndarray) -> None:
    family, driver, hidden = Gaussian(), Stochastic(max_iter=1), BernoulliUnits()
    before = [dict(vars(part)) for part in (family, driver, hidden)]
    model = quick(views=family, driver=driver, hidden=hidden).fit(colour)
    assert [vars(part) for part in (family, driver, hidden)] == before
    assert model.views is family


def test_pickle_keeps_the_model(colour: np.ndarray) -> None:
    model = quick().fit(colour)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(colour), model.transform(colour))


# ---- pipelines and search --------------------------------------------------------------------------------------------
def test_pipeline_from_text_to_classifier() -> None:
    documents = ["red apple pie", "green apple tart", "fast red car", "slow green car"] * 10
    labels = [0, 0, 1, 1] * 10
    model = make_pipeline(CountVectorizer(), quick(driver=Stochastic(max_iter=60)), LogisticRegression())
    assert model.fit(documents, labels).predict(documents).shape == (40,)
    assert cross_val_score(model, documents, labels, cv=2).shape == (2,)


@pytest.mark.parametrize("form", ["stacked", "views"])
def test_stock_search_and_validation_on_two_views(
    form: str, stacked: scipy.sparse.csr_matrix, words: scipy.sparse.csr_array, colour: np.ndarray
) -> None:
    X = stacked if form == "stacked" else Views({"words": words, "colour": colour})
    spec: Any = TWO_VIEWS if form == "stacked" else {"words": Bernoulli(), "colour": "infer"}
    model = quick(views=spec, hidden=BernoulliUnits())
    grid = {"hidden__n_units": [2, 4], "driver__learning_rate": [0.001, 0.01]}
    search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert list(search.best_estimator_.families_) == ["words", "colour"]
    scores = cross_validate(model, X, cv=3, error_score="raise", return_train_score=True)
    assert np.isfinite(scores["test_score"]).all()
    assert np.isfinite(scores["train_score"]).all()


def test_both_forms_of_two_views_agree(
    stacked: scipy.sparse.csr_matrix, words: scipy.sparse.csr_array, colour: np.ndarray
) -> None:
    one = quick(views=TWO_VIEWS).fit(stacked)
    several = quick(views={"words": Bernoulli()}).fit(Views({"words": words, "colour": colour}))
    np.testing.assert_allclose(one.transform(stacked), several.transform({"words": words, "colour": colour}), atol=1e-5)
    assert one.n_features_in_ == several.n_features_in_ == N_WORDS + N_COLOURS


def test_validation_in_parallel_threads_gives_the_same(words: scipy.sparse.csr_array, colour: np.ndarray) -> None:
    X = Views({"words": words, "colour": colour})
    alone = cross_val_score(quick(), X, cv=4, error_score="raise")
    with parallel_config(backend="threading"):
        np.testing.assert_array_equal(cross_val_score(quick(), X, cv=4, n_jobs=2, error_score="raise"), alone)


def test_views_can_be_sent_to_other_processes(words: scipy.sparse.csr_array, colour: np.ndarray) -> None:
    X = Views({"words": words, "colour": colour})[10:40]
    copy = pickle.loads(pickle.dumps(X))
    np.testing.assert_array_equal(quick().fit(copy).components_, quick().fit(X).components_)


# ---- output ----------------------------------------------------------------------------------------------------------
def test_set_output_pandas_keeps_the_index(colour: np.ndarray) -> None:
    frame = pd.DataFrame(colour, columns=list("abcd"), index=[f"row{i}" for i in range(N_ROWS)])
    latent = quick().set_output(transform="pandas").fit_transform(frame)
    assert list(latent.columns) == ["topic_0", "topic_1", "topic_2"]
    assert list(latent.index) == list(frame.index)


@pytest.mark.parametrize("container", [dict, Views, list])
def test_set_output_pandas_with_several_views(
    container: type, words: scipy.sparse.csr_array, colour: np.ndarray
) -> None:
    X = [words, colour] if container is list else container({"words": words, "colour": colour})
    latent = quick().set_output(transform="pandas").fit_transform(X)
    assert isinstance(latent, pd.DataFrame)
    assert latent.shape == (N_ROWS, 3)


def test_names_going_in_and_out(colour: np.ndarray) -> None:
    model = quick().fit(pd.DataFrame(colour, columns=list("abcd")))
    assert list(model.feature_names_in_) == list("abcd")
    assert list(model.get_feature_names_out()) == ["topic_0", "topic_1", "topic_2"]
    assert list(model.topics(n=None, by="weight").index) == list("abcd")
    assert set(np.ravel(model.topics(n=2))) <= set("abcd")
    model.fit({"other": colour})
    assert not hasattr(model, "feature_names_in_")
    assert list(model.fitted_.feature_names) == ["other"]


# ---- reproducibility -------------------------------------------------------------------------------------------------
def wide_words(sparse: bool) -> Any:
    """Wide enough that products are cut into several blocks, so that threads really share the work."""
    rng = np.random.default_rng(3)
    matrix = scipy.sparse.random_array((250, 2500), density=0.01, rng=rng, format="csr")
    matrix.data[:] = 1
    return matrix if sparse else matrix.toarray()


@pytest.mark.parametrize("objective", [SampledCD(), MeanFieldCD()], ids=lambda part: type(part).__name__)
@pytest.mark.parametrize("sparse", [True, False], ids=["sparse", "dense"])
def test_same_result_on_one_thread_or_two(sparse: bool, objective: Any) -> None:
    X = wide_words(sparse)
    results = []
    for n_jobs in (1, 2):
        model = quick(n_components=30, n_jobs=n_jobs, objective=objective, driver=Stochastic(max_iter=2)).fit(X)
        results.append((model.components_, model.transform(X)))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])


def test_random_state_decides(colour: np.ndarray) -> None:
    first, again, other = (quick(random_state=seed).fit(colour).components_ for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    state = np.random.RandomState(0)
    assert not np.array_equal(*(quick(random_state=state).fit(colour).components_ for _ in range(2)))


def test_order_of_rows_does_not_change_their_representation(colour: np.ndarray) -> None:
    model = quick().fit(colour)
    order = np.random.default_rng(0).permutation(N_ROWS)
    np.testing.assert_allclose(model.transform(colour[order]), model.transform(colour)[order], rtol=1e-7)


# ---- going on --------------------------------------------------------------------------------------------------------
def test_partial_fit_learns_from_pieces(words: scipy.sparse.csr_array, colour: np.ndarray) -> None:
    model = quick(views={"words": Bernoulli()})
    X = Views({"words": words, "colour": colour})
    for first in range(0, N_ROWS, 30):
        model.partial_fit(X[first : first + 30])
    assert model.n_iter_ == 3
    before = model.components_.copy()
    model.partial_fit({"words": words})  # colour is missing in this piece
    assert not np.array_equal(model.components_, before)
    assert list(model.fitted_.feature_names) == ["words", "colour"]


def test_partial_fit_goes_on_after_fit(colour: np.ndarray) -> None:
    model = quick().fit(colour)
    n_iter = model.n_iter_
    assert model.partial_fit(colour).n_iter_ == n_iter + 1


def test_partial_fit_is_there_for_the_stochastic_driver_only() -> None:
    assert hasattr(quick(), "partial_fit")
    assert hasattr(Harmonium(), "partial_fit")
    assert not hasattr(quick(driver=LBFGS()), "partial_fit")


def test_warm_start_goes_on_and_cold_start_does_not(colour: np.ndarray) -> None:
    warm = quick(warm_start=True, driver=Stochastic(max_iter=20)).fit(colour)
    first, reconstruction = warm.components_.copy(), warm.history_["reconstruction"][-1]
    warm.fit(colour)
    assert not np.array_equal(warm.components_, first)
    assert warm.history_["reconstruction"][-1] < reconstruction + 0.1
    assert len(warm.history_["epoch"]) == 40
    warm.set_params(warm_start=False).fit(colour)
    np.testing.assert_array_equal(warm.components_, first)


def test_warm_start_refuses_another_hidden_layer(colour: np.ndarray) -> None:
    warm = quick(warm_start=True).fit(colour)
    with pytest.raises(ValueError, match="can only go on with the 3 hidden units"):
        warm.set_params(n_components=5).fit(colour)


def test_refit_takes_other_data(words: scipy.sparse.csr_array, colour: np.ndarray) -> None:
    model = quick().fit(colour)
    model.fit(words)
    assert type(model.families_["view0"]) is Bernoulli
    assert model.n_features_in_ == N_WORDS
    model.set_params(views=Poisson()).fit(words)
    assert type(model.families_["view0"]) is Poisson


def test_transform_obeys_set_output_too() -> None:
    X = np.random.default_rng(0).normal(size=(30, 4))
    model = Harmonium(3, driver=Stochastic(max_iter=2), random_state=0).set_output(transform="pandas").fit(X)
    assert list(model.transform(X).columns) == ["topic_0", "topic_1", "topic_2"]
