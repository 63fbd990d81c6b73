"""Models are judged on rows held out: how these are split, measures, intervals, and simpler models beside them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, f1_score, log_loss, mean_absolute_error, r2_score

from harmonium import HarmoniumClassifier, Hinge, Stochastic
from harmonium.core.targets import TargetSpec
from harmonium.estimators.input import known_views
from harmonium.evaluation import baselines
from harmonium.evaluation.baselines import linear_predictions, trivial_predictions
from harmonium.evaluation.held_out import encoded_targets
from harmonium.evaluation.measures import compare, measures_for
from harmonium.evaluation.split import split_rows
from tests.cases.folders import FRAME, KIND, READER


def test_rows_are_split_by_class_and_unknown_ones_are_learned_from() -> None:
    y = np.array(["a"] * 150 + ["b"] * 50 + [None] * 20 + ["once"], dtype=object)
    learned, held_out = split_rows(y, 0.2, seed=1)
    assert np.array_equal(np.sort(np.concatenate([learned, held_out])), np.arange(len(y)))
    assert [np.sum(y[held_out] == name) for name in ("a", "b", "once")] == [30, 10, 0]
    assert not pd.isna(y[held_out]).any()
    assert not np.array_equal(held_out, split_rows(y, 0.2, seed=2)[1])
    assert not len(split_rows(y[:30], 0.2, seed=1)[1])  # too few to tell anything


def test_measures_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 3, 50).astype(float)
    y, guess = rng.normal(size=(50, 1)), rng.normal(size=(50, 1))
    explained, error = (measure.value(y, guess, weight) for measure in measures_for(TargetSpec("number", [])))
    assert explained == pytest.approx(r2_score(y, guess, sample_weight=weight))
    assert error == pytest.approx(mean_absolute_error(y, guess, sample_weight=weight))
    classes, shares = rng.integers(0, 3, (50, 1)).astype(float), rng.dirichlet(np.ones(3), 50)
    right, loss = (m.value(classes, shares, weight) for m in measures_for(TargetSpec("class", [np.arange(3)])))
    assert right == pytest.approx(accuracy_score(classes[:, 0], shares.argmax(axis=1), sample_weight=weight))
    assert loss == pytest.approx(log_loss(classes[:, 0], shares, sample_weight=weight, labels=[0, 1, 2]))
    labels, chances = rng.integers(0, 2, (50, 4)).astype(float), rng.random((50, 4))
    f1 = measures_for(TargetSpec("label", []))[0].value(labels, chances, np.ones(50))
    assert f1 == pytest.approx(f1_score(labels, chances >= 0.5, average="micro"))


def test_intervals_are_those_of_the_mean() -> None:
    """For accuracy the resampled interval is that of the binomial, and a model is not ahead of itself."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, (400, 1)).astype(float)
    shares = np.where(rng.random((400, 1)) < 0.8, truth, 1 - truth) @ [[-1.0, 1.0]] + [1.0, 0.0]
    found = compare(TargetSpec("class", [np.arange(2)]), truth, {"a": shares, "b": shares.copy()})[0]["models"]
    value, width = found[0]["value"], 1.96 * np.sqrt(found[0]["value"] * (1 - found[0]["value"]) / 400)
    assert found[0]["lower"] == pytest.approx(value - width, abs=0.01)
    assert found[0]["upper"] == pytest.approx(value + width, abs=0.01)
    assert found[1]["ahead"] == found[1]["ahead_lower"] == found[1]["ahead_upper"] == 0


def test_simpler_models_learn_what_there_is_to_learn() -> None:
    model = HarmoniumClassifier(
        2, views=READER, head=Hinge(C=1.0), driver=Stochastic(max_iter=1), validation_fraction=0.0, random_state=0
    ).fit(FRAME[["text", "price"]], FRAME["class"])
    meaning, views = model.fitted_.meaning, known_views(model, FRAME[["text", "price"]])
    assert meaning is not None
    truth = encoded_targets(meaning, FRAME["class"])
    shares = linear_predictions(meaning, model.families_, views[:100], truth[:100], views[100:])
    assert accuracy_score(truth[100:, 0], shares.argmax(axis=1)) > 0.95
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(trivial_predictions(meaning, truth, 2)[0], [np.mean(KIND == 0), np.mean(KIND == 1)])


def test_a_class_that_is_in_no_row_of_the_sample_takes_the_standard_penalty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baselines, "_MOST_ROWS", 10)  # of 100 rows, every eleventh
    model = HarmoniumClassifier(
        2, views=READER, head=Hinge(C=1.0), driver=Stochastic(max_iter=1), validation_fraction=0.0, random_state=0
    ).fit(FRAME[["text", "price"]], FRAME["class"])
    views, truth = known_views(model, FRAME[["text", "price"]]), np.zeros((100, 1))
    truth[1:9] = 1.0
    shares = linear_predictions(model.fitted_.meaning, model.families_, views[:100], truth, views[100:])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert 0 < shares[:, 1].mean() < 0.5
