"""Search for linear models: scores of held-out rows as those of new rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from harmonium import HarmoniumRegressor, Stochastic
from harmonium.core.targets import Targets
from harmonium.estimators.input import known_views
from harmonium.linear.search import LinearSearch, linear_search
from harmonium.views.data import Data


def search(n_rows: int, bump: float = 0.0) -> LinearSearch:
    """A search on two folds that hold out all rows; the target of row 3 may be another."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    y = X @ rng.normal(size=(4, 1)) + 0.5 * rng.normal(size=(n_rows, 1))
    model = HarmoniumRegressor(2, driver=Stochastic(max_iter=2), random_state=0).fit(X, y[:, 0])
    y[3] += bump
    rows, head = np.arange(n_rows), model.fitted_.head
    assert head is not None
    folds = [(rows[1::2], rows[::2]), (rows[::2], rows[1::2])]
    return linear_search(head, model.fitted_.families, Data(known_views(model, X), Targets(y, np.ones(n_rows))), folds)


def test_scores_as_of_new_rows_leave_out_a_tenth_of_the_rows() -> None:
    """Of ten rows each is left out by itself, as scikit-learn does."""
    found = search(10)
    model = found.best_without_kernel()
    features = np.asarray(found.features(model.settings))
    order = np.concatenate([rows for _, rows in found.folds])
    expected = cross_val_predict(
        Ridge(alpha=1 / model.settings.C), features, found.all_targets.values[:, 0], cv=LeaveOneOut()
    )
    scores = found.scores_as_of_new_rows(model)
    np.testing.assert_allclose(scores[:, 0], expected[order], atol=1e-3)
    np.testing.assert_array_equal(scores, found.scores_as_of_new_rows(model))  # found once
    assert not np.allclose(scores, model.scores, atol=1e-3)


@pytest.mark.parametrize("n_rows", [40, 101])
def test_the_target_of_a_row_does_not_move_its_score(n_rows: int) -> None:
    first, second = search(n_rows), search(n_rows, bump=1.0)
    model = first.tried[0]
    same = next(other for other in second.tried if other.settings == model.settings)
    scores, moved = first.scores_as_of_new_rows(model), second.scores_as_of_new_rows(same)
    place = int(np.flatnonzero(np.concatenate([rows for _, rows in first.folds]) == 3)[0])
    np.testing.assert_allclose(moved[place], scores[place], atol=1e-12)
    assert not np.allclose(moved, scores, atol=1e-6)
