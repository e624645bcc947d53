"""An instance as searches and native code take it.

A matrix of integers that no double holds is taken less what all its entries share. Every tour has equally
many edges, so that the smallest entry can be taken from all, and what is left divided by its greatest common
divisor: tours keep their order, exactly. Where the rest is still too large, it is divided by more and rounded
down. Then a tour is as long as is said here or longer, by less than a unit for each edge, and lower bounds
hold all the same.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warptsp.problem.distance import unit_vectors
from warptsp.problem.lengths import Measured, longest_within
from warptsp.problem.values import read_only

if TYPE_CHECKING:
    import warptsp._native as _native

_EXACT = 2**52  # sums of two entries, and twice an entry, are doubles without rounding
_ROUNDED = 2**44  # sums of a tour of some hundred edges are, too


class Reduced(NamedTuple):
    """An instance in smaller numbers, and what they mean.

    An entry of the instance is `unit` times that of `problem`, rounded down if not `exact`, plus `base`.
    """

    problem: Any  # a `Problem`, which imports this module, with the same tours
    unit: int
    base: int
    exact: bool
    edges: int  # of a tour
    wall: int | None  # the entry of the instance for a missing arc

    def length(self, length: int | float) -> int:
        """Return how long a tour of this length is in the instance, at least; exactly if `exact`."""
        if self.wall is not None and self.problem.wall is not None and length >= self.problem.wall:
            return self.wall  # no tour without a missing arc
        return round(length) * self.unit + self.edges * self.base


def reduced_matrix(matrix: NDArray[np.object_], wall: int | None) -> tuple[NDArray[np.int64], int, int, bool]:
    """Return a matrix in smaller numbers, with walls that are longer than all else, and unit, base, exact."""
    there = ~np.eye(len(matrix), dtype=np.bool_)
    if wall is not None:
        there &= (matrix < wall).astype(np.bool_)
    entries = matrix[there]
    if not len(entries):
        return np.where(there | np.eye(len(matrix), dtype=np.bool_), 0, 1), 1, 0, True
    base = int(entries.min())
    rest = entries - base
    span, unit = int(rest.max()), int(np.gcd.reduce(rest)) or 1
    exact = span <= _EXACT * unit
    if not exact:
        unit = -(-span // _ROUNDED)
    small = (rest // unit).astype(np.int64)
    found = np.full(matrix.shape, int(small.max()) + 1, dtype=np.int64)
    found[there] = small
    np.fill_diagonal(found, 0)
    return found, unit, base, exact


class Searched(Measured):
    """Cities with distances as searches see them; `Problem` says what its parts are."""

    @cached_property
    def distance_bound(self) -> float:
        """A number that no distance exceeds; native searches pick the width of their integers by it."""
        if self.reduced is not None:
            return float(self.reduced.problem.distance_bound)
        longest = longest_within(self.metric, *self.bounds) if self.matrix is None else self.matrix.max()
        return float(longest)

    def search_points(self) -> NDArray[np.float64]:
        """Coordinates as the native search takes them: unit vectors for GEO and GREAT_CIRCLE.

        Raises `InvalidProblem` if the instance is a matrix.
        """
        coordinates = self.given_coordinates()
        return unit_vectors(self.metric, coordinates) if self.metric.geographic else coordinates

    def search_rows(self) -> NDArray[Any]:
        """What distances come from as the native search takes it: `search_points`, or `search_matrix`."""
        return self.search_points() if self.matrix is None else self.search_matrix()

    def search_matrix(self) -> NDArray[np.int32] | NDArray[np.float64]:
        """`matrix` as native searches take it: integers that 32 bits do not hold as floats, which hold them.

        Integers above 2**53 are those of `reduced`. Raises `InvalidProblem` if the instance has coordinates.
        """
        return self._native_matrix

    @cached_property
    def _native_matrix(self) -> NDArray[Any]:
        matrix = self.given_matrix()
        if self.reduced is not None:
            return np.asarray(self.reduced.problem.search_matrix())
        return read_only(matrix.astype(np.float64)) if matrix.dtype == np.int64 else matrix

    @cached_property
    def reduced(self) -> Reduced | None:
        """The same tours in smaller numbers, where the matrix is of integers above 2**53; None elsewhere."""
        if self.matrix is None or self.matrix.dtype != np.object_:
            return None
        given: Any = self
        wall = given.wall
        matrix, unit, base, exact = reduced_matrix(given.matrix, wall)
        problem = replace(given, matrix=matrix, wall=None if wall is None else int(matrix.max()))
        edges = self.n - (self.open is not None) if self.n > 1 else 0
        return Reduced(problem, unit, base, exact, edges, wall)


def search_distances(problem: Searched, points: NDArray[np.float64] | None = None) -> _native.Distances:
    """What lists and start tours are made from: the problem's matrix, or `points`, rows of its
    `Problem.search_points`, of which None stands for all."""
    import warptsp._native as _native

    if problem.matrix is not None:
        return _native.Distances.of_matrix(problem.search_matrix())
    points = problem.search_points() if points is None else points
    return _native.Distances.of_points(problem.metric.kind, points)
