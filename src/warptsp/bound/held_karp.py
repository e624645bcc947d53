"""The Held-Karp bound (``native/bound/held_karp.h``, ``docs/bounds.md``)."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warptsp import _native
from warptsp._checks import checked_count, checked_number
from warptsp.errors import InvalidTour, UnsupportedProblem
from warptsp.interruption import FirstSignal
from warptsp.machine import resolve_threads
from warptsp.neighbors import search_norm
from warptsp.problem import Problem

from .reference_tour import reference_tour

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["LowerBound", "lower_bound", "value_of"]

ITERATIONS = 100
"""Spanning trees by default: after three times as many the bound is 0.01 to 0.03 % higher."""


@dataclass(frozen=True, slots=True, eq=False)
class LowerBound:
    """A length below which no tour is, and what proves it.

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
        return length / self.value - 1.0 if self.value > 0 else math.inf


def lower_bound(
    problem: Problem | ArrayLike,
    tour: ArrayLike | None = None,
    *,
    time_limit: float | None = None,
    iterations: int = ITERATIONS,
    threads: int | None = None,
    token: _native.StopToken | None = None,
) -> LowerBound:
    """Return a length below which no tour is: the Held-Karp bound, proved for all pairs of cities.

    Usually it is 0.7 to 0.8 % below the length of the shortest tour, and rarely more than 2 %.

    Parameters
    ----------
    problem : Problem or array_like
        Symmetric; fixed edges and open paths are respected. An array is what `Problem.from_array` takes.
    tour : array_like of int, shape (n,), optional
        Cities counted from 0. Its edges are where the bound is sought, so that a good tour gives a good
        bound; by default a local optimum is made.
    time_limit : float, optional
        Seconds of wall time. What was proved by then is returned.
    iterations : int
        Spanning trees.
    threads : int, optional
        CPU threads, by default all. The bound does not depend on their number.
    token : _native.StopToken, optional
        Stops it from another thread, or at a deadline.

    Returns
    -------
    LowerBound
        Without a time limit the same one for the same arguments. A signal (Ctrl-C) ends the ascent, and
        what was proved by then is returned.

    Raises
    ------
    UnsupportedProblem
        The instance is asymmetric.
    InvalidTour
        `tour` is not one of this instance.
    InvalidProblem, InvalidOption

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
    if problem.asymmetric:
        raise UnsupportedProblem(
            "the matrix is asymmetric, and the Held-Karp bound is one for symmetric instances"
        )
    iterations = checked_count(
        "iterations", iterations, minimum=1, what="a number of iterations", maximum=10**9
    )
    threads = resolve_threads(threads)
    token = token or _native.StopToken()
    if time_limit is not None:
        what = "a number of seconds, 0 or more"
        token.set_deadline(began + checked_number("time limit", time_limit, minimum=0.0, what=what))
    given = None if tour is None else _checked(problem, tour)
    with FirstSignal(lambda number: token.request()):
        found = None
        if problem.n >= 3:
            along = reference_tour(problem, threads, token) if given is None else given
            found = None if along is None else _ascend(problem, along, iterations, threads, token)
    if found is None:
        return _without_ascent(problem, time.monotonic() - began)
    value, exponent = found["value"], found["exponent"]
    return LowerBound(
        value=value_of(problem, value, exponent),
        iterations=found["rounds"],
        seconds=time.monotonic() - began,
        potentials=found["potentials"],
        exponent=exponent,
        root=found["root"],
        certified=found["certified"],
    )


def value_of(problem: Problem, units: int, exponent: int) -> int | float:
    """Return the length that so many units of ``2**-exponent`` prove: rounded up where lengths are integers,
    otherwise down to a float."""
    if problem.integral:
        return -(-units >> exponent) if exponent >= 0 else units << -exponent
    # A float of 53 bits that is not above it.
    excess = max(0, units.bit_length() - 53)
    return math.ldexp(float(units >> excess << excess), -exponent)


def _checked(problem: Problem, tour: ArrayLike) -> NDArray[np.int32]:
    """Return a tour as an array; an open path may be given in either direction."""
    cities = np.asarray(tour)
    try:
        problem.check_tour(cities)
    except InvalidTour:
        if problem.open is None or cities.ndim != 1:
            raise
        problem.check_tour(cities[::-1])
    return np.ascontiguousarray(cities, dtype=np.int32)


def _ascend(
    problem: Problem, tour: NDArray[np.int32], iterations: int, threads: int, token: _native.StopToken
) -> _native.HeldKarpBound | None:
    matrix, path = problem.matrix, problem.open
    whole = matrix is not None and matrix.dtype == np.int32
    ends = (None, None) if path is None else (path.start, path.end)
    return _native.held_karp(
        kind=problem.metric.kind,
        points=np.ascontiguousarray(problem.search_points()) if matrix is None else None,
        int_matrix=np.ascontiguousarray(matrix) if whole else None,
        real_matrix=None if whole or matrix is None else np.ascontiguousarray(matrix, dtype=np.float64),
        norm=search_norm(problem.metric),
        tour=tour,
        fixed_edges=np.ascontiguousarray(problem.fixed_edges),
        open=path is not None,
        start=-1 if ends[0] is None else ends[0],
        end=-1 if ends[1] is None else ends[1],
        rounds=iterations,
        threads=threads,
        token=token,
    )


def _without_ascent(problem: Problem, seconds: float) -> LowerBound:
    """Return the length of the only tour of one or two cities, or else 0."""
    small = problem.n < 3
    value = (
        problem.length(np.arange(problem.n, dtype=np.int32)) if small else (0 if problem.integral else 0.0)
    )
    return LowerBound(value, 0, seconds, np.zeros(problem.n, dtype=np.int32), 0, 0, small)
