"""Binary variables on graphs against enumeration: sums, draws, modes, known variables, tree-reweighted bounds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import logsumexp

from harmonium.families import grid_edges
from harmonium.kernels.graphs.elimination import CLAMPED, draw, log_partition_and_means
from harmonium.kernels.graphs.plan import plan_of
from harmonium.kernels.graphs.tree_reweighted import bound_and_means, gibbs, local_mode

RNG = np.random.default_rng(0)
TREE = np.array([[0, 3], [1, 3], [3, 4], [2, 4], [4, 5]])
GRAPHS = {
    "tree": (TREE, 6),
    "cycle": (np.array([[0, 1], [1, 2], [2, 3], [3, 4], [0, 4]]), 5),
    "grid": (grid_edges(3, 3), 9),
    "complete": (np.array(list(itertools.combinations(range(5), 2))), 5),
    "no edges": (np.empty((0, 2), dtype=int), 3),
    "two parts": (np.array([[0, 2], [1, 3]]), 4),
}


def parameters(name: str, n_rows: int = 3, scale: float = 1.5):
    edges, n_nodes = GRAPHS[name]
    rng = np.random.default_rng(len(name))
    return rng.normal(size=(n_rows, n_nodes)) * scale, rng.normal(size=(n_rows, len(edges))) * scale, edges, n_nodes


def enumerated(node: np.ndarray, edge: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All states, their products, and log-weights of each row."""
    states = np.array(list(itertools.product([0.0, 1.0], repeat=node.shape[1])))
    products = states[:, edges[:, 0]] * states[:, edges[:, 1]]
    return states, products, node @ states.T + edge @ products.T


@pytest.mark.parametrize("name", GRAPHS)
def test_sums_draws_and_modes_against_enumeration(name: str) -> None:
    node, edge, edges, n_nodes = parameters(name)
    plan = plan_of(edges, n_nodes)
    states, pairs, scores = enumerated(node, edge, edges)
    total, means, products = log_partition_and_means(node, edge, plan)
    probability = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    assert np.allclose(total, logsumexp(scores, axis=1))
    assert np.allclose(means, probability @ states) and np.allclose(products, probability @ pairs)
    assert np.array_equal(draw(node, edge, plan, None), states[scores.argmax(axis=1)])
    rows = 20_000
    repeated = [np.repeat(part[:1], rows, axis=0) for part in (node, edge)]
    drawn = draw(*repeated, plan, RNG.random((rows, n_nodes)))
    numbers = drawn @ (1 << np.arange(n_nodes)[::-1])
    shares = np.bincount(numbers.astype(int), minlength=len(states)) / rows
    assert np.abs(shares - probability[0]).max() < 5 * np.sqrt(0.25 / rows)


@pytest.mark.parametrize("name", ["tree", "grid", "complete"])
def test_known_variables_are_conditioned_on(name: str) -> None:
    node, edge, edges, n_nodes = parameters(name, n_rows=1)
    states, pairs, scores = enumerated(node, edge, edges)
    known = np.arange(n_nodes) % 2 == 0
    values = RNG.integers(0, 2, n_nodes)
    fits = (states[:, known] == values[known]).all(axis=1)
    clamped = np.where(known, 10 * CLAMPED * np.sign(values - 0.5), node)
    total, means, products = log_partition_and_means(clamped, edge, plan_of(edges, n_nodes))
    probability = np.where(fits, np.exp(scores[0] - logsumexp(scores[0, fits])), 0)
    assert np.allclose(means[0], probability @ states) and np.allclose(products[0], probability @ pairs)
    # known variables add no weight of their own
    assert np.isclose(total[0], logsumexp(scores[0, fits]) - node[0, known] @ values[known])


@pytest.mark.parametrize("name", GRAPHS)
def test_tree_reweighting_bounds_and_is_exact_on_trees(name: str) -> None:
    node, edge, edges, n_nodes = parameters(name)
    plan = plan_of(edges, n_nodes)
    exact, bound = log_partition_and_means(node, edge, plan), bound_and_means(node, edge, plan)
    assert (bound[0] >= exact[0] - 1e-6).all()
    if (plan.share == 1).all():
        assert all(np.allclose(a, b, atol=1e-5) for a, b in zip(exact, bound, strict=True))
    else:
        assert (bound[0] > exact[0] + 1e-3).any() and np.abs(bound[1] - exact[1]).max() < 0.3
    both = np.concatenate([node[0], edge[0]])

    def value(at: np.ndarray) -> float:
        return float(bound_and_means(at[None, :n_nodes], at[None, n_nodes:], plan)[0][0])

    slope = approx_fprime(both, value, 1e-4)
    assert np.allclose(slope, np.concatenate([bound[1][0], bound[2][0]]), atol=2e-3)


def test_gibbs_and_local_modes_on_a_grid() -> None:
    node, edge, edges, n_nodes = parameters("grid", scale=0.7)
    plan = plan_of(edges, n_nodes)
    repeated = [np.repeat(part[:1], 5000, axis=0) for part in (node, edge)]
    means = log_partition_and_means(node[:1], edge[:1], plan)[1][0]
    assert np.abs(gibbs(*repeated, plan, RNG).mean(axis=0) - means).max() < 0.03
    best = local_mode(node, edge, plan)
    for site in range(n_nodes):
        states = best.copy()
        states[:, site] = 1 - states[:, site]
        pairs = [edge * s[:, edges[:, 0]] * s[:, edges[:, 1]] for s in (best, states)]
        score = [(node * s).sum(axis=1) + p.sum(axis=1) for s, p in zip((best, states), pairs, strict=True)]
        assert (score[0] >= score[1]).all()


def test_widths() -> None:
    assert plan_of(grid_edges(8, 8), 64).width == 9
    assert plan_of(grid_edges(3, 200), 600).width == 4
    chain = np.stack([np.arange(99), np.arange(1, 100)], axis=1)
    assert plan_of(chain, 100).width == 2
    binary_tree = np.array([[(child - 1) // 2, child] for child in range(1, 63)])
    assert plan_of(binary_tree, 63).width <= 7  # one more than its depth
    share = plan_of(grid_edges(4, 4), 16).share
    assert np.isclose(share.sum(), 15) and share.min() > 0.3
