"""Populations of the main solver on a GPU: members grow there, all at once, and CPU threads cross them.

A single tour of some ten thousand cities leaves most of the GPU empty; a hundred of them fill it. Crossover
(native/lk/edge_assembly.h) follows links through whole tours in memory, which CPU threads do better.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import warptsp._native as _native
from warptsp.backends.cpu import tour_search
from warptsp.backends.cuda.search import PartRounds, plan_launch, pool_bytes
from warptsp.methods.annealing import cooled
from warptsp.methods.lk import tuning
from warptsp.methods.lk.cpu import population_plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.backends.cuda.cities import Cities
    from warptsp.methods.lk.params import LkParams
    from warptsp.methods.protocol import Run

# The time of all generations after so many, in times that these took.
LATER = {1: tuning.GPU_GENERATIONS, tuning.GPU_FEW_GENERATIONS: tuning.GPU_LATER_GENERATIONS}


@dataclass(frozen=True, slots=True)
class PopulationPlan:
    """A population that there is time for.

    Attributes
    ----------
    members : int
    kicks_per_city : float
        Of each member.
    growth_seconds : float or None
        After which kicks end, None without a limit.
    """

    members: int
    kicks_per_city: float
    growth_seconds: float | None


def plan_population(
    n: int,
    *,
    room: int,
    most: int,
    threads: int,
    seconds: float | None,
    kicks: float | None,
    gpus: int = 1,
) -> PopulationPlan | None:
    """Choose a population for so much time and so many kicks a city; None if it would be too small.

    Parameters
    ----------
    n : int
    room : int
        Cities that a GPU searches at once: fewer take as long.
    most : int
        Members.
    threads : int
        Of the CPU.
    seconds, kicks : float or None
        What is left; None without a limit.
    gpus : int
        Members are divided among them. A plan for kicks alone is the same for any number.
    """
    crossing = tuning.GPU_CROSSING / threads  # seconds a member and city
    speed = 1 if seconds is None else gpus
    room *= speed
    balance = tuning.GPU_BALANCE
    member_kicks = _kicks_in(speed * balance * crossing)
    size, growth = float(most), None
    if kicks is not None:
        member_kicks = min(member_kicks, tuning.GPU_KICKS_FOR_MEMBER / 2)
        size = min(size, kicks / tuning.GPU_KICKS_FOR_MEMBER)
    if seconds is not None:
        # Members that leave the GPU half empty get fewer kicks.
        growth = balance / (1 + balance) * seconds
        member_kicks = min(member_kicks, _kicks_in(speed * growth / room))
        a_city = (tuning.GPU_GROWTH + tuning.GPU_KICK * member_kicks) / speed
        size = min(size, seconds / (n * (a_city + crossing)), (seconds - room * a_city) / (n * crossing))
        growth = max(room, size * n) * a_city
        # Threads that have no members to cross wait for the others.
        if seconds < growth + 2 * threads * n * crossing:
            return None
    return None if size < tuning.GPU_MIN_MEMBERS else PopulationPlan(int(size), member_kicks, growth)


def _kicks_in(seconds: float) -> float:
    """Return the kicks a city of a member for whose growth a GPU takes so many seconds a city."""
    kicks = (seconds - tuning.GPU_GROWTH) / tuning.GPU_KICK
    return min(tuning.GPU_MAX_MEMBER_KICKS, max(tuning.GPU_MIN_MEMBER_KICKS, kicks))


class GpuPopulation:
    """Members, their crossover, and the best tour of all.

    Parameters
    ----------
    cities : sequence of Cities
        The same ones on each GPU.
    tour : ndarray of int32, shape (n,)
        In the search's numbers; the best so far.
    params : LkParams
    run : Run
    """

    def __init__(
        self,
        cities: Sequence[Cities],
        tour: NDArray[np.int32],
        params: LkParams,
        run: Run,
    ) -> None:
        lead = cities[0]
        self.cities = cities
        self.params = params
        self.run = run
        self.number = 0
        self._lists = lead.candidates.download()
        self._native = tour_search(lead.search_instance(), self._lists, tour, **params.of_search(len(tour)))
        self._counts: Counter[str] = Counter()
        full = plan_launch(
            lead.device, lead.metric, lead.n, max(1, params.members_on_gpu), depth=params.depth_on_gpu
        )
        self._room = full.resident * full.cities

    @property
    def best_length(self) -> float:
        """Length of the best tour."""
        return self._native.best_length

    def best(self) -> NDArray[np.int32]:
        """The best tour, in the search's numbers."""
        return self._native.best()

    @property
    def kicks(self) -> int:
        """Kicks so far, the refused ones included."""
        return int(self._counts["kicks_made"] + self._counts["kicks_refused"])

    def counters(self) -> dict[str, int | float]:
        """What was done, by name."""
        return dict(self._counts)

    def plan(self, seconds: float | None, kicks: float | None, most: int | None) -> PopulationPlan | None:
        """`plan_population` for this instance, GPU and run; of `most` members, if that is given."""
        n, most = self.cities[0].n, min(self.params.members_on_gpu, most or self.params.members_on_gpu)
        free = min(cities.device.memory_free() for cities in self.cities)
        return plan_population(
            n,
            room=self._room,
            gpus=len(self.cities),
            most=min(most, free // pool_bytes(n) * len(self.cities), tuning.GPU_MAX_MEMBER_CITIES // n),
            threads=self.run.threads,
            seconds=seconds,
            kicks=kicks,
        )

    def combine(
        self,
        plan: PopulationPlan,
        tour: NDArray[np.int32],
        report: Callable[[str], bool],
        *,
        mean_link: float,
        in_clusters: bool,
    ) -> bool:
        """Grow members, and cross them until nothing is gained; True to stop.

        Parameters
        ----------
        plan : PopulationPlan
        tour : ndarray of int32, shape (n,)
            One more member, in the search's numbers.
        report : callable
            Called with the phase several times a second; returns True to stop.
        mean_link : float
            Of a good tour: the measure of temperatures.
        in_clusters : bool
            Whether long links carry much of the tour.
        """
        self.number += 1
        members = self._grow(plan, mean_link, report)
        if members is None:
            return True
        self._native.forget()
        self._native.add(np.vstack([members, tour]), self.run.threads)
        leisurely = in_clusters and plan.members >= self.params.members_on_gpu
        return self._cross(report, tuning.GPU_CHOICE_IN_CLUSTERS if leisurely else tuning.SELECTION)

    def _grow(
        self, plan: PopulationPlan, mean_link: float, report: Callable[[str], bool]
    ) -> NDArray[np.int32] | None:
        """New tours, in the search's numbers; None to stop."""
        run, size, kicks = self.run, plan.members, plan.kicks_per_city
        begun = run.elapsed()
        starts = _native.random_fragments(
            candidates=self._lists, count=size, seed=run.seed, round=self.number, threads=run.threads
        )
        working = self.cities[:size]
        pieces = np.array_split(starts, len(working))
        rounds = PartRounds(
            working,
            [cities.device.upload(some) for cities, some in zip(working, pieces, strict=True)],
            one_tour=False,
            threads=run.threads,
            mean_link=mean_link,
            **self.params.of_rounds(),
        )
        del starts, pieces
        done, counted = 0.0, Counter(self._counts)
        seed = (run.seed + self.number * 0x9E3779B97F4A7C15) % (1 << 64)  # other kicks than the main search
        sweeps, kicks_a_round = tuning.GPU_MEMBER_SWEEPS, tuning.GPU_MEMBER_KICKS_A_ROUND
        for number in range(sweeps + math.ceil(kicks / kicks_a_round)):
            now = min(kicks_a_round, kicks - done) if number >= sweeps else 0.0
            rounds.round(
                optimize=number < sweeps,
                kicks_per_city=now,
                temperature=tuning.MEMBER_TEMPERATURE * mean_link * cooled(done / kicks),
                seed=seed,
                token=run.token,
            )
            done += now
            self._counts = counted + Counter(rounds.counters())
            if report("population"):
                return None
            if plan.growth_seconds is not None and run.elapsed() - begun > plan.growth_seconds:
                break
        return rounds.tours()

    def _cross(self, report: Callable[[str], bool], selection: int) -> bool:
        native, run = self._native, self.run
        crossing = _native.PopulationRun.create(search=native, **population_plan(selection=selection))
        number, ended, begun = 0, False, run.elapsed()
        spread = native.mean_length - native.best_length
        while not ended:
            number += 1
            # One generation, however little it takes.
            ended, _ = crossing.proceed(0.0, run.seed, self.number << 32 | number, run.threads, run.token)
            if report("crossover"):
                return True
            # What there is no time for goes: crossover that does not end costs more than missing members.
            remaining = run.remaining() if run.kick_limit is None else None
            wide = native.mean_length - native.best_length > tuning.GPU_WIDE * spread
            later = LATER.get(number)
            if remaining is not None and later is not None and wide:
                affordable = remaining / (later * (run.elapsed() - begun)) * native.members
                native.keep_members(max(int(affordable), 2))
        return False
