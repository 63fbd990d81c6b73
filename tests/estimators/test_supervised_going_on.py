"""Learning goes on: pieces of the data, and a warm start."""

from __future__ import annotations

import numpy as np
import pytest

from harmonium import LBFGS, HarmoniumRegressor, Hinge, Stochastic, Views
from harmonium.heads import LabelView, MultiLabelHinge, Ordinal
from harmonium.objectives import MeanFieldCD
from tests.cases.supervised import FRESH, N_ROWS, Y_FRESH, X, Y, classifier, regressor, some_labels, two_numbers


def test_partial_fit_learns_from_pieces() -> None:
    model = classifier(driver=Stochastic(batch_size=20, learning_rate=0.05))
    pieces = Views(X)
    model.partial_fit(pieces[:40], np.where(Y[:40] == 2, 0, Y[:40]), classes=[0, 1, 2])
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)  # before anything is calibrated
    for _ in range(8):
        for first in range(0, N_ROWS, 60):
            model.partial_fit(pieces[first : first + 60], Y[first : first + 60])
    assert model.score(FRESH, Y_FRESH) > 0.9 and model.n_iter_ == 33 and model.fitted_.C == 1.0
    assert model.partial_fit({"words": X["words"]}, Y).score(FRESH, Y_FRESH) > 0.9  # a view is missing in this piece
    balanced = classifier(head=Hinge(class_weight="balanced"))
    assert balanced.partial_fit(pieces[:40], Y[:40] % 2, classes=[0, 1, 2]).fitted_.C == 1.6


def test_partial_fit_of_several_columns_labels_and_numbers() -> None:
    table = np.stack([Y, Y % 2], axis=1)
    model = classifier().partial_fit(X, np.minimum(table, 1), classes=[[0, 1, 2], [0, 1]])
    model.partial_fit(X, table).partial_fit(X, np.minimum(table, 1))  # though this looks like labels
    assert model.predict(X).shape == (N_ROWS, 2) and len(model.classes_) == 2
    data, labels = some_labels()
    several = classifier(head=MultiLabelHinge(C=1.0)).partial_fit(data, labels, classes=np.arange(4))
    assert several.partial_fit(data, labels, classes=np.arange(4)).predict_proba(data).shape == (N_ROWS, 4)
    data, y = two_numbers()
    numbers = regressor()
    for _ in range(30):
        numbers.partial_fit(data, y)
    assert numbers.score(data, y) > 0.7


def test_partial_fit_is_there_for_joint_steps_only() -> None:
    assert hasattr(classifier(), "partial_fit") and hasattr(HarmoniumRegressor(), "partial_fit")
    assert not hasattr(classifier(head=Hinge(solver="alternate")), "partial_fit")
    assert not hasattr(classifier(objective=MeanFieldCD(), driver=LBFGS()), "partial_fit")


def test_partial_fit_goes_on_after_fit() -> None:
    model = classifier(validation_fraction=0.15).fit(X, Y)
    n_iter, before = model.n_iter_, model.decision_function(FRESH)
    model.partial_fit(X, Y)
    assert model.n_iter_ == n_iter + 1 and not np.array_equal(model.decision_function(FRESH), before)


def test_warm_start_goes_on() -> None:
    for head in (Hinge(C=0.5), Hinge(C=0.5, ridge=0.05, solver="alternate"), LabelView()):
        warm = classifier(head=head, warm_start=True).fit(X, Y)
        first = warm.decision_function(FRESH)
        warm.fit(X, Y)
        assert warm.n_iter_ == 20 and len(warm.history_["epoch"]) == 20
        assert not np.array_equal(warm.decision_function(FRESH), first)
        assert warm.score(FRESH, Y_FRESH) > 0.9
        np.testing.assert_array_equal(warm.set_params(warm_start=False).fit(X, Y).decision_function(FRESH), first)


def test_training_goes_on_with_the_settings_that_the_head_has_now() -> None:
    warm = classifier(head=Hinge(C=0.5), warm_start=True).fit(X, Y)
    same, began = classifier(head=Hinge(C=0.5), warm_start=True).fit(X, Y).fit(X, Y), warm.decision_function(FRESH)
    assert warm.set_params(head=Hinge(C=0.01, ridge=0.1)).fit(X, Y).fitted_.C == 0.01 and warm.fitted_.head.ridge == 0.1
    assert warm.fitted_.problem.loss_weight == 0.01 * warm.fitted_.baseline_nll
    assert not np.array_equal(warm.decision_function(FRESH), same.decision_function(FRESH))
    assert not np.array_equal(warm.decision_function(FRESH), began)
    assert warm.set_params(head__C=2.0).partial_fit(X, Y).fitted_.C == 2.0
    assert warm.set_params(head=None).fit(X, Y).fitted_.head.C == 2.0
    numbers = regressor(warm_start=True).fit(*two_numbers())
    assert numbers.set_params(head__epsilon=0.7).fit(*two_numbers()).fitted_.head.epsilon == 0.7


def test_settings_that_the_head_cannot_go_on_with_are_refused() -> None:
    levels = classifier(head=Ordinal(C=1.0), warm_start=True).fit(X, Y)
    before = levels.fitted_
    for head, message in ((Ordinal(levels=[2, 1, 0]), "levels must stay"), (LabelView(), "head it began with")):
        with pytest.raises(ValueError, match=message):
            levels.set_params(head=head).fit(X, Y)
    assert levels.fitted_ is before and levels.set_params(head=Ordinal(levels=[0, 1, 2])).fit(X, Y).n_iter_ == 20
