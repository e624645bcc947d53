"""The few neighbours of each city that a search considers (``native/space/candidates.h``)."""

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.problem import Problem
from warptsp.problem.search import search_distances

CITIES_A_THREAD = 1000  # a millisecond's work: a thread takes 0.1 ms to begin


def candidate_lists(
    problem: Problem,
    count: int,
    per_quadrant: int,
    *,
    points: NDArray[np.float64] | None = None,
    threads: int = 1,
    token: _native.StopToken | None = None,
) -> NDArray[np.int32] | None:
    """The candidates of every city, whatever the number of threads: None if the token stopped it, else shape
    (n, count).

    Row i: candidates of city i, nearest first; of several at one distance, those that follow i in index order
    (cyclically) first, so that coincident cities form rings. -1 where there are no more cities.

    `per_quadrant` of them, at most a quarter, are the nearest of each of the four quadrants around the city;
    the others are the nearest of all. In space the octants take the quadrants' place, with at most ``count //
    8`` each; on the globe the quadrants lie between the compass directions. A matrix has none: there a city
    is left out if so many candidates are nearer to it than the city is whose list is made, and the nearest of
    all fill the list. `points` are rows of `Problem.search_points`, in any order; by default all of them.
    """
    if problem.matrix is None:
        per_quadrant = min(per_quadrant, count // 4)
        threads = min(threads, 1 + (problem.n if points is None else len(points)) // CITIES_A_THREAD)
    distances = search_distances(problem, points)
    return _native.candidate_lists(distances, count, per_quadrant, threads, token or _native.StopToken())
