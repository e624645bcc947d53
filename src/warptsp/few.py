"""All tours of a few cities, in the numbers of the instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import warptsp._native as _native

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from warptsp.problem import Problem

STEPS = 100  # of looking through all tours, before a dynamic programme does it: 10 us
SUMS = 1e-14  # of a sum of a few reals, more than its rounding


@dataclass(frozen=True, slots=True, eq=False)
class FewCities:
    """An instance of a few cities."""

    # Shape (n, n), of Python's integers where those of 64 bits may not hold them.
    distances: NDArray[np.int64] | NDArray[np.float64] | NDArray[np.object_]
    constraints: dict[str, Any]  # ends of a path and fixed edges: arguments of `_native.optimal_tours`

    @classmethod
    def of(cls, problem: Problem) -> FewCities:
        """Take the distances of all pairs of cities."""
        constraints: dict[str, Any] = {}
        if (path := problem.open) is not None:
            start, end = (-1 if city is None else city for city in (path.start, path.end))
            constraints = {"open": True, "start": start, "end": end}
        if len(problem.fixed_edges):
            fixed = np.ascontiguousarray(problem.fixed_edges)
            constraints |= {"fixed_edges": fixed, "directed": problem.asymmetric}
        return cls(problem.all_distances, constraints)

    def optimal_tour(self, token: _native.StopToken | None = None) -> NDArray[np.int32] | None:
        """Return an optimal tour, a path in its own direction, of up to 16 cities; None if stopped."""
        token = token or _native.StopToken()
        if self.distances.dtype == np.object_:
            return _optimal_tour(self.distances.tolist(), token.stopped, **self.constraints)
        distances: Any = self.distances
        tours = _native.optimal_tours(distances[None], token, **self.constraints)
        return None if tours is None else tours[0]

    def has_shorter(self, bound: int | float) -> bool:
        """Whether a tour is shorter than a bound."""
        kind: Any = self.distances.dtype
        if kind == np.object_:
            tour = self.optimal_tour()
            assert tour is not None  # nobody stops it
            legs = tour if self.constraints.get("open") else np.append(tour, tour[:1])
            length: int = sum(self.distances[legs[:-1], legs[1:]].tolist())
            return length < bound
        lengths: Any = np.array([bound if kind == np.int64 else bound * (1.0 - SUMS)], dtype=kind)
        distances: Any = self.distances
        return bool(_native.shorter_tours(distances[None], lengths, STEPS, **self.constraints)[0])


def _optimal_tour(
    distances: list[list[int]],
    stopped: Callable[[], bool],
    open: bool = False,
    start: int = -1,
    end: int = -1,
    fixed_edges: NDArray[np.int32] | None = None,
    directed: bool = False,
) -> NDArray[np.int32] | None:
    """Return an optimal tour in Python's integers; None if stopped.

    M. Held and R. M. Karp, "A dynamic programming approach to sequencing problems" (1962): for each set of
    cities and each of them the shortest path through the set that ends there.
    """
    n = len(distances)
    costs = [list(row) for row in distances]
    # With each fixed edge a tour gets shorter by more than all of its length.
    bonus = 1 + sum(max(row) for row in distances)
    for tail, head in [] if fixed_edges is None else fixed_edges.tolist():
        costs[tail][head] -= bonus
        if not directed:
            costs[head][tail] -= bonus
    starts = [start] if start >= 0 else range(n) if open else [0]
    best: list[dict[int, tuple[int, int]]] = [{} for _ in range(1 << n)]
    for city in starts:
        best[1 << city][city] = (0, -1)
    full = (1 << n) - 1
    for visited in range(1, full):
        if not visited & 1023 and stopped():
            return None
        for city in range(n):
            if visited >> city & 1 or not (before := best[visited]):
                continue
            further = min((cost + costs[last][city], last) for last, (cost, _) in before.items())
            best[visited | 1 << city][city] = further
    ends = best[full]
    if end >= 0:
        last = end
    elif open:
        last = min(ends, key=lambda city: ends[city][0])
    else:
        last = min(ends, key=lambda city: ends[city][0] + costs[city][0])
    tour, visited = [], full
    while last >= 0:
        tour.append(last)
        visited, last = visited & ~(1 << last), best[visited][last][1]
    return np.array(tour[::-1], dtype=np.int32)
