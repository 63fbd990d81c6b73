"""Boosting of additive models: tables against the trees they are made of, curves against the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from harmonium.additive import boosting
from harmonium.additive.boosting import AdditiveBoosting
from harmonium.additive.losses import Logistic, Loss, Softmax, Squares

RNG = np.random.default_rng(0)
N = 3000
X = np.column_stack([RNG.normal(size=N), RNG.integers(0, 5, N), RNG.normal(size=N).round(1), RNG.integers(0, 3, N)])
ARE_CODES = np.array([False, True, False, True])
X[RNG.random(X.shape) < [0.1, 0.1, 0.0, 0.0]] = np.nan
LEVELS = np.array([0.0, 2.0, -1.0, 0.0, 1.0])
TRUTH = np.sin(2 * np.nan_to_num(X[:, 0], nan=2.0)) + LEVELS[np.nan_to_num(X[:, 1]).astype(int)]
WEIGHT = RNG.uniform(0.5, 1.5, N)
NEW = X[RNG.permutation(N)[:200]] + np.where(ARE_CODES, 0, 0.01)
NUMBERS = (TRUTH + 0.3 * RNG.normal(size=N))[:, None]
LABELS = (RNG.random(N) < expit(2 * TRUTH)).astype(float)[:, None]
LOSSES: dict[str, Loss] = {
    "numbers": Squares(np.hstack([NUMBERS, -NUMBERS])),
    "labels": Logistic(LABELS),
    "two classes": Softmax(LABELS.astype(int), [2]),
    "three classes": Softmax(np.digitize(NUMBERS, [-0.5, 0.5]), [3]),
}


def boosted(loss: Loss, n_steps: int, start: np.ndarray | None = None) -> AdditiveBoosting:
    start = np.zeros((N, loss.outputs.shape[1])) if start is None else start
    found = AdditiveBoosting(X, ARE_CODES, loss, WEIGHT, start)
    for _ in range(n_steps):
        found.step()
    return found


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_tables_are_the_trees(loss: Loss) -> None:
    found = boosted(loss, 3)
    model = found.model()
    np.testing.assert_allclose(model.predict(X), found.scores, atol=1e-10)
    new = [sum(trees.predict(found.binned(NEW)) for trees in by_step) for by_step in zip(*found._steps, strict=True)]
    np.testing.assert_allclose(model.predict(NEW), np.stack(new, axis=1) @ loss.outputs, atol=1e-10)
    for column, function in model.functions.items():
        np.testing.assert_allclose(np.average(function(X[:, column]), axis=0, weights=WEIGHT), 0, atol=1e-10)


def test_steps_of_squares_are_the_boosting_of_scikit_learn() -> None:
    # as many trees, all of them with the whole rate; each step of ours takes the mean of what is left off first
    found = boosted(Squares(NUMBERS), 12)
    ours = found.model().predict(NEW)[:, 0]
    rival = HistGradientBoostingRegressor(
        **boosting._TREES | {"max_iter": 12 * boosting._TREES["max_iter"]},
        learning_rate=boosting._RATE,
        interaction_cst="no_interactions",
        categorical_features=ARE_CODES,
        early_stopping=False,
    )
    theirs = rival.fit(found.binned(X), NUMBERS[:, 0], sample_weight=WEIGHT).predict(found.binned(NEW))
    assert np.abs(ours - theirs).mean() < 0.02


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_steps_lower_the_loss(loss: Loss) -> None:
    found = [WEIGHT @ loss.losses(boosted(loss, n).scores) for n in (0, 1, 3)]
    assert found[0] > found[1] > found[2]


def test_the_truth_is_found_and_nothing_where_there_is_none() -> None:
    model = boosted(Squares(NUMBERS), 5).model()
    truth = TRUTH - np.average(TRUTH, weights=WEIGHT)
    assert np.square(model.predict(X)[:, 0] - model.intercept - truth).mean() < 0.02
    spread = {column: float(function(X[:, column]).std()) for column, function in model.functions.items()}
    assert spread.get(3, 0.0) < 0.05 < 0.5 < min(spread[0], spread[1])


def test_bins_are_those_of_values_or_of_as_many_rows_each() -> None:
    found = boosted(Squares(NUMBERS), 0)
    few = np.unique(X[:, 2])
    np.testing.assert_array_equal(np.unique(found.binned(X)[:, 2]), np.arange(len(few)))
    sizes = np.unique(found.binned(X)[:, 0], return_counts=True)[1][:-1]  # the last one is what is missing
    assert len(sizes) == 255 and sizes.max() - sizes.min() <= 1
    np.testing.assert_array_equal(found.binned(X)[:, ARE_CODES], X[:, ARE_CODES])


def test_what_scores_know_already_is_not_learned_again() -> None:
    noise = np.abs(boosted(Squares(NUMBERS), 1, start=TRUTH[:, None]).scores[:, 0] - TRUTH)
    assert noise.mean() < 0.05


def test_codes_that_no_row_has_are_as_missing() -> None:
    model = boosted(LOSSES["labels"], 2).model()
    unknown, missing = NEW[:2].copy(), NEW[:2].copy()
    unknown[:, 1], missing[:, 1] = 7, np.nan
    np.testing.assert_allclose(model.predict(unknown), model.predict(missing), atol=1e-12)


def test_the_same_bits_on_any_number_of_threads() -> None:
    with threadpool_limits(1):
        alone = boosted(LOSSES["labels"], 2).scores
    with threadpool_limits(2):
        np.testing.assert_array_equal(boosted(LOSSES["labels"], 2).scores, alone)


def test_a_column_that_all_rows_of_a_step_lack_adds_nothing() -> None:
    lacking = np.where(np.arange(N) < 100, X[:, 0], np.nan)
    some = AdditiveBoosting(
        np.column_stack([lacking, X[:, 2]]),
        np.zeros(2, dtype=bool),
        LOSSES["numbers"],
        np.where(np.arange(N) < 100, 0.0, WEIGHT),
        np.zeros((N, 2)),
    )
    some.step()
    assert set(some.model().functions) == {1}
