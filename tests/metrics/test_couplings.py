"""Errors of weights up to rotations, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ortho_group

from harmonium.metrics import coupling_errors

RNG = np.random.default_rng(0)
TRUTH, FOUND = RNG.normal(size=(5, 2)), RNG.normal(size=(5, 3))


def test_errors_against_a_plain_loop() -> None:
    absolute, relative = [], []
    for i in range(5):
        for j in range(5):
            first, second = TRUTH[i] @ TRUTH[j], FOUND[i] @ FOUND[j]
            absolute.append(abs(first - second))
            relative.append(abs(first - second) / max(abs(first), abs(second)))
    assert coupling_errors(TRUTH, FOUND) == pytest.approx((np.mean(absolute), np.mean(relative)))


def test_rotations_change_nothing() -> None:
    turned = FOUND @ ortho_group.rvs(3, random_state=0)
    assert coupling_errors(TRUTH, turned) == pytest.approx(coupling_errors(TRUTH, FOUND))


def test_draws_are_averaged_as_couplings() -> None:
    draws = np.stack([FOUND, -FOUND, FOUND @ ortho_group.rvs(3, random_state=1)])
    assert coupling_errors(TRUTH, draws) == pytest.approx(coupling_errors(TRUTH, FOUND))


def test_zeros_are_right_and_other_features_are_refused() -> None:
    assert coupling_errors(np.zeros((3, 1)), np.zeros((3, 2))) == (0.0, 0.0)
    with pytest.raises(ValueError, match=r"as many features; got \(5, 2\) and \(4, 2\)"):
        coupling_errors(TRUTH, RNG.normal(size=(4, 2)))
