"""A problem as the searches want it: a closed tour through cities numbered along a space-filling curve.

Neighbours in space then lie close together in memory, whatever the order of the file. An open path becomes
a closed tour: with two given ends by a fixed edge between them, otherwise by a dummy city at distance 0 from
all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warptsp import _native
from warptsp.construct.space_filling import along_curve
from warptsp.neighbors import candidate_rows, search_norm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.problem import Problem

# A search in 32-bit integers adds up to some dozens of distances.
_LARGEST_SMALL_DISTANCE = 2.0**24


def tolerance_of(problem: Problem) -> float:
    """What a gain must exceed to be more than rounding."""
    return 0.5 if problem.integral else 1e-12 * problem.distance_bound


def fixed_partners(n: int, edges: NDArray[np.int32]) -> NDArray[np.int32]:
    """The other ends of the fixed edges of each city, shape (n, 2), -1 for none."""
    both = np.concatenate([edges, edges[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    second = np.append(False, both[1:, 0] == both[:-1, 0])
    partners = np.full((n, 2), -1, np.int32)
    partners[both[:, 0], second.astype(np.intp)] = both[:, 1]
    return partners


def _with_dummy(matrix: Any) -> Any:
    return np.pad(matrix, ((0, 1), (0, 1)))


@dataclass(frozen=True, slots=True, eq=False)
class SearchInstance:
    """The instance in the numbering of the search.

    Attributes
    ----------
    problem : Problem
    city : ndarray of int32, shape (n,)
        The problem's city for each of the search's.
    points : ndarray of float64 or None
        Rows of `Problem.search_points` in the search's order, and a row of NaN for the dummy city.
    matrix : ndarray of int32 or float64, or None
        Includes the dummy city.
    fixed_edges : ndarray of int32, shape (m, 2)
        In the search's numbers; includes what an open path adds.
    dummy : int or None
        Number of the dummy city, the last one.
    closing : int or float
        Length of the fixed edge that closes an open path: in the closed tour's length, not in the path's.
    """

    problem: Problem
    city: NDArray[np.int32]
    points: NDArray[np.float64] | None
    matrix: NDArray[np.int32] | NDArray[np.float64] | None
    fixed_edges: NDArray[np.int32]
    dummy: int | None
    closing: int | float

    @property
    def size(self) -> int:
        """Cities of the closed tour, the dummy included."""
        return len(self.city) + (self.dummy is not None)

    @property
    def small_integers(self) -> bool:
        """Whether 32-bit integers hold every sum of lengths that a search makes."""
        return self.problem.integral and self.problem.distance_bound <= _LARGEST_SMALL_DISTANCE

    def matrices(self, *, small: bool = False) -> tuple[NDArray[np.int32] | None, NDArray[np.float64] | None]:
        """Return the matrix as integers or as real numbers, whichever a search takes; None for the other.

        Both are None where distances come from coordinates.

        Parameters
        ----------
        small : bool
            Whether the search adds distances up in 32 bits; integers that are too large for that become real.
        """
        if self.matrix is None:
            return None, None
        if self.small_integers if small else self.problem.integral:
            return np.ascontiguousarray(self.matrix, dtype=np.int32), None
        return None, np.ascontiguousarray(self.matrix, dtype=np.float64)

    @property
    def tolerance(self) -> float:
        """What a gain must exceed to be more than rounding."""
        return tolerance_of(self.problem)

    @classmethod
    def build(cls, problem: Problem, token: _native.StopToken, threads: int = 1) -> SearchInstance | None:
        """Number the cities along a curve; None if the token stopped it."""
        n = problem.n
        points: NDArray[np.float64] | None = None
        matrix = problem.matrix
        city = np.arange(n, dtype=np.int32)
        if matrix is None:
            rows = np.ascontiguousarray(problem.search_points())
            curve = along_curve(rows, problem.metric, token, threads)
            if curve is None:
                return None
            city = curve
            points = rows.take(city, axis=0)
        fixed = problem.fixed_edges
        if len(fixed) or problem.open is not None:
            number = np.empty(n, dtype=np.int32)
            number[city] = np.arange(n, dtype=np.int32)
            fixed = number[fixed]
        dummy: int | None = None
        closing: int | float = 0
        if problem.open is not None:
            start, end = problem.open.start, problem.open.end
            extra: list[tuple[int, int]] = []
            if start is not None and end is not None:
                extra = [(int(number[start]), int(number[end]))]
                closing = problem.distance(start, end)
            else:
                dummy = n
                one = start if start is not None else end
                if one is not None:
                    extra = [(int(number[one]), dummy)]
                if points is not None:
                    points = np.vstack([points, np.full((1, points.shape[1]), np.nan)])
                if matrix is not None:
                    matrix = _with_dummy(matrix)
            fixed = np.concatenate([fixed, np.array(extra, dtype=np.int32).reshape(-1, 2)])
        return cls(problem, city, points, matrix, np.ascontiguousarray(fixed), dummy, closing)

    def candidates(
        self, count: int, per_quadrant: int, threads: int, token: _native.StopToken
    ) -> NDArray[np.int32] | None:
        """Candidate lists, shape (size, count), nearest first; None if the token stopped it."""
        n = len(self.city)
        own = count - (self.dummy is not None)
        points = None if self.points is None else self.points[:n]
        lists = candidate_rows(self.problem, points, own, per_quadrant, threads, token)
        if lists is None or self.dummy is None:
            return lists
        # The dummy city is everybody's nearest; its own list is a spread of cities.
        some = np.unique(np.linspace(0, n - 1, min(count, n)).astype(np.int32))
        last = np.full((1, count), -1, dtype=np.int32)
        last[0, : len(some)] = some
        first = np.full((n, 1), self.dummy, dtype=np.int32)
        return np.ascontiguousarray(np.vstack([np.hstack([first, lists]), last]))

    def greedy(self, threads: int, token: _native.StopToken, tiles: int = 1) -> NDArray[np.int32] | None:
        """The greedy tour, or greedy paths in so many tiles; None if the token stopped it.

        A tile is a piece of the curve along which the cities are numbered. A matrix has none.
        """
        n = len(self.city)
        fixed = self.fixed_edges
        if self.dummy is not None:
            fixed = np.ascontiguousarray(fixed[(fixed != self.dummy).all(axis=1)])
        if self.points is not None:
            metric = self.problem.metric
            norm = search_norm(metric)
            tour = _native.greedy_edge(self.points[:n], metric.kind, norm, fixed, threads, token, tiles)
        else:
            assert self.problem.matrix is not None
            tour = _native.greedy_edge_matrix(self.problem.matrix, fixed, threads, token)
        return None if tour is None else self.close(self.city[tour], from_path=False)

    def close(self, tour: NDArray[np.int32], *, from_path: bool = True) -> NDArray[np.int32]:
        """The closed tour, in the search's numbers, of a tour of the problem.

        Parameters
        ----------
        tour : ndarray of int32, shape (n,)
            A valid tour, or a path where the problem is open.
        from_path : bool
            False for a closed tour with the real fixed edges where the problem is open with a free end: it
            is cut at the given end, or at its longest link that is not fixed.
        """
        number = np.empty(len(self.city), dtype=np.int32)
        number[self.city] = np.arange(len(self.city), dtype=np.int32)
        own = number[tour]
        if self.dummy is None:
            return own
        if not from_path:
            own = self._cut(own)
        return np.append(own, np.int32(self.dummy))

    def open(self, closed: NDArray[np.int32]) -> NDArray[np.int32]:
        """The problem's tour, or path in its own direction, for a closed tour of the search."""
        opened = self.problem.open
        if opened is None:
            return self.city[closed]
        if self.dummy is not None:
            at = int(np.flatnonzero(closed == self.dummy)[0])
            path = self.city[np.concatenate([closed[at + 1 :], closed[:at]])]
        else:
            path = self.city[closed]
            at = int(np.flatnonzero(path == opened.start)[0])
            path = np.roll(path, -at)
            if path[-1] != opened.end:
                path = np.roll(path[::-1], 1)
        wrong_start = opened.start is not None and path[0] != opened.start
        wrong_end = opened.end is not None and path[-1] != opened.end
        return np.ascontiguousarray(path[::-1]) if wrong_start or wrong_end else path

    def _cut(self, own: NDArray[np.int32]) -> NDArray[np.int32]:
        """Rotate (and turn) a closed tour into a path with the given end and all fixed edges."""
        after = np.roll(own, -1)
        fixed = {(int(a), int(b)) for a, b in self.fixed_edges} | {
            (int(b), int(a)) for a, b in self.fixed_edges
        }
        end = next((a if b == self.dummy else b for a, b in self.fixed_edges if self.dummy in (a, b)), None)
        if end is not None:
            at = int(np.flatnonzero(own == end)[0])
            # Cut behind the end, or, where that link is fixed, before it.
            at = at - 1 if (int(own[at]), int(after[at])) in fixed else at
            return np.roll(own, -(at + 1))
        links = np.asarray(self.problem.distance(self.city[own], self.city[after]), dtype=np.float64)
        for at in np.argsort(-links, kind="stable"):
            if (int(own[at]), int(after[at])) not in fixed:
                return np.roll(own, -(int(at) + 1))
        return own
