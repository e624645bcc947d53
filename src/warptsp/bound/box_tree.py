"""The shortest spanning tree of many cities over all pairs, for certificates: Borůvka's algorithm in NumPy.

Cities lie in boxes of some hundred. By how far two boxes are apart, and the smallest potential of each, no
pair of theirs falls below a limit; boxes whose limit is too high to matter are left out, and nothing else is.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from warptsp.problem import Metric, Problem
from warptsp.problem.distance import EARTH_RADIUS_M, GEO_RADIUS_KM, coordinate_distances

CITIES_IN_A_BOX = 128  # 64 and 256 take 1.1 and 1.2 times as long (100 000 uniform cities)
BOXES_AT_ONCE = 4

_FAR = np.iinfo(np.int64).max


class BoxTree:
    """Cities in boxes, and the lengths of edges between them.

    The tree shall connect these cities of a problem with coordinates. `units` takes distances, as an array,
    to integers, and keeps their order; there is a potential for each city of the problem.
    """

    def __init__(
        self,
        problem: Problem,
        cities: NDArray[np.intp],
        potentials: NDArray[np.int64],
        units: Callable[[NDArray[np.float64]], NDArray[np.int64]],
    ) -> None:
        self._problem, self._potentials, self._units = problem, potentials, units
        points = problem.search_points()
        self._boxes = _halved(points, cities)
        self._low = np.array([points[box].min(axis=0) for box in self._boxes])
        self._high = np.array([points[box].max(axis=0) for box in self._boxes])
        self._least: NDArray[np.int64] = np.array([potentials[box].min() for box in self._boxes])

    def length(self, joined: NDArray[np.int32]) -> int:
        """Return the length of what the shortest tree with these edges, shape (k, 2), has beside them."""
        trees = _Trees(self._problem.n)
        for a, b in joined:
            trees.join(int(a), int(b))
        total = 0
        components = sum(len(box) for box in self._boxes) - len(joined)
        while components > 1:
            for length, a, b in self._shortest_edges(trees.of_all()):
                if trees.join(a, b):
                    total += length
                    components -= 1
        return total

    def _shortest_edges(self, tree: NDArray[np.intp]) -> list[tuple[int, int, int]]:
        """Return for each tree, given by a number for each city, its shortest edge to another one."""
        length = np.full(self._problem.n, _FAR)
        ends = np.zeros((self._problem.n, 2), dtype=np.intp)

        def take(box: NDArray[np.intp], others: NDArray[np.intp]) -> None:
            found = self._lengths(box, others)
            found[tree[box][:, None] == tree[others][None]] = _FAR
            nearest = found.argmin(axis=1)
            found = found[np.arange(len(box)), nearest]
            for k in np.flatnonzero(found < length[tree[box]]):
                if found[k] < length[tree[box[k]]]:
                    length[tree[box[k]]] = found[k]
                    ends[tree[box[k]]] = box[k], others[nearest[k]]

        alone = np.array([tree[box[0]] if (tree[box] == tree[box[0]]).all() else -1 for box in self._boxes])
        for box, one in zip(self._boxes, alone, strict=True):
            if one < 0:
                take(box, box)
        for k, box in enumerate(self._boxes):
            limits = self._limits(k)
            limits[k] = _FAR
            if alone[k] >= 0:
                limits[alone == alone[k]] = _FAR
            near = np.flatnonzero(limits < length[tree[box]].max())
            near = near[np.argsort(limits[near], kind="stable")]
            at = 0
            while at < len(near) and limits[near[at]] < length[tree[box]].max():
                take(box, np.concatenate([self._boxes[other] for other in near[at : at + BOXES_AT_ONCE]]))
                at += BOXES_AT_ONCE
        return [
            (int(length[own]), int(ends[own, 0]), int(ends[own, 1])) for own in np.flatnonzero(length < _FAR)
        ]

    def _lengths(self, box: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.int64]:
        units = self._units(self._problem.distance(box[:, None], others[None]))
        return units + (self._potentials[box][:, None] + self._potentials[others][None])

    def _limits(self, box: int) -> NDArray[np.int64]:
        """Return lengths that no edge from one box to each one falls below."""
        apart = np.maximum(self._low - self._high[box], self._low[box] - self._high)
        distances = _distance_apart(self._problem.metric, np.maximum(apart, 0.0))
        least: NDArray[np.int64] = self._least + self._least[box]
        return self._units(distances) + least


class _Trees:
    """Sets of cities that edges connect."""

    def __init__(self, n: int) -> None:
        self._parent = np.arange(n)

    def join(self, a: int, b: int) -> bool:
        """Put the sets of two cities together; False if they are one already."""
        a, b = self._root(a), self._root(b)
        self._parent[max(a, b)] = min(a, b)
        return a != b

    def of_all(self) -> NDArray[np.intp]:
        """Return a number for each city, that of its set."""
        while (self._parent != self._parent[self._parent]).any():
            self._parent = self._parent[self._parent]
        return self._parent.copy()

    def _root(self, city: int) -> int:
        parent = self._parent
        while parent[city] != city:
            parent[city] = parent[parent[city]]
            city = int(parent[city])
        return city


def _halved(points: NDArray[np.float64], cities: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Divide cities, along the longer side each time, into boxes."""
    if len(cities) <= CITIES_IN_A_BOX:
        return [cities]
    own = points[cities]
    side = int(np.argmax(own.max(axis=0) - own.min(axis=0)))
    order = cities[np.argpartition(own[:, side], len(cities) // 2)]
    middle = len(cities) // 2
    return _halved(points, order[:middle]) + _halved(points, order[middle:])


def _distance_apart(metric: Metric, apart: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a distance that no pair of cities falls below that are so far apart along each axis.

    Each step of a metric of the plane or of space, rounding included, keeps the order of what it is given.
    """
    if metric.angular:
        apart = apart * [0.0, 1.0, 1.0]  # the first angle begins anew at 360 degrees
    if not metric.geographic:
        return coordinate_distances(metric, apart, np.zeros_like(apart))
    # Chords between points of the unit sphere. A formula for an angle loses less than 2e-8, which is what the
    # arc cosine of GEO loses near 0, and otherwise 1e-12.
    angle = 2.0 * np.arcsin(np.minimum(np.sqrt(np.square(apart).sum(axis=1)) / 2.0, 1.0))
    if metric is Metric.GEO:
        return np.asarray(np.floor(GEO_RADIUS_KM * np.maximum(angle - 1e-7, 0.0) + 1.0))
    return np.asarray(EARTH_RADIUS_M * np.maximum(angle * (1.0 - 1e-9) - 1e-12, 0.0))
