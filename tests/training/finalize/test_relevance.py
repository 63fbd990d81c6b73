"""How features of topics are ranked: against a plain loop, on planted topics, and where it cannot be known."""

import numpy as np
import pytest
import scipy.sparse

from harmonium import Gaussian, Harmonium, Stochastic, load
from harmonium.hidden import BernoulliUnits, GaussianUnits
from harmonium.inspection import canonical_signs
from harmonium.queries.topics.features import relevance


def by_loop(X, natural, n_typical, counted):
    """Relevance by the formulae of the docstring, unit by unit and feature by feature."""
    n, result = len(X), np.zeros((X.shape[1], natural.shape[1]))
    for k in range(natural.shape[1]):
        order = np.argsort(-natural[:, k], kind="stable")
        for j in range(X.shape[1]):
            if counted:
                has = X[:, j] > 0
                p = has.mean()
                f = (has[order[:n_typical]].sum() + 10 * p) / (n_typical + 10)
                z, gain = (f - p) / np.sqrt(p * (1 - p) + 10 / n), f * np.log(f / p)
                result[j, k] = np.sign(z) * np.sqrt(z * gain)
            else:
                up, down = X[order[:n_typical], j].sum(), X[order[::-1][:n_typical], j].sum()
                result[j, k] = (up - down) / (n_typical + 10) / 2 / np.sqrt(1 + 10 / n)
    return result


@pytest.fixture
def words():
    rng = np.random.default_rng(0)
    topic = rng.integers(3, size=300)
    rate = np.where(np.arange(12) // 4 == topic[:, None], 0.6, 0.1)
    return (rng.random(rate.shape) < rate).astype(np.float32)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("counts", [False, True])
def test_relevance_is_that_of_a_plain_loop(words, sparse, counts):
    words = words * (1 + np.arange(12) % 3) if counts else words
    X = scipy.sparse.csr_array(words) if sparse else words
    model = Harmonium(3, driver=Stochastic(max_iter=5, learning_rate=0.02), random_state=0).fit(X)
    natural = model.set_params(output="natural").transform(X)
    np.testing.assert_allclose(relevance_of(model), by_loop(words, natural, 15, counted=True), atol=2e-3)


def relevance_of(model):
    return relevance(model.fitted_, "view0")


def test_words_of_few_items_are_not_ranked():
    rng = np.random.default_rng(0)
    X = (rng.random((1000, 8)) < 0.3).astype(np.float32)
    X[:, 7] = 0
    X[:9, 7] = 1
    model = Harmonium(2, driver=Stochastic(max_iter=2), random_state=0).fit(X)
    assert not relevance_of(model).iloc[7].any() and relevance_of(model).iloc[:7].all(axis=None)


def test_units_with_two_sides(words):
    X = words @ np.random.default_rng(1).normal(size=(12, 6)).astype(np.float32)
    driver = Stochastic(max_iter=5)
    model = Harmonium(2, views=Gaussian(), hidden=GaussianUnits(), driver=driver, random_state=0).fit(X)
    natural = model.set_params(output="natural").transform(X)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(relevance_of(model), by_loop(standard, natural, 15, counted=False), atol=5e-3)
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
    table, relevant = model.topics(n=None), relevance_of(model)
    np.testing.assert_allclose(table, relevant * np.sqrt(relevant.abs().div(np.linalg.norm(relevant, axis=1), axis=0)))
    np.testing.assert_array_equal(model.topics(n=None, by="weight"), model.components_.T)
    share = X.mean(axis=0)
    expected = model.components_.T * np.sqrt(share * (1 - share))[:, None]
    np.testing.assert_allclose(model.topics(n=None, by="effect"), expected, rtol=1e-4)
    np.testing.assert_array_equal(model.topics(n=None, by="weight", side="negative"), -model.components_.T)


def test_models_that_have_not_seen_all_items_rank_by_effects(words):
    model = Harmonium(3, random_state=0).partial_fit(words)
    assert relevance_of(model).equals(model.topics(n=None, by="effect"))


def test_files_keep_relevance(words, tmp_path):
    model = Harmonium(3, driver=Stochastic(max_iter=2), random_state=0).fit(words)
    model.save(tmp_path / "model")
    assert relevance_of(load(tmp_path / "model")).equals(relevance_of(model))


def test_refusals(words):
    model = Harmonium(2, driver=Stochastic(max_iter=1), random_state=0).fit(words)
    with pytest.raises(ValueError, match="'relevance', 'effect' or 'weight'"):
        model.topics(by="frequency")
    with pytest.raises(ValueError, match="'positive' or 'negative'"):
        model.topics(side="both")


def test_signs_that_are_turned_leave_no_relevance_of_the_other_end(monkeypatch):
    # a fit ends with these signs itself
    monkeypatch.setattr("harmonium.training.fit.with_signs", lambda problem, training: training)
    X = (np.random.default_rng(0).random((60, 8)) < 0.4).astype(float)
    model = Harmonium(6, driver=Stochastic(max_iter=3), random_state=0).fit(X)
    weights = model.components_.copy()
    model = canonical_signs(model)
    turned = np.sign((weights * model.components_).sum(axis=1)) < 0
    assert turned.any() and relevance_of(model).equals(model.topics(n=None, by="effect"))
