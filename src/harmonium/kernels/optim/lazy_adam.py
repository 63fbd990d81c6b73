"""Lazy Adam, for weights most of whose rows have a gradient of zero: such rows are skipped, and catch up in one go.

With a gradient of zero for k steps, the moments fade to β1^k m and β2^k v, and the value moves along m / √v alone: by
how much depends on the steps, but neither on the row nor on the weight. So a row that catches up needs two numbers
beside the powers, which are tabulated by the step at which it was last up to date: the factor that decay has left of
its value (``keep``), and the sum of the steps, each with the factor of its moments (``move``).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from harmonium.kernels.optim.updates import SMALLEST_FIRST, SMALLEST_SECOND, AdamStep, in_blocks
from harmonium.kernels.runtime.jit import jit

#: by the step at which rows were last up to date: ``keep``, ``move``, and what is left of both moments
ByStep = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class Moments(NamedTuple):
    """Both moments of an array and, for each row, the step at which they were last up to date."""

    first: np.ndarray
    second: np.ndarray
    last_step: np.ndarray


def initial_table() -> np.ndarray:
    """Return a table for rows that are all up to date: one line for step 0, with ``keep`` and ``move``."""
    return np.array([[1.0, 0.0]])


def advance_table(table: np.ndarray, step: float, betas: tuple[float, float], decay: float) -> np.ndarray:
    """Return the table after one more step, whose last line is for rows that take part in it."""
    later = np.empty((len(table) + 1, 2))
    np.multiply(1 - decay, table, out=later[:-1])
    later[:-1, 1] += step * _powers(float(betas[0] / np.sqrt(betas[1])), len(table) + 1)[:-1]
    later[-1] = 1.0, 0.0
    return later


def _by_step(table: np.ndarray, betas: tuple[float, float]) -> ByStep:
    """Return ``keep``, ``move`` and what is left of both moments, for rows last up to date at each step."""
    keep, move = table.T.astype(np.float32, order="C")
    return keep, move, _powers_float32(betas[0], len(table)), _powers_float32(betas[1], len(table))


@lru_cache(maxsize=256)
def _powers(base: float, number: int) -> np.ndarray:
    """Return the powers of a number with exponents from ``number - 1`` down to 0, as an array that is shared."""
    powers: np.ndarray = base ** np.arange(number - 1, -1, -1)
    powers.flags.writeable = False
    return powers


@lru_cache(maxsize=256)
def _powers_float32(base: float, number: int) -> np.ndarray:
    """Return the same in single precision."""
    return _powers(base, number).astype(np.float32)  # not read-only, which would be another type for kernels


# NumPy's division, because a check for zero in each element would keep the loop from being vectorised
@jit(fastmath=True, error_model="numpy")
def _catch_up(
    value: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    keep: np.float32,
    move: np.float32,
    fade1: np.float32,
    fade2: np.float32,
    epsilon: np.float32,
) -> None:
    for k in range(len(value)):
        m, v = first[k], second[k]
        value[k] = keep * value[k] - move * m / (np.sqrt(v) + epsilon)
        m, v = fade1 * m, fade2 * v
        first[k] = m if abs(m) > SMALLEST_FIRST else np.float32(0)
        second[k] = v if v > SMALLEST_SECOND else np.float32(0)


@jit(fastmath=True, error_model="numpy")
def _update_rows(
    value: np.ndarray,
    gradient: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    last_step: np.ndarray,
    active_rows: np.ndarray,
    by_step: ByStep,
    scale: np.float32,
    step: np.float32,
    beta1: np.float32,
    beta2: np.float32,
    epsilon: np.float32,
    decay: np.float32,
) -> None:
    # What `_catch_up` and then a step of `adam_update` do, in one pass over memory that is in no cache. The loop over
    # units is not a function of its own: with rows of some dozens, calling it would take a quarter of the time.
    keep, move, fade1, fade2 = by_step
    present = len(keep) - 1
    for row in range(len(value)):
        if active_rows[row]:
            p = last_step[row]
            kept, moved, faded1, faded2 = keep[p], move[p], beta1 * fade1[p], beta2 * fade2[p]
            for k in range(value.shape[1]):
                g = scale * gradient[row, k]
                m, v = first[row, k], second[row, k]
                now = kept * value[row, k] - moved * m / (np.sqrt(v) + epsilon)
                m = faded1 * m + (np.float32(1) - beta1) * g
                v = faded2 * v + (np.float32(1) - beta2) * g * g
                m = m if abs(m) > SMALLEST_FIRST else np.float32(0)
                v = v if v > SMALLEST_SECOND else np.float32(0)
                first[row, k] = m
                second[row, k] = v
                value[row, k] = now - (step * m / (np.sqrt(v) + epsilon) + decay * now)
                gradient[row, k] = 0
            last_step[row] = present + 1


@jit()
def _flush_rows(
    value: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    last_step: np.ndarray,
    by_step: ByStep,
    epsilon: np.float32,
) -> None:
    keep, move, fade1, fade2 = by_step
    present = len(keep) - 1
    for row in range(len(value)):
        p = last_step[row]
        if p < present:
            _catch_up(value[row], first[row], second[row], keep[p], move[p], fade1[p], fade2[p], epsilon)
        last_step[row] = 0


def lazy_adam_update(
    value: np.ndarray,
    gradient: np.ndarray,
    moments: Moments,
    active_rows: np.ndarray,
    table: np.ndarray,
    step: AdamStep,
) -> None:
    """Take a step of Adam in the active rows, after they have caught up with all steps before it.

    The gradient of the others has to be zero, and ``table`` to be as it was before the step.
    """
    arrays = value, gradient, *moments, active_rows
    in_blocks(_update_rows, arrays, _by_step(table, step.betas), *step.as_float32())


def flush(value: np.ndarray, moments: Moments, table: np.ndarray, betas: tuple[float, float], epsilon: float) -> None:
    """Let all rows catch up; the table goes on from `initial_table`."""
    in_blocks(_flush_rows, (value, *moments), _by_step(table, betas), np.float32(epsilon))
