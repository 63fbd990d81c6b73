"""Sums over binary chains, for all features and items at once: means, log-partition, samples, counts.

A chain x_1 … x_P of zeros and ones has the log-weight node·Σ x_p + edge·Σ x_p x_{p+1}. Everything follows from one
number a position: ρ_m, how many times more weight m further positions have after a one than after a zero,

    ρ_0 = 1,   ρ_{m+1} = (1 + e^{node + edge} ρ_m) / (1 + e^{node} ρ_m).

With m positions still to come, a one follows a zero with log-odds node + log ρ_m and a one with edge more; the
partition function is Π_m (1 + e^{node} ρ_m). All terms are positive: small means are as precise as large ones.

Arrays are (features, items). Single precision takes kernels that go over some features of all items position by
position, longest item first: those that are long enough stand together, and the loops vectorise. Other types take plain
NumPy.
"""

from __future__ import annotations

import numpy as np
from numba import float32, int32, njit, uint32
from scipy.special import expit

from harmonium.kernels.elementwise import exp2_float32, softplus
from harmonium.kernels.sampling import collect_flagged, drop_zeros, flag_bytes, least_above_exp2, uniform
from harmonium.kernels.sparse import Columns, SparseRows
from harmonium.kernels.threads import block_bounds, block_count, run_blocks, scratch

#: naturals up to which the kernels of single precision neither overflow nor meet denormal numbers
LIMIT = 25.0
_BLOCK_CELLS = 50_000
_TILE_CELLS = 20_000


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
        total = np.zeros(len(lengths))
        for m, message in enumerate(_messages(node, edge, lengths)):
            total += np.where(lengths > m, softplus(node + message), 0).sum(axis=0, dtype=np.float64)
        return total
    order, active = _longest_first(lengths)
    n_blocks = block_count(node.size, _BLOCK_CELLS)
    totals = np.zeros((n_blocks, len(lengths)))

    def task(block: int) -> None:
        part = slice(*block_bounds(len(node), n_blocks, block))
        _log_partition(node[part], edge[part], order, active, totals[block])

    run_blocks(task, n_blocks)
    return totals.sum(axis=0)


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
def _exponentials(node: np.ndarray, edge: np.ndarray) -> None:
    log2_e = float32(1.4426950408889634)
    for cell in range(len(node)):
        theta = node[cell] * log2_e
        node[cell] = exp2_float32(theta)
        edge[cell] = exp2_float32(theta + edge[cell] * log2_e)


@njit(nogil=True, cache=True)
def _load(node: np.ndarray, edge: np.ndarray, order: np.ndarray, after_zero: np.ndarray, after_one: np.ndarray) -> None:
    """Odds of a one where nothing follows, for some features: cells in the order of items, features side by side."""
    cell = 0
    for item in order:
        for feature in range(len(node)):
            after_zero[cell] = node[feature, item]
            after_one[cell] = edge[feature, item]
            cell += 1
    _exponentials(after_zero[:cell], after_one[:cell])


# functions of their own with few arrays each: the compiler vectorises a loop only if it needs few checks that none of
# its arrays overlap
@njit(nogil=True, fastmath=True, error_model="numpy", cache=True)
def _backward(after_zero: np.ndarray, after_one: np.ndarray, ratio: np.ndarray, following: np.ndarray) -> None:
    for cell in range(len(following)):
        following[cell] = (float32(1) + after_one[cell] * ratio[cell]) / (float32(1) + after_zero[cell] * ratio[cell])


@njit(nogil=True, fastmath=True, error_model="numpy", cache=True)
def _forward(
    after_zero: np.ndarray, after_one: np.ndarray, ratio: np.ndarray, one: np.ndarray, both: np.ndarray
) -> None:
    for cell in range(len(one)):
        x, y = after_zero[cell] * ratio[cell], after_one[cell] * ratio[cell]
        pair = one[cell] * (y / (float32(1) + y))
        one[cell] = pair + (float32(1) - one[cell]) * (x / (float32(1) + x))
        both[cell] = pair


@njit(nogil=True, fastmath=True, error_model="numpy", cache=True)
def _add(value: np.ndarray, total: np.ndarray) -> None:
    for cell in range(len(value)):
        total[cell] += value[cell]


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
    width = _tile_width(n_items, len(active))
    memory = np.empty((6, width * n_items), dtype=np.float32)
    # taken one by one, as arrays that are unpacked do not count as contiguous
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


@njit(nogil=True, fastmath=True, error_model="numpy", cache=True)
def _grow(after_zero: np.ndarray, after_one: np.ndarray, ratio: np.ndarray, growth: np.ndarray) -> None:
    for cell in range(len(ratio)):
        growth[cell] = float32(1) + after_zero[cell] * ratio[cell]
        ratio[cell] = (float32(1) + after_one[cell] * ratio[cell]) / growth[cell]


@njit(nogil=True, fastmath=True, error_model="numpy", cache=True)
def _multiply(growth: np.ndarray, mantissa: np.ndarray, exponent: np.ndarray) -> None:
    # products are kept as mantissa and exponent: one logarithm a cell, and no overflow
    for cell in range(len(growth)):
        bits = np.float32(mantissa[cell] * growth[cell]).view(np.int32)
        exponent[cell] += (bits >> int32(23)) - int32(127)
        mantissa[cell] = np.int32((bits & int32(0x7FFFFF)) | int32(0x3F800000)).view(np.float32)


@njit(nogil=True, fastmath=True, error_model="numpy", cache=True)
def _logarithms(mantissa: np.ndarray, exponent: np.ndarray) -> None:
    for cell in range(len(mantissa)):
        # log m = 2 artanh((m - 1) / (m + 1)), whose argument is at most 1/3
        s = (mantissa[cell] - float32(1)) / (mantissa[cell] + float32(1))
        q = s * s
        p = float32(2 / 11)
        p = float32(p * q + float32(2 / 9))
        p = float32(p * q + float32(2 / 7))
        p = float32(p * q + float32(2 / 5))
        p = float32(p * q + float32(2 / 3))
        p = float32(p * q + float32(2))
        mantissa[cell] = p * s + float32(exponent[cell]) * float32(0.6931471805599453)


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def _tile_width(n_items: int, n_positions: int) -> int:
    """Number of features that are gone over together: what is kept of them stays in the cache."""
    return max(1, _TILE_CELLS // (n_items * n_positions + 1))


# ---- samples -------------------------------------------------------------------------------------------------------
def draw_chains(node: np.ndarray, edge: np.ndarray, lengths: np.ndarray, rng: np.random.Generator) -> SparseRows:
    """Numbers of ones and of neighbouring ones of chains drawn exactly, (items, 2 features)."""
    n_features, n_items = node.shape
    keys = chain_keys(lengths, rng)
    nothing = np.zeros(n_features, dtype=np.float32)
    n_blocks = block_count(node.size, _BLOCK_CELLS)
    drawn: list[tuple[Columns, Columns]] = [None] * n_blocks  # type: ignore[list-item]

    def task(block: int) -> None:
        first, last = block_bounds(n_features, n_blocks, block)
        part = slice(first, last)
        flags = scratch("flags", (flag_bytes((last - first) * n_items),), np.uint8)
        drawn[block] = _draw(
            node[part], edge[part], nothing[part], nothing[part], lengths, keys, first * n_items, flags
        )

    run_blocks(task, n_blocks)
    return chains_of_blocks(drawn, n_items)


def chain_keys(lengths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """What the random numbers of a draw are made from: each is a hash of its cell and of the key of its position.

    So blocks may be drawn in any order and on any thread.
    """
    return rng.integers(2**32, size=1 + int(lengths.max(initial=0)), dtype=np.uint32)


def chains_of_blocks(drawn: list[tuple[Columns, Columns]], n_items: int) -> SparseRows:
    """Blocks of ones and of neighbouring ones, by feature, as one matrix: first all ones, then all neighbours."""
    return SparseRows.from_column_blocks([ones for ones, _ in drawn] + [pairs for _, pairs in drawn], n_items)


@njit(nogil=True, cache=True)
def sampled_chains(
    weights: tuple[np.ndarray, np.ndarray],
    bias: tuple[np.ndarray, np.ndarray],
    hidden_by_unit: np.ndarray,
    lengths: np.ndarray,
    keys: np.ndarray,
    first_cell: int,
    natural: np.ndarray,
    padded: np.ndarray,
) -> tuple[Columns, Columns]:
    """Ones and neighbouring ones of chains with the naturals weights @ hidden^T + bias of nodes and of edges.

    In one kernel, as each return to the interpreter may have to wait for another thread's turn; ``natural`` (2,
    features, items) and ``padded`` are scratch memory.
    """
    np.dot(weights[0], hidden_by_unit, natural[0])
    np.dot(weights[1], hidden_by_unit, natural[1])
    return _draw(natural[0], natural[1], bias[0], bias[1], lengths, keys, first_cell, padded)


@njit(nogil=True, fastmath=True, error_model="numpy", cache=True)
def _flag(
    node: np.ndarray,
    edge: np.ndarray,
    node_bias: np.ndarray,
    edge_bias: np.ndarray,
    lengths: np.ndarray,
    first_cell: int,
    key: np.uint32,
    flags: np.ndarray,
) -> None:
    log2_e = float32(1.4426950408889634)
    for feature in range(len(node)):
        base = uint32(first_cell + feature * len(lengths))
        begin, go_on = node_bias[feature] * log2_e, (node_bias[feature] + edge_bias[feature]) * log2_e
        for r in range(len(lengths)):
            x = node[feature, r] * log2_e + begin
            y = (node[feature, r] + edge[feature, r]) * log2_e + go_on
            begins = least_above_exp2(min(max(x, float32(-100)), float32(20)))
            goes_on = least_above_exp2(min(max(y, float32(-100)), float32(20)))
            # a run of l ones from a given place on has at most the probability e^{l node + (l - 1) edge}; summed over
            # places and lengths that is below P e^{node} (1 + 2 e^{node + edge}) while the last term is below 1
            bound = lengths[r] * begins * (float32(1) + float32(2) * goes_on)
            u = uniform(uint32(base + uint32(r)), key)
            flags[feature, r] = (u < bound) | (goes_on > float32(0.5))


@njit(nogil=True, cache=True)
def _draw(
    node: np.ndarray,
    edge: np.ndarray,
    node_bias: np.ndarray,
    edge_bias: np.ndarray,
    lengths: np.ndarray,
    keys: np.ndarray,
    first_cell: int,
    padded: np.ndarray,
) -> tuple[Columns, Columns]:
    """Ones and neighbouring ones of the chains that have any, by feature; most have none and are not looked at."""
    n_features, n_items = node.shape
    padded[node.size :] = 0
    flags = padded[: node.size].reshape(node.shape)
    _flag(node, edge, node_bias, edge_bias, lengths.astype(np.float32), first_cell, keys[0], flags)
    cells = collect_flagged(padded, node.size)
    indptr = np.zeros(n_features + 1, dtype=np.int64)
    items = np.empty(len(cells), dtype=np.int32)
    ones = np.empty(len(cells), dtype=np.float32)
    pairs = np.empty(len(cells), dtype=np.float32)
    memory = np.empty((3, len(keys)), dtype=np.float32)
    begins, odds, some = memory[0], memory[1], memory[2]
    entry = found = 0
    for feature in range(n_features):
        start = feature * n_items
        while entry < len(cells) and cells[entry] < start + n_items:
            item = cells[entry] - start
            number = uint32(uint32(first_cell) + uint32(cells[entry]))
            entry += 1
            length = lengths[item]
            natural = node[feature, item] + node_bias[feature]
            _chances(natural, edge[feature, item] + edge_bias[feature], length, begins, odds, some)
            if uniform(number, keys[0]) >= some[length]:
                continue
            n_ones, n_pairs, previous = 0, 0, False
            for m in range(length - 1, -1, -1):
                u = uniform(number, keys[1 + m])
                if n_ones == 0:  # there is a one, and it must be among the positions left
                    now = u * some[m + 1] < begins[m]
                elif previous:
                    now = u * (float32(1) + odds[m]) < odds[m]
                else:
                    now = u < begins[m]
                n_pairs += now and previous
                n_ones += now
                previous = now
            items[found] = item
            ones[found] = n_ones
            pairs[found] = n_pairs
            found += 1
        indptr[feature + 1] = found
    return (indptr, items[:found], ones[:found]), drop_zeros(indptr, items[:found], pairs[:found])


@njit(nogil=True, error_model="numpy", cache=True)
def _chances(
    node: np.float32, edge: np.float32, length: int, begins: np.ndarray, odds: np.ndarray, some: np.ndarray
) -> None:
    """With m positions to come: chance of a one after a zero, odds after a one; chance of any one in m after a zero."""
    log2_e = float32(1.4426950408889634)
    # beyond the limit, chances are 0 or 1 to the precision of the random numbers
    node = min(max(node, -float32(LIMIT)), float32(LIMIT))
    edge = min(max(edge, -float32(LIMIT)), float32(LIMIT))
    after_zero, after_one = exp2_float32(node * log2_e), exp2_float32((node + edge) * log2_e)
    ratio = float32(1)
    some[0] = 0
    for m in range(length):
        x, y = after_zero * ratio, after_one * ratio
        inverse = float32(1) / (float32(1) + x)
        begins[m] = x * inverse
        odds[m] = y
        some[m + 1] = begins[m] + inverse * some[m]
        ratio = (float32(1) + y) * inverse


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


@njit(nogil=True, cache=True)
def arrange_chains(
    items: np.ndarray,
    features: np.ndarray,
    ones: np.ndarray,
    pairs: np.ndarray,
    lengths: np.ndarray,
    offsets: np.ndarray,
    random: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the ones of random sequences with given counts, cell by cell.

    The ones make runs: which neighbouring ones are joined, and between which zeros runs stand, are uniform subsets,
    drawn one element after the other with ``random`` (cells, 1 + largest length).
    """
    total = int(ones.sum())
    rows = np.empty(total, dtype=np.int64)
    columns = np.empty(total, dtype=np.int64)
    found = 0
    for cell in range(len(items)):
        n_ones, joins, length = int(ones[cell]), int(pairs[cell]), lengths[items[cell]]
        runs, gaps = n_ones - joins, length - n_ones + 1
        row, drawn, left = offsets[items[cell]], 0, n_ones
        for gap in range(gaps):
            begins = random[cell, drawn] * (gaps - gap) < runs
            drawn += 1
            runs -= begins
            while begins:
                rows[found] = row
                columns[found] = features[cell]
                found += 1
                row += 1
                left -= 1
                if left == 0 or random[cell, drawn] * left >= joins:
                    drawn += left > 0
                    break
                drawn += 1
                joins -= 1
            row += 1
    return rows, columns
