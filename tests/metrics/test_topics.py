import warnings
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import entropy
from sklearn.datasets import load_iris
from sklearn.metrics import brier_score_loss

from harmonium import HarmoniumClassifier, Stochastic
from harmonium.metrics import (
    average_divergence,
    class_topic_distribution,
    expected_calibration_error,
    topic_distribution,
)

MATRICES = arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(1, 5)), elements=st.floats(-1e300, 1e300))


def make_distributions(seed, n_rows=6, n_columns=4):
    return np.random.default_rng(seed).dirichlet(np.full(n_columns, 0.7), n_rows)


def test_topic_distribution_by_hand():
    latent = [[-1.0, 0.0, 2.0], [5.0, 5.0, 5.0], [0.0, 0.0, 7.0]]
    np.testing.assert_allclose(topic_distribution(latent), [[0, 0.25, 0.75], [1 / 3, 1 / 3, 1 / 3], [0, 0, 1]])
    np.testing.assert_array_equal(topic_distribution([[4.0]]), [[1.0]])


@settings(max_examples=60, deadline=None)
@given(latent=MATRICES)
def test_topic_distribution_is_a_distribution(latent):
    distribution = topic_distribution(latent)
    assert (distribution >= 0).all()
    np.testing.assert_allclose(distribution.sum(axis=1), 1)
    assert ((distribution.min(axis=1) == 0) | (np.ptp(latent, axis=1) == 0)).all()
    # Items do not influence each other.
    np.testing.assert_array_equal(topic_distribution(latent[:1])[0], distribution[0])


def test_topic_distribution_ignores_shift_and_scale_and_leaves_its_argument():
    latent = np.random.default_rng(0).standard_normal((5, 4))
    before = latent.copy()
    np.testing.assert_allclose(topic_distribution(3 * latent + 7), topic_distribution(latent))
    np.testing.assert_array_equal(latent, before)
    assert topic_distribution(latent.astype(np.float32)).dtype == np.float64


def test_class_topic_distribution_agrees_with_a_loop():
    generator = np.random.default_rng(1)
    latent, labels = generator.standard_normal((40, 3)), generator.integers(-1, 4, 40)
    frame = class_topic_distribution(latent, labels)
    assert frame.index.tolist() == [0, 1, 2, 3]
    assert (frame.index.name, frame.columns.name) == ("class", "topic")
    for label in range(4):
        rows = [row - row.min() for row, own in zip(latent, labels, strict=True) if own == label]
        np.testing.assert_allclose(frame.loc[label], np.mean([row / row.sum() for row in rows], axis=0))


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["b", None, "a", "b"], dtype=object),
        np.array(["b", np.nan, "a", "b"], dtype=object),
        np.array(["b", -1, "a", "b"], dtype=object),
        pd.Series(["b", None, "a", "b"], dtype="category"),
        pd.array(["b", pd.NA, "a", "b"], dtype="string"),
    ],
)
def test_unlabelled_items_are_left_out(labels):
    latent = np.array([[0.0, 1.0], [9.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    frame = class_topic_distribution(latent, labels)
    assert frame.index.tolist() == ["a", "b"]
    np.testing.assert_allclose(frame, [[1, 0], [0.25, 0.75]])


@pytest.mark.parametrize("labels", [[1.0, np.nan, 0.0, 1.0], [1, -1, 0, 1], pd.array([1, None, 0, 1], dtype="Int64")])
def test_unlabelled_numbers_are_left_out(labels):
    latent = pd.DataFrame({"first": [0.0, 9.0, 1.0, 1.0], "second": [1.0, 0.0, 0.0, 1.0]})
    frame = class_topic_distribution(latent, labels)
    assert frame.index.tolist() == [0, 1]
    assert frame.columns.tolist() == ["first", "second"]
    np.testing.assert_allclose(frame, [[1, 0], [0.25, 0.75]])


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_divergence_agrees_with_scipy(n_classes):
    distributions = make_distributions(n_classes, n_classes)
    expected = np.mean([(entropy(p, q) + entropy(q, p)) / 2 for p, q in combinations(distributions, 2)])
    assert average_divergence(distributions) == pytest.approx(expected, rel=1e-10)
    assert average_divergence(pd.DataFrame(distributions)) == pytest.approx(expected, rel=1e-10)


def test_divergence_of_zeros_is_finite_and_as_documented():
    distributions, floor = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]), 1e-6
    smooth = np.maximum(distributions, floor)
    smooth /= smooth.sum(axis=1, keepdims=True)
    expected = (entropy(smooth[0], smooth[1]) + entropy(smooth[1], smooth[0])) / 2
    assert average_divergence(distributions, floor) == pytest.approx(expected)
    assert expected == pytest.approx(0.5 * np.log(0.5 / floor) / 2 + 0.5 * np.log(2) / 2, rel=1e-3)
    assert average_divergence(distributions) > expected


@settings(max_examples=40, deadline=None)
@given(latent=MATRICES)
def test_divergence_is_not_negative_and_zero_for_equals(latent):
    distributions = topic_distribution(latent)
    assert 0 <= average_divergence(distributions) <= -np.log(1e-12) + 1
    assert average_divergence(np.repeat(distributions[:1], 3, axis=0)) == pytest.approx(0, abs=1e-12)
    assert average_divergence(distributions[::-1]) == pytest.approx(average_divergence(distributions), abs=1e-9)


@pytest.mark.parametrize(
    ("latent", "message"),
    [
        (np.ones(3), "2-D array of numbers"),
        (np.ones((0, 3)), "2-D array of numbers"),
        ([["a", "b"]], "2-D array of numbers"),
        ([[1.0, np.nan]], "latent must be finite"),
        ([[1.0, np.inf]], "latent must be finite"),
    ],
)
def test_bad_latent_is_refused(latent, message):
    with pytest.raises(ValueError, match=message):
        topic_distribution(latent)
    with pytest.raises(ValueError, match=message):
        class_topic_distribution(latent, [0])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0], r"one class for each row of latent \(2\), got shape \(1,\)"),
        (np.eye(2), "labels must be 1-D"),
        ([-1, -1], "at least one item a class"),
        ([None, None], "at least one item a class"),
    ],
)
def test_bad_classes_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        class_topic_distribution(np.eye(2), labels)


@pytest.mark.parametrize(
    ("distributions", "message"),
    [
        ([[0.5, 0.5]], "at least two rows"),
        ([0.5, 0.5], "one distribution per row"),
        ([["a"], ["b"]], "one distribution per row"),
        ([[0.5, 0.6], [0.5, 0.5]], "sum to 1, got a row that sums to 1.1"),
        ([[-0.5, 1.5], [0.5, 0.5]], "between 0 and 1"),
        ([[np.nan, 1.0], [0.5, 0.5]], "between 0 and 1"),
    ],
)
def test_bad_distributions_are_refused(distributions, message):
    with pytest.raises(ValueError, match=message):
        average_divergence(distributions)


@pytest.mark.parametrize(
    ("floor", "kind"), [(0, ValueError), (1.0, ValueError), (np.nan, ValueError), ("a", TypeError)]
)
def test_bad_floor_is_refused(floor, kind):
    with pytest.raises(kind, match="floor"):
        average_divergence(np.eye(2), floor)


def calibration_error_by_loop(probabilities, labels, n_bins):
    edges, error = np.linspace(0, 1, n_bins + 1), 0.0
    for lower, upper in pairwise(edges):
        confidence, right = [], []
        for row, label in zip(probabilities.tolist(), labels, strict=True):
            if lower < max(row) <= upper:
                confidence.append(max(row))
                right.append(row.index(max(row)) == label)
        if confidence:
            error += len(confidence) / len(probabilities) * abs(np.mean(confidence) - np.mean(right))
    return error


@pytest.mark.parametrize("n_bins", [1, 4, 10, 15])
@pytest.mark.parametrize("rounded", [False, True])
def test_calibration_error_agrees_with_a_loop(n_bins, rounded):
    generator = np.random.default_rng(n_bins)
    probabilities, labels = make_distributions(n_bins, 200, 3), generator.integers(0, 3, 200).tolist()
    if rounded:
        # Values on the borders of the bins.
        probabilities = generator.multinomial(10, [0.5, 0.3, 0.2], 200) / 10
    expected = calibration_error_by_loop(probabilities, labels, n_bins)
    assert expected_calibration_error(probabilities, labels, n_bins) == pytest.approx(expected)


def test_probabilities_of_a_classifier_suit_the_brier_score_of_scikit_learn():
    features, labels = load_iris(return_X_y=True)
    model = HarmoniumClassifier(4, driver=Stochastic(max_iter=5), random_state=0).fit(features, labels)
    probabilities = model.predict_proba(features)
    expected = np.mean(
        [
            sum((p - (column == label)) ** 2 for column, p in enumerate(row))
            for row, label in zip(probabilities, labels, strict=True)
        ]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # rows that do not add up to 1 would be warned of
        found = brier_score_loss(labels, probabilities, labels=model.classes_, scale_by_half=False)
    assert found == pytest.approx(expected)


def test_certain_predictions():
    right, wrong = np.eye(3), np.eye(3)[[1, 2, 0]]
    assert expected_calibration_error(right, [0, 1, 2]) == 0
    assert expected_calibration_error(wrong, [0, 1, 2]) == 1


def test_classes_name_the_columns():
    probabilities, labels = make_distributions(4, 30, 3), np.random.default_rng(4).integers(0, 3, 30)
    names = np.array(["cat", "ant", "bee"])
    error = expected_calibration_error(probabilities, labels)
    assert expected_calibration_error(probabilities, names[labels], classes=names) == error
    assert expected_calibration_error(probabilities, labels.astype(float)) == error


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n_rows=st.integers(1, 40), n_columns=st.integers(1, 6), n_bins=st.integers(1, 30))
def test_calibration_bounds(seed, n_rows, n_columns, n_bins):
    probabilities = make_distributions(seed, n_rows, n_columns)
    labels = np.random.default_rng(seed).integers(0, n_columns, n_rows)
    assert 0 <= expected_calibration_error(probabilities, labels, n_bins) <= 1
    # One bin compares the mean confidence with the accuracy, which finer bins can only see more of.
    coarse = expected_calibration_error(probabilities, labels, 1)
    assert coarse <= expected_calibration_error(probabilities, labels, n_bins) + 1e-12


@pytest.mark.parametrize(
    ("probabilities", "labels", "classes", "message"),
    [
        ([0.5, 0.5], [0], None, "one distribution per row"),
        ([[0.5, 0.4]], [0], None, "rows that sum to 1"),
        ([[0.5, 0.5]], [0, 1], None, r"one class for each row of probabilities \(1\)"),
        ([[0.5, 0.5]], [2], None, "among the 2 classes, got 2"),
        ([[0.5, 0.5]], [-1], None, "among the 2 classes, got -1"),
        ([[0.5, 0.5]], [np.nan], None, "among the 2 classes, got nan"),
        ([[0.5, 0.5]], ["a"], ["b", "c"], "got 'a'"),
        ([[0.5, 0.5]], ["a"], ["a"], "each of the 2 columns"),
        ([[0.5, 0.5]], ["a"], ["a", "a"], "each of the 2 columns"),
    ],
)
def test_bad_predictions_are_refused(probabilities, labels, classes, message):
    with pytest.raises(ValueError, match=message):
        expected_calibration_error(probabilities, labels, classes=classes)


@pytest.mark.parametrize(("n_bins", "kind"), [(0, ValueError), (2.5, TypeError), (True, TypeError)])
def test_bad_bins_are_refused(n_bins, kind):
    with pytest.raises(kind, match="n_bins"):
        expected_calibration_error([[1.0]], [0], n_bins)
