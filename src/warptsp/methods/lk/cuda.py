"""The main solver on a GPU: what `warptsp.methods.lk.cpu` does on threads, in rounds of many small parts.

Rounds are short, so that the seams of parts move often. Kicks are accepted as on the CPU, with a temperature
that falls over the time or the number of kicks that is known, or in cycles of doubling length.

Where there is time for them, populations do better (`population_cuda`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.backends.beside import Beside
from warptsp.backends.cuda import tuning as cuda_tuning
from warptsp.backends.cuda.cities import Cities, PlaneCities
from warptsp.backends.cuda.device import Device
from warptsp.backends.cuda.launch_plan import kernel_sources, needed_bytes, plan_launch, pool_bytes
from warptsp.backends.cuda.search import TourSearch
from warptsp.backends.instance import SearchInstance
from warptsp.errors import DeviceOutOfMemory
from warptsp.machine import Devices
from warptsp.methods.annealing import start_temperature
from warptsp.methods.first_tour import LONG, fall_back, start_tour
from warptsp.methods.kernels import kernels_are_there
from warptsp.methods.lk import tuning
from warptsp.methods.lk.cpu import search as search_on_cpu
from warptsp.methods.lk.cuda_setup import SetUp
from warptsp.methods.lk.engine import Engine, Schedule, planned_seconds
from warptsp.methods.lk.long_links import share_of_length
from warptsp.methods.lk.params import LkParams
from warptsp.methods.lk.population_cuda import (
    GpuPopulation,
    Polish,
    PopulationPlan,
    plan_kicked,
    plan_population,
)
from warptsp.methods.lk.threads import room_for_members
from warptsp.methods.protocol import Run
from warptsp.problem import Problem
from warptsp.problem.tours import WORTH_THREADS


def run_cuda(problem: Problem, run: Run, params: LkParams) -> None:
    """Shorten a tour on the GPUs ``run.device`` until the run says stop.

    BackendUnavailable, DeviceOutOfMemory or DeviceFailure if the GPU cannot do it; the best tour so far has
    been offered.
    """
    if isinstance(run.start, np.ndarray):
        run.offer(run.start)
    start = run.start
    # A number of kicks shall mean the same tour whether kernels are in the cache or not; and the CPU takes
    # longer to set up a long tour than the compiler takes.
    searches = run.kick_limit is None and problem.n < LONG

    def search(meanwhile: Run) -> None:
        nonlocal start
        # There is no time for more than a plain descent with kicks.
        search_on_cpu(problem, meanwhile, replace(params, temperature=0.0, population=0))
        start = run.start if run.best is None else run.best

    def offer_tour(token: _native.StopToken) -> None:
        tour = start_tour(problem, run, start if isinstance(start, str) else "greedy", token)
        if tour is not None:
            run.offer(tour)
        elif run.token.stopped():
            fall_back(problem, run, None)

    if not kernels_are_there(
        run,
        kernel_sources(problem, params.depth_on_gpu),
        offer_tour=None if problem.n > tuning.GPU_MAX_START else offer_tour,
        search=search if searches else None,
    ):
        return
    if run.best is None and not Device.opened and (run.remaining() or math.inf) < tuning.GPU_STARTING:
        # In case that there is no time for anything of the GPU's.
        fall_back(problem, run, SearchInstance.build(problem, run.token, run.threads))
    run.enter("GPU")
    with ExitStack() as opened:
        devices = [opened.enter_context(Device.open(ordinal)) for ordinal in run.device.gpus]
        needed = needed_bytes(problem)
        for device in devices:
            if needed > (free := device.memory_free()):
                raise DeviceOutOfMemory(
                    f"device cuda:{device.ordinal}: {problem.n} cities need {needed / 1e9:.2f} GB, and "
                    f"{free / 1e9:.2f} GB are free; stop other programs that use the GPU (see nvidia-smi), "
                    "or use device cpu"
                )
            for other in devices:
                device.share_with(other)
        _search_on(problem, run, params, devices, start)


def _search_on(
    problem: Problem, run: Run, params: LkParams, devices: Sequence[Device], start: str | NDArray[np.int32]
) -> None:
    """Set up, search, hand over the best tour, and report what was used."""
    buffer = _TourBuffer(problem.n)
    made = SetUp(problem, run, devices, start).made(params)
    used = 1
    if made is not None:
        search = _CudaSearch(problem, run, params, devices, *made)
        try:
            if search.descend():
                search.improve()
        finally:
            run.offer(search.best(buffer()), copy=False)
        used = search.gpus_used
    run.report_device(Devices("cuda", tuple(device.ordinal for device in devices[:used])))
    run.report_counters(device_bytes=max(device.memory_peak() for device in devices))


class _CudaSearch(Engine[PopulationPlan]):
    """The tour on the GPUs.

    The first GPU sets up, measures and keeps the best tour; all of them improve it.
    """

    first_cycle = tuning.GPU_FIRST_CYCLE

    def __init__(
        self,
        problem: Problem,
        run: Run,
        params: LkParams,
        devices: Sequence[Device],
        cities: list[Cities],
        search: TourSearch,
    ) -> None:
        super().__init__(problem, run, params, search, problem.n, tuning.GPU_MIN_MEMBERS)
        self.devices = devices
        self.cities = cities
        self.search = search
        self.population: GpuPopulation | None = None
        self.long_links = self.knows_long_links and problem.n >= tuning.GPU_MIN_LONG_EDGES
        # Members of a population know no fixed edges and no open path.
        plain = problem.open is None and not len(problem.fixed_edges)
        self.populates = plain and (problem.matrix is None or problem.n <= tuning.GPU_MAX_OF_MATRIX)
        self.pace = RoundPace()
        self.kicks_again = False  # whether the next population is the last one's members, kicked
        self.turns: tuple[float, ...] = ()  # of the long links in this annealing, by its progress

    def descend(self) -> bool:
        """Local search from every city, in cuts that move; False if the run says stop."""
        return not self.report("start tour") and not any(
            self._round("local search", optimize=True) for _ in range(tuning.GPU_SWEEPS)
        )

    @property
    def gpus_used(self) -> int:
        """How many of the GPUs, from the first on, have searched."""
        if self.population is not None and self.population.number > 0:
            return len(self.devices)
        return self.search.rounds.gpus

    # The long links

    def _clustered(self) -> NDArray[np.int32] | None:
        """The tour, in the problem's numbers, if its long links carry much of it."""
        search, cities, tour = self.search, self.search.cities, None
        if self.n > 4 * tuning.SAMPLED_EDGES and isinstance(cities, PlaneCities):
            # Some links tell how long all are: ten million take half a second to measure.
            before, behind = cities.some_links(search.tour, tuning.SAMPLED_EDGES)
        else:
            before = tour = cities.problems_own(search.tour)
            behind = np.roll(tour, -1)
        lengths = np.asarray(self.problem.distance(before, behind), dtype=np.float64)
        share = share_of_length(lengths, self.n)
        if share <= tuning.UNEVEN:
            self.long_links = False
            return None
        self.clustered = share > tuning.CLUSTERED
        return cities.problems_own(search.tour) if tour is None else tour

    def _go_on_from(self, tour: NDArray[np.int32]) -> None:
        """Work on another tour, in the problem's numbers."""
        self.search.go_on_from(self.search.cities.numbered(tour))

    # Populations

    def _planned(self, most: int | None = None) -> PopulationPlan | None:
        n, lead, run = self.n, self.cities[0], self.run
        if not self.populates:
            return None
        left, seconds, params = self.kicks_left, planned_seconds(run), self.params
        largest = params.members_on_gpu
        free = min(each.device.memory_free() for each in self.cities)
        full = plan_launch(lead.device, lead.metric, n, max(1, largest), depth=params.depth_on_gpu)
        room, gpus, threads = full.resident * full.cities, len(self.cities), run.threads
        most = min(
            largest,
            most or largest,
            free // pool_bytes(n) * gpus,
            room_for_members(n, threads),
            tuning.GPU_MAX_MEMBER_CITIES // n,
        )
        if self.kicks_again and seconds is not None and self.population is not None:
            kicked = plan_kicked(
                n,
                min(most, self.population.members),
                room=room,
                threads=threads,
                seconds=seconds,
                crossing=self.population.crossing_seconds,
                gpus=gpus,
            )
            if kicked is not None:
                return kicked
        return plan_population(
            n,
            room=room,
            gpus=gpus,
            most=most,
            threads=threads,
            seconds=seconds,
            kicks=None if left is None else left / n,
            clustered=self.clustered,
            later=self.combined,
        )

    def _combine(self, plan: PopulationPlan) -> bool:
        search, run, better = self.search, self.run, None
        if self.population is None:
            self.population = GpuPopulation(self.cities, search.best(), self.params, run)
        population = self.population
        if population.number == 0 and self.is_limited:
            # A good tour first, which is one of the members then.
            if self.long_links and (clustered := self._clustered()) is not None:
                better = Beside(self.with_better_long_links, clustered)
            else:
                population.begin(plan.members)
                if self.anneal(share=tuning.GPU_FIRST_SHARE):
                    return True
            if (again := self._planned()) is None:
                return False
            plan = again
        before = self._best_length()
        members = population.grow(plan, self.report, mean_link=search.length / self.n)
        if members is None:
            return True
        if better is not None:
            self._go_on_from(better.result())
            if self.anneal(share=tuning.GPU_FIRST_SHARE):
                return True
        # With a limit on kicks, and without any, the same tours come out however long anything takes.
        # And where the host puts the paths of a round in order, it has no time for crossover meanwhile.
        timed = run.time_limit is not None and run.kick_limit is None
        polish = Polish(search, run) if timed and self.n >= cuda_tuning.MIN_ORDERED else None
        apart = timed and self.combined and self.n <= tuning.LIGHT_MEMBERS.apart
        self.combined = True
        if population.cross(
            plan,
            members,
            search.best(),
            self.report,
            polish=polish,
            long_links=self.clustered,
            apart=apart,
        ):
            return True
        self.alone = population.alone  # of closed tours, the only ones that have populations here
        search.go_on_from(population.best())
        self.crossed = plan.members
        # Between clusters all members lack the same links; and runs that end when another population tells
        # that nothing is left ask one that knows nothing of the last one.
        gained = before - self._best_length() > tuning.GPU_AGAIN_GAIN * abs(before)
        self.kicks_again = timed and gained and not (self.clustered or run.may_end_early)
        return False

    # Kicks

    def anneal(self, last: int | None = None, share: float = 1.0) -> bool:
        """Kicks at falling temperature; the long links have their turns in one that is not a start."""
        self.pace = RoundPace()
        self.turns = tuning.GPU_LONG_EDGES_AT if share == 1 else ()
        return super().anneal(last, share)

    def _start_temperature(self, kicks_per_city: float) -> float:
        return start_temperature_on_gpu(kicks_per_city)

    def _kick(self, schedule: Schedule, temperature: Callable[[float], float]) -> bool:
        if self.long_links and self.turns and schedule.progress >= self.turns[0]:
            self.turns = self.turns[1:]
            if (tour := self._clustered()) is not None:
                self._go_on_from(self.with_better_long_links(tour))
        kicks = kicks_of_round(schedule, self.pace, self.n, parts=self.search.rounds.plan.parts)
        rounds = self.search.rounds
        begun, kernel = self.run.elapsed(), rounds.kernel_seconds
        if self._round("search", kicks_per_city=kicks, temperature=temperature(schedule.progress)):
            return True
        self.pace.note(kicks, self.run.elapsed() - begun, rounds.kernel_seconds - kernel)
        return False

    def _round(
        self, phase: str, *, optimize: bool = False, kicks_per_city: float = 0.0, temperature: float = 0.0
    ) -> bool:
        self.search.round(
            optimize=optimize,
            kicks_per_city=kicks_per_city,
            temperature=temperature,
            seed=self.run.seed,
            token=self.run.token,
        )
        return self.report(phase)

    # Reports

    def report(self, phase: str) -> bool:
        """Tell the run of the search; True to stop."""
        search, population = self.search, self.population
        counters = Counter(search.rounds.counters())
        self.kicks = search.rounds.kicks
        if population is not None:
            counters.update(population.counters())
            self.kicks += population.kicks
        return self.run.update(
            length=self._best_length(),
            kicks=self.kicks,
            tour=self.best,
            phase=phase,
            **counters,
        )

    def _best_length(self) -> float:
        return self._leader().best_length - self.search.cities.closing

    def _leader(self) -> TourSearch | GpuPopulation:
        search, other = self.search, self.population
        return other if other and other.best_length < search.best_length else search

    def best(self, buffer: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
        """The best tour, in the problem's numbers; in the buffer if there is one for it."""
        leader = self._leader()
        if isinstance(leader, TourSearch):
            return leader.problems_best(buffer)
        return self.search.cities.problems(leader.best())


def kicks_of_round(schedule: Schedule, pace: RoundPace, n: int, *, parts: int) -> float:
    """Return how many kicks a city the next round of an annealing should have."""
    kicks = tuning.GPU_MIN_KICKS
    if schedule.left is not None:
        kicks = min(tuning.GPU_KICKS_A_ROUND, max(schedule.left / n, 0.5 * parts / n))
        if n >= cuda_tuning.MIN_ORDERED:
            kicks = min(kicks, max(tuning.GPU_MIN_KICKS, schedule.kicks / n / tuning.GPU_MIN_ROUNDS))
    if schedule.rate > 0 and schedule.seconds and schedule.remaining:
        if schedule.left is None:
            kicks = pace.kicks_a_round(schedule.seconds)
        kicks = min(kicks, 0.9 * schedule.rate * schedule.remaining / n)
    return kicks


def start_temperature_on_gpu(kicks_per_city: float) -> float:
    """Return `start_temperature` for the kicks and rounds of a GPU."""
    hotter = tuning.GPU_HOTTER * min(1.0, kicks_per_city / tuning.GPU_HOTTER_FROM)
    return start_temperature(kicks_per_city, hotter=hotter, hottest=tuning.GPU_HOTTEST)


class RoundPace:
    """What the rounds of an annealing have taken, and how many kicks the next one should have."""

    def __init__(self) -> None:
        self._rounds, self._kicks, self._seconds, self._kernel_seconds = 0, 0.0, 0.0, 0.0

    def note(self, kicks_per_city: float, seconds: float, kernel_seconds: float) -> None:
        """Take note of a round: its kicks, its seconds, and how many of these the kernel took."""
        self._rounds += 1
        self._kicks += kicks_per_city
        self._seconds += seconds
        self._kernel_seconds += kernel_seconds

    def kicks_a_round(self, seconds: float) -> float:
        """Return how many kicks a city the next round of an annealing of so many seconds should have."""
        a_kick = max(self._kernel_seconds, 1e-9) / self._kicks
        beside = (self._seconds - self._kernel_seconds) / self._rounds
        usual = max(tuning.GPU_KICKS_A_SHORT_ROUND, beside / tuning.GPU_BESIDE_KERNEL / a_kick)
        return max(tuning.GPU_MIN_KICKS, min(usual, seconds / tuning.GPU_MIN_ROUNDS / a_kick))


class _TourBuffer:
    """Memory for a long tour, touched while the GPU works: fresh pages cost more than the way to them."""

    def __init__(self, n: int) -> None:
        self._tour = np.empty(n, np.int32) if n >= WORTH_THREADS else None
        self._touched = None if self._tour is None else Beside(self._tour.fill, 0)

    def __call__(self) -> NDArray[np.int32] | None:
        if self._touched is not None:
            self._touched.wait()
        return self._tour
