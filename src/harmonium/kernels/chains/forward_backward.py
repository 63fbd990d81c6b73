"""Forward-backward over binary chains, for all features and items at once: means and log-partition.

A chain x_1 … x_P of zeros and ones has the log-weight node·Σ x_p + edge·Σ x_p x_{p+1}. Everything follows from one
number per position: ρ_m, how many times more weight m further positions have after a one than after a zero,

    ρ_0 = 1,   ρ_{m+1} = (1 + e^{node + edge} ρ_m) / (1 + e^{node} ρ_m).

With m positions still to come, a one follows a zero with log-odds node + log ρ_m, and follows a one with log-odds
larger by edge. The partition function is Π_m (1 + e^{node} ρ_m). All terms are positive, so that small means are as
precise as large ones.

Arrays are (features, items). Single precision is done by kernels that take some features of all items, position by
position and with the longest item first: the items that are long enough then stand together, and the loops vectorise.
Other types are done by plain NumPy.
"""

from __future__ import annotations

import numpy as np
from numpy import float32, int32
from scipy.special import expit

from harmonium.kernels.elementwise import exp2_float32, softplus, twice_artanh
from harmonium.kernels.runtime.jit import jit
from harmonium.kernels.runtime.threads import block_bounds, block_count, run_blocks

#: largest size of naturals for which the kernels of single precision neither overflow nor meet denormal numbers: the
#: largest product, e^{node + edge} ρ, stays within e^{±75}, and single precision holds e^{±87}
MAX_NATURAL = 25.0
# cells of a block, enough to make handing it to a thread cheap, and of a tile, whose arrays should stay in the cache
_BLOCK_CELLS = 200_000
_TILE_CELLS = 20_000


def chain_means(node: np.ndarray, edge: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the expected numbers of ones (first half) and of neighbouring ones (second half), (2 × features, items).

    Examples
    --------
    >>> chain_means(np.zeros((1, 1)), np.zeros((1, 1)), np.array([3])).tolist()  # three coins, two pairs of them
    [[1.5], [0.5]]
    """
    n_features, n_items = node.shape
    result = np.empty((2 * n_features, n_items), dtype=node.dtype)
    means = _means if _is_fast(node, edge) else _exact_means
    order, active = _longest_first(lengths)
    n_blocks = _block_count(node, lengths)

    def task(block: int) -> None:
        part = slice(*block_bounds(n_features, n_blocks, block))
        means(node[part], edge[part], order, active, result[:n_features][part], result[n_features:][part])

    run_blocks(task, n_blocks)
    return result


def chain_log_partition(node: np.ndarray, edge: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the log-partition of each item, summed over features, in float64.

    Examples
    --------
    >>> chain_log_partition(np.zeros((2, 1)), np.zeros((2, 1)), np.array([3])).round(4).tolist()  # log 8, twice
    [4.1589]
    """
    log_partition = _log_partition if _is_fast(node, edge) else _exact_log_partition
    order, active = _longest_first(lengths)
    n_blocks = _block_count(node, lengths)
    totals = np.zeros((n_blocks, len(lengths)))

    def task(block: int) -> None:
        part = slice(*block_bounds(len(node), n_blocks, block))
        log_partition(node[part], edge[part], order, active, totals[block])

    run_blocks(task, n_blocks)
    return totals.sum(axis=0)


def _block_count(node: np.ndarray, lengths: np.ndarray) -> int:
    """Return the number of blocks, by shapes alone; messages of all positions of a block are in memory at once."""
    return min(block_count(node.size * int(lengths.max(initial=1)), _BLOCK_CELLS), max(1, len(node)))


def _is_fast(node: np.ndarray, edge: np.ndarray) -> bool:
    if node.dtype != np.float32:
        return False
    return all(part.min(initial=0) >= -MAX_NATURAL and part.max(initial=0) <= MAX_NATURAL for part in (node, edge))


def _longest_first(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return items by falling length, and for each m how many of them are longer than m."""
    order = np.argsort(-lengths, kind="stable")
    longest = int(lengths.max(initial=0))
    return order, np.searchsorted(-lengths[order], -np.arange(longest), side="left")


# ---- any type: plain NumPy ---------------------------------------------------------------------------------------
def _messages(node: np.ndarray, edge: np.ndarray, n_positions: int) -> list[np.ndarray]:
    """Return log ρ_m for every m below the number of positions."""
    messages = [np.zeros_like(node)]
    while len(messages) < n_positions:
        messages.append(softplus(node + edge + messages[-1]) - softplus(node + messages[-1]))
    return messages[:n_positions]


def _exact_means(
    node: np.ndarray,
    edge: np.ndarray,
    order: np.ndarray,
    active: np.ndarray,
    mean_ones: np.ndarray,
    mean_pairs: np.ndarray,
) -> None:
    mean_ones[...] = 0
    mean_pairs[...] = 0
    one = np.zeros_like(node)  # before the first position there is a zero
    for m, message in reversed(list(enumerate(_messages(node, edge, len(active))))):
        long_enough = np.isin(np.arange(len(order)), order[: active[m]])
        both = np.where(long_enough, one * expit(node + edge + message), 0)
        one = both + np.where(long_enough, (1 - one) * expit(node + message), 0)
        mean_ones += one
        mean_pairs += both


def _exact_log_partition(
    node: np.ndarray, edge: np.ndarray, order: np.ndarray, active: np.ndarray, totals: np.ndarray
) -> None:
    for n, message in zip(active, _messages(node, edge, len(active)), strict=True):
        items = order[:n]
        totals[items] += softplus(node + message)[:, items].sum(axis=0, dtype=np.float64)


# ---- single precision: kernels -----------------------------------------------------------------------------------
@jit(fastmath=True, error_model="numpy")
def _exponentials(node: np.ndarray, edge: np.ndarray) -> None:
    log2_e = float32(1.4426950408889634)
    for cell in range(len(node)):
        theta = node[cell] * log2_e
        node[cell] = exp2_float32(theta)
        edge[cell] = exp2_float32(theta + edge[cell] * log2_e)


@jit()
def _load(node: np.ndarray, edge: np.ndarray, order: np.ndarray, after_zero: np.ndarray, after_one: np.ndarray) -> None:
    """Compute the odds of a one where nothing follows: cells in the order of items, features side by side."""
    cell = 0
    for item in order:
        for feature in range(len(node)):
            after_zero[cell] = node[feature, item]
            after_one[cell] = edge[feature, item]
            cell += 1
    _exponentials(after_zero[:cell], after_one[:cell])


# Small functions with few arrays each, because the compiler vectorises a loop only if it needs few checks of whether
# arrays overlap.
@jit(fastmath=True, error_model="numpy")
def _backward(after_zero: np.ndarray, after_one: np.ndarray, ratio: np.ndarray, following: np.ndarray) -> None:
    for cell in range(len(following)):
        following[cell] = (float32(1) + after_one[cell] * ratio[cell]) / (float32(1) + after_zero[cell] * ratio[cell])


@jit(fastmath=True, error_model="numpy")
def _forward(
    after_zero: np.ndarray, after_one: np.ndarray, ratio: np.ndarray, one: np.ndarray, both: np.ndarray
) -> None:
    for cell in range(len(one)):
        x, y = after_zero[cell] * ratio[cell], after_one[cell] * ratio[cell]
        pair = one[cell] * (y / (float32(1) + y))
        one[cell] = pair + (float32(1) - one[cell]) * (x / (float32(1) + x))
        both[cell] = pair


@jit(fastmath=True, error_model="numpy")
def _add(value: np.ndarray, total: np.ndarray) -> None:
    for cell in range(len(value)):
        total[cell] += value[cell]


@jit()
def _means(
    node: np.ndarray,
    edge: np.ndarray,
    order: np.ndarray,
    active: np.ndarray,
    mean_ones: np.ndarray,
    mean_pairs: np.ndarray,
) -> None:
    n_features, n_items = node.shape
    width = _tile_width(n_items, len(active))
    memory = np.empty((6, width * n_items), dtype=np.float32)
    # taken one by one, because arrays that are unpacked do not count as contiguous
    after_zero, after_one, one, both, ones, pairs = memory[0], memory[1], memory[2], memory[3], memory[4], memory[5]
    ratio = np.ones((len(active) + 1, width * n_items), dtype=np.float32)
    for first in range(0, n_features, width):
        last = min(first + width, n_features)
        _load(node[first:last], edge[first:last], order, after_zero, after_one)
        one[:] = 0
        ones[:] = 0
        pairs[:] = 0
        for m in range(len(active) - 1):
            n = active[m] * (last - first)
            _backward(after_zero[:n], after_one[:n], ratio[m, :n], ratio[m + 1, :n])
        for m in range(len(active) - 1, -1, -1):
            n = active[m] * (last - first)
            _forward(after_zero[:n], after_one[:n], ratio[m, :n], one[:n], both[:n])
            _add(one[:n], ones[:n])
            _add(both[:n], pairs[:n])
        cell = 0
        for item in order:
            for feature in range(first, last):
                mean_ones[feature, item] = ones[cell]
                mean_pairs[feature, item] = pairs[cell]
                cell += 1


@jit(fastmath=True, error_model="numpy")
def _grow(after_zero: np.ndarray, after_one: np.ndarray, ratio: np.ndarray, growth: np.ndarray) -> None:
    for cell in range(len(ratio)):
        growth[cell] = float32(1) + after_zero[cell] * ratio[cell]
        ratio[cell] = (float32(1) + after_one[cell] * ratio[cell]) / growth[cell]


@jit(fastmath=True, error_model="numpy")
def _multiply(growth: np.ndarray, mantissa: np.ndarray, exponent: np.ndarray) -> None:
    # products are kept as mantissa and exponent, so that there is one logarithm per cell and no overflow
    for cell in range(len(growth)):
        bits = np.float32(mantissa[cell] * growth[cell]).view(np.int32)
        exponent[cell] += (bits >> int32(23)) - int32(127)
        mantissa[cell] = np.int32((bits & int32(0x7FFFFF)) | int32(0x3F800000)).view(np.float32)


@jit(fastmath=True, error_model="numpy")
def _logarithms(mantissa: np.ndarray, exponent: np.ndarray) -> None:
    for cell in range(len(mantissa)):
        # log m = 2 artanh((m - 1) / (m + 1)), whose argument is at most 1/3
        s = (mantissa[cell] - float32(1)) / (mantissa[cell] + float32(1))
        mantissa[cell] = twice_artanh(s) + float32(exponent[cell]) * float32(0.6931471805599453)


@jit()
def _log_partition(
    node: np.ndarray, edge: np.ndarray, order: np.ndarray, active: np.ndarray, totals: np.ndarray
) -> None:
    n_features, n_items = node.shape
    width = _tile_width(n_items, 1)
    memory = np.empty((5, width * n_items), dtype=np.float32)
    after_zero, after_one, ratio, growth, mantissa = memory[0], memory[1], memory[2], memory[3], memory[4]
    exponent = np.empty(width * n_items, dtype=np.int32)
    for first in range(0, n_features, width):
        last = min(first + width, n_features)
        _load(node[first:last], edge[first:last], order, after_zero, after_one)
        ratio[:] = 1
        mantissa[:] = 1
        exponent[:] = 0
        for m in range(len(active)):
            n = active[m] * (last - first)
            _grow(after_zero[:n], after_one[:n], ratio[:n], growth[:n])
            _multiply(growth[:n], mantissa[:n], exponent[:n])
        _logarithms(mantissa, exponent)
        cell = 0
        for item in order:
            for _ in range(first, last):
                totals[item] += mantissa[cell]
                cell += 1


@jit()
def _tile_width(n_items: int, n_positions: int) -> int:
    """Return how many features are handled together, so that their intermediate values stay in the cache."""
    return max(1, _TILE_CELLS // (n_items * n_positions + 1))
