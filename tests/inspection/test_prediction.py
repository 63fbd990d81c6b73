"""Parts of scores add up to them; models without scores are refused."""

from __future__ import annotations

import numpy as np
import pytest

from harmonium import Harmonium, HarmoniumClassifier, HarmoniumRegressor, Stochastic
from harmonium.inspection import annotate_view, score_parts

X = np.random.default_rng(0).normal(size=(60, 3))


def test_parts_add_up_to_the_scores() -> None:
    model = HarmoniumClassifier(2, random_state=0).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    total = np.sum(list(score_parts(model, X).values()), axis=0)
    np.testing.assert_array_equal(total.argmax(axis=1), model.predict(X))
    np.testing.assert_allclose(total, model.decision_function(X), atol=1e-5)


def test_parts_of_numbers_are_in_the_units_of_y() -> None:
    y = np.column_stack([1e3 * X[:, 0] + 5e4, X[:, 1]])
    model = HarmoniumRegressor(2, random_state=0).fit(X, y)
    np.testing.assert_allclose(sum(score_parts(model, X).values()), model.predict(X), rtol=1e-5, atol=1e-4)


def test_a_model_without_scores_is_refused() -> None:
    model = Harmonium(2, driver=Stochastic(max_iter=1), random_state=0).fit(X)
    with pytest.raises(TypeError, match="score_parts needs a model that predicts something; got Harmonium"):
        score_parts(model, X)
    with pytest.raises(ValueError, match="top"):
        annotate_view(model, "view0", X, top=0)
