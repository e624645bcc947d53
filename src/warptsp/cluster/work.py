"""The tasks of one round: which are to be done, and what came of them."""

from __future__ import annotations

import logging
import math
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from warptsp.cluster.cutting import put
from warptsp.cluster.tasks import MIN_CITIES, Task
from warptsp.errors import InvalidTour, WarpTSPError
from warptsp.progress import WorkerProgress

if TYPE_CHECKING:
    from warptsp._native import TourCut
    from warptsp.cluster.connect import ClusterParams
    from warptsp.cluster.executors import Executor, Outcome
    from warptsp.methods.protocol import Run
    from warptsp.problem import Problem

logger = logging.getLogger(__name__)

LOSSES = 10  # times that a task may be lost before the run fails
WAITING = 2  # tasks that may wait for a worker beside those that it has in work


@dataclass(frozen=True, slots=True)
class Plan:
    """One round: kicks in all, start temperature in mean edge lengths, and seconds if time is limited."""

    kicks: int
    temperature: float
    seconds: float | None = None


@dataclass(slots=True, eq=False)
class Common:
    """What the rounds of a run have in common, and where they stand."""

    problem: Problem
    run: Run
    executor: Executor
    params: ClusterParams
    device: str
    params_of_lk: dict[str, Any]
    has_tour: bool = True
    round: int = 0
    slowest: float = 0.0  # seconds of a task
    counters: dict[str, float] = field(
        default_factory=lambda: {"tasks_repeated": 0, "cut_seconds": 0.0, "link_seconds": 0.0}
    )


class Work:
    """A round of `rounds`: the parts of a cut, and what is planned for them."""

    def __init__(self, rounds: Common, cut: TourCut, plan: Plan) -> None:
        self._rounds = rounds
        self._cut = cut
        self._plan = plan
        parts = [part for part in range(cut.parts) if cut.size(part) >= MIN_CITIES]
        self.count = len(parts)
        self.unanswered = set(parts)
        self.kicks = 0
        self.workers: set[str] = set()
        self._todo = deque(parts)  # the others that have no answer are submitted
        before = np.cumsum([0, *(cut.size(part) for part in parts)], dtype=np.int64)
        kicks = np.diff(np.floor(before / max(1, int(before[-1])) * plan.kicks)).astype(int)
        self._kicks = dict(zip(parts, kicks.tolist(), strict=True))
        self._faults: Counter[int] = Counter()
        self._losses: Counter[int] = Counter()
        self._ends: float | None = None
        if plan.seconds is not None:
            self._ends = time.monotonic() + max(0.5 * plan.seconds, plan.seconds - rounds.executor.lag)

    @property
    def answered(self) -> int:
        """How many parts are done."""
        return self.count - len(self.unanswered)

    def submit(self, deadline: float | None) -> None:
        """Submit as many tasks as there is room for; those that were lost come first."""
        executor = self._rounds.executor
        room = executor.slots() + WAITING * len(executor.workers()) + len(self._todo) - len(self.unanswered)
        while self._todo and room > 0:
            part = self._todo.popleft()
            if part in self.unanswered:  # what was given up for lost may have come all the same
                executor.submit(self._task(part, deadline))
                room -= 1

    def _task(self, part: int, deadline: float | None) -> Task:
        rounds, cut = self._rounds, self._cut
        begun = time.monotonic()
        seed = np.random.SeedSequence([rounds.run.seed, rounds.round, part]).generate_state(1, np.uint64)
        task = Task(
            coordinates=rounds.problem.given_coordinates().take(cut.cities(part), axis=0),
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
        rounds.counters["cut_seconds"] += time.monotonic() - begun
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

        Raises `WarpTSPError` if it has failed, or was lost, too often.
        """
        task, rounds = outcome.task, self._rounds
        if task.round != rounds.round or task.index not in self.unanswered:
            return
        error, answer = outcome.error, outcome.answer
        if answer is not None:
            try:
                put(self._cut, task.index, answer.order)
            except InvalidTour as wrong:
                error = wrong
            else:
                self.unanswered.discard(task.index)
                self.kicks += task.kicks
                self.workers.add(outcome.worker)
                rounds.slowest = max(rounds.slowest, answer.seconds)
                known = rounds.run.workers.get(outcome.worker, WorkerProgress(answer.device))
                rounds.run.report_worker(
                    outcome.worker, known.plus(answer.kicks, answer.seconds, answer.device)
                )
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
        self._todo.appendleft(task.index)
