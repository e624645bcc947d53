"""Whether an array is a tour: each city once, every fixed edge, the given ends."""

from typing import TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptsp._words import counted
from warptsp.errors import InvalidTour
from warptsp.problem.constraints import OpenPath
from warptsp.problem.names import Cities, called, check_range
from warptsp.problem.values import integer_array, plain_array

WORTH_THREADS = 1 << 20
"""Cities from which the check and the length of a tour are worth several threads."""


def is_long(tour: ArrayLike) -> TypeGuard[NDArray[np.int32]]:
    """Tell whether native code checks this tour and measures it, on threads that share no interpreter."""
    if not isinstance(tour, np.ndarray) or tour.dtype != np.int32 or tour.ndim != 1:
        return False
    return len(tour) >= WORTH_THREADS


def checked_permutation(tour: ArrayLike, names: Cities, threads: int) -> NDArray[np.int32]:
    """The cities of a tour that takes each once.

    Raises `InvalidTour`: the message names the city, by its node number.
    """
    n = names.n
    if is_long(tour) and len(tour) == n:
        import warptsp._native as _native

        cities, complete = tour, _native.takes_each_once(tour, threads)
    else:
        cities, complete = as_cities(tour, names), False
        if len(cities) == n:
            seen = np.zeros(n, dtype=np.bool_)
            seen[cities] = True
            complete = bool(seen.all())
    if not complete:
        raise InvalidTour(_what_is_wrong(as_cities(cities, names), names))
    return cities


def check_constraints(
    cities: NDArray[np.int32],
    path: OpenPath | None,
    fixed_edges: NDArray[np.int32],
    names: Cities,
    *,
    directed: bool = False,
) -> None:
    """Accept a permutation of the cities that has the ends of the path and every fixed edge.

    Raises `InvalidTour`: the message names the city, by its node number.
    """
    n = names.n
    if path is not None:
        for end, position, word in ((path.start, 0, "start"), (path.end, -1, "end")):
            if end is not None and cities[position] != end:
                actual = names.node_id(cities[position])
                raise InvalidTour(f"the path must {word} at node {names.node_id(end)}, not at {actual}")
    if len(fixed_edges):
        places = np.empty(n, dtype=np.int32)
        places[cities] = np.arange(n, dtype=np.int32)
        onward = places[fixed_edges[:, 1]] - places[fixed_edges[:, 0]]
        apart = onward if directed else np.abs(onward)
        neighbours = apart == 1
        if path is None:
            neighbours |= apart == (1 - n if directed else n - 1)
        if not neighbours.all():
            a, b = fixed_edges[np.argmin(neighbours)]
            way = "->" if directed else "-"
            raise InvalidTour(f"the tour lacks the fixed edge {names.node_id(a)} {way} {names.node_id(b)}")


def as_cities(tour: ArrayLike, names: Cities) -> NDArray[np.int32]:
    """A tour as an array of cities that there are, or `InvalidTour`."""
    cities = plain_array(tour, "the tour's cities", InvalidTour)
    if cities.ndim != 1:
        raise InvalidTour(f"a tour has one dimension, not shape {cities.shape}")
    cities = integer_array(cities, "the tour's cities", InvalidTour)
    check_range(names, cities)
    return np.asarray(cities, dtype=np.int32)


def beginning_with(tour: NDArray[np.int32], city: int) -> NDArray[np.int32]:
    """A closed tour, turned so that it begins with this city, which it has."""
    return np.roll(tour, -int(np.argmax(tour == city)))


def path_of(closed: NDArray[np.int32], path: OpenPath, dummy: int | None) -> NDArray[np.int32]:
    """The path that a closed tour stands for, in its own direction: what is behind a dummy city, or, if there
    is none, between the given ends, which are neighbours."""
    if dummy is not None:
        cities = beginning_with(closed, dummy)[1:]
    else:
        assert path.start is not None
        cities = beginning_with(closed, path.start)
        if cities[-1] != path.end:
            cities = np.roll(cities[::-1], 1)
    wrong_start = path.start is not None and cities[0] != path.start
    wrong_end = path.end is not None and cities[-1] != path.end
    return np.ascontiguousarray(cities[::-1]) if wrong_start or wrong_end else cities


def _what_is_wrong(cities: NDArray[np.int32], names: Cities) -> str:
    counts = np.bincount(cities, minlength=names.n)
    faults = []
    for wrong, word in ((counts > 1, "more than once"), (counts == 0, "missing")):
        which = np.flatnonzero(wrong)
        if len(which):
            shown = ", ".join(str(names.node_id(city)) for city in which[:3])
            more = f" and {len(which) - 3} more" if len(which) > 3 else ""
            verb = "is" if len(which) == 1 else "are"
            noun = "node" if len(which) == 1 else "nodes"
            faults.append(f"{noun} {shown}{more} {verb} {'there ' if word != 'missing' else ''}{word}")
    what = f"a tour of {counted(len(cities))} for an instance{called(names)} of {names.n}"
    return f"{what}: {'; '.join(faults)}"
