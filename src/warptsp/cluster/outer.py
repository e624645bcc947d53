"""The outer level of the main solver: the tour is cut, its parts are improved by workers, and joined again.

Each part is a task of its own (`warptsp.cluster.tasks`), so that workers share nothing and any of them may
be lost. Rounds alternate between stretches of the tour and boxes in space, so that seams move. The first
round has no tour yet: its parts are pieces of a space-filling curve, and workers begin with greedy tours.

What a task is made of depends on the seed, its round and its number alone, and its effort is counted in
kicks: with a limit on kicks or rounds, the same seed gives the same tour on any number of workers, in
whatever order they answer, and however often a task is lost. (Workers with and without a GPU search
differently, though.)
"""

from __future__ import annotations

import logging
import math
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from warptsp.cluster.connect import ClusterParams, check_cluster, open_executor
from warptsp.cluster.cutting import Cut, cut_boxes, cut_stretches
from warptsp.cluster.executors import Executor, Outcome
from warptsp.cluster.tasks import MIN_CITIES, Answer, Task
from warptsp.devices import resolve_device
from warptsp.errors import BackendUnavailable, InvalidTour, UnsupportedProblem, WarpTSPError
from warptsp.machine import Devices
from warptsp.methods import get_method
from warptsp.methods.annealing import cooled, start_temperature
from warptsp.methods.first_tour import fall_back, start_tour
from warptsp.methods.parameters import changed_params
from warptsp.methods.protocol import best_of
from warptsp.progress import WorkerProgress

if TYPE_CHECKING:
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
LOSSES = 10  # times that a task may be lost before the run fails
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
        """Shorten a tour until the run says stop, or all rounds are done.

        Parameters
        ----------
        problem : Problem
        run : Run
        params : LkParams
            Of the searches of the workers.
        """
        run.enter("cluster")
        run.report_device(Devices("cluster"))
        executor, ends = open_executor(self.cluster, self.device)
        try:
            rounds = _Rounds(problem, run, executor, self.params, changed_params(params), self.device)
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


@dataclass(frozen=True, slots=True)
class _Plan:
    """One round: kicks in all, start temperature in mean edge lengths, and seconds if time is limited."""

    kicks: int
    temperature: float
    seconds: float | None = None


class _Rounds:
    """The tour between two rounds, and who works on it."""

    def __init__(
        self,
        problem: Problem,
        run: Run,
        executor: Executor,
        params: ClusterParams,
        params_of_lk: dict[str, Any],
        device: str,
    ) -> None:
        self.problem = problem
        self.coordinates = problem.given_coordinates()
        self.run = run
        self.executor = executor
        self.params = params
        self.params_of_lk = params_of_lk
        self.device = device
        self.has_tour = True
        self.round = 0
        self.kicks = 0
        self.rate = 0.0  # kicks a second in the last round, everything included
        self.hand_over = 1e-7 * problem.n  # seconds to link and check a tour
        self.slowest = 0.0  # seconds of a task
        self.idle_since: float | None = None
        self.had_workers = False
        self.counters: Counter[str] = Counter(rounds=0, tasks=0, tasks_repeated=0)
        self.seconds = {"cut_seconds": 0.0, "link_seconds": 0.0, "worker_seconds": 0.0}

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
        """Kicks a city in a round."""
        if self.params.kicks is not None:
            return self.params.kicks
        return GPU_KICKS if self.executor.has_gpus() else KICKS

    def await_workers(self) -> bool:
        """Wait until somebody takes tasks; False if the run said stop before.

        Raises
        ------
        BackendUnavailable
            If nobody does: why.
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
        """All rounds."""
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

    # The start

    def start(self) -> bool:
        """Offer a first tour; False if time ran out."""
        run = self.run
        if isinstance(run.start, np.ndarray):
            run.offer(run.start)
            return True
        # Greedy is what workers begin with.
        self.has_tour = run.start != "greedy"
        name = run.start if self.has_tour else "space-filling"
        tour = start_tour(self.problem, run, name)
        if tour is None:
            fall_back(self.problem, run, None)
            return False
        run.offer(tour)
        return True

    # Rounds

    def _plan(self) -> _Plan | None:
        """The next round; None if all are done."""
        n, run, params = self.problem.n, self.run, self.params
        rounds, last = params.rounds, run.kick_limit
        if rounds is not None and last is None:
            last = rounds * round(self.kicks_a_city * n)
        if last is not None and rounds is None:
            rounds = max(2, math.ceil(last / max(1.0, self.kicks_a_city * n)))
        if rounds is not None and last is not None:
            if self.round >= rounds:
                return None
            kicks = last * (self.round + 1) // rounds - last * self.round // rounds
            temperature = start_temperature(last / n) * cooled(self.round / rounds)
            return _Plan(kicks, temperature, run.remaining())
        remaining = run.remaining()
        if remaining is None or run.time_limit is None:
            return _Plan(round(self.kicks_a_city * n), start_temperature(self.kicks_a_city))
        if self.rate == 0.0:
            kicks_left = min(KICKS, self.kicks_a_city) * n
            rounds_left = 1
        else:
            kicks_left = self.rate * remaining
            rounds_left = max(1, round(kicks_left / max(1.0, self.kicks_a_city * n)))
        factor = start_temperature((self.kicks + kicks_left) / n)
        progress = run.elapsed() / max(run.elapsed() + remaining, 1e-9)
        seconds = remaining / rounds_left if self.rate else remaining
        return _Plan(int(kicks_left / rounds_left), factor * cooled(progress), seconds)

    def _cut(self) -> Cut:
        """Parts of the best tour: stretches and boxes in turn."""
        run, problem = self.run, self.problem
        best, _ = best_of(run)
        rng = np.random.default_rng([run.seed, self.round])
        begun = time.monotonic()
        cut: Cut | None
        if self.round % 2 == 0:
            rotation = int(rng.integers(problem.n)) if self.has_tour else 0
            cut = cut_stretches(best, self.parts, rotation, fixed=problem.fixed_edges, threads=run.threads)
        else:
            cut = cut_boxes(
                self.coordinates,
                best,
                self.parts,
                rng,
                fixed=problem.fixed_edges,
                threads=run.threads,
            )
        assert cut is not None  # no token was given
        self.seconds["cut_seconds"] += time.monotonic() - begun
        return cut

    def _round(self, plan: _Plan) -> bool:
        """Cut, improve, link; True to stop."""
        run = self.run
        begun = time.monotonic()
        best, length = best_of(run)
        run.expect(best, self.hand_over)
        cut = self._cut()
        work = _Work(self, cut, plan)
        kicks_before = self.kicks
        failure: WarpTSPError | None = None
        try:
            stopped = self._do(work, plan, kicks_before)
        except WarpTSPError as error:
            failure, stopped = error, True
        if stopped:
            for outcome in self.executor.drop():
                if outcome.answer is not None:
                    work.take(outcome)
        linking = time.monotonic()
        self._link(cut)
        self.seconds["link_seconds"] += time.monotonic() - linking
        self.hand_over = 1.2 * (time.monotonic() - linking)
        self.round += 1
        self.counters["rounds"] = self.round
        if not stopped:
            self.kicks = kicks_before + plan.kicks
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

    def _do(self, work: _Work, plan: _Plan, kicks_before: int) -> bool:
        """Have all tasks of a round done; True if the run said stop before."""
        executor = self.executor
        kind = "boxes" if self.round % 2 else "stretches"
        while work.unanswered:
            while work.has_more and executor.room() > 0:
                executor.submit(work.next(self._deadline()))
            for outcome in executor.gather(WAIT, self._patience()):
                work.take(outcome)
            self._watch_workers()
            self.kicks = min(kicks_before + work.kicks, kicks_before + plan.kicks - bool(work.unanswered))
            self.kicks = max(self.kicks, kicks_before)
            workers = len(executor.workers())
            if self._report(
                f"round {self.round + 1}, {kind}: {work.answered} of {work.count} parts, {workers} workers"
            ):
                return bool(work.unanswered)
        return False

    def _link(self, cut: Cut) -> None:
        """Offer the tour of all parts as they are now: kept if it is shorter."""
        tour = cut.link(self.coordinates, self.problem.metric)
        assert tour is not None  # no token was given
        self.run.offer(tour)

    # Workers

    def _deadline(self) -> float | None:
        """Seconds that a worker may take for a task; None if that is not known yet."""
        if self.params.deadline is not None:
            return self.params.deadline
        return max(MIN_DEADLINE, DEADLINE * self.slowest) if self.slowest else None

    def _patience(self) -> float:
        """Seconds after which a worker that was not heard loses its tasks."""
        deadline = self._deadline()
        return math.inf if deadline is None else 1.0 + 1.25 * deadline

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

    # Reports

    def _report(self, phase: str) -> bool:
        run = self.run
        best, length = best_of(run)
        sent, received = self.executor.sent_and_received()
        stop = run.update(
            length=length,
            kicks=self.kicks,
            tour=lambda: best,
            phase=phase,
            bytes_sent=sent,
            bytes_received=received,
            **self.counters,
            **{name: round(value, 3) for name, value in self.seconds.items()},
        )
        # A limit of 0 kicks asks for a local optimum.
        return stop and (run.kick_limit != 0 or run.interrupted or run.token.stopped())


class _Work:
    """The tasks of one round: which are to be done, and what came of them."""

    def __init__(self, rounds: _Rounds, cut: Cut, plan: _Plan) -> None:
        self._rounds = rounds
        self._cut = cut
        self._plan = plan
        parts = [part for part in range(cut.parts) if cut.size(part) >= MIN_CITIES]
        self.count = len(parts)
        self.unanswered = set(parts)
        self.kicks = 0
        self.workers: set[str] = set()
        self._sizes = np.array([cut.size(part) for part in parts], dtype=np.int64)
        shares = np.concatenate([[0], np.cumsum(self._sizes)]) / max(1, int(self._sizes.sum()))
        self._kicks = dict(
            zip(parts, np.diff(np.floor(shares * plan.kicks)).astype(int).tolist(), strict=True)
        )
        self._new: Iterator[int] = iter(parts)
        self._left = len(parts)
        self._again: list[Task] = []
        self._faults: Counter[int] = Counter()
        self._losses: Counter[int] = Counter()
        self._ends: float | None = None
        if plan.seconds is not None:
            self._ends = time.monotonic() + max(0.5 * plan.seconds, plan.seconds - rounds.executor.lag)

    @property
    def answered(self) -> int:
        """How many parts are done."""
        return self.count - len(self.unanswered)

    @property
    def has_more(self) -> bool:
        """Whether a task waits to be submitted."""
        return bool(self._left or self._again)

    def next(self, deadline: float | None) -> Task:
        """Return a task to submit; those that were lost come first."""
        if self._again:
            return replace(self._again.pop(), deadline=deadline, seconds=self._seconds())
        part = next(self._new)
        self._left -= 1
        rounds, cut = self._rounds, self._cut
        run = rounds.run
        begun = time.monotonic()
        seed = np.random.SeedSequence([run.seed, rounds.round, part]).generate_state(1, np.uint64)
        task = Task(
            coordinates=rounds.coordinates.take(cut.cities(part), axis=0),
            metric=rounds.problem.metric,
            path_begin=cut.path_begin(part),
            round=rounds.round,
            index=part,
            seed=int(seed[0]),
            kicks=self._kicks[part],
            has_tour=rounds.has_tour,
            params={"temperature": self._plan.temperature, **rounds.params_of_lk},
            device=rounds.device,
            seconds=self._seconds(),
            deadline=deadline,
        )
        rounds.seconds["cut_seconds"] += time.monotonic() - begun
        return task

    def _seconds(self) -> float | None:
        """Time for a task so that all that are left come to an end in time."""
        if self._ends is None:
            return None
        left = max(0.0, self._ends - time.monotonic())
        turns = math.ceil(len(self.unanswered) / max(1, self._rounds.executor.slots()))
        return left / turns

    def take(self, outcome: Outcome) -> None:
        """Put an answer back, or have the task done again.

        Raises
        ------
        WarpTSPError
            If it has failed, or was lost, too often.
        """
        task, rounds = outcome.task, self._rounds
        if task.round != rounds.round or task.index not in self.unanswered:
            return
        error = outcome.error
        if outcome.answer is not None:
            try:
                self._cut.put(task.index, outcome.answer.order)
            except InvalidTour as wrong:
                error = wrong
            else:
                self._count(outcome, outcome.answer)
                return
        rounds.counters["tasks_repeated"] += 1
        name = f"task {task.index} of round {task.round + 1}, {task.n} cities"
        if error is not None:
            self._faults[task.index] += 1
            count = self._faults[task.index]
            why = f"{type(error).__name__}: {error}"
            where = "; ".join([outcome.worker, *getattr(error, "__notes__", ())]).strip("; ")
            if count >= rounds.params.attempts:
                raise WarpTSPError(f"{name}, failed {count} times, at last on {where}: {why}") from error
            logger.warning("%s, failed on %s, and is repeated: %s", name, where, why)
        else:
            self._losses[task.index] += 1
            if self._losses[task.index] >= LOSSES:
                raise WarpTSPError(f"{name}, was lost {LOSSES} times: {outcome.lost}")
            logger.warning("%s, is repeated: %s", name, outcome.lost)
        self._again.append(task)

    def _count(self, outcome: Outcome, answer: Answer) -> None:
        rounds, task = self._rounds, outcome.task
        self.unanswered.discard(task.index)
        self.kicks += task.kicks
        self.workers.add(outcome.worker)
        rounds.counters["tasks"] += 1
        rounds.seconds["worker_seconds"] += answer.seconds
        rounds.slowest = max(rounds.slowest, answer.seconds)
        run = rounds.run
        known = run.workers.get(outcome.worker, WorkerProgress(answer.device))
        run.report_worker(outcome.worker, known.plus(answer.kicks, answer.seconds, answer.device))
