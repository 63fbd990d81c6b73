"""Tree-reweighted message passing and Gibbs sampling, for graphs that are too wide for exact sums.

The log-partition is an upper bound, convex in the parameters, and its gradient are the means: they agree with each
other, and are exact on trees.

Reference: Wainwright, Jaakkola & Willsky (2005), A new class of upper bounds on the log partition function.
"""

from __future__ import annotations

from math import exp, log, log1p

import numpy as np

from harmonium.kernels.graphs.elimination import CLAMPED
from harmonium.kernels.graphs.plan import Plan
from harmonium.kernels.runtime.jit import jit
from harmonium.kernels.runtime.threads import block_bounds, block_count, run_blocks

# Messages move by half of their change, until none moves by more than the second number: conventions.
_DAMPING, _STILL, _MOST_ROUNDS = 0.5, 1e-7, 500
# Sweeps of Gibbs sampling after variables were drawn one by one from their means: a convention.
_SWEEPS = 30
# messages of a block, enough to make handing it to a thread cheap
_BLOCK = 100_000


def bound_and_means(node: np.ndarray, edge: np.ndarray, plan: Plan) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return upper bounds of log-partitions, and pseudo-means of nodes and of products along edges.

    Examples
    --------
    >>> from harmonium.kernels.graphs.plan import plan_of
    >>> plan = plan_of(np.array([[0, 1]]), 2)
    >>> total, means, products = bound_and_means(np.zeros((1, 2)), np.zeros((1, 1)), plan)
    >>> total.round(3).tolist(), means.tolist(), products.tolist()
    ([1.386], [[0.5, 0.5]], [[0.25]])
    """
    totals, means, products = np.zeros(len(node)), np.empty(node.shape), np.empty(edge.shape)
    n_blocks = min(block_count(edge.size, _BLOCK), max(1, len(node)))

    def task(block: int) -> None:
        rows = slice(*block_bounds(len(node), n_blocks, block))
        _pass(node[rows], edge[rows], plan.edges, plan.share, totals[rows], means[rows], products[rows])

    run_blocks(task, n_blocks)
    return totals, means, products


def gibbs(node: np.ndarray, edge: np.ndarray, plan: Plan, rng: np.random.Generator) -> np.ndarray:
    """Return a sample of each row by sweeps of Gibbs sampling; not exact, as chains are short."""
    states = (rng.random(node.shape) < bound_and_means(node, edge, plan)[1]).astype(np.float64)
    for _ in range(_SWEEPS):
        _sweep(node, edge, plan.starts, plan.neighbours, plan.by_edge, rng.random(node.shape), states)
    return states


def local_mode(node: np.ndarray, edge: np.ndarray, plan: Plan) -> np.ndarray:
    """Return a state of each row that no change of a single variable makes more probable, if sweeps suffice."""
    states = (bound_and_means(node, edge, plan)[1] > 0.5).astype(np.float64)
    middle = np.full(node.shape, 0.5)
    for _ in range(_SWEEPS):
        _sweep(node, edge, plan.starts, plan.neighbours, plan.by_edge, middle, states)
    return states


@jit()
def _sigmoid(value):  # type: ignore[no-untyped-def]
    return 1.0 / (1.0 + exp(-value)) if value > 0 else 1.0 - 1.0 / (1.0 + exp(value))


@jit()
def _softplus(value):  # type: ignore[no-untyped-def]
    return value + log1p(exp(-value)) if value > 0 else log1p(exp(value))


@jit()
def _negative_entropy(p):  # type: ignore[no-untyped-def]
    return p * log(p) if p > 0 else 0.0


@jit()
def _pass(node, edge, edges, share, totals, means, products):  # type: ignore[no-untyped-def]
    """Fill in bounds, means of nodes and means of products of all rows."""
    n_edges = len(edges)
    for row in range(len(node)):
        message = np.zeros((n_edges, 2))  # log-odds that the first end tells the second, and back
        belief = node[row].copy()
        for _ in range(_MOST_ROUNDS):
            moved = 0.0
            for e in range(n_edges):
                coupling = edge[row, e] / share[e]
                for way in range(2):
                    source, target = edges[e, way], edges[e, 1 - way]
                    cavity = belief[source] - message[e, 1 - way]
                    change = _softplus(cavity + coupling) - _softplus(cavity) - message[e, way]
                    message[e, way] += _DAMPING * change
                    belief[target] += share[e] * _DAMPING * change
                    moved = max(moved, abs(change))
            if moved < _STILL:
                break
        total = 0.0
        for i in range(node.shape[1]):
            p = _sigmoid(belief[i])
            means[row, i] = p
            if abs(node[row, i]) < CLAMPED:
                total += node[row, i] * p
            total -= _negative_entropy(p) + _negative_entropy(1 - p)
        for e in range(n_edges):
            first, second = belief[edges[e, 0]] - message[e, 1], belief[edges[e, 1]] - message[e, 0]
            both = first + second + edge[row, e] / share[e]
            largest = max(0.0, first, second, both)
            weights = exp(-largest), exp(first - largest), exp(second - largest), exp(both - largest)
            whole = weights[0] + weights[1] + weights[2] + weights[3]
            products[row, e] = weights[3] / whole
            total += edge[row, e] * products[row, e]
            for weight in weights:
                total -= share[e] * _negative_entropy(weight / whole)
            for way in range(2):
                p = means[row, edges[e, way]]
                total += share[e] * (_negative_entropy(p) + _negative_entropy(1 - p))
        totals[row] = total


@jit()
def _sweep(node, edge, starts, neighbours, by_edge, uniforms, states):  # type: ignore[no-untyped-def]
    """Draw each variable given its neighbours, in place."""
    for row in range(len(node)):
        for i in range(node.shape[1]):
            natural = node[row, i]
            for k in range(starts[i], starts[i + 1]):
                natural += edge[row, by_edge[k]] * states[row, neighbours[k]]
            states[row, i] = 1.0 if uniforms[row, i] < _sigmoid(natural) else 0.0
