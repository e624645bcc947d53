"""An instance as a proof takes it: a closed tour, and lengths in whole numbers."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.bound.held_karp import value_of
from warptsp.problem import Problem
from warptsp.problem.places import Places, places_of
from warptsp.problem.tours import beginning_with, path_of

FRACTION_BITS = 16
"""Lengths are whole numbers of 2**-16 of the linear programme's unit, as in ``native/proof/pricing.h``."""
LENGTH_BITS, TOUR_BITS = 48, 55
"""Bits of the longest edge and of a tour, in units, so that sums of lengths and prices are exact.

An edge that is longer than the tour is in no shorter one, and may count as shorter than it is."""
TOLERANCE = 1e-7
"""Of real lengths: a proof excludes tours that are shorter by more than this fraction; half of it is for
rounding."""
FINER_BITS = 6
"""By which units become finer where rounding, which adds up over pairs of cities, exceeds that."""
TRIVIAL = 3
"""Cities up to which all closed tours are the same; of paths, one fewer."""
WORTH_SHARE = 0.02  # of all cities, at another one's place, from which a proof is about places
MOST_DETOURS = 2e9
"""Ways over a third place that are looked at, at most, where rounding may make them shorter: 8 s."""


class Stopped(Exception):  # noqa: N818
    """A proof was stopped while its set-up was being made; it had proved `bound` by then."""

    def __init__(self, bound: int | float = 0) -> None:
        super().__init__("stopped")
        self.bound = bound


def has_one_tour(problem: Problem) -> bool:
    """Return whether there is nothing to prove."""
    return problem.n <= (TRIVIAL if problem.open is None else TRIVIAL - 1)


def has_dummy_city(problem: Problem) -> bool:
    """Return whether closed tours have one city more: those of open paths that have a free end."""
    return problem.open is not None and (problem.open.start is None or problem.open.end is None)


def is_optimal(problem: Problem, length: int | float, bound: int | float) -> bool:
    """Return whether a bound leaves nothing to gain; of real lengths, nothing beyond the tolerance."""
    return length <= bound or (not problem.integral and bound >= length * (1.0 - TOLERANCE))


def provable_places(problem: Problem) -> Places | None:
    """Return the places that a proof is about; None if it is about cities."""
    places = places_of(problem)
    if places is None or has_one_tour(places.problem):
        return None
    further, m = places.further, places.problem.n
    if further.sum() < WORTH_SHARE * problem.n:
        return None
    return places if places.exact or np.count_nonzero(further) * m * m <= MOST_DETOURS else None


@dataclass(frozen=True, slots=True, eq=False)
class ClosedInstance:
    """All lengths of a closed tour of an instance, or of its places.

    A tour of the cities comes to each place at least once. Without all later visits it is one of the places,
    and no longer, if the length between two of them is that of the shortest way over places with several
    cities: later visits are to no others. So what bounds tours of places bounds those of cities.
    """

    problem: Problem
    # Shape (m, m), in units of 2**-exponent, rounded down; integers are not, unless they are very long. None
    # counts as longer than 2**48 - 1. An open path that has a free end gets a dummy city, the last one, at
    # length 0 from all others; one with given ends an edge of length 0 between them.
    lengths: NDArray[np.int64]
    exponent: int
    fixed: NDArray[np.int32]  # shape (k, 2), edges that every tour has
    places: Places | None = None  # those that stand for the cities
    # Shape (m, m): a place over which the way is shorter than the direct one, -1 for none; None without any.
    over: NDArray[np.int32] | None = None
    stride: int = 1  # units by multiples of which all closed tours differ

    @classmethod
    def of(
        cls,
        problem: Problem,
        length: int | float,
        exponent: int | None = None,
        token: _native.StopToken | None = None,
        places: Places | None = None,
    ) -> "ClosedInstance":
        """Close an instance, or these places of it, with a tour of this length, by default with units that
        suit it.

        Raises `Stopped`: by the token.
        """
        given, problem = problem, problem if places is None else places.problem
        n, path = problem.n, problem.open
        has_dummy = has_dummy_city(problem)
        every = np.arange(n, dtype=np.int32)
        if exponent is None:
            exponent = exponent_for(problem, length)
        lengths = np.zeros((n + has_dummy, n + has_dummy), dtype=np.int64)
        for city in range(n):
            if token is not None and token.stopped():
                raise Stopped
            row = np.asarray(problem.distance(np.full(n, city, dtype=np.int32), every))
            lengths[city, :n] = _whole(row, exponent, integral=problem.integral)
            lengths[city, city] = 0
        over = None
        if places is not None and not places.exact:
            over = _take_detours(lengths[:n, :n], places, token)
        fixed = [problem.fixed_edges]
        if path is not None:
            if path.start is not None and path.end is not None:
                lengths[path.start, path.end] = lengths[path.end, path.start] = 0
                fixed.append(np.array([[path.start, path.end]], dtype=np.int32))
            else:
                one = path.start if path.start is not None else path.end
                if one is not None:
                    fixed.append(np.array([[one, n]], dtype=np.int32))
        edges = np.unique(np.sort(np.concatenate(fixed).astype(np.int32), axis=1), axis=0)
        stride = _stride_of(lengths, 1 << max(0, exponent)) if problem.integral else 1
        return cls(given, lengths, exponent, edges, places, over, stride)

    @property
    def seen(self) -> Problem:
        """The instance, or its places as one: what has these lengths."""
        return self.problem if self.places is None else self.places.problem

    @property
    def size(self) -> int:
        """Cities or places, the dummy included."""
        return len(self.lengths)

    def units(self, closed: NDArray[np.int32]) -> int:
        """Return the length of a closed tour."""
        return int(self.lengths[closed, np.roll(closed, -1)].sum())

    def step(self, units: int) -> int:
        """Return by how much a tour must be shorter than one of this length in order to count."""
        return self.stride if self.problem.integral else max(1, math.ceil(0.5 * TOLERANCE * units))

    def finer_exponent(self, length: float) -> int | None:
        """Return one for a proof with a tour of this length that rounding has kept from its end.

        None if none is finer.
        """
        exponent = exponent_for(self.seen, length)
        if exponent <= self.exponent and not self.problem.integral:
            exponent = min(self.exponent + FINER_BITS, largest_exponent(self.seen, length))
        return exponent if exponent > self.exponent else None

    def value(self, units: int) -> int | float:
        """Return the length that a bound of so many units proves: rounded up to one that tours can have where
        lengths are integers."""
        units = max(0, units)
        if self.stride > 1:
            units += (self.units(np.arange(self.size, dtype=np.int32)) - units) % self.stride
        return value_of(self.problem, units, self.exponent)

    def close(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the closed tour of a tour or path of the problem."""
        tour = np.asarray(tour, dtype=np.int32)
        if self.places is not None:
            tour = self.places.contract(tour)
        return np.append(tour, np.int32(self.seen.n)) if has_dummy_city(self.seen) else tour

    def open(self, closed: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the problem's tour, or path in its own direction, of a closed tour."""
        path, dummy = self.seen.open, self.seen.n if has_dummy_city(self.seen) else None
        tour = beginning_with(closed, 0) if path is None else path_of(closed, path, dummy)
        return tour if self.places is None else self.places.expand(self._with_detours(self.places, tour))

    def _with_detours(self, places: Places, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the visits of a tour of places with what makes it shorter, where cities are to spare."""
        ahead = np.roll(tour, -1)
        if self.over is None or not ((over := self.over[tour, ahead]) >= 0).any():
            return tour
        ways, spare, visits = self.over, places.further, []

        def go(a: int, b: int) -> None:
            """Visit what is between the two."""
            if (over := int(ways[a, b])) >= 0 and spare[over] > 0:
                spare[over] -= 1
                go(a, over)
                visits.append(over)
                go(over, b)

        if self.seen.open is not None:
            over[-1] = -1
        for a, b, shorter in zip(tour.tolist(), ahead.tolist(), (over >= 0).tolist(), strict=True):
            visits.append(a)
            if shorter:
                go(a, b)
        return np.array(visits, dtype=np.int32)


def exponent_for(problem: Problem, length: int | float) -> int:
    """Return the exponent of units that suit a tour of this length.

    Integers are multiples of units that are as fine as they can be. Of reals, a typical edge is 2048 units of
    the linear programme.
    """
    if problem.integral:
        return min(largest_exponent(problem, length), TOUR_BITS - math.frexp(length)[1])
    typical = length / problem.n
    exponent = FRACTION_BITS + 11 - math.frexp(typical)[1] if typical > 0 else 0
    return min(exponent, largest_exponent(problem, length))


def largest_exponent(problem: Problem, length: int | float) -> int:
    """Return the exponent of the finest units in which no edge of a tour of this length is too long."""
    bits = math.frexp(max(min(problem.distance_bound, length), 1e-300))[1]
    return min(FRACTION_BITS, LENGTH_BITS - bits) if problem.integral else LENGTH_BITS - 2 - bits


def _stride_of(lengths: NDArray[np.int64], unit: int) -> int:
    """Return units, at least one, by multiples of which all tours differ.

    A tour has each city twice, so that lengths may be less p_u + p_v, and then a constant: what divides all
    that is left divides every difference of tours. With p_v the length from the first city to v, nothing is
    left of its edges, but for the constant, which is the same of each tour.
    """
    stride, less = 0, lengths[0]
    first = int(lengths[1, 2] - less[1] - less[2])
    for city in range(1, len(lengths) - 1):
        left = lengths[city, city + 1 :] - less[city] - less[city + 1 :] - first
        stride = math.gcd(stride, int(np.gcd.reduce(left)))
        if stride == unit:
            break
    return max(stride, unit)


def _take_detours(
    lengths: NDArray[np.int64], places: Places, token: _native.StopToken | None
) -> NDArray[np.int32] | None:
    """Let lengths, but those of fixed edges, be those of the shortest ways over places with several cities.

    Returns for each pair a place on such a way that is not direct, -1 for none, or None if all are direct.
    R. W. Floyd, "Algorithm 97: shortest path" (1962). Raises `Stopped` by the token.
    """
    over = np.full(lengths.shape, -1, dtype=np.int32)
    tails, heads = places.problem.fixed_edges.T
    kept = lengths[tails, heads]
    for place in np.flatnonzero(places.further).tolist():
        if token is not None and token.stopped():
            raise Stopped
        way = lengths[:, [place]] + lengths[place]
        shorter = np.nonzero(way < lengths)
        lengths[shorter] = way[shorter]
        over[shorter] = place
    lengths[tails, heads] = lengths[heads, tails] = kept
    over[tails, heads] = over[heads, tails] = -1
    return over if (over >= 0).any() else None


def _whole(row: NDArray[Any], exponent: int, *, integral: bool) -> NDArray[np.int64]:
    longest = (1 << LENGTH_BITS) - 1
    whole: NDArray[np.int64]
    if not integral:
        with np.errstate(over="ignore"):
            whole = np.minimum(np.floor(np.ldexp(row, exponent)), longest).astype(np.int64)
    elif exponent < 0:
        whole = np.minimum(row.astype(np.int64) >> -exponent, longest)
    else:
        whole = np.minimum(row.astype(np.int64), longest >> exponent) << exponent
    return whole
