import importlib.util
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import cosine_similarity

from harmonium.search import NearestNeighbours, rank_all

needs_faiss = pytest.mark.skipif(importlib.util.find_spec("faiss") is None, reason="faiss-cpu is not installed")
BACKENDS = ["exact", pytest.param("faiss", marks=needs_faiss)]


def plain_ranking(similarity):
    """Order by descending similarity, then by index."""
    return np.argsort(-similarity, axis=1, kind="stable")


@pytest.fixture(scope="module")
def points():
    generator = np.random.default_rng(0)
    return generator.standard_normal((40, 7)), generator.standard_normal((150, 7))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("k", [1, 5, 149, 150])
def test_query_matches_cosine_similarity(points, backend, k):
    queries, index = points
    indices, similarities = NearestNeighbours(backend=backend).fit(index).query(queries, k)
    expected = cosine_similarity(queries, index)
    order = plain_ranking(expected)[:, :k]
    assert indices.dtype == np.int64
    assert similarities.dtype == np.float32
    assert indices.shape == similarities.shape == (40, k)
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_allclose(similarities, np.take_along_axis(expected, order, axis=1), atol=1e-6)


@pytest.mark.parametrize("block_size", [1, 7, 1000])
def test_block_size_does_not_change_the_answer(points, block_size):
    queries, index = points
    expected = NearestNeighbours().fit(index).query(queries, 9)[0]
    np.testing.assert_array_equal(NearestNeighbours(block_size=block_size).fit(index).query(queries, 9)[0], expected)
    ranking = np.concatenate([block for _, block in rank_all(queries, index, block_size)])
    np.testing.assert_array_equal(ranking[:, :9], expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_ties_are_broken_by_the_lower_index(backend):
    # Signed unit vectors make every similarity exactly -1, 0 or 1, so that whole groups tie.
    generator = np.random.default_rng(1)
    basis = np.concatenate([np.eye(4), -np.eye(4), np.zeros((1, 4))])
    index, queries = basis[generator.integers(0, 9, 60)], basis
    neighbours = NearestNeighbours(backend=backend).fit(index)
    expected = plain_ranking(queries @ index.T)
    for k in (1, 2, 10, 33, 60):
        np.testing.assert_array_equal(neighbours.query(queries, k)[0], expected[:, :k])


@pytest.mark.parametrize("backend", BACKENDS)
def test_zero_vectors_have_similarity_zero(backend):
    neighbours = NearestNeighbours(backend=backend).fit([[-1.0, 0.0], [0.0, 0.0], [2.0, 0.0]])
    indices, similarities = neighbours.query([[0.0, 0.0], [1.0, 0.0]], 3)
    np.testing.assert_array_equal(indices, [[0, 1, 2], [2, 1, 0]])
    np.testing.assert_array_equal(similarities, [[0, 0, 0], [1, 0, -1]])
    assert not np.signbit(similarities[0]).any()


@needs_faiss
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n_items=st.integers(1, 80), width=st.integers(1, 6), data=st.data())
def test_faiss_equals_exact(seed, n_items, width, data):
    generator = np.random.default_rng(seed)
    # Small whole numbers give many parallel rows, hence many ties, but ties that rounding may split differently.
    index = generator.integers(-2, 3, (n_items, width)).astype(float)
    queries = generator.integers(-2, 3, (10, width)).astype(float)
    k = data.draw(st.integers(1, n_items))
    exact = NearestNeighbours().fit(index).query(queries, k)
    faiss = NearestNeighbours(backend="faiss").fit(index).query(queries, k)
    np.testing.assert_allclose(faiss[1], exact[1], atol=1e-6)
    similarity = cosine_similarity(queries, index)
    np.testing.assert_allclose(np.take_along_axis(similarity, faiss[0], axis=1), exact[1], atol=1e-6)
    assert all(len(set(row)) == k for row in faiss[0].tolist())


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
def test_very_small_and_very_large_rows(points, scale):
    queries, index = points
    expected = NearestNeighbours().fit(index).query(queries, 5)
    scaled = NearestNeighbours().fit(index * scale).query(queries / scale, 5)
    np.testing.assert_array_equal(scaled[0], expected[0])
    np.testing.assert_allclose(scaled[1], expected[1], atol=1e-6)


def test_inputs_are_left_unchanged(points):
    queries, index = (array.astype(np.float32) for array in points)
    copies = queries.copy(), index.copy()
    NearestNeighbours().fit(index).query(queries, 3)
    list(rank_all(queries, index))
    np.testing.assert_array_equal(queries, copies[0])
    np.testing.assert_array_equal(index, copies[1])


def test_sparse_rows_give_the_answer_of_dense_rows():
    generator = np.random.default_rng(2)
    index, queries = (sp.random_array((n, 30), density=0.3, rng=generator, format="csr") for n in (50, 8))
    dense = NearestNeighbours().fit(index.toarray()).query(queries.toarray(), 6)
    for a, b in ((index, queries), (index, queries.toarray()), (index.toarray(), queries)):
        indices, similarities = NearestNeighbours().fit(a).query(b, 6)
        np.testing.assert_array_equal(indices, dense[0])
        np.testing.assert_allclose(similarities, dense[1], atol=1e-6)


def test_rank_all_covers_every_query_and_item(points):
    queries, index = points
    blocks = list(rank_all(queries, index, block_size=16))
    assert [rows for rows, _ in blocks] == [slice(0, 16), slice(16, 32), slice(32, 40)]
    ranking = np.concatenate([block for _, block in blocks])
    np.testing.assert_array_equal(ranking, plain_ranking(cosine_similarity(queries, index)))


@pytest.mark.parametrize(
    ("coordinates", "message"),
    [
        (np.ones(3), r"2-D.*shape \(3,\)"),
        (np.ones((0, 3)), "non-empty"),
        ([[1.0, np.nan]], "finite"),
        ([[1.0, -np.inf]], "finite"),
        (sp.csr_array([[1.0, np.inf]]), "finite"),
        ([["a", "b"]], "real numbers"),
    ],
)
def test_bad_coordinates_are_refused(coordinates, message):
    with pytest.raises(ValueError, match=message):
        NearestNeighbours().fit(coordinates)
    with pytest.raises(ValueError, match=message):
        rank_all(coordinates, np.ones((2, 2)))


@pytest.mark.parametrize("k", [0, 4, -1, 1.5, True, None])
def test_bad_k_is_refused(k):
    with pytest.raises((ValueError, TypeError), match=r"whole number k >= 1|k of at most .*, 3"):
        NearestNeighbours().fit(np.eye(3)).query(np.eye(3), k)


def test_other_mistakes_are_named():
    with pytest.raises(NotFittedError, match="call fit"):
        NearestNeighbours().query(np.eye(2), 1)
    with pytest.raises(ValueError, match=r"as many columns as the indexed coordinates \(3\), got 2"):
        NearestNeighbours().fit(np.eye(3)).query(np.eye(2), 1)
    with pytest.raises(ValueError, match="metric 'cosine'; got"):
        NearestNeighbours(metric="euclidean").fit(np.eye(2))
    with pytest.raises(ValueError, match="backend 'exact' or"):
        NearestNeighbours(backend="annoy").fit(np.eye(2))
    with pytest.raises(ValueError, match="dense"):
        NearestNeighbours(backend="faiss").fit(sp.eye_array(2))
    for block_size in (0, 2.5, True):
        with pytest.raises((ValueError, TypeError), match="whole number block_size >= 1"):
            NearestNeighbours(block_size=block_size).fit(np.eye(2))


def test_missing_faiss_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ImportError, match=r"harmonium\[neighbours\]"):
        NearestNeighbours(backend="faiss").fit(np.eye(2))


@needs_faiss
def test_faiss_refuses_sparse_queries():
    with pytest.raises(ValueError, match="dense"):
        NearestNeighbours(backend="faiss").fit(np.eye(2)).query(sp.eye_array(2), 1)


def test_repr_names_the_choices():
    assert repr(NearestNeighbours(block_size=3)) == "NearestNeighbours(metric='cosine', backend='exact', block_size=3)"
