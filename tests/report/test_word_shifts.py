"""Shifts of words between groups: planted ones are found, and p-values are uniform without any."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest

from harmonium import Harmonium, TopicModel
from harmonium.estimators.input import known_views
from harmonium.queries.topics.word_shifts import word_shifts
from harmonium.report import word_shift_table
from harmonium.report.tables.latent import topic_means
from harmonium.training.growth.spectrum import differences
from harmonium.views.data import Data

N_ITEMS, N_TOPICS, N_WORDS = 1200, 3, 20


def documents(seed: int, late_share: tuple[float, ...] = (1.0,) * N_TOPICS) -> tuple[np.ndarray, ...]:
    """Return words, topics and periods of items; late items have topics with other probabilities."""
    rng = np.random.default_rng(seed)
    late = rng.random(N_ITEMS) < 0.4
    odds = np.where(late[:, None], late_share, 1.0)
    has = rng.random((N_ITEMS, N_TOPICS)) < 0.35 * odds
    chance = 1 - 0.9 * np.prod(np.where(has, 0.5, 1.0)[:, :, None] ** np.eye(N_TOPICS).repeat(N_WORDS, 1), axis=1)
    return chance, has, late, rng.random(chance.shape)


def drawn(seed: int, late_share: tuple[float, ...] = (1.0,) * N_TOPICS) -> tuple[np.ndarray, np.ndarray]:
    chance, _, late, noise = documents(seed, late_share)
    return (noise < chance).astype(float), late


@pytest.fixture(scope="module")
def model() -> Harmonium:
    return TopicModel(N_TOPICS, random_state=0).fit(drawn(0)[0])


def test_planted_shift_of_one_word_is_found_with_its_size(model: Harmonium) -> None:
    chance, has, late, noise = documents(1)
    goes = has[:, 0] & late
    chance[goes, 0] = 0.15
    table = word_shift_table(model, (noise < chance).astype(float), np.where(late, "late", "early"))
    first = table.sort_values("p").iloc[0]
    assert first["feature"] == "view0_0" and first["q"] < 1e-6
    clear = table.query("q < 0.01")
    assert set(clear["feature"]) == {"view0_0"} and set(np.sign(clear.query("group == 'late'")["shift"])) == {-1}
    row = clear.query("group == 'late'").sort_values("p").iloc[0]
    assert row["low"] < row["shift"] < row["high"] < 0 and row["inside"] < row["outside"]


@pytest.mark.parametrize("late_share", [(1.0, 1.0, 1.0), (1.6, 1.0, 0.6)])
def test_p_values_are_uniform_without_a_shift(model: Harmonium, late_share: tuple[float, ...]) -> None:
    values = []
    for seed in range(2, 12):
        X, late = drawn(seed, late_share)  # topics may come and go
        table = word_shift_table(model, X, late, n_features=1000)
        values.append(table.query("group")["p"].to_numpy())
    p = np.concatenate(values)
    assert len(p) == 10 * N_TOPICS * N_TOPICS * N_WORDS
    # tests of one item are not independent: every fifth is taken
    assert kstest(p[::5], "uniform").pvalue > 0.01
    assert 0.02 < np.mean(p < 0.05) < 0.06


def test_shift_is_the_difference_of_weighted_residuals(model: Harmonium) -> None:
    X, late = drawn(3)
    topics = topic_means(model, X).astype(float)
    found = word_shifts(model.fitted_, known_views(model, X), "view0", topics, np.stack([~late, late], axis=1))
    fitted = model.fitted_
    residual = differences(fitted.problem, fitted.parameters, Data(known_views(model, X)), np.arange(len(X)))
    w = topics[:, 1]
    # the coefficient of the group in a weighted regression on group, other topics and length
    design = np.column_stack([late, np.ones(len(X)), topics[:, [0, 2]], X.sum(axis=1)]).astype(float)
    expected = np.linalg.lstsq(np.sqrt(w)[:, None] * design, np.sqrt(w)[:, None] * residual, rcond=None)[0][0]
    np.testing.assert_allclose(found.shift[1, 1], expected, atol=1e-5)
    reach = np.linalg.inv((w[:, None] * design).T @ design)[0] @ (w[:, None] * design).T
    mean = np.average(residual, axis=0, weights=w)
    np.testing.assert_allclose(found.deviation[1, 1], np.sqrt(reach**2 @ (residual - mean) ** 2), rtol=1e-4)
    np.testing.assert_allclose(found.inside[1, 1], np.average(X[late], axis=0, weights=w[late]), rtol=1e-5)
    np.testing.assert_allclose(found.sizes[1], [w[~late].sum(), w[late].sum()], rtol=1e-5)


def test_dates_become_periods_and_rare_words_are_not_tested(model: Harmonium) -> None:
    X, _ = drawn(4)
    X[:, -1] = 0
    X[0, -1] = 1
    table = word_shift_table(model, X, pd.date_range("2020-01-01", periods=N_ITEMS), freq="Y", n_features=100)
    assert table["group"].unique().tolist() == ["2020", "2021", "2022", "2023"]
    assert f"view0_{X.shape[1] - 1}" not in set(table["feature"])


def test_what_cannot_be_tested_is_refused(model: Harmonium) -> None:
    X, late = drawn(5)
    with pytest.raises(ValueError, match="needs a whole number n_features"):
        word_shift_table(model, X, late, n_features=0)
    signed = Harmonium(2, hidden="gaussian", random_state=0).fit(X[:50])
    with pytest.raises(ValueError, match="Shifts of words need topics that items have or lack"):
        word_shift_table(signed, X, late)
