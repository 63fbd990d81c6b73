"""Words of a topic that stand in the same items come first."""

import numpy as np
import scipy.sparse

from harmonium import Harmonium, TopicModel
from harmonium.metrics import topic_coherence
from harmonium.training.finalize.relevance import _mean_npmi


def texts(n=600, n_topics=4, seed=0):
    """Topics of eight words that go together, among 200 that do not."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(n_topics, size=n)
    X = rng.random((n, 8 * n_topics + 200)) < 0.03
    for k in range(n_topics):
        own = slice(8 * k, 8 * k + 8)
        X[topic == k, own] |= rng.random(((topic == k).sum(), 8)) < 0.5
    return X.astype(np.float32)


def npmi(one, other):
    """A plain line of the measure, for one pair."""
    both = (one & other).mean()
    return -1.0 if both == 0 else np.log(both / (one.mean() * other.mean())) / -np.log(both)


def test_mean_npmi_is_that_of_a_plain_loop():
    X = texts()[:, :6] > 0
    weight = np.arange(1.0, 7.0)
    expected = [
        max(0.0, sum(weight[j] * npmi(X[:, i], X[:, j]) for j in range(6) if j != i) / (weight.sum() - weight[i]))
        for i in range(6)
    ]
    together = (X.T.astype(float) @ X) / len(X)
    np.testing.assert_allclose(_mean_npmi(together, np.diagonal(together), weight), expected, rtol=1e-9)


def test_words_of_a_topic_come_first_however_they_are_stored():
    X = texts()
    tables = [TopicModel(4, random_state=0).fit(rows).topics(n=8) for rows in (X, scipy.sparse.csr_array(X))]
    planted = {frozenset(f"view0_{j}" for j in range(8 * k, 8 * k + 8)) for k in range(4)}
    for table in tables:
        assert {frozenset(row) for row in table.to_numpy()} == planted


def test_topics_are_more_coherent_than_by_relevance_alone(monkeypatch):
    X = texts(300)
    names = [f"view0_{j}" for j in range(X.shape[1])]

    def coherence():
        topics = TopicModel(8, random_state=0).fit(X).topics(n=10)
        return topic_coherence([list(row) for row in topics.to_numpy()], scipy.sparse.csr_array(X), names).mean()

    by_both = coherence()
    monkeypatch.setattr("harmonium.training.finalize.relevance.coherent", lambda relevance, *_: relevance)
    assert by_both > coherence() + 0.02


def test_few_features_and_units_that_are_no_topics_stay_as_they_are():
    X = texts()[:, :40]
    model = TopicModel(4, random_state=0).fit(X)
    assert (model.fitted_.relevance["view0"] > 0).sum() > 4 * 8
    assert np.isfinite(Harmonium(3, hidden="gaussian", random_state=0).fit(texts()).fitted_.relevance["view0"]).all()
