"""The cities of an instance as the search of a GPU knows them (``native/lk/warp_metric.h``).

For closed tours in the plane the GPU makes all of it from the coordinates (`backends.cuda.geometry`). For
everything else numbering, candidate lists and start tour are those of the
CPU's search (`backends.instance`), and only the search runs on the GPU.

Either way cities are numbered so that those near each other have numbers near each other: parts are pieces of
that order, and of others like it.
"""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from warptsp import _native
from warptsp.backends.cuda import geometry
from warptsp.backends.cuda.primitives import take
from warptsp.backends.instance import SearchInstance, fixed_partners

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.backends.cuda.device import Device, DeviceArray
    from warptsp.problem import Metric, Problem

ORDERS = 3  # from which blobs are cut: the numbering, and others whose pieces have their seams elsewhere
TURNED = ((0.6, (0.3, 0.1)), (1.1, (0.1, 0.4)))  # angle and shift of the others in the plane

_ENTRIES = 1 << 23  # of a matrix that go to the GPU at once
_MIN_GROUP = 16


def is_plain(problem: Problem) -> bool:
    """Tell whether the GPU makes candidate lists and start tour of this problem by itself."""
    return problem.metric.planar and problem.open is None


class Cities:
    """What the search knows of the cities; all arrays in the search's numbers.

    Attributes
    ----------
    device : Device
    n : int
        Cities, a dummy one included.
    metric : Metric
    integral : bool
    dummy : bool
        Whether the last city is the dummy of an open path.
    points : DeviceArray of float64, shape (n, 2) or (n, 3), or None
    matrix : DeviceArray of float32, shape (n, n), or None
    fixed : DeviceArray of int32, shape (n, 2), or None
        The cities that each must stay linked to, -1 for none.
    candidates : DeviceArray of int32, shape (n, count), or None
        To be set before there is a search.
    closing : int or float
        What a closed tour is longer than the path that it stands for.
    orders : dict
        Orders from which blobs are cut, and their inverses, by number, as far as they were made; None for
        both is the numbering.
    """

    points: DeviceArray | None = None
    matrix: DeviceArray | None = None
    fixed: DeviceArray | None = None
    candidates: DeviceArray | None = None
    dummy = False
    closing: int | float = 0

    def __init__(self, device: Device, metric: Metric, n: int, *, integral: bool) -> None:
        self.device = device
        self.metric = metric
        self.n = n
        self.integral = integral
        self.orders: dict[int, tuple[DeviceArray | None, DeviceArray | None]] = {0: (None, None)}

    def problems(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """The problem's tour, or path, for a closed tour of the search."""
        raise NotImplementedError

    def problems_own(self, tour: DeviceArray, room: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
        """The problem's tour, or path, for a closed tour of the search in the memory of its GPU.

        Parameters
        ----------
        tour : DeviceArray of int32, shape (n,)
        room : ndarray of int32, shape (n,), optional
            Where it may be written.
        """
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
        assert self.points is not None
        return geometry.tour_length(self.device, self.points, tour, self.metric)

    def copy_to(self, device: Device, **there: DeviceArray) -> Cities:
        """The same cities on another GPU, for rounds alone: without what sets them up.

        Parameters
        ----------
        device : Device
        **there : DeviceArray
            Attributes whose arrays are on that GPU already.
        """
        other = copy.copy(self)
        other.device = device
        other.orders = {0: (None, None)}
        for name in ("points", "matrix", "fixed", "candidates"):
            array: DeviceArray | None = getattr(self, name)
            if array is not None:
                setattr(other, name, there.get(name) or array.copy_to(device))
        return other

    def path_graph(self) -> _native.PathGraph:
        """What makes one tour of the paths that parts hand over."""
        assert self.points is not None
        return self._path_graph(points=self.points.download())

    def _path_graph(
        self,
        points: NDArray[np.float64] | None = None,
        matrix: NDArray[Any] | None = None,
        row: NDArray[np.int32] | None = None,
    ) -> _native.PathGraph:
        whole = matrix is not None and np.issubdtype(matrix.dtype, np.integer)
        return _native.PathGraph(
            kind=self.metric.kind,
            points=points,
            int_matrix=matrix if whole else None,
            real_matrix=None if whole else matrix,
            row=np.empty(0, np.int32) if row is None else row,
            fixed=np.empty((0, 2), np.int32) if self.fixed is None else self.fixed.download(),
        )


class PlaneCities(Cities):
    """Cities of the plane, set up by the GPU."""

    def __init__(self, device: Device, layout: geometry.Layout, problem: Problem) -> None:
        super().__init__(device, problem.metric, layout.n, integral=problem.integral)
        self.problem = problem
        self.layout = layout
        self.made_orders: dict[int, DeviceArray] = {}  # second orders that another GPU has made
        self.points = layout.points
        if len(problem.fixed_edges):
            edges = _inverse(self.city)[problem.fixed_edges]
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
        """Some links of a tour of the search, at random but always the same ones.

        Returns
        -------
        ndarray of int32, shape (2, count)
            Their ends, the problem's cities.
        """
        last = np.random.default_rng(0).integers(0, self.n, count).astype(np.int32)
        first = np.where(last == 0, np.int32(self.n), last) - np.int32(1)
        places = self.device.upload(np.concatenate([first, last]))
        ends = take(self.device, self.layout.city, take(self.device, tour, places))
        return ends.download().reshape(2, count)

    def numbered(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        return _inverse(self.city)[tour]

    def path_graph(self) -> _native.PathGraph:
        return self._path_graph(points=self.problem.search_points(), row=self.city)

    def second_order(self, number: int, token: _native.StopToken) -> DeviceArray | None:
        if number in self.made_orders:
            return self.made_orders.pop(number).copy_to(self.device)
        return geometry.second_order(self.device, self.layout, *TURNED[number - 1], token)

    def search_instance(self) -> SearchInstance:
        points = self.layout.points.download()
        return SearchInstance(self.problem, self.city, points, None, np.empty((0, 2), np.int32), None, 0)


class HostCities(Cities):
    """Cities that the CPU has numbered; candidate lists and tours come from its search instance."""

    def __init__(self, device: Device, instance: SearchInstance) -> None:
        problem = instance.problem
        super().__init__(device, problem.metric, instance.size, integral=problem.integral)
        self.instance = instance
        self.dummy = instance.dummy is not None
        self.closing = instance.closing
        # The instance's number for each of the search's: another one only for matrices.
        self._old: NDArray[np.int32] | None = None
        if instance.matrix is not None:
            self._old = self._order_of_matrix(0)
            self._new = _inverse(self._old)
        else:
            assert instance.points is not None
            self.points = device.upload(instance.points)
        if len(instance.fixed_edges):
            edges = instance.fixed_edges if self._old is None else self._new[instance.fixed_edges]
            self.fixed = device.upload(fixed_partners(self.n, edges))

    @classmethod
    def build(
        cls, device: Device, instance: SearchInstance, rows: NDArray[np.int32], token: _native.StopToken
    ) -> HostCities | None:
        """The cities with these candidate lists of the instance; None if the token stopped it."""
        cities = cls(device, instance)
        ordered = rows if cities._old is None else cities.renumbered(rows[cities._old])
        cities.candidates = device.upload(np.ascontiguousarray(ordered))
        return cities if instance.matrix is None or cities._upload_matrix(token) else None

    def problems(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        return self.instance.open(tour if self._old is None else self._old[tour])

    def numbered(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        return self.renumbered(self.instance.close(tour))

    def renumbered(self, cities: NDArray[np.int32]) -> NDArray[np.int32]:
        """The search's numbers for those of the instance; -1 stays."""
        if self._old is None:
            return cities
        return np.append(self._new, np.int32(-1))[cities]

    def second_order(self, number: int, token: _native.StopToken) -> DeviceArray | None:
        instance = self.instance
        if instance.matrix is not None:
            return self.device.upload(self.renumbered(self._order_of_matrix(number)))
        cities = self.n - self.dummy
        assert instance.points is not None
        rows = _turned(instance.points[:cities], number)
        order = _native.space_filling_curve(rows, "hilbert", token)
        if order is None:
            return None
        order = order[order < cities]  # without the corners
        return self.device.upload(np.append(order, np.arange(cities, self.n, dtype=np.int32)))

    def search_instance(self) -> SearchInstance:
        if self._old is None:
            return self.instance
        matrix = self.instance.matrix[np.ix_(self._old, self._old)]  # type: ignore[index]
        return replace(self.instance, city=self._old, matrix=matrix)

    def length(self, tour: DeviceArray) -> int | float:
        if self._old is None:
            return super().length(tour)
        assert self._old is not None
        cities = self._old[tour.download()]
        links = self.instance.matrix[cities, np.roll(cities, -1)]  # type: ignore[index]
        return int(links.sum(dtype=np.int64)) if self.integral else float(links.sum())

    def path_graph(self) -> _native.PathGraph:
        matrix = self.instance.matrix
        if matrix is None:
            return self._path_graph(points=self.instance.points)
        kind = np.int32 if np.issubdtype(matrix.dtype, np.integer) else np.float64
        return self._path_graph(matrix=np.ascontiguousarray(matrix, kind), row=self._old)

    def _order_of_matrix(self, number: int) -> NDArray[np.int32]:
        cities = self.n - self.dummy
        assert self.instance.matrix is not None
        order = compact_order(self.instance.matrix[:cities, :cities], number)
        return np.append(order, np.arange(cities, self.n)).astype(np.int32)

    def _upload_matrix(self, token: _native.StopToken) -> bool:
        n, old = self.n, self._old
        self.matrix = self.device.empty((n, n), np.float32)
        rows = max(1, _ENTRIES // n)
        for begin in range(0, n, rows):
            if token.stopped():
                return False
            some = self.instance.matrix[old[begin : begin + rows]]  # type: ignore[index]
            self.matrix[begin : begin + rows].upload(some[:, old].astype(np.float32))
        return True


def compact_order(matrix: NDArray[Any], seed: int) -> NDArray[np.int32]:
    """The cities of a matrix in an order that keeps neighbours together.

    Groups are halved again and again, by how much nearer a city is to the group before than to the group
    behind. Pieces of the order are as compact as those of a space-filling curve to some 15 % of their radius.

    Parameters
    ----------
    matrix : ndarray, shape (n, n)
    seed : int
        Names the order.
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


def _inverse(order: NDArray[np.int32]) -> NDArray[np.int32]:
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank


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
