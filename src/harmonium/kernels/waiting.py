"""Watching another thread for a moment without holding the interpreter lock."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from harmonium.kernels.compiling import compiled

# about a millisecond, which is longer than the pause between two phases of a batch
_GLANCES = 3000

if hasattr(os, "sched_yield"):
    _give_way: Any = None

    @compiled()
    def _look_out(counter: np.ndarray, value: int, glances: int) -> None:
        for _ in range(glances):
            if counter[0] >= value:
                return
            # the compiler cannot see into this call, so it reads the counter again each time
            _give_way()

    def look_out(counter: np.ndarray, value: int) -> None:
        """Return once ``counter`` has reached ``value``, or after a moment."""
        global _give_way
        if _give_way is None:
            from numba import types

            _give_way = types.ExternalFunction("sched_yield", types.int32())
        _look_out(counter, value, _GLANCES)

else:

    def look_out(counter: np.ndarray, value: int) -> None:
        """Return at once, because this system has no call that gives way to others."""
