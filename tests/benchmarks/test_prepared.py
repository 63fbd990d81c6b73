"""Rivals are prepared and tuned on training rows only; comparisons are paired."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
import scipy.sparse

from benchmarks import comparing
from benchmarks.rivals import prepared


def make_views(n_rows: int = 90, seed: int = 0) -> tuple[dict, np.ndarray]:
    """Words that say the class, and wide numbers that do not."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3
    rates = np.where(np.arange(30) // 10 == y[:, None], 0.8, 0.2)
    words = scipy.sparse.csr_array(rng.poisson(rates).astype(np.float32))
    return {"words": words, "numbers": 5 + 3 * rng.normal(size=(n_rows, 200))}, y


def test_preparations_cover_words_numbers_and_choice_of_views() -> None:
    views, _ = make_views()
    found = prepared.preparations(views)
    assert len(found) == 3 * 3 + 3 + 2 and len(set(found)) == len(found)
    assert {way.views for way in found} == {("words", "numbers"), ("words",), ("numbers",)}
    binary = {"words": (views["words"] > 0).astype(np.float32)}
    assert [way.words for way in prepared.preparations(binary)] == ["binary", "log-counts × idf, unit rows"]


def test_blocks_have_rows_of_about_length_one() -> None:
    views, _ = make_views()
    for way in ("standardised columns / √width", "views as blocks"):
        (X,) = prepared.Preparation(("numbers",), numbers=way).matrices(views)
        np.testing.assert_allclose((X**2).sum(axis=1).mean(), 1)
        np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    constant = {"numbers": np.ones((4, 2))}
    for way in prepared.SCALED:
        assert not prepared.Preparation(("numbers",), numbers=way).matrices(constant)[0].any()


def test_other_rows_teach_nothing() -> None:
    views, _ = make_views()
    train, other = prepared.rows_of(views, np.arange(40)), prepared.rows_of(views, np.arange(40, 90))
    for way in prepared.preparations(views):
        alone, (first, _) = way.matrices(train)[0], way.matrices(train, other)
        assert abs(alone - first).sum() == 0


def test_the_best_views_and_strength_are_chosen() -> None:
    (views, y), (test, truth) = make_views(), make_views(seed=1)
    for name in ("linear SVM", "logistic regression"):
        found = prepared.tuned(prepared.RIVALS[name], views, y, test)
        assert np.mean(found.predicted == truth) > 0.8, name
        # beside words, numbers are noise that a strong penalty takes away: all views may be chosen too
        assert "numbers alone" not in found.setting and found.seconds > 0
    number = (views["words"] > 0).sum(axis=1) + 0.1 * views["numbers"][:, 0]
    found = prepared.tuned(prepared.RIVALS["ridge"], views, number, views)
    assert np.corrcoef(found.predicted, number)[0, 1] > 0.9


def test_a_search_goes_on_to_either_end() -> None:
    ladder = prepared.LADDER
    assert prepared.climb(lambda value: value) == ladder[-1]
    assert prepared.climb(lambda value: -value) == ladder[0]
    failed, attempted = doctest.testmod(prepared)
    assert failed == 0 < attempted


def test_differences_are_paired() -> None:
    truth = np.arange(200) % 4
    right, wrong = truth.copy(), truth.copy()
    wrong[:20] = (truth[:20] + 1) % 4
    comparison = comparing.Comparison(truth, {"error": comparing.error, "F1": comparing.macro_f1}, True)
    comparison.add("plain", "–", [wrong], 1.0, is_rival=True)
    comparison.add("ours", "–", [right, right], 2.0)
    first, second = comparison.rows()
    assert first["error"] == pytest.approx(0.1) and first[comparing.DIFFERENCE] is None
    found = second[comparing.DIFFERENCE]
    assert found["difference"] == pytest.approx(-0.1) and found["low"] < -0.1 < found["high"] < 0
    assert second["error"] == {"mean": 0, "spread": 0} and second["F1"]["mean"] == 1


def test_macro_f1_and_r_squared_are_those_of_scikit_learn() -> None:
    from sklearn.metrics import f1_score, r2_score

    rng = np.random.default_rng(0)
    truth, predicted = rng.integers(0, 5, (2, 100))
    assert comparing.macro_f1(truth, predicted) == pytest.approx(f1_score(truth, predicted, average="macro"))
    numbers, other = rng.normal(size=(2, 50))
    assert comparing.r_squared(numbers, other) == pytest.approx(r2_score(numbers, other))
