"""The optimal tour of a few cities, by dynamic programming over sets of cities.

M. Held and R. M. Karp, "A dynamic programming approach to sequencing problems", J. SIAM 10 (1962) 196-210:
best[S, j] = the shortest path that starts at a fixed city, visits the set S and ends in j. All sets of a size
are done at once with NumPy; 16 cities take about half a second and 20 MB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from warptsp.methods.method import Method, NoParams

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp import _native
    from warptsp.methods.protocol import Run
    from warptsp.problem import Problem

MAX_CITIES = 16
INSTANT_CITIES = 12  # up to here it takes a few milliseconds, which no limit is short for


def run(problem: Problem, run: Run, params: NoParams) -> None:
    """Find an optimal tour, or path, that has all fixed edges."""
    prove(problem, run)


def prove(problem: Problem, run: Run) -> None:
    """Offer an optimal tour, and say that it is one."""
    tour = optimal_tour(problem, run.token if problem.n > INSTANT_CITIES else None)
    if tour is not None:
        run.offer(tour)
        run.report_optimal()


def optimal_tour(problem: Problem, token: _native.StopToken | None = None) -> NDArray[np.int32] | None:
    """Return an optimal tour, a path in its own direction, of up to `MAX_CITIES` cities; None if stopped."""
    n = problem.n
    every = np.arange(n)
    distances = np.asarray(problem.distance(np.repeat(every, n), np.tile(every, n))).reshape(n, n)
    distances = distances.astype(np.int64 if problem.integral else np.float64)
    distances = _preferring(distances, problem)
    start, end = 0, 0
    if problem.open is not None:
        # One more city, which joins the two ends of the path: free ends may be anywhere.
        start = end = n
        joined = np.zeros((n + 1, n + 1), dtype=distances.dtype)
        joined[:n, :n] = distances
        wall = _longer_than(n + 1, distances)
        ends = (problem.open.start, problem.open.end)
        if ends[0] is not None:
            joined[n, :n][every != ends[0]] = wall
        if ends[1] is not None:
            joined[:n, n][every != ends[1]] = wall
        distances = joined
        if n == 1:
            return np.zeros(1, dtype=np.int32)
    tour = _held_karp(distances, start, end, token)
    if tour is None or problem.open is None:
        return tour
    return np.ascontiguousarray(tour[1:])


def _preferring(distances: NDArray[Any], problem: Problem) -> NDArray[Any]:
    """Return distances in which the fixed edges are so short that a best tour has all of them."""
    fixed_edges = problem.fixed_edges
    if len(fixed_edges) == 0:
        return distances
    bonus = _longer_than(len(distances), distances)
    changed = distances.copy()
    changed[fixed_edges[:, 0], fixed_edges[:, 1]] -= bonus
    if not problem.asymmetric:
        changed[fixed_edges[:, 1], fixed_edges[:, 0]] -= bonus
    return changed


def _longer_than(edges: int, distances: NDArray[Any]) -> Any:
    """Return what is longer than so many edges, and not so much longer that a sum with it rounds them off."""
    bound = edges * distances.max(initial=0)
    return bound + min(bound, 1) or 1


def _held_karp(
    distances: NDArray[Any], start: int, end: int, token: _native.StopToken | None
) -> NDArray[np.int32] | None:
    n = len(distances)
    others = np.array([city for city in range(n) if city != start], dtype=np.int64)
    m = len(others)
    if m == 0:
        return np.array([start], dtype=np.int32)
    far = np.iinfo(np.int64).max // 4 if distances.dtype.kind == "i" else np.inf
    best = np.full((1 << m, m), far, dtype=distances.dtype)
    before = np.full((1 << m, m), -1, dtype=np.int8)
    inner = distances[np.ix_(others, others)]
    sets = np.arange(1 << m)
    sizes = np.zeros(1 << m, dtype=np.int64)
    for j in range(m):
        sizes += (sets >> j) & 1
        best[1 << j, j] = distances[start, others[j]]
    for size in range(2, m + 1):
        layer = sets[sizes == size]
        for j in range(m):
            if token is not None and token.stopped():
                return None
            with_j = layer[(layer >> j) & 1 == 1]
            paths = best[with_j ^ (1 << j)] + inner[:, j]
            choice = np.argmin(paths, axis=1)
            best[with_j, j] = paths[np.arange(len(with_j)), choice]
            before[with_j, j] = choice
    visited = (1 << m) - 1
    j = int(np.argmin(best[visited] + distances[others, end]))
    tour = []
    while j >= 0:
        tour.append(int(others[j]))
        visited, j = visited ^ (1 << j), int(before[visited, j])
    return np.array([start, *reversed(tour)], dtype=np.int32)


METHOD = Method(
    name="exact",
    summary=f"the optimum of up to {MAX_CITIES} cities, by dynamic programming",
    run=run,
    asymmetric=True,
    min_cities=1,
    max_cities=MAX_CITIES,
)
