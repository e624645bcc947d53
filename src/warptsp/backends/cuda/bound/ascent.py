"""The ascent of potentials along the degrees of spanning trees (``native/bound/held_karp.h``)."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warptsp import _native
from warptsp.backends.cuda import tuning
from warptsp.backends.cuda.primitives import scan_exclusive
from warptsp.machine import available_threads

from .graph import Graph, GraphBuilder
from .pricing import Pricing
from .spanning_tree import SpanningTree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.backends.cuda.device import Device, DeviceArray
    from warptsp.backends.cuda.geometry import Layout
    from warptsp.problem import Problem

_SCHEDULE = _native.ascent_schedule()
_ROOTS = 16  # leaves whose second edges are looked for among all pairs

_NO_LEAF = -(2**63)


@dataclass(slots=True)
class Best:
    """The best bound that holds for all pairs.

    Attributes
    ----------
    potential : DeviceArray of int32, shape (n,)
    value, root, rounds, certified
        As in `_native.HeldKarpBound`, but for the number of the root.
    """

    potential: DeviceArray
    value: int = 0
    root: int = 0
    rounds: int = 0
    certified: bool = False


class Ascent:
    """An ascent, with all that it has on the GPU; `begin` makes one.

    Attributes
    ----------
    exponent : int
        Lengths are in units of ``2**-exponent``.
    graph : Graph
        The present one.
    """

    def __init__(
        self, graphs: GraphBuilder, graph: Graph, clusters: tuple[NDArray[np.int32], NDArray[np.int32]]
    ) -> None:
        device, n = graphs.device, graphs.n
        self._graphs, self.graph, self._device, self._n = graphs, graph, device, n
        self.exponent, self.launch = graphs.exponent, graphs.launch
        least = _SCHEDULE["min_spacing"] * float(np.cumsum(graphs.spacing / n)[-1])
        steps = np.ceil(np.maximum(graphs.spacing, least) * graphs.scale).astype(np.int32)
        self._spacing = device.upload(steps)
        self._exact = device.upload(_SCHEDULE["first_potential"] * steps)
        self._velocity = device.zeros(n, np.float64)
        self._direction = device.empty(n, np.int64)
        self._potential = device.zeros(n, np.int32)
        self._best_here = device.empty(n, np.int32)
        self._place, self._ranges = (device.upload(array) for array in clusters)
        self._leaves = device.empty(min(n, _SCHEDULE["leaves"]), np.int64)
        self._tour_length = graphs.tour_length()
        self._tree = SpanningTree(graphs, n)
        self._tree.fit(graph)
        self._pricing = Pricing(graphs)
        self._pricing_seconds = 0.0
        self._best = Best(device.zeros(n, np.int32))
        self._value = self._tree_value = self._slope = self._first_looked_at = 0

    @classmethod
    def begin(
        cls,
        device: Device,
        problem: Problem,
        layout: Layout,
        tour: NDArray[np.int32] | None,
        token: _native.StopToken,
    ) -> Ascent | None:
        """An ascent along a tour, by default the greedy one; None if the token stopped it."""
        graphs = GraphBuilder(device, problem, layout)
        graph = graphs.begin(tour, token)
        clusters = None if graph is None else _clusters(graphs, graph, token)
        return None if graph is None or clusters is None else cls(graphs, graph, clusters)

    def climb(self, iterations: int, token: _native.StopToken) -> Best:
        """The best bound that was certified within so many rounds and the token's time."""
        began = time.monotonic()
        wait = priced_next = _SCHEDULE["first_wait"]
        best_value: int | None = None
        priced_near_end = False
        for round_ in range(iterations):
            if token.stopped():
                return self._best
            # The steps cool by rounds or by time, whichever runs out first.
            progress = round_ / iterations
            left = token.deadline() - _SCHEDULE["pricing_share"] * self._pricing_seconds - began
            if math.isfinite(left):
                progress = max(progress, (time.monotonic() - began) / left if left > 0.0 else 1.0)
            if progress >= 1.0:
                break
            self._evaluate(round_, exact=True)
            near_end = progress >= _SCHEDULE["near_end"]
            if round_ == priced_next or (near_end and not priced_near_end):
                priced_near_end = near_end
                before = self._value
                self._certify(round_, token, last=False)
                best_value = None  # of another graph
                much_lower = before - self._value > _SCHEDULE["large_drop"] * abs(before)
                wait = max(_SCHEDULE["first_wait"], wait // 2) if much_lower else 2 * wait
                priced_next = round_ + wait
            if best_value is None or self._value > best_value:
                best_value = self._value
                self._best_here.copy_from(self._potential)
            self._step(progress, first=round_ == 0)
        if best_value is None:
            return self._best
        self._potential.copy_from(self._best_here)
        self._evaluate(iterations, exact=False)
        while not self._certify(iterations, token, last=True) and not token.stopped():
            pass
        return self._best

    def _evaluate(self, round_: int, *, exact: bool) -> None:
        """The bound of the graph for the present potentials, or for exact ones rounded, and the way up."""
        n, tree = self._n, self._tree
        tree.clear()
        sums = tree.sums
        if exact:
            given = self._exact, np.int32(n), np.int32(_SCHEDULE["max_potential"])
            self._graphs.reduce("set_potentials", n, *given, self._potential, tree.surplus, sums[1:2])
        else:
            given_whole = self._potential, np.int32(n)
            self._graphs.reduce("sum_potentials", n, *given_whole, tree.surplus, sums[1:2])
        tree.make(self.graph, self._potential)
        self._first_looked_at = round_ * 7919 % n
        looked_at = np.int32(self._first_looked_at), np.int32(len(self._leaves))
        choose = self._graphs.module.kernel("choose_leaf")
        record = tree.record(self.graph, self._potential)
        choose.launch(1, tuning.BLOCK_THREADS, record, *looked_at, self._leaves, sums[2:3])
        self._set_directions()
        length, potentials, second, self._slope = (int(sum_) for sum_ in sums.download())
        self._tree_value = length - 2 * potentials
        self._value = self._tree_value + second

    def _set_directions(self) -> None:
        """Along the surplus of edges, of cities and of clusters."""
        device, n, count = self._device, self._n, len(self._ranges)
        changes = None
        if count:
            placed, changes = device.empty(n + 1, np.int32), device.zeros(n + 2, np.int64)
            placed[n:].zero()
            self.launch("place_surplus", n, self._place, self._tree.surplus, np.int32(n), placed)
            scan_exclusive(device, placed, placed, n + 1)
            limits = np.float64(_SCHEDULE["cluster_weight"]), np.int32(_SCHEDULE["max_cluster_surplus"])
            self.launch("step_clusters", count, self._ranges, np.int32(count), placed, *limits, changes)
            scan_exclusive(device, changes, changes, n + 2)
        given = self._spacing, self._tree.surplus, self._place, changes, np.int32(n)
        self._graphs.reduce("set_directions", n, *given, self._direction, self._tree.sums[3:])

    def _step(self, progress: float, *, first: bool) -> None:
        """No longer than what would reach the tour's length if the bound rose in a straight line."""
        length = _SCHEDULE["first_length"] * (1.0 - progress) ** 2
        if self._slope > 0:
            rest = max(float(self._tour_length - self._value), 1e-4 * self._tour_length)
            length = min(length, rest / self._slope)
        how = np.float64(length), np.float64(_SCHEDULE["momentum"]), np.int32(first), np.int32(self._n)
        self.launch("take_step", self._n, self._direction, *how, self._velocity, self._exact)

    def _certify(self, round_: int, token: _native.StopToken, *, last: bool) -> bool:
        """Find the exact bound for the present potentials, over all pairs, and a graph with all edges that it
        needs; False if the token stopped it, or if there were too many pairs."""
        began = time.monotonic()
        nodes = self._tree.nodes
        found = self._pricing.violated(nodes, self._potential, token)
        if found is None:
            return False
        violated, complete = found
        state = violated, nodes, self._potential, self._spacing
        renewed = self._graphs.renewed(self.graph, *state, -1.0 if last else _SCHEDULE["reach"], token)
        if renewed is None:
            return False
        if renewed is not self.graph:
            self.graph = renewed
            self._tree.fit(renewed)
        if len(violated):
            self._evaluate(round_, exact=False)
        if not complete:
            return False
        root, second = self._exact_second_edge()
        certified = self._tree_value + second
        self._pricing_seconds = time.monotonic() - began
        best = self._best
        best.certified = True
        if certified > best.value:
            best.potential.copy_from(self._potential)
            best.value, best.root, best.rounds = certified, root, round_
        return True

    def _exact_second_edge(self) -> tuple[int, int]:
        """The leaf with the longest second edge in the complete graph, of those where it is longest in the
        graph, and its length."""
        seconds = self._leaves.download()
        places = np.flatnonzero(seconds > _NO_LEAF)
        cities = (self._first_looked_at + places) % self._n
        some = cities[np.lexsort((cities, -seconds[places]))[:_ROOTS]].astype(np.int32)
        lengths = self._pricing.second_smallest(some, self._potential)
        longest = int(np.argmax(lengths))
        return int(some[longest]), int(lengths[longest])


def _clusters(
    graphs: GraphBuilder, graph: Graph, token: _native.StopToken
) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
    """The clusters of the tree without potentials (``native/bound/clusters.h``); None if it was stopped."""
    device, n = graphs.device, graphs.n
    tree = SpanningTree(graphs, n)
    tree.fit(graph)
    tree.make(graph, device.zeros(n, np.int32))
    edges = [device.empty(n - 1, np.int32) for _ in range(3)]
    graphs.launch("write_edges", n - 1, tree.taken, graph.ends, graph.owner, np.int32(n - 1), *edges)
    from_, to, length = (array.download() for array in edges)
    return _native.tree_clusters(from_, to, length, available_threads(), token)
