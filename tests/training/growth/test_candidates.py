"""Completing rows: parts of rows are predicted from the other parts, and models are compared by how well."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from scipy.special import expit

from harmonium import Bernoulli, Harmonium
from harmonium.families import ReplicatedSoftmax
from harmonium.hidden import BernoulliUnits
from harmonium.training.growth.candidates import HeldOutReconstruction
from harmonium.views.container import Views
from harmonium.views.data import Data

VALUES = (np.random.default_rng(0).random((40, 6)) < 0.4).astype(np.float32)
MODEL = Harmonium(2, hidden=BernoulliUnits(), views=Bernoulli(), random_state=0).fit(VALUES).fitted_
PARAMETERS = {
    name: np.random.default_rng(1).normal(size=value.shape).astype(np.float32)
    for name, value in MODEL.parameters.items()
}


def questions(values: object) -> HeldOutReconstruction:
    found = HeldOutReconstruction.of(MODEL.problem, Data(Views({"view0": values})), np.random.default_rng(2))
    assert found is not None
    return found


def test_losses_are_those_of_a_plain_loop() -> None:
    """Hidden means and what is hidden in turn, from the mean statistics on, and the log-loss of what was asked for."""
    completion = questions(VALUES)
    (name,) = MODEL.problem.energy.families
    weights, bias = PARAMETERS[f"{name}.weights"], PARAMETERS[f"{name}.bias"]
    missing = completion.observed[0].views[name].missing
    assert missing is not None
    assert missing.any()
    expected = []
    for row, lacks in zip(VALUES, missing, strict=True):
        guess = np.where(lacks, MODEL.problem.reference[name], row)
        for _ in range(10):
            chance = expit(bias + weights @ expit(PARAMETERS["hidden.bias"] + guess @ weights))
            guess = np.where(lacks, chance, row)
        chance = expit(bias + weights @ expit(PARAMETERS["hidden.bias"] + guess @ weights))
        expected.append(-np.log(np.where(row == 1, chance, 1 - chance))[lacks].sum())
    np.testing.assert_allclose(completion.losses(MODEL.problem, PARAMETERS), expected, rtol=1e-4, atol=1e-5)


def test_sparse_rows_are_asked_the_same() -> None:
    dense, sparse = questions(VALUES), questions(scipy.sparse.csr_array(VALUES))
    losses = [one.losses(MODEL.problem, PARAMETERS) for one in (dense, sparse)]
    np.testing.assert_allclose(*losses, rtol=1e-5)


def test_what_is_missing_is_not_asked_for() -> None:
    values = VALUES.copy()
    values[:, 2] = np.nan
    (name,) = MODEL.problem.energy.families
    completion = questions(values)
    view = completion.masked[0][name]
    assert view.missing is not None
    assert view.missing[:, 2].all()
    assert np.isfinite(completion.losses(MODEL.problem, PARAMETERS)).all()


def test_a_row_that_is_one_site_leaves_nothing_to_ask() -> None:
    counts = np.random.default_rng(0).poisson(2.0, (30, 4)) + 1.0
    model = Harmonium(2, hidden=BernoulliUnits(), views=ReplicatedSoftmax(), random_state=0).fit(counts).fitted_
    assert HeldOutReconstruction.of(model.problem, Data(Views({"view0": counts})), np.random.default_rng(0)) is None


@pytest.mark.parametrize("n_units", [1, 8])
def test_units_that_stand_for_nothing_complete_worse(n_units: int) -> None:
    """Of independent columns, no model completes rows better than the truth, whose units have no weights."""
    truth = {name: np.zeros_like(value) for name, value in MODEL.parameters.items()}
    (name,) = MODEL.problem.energy.families
    truth[f"{name}.bias"] += np.float32(np.log(0.4 / 0.6))
    fitted = Harmonium(n_units, hidden=BernoulliUnits(), views=Bernoulli(), random_state=0).fit(VALUES).fitted_
    unseen = questions((np.random.default_rng(3).random((2000, 6)) < 0.4).astype(np.float32))
    assert unseen.losses(fitted.problem, fitted.parameters).mean() > unseen.losses(MODEL.problem, truth).mean()
