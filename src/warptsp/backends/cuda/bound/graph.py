"""The edges among which an ascent looks for its trees (``native/bound/candidate_edges.h``), and where it
makes these (``native/cuda/bound.cu``)."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.backends.cuda import records, tuning
from warptsp.backends.cuda.compiler import Source
from warptsp.backends.cuda.device import Device, DeviceArray
from warptsp.backends.cuda.geometry import Layout
from warptsp.backends.cuda.greedy import greedy_tour
from warptsp.backends.cuda.plane_candidates import candidate_lists
from warptsp.backends.cuda.primitives import blocks_for, scan_exclusive, sort_by_key
from warptsp.problem import Metric, Problem

LISTS = (8, 1)  # candidates of a city, and how many of them are from each quadrant at least
_SCHEDULE = _native.AscentSchedule
NEAR = _SCHEDULE.nearest_edges


@dataclass(frozen=True, slots=True)
class Graph:
    """Each city's neighbours in ascending order; those of city v begin at ``first[v]``."""

    arcs: int  # twice the number of edges
    first: DeviceArray  # int32, shape (n + 1,)
    ends: DeviceArray  # int32, shape (arcs, 2), struct BoundArc: the neighbour, and the whole distance to it
    owner: DeviceArray  # int32, shape (arcs,): whose neighbour it is


def source_of(metric: Metric) -> Source:
    """The kernels of a bound."""
    return Source("bound.cu", (), {"METRIC_KIND": metric.kind}, fmad=False)


class GraphBuilder:
    """Makes the graphs of one problem, with whole distances in units of ``2**-exponent``."""

    def __init__(self, device: Device, problem: Problem, layout: Layout) -> None:
        self.device, self.module = device, device.module(source_of(problem.metric))
        self.launch = self.module.each
        self.n, self.layout, self.problem = layout.n, layout, problem
        self.bits = np.int32(max(1, (layout.n - 1).bit_length()))  # of a city
        # The city behind each on the tour, whose edges are in every graph.
        self.following = device.empty(layout.n, np.int32)
        self.spacing: NDArray[np.float64] = np.zeros(0)  # the mean distance of each city to its nearest ones
        self.exponent = 0

    @property
    def scale(self) -> np.float64:
        """Of whole distances."""
        return np.float64(math.ldexp(1.0, self.exponent))

    def begin(self, tour: NDArray[np.int32] | None, token: _native.StopToken) -> Graph | None:
        """The first graph, with the edges of a tour, by default the greedy one; None if the token stopped
        it."""
        device, n, (count, per_quadrant) = self.device, self.n, LISTS
        norm = self.problem.metric.norm
        rows = candidate_lists(device, self.layout, count, per_quadrant, norm, token)
        if rows is None or not self._follow(tour, rows, token):
            return None
        keys, spacing = device.empty(2 * (count + 1) * n, np.uint64), device.empty(n, np.float64)
        size, longest = device.zeros(1, np.int32), device.zeros(1, np.float64)
        lists = rows, np.int32(count), np.int32(NEAR), self.following, np.int32(n), self.bits
        self.launch("first_edges", n, self.layout.points, *lists, spacing, keys, size, longest)
        del rows, lists
        self.exponent = _native.whole_exponent(float(longest.download()[0]), self.problem.integral)
        self.spacing = spacing.download()
        return self.build(keys, int(size.download()[0]), token)

    def _follow(self, tour: NDArray[np.int32] | None, rows: DeviceArray, token: _native.StopToken) -> bool:
        device, n = self.device, self.n
        if tour is None:
            along = greedy_tour(device, self.layout, rows, LISTS[1], self.problem.metric, token)
            if along is None:
                return False
            self.launch("next_cities", n, along, None, np.int32(n), self.following)
        else:
            number = device.empty(n, np.int32)
            self.launch("number_cities", n, self.layout.city, np.int32(n), number)
            self.launch("next_cities", n, device.upload(tour), number, np.int32(n), self.following)
        return True

    def build(self, keys: DeviceArray, size: int, token: _native.StopToken) -> Graph | None:
        """The graph of `size` arcs in any order, some more than once; None if the token stopped it.

        The keys are uint64: from, in the upper bits, and to; they are lost.
        """
        device, n = self.device, self.n
        nothing = device.empty(size, np.int32)
        if (found := sort_by_key(device, keys, nothing, size, 2 * int(self.bits), token)) is None:
            return None
        ordered = found[0]
        del nothing, found
        places = device.empty(size, np.int32)
        self.launch("mark_first", size, ordered, np.int32(size), places)
        arcs = int(scan_exclusive(device, places, places, size).download()[0])
        first = device.empty(n + 1, np.int32)
        first[n:].upload(np.array([arcs], np.int32))
        ends, owner = device.empty((arcs, 2), np.int32), device.empty(arcs, np.int32)
        given = self.layout.points, self.scale, ordered, places, np.int32(size), self.bits
        self.launch("write_arcs", size, *given, first, ends, owner)
        return Graph(arcs, first, ends, owner)

    def renewed(
        self,
        graph: Graph,
        violated: DeviceArray,
        nodes: DeviceArray,
        potential: DeviceArray,
        spacing: DeviceArray,
        token: _native.StopToken,
        *,
        all_stay: bool,
    ) -> Graph | None:
        """The graph with violated pairs, and without edges that are much longer than the tree's way between
        their ends, unless all stay; None if the token stopped it.

        `violated` are both arcs of each pair, as keys, and `nodes` those of the spanning tree's merge tree.
        """
        device, count = self.device, len(violated)
        keys, size = device.empty(graph.arcs + count, np.uint64), device.zeros(1, np.int32)
        arcs = graph.owner, graph.ends, np.int32(graph.arcs)
        far_share = np.float64(graph.arcs <= 2 * _SCHEDULE.max_edges * self.n)
        limits = spacing, self.following, np.int32(all_stay), far_share, self.bits
        self.launch("keep_arcs", graph.arcs, *arcs, nodes, potential, *limits, keys, size)
        kept = int(size.download()[0])
        if kept == graph.arcs and not count:
            return graph
        keys[kept : kept + count].copy_from(violated)
        return self.build(keys, kept + count, token)

    def tour_length(self) -> int:
        """The tour's length in whole distances."""
        length = self.device.zeros(1, np.int64)
        n, points = np.int32(self.n), self.layout.points
        blocks = min(tuning.REDUCTION_BLOCKS, blocks_for(self.n))
        kernel = self.module.kernel("whole_tour_length")
        kernel.launch(blocks, tuning.THREADS, points, self.scale, self.following, n, length)
        return int(length.download()[0])


class SpanningTree:
    """The shortest spanning tree of a graph by Borůvka's algorithm, and the memory in which it is made."""

    def __init__(self, device: Device, n: int) -> None:
        self._device, self._n = device, n
        self.potential = device.zeros(n, np.int32)  # added to the length of the edges at each city
        self.nodes = device.empty((2 * n, 2), np.int32)  # struct MergeNode: the merges by which it was made
        self.taken = device.empty(n, np.int32)  # the arcs that are its n - 1 edges
        self.arrived = device.empty(1, np.int32)
        self._arrays = {
            "potential": self.potential,
            "nodes": self.nodes,
            "taken": self.taken,
            "arrived": self.arrived,
            "best": device.empty(n, np.uint64),
            **{name: device.empty(n, np.int32) for name in ("partner", "chosen", "number", "surplus")},
        }

    def fit(self, graph: Graph) -> None:
        """Have memory for the edges of this graph."""
        for name in ("edges", "other_edges"):
            self._arrays[name] = self._device.empty((graph.arcs // 2, 4), np.int32)

    def record(self, graph: Graph) -> np.void:
        """Struct TreeOnDevice."""
        arcs = {"first": graph.first, "arcs": graph.ends, "owner": graph.owner}
        return records.SPANNING_TREE(n=self._n, **arcs, **self._arrays)
