import dataclasses
import time

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, precision_score, recall_score
from sklearn.metrics.pairwise import cosine_similarity

from harmonium.metrics import (
    RetrievalReport,
    area_under_recall_precision,
    average_precision,
    precision_at,
    recall_precision_curve,
    retrieval_report,
)


def make_case(seed, n_queries=12, n_items=60, width=5, n_classes=4):
    generator = np.random.default_rng(seed)
    return (
        generator.standard_normal((n_queries, width)),
        generator.standard_normal((n_items, width)),
        generator.integers(0, n_classes, n_queries),
        # Every class occurs, so that every query has something to find.
        np.concatenate([np.arange(n_classes), generator.integers(0, n_classes, n_items - n_classes)]),
    )


@pytest.fixture(scope="module")
def tiny():
    # From (1, 0) the index is ranked 2, 0, 3, 1; from (0, 1) it is ranked 1, 3, 0, 2.
    index = np.array([[2.0, 1.0], [0.0, 3.0], [5.0, 0.5], [1.0, 2.0]])
    return np.array([[1.0, 0.0], [0.0, 1.0]]), index, np.array(["a", "b"]), np.array(["a", "a", "b", "a"])


def test_hand_computed_report(tiny):
    # Relevance in ranked order: query a 0 1 1 1 (3 relevant), query b 0 0 0 1 (1 relevant).
    report = retrieval_report(*tiny)
    np.testing.assert_array_equal(report.cutoffs, [1, 2, 4])
    np.testing.assert_allclose(report.recall, [0, (1 / 3 + 0) / 2, 1])
    np.testing.assert_allclose(report.precision, [0, (1 / 2 + 0) / 2, (3 / 4 + 1 / 4) / 2])
    assert report.first_precision == 0
    assert report.average_precision == pytest.approx(((1 / 2 + 2 / 3 + 3 / 4) / 3 + 1 / 4) / 2)
    assert report.area == pytest.approx(0 + (1 / 6) * (0 + 1 / 4) / 2 + (5 / 6) * (1 / 4 + 1 / 2) / 2)


def test_small_functions_agree_with_the_report(tiny):
    report = retrieval_report(*tiny)
    recall, precision, cutoffs = recall_precision_curve(*tiny)
    np.testing.assert_array_equal(recall, report.recall)
    np.testing.assert_array_equal(precision, report.precision)
    np.testing.assert_array_equal(cutoffs, report.cutoffs)
    assert average_precision(*tiny) == report.average_precision
    assert precision_at(*tiny, k=1) == report.first_precision
    assert precision_at(*tiny, k=2) == pytest.approx(report.precision[1])


def test_report_is_frozen(tiny):
    report = retrieval_report(*tiny)
    assert isinstance(report, RetrievalReport)
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.area = 1.0


@pytest.mark.parametrize(("n_items", "expected"), [(1, [1]), (2, [1, 2]), (4, [1, 2, 4]), (11, [1, 2, 4, 8, 11])])
def test_default_cutoffs_double_and_end_at_all_items(n_items, expected):
    report = retrieval_report(np.ones((1, 2)), np.ones((n_items, 2)), [0], np.zeros(n_items, int))
    np.testing.assert_array_equal(report.cutoffs, expected)
    assert report.recall[-1] == report.area == report.average_precision == 1


def test_cutoffs_need_not_start_at_one():
    case = make_case(3)
    full, part = retrieval_report(*case, cutoffs=np.arange(1, 61)), retrieval_report(*case, cutoffs=[5, 20])
    np.testing.assert_array_equal(part.recall, full.recall[[4, 19]])
    np.testing.assert_array_equal(part.precision, full.precision[[4, 19]])
    assert part.first_precision == full.first_precision
    assert part.average_precision == full.average_precision


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_scikit_learn(seed):
    queries, index, query_labels, index_labels = make_case(seed)
    similarity = cosine_similarity(queries, index)
    relevant = index_labels == query_labels[:, None]
    cutoffs = [1, 3, 10, 60]
    report = retrieval_report(queries, index, query_labels, index_labels, cutoffs)
    for place, k in enumerate(cutoffs):
        found = similarity >= np.sort(similarity, axis=1)[:, [-k]]  # no two are alike
        expected = precision_score(relevant, found, average="samples")
        assert report.precision[place] == pytest.approx(expected)
        assert precision_at(queries, index, query_labels, index_labels, k=k) == pytest.approx(expected)
        assert report.recall[place] == pytest.approx(recall_score(relevant, found, average="samples"))
    expected = average_precision_score(relevant, similarity, average="samples")
    assert report.average_precision == pytest.approx(expected)
    assert average_precision(queries, index, query_labels, index_labels) == pytest.approx(expected)


@pytest.mark.parametrize("as_labels", [np.asarray, sp.csr_array, sp.coo_array, sp.csc_matrix])
def test_indicator_labels_mean_any_shared_label(as_labels):
    generator = np.random.default_rng(5)
    queries, index = generator.standard_normal((9, 4)), generator.standard_normal((40, 4))
    query_labels, index_labels = generator.random((9, 6)) < 0.3, generator.random((40, 6)) < 0.3
    query_labels[:, 0] |= ~query_labels.any(axis=1)
    relevant = (query_labels.astype(int) @ index_labels.T.astype(int)) > 0
    similarity = cosine_similarity(queries, index)
    report = retrieval_report(queries, index, as_labels(query_labels), as_labels(index_labels))
    ranked = np.take_along_axis(relevant, np.argsort(-similarity, axis=1), axis=1)
    hits = np.cumsum(ranked, axis=1)[:, report.cutoffs - 1]
    np.testing.assert_allclose(report.precision, (hits / report.cutoffs).mean(axis=0))
    np.testing.assert_allclose(report.recall, (hits / relevant.sum(axis=1, keepdims=True)).mean(axis=0))
    expected = np.mean([average_precision_score(r, s) for r, s in zip(relevant, similarity, strict=True)])
    assert report.average_precision == pytest.approx(expected)


def test_one_hot_indicators_equal_classes():
    queries, index, query_labels, index_labels = make_case(7)
    one_hot = np.eye(4, dtype=np.int8)
    by_class = retrieval_report(queries, index, query_labels, index_labels)
    by_label = retrieval_report(queries, index, one_hot[query_labels], sp.csr_array(one_hot[index_labels]))
    np.testing.assert_array_equal(by_label.recall, by_class.recall)
    np.testing.assert_array_equal(by_label.precision, by_class.precision)


def test_many_shared_labels_do_not_wrap_round():
    labels = np.ones((1, 256), dtype=np.uint8)
    assert retrieval_report([[1.0]], [[1.0]], labels, labels).average_precision == 1


def test_query_without_relevant_items_counts_as_zero():
    queries, index, query_labels, index_labels = make_case(8)
    alone = retrieval_report(queries, index, query_labels, index_labels)
    diluted = retrieval_report(
        np.concatenate([queries, queries]), index, np.concatenate([query_labels, np.full(12, 99)]), index_labels
    )
    np.testing.assert_allclose(diluted.recall, alone.recall / 2)
    np.testing.assert_allclose(diluted.precision, alone.precision / 2)
    assert diluted.average_precision == pytest.approx(alone.average_precision / 2)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_order_of_the_index_does_not_matter(seed):
    queries, index, query_labels, index_labels = make_case(seed)
    order = np.random.default_rng(seed + 1).permutation(len(index))
    first = retrieval_report(queries, index, query_labels, index_labels)
    second = retrieval_report(queries, index[order], query_labels, index_labels[order])
    similarity = np.sort(cosine_similarity(queries, index), axis=1)
    if np.diff(similarity, axis=1).min() > 1e-6:  # nearer values may swap when they are rounded to float32
        np.testing.assert_allclose(second.recall, first.recall)
        np.testing.assert_allclose(second.precision, first.precision)
        assert second.average_precision == pytest.approx(first.average_precision)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), power=st.integers(-40, 40))
def test_scale_of_the_coordinates_does_not_matter(seed, power):
    queries, index, query_labels, index_labels = make_case(seed)
    first = retrieval_report(queries, index, query_labels, index_labels)
    # Powers of two scale without rounding, so even near ties stay as they are.
    row_scales = 2.0 ** np.random.default_rng(seed).integers(-20, 20, (len(index), 1))
    second = retrieval_report(queries * 2.0**power, index * row_scales, query_labels, index_labels)
    np.testing.assert_array_equal(second.recall, first.recall)
    np.testing.assert_array_equal(second.precision, first.precision)
    assert second.area == first.area


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n_items=st.integers(4, 70))
def test_bounds(seed, n_items):
    report = retrieval_report(*make_case(seed, n_items=n_items))
    assert (np.diff(report.recall) >= 0).all()
    assert report.recall[-1] == 1
    assert 0 <= report.area <= 1
    assert 0 < report.average_precision <= 1
    assert report.first_precision == report.precision[0]


def test_perfect_ranking_has_area_one_only_up_to_its_classes():
    angles = np.repeat([0.0, 1.5], 4) + np.tile(np.linspace(0, 0.1, 4), 2)
    coordinates, labels = np.column_stack([np.cos(angles), np.sin(angles)]), np.repeat([0, 1], 4)
    report = retrieval_report(coordinates, coordinates, labels, labels, cutoffs=[1, 2, 4])
    assert report.area == report.average_precision == report.first_precision == 1


def test_area():
    assert area_under_recall_precision([0.25], [0.8]) == pytest.approx(0.2)
    assert area_under_recall_precision([0.5, 1.0], [1.0, 0.5]) == pytest.approx(0.5 + 0.375)


@pytest.mark.parametrize(
    ("recall", "precision", "message"),
    [
        ([], [], "not empty"),
        ([0.1, 0.2], [0.5], "one length"),
        ([0.5, 0.2], [0.5, 0.5], "not decrease"),
        ([0.1, 2.0], [0.5, 0.5], "recall must lie"),
        ([0.1, 0.2], [0.5, np.nan], "precision must lie"),
    ],
)
def test_bad_curves_are_refused(recall, precision, message):
    with pytest.raises(ValueError, match=message):
        area_under_recall_precision(recall, precision)


@pytest.mark.parametrize("cutoffs", [[], [0, 1], [1, 61], [2, 2], [3, 1], [1.0, 2.0], [[1, 2]]])
def test_bad_cutoffs_are_refused(cutoffs):
    with pytest.raises(ValueError, match=r"cutoffs must be increasing .* \(60\)"):
        retrieval_report(*make_case(0), cutoffs=cutoffs)


@pytest.mark.parametrize(
    ("query_labels", "index_labels", "message"),
    [
        (["a"], ["a", "b"], r"query_labels must have one entry .* \(2\), got 1"),
        (["a", "b"], ["a"], r"index_labels must have one entry .* \(2\), got 1"),
        (["a", "b"], ["c", "d"], "none in common"),
        (["1", "2"], [1, 2], "none in common"),
        ([1.0, np.nan], [1.0, 2.0], "missing"),
        (np.array(["a", None]), ["a", "b"], "missing"),
        (["a", "b"], np.eye(2), "of one kind"),
        (np.eye(2), np.ones((2, 3)), "as many columns"),
        (np.eye(2) * 2, np.eye(2), "only 0 and 1"),
        (np.ones((2, 2, 2)), np.eye(2), "1-D array of classes"),
    ],
)
def test_bad_labels_are_refused(query_labels, index_labels, message):
    with pytest.raises(ValueError, match=message):
        retrieval_report(np.eye(2), np.eye(2), query_labels, index_labels)


def test_large_case_is_fast():
    case = make_case(0, n_queries=1880, n_items=17000, width=50, n_classes=20)
    start = time.perf_counter()
    report = retrieval_report(*case)
    assert time.perf_counter() - start < 15
    assert report.recall[-1] == 1
    # Random coordinates retrieve at chance.
    assert report.average_precision == pytest.approx(0.05, abs=0.01)
