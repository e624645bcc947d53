"""Tours as they are given: any array, and paths in either direction."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptsp._words import counted
from warptsp.errors import InvalidTour
from warptsp.problem.problem import Problem
from warptsp.problem.values import plain_array


def checked_tour(problem: Problem, tour: ArrayLike) -> NDArray[np.int32]:
    """Return a tour as an array of its own type, an open path in the direction that its ends ask for.

    Raises `InvalidTour`: it is not a tour of this problem in either direction.
    """
    cities = plain_array(tour, "the tour's cities", InvalidTour)
    path = problem.open
    if path is not None and not problem.asymmetric and cities.ndim == 1 and len(cities):
        backwards = path.start in (None, cities[-1]) and path.end in (None, cities[0])
        forwards = path.start in (None, cities[0]) and path.end in (None, cities[-1])
        if backwards and not forwards:
            cities = cities[::-1]
    problem.check_tour(cities)
    return np.ascontiguousarray(cities, dtype=np.int32)


def check_has_no_missing_arcs(problem: Problem, tour: NDArray[np.int32], what: str) -> None:
    """Accept a tour that goes through no missing arc. Raises `InvalidTour`: it does."""
    if len(missing := problem.missing_arcs(tour)):
        tail, head = (problem.label(city) for city in missing[0].tolist())
        number = counted(len(missing), "missing arc", "missing arcs")
        raise InvalidTour(f"{what} goes through {number}, such as the one from {tail} to {head}")
