"""The functions of the package fast-tsp, done by warptsp: ``from warptsp.interop import fast_tsp``.

Signatures and results are those of fast-tsp 0.2. ``docs/moving.md`` says what differs.
"""

import math
from collections.abc import Sequence
from typing import Any

import warptsp._native as _native
from warptsp._checks import checked_number, shown
from warptsp.errors import InvalidOption, InvalidProblem, InvalidTour
from warptsp.problem.itinerary import length_of
from warptsp.problem.search import search_distances

from ._calls import matrix_problem, solve_here

__all__ = [
    "compute_cost",
    "find_tour",
    "greedy_nearest_neighbor",
    "is_valid_dist_matrix",
    "is_valid_tour",
    "score_tour",
    "solve_tsp_exact",
]

_AT_ONCE = 20  # cities up to which fast-tsp does not use its time


def find_tour(
    dists: Any,
    duration_seconds: float = 2.0,
    max_threads: int | None = 1,
    candidates: str = "auto",
    stop_when_converged: bool = False,
) -> list[int]:
    """Find a short tour.

    Parameters
    ----------
    dists : array_like, shape (n, n)
        Distances, whole numbers or not, of any size, symmetric or not.
    duration_seconds : float
        Time for the search, all of which is used for more than 20 cities.
    max_threads : int, optional
        None uses all cores but one.
    candidates : {"auto", "nearest", "alpha"}
        Accepted, but has no effect.
    stop_when_converged : bool
        Stop earlier, when the search seems done.

    Returns
    -------
    list of int
        The cities in visiting order, from city 0 on.

    Raises
    ------
    InvalidProblem, InvalidOption
        Both are ValueErrors, as fast-tsp raises them.
    """
    from warptsp.machine import available_threads
    from warptsp.stop import DefaultStop

    if not isinstance(candidates, str) or candidates not in ("auto", "nearest", "alpha"):
        raise InvalidOption(f"candidates: {shown(candidates)} is none of auto, nearest and alpha")
    problem = matrix_problem(dists)
    done = DefaultStop(problem.n) if stop_when_converged or problem.n <= _AT_ONCE else None
    threads = max(1, available_threads() - 1) if max_threads is None else max_threads
    result = solve_here(problem, stop=done, time_limit=duration_seconds, threads=threads)
    return list(result.tour.tolist())


def greedy_nearest_neighbor(dists: Any) -> list[int]:
    """Go from city 0 to the nearest city each time."""
    problem = matrix_problem(dists)
    tour = _native.nearest_neighbor(search_distances(problem), 0, problem.fixed_edges, 1, _native.StopToken())
    assert tour is not None  # nobody stops it
    return list(tour.tolist())


def solve_tsp_exact(dists: Any) -> list[int]:
    """Find an optimal tour of at most 16 cities; UnsupportedProblem for more."""
    return list(solve_here(matrix_problem(dists), method="exact").tour.tolist())


def is_valid_tour(n: int, tour: Sequence[int]) -> bool:
    """Tell whether the tour has each of n cities once."""
    try:
        return len(tour) == n and sorted(tour) == list(range(n))
    except (TypeError, ValueError, OverflowError):  # what cannot be counted or compared is no tour
        return False


def is_valid_dist_matrix(dists: Any) -> str | None:
    """Say what is wrong with a matrix; None if warptsp takes it."""
    try:
        matrix_problem(dists)
    except InvalidProblem as error:
        return str(error)
    return None


def compute_cost(tour: Sequence[int], dists: Any) -> int | float:
    """Return the length of a tour, or of any closed walk; infinite through a missing arc."""
    return length_of(matrix_problem(dists), tour)


def score_tour(tour: Sequence[int], dists: Any, opt_cost: float) -> float:
    """Return 1 for a tour of length `opt_cost`, and 0.02 for one as long as `greedy_nearest_neighbor`.

    Raises
    ------
    InvalidTour
        If it does not have each city once.
    """
    problem = matrix_problem(dists)
    opt_cost = checked_number("opt_cost", opt_cost, minimum=0.0, what="a length, 0 or more")
    if not is_valid_tour(problem.n, tour):
        raise InvalidTour(f"the tour {shown(tour)} does not have each of {problem.n} cities once")
    cost, naive = (length_of(problem, made) for made in (tour, greedy_nearest_neighbor(dists)))
    if naive <= opt_cost or math.isinf(cost):
        return 1.0 if cost <= opt_cost else 0.0
    return float(0.02 ** ((cost - opt_cost) / (naive - opt_cost)))
