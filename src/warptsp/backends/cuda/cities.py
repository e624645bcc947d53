"""The cities of an instance as the search of a GPU knows them (``native/lk/warp_metric.h``).

For closed tours in the plane and in space the GPU makes all of it from the coordinates (`geometry`). For all
else numbering, candidate lists and start tour are those of the CPU's search (`backends.instance`). Either way
cities near each other have numbers near each other: parts are pieces of that order, and of others like it.
"""

import copy
import math
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.backends.cuda import geometry
from warptsp.backends.cuda.device import Device, DeviceArray
from warptsp.backends.cuda.primitives import take
from warptsp.backends.instance import SearchInstance, fixed_partners, inverse, native_distances
from warptsp.problem import Metric, Problem

ORDERS = 3  # from which blobs are cut: the numbering, and others whose pieces have their seams elsewhere
TURNED = ((0.6, (0.3, 0.1)), (1.1, (0.1, 0.4)))  # angle and shift of the others in the plane and in space

_ENTRIES = 1 << 23  # of a matrix that go to the GPU at once
_MIN_GROUP = 16  # cities of a group of a compact order that is not halved


def is_plain(problem: Problem) -> bool:
    """Tell whether the GPU makes candidate lists and start tour of this problem by itself."""
    return (problem.metric.planar or problem.metric.spatial) and problem.open is None


class Cities:
    """What the search knows of the cities; all arrays in the search's numbers."""

    points: DeviceArray | None = None  # float64, shape (n, 2) or (n, 3)
    matrix: DeviceArray | None = None  # float32, shape (n, n)
    fixed: DeviceArray | None = None  # int32, shape (n, 2): cities that each stays linked to, -1 for none
    dummy = False  # whether the last city is the dummy of an open path
    closing: int | float = 0  # what a closed tour is longer than the path that it stands for

    def __init__(self, device: Device, problem: Problem, n: int, candidates: DeviceArray) -> None:
        self.device = device
        self.metric: Metric = problem.metric
        self.n = n  # the dummy included
        self.integral = problem.integral
        self.candidates = candidates  # int32, shape (n, count)
        # From which blobs are cut, and their inverses, as far as they were made; 0 is the numbering itself.
        self.orders: dict[int, tuple[DeviceArray, DeviceArray]] = {}

    def problems(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """The problem's tour, or path, for a closed tour of the search."""
        raise NotImplementedError

    def problems_own(self, tour: DeviceArray, room: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
        """The same for a tour in the memory of its GPU, written to `room` if there is one."""
        return self.problems(tour.download())

    def numbered(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """The search's closed tour for a tour of the problem."""
        raise NotImplementedError

    def second_order(self, number: int, token: _native.StopToken) -> DeviceArray | None:
        """The cities in another order, 1 to `ORDERS` - 1, that keeps neighbours together; None if the token
        stopped it."""
        raise NotImplementedError

    def search_instance(self) -> SearchInstance:
        """The instance in these numbers, for searches of the CPU; without fixed edges and dummy city."""
        raise NotImplementedError

    def length(self, tour: DeviceArray) -> int | float:
        """The length of a closed tour, exact for metrics of integers; waits for it."""
        assert self.points is not None  # else it is another one's
        return geometry.tour_length(self.device, self.points, tour, self.metric)

    def copy_to(self, device: Device, **there: DeviceArray) -> "Cities":
        """The same cities on another GPU, for rounds alone: without what sets them up.

        `there` are attributes whose arrays are on that GPU already.
        """
        other = copy.copy(self)
        other.device = device
        other.orders = {}
        for name in ("points", "matrix", "fixed", "candidates"):
            array: DeviceArray | None = getattr(self, name)
            if array is not None:
                setattr(other, name, there.get(name) or array.copy_to(device))
        return other

    def path_graph(self) -> _native.PathGraph:
        """What makes one tour of the paths that parts hand over."""
        raise NotImplementedError

    def _path_graph(self, rows: NDArray[Any], row: NDArray[np.int32]) -> _native.PathGraph:
        """The same for the rows of points or of a matrix, and which of them each city has; empty: its own."""
        return _native.PathGraph(
            distances=native_distances(self.metric, rows, whole=self.integral),
            row=row,
            fixed=np.empty((0, 2), np.int32) if self.fixed is None else self.fixed.download(),
        )


class PlaneCities(Cities):
    """Cities of the plane or of space, set up by the GPU."""

    points: DeviceArray

    def __init__(
        self, device: Device, layout: geometry.Layout, problem: Problem, candidates: DeviceArray
    ) -> None:
        super().__init__(device, problem, layout.n, candidates)
        self.problem = problem
        self.layout = layout
        self.made_orders: dict[int, DeviceArray] = {}  # second orders that another GPU has made
        self.points = layout.points
        if len(problem.fixed_edges):
            edges = inverse(self.city)[problem.fixed_edges]
            self.fixed = device.upload(fixed_partners(self.n, edges))

    @cached_property
    def city(self) -> NDArray[np.int32]:
        """The problem's city for each of the search's."""
        return self.layout.city.download()

    def problems(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        return self.city[tour]

    def problems_own(self, tour: DeviceArray, room: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
        return geometry.problems_tour(self.device, self.layout, tour).download(room)

    def some_links(self, tour: DeviceArray, count: int) -> NDArray[np.int32]:
        """The ends, cities of the problem, of some links of a tour of the search, at random but always the
        same ones: int32 of shape (2, count)."""
        last = np.random.default_rng(0).integers(0, self.n, count).astype(np.int32)
        first = np.where(last == 0, np.int32(self.n), last) - np.int32(1)
        places = self.device.upload(np.concatenate([first, last]))
        ends = take(self.device, self.layout.city, take(self.device, tour, places))
        return ends.download().reshape(2, count)

    def numbered(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        return inverse(self.city)[tour]

    def path_graph(self) -> _native.PathGraph:
        return self._path_graph(self.problem.search_points(), self.city)

    def second_order(self, number: int, token: _native.StopToken) -> DeviceArray | None:
        if number in self.made_orders:
            return self.made_orders.pop(number).copy_to(self.device)
        return geometry.second_order(self.device, self.layout, *TURNED[number - 1], token)

    def search_instance(self) -> SearchInstance:
        points = self.layout.points.download()
        return SearchInstance(self.problem, self.city, points, np.empty((0, 2), np.int32), None, 0)


class HostCities(Cities):
    """Cities that the CPU has numbered; candidate lists and tours come from its search instance."""

    def __init__(self, device: Device, instance: SearchInstance, rows: NDArray[np.int32]) -> None:
        self.instance = instance
        super().__init__(
            device,
            instance.problem,
            instance.size,
            device.upload(np.ascontiguousarray(self._candidates(rows))),
        )
        self.dummy = instance.dummy is not None
        self.closing = instance.closing
        if len(instance.fixed_edges):
            edges = self.renumbered(instance.fixed_edges)
            self.fixed = device.upload(fixed_partners(self.n, edges))

    @staticmethod
    def build(
        device: Device, instance: SearchInstance, rows: NDArray[np.int32], token: _native.StopToken
    ) -> "HostCities | None":
        """The cities with these candidate lists of the instance; None if the token stopped it."""
        if not instance.has_matrix:
            return PointCities(device, instance, rows)
        matrix = _uploaded(device, instance, order := _order_of_matrix(instance, 0), token)
        return None if matrix is None else MatrixCities(device, instance, rows, order, matrix)

    def numbered(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        return self.renumbered(self.instance.close(tour))

    def renumbered(self, cities: NDArray[np.int32]) -> NDArray[np.int32]:
        """The search's numbers for those of the instance; -1 stays."""
        return cities

    def _candidates(self, rows: NDArray[np.int32]) -> NDArray[np.int32]:
        """Candidate lists in the search's numbers, for those of the instance."""
        return rows


class PointCities(HostCities):
    """Cities that have the numbers of the CPU's search."""

    points: DeviceArray

    def __init__(self, device: Device, instance: SearchInstance, rows: NDArray[np.int32]) -> None:
        super().__init__(device, instance, rows)
        self.points = device.upload(instance.rows)

    def problems(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        return self.instance.open(tour)

    def second_order(self, number: int, token: _native.StopToken) -> DeviceArray | None:
        cities = self.n - self.dummy
        rows = _turned(self.instance.rows[:cities], number)
        order = _native.space_filling_curve(rows, "hilbert", token)
        if order is None:
            return None
        order = order[order < cities]  # without the corners
        return self.device.upload(np.append(order, np.arange(cities, self.n, dtype=np.int32)))

    def search_instance(self) -> SearchInstance:
        return self.instance

    def path_graph(self) -> _native.PathGraph:
        return self._path_graph(self.instance.rows, np.empty(0, np.int32))


class MatrixCities(HostCities):
    """Cities of a matrix, in an order that keeps neighbours together."""

    def __init__(
        self,
        device: Device,
        instance: SearchInstance,
        rows: NDArray[np.int32],
        order: NDArray[np.int32],
        matrix: DeviceArray,
    ) -> None:
        self.old = order  # the instance's number for each of the search's
        self._new = inverse(order)
        super().__init__(device, instance, rows)
        self.matrix = matrix

    def problems(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        return self.instance.open(self.old[tour])

    def renumbered(self, cities: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.append(self._new, np.int32(-1))[cities]

    def _candidates(self, rows: NDArray[np.int32]) -> NDArray[np.int32]:
        return self.renumbered(rows[self.old])

    def second_order(self, number: int, token: _native.StopToken) -> DeviceArray | None:
        return self.device.upload(self.renumbered(_order_of_matrix(self.instance, number)))

    def search_instance(self) -> SearchInstance:
        rows = self.instance.rows[np.ix_(self.old, self.old)]
        return replace(self.instance, city=self.old, rows=rows)

    def length(self, tour: DeviceArray) -> int | float:
        cities = self.old[tour.download()]
        links = self.instance.rows[cities, np.roll(cities, -1)]
        return int(links.sum(dtype=np.int64)) if self.integral else float(links.sum())

    def path_graph(self) -> _native.PathGraph:
        return self._path_graph(self.instance.rows, self.old)


def compact_order(matrix: NDArray[Any], seed: int) -> NDArray[np.int32]:
    """The cities of a matrix in an order that keeps neighbours together; the seed names it.

    Groups are halved again and again, by how much nearer a city is to the group before than to the group
    behind. Pieces of the order are as compact as those of a space-filling curve to some 15 % of their radius.
    """
    n = len(matrix)
    random = np.random.default_rng(seed)
    order = np.arange(n, dtype=np.int32)
    bounds = np.array([0, n])

    def pick(goals: NDArray[np.int32], sign: int) -> NDArray[np.int32]:
        """The city of each group nearest to its goal, or farthest for sign -1."""
        away = sign * matrix[goals[group], order]
        places = np.flatnonzero(away == np.minimum.reduceat(away, bounds[:-1])[group])
        first: NDArray[np.int32] = order[places[np.unique(group[places], return_index=True)[1]]]
        return first

    while (sizes := np.diff(bounds)).max() > _MIN_GROUP:
        group = np.repeat(np.arange(len(sizes)), sizes)
        if len(sizes) == 1:  # the direction of the first cut makes orders differ
            some = random.permutation(n).astype(np.int32)[:8]
            far = int(np.argmax(matrix[some[0], some]))
            low, high = some[:1], some[far : far + 1]
        else:
            low = pick(order[bounds[:-1] - 1], 1)
            high = pick(order[bounds[1:] % n], 1)
            high = np.where(low == high, pick(low, -1), high)
        nearness = matrix[low[group], order].astype(np.float64) - matrix[high[group], order]
        order = order[np.lexsort((nearness, group))]
        middles = (bounds[:-1] + bounds[1:]) // 2
        bounds = np.sort(np.concatenate([bounds, middles[sizes > _MIN_GROUP]]))
    return order


def _order_of_matrix(instance: SearchInstance, number: int) -> NDArray[np.int32]:
    """The cities of a matrix in an order that keeps neighbours together, and then the dummy city."""
    cities = len(instance.city)
    order = compact_order(instance.rows[:cities, :cities], number)
    return np.append(order, np.arange(cities, instance.size)).astype(np.int32)


def _uploaded(
    device: Device, instance: SearchInstance, order: NDArray[np.int32], token: _native.StopToken
) -> DeviceArray | None:
    """The matrix in this order; None if the token stopped it."""
    n = instance.size
    matrix = device.empty((n, n), np.float32)
    rows = max(1, _ENTRIES // n)
    for begin in range(0, n, rows):
        if token.stopped():
            return None
        some = instance.rows[order[begin : begin + rows]]
        matrix[begin : begin + rows].upload(some[:, order].astype(np.float32))
    return matrix


def _turned(points: NDArray[np.float64], number: int) -> NDArray[np.float64]:
    """The points turned at random, and two corners of a larger box around them, so that a curve through the
    box is cut elsewhere."""
    random = np.random.default_rng(number)
    dimensions = points.shape[1]
    turn = np.linalg.qr(random.normal(size=(dimensions, dimensions)))[0]
    rows = (points - points[0]) @ turn
    low, high = rows.min(axis=0), rows.max(axis=0)
    share = random.random(dimensions)
    extent = float((high - low).max()) * math.sqrt(0.5)
    return np.vstack([rows, low - share * extent, high + (1.0 - share) * extent])
