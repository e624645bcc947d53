"""The functions and classes of the package elkai, done by warptsp: ``from warptsp.interop import elkai``.

Signatures and results are those of elkai 2.0. ``docs/moving.md`` says what differs.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from warptsp._checks import checked_count, shown
from warptsp.errors import InvalidProblem
from warptsp.problem import Problem
from warptsp.problem.values import real_array

from ._calls import matrix_problem, solve_here

__all__ = ["Coordinates2D", "DistanceMatrix", "solve_float_matrix", "solve_int_matrix"]

# Kicks a city for the first run and for each further one.
_KICKS = 20


class DistanceMatrix:
    """An array of distances, shape (n, n), symmetric or not; InvalidProblem, a ValueError, if it is none."""

    def __init__(self, distances: Any) -> None:
        self.distances = distances
        self._problem = matrix_problem(distances)

    def solve_tsp(self, runs: int = 10) -> list[int]:
        """Return the cities of a short tour, from city 0 to city 0; more `runs` search longer."""
        tour = _tour(self._problem, runs)
        return [*tour, tour[0]]


class Coordinates2D:
    """Places in the plane, names to (x, y); InvalidProblem, a ValueError, if they are none."""

    def __init__(self, coords: Mapping[Any, Sequence[float]]) -> None:
        if not isinstance(coords, Mapping):
            raise InvalidProblem(
                f"coordinates are a dictionary of names and (x, y), not {type(coords).__name__}"
            )
        self.coords = coords
        places = []
        for name, place in coords.items():
            places.append(real_array(place, f"the coordinates of {shown(name)}"))
            if places[-1].shape != (2,):
                raise InvalidProblem(f"the place of {shown(name)} is {shown(place)}: (x, y) is needed")
        self._problem = Problem.from_points(np.array(places, dtype=np.float64).reshape(-1, 2))

    def solve_tsp(self, runs: int = 10) -> list[Any]:
        """Return the names of the places of a short tour, with the first repeated at the end."""
        names = list(self.coords)
        tour = _tour(self._problem, runs)
        return [names[city] for city in [*tour, tour[0]]]


def solve_int_matrix(matrix: Any, runs: int = 10, skip_end: bool = True) -> list[int]:
    """Return the cities of a short tour from city 0 on, and at its end again unless `skip_end` is set.

    Distances may be asymmetric; more `runs` search longer.
    """
    tour = _tour(matrix_problem(matrix), runs)
    return tour if skip_end else [*tour, tour[0]]


def solve_float_matrix(matrix: Any, runs: int = 10, skip_end: bool = True) -> list[int]:
    """The same as `solve_int_matrix`; distances need not be whole numbers in either."""
    return solve_int_matrix(matrix, runs, skip_end)


def _tour(problem: Problem, runs: int) -> list[int]:
    runs = checked_count("runs", runs, minimum=1, what="a whole number from 1 upwards")
    kicks = _KICKS * problem.n * (1 + runs)
    return list(solve_here(problem, kicks=kicks).tour.tolist())
