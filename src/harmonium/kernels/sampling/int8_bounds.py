"""Upper bounds of naturals by int8 dot products (AVX-512 VNNI), four times as many at once as of float32.

If each unit is zero or some positive number of its row, a natural is the bias plus that number times the sum of some
weights. With weights quantised up to multiples of a 126th of the largest, it is a sum of integers, and never too small.
It is too large by about half a 126th of that weight for each unit that is not zero: for models of words some
hundredths, so that a draw needs the exact natural of few cells.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy import float32, int32

from harmonium.kernels.runtime.jit import intrinsic, jit

# Features and rows of one call of `_multiply`: as many sums as there are registers for. Its instruction has _LANES sums
# of _BYTES products each.
TILE_FEATURES, TILE_ROWS = 6, 64
_LANES, _BYTES = 16, 4
# Fraction of the rows of all tiles below which int8 does not pay, as the others are computed in vain.
_MIN_FILL = 0.7
_INSTRUCTION = "llvm.x86.avx512.vpdpbusd.512"
_PROBE = f"""
declare <{_LANES} x i32> @{_INSTRUCTION}(<{_LANES} x i32>, <{_LANES} x i32>, <{_LANES} x i32>)
define <{_LANES} x i32> @probe(<{_LANES} x i32> %x) {{
    %y = call <{_LANES} x i32> @{_INSTRUCTION}(<{_LANES} x i32> %x, <{_LANES} x i32> %x, <{_LANES} x i32> %x)
    ret <{_LANES} x i32> %y
}}
"""
# The largest weight of a feature is scaled to this before it is quantized up, to at most 127, the largest int8.
_SCALE = 126.0
# Rounded weights are too large by this at least, which is more than sums of a thousand floats are off by.
_MARGIN = 0.01
# bits of a number that stands for the largest weight where all are zero
_TINY_BITS = int(np.float32(1e-30).view(np.int32))


class PackedUnits(NamedTuple):
    """Hidden units, and the same packed into bytes if that pays.

    Attributes
    ----------
    values : ndarray of float32 of shape (rows, units)
        Their values.
    packed : ndarray of uint8 of shape (groups, padded rows, 4)
        1 for units that are not zero, in groups of four, for rows in whole tiles. Empty if int8 does not pay.
    factors : ndarray of float32 of shape (padded rows,)
        The value of all units of a row that are not zero.
    """

    values: np.ndarray
    packed: np.ndarray
    factors: np.ndarray


@lru_cache(maxsize=1)
def has_vnni() -> bool:
    """Return whether the processor and the compiler at hand have the int8 dot product of AVX-512 VNNI."""
    from llvmlite import binding
    from numba.core import config
    from numba.core.registry import cpu_target

    features = cpu_target.target_context.codegen().magic_tuple()[2]
    if getattr(config, "DISABLE_JIT", 0) or "+avx512vnni" not in features.split(","):
        return False
    try:
        binding.parse_assembly(_PROBE).verify()
    except RuntimeError:  # later versions of the compiler may want other types
        return False
    return True


def pack_units(hidden: np.ndarray) -> PackedUnits:
    """Return hidden units with their bytes, if these pay.

    Parameters
    ----------
    hidden : ndarray of float32 of shape (rows, units)
        Values of the units.

    Returns
    -------
    PackedUnits
        The units. They have no bytes if a row has a negative value, or two that are neither equal nor zero.

    Examples
    --------
    >>> pack_units(np.array([[0.5, -1.0]], dtype=np.float32)).packed.size
    0
    """
    values = np.ascontiguousarray(hidden, dtype=np.float32)
    n_rows, n_units = values.shape
    padded = -(-n_rows // TILE_ROWS) * TILE_ROWS
    if n_rows > _MIN_FILL * padded and has_vnni():
        packed = np.zeros((-(-n_units // _BYTES), padded, _BYTES), dtype=np.uint8)
        factors = np.zeros(padded, dtype=np.float32)
        if _pack(values, packed, factors):
            return PackedUnits(values, packed, factors)
    return PackedUnits(values, np.zeros((0, 0, _BYTES), dtype=np.uint8), np.zeros(0, dtype=np.float32))


@jit()
def _pack(hidden: np.ndarray, packed: np.ndarray, factors: np.ndarray) -> bool:
    n_rows, n_units = hidden.shape
    for row in range(n_rows):
        factor = float32(0)
        for unit in range(n_units):
            factor = max(factor, hidden[row, unit])
        others = 0
        for unit in range(n_units):
            others += (hidden[row, unit] != 0) & (hidden[row, unit] != factor)
        if others:
            return False
        factors[row] = factor
        for group in range(n_units // _BYTES):
            for byte in range(_BYTES):
                packed[group, row, byte] = hidden[row, group * _BYTES + byte] != 0
        for unit in range(n_units // _BYTES * _BYTES, n_units):
            packed[unit // _BYTES, row, unit % _BYTES] = hidden[row, unit] != 0
    return True


@intrinsic
def _multiply(context, quantized, stride, packed, step, n_groups, scales, bias, factors, out, pitch):  # type: ignore[no-untyped-def]
    """Compute out = bias + scales · factors · (quantized @ packed) for one tile.

    All arrays are given by their addresses. The bytes from one feature to the next are ``stride`` in ``quantized`` and
    ``pitch`` in ``out``, those from one group of units to the next ``step``.
    """
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils

    address, integer, real = ir.IntType(64), ir.IntType(32), ir.FloatType()
    integers, reals = ir.VectorType(integer, _LANES), ir.VectorType(real, _LANES)
    n_vectors, width = TILE_ROWS // _LANES, 4 * _LANES

    def write(target: Any, builder: Any, _: Any, arguments: Any) -> Any:
        quantized, stride, packed, step, n_groups, scales, bias, factors, out, pitch = arguments
        multiply_and_add = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(integers, [integers] * 3), _INSTRUCTION
        )
        zeros = ir.Constant(integers, [0] * _LANES)

        def place(kind: Any, start: Any, number: Any, distance: Any, offset: int = 0) -> Any:
            number, distance = (ir.Constant(address, x) if isinstance(x, int) else x for x in (number, distance))
            moved = builder.add(builder.mul(number, distance), ir.Constant(address, offset))
            return builder.inttoptr(builder.add(start, moved), kind.as_pointer())

        def load(*where: Any) -> Any:
            return builder.load(place(*where), align=1)

        def everywhere(value: Any, kind: Any) -> Any:
            nothing = ir.Constant(kind, ir.Undefined)
            first = builder.insert_element(nothing, value, ir.Constant(integer, 0))
            return builder.shuffle_vector(first, nothing, zeros)

        sums = [[cgutils.alloca_once(builder, integers) for _ in range(n_vectors)] for _ in range(TILE_FEATURES)]
        for feature in sums:
            for total in feature:
                builder.store(zeros, total)
        with cgutils.for_range(builder, n_groups) as groups:
            units = [load(integers, packed, groups.index, step, width * v) for v in range(n_vectors)]
            weights = builder.add(quantized, builder.mul(groups.index, ir.Constant(address, _BYTES)))
            for number, feature in enumerate(sums):
                weight = everywhere(load(integer, weights, number, stride), integers)
                for total, unit in zip(feature, units, strict=True):
                    builder.store(builder.call(multiply_and_add, [builder.load(total), unit, weight]), total)
        for number, feature in enumerate(sums):
            scale = everywhere(load(real, scales, number, 4), reals)
            shift = everywhere(load(real, bias, number, 4), reals)
            for v, total in enumerate(feature):
                factor = builder.fmul(scale, load(reals, factors, v, width))
                product = builder.fmul(builder.sitofp(builder.load(total), reals), factor)
                builder.store(builder.fadd(product, shift), place(reals, out, number, pitch, width * v), align=1)
        return target.get_dummy_value()

    return types.void(*[types.intp] * 10), write


# A function of its own, in which no array is replaced: counting references to them would take most of the time.
@jit(fastmath=True, error_model="numpy")
def _quantize(
    weights: np.ndarray, bits: np.ndarray, chosen: np.ndarray, quantized: np.ndarray, scales: np.ndarray
) -> None:
    n_units = weights.shape[1]
    for i in range(len(chosen)):
        feature = chosen[i]
        # sizes of floats have the order of their bits, whose largest is found several at a time
        largest = int32(_TINY_BITS)
        for unit in range(n_units):
            largest = max(largest, int32(bits[feature, unit] & int32(0x7FFFFFFF)))
        size = np.int32(largest).view(np.float32)
        scales[i] = size / float32(_SCALE)
        factor = float32(_SCALE) / size
        for unit in range(n_units):
            above = int32(weights[feature, unit] * factor + float32(_SCALE + 2 + _MARGIN))
            quantized[i, unit] = np.int8(int32(above - int32(_SCALE + 1)))
        for unit in range(n_units, quantized.shape[1]):
            quantized[i, unit] = 0


@jit()
def int8_upper_bounds(
    weights: np.ndarray,
    bias: np.ndarray,
    chosen: np.ndarray,
    packed: np.ndarray,
    factors: np.ndarray,
    quantized: np.ndarray,
    constants: np.ndarray,
    out: np.ndarray,
) -> None:
    """Compute out >= bias + hidden @ weights^T for the chosen features; out has a row for each of them.

    Parameters
    ----------
    weights : ndarray of float32 of shape (features, units)
        Weights of all features.
    bias : ndarray of float32 of shape (features,)
        Bias of all features.
    chosen : ndarray of int
        Numbers of the chosen ones.
    packed, factors : ndarray
        Those of `PackedUnits`.
    quantized : ndarray of int8 of shape (chosen, units)
        Scratch memory: as many as are chosen, in whole tiles, and as many units as `packed` has.
    constants : ndarray of float32 of shape (2, chosen)
        Scratch memory, in whole tiles.
    out : ndarray of float32 of shape (chosen, rows)
        The result, in whole tiles.
    """
    n_chosen, n_rows = len(chosen), len(factors)
    scales, shifts = constants[0], constants[1]
    _quantize(weights, weights.view(np.int32), chosen, quantized, scales)
    for i in range(n_chosen):
        shifts[i] = bias[chosen[i]]
    stride, step, pitch = quantized.shape[1], _BYTES * n_rows, 4 * n_rows
    for i in range(0, n_chosen, TILE_FEATURES):
        for row in range(0, n_rows, TILE_ROWS):
            _multiply(
                quantized.ctypes.data + stride * i,
                stride,
                packed.ctypes.data + _BYTES * row,
                step,
                len(packed),
                scales.ctypes.data + 4 * i,
                shifts.ctypes.data + 4 * i,
                factors.ctypes.data + 4 * row,
                out.ctypes.data + pitch * i + 4 * row,
                pitch,
            )
