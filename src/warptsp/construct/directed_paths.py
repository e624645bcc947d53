"""Directed tours with fixed arcs, and directed open paths, as closed tours of fewer cities, or one more.

Cities that follow one another by fixed arcs are one city of the closed tours: it is entered as the first of
them, and left as the last. A path with both ends given has a fixed arc from its end to its start, which costs
nothing. Where one end is given, closing the path there is free: whatever comes after the end, or before the
start. Where both are free, so is the way by one more city. No distance is made up.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp.problem import OpenPath, Problem


@dataclass(frozen=True, slots=True, eq=False)
class DirectedPaths:
    """The closed tours that stand for the tours or paths of a matrix."""

    # Of the closed tours, shape (m, m); that of the instance if its tours are closed, without fixed arcs.
    matrix: NDArray[np.int32] | NDArray[np.float64]
    cities: NDArray[np.int32]  # of the instance, those of one chain of fixed arcs after those of another
    begin: NDArray[np.int64]  # (m + 1,), where in `cities` each chain begins; an additional city's is empty
    open: OpenPath | None  # of the instance
    fixed_length: int | float  # of the fixed arcs: what a tour of the instance is longer than its closed tour

    @classmethod
    def of(cls, problem: Problem) -> "DirectedPaths":
        """Close the tours of a problem that has a matrix."""
        matrix: Any = problem.search_matrix()
        path, fixed = problem.open, problem.fixed_edges
        start, end = (None, None) if path is None else (path.start, path.end)
        both = start is not None and end is not None
        arcs = np.vstack([fixed, np.array([(end, start)], dtype=np.int32)]) if both else fixed
        cities, begin = _chains(problem.n, arcs)
        length = sum(problem.distance(fixed[:, 0], fixed[:, 1]).tolist())
        if len(begin) > 2 or len(arcs) == 0:
            first, last = cities[begin[:-1]], cities[begin[1:] - 1]
            if len(arcs):
                matrix = np.ascontiguousarray(matrix[np.ix_(last, first)])
            elif path is not None:
                matrix = np.array(matrix)
        else:  # all of it is fixed
            first = last = cities[:0]
            matrix = np.zeros((1, 1), dtype=matrix.dtype)
        if path is not None and not both:
            if start is not None:
                matrix[:, first == start] = 0
            elif end is not None:
                matrix[last == end] = 0
            else:
                matrix = np.pad(matrix, (0, 1))
                begin = np.append(begin, begin[-1])
        return cls(matrix, cities, begin, path, length)

    def closed(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the closed tour of a tour or path of the instance."""
        chains = int(np.count_nonzero(np.diff(self.begin)))
        number = np.full(len(self.cities), -1, dtype=np.int32)
        number[self.cities[self.begin[:chains]]] = np.arange(chains, dtype=np.int32)
        closed = number[tour]
        added = np.arange(chains, len(self.begin) - 1, dtype=np.int32)
        return np.concatenate([closed[closed >= 0], added])

    def opened(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the instance's tour or path of a closed one."""
        if self.open is not None and self.open.start is None and self.open.end is None:
            tour = np.roll(tour, -int(np.argmax(tour)))  # the additional city is the last number
        counts = np.diff(self.begin)[tour]
        ahead = np.cumsum(counts) - counts
        path = self.cities[np.repeat(self.begin[tour] - ahead, counts) + np.arange(len(self.cities))]
        if self.open is None or (self.open.start is None and self.open.end is None):
            return path
        if self.open.start is not None:
            return np.roll(path, -int(np.flatnonzero(path == self.open.start)[0]))
        return np.roll(path, -1 - int(np.flatnonzero(path == self.open.end)[0]))


def _chains(n: int, arcs: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the cities, chain after chain, and where each chain begins; a cycle of all cities is one."""
    if len(arcs) == 0:
        return np.arange(n, dtype=np.int32), np.arange(n + 1, dtype=np.int64)
    after = dict(arcs.tolist())
    entered = set(after.values())
    cities: list[int] = []
    begin = []
    for first in [city for city in range(n) if city not in entered] or [0]:
        begin.append(len(cities))
        city: int | None = first
        while city is not None:
            cities.append(city)
            city = after.pop(city, None)
            if city == first:
                break
    return np.array(cities, dtype=np.int32), np.array([*begin, n], dtype=np.int64)
