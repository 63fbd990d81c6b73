"""Exact sums, samples and modes of binary variables on graphs of small width, by elimination (see `plan`).

A row has the log-weight Σ node_i x_i + Σ edge_ij x_i x_j. Node parameters beyond ±`CLAMPED` say that a variable is
known: then it is 1 or 0 for sure, and adds no weight of its own. Everything is done in float64.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from harmonium.kernels.graphs.plan import Plan
from harmonium.kernels.runtime.jit import jit
from harmonium.kernels.runtime.threads import block_bounds, block_count, run_blocks

#: node parameters beyond which a variable is known; no parameter that is learned comes near
CLAMPED = 1e5
# steps times states of a block, enough to make handing it to a thread cheap
_BLOCK_STATES = 2_000_000


def log_partition_and_means(
    node: np.ndarray, edge: np.ndarray, plan: Plan
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the log-partition of each row, means of nodes, and means of products along edges.

    Parameters
    ----------
    node : ndarray of float64 of shape (rows, nodes)
        Parameters of single variables.
    edge : ndarray of float64 of shape (rows, edges)
        Parameters of products.
    plan : Plan
        The graph.

    Returns
    -------
    log_partition : ndarray of shape (rows,)
        Logarithms of sums over all states.
    means : ndarray of shape (rows, nodes)
        Probabilities of ones.
    products : ndarray of shape (rows, edges)
        Probabilities that both ends are one.

    Examples
    --------
    >>> from harmonium.kernels.graphs.plan import plan_of
    >>> plan = plan_of(np.array([[0, 1]]), 2)
    >>> total, means, products = log_partition_and_means(np.zeros((1, 2)), np.zeros((1, 1)), plan)
    >>> total.round(3).tolist(), means.tolist(), products.tolist()
    ([1.386], [[0.5, 0.5]], [[0.25]])
    """
    totals, means, products = np.zeros(len(node)), np.empty(node.shape), np.zeros(edge.shape)

    def task(first: int, last: int) -> None:
        _sum_rows(
            node[first:last], edge[first:last], *_of(plan), totals[first:last], means[first:last], products[first:last]
        )

    _run(task, node, plan)
    return totals, means, products


def draw(node: np.ndarray, edge: np.ndarray, plan: Plan, uniforms: np.ndarray | None) -> np.ndarray:
    """Return a sample of each row, from one uniform number for each variable, or its mode if there are none."""
    result = np.zeros(node.shape)
    numbers = np.empty((len(node), 0)) if uniforms is None else uniforms

    def task(first: int, last: int) -> None:
        _draw_rows(node[first:last], edge[first:last], *_of(plan), numbers[first:last], result[first:last])

    _run(task, node, plan)
    return result


def _of(plan: Plan) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, np.ndarray, np.ndarray, np.ndarray]:
    return plan.order, plan.slots, plan.leaving, plan.width, plan.starts, plan.neighbours, plan.by_edge


def _run(task: Callable[[int, int], None], node: np.ndarray, plan: Plan) -> None:
    n_rows = len(node)
    n_blocks = min(block_count(node.size << plan.width, _BLOCK_STATES), max(1, n_rows))
    run_blocks(lambda block: task(*block_bounds(n_rows, n_blocks, block)), n_blocks)


@jit()
def _times(order):  # type: ignore[no-untyped-def]
    """Return the step in which each node is taken in."""
    time = np.empty(len(order), dtype=np.int64)
    for t in range(len(order)):
        time[order[t]] = t
    return time


@jit()
def _forward(  # type: ignore[no-untyped-def]
    node, edge, order, slots, leaving, width, starts, neighbours, by_edge, is_mode, after, factors, shift
):
    """Fill in the weights of all states after each node is taken in, scaled to sum (or peak) 1; return the log of all.

    ``factors[t, s]`` is the weight of a one at step t next to the state s of the frontier, ``shift[t]`` that of a zero.
    """
    n_states = 1 << width
    before = np.zeros(n_states)
    before[0] = 1.0
    coupling = np.zeros(width)
    time = _times(order)
    total = 0.0
    for t in range(len(order)):
        i = order[t]
        coupling[:] = 0.0
        known_one, known_zero = node[i] >= CLAMPED, node[i] <= -CLAMPED
        weight = 0.0 if known_one else node[i]
        largest = weight
        for k in range(starts[i], starts[i + 1]):
            other = neighbours[k]
            if time[other] < t:
                coupling[slots[other]] += edge[by_edge[k]]
                largest += max(edge[by_edge[k]], 0.0)
        if not known_one:
            largest = max(largest, 0.0)
        factors[t, 0] = 0.0 if known_zero else np.exp(weight - largest)
        for s in range(1, n_states):
            low = 0
            while not (s >> low) & 1:
                low += 1
            factors[t, s] = factors[t, s & (s - 1)] * np.exp(coupling[low])
        shift[t] = 0.0 if known_one else np.exp(-largest)
        bit = 1 << slots[i]
        scale = 0.0
        for s in range(n_states):
            value = before[s ^ bit] * factors[t, s ^ bit] if s & bit else before[s] * shift[t]
            after[t, s] = value
            scale = max(scale, value) if is_mode else scale + value
        total += np.log(scale) + largest
        before[:] = 0.0
        for s in range(n_states):
            after[t, s] /= scale
            stay = s & ~leaving[t]
            before[stay] = max(before[stay], after[t, s]) if is_mode else before[stay] + after[t, s]
    return total


@jit()
def _sum_rows(  # type: ignore[no-untyped-def]
    node, edge, order, slots, leaving, width, starts, neighbours, by_edge, totals, means, products
):
    """Fill in log-partitions, means of nodes and means of products of all rows."""
    n_nodes, n_states = len(order), 1 << width
    after, factors = np.empty((n_nodes, n_states)), np.empty((n_nodes, n_states))
    shift, back, here = np.empty(n_nodes), np.empty(n_states), np.empty(n_states)
    time = _times(order)
    for row in range(len(node)):
        tables = (after, factors, shift)
        graph = (order, slots, leaving, width, starts, neighbours, by_edge)
        totals[row] = _forward(node[row], edge[row], *graph, False, *tables)
        back[:] = 1.0
        for t in range(n_nodes - 1, -1, -1):
            i = order[t]
            bit = 1 << slots[i]
            total, one = 0.0, 0.0
            for s in range(n_states):
                here[s] = back[s & ~leaving[t]]
                value = after[t, s] * here[s]
                total += value
                if s & bit:
                    one += value
            means[row, i] = one / total
            for k in range(starts[i], starts[i + 1]):
                if time[neighbours[k]] < t:
                    both = bit | (1 << slots[neighbours[k]])
                    value = 0.0
                    for s in range(n_states):
                        if s & both == both:
                            value += after[t, s] * here[s]
                    products[row, by_edge[k]] = value / total
            for s in range(n_states):
                back[s] = 0.0 if s & bit else shift[t] * here[s] + factors[t, s] * here[s | bit]
            # the same factor for all states keeps numbers near 1
            back /= back.max()


@jit()
def _draw_rows(  # type: ignore[no-untyped-def]
    node, edge, order, slots, leaving, width, starts, neighbours, by_edge, uniforms, result
):
    """Fill in a sample of each row, or its mode if there are no uniform numbers."""
    n_nodes, n_states = len(order), 1 << width
    after, factors = np.empty((n_nodes, n_states)), np.empty((n_nodes, n_states))
    shift = np.empty(n_nodes)
    is_mode = uniforms.shape[1] == 0
    for row in range(len(node)):
        tables = (after, factors, shift)
        graph = (order, slots, leaving, width, starts, neighbours, by_edge)
        _forward(node[row], edge[row], *graph, is_mode, *tables)
        state = 0
        for t in range(n_nodes - 1, -1, -1):
            mask = leaving[t]
            total, best, chosen = 0.0, -1.0, state
            for s in range(n_states):
                if s & ~mask == state:
                    total += after[t, s]
                    if after[t, s] > best:
                        best, chosen = after[t, s], s
            if not is_mode:
                left = uniforms[row, t] * total
                for s in range(n_states):
                    if s & ~mask == state and after[t, s] > 0.0:
                        chosen = s
                        left -= after[t, s]
                        if left < 0.0:
                            break
            bit = 1 << slots[order[t]]
            result[row, order[t]] = 1.0 if chosen & bit else 0.0
            state = chosen & ~bit
