"""Missing sites by enumeration, against sums over all states of what is missing."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse
from scipy.special import softmax

from harmonium import Bernoulli, Harmonium, HarmoniumClassifier, Poisson
from harmonium.core.batch import Batch, ViewBatch
from harmonium.energy import Energy
from harmonium.families import Categorical, Ising
from harmonium.hidden import BernoulliUnits, BinomialUnits, ComposedUnits, GaussianUnits
from harmonium.inference import missing
from harmonium.inference.mean_field import fill_missing
from harmonium.inference.missing import infer_missing
from tests.cases.models import SIZE, compatible_pairs, make_family, make_hidden, make_parameters, sizes_for
from tests.inference.test_exact import visible_states

PAIRS = [(family, hidden) for family, hidden in compatible_pairs() if make_hidden(hidden).support.bounded]


def model_of(family: str, hidden: str, scale: float) -> tuple[Energy, dict[str, np.ndarray]]:
    """A model of a family beside three binary columns."""
    energy = Energy({"x": make_family(family), "y": Bernoulli().restore(3, {})}, make_hidden(hidden, n_units=2))
    return energy, make_parameters(energy, seed=len(family), scale=scale)


def whole_rows_lacking(energy: Energy, n_rows: int = 4) -> Batch:
    rng = np.random.default_rng(0)
    family, size = energy.families["x"], sizes_for(energy, n_rows).get("x")
    lacks = np.ones((n_rows, family.codec.n_sites), dtype=bool)
    if family.support.whole_rows:
        lacks = lacks[:, :1]
    known = rng.integers(0, 2, (n_rows, 3)).astype(float)
    return Batch({"x": ViewBatch(np.zeros((n_rows, family.n_features_)), size, lacks), "y": ViewBatch(known)}, n_rows)


def reference_of(energy: Energy) -> dict[str, np.ndarray]:
    return {name: np.full(family.n_features_, 0.3) for name, family in energy.families.items()}


@pytest.mark.parametrize(("family", "hidden"), PAIRS)
def test_a_missing_view_is_summed_out(family: str, hidden: str) -> None:
    energy, parameters = model_of(family, hidden, scale=0.4)
    batch = whole_rows_lacking(energy)
    filled = infer_missing(energy, parameters, batch, reference_of(energy))
    natural = energy.hidden_natural(parameters, filled)
    layer = energy.layer(parameters)
    states, log_weights = visible_states(energy.families["x"])
    for row in range(batch.n_rows):
        known = np.repeat(batch.views["y"].statistic[row : row + 1], len(states), axis=0)
        size = None if batch.views["x"].size is None else np.full(len(states), SIZE)
        every = Batch({"x": ViewBatch(states, size), "y": ViewBatch(known)}, len(states))
        log_density = log_weights - energy.free_energy(parameters, every)
        weight = softmax(log_density)
        mean = weight @ layer.mean(energy.hidden_natural(parameters, every))
        np.testing.assert_allclose(layer.mean(natural[row : row + 1])[0], mean, atol=1e-4)
        np.testing.assert_allclose(filled.views["x"].statistic[row], weight @ states, atol=2e-4, rtol=1e-4)
        expected = np.logaddexp.reduce(log_density)
        assert -energy.free_energy(parameters, filled)[row] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("hidden", "by_sites"),
    [("BernoulliUnits", False), ("BernoulliUnits", True), ("BinomialUnits", True), ("GaussianUnits", True)],
)
def test_single_cells_at_strong_weights(hidden: str, by_sites: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights of a standard deviation of 1.5, of which mean field is off by more than .1 in E[h | x]."""
    if by_sites:
        monkeypatch.setattr(missing, "_MOST_STATES", 0)
    energy = Energy({"x": Bernoulli().restore(6, {})}, make_hidden(hidden, n_units=3))
    parameters = make_parameters(energy, seed=5, scale=1.5)
    rng = np.random.default_rng(1)
    lacks = rng.random((20, 6)) < 0.5
    data = np.where(lacks, 0.0, rng.integers(0, 2, (20, 6)))
    batch, layer = Batch({"x": ViewBatch(data, None, lacks)}, 20), energy.layer(parameters)
    reference = {"x": np.full(6, 0.5)}
    found = layer.mean(energy.hidden_natural(parameters, infer_missing(energy, parameters, batch, reference)))
    rough = layer.mean(energy.hidden_natural(parameters, fill_missing(energy, parameters, batch, reference)))
    exact = np.empty_like(found)
    for row in range(20):
        states, _ = visible_states(Bernoulli().restore(int(lacks[row].sum()), {}))
        every = np.repeat(data[row : row + 1], len(states), axis=0)
        every[:, lacks[row]] = states
        full = Batch({"x": ViewBatch(every)}, len(states))
        exact[row] = softmax(-energy.free_energy(parameters, full)) @ layer.mean(
            energy.hidden_natural(parameters, full)
        )
    np.testing.assert_allclose(found, exact, atol=1e-9)
    assert np.abs(rough - exact).max() > 0.1


def test_rows_do_not_depend_on_their_neighbours() -> None:
    energy, parameters = model_of("Categorical", "ComposedUnits", scale=1.0)
    batch = whole_rows_lacking(energy)
    together = infer_missing(energy, parameters, batch, reference_of(energy))
    for row in range(batch.n_rows):
        alone = infer_missing(energy, parameters, batch.part(row, row + 1), reference_of(energy))
        for name in energy.families:
            np.testing.assert_allclose(alone.views[name].statistic[0], together.views[name].statistic[row], rtol=1e-12)


def test_many_units_stay_with_the_mean_field() -> None:
    energy = Energy({"x": Bernoulli().restore(40, {})}, BernoulliUnits().bind(20))
    parameters = make_parameters(energy, seed=0, scale=0.1)
    lacks = np.zeros((3, 40), dtype=bool)
    lacks[:, :30] = True
    batch, reference = Batch({"x": ViewBatch(np.zeros((3, 40)), None, lacks)}, 3), {"x": np.full(40, 0.5)}
    found = infer_missing(energy, parameters, batch, reference)
    assert found.natural_shift is None
    same = fill_missing(energy, parameters, batch, reference)
    np.testing.assert_array_equal(found.views["x"].statistic, same.views["x"].statistic)


def test_sparse_views_that_rows_lack() -> None:
    rng = np.random.default_rng(0)
    words = scipy.sparse.csr_array(rng.poisson(0.6, (60, 8)).astype(np.float32))
    numbers = rng.integers(0, 2, (60, 4)).astype(float)
    model = Harmonium(3, hidden=BernoulliUnits(), views={"words": Poisson(), "tags": Bernoulli()}, random_state=0).fit(
        {"words": words, "tags": numbers}
    )
    sparse = model.transform({"words": None, "tags": numbers[:5]})
    dense = model.transform({"tags": numbers[:5]})
    np.testing.assert_allclose(sparse, dense, atol=1e-6)


@pytest.mark.parametrize("hidden", [BernoulliUnits(), BinomialUnits(M=2), ComposedUnits(), GaussianUnits()])
def test_explanations_add_up_where_cells_are_missing(hidden: object) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = {"a": (rng.random((80, 5)) < 0.2 + 0.6 * y[:, None]).astype(float), "b": rng.integers(0, 3, (80, 1))}
    model = HarmoniumClassifier(4, hidden=hidden, views={"a": Bernoulli(), "b": Categorical()}, random_state=0)
    model.fit(X, y)
    new = X["a"][:4].copy()
    new[:, :2] = np.nan
    scores = model.decision_function({"a": new})
    told = [float(one.scores[-1] - (one.scores[0] if len(one.scores) > 1 else 0)) for one in model.explain({"a": new})]
    np.testing.assert_allclose(told, scores, atol=1e-5)


@pytest.mark.parametrize("family", ["GaussianMRF", "Ising", "Potts"])
def test_sites_that_depend_on_each_other_are_summed_out_given_the_others(family: str) -> None:
    energy, parameters = model_of(family, "BernoulliUnits", scale=1.5)
    kind, layer = energy.families["x"], energy.layer(parameters)
    states, log_weights = visible_states(kind)
    rng = np.random.default_rng(0)
    rows, known = states[rng.integers(0, len(states), 6)], rng.integers(0, 2, (6, 3)).astype(float)
    missing_sites = np.arange(kind.codec.n_sites)[None] == np.arange(6)[:, None] % kind.codec.n_sites
    of_features = kind.codec.spread(missing_sites)
    view = ViewBatch(np.where(of_features, 0, rows), None, missing_sites)
    batch = Batch({"x": view, "y": ViewBatch(known)}, 6)
    filled = infer_missing(energy, parameters, batch, reference_of(energy))
    means = layer.mean(energy.hidden_natural(parameters, filled))
    for row in range(6):
        fits = (kind.codec.decode(states) == kind.codec.decode(rows[[row]]))[:, ~missing_sites[row]].all(axis=1)
        every = Batch(
            {"x": ViewBatch(states[fits]), "y": ViewBatch(np.repeat(known[[row]], fits.sum(), axis=0))}, fits.sum()
        )
        # weights of a grid are the same for all columns, of which one is summed over
        log_density = log_weights[fits] / kind.codec.n_sites - energy.free_energy(parameters, every)
        weight = softmax(log_density)
        np.testing.assert_allclose(means[row], weight @ layer.mean(energy.hidden_natural(parameters, every)), atol=1e-6)
        np.testing.assert_allclose(filled.views["x"].statistic[row], weight @ states[fits], atol=1e-6)
        free_energy = energy.free_energy(parameters, filled)[row]
        np.testing.assert_allclose(free_energy, -np.logaddexp.reduce(log_density), atol=1e-6)


def test_rows_whose_sites_depend_on_each_other_are_copied_only_if_they_are_summed() -> None:
    edges = np.stack([np.arange(59), np.arange(1, 60)], axis=1)
    energy = Energy({"x": Ising(edges).restore(119, {"edges": edges})}, BernoulliUnits().bind(12))
    parameters, rng = make_parameters(energy, seed=0, scale=0.1), np.random.default_rng(0)
    family = energy.families["x"]
    lacks = np.tile(np.arange(60) < 20, (50, 1))
    statistic = family.codec.encode(rng.integers(0, 2, (50, 60)).astype(float))
    view = ViewBatch(np.where(family.codec.spread(lacks), 0, statistic), None, lacks)
    exact = missing._Exact(energy, parameters)
    tracemalloc.start()
    (lack,) = missing._lacks(energy, Batch({"x": view}, 50))
    assert exact.answer(Batch({"x": view}, 50), lack) is None
    assert tracemalloc.get_traced_memory()[1] < 1e6
    tracemalloc.stop()
