"""What engines on CPU threads have in common: populations that grow and are crossed there."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from warptsp._native import DirectedSearch, PopulationPlan, PopulationRun, TourSearch
from warptsp.machine import memory
from warptsp.methods.lk import tuning
from warptsp.methods.lk.engine import Engine, planned_seconds
from warptsp.methods.lk.params import LkParams
from warptsp.methods.lk.tuning import Members
from warptsp.methods.protocol import Run
from warptsp.problem import Problem

Native = TypeVar("Native", TourSearch, DirectedSearch)


def between_reports(run: Run) -> float:
    """Return the seconds of crossover between two reports: a share of what the run has taken so far."""
    return min(tuning.PAUSE, max(tuning.MOMENT, tuning.REPORT_SHARE * run.elapsed()))


def room_for_members(n: int, threads: int) -> int:
    """Return how many members of n cities the memory has room for, beside their crossover."""
    a_city = tuning.MEMORY_SHARE * memory() / n
    a_city -= tuning.CROSSING_BYTES + threads * tuning.CROSSING_BYTES_OF_THREAD
    return max(0, int(a_city / tuning.MEMBER_BYTES))


def gathers(n: int, run: Run) -> bool:
    """Tell whether the best member of a population takes over what the others have better, at its end."""
    return n > tuning.MAX_QUICK and run.kick_limit is None


def gathering_seconds(n: int, members: int, threads: int) -> float:
    """Return the seconds that this takes once."""
    return tuning.GATHERING * n * (members / threads + math.log2(threads))


def is_time_to_gather(search: TourSearch, n: int, run: Run, begun: float) -> bool:
    """Tell whether no time is left for more generations, the last ones of which were begun then."""
    if not gathers(n, run) or (remaining := run.remaining()) is None:
        return False
    return remaining < run.elapsed() - begun + gathering_seconds(n, search.members, run.threads)


def gather(search: TourSearch, run: Run, first: int, report: Callable[[], bool]) -> bool:
    """Let the best member do so while it gains and there is time for another pass, the first of this number;
    True to stop."""
    gain, seconds = 1.0, 0.0
    while gain > 0 and ((remaining := run.remaining()) is None or remaining > seconds):
        begun = run.elapsed()
        gain = search.gather(seed=run.seed, round=first, threads=run.threads, token=run.token)
        first, seconds = first + 1, run.elapsed() - begun
        if report():
            return True
    return False


class ThreadEngine(Engine[int], Generic[Native]):
    """An engine whose populations are planned by the time that their members take."""

    def __init__(
        self, problem: Problem, run: Run, params: LkParams, n: int, native: Native, members: Members
    ) -> None:
        super().__init__(problem, run, params, native, n, members.least)
        self.native: Native = native
        self.members = members
        self.member_seconds = 1e-9  # for a new member of a population
        self.round = 0  # of kicks, members or generations, each with random numbers of its own
        self.earlier_kicks = 0  # of a search that came first

    # Plans

    def most(self) -> int:
        """Return how many members a population has at most."""
        n, run = self.n, self.run
        if (most := self.params.population) is not None:
            return most if most >= tuning.FULL_MEMBERS.least else 0
        if run.kick_limit is not None:  # the same on every machine
            return min(self.members.most, tuning.MAX_MEMBER_CITIES // n)
        return min(self.members.most, room_for_members(n, run.threads))

    def _planned(self, most: int | None = None) -> int | None:
        largest = float(self.most() if most is None else min(most, self.most()))
        if (left := self.kicks_left) is not None:
            largest = min(largest, left / self.n / self.members.granted)
        size, remaining = largest, planned_seconds(self.run)
        if remaining is not None:
            for _ in range(4):  # a rough guess: its share hardly depends on the size
                size = min(largest, remaining / ((1 + self._crossing_share(size)) * self.member_seconds))
        return int(size) if int(size) >= self.least else None

    def _crossing_share(self, size: float) -> float:
        """Time for the generations of so many members, in times that the growth takes."""
        members, n = self.members, self.n
        power = (n / 1000) ** members.crossing_power * (size / 30) ** members.crossing_size
        if n >= tuning.CROWDED_CITIES:
            power *= max(1.0, self.run.threads / 2) ** tuning.CROSSING_OF_THREADS
        return float(members.crossing * power)

    # Populations

    @property
    def members_have_long_links(self) -> bool:
        """Whether members are searched among their long links, too."""
        return False

    @property
    def gathers(self) -> bool:
        """Whether the best member of a population takes over what the others have better, at its end."""
        return False

    def _combine(self, plan: int) -> bool:
        # What the population before came to, or the user's start tour, is one of the members: from the
        # beginning, or, if it would lead them astray, at the end.
        native, members, size = self.native, self.members, plan
        if (hurried := self._grow(size)) is None:
            return True
        selection = members.selection if hurried else members.leisurely
        uneven = self.run.kick_limit is None
        plan_ = PopulationPlan(selection=selection, uneven=uneven, patient=self.gathers)
        known = native.best() if self.combined and self.n <= members.apart else None
        # A full member is worth more than the tour of the first local search, another one is not.
        if known is None and (
            self.combined or members is not tuning.FULL_MEMBERS or isinstance(self.run.start, np.ndarray)
        ):
            native.keep()
        if self.cross(plan_):
            return True
        self.alone = None
        if known is not None:
            assert isinstance(native, TourSearch)
            self.alone = self._length(native.least_length)
            native.add(known[np.newaxis], self.run.threads)
            if self.cross(plan_):
                return True
        self.members = members._replace(kicks=max(members.kicks, members.later))
        self.least = max(self.least, math.ceil(tuning.NEXT_POPULATION * size))
        if self.members.kicks == 0 and self.run.kick_limit is not None:
            self.least = math.inf  # such members take next to no kicks
        return False

    def _grow(self, size: int) -> bool | None:
        """Grow so many members; whether the generations have little time then, None to stop."""
        native, run, n = self.native, self.run, self.n
        native.forget()
        started, grown, crossing = run.elapsed(), 0, 0.0
        self.round += 1
        while grown < size:
            # As many as take a moment, on each thread.
            count = max(1, min(tuning.MEMBERS_AT_ONCE, int(tuning.MOMENT / self.member_seconds)))
            count = min(run.threads * count, size - grown)
            # At least one kick: with none, a number of kicks would never be reached.
            kicks = max(1.0 / n, self.members.kicks * max(0.5, min(1.0, size / 16)))
            if (left := self.kicks_left) is not None:
                kicks = min(kicks, left // count / n)
            native.grow(
                count=count,
                kicks_per_city=kicks,
                temperature=tuning.MEMBER_TEMPERATURE,
                steps=self.members.steps,
                long_links=self.members_have_long_links,
                seed=run.seed,
                round=self.round,
                threads=run.threads,
                token=run.token,
            )
            grown += count
            if self.report("population"):
                return None
            self.member_seconds = max(1e-9, (run.elapsed() - started) / grown)
            remaining = planned_seconds(run)
            # What is left must do for the generations.
            crossing = self._crossing_share(grown + count) * self.member_seconds * (grown + count)
            if remaining is not None and remaining < crossing:
                break
        self.crossed = grown
        remaining = planned_seconds(run)
        return remaining is not None and remaining < tuning.LEISURE * crossing

    def cross(self, plan: PopulationPlan | None = None, *, phase: str = "crossover") -> bool:
        """Cross new populations, or the one there is, until nothing is gained; True to stop."""
        run, ended = self.run, False
        self.combined = True
        threads = run.threads if self.n > tuning.FEW_CITIES else 1
        crossing = PopulationRun.create(self.native, plan or PopulationPlan())
        while not ended:
            begun = run.elapsed()
            ended, rounds = crossing.proceed(
                between_reports(run), run.seed, self.round + 1, threads, run.token
            )
            self.round += rounds
            if self.report(phase):
                return True
            ended = ended or self._hurries(begun)
        self.native.return_to_best()
        return False

    def _hurries(self, begun: float) -> bool:
        """Tell whether generations end as their time does; the last ones were begun then."""
        return False

    # Reports

    def report(self, phase: str) -> bool:
        """Tell the run of the search; True to stop."""
        counters = self.native.counters()
        self.kicks = counters.pop("kicks") + counters.get("kicks_refused", 0)
        return self.run.update(
            length=self._best_length(),
            kicks=self.earlier_kicks + self.kicks,
            tour=self._best,
            phase=phase,
            **counters,
        )

    def _best_length(self) -> float:
        return self._length(self.native.best_length)

    @abstractmethod
    def _length(self, closed: float) -> float:
        """Return the problem's length of a closed tour of this one in the search."""

    @abstractmethod
    def _best(self) -> NDArray[np.int32]:
        """Return the best tour, in the problem's numbers."""

    def finish(self) -> None:
        """Hand over the best tour."""
        self.run.offer(self._best())
