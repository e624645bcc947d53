"""Directed open paths as closed tours of one city less, as many, or one more, without made-up distances.

Where both ends of a path are given, one city stands for both: it is entered as the end, and left as the
start. Where one is given, closing the path there costs nothing: whatever comes after the end, or before the
start, is free. Where both are free, so is the way by one more city.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warptsp.problem import OpenPath

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.problem import Problem

__all__ = ["DirectedPaths"]


@dataclass(frozen=True, slots=True, eq=False)
class DirectedPaths:
    """The closed tours that stand for the tours or paths of a matrix, of the same lengths.

    Attributes
    ----------
    matrix : ndarray of int32 or float64, shape (m, m)
        Of the closed tours; that of the instance itself where its tours are closed.
    cities : ndarray of int32, shape (n,)
        The instance's cities that its numbers stand for; an additional one is the last number, and not here.
    open : OpenPath or None
        That of the instance.
    """

    matrix: NDArray[np.int32] | NDArray[np.float64]
    cities: NDArray[np.int32]
    open: OpenPath | None

    @classmethod
    def of(cls, problem: Problem) -> DirectedPaths:
        """Close the tours of a problem that has a matrix."""
        matrix, path, n = problem.given_matrix(), problem.open, problem.n
        cities = np.arange(n, dtype=np.int32)
        if path is None:
            return cls(matrix, cities, None)
        start, end = path.start, path.end
        if start is not None and end is not None:
            rows = cities[cities != end]
            columns = np.where(rows == start, end, rows)
            return cls(np.ascontiguousarray(matrix[np.ix_(rows, columns)]), rows, path)
        if start is None and end is None:
            closed = np.zeros((n + 1, n + 1), dtype=matrix.dtype)
            closed[:n, :n] = matrix
            return cls(closed, cities, path)
        closed = np.array(matrix)
        if start is not None:
            closed[:, start] = 0
        else:
            closed[end] = 0
        return cls(closed, cities, path)

    def closed(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the closed tour of a tour or path of the instance."""
        if self.open is None:
            return tour
        if len(self.cities) < len(tour):  # the end is the start
            tour = tour[:-1]
        number = np.empty(int(self.cities.max()) + 1, dtype=np.int32)
        number[self.cities] = np.arange(len(self.cities), dtype=np.int32)
        closed = number[tour]
        added = range(len(self.cities), len(self.matrix))
        return np.concatenate([closed, np.array(added, dtype=np.int32)])

    def opened(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the instance's tour or path of a closed one."""
        if self.open is None:
            return tour
        start, end = self.open.start, self.open.end
        if start is None and end is None:
            at = int(np.flatnonzero(tour == len(self.cities))[0])
            return self.cities[np.roll(tour, -at)[1:]]
        path = self.cities[tour]
        if start is None:
            return np.roll(path, -1 - int(np.flatnonzero(path == end)[0]))
        path = np.roll(path, -int(np.flatnonzero(path == start)[0]))
        return path if end is None else np.append(path, np.int32(end))
