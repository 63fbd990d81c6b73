"""How features of topics are ranked: against a plain loop, on planted topics, and where it cannot be known."""

import numpy as np
import pytest
import scipy.sparse

from harmonium import BernoulliUnits, Gaussian, GaussianUnits, Harmonium, Stochastic, load


def by_loop(X, natural, deviation, n_typical, two_sided):
    lifts = np.zeros((X.shape[1], natural.shape[1]))
    for k in range(natural.shape[1]):
        order = np.argsort(-natural[:, k], kind="stable")
        lifts[:, k] = X[order[:n_typical]].mean(axis=0) - X.mean(axis=0)
        if two_sided:
            lifts[:, k] = (X[order[:n_typical]].mean(axis=0) - X[order[::-1][:n_typical]].mean(axis=0)) / 2
    shrunk = 2 * n_typical / (2 * n_typical + 10) if two_sided else n_typical / (n_typical + 10)
    return shrunk * lifts / np.sqrt(deviation**2 + 10 / len(X))[:, None]


@pytest.fixture
def words():
    rng = np.random.default_rng(0)
    topic = rng.integers(3, size=300)
    rate = np.where(np.arange(12) // 4 == topic[:, None], 0.6, 0.1)
    return (rng.random(rate.shape) < rate).astype(np.float32)


@pytest.mark.parametrize("sparse", [False, True])
def test_lifts_are_those_of_a_plain_loop(words, sparse):
    X = scipy.sparse.csr_array(words) if sparse else words
    model = Harmonium(3, driver=Stochastic(max_iter=5, learning_rate=0.02), random_state=0).fit(X)
    natural = model.set_params(output="natural").transform(X)
    mean = words.mean(axis=0)
    expected = by_loop(words, natural, np.sqrt(mean * (1 - mean)), 15, two_sided=False)
    np.testing.assert_allclose(model.lifts(), expected, atol=2e-3)


def test_units_with_two_sides(words):
    X = words @ np.random.default_rng(1).normal(size=(12, 6)).astype(np.float32)
    driver = Stochastic(max_iter=5)
    model = Harmonium(2, views=Gaussian(), hidden=GaussianUnits(), driver=driver, random_state=0).fit(X)
    natural = model.set_params(output="natural").transform(X)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(model.lifts(), by_loop(standard, natural, np.ones(6), 15, True), atol=5e-3)
    first = model.topics(n=6)
    assert first.iloc[:, ::-1].to_numpy().tolist() == model.topics(n=6, side="negative").to_numpy().tolist()


def test_what_many_topics_share_comes_later(words):
    common = np.ones((len(words), 1), dtype=np.float32)
    common[::7] = 0
    X = np.hstack([words, common])
    units = BernoulliUnits(weights="nonnegative")
    model = Harmonium(3, hidden=units, driver=Stochastic(max_iter=10, learning_rate=0.02), random_state=0).fit(X)
    found = {frozenset(row) for row in model.topics(n=4).to_numpy()}
    assert found == {frozenset(f"view0_{j}" for j in range(4 * k, 4 * k + 4)) for k in range(3)}
    table, lifts = model.ranking(), model.lifts()
    np.testing.assert_allclose(table, lifts * np.sqrt(lifts.abs().div(np.linalg.norm(lifts, axis=1), axis=0)))
    assert model.ranking(by="weight").equals(model.loadings())
    assert model.ranking(by="effect").equals(model.effects())


def test_models_that_have_not_seen_all_items_rank_by_effects(words):
    model = Harmonium(3, random_state=0).partial_fit(words)
    assert model.lifts().equals(model.effects())


def test_files_keep_lifts(words, tmp_path):
    model = Harmonium(3, driver=Stochastic(max_iter=2), random_state=0).fit(words)
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").lifts().equals(model.lifts())


def test_refusals(words):
    model = Harmonium(2, driver=Stochastic(max_iter=1), random_state=0).fit(words)
    with pytest.raises(ValueError, match="'lift', 'effect' or 'weight'"):
        model.topics(by="frequency")
    with pytest.raises(ValueError, match="'positive' or 'negative'"):
        model.topics(side="both")


def test_signs_that_are_turned_leave_no_lifts_of_the_other_end():
    X = (np.random.default_rng(0).random((60, 8)) < 0.4).astype(float)
    model = Harmonium(6, driver=Stochastic(max_iter=3), random_state=0).fit(X)
    weights = model.components_.copy()
    model.canonical_signs()
    turned = np.sign((weights * model.components_).sum(axis=1)) < 0
    assert turned.any() and model.lifts().equals(model.effects())
