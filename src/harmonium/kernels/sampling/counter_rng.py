"""Counter-based uniform random numbers: hashes of (key, cell), the same in whatever order and on whatever thread."""

from __future__ import annotations

from numpy import float32, int32, uint32

from harmonium.kernels.runtime.jit import inline


@inline
def uniform(cell, key):  # type: ignore[no-untyped-def]
    """Return the uniform number in (0, 1) of a cell."""
    # A Weyl sequence and the 32-bit hash "lowbias32" of C. Wellons (constants found by search, public domain). Every
    # step is cast back to 32 bits, because wider lanes would halve the speed.
    x = uint32(uint32(cell * uint32(0x9E3779B9)) + key)
    x = uint32(x ^ uint32(x >> uint32(16)))
    x = uint32(x * uint32(0x7FEB352D))
    x = uint32(x ^ uint32(x >> uint32(15)))
    x = uint32(x * uint32(0x846CA68B))
    x = uint32(x ^ uint32(x >> uint32(16)))
    return (float32(int32(x >> uint32(8))) + float32(0.5)) * float32(5.9604644775390625e-08)
