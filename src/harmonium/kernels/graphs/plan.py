"""Plans of inference on a graph: an order of elimination, and how strongly each edge counts in mixtures of trees.

Nodes are taken in one after the other, and summed out as soon as all their neighbours are in. The nodes in between are
the frontier; each has a slot, a bit of the number of its state. This is a junction tree that is a path: trees, cycles
and narrow grids have small frontiers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components, depth_first_order, minimum_spanning_tree, reverse_cuthill_mckee

# Spanning trees of which edges are counted: a convention; more only make bounds a little tighter.
_N_TREES = 100


@dataclass(frozen=True, eq=False)
class Plan:
    """What is computed of a graph once.

    Attributes
    ----------
    edges : ndarray of int64 of shape (n_edges, 2)
        The two ends of each edge.
    order : ndarray of int64 of shape (n_nodes,)
        Nodes as they are taken in.
    slots : ndarray of int64 of shape (n_nodes,)
        The slot of each node.
    leaving : ndarray of int64 of shape (n_nodes,)
        The slots, as a mask of bits, that are summed out after each step.
    width : int
        Number of slots, the largest frontier with the node that is taken in.
    starts, neighbours, by_edge : ndarray of int64
        The neighbours of each node and the edges to them, in compressed rows.
    share : ndarray of float64 of shape (n_edges,)
        The share of spanning trees that have each edge, 1 on trees.
    """

    edges: np.ndarray
    order: np.ndarray
    slots: np.ndarray
    leaving: np.ndarray
    width: int
    starts: np.ndarray
    neighbours: np.ndarray
    by_edge: np.ndarray
    share: np.ndarray


def plan_of(edges: np.ndarray, n_nodes: int) -> Plan:
    """Return the plan of a graph; the same graph has the same plan.

    Examples
    --------
    >>> plan = plan_of(np.array([[0, 1], [1, 2], [2, 3], [3, 0]]), 4)  # a cycle
    >>> plan.width, round(float(plan.share.sum()), 6)  # each spanning tree has three of the four edges
    (3, 3.0)
    """
    edges = np.ascontiguousarray(edges, dtype=np.int64).reshape(-1, 2)
    return _plan(edges.tobytes(), n_nodes)


@lru_cache(maxsize=32)
def _plan(packed: bytes, n_nodes: int) -> Plan:
    edges = np.frombuffer(packed, dtype=np.int64).reshape(-1, 2)
    both = np.concatenate([edges, edges[:, ::-1]])
    by_edge = np.tile(np.arange(len(edges)), 2)
    arranged = np.lexsort((both[:, 1], both[:, 0]))
    starts = np.searchsorted(both[arranged, 0], np.arange(n_nodes + 1))
    neighbours = both[arranged, 1]
    graph = scipy.sparse.csr_array((np.ones(len(both)), both.T), shape=(n_nodes, n_nodes))
    candidates = [np.arange(n_nodes), np.asarray(reverse_cuthill_mckee(graph.tocsr(), symmetric_mode=True))]
    candidates += [_greedy(starts, neighbours), _children_first(graph.tocsr())]
    orders = [_eliminated(order.astype(np.int64), starts, neighbours) for order in candidates]
    order, slots, leaving, width = min(orders, key=lambda found: found[3])
    share = _tree_shares(edges, n_nodes)
    return Plan(edges, order, slots, leaving, width, starts, neighbours, by_edge[arranged], share)


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
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Return an order with the slots of nodes, the masks of what leaves after each step, and the number of slots."""
    n_nodes = len(order)
    time = np.empty(n_nodes, dtype=np.int64)
    time[order] = np.arange(n_nodes)
    last = time.copy()
    for node in range(n_nodes):
        last[node] = max([time[node], *time[neighbours[starts[node] : starts[node + 1]]]])
    slots, leaving, taken, width = np.zeros(n_nodes, dtype=np.int64), np.zeros(n_nodes, dtype=np.int64), set[int](), 0
    for step, node in enumerate(order.tolist()):
        slots[node] = next(slot for slot in range(n_nodes) if slot not in taken)
        taken.add(int(slots[node]))
        width = max(width, max(taken) + 1)
        gone = [int(slots[other]) for other in order[: step + 1].tolist() if last[other] == step]
        # a mask of more bits than a number has belongs to a graph that is not summed exactly
        leaving[step] = sum(1 << slot for slot in gone if slot < 62)
        taken -= set(gone)
    return order, slots, leaving, width


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
