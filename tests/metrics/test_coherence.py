from itertools import combinations, permutations
from math import log, sqrt

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from harmonium import Harmonium, Stochastic
from harmonium.metrics import topic_coherence, topic_diversity, topic_stability

WORDS = ["space", "orbit", "car", "engine", "god"]
PRESENCES = arrays(np.int64, st.tuples(st.integers(1, 12), st.just(5)), elements=st.integers(0, 2))
TOPICS = [[0, 1], [4, 2, 3], [0, 1, 2, 3, 4]]


def share(X, *columns):
    return sum(all(row[column] > 0 for column in columns) for row in X.tolist()) / len(X)


def npmi_by_loop(X, topic):
    values = []
    for one, other in combinations(topic, 2):
        joint = share(X, one, other)
        if joint in (0, 1):
            values.append(2 * joint - 1)
        else:
            values.append(log(joint / (share(X, one) * share(X, other))) / -log(joint))
    return sum(values) / len(values)


def cv_by_loop(X, topic, epsilon=1e-12):
    def npmi(one, other):
        joint, independent = share(X, one, other), share(X, one) * share(X, other)
        if independent == 0 or joint == 1:
            return joint
        return log((joint + epsilon) / independent) / -log(joint + epsilon)

    vectors = [[npmi(one, other) for other in topic] for one in topic]
    total = [sum(column) for column in zip(*vectors, strict=True)]

    def cosine(first, second):
        lengths = sqrt(sum(a * a for a in first)) * sqrt(sum(b * b for b in second))
        return sum(a * b for a, b in zip(first, second, strict=True)) / lengths if lengths else 0

    return sum(cosine(vector, total) for vector in vectors) / len(vectors)


@settings(max_examples=60, deadline=None)
@given(X=PRESENCES)
def test_coherence_agrees_with_loops(X):
    for measure, loop in [("npmi", npmi_by_loop), ("cv", cv_by_loop)]:
        found = topic_coherence(TOPICS, X, measure=measure)
        np.testing.assert_allclose(found, [loop(X, topic) for topic in TOPICS], atol=1e-9)
        assert (np.abs(found) <= 1 + 1e-12).all()


def test_limits_of_npmi():
    X = np.array([[1, 1, 1, 0], [1, 1, 0, 0]])
    np.testing.assert_array_equal(topic_coherence([[0, 1], [0, 3], [2, 3]], X), [1, -1, -1])
    # words of which no document has any have nothing in common
    np.testing.assert_array_equal(topic_coherence([[0, 1]], np.zeros((3, 2)), measure="cv"), [0])


@pytest.mark.parametrize("measure", ["npmi", "cv"])
def test_the_same_topics_and_documents_in_all_their_forms(measure):
    X = np.random.default_rng(0).poisson(0.7, (40, 5))
    expected = topic_coherence([[0, 1, 4], [3, 2, 1]], X, measure=measure)
    named = [[WORDS[word] for word in topic] for topic in [[0, 1, 4], [3, 2, 1]]]
    frame = pd.DataFrame(X, columns=WORDS)
    for topics, documents, names in [
        (named, X, WORDS),
        (named, frame, None),
        (np.array(named), scipy.sparse.coo_array(X), np.array(WORDS)),
        (pd.DataFrame(named).assign(last=[None, np.nan]), scipy.sparse.csr_matrix(X * 0.5), WORDS),
        (np.array([[0, 1, 4], [3, 2, 1]]), X > 0, None),
        ([[4, 1, 0], [2, 3, 1]], X, None),  # the order of words does not matter
    ]:
        np.testing.assert_allclose(topic_coherence(topics, documents, names, measure), expected)


def test_zeros_and_cells_that_are_stored_twice_do_not_count_twice_and_stay():
    cells = scipy.sparse.csc_array((np.array([1, 1, 0, 1]), np.array([0, 0, 1, 1]), np.array([0, 2, 4])), shape=(3, 2))
    expected = topic_coherence([[0, 1]], cells.toarray())
    np.testing.assert_array_equal(topic_coherence([[0, 1]], cells), expected)
    assert cells.nnz == 4


def test_topics_of_a_model():
    rng = np.random.default_rng(0)
    X = pd.DataFrame((rng.random((60, 5)) < 0.5).astype(float), columns=WORDS)
    fits = [Harmonium(3, driver=Stochastic(max_iter=2), random_state=seed).fit(X) for seed in range(3)]
    assert topic_coherence(fits[0].topics(n=3), X).shape == (3,)
    assert topic_diversity(fits[0].topics(n=5)) == pytest.approx(1 / 3)
    np.testing.assert_array_equal(topic_stability(fits), np.ones(3))  # ten words of five are all of them
    assert topic_stability([fit.topics(n=2) for fit in fits]).shape == (3,)


def test_words_that_go_together_are_more_coherent():
    rng = np.random.default_rng(1)
    about = rng.random((300, 2)) < 0.3
    X = (rng.random((300, 10)) < np.where(np.repeat(about, 5, axis=1), 0.6, 0.1)).astype(int)
    for measure in ("npmi", "cv"):
        good, bad = topic_coherence([[0, 1, 2, 3], [0, 1, 5, 6]], X, measure=measure)
        assert good > bad


def test_diversity_by_hand():
    assert topic_diversity([["a", "b"], ["c", "d"]]) == 1
    assert topic_diversity([["a", "b"]] * 4) == 0.25
    assert topic_diversity(pd.DataFrame([["a", "b", None], ["a", "c", "d"]])) == pytest.approx(4 / 5)


def test_stability_finds_the_best_matching():
    rng = np.random.default_rng(2)
    fits = [[rng.choice(12, 4, replace=False).tolist() for _ in range(4)] for _ in range(3)]
    found = topic_stability(fits)
    expected = 0
    for other in fits[1:]:
        overlap = [[len(set(one) & set(two)) / 4 for two in other] for one in fits[0]]
        expected += max(sum(overlap[i][j] for i, j in enumerate(order)) for order in permutations(range(4))) / 2
    assert found.sum() == pytest.approx(expected)
    np.testing.assert_array_equal(topic_stability([fits[0], fits[0][::-1]]), np.ones(4))


def test_stability_of_fits_of_different_sizes():
    first = [["a", "b"], ["c", "d"], ["e", "f"]]
    np.testing.assert_array_equal(topic_stability([first, [["d", "c"]]]), [0, 1, 0])
    np.testing.assert_array_equal(topic_stability([[["a", "b"]], first]), [1])
    np.testing.assert_array_equal(topic_stability([[["a", "b"]], [["a", "b", "c", "d"]]]), [0.5])


@pytest.mark.parametrize(
    ("topics", "names", "message"),
    [
        ([["space", "moon"]], WORDS, "names of columns of X; got 'moon'"),
        ([["space", "orbit"]], None, "feature_names are needed, as topics hold words such as 'space'"),
        ([[0, 5]], None, "from 0 to 4; got 5"),
        ([[0, -1]], None, "from 0 to 4; got -1"),
        ([["space", "orbit"], ["car"]], WORDS, "at least two words, as pairs are compared; topic 1 has 1"),
        ([["space", "space"]], WORDS, "topic 0 has a word twice"),
        ([[]], WORDS, "topic 0 has no word"),
        ([], WORDS, "a list of words for each topic"),
        (["space orbit"], WORDS, "a list of words for each topic"),
        ("space", WORDS, "a list of words for each topic"),
        ([1, 2], WORDS, "a list of words for each topic"),
        ([["space", "orbit"]], WORDS[:4], "each of the 5 columns of X; got 4 names"),
        ([["space", "orbit"]], ["space"] * 5, "got 5 names, 1 of them different"),
    ],
)
def test_bad_topics_are_refused(topics, names, message):
    with pytest.raises(ValueError, match=message):
        topic_coherence(topics, np.eye(5), names)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(3), "matrix of numbers"),
        (np.ones((0, 3)), "matrix of numbers"),
        ([["a", "b"]], "matrix of numbers"),
        ([[1.0, np.nan]], "negative values or NaN"),
        (-np.eye(2), "negative values or NaN"),
    ],
)
def test_bad_documents_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        topic_coherence([[0, 1]], X)


def test_other_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="measure must be 'npmi' or 'cv'; got 'umass'"):
        topic_coherence([[0, 1]], np.eye(2), measure="umass")
    for fits in ([[["a", "b"]]], pd.DataFrame([["a", "b"], ["c", "d"]])):
        with pytest.raises(ValueError, match="at least two models"):
            topic_stability(fits)
