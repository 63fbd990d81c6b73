"""Plans of inference on a graph: an order of elimination, and how strongly each edge counts in mixtures of trees.

Nodes are taken in one after the other, and summed out as soon as all their neighbours are in. The nodes in between are
the frontier; each has a slot, a digit of the number of its state. This is a junction tree that is a path: trees, cycles
and narrow grids have small frontiers.

*Potentials* of nodes are arrays of shape (rows, cells) with a cell for each state of each node; those of edges have one
for each pair of states of its two ends, the state of the second end counting fastest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components, depth_first_order, minimum_spanning_tree, reverse_cuthill_mckee

# Spanning trees of which edges are counted: a convention; more only make bounds a little tighter.
_N_TREES = 100
# States of a frontier up to which sums are exact, as each variable costs as many additions: a convention.
_MOST_STATES = 2048


class Elimination(NamedTuple):
    """Steps in which nodes are taken into the frontier and summed out: for each state of the frontier, where to look.

    A state of the frontier is a state of each slot; slots that no node has are in their state 0. Arrays of places are
    of type uint32, which kernels need not check for negative numbers.

    Attributes
    ----------
    nodes : ndarray of shape (n_nodes,)
        The node that is taken in at each step.
    own : ndarray of shape (n_nodes, n_states)
        The cell of the step's node in each state, and one cell more than there are where the node has no such state.
    without : ndarray of shape (n_nodes, n_states)
        The state in which the slot of the step's node is 0.
    after : ndarray of shape (n_nodes, n_states)
        The state in which the slots that are summed out after the step are 0.
    link_starts : ndarray of shape (n_nodes + 1,)
        Where the links of each step begin, edges from its node to those in the frontier, and the end of the last.
    links : ndarray of shape (n_edges, n_states)
        The cell of each link's edge in each state.
    """

    nodes: np.ndarray
    own: np.ndarray
    without: np.ndarray
    after: np.ndarray
    link_starts: np.ndarray
    links: np.ndarray


@dataclass(frozen=True, eq=False)
class Plan:
    """What is computed of a graph once.

    Attributes
    ----------
    edges : ndarray of int64 of shape (n_edges, 2)
        The two ends of each edge.
    sizes : ndarray of int64 of shape (n_nodes,)
        Number of states of each node.
    node_cells : ndarray of int64 of shape (n_nodes + 1,)
        The first cell of each node, and the end of the last.
    edge_cells : ndarray of int64 of shape (n_edges + 1,)
        The first cell of each edge, and the end of the last.
    n_states : float
        Number of states of all slots together, which sums over the graph go through for each node. There are as many
        slots as nodes in the largest frontier, with the node that is taken in.
    elimination : Elimination or None
        How to sum over the graph, None if `n_states` is more than is summed exactly.
    starts, neighbours, by_edge : ndarray of int64
        The neighbours of each node and the edges to them, in compressed rows.
    share : ndarray of float64 of shape (n_edges,)
        The share of spanning trees that have each edge, 1 on trees.
    """

    edges: np.ndarray
    sizes: np.ndarray
    node_cells: np.ndarray
    edge_cells: np.ndarray
    n_states: float
    elimination: Elimination | None
    starts: np.ndarray
    neighbours: np.ndarray
    by_edge: np.ndarray
    share: np.ndarray


def plan_of(edges: np.ndarray, n_nodes: int, sizes: np.ndarray | int = 2) -> Plan:
    """Return the plan of a graph; the same graph has the same plan.

    Parameters
    ----------
    edges : ndarray of int of shape (n_edges, 2)
        The two ends of each edge.
    n_nodes : int
        Number of nodes.
    sizes : ndarray of int of shape (n_nodes,) or int, default=2
        Number of states of each node.

    Returns
    -------
    Plan
        The plan.

    Examples
    --------
    >>> plan = plan_of(np.array([[0, 1], [1, 2], [2, 3], [3, 0]]), 4)  # a cycle
    >>> plan.n_states, round(float(plan.share.sum()), 6)  # each spanning tree has three of the four edges
    (8.0, 3.0)
    """
    edges = np.ascontiguousarray(edges, dtype=np.int64).reshape(-1, 2)
    sizes = np.ascontiguousarray(np.broadcast_to(np.asarray(sizes, dtype=np.int64), n_nodes))
    return _plan(edges.tobytes(), sizes.tobytes())


@lru_cache(maxsize=32)
def _plan(packed_edges: bytes, packed_sizes: bytes) -> Plan:
    edges = np.frombuffer(packed_edges, dtype=np.int64).reshape(-1, 2)
    sizes = np.frombuffer(packed_sizes, dtype=np.int64)
    n_nodes = len(sizes)
    both = np.concatenate([edges, edges[:, ::-1]])
    by_edge = np.tile(np.arange(len(edges)), 2)
    arranged = np.lexsort((both[:, 1], both[:, 0]))
    starts = np.searchsorted(both[arranged, 0], np.arange(n_nodes + 1))
    neighbours = both[arranged, 1]
    graph = scipy.sparse.csr_array((np.ones(len(both)), both.T), shape=(n_nodes, n_nodes))
    candidates = [np.arange(n_nodes), np.asarray(reverse_cuthill_mckee(graph.tocsr(), symmetric_mode=True))]
    candidates += [_greedy(starts, neighbours), _children_first(graph.tocsr())]
    orders = [_eliminated(order.astype(np.int64), starts, neighbours) for order in candidates]
    order, slots, leaving = min(orders, key=lambda found: float(np.log(_capacities(found[1], sizes)).sum()))
    capacities = _capacities(slots, sizes)
    n_states = float(np.prod(capacities, dtype=np.float64))
    node_cells, edge_cells = np.cumsum([0, *sizes]), np.cumsum([0, *sizes[edges].prod(axis=1)])
    elimination = None
    if n_states <= _MOST_STATES:
        steps = _Steps(order, slots, leaving, capacities)
        elimination = _elimination(edges, sizes, (node_cells, edge_cells), steps)
    share = _tree_shares(edges, n_nodes)
    neighbourhood = starts, neighbours, by_edge[arranged]
    return Plan(edges, sizes, node_cells, edge_cells, n_states, elimination, *neighbourhood, share)


class _Steps(NamedTuple):
    """An order of nodes, their slots, the slots that leave after each step, and the number of states of each slot."""

    order: np.ndarray
    slots: np.ndarray
    leaving: list[list[int]]
    capacities: np.ndarray


def _elimination(
    edges: np.ndarray, sizes: np.ndarray, cells: tuple[np.ndarray, np.ndarray], steps: _Steps
) -> Elimination:
    """Return where to look in each state of the frontier."""
    order, slots, leaving, capacities = steps
    state = np.arange(int(capacities.prod()))
    stride = np.cumprod([1, *capacities])
    of_slot = [(state // stride[slot]) % capacity for slot, capacity in enumerate(capacities.tolist())]
    has_no = cells[0][-1]
    own = [np.where(of_slot[slots[i]] < sizes[i], cells[0][i] + of_slot[slots[i]], has_no) for i in order]
    without = [state - stride[slots[i]] * of_slot[slots[i]] for i in order]
    after = [state - sum((stride[slot] * of_slot[slot] for slot in gone), 0 * state) for gone in leaving]
    time = np.argsort(order)
    later = time[edges].max(axis=1)
    links = []
    for e in np.argsort(later, kind="stable"):
        first, second = (np.minimum(of_slot[slots[end]], sizes[end] - 1) for end in edges[e])
        links.append(cells[1][e] + first * sizes[edges[e, 1]] + second)
    starts = np.searchsorted(np.sort(later), np.arange(len(order) + 1))
    own_at, without_at, after_at, links_at = (
        np.array(rows, dtype=np.uint32).reshape(-1, len(state)) for rows in (own, without, after, links)
    )
    return Elimination(order, own_at, without_at, after_at, starts, links_at)


def _capacities(slots: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the number of states of each slot, the largest of its nodes."""
    capacities = np.zeros(slots.max(initial=-1) + 1, dtype=np.int64)
    np.maximum.at(capacities, slots, sizes)
    return capacities


def _children_first(graph: scipy.sparse.csr_array) -> np.ndarray:
    """Return an order in which nodes come after those that a depth-first search reaches from them."""
    _, part = connected_components(graph)
    roots = np.unique(part, return_index=True)[1]
    found = [depth_first_order(graph, root, return_predecessors=False) for root in roots]
    return np.concatenate(found)[::-1]


def _greedy(starts: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """Return an order in which each node is the one that leaves the smallest frontier."""
    n_nodes = len(starts) - 1
    around = [set(neighbours[starts[node] : starts[node + 1]].tolist()) for node in range(n_nodes)]
    waiting, frontier, order = set(range(n_nodes)), set[int](), []
    while waiting:
        reach = set().union(*(around[node] for node in frontier)) & waiting or waiting

        sizes = {node: sum(bool(around[other] & (waiting - {node})) for other in (*frontier, node)) for node in reach}
        best = min(reach, key=lambda node, sizes=sizes: (sizes[node], node))
        waiting.remove(best)
        order.append(best)
        frontier = {node for node in (*frontier, best) if around[node] & waiting}
    return np.array(order, dtype=np.int64)


def _eliminated(
    order: np.ndarray, starts: np.ndarray, neighbours: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[list[int]]]:
    """Return an order with the slots of nodes, and the slots that leave after each step, in ascending order."""
    n_nodes = len(order)
    time = np.empty(n_nodes, dtype=np.int64)
    time[order] = np.arange(n_nodes)
    last = time.copy()
    for node in range(n_nodes):
        last[node] = max([time[node], *time[neighbours[starts[node] : starts[node + 1]]]])
    going: list[list[int]] = [[] for _ in range(n_nodes)]
    for node in order.tolist():
        going[last[node]].append(node)
    slots, leaving, taken = np.zeros(n_nodes, dtype=np.int64), list[list[int]](), set[int]()
    for step, node in enumerate(order.tolist()):
        slots[node] = next(slot for slot in range(n_nodes) if slot not in taken)
        taken.add(int(slots[node]))
        leaving.append(sorted(int(slots[other]) for other in going[step]))
        taken -= set(leaving[-1])
    return order, slots, leaving


def _tree_shares(edges: np.ndarray, n_nodes: int) -> np.ndarray:
    """Return the share of random spanning trees that have each edge; every edge is in one at least."""
    if len(edges) == 0:
        return np.ones(0)
    n_parts, _ = connected_components(scipy.sparse.csr_array((np.ones(len(edges)), edges.T), shape=(n_nodes, n_nodes)))
    if len(edges) == n_nodes - n_parts:  # a forest
        return np.ones(len(edges))
    rng = np.random.default_rng(0)
    seen, n_trees = np.zeros(len(edges)), 0
    while n_trees < _N_TREES or (seen == 0).any():
        weights = rng.random(len(edges)) + 1 + (seen > 0)  # edges that were in no tree yet come first
        tree = minimum_spanning_tree(scipy.sparse.csr_array((weights, edges.T), shape=(n_nodes, n_nodes)))
        seen += np.isin(weights, tree.data)
        n_trees += 1
    return seen / n_trees
