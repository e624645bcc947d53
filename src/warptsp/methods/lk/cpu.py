"""The main solver on CPU threads."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from warptsp._native import PopulationPlan, PopulationRun
from warptsp.backends.cpu import tour_search
from warptsp.backends.instance import SearchInstance
from warptsp.machine import memory
from warptsp.methods.annealing import cooled, start_temperature
from warptsp.methods.first_tour import LONG, fall_back, start_in_search, telling
from warptsp.methods.lk import tuning
from warptsp.methods.lk.long_links import improve_long_links, share_of_length, some_lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp._native import TourSearch
    from warptsp.methods.lk.params import LkParams
    from warptsp.methods.protocol import Run
    from warptsp.problem import Problem

CROSSED = "no limit given: populations of tours have nothing more to gain"


def kicks_at_once(n: int) -> int:
    """Return the kicks at one temperature on the whole of a tour of so many cities."""
    return max(100, min(tuning.SLICE, n // 10))


def between_reports(run: Run) -> float:
    """Return the seconds of crossover between two reports: a share of what the run has taken so far."""
    return min(tuning.PAUSE, max(tuning.MOMENT, tuning.REPORT_SHARE * run.elapsed()))


def room_for_members(n: int, threads: int) -> int:
    """Return how many members of n cities the memory has room for, beside their crossover."""
    a_city = tuning.MEMORY_SHARE * memory() / n
    a_city -= tuning.CROSSING_BYTES + threads * tuning.CROSSING_BYTES_OF_THREAD
    return max(0, int(a_city / tuning.MEMBER_BYTES))


def search(problem: Problem, run: Run, params: LkParams) -> None:
    """Shorten a tour on CPU threads until the run says stop."""
    search = _set_up(problem, run, params)
    if search is None:
        return
    if search.descend():
        search.improve()
    search.finish()


def _set_up(problem: Problem, run: Run, params: LkParams) -> _Search | None:
    """Build candidate lists, start tour and search; None if time ran out.

    Each step leaves the best tour there is, in case the next one runs out of time.
    """
    given = run.start if isinstance(run.start, np.ndarray) else None
    if given is not None:
        run.offer(given)
    run.enter("numbering")
    if given is None:
        run.expect(np.arange(problem.n, dtype=np.int32))
    instance = SearchInstance.build(problem, run.token, run.threads)
    if instance is None:
        fall_back(problem, run, None)
        return None
    run.expect(instance.city)
    parts = _parts(problem.n, run.threads, params)
    with telling(problem, run, instance):
        run.enter("candidate lists")
        count = min(params.candidates, problem.n - 1) + (instance.dummy is not None)
        candidates = instance.candidates(count, _per_quadrant(problem, run, params), run.threads, run.token)
        tour = None if candidates is None else start_in_search(instance, run, parts=parts)
        if candidates is None or tour is None:
            fall_back(problem, run, instance)
            return None
    run.expect(instance.city, tuning.HAND_OVER * problem.n)
    if run.best is not None and run.token.stopped():
        return None  # no time to check another one
    native = tour_search(instance, candidates, tour, params.of_search(problem.n))
    return _Search(run, params, instance, native, parts, parts > 1 and _is_compact(tour, candidates, parts))


def _per_quadrant(problem: Problem, run: Run, params: LkParams) -> int:
    """Return what candidate lists are made with: of a matrix, if time is short, nearest neighbours only."""
    remaining = run.remaining()
    if problem.matrix is None or remaining is None:
        return params.per_quadrant
    seconds = tuning.SECONDS_PER_ENTRY * problem.n**2 / run.threads
    return params.per_quadrant if seconds <= tuning.SPREAD_SHARE * remaining else 0


def _parts(n: int, threads: int, params: LkParams) -> int:
    """Return the number of parts that a tour is searched in."""
    if n < tuning.MIN_PARTED or (threads == 1 and n <= params.whole):
        return 1
    # Parts in work on every thread at once would double the memory of a long tour: it gets smaller ones.
    least = threads if n < LONG else 4 * threads
    return threads * math.ceil(max(math.ceil(n / params.part), least) / threads)


class _Search:
    """The tour, its native search, and the clock."""

    def __init__(
        self,
        run: Run,
        params: LkParams,
        instance: SearchInstance,
        native: TourSearch,
        parts: int,
        in_parts: bool,
    ) -> None:
        self.problem = instance.problem
        self.run = run
        self.params = params
        self.instance = instance
        self.native = native
        self.kicks = 0
        self.round = 0
        self.member_seconds = 0.0  # time for a new member of a population
        self.long_share = 0.0  # of the tour's length, which the longest links have
        self.combined = False  # whether the best tour is that of a population
        if self.problem.n > tuning.MAX_QUICK:
            self.members = tuning.LIGHT_MEMBERS
        else:
            self.members = tuning.QUICK_MEMBERS if run.kick_limit is None else tuning.FULL_MEMBERS
        self.parts = parts
        self.in_parts = in_parts  # whether each part can be searched alone from the start
        self.boxes = self.problem.matrix is None
        self.pause = tuning.PAUSE if self.problem.n >= LONG else math.inf

    def descend(self) -> bool:
        """Go to a local optimum; False if the run says stop."""
        run = self.run
        if self._report("start tour"):
            return False
        run.enter("local search")
        begun = run.elapsed()
        stop = self._local_search()
        seconds = run.elapsed() - begun
        # Asked for by long tours alone, if kicks follow; fixed edges say nothing about clusters.
        if run.kick_limit != 0 and self.problem.n >= tuning.MIN_UNEVEN and not len(self.problem.fixed_edges):
            self.long_share = share_of_length(some_lengths(self.problem, self._best()), self.problem.n)
        if self.members is tuning.LIGHT_MEMBERS and self.long_share > tuning.CLUSTERED:
            self.members = tuning.MEMBERS_IN_CLUSTERS
        # A guess until the first members are there, of which each thread makes one at a time.
        self.member_seconds = seconds * self.members.descents / (1 if self.in_parts else run.threads)
        return not (stop or self._long_links())

    def _local_search(self) -> bool:
        """Local search from every city; True to stop."""
        if self.in_parts:
            return self._round(boxes=False, optimize=True) or (
                self.boxes and self._round(boxes=True, optimize=True)
            )
        complete = stop = False
        while not (complete or stop):
            complete = self.native.optimize(self.pause, self.run.token)
            stop = self._report("local search")
        return stop

    def _long_links(self) -> bool:
        """Search among the long links where they carry much of the tour, as between clusters.

        Returns True to stop.
        """
        problem, run, native, instance = self.problem, self.run, self.native, self.instance
        closed = problem.open is None and problem.coordinates is not None
        if not closed or self.long_share <= tuning.UNEVEN or problem.n < tuning.MIN_LONG_EDGES:
            return False
        run.enter("long edges")
        remaining = run.remaining() if run.kick_limit is None else None
        better = improve_long_links(
            problem,
            self._best(),
            self.params,
            seconds=math.inf if remaining is None else tuning.LONG_TIME_SHARE * remaining,
            seed=run.seed,
            token=run.token,
        )
        native.go_on_from(instance.close(better))
        return self._report("long edges") or self._local_search()

    # The search

    def improve(self) -> None:
        """Kicks, and crossover where there is time for it, until the run says stop."""
        run = self.run
        if self._recombine_given():
            return
        if run.time_limit is None and run.kick_limit is None:
            self._cycles()
            return
        least = self._least()
        while (size := self._affordable()) >= least:
            before = self.native.best_length
            if self._combine(size):
                return
            self.members = self.members._replace(kicks=max(self.members.kicks, self.members.later))
            if self.long_share > tuning.UNEVEN:
                if not self._has_gained(before):
                    break
                if self._kicks_that_gain():
                    return
            least = max(least, math.ceil(tuning.NEXT_POPULATION * size))
            if self.members.kicks == 0 and run.kick_limit is not None:
                break  # such members take next to no kicks
        self._anneal(run.kick_limit)

    def _cycles(self) -> None:
        """Without a horizon: a short annealing, then populations of growing size.

        Where memory has no room for one, annealing over 4, 8, 16, ... kicks a city, each from the best tour.
        """
        if self.run.may_end_early and (self._proved() or self._crossed()):
            return
        most = self._most()
        least = max(self.members.least, tuning.FULL_MEMBERS.least)
        cycle = tuning.FIRST_CYCLE * self.problem.n
        size = min(2 * least, most)
        while not self._anneal(self.kicks + cycle):
            while size >= least:
                if self._combine(size):
                    return
                size = min(2 * size, most)
            self.native.return_to_best()
            cycle *= 2

    def _proved(self) -> bool:
        """Make the tour of a few cities optimal; True to stop."""
        if self.instance.size > tuning.PROVABLE_CITIES:
            return False
        proved = self.native.prove(tuning.PROOF_TREES, self.run.token)
        stop = self._report("search")
        if proved:
            self.run.report_optimal()
        return proved or stop

    def _crossed(self) -> bool:
        """Populations of quick members, after which a run without a limit ends; True to stop."""
        problem = self.problem
        if self.params.temperature is not None or problem.n > tuning.SETTLED_CITIES:
            return False
        populations = tuning.settling(problem.n, of_matrix=problem.matrix is not None)
        if not self._cross(populations, phase="search"):
            self.run.report_limit(CROSSED)
        return True

    def _remaining(self) -> float | None:
        """Seconds that are left, if the search plans for a time."""
        return None if self.run.time_limit is None else self.run.remaining()

    # Recombination

    def _most(self) -> int:
        """Return how many members a population has at most."""
        n, run = self.problem.n, self.run
        if (most := self.params.population) is not None:
            return most if most >= tuning.FULL_MEMBERS.least else 0
        if run.kick_limit is not None:  # the same on every machine
            return min(self.members.most, tuning.MAX_MEMBER_CITIES // n)
        return min(self.members.most, room_for_members(n, run.threads))

    def _least(self) -> int:
        """Return how many members a first population has: of light ones each thread needs one to cross."""
        light = self.members in (tuning.LIGHT_MEMBERS, tuning.MEMBERS_IN_CLUSTERS)
        return max(self.members.least, self.run.threads if light else 1)

    def _affordable(self) -> int:
        """Return how many members of a population the horizon has time for, at a rough guess."""
        run, most = self.run, float(self._most())
        if run.kick_limit is not None:
            most = min(most, (run.kick_limit - self.kicks) / self.problem.n / self.members.granted)
        size, remaining = most, self._remaining()
        if remaining is not None:
            for _ in range(4):  # its share hardly depends on the size
                size = min(most, remaining / ((1 + self._crossing_share(size)) * self.member_seconds))
        return int(size)

    def _crossing_share(self, size: float) -> float:
        """Time for the generations of so many members, in times that the growth takes."""
        members = self.members
        n = self.problem.n
        power = (n / 1000) ** members.crossing_power * (size / 30) ** members.crossing_size
        if n >= tuning.CROWDED_CITIES:
            power *= max(1.0, self.run.threads / 2) ** tuning.CROSSING_OF_THREADS
        return float(members.crossing * power)

    def _combine(self, size: int) -> bool:
        """Grow a population and cross it until nothing is gained; True to stop.

        What the population before came to, or the user's start tour, is one of its members: from the
        beginning, or, if it would lead them astray, at the end.
        """
        native, run, n = self.native, self.run, self.problem.n
        native.forget()
        started = run.elapsed()
        grown = 0
        self.round += 1
        while grown < size:
            # As many as take a moment, on each thread.
            count = max(1, min(tuning.MEMBERS_AT_ONCE, int(tuning.MOMENT / self.member_seconds)))
            count = min(run.threads * count, size - grown)
            # At least one kick: with none, a number of kicks would never be reached.
            kicks = max(1.0 / n, self.members.kicks * max(0.5, min(1.0, size / 16)))
            if run.kick_limit is not None:
                kicks = min(kicks, (run.kick_limit - self.kicks) / (n * count))
            native.grow(
                count=count,
                kicks_per_city=kicks,
                temperature=tuning.MEMBER_TEMPERATURE,
                steps=self.members.steps,
                seed=run.seed,
                round=self.round,
                threads=run.threads,
                token=run.token,
            )
            grown += count
            if self._report("population"):
                return True
            self.member_seconds = (run.elapsed() - started) / grown
            remaining = self._remaining()
            # What is left must do for the generations.
            crossing = self._crossing_share(grown + count) * self.member_seconds * (grown + count)
            if remaining is not None and remaining < crossing:
                break
        remaining = self._remaining()
        hurried = remaining is not None and remaining < tuning.LEISURE * crossing
        plan = PopulationPlan(selection=self.members.selection if hurried else self.members.leisurely)
        if self.combined and self.members.later > 0:
            known = native.best_length
            if self._cross(plan):
                return True
            if native.best_length < known:
                return False
            native.keep()
        # A full member is worth more than the tour of the first local search, a quick one is not.
        elif self.combined or self.members.steps > 0 or isinstance(run.start, np.ndarray):
            native.keep()
        return self._cross(plan)

    def _recombine_given(self) -> bool:
        """Cross the tours that the start tour was merged of; True to stop."""
        native, run = self.native, self.run
        count = len(run.given)
        if count < 2 or count * self.problem.n > tuning.MAX_MEMBER_CITIES or run.kick_limit == 0:
            return False
        native.forget()
        native.add(np.stack([self.instance.close(tour) for tour in run.given]), run.threads)
        native.keep()
        return self._cross()

    def _cross(self, plan: PopulationPlan | None = None, *, phase: str = "crossover") -> bool:
        """Cross new populations, or the one there is, until nothing is gained; True to stop."""
        run, ended = self.run, False
        self.combined = True
        threads = run.threads if self.problem.n > tuning.FEW_CITIES else 1
        crossing = PopulationRun.create(self.native, plan or PopulationPlan())
        while not ended:
            ended, rounds = crossing.proceed(
                between_reports(run), run.seed, self.round + 1, threads, run.token
            )
            self.round += rounds
            if self._report(phase):
                return True
        self.native.return_to_best()
        return False

    # Annealing

    def _has_gained(self, before: float) -> bool:
        """Tell whether the best tour is shorter by something worth naming."""
        return self.native.best_length <= (1 - tuning.GAINING) * before

    def _kicks_that_gain(self) -> bool:
        """Kicks for as long as they gain; True to stop.

        How rows or clusters hang together may be what all members of a population have in common.
        """
        run = self.run
        while True:
            before, last = self.native.best_length, None
            if run.kick_limit is not None:
                last = self.kicks + int(tuning.GAINING_SHARE * (run.kick_limit - self.kicks))
                if last == self.kicks:
                    return False
            if self._anneal(last, share=tuning.GAINING_SHARE):
                return True
            if not self._has_gained(before):
                return False

    def _anneal(self, last: int | None, share: float = 1.0) -> bool:
        """Kicks at falling temperature until the kick number `last` or the time limit; True to stop.

        Of two horizons the one that is further on sets the temperature. What crossover has made is too good
        for any temperature. `share`: of the time that is left.
        """
        native, run, n = self.native, self.run, self.problem.n
        mean_link = abs(native.length) / n
        started, begun = run.elapsed(), self.kicks
        factor = 0.0 if self.combined else self.params.temperature
        by_rate = factor is None and last is None
        kept = (1 - share) * (self._remaining() or 0.0)
        stop = last is not None and self.kicks >= last
        while not stop and (last is None or self.kicks < last):
            progress = pace = 0.0  # from 0 to 1, and by how much with each kick
            if last is not None:
                pace = 1 / (last - begun)
                progress = (self.kicks - begun) * pace
                if factor is None:
                    factor = start_temperature((last - begun) / n)
            if (remaining := self._remaining()) is not None:
                spent = run.elapsed() - started
                remaining = max(0.0, remaining - kept)
                if share < 1 and remaining == 0:
                    break
                horizon = max(spent + remaining, 1e-9)
                progress = max(progress, spent / horizon)
                rate = (self.kicks - begun) / max(spent, 1e-9)
                if rate > 0:
                    pace = max(pace, 1 / (rate * horizon))
                    if by_rate:
                        factor = start_temperature(rate * horizon / n)

            def temperature(progress: float, factor: float = factor or 0.0) -> float:
                return factor * mean_link * cooled(progress)

            left = None if last is None else last - self.kicks
            if self.parts == 1 or (left is not None and left < tuning.SLICE):
                count = kicks_at_once(n)
                stop = self._slice(count if left is None else min(count, left), temperature(progress))
            else:
                kicks = max(tuning.SWEEP, min(1.0, 10 * tuning.SLICE / n)) * n
                if pace > 0:  # so many rounds of one length as there is time for
                    rounds = max(1, math.ceil((1 - progress) / pace / kicks))
                    kicks = max(tuning.SLICE, min(kicks, (1 - progress) / pace / rounds))
                if left is not None:
                    kicks = min(kicks, left)
                # A kick in a box, which has many paths, takes a third longer, and after crossover no seams
                # are left to mend: E31k.0 on two threads 1.72 and 1.81 times as fast as on one (log).
                turn = 4 if self.combined else 2
                stop = self._round(
                    boxes=self.boxes and self.round % turn == 1,
                    kicks=int(kicks),
                    temperature=temperature(progress),
                    last_temperature=temperature(progress + kicks * pace),
                )
        return stop

    def _slice(self, kicks: int, temperature: float) -> bool:
        """Kicks on the whole tour; True to stop."""
        self.round += 1
        self.native.kicks(kicks, temperature, self.run.seed, self.round, self.run.token)
        return self._report("search")

    def _round(
        self,
        *,
        boxes: bool,
        optimize: bool = False,
        kicks: int = 0,
        temperature: float = 0.0,
        last_temperature: float = 0.0,
    ) -> bool:
        """One round of parts; True to stop."""
        native, run = self.native, self.run
        self.round += 1
        native.begin_round(
            parts=self.parts,
            boxes=boxes,
            optimize=optimize,
            kicks=kicks,
            temperature=temperature,
            last_temperature=last_temperature,
            seed=run.seed,
            round=self.round,
            threads=run.threads,
            repeatable=run.kick_limit is not None,
            token=run.token,
        )
        complete = stop = False
        while not (complete or stop):
            complete = native.proceed(self.pause, run.token)
            stop = self._report("local search" if optimize else "search")
        if not complete:
            native.end_round()
        return stop

    # Reports

    def _report(self, phase: str) -> bool:
        native = self.native
        length = native.best_length - self.instance.closing
        counters = native.counters()
        self.kicks = counters.pop("kicks") + counters["kicks_refused"]
        return self.run.update(length=length, kicks=self.kicks, tour=self._best, phase=phase, **counters)

    def _best(self) -> NDArray[np.int32]:
        return self.instance.open(self.native.best())

    def finish(self) -> None:
        """Hand over the best tour."""
        self.run.offer(self._best())


def _is_compact(tour: NDArray[np.int32], candidates: NDArray[np.int32], parts: int) -> bool:
    """Whether pieces of the tour hold most neighbours of their cities, so that each can be searched alone."""
    n = len(tour)
    part = np.empty(n, dtype=np.int32)
    part[tour] = np.arange(n, dtype=np.int64) * parts // n
    some = slice(None, None, max(1, n // 10_000))
    # The first candidate may be the dummy city.
    return float(np.mean(part[candidates[some, 1:6]] == part[some, None])) > 0.8
