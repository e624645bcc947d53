"""The Held-Karp bound (``native/bound/held_karp.h``, ``docs/bounds.md``)."""

import logging
import math
import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

import warptsp._native as _native
from warptsp._checks import checked_count
from warptsp.backends.instance import native_distances
from warptsp.bound.device import resolve_gpu
from warptsp.bound.reference_tour import reference_tour
from warptsp.claims import bound_of_optimal, confirmed_bound
from warptsp.construct import construct
from warptsp.errors import (
    BackendUnavailable,
    DeviceFailure,
    DeviceOutOfMemory,
    UnsupportedProblem,
)
from warptsp.interruption import FirstSignal, delivered
from warptsp.machine import resolve_threads
from warptsp.problem import OpenPath, Problem
from warptsp.problem.given_tour import checked_tour
from warptsp.problem.places import Places, places_of
from warptsp.progress import relative_gap
from warptsp.stop import StopToken
from warptsp.stop.limits import token_until

logger = logging.getLogger(__name__)

ITERATIONS = 100
"""Spanning trees by default: after three times as many the bound is 0.01 to 0.03 % higher."""
EARLY_CITIES = 50_000
"""From so many cities on, a first bound is there before the tour along which a better one is sought."""
EARLY_ITERATIONS = 1  # in half the time of ten, and 0.3 points below them
MIN_PLACES = 200
"""Places among which a bound is sought; fewer lose more by one edge that all cities of a place share."""


@dataclass(frozen=True, slots=True, eq=False)
class LowerBound:
    """A lower bound on the length of any tour, and what proves it.

    Attributes
    ----------
    value : int or float
        No tour, or no path where the instance is open, is shorter. An integer if the instance is integral.
    iterations : int
        Spanning trees that were made before the one that gives the bound.
    seconds : float
        Wall time, that of a tour included if none was given.
    potentials : ndarray of int32, shape (n,)
        What is added to the length of every edge at a city, in units of ``2**-exponent``.
    exponent : int
        Lengths are counted in units of ``2**-exponent``, rounded down.
    root : int
        The city whose two shortest edges close the tree; of closed tours only.
    certified : bool
        False if time ran out before there was any bound: `value` is 0 then.
    """

    value: int | float
    iterations: int
    seconds: float
    potentials: NDArray[np.int32]
    exponent: int
    root: int
    certified: bool

    def __repr__(self) -> str:
        return f"LowerBound(value={self.value!r}, iterations={self.iterations}, seconds={self.seconds:.2f})"

    def gap(self, length: int | float) -> float:
        """Return by how much a tour of this length can be longer than the shortest, at most, as a fraction.

        Infinite if the bound is 0 and the length is not.
        """
        if length <= self.value:
            return 0.0
        gap = relative_gap(length, self.value)
        return math.inf if gap is None else gap


def lower_bound(
    problem: Problem | ArrayLike,
    tour: ArrayLike | None = None,
    *,
    time_limit: float | None = None,
    iterations: int = ITERATIONS,
    threads: int | None = None,
    device: str = "auto",
    token: StopToken | _native.StopToken | None = None,
) -> LowerBound:
    """Return a lower bound on the length of any tour: the Held-Karp bound, proved for all pairs of cities.

    Usually it is 0.7 to 0.8 % below the length of the shortest tour, and rarely more than 2 %.

    Parameters
    ----------
    problem : Problem or array_like
        Symmetric; fixed edges and open paths are respected. An array is what `Problem.from_array` takes.
    tour : array_like of int, shape (n,), optional
        Cities counted from 0. The bound is computed along its edges, so a good tour gives a good
        bound; by default a local optimum is made.
    time_limit : float, optional
        Seconds of wall time. What was proved by then is returned.
    iterations : int
        Spanning trees.
    threads : int, optional
        CPU threads, by default all. The bound does not depend on their number.
    device : {"auto", "cpu", "cuda", "cuda:N"}
        Where it is computed. A GPU computes bounds of closed tours in the plane, and numbers cities otherwise
        than the CPU, so that the last digits differ; "auto" takes it from 50 000 cities on.
    token : StopToken, optional
        Stops the computation from another thread.

    Returns
    -------
    LowerBound
        Without a time limit the same one for the same arguments. A first bound comes early, even for large
        instances without a tour.

    Raises
    ------
    UnsupportedProblem
        The instance is asymmetric; or the device is a GPU, which cannot do it.
    InvalidTour
        `tour` is not one of this instance.
    BackendUnavailable, DeviceOutOfMemory, DeviceFailure
        The device is a GPU that cannot be used, or has failed; "auto" then takes the CPU.
    InvalidProblem, InvalidOption
    KeyboardInterrupt
        By Ctrl-C and other signals as `warptsp.solve` raises it, with what was proved in ``result``.

    Examples
    --------
    >>> import warptsp
    >>> square = [[0, 0], [3, 0], [3, 4], [0, 4]]
    >>> warptsp.lower_bound(square).value
    14.0

    References
    ----------
    M. Held and R. M. Karp, "The traveling-salesman problem and minimum spanning trees: part II" (1971).
    """
    began = time.monotonic()
    if not isinstance(problem, Problem):
        problem = Problem.from_array(problem)
    problem.check_connected()
    if problem.asymmetric:
        raise UnsupportedProblem(
            "the matrix is asymmetric, and the Held-Karp bound is one for symmetric instances"
        )
    given = None if tour is None else checked_tour(problem, tour)
    if (reduced := problem.reduced) is not None:
        with FirstSignal() as signals:
            found = lower_bound(
                reduced.problem,
                tour,
                time_limit=time_limit,
                iterations=iterations,
                threads=threads,
                device=device,
                token=token,
            )
        value = reduced.length(found.value) if found.certified else 0
        return delivered(_checked(replace(found, value=value), problem, given), signals.caught)
    iterations = checked_count(
        "iterations", iterations, minimum=1, what="a number of iterations", maximum=10**9
    )
    threads = resolve_threads(threads)
    with (
        token_until(token, began, time_limit) as native,
        FirstSignal(lambda number: native.request()) as signals,
    ):
        places = searched_places(problem, time_limit)
        gpu = resolve_gpu(device, problem if places is None else places.problem, time_limit)
        ascents = _Ascents(problem, places, threads, native)
        if problem.n >= 3 and (
            gpu is None or not ascents.climb_on_gpu(gpu, given, iterations, or_fail=device != "auto")
        ):
            ascents.climb(given, iterations)
    found = replace(ascents.best, seconds=time.monotonic() - began)
    return delivered(_checked(found, problem, given), signals.caught)


def _checked(best: LowerBound, problem: Problem, given: NDArray[np.int32] | None) -> LowerBound:
    """Return a bound that may leave the package."""
    length = math.inf if given is None else problem.length(given)
    if (value := confirmed_bound(problem, length, best.value)) is None:
        return _nothing(problem)
    return replace(best, value=value)


def searched_places(problem: Problem, seconds: float | None = None) -> Places | None:
    """Return the places among which the bound of an instance is sought; None if among its cities."""
    if problem.n < MIN_PLACES:
        return None
    places = places_of(problem, seconds)
    return None if places is None or places.problem.n < MIN_PLACES else places


def value_of(problem: Problem, units: int, exponent: int) -> int | float:
    """Return the length that so many units of ``2**-exponent`` prove: rounded up where lengths are integers,
    otherwise down to a float."""
    if problem.integral:
        return -(-units >> exponent) if exponent >= 0 else units << -exponent
    # A float of 53 bits that is not above it.
    excess = max(0, units.bit_length() - 53)
    return math.ldexp(float(units >> excess << excess), -exponent)


class _Ascents:
    """Ascents among the cities of an instance, or among its places, and the best bound of all.

    A bound among places is one for the cities.
    """

    def __init__(
        self, problem: Problem, places: Places | None, threads: int, token: _native.StopToken
    ) -> None:
        self._problem = problem if places is None else places.problem
        self._places, self._threads, self._token = places, threads, token
        self.best = _nothing(problem)
        if problem.n < 3:  # there is one tour
            length = problem.length(np.arange(problem.n, dtype=np.int32))
            self.best = replace(self.best, value=bound_of_optimal(length), certified=True)

    def climb_on_gpu(
        self, gpu: int, tour: NDArray[np.int32] | None, iterations: int, *, or_fail: bool
    ) -> bool:
        """Ascend along a tour on a GPU; whether it did so, where it may fail."""
        problem, places = self._problem, self._places
        further = None if places is None else places.further
        if places is not None and tour is not None:
            tour = places.contract(tour)
        from warptsp.backends.cuda import bound
        from warptsp.backends.cuda.device import Device

        try:
            with Device.open(gpu) as device:
                self._take(bound.held_karp(device, problem, tour, iterations, self._token, further))
        except (BackendUnavailable, DeviceFailure, DeviceOutOfMemory) as error:
            if or_fail:
                raise
            logger.warning("lower bound: the CPU; %s", error)
            return False
        return True

    def climb(self, tour: NDArray[np.int32] | None, iterations: int) -> None:
        """Ascend along a tour, by default one that is sought for it."""
        problem, threads, token = self._problem, self._threads, self._token
        if tour is not None:
            self.climb_along(tour if self._places is None else self._places.contract(tour), iterations)
            return
        if problem.n >= EARLY_CITIES and problem.matrix is None:
            curve = construct(problem, "space-filling", threads=threads, token=token)
            self.climb_along(curve, min(EARLY_ITERATIONS, iterations))
        self.climb_along(reference_tour(problem, threads, token), iterations)

    def climb_along(self, tour: NDArray[np.int32] | None, iterations: int) -> None:
        """Ascend along a tour, unless that was not made, or there is no time left."""
        if tour is None or self._token.stopped():
            return
        problem = self._problem
        path = problem.open or OpenPath()
        found = _native.held_karp(
            distances=native_distances(problem.metric, problem.search_rows(), whole=problem.integral),
            tour=tour,
            fixed_edges=np.ascontiguousarray(problem.fixed_edges),
            open=problem.open is not None,
            start=-1 if path.start is None else path.start,
            end=-1 if path.end is None else path.end,
            further=None if self._places is None else self._places.further,
            rounds=iterations,
            threads=self._threads,
            token=self._token,
        )
        self._take(found)

    def _take(self, found: _native.HeldKarpBound | None) -> None:
        if found is None or not found.certified:
            return
        value, places = value_of(self._problem, found.value, found.exponent), self._places
        if self.best.certified and self.best.value >= value:
            return
        self.best = LowerBound(
            value=value,
            iterations=found.rounds,
            seconds=0.0,
            potentials=found.potentials if places is None else found.potentials[places.place],
            exponent=found.exponent,
            root=found.root if places is None else int(places.heads[found.root]),
            certified=True,
        )


def _nothing(problem: Problem) -> LowerBound:
    value = 0 if problem.integral else 0.0
    return LowerBound(value, 0, 0.0, np.zeros(problem.n, dtype=np.int32), 0, 0, certified=False)
