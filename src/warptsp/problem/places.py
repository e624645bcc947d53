"""Cities that stand at one point, or have equal rows in a matrix: the places of an instance.

Visiting a place once visits all of its cities, and by the triangle inequality nothing is gained by coming
back. So a search may look at places alone, and put the cities of each beside one another at the end.
"""

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from warptsp.problem.metric import Metric
from warptsp.problem.part import part_of
from warptsp.problem.problem import Problem

_WHOLE_BELOW = 2.0**25  # coordinates up to which squares of distances are exact, and roots far from integers
_CHECKED, _SAMPLED = 50_000_000, 1 << 20  # detours over places of a matrix that are looked at: all, or some
_LOOK_AT_ENTRY, _LOOK_SHARE = 2e-8, 0.1  # seconds; of a time limit, at most, for the rows of a matrix
_SAME = 1e-9  # of the longest entry: by which entries that are not integers may miss the triangle inequality


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """The places of an instance, each with its first city in `problem`.

    Cities with fixed edges, and the given ends of a path, have places of their own. They are `exact` if the
    distances obey the triangle inequality, so that the shortest tours of the places are those of the cities.
    Rounding breaks it: from a to c it may be farther than over b, by 1 where lengths are integers.
    """

    problem: Problem  # of the m places, in the order of their first cities
    place: NDArray[np.int32]  # of each city
    cities: NDArray[np.int32]  # those of place 0 in ascending order, then those of place 1, ...
    first: NDArray[np.int64]  # (m + 1,), where in `cities` each place's begin
    exact: bool

    @property
    def further(self) -> NDArray[np.int32]:
        """How many cities each place has beside its first."""
        return (np.diff(self.first) - 1).astype(np.int32)

    @property
    def heads(self) -> NDArray[np.int32]:
        """The first city of each place."""
        return self.cities[self.first[:-1]]

    def expand(self, visits: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the tour of the cities for one of the places.

        A place may be visited several times, but not oftener than it has cities: each later visit takes one.
        """
        counts = np.diff(self.first)[visits]
        begins = self.first[visits]
        if len(visits) > self.problem.n:
            order = np.argsort(visits, kind="stable")
            ranks = np.arange(len(visits))
            ranks -= np.maximum.accumulate(np.where(np.diff(visits[order], prepend=-1) != 0, ranks, 0))
            again = np.empty(len(visits), dtype=np.int64)  # visits of the same place before this one
            again[order] = ranks
            visited = np.bincount(visits, minlength=self.problem.n)[visits]
            begins = np.where(again > 0, begins + counts - again, begins)
            counts = np.where(again > 0, 1, counts - visited + 1)
        offsets = np.cumsum(counts) - counts
        tour: NDArray[np.int32] = self.cities[
            np.repeat(begins - offsets, counts) + np.arange(len(self.place))
        ]
        return tour

    def contract(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the places in the order in which a tour comes to them first."""
        places = self.place[tour]
        step = np.empty(self.problem.n, dtype=np.int64)
        step[places[::-1]] = np.arange(len(tour))[::-1]  # the last one that is written is the first visit
        return places[np.sort(step)]


def places_of(problem: Problem, seconds: float | None = None) -> Places | None:
    """Return the places of an instance; None if every city has its own, or if they cannot stand for cities.

    They cannot where the way from a city to another one at the same place is not 0, where arcs are missing,
    where integers are above 2**53, and where a matrix has detours over a place that are shorter than the
    direct way by more than rounding.
    Nor are they looked for where that takes too much of so many `seconds`.
    """
    if problem not in _FOUND:
        entries = 0 if problem.matrix is None else problem.matrix.size
        if seconds is not None and _LOOK_AT_ENTRY * entries > _LOOK_SHARE * seconds:
            return None
        _FOUND[problem] = _found(problem)
    return _FOUND[problem]


_FOUND: WeakKeyDictionary[Problem, Places | None] = WeakKeyDictionary()


def _found(problem: Problem) -> Places | None:
    # From a city to another one at the same point it is 1 km by TSPLIB's formula for GEO, and angles that
    # differ by more than a turn defy the triangle inequality.
    if problem.metric is Metric.GEO or problem.metric.angular:
        return None
    if problem.wall is not None or problem.reduced is not None:
        return None
    keys = _keys_of_points(problem) if problem.matrix is None else _keys_of_rows(problem.matrix)
    if keys is None:
        return None
    n, alone = problem.n, constrained(problem)
    bits = n.bit_length()
    packed = (keys << np.uint64(bits)) | np.arange(n, dtype=np.uint64)  # several times as fast as an argsort
    packed.sort()
    order = (packed & np.uint64((1 << bits) - 1)).astype(np.int64)
    begins = np.ones(n, dtype=bool)
    if problem.coordinates is None:
        begins[1:] = keys[order[1:]] != keys[order[:-1]]
    else:  # of different points some may have one key
        ordered = problem.coordinates[order]
        begins[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    if len(alone):
        # Those come first in their groups, each as one.
        single = np.zeros(n, dtype=bool)
        single[alone] = True
        order = order[np.lexsort((~single[order], np.cumsum(begins)))]
        begins |= single[order]
        begins[1:] |= single[order][:-1]
    if begins.all():
        return None
    contracted, place, cities, first = _contracted(problem, order, np.flatnonzero(begins))
    counts = np.diff(first)
    if problem.matrix is None:
        exact: bool | None = _obeys_triangle_inequality(problem)
    else:
        exact = _detours_of_matrix(contracted.given_matrix(), np.flatnonzero(counts > 1))
    return None if exact is None else Places(contracted, place, cities, first, exact)


def of_groups(problem: Problem, order: NDArray[np.int32], begins: NDArray[np.int32]) -> Places:
    """Return groups of cities as if each were at one place, that of its first city.

    `order` has the cities, those of each group beside one another; `begins` says where each group begins.
    """
    return Places(*_contracted(problem, order, begins), exact=False)


def _contracted(
    problem: Problem, order: NDArray[Any], begins: NDArray[Any]
) -> tuple[Problem, NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Return what `Places` has of groups, which are numbered by their first cities."""
    n = problem.n
    by_head = np.argsort(order[begins], kind="stable")
    counts = np.diff(np.append(begins, n))[by_head]
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    cities = order[np.repeat(begins[by_head] - first[:-1], counts) + np.arange(n)].astype(np.int32)
    place = np.empty(n, dtype=np.int32)
    place[cities] = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return part_of(problem, cities[first[:-1]], place, named=False), place, cities, first


def constrained(problem: Problem) -> NDArray[np.int64]:
    """Return the cities with fixed edges, and the given ends of a path."""
    path = problem.open
    ends = [] if path is None else [end for end in (path.start, path.end) if end is not None]
    return np.unique(np.concatenate([problem.fixed_edges.reshape(-1), ends]).astype(np.int64))


def _keys_of_points(problem: Problem) -> NDArray[np.uint64] | None:
    """Return a number for each city, the same for equal points; None if all are different."""
    bits = (np.ascontiguousarray(problem.given_coordinates().T) + 0.0).view(np.uint64)  # -0 becomes 0
    keys = np.zeros(problem.n, dtype=np.uint64)
    for axis in bits:
        keys ^= axis
        keys ^= keys >> np.uint64(32)
        keys *= np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
        keys *= np.uint64(0xBF58476D1CE4E5B9)
    ordered = np.sort(keys)
    return keys if (ordered[1:] == ordered[:-1]).any() else None


def _keys_of_rows(matrix: NDArray[Any]) -> NDArray[np.uint64] | None:
    """Return a number for each city, the same for equal rows and columns; None if all are different."""
    some = np.flatnonzero(np.count_nonzero(matrix, axis=1) < len(matrix) - 1)  # 0 to another city
    if len(some) < 2:
        return None
    import hashlib

    keys = np.arange(len(matrix), dtype=np.uint64)
    seen: dict[bytes, int] = {}
    for city in some.tolist():
        digest = hashlib.blake2b((matrix[city] + 0).tobytes(), digest_size=16)
        digest.update((matrix[:, city] + 0).tobytes())
        keys[city] = seen.setdefault(digest.digest(), city)
    return keys if len(seen) < len(some) else None


def _obeys_triangle_inequality(problem: Problem) -> bool:
    metric = problem.metric
    if not metric.integral:
        return True
    coordinates = problem.given_coordinates()
    whole = np.abs(problem.bounds).max() < _WHOLE_BELOW and bool((coordinates == np.floor(coordinates)).all())
    # Such a metric rounds up, or not at all where coordinates are integers.
    return whole and (metric.rounding in ("up", "att") or metric.norm != 2)


def _detours_of_matrix(matrix: NDArray[Any], over: NDArray[np.intp]) -> bool | None:
    """Return whether no way over one of these cities is shorter than the direct one; None if one is by more
    than rounding."""
    m = len(matrix)
    if matrix.dtype.kind == "i":
        matrix = matrix.astype(np.int64)  # which holds a sum of two
    if len(over) * m * m <= _CHECKED:
        saved = max(float((matrix - matrix[:, [p]] - matrix[[p], :]).max()) for p in over.tolist())
        checked = True
    else:
        rng = np.random.default_rng(0)
        a, b = rng.integers(0, m, (2, _SAMPLED))
        p = over[rng.integers(0, len(over), _SAMPLED)]
        saved = float((matrix[a, b] - matrix[a, p] - matrix[p, b]).max())
        checked = False
    if matrix.dtype.kind == "i":
        return None if saved > 1 else checked and saved <= 0
    return None if saved > _SAME * float(matrix.max()) else checked and saved <= 0
