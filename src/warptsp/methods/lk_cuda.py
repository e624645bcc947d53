"""The main solver on a GPU: what `warptsp.methods.lk` does on threads, in rounds of many small parts.

Rounds are short, so that the seams of parts move often. Kicks are accepted as on the CPU, with a temperature
that falls over the time or the number of kicks that is known, or in cycles of doubling length.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from warptsp.backends.cuda import geometry
from warptsp.backends.cuda.device import Device
from warptsp.backends.cuda.search import CANDIDATES, TourSearch, needed_bytes
from warptsp.errors import DeviceOutOfMemory
from warptsp.methods.annealing import cooled, start_temperature
from warptsp.methods.long_links import are_worth_it, improve_long_links

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.methods.lk import LkParams
    from warptsp.problem import Problem
    from warptsp.run import Run

PER_QUADRANT = 2
SWEEPS = 6  # rounds of local search before the first kicks
KICKS_A_ROUND = 0.3  # a city
FIRST_CYCLE = 20  # kicks a city in the first cycle without a horizon
LONG_LINKS_AT = (0.0, 0.35, 0.7)  # progress at which the long links have a search of their own
KICKS_AT_LONG_LINKS = 20_000
LEAST_LONG_LINKS = 5_000  # cities below which parts see enough of the instance


def run_cuda(problem: Problem, run: Run, params: LkParams) -> None:
    """Shorten a tour on the GPU ``run.device`` until the run says stop.

    Raises
    ------
    BackendUnavailable, DeviceOutOfMemory, DeviceFailure
        If the GPU cannot do it; the best tour so far has been offered.
    """
    run.enter("GPU")
    with Device.open(int(run.device.partition(":")[2] or 0)) as device:
        needed, free = needed_bytes(problem.n), device.memory_free()
        if needed > free:
            raise DeviceOutOfMemory(
                f"device {run.device}: {problem.n} cities need {needed / 1e9:.2f} GB, and {free / 1e9:.2f} "
                "GB are free; end what else uses the GPU (see nvidia-smi), or use device cpu"
            )
        _CudaSearch(problem, run, params, device).run()


class _CudaSearch:
    """The tour on the GPU, and the clock."""

    def __init__(self, problem: Problem, run: Run, params: LkParams, device: Device) -> None:
        self.problem = problem
        self.run_ = run
        self.params = params
        self.device = device
        self.city = np.empty(0, np.int32)
        self.search: TourSearch | None = None
        self.long_links = problem.n >= LEAST_LONG_LINKS

    def run(self) -> None:
        """Set up, sweep, kick, and hand over the best tour."""
        try:
            if self._prepare() and self._sweep():
                self._improve()
        finally:
            if self.search is not None:
                self.run_.offer(self._best())

    def _prepare(self) -> bool:
        """Number the cities, find candidates and a first tour; False if time ran out."""
        run, problem, device = self.run_, self.problem, self.device
        if isinstance(run.start, np.ndarray):
            run.offer(run.start)
        run.enter("numbering")
        layout = geometry.build(device, problem.search_points(), run.token)
        if layout is None:
            return False
        self.city = layout.city.download()
        run.enter("candidate lists")
        candidates = geometry.candidate_lists(device, layout, CANDIDATES, PER_QUADRANT, token=run.token)
        if candidates is None:
            run.offer(self.city)
            return False
        run.enter("start tour")
        if isinstance(run.start, str) and run.start == "greedy":
            tour = geometry.greedy_tour(device, layout, candidates, PER_QUADRANT, problem.metric, run.token)
        elif isinstance(run.start, str):
            from warptsp.construct import construct

            made = construct(problem, run.start, seed=run.seed, threads=run.threads, token=run.token)
            tour = None if made is None else device.upload(self._numbered(made))
        else:
            tour = device.upload(self._numbered(run.start))
        if tour is None:
            run.offer(self.city)
            return False
        self.search = TourSearch(
            device,
            layout,
            problem.metric,
            candidates,
            tour,
            segment=self.params.segment,
            walk=self.params.walk,
            walks=self.params.walks,
            long_links=self.params.long_links,
        )
        return not self._report("start tour")

    def _long_links(self) -> None:
        """Search among the long links where they carry much of the tour, as between clusters."""
        search, run, problem = self.search, self.run_, self.problem
        assert search is not None
        tour = self.city[search.tour()]
        lengths = np.asarray(problem.distance(tour, np.roll(tour, -1)), dtype=np.float64)
        if not are_worth_it(lengths):
            self.long_links = False
            return
        better = improve_long_links(
            problem, tour, self.params, kicks=KICKS_AT_LONG_LINKS, seed=run.seed, token=run.token
        )
        search.go_on_from(self._numbered(better))

    def _numbered(self, tour: NDArray[np.int32]) -> NDArray[np.int32]:
        number = np.empty(len(self.city), np.int32)
        number[self.city] = np.arange(len(self.city), dtype=np.int32)
        return number[tour]

    def _sweep(self) -> bool:
        """Local search from every city, in cuts that move; False to stop."""
        return not any(self._round("local search", optimize=True) for _ in range(SWEEPS))

    def _improve(self) -> None:
        """Kicks until the run says stop."""
        search, run, n = self.search, self.run_, self.problem.n
        assert search is not None
        if run.time_limit is not None or run.kick_limit is not None:
            self._anneal(run.kick_limit, timed=True)
            return
        cycle = FIRST_CYCLE * n
        while not self._anneal(search.kicks + cycle, timed=False):
            search.return_to_best()
            cycle *= 2

    def _anneal(self, last: int | None, *, timed: bool) -> bool:
        """Kicks at falling temperature until the kick number `last` or the time limit; True to stop."""
        search, run, n = self.search, self.run_, self.problem.n
        assert search is not None
        mean_link = search.length / n
        started, begun = run.elapsed(), search.kicks
        rate = 0.0
        turns: tuple[float, ...] = LONG_LINKS_AT
        while last is None or search.kicks < last:
            progress, per_city, horizon = 0.0, KICKS_A_ROUND, math.inf
            if last is not None:
                progress = (search.kicks - begun) / (last - begun)
                per_city = min(per_city, max((last - search.kicks) / n, 0.5 * search.plan.parts / n))
                horizon = (last - begun) / n
            remaining = run.remaining() if timed else None
            if remaining is not None:
                spent = run.elapsed() - started
                progress = max(progress, spent / max(spent + remaining, 1e-9))
                if spent > 0:
                    rate = (search.kicks - begun) / spent
                if rate > 0:
                    per_city = min(per_city, 0.9 * rate * remaining / n)
                    horizon = min(horizon, rate * (spent + remaining) / n)
            factor = self.params.temperature
            if factor is None:
                factor = 0.0 if math.isinf(horizon) else start_temperature(horizon)
            temperature = factor * mean_link * cooled(progress)
            if self.long_links and turns and progress >= turns[0]:
                turns = turns[1:]
                self._long_links()
            if self._round("search", kicks_per_city=per_city, temperature=temperature):
                return True
        return False

    def _round(
        self, phase: str, *, optimize: bool = False, kicks_per_city: float = 0.0, temperature: float = 0.0
    ) -> bool:
        assert self.search is not None
        self.search.round(
            optimize=optimize,
            kicks_per_city=kicks_per_city,
            temperature=temperature,
            seed=self.run_.seed,
            token=self.run_.token,
        )
        return self._report(phase)

    def _report(self, phase: str) -> bool:
        search = self.search
        assert search is not None
        return self.run_.update(
            length=search.best_length, kicks=search.kicks, tour=self._best, phase=phase, **search.counters()
        )

    def _best(self) -> NDArray[np.int32]:
        assert self.search is not None
        return self.city[self.search.best()]
