"""Canonical forms at the end of a fit."""

from __future__ import annotations

import numpy as np
import pytest

from harmonium import RAP, Bernoulli, EpsilonInsensitive, Harmonium, HarmoniumRegressor, Poisson
from harmonium.core.parameters import weights_of
from harmonium.hidden import BernoulliUnits, BinomialUnits, ComposedUnits, HiddenLayer
from harmonium.training import Stochastic
from harmonium.training.finalize import canonical

BINARY = np.random.default_rng(0).integers(0, 2, (80, 8)).astype(np.float64)
COUNTS = np.random.default_rng(1).poisson(1.0, (80, 8)).astype(np.float64)


def alignment(model: Harmonium) -> np.ndarray:
    """w_j·x̄ of all topics."""
    fitted = model.fitted_
    total = sum(fitted.reference[name] @ fitted.parameters[weights_of(name)] for name in fitted.families)
    return np.asarray(total)[: fitted.n_topics]


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("hidden", [BernoulliUnits(), BinomialUnits(M=3), ComposedUnits(topics=BernoulliUnits())])
def test_fits_end_with_canonical_signs(hidden: HiddenLayer, average: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"views": Bernoulli(), "driver": Stochastic(max_iter=3, average=average), "random_state": 0}
    model = Harmonium(6, hidden=hidden, **settings).fit(BINARY)
    assert (alignment(model) >= 0).all()
    monkeypatch.setattr(canonical, "unaligned", lambda energy, *_: np.zeros(energy.hidden.n_units_, dtype=bool))
    as_trained = Harmonium(6, hidden=hidden, **settings).fit(BINARY)
    assert (alignment(as_trained) < 0).any()
    densities = [one.score_samples(BINARY[:9]) for one in (model, as_trained)]
    differences = [density - density[0] for density in densities]  # log Z changes, and nothing else
    np.testing.assert_allclose(differences[0], differences[1], atol=1e-4)


def test_rap_ends_with_canonical_signs() -> None:
    model = RAP(6, views=Poisson(length_normalize=False), random_state=0).fit(COUNTS)
    assert (alignment(model) >= 0).all()
    model.partial_fit(COUNTS)  # the optimizer starts afresh


def test_units_that_predict_are_left_as_they_are() -> None:
    head = EpsilonInsensitive(linear_part=False)
    model = HarmoniumRegressor(4, hidden=BernoulliUnits(), head=head, views=Bernoulli(), random_state=0)
    model.fit(BINARY, BINARY[:, 0] - BINARY[:, 1])
    assert (alignment(model) < 0).any()  # some would be turned over


def test_topics_whose_activity_is_given_are_not_turned_over() -> None:
    model = Harmonium(6, hidden=BernoulliUnits(activity=0.1), views=Bernoulli(), random_state=0).fit(BINARY)
    np.testing.assert_allclose(model.transform(BINARY).mean(axis=0), 0.1, atol=0.02)
