"""One method or two on an instance, from the start tour to the result."""

from __future__ import annotations

import logging
import math
import signal
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warptsp.claims import bound_of_optimal, confirmed_bound, is_confirmed
from warptsp.errors import InvalidProblem, OutputError, WarpTSPError
from warptsp.interruption import FirstSignal
from warptsp.methods import Method
from warptsp.methods.launch import asked_of_launches
from warptsp.problem import KnownLength, Problem
from warptsp.problem.tours import beginning_with
from warptsp.progress import relative_gap
from warptsp.result import HistoryPoint, Result, Snapshot, Stage
from warptsp.run import PROVED, Run, Settings
from warptsp.run.snapshots import turned_to_first
from warptsp.solver.merging import merged
from warptsp.solver.options import TRIVIAL, Step
from warptsp.stop import DefaultStop, MaxRuntime, SearchState, StoppingCriterion, TargetGap
from warptsp.stop.default import BEFORE_PROOF, Completion

if TYPE_CHECKING:  # for the first search of a process, which need not import them
    from warptsp.proof import Proof
    from warptsp.solver.proof import ProofStage

logger = logging.getLogger(__name__)

FIRST_SHARE = 0.9  # of a time limit that the first of two methods may use


def run_stages(settings: Settings, steps: Sequence[Step], proof: ProofStage | None = None) -> Result:
    """Run the methods in turn, then a proof; return what they found, whose tour may go through missing arcs.

    Raises `BaseException`: what ended a method, with the result in its attribute ``result`` if there was a
    tour by then.
    """
    session = _Session(settings, steps)
    with FirstSignal(session.interrupt) as signals, closing(session):
        for number, step in enumerate(steps, start=1):
            tour, length = session.run(step, signals)
            if session.is_over(steps[number:]):
                break
        if (unwritten := session.keep_checkpoint(tour, length)) and proof is not None:
            logger.warning("checkpoint not written: %s", unwritten)
        session.finish_bound(tour, length)
        if proof is not None:
            tour, length = session.prove(proof, tour, length, signals)
        unwritten = session.keep_checkpoint(tour, length)
        result = session.result(tour, length, signals.caught)
    failure = session.failure or unwritten
    if failure is not None:
        failure.add_note("warptsp: the best tour so far is in the attribute 'result' of this exception")
        claimed = result if not len(result.missing_arcs) else result.without_claims()
        failure.result = claimed  # type: ignore[attr-defined]
        raise failure
    return result


def _explained(error: BaseException | None, problem: Problem) -> BaseException | None:
    """The error that ended a method; another one if the instance was changed under it."""
    data: NDArray[Any] | None = problem.coordinates if problem.matrix is None else problem.matrix
    if not isinstance(error, ValueError) or isinstance(error, WarpTSPError):
        return error
    if data is None or np.isfinite(data).all():
        return error
    changed = InvalidProblem(
        "the instance was changed during the search: its array has entries that are not finite; an array is "
        "not copied, so leave it as it is until the search ends, or give a copy"
    )
    changed.__cause__ = error
    return changed


class _Session:
    """The runs of a call, one for each of its methods, and what came of them."""

    def __init__(self, settings: Settings, steps: Sequence[Step]) -> None:
        self.settings, self.steps = settings, steps
        self.known = settings.problem.known_length
        self.runs: list[Run] = []
        self.stages: list[Stage] = []
        self.proof: Proof | None = None
        self.met: str | None = None  # what ended the call before its last method, by the call's own criterion
        self.ending: str | None = None  # why the call ends, where it is not the last method that says it
        self.failure: BaseException | None = None

    def interrupt(self, number: int) -> None:
        """End the method that runs, because of this signal."""
        if self.runs:
            self.runs[-1].interrupt(signal_name(number))

    def run(self, step: Step, signals: FirstSignal) -> tuple[NDArray[np.int32], int | float]:
        """Run a method from the start tour, or from what the one before came to.

        Returns its best tour, and the length of that.
        """
        settings = self.settings
        begun = time.monotonic() - settings.started if self.runs else 0.0
        start_tour = self.runs[-1].best if self.runs else settings.start_tour
        run = self._new_run(step, begun, start_tour)
        self.runs.append(run)
        if signals.caught is not None:  # it came while there was no run
            self.interrupt(signals.caught)
        try:
            if start_tour is not None:
                run.offer(start_tour)
            if settings.merge and len(self.runs) == 1:
                run.enter("merging")
                run.start = merged(
                    settings.problem,
                    settings.merge,
                    seed=settings.seed,
                    threads=settings.threads,
                    token=run.token,
                )
                run.offer(run.start)
            step.run(run)
            problem = settings.problem
            if problem.n <= TRIVIAL and problem.open is None and not problem.asymmetric:
                run.report_optimal()  # every tour is as short as any other
        except BaseException as error:
            self.failure = error
        self.failure = _explained(run.failure or self.failure, settings.problem)
        if self.failure is not None and run.best is None:
            raise self.failure
        tour, length = _best_tour(run, step.method)
        if run.proved_optimal and not is_confirmed(settings.problem, length):
            run.withdraw_optimal()
        reason = run.reason() if self.failure is run.failure else type(self.failure).__name__
        device, counters = str(run.device), {"kicks": 0, **run.counters}
        unused = asked_of_launches(step.params) if device == "cpu" else []
        if unused:
            logger.warning("the CPU did the search, where %s had no effect", " and ".join(unused))
        params = {name: value for name, value in step.given.items() if name not in unused}
        spent = run.elapsed() - begun
        shown = math.inf if len(settings.problem.missing_arcs(tour)) else length
        self.stages.append(Stage(step.method.name, device, spent, shown, reason, counters, params))
        self._note_proof(length)
        return tour, length

    def is_over(self, later: Sequence[Step]) -> bool:
        """Whether none of the later methods shall run."""
        run, self.met = self.runs[-1], None
        if self.failure is not None or run.interrupted:
            return True
        if not later:
            return True
        criterion, state = self.settings.criterion, self._state()
        if criterion is not None and state is not None and criterion(state):
            self.met = criterion.reason(state)
        # No time, a target reached, a stop requested.
        nothing_left = run.proved_optimal or self.met is not None
        return nothing_left and not any(step.constrains for step in later)

    def keep_checkpoint(self, tour: NDArray[np.int32], length: int | float) -> OutputError | None:
        """Write the best tour if it is news; return why that failed, which ends neither bound nor proof."""
        try:
            if self.settings.checkpoint is not None:
                self.settings.checkpoint.write(_from(tour, self.settings.first), length)
        except OutputError as error:
            return error
        return None

    def finish_bound(self, tour: NDArray[np.int32], length: int | float) -> None:
        """Wait for a lower bound, if nothing has ended the run before its time."""
        run, bound = self.runs[-1], self.settings.bound
        if bound is None or self.failure is not None or run.proved_optimal or run.token.requested():
            return
        bound.finish(tour, run.elapsed(), run.remaining(), lambda: run.repeat_best("lower bound"))
        self.failure = run.failure or bound.error
        self._note_proof(length)

    def prove(
        self, stage: ProofStage, tour: NDArray[np.int32], length: int | float, signals: FirstSignal
    ) -> tuple[NDArray[np.int32], int | float]:
        """Prove the best tour optimal, unless the search was broken off or has done so; return the best then.

        A proof that fails is skipped, and `Result.stop_reason` says why.
        """
        settings, before = self.settings, self._reason()
        if signals.caught is not None and before == BEFORE_PROOF:
            self.ending = signal_name(signals.caught)
        if signals.caught is not None or self.failure is not None or self.runs[-1].interrupted:
            return tour, length
        if self._is_proved:
            self.ending = PROVED if before == BEFORE_PROOF else None
            return tour, length
        known = None if self.known is None else self.known.length
        if stage.at_most is not None and relative_gap(length, known) == 0:
            return tour, length
        self.ending, bound = before, self._bound_value()
        run = Run(
            replace(settings, bound=None),
            stage.ends(settings.started),
            known=self.known,
            start=tour,
            start_length=self.runs[0].course.start_length,
        )
        self.runs.append(run)
        run.offer(_from(tour, settings.first))
        if run.token.requested():  # by a token of the user's, which has ended the search
            return tour, length
        run.report_counters(**summed_counters(self.stages))
        if bound is not None:
            run.report_bound(bound)
        if signals.caught is not None:  # it came while there was no run
            self.interrupt(signals.caught)
        proof, skipped = None, None
        try:
            proof, skipped = stage.run(run)
        except BaseException as error:
            proof, self.failure = getattr(error, "result", None), error
        self.failure = run.failure or self.failure
        better = proof is not None and proof.length < length
        if skipped is not None:
            self.ending = f"{before}; no proof: {skipped}"
        if proof is None or (skipped is not None and not better):
            return tour, length
        if better:
            run.offer(proof.tour)
            tour, length = _best_tour(run, self.steps[-1].method)
        if skipped is None:
            self.ending = stage.reason(proof, run, signals.caught, before)
        run.report_bound(proof.lower_bound)
        if proof.proved:
            run.report_optimal()
        self._note_proof(length)
        self.proof = proof
        return tour, length

    def close(self) -> None:
        """Let go of the tokens of other threads, and of a bound that is still being computed."""
        for run in self.runs:
            run.close()
        if self.settings.bound is not None:
            self.settings.bound.close()

    def result(self, tour: NDArray[np.int32], length: int | float, caught: int | None) -> Result:
        settings, run, stages = self.settings, self.runs[-1], self.stages
        history = _joined_history(self.runs, settings.problem.wall, length)
        tour = _from(tour, settings.first)
        best = Snapshot(history[-1].seconds, length, tour)
        snapshots = () if settings.recorder is None else settings.recorder.finish(best)
        reason = self.ending
        if reason is None:  # it may have failed in other ways than the run noted
            failed = self.failure is not run.failure
            reason = type(self.failure).__name__ if failed else self._reason()
        counters = summed_counters(stages)
        if self.proof is not None:
            counters["proof_nodes"] = self.proof.nodes
        is_search = len(self.runs) == len(stages)
        return Result(
            tour=tour,
            length=length,
            problem=settings.problem,
            known=self.known,
            lower_bound=self._lower_bound(length),
            history=history,
            counters=counters,
            seconds=run.elapsed(),
            proved_optimal=self._is_proved,
            stop_reason=reason,
            interrupted=caught is not None or (self.failure is not None if is_search else run.interrupted),
            signal=caught,
            seed=settings.seed,
            threads=settings.threads,
            method=stages[0].method,
            device=stages[0].device,
            start=settings.start,
            params=stages[0].params,
            then=self.steps[1].name if len(self.steps) > 1 else None,
            stages=tuple(stages),
            snapshots=tuple(kept._replace(tour=_from(kept.tour, settings.first)) for kept in snapshots),
        )

    def _note_proof(self, length: int | float) -> None:
        """Take the best tour for an optimal one if the method has proved that, or a bound.

        No distance is negative, so that nobody has to prove it of a tour of length 0.
        """
        run, problem = self.runs[-1], self.settings.problem
        is_reached = problem.integral and length == self._bound_value()
        if length == 0 or (is_reached and is_confirmed(problem, length)):
            run.report_optimal()
        if run.proved_optimal:
            self.known = KnownLength(problem.name, problem.n, problem.metric, length, proven=True)

    @property
    def _is_proved(self) -> bool:
        """Whether one of the methods, the bound or a proof has proved that no tour is shorter."""
        return any(run.proved_optimal for run in self.runs)

    def _lower_bound(self, length: int | float) -> int | float | None:
        if any(run.proved_optimal for run in self.runs[: len(self.stages)]):
            return bound_of_optimal(length)  # a proof has bounds of its own
        return confirmed_bound(self.settings.problem, length, self._bound_value())

    def _bound_value(self) -> int | float | None:
        """Return what the bound beside the runs, or one of their methods, has proved; None for nothing."""
        beside = None if self.settings.bound is None else self.settings.bound.value
        values = [beside, *(run.course.proved_bound for run in self.runs)]
        return max((value for value in values if value is not None), default=None)

    def _state(self) -> SearchState | None:
        """Return where the run stands, for criteria that do not begin anew with each method."""
        run = self.runs[-1]
        if run.best_length is None:
            return None
        known = None if self.known is None else self.known.length
        now = run.elapsed()
        return SearchState(now, run.best_length, -1, now, -1, known, self._bound_value())

    def _reason(self) -> str:
        """Return why the search ended, and which target it missed where that may come as a surprise."""
        criterion, reason = self.settings.criterion, self.met or self.stages[-1].stop_reason
        if criterion is None or self._is_proved or (state := self._state()) is None:
            return reason
        return "; ".join(filter(None, (reason, criterion.missed(state))))

    def _new_run(self, step: Step, begun: float, start_tour: NDArray[np.int32] | None) -> Run:
        settings = self.settings
        criterion = settings.criterion
        if criterion is None:
            criterion = _own_rule(step, self.known, begun)
        else:
            if isinstance(criterion, TargetGap) and criterion.needs_bound():
                criterion = criterion | _own_rule(step, self.known, begun)
            if step is not self.steps[-1]:
                seconds = criterion.limit().seconds
                if seconds is not None:
                    criterion = criterion | MaxRuntime(FIRST_SHARE * seconds)
        if settings.token is not None:
            criterion = criterion | settings.token
        return Run(
            settings,
            criterion,
            device=step.device,
            start=start_tour,
            known=self.known,
            start_length=self.runs[0].course.start_length if self.runs else None,
            ends_by_itself=step.ends,
            given=() if self.runs else settings.merge,
        )


def _own_rule(step: Step, known: KnownLength | None, begun: float) -> StoppingCriterion:
    """Return the criterion of a method for which none was given, and which begins at this time."""
    optimum = known.length if known is not None and known.proven else None
    return Completion(optimum) if step.ends else DefaultStop(step.n, optimum, begun, telling=step.tells)


def _joined_history(runs: list[Run], wall: int | float | None, length: int | float) -> list[HistoryPoint]:
    """Return the history of all runs, which ends with this exact length: running sums of floats drift.

    Tours with missing arcs are in it only if there are no others.
    """
    history: list[HistoryPoint] = []
    for run in runs:
        # A run begins with the tour that the one before ended with.
        history += [point for point in run.course.history if not history or point.length < history[-1].length]
    history = [point for point in history if wall is None or point.length < wall] or history
    longer = [point for point in history[:-1] if point.length > length]
    return [*longer, HistoryPoint(history[len(longer)].seconds, length)]


def summed_counters(parts: Iterable[Stage | Result]) -> dict[str, int | float]:
    """Return the sum of each figure over parts of a search."""
    counters: dict[str, int | float] = {}
    for part in parts:
        for name, value in part.counters.items():
            counters[name] = counters.get(name, 0) + value
    return counters


def _from(tour: NDArray[np.int32], city: int | None) -> NDArray[np.int32]:
    """Return a closed tour that begins with this city."""
    if city is None or tour[0] == city:
        return tour
    turned = beginning_with(tour, city)
    turned.flags.writeable = False
    return turned


def signal_name(number: int) -> str:
    return "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name


def _best_tour(run: Run, method: Method[Any]) -> tuple[NDArray[np.int32], int | float]:
    """Return the best tour of a run, from its proper first city, and its length."""
    problem = run.problem
    if run.best is None:
        run.offer(_first_aid(run))
    tour, length = run.best, run.best_length
    if tour is None or length is None:
        raise WarpTSPError(f"method {method.name} gave no tour, which is a bug; please report it")
    tour = turned_to_first(problem, tour)
    tour.flags.writeable = False
    return tour, length


def _first_aid(run: Run) -> NDArray[np.int32]:
    """Return a tour for a search that was stopped before it had its first one."""
    import warptsp._native as _native
    from warptsp.construct import construct

    logger.warning("stopped during the set-up, before the first tour: the result is a plain construction")
    start = "space-filling" if run.problem.metric.has_coordinates else "given"
    tour = construct(run.problem, start, seed=run.seed, threads=run.threads, token=_native.StopToken())
    return np.arange(run.problem.n, dtype=np.int32) if tour is None else tour
