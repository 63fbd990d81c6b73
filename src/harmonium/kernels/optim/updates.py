"""Updates of SGD, momentum and Adam: one pass over the memory of each array, which also sets the gradient to zero.

Parameters of real models do not fit into the cache, so that time is spent on passes and not on arithmetic. Ctrl-C does
not leave an array half updated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any, NamedTuple

import numpy as np

from harmonium.kernels.runtime.interrupts import uninterrupted
from harmonium.kernels.runtime.jit import jit
from harmonium.kernels.runtime.threads import block_bounds, block_count, run_blocks

#: numbers in a block: enough to make handing it to a thread cheap
BLOCK = 250_000
#: Moments below these are set to zero, before they become denormal numbers (below 1e-38), whose products can be twenty
#: times slower. What they would still add to a parameter is far below its precision.
_SMALLEST_VELOCITY = np.float32(1e-25)
SMALLEST_FIRST = np.float32(1e-18)
SMALLEST_SECOND = np.float32(1e-36)


@jit(fastmath=True)
def _sgd(value: np.ndarray, gradient: np.ndarray, step: np.float32, decay: np.float32) -> None:
    for i in range(len(value)):
        value[i] -= step * gradient[i] + decay * value[i]
        gradient[i] = 0


@jit(fastmath=True)
def _momentum(
    value: np.ndarray,
    gradient: np.ndarray,
    velocity: np.ndarray,
    step: np.float32,
    momentum: np.float32,
    decay: np.float32,
) -> None:
    for i in range(len(value)):
        v = momentum * velocity[i] - step * gradient[i]
        v = v if abs(v) > _SMALLEST_VELOCITY else np.float32(0)
        velocity[i] = v
        value[i] += v - decay * value[i]
        gradient[i] = 0


# NumPy's division, because a check for zero in each element would keep the loop from being vectorised
@jit(fastmath=True, error_model="numpy")
def _adam(
    value: np.ndarray,
    gradient: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    scale: np.float32,
    step: np.float32,
    beta1: np.float32,
    beta2: np.float32,
    epsilon: np.float32,
    decay: np.float32,
) -> None:
    for i in range(len(value)):
        g = scale * gradient[i]
        m = beta1 * first[i] + (np.float32(1) - beta1) * g
        v = beta2 * second[i] + (np.float32(1) - beta2) * g * g
        m = m if abs(m) > SMALLEST_FIRST else np.float32(0)
        v = v if v > SMALLEST_SECOND else np.float32(0)
        first[i] = m
        second[i] = v
        value[i] -= step * m / (np.sqrt(v) + epsilon) + decay * value[i]
        gradient[i] = 0


@jit(fastmath=True, error_model="numpy")
def _shared_adam(
    value: np.ndarray,
    gradient: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    centre: np.ndarray,
    by_bias: np.ndarray,
    scale: np.float32,
    step: np.float32,
    beta1: np.float32,
    beta2: np.float32,
    epsilon: np.float32,
    decay: np.float32,
) -> None:
    for i in range(value.shape[0]):
        largest = np.float32(0)
        for k in range(value.shape[1]):
            gradient[i, k] -= centre[i] * by_bias[k]
            size = abs(gradient[i, k])
            largest = size if size > largest else largest
        v = beta2 * second[i] + (np.float32(1) - beta2) * (scale * largest) * (scale * largest)
        v = v if v > SMALLEST_SECOND else np.float32(0)
        second[i] = v
        rate = step / (np.sqrt(v) + epsilon)
        for k in range(value.shape[1]):
            m = beta1 * first[i, k] + (np.float32(1) - beta1) * scale * gradient[i, k]
            m = m if abs(m) > SMALLEST_FIRST else np.float32(0)
            first[i, k] = m
            value[i, k] -= rate * m + decay * value[i, k]
            gradient[i, k] = 0


@jit(fastmath=True)
def _ema(average: np.ndarray, value: np.ndarray, weight: np.float32) -> None:
    for i in range(len(average)):
        average[i] += weight * (value[i] - average[i])


class AdamStep(NamedTuple):
    """Numbers of a step of Adam with decoupled decay.

    ``scale`` multiplies the gradient, and ``step`` already includes the bias correction.
    """

    scale: float
    step: float
    betas: tuple[float, float]
    epsilon: float
    decay: float

    def as_float32(self) -> tuple[np.float32, ...]:
        """Return them one after the other, as kernels take them."""
        return as_float32(self.scale, self.step, *self.betas, self.epsilon, self.decay)


def as_float32(*numbers: float) -> tuple[np.float32, ...]:
    """Return numbers in the precision that kernels compute in."""
    return tuple(map(np.float32, numbers))


def in_blocks(kernel: Callable[..., None], arrays: Sequence[np.ndarray], *constants: Any) -> None:
    """Call a kernel on blocks of rows of some arrays, which Ctrl-C leaves all done or none."""
    n_blocks = block_count(arrays[0].size, BLOCK)
    if n_blocks == 1:  # biases and the like: a kernel is not cut short anyway
        kernel(*arrays, *constants)
        return

    def task(block: int) -> None:
        part = slice(*block_bounds(len(arrays[0]), n_blocks, block))
        kernel(*[array[part] for array in arrays], *constants)

    update_wrapper(task, kernel, (), ())  # each kernel finds out by itself whether threads pay
    with uninterrupted:
        run_blocks(task, n_blocks)


def _flat(*arrays: np.ndarray) -> list[np.ndarray]:
    return [array.reshape(-1) for array in arrays]


def ema_update(average: np.ndarray, value: np.ndarray, weight: float) -> None:
    """Compute average += weight · (value - average), an exponential moving average."""
    in_blocks(_ema, _flat(average, value), np.float32(weight))


def sgd_update(value: np.ndarray, gradient: np.ndarray, step: float, decay: float) -> None:
    """Compute value -= step · gradient + decay · value."""
    in_blocks(_sgd, _flat(value, gradient), *as_float32(step, decay))


def momentum_update(
    value: np.ndarray, gradient: np.ndarray, velocity: np.ndarray, step: float, momentum: float, decay: float
) -> None:
    """Compute velocity = momentum · velocity - step · gradient, then value += velocity - decay · value."""
    in_blocks(_momentum, _flat(value, gradient, velocity), *as_float32(step, momentum, decay))


def adam_update(value: np.ndarray, gradient: np.ndarray, first: np.ndarray, second: np.ndarray, step: AdamStep) -> None:
    """Take a step of Adam."""
    in_blocks(_adam, _flat(value, gradient, first, second), *step.as_float32())


def shared_adam_update(
    value: np.ndarray,
    gradient: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    step: AdamStep,
    axis: int,
    centre: tuple[np.ndarray, np.ndarray] | None = None,
) -> None:
    """Take a step of Adam in which all entries along an axis share the second moment of their largest gradient.

    The outer product of the two arrays of ``centre`` is subtracted from the gradient first, in the same pass. Arrays
    with units along the first axis are small (weights of a head, a bias) and are copied to have units last.
    """
    constants, m2 = step.as_float32(), second.reshape(-1)
    if axis == 0:
        v, g, m1 = (np.ascontiguousarray(np.atleast_2d(array.T)) for array in (value, gradient, first))
        mean, by_bias = np.zeros(len(v), np.float32), np.zeros(v.shape[1], np.float32)
        _shared_adam(v, g, m1, m2, mean, by_bias, *constants)
        for array, copy in ((value, v), (gradient, g), (first, m1)):
            array[...] = copy.T.reshape(array.shape)
        return
    if centre is None:
        centre = np.zeros(len(value), np.float32), np.zeros(value.shape[1], np.float32)
    mean, by_bias = centre
    in_blocks(_shared_adam, (value, gradient, first, m2, mean), by_bias, *constants)
