"""The optimal tour of a few cities (`native/small/`).

Closed tours of symmetric distances by branch and bound on 1-trees; all others, and those with which that
would take long, by dynamic programming over sets of cities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import warptsp._native as _native
from warptsp.methods.method import Method, NoParams

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.methods.protocol import Run
    from warptsp.problem import Problem

MAX_CITIES = 16
INSTANT_CITIES = 12  # up to here it takes less than a millisecond, which no limit is short for


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
    tour = _optimal_tour(problem, distances, token)
    while tour is not None and not problem.integral:
        length = problem.length(tour)
        if distances.max() <= 2 * length:
            break
        # What no better tour has may be so long that all else is lost in a sum with it.
        distances = np.minimum(distances, 2 * length)
        tour = _optimal_tour(problem, distances, token)
    return tour


def _optimal_tour(
    problem: Problem, distances: NDArray[Any], token: _native.StopToken | None
) -> NDArray[np.int32] | None:
    """Return an optimal tour for these distances, with the fixed edges and the ends of the problem."""
    n = problem.n
    every = np.arange(n)
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
    tours = _native.optimal_tours(distances[None], start, end, token or _native.StopToken())
    if tours is None:
        return None
    return tours[0] if problem.open is None else np.ascontiguousarray(tours[0, 1:])


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


METHOD = Method(
    name="exact",
    summary=f"the optimum of up to {MAX_CITIES} cities, by branch and bound or dynamic programming",
    run=run,
    asymmetric=True,
    min_cities=1,
    max_cities=MAX_CITIES,
)
