"""Spin waits for another thread that do not hold the interpreter lock."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from harmonium.kernels.runtime.jit import jit

# about a millisecond, which is longer than the pause between two phases of a batch
_SPINS = 3000

if hasattr(os, "sched_yield"):
    _sched_yield: Any = None

    @jit()
    def _spin(counter: np.ndarray, value: int, n_spins: int) -> None:
        for _ in range(n_spins):
            if counter[0] >= value:
                return
            # the compiler cannot see into this call, so it reads the counter again each time
            _sched_yield()

    def spin_wait(counter: np.ndarray, value: int) -> None:
        """Return once ``counter`` has reached ``value``, or after about a millisecond."""
        global _sched_yield
        if _sched_yield is None:
            from numba import types

            _sched_yield = types.ExternalFunction("sched_yield", types.int32())
        _spin(counter, value, _SPINS)

else:

    def spin_wait(counter: np.ndarray, value: int) -> None:
        """Return at once, because this system has no call that yields the processor."""
