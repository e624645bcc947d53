"""What a method reports to: a run, or a run seen through a view, where a method searches another instance.

A view is data: what it names stands in for what the run has under that name, and all else is the run's own.
What methods may ask of either has its docstring in `warptsp.run.Run`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
import warptsp.run
from warptsp.errors import WarpTSPError
from warptsp.machine import Devices
from warptsp.problem import Problem

Tour: TypeAlias = NDArray[np.int32]
Run: TypeAlias = "warptsp.run.Run | ViewedRun"


@dataclass(frozen=True, slots=True)
class Report:
    """What `Run.update` is told; `warptsp.run.Run` says what each of it means."""

    length: int | float
    kicks: int
    tour: Callable[[], Tour]
    phase: str
    counters: dict[str, int | float]

    def with_tour(self, of: Callable[[Tour], Tour]) -> "Report":
        """Return this report of the tour that `of` makes of its tour."""
        tour = self.tour
        return replace(self, tour=lambda: of(tour()))


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a method sees of a run, and the run of the method; None for what is the run's own."""

    # In the place of the run's.
    problem: Problem | None = None
    start: str | Tour | None = None
    given: Sequence[Tour] | None = None
    token: _native.StopToken | None = None
    device: Devices | None = None
    may_end_early: bool | None = None
    # Asked for what is in the place of the run's at the moment.
    best: Callable[[], Tour | None] | None = None
    best_length: Callable[[], int | float | None] | None = None
    kick_limit: Callable[[], int | None] | None = None
    time_limit: Callable[[], float | None] | None = None
    # Called in the place of the run's.
    remaining: Callable[[], float | None] | None = None
    expect: Callable[..., None] | None = None
    start_over: Callable[..., None] | None = None
    report_bound: Callable[[int | float], None] | None = None
    report_optimal: Callable[[], None] | None = None
    report_limit: Callable[[str], None] | None = None
    # What the run is offered for a tour of the method, and told for a report; None for nothing.
    offer: Callable[[Tour], Tour | None] | None = None
    report: Callable[[Report], Report | None] | None = None
    stops: Callable[[], bool] | None = None  # asked at each report, whatever the run says


_OF_THE_MOMENT = ("best", "best_length", "kick_limit", "time_limit")  # functions of a view that are asked
# What methods ask of a run beside the fields of a view, and may call.
_FIELDS = ("seed", "threads", "may_use_cpu", "counters", "workers", "stop_reason", "interrupted")
_CALLS = ("elapsed", "enter", "use_cpu", "limit_kicks", "save", "report_device", "report_counters")
_PASSED_ON = (*_FIELDS, *_CALLS, "report_worker")


class ViewedRun:
    """A run seen through a view."""

    __slots__ = ("_run", "_view")

    def __init__(self, run: Run, view: View) -> None:
        self._run = run
        self._view = view

    def __getattr__(self, name: str) -> Any:
        """What the view has, and else the run."""
        own = None if name in _PASSED_ON else getattr(self._view, name)
        if own is None:
            return getattr(self._run, name)
        return own() if name in _OF_THE_MOMENT else own

    def offer(self, tour: Tour, *, copy: bool = True) -> None:
        """Keep a tour if it is shorter than the best so far."""
        offered = tour if self._view.offer is None else self._view.offer(tour)
        if offered is not None:
            self._run.offer(offered, copy=copy and offered is tour)  # nobody else has another array

    def update(
        self,
        *,
        length: int | float,
        kicks: int,
        tour: Callable[[], Tour],
        phase: str = "search",
        **counters: int | float,
    ) -> bool:
        """Report the state of the search."""
        report = self._told(Report(length, kicks, tour, phase, counters))
        stop = report is not None and self._run.update(
            length=report.length,
            kicks=report.kicks,
            tour=report.tour,
            phase=report.phase,
            **report.counters,
        )
        return (self._view.stops is not None and self._view.stops()) or stop

    @contextmanager
    def repeating(self, length: int | float, tour: Callable[[], Tour], phase: str) -> Iterator[None]:
        """Report this tour now and then."""
        report, token = self._told(Report(length, 0, tour, phase, {})), self._view.token
        if report is None:
            yield
            return
        with self._run.repeating(report.length, report.tour, phase):
            if token is not None:
                token.poll = self._run.token.poll
            try:
                yield
            finally:
                if token is not None:
                    token.poll = None

    def _told(self, report: Report) -> Report | None:
        return report if self._view.report is None else self._view.report(report)


def says_nothing(*_: object) -> None:
    """Stand in for a claim of a method that does not hold for the run's own instance."""


def best_of(run: Run) -> tuple[Tour, int | float]:
    """Return the best tour that was offered, and its length; for methods that have offered one."""
    tour, length = run.best, run.best_length
    if tour is None or length is None:
        raise WarpTSPError("the method has offered no tour, which is a bug; please report it")
    return tour, length
