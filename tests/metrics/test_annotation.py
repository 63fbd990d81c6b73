import dataclasses

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score, precision_score, recall_score

from harmonium.metrics import AnnotationReport, annotation_report, f1_at, retrieval_report


def make_case(seed, n_items=30, n_labels=12, levels=None, density=0.25):
    generator = np.random.default_rng(seed)
    scores = generator.standard_normal((n_items, n_labels))
    if levels is not None:
        # Few distinct scores make most of them tied.
        scores = generator.integers(0, levels, (n_items, n_labels)).astype(float)
    relevant = (generator.random((n_items, n_labels)) < density).astype(np.int8)
    relevant[:, -1] = 0  # a label that no item has
    relevant[:, 0] |= relevant.sum(axis=1) == 0
    return scores, relevant


def top(scores, n):
    # Python's sort is stable, so the lower column comes first among equals.
    chosen = np.zeros(scores.shape, dtype=int)
    for item, row in enumerate(scores.tolist()):
        chosen[item, sorted(range(len(row)), key=lambda column, row=row: -row[column])[:n]] = 1
    return chosen


def test_hand_computed_f1():
    scores, relevant = [[3, 2, 1, 0], [0, 1, 2, 3]], [[1, 0, 1, 0], [1, 0, 0, 0]]
    # At 2 the first item has one hit of two given and two relevant, the second none of two given and one relevant.
    assert f1_at(scores, relevant, 2) == pytest.approx((2 * 1 / (2 + 2) + 0) / 2)
    assert f1_at(scores, relevant, 2, average="micro") == pytest.approx(2 * 1 / (4 + 3))
    # Label 0 is given once and relevant twice, label 2 given once and relevant once; one hit and none.
    assert f1_at(scores, relevant, 2, average="label") == pytest.approx((2 * 1 / (1 + 2) + 0) / 2)


@pytest.mark.parametrize("levels", [None, 3])
@pytest.mark.parametrize(("average", "theirs"), [("item", "samples"), ("micro", "micro"), ("label", "macro")])
def test_f1_agrees_with_scikit_learn(average, theirs, levels):
    scores, relevant = make_case(1, levels=levels)
    present = np.flatnonzero(relevant.any(axis=0))
    cutoffs = [1, 2, 5, 12]
    options = {"average": theirs, "zero_division": 0} | ({"labels": present} if average == "label" else {})
    expected = [f1_score(relevant, top(scores, n), **options) for n in cutoffs]
    measured = f1_at(scores, relevant, cutoffs, average=average)
    np.testing.assert_allclose(measured, expected)
    for n, value in zip(cutoffs, measured, strict=True):
        single = f1_at(scores, relevant, n, average=average)
        assert isinstance(single, float)
        assert single == pytest.approx(value)


@pytest.mark.parametrize("levels", [None, 2, 4])
def test_report_agrees_with_scikit_learn(levels):
    scores, relevant = make_case(2, levels=levels)
    present = np.flatnonzero(relevant.any(axis=0))
    report = annotation_report(scores, relevant)
    assert isinstance(report, AnnotationReport)
    assert report.table.index.tolist() == [3, 4, 5, 6, 7]
    assert (report.n_items, report.n_labels) == (30, present.size)
    for n, row in report.table.iterrows():
        chosen = top(scores, n)
        per_label = {"labels": present, "average": "macro", "zero_division": 0}
        label_recall = recall_score(relevant, chosen, labels=present, average=None)
        expected = {
            "precision": precision_score(relevant, chosen, average="samples"),
            "recall": recall_score(relevant, chosen, average="samples"),
            "f1": f1_score(relevant, chosen, average="samples"),
            "micro_f1": f1_score(relevant, chosen, average="micro"),
            "label_precision": precision_score(relevant, chosen, **per_label),
            "label_recall": label_recall.mean(),
            "label_f1": f1_score(relevant, chosen, **per_label),
            "labels_recalled": (label_recall > 0).sum(),
        }
        assert list(row.index) == list(expected)
        np.testing.assert_allclose(row.to_numpy(), list(expected.values()))
    expected = average_precision_score(relevant[:, present], scores[:, present], average="macro")
    assert report.mean_average_precision == pytest.approx(expected)


def test_columns_of_the_report_are_the_averages_of_f1():
    scores, relevant = make_case(3)
    table = annotation_report(scores, relevant, cutoffs=[5, 1]).table
    for column, average in (("f1", "item"), ("micro_f1", "micro"), ("label_f1", "label")):
        np.testing.assert_array_equal(table[column], f1_at(scores, relevant, [5, 1], average=average))
    assert table["labels_recalled"].dtype.kind == "i"


@pytest.mark.parametrize("as_relevant", [sp.csr_array, sp.csc_matrix, sp.coo_array, np.ndarray.tolist, pd.DataFrame])
def test_every_kind_of_indicator_gives_the_same(as_relevant):
    scores, relevant = make_case(4)
    first, second = annotation_report(scores, relevant), annotation_report(scores, as_relevant(relevant))
    pd.testing.assert_frame_equal(second.table, first.table)
    assert second.mean_average_precision == first.mean_average_precision


@pytest.mark.parametrize("kind", ["float32", "int64", "uint8"])
def test_every_kind_of_score_gives_the_same(kind):
    scores, relevant = make_case(5, levels=5)
    first, second = annotation_report(scores, relevant), annotation_report(scores.astype(kind), relevant == 1)
    pd.testing.assert_frame_equal(second.table, first.table)


def test_ties_go_to_the_lower_column():
    relevant = np.eye(4, dtype=int)[[0, 1, 3]]
    scores = np.zeros((3, 4))
    assert f1_at(scores, relevant, 1, average="micro") == pytest.approx(1 / 3)
    scores[:, 2] = np.inf
    scores[:, 0] = -np.inf
    # Places are 2, 1, 3, 0, so the label of the second item comes second and that of the third item third.
    hits = np.array([0, 0, 0]), np.array([0, 1, 0]), np.array([0, 1, 1]), np.ones(3)
    expected = [(2 * hit / (n + 1)).mean() for n, hit in enumerate(hits, start=1)]
    np.testing.assert_allclose(f1_at(scores, relevant, [1, 2, 3, 4]), expected)


def test_items_without_labels_are_left_out():
    scores, relevant = make_case(6)
    more = np.concatenate([np.zeros((2, 12)), scores]), np.concatenate([np.zeros((2, 12)), relevant])
    first, second = annotation_report(scores, relevant), annotation_report(*more)
    pd.testing.assert_frame_equal(second.table, first.table)
    assert second.mean_average_precision == first.mean_average_precision
    assert second.n_items == 30
    assert f1_at(more[0], sp.csr_array(more[1]), 3, "label") == f1_at(scores, relevant, 3, "label")


def test_arguments_stay_as_they_are():
    # Unsorted, with a stored zero and a duplicate of it.
    data, indices, starts = np.array([1, 0, 1, 0]), np.array([2, 1, 0, 1]), np.array([0, 2, 4])
    relevant = sp.csr_array((data, indices, starts), shape=(2, 3))
    for array in (relevant.data, relevant.indices, relevant.indptr):
        array.flags.writeable = False
    scores = np.array([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]])
    scores.flags.writeable = False
    assert f1_at(scores, relevant, 1) == 0.5
    assert annotation_report(scores, relevant, [1]).n_labels == 2
    np.testing.assert_array_equal(relevant.indices, [2, 1, 0, 1])


def test_blocks_do_not_matter(monkeypatch):
    scores, relevant = make_case(7, levels=4)
    first = annotation_report(scores, relevant)
    monkeypatch.setattr("harmonium.metrics.annotation._BLOCK", 40)
    second = annotation_report(scores, relevant)
    pd.testing.assert_frame_equal(second.table, first.table)
    assert second.mean_average_precision == first.mean_average_precision


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_items=st.integers(1, 15),
    n_labels=st.integers(2, 9),
    levels=st.sampled_from([None, 1, 3]),
    density=st.floats(0, 1),
)
def test_bounds(seed, n_items, n_labels, levels, density):
    scores, relevant = make_case(seed, n_items, n_labels, levels, density)
    report = annotation_report(scores, relevant, np.arange(1, n_labels + 1))
    fractions = report.table.drop(columns="labels_recalled").to_numpy()
    assert ((fractions >= 0) & (fractions <= 1)).all()
    assert 0 < report.mean_average_precision <= 1
    for column in ("recall", "label_recall", "labels_recalled"):
        assert (np.diff(report.table[column]) >= -1e-12).all()
    assert report.table["recall"].iloc[-1] == pytest.approx(1)
    assert report.table["labels_recalled"].iloc[-1] == report.n_labels


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_perfect_scores_and_increasing_transformations(seed):
    scores, relevant = make_case(seed)
    report = annotation_report(scores, relevant)
    np.testing.assert_array_equal(annotation_report(np.exp(scores), relevant).table, report.table)
    assert annotation_report(relevant, relevant, [12]).mean_average_precision == 1
    one_each = np.eye(12, dtype=int)[np.arange(30) % 12]
    assert f1_at(one_each, one_each, 1) == f1_at(one_each, one_each, 1, "label") == 1


def test_report_is_frozen():
    report = annotation_report(*make_case(0))
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.n_items = 1


@pytest.mark.parametrize("n", [0, 13, -1, 1.0, True, "3", [], [[1]], [1, 13], None])
def test_bad_numbers_of_labels_are_refused(n):
    with pytest.raises(ValueError, match=r"n must be whole numbers .* \(12\), got .*; ask for fewer"):
        f1_at(*make_case(0), n)


@pytest.mark.parametrize("cutoffs", [[], 3, [0], [13], [2.5]])
def test_bad_cutoffs_are_refused(cutoffs):
    with pytest.raises(ValueError, match=r"cutoffs must be whole numbers .* \(12\)"):
        annotation_report(*make_case(0), cutoffs=cutoffs)


@pytest.mark.parametrize(
    ("scores", "relevant", "message"),
    [
        (np.ones(3), np.ones(3), "one row per item"),
        (np.ones((0, 3)), np.ones((0, 3)), "one row per item"),
        (sp.csr_array(np.eye(3)), np.eye(3), "scores must be dense"),
        (np.full((2, 2), "a"), np.eye(2), "scores must be numbers"),
        ([[1.0, np.nan]], [[1, 0]], "scores must not be missing"),
        (np.ones((2, 3)), np.eye(2), r"shape of scores \(2, 3\), got \(2, 2\)"),
        (np.eye(2), np.array([["a", "b"], ["a", "b"]]), "only 0 and 1"),
        (np.eye(2), 2 * np.eye(2), "only 0 and 1"),
        (np.eye(2), [[np.nan, 1], [0, 1]], "only 0 and 1"),
        (np.eye(2), sp.csr_array((2, 2)), "at least one item a label"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(scores, relevant, message):
    with pytest.raises(ValueError, match=message) as caught:
        f1_at(scores, relevant, 1)
    assert str(caught.value).endswith(".")
    with pytest.raises(ValueError, match=message):
        annotation_report(scores, relevant, [1])


def test_bad_average_is_refused():
    with pytest.raises(ValueError, match="average must be 'item'"):
        f1_at(*make_case(0), 3, average="samples")


@pytest.mark.parametrize("direction", ["image to text", "text to image"])
def test_retrieval_report_serves_queries_and_items_of_different_views(direction):
    generator = np.random.default_rng(9)
    classes = generator.integers(0, 3, 40)
    image = np.eye(3)[classes] + 0.5 * generator.standard_normal((40, 3))
    text = np.eye(3)[classes[:25]] + 0.5 * generator.standard_normal((25, 3))
    pairs = (
        (image, text, classes, classes[:25]) if direction == "image to text" else (text, image, classes[:25], classes)
    )
    queries, items, query_classes, item_classes = pairs
    report = retrieval_report(*pairs, cutoffs=np.arange(1, len(items) + 1))
    similarity = (queries / np.linalg.norm(queries, axis=1)[:, None]) @ (
        items / np.linalg.norm(items, axis=1)[:, None]
    ).T
    relevant = item_classes == query_classes[:, None]
    ranked = np.take_along_axis(relevant, np.argsort(-similarity, axis=1), axis=1)
    hits = np.cumsum(ranked, axis=1)
    np.testing.assert_allclose(report.precision, (hits / np.arange(1, len(items) + 1)).mean(axis=0))
    np.testing.assert_allclose(report.recall, (hits / relevant.sum(axis=1, keepdims=True)).mean(axis=0))
    expected = np.mean([average_precision_score(r, s) for r, s in zip(relevant, similarity, strict=True)])
    assert report.average_precision == pytest.approx(expected)
