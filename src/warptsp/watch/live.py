"""What the thread of the search and those of the server share."""

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp.describe import (
    ABOVE_SHORTEST,
    OVER_OPTIMUM,
    Rate,
    describe_bound,
    describe_done,
    describe_gap,
    describe_place,
    describe_time_left,
    short,
    work,
)
from warptsp.errors import WarpTSPError
from warptsp.problem import Problem
from warptsp.progress import Progress
from warptsp.quantities import finite, format_gap, grouped
from warptsp.report.document import thinned
from warptsp.result import Result

PAUSE = 1.0  # seconds between two tours at least
SHARE = 0.02  # of the time of the search's thread that may go into copies of tours
STOPPED = "stopped from the page"
PATIENCE = 10.0  # seconds that somebody who saves waits for the search to give its tour
POINTS = 500  # of the curve that a page gets when it comes in the middle of a run
GRACE = 20.0  # seconds that a page may take to ask for events, and for the last tour, before it is given up


@dataclass(frozen=True, slots=True, eq=False)
class LiveTour:
    """A tour of a running search: `number` is 1 for the first that was handed out."""

    number: int
    seconds: float
    length: int | float
    cities: NDArray[np.int32]


class RunEnded(WarpTSPError):  # noqa: N818
    """The run has ended, and its files are written: there is nothing left to save."""


class LiveRun:
    """Where a run stands, and what the watchers ask of it.

    The search publishes; that costs it a lock, and a copy of the tour only if somebody waits for one. What
    was published before is forgotten, so that a slow watcher misses something, and nothing piles up.
    ``save(tour)`` writes a tour and returns the names of the files.
    """

    def __init__(
        self, problem: Problem, save: Callable[[NDArray[np.int32]], Sequence[str]] | None = None
    ) -> None:
        self.problem = problem
        self.closed = False
        self._write = save
        self._changed = threading.Condition()
        self._saving = threading.Lock()
        self._progress: Progress | None = None
        self._rate = Rate()
        self._rate_now: float | None = None
        self._sequence = 0
        self._points: list[tuple[float, int | float]] = []
        self._tour: LiveTour | None = None
        self._wanted = False
        self._next = 0.0
        self._cost = 1e-8 * problem.n  # seconds for a copy; corrected by the first one
        self._stop = False
        self._end: dict[str, Any] | None = None
        self._watchers = 0
        self._expected = 0.0

    # For the search

    def publish(self, progress: Progress) -> str | None:
        """Take note of where the search stands; returns a reason if somebody wants it to stop."""
        is_tour = math.isfinite(progress.length)
        with self._changed:
            self._progress = progress
            self._rate_now = self._rate(progress)
            if is_tour and (progress.improved or not self._points):
                self._points.append((progress.elapsed, progress.length))
            self._news()
            take = is_tour and self._wanted and not self._has(progress.length) and self._has_time(progress)
        if take:
            begun = time.monotonic()
            cities = progress.tour()
            ended = time.monotonic()
            self._cost = ended - begun
            self._next = ended + max(PAUSE, self._cost / SHARE)
            with self._changed:
                self._keep(self._points[-1][0], progress.length, cities)
        return STOPPED if self._stop else None

    def finish(self, result: Result, text: str) -> None:
        """Take note of the end of the run. No tour is saved after this call."""
        if math.isinf(result.length):  # its arcs are missing: there is no tour, and JSON has no such number
            self.fail(text)
            return
        with self._saving, self._changed:
            seconds = result.history[-1].seconds if result.history else result.seconds
            self._points.append((seconds, result.length))
            # Running lengths are rounded otherwise than exact ones.
            if self._tour is None or not math.isclose(self._tour.length, result.length, rel_tol=1e-9):
                self._keep(seconds, result.length, result.tour)
            figures = {"time": f"{result.seconds:.1f} s"}
            if result.proved_optimal:  # which the text says, too
                figures |= {OVER_OPTIMUM: format_gap(0.0), ABOVE_SHORTEST: ""}
            elif result.bound_gap is not None:
                figures[ABOVE_SHORTEST] = format_gap(result.bound_gap, up=True)
            self._finish({"state": "done", "text": text, "length": result.length, "figures": figures})

    def fail(self, text: str) -> None:
        """Take note of the end of a run without a result."""
        with self._saving, self._changed:
            if self._end is None:
                self._finish({"state": "error", "text": text, "figures": {}})

    def close(self) -> None:
        """Let everybody who waits go."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()

    # For the server

    @property
    def ended(self) -> bool:
        """Whether nothing will change any more."""
        return self._end is not None or self.closed

    def request_stop(self) -> None:
        """Let the search end at its next event."""
        self._stop = True

    def news(self, seen: int, timeout: float) -> int:
        """Wait for more than was seen; return a number for what there is now."""
        with self._changed:
            self._changed.wait_for(lambda: self._sequence != seen or self.closed, timeout)
            return self._sequence

    def message(self, points: int) -> tuple[dict[str, Any], int]:
        """Return where the run stands, with the points of the curve from this one on, and their number."""
        with self._changed:
            progress, rate, end, tour = self._progress, self._rate_now, self._end, self._tour
            new = self._points[points:]
            count = len(self._points)
        said = end or _described(progress, rate)
        return said | {
            "points": thinned(new, POINTS),
            "stopping": self._stop,
            "number": 0 if tour is None else tour.number,
        }, count

    def tour(self, after: int, timeout: float) -> LiveTour | None:
        """Return the best tour, if its number is larger than `after`; waits for the search to give it."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_there(after), timeout)
            tour = self._tour
            return tour if tour is not None and tour.number > after else None

    def save(self) -> tuple[LiveTour, Sequence[str]]:
        """Save the best tour; return it, and the names of the files, none if the watcher has to keep it.

        Raises `RunEnded` after the end, `WarpTSPError` if there is no tour yet, or it cannot be written.
        """
        tour = self.tour(0, timeout=PATIENCE)
        if tour is None:
            raise WarpTSPError("there is no tour yet; try again in a moment")
        # Whatever leaves the library is checked.
        self.problem.check_tour(tour.cities)
        with self._saving:
            if self.ended:
                raise RunEnded("the run has ended, and has written its files")
            return tour, [] if self._write is None else self._write(tour.cities)

    @contextmanager
    def watcher(self) -> Iterator[None]:
        """Count somebody who is being served."""
        with self._changed:
            self._watchers += 1
        try:
            yield
        finally:
            with self._changed:
                self._watchers -= 1
                self._changed.notify_all()

    def expect(self, seconds: float = GRACE) -> None:
        """Await a watcher for so long at the end of the run; 0: it has come."""
        with self._changed:
            self._expected = time.monotonic() + seconds if seconds else 0.0

    def await_watchers(self, timeout: float | None = None) -> bool:
        """Wait until nobody is being served or expected; False if time ran out before."""
        limit = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while True:
                now = time.monotonic()
                if self._watchers == 0 and now >= self._expected:
                    return True
                if limit is not None and now >= limit:
                    return False
                # In pieces: an interrupt comes between two of them.
                self._changed.wait(0.1)

    # Inside

    def _finish(self, end: dict[str, Any]) -> None:
        said = _described(self._progress, self._rate_now)
        figures = {name: text for name, text in said["figures"].items() if name != "left"}
        self._end = {**end, "figures": {**figures, **end["figures"]}}
        self._progress = None  # which holds the search
        self._news()

    def _news(self) -> None:
        self._sequence += 1
        self._changed.notify_all()

    def _has_time(self, progress: Progress) -> bool:
        # Time limits are kept: near the end the result is the next tour.
        in_time = progress.remaining is None or progress.remaining > 10.0 * self._cost
        return in_time and time.monotonic() >= self._next

    def _has(self, length: int | float) -> bool:
        return self._tour is not None and self._tour.length <= length

    def _is_there(self, after: int) -> bool:
        if self.ended:
            return True
        tour, progress = self._tour, self._progress
        there = (
            tour is not None and tour.number > after and progress is not None and self._has(progress.length)
        )
        self._wanted = self._wanted or not there
        return there

    def _keep(self, seconds: float, length: int | float, cities: NDArray[np.int32]) -> None:
        number = 1 if self._tour is None else self._tour.number + 1
        self._tour = LiveTour(number, seconds, length, cities)
        self._wanted = False
        self._changed.notify_all()


def _described(progress: Progress | None, rate: float | None) -> dict[str, Any]:
    if progress is None:
        return {"state": "live", "text": "Preparing", "figures": {}}
    figures = {}
    # The length and its gap are the page's own.
    if progress.known_length is None and (gap := describe_gap(progress)) is not None:
        figures[gap[1]] = gap[0]
    if (bound := describe_bound(progress)) is not None:
        figures[ABOVE_SHORTEST] = bound
    figures["time"] = f"{progress.elapsed:.1f} s"
    if (left := describe_time_left(progress, rate)) is not None:
        figures["left"] = left
    done, what = work(progress)
    if done:
        figures[what] = grouped(str(done)).replace(" ", "\u2009")  # a thin space, as everywhere on the page
        figures[f"{what} a second"] = "" if rate is None else short(rate)
    phase = "Search" if progress.phase == "search" else progress.phase.capitalize()
    return {
        "state": "live",
        "text": f"{phase}, on {describe_place(progress)}",
        "length": finite(progress.length),
        "done": describe_done(progress),
        "figures": figures,
    }
