"""Normal random numbers for the noise of Langevin steps, several times faster than a generator that draws one by one.

Every step needs as many as there are weights. Uniform numbers are hashes of (key, cell), as in `kernels/sampling.py`,
and become normal by the Box-Muller transform with polynomials that vectorise. The numbers lie within 5.8 standard
deviations.

Why not NumPy's generators? They draw one number after the other: two million float32 take 27 ms, hashes 2 ms (median
of seven alternate runs on one core), and hashes are the same in whatever order threads fill their blocks. All keys walk
through one cycle of 2³² numbers from different places, so that two random keys share a stretch of n cells with a
probability of about 2n / 2³²: good enough for noise, not for cryptography or for simulations of billions of numbers.
`tests/kernels/test_normal.py` holds the battery of tests that they pass.
"""

from __future__ import annotations

import numpy as np
from numpy import float32, int32, uint32

from harmonium.kernels.compiling import compiled, inlined
from harmonium.kernels.elementwise import twice_artanh
from harmonium.kernels.sampling import uniform


@inlined
def _log(x):  # type: ignore[no-untyped-def]
    # x = 2^e m with m in [1, 2); log m = 2 artanh(s) with s = (m - 1) / (m + 1), at most 1/3
    bits = np.float32(x).view(np.int32)
    exponent = float32(int32(bits >> int32(23)) - int32(127))
    m = np.int32((bits & int32(0x7FFFFF)) | int32(0x3F800000)).view(np.float32)
    s = (m - float32(1)) / (m + float32(1))
    return exponent * float32(0.6931471805599453) + twice_artanh(s)


@compiled(fastmath=True, error_model="numpy")
def _fill(cosines: np.ndarray, sines: np.ndarray, key: np.uint32, first_cell: int) -> None:
    base = uint32(first_cell)
    for i in range(len(cosines)):
        cell = uint32(base + uint32(i) * uint32(2))
        radius = np.sqrt(float32(-2) * _log(uniform(cell, key)))
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
