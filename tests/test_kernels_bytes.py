"""Limits by bytes: never below a natural, little above it, and without consequence for what is drawn."""

from __future__ import annotations

import numpy as np
import pytest

from harmonium.kernels import byte_products
from harmonium.kernels.byte_products import Units, as_units, bytes_are_fast, limits_by_bytes
from harmonium.kernels.cell_by_cell import workspace
from harmonium.kernels.thinning import thinned_candidates

N_FEATURES = 500
fast = pytest.mark.skipif(not bytes_are_fast(), reason="this processor is no faster with bytes")


def _model(n_units: int, n_rows: int, levelled: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_units)
    weights = rng.normal(scale=0.1, size=(N_FEATURES, n_units)).astype(np.float32)
    weights[7] = 0
    weights[11, 0] = 40
    bias = rng.normal(loc=-4, size=N_FEATURES).astype(np.float32)
    hidden = (rng.random((n_rows, n_units)) < 0.4).astype(np.float32)
    hidden[2] = 0
    if levelled:
        hidden *= rng.uniform(0.2, 4, size=(n_rows, 1)).astype(np.float32)
    return weights, bias, hidden


def _without_bytes(hidden: np.ndarray) -> Units:
    return Units(hidden, np.zeros((0, 0, 4), dtype=np.uint8), np.zeros(0, dtype=np.float32))


@fast
@pytest.mark.parametrize("levelled", [False, True])
@pytest.mark.parametrize(("n_units", "n_rows"), [(1, 40), (7, 64), (50, 100), (203, 130)])
def test_limits_are_above_naturals_by_a_unit_of_rounding_at_most(n_units: int, n_rows: int, levelled: bool) -> None:
    weights, bias, hidden = _model(n_units, n_rows, levelled)
    units = as_units(hidden)
    assert len(units.packed)
    chosen = np.arange(0, N_FEATURES, 3)
    space = workspace(units, len(chosen))
    limits_by_bytes(weights, bias, chosen, units.packed, units.factors, space.rounded, space.constants, space.natural)
    limits = space.natural[: len(chosen), :n_rows]
    natural = bias[chosen, None] + weights[chosen].astype(np.float64) @ hidden.T
    scale = np.abs(weights[chosen]).max(axis=1, keepdims=True) / 126
    assert (limits - natural >= -1e-6).all()
    assert (limits - natural <= 1.02 * scale * hidden.sum(axis=1) + 1e-5).all()


@fast
@pytest.mark.parametrize("levelled", [False, True])
@pytest.mark.parametrize("shift", [-3, 0, 6])
def test_candidates_are_those_of_floats(shift: float, levelled: bool) -> None:
    """Some features are jumped over, most, or none."""
    weights, bias, hidden = _model(20, 100, levelled)
    keys = np.array([1, 2, 3], dtype=np.uint32)
    found, expected = (
        thinned_candidates(weights, bias + np.float32(shift), units, 1.5, keys, 4)
        for units in (as_units(hidden), _without_bytes(hidden))
    )
    assert len(found[0]) > 1000 or shift < 0
    for one, other in zip(found[:3], expected[:3], strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(found[3], expected[3], rtol=1e-5, atol=1e-5)


def test_units_that_bytes_cannot_express_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, hidden = _model(7, 100)
    for strange in (hidden - np.float32(0.5), hidden * np.arange(7, dtype=np.float32), -hidden, hidden[:10]):
        assert not as_units(strange).packed.size
    monkeypatch.setattr(byte_products, "bytes_are_fast", lambda: False)
    assert not as_units(hidden).packed.size
