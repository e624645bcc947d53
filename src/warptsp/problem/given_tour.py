"""Tours as they are given: any array, and paths in either direction."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
