"""Measures that leave unknown cells out, against scikit-learn's on the known ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, mean_squared_error, r2_score

from harmonium.metrics import ignoring_unknown

RNG = np.random.default_rng(0)
TRUTH, GUESS = RNG.normal(size=(2, 30, 2))
TRUTH[::3, 0], TRUTH[:5, 1] = np.nan, np.nan
KNOWN = ~np.isnan(TRUTH)


def test_columns_are_measured_where_they_are_known() -> None:
    expected = [r2_score(TRUTH[known, i], GUESS[known, i]) for i, known in enumerate(KNOWN.T)]
    assert ignoring_unknown(r2_score)(TRUTH, GUESS) == pytest.approx(np.mean(expected))
    assert ignoring_unknown(r2_score)(pd.Series(TRUTH[:, 0]), GUESS[:, 0]) == pytest.approx(expected[0])
    shuffled = pd.DataFrame(TRUTH, index=RNG.permutation(30))  # rows go by position, as predictions have no index
    assert ignoring_unknown(r2_score)(shuffled, GUESS) == pytest.approx(np.mean(expected))


def test_weights_of_rows_and_of_cells() -> None:
    weights = RNG.random((30, 2)).round(1)
    expected = [
        mean_squared_error(TRUTH[used, i], GUESS[used, i], sample_weight=weights[used, i])
        for i, used in enumerate((KNOWN & (weights > 0)).T)
    ]
    assert ignoring_unknown(mean_squared_error)(TRUTH, GUESS, weights) == pytest.approx(np.mean(expected))
    assert ignoring_unknown(mean_squared_error)(TRUTH[:, 0], GUESS[:, 0], weights[:, 0]) == pytest.approx(expected[0])


def test_nothing_known_and_wrong_shapes() -> None:
    nothing = np.full((4, 2), np.nan)
    assert np.isnan(ignoring_unknown(r2_score)(nothing, np.zeros((4, 2))))
    half = pd.DataFrame({"a": [None] * 3, "b": ["x", "y", None]})
    assert ignoring_unknown(accuracy_score)(half, pd.DataFrame({"a": [1] * 3, "b": ["x"] * 3})) == 0.5
    with pytest.raises(ValueError, match="same shape"):
        ignoring_unknown(r2_score)(TRUTH, GUESS[:, 0])
    with pytest.raises(ValueError, match="got 'c'"):
        ignoring_unknown({"c": r2_score})(half, half)
    with pytest.raises(ValueError, match="got shape"):
        ignoring_unknown(r2_score)(TRUTH, GUESS, np.ones(3))


def test_tags_stay_lists() -> None:
    def same(truth: np.ndarray, predicted: np.ndarray) -> float:
        return float(np.mean([one == other for one, other in zip(truth, predicted, strict=True)]))

    truth, predicted = pd.Series([["a"], ["b", "c"], None]), pd.Series([["a"], ["b"], []])
    assert ignoring_unknown(same)(truth, predicted) == 0.5
