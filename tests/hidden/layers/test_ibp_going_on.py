"""Selection goes on: batch after batch, after another driver, with a warm start, with another layer."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

from harmonium import LBFGS, Harmonium, Stochastic
from harmonium.hidden import BernoulliUnits
from harmonium.objectives import MeanFieldCD
from tests.cases.selection import FEW, HAS, X, assert_found, quick, select


@pytest.fixture(scope="module")
def selected() -> Harmonium:
    return select()


def test_partial_fit_again_and_again_keeps_all_units() -> None:
    model = quick()
    for _ in range(30):
        for rows in (slice(0, 100), slice(100, 200), slice(200, 300)):
            model.partial_fit(X[rows])
    assert model.n_components_ == 8 and model.fitted_.usage is None
    assert_found(model, HAS, X)
    # units nothing speaks for are the same for every row
    assert (model.transform(X).std(axis=0) > 0.1).sum() <= 5
    assert model.fitted_.training.n_items == 9000


def test_partial_fit_goes_on_after_fit(selected: Harmonium) -> None:
    model = pickle.loads(pickle.dumps(selected))
    settled = model.fitted_.training.n_settled
    model.partial_fit(X[:50])
    assert model.n_components_ == 3 and model.fitted_.training.n_settled > settled
    assert_found(model, HAS, X)


def test_lbfgs_counts_its_steps_so_that_batches_can_follow() -> None:
    model = quick(objective=MeanFieldCD(), driver=LBFGS(max_iter=30)).fit(X)
    odds = model.fitted_.parameters["hidden.log_odds"].copy()
    assert model.fitted_.training.n_settled >= 1
    model.set_params(driver=Stochastic(batch_size=300, learning_rate=1e-9)).partial_fit(X)
    # the units are not sent to the queue of those that know nothing yet
    np.testing.assert_allclose(model.fitted_.parameters["hidden.log_odds"], odds, atol=0.5)


def test_warm_start_goes_on_with_the_units_that_are_left(selected: Harmonium) -> None:
    model = pickle.loads(pickle.dumps(selected)).set_params(warm_start=True, driver=FEW)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # three of eight: the truncation is not what limits it
        model.fit(X)
    assert model.n_components_ == 3 and not model.fitted_.truncation_reached
    assert model.n_iter_ == selected.n_iter_ + 3
    assert_found(model, HAS, X)
    with pytest.raises(ValueError, match="can only go on with"):
        model.set_params(hidden__alpha=3.0).fit(X)


def test_another_layer_leaves_no_usage_behind(selected: Harmonium) -> None:
    model = pickle.loads(pickle.dumps(selected))
    model.set_params(hidden=BernoulliUnits(2), driver=FEW).fit(X)
    assert model.fitted_.usage is None and not model.fitted_.truncation_reached
