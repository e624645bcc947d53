"""The outer level of the main solver: the tour is cut, its parts are improved by workers, and joined again.

What a task is made of depends on the seed, its round and its number alone, and its effort is counted in
kicks, so that the tour does not depend on who does it; docs/scaling/cluster.md says what follows from that.
"""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warptsp.cluster.connect import ClusterParams, check_cluster, open_executor
from warptsp.cluster.cutting import cut_boxes, cut_stretches, link
from warptsp.cluster.work import Common, Plan, Work
from warptsp.devices import resolve_device
from warptsp.errors import BackendUnavailable, UnsupportedProblem, WarpTSPError
from warptsp.machine import Devices
from warptsp.methods import get_method
from warptsp.methods.annealing import cooled, start_temperature
from warptsp.methods.first_tour import fall_back, start_tour
from warptsp.methods.parameters import changed_params
from warptsp.methods.protocol import best_of

if TYPE_CHECKING:
    from warptsp._native import TourCut
    from warptsp.methods.lk import LkParams
    from warptsp.methods.protocol import Run
    from warptsp.problem import Problem

logger = logging.getLogger(__name__)

SMALL_PART, LARGE_PART, GPU_PART = 10_000, 50_000, 1_000_000  # cities of a task
FEWEST_PARTS = 8  # of a tour that is long enough
# Kicks a city in a round. Seams move oftener with fewer: 200 000 cities, 6 kicks each, were 0.44 % above the
# constant of random uniform tours with 1, 0.46 with 2, 0.48 with 3, at the same CPU seconds. A GPU takes as
# long for its set-up as for some kicks a city.
KICKS, GPU_KICKS = 1.0, 10.0
MIN_DEADLINE = 60.0
DEADLINE = 10.0  # times the slowest task
WAIT = 0.1  # seconds between two reports


@dataclass(frozen=True, slots=True)
class Outer:
    """A cluster as the user named it, checked, and how a run is spread over it."""

    cluster: Any
    device: str
    params: ClusterParams

    def __post_init__(self) -> None:
        check_cluster(self.cluster, self.device)

    def check(self, problem: Problem) -> None:
        """Raise `UnsupportedProblem` for what cannot be cut."""
        if problem.matrix is not None:
            raise UnsupportedProblem(
                "cluster: a matrix of distances cannot be cut into boxes; solve it without a cluster"
            )
        if problem.open is not None:
            raise UnsupportedProblem("cluster: open paths are not cut; solve it without a cluster")

    def run(self, problem: Problem, run: Run, params: LkParams) -> None:
        """Shorten a tour until the run says stop, or all rounds are done; `params` are those of workers."""
        run.enter("cluster")
        run.report_device(Devices("cluster"))
        executor, ends = open_executor(self.cluster, self.device)
        try:
            rounds = _Rounds(problem, run, executor, self.params, self.device, changed_params(params))
            rounds.hand_over = 1e-7 * problem.n
            if not rounds.start() or not rounds.await_workers():
                return
            if rounds.parts > 1:
                rounds.search()
                return
        finally:
            if ends:
                executor.close()
        logger.info("cluster: %d cities are one part, which is searched here", problem.n)
        lk = get_method("lk")
        run.report_device(Devices.parse(resolve_device(self.device, problem, lk, run.time_limit)))
        if run.kick_limit is None and self.params.rounds is not None:
            run.limit_kicks(self.params.rounds * round(rounds.kicks_a_city * problem.n))
        lk.run(problem, run, params)


@dataclass(slots=True, eq=False)
class _Rounds(Common):
    """The tour between two rounds, and who works on it."""

    kicks: int = 0
    rate: float = 0.0  # kicks a second in the last round, everything included
    hand_over: float = 0.0  # seconds to link and check a tour
    idle_since: float | None = None
    had_workers: bool = False

    @property
    def parts(self) -> int:
        """Parts of a round; what workers there are matters for one thing only, whether they have GPUs."""
        n, part = self.problem.n, self.params.part
        if part is None:
            part = min(LARGE_PART, max(SMALL_PART, n // FEWEST_PARTS))
            if self.executor.has_gpus():
                part = GPU_PART
        return max(1, round(n / part))

    @property
    def kicks_a_city(self) -> float:
        if self.params.kicks is not None:
            return self.params.kicks
        return GPU_KICKS if self.executor.has_gpus() else KICKS

    def start(self) -> bool:
        """Offer a first tour; False if time ran out."""
        run = self.run
        if isinstance(run.start, np.ndarray):
            run.offer(run.start)
            return True
        # Greedy is what workers begin with.
        self.has_tour = run.start != "greedy"
        tour = start_tour(self.problem, run, run.start if self.has_tour else "space-filling")
        if tour is None:
            fall_back(self.problem, run, None)
            return False
        run.offer(tour)
        return True

    def await_workers(self) -> bool:
        """Wait until somebody takes tasks; False if the run said stop before.

        Raises `BackendUnavailable` if nobody does: why.
        """
        while not self.executor.workers():
            if self._report("waiting for workers"):
                return False
            self._watch_workers()
            self.executor.gather(WAIT, math.inf)
        self.idle_since = None
        self.had_workers = True
        return True

    def search(self) -> None:
        try:
            while (plan := self._plan()) is not None:
                if self._round(plan):
                    break
        finally:
            for name, worker in self.run.workers.items():
                logger.info(
                    "worker %s, %s: %d tasks, %d kicks in %.1f s",
                    name,
                    worker.device,
                    worker.tasks,
                    worker.kicks,
                    worker.seconds,
                )

    def _plan(self) -> Plan | None:
        """The next round; None if all are done."""
        n, run, rounds, last = self.problem.n, self.run, self.params.rounds, self.run.kick_limit
        each = self.kicks_a_city * n
        if rounds is not None and last is None:
            last = rounds * round(each)
        if last is not None and rounds is None:
            rounds = max(2, math.ceil(last / max(1.0, each)))
        if rounds is not None and last is not None:
            if self.round >= rounds:
                return None
            kicks = last * (self.round + 1) // rounds - last * self.round // rounds
            temperature = start_temperature(last / n) * cooled(self.round / rounds)
            return Plan(kicks, temperature, run.remaining())
        remaining = run.remaining()
        if remaining is None or run.time_limit is None:
            return Plan(round(each), start_temperature(self.kicks_a_city))
        if self.rate == 0.0:
            kicks_left = min(KICKS, self.kicks_a_city) * n
            rounds_left = 1
        else:
            kicks_left = self.rate * remaining
            rounds_left = max(1, round(kicks_left / max(1.0, each)))
        factor = start_temperature((self.kicks + kicks_left) / n)
        progress = run.elapsed() / max(run.elapsed() + remaining, 1e-9)
        return Plan(int(kicks_left / rounds_left), factor * cooled(progress), remaining / rounds_left)

    def _cut(self) -> TourCut:
        """Parts of the best tour: stretches and boxes in turn."""
        run, problem = self.run, self.problem
        best, _ = best_of(run)
        rng = np.random.default_rng([run.seed, self.round])
        begun = time.monotonic()
        if self.round % 2:
            cut = cut_boxes(problem, best, self.parts, rng, run.threads)
        else:
            rotation = int(rng.integers(problem.n)) if self.has_tour else 0
            cut = cut_stretches(problem, best, self.parts, rotation, run.threads)
        self.counters["cut_seconds"] += time.monotonic() - begun
        return cut

    def _round(self, plan: Plan) -> bool:
        """Cut, improve, link; True to stop."""
        run = self.run
        begun = time.monotonic()
        best, length = best_of(run)
        run.expect(best, self.hand_over)
        cut = self._cut()
        work = Work(self, cut, plan)
        kicks_before = self.kicks
        failure: WarpTSPError | None = None
        try:
            stopped = self._do(work, plan)
        except WarpTSPError as error:
            failure, stopped = error, True
        if stopped:
            for outcome in self.executor.drop():
                if outcome.answer is not None:
                    work.take(outcome)
        else:
            self.kicks = kicks_before + plan.kicks
        linking = time.monotonic()
        tour, _ = link(cut, self.problem, run.threads)
        if tour is not None:
            run.offer(tour)
        self.counters["link_seconds"] += time.monotonic() - linking
        self.hand_over = 1.2 * (time.monotonic() - linking)
        self.round += 1
        took = time.monotonic() - begun
        self.rate = (self.kicks - kicks_before) / max(took, 1e-9)
        self.has_tour = True
        logger.info(
            "round %d: %d of %d parts improved by %d workers in %.1f s, length %s to %s",
            self.round,
            work.answered,
            work.count,
            len(work.workers),
            took,
            length,
            run.best_length,
        )
        if failure is not None:
            raise failure
        run.save()
        return self._report(f"round {self.round}") or stopped

    def _do(self, work: Work, plan: Plan) -> bool:
        """Have all tasks of a round done; True if the run said stop before."""
        executor, kicks_before = self.executor, self.kicks
        kind = "boxes" if self.round % 2 else "stretches"
        while work.unanswered:
            deadline = self._deadline()
            work.submit(deadline)
            # A worker that was not heard for longer loses its tasks.
            patience = math.inf if deadline is None else 1.0 + 1.25 * deadline
            for outcome in executor.gather(WAIT, patience):
                work.take(outcome)
            self._watch_workers()
            done = min(work.kicks, plan.kicks - bool(work.unanswered))
            self.kicks = kicks_before + max(0, done)
            parts = f"{work.answered} of {work.count} parts, {len(executor.workers())} workers"
            if self._report(f"round {self.round + 1}, {kind}: {parts}"):
                return bool(work.unanswered)
        return False

    def _deadline(self) -> float | None:
        """Seconds that a worker may take for a task; None if that is not known yet."""
        if self.params.deadline is not None:
            return self.params.deadline
        return max(MIN_DEADLINE, DEADLINE * self.slowest) if self.slowest else None

    def _watch_workers(self) -> None:
        """Raise `BackendUnavailable` if nobody took tasks for too long."""
        executor, wait = self.executor, self.params.wait
        if executor.workers():
            if self.idle_since is not None and self.had_workers:
                logger.warning("%s: there are workers again", executor.name)
            self.idle_since = None
            return
        now = time.monotonic()
        if self.idle_since is None:
            self.idle_since = now
            if self.had_workers:
                logger.warning("%s: no workers; waiting %g s for some", executor.name, wait)
        elif now - self.idle_since > wait:
            raise BackendUnavailable(f"{executor.name}: no workers for {wait:g} s: {executor.lack()}")

    def _report(self, phase: str) -> bool:
        run = self.run
        best, length = best_of(run)
        sent, received = self.executor.sent_and_received()
        workers = run.workers.values()
        stop = run.update(
            length=length,
            kicks=self.kicks,
            tour=lambda: best,
            phase=phase,
            rounds=self.round,
            tasks=sum(worker.tasks for worker in workers),
            worker_seconds=round(sum(worker.seconds for worker in workers), 3),
            bytes_sent=sent,
            bytes_received=received,
            **{name: round(value, 3) for name, value in self.counters.items()},
        )
        # A limit of 0 kicks asks for a local optimum.
        return stop and (run.kick_limit != 0 or run.interrupted or run.token.stopped())
