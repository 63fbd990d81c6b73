"""The weight of the head is chosen on held-out rows, and alternating heads end at their optimum."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.svm import LinearSVC, LinearSVR

from harmonium import IBP, LBFGS, EpsilonInsensitive, HarmoniumClassifier, Hinge, Stochastic
from harmonium.core.parameters import HEAD_BIAS, HEAD_WEIGHTS
from harmonium.heads import MultiLabelHinge
from harmonium.hidden.selection.useful_units import UsefulUnits
from harmonium.inspection import score_parts
from harmonium.objectives import MeanFieldCD, SampledCD
from harmonium.training.drivers.run import Run
from harmonium.training.state import Training, TrainingLog
from harmonium.training.supervised.epoch_search import HeldOutEpochs
from tests.cases.heads import labelled
from tests.cases.supervised import (
    FRESH,
    N_ROWS,
    QUICK,
    Y_FRESH,
    X,
    Y,
    classifier,
    regressor,
    some_labels,
    two_numbers,
    two_views,
)


def test_choice_of_epochs_is_recorded() -> None:
    model = HarmoniumClassifier(**QUICK).fit(X, Y)
    record = pd.DataFrame(model.fitted_.validation)
    assert list(record.columns) == ["C", "epoch", "error"]
    assert set(record["C"]) == {model.fitted_.C} == {Hinge().C}
    assert record["error"].between(0, 1).all()
    assert model.n_iter_ == record[record["error"] == record["error"].min()]["epoch"].max()


def test_the_best_epoch_is_that_of_the_smallest_mean_error() -> None:
    """Errors are averaged over three epochs; waiting begins at the smallest one."""
    state, errors = HeldOutEpochs(), [0.5, 0.3, 0.1, 0.5, 0.2, 0.6]
    for number, error in enumerate(errors, start=1):
        log = TrainingLog(number, {"epoch": [1.0] * number})
        training = Training({"weights": np.full(1, number)}, log)
        state.note(error, np.full((2, 1), number), training)
    smooth = [np.mean(errors[max(0, number - 2) : number + 1]) for number in range(len(errors))]
    best = int(np.argmin(smooth))
    assert best == 4 and state.best is not None
    assert state.best.log.n_iter == 5 and state.best.parameters["weights"][0] == 5 and state.scores[0][0, 0] == 5
    assert len(state.best.log.history["epoch"]) == 5
    assert state.waited == 1 and not state.has_waited(0.0)
    np.testing.assert_allclose(state.record(1.6)["error"], smooth)
    assert state.record(1.6)["epoch"] == [1, 2, 3, 4, 5, 6] and set(state.record(1.6)["C"]) == {1.6}


def test_topics_that_add_nothing_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """One trial on the first fold and one on all rows; what is predicted is the linear model."""
    runs: list[int] = []
    run = Stochastic.run

    def counted(self: Stochastic, given: Run) -> None:
        runs.append(len(given.data))
        run(self, given)

    monkeypatch.setattr(Stochastic, "run", counted)
    model = HarmoniumClassifier(5, driver=Stochastic(2), random_state=0).fit(X, Y)  # topics that have hardly begun
    assert runs == [2 * N_ROWS // 3, N_ROWS, N_ROWS]  # the last run is that of the topics
    parts = score_parts(model, FRESH)
    assert model.fitted_.shares["dimensions"] == 0 and np.ptp(parts["words"]) > 1e-12
    assert model.score(FRESH, Y_FRESH) > 0.9
    assert np.abs(model.predict_proba(FRESH).sum(axis=1) - 1).max() < 1e-6
    runs.clear()
    HarmoniumClassifier(5, head=Hinge(linear_part=False), driver=Stochastic(2), random_state=0).fit(X, Y)
    assert runs.count(2 * N_ROWS // 3) == 3  # without a linear model, all folds are needed


def test_a_fixed_weight_is_not_searched() -> None:
    model = HarmoniumClassifier(**QUICK)
    fixed = model.set_params(head=Hinge(C=0.7)).fit(X, Y)
    assert fixed.fitted_.C == 0.7 and set(fixed.fitted_.validation["C"]) == {0.7}
    assert model.set_params(validation_fraction=0).fit(X, Y).fitted_.validation is None


def test_few_labels_are_not_held_out() -> None:
    few = np.where(np.arange(N_ROWS) < 8, Y, -1)
    model = HarmoniumClassifier(**QUICK).fit(X, few)
    assert model.fitted_.C == 1.6 and model.fitted_.validation is None and model.n_iter_ == 10


def test_rare_classes_do_not_stop_the_choice() -> None:
    rare = Y.copy()
    rare[0] = 9
    assert list(HarmoniumClassifier(**QUICK).fit(X, rare).classes_) == [0, 1, 2, 9]


@pytest.mark.parametrize("driver", [Stochastic(6, 20, 0.1, average=True), Stochastic(6, 20, 0.1), LBFGS(10)], ids=str)
@pytest.mark.parametrize("kind", ["class", "number", "label"])
def test_alternating_head_ends_at_its_optimum(kind: str, driver: Any) -> None:
    """For the hidden means as they are in the end; liblinear is the oracle."""
    objective = MeanFieldCD() if isinstance(driver, LBFGS) else SampledCD()
    ridge = 0.01
    keywords: dict[str, Any] = {"driver": driver, "objective": objective}
    if kind == "class":
        data, y = two_views()
        model: Any = classifier(head=Hinge(1.0, ridge, "alternate"), **keywords).fit(data, y)
        svm = LinearSVC(multi_class="crammer_singer", C=1 / (N_ROWS * ridge), tol=1e-8, max_iter=100000, random_state=0)
        machines = [svm.fit(model.transform(data), y)]
        weights, bias = machines[0].coef_.T, machines[0].intercept_
        targets = y[:, None]
    else:
        data, y = two_numbers() if kind == "number" else some_labels()
        head: Any = EpsilonInsensitive(1.0, ridge, "alternate")
        if kind == "label":
            head = MultiLabelHinge(1.0, ridge, "alternate", positive_weight=1.0)
        model = (regressor if kind == "number" else classifier)(head=head, **keywords).fit(data, y)
        labels = labelled("number", y) if kind == "number" else labelled("label", y.astype(float), [2] * 4)
        targets = model.fitted_.head.targets(labels).values
        make: Any = LinearSVR(epsilon=0.1) if kind == "number" else LinearSVC(loss="hinge")
        make.set_params(C=1 / (N_ROWS * ridge), tol=1e-8, max_iter=100000, random_state=0)
        machines = [clone(make).fit(model.transform(data), column) for column in targets.T]
        weights = np.stack([svm.coef_.ravel() for svm in machines], axis=1)
        bias = np.array([svm.intercept_[0] for svm in machines])

    def loss(weights: np.ndarray, bias: np.ndarray) -> float:
        losses, _ = model.fitted_.head.loss(model.transform(data).astype(float) @ weights + bias, targets)
        return float(losses.mean() + 0.5 * ridge * (np.square(weights).sum() + np.square(bias).sum()))

    assert loss(model.fitted_.parameters[HEAD_WEIGHTS], model.fitted_.parameters[HEAD_BIAS]) == pytest.approx(
        loss(weights, bias), rel=1e-3
    )


def test_alternating_head_with_early_stopping_and_choice_of_the_weight() -> None:
    """Rows held out for stopping change from trial to trial: no dual may outlive the rows it belongs to."""
    driver = Stochastic(8, 20, 0.1, early_stopping="reconstruction", patience=1)
    model = HarmoniumClassifier(5, head=Hinge(ridge=0.02, solver="alternate"), driver=driver, random_state=0).fit(X, Y)
    assert model.score(FRESH, Y_FRESH) > 0.9


@pytest.mark.parametrize("driver", [Stochastic(max_iter=6, batch_size=50), LBFGS(max_iter=30)])
def test_epochs_that_are_asked_for_are_not_cut(driver: Any) -> None:
    objective = MeanFieldCD() if isinstance(driver, LBFGS) else SampledCD()
    head = Hinge(C=1.0, linear_part=False)
    model = HarmoniumClassifier(3, objective=objective, head=head, driver=driver, random_state=0).fit(X, Y)
    assert max(model.fitted_.validation["epoch"]) == driver.epochs(len(Y))


def test_the_prior_of_units_goes_on_from_their_growth() -> None:
    begun = []
    driver = Stochastic(max_iter=6, batch_size=20, learning_rate=0.03, max_update=1.5, schedule="constant")
    model = HarmoniumClassifier(hidden=IBP(truncation=6), head=Hinge(linear_part=False), driver=driver, random_state=0)
    with patch.object(UsefulUnits, "begin", lambda self, parameters: begun.append(1)):
        model.fit(X, Y)
    assert model.n_components_ > 0 and not begun  # not in a fold, and not on all rows


def test_streams_decay_by_all_rows_that_they_have_seen() -> None:
    driver = Stochastic(weight_decay="auto", learning_rate=0.01)
    model = HarmoniumClassifier(3, head=Hinge(C=1.0), driver=driver, random_state=0)
    seen: list[int] = []
    with patch.object(Stochastic, "_decay", lambda self, problem, n_rows: seen.append(n_rows) or 0.0):
        for first in (0, 20, 40):
            rows = slice(first, first + 20)
            model.partial_fit({name: view[rows] for name, view in X.items()}, Y[rows], classes=np.unique(Y))
    assert seen == [20, 40, 60]
