"""A search of another instance that comes first, as the run of the instance itself sees it.

The mean of two directions, or groups of cities in the place of cities: what is found becomes a tour of the
instance, and the search of that begins with it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.methods.protocol import Report, Run, View, ViewedRun, says_nothing
from warptsp.problem import Problem

TELLING = 0.05  # share of the time, at most, in which tours are made of what is found


class FirstSearch:
    """The first search, with part of the time, or of the kicks; its claims are nobody's.

    It searches `problem`, the other instance, and `tours` returns tours of the run's own problem for one of
    it. It may take so many seconds and kicks; None for no limit of its own. The run is told `phase` in place
    of what the search says that it is doing. `shown` is what else of its `View` is not the run's own.
    """

    def __init__(
        self,
        run: Run,
        problem: Problem,
        tours: Callable[[NDArray[np.int32]], Sequence[NDArray[np.int32]]],
        *,
        seconds: float | None = None,
        kicks: int | None = None,
        phase: str | None = None,
        **shown: Any,
    ) -> None:
        self._told_run, self._problem, self._tours, self._phase = run, problem, tours, phase
        end = None if seconds is None else run.elapsed() + seconds
        token = _native.StopToken(run.token, math.inf if seconds is None else seconds)
        token.poll = None
        self._best_length: int | float | None = None
        self._told: int | float | None = None
        self._next = 0.0  # when a tour may be told again
        self._found_length: int | float | None = None
        self.best: NDArray[np.int32] | None = None  # of the other instance
        self.found: NDArray[np.int32] | None = None  # of the run's own problem
        self.kicks = 0  # that were made
        view = View(
            problem=problem,
            token=token,
            time_limit=lambda: end,
            kick_limit=lambda: kicks,
            may_end_early=False,  # the second search has use for the time
            best=lambda: self.best,
            best_length=lambda: self._best_length,
            remaining=None if end is None else lambda: max(0.0, end - run.elapsed()),
            offer=self._offered,
            report=self._report,
            stops=token.stopped,
            report_bound=says_nothing,
            report_optimal=says_nothing,
            report_limit=says_nothing,
            **shown,
        )
        self.run = ViewedRun(run, view)  # what it reports to

    def _offered(self, tour: NDArray[np.int32]) -> NDArray[np.int32] | None:
        length = self._problem.length(tour)
        if self._best_length is None or length < self._best_length:
            self.best, self._best_length = np.array(tour), length
        self._find(tour)
        return self.found

    def _report(self, report: Report) -> Report | None:
        """Return the state of the search with the tour of the run's own problem."""
        self.kicks = report.kicks or self.kicks  # a set-up has none
        now = self._told_run.elapsed()
        if report.length != self._told and (now >= self._next or self.found is None):
            self._told = report.length
            self._find(report.tour())
            elapsed = self._told_run.elapsed()
            self._next = elapsed + (elapsed - now) / TELLING
        best, found = self._found_length, self.found
        if best is None or found is None:
            return None
        phase = report.phase if self._phase is None else self._phase
        return replace(report, length=best, tour=lambda: found, phase=phase)

    def _find(self, tour: NDArray[np.int32]) -> None:
        for way in self._tours(tour):
            length = self._told_run.problem.length(way)
            if self._found_length is None or length < self._found_length:
                self.found, self._found_length = np.ascontiguousarray(way), length
