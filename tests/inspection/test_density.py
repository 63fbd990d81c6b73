"""Questions about the distribution are functions of a fitted model, which they leave as it is."""

from __future__ import annotations

import numpy as np
import pytest

from harmonium import Harmonium, Stochastic
from harmonium.inspection import canonical_signs, log_partition, modes, sample_exact, score_parts

WORDS = (np.random.default_rng(0).random((40, 5)) < 0.4).astype(float)


def fitted() -> Harmonium:
    return Harmonium(2, hidden="bernoulli", driver=Stochastic(max_iter=3), random_state=0).fit(WORDS)


def test_signs_are_turned_in_a_copy() -> None:
    model = fitted()
    weights = model.fitted_.parameters["view0.weights"]
    weights[:] = -np.abs(weights)  # against the mean item
    before = weights.copy()
    turned = canonical_signs(model)
    np.testing.assert_array_equal(model.fitted_.parameters["view0.weights"], before)
    assert (WORDS.mean(axis=0) @ turned.fitted_.parameters["view0.weights"] >= 0).all()
    # the distribution is the same: log p(x) of every row, by enumeration
    log_p = [one.score_samples(WORDS) - log_partition(one, "exact").value for one in (model, turned)]
    np.testing.assert_allclose(*log_p, atol=1e-4)


QUESTIONS = {
    "log_partition": log_partition,
    "sample_exact": sample_exact,
    "canonical_signs": canonical_signs,
    "modes": lambda model: modes(model, WORDS),
    "score_parts": lambda model: score_parts(model, WORDS),
}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_what_is_no_fitted_model_is_refused(question) -> None:
    with pytest.raises(TypeError, match="model must be a fitted Harmonium"):
        question(WORDS)
    with pytest.raises(ValueError, match="must be fitted before it knows anything"):
        question(Harmonium())
