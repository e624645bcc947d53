"""What a run has come to so far, as its criterion and the callback are told of it."""

import math
from typing import Any

from warptsp.claims import confirmed_bound
from warptsp.problem import KnownLength
from warptsp.progress import Progress
from warptsp.result import HistoryPoint
from warptsp.run.settings import Settings
from warptsp.stop import SearchState


class Course:
    """Improvements, and what is known of all tours.

    `start_length` is that of the tour that the search began with, as another run has made it.
    """

    def __init__(
        self, settings: Settings, known: KnownLength | None, start_length: int | float | None
    ) -> None:
        self.history: list[HistoryPoint] = []
        self.reported: int | float | None = None  # the last length of the history
        self.proved_bound: int | float | None = None  # by the method: no tour is shorter
        self._problem, self._bound, self._known = settings.problem, settings.bound, known
        self._improved_at, self._improved_at_kicks = 0.0, 0
        self.start_length = start_length
        self._starts = start_length is None  # whether the start tour is this run's own
        self._told = 0 if self._starts else 1  # points of the history; a later run begins with no news
        self._claim: tuple[int | float | None, int | float, int | float | None] = (None, 0, None)

    def record(self, length: int | float, elapsed: float, kicks: int) -> None:
        """Note an improvement, if this length is one."""
        # Running sums of floats drift: what may be rounding is no improvement.
        drift = 1e-12 * abs(length) if isinstance(length, float) else 0
        if self.reported is None or length < self.reported - drift:
            self.reported = length
            self.expect_none(elapsed, kicks)
            self.history.append(HistoryPoint(elapsed, length))

    def note_start(self, length: int | float, *, is_set_up: bool) -> None:
        """Note the length of the start tour, which is the last of the set-up."""
        if self._starts and (self.start_length is None or is_set_up):
            self.start_length = length if is_set_up else self.history[0].length
        self._starts = self._starts and is_set_up

    def expect_none(self, elapsed: float, kicks: int | None = None) -> None:
        """Count the time, and the kicks, without an improvement from here on."""
        self._improved_at = elapsed
        if kicks is not None:
            self._improved_at_kicks = kicks

    def lower_bound(self, length: int | float) -> int | float | None:
        """Return what may be said of all tours where one has this length; looked at once for each pair."""
        values = [self.proved_bound, None if self._bound is None else self._bound.value]
        bound = max((value for value in values if value is not None), default=None)
        if self._claim[:2] != (bound, length):
            self._claim = (bound, length, confirmed_bound(self._problem, length, bound))
        return self._claim[2]

    def state(self, elapsed: float, length: int | float, kicks: int) -> SearchState:
        """Return what a criterion is told."""
        return SearchState(
            elapsed,
            length,
            kicks,
            self._improved_at,
            self._improved_at_kicks,
            None if self._known is None else self._known.length,
            self.lower_bound(length),
        )

    def progress(self, *, length: int | float, **of_run: Any) -> Progress:
        """Return what a callback is told, with what the run itself says."""
        told, self._told = self._told, len(self.history)
        known = self._known
        return Progress(
            length=self._without_walls(length),
            improved=self._told > told,
            known_length=None if known is None else known.length,
            known_length_is_optimal=known is not None and known.proven,
            lower_bound=self.lower_bound(length),
            unit=self._problem.unit,
            start_length=None if self.start_length is None else self._without_walls(self.start_length),
            **of_run,
        )

    def _without_walls(self, length: int | float) -> int | float:
        """Return a length as it is told: infinite of a tour with missing arcs."""
        wall = self._problem.wall
        return length if wall is None or length < wall else math.inf
