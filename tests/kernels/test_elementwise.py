"""Elementwise functions round alike wherever their arrays lie."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from harmonium.kernels.elementwise import logistic, softplus


@pytest.mark.parametrize("function", [logistic, softplus])
@pytest.mark.parametrize("n", [3, 6, 9, 16, 40, 70])
def test_results_do_not_depend_on_where_arrays_lie(
    function: Callable[[np.ndarray], np.ndarray], n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(n).normal(size=n).astype(np.float32)
    memory = np.zeros(4096, dtype=np.float32)
    results = set()
    for gap in (*range(n, n + 80, 2), 1000):
        memory[:n] = values
        with monkeypatch.context() as patched:
            patched.setattr(np, "empty_like", lambda _, gap=gap: memory[gap : gap + n])
            results.add(function(memory[:n]).tobytes())
    assert len(results) == 1
    expected = np.logaddexp(values, 0) if function is softplus else 1 / (1 + np.exp(-values.astype(np.float64)))
    np.testing.assert_allclose(np.frombuffer(results.pop(), dtype=np.float32), expected, rtol=1e-6)
