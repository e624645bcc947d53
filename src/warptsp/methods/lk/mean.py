"""Nearly symmetric distances: the mean of both directions, searched by the symmetric search.

Road tables of towns with few one-way streets are hardly longer in the one direction than in the other. Their
assignment is far from a tour, as it goes to and fro, and moves that reverse nothing see little. The symmetric
search of the sum of both directions finds a better tour, and the directed search begins with the better
direction of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

import warptsp._native as _native
from warptsp.methods.lk import cpu, tuning
from warptsp.methods.lk.params import LkParams
from warptsp.methods.protocol import ForwardingRun, best_of
from warptsp.problem import Problem
from warptsp.problem.values import EXACT_INTEGERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.methods.protocol import Run

__all__ = ["asymmetry", "search_mean", "seconds_for_mean"]

_ROWS, _NEAREST = 200, 8  # that the measure looks at
_START = "greedy"


def asymmetry(matrix: NDArray[Any]) -> float:
    """Return the difference between the two directions of short edges as a share of their sum.

    Parameters
    ----------
    matrix : ndarray of numbers, shape (n, n)

    Returns
    -------
    float
        From 0 for a symmetric matrix to 1; of the 8 nearest cities of up to 200 cities.
    """
    n = len(matrix)
    cities = np.unique(np.linspace(0, n - 1, _ROWS).astype(np.intp))
    there = matrix[cities].astype(np.float64)
    back = matrix[:, cities].T.astype(np.float64)
    nearer = np.minimum(there, back)
    nearer[np.arange(len(cities)), cities] = np.inf
    count = min(_NEAREST, n - 1)
    nearest = np.argpartition(nearer, count - 1, axis=1)[:, :count]
    there, back = np.take_along_axis(there, nearest, axis=1), np.take_along_axis(back, nearest, axis=1)
    total = float((there + back).sum())
    return float(np.abs(there - back).sum()) / total if total > 0 else 0.0


def seconds_for_mean(problem: Problem, run: Run) -> float:
    """Return how long the mean is worth searching; 0 if it is not.

    Missing and fixed arcs have a direction, which the mean has not; without a time limit there is no share.
    """
    remaining = None if run.time_limit is None else run.remaining()
    if remaining is None or run.kick_limit is not None:
        return 0.0
    if problem.wall is not None or len(problem.fixed_edges) or problem.n < tuning.MEAN_CITIES:
        return 0.0
    if asymmetry(problem.given_matrix()) > tuning.MEAN_ASYMMETRY:
        return 0.0
    return tuning.MEAN_SHARE * remaining


def search_mean(problem: Problem, run: Run, seconds: float) -> NDArray[np.int32] | None:
    """Search the sum of both directions for so many seconds.

    Returns
    -------
    ndarray of int32, shape (n,), or None
        The tour or path in its better direction; None if there is none by then.
    """
    matrix: Any = problem.given_matrix()
    whole = problem.integral and 2.0 * float(matrix.max()) <= EXACT_INTEGERS
    total = np.add(matrix, matrix.T, dtype=np.int64 if whole else np.float64)
    symmetric = Problem.from_matrix(total, open=problem.open)
    of_mean = _RunOfMean(run, problem, symmetric, seconds)
    cpu.search(symmetric, of_mean, LkParams())
    return of_mean.found


class _RunOfMean(ForwardingRun):
    """A run as the symmetric search sees it: for part of the time, and proofs of its own are nobody's."""

    def __init__(self, run: Run, problem: Problem, symmetric: Problem, seconds: float) -> None:
        super().__init__(run)
        self._given = problem
        self._symmetric = symmetric
        self._end = run.elapsed() + seconds
        self._token = _native.StopToken(run.token, seconds)
        self._token.poll = None
        self._best: NDArray[np.int32] | None = None
        self._best_length: int | float | None = None
        self._told: int | float | None = None
        self.found: NDArray[np.int32] | None = None
        self._found_length: int | float | None = None

    @property
    def problem(self) -> Problem:
        """The sum of both directions."""
        return self._symmetric

    @property
    def start(self) -> str | NDArray[np.int32]:
        """The tour to begin with."""
        return self._run.start if isinstance(self._run.start, np.ndarray) else _START

    @property
    def token(self) -> _native.StopToken:
        """Stops with the run's own, or when the share of the time is over."""
        return self._token

    @property
    def time_limit(self) -> float | None:
        """Seconds to plan for."""
        return self._end

    @property
    def may_end_early(self) -> bool:
        """The directed search has use for the time."""
        return False

    @property
    def best(self) -> NDArray[np.int32] | None:
        """The best tour of the sum."""
        return self._best

    @property
    def best_length(self) -> int | float | None:
        """Its length in the sum."""
        return self._best_length

    def remaining(self) -> float | None:
        """Seconds until the share of the time is over."""
        return max(0.0, self._end - self.elapsed())

    def offer(self, tour: NDArray[np.int32], *, copy: bool = True) -> None:
        """Keep a tour if it is shorter than the best so far."""
        length = self._symmetric.length(tour)
        if self._best_length is None or length < self._best_length:
            self._best, self._best_length = np.array(tour) if copy else tour, length
        self._find(tour)
        if self.found is not None:
            self._run.offer(self.found)

    def update(
        self,
        *,
        length: int | float,
        kicks: int,
        tour: Callable[[], NDArray[np.int32]],
        phase: str = "search",
        **counters: int | float,
    ) -> bool:
        """Report the state of the search: the tour in its better direction."""
        if length != self._told:
            self._told = length
            self._find(tour())
        best, found = self._found_length, self.found
        if best is None or found is None:
            return self._token.stopped()
        stop = self._run.update(length=best, kicks=kicks, tour=lambda: found, phase=phase, **counters)
        return stop or self._token.stopped()

    @contextmanager
    def repeating(
        self, length: int | float, tour: Callable[[], NDArray[np.int32]], phase: str
    ) -> Iterator[None]:
        """Report the run's best tour now and then."""
        best, known = best_of(self._run)
        with self._run.repeating(known, lambda: best, phase):
            self._token.poll = self._run.token.poll
            try:
                yield
            finally:
                self._token.poll = None

    def report_bound(self, bound: int | float) -> None:
        """Half of a bound of the sum would do; the assignment's is the directed search's own."""

    def report_optimal(self) -> None:
        """Of the sum, not of the distances."""

    def report_limit(self, reason: str) -> None:
        """The directed search goes on."""

    def _find(self, tour: NDArray[np.int32]) -> None:
        path = self._given.open
        ways = [tour, tour[::-1]] if path is None or (path.start is None and path.end is None) else [tour]
        for way in ways:
            length = self._given.length(way)
            if self._found_length is None or length < self._found_length:
                self.found, self._found_length = np.ascontiguousarray(way), length
