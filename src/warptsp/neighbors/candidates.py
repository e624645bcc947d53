"""Nearest neighbours, some of each quadrant (``native/space/candidates.h``, ``docs/algorithms.md``)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.errors import InvalidOption
from warptsp.problem import Problem
from warptsp.problem.search import search_distances

CITIES_A_THREAD = 1000  # a millisecond's work: a thread takes 0.1 ms to begin


@dataclass(frozen=True, slots=True)
class CandidateParams:
    """How many candidates each city gets, 1 to 1000.

    `per_quadrant` of them, at most a quarter, are the nearest of each of the four quadrants around the city;
    the others are the nearest of all. In space the octants take the quadrants' place, with at most ``count //
    8`` each; on the globe the quadrants lie between the compass directions. A matrix has none: there a city
    is left out if so many candidates are nearer to it than the city is whose list is made, and the nearest of
    all fill the list.
    """

    count: int = 10
    per_quadrant: int = 2

    def __post_init__(self) -> None:
        if not 1 <= self.count <= 1000:
            raise InvalidOption(f"count is {self.count}: 1 to 1000 candidates are possible")
        if not 0 <= 4 * self.per_quadrant <= self.count:
            raise InvalidOption(
                f"per_quadrant is {self.per_quadrant}: with count {self.count}, 0 to {self.count // 4} "
                "are possible"
            )


def candidate_lists(
    problem: Problem,
    params: CandidateParams | None = None,
    *,
    threads: int = 1,
    token: _native.StopToken | None = None,
) -> NDArray[np.int32] | None:
    """The candidates of every city, whatever the number of threads: None if the token stopped it, else shape
    (n, count).

    Row i: candidates of city i, nearest first; of several at one distance, those that follow i in index order
    (cyclically) first, so that coincident cities form rings. -1 where there are no more cities.
    """
    params = params or CandidateParams()
    token = token or _native.StopToken()
    points = problem.search_points() if problem.matrix is None else None
    return candidate_rows(problem, points, params.count, params.per_quadrant, threads, token)


def candidate_rows(
    problem: Problem,
    points: NDArray[np.float64] | None,
    count: int,
    per_quadrant: int,
    threads: int,
    token: _native.StopToken,
) -> NDArray[np.int32] | None:
    """Candidates of the cities of `points`: rows of `Problem.search_points`, in any order.

    `per_quadrant` is a wish; a quarter of `count` is the limit. None for `points` stands for the problem's
    matrix, whose lists reach to all sides without quadrants (``native/space/spread_candidates.h``).
    """
    if points is not None:
        per_quadrant = min(per_quadrant, count // 4)
        threads = min(threads, 1 + len(points) // CITIES_A_THREAD)
    return _native.candidate_lists(search_distances(problem, points), count, per_quadrant, threads, token)
