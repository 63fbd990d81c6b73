"""Updates of the optimizers: one pass over the memory of each array, which also sets the gradient back to zero.

Parameters of real models do not fit into the cache, so that time is spent on passes and not on arithmetic. Ctrl-C does
not leave an array half updated.
"""

from __future__ import annotations

import numpy as np

from harmonium.kernels.compiling import compiled
from harmonium.kernels.interrupts import uninterrupted
from harmonium.kernels.threads import block_bounds, block_count, run_blocks

#: numbers in a block: enough to make handing it to a thread cheap
BLOCK = 250_000
#: Moments below these are set to zero, before they become denormal numbers (below 1e-38), whose products can be twenty
#: times slower (benchmarks/denormals.py). What they would still add to a parameter is far below its precision.
_SMALLEST_VELOCITY = np.float32(1e-25)
SMALLEST_FIRST = np.float32(1e-18)
SMALLEST_SECOND = np.float32(1e-36)


@compiled(fastmath=True)
def _descent(value: np.ndarray, gradient: np.ndarray, step: np.float32, decay: np.float32) -> None:
    for i in range(len(value)):
        value[i] -= step * gradient[i] + decay * value[i]
        gradient[i] = 0


@compiled(fastmath=True)
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
@compiled(fastmath=True, error_model="numpy")
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


@compiled(fastmath=True, error_model="numpy")
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


@compiled(fastmath=True)
def _approach(value: np.ndarray, goal: np.ndarray, share: np.float32) -> None:
    for i in range(len(value)):
        value[i] += share * (goal[i] - value[i])


def as_float32(*numbers: float) -> tuple[np.float32, ...]:
    """Return numbers in the precision that kernels compute in."""
    return tuple(map(np.float32, numbers))


def approach(value: np.ndarray, goal: np.ndarray, share: float) -> None:
    """Compute value += share · (goal - value)."""
    v, g = value.reshape(-1), goal.reshape(-1)
    n_blocks = block_count(len(v), BLOCK)
    if n_blocks == 1:
        _approach(v, g, np.float32(share))
        return

    def task(block: int) -> None:
        part = slice(*block_bounds(len(v), n_blocks, block))
        _approach(v[part], g[part], np.float32(share))

    run_blocks(task, n_blocks)


def descent_update(value: np.ndarray, gradient: np.ndarray, step: float, decay: float) -> None:
    """Compute value -= step · gradient + decay · value."""
    v, g = value.reshape(-1), gradient.reshape(-1)
    n_blocks = block_count(len(v), BLOCK)

    def task(block: int) -> None:
        part = slice(*block_bounds(len(v), n_blocks, block))
        _descent(v[part], g[part], np.float32(step), np.float32(decay))

    with uninterrupted:
        run_blocks(task, n_blocks)


def momentum_update(
    value: np.ndarray, gradient: np.ndarray, velocity: np.ndarray, step: float, momentum: float, decay: float
) -> None:
    """Compute velocity = momentum · velocity - step · gradient, then value += velocity - decay · value."""
    v, g, s = value.reshape(-1), gradient.reshape(-1), velocity.reshape(-1)
    n_blocks = block_count(len(v), BLOCK)
    constants = as_float32(step, momentum, decay)

    def task(block: int) -> None:
        part = slice(*block_bounds(len(v), n_blocks, block))
        _momentum(v[part], g[part], s[part], *constants)

    with uninterrupted:
        run_blocks(task, n_blocks)


def adam_update(
    value: np.ndarray,
    gradient: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    scale: float,
    step: float,
    betas: tuple[float, float],
    epsilon: float,
    decay: float,
) -> None:
    """Take a step of Adam with decoupled decay.

    ``scale`` multiplies the gradient, and ``step`` already includes the bias correction.
    """
    n_blocks = block_count(value.size, BLOCK)
    constants = as_float32(scale, step, *betas, epsilon, decay)
    v, g, m1, m2 = value.reshape(-1), gradient.reshape(-1), first.reshape(-1), second.reshape(-1)
    if n_blocks == 1:  # biases and the like: a kernel is not cut short anyway
        _adam(v, g, m1, m2, *constants)
        return

    def task(block: int) -> None:
        part = slice(*block_bounds(len(v), n_blocks, block))
        _adam(v[part], g[part], m1[part], m2[part], *constants)

    with uninterrupted:
        run_blocks(task, n_blocks)


def shared_adam_update(
    value: np.ndarray,
    gradient: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    scale: float,
    step: float,
    betas: tuple[float, float],
    epsilon: float,
    decay: float,
    axis: int,
    centre: tuple[np.ndarray, np.ndarray] | None = None,
) -> None:
    """Take a step of Adam in which all entries along an axis share the second moment of their largest gradient.

    The outer product of the two arrays of ``centre`` is subtracted from the gradient first, in the same pass. Arrays
    with units along the first axis are small (weights of a head, a bias) and are copied to have units last.
    """
    constants = as_float32(scale, step, *betas, epsilon, decay)
    if axis == 0:
        v, g, m1 = (np.ascontiguousarray(np.atleast_2d(array.T)) for array in (value, gradient, first))
        mean, by_bias = np.zeros(len(v), np.float32), np.zeros(v.shape[1], np.float32)
        _shared_adam(v, g, m1, second.reshape(-1), mean, by_bias, *constants)
        for array, copy in ((value, v), (gradient, g), (first, m1)):
            array[...] = copy.T.reshape(array.shape)
        return
    m2 = second.reshape(-1)
    if centre is None:
        centre = np.zeros(len(value), np.float32), np.zeros(value.shape[1], np.float32)
    mean, by_bias = centre
    n_blocks = block_count(value.size, BLOCK)

    def task(block: int) -> None:
        part = slice(*block_bounds(len(value), n_blocks, block))
        _shared_adam(value[part], gradient[part], first[part], m2[part], mean[part], by_bias, *constants)

    with uninterrupted:
        run_blocks(task, n_blocks)
