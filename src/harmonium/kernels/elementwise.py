"""Elementwise functions that vectorise, where calls of the mathematical library for every element would not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy import float32, int32
from scipy.special import expit

from harmonium.kernels.runtime.jit import inline, jit

# Numbers between the beginnings of two arrays from which compiled loops take them to be apart: those of the widest
# vectors, four at a time.
_APART = 64


@inline
def exp2_float32(x):  # type: ignore[no-untyped-def]
    """Return 2^x for -126 < x < 127 with a relative error of 2e-7: a polynomial for the fraction, bits for the rest."""
    whole = np.floor(x + float32(0.5))
    f = x - whole
    # coefficients of the minimax polynomial of 2^f on ±1/2 in the Cephes library (exp2f)
    p = float32(1.535336188319500e-4)
    p = float32(p * f + float32(1.339887440266574e-3))
    p = float32(p * f + float32(9.618437357674640e-3))
    p = float32(p * f + float32(5.550332471162809e-2))
    p = float32(p * f + float32(2.402264791363012e-1))
    p = float32(p * f + float32(6.931472028550421e-1))
    p = float32(p * f + float32(1.0))
    return p * np.int32((int32(whole) + int32(127)) << int32(23)).view(np.float32)


@inline
def exp2_upper_bound(x):  # type: ignore[no-untyped-def]
    """Return 2^x or up to 6 % more, for -126 < x < 127, without a polynomial."""
    # writing i + f into the exponent bits gives (1 + f) 2^i, which is never below 2^(i + f) and at most 6 % above
    return np.int32((x + float32(127)) * float32(8388608)).view(np.float32)


@inline
def twice_artanh(s):  # type: ignore[no-untyped-def]
    """Return 2 artanh(s) = log((1 + s) / (1 - s)) for 0 <= s <= 1/3 to 1e-7, by six terms of the series."""
    q = s * s
    p = float32(2 / 11)
    p = float32(p * q + float32(2 / 9))
    p = float32(p * q + float32(2 / 7))
    p = float32(p * q + float32(2 / 5))
    p = float32(p * q + float32(2 / 3))
    p = float32(p * q + float32(2))
    return p * s


@inline
def log_float32(x):  # type: ignore[no-untyped-def]
    """Return the logarithm of a positive number with an error of 1e-7, by its exponent bits and a series."""
    # x = 2^e m with m in [1, 2); log m = 2 artanh(s) with s = (m - 1) / (m + 1), at most 1/3
    bits = np.float32(x).view(np.int32)
    exponent = float32(int32(bits >> int32(23)) - int32(127))
    m = np.int32((bits & int32(0x7FFFFF)) | int32(0x3F800000)).view(np.float32)
    s = (m - float32(1)) / (m + float32(1))
    return exponent * float32(0.6931471805599453) + twice_artanh(s)


@inline
def logistic_float32(x):  # type: ignore[no-untyped-def]
    """Return 1 / (1 + exp(-x))."""
    # beyond ±60 the result is 0 or 1 in float32, or so small that denormal numbers would follow
    y = min(max(x * float32(-1.4426950408889634), float32(-87)), float32(87))
    return float32(1) / (float32(1) + exp2_float32(y))


@jit(fastmath=True, error_model="numpy")
def _logistic(x: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(x)):
        out[i] = logistic_float32(x[i])


@jit(fastmath=True, error_model="numpy")
def _softplus(x: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(x)):
        y = max(-abs(x[i]) * float32(1.4426950408889634), float32(-87))
        t = exp2_float32(y)
        # log(1 + t) = 2 artanh(t / (2 + t)), whose argument is at most 1/3
        s = t / (float32(2) + t)
        out[i] = max(x[i], float32(0)) + twice_artanh(s)


def softplus(natural: np.ndarray) -> np.ndarray:
    """Return log(1 + exp(natural)), fast for float32 and exact for other types.

    Examples
    --------
    >>> softplus(np.array([0.0, 50.0], dtype=np.float32)).round(4).tolist()
    [0.6930999755859375, 50.0]
    """
    if natural.dtype != np.float32:
        return np.logaddexp(natural, natural.dtype.type(0))
    return _of_each(_softplus, natural)


def logistic(natural: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(-natural)), fast for float32 and exact for other types.

    Examples
    --------
    >>> logistic(np.array([0.0, 1.0], dtype=np.float32)).round(4).tolist()
    [0.5, 0.7311000227928162]
    """
    if natural.dtype != np.float32:
        return expit(natural)
    return _of_each(_logistic, natural)


def _of_each(kernel: Callable[[np.ndarray, np.ndarray], None], natural: np.ndarray) -> np.ndarray:
    """Return the values of a kernel for all elements, in the memory order of the argument."""
    out = np.empty_like(natural)
    values, results = natural.ravel(order="K"), out.ravel(order="K")
    if len(values) >= _APART:
        kernel(values, results)
    else:
        # where arrays lie so near each other that they might overlap, compiled loops go element by element, and divide
        # more exactly than vectors do: results would depend on where small arrays happen to lie
        apart = np.empty(_APART + len(values), dtype=np.float32)[_APART:]
        kernel(values, apart)
        results[...] = apart
    return out
