"""Topics and dimensions in one layer: what the loss moves, what is held, what predictions are mixed of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from harmonium import IBP, Harmonium, HarmoniumClassifier, HarmoniumRegressor, Hinge, Stochastic, load
from harmonium.core.parameters import HEAD_BIAS, HEAD_WEIGHTS, HIDDEN_BIAS
from harmonium.energy import Energy
from harmonium.heads import LabelView
from harmonium.hidden import BernoulliUnits, ComposedUnits, FactorUnits, GaussianUnits, SpikeSlab
from harmonium.inspection import merge_duplicates, score_parts
from harmonium.metrics import topic_stability
from harmonium.objectives import MeanFieldCD
from harmonium.objectives.problem import Problem
from harmonium.training.drivers.projection import project
from tests.cases.heads import bound, statistics_of
from tests.cases.models import make_family, make_parameters, random_batch

N_ROWS, N_THEMES = 240, 4


def reviews(seed: int = 0) -> tuple[scipy.sparse.csr_array, np.ndarray]:
    """Words of four themes, and a rating by words that all themes share, which tell less of an item than themes do.

    Else a topic may be the tone: of themes that exclude each other one can be the lack of the others.
    """
    rng = np.random.default_rng(seed)
    theme, rating = np.arange(N_ROWS) % N_THEMES, rng.normal(size=N_ROWS)
    themes = rng.random((N_ROWS, 24)) < np.where(np.arange(24) // 6 == theme[:, None], 0.8, 0.03)
    tone = rng.random((N_ROWS, 8)) < 1 / (1 + np.exp(1 - 2 * np.outer(rating, [1, 1, 1, 1, -1, -1, -1, -1])))
    return scipy.sparse.csr_array(np.hstack([themes, tone]).astype(np.float32)), rating


@pytest.fixture(scope="module")
def fitted() -> Any:
    X, y = reviews()
    return HarmoniumRegressor(N_THEMES, random_state=0).fit({"words": X}, y)


def test_the_loss_moves_dimensions_alone() -> None:
    head, targets = bound("Hinge", n_rows=9, ridge=0.1)
    layer = ComposedUnits(BernoulliUnits(1), BernoulliUnits(1)).bind(1)
    energy = Energy({"a": make_family("Bernoulli"), "b": make_family("Gaussian")}, layer)
    parameters = make_parameters(energy, seed=1, scale=0.4)
    batch = random_batch(energy, parameters, 9)
    batch.targets = targets
    rng = np.random.default_rng(4)
    parameters |= {HEAD_WEIGHTS: rng.normal(size=(2, head.n_directions)), HEAD_BIAS: rng.normal(size=head.n_outputs_)}
    problem = Problem(energy, {"a": np.full(3, 0.5), "b": np.zeros(3)}, head, loss_weight=1.7)
    with_loss = statistics_of(MeanFieldCD(), problem, parameters, batch).gradient
    without = statistics_of(MeanFieldCD(), replace(problem, loss_weight=0.0), parameters, batch).gradient
    for name in (HIDDEN_BIAS, "a.weights", "b.weights"):
        moved = (with_loss[name] - without[name]).T
        np.testing.assert_allclose(moved[..., 0, :] if moved.ndim > 1 else moved[0], 0, atol=1e-12)

    def loss(moved: Any) -> float:
        natural = energy.hidden_natural(moved, batch)
        losses, _ = head.loss(head.scores_of(moved, layer.mean(natural)), targets.values)
        return float(problem.loss_weight * (losses @ targets.loss_weight + head.penalty(moved) * 9))

    for name in (HIDDEN_BIAS, "a.weights", "b.weights"):
        for index in np.ndindex(parameters[name].shape):
            if index[-1] == 1:  # of the dimension
                up, down = (parameters | {name: parameters[name].copy()} for _ in range(2))
                up[name][index] += 1e-5
                down[name][index] -= 1e-5
                slope = (loss(up) - loss(down)) / 2e-5
                assert with_loss[name][index] - without[name][index] == pytest.approx(slope, abs=3e-5, rel=1e-4)


def test_dimensions_are_those_of_a_model_without_topics() -> None:
    """Topics come after them, and hold them: same bits."""
    X, y = reviews()
    plain = HarmoniumRegressor(hidden=BernoulliUnits(30), random_state=0).fit({"words": X}, y)
    both = HarmoniumRegressor(N_THEMES, random_state=0).fit({"words": X}, y)
    np.testing.assert_array_equal(
        both.fitted_.parameters["words.weights"][:, N_THEMES:], plain.fitted_.parameters["words.weights"]
    )
    np.testing.assert_array_equal(
        both.fitted_.parameters[HIDDEN_BIAS][N_THEMES:], plain.fitted_.parameters[HIDDEN_BIAS]
    )
    assert both.fitted_.parameters["words.weights"][:, :N_THEMES].min() >= 0


def test_topics_are_the_themes_and_not_the_tone(fitted: Any) -> None:
    themes = {frozenset(f"words_{word}" for word in range(6 * k, 6 * k + 6)) for k in range(N_THEMES)}
    assert {frozenset(row) for row in fitted.topics(n=6).to_numpy()} == themes
    assert fitted.topics().index.tolist() == list(range(N_THEMES)) and fitted.n_topics_ == N_THEMES
    names = [*(f"topic_{k}" for k in range(N_THEMES)), *(f"dimension_{k}" for k in range(30))]
    assert fitted.get_feature_names_out().tolist() == names


def test_other_seeds_find_the_same_topics() -> None:
    X, y = reviews()
    found = [HarmoniumRegressor(N_THEMES, random_state=seed).fit({"words": X}, y).topics(n=6) for seed in range(3)]
    assert topic_stability([table.to_numpy().tolist() for table in found]).mean() > 0.95


def test_predictions_add_up_and_are_kept_in_files(fitted: Any, tmp_path: Any) -> None:
    X, y = reviews(1)
    assert fitted.score({"words": X}, y) > 0.5
    assert set(fitted.fitted_.shares) == {"topics", "dimensions", "inputs"}
    assert sum(fitted.fitted_.shares.values()) == pytest.approx(1)
    parts = score_parts(fitted, {"words": X})
    np.testing.assert_allclose(sum(parts.values()).ravel(), fitted.predict({"words": X}), rtol=1e-5, atol=1e-5)
    why = fitted.explain({"words": X[:1]})[0]
    total = why.base + why.topics.sum(axis=0) + why.directly.sum(axis=0)
    np.testing.assert_allclose(total, fitted.predict({"words": X[:1]}), rtol=1e-6)
    units = [name for name in fitted.get_feature_names_out() if name.startswith("topic_")]
    assert set(why.table(by="topic")["unit"]) == {*units, "dimensions", "inputs"}
    fitted.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict({"words": X}), fitted.predict({"words": X}))
    assert again.fitted_.shares == fitted.fitted_.shares and again.n_topics_ == N_THEMES
    assert again.fitted_.account == fitted.fitted_.account


def test_topics_have_a_say_where_they_predict_and_it_is_told() -> None:
    X, _ = reviews()
    y = np.arange(N_ROWS) % N_THEMES
    model = HarmoniumClassifier(N_THEMES, random_state=0).fit({"words": X}, y)
    assert model.fitted_.shares["topics"] > 0 and np.abs(model.coef_[:, :N_THEMES]).max() > 0
    assert model.fitted_.account.startswith("Predictions come") and "from topics" in model.fitted_.account
    silent = replace(model.fitted_, shares={"dimensions": 0.4, "inputs": 0.6, "topics": 0.0})
    assert silent.account == (
        "Predictions come 40% from dimensions (units that are not to be read) and 60% from inputs (a linear model of "
        "the columns); topics have no say, as held-out rows are predicted no better with them."
    )
    assert replace(silent, shares={}).account is None


def test_warm_starts_and_batches_go_on_with_both_groups() -> None:
    X, y = reviews()
    model = HarmoniumRegressor(N_THEMES, driver=Stochastic(max_iter=3), warm_start=True, random_state=0)
    first = model.fit({"words": X}, y).fitted_.parameters["words.weights"].copy()
    second = model.fit({"words": X}, y).fitted_.parameters["words.weights"]
    assert np.abs(first - second).max(axis=0).min() > 0 and second[:, :N_THEMES].min() >= 0
    streamed = HarmoniumRegressor(random_state=0)
    for rows in (slice(0, 100), slice(100, 240)):
        streamed.partial_fit({"words": X[rows]}, y[rows])
    assert streamed.n_topics_ == 4  # 0.4 √100, as the first rows say


def test_merging_leaves_dimensions_alone() -> None:
    X, y = reviews()
    model = HarmoniumRegressor(12, random_state=0).fit({"words": X}, y)
    smaller = merge_duplicates(model, {"words": X}, threshold=0.6)
    assert smaller.n_topics_ < 12 and smaller.n_components_ == smaller.n_topics_ + 30
    np.testing.assert_array_equal(
        smaller.fitted_.parameters["words.weights"][:, -30:], model.fitted_.parameters["words.weights"][:, -30:]
    )


def test_number_of_dimensions_by_scores() -> None:
    X, _ = reviews()
    labels = (np.random.default_rng(0).random((N_ROWS, 34)) < 0.3).astype(int)
    model = HarmoniumClassifier(2, driver=Stochastic(max_iter=1), random_state=0).fit({"words": X}, labels)
    assert model.n_components_ == 2 + 34 and model.hidden is None
    given = ComposedUnits(dimensions=BernoulliUnits(3))
    assert (
        HarmoniumClassifier(2, hidden=given, driver=Stochastic(max_iter=1)).fit({"words": X}, labels).n_components_ == 5
    )
    assert ComposedUnits().bind(2, n_outputs=100).n_units_ == 52
    model.set_params(warm_start=True).fit({"words": X}, labels)  # goes on with as many
    assert model.n_components_ == 2 + 34
    with pytest.raises(ValueError, match="can only go on with the 36 hidden units"):
        model.set_params(hidden=given).fit({"words": X}, labels)


def test_defaults_of_estimators() -> None:
    X, y = reviews()
    frame = pd.DataFrame(X.toarray())
    assert Harmonium(driver=Stochastic(max_iter=1)).fit(frame).n_components_ == 5  # at most 6, 0.4 √240
    model = HarmoniumClassifier(driver=Stochastic(max_iter=1), random_state=0).fit(frame, y > 0)
    assert model.n_topics_ <= 6 and model.n_components_ == model.n_topics_ + 30  # those that say the same are merged
    for head in (LabelView(), Hinge(C=1.0, solver="alternate")):  # as in the papers
        assert isinstance(HarmoniumClassifier(head=head)._layer(), BernoulliUnits)


@pytest.mark.parametrize("group", [IBP(), SpikeSlab(), FactorUnits(), ComposedUnits()], ids=str)
@pytest.mark.parametrize("name", ["topics", "dimensions"])
def test_groups_that_are_not_independent_are_refused(name: str, group: Any) -> None:
    model = Harmonium(2, hidden=ComposedUnits(**{name: group}))
    with pytest.raises(ValueError, match=f"ComposedUnits needs {name} that are independent"):
        model.fit(np.eye(4))


def test_topics_and_dimensions_learn_batch_by_batch_where_nothing_is_predicted() -> None:
    X, _ = reviews()
    model = Harmonium(2, hidden=ComposedUnits(), random_state=0)
    assert model.partial_fit(X[:100]).partial_fit(X[100:]).transform(X).shape == (N_ROWS, 32)


def test_other_groups_can_be_composed() -> None:
    X, _ = reviews()
    layer = ComposedUnits(BernoulliUnits(2), GaussianUnits(n_units=3))
    model = Harmonium(hidden=layer, driver=Stochastic(max_iter=3), random_state=0).fit(X)
    latent = model.transform(X)
    assert latent.shape == (N_ROWS, 5) and latent[:, :2].min() >= 0 and latent[:, 2:].min() < 0
    parameters = {name: value.copy() for name, value in model.fitted_.parameters.items()}
    project(model.fitted_.energy, parameters)
    assert all(np.array_equal(value, model.fitted_.parameters[name]) for name, value in parameters.items())
