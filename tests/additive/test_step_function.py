"""Step functions: values, means and thresholds."""

from __future__ import annotations

import numpy as np

from harmonium.additive.step_function import StepFunction

RNG = np.random.default_rng(0)
FUNCTION = StepFunction(np.array([0.0, 1.0, 2.0]), np.array([[1.0], [4.0], [4.0], [2.0]]), np.array([7.0]))
COLUMN = np.append(RNG.normal(1, 1, 50), [0.0, 1.0, 2.0, np.inf, -np.inf, np.nan])


def test_values_are_those_of_the_steps_that_rows_lie_in() -> None:
    def by_hand(x: float) -> float:
        return 7.0 if np.isnan(x) else 1.0 if x <= 0 else 4.0 if x <= 2 else 2.0

    assert FUNCTION(COLUMN).ravel().tolist() == [by_hand(x) for x in COLUMN]
    assert FUNCTION.scaled(np.array([3.0]))(COLUMN).ravel().tolist() == [3 * by_hand(x) for x in COLUMN]


def test_thresholds_at_which_nothing_changes_are_left_out() -> None:
    simple = FUNCTION.simplified()
    assert simple.thresholds.tolist() == [0.0, 2.0]
    np.testing.assert_array_equal(simple(COLUMN), FUNCTION(COLUMN))


def test_centred_functions_are_zero_on_average_and_never_missing_is_the_average() -> None:
    weight = RNG.random(len(COLUMN))
    centred, mean = FUNCTION.centred(COLUMN, weight)
    assert np.isclose(np.average(centred(COLUMN), axis=0, weights=weight), 0)
    np.testing.assert_allclose(centred(COLUMN) + mean, FUNCTION(COLUMN))
    whole = ~np.isnan(COLUMN)
    assert FUNCTION.centred(COLUMN[whole], weight[whole])[0].missing == 0
