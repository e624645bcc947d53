"""The plan of the main solver, wherever it searches: kicks at a falling temperature, and populations.

An engine says how tours are kicked, grown and crossed, and what there is time for: `cpu`, `cuda`, `directed`.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from warptsp.methods.annealing import cooled, start_temperature
from warptsp.methods.lk import tuning
from warptsp.methods.lk.long_links import improve_long_links
from warptsp.methods.lk.params import LkParams
from warptsp.methods.protocol import Run
from warptsp.problem import Problem
from warptsp.stop.default import LEFT, NEARLY_SETTLED

Plan = TypeVar("Plan")  # of a population


def planned_seconds(run: Run) -> float | None:
    """Return the seconds that are left, None if the search has no time to plan for."""
    if run.time_limit is None:
        return None
    remaining = run.remaining()
    return max(0.0, run.time_limit - run.elapsed()) if remaining is None else remaining


class KickedTour(Protocol):
    """The tour that an engine kicks."""

    @property
    def length(self) -> float:
        """As the search measures it."""

    def return_to_best(self) -> None:
        """Go on from the best tour."""


class Schedule:
    """How far kicks are on their way to their number, or to the end of the time, whichever is nearer."""

    def __init__(self, run: Run, begun: int, last: int | None, share: float) -> None:
        """Go on from `begun` kicks to the number `last`, None for any, or through a share of the time
        left."""
        self._run = run
        self._begun, self._last, self._share = begun, last, share
        self._started = run.elapsed()
        self._kept = (1 - share) * (planned_seconds(run) or 0.0)
        self.progress = 0.0  # to 1
        self.kicks = math.inf  # from the first to the last, by the rate so far; infinite if nobody knows
        self.rate = 0.0  # kicks a second so far
        self.left: int | None = None  # kicks up to the last
        self.seconds: float | None = None  # in all
        self.remaining: float | None = None  # of these

    def goes_on(self, kicks: int) -> bool:
        """Look at the clock and at the number of kicks so far; False at the end."""
        done = kicks - self._begun
        self.progress, self.kicks = 0.0, math.inf
        if self._last is not None:
            self.left = self._last - kicks
            if self.left <= 0:
                return False
            self.kicks = self._last - self._begun
            self.progress = done * (1 / self.kicks)  # as native/lk/batch_search.h
        if (remaining := planned_seconds(self._run)) is not None:
            self.remaining = max(0.0, remaining - self._kept)
            if self.remaining == 0 and self._share < 1:
                return False  # the end of all time is for the run to see
            spent = self._run.elapsed() - self._started
            self.seconds = max(spent + self.remaining, 1e-9)
            self.progress = max(self.progress, spent / self.seconds)
            self.rate = done / max(spent, 1e-9)
            if self.rate > 0:
                self.kicks = min(self.kicks, self.rate * self.seconds)
        return True


class Engine(ABC, Generic[Plan]):
    """The tour, the clock, and what is done in which order."""

    first_cycle = tuning.FIRST_CYCLE  # kicks a city of the first annealing without a limit

    def __init__(
        self, problem: Problem, run: Run, params: LkParams, tour: KickedTour, n: int, least: int
    ) -> None:
        self.problem, self.run, self.params = problem, run, params
        self.tour = tour
        self.n = n  # cities, by which kicks are counted
        self.kicks = 0  # so far
        self.combined = False  # whether the best tour is a population's: it is too good for any temperature
        self.least: float = least  # members of the next population
        self.crossed = 0  # members of the last one,
        self.alone: float | None = None  # and what it came to, if the best tour joined it after that
        self.clustered = False  # whether the longest links carry more than CLUSTERED of the tour

    # What each engine does in its own way

    @abstractmethod
    def _kick(self, schedule: Schedule, temperature: Callable[[float], float]) -> bool:
        """Make some kicks, at a temperature for each progress; True to stop."""

    @abstractmethod
    def _planned(self, most: int | None = None) -> Plan | None:
        """Return a population, of so many members at most, that there is time for; None if there is not."""

    @abstractmethod
    def _combine(self, plan: Plan) -> bool:
        """Grow a population and cross it until nothing is gained; True to stop."""

    @abstractmethod
    def report(self, phase: str) -> bool:
        """Tell the run of the search; True to stop."""

    @abstractmethod
    def _best_length(self) -> float:
        """Return the length of the best tour, as the problem measures it."""

    def _start_temperature(self, kicks_per_city: float) -> float:
        """Return the first temperature of so many kicks a city, in mean links of the tour."""
        return start_temperature(kicks_per_city)

    # The plan

    @property
    def is_limited(self) -> bool:
        return self.run.time_limit is not None or self.run.kick_limit is not None

    @property
    def kicks_left(self) -> int | None:
        """Kicks up to their limit, None without one."""
        return None if self.run.kick_limit is None else max(0, self.run.kick_limit - self.kicks)

    def improve(self) -> None:
        """Populations while there is time for them, and kicks, until the run says stop.

        Without a limit: a short annealing, then populations of growing size. Where there is no room for
        one, annealing goes on in cycles of doubling length, each from the best tour.
        """
        if self.is_limited:
            if not self.populations():
                self.anneal()
            return
        cycle, most = self.first_cycle * self.n, int(self.least)
        while not self.anneal(self.kicks + cycle):
            while (plan := self._planned(most := 2 * most)) is not None:
                if self._combine(plan):
                    return
            self.tour.return_to_best()
            cycle *= 2

    def populations(self) -> bool:
        """Populations, one after another, that there is time for; True to stop."""
        while (plan := self._planned()) is not None:
            before = self._best_length() if self.combined else math.inf
            if self._combine(plan) or self._tells(before):
                return True
        return False

    def _tells(self, before: float) -> bool:
        """Whether the run ends, and says so, as the last population found next to nothing.

        Between clusters all populations may have the same links, and tell nothing.
        """
        if not self.run.may_end_early or self.clustered or self.crossed < tuning.TELLING_MEMBERS:
            return False
        best = self._best_length()
        found = (before, best if self.alone is None else self.alone)
        if max(found) - best > LEFT / 100 * abs(best):
            return False
        self.run.report_limit(NEARLY_SETTLED)
        return True

    def anneal(self, last: int | None = None, share: float = 1.0) -> bool:
        """Kicks at falling temperature up to the number `last`, or to a share of the time or the kicks; True
        to stop.

        Of two limits the nearer one sets the temperature.
        """
        if last is None and (left := self.kicks_left) is not None:
            last = self.kicks + int(share * left)
        mean_link = abs(self.tour.length) / self.n
        schedule = Schedule(self.run, self.kicks, last, share)
        while schedule.goes_on(self.kicks):
            start = 0.0 if self.combined else self.params.temperature
            if start is None:
                known = math.isfinite(schedule.kicks)
                start = self._start_temperature(schedule.kicks / self.n) if known else 0.0

            def temperature(progress: float, start: float = start) -> float:
                return start * mean_link * cooled(progress)

            if self._kick(schedule, temperature):
                return True
        return False

    # The long links

    @property
    def knows_long_links(self) -> bool:
        """Whether the long links of its tours can be searched on their own."""
        problem = self.problem
        return problem.open is None and problem.coordinates is not None and not len(problem.fixed_edges)

    def with_better_long_links(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        """Search among the long links of a tour, in the problem's numbers."""
        run = self.run
        seconds = planned_seconds(run) if run.kick_limit is None else None
        return improve_long_links(
            self.problem,
            tour,
            self.params,
            seconds=math.inf if seconds is None else tuning.LONG_TIME_SHARE * seconds,
            seed=run.seed,
            token=run.token,
        )
