"""A problem as the searches want it: a closed tour through cities numbered along a space-filling curve.

Neighbours in space then lie close together in memory, whatever the order of the file. An open path becomes
a closed tour: with two given ends by a fixed edge between them, otherwise by a dummy city at distance 0 from
all others.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.construct.simple import along_curve
from warptsp.neighbors import candidate_lists
from warptsp.problem import Metric, Problem
from warptsp.problem.search import search_distances
from warptsp.problem.tours import path_of

# A search in 32-bit integers adds up to some dozens of distances.
_LARGEST_SMALL_DISTANCE = 2.0**24


def has_dummy(problem: Problem) -> bool:
    """Tell whether the search needs a dummy city: for an open path with a free end."""
    return problem.open is not None and None in (problem.open.start, problem.open.end)


def tolerance_of(problem: Problem) -> float:
    """What a gain must exceed to be more than rounding."""
    return tolerance_of_bound(problem.integral, problem.distance_bound)


def tolerance_of_bound(integral: bool, bound: float) -> float:
    """Return that for distances of this kind, none of which exceeds `bound`.

    Doubles hold integers up to 2^53, and sums of the edges of a move are rounded beyond.
    """
    return max(0.5, 2.0**-49 * bound) if integral else 1e-12 * bound


def are_small(bound: float) -> bool:
    """Whether 32-bit integers hold every sum of distances up to `bound` that a search makes."""
    return bound <= _LARGEST_SMALL_DISTANCE


def fixed_partners(n: int, edges: NDArray[np.int32]) -> NDArray[np.int32]:
    """The other ends of the fixed edges of each city, shape (n, 2), -1 for none."""
    both = np.concatenate([edges, edges[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    second = np.append(False, both[1:, 0] == both[:-1, 0])
    partners = np.full((n, 2), -1, np.int32)
    partners[both[:, 0], second.astype(np.intp)] = both[:, 1]
    return partners


def inverse(order: NDArray[np.int32]) -> NDArray[np.int32]:
    """The place of each city in an order of all of them."""
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return place


def exact_rows(metric: Metric, rows: NDArray[Any], *, whole: bool) -> NDArray[Any]:
    """Points, or a matrix, in the type that a search takes: of whole numbers int32, where that holds them."""
    kind = np.int32 if whole and metric is Metric.EXPLICIT and rows.dtype == np.int32 else np.float64
    return np.ascontiguousarray(rows, dtype=kind)


def native_distances(metric: Metric, rows: NDArray[Any], *, whole: bool) -> _native.Distances:
    """Return what distances come from, as native code takes it: `Problem.search_points`, or the matrix of
    EXPLICIT.

    `whole`: whether the entries of a matrix are taken as integers if 32 bits hold them.
    """
    exact = exact_rows(metric, rows, whole=whole)
    if metric is Metric.EXPLICIT:
        return _native.Distances.of_matrix(exact)
    return _native.Distances.of_points(metric.kind, exact)


@dataclass(frozen=True, slots=True, eq=False)
class SearchInstance:
    """The instance in the numbering of the search."""

    problem: Problem
    city: NDArray[np.int32]  # shape (n,): the problem's city for each of the search's
    # Of `Problem.search_points` in the search's order, and a row of NaN for the dummy city; or the matrix
    # with it.
    rows: NDArray[Any]
    fixed_edges: NDArray[np.int32]  # shape (m, 2), in the search's numbers, with what an open path adds
    dummy: int | None  # number of the dummy city, the last one
    closing: int | float  # length of the fixed edge that closes an open path; 0 in a matrix

    @property
    def size(self) -> int:
        """Cities of the closed tour, the dummy included."""
        return len(self.city) + (self.dummy is not None)

    @property
    def small_integers(self) -> bool:
        """Whether 32-bit integers hold every sum of lengths that a search makes."""
        return self.problem.integral and are_small(self.problem.distance_bound)

    @property
    def has_matrix(self) -> bool:
        """Whether `rows` are those of a matrix."""
        return self.problem.matrix is not None

    def distances(self, *, small: bool = False) -> _native.Distances:
        """Return what the distances come from, as native searches take it.

        `small`: whether the search adds distances up in 32 bits; integers that are too large for that become
        real.
        """
        whole = self.small_integers if small else self.problem.integral
        return native_distances(self.problem.metric, self.rows, whole=whole)

    def exact_distances(self) -> NDArray[np.float64] | None:
        """Return the distances of all pairs on the sphere, shape (size, size); None of other instances.

        There the search has its own formula: another one finds other last digits, near the antipodes eight.
        """
        if not self.problem.metric.geographic:
            return None
        n = len(self.city)
        exact = np.zeros((self.size, self.size))
        exact[:n, :n] = self.problem.all_distances[np.ix_(self.city, self.city)]
        return exact

    @property
    def tolerance(self) -> float:
        """What a gain must exceed to be more than rounding."""
        return tolerance_of(self.problem)

    @classmethod
    def build(cls, problem: Problem, token: _native.StopToken, threads: int = 1) -> "SearchInstance | None":
        """Number the cities along a curve; None if the token stopped it."""
        n = problem.n
        rows, city = problem.search_rows(), np.arange(n, dtype=np.int32)
        if problem.matrix is None:
            points = np.ascontiguousarray(rows)
            curve = along_curve(points, problem.metric, token, threads)
            if curve is None:
                return None
            rows, city = points.take(curve, axis=0), curve
        fixed = problem.fixed_edges
        if len(fixed) or problem.open is not None:
            number = inverse(city)
            fixed = number[fixed]
        dummy: int | None = None
        closing: int | float = 0
        if problem.open is not None:
            start, end = problem.open.start, problem.open.end
            extra: list[tuple[int, int]] = []
            if start is not None and end is not None:
                extra = [(int(number[start]), int(number[end]))]
                if problem.matrix is None:
                    closing = problem.distance(start, end)
                else:  # which may hide all that paths differ in
                    rows = rows.copy()
                    rows[start, end] = rows[end, start] = 0
            else:
                dummy = n
                one = start if start is not None else end
                if one is not None:
                    extra = [(int(number[one]), dummy)]
                if problem.matrix is None:
                    rows = np.vstack([rows, np.full((1, rows.shape[1]), np.nan)])
                else:
                    rows = np.pad(rows, ((0, 1), (0, 1)))
            fixed = np.concatenate([fixed, np.array(extra, dtype=np.int32).reshape(-1, 2)])
        return cls(problem, city, rows, np.ascontiguousarray(fixed), dummy, closing)

    def candidates(
        self, count: int, per_quadrant: int, threads: int, token: _native.StopToken
    ) -> NDArray[np.int32] | None:
        """Candidate lists, shape (size, count), nearest first; None if the token stopped it."""
        n = len(self.city)
        own = count - (self.dummy is not None)
        points = None if self.has_matrix else self.rows[:n]
        lists = candidate_lists(self.problem, own, per_quadrant, points=points, threads=threads, token=token)
        if lists is None or self.dummy is None:
            return lists
        # The dummy city is everybody's nearest; its own list is a spread of cities.
        some = np.unique(np.linspace(0, n - 1, min(count, n)).astype(np.int32))
        last = np.full((1, count), -1, dtype=np.int32)
        last[0, : len(some)] = some
        first = np.full((n, 1), self.dummy, dtype=np.int32)
        return np.ascontiguousarray(np.vstack([np.hstack([first, lists]), last]))

    def tour_search(
        self, candidates: NDArray[np.int32], tour: NDArray[np.int32], params: _native.LkParams
    ) -> _native.TourSearch:
        """Lin-Kernighan search of one tour on CPU threads (native/lk/tour_search.h)."""
        tour = np.ascontiguousarray(tour)
        return _native.TourSearch.create(
            distances=self.distances(small=True),
            small_integers=self.small_integers,
            dummy=self.dummy is not None,
            candidates=candidates,
            tour=tour,
            fixed_edges=self.fixed_edges,
            tolerance=self.tolerance,
            params=params,
            along=tour if self.has_matrix else None,  # rows may be in any order (EXP-559)
        )

    def greedy(self, threads: int, token: _native.StopToken, tiles: int = 1) -> NDArray[np.int32] | None:
        """The greedy tour, or greedy paths in so many tiles; None if the token stopped it.

        A tile is a piece of the curve along which the cities are numbered. A matrix has none.
        """
        n = len(self.city)
        fixed = self.fixed_edges
        if self.dummy is not None:
            fixed = np.ascontiguousarray(fixed[(fixed != self.dummy).all(axis=1)])
        cities = None if self.has_matrix else self.rows[:n]
        tour = _native.greedy_edge(search_distances(self.problem, cities), fixed, threads, token, tiles)
        return None if tour is None else self.close(self.city[tour], from_path=False)

    def close(self, tour: NDArray[np.int32], *, from_path: bool = True) -> NDArray[np.int32]:
        """The closed tour, in the search's numbers, of a tour of the problem, or of a path where it is open.

        With `from_path` false it is of a closed tour with the real fixed edges: where the problem has a free
        end, it is cut at the given end, or at its longest edge that is not fixed.
        """
        own = inverse(self.city)[tour]
        if self.dummy is None:
            return own
        if not from_path:
            own = self._cut(own)
        return np.append(own, np.int32(self.dummy))

    def open(self, closed: NDArray[np.int32]) -> NDArray[np.int32]:
        """The problem's tour, or path in its own direction, for a closed tour of the search."""
        if self.problem.open is None:
            return self.city[closed]
        cities = self.city if self.dummy is None else np.append(self.city, np.int32(self.dummy))
        return path_of(cities[closed], self.problem.open, self.dummy)

    def _cut(self, own: NDArray[np.int32]) -> NDArray[np.int32]:
        """Rotate (and turn) a closed tour into a path with the given end and all fixed edges."""
        after = np.roll(own, -1)
        fixed = {(int(a), int(b)) for a, b in self.fixed_edges} | {
            (int(b), int(a)) for a, b in self.fixed_edges
        }
        end = next((a if b == self.dummy else b for a, b in self.fixed_edges if self.dummy in (a, b)), None)
        if end is not None:
            at = int(np.flatnonzero(own == end)[0])
            # Cut behind the end, or, where that edge is fixed, before it.
            at = at - 1 if (int(own[at]), int(after[at])) in fixed else at
            return np.roll(own, -(at + 1))
        edges = np.asarray(self.problem.distance(self.city[own], self.city[after]), dtype=np.float64)
        for at in np.argsort(-edges, kind="stable"):
            if (int(own[at]), int(after[at])) not in fixed:
                return np.roll(own, -(int(at) + 1))
        return own
