"""Sums over binary chains, for all features and items at once: means, log-partition, samples, counts.

A chain x_1 … x_P of zeros and ones has the log-weight node·Σ x_p + edge·Σ x_p x_{p+1}. Everything follows from one
number a position: ρ_m, how many times more weight m further positions have after a one than after a zero,

    ρ_0 = 1,   ρ_{m+1} = (1 + e^{node + edge} ρ_m) / (1 + e^{node} ρ_m).

With m positions still to come, a one follows a zero with log-odds node + log ρ_m and a one with edge more; the
partition function is Π_m (1 + e^{node} ρ_m). All terms are positive: small means are as precise as large ones.

Arrays are (features, items). Single precision takes kernels that go over all items of a feature position by position,
longest item first: those that are long enough stand together and the loops vectorise. Other types take plain NumPy.
"""

from __future__ import annotations

import numpy as np
from numba import float32, int32, njit, uint32
from scipy.special import expit

from harmonium.kernels.elementwise import exp2_float32, softplus
from harmonium.kernels.sampling import collect_flagged, drop_zeros, flag_bytes, least_above_exp2, uniform
from harmonium.kernels.threads import block_bounds, block_count, run_blocks, scratch

#: naturals up to which the kernels of single precision neither overflow nor meet denormal numbers
LIMIT = 25.0
_BLOCK_CELLS = 50_000


# ---- means and log-partition ---------------------------------------------------------------------------------------
def chain_means(node: np.ndarray, edge: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Expected number of ones (first half) and of neighbouring ones (second half), (2 features, items).

    Examples
    --------
    >>> chain_means(np.zeros((1, 1)), np.zeros((1, 1)), np.array([3])).tolist()  # three coins, two pairs of them
    [[1.5], [0.5]]
    """
    n_features, n_items = node.shape
    if not _is_fast(node, edge):
        return _exact_means(node, edge, lengths)
    result = np.empty((2 * n_features, n_items), dtype=np.float32)
    order, active = _longest_first(lengths)
    n_blocks = block_count(node.size, _BLOCK_CELLS)

    def task(block: int) -> None:
        part = slice(*block_bounds(n_features, n_blocks, block))
        _means(node[part], edge[part], order, active, result[:n_features][part], result[n_features:][part])

    run_blocks(task, n_blocks)
    return result


def chain_log_partition(node: np.ndarray, edge: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Log-partition of each item, summed over features, in float64.

    Examples
    --------
    >>> chain_log_partition(np.zeros((2, 1)), np.zeros((2, 1)), np.array([3])).round(4).tolist()  # log 8, twice
    [4.1589]
    """
    if not _is_fast(node, edge):
        messages = _messages(node, edge, lengths)
        terms = [np.where(lengths > m, softplus(node + message), 0) for m, message in enumerate(messages)]
        return np.sum(terms, axis=(0, 1), dtype=np.float64) if terms else np.zeros(node.shape[1])
    order, active = _longest_first(lengths)
    n_blocks = block_count(node.size, _BLOCK_CELLS)
    totals = np.zeros((n_blocks, len(lengths)))

    def task(block: int) -> None:
        part = slice(*block_bounds(len(node), n_blocks, block))
        _log_partition(node[part], edge[part], order, active, totals[block])

    run_blocks(task, n_blocks)
    result = np.empty(len(lengths))
    result[order] = totals.sum(axis=0)
    return result


def _is_fast(node: np.ndarray, edge: np.ndarray) -> bool:
    if node.dtype != np.float32:
        return False
    return all(bool(np.abs(part).max(initial=0) <= LIMIT) for part in (node, edge))


def _longest_first(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Items by falling length, and for each m how many of them are longer than m."""
    order = np.argsort(-lengths, kind="stable")
    longest = int(lengths.max(initial=0))
    return order, np.searchsorted(-lengths[order], -np.arange(longest), side="left")


def _messages(node: np.ndarray, edge: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
    """log ρ_m for every m below the largest length."""
    messages = [np.zeros_like(node)] if lengths.max(initial=0) > 0 else []
    while len(messages) < lengths.max(initial=0):
        messages.append(softplus(node + edge + messages[-1]) - softplus(node + messages[-1]))
    return messages


def _exact_means(node: np.ndarray, edge: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    one, ones, pairs = (np.zeros_like(node) for _ in range(3))
    for m, message in reversed(list(enumerate(_messages(node, edge, lengths)))):
        # what comes before the first position counts as a zero
        active = lengths > m
        both = one * expit(node + edge + message)
        one = np.where(active, both + (1 - one) * expit(node + message), 0)
        ones += one
        pairs += np.where(active, both, 0)
    return np.concatenate([ones, pairs])


@njit(nogil=True, fastmath=True, error_model="numpy", cache=True)
def _odds(node: np.ndarray, edge: np.ndarray, order: np.ndarray, after_zero: np.ndarray, after_one: np.ndarray) -> None:
    log2_e = float32(1.4426950408889634)
    for r in range(len(order)):
        theta = node[order[r]] * log2_e
        after_zero[r] = exp2_float32(theta)
        after_one[r] = exp2_float32(theta + edge[order[r]] * log2_e)


# functions of their own, so that nothing keeps the compiler from vectorising the loops over items
@njit(nogil=True, fastmath=True, error_model="numpy", cache=True)
def _backward(
    after_zero: np.ndarray, after_one: np.ndarray, ratio: np.ndarray, begins: np.ndarray, goes_on: np.ndarray
) -> None:
    for r in range(len(begins)):
        x, y = after_zero[r] * ratio[r], after_one[r] * ratio[r]
        inverse = float32(1) / (float32(1) + x)
        begins[r] = x * inverse
        goes_on[r] = y / (float32(1) + y)
        ratio[r] = (float32(1) + y) * inverse


@njit(nogil=True, fastmath=True, error_model="numpy", cache=True)
def _forward(begins: np.ndarray, goes_on: np.ndarray, one: np.ndarray, ones: np.ndarray, pairs: np.ndarray) -> None:
    for r in range(len(begins)):
        both = one[r] * goes_on[r]
        now = both + (float32(1) - one[r]) * begins[r]
        one[r] = now
        ones[r] += now
        pairs[r] += both


@njit(nogil=True, cache=True)
def _means(
    node: np.ndarray,
    edge: np.ndarray,
    order: np.ndarray,
    active: np.ndarray,
    mean_ones: np.ndarray,
    mean_pairs: np.ndarray,
) -> None:
    n_features, n_items = node.shape
    n_positions = len(active)
    after_zero, after_one, ratio, one, ones, pairs = np.empty((6, n_items), dtype=np.float32)
    begins, goes_on = np.empty((2, n_positions, n_items), dtype=np.float32)
    for feature in range(n_features):
        _odds(node[feature], edge[feature], order, after_zero, after_one)
        ratio[:] = 1
        one[:] = 0
        ones[:] = 0
        pairs[:] = 0
        for m in range(n_positions):
            n = active[m]
            _backward(after_zero[:n], after_one[:n], ratio[:n], begins[m, :n], goes_on[m, :n])
        for m in range(n_positions - 1, -1, -1):
            n = active[m]
            _forward(begins[m, :n], goes_on[m, :n], one[:n], ones[:n], pairs[:n])
        for r in range(n_items):
            mean_ones[feature, order[r]] = ones[r]
            mean_pairs[feature, order[r]] = pairs[r]


@njit(nogil=True, fastmath=True, error_model="numpy", cache=True)
def _grow(
    after_zero: np.ndarray, after_one: np.ndarray, ratio: np.ndarray, mantissa: np.ndarray, exponent: np.ndarray
) -> None:
    for r in range(len(ratio)):
        growth = float32(1) + after_zero[r] * ratio[r]
        ratio[r] = (float32(1) + after_one[r] * ratio[r]) / growth
        # the product is kept as mantissa and exponent: one logarithm an item, and no overflow
        bits = np.float32(mantissa[r] * growth).view(np.int32)
        exponent[r] += (bits >> int32(23)) - int32(127)
        mantissa[r] = np.int32((bits & int32(0x7FFFFF)) | int32(0x3F800000)).view(np.float32)


@njit(nogil=True, fastmath=True, error_model="numpy", cache=True)
def _add_logarithms(mantissa: np.ndarray, exponent: np.ndarray, totals: np.ndarray) -> None:
    for r in range(len(totals)):
        # log m = 2 artanh((m - 1) / (m + 1)), whose argument is at most 1/3
        s = (mantissa[r] - float32(1)) / (mantissa[r] + float32(1))
        q = s * s
        p = float32(2 / 11)
        p = float32(p * q + float32(2 / 9))
        p = float32(p * q + float32(2 / 7))
        p = float32(p * q + float32(2 / 5))
        p = float32(p * q + float32(2 / 3))
        p = float32(p * q + float32(2))
        totals[r] += p * s + float32(exponent[r]) * float32(0.6931471805599453)


@njit(nogil=True, cache=True)
def _log_partition(
    node: np.ndarray, edge: np.ndarray, order: np.ndarray, active: np.ndarray, totals: np.ndarray
) -> None:
    n_items = len(order)
    after_zero, after_one, ratio, mantissa = np.empty((4, n_items), dtype=np.float32)
    exponent = np.empty(n_items, dtype=np.int32)
    for feature in range(len(node)):
        _odds(node[feature], edge[feature], order, after_zero, after_one)
        ratio[:] = 1
        mantissa[:] = 1
        exponent[:] = 0
        for n in active:
            _grow(after_zero[:n], after_one[:n], ratio[:n], mantissa[:n], exponent[:n])
        _add_logarithms(mantissa, exponent, totals)


# ---- samples -------------------------------------------------------------------------------------------------------
def draw_chains(
    node: np.ndarray, edge: np.ndarray, lengths: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of ones and of neighbouring ones of chains drawn exactly, compressed by column: 2 features, items.

    Each cell's random numbers are hashes of its place, so blocks may be drawn in any order and on any thread.
    """
    n_features, n_items = node.shape
    keys = rng.integers(2**32, size=1 + int(lengths.max(initial=0)), dtype=np.uint32)
    n_blocks = block_count(node.size, _BLOCK_CELLS)
    drawn: list[tuple[np.ndarray, ...]] = [()] * n_blocks

    def task(block: int) -> None:
        first, last = block_bounds(n_features, n_blocks, block)
        flags = scratch("flags", (flag_bytes((last - first) * n_items),), np.uint8)
        indptr, items, ones, pairs = _draw(node[first:last], edge[first:last], lengths, keys, first * n_items, flags)
        drawn[block] = (indptr, items, ones, *drop_zeros(indptr, items, pairs))

    run_blocks(task, n_blocks)
    parts = [part[:3] for part in drawn] + [part[3:] for part in drawn]
    ends = np.cumsum([0] + [len(items) for _, items, _ in parts])
    indptr = np.concatenate([[0], *(part[0][1:] + end for part, end in zip(parts, ends, strict=False))])
    return indptr, np.concatenate([part[1] for part in parts]), np.concatenate([part[2] for part in parts])


@njit(nogil=True, fastmath=True, error_model="numpy", cache=True)
def _flag(
    node: np.ndarray, edge: np.ndarray, lengths: np.ndarray, first_cell: int, key: np.uint32, flags: np.ndarray
) -> None:
    log2_e = float32(1.4426950408889634)
    n_items = len(lengths)
    for feature in range(len(node)):
        base = uint32(first_cell + feature * n_items)
        for r in range(n_items):
            theta = node[feature, r] * log2_e
            begins = least_above_exp2(min(max(theta, float32(-100)), float32(20)))
            goes_on = least_above_exp2(min(max(theta + edge[feature, r] * log2_e, float32(-100)), float32(20)))
            # a run of l ones from a given place on has at most the probability e^{l node + (l - 1) edge}; summed over
            # places and lengths that is below P e^{node} (1 + 2 e^{node + edge}) while the last term is below 1
            bound = lengths[r] * begins * (float32(1) + float32(2) * goes_on)
            u = uniform(uint32(base + uint32(r)), key)
            flags[feature, r] = (u < bound) | (goes_on > float32(0.5))


@njit(nogil=True, cache=True)
def _draw(
    node: np.ndarray, edge: np.ndarray, lengths: np.ndarray, keys: np.ndarray, first_cell: int, padded: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Ones and neighbouring ones of the chains that have any one, by feature."""
    n_features, n_items = node.shape
    padded[node.size :] = 0
    flags = padded[: node.size].reshape(node.shape)
    _flag(node, edge, lengths.astype(np.float32), first_cell, keys[0], flags)
    cells = collect_flagged(padded, node.size)
    indptr = np.zeros(n_features + 1, dtype=np.int64)
    items = np.empty(len(cells), dtype=np.int32)
    ones = np.empty(len(cells), dtype=np.float32)
    pairs = np.empty(len(cells), dtype=np.float32)
    begins, goes_on, some = np.empty((3, len(keys)))
    found = 0
    for cell in cells:
        feature = cell // n_items
        item = cell - feature * n_items
        length = lengths[item]
        _chances(float(node[feature, item]), float(edge[feature, item]), length, begins, goes_on, some)
        number = uint32(uint32(first_cell) + uint32(cell))
        if uniform(number, keys[0]) >= some[length]:
            continue
        n_ones, n_pairs, previous = 0, 0, False
        for m in range(length - 1, -1, -1):
            # there is a one: until it has come, it must be among the positions left
            chance = begins[m] / some[m + 1] if n_ones == 0 else goes_on[m] if previous else begins[m]
            now = uniform(number, keys[1 + m]) < chance
            n_pairs += now and previous
            n_ones += now
            previous = now
        items[found] = item
        ones[found] = n_ones
        pairs[found] = n_pairs
        found += 1
        indptr[feature + 1] = found
    for feature in range(n_features):
        indptr[feature + 1] = max(indptr[feature + 1], indptr[feature])
    return indptr, items[:found], ones[:found], pairs[:found]


@njit(nogil=True, cache=True)
def _chances(node: float, edge: float, length: int, begins: np.ndarray, goes_on: np.ndarray, some: np.ndarray) -> None:
    """With m positions to come: chance of a one after a zero and after a one; of any one among m, after a zero."""
    after_zero, after_one, ratio = np.exp(node), np.exp(node + edge), 1.0
    some[0] = 0.0
    for m in range(length):
        x, y = after_zero * ratio, after_one * ratio
        begins[m] = x / (1.0 + x)
        goes_on[m] = y / (1.0 + y)
        some[m + 1] = begins[m] + (1.0 - begins[m]) * some[m]
        ratio = (1.0 + y) / (1.0 + x)


# ---- counts --------------------------------------------------------------------------------------------------------
@njit(nogil=True, cache=True)
def count_chains(
    indptr: np.ndarray, indices: np.ndarray, offsets: np.ndarray, n_features: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of ones and of neighbouring ones of each item, compressed by row: items, 2 features.

    Item i is the rows ``offsets[i]`` to ``offsets[i + 1]`` of a compressed-row matrix whose stored values are ones.
    """
    n_items = len(offsets) - 1
    start = np.zeros(n_items + 1, dtype=np.int64)
    columns = np.empty(2 * len(indices), dtype=np.int32)
    values = np.empty(2 * len(indices), dtype=np.float32)
    ones = np.zeros(n_features, dtype=np.int32)
    pairs = np.zeros(n_features, dtype=np.int32)
    last = np.full(n_features, -1, dtype=np.int64)
    found = 0
    for item in range(n_items):
        first = found
        for row in range(offsets[item], offsets[item + 1]):
            for entry in range(indptr[row], indptr[row + 1]):
                feature = indices[entry]
                if ones[feature] == 0:
                    columns[found] = feature
                    found += 1
                elif last[feature] == row - 1:
                    pairs[feature] += 1
                ones[feature] += 1
                last[feature] = row
        for place in range(first, found):
            feature = columns[place]
            values[place] = ones[feature]
            if pairs[feature]:
                columns[found] = n_features + feature
                values[found] = pairs[feature]
                found += 1
            ones[feature] = 0
            pairs[feature] = 0
        start[item + 1] = found
    return start, columns[:found].copy(), values[:found].copy()
