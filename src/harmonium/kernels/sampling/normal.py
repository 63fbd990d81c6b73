"""Counter-based normal random numbers for the noise of Langevin steps, which needs one per weight.

Uniform numbers (`counter_rng`) become normal by the Box-Muller transform with polynomials that vectorise. The numbers
lie within 5.8 standard deviations.

NumPy's generators draw one number after the other, which takes about ten times as long, and hashes are the same in
whatever order threads fill their blocks. All keys walk through one cycle of 2³² numbers from different places, so that
two random keys share a stretch of n cells with a probability of about 2n / 2³²: good enough for noise, not for
cryptography or for simulations of billions of numbers.
`tests/kernels/test_normal.py` holds the battery of tests that they pass.
"""

from __future__ import annotations

import numpy as np
from numpy import float32, uint32

from harmonium.kernels.elementwise import log_float32
from harmonium.kernels.runtime.jit import jit
from harmonium.kernels.sampling.counter_rng import uniform


@jit(fastmath=True, error_model="numpy")
def _fill(cosines: np.ndarray, sines: np.ndarray, key: np.uint32, first_cell: int) -> None:
    base = uint32(first_cell)
    for i in range(len(cosines)):
        cell = uint32(base + uint32(i) * uint32(2))
        radius = np.sqrt(float32(-2) * log_float32(uniform(cell, key)))
        # half of the angle lies in ±π/2, where these Taylor series of sine and cosine are exact to 1e-6
        a = (uniform(uint32(cell + uint32(1)), key) - float32(0.5)) * float32(np.pi)
        q = a * a
        s = float32(-2.505210838544172e-08)
        s = float32(s * q + float32(2.755731922398589e-06))
        s = float32(s * q - float32(1.984126984126984e-04))
        s = float32(s * q + float32(8.333333333333333e-03))
        s = float32(s * q - float32(0.16666666666666666))
        s = float32(s * q + float32(1)) * a
        c = float32(2.08767569878681e-09)
        c = float32(c * q - float32(2.755731922398589e-07))
        c = float32(c * q + float32(2.48015873015873e-05))
        c = float32(c * q - float32(1.388888888888889e-03))
        c = float32(c * q + float32(4.1666666666666664e-02))
        c = float32(c * q - float32(0.5))
        c = float32(c * q + float32(1))
        cosines[i] = radius * (float32(1) - float32(2) * s * s)
        sines[i] = radius * (float32(2) * s * c)


def fill_normal(out: np.ndarray, key: np.uint32, first_cell: int) -> None:
    """Fill a float32 vector of even length with the normal numbers of the cells from ``first_cell`` on.

    Examples
    --------
    >>> numbers = np.empty(100_000, dtype=np.float32)
    >>> fill_normal(numbers, np.uint32(7), 0)
    >>> abs(float(numbers.mean())) < 0.02, abs(float(numbers.std()) - 1) < 0.02
    (True, True)
    """
    half = len(out) // 2
    _fill(out[:half], out[half:], key, first_cell)
