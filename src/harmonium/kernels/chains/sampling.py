"""Exact samples of binary chains (`forward_backward`), most of which have no ones at all.

The random numbers of a cell are hashes of its position (`counter_rng`). A chain can have a one only if its first
number is below a cheap upper bound of that probability; the few candidates are then decided exactly, one position after
the other.
"""

from __future__ import annotations

import numpy as np
from numpy import float32, uint32

from harmonium.kernels.chains.forward_backward import MAX_NATURAL
from harmonium.kernels.elementwise import exp2_float32, exp2_upper_bound
from harmonium.kernels.runtime.jit import jit
from harmonium.kernels.runtime.threads import block_bounds, block_count, run_blocks, scratch
from harmonium.kernels.sampling.candidates import collect_flagged, flag_bytes
from harmonium.kernels.sampling.counter_rng import uniform
from harmonium.kernels.sparse.csr import CSCArrays, SparseRows, eliminate_zeros

# cells in a block: enough to make handing it to a thread cheap, few enough for its flags to stay in the cache
_BLOCK_CELLS = 50_000


def draw_chains(node: np.ndarray, edge: np.ndarray, lengths: np.ndarray, rng: np.random.Generator) -> SparseRows:
    """Draw chains exactly and return their numbers of ones and of neighbouring ones, (items, 2 × features)."""
    n_features, n_items = node.shape
    keys = chain_keys(lengths, rng)
    nothing = np.zeros(n_features, dtype=np.float32)
    n_blocks = block_count(node.size, _BLOCK_CELLS)
    drawn: list[tuple[CSCArrays, CSCArrays]] = [None] * n_blocks  # type: ignore[list-item]

    def task(block: int) -> None:
        first, last = block_bounds(n_features, n_blocks, block)
        part = slice(first, last)
        flags = scratch("flags", (flag_bytes((last - first) * n_items),), np.uint8)
        drawn[block] = _draw(
            node[part], edge[part], nothing[part], nothing[part], lengths, keys, first * n_items, flags
        )

    run_blocks(task, n_blocks)
    # all ones first, then all neighbouring ones
    return SparseRows.from_column_blocks([ones for ones, _ in drawn] + [pairs for _, pairs in drawn], n_items)


def chain_keys(lengths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the keys of a draw; each random number is a hash of its cell and of the key of its position.

    So blocks may be drawn in any order and on any thread.
    """
    return rng.integers(2**32, size=1 + int(lengths.max(initial=0)), dtype=np.uint32)


@jit()
def draw_chains_from_hidden(
    weights: tuple[np.ndarray, np.ndarray],
    bias: tuple[np.ndarray, np.ndarray],
    hidden_by_unit: np.ndarray,
    lengths: np.ndarray,
    keys: np.ndarray,
    first_cell: int,
    natural: np.ndarray,
    padded: np.ndarray,
) -> tuple[CSCArrays, CSCArrays]:
    """Draw chains whose naturals, of nodes and of edges, are weights @ hidden^T + bias.

    This is one kernel, because each return to the interpreter may have to wait for another thread. ``natural``, of
    shape (2, features, items), and ``padded`` are scratch memory.
    """
    np.dot(weights[0], hidden_by_unit, natural[0])
    np.dot(weights[1], hidden_by_unit, natural[1])
    return _draw(natural[0], natural[1], bias[0], bias[1], lengths, keys, first_cell, padded)


@jit(fastmath=True, error_model="numpy")
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
            begins = exp2_upper_bound(min(max(x, float32(-100)), float32(20)))
            goes_on = exp2_upper_bound(min(max(y, float32(-100)), float32(20)))
            # a run of l ones that begins at a given position has at most the probability e^{l node + (l - 1) edge}; the
            # sum over P positions and all l is below P e^{node} (1 + 2 e^{node + edge}) while e^{node + edge} <= 1/2
            bound = lengths[r] * begins * (float32(1) + float32(2) * goes_on)
            u = uniform(uint32(base + uint32(r)), key)
            flags[feature, r] = (u < bound) | (goes_on > float32(0.5))


@jit()
def _draw(
    node: np.ndarray,
    edge: np.ndarray,
    node_bias: np.ndarray,
    edge_bias: np.ndarray,
    lengths: np.ndarray,
    keys: np.ndarray,
    first_cell: int,
    padded: np.ndarray,
) -> tuple[CSCArrays, CSCArrays]:
    """Return ones and neighbouring ones by feature, of the chains that have any; the others are skipped."""
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
    entry = n_found = 0
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
                if n_ones == 0:  # there is a one somewhere, so it is among the positions left
                    now = u * some[m + 1] < begins[m]
                elif previous:
                    now = u * (float32(1) + odds[m]) < odds[m]
                else:
                    now = u < begins[m]
                n_pairs += now and previous
                n_ones += now
                previous = now
            items[n_found] = item
            ones[n_found] = n_ones
            pairs[n_found] = n_pairs
            n_found += 1
        indptr[feature + 1] = n_found
    return (indptr, items[:n_found], ones[:n_found]), eliminate_zeros(indptr, items[:n_found], pairs[:n_found])


@jit(error_model="numpy")
def _chances(
    node: np.float32, edge: np.float32, length: int, begins: np.ndarray, odds: np.ndarray, some: np.ndarray
) -> None:
    """Fill in, for m positions to come: chance of a one after a zero, odds after a one, chance of any one."""
    log2_e = float32(1.4426950408889634)
    # beyond the limit, chances are 0 or 1 within the precision of the random numbers
    node = min(max(node, -float32(MAX_NATURAL)), float32(MAX_NATURAL))
    edge = min(max(edge, -float32(MAX_NATURAL)), float32(MAX_NATURAL))
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
