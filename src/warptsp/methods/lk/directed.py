"""The main solver on distances with a direction: tours that no part of is ever reversed.

First the assignment problem: one way out of each city and one into each, of the least sum. No tour is
shorter, and with its potentials taken off, the distances that are left say which arcs a good tour has
(native/directed/). Its cycles are patched to a tour, exchanges of three and five arcs shorten that, and where
the gap is small, branch and bound on the assignment problem finds the optimum and proves it: random matrices
of thousands of cities take a second. Otherwise a population of tours, each after kicks (double bridges), is
crossed by edge assembly; what it comes to joins the next one.
"""

import logging
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.construct.patching import NAME, DirectedInstance
from warptsp.methods.directed import Doubled
from warptsp.methods.first_tour import fall_back
from warptsp.methods.lk import tuning
from warptsp.methods.lk.engine import Schedule, planned_seconds
from warptsp.methods.lk.mean import search_mean, seconds_for_mean
from warptsp.methods.lk.params import LkParams
from warptsp.methods.lk.threads import ThreadEngine
from warptsp.methods.parameters import changed_params
from warptsp.methods.protocol import Run
from warptsp.problem import Problem

logger = logging.getLogger(__name__)

_USED = {"population"}  # of the parameters


def search(problem: Problem, run: Run, params: LkParams) -> None:
    """Shorten a directed tour on CPU threads until the run says stop, or it is proved optimal."""
    if unused := [name for name in changed_params(params) if name not in _USED]:
        logger.warning("asymmetric distances: %s had no effect", ", ".join(unused))
    instance = DirectedInstance.of(problem)
    if (only := instance.only_tour) is not None:
        run.offer(only)
        run.report_optimal()
        return
    directed = _Search(problem, run, params, instance)
    if directed.start() and directed.symmetric() and directed.descend():
        directed.improve()
    directed.finish()


class _Search(ThreadEngine[_native.DirectedSearch]):
    """The search of a directed tour."""

    def __init__(self, problem: Problem, run: Run, params: LkParams, instance: DirectedInstance) -> None:
        cities = len(instance.paths.matrix)
        native = instance.search(run.seed, run.threads)
        super().__init__(problem, run, params, cities, native, tuning.DIRECTED_MEMBERS)
        self.instance = instance
        self.scale = instance.scale
        self.has_tour = False

    # The way to the first local optimum

    def start(self) -> bool:
        """Solve the assignment problem, and take the start tour; False if the run says stop."""
        run, native = self.run, self.native
        given = run.start if isinstance(run.start, np.ndarray) else None
        if given is None:
            run.expect(np.arange(self.problem.n, dtype=np.int32))
        first = self._first_aid() if given is None else given
        if first is None:
            return False
        run.offer(first)
        length = run.best_length
        run.enter("assignment problem")
        remaining = run.remaining()
        share = math.inf if remaining is None else tuning.ASSIGNMENT_SHARE * remaining
        with run.repeating(0 if length is None else length, lambda: first, "set-up"):
            native.assign(share, run.token)
            run.enter("candidate lists")
            if run.token.stopped() or not native.prepare(run.token):
                return False
        self._report_bound()
        run.enter("start tour")
        if given is None and run.start != NAME:
            made = Doubled(self.problem).start(run)
            if made is None:
                return False
            given = made
        tour = native.patch(run.token) if given is None else self.instance.paths.closed(given)
        native.set_tour(tour)
        self.has_tour = True
        return not self.report("start tour")

    def _first_aid(self) -> NDArray[np.int32] | None:
        """Return a tour that takes a moment, in case the time ends before there is a better one."""
        matrix, none = self.instance.paths.matrix, np.empty((0, 2), dtype=np.int32)
        tour = _native.nearest_neighbor(_native.Distances.of_matrix(matrix), 0, none, 1, self.run.token)
        return None if tour is None else self.instance.paths.opened(tour)

    def symmetric(self) -> bool:
        """Take the tour of the mean of both directions, if they hardly differ; False if the run says stop."""
        run = self.run
        if (seconds := seconds_for_mean(self.problem, run)) == 0.0:
            return True
        found = search_mean(self.problem, run, seconds)
        self.earlier_kicks = int(run.counters.get("kicks", 0))
        run.start_over(kicks=self.earlier_kicks)
        if found is not None:
            self.native.set_tour(self.instance.paths.closed(found))
        return not run.token.stopped() and run.stop_reason is None

    def descend(self) -> bool:
        """Go to a local optimum; False if the run says stop."""
        run = self.run
        run.enter("local search")
        begun = run.elapsed()
        complete = stop = False
        while not (complete or stop):
            complete = self.native.optimize(tuning.DIRECTED_PAUSE, run.token)
            stop = self.report("local search")
        # A guess until the first member is there.
        self.member_seconds = max(1e-9, self.members.descents * (run.elapsed() - begun) / run.threads)
        return not stop

    # The search

    def improve(self) -> None:
        """Branch and bound, and crossover or kicks, until the run says stop or the tour is proved optimal."""
        if self._ends():
            return
        if self.n >= tuning.DIRECTED_LEAST_KICKED:
            super().improve()
        elif (size := self._planned()) is not None:  # no kick brings a limit nearer
            self._combine(size)

    def _is_settled(self) -> bool:
        """Whether the tour is proved optimal, or no tour goes without missing arcs."""
        return self.native.proved or self.native.impossible

    # Branch and bound

    def _ends(self) -> bool:
        """Branch and bound, if it is worth it; True if the tour is settled or the run says stop."""
        return self._is_settled() or self._branch() or self._is_settled()

    def _branch(self) -> bool:
        """Branch and bound where it may come to an end; True to stop."""
        run, native, n = self.run, self.native, self.n
        left, remaining = self.kicks_left, planned_seconds(run)
        nodes = tuning.NODES if left is None else left // tuning.KICKS_FOR_NODE
        gap = native.best_length - native.bound
        few = tuning.FEW_ARCS * n
        arcs = native.open_arcs(run.token)
        near = arcs <= few and gap <= tuning.NEAR * abs(native.bound)
        seconds = tuning.BRANCHING_SECONDS
        if remaining is not None:
            seconds = (tuning.BRANCHING_SHARE_NEAR if near else tuning.BRANCHING_SHARE) * remaining
        elif left is not None:
            seconds = math.inf  # what depends on time is not repeatable
        if gap > tuning.BRANCHING_GAP * abs(native.bound) and arcs > few:
            return run.token.stopped()
        until = run.elapsed() + seconds
        last = native.counters()["nodes"] + nodes
        while not (self._is_settled() or run.token.stopped()):
            # Over short lists while too many arcs are open: a better tour leaves fewer of them open.
            exact, best = arcs <= few, native.best_length
            native.begin_branching(0 if exact else tuning.BRANCHING_ARCS, run.token)
            end = until if exact else run.elapsed() + (until - run.elapsed()) / 3
            leaves = tuning.ALL_LEAVES if exact else tuning.BRANCHING_LEAVES
            done = stop = False
            while not (done or stop):
                count = min(tuning.NODES_AT_ONCE, last - native.counters()["nodes"])
                if count <= 0 or run.elapsed() >= end:
                    break
                done = native.branch(
                    nodes=count,
                    leaves=leaves,
                    seconds=min(end - run.elapsed(), tuning.DIRECTED_PAUSE) if math.isfinite(end) else 1e9,
                    token=run.token,
                )
                self._report_bound()
                stop = self.report("branch and bound")
            native.end_branching()
            if stop:
                return True
            if exact or native.best_length == best:
                break
            arcs = native.open_arcs(run.token)
        return run.token.stopped()

    # Kicks and populations

    def _kick(self, schedule: Schedule, temperature: Callable[[float], float]) -> bool:
        count = tuning.DIRECTED_SLICE * self.run.threads
        self.native.kicks(count if schedule.left is None else min(count, schedule.left), self.run.token)
        return self.report("search")

    def _combine(self, plan: int) -> bool:
        return super()._combine(plan) or self._ends()

    # Reports

    def _length(self, closed: float) -> float:
        length = closed / self.scale if self.scale != 1.0 else closed
        return length + self.instance.paths.fixed_length

    def _report_bound(self) -> None:
        """Tell the run of the bound, less what rounding may have added to it."""
        bound = self.native.bound
        if self.problem.integral and self.scale == 1.0:
            self.run.report_bound(self._length(bound))
        else:
            slack = self.n / self.scale
            self.run.report_bound(max(0.0, self._length(bound) * (1 - 1e-12) - slack))

    def _best(self) -> NDArray[np.int32]:
        return self.instance.paths.opened(self.native.best())

    def finish(self) -> None:
        """Hand over the best tour, and what is proved of it."""
        run = self.run
        if not self.has_tour:
            fall_back(self.problem, run, None)
            return
        super().finish()
        self._report_bound()
        exact = self.problem.integral and self.scale == 1.0
        # Of real numbers: to the digits that lengths have.
        fine = not self.problem.integral and self.n <= tuning.FINE * self.native.best_length
        if self.native.proved and (exact or fine):
            run.report_optimal()
