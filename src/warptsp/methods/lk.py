"""The main solver: iterated Lin-Kernighan on one tour, as a whole or in parts on all threads.

A tour is improved by kicks: a double bridge of four links nearby, Lin-Kernighan search from its ends, and the
result kept if it is short enough (native/lk.h). O. Martin, S. W. Otto and E. W. Felten, "Large-step Markov
chains for the traveling salesman problem", Complex Systems 5 (1991); D. Applegate, W. Cook and A. Rohe,
"Chained Lin-Kernighan for large traveling salesman problems", INFORMS J. Computing 15 (2003).

A loss is accepted with the probability exp(-loss / T), and T falls linearly to 0 over the known time or
number of kicks; without one, in cycles of doubling length that each begin with the best tour. Several
threads, and tours too long for one array, work on parts: consecutive pieces of the tour and boxes in space
in turn, so that seams move (native/partition.h).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warptsp.backends.cpu import tour_search
from warptsp.backends.instance import SearchInstance
from warptsp.errors import InvalidOption
from warptsp.methods.exact import optimal_tour

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp import _native
    from warptsp.problem import Problem
    from warptsp.run import Run

EXACT_CITIES = 9  # up to here the optimum costs less than setting up a search
SLICE = 1000  # kicks between two looks at the clock
LEAST_PARTED = 8_000  # cities below which parts cost more than a second thread brings
LONG = 100_000  # cities from which memory counts
COLD = 0.04  # share of the horizon at its end in which no loss is accepted
FIRST_CYCLE = 4  # kicks a city in the first cycle without a horizon


@dataclass(frozen=True, slots=True)
class LkParams:
    """Parameters of the main solver; the defaults are measured (docs/performance).

    Attributes
    ----------
    candidates, per_quadrant : int
        Length of a candidate list, and how many of it come from each quadrant around the city.
    depth : int
        Exchange steps of one move, at most 30.
    breadth : tuple of int
        Alternatives tried at the first steps; 1 at the rest.
    segment : int
        Longest segment of a double bridge, in cities.
    walks : float
        Share of the kicks whose four links are met on a random walk along candidates.
    walk : int
        Steps of the walk from one of these links to the next.
    long_links : float
        Share of the kicks that cut long links; what walks and these leave are segments.
    temperature : float or None
        Of the acceptance at the start, in mean links of the tour; None chooses it by the kicks to come.
    part : int
        Cities in one part, at most.
    whole : int
        Tours up to this length are one array when there is one thread.
    """

    candidates: int = 10
    per_quadrant: int = 2
    depth: int = 25
    breadth: tuple[int, ...] = (5, 3, 1)
    segment: int = 50
    walks: float = 0.45
    walk: int = 10
    long_links: float = 0.1
    temperature: float | None = None
    part: int = 50_000
    whole: int = 150_000

    def __post_init__(self) -> None:
        limits = {
            "candidates": (1, 64),
            "per_quadrant": (0, 16),
            "depth": (1, 30),
            "segment": (1, 10_000),
            "walk": (1, 1000),
        }
        limits |= {"part": (100, 10_000_000), "whole": (0, 100_000_000)}
        for name, (low, high) in limits.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise InvalidOption(f"{name}: {value} is not between {low} and {high}")
        if not 1 <= len(self.breadth) <= 5 or not all(1 <= b <= 8 for b in self.breadth):
            raise InvalidOption(f"breadth: {self.breadth} is not 1 to 5 numbers between 1 and 8")
        for name in ("walks", "long_links"):
            if not 0 <= getattr(self, name) <= 1:
                raise InvalidOption(f"{name}: {getattr(self, name)} is not a share between 0 and 1")
        if self.temperature is not None and not (0 <= self.temperature < math.inf):
            raise InvalidOption(f"temperature: {self.temperature} is not a finite number from 0 on")


def run(problem: Problem, run: Run) -> None:
    """Shorten a tour until the run says stop."""
    params = LkParams(**run.params)
    if problem.n <= EXACT_CITIES:
        run.offer(optimal_tour(problem))
        return
    search = _Search(problem, run, params)
    if search.prepare():
        search.improve()
    search.finish()


class _Search:
    """The tour, its native search, and the clock."""

    def __init__(self, problem: Problem, run: Run, params: LkParams) -> None:
        self.problem = problem
        self.run = run
        self.params = params
        self.kicks = 0
        self.round = 0
        self.instance: SearchInstance | None = None
        self.native: _native.TourSearch | None = None

    # Set-up: each step leaves the best tour there is, in case the next one runs out of time.

    def prepare(self) -> bool:
        """Build candidate lists, start tour and search; False if time ran out."""
        run, params = self.run, self.params
        given = run.start if isinstance(run.start, np.ndarray) else None
        if given is not None:
            run.offer(given)
        run.enter("numbering")
        instance = self.instance = SearchInstance.build(self.problem, run.token)
        if instance is None:
            return self._fall_back(None)
        run.enter("candidate lists")
        count = min(params.candidates, self.problem.n - 1) + (instance.dummy is not None)
        candidates = instance.candidates(count, params.per_quadrant, run.threads, run.token)
        if candidates is None:
            return self._fall_back(instance)
        run.enter("start tour")
        if given is not None:
            tour: NDArray[np.int32] | None = instance.close(given)
        elif run.start == "greedy":
            tour = instance.greedy(run.threads, run.token)
        else:
            from warptsp.construct import construct

            made = construct(self.problem, run.start, seed=run.seed, threads=run.threads, token=run.token)
            tour = None if made is None else instance.close(made)
        if tour is None:
            return self._fall_back(instance)
        self.native = tour_search(
            instance,
            candidates,
            tour,
            depth=params.depth,
            breadth=params.breadth,
            segment=params.segment,
            walks=params.walks,
            walk=params.walk,
            long_links=params.long_links,
        )
        del candidates, tour
        if self._report("start tour"):
            return False
        run.enter("local search")
        self.native.optimize(run.token)
        return not self._report("local search")

    def _fall_back(self, instance: SearchInstance | None) -> bool:
        """Offer what a stopped set-up has: the order along the curve, or the file's own."""
        if self.run.best is None and not len(self.problem.fixed_edges):
            tour = np.arange(self.problem.n, dtype=np.int32) if instance is None else instance.city
            opened = self.problem.open
            if opened is not None:
                ends = [c for c in (opened.start, opened.end) if c is not None]
                tour = tour[~np.isin(tour, ends)]
                first = [] if opened.start is None else [opened.start]
                last = [] if opened.end is None else [opened.end]
                tour = np.concatenate([first, tour, last]).astype(np.int32)
            self.run.offer(tour)
        elif self.run.best is None:
            from warptsp.construct import construct

            made = construct(self.problem, "given", seed=0, threads=1, token=None)
            if made is not None:
                self.run.offer(made)
        return False

    # The search

    def improve(self) -> None:
        """Kicks until the run says stop."""
        assert self.native is not None
        run = self.run
        if run.time_limit is None and run.kick_limit is None:
            self._cycles()
        else:
            self._anneal(run.kick_limit)

    def _cycles(self) -> None:
        """Anneal over 4, 8, 16, ... kicks a city, each time from the best tour."""
        assert self.native is not None
        cycle = FIRST_CYCLE * self.problem.n
        while not self._anneal(self.kicks + cycle, begun=self.kicks):
            self.native.return_to_best()
            cycle *= 2

    def _anneal(self, last: int | None, begun: int = 0) -> bool:
        """Kicks at falling temperature until the kick number `last` or the time limit; True to stop.

        Without cycles, `begun` is 0 and both horizons count; the one that is further on sets the temperature.
        """
        native, run, n = self.native, self.run, self.problem.n
        assert native is not None
        mean_link = abs(native.length) / n
        started, kicks_at_start = run.elapsed(), self.kicks
        parts = self._parts()
        factor = self.params.temperature
        stop = last is not None and self.kicks >= last
        while not stop and (last is None or self.kicks < last):
            progress = 0.0
            if last is not None:
                progress = (self.kicks - begun) / (last - begun)
                if factor is None:
                    factor = _temperature((last - begun) / n)
            if run.time_limit is not None and begun == 0:
                remaining = run.remaining()
                assert remaining is not None
                spent = run.elapsed() - started
                progress = max(progress, spent / max(spent + remaining, 1e-9))
                if self.params.temperature is None and last is None and spent > 0:
                    rate = (self.kicks - kicks_at_start) / spent
                    factor = _temperature(rate * (spent + remaining) / n)
            cooled = max(0.0, 1.0 - progress / (1.0 - COLD))
            temperature = (factor or 0.0) * mean_link * cooled
            stop = self._step(parts, temperature, last)
        return stop

    def _step(self, parts: int, temperature: float, last: int | None) -> bool:
        """One slice of kicks on the whole tour, or one round of parts."""
        native, run = self.native, self.run
        assert native is not None
        self.round += 1
        left = None if last is None else last - self.kicks
        if parts == 1 or (left is not None and left < SLICE):
            count = SLICE if left is None else min(SLICE, left)
            native.kicks(count, temperature, run.seed, self.round, run.token)
        else:
            n = self.problem.n
            per_city = max(0.05, min(1.0, 10 * SLICE / n))
            if left is not None:
                per_city = min(per_city, left / n)
            native.round(
                parts=parts,
                boxes=self.instance is not None and self.instance.points is not None and self.round % 2 == 1,
                optimize=False,
                kicks_per_city=per_city,
                temperature=temperature,
                seed=run.seed,
                round=self.round,
                threads=run.threads,
                token=run.token,
            )
        return self._report("search")

    def _parts(self) -> int:
        n, threads = self.problem.n, self.run.threads
        if n < LEAST_PARTED or (threads == 1 and n <= self.params.whole):
            return 1
        # Parts in work on every thread at once would double the memory of a long tour: it gets smaller ones.
        least = threads if n < LONG else 4 * threads
        parts = math.ceil(n / self.params.part)
        return threads * math.ceil(max(parts, least) / threads)

    # Reports

    def _report(self, phase: str) -> bool:
        native = self.native
        assert native is not None
        assert self.instance is not None
        length = native.best_length - self.instance.closing
        counters = native.counters()
        self.kicks = counters.pop("kicks") + counters["kicks_refused"]
        return self.run.update(length=length, kicks=self.kicks, tour=self._best, phase=phase, **counters)

    def _best(self) -> NDArray[np.int32]:
        assert self.native is not None
        assert self.instance is not None
        return self.instance.open(self.native.best())

    def finish(self) -> None:
        """Hand over the best tour."""
        if self.native is not None:
            self.run.offer(self._best())


def _temperature(kicks_per_city: float) -> float:
    """Start temperature, in mean links, for a number of kicks a city (measured: docs/performance)."""
    return min(0.5, max(0.0, 0.15 + 0.15 * math.log10(max(kicks_per_city, 1e-9))))
