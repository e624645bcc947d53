"""The main solver on distances with a direction: tours that no part of is ever reversed.

First the assignment problem: one way out of each city and one into each, of the least sum. No tour is
shorter, and with its potentials taken off, the distances that are left say which arcs a good tour has
(native/directed/). Its cycles are patched to a tour, exchanges of three and five arcs shorten that, and where
the gap is small, branch and bound on the assignment problem finds the optimum and proves it: random matrices
of thousands of cities take a second. Otherwise a population of tours, each after kicks (double bridges), is
crossed by edge assembly; what it comes to joins the next one.
"""

from __future__ import annotations

import logging
import math
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

import warptsp._native as _native
from warptsp.construct.patching import NAME, DirectedInstance
from warptsp.methods.directed import Doubled
from warptsp.methods.first_tour import fall_back
from warptsp.methods.lk import tuning
from warptsp.methods.lk.mean import search_mean, seconds_for_mean
from warptsp.methods.lk.params import LkParams

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.methods.protocol import Run
    from warptsp.problem import Problem

__all__ = ["search"]

logger = logging.getLogger(__name__)

_HEARD = {"population"}  # of the parameters


def search(problem: Problem, run: Run, params: LkParams) -> None:
    """Shorten a directed tour on CPU threads until the run says stop, or it is proved optimal."""
    unheard = [
        field.name
        for field in fields(params)
        if field.name not in _HEARD and getattr(params, field.name) != getattr(LkParams(), field.name)
    ]
    if unheard:
        logger.warning("asymmetric distances: %s had no effect", ", ".join(unheard))
    instance = DirectedInstance.of(problem)
    if (only := instance.only_tour) is not None:
        run.offer(only)
        run.report_optimal()
        return
    directed = _Search(problem, run, params, instance)
    if directed.start() and directed.symmetric() and directed.descend():
        directed.improve()
    directed.finish()


class _Search:
    """The tour, its native search, and the clock."""

    def __init__(self, problem: Problem, run: Run, params: LkParams, instance: DirectedInstance) -> None:
        self.problem = problem
        self.run = run
        self.instance = instance
        self.scale = instance.scale
        self.native = self.instance.search(run.seed, run.threads)
        self.n = len(self.instance.paths.matrix)
        self.population = tuning.DIRECTED_POPULATION
        if params.population is not None:
            self.population = min(self.population, params.population)
        self.kicks = 0
        self.earlier_kicks = 0  # of the symmetric search
        self.round = 0
        self.has_tour = False
        self.combined = False  # whether the best tour is that of a population
        self.member_seconds = 0.0

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
        return not self._report("start tour")

    def _first_aid(self) -> NDArray[np.int32] | None:
        """Return a tour that takes a moment, in case the time ends before there is a better one."""
        matrix, none = self.instance.paths.matrix, np.empty((0, 2), dtype=np.int32)
        tour = _native.nearest_neighbor_matrix(matrix, 0, none, self.run.token)
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
            stop = self._report("local search")
        # A guess until the first member is there.
        self.member_seconds = tuning.DESCENT_TO_MEMBER * (run.elapsed() - begun) / run.threads
        return not stop

    # The search

    def improve(self) -> None:
        """Branch and bound, and crossover or kicks, until the run says stop or the tour is proved optimal."""
        few = self.n < tuning.DIRECTED_LEAST_KICKED  # no kick brings a limit nearer
        while True:
            if self._is_settled() or self._branch() or self._is_settled():
                return
            size = self._affordable()
            if size < tuning.DIRECTED_MIN_POPULATION:
                if few or self._kick():
                    return
            elif self._combine(size) or few:
                return

    def _is_settled(self) -> bool:
        """Whether the tour is proved optimal, or no tour goes without missing arcs."""
        return self.native.proved or self.native.impossible

    def _remaining(self) -> float | None:
        """Seconds that are left, if the search plans for a time."""
        return None if self.run.time_limit is None else self.run.remaining()

    def _kicks_left(self) -> int | None:
        return None if self.run.kick_limit is None else max(0, self.run.kick_limit - self.kicks)

    # Branch and bound

    def _branch(self) -> bool:
        """Branch and bound where it may come to an end; True to stop."""
        run, native, n = self.run, self.native, self.n
        left, remaining = self._kicks_left(), self._remaining()
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
                stop = self._report("branch and bound")
            native.end_branching()
            if stop:
                return True
            if exact or native.best_length == best:
                break
            arcs = native.open_arcs(run.token)
        return run.token.stopped()

    # Kicks

    def _kick(self) -> bool:
        """Kicks until the run says stop, or until there is time for a population; True to stop."""
        stop = False
        limited = self.run.time_limit is not None or self.run.kick_limit is not None
        until = math.inf if limited else self.kicks + tuning.FIRST_CYCLE * self.n
        while not stop and self.kicks < until:
            left = self._kicks_left()
            count = tuning.DIRECTED_SLICE * self.run.threads
            count = count if left is None else min(count, left)
            self.native.kicks(count, self.run.token)
            stop = self._report("search") or left == 0
        return stop

    # Crossover

    def _affordable(self) -> int:
        """Return how many members of a population the horizon has time for, at a rough guess."""
        sizes: list[float] = [self.population]
        left, remaining = self._kicks_left(), self._remaining()
        if left is not None:
            sizes.append(left / (tuning.DIRECTED_KICKS_OF_MEMBER * self.n))
        if remaining is not None:
            sizes.append(remaining / ((1 + tuning.DIRECTED_CROSSING) * self.member_seconds + 1e-9))
        return int(min(sizes))

    def _combine(self, size: int) -> bool:
        """Grow a population and cross it until nothing is gained; True to stop."""
        native, run = self.native, self.run
        native.forget()
        started, grown = run.elapsed(), 0
        while grown < size:
            self.round += 1
            count = min(run.threads, size - grown)
            kicks = max(1, int(tuning.DIRECTED_KICKS_OF_MEMBER * self.n))
            left, remaining = self._kicks_left(), self._remaining()
            if left is not None:
                kicks = min(kicks, left // count)
            native.grow(
                count=count,
                kicks=kicks,
                seed=run.seed,
                round=self.round,
                token=run.token,
            )
            grown += count
            if self._report("population"):
                return True
            self.member_seconds = (run.elapsed() - started) / grown
            if remaining is not None:
                crossing = tuning.DIRECTED_CROSSING * self.member_seconds * (grown + count)
                if remaining - self.member_seconds * count < crossing:
                    break
        native.keep()
        return self._cross()

    def _cross(self) -> bool:
        """Generations until nothing is gained: single cycles, then blocks of them; True to stop."""
        native, run = self.native, self.run
        idle, blocks = 0, False
        best, mean = native.best_length, math.inf
        while True:
            self.round += 1
            replaced = native.generation(
                children=tuning.CHILDREN,
                blocks=blocks,
                seed=run.seed,
                round=self.round,
                token=run.token,
            )
            if self._report("crossover"):
                return True
            now = native.mean_length
            progress = native.best_length < best or now < mean * (1 - 1e-9)
            best, mean = native.best_length, min(mean, now)
            idle = 0 if progress else idle + 1
            if now - best <= 1e-9 * abs(best) or (replaced == 0 and blocks):
                break
            if idle >= tuning.DIRECTED_IDLE:
                if blocks:
                    break
                blocks, idle = True, 0
        native.return_to_best()
        return False

    # Reports

    def _report(self, phase: str) -> bool:
        counters = self.native.counters()
        self.kicks = counters.pop("kicks")
        return self.run.update(
            length=self._length(self.native.best_length),
            kicks=self.earlier_kicks + self.kicks,
            tour=self._best,
            phase=phase,
            **counters,
        )

    def _length(self, closed: int) -> int | float:
        """Return the instance's length of a closed tour of this one in the search."""
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
        run.offer(self._best())
        self._report_bound()
        exact = self.problem.integral and self.scale == 1.0
        # Of real numbers: to the digits that lengths have.
        fine = not self.problem.integral and self.n <= tuning.FINE * self.native.best_length
        if self.native.proved and (exact or fine):
            run.report_optimal()
