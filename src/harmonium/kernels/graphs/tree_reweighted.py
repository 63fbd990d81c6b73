"""Tree-reweighted message passing and Gibbs sampling, for graphs that are too wide for exact sums.

The log-partition is an upper bound, convex in the parameters, and its gradient are the means: they agree with each
other, and are exact on trees.

Reference: Wainwright, Jaakkola & Willsky (2005), A new class of upper bounds on the log partition function.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from harmonium.kernels.graphs.elimination import unclamped
from harmonium.kernels.graphs.plan import Plan
from harmonium.kernels.runtime.jit import jit
from harmonium.kernels.runtime.threads import block_bounds, block_count, run_blocks

# Messages move by half of their change, until none moves by more than the second number: conventions.
_DAMPING, _STILL, _MOST_ROUNDS = 0.5, 1e-7, 500
# Sweeps of Gibbs sampling after variables were drawn one by one from their probabilities: a convention.
_SWEEPS = 30
# cells of messages of a block, enough to make handing it to a thread cheap
_BLOCK = 400_000
# keeps logarithms finite; pairs of states that are less probable than this count as if they were not
_LEAST = 1e-300


def bound_and_means(node: np.ndarray, edge: np.ndarray, plan: Plan) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return upper bounds of log-partitions, and pseudo-probabilities of states of nodes and of pairs of states.

    Potentials and probabilities are arrays like those of `elimination.log_partition_and_means`.

    Examples
    --------
    >>> from harmonium.kernels.graphs.plan import plan_of
    >>> plan = plan_of(np.array([[0, 1]]), 2)
    >>> total, singles, pairs = bound_and_means(np.zeros((1, 4)), np.zeros((1, 4)), plan)
    >>> total.round(3).tolist(), singles.tolist(), pairs.tolist()
    ([1.386], [[0.5, 0.5, 0.5, 0.5]], [[0.25, 0.25, 0.25, 0.25]])
    """
    totals, singles, pairs, node = (
        np.zeros(len(node)),
        np.empty(node.shape),
        np.empty(edge.shape),
        unclamped(node, plan),
    )
    n_blocks = min(block_count(edge.size, _BLOCK), max(1, len(node)))
    graph = plan.edges, plan.sizes, plan.node_cells, plan.edge_cells, plan.share

    def task(block: int) -> None:
        rows = slice(*block_bounds(len(node), n_blocks, block))
        _pass(node[rows], edge[rows], *graph, totals[rows], singles[rows], pairs[rows])

    run_blocks(task, n_blocks)
    return totals, singles, pairs


def gibbs(node: np.ndarray, edge: np.ndarray, plan: Plan, rng: np.random.Generator) -> np.ndarray:
    """Return a sample of each row by sweeps of Gibbs sampling; not exact, as chains are short."""
    node, independent = unclamped(node, plan), np.zeros_like(edge)
    start = np.log(np.maximum(bound_and_means(node, edge, plan)[1], _LEAST))
    states = np.zeros((len(node), len(plan.sizes)))
    _swept(start, independent, plan, rng.random(states.shape), states)
    for _ in range(_SWEEPS):
        _swept(node, edge, plan, rng.random(states.shape), states)
    return states


def local_mode(node: np.ndarray, edge: np.ndarray, plan: Plan) -> np.ndarray:
    """Return a state of each row that no change of a single variable makes more probable, if sweeps suffice."""
    node, independent = unclamped(node, plan), np.zeros_like(edge)
    states, none = np.zeros((len(node), len(plan.sizes))), np.empty((len(node), 0))
    _swept(bound_and_means(node, edge, plan)[1], independent, plan, none, states)
    for _ in range(_SWEEPS):
        _swept(node, edge, plan, none, states)
    return states


def _swept(node: np.ndarray, edge: np.ndarray, plan: Plan, uniforms: np.ndarray, states: np.ndarray) -> None:
    """Sweep over all variables of each row, in place."""
    graph = plan.edges, plan.sizes, plan.node_cells, plan.edge_cells
    _sweep(node, edge, *graph, plan.starts, plan.neighbours, plan.by_edge, uniforms, states)


@jit()
def _negative_entropy(p):  # type: ignore[no-untyped-def]
    return p * log(p) if p > 0 else 0.0


@jit()
def _softmax(scores, result):  # type: ignore[no-untyped-def]
    """Fill in probabilities that are proportional to e to the power of scores."""
    largest, total = scores.max(), 0.0
    for s in range(len(scores)):
        result[s] = 1.0 if scores[s] == largest else exp(scores[s] - largest)
        total += result[s]
    for s in range(len(scores)):
        result[s] /= total


@jit()
def _pass(  # type: ignore[no-untyped-def]
    node, edge, edges, sizes, node_cells, edge_cells, share, totals, singles, pairs
):
    """Fill in bounds, probabilities of states and probabilities of pairs of states of all rows."""
    n_edges, most = len(edges), sizes.max()
    # what the first end tells the second of its states, relative to the first of them, and back
    message = np.empty((n_edges, 2, most))
    factors, weights, cavity = np.empty(edge.shape[1]), np.empty(most), np.empty(most)
    for row in range(len(node)):
        message[:] = 0.0
        belief = node[row].copy()
        for e in range(n_edges):
            cells = edge[row, edge_cells[e] : edge_cells[e + 1]]
            largest = cells.max()
            for c in range(len(cells)):
                away = cells[c] - largest
                factors[edge_cells[e] + c] = 1.0 if away == 0.0 else max(exp(away / share[e]), _LEAST)
        for _ in range(_MOST_ROUNDS):
            moved = 0.0
            for e in range(n_edges):
                for way in range(2):
                    source, target = edges[e, way], edges[e, 1 - way]
                    n_source, n_target = sizes[source], sizes[target]
                    of_source, of_target = (n_target, 1) if way == 0 else (1, n_source)
                    largest = -np.inf
                    for u in range(n_source):
                        cavity[u] = belief[node_cells[source] + u] - message[e, 1 - way, u]
                        largest = max(largest, cavity[u])
                    for u in range(n_source):
                        weights[u] = 1.0 if cavity[u] == largest else exp(cavity[u] - largest)
                    first = 0.0
                    for v in range(n_target):
                        value = 0.0
                        for u in range(n_source):
                            value += weights[u] * factors[edge_cells[e] + u * of_source + v * of_target]
                        if v == 0:
                            first = value
                            continue
                        change = log(value / first) - message[e, way, v]
                        message[e, way, v] += _DAMPING * change
                        belief[node_cells[target] + v] += share[e] * _DAMPING * change
                        moved = max(moved, abs(change))
            if moved < _STILL:
                break
        total = 0.0
        for i in range(len(sizes)):
            here = slice(node_cells[i], node_cells[i + 1])
            _softmax(belief[here], singles[row, here])
            for c in range(node_cells[i], node_cells[i + 1]):
                total += node[row, c] * singles[row, c] - _negative_entropy(singles[row, c])
        for e in range(n_edges):
            here, (i, j) = slice(edge_cells[e], edge_cells[e + 1]), edges[e]
            scores = edge[row, here] / share[e]
            for u in range(sizes[i]):
                for v in range(sizes[j]):
                    scores[u * sizes[j] + v] += belief[node_cells[i] + u] - message[e, 1, u]
                    scores[u * sizes[j] + v] += belief[node_cells[j] + v] - message[e, 0, v]
            _softmax(scores, pairs[row, here])
            for c in range(edge_cells[e], edge_cells[e + 1]):
                total += edge[row, c] * pairs[row, c] - share[e] * _negative_entropy(pairs[row, c])
            for end in edges[e]:
                for c in range(node_cells[end], node_cells[end + 1]):
                    total += share[e] * _negative_entropy(singles[row, c])
        totals[row] = total


@jit()
def _sweep(  # type: ignore[no-untyped-def]
    node, edge, edges, sizes, node_cells, edge_cells, starts, neighbours, by_edge, uniforms, states
):
    """Draw each variable given its neighbours, in place, or take its best state if there are no uniform numbers."""
    scores, is_mode = np.empty(sizes.max()), uniforms.shape[1] == 0
    for row in range(len(node)):
        for i in range(len(sizes)):
            size = sizes[i]
            for d in range(size):
                scores[d] = node[row, node_cells[i] + d]
            for k in range(starts[i], starts[i + 1]):
                e, other = by_edge[k], neighbours[k]
                state = int(states[row, other])
                of_self, of_other = (sizes[other], 1) if edges[e, 0] == i else (1, size)
                for d in range(size):
                    scores[d] += edge[row, edge_cells[e] + d * of_self + state * of_other]
            chosen = 0
            for d in range(1, size):
                chosen = d if scores[d] > scores[chosen] else chosen
            if not is_mode:
                largest, total = scores[chosen], 0.0
                for d in range(size):
                    scores[d] = 1.0 if scores[d] == largest else exp(scores[d] - largest)
                    total += scores[d]
                left = uniforms[row, i] * total
                for d in range(size):
                    if scores[d] > 0.0:
                        chosen = d
                        left -= scores[d]
                        if left < 0.0:
                            break
            states[row, i] = chosen
