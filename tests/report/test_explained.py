"""Explained deviance: by hand, by R² and by the saturated loss."""

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import minimize
from scipy.special import expit

from harmonium import Bernoulli, Gaussian, Harmonium, Poisson, Stochastic, Views
from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parts import registered
from harmonium.energy import Energy
from harmonium.families import Binomial, NegativeBinomial, ReplicatedSoftmax
from harmonium.heads import LabelView
from harmonium.hidden import BernoulliUnits
from harmonium.kernels.sparse.csr import SparseRows
from harmonium.objectives.problem import Problem
from harmonium.report import explained_table, latent_means
from harmonium.report.tables.explained import saturated_loss
from harmonium.training.drivers.monitor import loss_of_view, reconstruct, view_losses
from tests.cases.models import SIZE, make_family
from tests.cases.report import N_ROWS, fit_case, fit_gaussian, make_classifier


@pytest.fixture(scope="module")
def case():
    return fit_case()


def test_losses_by_row_are_those_that_training_watches(case):
    problem, parameters = case.model.fitted_.problem, case.model.fitted_.parameters
    batch = Views(case.X).batch(np.arange(N_ROWS), case.model.families_)
    hidden_mean = problem.energy.hidden.mean(problem.energy.hidden_natural(parameters, batch))
    losses = view_losses(problem, parameters, batch, hidden_mean)
    watched = reconstruct(problem, parameters, batch).reconstruction
    assert {name: loss.shape for name, loss in losses.items()} == {"words": (N_ROWS,), "colour": (N_ROWS,)}
    assert {name: float(loss.mean()) for name, loss in losses.items()} == watched


@pytest.mark.parametrize("family", [Bernoulli(), Poisson(), NegativeBinomial(), Binomial(n=3)], ids=repr)
def test_losses_of_sparse_rows_are_those_of_dense_ones(family):
    """Many features, so that they are added up in several blocks; a row that is missing costs nothing."""
    rng = np.random.default_rng(0)
    n_rows, n_features, n_units = 40, 9000, 6
    bound = family.restore(n_features, {})
    energy = Energy({"x": bound}, BernoulliUnits().bind(n_units))
    parameters = {
        "hidden.bias": np.zeros(n_units, np.float32),
        "x.weights": rng.normal(scale=0.3, size=(n_features, n_units)).astype(np.float32),
        "x.bias": rng.uniform(-6, -3, size=n_features).astype(np.float32),
    }
    problem = Problem(energy, {"x": np.full(n_features, 0.01)})
    values = (rng.random((n_rows, n_features)) < 0.02).astype(np.float32)
    values[7] = 0
    missing = np.zeros((n_rows, n_features), dtype=bool)
    missing[7] = True
    hidden = rng.random((n_rows, n_units)).astype(np.float32)
    losses = [
        view_losses(problem, parameters, Batch({"x": ViewBatch(statistic, missing=missing)}, n_rows), hidden)["x"]
        for statistic in (values, SparseRows.from_dense(values))
    ]
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-5)
    assert losses[1][7] == 0


def test_explained_share_of_a_gaussian_view_is_r_squared():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 6)) + rng.normal(size=(80, 6)) * 0.3
    matrix[rng.random(matrix.shape) < 0.1] = np.nan
    model = fit_gaussian(matrix, variance="learn")
    latent = latent_means(model, [matrix]).astype(float)
    weights, bias = model.fitted_.parameters["view0.weights"], model.fitted_.parameters["view0.bias"]
    variance = np.exp(model.fitted_.parameters["view0.log_variance"])
    values = model.families_["view0"].codec.encode(matrix)

    def squares(hidden):
        return np.nansum((values - variance * (bias + hidden @ weights.T)) ** 2 / variance)

    average = np.tile(latent.mean(axis=0), (80, 1))
    alone = [np.where(np.arange(2) == topic, latent, average) for topic in range(2)]
    expected = [1 - squares(hidden) / squares(average) for hidden in (*alone, latent)]
    table = explained_table(model, [matrix])
    assert table.columns.tolist() == [0, 1, "all"]
    assert table.index.tolist() == ["view0"]
    np.testing.assert_allclose(table.loc["view0"].astype(float), expected, rtol=1e-4, atol=1e-6)
    assert table.loc["view0", "all"] > 0.5


def test_topics_of_different_features_add_up():
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(200, 2))
    matrix = np.repeat(factors, 3, axis=1) + rng.normal(size=(200, 6)) * 0.3
    model = fit_gaussian(matrix)
    model.fitted_.parameters["view0.weights"][:] = np.repeat(np.eye(2), 3, axis=0)
    shares = explained_table(model, [matrix]).loc["view0"]
    assert shares[0] + shares[1] == pytest.approx(shares["all"])
    # all of what a topic explains lies in its own half of the features
    assert 0.1 < shares[0] < 0.5


def test_explained_share_of_a_binary_view(case):
    average = np.tile(latent_means(case.model, case.X).mean(axis=0, dtype=float), (N_ROWS, 1))

    def loss(hidden):
        natural = (
            case.model.fitted_.parameters["words.bias"] + hidden @ case.model.fitted_.parameters["words.weights"].T
        )
        return -np.log(np.where(case.X["words"] == 1, expit(natural), expit(-natural))).sum()

    expected = 1 - loss(latent_means(case.model, case.X)) / loss(average)
    assert explained_table(case.model, case.X).loc["words", "all"] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("family", [Bernoulli(), Poisson(), ReplicatedSoftmax()])
def test_explained_shares_of_sparse_and_dense_views_are_the_same(family, monkeypatch):
    counts = (np.random.default_rng(0).random((40, 8)) < 0.3).astype(np.float32)
    counts[0, 0] = 1
    model = Harmonium(3, views=[family], driver=Stochastic(max_iter=5), random_state=0).fit([counts])
    dense = explained_table(model, [counts])
    np.testing.assert_allclose(explained_table(model, [scipy.sparse.csr_array(counts)]), dense, rtol=1e-4, atol=1e-6)
    monkeypatch.setattr("harmonium.report.tables.explained._BLOCK_CELLS", 56)  # seven rows a block
    np.testing.assert_allclose(explained_table(model, [counts]), dense, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", registered("family"))
def test_no_natural_parameter_beats_the_saturated_loss(name):
    family = make_family(name)
    own = {key: np.asarray(value) - 0.3 for key, value in family.extra_parameters.initial.items()}
    values = np.eye(3)[[2]] if name in ("Bernoulli", "Categorical") else np.array([[2.0, 0.0, 1.0]])
    if name == "Chain":
        values = np.array([[2.0, 1.0, 1.0, 0.0]])
    elif name == "Beta":
        values = family.codec.encode(np.array([[0.02, 0.7]]))
    elif name == "Potts":
        values = family.codec.encode(np.array([[2.0, 0.0]]))
    elif name == "Ising":
        values = family.codec.encode(np.array([[1.0, 0.0, 1.0]]))
    view = ViewBatch(values, size=None if family.length.typical(1) is None else np.array([SIZE]))
    model = np.linspace(2.0, 3.0, values.shape[1])
    limits = (family.domain.lower, family.domain.upper)
    start, bounds, natural_of = np.full(values.shape[1], -1.0), [limits] * values.shape[1], np.asarray
    if name == "Beta":  # the sum of a and b stays as it is in the model
        total = (model / family.scale_).reshape(2, 2).sum(axis=0)
        start, bounds = np.zeros(2), [(-20, 20)] * 2

        def natural_of(log_odds):
            return np.concatenate([total * expit(log_odds), total * expit(-log_odds)]) * family.scale_

    def loss(free):
        return loss_of_view(family, view, natural_of(free)[None, :], own)[0]

    found = minimize(loss, start, method="L-BFGS-B", bounds=bounds)
    assert saturated_loss(family, view, model[None, :], own)[0] == pytest.approx(found.fun, abs=1e-4)


def test_views_that_are_not_there_or_never_vary_explain_nothing(case):
    assert explained_table(case.model, {"colour": case.X["colour"]}).index.tolist() == ["colour"]
    labelled = make_classifier(head=LabelView()).fit(case.X, case.y)
    assert explained_table(labelled, case.X).index.tolist() == ["words", "colour"]
    constant = np.ones((10, 2))
    model = Harmonium(2, views=[Gaussian()], driver=Stochastic(max_iter=1)).fit([np.eye(10)[:, :2]])
    model.fitted_.parameters["view0.weights"][:] = 0
    model.fitted_.parameters["view0.bias"][:] = model.families_["view0"].codec.encode(constant)[0]
    assert explained_table(model, [constant]).isna().all(axis=None)
