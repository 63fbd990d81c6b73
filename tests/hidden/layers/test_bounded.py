"""Units that only raise features, targets of their activity, a start from clusters, and weights of length zero."""

import numpy as np
import pytest
import scipy.sparse
from scipy.special import expit

from harmonium import (
    LBFGS,
    Bernoulli,
    Gaussian,
    Harmonium,
    HarmoniumClassifier,
    Hinge,
    Langevin,
    Poisson,
    Stochastic,
    load,
)
from harmonium.core.batch import Batch, ViewBatch
from harmonium.energy import Energy
from harmonium.exceptions import IncompatiblePartsError
from harmonium.families import ReplicatedSoftmax
from harmonium.hidden import BernoulliUnits, BinomialUnits
from harmonium.objectives import MeanFieldCD
from harmonium.training.clusters import bias_of_activity, totals_of_groups


def planted(n_items=600, n_topics=4, width=8, seed=0):
    """Items that have one topic each, whose words they hold more often than others do."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(n_topics, size=n_items)
    rate = np.full((n_items, n_topics * width), 0.05)
    for k in range(n_topics):
        rate[topic == k, k * width : (k + 1) * width] = 0.6
    return (rng.random(rate.shape) < rate).astype(np.float32), topic


@pytest.mark.parametrize(
    "family", [Bernoulli(), Bernoulli(length_normalize=True), Poisson(), ReplicatedSoftmax(), Gaussian()]
)
@pytest.mark.parametrize("units", [BernoulliUnits(weights="nonnegative"), BinomialUnits(3, weights="nonnegative")])
def test_weights_are_never_negative(family, units):
    X, _ = planted(200)
    model = Harmonium(4, views={"x": family}, hidden=units, driver=Stochastic(max_iter=3), random_state=0).fit({"x": X})
    assert model.fitted_.parameters["x.weights"].min() >= 0
    assert model.fitted_.parameters["x.weights"].max() > 0
    assert np.isfinite(model.transform({"x": X})).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_planted_topics_are_found(sparse):
    X, topic = planted()
    X = scipy.sparse.csr_array(X) if sparse else X
    units = BernoulliUnits(weights="nonnegative")
    model = Harmonium(4, hidden=units, driver=Stochastic(max_iter=20, learning_rate=0.02), random_state=0).fit(X)
    of_topics = {frozenset(column.nlargest(8).index) for _, column in model.topics(n=None, by="weight").items()}
    assert of_topics == {frozenset(f"view0_{j}" for j in range(8 * k, 8 * k + 8)) for k in range(4)}
    latent = model.transform(X)
    assert all(latent[topic == k].mean(axis=0).max() > 5 * latent[topic != k].mean(axis=0).min() for k in range(4))


def test_lbfgs_keeps_to_the_bounds_and_improves_the_loss():
    X, _ = planted(200)

    def fitted(max_iter):
        units, driver = BernoulliUnits(weights="nonnegative"), LBFGS(max_iter=max_iter)
        return Harmonium(3, hidden=units, objective=MeanFieldCD(), driver=driver, random_state=0).fit(X)

    model, begun = fitted(30), fitted(1)
    assert model.components_.min() >= 0
    # a round may already reach the optimum, so that the rounds of one fit need not differ
    assert model.history_["loss"][-1] < begun.history_["loss"][0]


def test_heads_stay_signed():
    X, topic = planted(300)
    units = BernoulliUnits(weights="nonnegative")
    head = HarmoniumClassifier(4, hidden=units, head=Hinge(linear_part=False), random_state=0).fit(X, topic > 1)
    assert head.fitted_.parameters["view0.weights"].min() >= 0
    assert head.fitted_.parameters["head.weights"].min() < 0 < head.fitted_.parameters["head.weights"].max()
    assert head.score(X, topic > 1) > 0.9


@pytest.mark.parametrize("activity", [0.05, 0.3])
@pytest.mark.parametrize("units", [BernoulliUnits, BinomialUnits])
def test_activity_is_reached(units, activity):
    """By each unit if updates see all items; of 60 items three have a unit that one in 20 has, so that it wavers."""
    X, _ = planted()
    layer = units(activity=activity)

    def reached(batch_size):
        driver = Stochastic(max_iter=30, learning_rate=0.01, batch_size=batch_size)
        model = Harmonium(4, hidden=layer, driver=driver, random_state=0).fit(X)
        return model.transform(X).mean(axis=0) / layer.support.upper

    np.testing.assert_allclose(reached(len(X)), activity, rtol=0.03)
    assert reached(60).mean() == pytest.approx(activity, rel=0.4)


def test_draws_and_line_searches_refuse_what_they_would_not_keep():
    X, _ = planted(50)
    for layer in (BernoulliUnits(weights="nonnegative"), BernoulliUnits(activity=0.1)):
        with pytest.raises(IncompatiblePartsError, match="leave that out"):
            Harmonium(2, hidden=layer, driver=Langevin()).fit(X)
    with pytest.raises(ValueError, match=r"activity=0\.1"):
        Harmonium(2, hidden=BernoulliUnits(activity=0.1), objective=MeanFieldCD(), driver=LBFGS()).fit(X)
    with pytest.raises(ValueError, match="'signed' or 'nonnegative'"):
        Harmonium(2, hidden=BernoulliUnits(weights="positive")).fit(X)


def test_l1_makes_weights_zero_and_none_leaves_them():
    X, _ = planted(300)
    zeros = []
    for l1 in (0.0, 0.3, 1.0):
        driver = Stochastic(max_iter=10, learning_rate=0.01, l1=l1)
        zeros.append(np.mean(Harmonium(4, driver=driver, random_state=0).fit(X).components_ == 0))
    assert zeros[0] == 0 < zeros[1] < zeros[2]


def test_files_and_continued_fits_keep_the_bound(tmp_path):
    X, _ = planted(200)
    units = BernoulliUnits(weights="nonnegative", activity=0.1)
    model = Harmonium(3, hidden=units, driver=Stochastic(max_iter=3), warm_start=True, random_state=0).fit(X)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.fitted_.energy.hidden.groups.nonnegative
    assert loaded.fitted_.energy.hidden.selection.activity == 0.1
    assert loaded.fit(X).partial_fit(X).components_.min() >= 0


def test_more_units_than_items():
    X, _ = planted(5)
    model = Harmonium(9, hidden=BernoulliUnits(weights="nonnegative"), driver=Stochastic(max_iter=2), random_state=0)
    assert np.isfinite(model.fit_transform(X)).all()


def test_missing_rows_and_cells_do_not_count():
    X = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]], dtype=np.float32)
    family, groups = Bernoulli().restore(2, {}), scipy.sparse.csr_array(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    mean = np.array([0.5, 0.25])
    view = ViewBatch(X, missing=np.array([[False] * 2, [True] * 2, [False] * 2]))
    totals, counts = totals_of_groups(view, family, mean, groups)
    np.testing.assert_allclose(totals, [[0.5, -0.25], [0.5, 0.75]])
    np.testing.assert_array_equal(counts, [1, 1])


def test_bias_of_activity():
    rng = np.random.default_rng(0)
    natural, share = rng.normal(scale=5, size=(400, 3)).astype(np.float32), np.array([0.01, 0.2, 0.9])
    energy = Energy({"x": Bernoulli().restore(2, {})}, BernoulliUnits().bind(3))
    bias = bias_of_activity(energy, natural, share)
    np.testing.assert_allclose(expit(natural + bias).mean(axis=0), share, rtol=1e-4)


def test_projection_leaves_free_energies_of_allowed_weights():
    layer = BernoulliUnits(weights="nonnegative").bind(2)
    energy = Energy({"x": Bernoulli().restore(3, {})}, layer)
    parameters = {"hidden.bias": np.zeros(2), "x.weights": np.full((3, 2), 0.5), "x.bias": np.zeros(3)}
    batch = Batch({"x": ViewBatch(np.eye(3))}, 3)
    signed = Energy(energy.families, BernoulliUnits().bind(2))
    np.testing.assert_array_equal(energy.free_energy(parameters, batch), signed.free_energy(parameters, batch))


def test_a_single_unit_stands_for_some_items_and_not_for_all():
    X, topic = planted(400, n_topics=2, width=10)
    units = BernoulliUnits(weights="nonnegative")
    model = Harmonium(1, views=Bernoulli(length_normalize=False), hidden=units, random_state=0).fit(X)
    assert abs(np.corrcoef(model.transform(X)[:, 0], topic)[0, 1]) > 0.8


def test_a_first_batch_of_one_row_leaves_units_that_respond():
    X, _ = planted(200)
    units = BernoulliUnits(weights="nonnegative")
    model = Harmonium(3, views=Bernoulli(length_normalize=False), hidden=units, random_state=0).partial_fit(X[:1])
    assert np.abs(model.fitted_.parameters["hidden.bias"]).max() < 5
    start = model.transform(X).std(axis=0).max()
    for _ in range(5):
        model.partial_fit(X)
    assert model.transform(X).std(axis=0).max() > 2 * start
