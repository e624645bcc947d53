"""The main solver on CPU threads."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from warptsp._native import PopulationPlan, TourSearch
from warptsp.backends.instance import SearchInstance
from warptsp.methods.first_tour import LONG, numbered
from warptsp.methods.lk import tuning
from warptsp.methods.lk.engine import Schedule
from warptsp.methods.lk.long_links import share_of_length, some_lengths
from warptsp.methods.lk.params import LkParams
from warptsp.methods.lk.threads import ThreadEngine, gather, gathers, is_time_to_gather
from warptsp.methods.protocol import Run
from warptsp.problem import Problem
from warptsp.stop.default import SETTLED


def kicks_at_once(n: int) -> int:
    """Return the kicks at one temperature on the whole of a tour of so many cities."""
    return max(100, min(tuning.SLICE, n // 10))


def search(problem: Problem, run: Run, params: LkParams) -> None:
    """Shorten a tour on CPU threads until the run says stop."""
    search = _set_up(problem, run, params)
    if search is None:
        return
    if search.descend():
        search.improve()
    search.finish()


def _set_up(problem: Problem, run: Run, params: LkParams) -> "_Search | None":
    """Build candidate lists, start tour and search; None if time ran out.

    Each step leaves the best tour there is, in case the next one runs out of time.
    """
    if isinstance(run.start, np.ndarray):
        run.offer(run.start)
    else:
        run.expect(np.arange(problem.n, dtype=np.int32))

    def lists(instance: SearchInstance) -> NDArray[np.int32] | None:
        count = min(params.candidates, problem.n - 1) + (instance.dummy is not None)
        return instance.candidates(count, _per_quadrant(problem, run, params), run.threads, run.token)

    parts = _parts(problem.n, run.threads, params)
    if (made := numbered(problem, run, lists, parts=parts)) is None:
        return None
    instance, candidates, tour = made
    run.expect(instance.city, tuning.HAND_OVER * problem.n)
    if run.best is not None and run.token.stopped():
        return None  # no time to check another one
    native = instance.tour_search(candidates, tour, params.of_search(problem.n))
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


class _Search(ThreadEngine["TourSearch"]):
    """The search of one tour, as a whole or in parts."""

    def __init__(
        self,
        run: Run,
        params: LkParams,
        instance: SearchInstance,
        native: TourSearch,
        parts: int,
        in_parts: bool,
    ) -> None:
        problem = instance.problem
        members = tuning.LIGHT_MEMBERS
        if problem.n <= tuning.MAX_QUICK:
            members = tuning.QUICK_MEMBERS if run.kick_limit is None else tuning.FULL_MEMBERS
        super().__init__(problem, run, params, problem.n, native, members)
        self.instance = instance
        self.long_share = 0.0  # of the tour's length, which the longest links have
        self.parts = parts
        self.in_parts = in_parts  # whether each part can be searched alone from the start
        self.boxes = problem.matrix is None
        self.pause = tuning.PAUSE if problem.n >= LONG else math.inf

    def descend(self) -> bool:
        """Go to a local optimum; False if the run says stop."""
        run = self.run
        if self.report("start tour"):
            return False
        run.enter("local search")
        begun = run.elapsed()
        stop = self._local_search()
        seconds = run.elapsed() - begun
        # Asked for by long tours alone, if kicks follow.
        if run.kick_limit != 0 and self.n >= tuning.MIN_UNEVEN and not len(self.problem.fixed_edges):
            self.long_share = share_of_length(some_lengths(self.problem, self._best()), self.n)
        light = self.members is tuning.LIGHT_MEMBERS
        self.clustered = self.long_share > tuning.CLUSTERED
        if light and self.clustered:
            self.members = tuning.MEMBERS_IN_CLUSTERS
        # Of light ones each thread needs one to cross.
        self.least = max(self.members.least, run.threads if light else 1)
        # A guess until the first members are there, of which each thread makes one at a time.
        self.member_seconds = max(
            1e-9, seconds * self.members.descents / (1 if self.in_parts else run.threads)
        )
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
            stop = self.report("local search")
        return stop

    def _long_links(self) -> bool:
        """Search among the long links where they carry much of the tour, as between clusters.

        Returns True to stop.
        """
        uneven = self.knows_long_links and self.long_share > tuning.UNEVEN
        if not uneven or self.n < tuning.MIN_LONG_EDGES:
            return False
        self.run.enter("long edges")
        self.native.go_on_from(self.instance.close(self.with_better_long_links(self._best())))
        return self.report("long edges") or self._local_search()

    # The search

    def improve(self) -> None:
        """Kicks, and crossover where there is time for it, until the run says stop."""
        if self._recombine_given():
            return
        if not self.is_limited:
            if self.run.may_end_early and (self._proved() or self._crossed()):
                return
            self.least = max(self.least, tuning.FULL_MEMBERS.least)
        super().improve()

    def _proved(self) -> bool:
        """Make the tour of a few cities optimal; True to stop."""
        if self.instance.size > tuning.PROVABLE_CITIES:
            return False
        proved = self.native.prove(tuning.PROOF_TREES, self.run.token, self.instance.exact_distances())
        stop = self.report("search")
        if proved:
            self.run.offer(self._best())
            self.run.report_optimal()
        return proved or stop

    def _crossed(self) -> bool:
        """Populations of quick members, after which a run without a limit ends; True to stop."""
        problem = self.problem
        if self.params.temperature is not None or problem.n > tuning.SETTLED_CITIES:
            return False
        populations = tuning.settling(problem.n, of_matrix=problem.matrix is not None)
        if not self.cross(populations, phase="search"):
            self.run.report_limit(SETTLED)
        return True

    def _recombine_given(self) -> bool:
        """Cross the tours that the start tour was merged of; True to stop."""
        native, run = self.native, self.run
        count = len(run.given)
        if count < 2 or count * self.n > tuning.MAX_MEMBER_CITIES or run.kick_limit == 0:
            return False
        native.forget()
        native.add(np.stack([self.instance.close(tour) for tour in run.given]), run.threads)
        native.keep()
        return self.cross()

    @property
    def members_have_long_links(self) -> bool:
        return self.clustered and self.problem.open is None  # fixed edges say nothing about clusters

    @property
    def gathers(self) -> bool:
        return gathers(self.n, self.run)

    def cross(self, plan: PopulationPlan | None = None, *, phase: str = "crossover") -> bool:
        """Cross members until nothing is gained, and then the best of long ones with all others; True to
        stop."""
        if super().cross(plan, phase=phase):
            return True
        if not self.gathers:
            return False
        stop = gather(self.native, self.run, self.round << 32, lambda: self.report(phase))
        self.native.return_to_best()
        return stop

    def _hurries(self, begun: float) -> bool:
        return is_time_to_gather(self.native, self.n, self.run, begun)

    def _combine(self, plan: int) -> bool:
        # How rows or clusters hang together may be what all its members have in common: kicks follow then,
        # for as long as they gain.
        before = self.native.best_length
        if super()._combine(plan):
            return True
        if not self.is_limited or self.long_share <= tuning.UNEVEN:
            return False
        if not self._has_gained(before):
            self.least = math.inf
            return False
        while True:
            before = self.native.best_length
            if self.anneal(share=tuning.GAINING_SHARE):
                return True
            if not self._has_gained(before):
                return False

    def _has_gained(self, before: float) -> bool:
        """Tell whether the best tour is shorter by something worth naming."""
        return self.native.best_length <= (1 - tuning.GAINING) * before

    # Kicks

    def _kick(self, schedule: Schedule, temperature: Callable[[float], float]) -> bool:
        n, left, progress = self.n, schedule.left, schedule.progress
        if self.parts == 1 or (left is not None and left < tuning.SLICE):
            self.round += 1
            count = kicks_at_once(n) if left is None else min(kicks_at_once(n), left)
            self.native.kicks(count, temperature(progress), self.run.seed, self.round, self.run.token)
            return self.report("search")
        kicks = max(tuning.SWEEP, min(1.0, 10 * tuning.SLICE / n)) * n
        pace = 1 / schedule.kicks  # of progress
        if pace > 0:  # so many rounds of one length as there is time for
            rounds = max(1, math.ceil((1 - progress) / pace / kicks))
            kicks = max(tuning.SLICE, min(kicks, (1 - progress) / pace / rounds))
        if left is not None:
            kicks = min(kicks, left)
        # A kick in a box, which has many paths, takes a third longer, and after crossover no seams are left
        # to mend: E31k.0 on two threads 1.72 and 1.81 times as fast as on one (log).
        turn = 4 if self.combined else 2
        return self._round(
            boxes=self.boxes and self.round % turn == 1,
            kicks=int(kicks),
            temperature=temperature(progress),
            last_temperature=temperature(progress + kicks * pace),
        )

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
            stop = self.report("local search" if optimize else "search")
        if not complete:
            native.end_round()
        return stop

    # Reports

    def _length(self, closed: float) -> float:
        return closed - self.instance.closing

    def _best(self) -> NDArray[np.int32]:
        return self.instance.open(self.native.best())


def _is_compact(tour: NDArray[np.int32], candidates: NDArray[np.int32], parts: int) -> bool:
    """Whether pieces of the tour hold most neighbours of their cities, so that each can be searched alone."""
    n = len(tour)
    part = np.empty(n, dtype=np.int32)
    part[tour] = np.arange(n, dtype=np.int64) * parts // n
    some = slice(None, None, max(1, n // 10_000))
    # The first candidate may be the dummy city.
    return float(np.mean(part[candidates[some, 1:6]] == part[some, None])) > 0.8
