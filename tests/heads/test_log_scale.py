"""Numbers on a logarithmic scale: there and back, expected values, files, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import lognorm

from harmonium.core.targets import Labels, Targets, TargetSpec
from harmonium.heads import EpsilonInsensitive
from harmonium.heads.outputs import NumberOutputs
from harmonium.heads.outputs.log_scale import LogScale, log_scales

RNG = np.random.default_rng(0)
PRICES = np.exp(RNG.normal(3.0, 1.2, size=(400, 1)))


def logs_of(values: np.ndarray) -> NumberOutputs:
    """Outputs of the logarithms of all columns."""
    n = values.shape[1]
    return NumberOutputs.standard(values, LogScale.of(values, np.zeros(n), np.ones(n, dtype=bool)))


def test_targets_are_standardised_logarithms_and_come_back() -> None:
    outputs, targets = logs_of(PRICES), Targets(PRICES, np.ones(len(PRICES)))
    encoded = outputs.encoded(targets)
    expected = (np.log(PRICES) - np.log(PRICES).mean()) / np.log(PRICES).std()
    np.testing.assert_allclose(encoded.values, expected, atol=1e-12)
    np.testing.assert_allclose(outputs.decoded(encoded).values, PRICES, rtol=1e-12)
    np.testing.assert_allclose(outputs.predict(encoded.values), PRICES, rtol=1e-12)  # medians, until rows are held out


def test_predictions_are_expected_values_of_a_lognormal_law() -> None:
    centre, spread = RNG.normal(size=(200_000, 1)), 0.8
    values = np.exp(centre + spread * RNG.normal(size=centre.shape))
    outputs = logs_of(values)
    targets = outputs.encoded(Targets(values, np.ones(len(values))))
    found = outputs.calibrated((centre - outputs.location) / outputs.scale, targets)
    # mean of exp(N(μ, σ²)) by scipy
    expected = lognorm(s=spread, scale=np.exp(centre[:3, 0])).mean()
    np.testing.assert_allclose(found.predict((centre[:3] - found.location) / found.scale)[:, 0], expected, rtol=0.01)
    # intervals end at quantiles, which are those of the logarithms
    ends = found.intervals((np.zeros((1, 1)) - found.location) / found.scale, 0.9)
    np.testing.assert_allclose(np.ravel(ends), lognorm(s=spread).ppf([0.05, 0.95]), rtol=0.05)


def test_weights_and_unknown_cells_in_the_factor() -> None:
    scale = LogScale.of(np.array([[1.0, 2.0], [8.0, 9.0]]), np.zeros(2), np.array([True, False]))
    logs = np.array([[1.0, 4.0], [2.0, 5.0], [np.nan, 6.0], [0.0, 7.0]])
    found = scale.smeared(logs, np.ones_like(logs), np.array([1.0, 2.0, 5.0, 0.0]))
    np.testing.assert_allclose(found.smearing, [(1 + 2 * np.e) / 3, 0.0])
    np.testing.assert_array_equal(scale.smeared(logs, logs, np.zeros(4)).smearing, [1.0, 0.0])


def test_predictions_stay_within_the_range_of_training_rows() -> None:
    outputs = logs_of(PRICES)
    found = outputs.predict(np.array([[-100.0], [100.0]]))[:, 0]
    np.testing.assert_allclose(found, [PRICES.min(), PRICES.max()])


def test_scales_to_try() -> None:
    def offsets(values: np.ndarray) -> list[float]:
        return [float(scale.offset[0]) for scale in log_scales(values)]

    assert offsets(PRICES) == [0.0, np.median(PRICES)]
    with_zero = np.vstack([PRICES, [[0.0]]])
    assert offsets(with_zero) == [np.median(with_zero)]
    assert offsets(PRICES - PRICES.min() - 1) == offsets(RNG.normal(50, 1, size=(400, 1))) == []
    both = np.hstack([PRICES, RNG.normal(50, 1, size=PRICES.shape)])
    assert [scale.is_log.tolist() for scale in log_scales(both)] == [[True, False]] * 2


def test_numbers_without_logarithm_are_refused() -> None:
    spec = TargetSpec("number", [])
    labels = Labels(spec, Targets(np.array([[1.0], [0.0]]), np.ones(2)))
    with pytest.raises(ValueError, match="y must be above 0, as it is learned on a logarithmic scale; got 0; fit"):
        EpsilonInsensitive(target_scale="log").bind(labels)
    with pytest.raises(ValueError, match="target_scale"):
        EpsilonInsensitive(target_scale="root").check()


def test_files_keep_the_scale_and_those_without_one_are_linear() -> None:
    outputs = logs_of(PRICES)
    again = NumberOutputs.restored(outputs.constants(), 1)
    scores = RNG.normal(size=(5, 1))
    np.testing.assert_array_equal(again.predict(scores), outputs.predict(scores))
    before = {name: value for name, value in outputs.constants().items() if not name.startswith("log/")}
    assert NumberOutputs.restored(before, 1).logs is None
    with pytest.raises(ValueError, match="smearing"):
        NumberOutputs.restored(outputs.constants() | {"log/smearing": np.array([-1.0])}, 1)
    with pytest.raises(ValueError, match="log/offset"):
        NumberOutputs.restored(before | {"log/smearing": np.ones(1)}, 1)
