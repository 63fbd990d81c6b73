"""Exact sums, samples and modes of variables with a few states on graphs of small width, by elimination (see `plan`).

A row has the log-weight Σ node_i(x_i) + Σ edge_ij(x_i, x_j). Node potentials beyond ±`CLAMPED` say that a variable is
known to have a state or not to have it: a state that it has for sure adds no weight of its own. Everything is done in
float64.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from harmonium.kernels.graphs.plan import Plan
from harmonium.kernels.runtime.jit import inline, jit
from harmonium.kernels.runtime.threads import block_bounds, block_count, run_blocks

#: node potentials beyond which a state is certain or ruled out; no parameter that is learned comes near
CLAMPED = 1e5
# steps times states of a block, enough to make handing it to a thread cheap
_BLOCK_STATES = 2_000_000


def log_partition_and_means(
    node: np.ndarray, edge: np.ndarray, plan: Plan
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the log-partition of each row, and probabilities of states of nodes and of pairs of states of edges.

    Parameters
    ----------
    node : ndarray of float64 of shape (rows, cells of nodes)
        Potentials of single variables.
    edge : ndarray of float64 of shape (rows, cells of edges)
        Potentials of pairs.
    plan : Plan
        The graph.

    Returns
    -------
    log_partition : ndarray of shape (rows,)
        Logarithms of sums over all states.
    singles : ndarray of shape (rows, cells of nodes)
        Probabilities of states.
    pairs : ndarray of shape (rows, cells of edges)
        Probabilities of pairs of states.

    Examples
    --------
    >>> from harmonium.kernels.graphs.plan import plan_of
    >>> plan = plan_of(np.array([[0, 1]]), 2)
    >>> total, singles, pairs = log_partition_and_means(np.zeros((1, 4)), np.zeros((1, 4)), plan)
    >>> total.round(3).tolist(), singles.tolist(), pairs.tolist()
    ([1.386], [[0.5, 0.5, 0.5, 0.5]], [[0.25, 0.25, 0.25, 0.25]])
    """
    steps = plan.elimination
    assert steps is not None
    totals, singles, pairs = np.zeros(len(node)), np.zeros(node.shape), np.zeros(edge.shape)
    node, cells = unclamped(node, plan), (plan.node_cells, plan.edge_cells)

    def task(first: int, last: int) -> None:
        rows = slice(first, last)
        _sum_rows(node[rows], edge[rows], *cells, *steps, totals[rows], singles[rows], pairs[rows])

    _run(task, node, plan)
    return totals, singles, pairs


def draw(node: np.ndarray, edge: np.ndarray, plan: Plan, uniforms: np.ndarray | None) -> np.ndarray:
    """Return a sample of each row, from one uniform number for each variable, or its mode if there are none.

    Samples are numbers of states, of shape (rows, nodes).
    """
    steps = plan.elimination
    assert steps is not None
    node, cells = unclamped(node, plan), (plan.node_cells, plan.edge_cells)
    result = np.zeros((len(node), len(plan.sizes)))
    numbers = np.empty((len(node), 0)) if uniforms is None else uniforms

    def task(first: int, last: int) -> None:
        rows = slice(first, last)
        _draw_rows(node[rows], edge[rows], *cells, *steps, numbers[rows], result[rows])

    _run(task, node, plan)
    return result


def unclamped(node: np.ndarray, plan: Plan) -> np.ndarray:
    """Return potentials in which certain states weigh nothing, and the other states of their nodes are ruled out."""
    certain = node >= CLAMPED
    if not certain.any():
        return node
    decided = np.repeat(np.logical_or.reduceat(certain, plan.node_cells[:-1], axis=1), plan.sizes, axis=1)
    return np.where(certain, 0.0, np.where(decided, -10 * CLAMPED, node))


def _run(task: Callable[[int, int], None], node: np.ndarray, plan: Plan) -> None:
    n_rows = len(node)
    n_cells = n_rows * len(plan.sizes) * int(plan.n_states)
    n_blocks = min(block_count(n_cells, _BLOCK_STATES), max(1, n_rows))
    run_blocks(lambda block: task(*block_bounds(n_rows, n_blocks, block)), n_blocks)


@inline
def _exponentials(potentials, row, cells, result):  # type: ignore[no-untyped-def]
    """Fill in e to the power of potentials, at most 1; return the logarithm of what they were divided by for that."""
    total = 0.0
    for i in range(len(cells) - 1):
        largest = potentials[row, cells[i]]
        for c in range(cells[i] + 1, cells[i + 1]):
            largest = max(largest, potentials[row, c])
        total += largest
        last, power = 0.0, 1.0
        for c in range(cells[i], cells[i + 1]):
            away = potentials[row, c] - largest
            if away != last:  # many are the same
                last, power = away, np.exp(away)
            result[c] = power
    return total


@inline
def _forward(  # type: ignore[no-untyped-def]
    nodes, edges, own, without, after, link_starts, links, is_mode, before, weights, factors
):
    """Fill in the weights of all states once each node is taken in, up to a scale for each; return the log of all.

    ``factors[t]`` is what the node of step t brings to each state.
    """
    n_steps, n_states = own.shape
    before[:] = 0.0
    before[0] = 1.0
    total = 0.0
    for t in range(n_steps):
        for s in range(n_states):
            factors[t, s] = nodes[own[t, s]]
        for k in range(link_starts[t], link_starts[t + 1]):
            for s in range(n_states):
                factors[t, s] *= edges[links[k, s]]
        scale = 0.0
        for s in range(n_states):
            weights[t, s] = before[without[t, s]] * factors[t, s]
            scale = max(scale, weights[t, s]) if is_mode else scale + weights[t, s]
        total += np.log(scale)
        scale = 1.0 / scale
        for s in range(n_states):
            before[s] = 0.0
        for s in range(n_states):
            weights[t, s] *= scale
            to = after[t, s]
            before[to] = max(before[to], weights[t, s]) if is_mode else before[to] + weights[t, s]
    return total


@jit(error_model="numpy")
def _sum_rows(  # type: ignore[no-untyped-def]
    node, edge, node_cells, edge_cells, order, own, without, after, link_starts, links, totals, singles, pairs
):
    """Fill in log-partitions, probabilities of states and of pairs of states of all rows."""
    n_steps, n_states = own.shape
    weights, factors = np.empty((n_steps, n_states)), np.empty((n_steps, n_states))
    before, back, here = np.empty(n_states), np.empty(n_states), np.empty(n_states)
    # states that a node does not have weigh nothing
    nodes, edges, of_nodes = np.zeros(node.shape[1] + 1), np.empty(edge.shape[1]), np.empty(node.shape[1] + 1)
    for row in range(len(node)):
        totals[row] = _exponentials(node, row, node_cells, nodes) + _exponentials(edge, row, edge_cells, edges)
        totals[row] += _forward(nodes, edges, own, without, after, link_starts, links, False, before, weights, factors)
        back[:] = 1.0
        of_nodes[:] = 0.0
        for t in range(n_steps - 1, -1, -1):
            # what follows is the same for all states of slots that are summed out
            total = 0.0
            for s in range(n_states):
                here[s] = back[after[t, s]]
                weights[t, s] *= here[s]
                total += weights[t, s]
            total = 1.0 / total
            for s in range(n_states):
                weights[t, s] *= total
                of_nodes[own[t, s]] += weights[t, s]
            for k in range(link_starts[t], link_starts[t + 1]):
                for s in range(n_states):
                    pairs[row, links[k, s]] += weights[t, s]
            back[:] = 0.0
            largest = 0.0
            for s in range(n_states):
                to = without[t, s]
                back[to] += here[s] * factors[t, s]
                largest = max(largest, back[to])
            # the same factor for all states keeps numbers near 1
            largest = 1.0 / largest
            for s in range(n_states):
                back[s] *= largest
        for c in range(singles.shape[1]):
            singles[row, c] = of_nodes[c]


@jit(error_model="numpy")
def _draw_rows(  # type: ignore[no-untyped-def]
    node, edge, node_cells, edge_cells, order, own, without, after, link_starts, links, uniforms, result
):
    """Fill in a sample of each row, or its mode if there are no uniform numbers."""
    n_steps, n_states = own.shape
    weights, factors, before = np.empty((n_steps, n_states)), np.empty((n_steps, n_states)), np.empty(n_states)
    nodes, edges, is_mode = np.zeros(node.shape[1] + 1), np.empty(edge.shape[1]), uniforms.shape[1] == 0
    for row in range(len(node)):
        _exponentials(node, row, node_cells, nodes)
        _exponentials(edge, row, edge_cells, edges)
        _forward(nodes, edges, own, without, after, link_starts, links, is_mode, before, weights, factors)
        state = 0
        for t in range(n_steps - 1, -1, -1):
            total, best, chosen = 0.0, -1.0, state
            for s in range(n_states):
                if after[t, s] == state:
                    total += weights[t, s]
                    if weights[t, s] > best:
                        best, chosen = weights[t, s], s
            if not is_mode:
                left = uniforms[row, t] * total
                for s in range(n_states):
                    if after[t, s] == state and weights[t, s] > 0.0:
                        chosen = s
                        left -= weights[t, s]
                        if left < 0.0:
                            break
            result[row, order[t]] = own[t, chosen] - node_cells[order[t]]
            state = without[t, chosen]
