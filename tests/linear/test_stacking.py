"""Stacking: where numbers of errors cannot tell how much hidden units have to say, likelihood does."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from harmonium import HarmoniumClassifier, Stochastic
from harmonium.core.targets import Targets
from harmonium.estimators.input import known_views
from harmonium.heads import Head
from harmonium.linear import stacking
from harmonium.linear.search import LinearSearch, linear_search
from harmonium.linear.stacking import stacked
from harmonium.linear.task import losses_of
from harmonium.views.data import Data

N_ROWS = 600


@pytest.fixture(scope="module")
def search() -> LinearSearch:
    """A search on one fold of two classes that a line parts, but for noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 3))
    y = (X[:, 0] + rng.normal(size=N_ROWS) > 0).astype(int)
    model = HarmoniumClassifier(2, driver=Stochastic(max_iter=2), random_state=0).fit(X, y)
    assert isinstance(model.fitted_.head, Head)
    rows = np.arange(N_ROWS)
    data = Data(known_views(model, X), Targets(y[:, None], np.ones(N_ROWS)))
    return linear_search(model.fitted_.head, model.fitted_.families, data, [(rows[::2], rows[1::2])])


def test_smooth_loss_is_that_of_a_logistic_regression_of_the_score(search: LinearSearch) -> None:
    """Two scores of two classes have one factor in common, as a logistic regression without a bias has."""
    scores, truth = search.best().scores, search.targets.values[:, 0]
    found = losses_of(search.task.outputs_, scores, search.targets)
    lead = (scores[:, 1] - scores[:, 0])[:, None]
    logistic = LogisticRegression(C=1e9, fit_intercept=False).fit(lead, truth)
    assert found is not None
    assert found.mean() == pytest.approx(log_loss(truth, logistic.predict_proba(lead)), rel=1e-3)


def test_units_that_make_no_more_errors_but_are_less_likely_have_less_to_say(
    search: LinearSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    linear = search.best().scores
    lead = linear[:, 1:] - linear[:, :1]
    sizes = np.random.default_rng(1).uniform(0.01, 10, size=lead.shape)
    units = np.array([-1.0, 1.0]) * np.sign(lead) * sizes
    judged = stacked(search, [units]).alpha
    monkeypatch.setattr(stacking, "losses_of", lambda *given: None)
    assert judged < stacked(search, [units]).alpha  # by errors alone
