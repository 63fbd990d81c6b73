"""Stability of topics: near 1 for those that were planted, lower where there is nothing to find; kept in folders."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment

from harmonium import (
    MMH,
    Harmonium,
    HarmoniumClassifier,
    HarmoniumRegressor,
    ModelFolder,
    Stochastic,
    TableViews,
    fit_folder,
)
from harmonium.hidden.layers.composed import topic_units
from harmonium.inspection import bootstrap_stability
from harmonium.metrics import topic_stability
from harmonium.report import render_report, summarise
from tests.cases.bad_input import assert_one_sentence

N_ROWS, N_TOPICS = 400, 4


def planted(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return binary words, each of one topic, and a number that has little to do with the topics."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, N_TOPICS, N_ROWS)
    share = np.where(np.arange(40) % N_TOPICS == topic[:, None], 0.5, 0.05)
    words = (rng.random((N_ROWS, 40)) < share).astype(float)
    return words, words[:, 0] - words[:, 1] + 0.1 * rng.normal(size=N_ROWS)


def noise(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return as many words that are independent of each other."""
    rng = np.random.default_rng(seed)
    words = (rng.random((N_ROWS, 40)) < 0.16).astype(float)
    return words, words[:, 0] - words[:, 1] + 0.1 * rng.normal(size=N_ROWS)


@pytest.fixture(scope="module")
def model() -> HarmoniumRegressor:
    words, y = planted()
    return HarmoniumRegressor(N_TOPICS, driver=Stochastic(max_iter=3), random_state=0).fit(words, y)


def test_planted_topics_are_stable_and_those_of_noise_are_not(model: HarmoniumRegressor) -> None:
    found = bootstrap_stability(model, planted()[0], n_resamples=3)
    assert found.shape == (N_TOPICS,) and (found > 0.9).all() and (found <= 1).all()
    words, y = noise()
    other = HarmoniumRegressor(N_TOPICS, driver=Stochastic(max_iter=3), random_state=0).fit(words, y)
    assert bootstrap_stability(other, words, n_resamples=3).mean() < 0.65  # three draws of the words: 0.40 to 0.53


def test_a_planted_topic_is_stable_beside_others_that_are_not() -> None:
    words, y = noise()
    first = np.random.default_rng(1).random(N_ROWS) < 0.25
    words[:, :12] = np.random.default_rng(2).random((N_ROWS, 12)) < np.where(first, 0.7, 0.05)[:, None]
    model = HarmoniumRegressor(N_TOPICS, driver=Stochastic(max_iter=3), random_state=0).fit(words, y)
    found = bootstrap_stability(model, words, n_resamples=3)
    best = int(np.argmax([np.corrcoef(column, first)[0, 1] for column in model.transform(words)[:, :N_TOPICS].T]))
    assert found[best] > 0.9 and np.delete(found, best).mean() < 0.65


def test_the_same_seed_gives_the_same_and_the_model_stays_as_it_is(model: HarmoniumRegressor) -> None:
    words, before = planted()[0], {name: value.copy() for name, value in model.fitted_.parameters.items()}
    first, again = (bootstrap_stability(model, words, 2, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    for name, value in before.items():
        np.testing.assert_array_equal(model.fitted_.parameters[name], value)


def test_models_that_predict_nothing_are_fitted_again_and_those_whose_loss_moves_topics_refused() -> None:
    words, y = planted()
    alone = Harmonium(N_TOPICS, hidden=topic_units(N_TOPICS), random_state=0).fit(words)
    assert (bootstrap_stability(alone, words, 2) > 0.9).all()
    mixed = MMH(3, driver=Stochastic(max_iter=2), random_state=0).fit(words, (y > 0).astype(int))
    with pytest.raises(ValueError, match="topic_stability") as refusal:
        bootstrap_stability(mixed, words)
    assert_one_sentence(str(refusal.value))
    with pytest.raises(ValueError, match="n_resamples"):
        bootstrap_stability(alone, words, 0)


def test_activities_are_matched_by_correlation() -> None:
    rng = np.random.default_rng(0)
    first = rng.normal(size=(50, 4))
    others = [first[:, ::-1] + rng.normal(size=(50, 4)), rng.normal(size=(50, 3))]
    expected = np.zeros((2, 4))
    for row, other in zip(expected, others, strict=True):
        alike = np.abs(np.corrcoef(first.T, other.T)[:4, 4:])
        rows, partners = linear_sum_assignment(-alike)
        row[rows] = alike[rows, partners]
    np.testing.assert_allclose(topic_stability([first, *others]), expected.mean(axis=0))
    np.testing.assert_allclose(topic_stability([first, -2 * first[:, [1, 0, 3, 2]]]), np.ones(4))
    with pytest.raises(ValueError, match="same items"):
        topic_stability([first, first[:10]])


def test_a_folder_keeps_it_and_reports_say_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    words = {"good": "clean quiet friendly lovely bright", "bad": "dirty rude noisy broken smelly"}
    kind = np.repeat(["good", "bad"], 40)
    texts = [" ".join(rng.choice(words[one].split(), 4, replace=False)) for one in kind]
    frame = pd.DataFrame({"text": texts, "kind": kind})
    asked = HarmoniumClassifier(2, views=TableViews({"text": "words"}), driver=Stochastic(max_iter=3), random_state=0)
    said: list[str] = []
    made = fit_folder(tmp_path / "hotels", asked, frame, "kind", callback=said.append)
    assert any("stable" in words for words in said)
    opened = ModelFolder.open(tmp_path / "hotels")
    assert made.stability is not None and opened.stability is not None
    np.testing.assert_allclose(opened.stability, made.stability, rtol=1e-6)
    summary = json.loads(json.dumps(summarise(opened)))
    assert {topic["topic"]: topic["stability"] for topic in summary["topics"]} == pytest.approx(
        dict(enumerate(made.stability.round(3).tolist()))
    )
    page = render_report(summary)
    assert f"stability {summary['topics'][0]['stability']:.2f}" in page and "resampled items" in page
    with pytest.raises(ValueError, match="n_resamples") as refusal:
        fit_folder(tmp_path / "mixed", MMH(2), frame, "kind", n_resamples=1)
    assert_one_sentence(str(refusal.value))
    without = ModelFolder.create(tmp_path / "without", made.model, frame)
    assert ModelFolder.open(without.path).stability is None
    assert "tability" not in render_report(summarise(without))
    with pytest.raises(ValueError, match="each of the 2 topics") as refusal:
        ModelFolder.create(tmp_path / "wrong", made.model, frame, stability=np.ones(5))
    assert_one_sentence(str(refusal.value))
