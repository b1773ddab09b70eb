"""Who can be compared with whom: components of the graph of battles, and which strengths are unbounded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from ratings.comparisons import Tally

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Connectivity:
    """The directed graph i → j "i beat j, or tied with it", of K competitors.

    component (K,): number of the weakly connected part; different parts share no scale · strong (K,): number
    of the strongly connected part; only within one is the maximum-likelihood difference finite (Ford 1957) ·
    dominance: the strong parts, each a tuple of ids, so that no earlier one ever lost to a later one ·
    unbounded_above, unbounded_below (K,): the estimate would run to ±∞ against the largest strong part of its
    component · fought (K,): has at least one vote.
    """

    component: NDArray[np.int32]
    strong: NDArray[np.int32]
    dominance: tuple[tuple[int, ...], ...]
    unbounded_above: Flags
    unbounded_below: Flags
    fought: Flags

    @property
    def separated(self) -> Flags:
        """Competitors (K,) whose component isn't strongly connected: its likelihood has no maximum."""
        first = np.zeros(self.component.max(initial=-1) + 1, dtype=np.int32)
        first[self.component] = self.strong
        broken = np.zeros(len(first), dtype=bool)
        broken[self.component[self.strong != first[self.component]]] = True
        separated: Flags = broken[self.component]
        return separated


def connectivity(tally: Tally) -> Connectivity:
    """Components, strong components and unbounded strengths from a tally's cells; O(pairs + K)."""
    k = tally.n_competitors
    low_scored: Flags = tally.counts[:, 1:].sum(axis=1) > 0
    high_scored: Flags = tally.counts[:, :-1].sum(axis=1) > 0
    if _one_meets_all(tally, low_scored & high_scored):
        nobody, part = np.zeros(k, dtype=bool), np.zeros(k, dtype=np.int32)
        return Connectivity(part, part, (tuple(range(k)),), nobody, nobody, ~nobody)
    tail = np.concatenate([tally.low[low_scored], tally.high[high_scored]])
    head = np.concatenate([tally.high[low_scored], tally.low[high_scored]])
    graph = csr_array((np.ones(len(tail), dtype=np.int8), (tail, head)), shape=(k, k))
    component = _by_first_member(connected_components(graph, directed=True, connection="weak")[1])
    strong = _by_first_member(connected_components(graph, directed=True, connection="strong")[1])
    fought = np.zeros(k, dtype=bool)
    fought[tally.low] = fought[tally.high] = True
    above, below = _unbounded(graph, component, strong)
    return Connectivity(component, strong, _dominance(graph, strong), above, below, fought)


def _one_meets_all(tally: Tally, both_scored: Flags) -> bool:
    """Has some competitor scored against, and lost points to, every other? Then all is strongly connected."""
    k = tally.n_competitors
    met = np.bincount(tally.low[both_scored], minlength=k) + np.bincount(tally.high[both_scored], minlength=k)
    return bool(met.max(initial=0) == k - 1)


def _by_first_member(labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """Labels renumbered by the smallest id they hold, so that they don't depend on the search."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    renumbered: NDArray[np.int32] = rank[inverse]
    return renumbered


def _reached(graph: csr_array, start: int) -> Flags:
    reached = np.zeros(graph.shape[0], dtype=bool)
    reached[breadth_first_order(graph, start, return_predecessors=False)] = True
    return reached


def _dominance(graph: csr_array, strong: NDArray[np.int32]) -> tuple[tuple[int, ...], ...]:
    """Strong parts in topological order: a part that beats another reaches more parts than it."""
    parts = [np.flatnonzero(strong == label) for label in range(strong.max(initial=-1) + 1)]
    reach = [len(np.unique(strong[_reached(graph, int(part[0]))])) for part in parts]
    order = sorted(range(len(parts)), key=lambda p: (-reach[p], p))
    return tuple(tuple(int(i) for i in parts[p]) for p in order)


def _unbounded(
    graph: csr_array, component: NDArray[np.int32], strong: NDArray[np.int32]
) -> tuple[Flags, Flags]:
    above, below = np.zeros((2, len(component)), dtype=bool)
    reverse = csr_array(graph.T)
    for label in range(component.max(initial=-1) + 1):
        members = component == label
        parts, sizes = np.unique(strong[members], return_counts=True)
        if len(parts) == 1:
            continue
        if (sizes == sizes.max()).sum() == 1:
            core = int(np.flatnonzero(strong == parts[sizes.argmax()])[0])
            beaten, beating = _reached(graph, core), _reached(reverse, core)
            outside = members & (strong != strong[core])
            above |= outside & ~beaten
            below |= outside & ~beating
        else:
            _flag_without_core(graph, reverse, members, strong, above, below)
    return above, below


def _flag_without_core(
    graph: csr_array,
    reverse: csr_array,
    members: Flags,
    strong: NDArray[np.int32],
    above: Flags,
    below: Flags,
) -> None:
    """No strong part is the largest: who dominates another part is unbounded above, the dominated below."""
    for i in np.flatnonzero(members):
        above[i] = (strong[_reached(graph, int(i))] != strong[i]).any()
        below[i] = (strong[_reached(reverse, int(i))] != strong[i]).any()
