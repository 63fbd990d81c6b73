"""Variables on graphs against enumeration: sums, draws, modes, known variables, tree-reweighted bounds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import logsumexp

from harmonium.families import grid_edges
from harmonium.kernels.graphs.elimination import CLAMPED, draw, log_partition_and_means
from harmonium.kernels.graphs.plan import Plan, plan_of
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


SIZES = {"binary": 2, "three states": 3, "mixed": (3, 1, 2, 4, 2, 3, 1, 2, 2)}
CASES = [(name, sizes) for name in GRAPHS for sizes in SIZES if (name, sizes) != ("grid", "three states")]


def plan(name: str, sizes: str = "binary") -> Plan:
    edges, n_nodes = GRAPHS[name]
    return plan_of(edges, n_nodes, np.broadcast_to(SIZES[sizes], 9)[:n_nodes])


def potentials(graph: Plan, n_rows: int = 3, scale: float = 1.5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(len(graph.edges))
    shapes = (n_rows, graph.node_cells[-1]), (n_rows, graph.edge_cells[-1])
    return rng.normal(size=shapes[0]) * scale, rng.normal(size=shapes[1]) * scale


def enumerated(node: np.ndarray, edge: np.ndarray, graph: Plan) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All states, which cells they have, and log-weights of each row."""
    states = np.array(list(itertools.product(*map(range, graph.sizes))))
    first, second = graph.edges.T
    own = graph.node_cells[:-1] + states
    pairs = graph.edge_cells[:-1] + states[:, first] * graph.sizes[second] + states[:, second]
    cells = np.zeros((len(states), node.shape[1] + edge.shape[1]))
    np.put_along_axis(cells, own, 1, axis=1)
    np.put_along_axis(cells, node.shape[1] + pairs, 1, axis=1)
    return states, cells, np.concatenate([node, edge], axis=1) @ cells.T


@pytest.mark.parametrize(("name", "sizes"), CASES)
def test_sums_draws_and_modes_against_enumeration(name: str, sizes: str) -> None:
    graph = plan(name, sizes)
    node, edge = potentials(graph)
    states, cells, scores = enumerated(node, edge, graph)
    total, singles, pairs = log_partition_and_means(node, edge, graph)
    probability = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    assert np.allclose(total, logsumexp(scores, axis=1))
    assert np.allclose(np.concatenate([singles, pairs], axis=1), probability @ cells)
    assert np.array_equal(draw(node, edge, graph, None), states[scores.argmax(axis=1)])
    rows = 20_000
    repeated = [np.repeat(part[:1], rows, axis=0) for part in (node, edge)]
    drawn = draw(*repeated, graph, RNG.random((rows, len(graph.sizes))))
    numbers = np.ravel_multi_index(tuple(drawn.T.astype(int)), tuple(graph.sizes))
    shares = np.bincount(numbers, minlength=len(states)) / rows
    assert np.abs(shares - probability[0]).max() < 5 * np.sqrt(0.25 / rows)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("name", ["tree", "complete"])
def test_known_variables_are_conditioned_on(name: str, sizes: str) -> None:
    graph = plan(name, sizes)
    node, edge = potentials(graph, n_rows=1)
    states, cells, scores = enumerated(node, edge, graph)
    known, n_nodes = np.arange(len(graph.sizes)) % 2 == 0, len(graph.sizes)
    values = RNG.integers(0, graph.sizes)
    fits = (states[:, known] == values[known]).all(axis=1)
    of_known = np.repeat(known, graph.sizes)
    is_value = np.concatenate([np.arange(size) == value for size, value in zip(graph.sizes, values, strict=True)])
    clamped = np.where(of_known, np.where(is_value, 1, -1) * 10 * CLAMPED, node)
    weightless = scores[0] - cells[:, : len(of_known)] @ np.where(of_known, node[0], 0)
    for total, singles, pairs in (
        log_partition_and_means(clamped, edge, graph),
        bound_and_means(clamped, edge, graph),
    ):
        assert np.allclose(singles[0, of_known], is_value[of_known])
        if name == "complete" and total[0] > logsumexp(weightless[fits]) + 1e-6:  # a bound
            continue
        probability = np.where(fits, np.exp(scores[0] - logsumexp(scores[0, fits])), 0)
        assert np.allclose(np.concatenate([singles, pairs], axis=1)[0], probability @ cells, atol=1e-5)
        # known variables add no weight of their own
        assert np.isclose(total[0], logsumexp(weightless[fits]))
    assert len(draw(clamped, edge, graph, None)[0]) == n_nodes


@pytest.mark.parametrize(("name", "sizes"), CASES)
def test_tree_reweighting_bounds_and_is_exact_on_trees(name: str, sizes: str) -> None:
    graph = plan(name, sizes)
    node, edge = potentials(graph)
    exact, bound = log_partition_and_means(node, edge, graph), bound_and_means(node, edge, graph)
    assert (bound[0] >= exact[0] - 1e-6).all()
    if (graph.share == 1).all():
        assert all(np.allclose(a, b, atol=1e-5) for a, b in zip(exact, bound, strict=True))
    else:
        assert (bound[0] > exact[0] + 1e-3).any()
        weak = potentials(graph, scale=0.3)  # means are near where potentials are weak
        assert np.abs(bound_and_means(*weak, graph)[1] - log_partition_and_means(*weak, graph)[1]).max() < 0.1
    both, n_cells = np.concatenate([node[0], edge[0]]), node.shape[1]

    def value(at: np.ndarray) -> float:
        return float(bound_and_means(at[None, :n_cells], at[None, n_cells:], graph)[0][0])

    if sizes != "mixed":  # which would take a second
        slope = approx_fprime(both, value, 1e-4)
        assert np.allclose(slope, np.concatenate([bound[1][0], bound[2][0]]), atol=2e-3)


@pytest.mark.parametrize("sizes", ["binary", "mixed"])
def test_gibbs_and_local_modes_on_a_grid(sizes: str) -> None:
    graph = plan("grid", sizes)
    node, edge = potentials(graph, scale=0.7)
    repeated = [np.repeat(part[:1], 5000, axis=0) for part in (node, edge)]
    singles = log_partition_and_means(node[:1], edge[:1], graph)[1][0]
    drawn = gibbs(*repeated, graph, RNG)
    shares = [np.mean(drawn[:, i] == state) for i, size in enumerate(graph.sizes) for state in range(size)]
    assert np.abs(shares - singles).max() < 0.04
    states, _, scores = enumerated(node, edge, graph)
    number = {tuple(state): place for place, state in enumerate(states.tolist())}
    for row, best in enumerate(local_mode(node, edge, graph).astype(int).tolist()):
        for site, size in enumerate(graph.sizes):
            for state in range(size):
                other = (*best[:site], state, *best[site + 1 :])
                assert scores[row, number[tuple(best)]] >= scores[row, number[other]] - 1e-9


def test_states_of_frontiers() -> None:
    assert plan_of(grid_edges(8, 8), 64).n_states == 2**9
    assert plan_of(grid_edges(3, 200), 600).n_states == 2**4
    chain = np.stack([np.arange(99), np.arange(1, 100)], axis=1)
    assert plan_of(chain, 100).n_states == 2**2
    binary_tree = np.array([[(child - 1) // 2, child] for child in range(1, 63)])
    assert plan_of(binary_tree, 63).n_states <= 2**7  # one more than its depth
    share = plan_of(grid_edges(4, 4), 16).share
    assert np.isclose(share.sum(), 15) and share.min() > 0.3


def test_only_narrow_graphs_have_tables_of_sums() -> None:
    assert plan_of(grid_edges(10, 10), 100).elimination is not None
    assert plan_of(grid_edges(12, 12), 144).elimination is None
