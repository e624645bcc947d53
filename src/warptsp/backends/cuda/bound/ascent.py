"""The ascent of potentials along the degrees of spanning trees (``native/bound/held_karp.h``)."""

import math
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.backends.cuda import records, tuning
from warptsp.backends.cuda.bound.graph import Graph, GraphBuilder, SpanningTree
from warptsp.backends.cuda.bound.pricing import Pricing
from warptsp.backends.cuda.device import Device, DeviceArray
from warptsp.backends.cuda.geometry import Layout
from warptsp.backends.cuda.primitives import blocks_for
from warptsp.machine import available_threads
from warptsp.problem import Problem

_SCHEDULE = _native.AscentSchedule
_ROOTS = 16  # leaves whose second edges are looked for among all pairs
_MAX_ROUNDS, _MAX_SECONDS = 64, 0.05  # of a launch, between two looks at the token

_NO_LEAF = _NO_BOUND = -(2**63)


@dataclass(slots=True)
class Best:
    """The best bound that holds for all pairs: `_native.HeldKarpBound`, but for the number of the root."""

    potential: DeviceArray
    value: int = 0
    root: int = 0
    rounds: int = 0
    certified: bool = False


class Ascent:
    """An ascent, with all that it has on the GPU; `begin` makes one."""

    def __init__(self, graphs: GraphBuilder, graph: Graph, further: NDArray[np.int32] | None) -> None:
        device, n = graphs.device, graphs.n
        # More cities at each, in the GPU's order.
        self._further = None if further is None else further[graphs.layout.city.download()].astype(np.int64)
        self._graphs, self.graph, self._device, self._n = graphs, graph, device, n
        self.exponent, self.launch = graphs.exponent, graphs.launch
        least = _SCHEDULE.min_spacing * float(np.cumsum(graphs.spacing / n)[-1])
        steps = np.ceil(np.maximum(graphs.spacing, least) * graphs.scale).astype(np.int32)
        self._kernel = graphs.module.kernel("ascend")
        at_once = self._kernel.blocks_per_multiprocessor(tuning.THREADS) * device.multiprocessors
        self._blocks = min(at_once, blocks_for(n))
        self._spacing = device.upload(steps)
        self._leaves = device.empty(min(n, _SCHEDULE.leaves), np.int64)
        self._best_here = device.empty(n, np.int32)
        self._rounds = device.empty(_MAX_ROUNDS + 1, records.ASCENT_ROUND.dtype)
        self._arrays = {
            "spacing": self._spacing,
            "exact": device.upload(_SCHEDULE.first_potential * steps),
            "velocity": device.empty(n, np.float64),
            "direction": device.empty(n, np.int64),
            "leaves": self._leaves,
            "best_here": self._best_here,
            "rounds": self._rounds,
        }
        self._clusters = 0
        self._tour_length = graphs.tour_length()
        self._tree = SpanningTree(device, n)
        self._tree.fit(graph)
        self._potential = self._tree.potential
        self._pricing = Pricing(graphs)
        self._pricing_seconds = 0.0
        self._round_seconds: float | None = None
        self._best = Best(device.zeros(n, np.int32))
        self._value = self._tree_value = self._first_looked_at = 0
        self._best_value = _NO_BOUND  # of the present graph, of rounds before the present one

    @classmethod
    def begin(
        cls,
        device: Device,
        problem: Problem,
        layout: Layout,
        tour: NDArray[np.int32] | None,
        token: _native.StopToken,
        further: NDArray[np.int32] | None = None,
    ) -> "Ascent | None":
        """An ascent along a tour, by default the greedy one; None if the token stopped it."""
        graphs = GraphBuilder(device, problem, layout)
        graph = graphs.begin(tour, token)
        if graph is None:
            return None
        ascent = cls(graphs, graph, further)
        return ascent if ascent._find_clusters(token) else None

    def climb(self, iterations: int, token: _native.StopToken) -> Best:
        """The best bound that was certified within so many rounds and the token's time."""
        began = time.monotonic()
        wait = priced_next = _SCHEDULE.first_wait
        near_end = math.ceil(_SCHEDULE.near_end * iterations)
        priced_near_end = False
        round_ = 0
        self._evaluate(0, exact=True)
        while not token.stopped():
            # The steps cool by rounds or by time, whichever runs out first.
            left = token.deadline() - _SCHEDULE.pricing_share * self._pricing_seconds - began
            by_time = -1.0
            if math.isfinite(left):
                by_time = (time.monotonic() - began) / left if left > 0.0 else 1.0
            progress = max(round_ / iterations, by_time)
            if progress >= 1.0:
                break
            is_near = round_ >= near_end or by_time >= _SCHEDULE.near_end
            if round_ == priced_next or (is_near and not priced_near_end):
                priced_near_end = is_near
                before = self._value
                self._certify(round_, token, last=False)
                self._best_value = _NO_BOUND
                much_lower = before - self._value > _SCHEDULE.large_drop * abs(before)
                wait = max(_SCHEDULE.first_wait, wait // 2) if much_lower else 2 * wait
                priced_next = round_ + wait
            if round_ == iterations - 1:
                break
            stops = [priced_next, iterations - 1] + ([] if priced_near_end else [near_end])
            count = min(min(stop for stop in stops if stop > round_) - round_, self._rounds_at_once())
            rate = 0.0
            if math.isfinite(left) and self._round_seconds is not None:
                rate = self._round_seconds / max(left, self._round_seconds)
                ahead = (1.0 if priced_near_end else _SCHEDULE.near_end) - progress
                count = max(1, min(count, math.ceil(ahead / rate)))
            self._advance(round_, count, iterations, (by_time, rate))
            round_ += count
        else:
            return self._best
        if self._value <= self._best_value:
            self._potential.copy_from(self._best_here)
        self._evaluate(iterations, exact=False)
        while not self._certify(iterations, token, last=True) and not token.stopped():
            pass
        return self._best

    def _rounds_at_once(self) -> int:
        """How many rounds to make before the next look at the token."""
        if self._round_seconds is None:
            return 1
        return max(1, min(_MAX_ROUNDS, int(_MAX_SECONDS / self._round_seconds)))

    def _evaluate(self, round_: int, *, exact: bool) -> None:
        """The bound of the graph for the present potentials, or for exact ones rounded, and the way up."""
        self._rounds[:1].zero()
        self._launch(round_, 0, 1, exact=exact)
        self._read(round_, self._rounds[:1].download()[0])

    def _advance(self, round_: int, count: int, iterations: int, by_time: tuple[float, float]) -> None:
        """Take steps from this round, which is evaluated, to each of as many later ones.

        `by_time` says how far the ascent is by the time that is gone, and how much farther with each round.
        """
        began = time.monotonic()
        self._rounds[1 : count + 1].zero()
        self._launch(round_, count, iterations, by_time=by_time)
        rounds = self._rounds[1 : count + 1].download()
        self._rounds[:1].copy_from(self._rounds[count : count + 1])
        values = [self._value, *(_value_of(some) for some in rounds[:-1])]
        self._best_value = max(self._best_value, *values)
        self._read(round_ + count, rounds[-1])
        self._round_seconds = (time.monotonic() - began) / count

    def _launch(
        self,
        round_: int,
        count: int,
        iterations: int,
        *,
        exact: bool = False,
        by_time: tuple[float, float] = (-1.0, 0.0),
    ) -> None:
        self._tree.arrived.zero()
        ascent = records.ASCENT(
            tour_length=self._tour_length,
            best=self._best_value,
            progress=by_time[0],
            progress_a_round=by_time[1],
            clusters=self._clusters,
            looked_at=len(self._leaves),
            max_potential=_SCHEDULE.max_potential,
            **self._arrays,
        )
        numbers = (np.int32(number) for number in (round_, count, iterations, exact))
        record = self._tree.record(self.graph)
        self._kernel.launch(self._blocks, tuning.THREADS, record, ascent, *numbers, cooperative=True)

    def _read(self, round_: int, figures: np.void) -> None:
        """Take over what a round has found."""
        self._first_looked_at = round_ * 7919 % self._n
        self._value = _value_of(figures)
        self._tree_value = self._value - int(figures["second"])

    def _find_clusters(self, token: _native.StopToken) -> bool:
        """Find the clusters of the tree without potentials (``native/bound/clusters.h``); False if the token
        stopped it."""
        device, n = self._device, self._n
        self._evaluate(0, exact=False)
        from_, to, length = self._edges()
        found = _native.tree_clusters(from_, to, length, available_threads(), token)
        if found is None:
            return False
        order, ranges = found
        self._clusters = len(ranges)
        if len(ranges):
            self._arrays |= {
                "ranges": device.upload(ranges),
                "order": device.upload(order),
                "placed": device.empty(n + 1, np.int32),
                "change": device.empty(n + 1, np.int64),
                "tile_surplus": device.empty(self._blocks, np.int32),
                "tile_change": device.empty(self._blocks, np.int64),
            }
        return True

    def _edges(self) -> list[NDArray[np.int32]]:
        """The ends of the tree's edges, and their lengths without potentials."""
        n, graph = self._n, self.graph
        edges = [self._device.empty(n - 1, np.int32) for _ in range(3)]
        self.launch("write_edges", n - 1, self._tree.taken, graph.ends, graph.owner, np.int32(n - 1), *edges)
        return [array.download() for array in edges]

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
        renewed = self._graphs.renewed(self.graph, *state, token, all_stay=last)
        if renewed is None:
            return False
        if renewed is not self.graph:
            self.graph = renewed
            self._tree.fit(renewed)
        if len(violated) or self._further is not None:
            self._evaluate(round_, exact=False)
        if not complete:
            return False
        leaves, seconds = self._exact_second_edges()
        longest = int(np.argmax(seconds))
        cities = OfCities(0, int(leaves[longest]), int(seconds[longest]), None)
        if self._further is not None:
            from_, to, length = self._edges()
            potential = self._potential.download().astype(np.int64)
            lengths = length + potential[from_] + potential[to]
            cities = of_cities(self._further, np.stack([from_, to]), lengths, potential, leaves, seconds)
        certified = self._tree_value + cities.added + cities.second
        self._pricing_seconds = time.monotonic() - began
        best = self._best
        best.certified = True
        if certified > best.value:
            best.potential.copy_from(self._potential)
            best.value, best.root, best.rounds = certified, cities.root, round_
            if cities.raised is not None:
                best.potential[cities.root : cities.root + 1].upload(np.array([cities.raised], np.int32))
        return True

    def _exact_second_edges(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The leaves with the longest second edges in the graph, and how long these are in the complete
        one."""
        seconds = self._leaves.download()
        places = np.flatnonzero(seconds > _NO_LEAF)
        cities = (self._first_looked_at + places) % self._n
        some = cities[np.lexsort((cities, -seconds[places]))[:_ROOTS]].astype(np.int32)
        return some, self._pricing.second_smallest(some, self._potential)


def _value_of(figures: np.void) -> int:
    """The bound of the graph that a round has found, from struct AscentRound."""
    return int(figures["tree_length"]) - 2 * int(figures["potentials"]) + int(figures["second"])


class OfCities(NamedTuple):
    """The shortest spanning tree of all cities, beside that of the places (``native/bound/held_karp.h``)."""

    added: int  # by further cities, with what is subtracted for their potentials
    root: int  # the place of a leaf with one edge more,
    second: int  # and the length of that edge
    raised: int | None  # the potential that the root's cities get, None to stay as they are


def of_cities(
    further: NDArray[np.int64],
    ends: NDArray[np.int32],
    lengths: NDArray[np.int64],
    potential: NDArray[np.int64],
    leaves: NDArray[np.int32],
    seconds: NDArray[np.int64],
) -> OfCities:
    """Return what holds for all cities, of the shortest spanning tree of m places.

    So many `further` cities stand at each place, and each has a `potential`. The tree has the edges with
    these `ends`, of shape (2, m - 1), and `lengths`, potentials included; `seconds` are the lengths of the
    second shortest edges to other places at some of its `leaves`.
    """
    shortest = np.full(len(further), np.iinfo(np.int64).max)
    np.minimum.at(shortest, ends.reshape(-1), np.tile(lengths, 2))
    # A further city hangs at its own place or at the nearest one.
    added = int((further * np.minimum(0, shortest - 2 * potential)).sum())
    # Of a leaf with several they may have a higher potential: the tree is the same.
    risen = shortest - potential
    can_rise = (np.bincount(ends.reshape(-1), minlength=len(further)) == 1) & (risen >= potential)
    can_rise &= (risen <= _native.AscentSchedule.max_potential) & (further > 1)
    second = np.where((further > 1) & ~can_rise, np.minimum(shortest, 2 * potential), shortest)
    second[further == 0] = _NO_LEAF
    # At a leaf next to a place with several cities two edges are the shortest.
    beside = np.zeros(len(further), dtype=bool)
    beside[ends[further[ends[::-1]] > 0]] = True
    alone = further[leaves] == 0
    second[leaves[alone]] = np.where(beside[leaves], shortest[leaves], seconds)[alone]
    root = int(np.argmax(second))
    return OfCities(added, root, int(second[root]), int(risen[root]) if can_rise[root] else None)
