"""A search of another instance that comes first, as the run of the instance itself sees it.

The mean of two directions, or groups of cities in the place of cities: what is found becomes a tour of the
instance, and the search of that begins with it.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

import warptsp._native as _native
from warptsp.methods.protocol import ForwardingRun, best_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.methods.protocol import Run
    from warptsp.problem import Problem

__all__ = ["RunOfFirstSearch"]

TELLING = 0.05  # share of the time, at most, in which tours are made of what is found


class RunOfFirstSearch(ForwardingRun):
    """A run as the first search sees it: with part of the time, or of the kicks; its claims are nobody's.

    Parameters
    ----------
    run : Run
    problem : Problem
        The other instance.
    seconds, kicks : float and int, or None
        What it may take; None for no limit of its own.

    Attributes
    ----------
    found : ndarray of int32 or None
        The best tour of the run's own problem.
    kicks : int
        That were made.
    """

    def __init__(self, run: Run, problem: Problem, seconds: float | None, kicks: int | None = None) -> None:
        super().__init__(run)
        self._instance = problem
        self._end = None if seconds is None else run.elapsed() + seconds
        self._kick_limit = kicks
        self._token = _native.StopToken(run.token, math.inf if seconds is None else seconds)
        self._token.poll = None
        self._best: NDArray[np.int32] | None = None
        self._best_length: int | float | None = None
        self._told: int | float | None = None
        self._next = 0.0  # when a tour may be told again
        self.found: NDArray[np.int32] | None = None
        self._found_length: int | float | None = None
        self.kicks = 0

    @abstractmethod
    def _tours(self, tour: NDArray[np.int32]) -> Sequence[NDArray[np.int32]]:
        """Return tours of the run's problem for one of the instance."""

    @property
    def problem(self) -> Problem:
        """The other instance."""
        return self._instance

    @property
    def token(self) -> _native.StopToken:
        """Stops with the run's own, or when the share of the time is over."""
        return self._token

    @property
    def time_limit(self) -> float | None:
        """Seconds to plan for."""
        return self._end

    @property
    def kick_limit(self) -> int | None:
        """Kicks to plan for."""
        return self._kick_limit

    @property
    def may_end_early(self) -> bool:
        """The second search has use for the time."""
        return False

    @property
    def best(self) -> NDArray[np.int32] | None:
        """The best tour of the instance."""
        return self._best

    @property
    def best_length(self) -> int | float | None:
        """Its length there."""
        return self._best_length

    def remaining(self) -> float | None:
        """Seconds until the share of the time is over."""
        return self._run.remaining() if self._end is None else max(0.0, self._end - self.elapsed())

    def offer(self, tour: NDArray[np.int32], *, copy: bool = True) -> None:
        """Keep a tour if it is shorter than the best so far."""
        length = self._instance.length(tour)
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
        """Report the state of the search, with the run's own tour."""
        self.kicks = kicks
        now = self.elapsed()
        if length != self._told and (now >= self._next or self.found is None):
            self._told = length
            self._find(tour())
            self._next = self.elapsed() + (self.elapsed() - now) / TELLING
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
        """Of the other instance."""

    def report_optimal(self) -> None:
        """Of the other instance."""

    def report_limit(self, reason: str) -> None:
        """The second search goes on."""

    def _find(self, tour: NDArray[np.int32]) -> None:
        for way in self._tours(tour):
            length = self._run.problem.length(way)
            if self._found_length is None or length < self._found_length:
                self.found, self._found_length = np.ascontiguousarray(way), length
