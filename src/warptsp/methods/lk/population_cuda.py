"""Populations of the main solver on a GPU: members grow there, all at once, and CPU threads cross them.

A single tour of some ten thousand cities leaves most of the GPU empty; a hundred of them fill it. Crossover
(native/lk/edge_assembly.h) follows links through whole tours in memory, which CPU threads do better.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.backends.beside import Beside
from warptsp.backends.cuda.cities import Cities
from warptsp.backends.cuda.search import PartRounds, TourSearch
from warptsp.methods.annealing import cooled
from warptsp.methods.lk import tuning
from warptsp.methods.lk.params import LkParams
from warptsp.methods.lk.threads import between_reports, gather, gathering_seconds, gathers, is_time_to_gather
from warptsp.methods.protocol import Run


class PopulationPlan(NamedTuple):
    """A population that there is time for."""

    members: int
    kicks_per_city: float  # of each member
    growth_seconds: float | None  # after which kicks end, None without a limit
    selection: int  # of so many children one is taken
    kicked: bool = False  # whether the members are those of the population before, kicked


def plan_population(
    n: int,
    *,
    room: int,
    most: int,
    threads: int,
    seconds: float | None,
    kicks: float | None,
    gpus: int = 1,
    clustered: bool = False,
    later: bool = False,
) -> PopulationPlan | None:
    """Choose a population for the seconds and kicks a city that are left, None without a limit; None if it
    would be too small.

    A GPU searches cities up to `room` at once: fewer take as long. Members, `most` at most, are divided among
    the GPUs; a plan for kicks alone is the same for any number of them. `threads` are the CPU's. Between
    clusters more children are worth less than `later` populations, which have the best tour among them.
    """
    # Seconds a tour and city.
    crossing = tuning.GPU_CROSSING * (n / 100_000) ** tuning.GPU_CROSSING_POWER / threads
    if seconds is not None:
        seconds -= gathering_seconds(n, 0, threads)
        crossing += tuning.GATHERING / threads
    if kicks is not None:
        most = min(most, int(kicks / tuning.GPU_KICKS_FOR_MEMBER))
    if most < tuning.GPU_MIN_MEMBERS:
        return None
    if seconds is None:
        member_kicks = _kicks_in(tuning.GPU_BALANCE * crossing)
        member_kicks = min(member_kicks, tuning.GPU_KICKS_FOR_MEMBER / 2)
        return PopulationPlan(most, member_kicks, None, tuning.GPU_SELECTION)

    balance = tuning.GPU_BALANCE
    # Members that leave the GPU half empty get fewer kicks.
    member_kicks = min(
        _kicks_in(gpus * balance * crossing), _kicks_in(balance / (1 + balance) * seconds / room)
    )
    a_city = _growth(member_kicks) / gpus
    # Tours to cross: the members, and the best one.
    crossed = min(
        most + 1,
        int(seconds / (n * (a_city + crossing))),
        int((seconds - gpus * room * a_city) / (n * crossing)),
    )
    hurried = crossed <= most
    if hurried and crossed < threads:
        # Fewer tours than threads take as long: a thread finds the cycles of a pair, and makes its child.
        crossed = min(most + 1, threads)
        crossing *= tuning.GPU_HURRIED_CROSSING
    spare = seconds - max(crossed, threads) * n * crossing
    if hurried:  # kicks for all the time that is left
        leisure = 1.0
        member_kicks = _kicks_in(spare / max(room, (crossed - 1) * n / gpus))
    else:  # better members, and slower crossover
        most_leisure = tuning.GPU_CLUSTERED_LATER_LEISURE if clustered and later else tuning.GPU_LEISURE
        leisure = min(most_leisure, seconds / (crossed * n * (a_city + crossing)))
        member_kicks = max(member_kicks, _kicks_in(gpus * balance * crossing * math.sqrt(leisure)))
    a_city = _growth(member_kicks) / gpus
    members = min(crossed - 1, int(spare / (n * a_city) * _ROUNDING))
    growth = max(gpus * room, members * n) * a_city
    if members < tuning.GPU_MIN_MEMBERS or spare * _ROUNDING < growth:
        return None
    # Time goes with the children that are tried, but for what each generation takes in any case.
    selection = tuning.GPU_SELECTION + int(tuning.GPU_SELECTION_OF_LEISURE * (leisure - 1))
    return PopulationPlan(members, member_kicks, growth, selection)


def plan_kicked(
    n: int, members: int, *, room: int, threads: int, seconds: float, crossing: float, gpus: int = 1
) -> PopulationPlan | None:
    """Choose how many members of a population are kicked and crossed again in the seconds that are left; None
    if they would be too few.

    `crossing` is what their own crossover has taken, in seconds a tour and city of all threads together.
    """
    seconds -= gathering_seconds(n, 0, threads)
    kicks = tuning.GPU_AGAIN_KICKS
    growth, crossing = tuning.GPU_KICK * kicks / gpus, tuning.GPU_AGAIN_CROSSING * crossing
    members = min(members, int(seconds / (n * (growth + crossing))))
    growth *= max(gpus * room, members * n)
    if members < tuning.GPU_MIN_MEMBERS or growth + members * n * crossing > seconds * _ROUNDING:
        return None
    return PopulationPlan(members, kicks, growth, tuning.GPU_AGAIN_SELECTION, kicked=True)


_ROUNDING = 1 + 1e-9


def _growth(kicks: float) -> float:
    """Return the seconds a city that one GPU takes for a member of so many kicks a city."""
    return tuning.GPU_GROWTH + tuning.GPU_KICK * kicks


def _kicks_in(seconds: float) -> float:
    """Return the kicks a city of a member for whose growth a GPU takes so many seconds a city."""
    kicks = (seconds - tuning.GPU_GROWTH) / tuning.GPU_KICK
    return min(tuning.GPU_MAX_MEMBER_KICKS, max(tuning.GPU_MIN_MEMBER_KICKS, kicks))


class Polish:
    """Kicks of the GPU for the best member, while CPU threads cross them all."""

    def __init__(self, search: TourSearch, run: Run) -> None:
        self._search = search
        self._run = run
        self._generations = 0  # since it was taken

    def begin(self, tour: NDArray[np.int32]) -> None:
        """Take a member, in the search's numbers."""
        self._search.go_on_from(tour)
        self._generations = 0

    def until(self, crossing: Beside[tuple[bool, int]]) -> tuple[bool, int]:
        """Kick it while generations are made; returns whether they have ended, and how many there were."""
        search, run = self._search, self._run
        factor = tuning.MEMBER_TEMPERATURE * cooled(self._generations / tuning.GPU_POLISH)
        while not (crossing.is_done() or run.token.stopped()):
            search.round(
                optimize=False,
                kicks_per_city=tuning.GPU_MEMBER_KICKS_A_ROUND,
                temperature=factor * search.rounds.mean_link,
                seed=run.seed,
                token=run.token,
            )
        ended, generations = crossing.result()
        self._generations += generations
        return ended, generations

    def tour(self) -> NDArray[np.int32] | None:
        """What has become of it, in the search's numbers; None if it is not yet time for the next one."""
        if self._generations < tuning.GPU_POLISH or self._run.token.stopped():
            return None
        return self.last()

    def last(self) -> NDArray[np.int32]:
        """What has become of it so far."""
        return self._search.tour.download()


class GpuPopulation:
    """Members, their crossover, and the best tour of all; tours are in the search's numbers, and the cities
    the same on each GPU."""

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
        self.number = 0  # of populations
        self._lists = lead.candidates.download()
        self._instance = lead.search_instance()
        self._native = self._search_of(tour)
        self._made = 0  # generations
        self.crossing_seconds = 0.0  # a tour and city, of the last population of new members
        self.alone: float | None = None  # what the last one came to before the best tour joined it at the end
        self._counts: Counter[str] = Counter()
        self._begun: Beside[NDArray[np.int32]] | None = None  # start tours of the next members
        self._crossing: Beside[tuple[bool, int]] | None = None

    def _search_of(self, tour: NDArray[np.int32]) -> _native.TourSearch:
        return self._instance.tour_search(self._lists, tour, self.params.of_search(len(tour)))

    @property
    def best_length(self) -> float:
        """Length of the best tour."""
        self._wait()
        return self._native.best_length

    def best(self) -> NDArray[np.int32]:
        """The best tour, in the search's numbers."""
        self._wait()
        return self._native.best()

    def _wait(self) -> None:
        """Wait for generations that are being made, should an exception have come meanwhile."""
        if self._crossing is not None:
            self._crossing.wait()

    @property
    def members(self) -> int:
        return self._native.members

    @property
    def kicks(self) -> int:
        """Kicks so far, the refused ones included."""
        return int(self._counts["kicks_made"] + self._counts["kicks_refused"])

    def counters(self) -> dict[str, int | float]:
        """What was done, by name."""
        return dict(self._counts)

    def begin(self, members: int) -> None:
        """Begin to make the start tours of so many members on the CPU, while the GPU does something else."""
        self._begun = Beside(self._fragments, self.number + 1, 0, members)

    def grow(
        self, plan: PopulationPlan, report: Callable[[str], bool], *, mean_link: float
    ) -> NDArray[np.int32] | None:
        """Make the members of another population, int32 of shape (members, n); None to stop.

        `report` is called with the phase several times a second, and returns True to stop. `mean_link` is
        that of a good tour: the measure of temperatures.
        """
        self.number += 1
        run, size, kicks = self.run, plan.members, plan.kicks_per_city
        begun = run.elapsed()
        hot = tuning.GPU_AGAIN_TEMPERATURE if plan.kicked else tuning.MEMBER_TEMPERATURE
        sweeps = 0 if plan.kicked else tuning.GPU_MEMBER_SWEEPS
        starts = self._starts(plan)
        if len(starts) < size:
            return None
        working = self.cities[:size]
        pieces = np.array_split(starts, len(working))
        rounds = PartRounds(
            working,
            [cities.device.upload(some) for cities, some in zip(working, pieces, strict=True)],
            one_tour=False,
            threads=run.threads,
            mean_link=mean_link,
            depth=self.params.depth_on_gpu,
            kicks=self.params.of_kicks(),
        )
        del starts, pieces
        done, counted = 0.0, Counter(self._counts)
        seed = (run.seed + self.number * 0x9E3779B97F4A7C15) % (1 << 64)  # other kicks than the main search
        kicks_a_round, progress = tuning.GPU_MEMBER_KICKS_A_ROUND, 0.0
        end, kicked_from = begun + (plan.growth_seconds or math.inf), begun
        for number in range(sweeps + math.ceil(kicks / kicks_a_round)):
            now = min(kicks_a_round, kicks - done) if number >= sweeps else 0.0
            rounds.round(
                optimize=number < sweeps,
                kicks_per_city=now,
                temperature=hot * mean_link * cooled(progress),
                seed=seed,
                token=run.token,
            )
            done += now
            if number < sweeps:
                kicked_from = run.elapsed()
            self._counts = counted + Counter(rounds.counters())
            if report("population"):
                return None
            if run.elapsed() > end:
                break
            # On a slower GPU they have fewer kicks, and cool as fast.
            progress = max(done / kicks, (run.elapsed() - kicked_from) / (end - kicked_from))
        return rounds.tours()

    def cross(
        self,
        plan: PopulationPlan,
        members: NDArray[np.int32],
        tour: NDArray[np.int32],
        report: Callable[[str], bool],
        *,
        polish: Polish | None,
        long_links: bool = False,
        apart: bool = False,
    ) -> bool:
        """Cross members, and the tour of the search, until nothing is gained; True to stop.

        `polish` is what the GPU does meanwhile. With `long_links` members are searched among these first.
        `apart`: the tour of the search joins at the end, and is not known before.
        """
        run, self._made, selection = self.run, 0, plan.selection
        begun = run.elapsed()
        if apart:
            self._native = self._search_of(members[0])
        native = self._native
        native.forget()
        if not long_links:
            native.add(members, run.threads)
        else:
            for some in np.array_split(members, math.ceil(len(members) / run.threads)):
                native.add_with_better_long_links(some, run.threads, run.token)
                if report("population"):
                    return True
        if not apart:
            native.add(tour[np.newaxis], 1)
        if polish is not None:
            polish.begin(members[0] if apart else tour)
        if self._generations(report, selection, polish):
            return True
        if not plan.kicked:
            self.crossing_seconds = (run.elapsed() - begun) / (native.members * self._instance.size)
        self.alone = native.least_length if apart else None
        if not apart:
            return False
        native.add(tour[np.newaxis], 1)
        return self._generations(report, selection, None)

    def _generations(self, report: Callable[[str], bool], selection: int, polish: Polish | None) -> bool:
        """Cross the members until nothing is gained, or until what is left of the time is for the best one to
        gather what the others have better; True to stop."""
        native, run, n, number = self._native, self.run, self._instance.size, 0
        is_long = gathers(n, run)
        plan = _native.PopulationPlan(
            selection=selection, uneven=run.kick_limit is None, patient=is_long, early=is_long
        )
        crossing = _native.PopulationRun.create(native, plan)
        ended, begun = False, run.elapsed()
        spread = native.mean_length - native.best_length
        while not ended:
            # One generation at first, however little it takes.
            seconds = 0.0 if number < tuning.GPU_FEW_GENERATIONS else between_reports(run)
            first = self.number << 32 | self._made + 1
            arguments = seconds, run.seed, first, run.threads, run.token
            started = run.elapsed()
            if polish is None:
                ended, generations = crossing.proceed(*arguments)
            else:
                self._crossing = Beside(crossing.proceed, *arguments)
                ended, generations = polish.until(self._crossing)
                if (better := polish.tour()) is not None:
                    # In place of the longest member.
                    size = native.members
                    native.add(better[np.newaxis], 1)
                    native.keep_members(size)
                    polish.begin(native.best())
            number += generations
            self._made += generations
            if report("crossover"):
                return True
            # What there is no time for goes: crossover that does not end costs more than missing members.
            remaining = run.remaining() if run.kick_limit is None else None
            wide = native.mean_length - native.best_length > tuning.GPU_WIDE * spread
            if remaining is not None and number == tuning.GPU_FEW_GENERATIONS and wide:
                needed = tuning.GPU_LATER_GENERATIONS * (run.elapsed() - begun)
                # Fewer than threads take nearly as long.
                native.keep_members(max(int(remaining / needed * native.members), run.threads, 2))
            ended = ended or is_time_to_gather(native, n, run, started)
        if not is_long:
            return False
        if polish is not None:
            native.add(polish.last()[np.newaxis], 1)
        return gather(native, run, self.number << 32 | 1 << 31, lambda: report("crossover"))

    def _starts(self, plan: PopulationPlan) -> NDArray[np.int32]:
        """Start tours of this population's members; fewer if the run was stopped."""
        size = plan.members
        if plan.kicked:
            self._native.keep_members(size)
            return self._native.member_tours()
        if self._begun is None:
            return self._fragments(self.number, 0, size)
        ready, self._begun = self._begun.result()[:size], None
        if len(ready) < size:
            return np.vstack([ready, self._fragments(self.number, len(ready), size)])
        return ready

    def _fragments(self, number: int, first: int, stop: int) -> NDArray[np.int32]:
        """Start tours of some members of a population; none if the run was stopped."""
        return _native.random_fragments(
            candidates=self._lists,
            first=first,
            count=stop - first,
            seed=self.run.seed,
            round=number,
            threads=self.run.threads,
            token=self.run.token,
        )
