"""Limits by bytes: never below a natural, little above it, and without consequence for what is drawn."""

from __future__ import annotations

import numpy as np
import pytest

from harmonium.kernels.sampling import int8_bounds
from harmonium.kernels.sampling.dense_scan import candidate_fraction
from harmonium.kernels.sampling.int8_bounds import PackedUnits, has_vnni, int8_upper_bounds, pack_units
from harmonium.kernels.sampling.thinning import thinned_candidates

N_FEATURES = 500
fast = pytest.mark.skipif(not has_vnni(), reason="this processor is no faster with bytes")


def _model(n_units: int, n_rows: int, length_normalized: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_units)
    weights = rng.normal(scale=0.1, size=(N_FEATURES, n_units)).astype(np.float32)
    weights[7] = 0
    weights[11, 0] = 40
    weights[13] = np.nextafter(rng.integers(-126, 127, size=n_units) / np.float32(126), np.float32(0))
    bias = rng.normal(loc=-4, size=N_FEATURES).astype(np.float32)
    hidden = (rng.random((n_rows, n_units)) < 0.4).astype(np.float32)
    hidden[2] = 0
    if length_normalized:
        hidden *= rng.uniform(0.2, 4, size=(n_rows, 1)).astype(np.float32)
    return weights, bias, hidden


def _without_bytes(hidden: np.ndarray) -> PackedUnits:
    return PackedUnits(hidden, np.zeros((0, 0, 4), dtype=np.uint8), np.zeros(0, dtype=np.float32))


@fast
@pytest.mark.parametrize("length_normalized", [False, True])
@pytest.mark.parametrize(("n_units", "n_rows"), [(1, 45), (7, 64), (50, 100), (203, 180)])
def test_limits_are_above_naturals_by_a_unit_of_rounding_at_most(
    n_units: int, n_rows: int, length_normalized: bool
) -> None:
    weights, bias, hidden = _model(n_units, n_rows, length_normalized)
    units = pack_units(hidden)
    n_groups, n_padded, _ = units.packed.shape
    assert n_groups
    chosen = np.arange(1, N_FEATURES, 3)
    n_tiles = -(-len(chosen) // 6) * 6
    rounded, constants = np.empty((n_tiles, 4 * n_groups), np.int8), np.empty((2, n_tiles), np.float32)
    limits = np.empty((n_tiles, n_padded), np.float32)
    int8_upper_bounds(weights, bias, chosen, units.packed, units.factors, rounded, constants, limits)
    limits = limits[: len(chosen), :n_rows]
    natural = weights[chosen] @ hidden.T + bias[chosen, None]
    scale = np.abs(weights[chosen]).max(axis=1, keepdims=True) / 126
    assert (limits >= natural).all()
    assert (limits - natural <= 1.02 * scale * hidden.sum(axis=1) + 1e-5).all()


def test_the_share_of_candidates_is_that_of_all_cells() -> None:
    weights, bias, hidden = _model(20, 100)
    exact = np.minimum(1.5 * np.exp(weights @ hidden.T + bias[:, None]), 1).mean()
    assert candidate_fraction(weights, bias, hidden, np.arange(N_FEATURES), 1.5) == pytest.approx(exact, rel=0.3)


@fast
@pytest.mark.parametrize("length_normalized", [False, True])
@pytest.mark.parametrize("shift", [-2, 0, 6])
def test_candidates_are_those_of_floats(shift: float, length_normalized: bool) -> None:
    weights, bias, hidden = _model(20, 100, length_normalized)
    keys = np.array([1, 2, 3], dtype=np.uint32)
    bias += np.float32(shift)
    share = candidate_fraction(weights, bias, hidden, np.arange(N_FEATURES), 1.5)
    assert len(pack_units(hidden).packed) and (share < 0.03) == (shift < 0)  # bytes are left alone where many are found
    found, expected = (
        thinned_candidates(weights, bias, units, 1.5, keys, 4) for units in (pack_units(hidden), _without_bytes(hidden))
    )
    assert len(found[0]) > 100
    for one, other in zip(found[:3], expected[:3], strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(found[3], expected[3], rtol=1e-5, atol=1e-5)


def test_units_that_bytes_cannot_express_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, hidden = _model(7, 100)
    for strange in (hidden - np.float32(0.5), hidden * np.arange(7, dtype=np.float32), -hidden, hidden[:70]):
        assert not pack_units(strange).packed.size
    monkeypatch.setattr(int8_bounds, "has_vnni", lambda: False)
    assert not pack_units(hidden).packed.size
