"""Supports: which values belong to them, and sums over them."""

from __future__ import annotations

import numpy as np
import pytest

from harmonium.core.support import Support


def test_an_open_interval_lacks_its_ends() -> None:
    support = Support("shares", 0, 1, open=True)
    values = np.array([0, 1e-300, 0.5, 1 - 1e-16, 1, 2, np.nan])
    np.testing.assert_array_equal(support.contains(values), [False, True, True, True, False, False, False])
    assert Support("shares", 0, 1).contains(np.array([0.0, 1.0])).all()


def test_sums_over_an_open_interval_are_integrals_though_densities_are_infinite_at_its_ends() -> None:
    values, log_weights = Support("angles", -1, 3, open=True).grid(width=30)
    assert ((values > -1) & (values < 3)).all()
    # ∫ (x + 1)^(-1/2) dx from -1 to 3 is 2 √4, and that of x² is (27 + 1) / 3
    assert np.exp(log_weights - 0.5 * np.log(values + 1)).sum() == pytest.approx(4, rel=1e-6)
    assert (np.exp(log_weights) * values**2).sum() == pytest.approx(28 / 3, rel=1e-9)
