"""What `solve` does to prove its tour optimal."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warptsp._checks import shown
from warptsp.claims import confirmed_bound
from warptsp.errors import InvalidOption, InvalidTour, OutputError, ParseError
from warptsp.interruption import FirstSignal
from warptsp.outputs import check_writable, is_stream
from warptsp.problem import KnownLength
from warptsp.progress import Progress
from warptsp.proof.linear_program import has_solver
from warptsp.proof.proving import (
    SEARCH_KICKS,
    SEARCH_SHARE,
    ProofOptions,
    check_provable,
    prove_with,
    prove_within,
    skipped,
)
from warptsp.result import HistoryPoint, Result, Snapshot
from warptsp.run import PROVED
from warptsp.solver.stages import beginning_with, signal_name
from warptsp.stop import MaxKicks, MaxRuntime
from warptsp.stop.callback import is_true
from warptsp.stop.share import Share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from warptsp.problem import Problem
    from warptsp.proof import Proof, ProofProgress
    from warptsp.run.checkpoint import Checkpoint
    from warptsp.solver.options import Step
    from warptsp.stop import StoppingCriterion

    Callback = Callable[[Progress], object]

__all__ = ["Heard", "ProofAfter", "proof_of"]

logger = logging.getLogger(__name__)

UNASKED_CITIES = 200
UNASKED_SECONDS = 0.5
UNASKED_SHARE = 0.1  # of a time limit
TOLD_EVERY = 0.2  # seconds
BEFORE = "end of the search before the proof"


def proof_beside(tour: str | os.PathLike[str]) -> str | None:
    """Return the file that keeps a proof where this one keeps the tour; None beside devices and streams."""
    name = os.fspath(tour)
    is_special = name == "-" or is_stream(name) or (os.path.exists(name) and not os.path.isfile(name))
    return None if is_special else f"{name}.proof"


class Heard:
    """A callback that remembers whether it has ended the search: no proof shall follow then."""

    def __init__(self, callback: Callback) -> None:
        self._callback = callback
        self.ended = False

    def __call__(self, progress: Progress) -> object:
        answer = self._callback(progress)
        self.ended = self.ended or is_true(answer) or isinstance(answer, str)
        return answer


@dataclass(frozen=True, slots=True)
class ProofAfter:
    """A proof that follows the search.

    Attributes
    ----------
    limits : StoppingCriterion or None
        Of the search, which leaves time to the proof.
    deadline : float or None
        On the monotonic clock.
    threads : int
    at_most : float or None
        Seconds for a proof that nobody has asked for.
    tree : bool
        False: the bound of the root is wanted, and no more.
    search : bool
        Whether the proof goes on with the search first, of which there was little.
    resume : str or None
        The checkpoint of an earlier proof, from which this one goes on.
    """

    limits: StoppingCriterion | None
    deadline: float | None
    threads: int = 1
    at_most: float | None = None
    tree: bool = True
    search: bool = False
    resume: str | None = None

    def of(
        self, result: Result, checkpoint: Checkpoint | None, callback: Callback | None, started: float
    ) -> Result:
        """Return a result with what the proof adds, unless the search was broken off or has proved it.

        A proof that fails is skipped, and `Result.stop_reason` says why.

        Raises
        ------
        BaseException
            What the callback raised, a second Ctrl-C, or an `OutputError`, with the result in its attribute
            ``result``.
        """
        if result.interrupted:
            if result.signal is not None and result.stop_reason == BEFORE:
                return replace(result, stop_reason=signal_name(result.signal))
            return result
        if result.proved_optimal or (self.at_most is not None and result.gap == 0):
            proved_by_share = result.proved_optimal and result.stop_reason == BEFORE
            return replace(result, stop_reason=PROVED) if proved_by_share else result
        left = None if self.deadline is None else max(0.0, self.deadline - time.monotonic())
        limit = None if self.deadline is None else self.deadline - started
        told = _Told(result, checkpoint, callback, started, limit)
        failed: str | None = None  # why the proof is skipped
        with FirstSignal() as signals:
            try:
                proof = self._proof(result, checkpoint, left, told)
                failed = None if proof is None else proof.skipped
            except BaseException as error:
                proof = getattr(error, "result", None)
                if isinstance(error, Exception) and not isinstance(error, OutputError):
                    failed = skipped(error)
                else:  # the second Ctrl-C; or a file that cannot be written: all that was proved is there
                    told.failure = error
            better = proof is not None and proof.length < result.length
            if proof is not None and better and checkpoint is not None:
                try:
                    checkpoint.write(_begun_as(result, proof.tour), proof.length)
                except OutputError as error:
                    told.failure = told.failure or error
        seconds = time.monotonic() - started
        if proof is None or (failed is not None and not better):
            if failed is not None:
                result = replace(result, seconds=seconds, stop_reason=_without(result, failed))
            if told.failure is not None:
                told.failure.result = result  # type: ignore[attr-defined]
                raise told.failure
            return result
        wall, length = result.problem.wall, min(proof.length, result.length)
        found = replace(
            result,
            seconds=seconds,
            proved_optimal=proof.proved,
            lower_bound=confirmed_bound(
                result.problem, length, max(proof.lower_bound, result.lower_bound or 0)
            ),
            counters={**result.counters, "proof_nodes": proof.nodes},
            stop_reason=(
                self._reason(result, proof, signals.caught, told)
                if failed is None
                else _without(result, failed)
            ),
            interrupted=signals.caught is not None or told.answer is not None,
            signal=signals.caught,
        )
        if better:
            tour = _begun_as(result, proof.tour)
            last = Snapshot(seconds, length, tour)
            history = [*result.history, HistoryPoint(seconds, length)]
            found = replace(
                found,
                tour=tour,
                length=length,
                history=[point for point in history if wall is None or point.length < wall] or history,
                snapshots=(*result.snapshots, last) if result.snapshots else (),
            )
        if proof.proved:
            problem = result.problem
            known = KnownLength(problem.name, problem.n, problem.metric, found.length, proven=True)
            found = replace(found, known=known)
        if told.failure is not None:
            told.failure.result = found  # type: ignore[attr-defined]
            raise told.failure
        return found

    def _proof(
        self, result: Result, checkpoint: Checkpoint | None, left: float | None, told: _Told
    ) -> Proof | None:
        if self.at_most is None:
            options = ProofOptions(
                search=self.search,
                time_limit=left,
                seed=result.seed,
                threads=self.threads,
                tree=self.tree,
                callback=told.take,
                resume=self.resume,
            )
            if checkpoint is not None and (kept := proof_beside(checkpoint.path)) is not None:
                options = replace(options, checkpoint=kept, checkpoint_interval=checkpoint.interval)
            try:
                return prove_with(options, result.problem, result.tour, time.monotonic())
            except (ParseError, InvalidTour) as error:  # it was not named, but only lay beside the tour
                logger.warning("the proof begins anew: %s", error)
            anew = replace(options, resume=None, search=True)
            return prove_with(anew, result.problem, result.tour, time.monotonic())
        seconds = self.at_most if left is None else min(left, self.at_most)
        return prove_within(result.problem, result.tour, seconds, seed=result.seed, threads=self.threads)

    def _reason(self, result: Result, proof: Proof, caught: int | None, told: _Told) -> str:
        if proof.proved:
            return PROVED
        if caught is not None:
            return "interrupted during the proof"
        if told.answer is not None:
            return told.answer
        if self.at_most is None:
            if self.deadline is not None and time.monotonic() >= self.deadline:
                return "time limit during the proof"
            return "end of a proof that is left open" if self.tree else "bound of the linear programmes"
        return result.stop_reason


def _without(result: Result, failed: str) -> str:
    """Say why a search has ended, and why no proof has followed."""
    return f"{result.stop_reason}; no proof: {failed}"


class _Told:
    """Tells a run's callback where the proof is, and keeps its tours."""

    def __init__(
        self,
        result: Result,
        checkpoint: Checkpoint | None,
        callback: Callback | None,
        started: float,
        time_limit: float | None,
    ) -> None:
        self._result, self._callback, self._started, self._limit = result, callback, started, time_limit
        self._checkpoint = checkpoint
        self._length = result.length
        self._next = 0.0
        self.answer: str | None = None
        self.failure: BaseException | None = None

    def take(self, proof: ProofProgress) -> bool:
        """Tell it, if it is time for that; whether the proof shall end."""
        if self._checkpoint is not None and self._checkpoint.due(proof.length, None):
            try:
                self._checkpoint.write(_begun_as(self._result, proof.tour()), proof.length)
            except OutputError as error:  # a full disk must not cost the proof
                logger.warning("checkpoint not written: %s", error)
        now = time.monotonic()
        if self._callback is None or now < self._next:
            return False
        self._next = now + TOLD_EVERY
        try:
            answer = self._callback(self._event(proof, now - self._started))
        except BaseException as error:  # also KeyboardInterrupt: kept, and raised with the result
            self.failure, self.answer = error, "the callback raised"
        else:
            if is_true(answer) or isinstance(answer, str):
                self.answer = "the callback returned True" if is_true(answer) else str(answer)
        return self.answer is not None

    def _event(self, proof: ProofProgress, elapsed: float) -> Progress:
        result, known = self._result, self._result.known
        improved, self._length = proof.length < self._length, proof.length
        counts = {
            "nodes": proof.nodes,
            "open_nodes": proof.open_nodes,
            "edges": proof.edges,
            "cuts": proof.cuts,
        }
        return Progress(
            elapsed=elapsed,
            length=proof.length,
            kicks=result.kicks,
            improved=improved,
            phase="proof",
            time_limit=self._limit,
            kick_limit=None,
            known_length=None if known is None else known.length,
            counters={**result.counters, **{f"proof_{name}": count for name, count in counts.items()}},
            tour=proof.tour,
            start_length=result.history[0].length if result.history else None,
            known_length_is_optimal=known is not None and known.proven,
            lower_bound=confirmed_bound(
                result.problem, proof.length, max(proof.lower_bound, result.lower_bound or 0)
            ),
            unit=result.problem.metric.unit,
        )


def _begun_as(result: Result, tour: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return a tour of a proof from the city on with which the result's begins; a path as it is."""
    return tour if result.problem.open is not None else beginning_with(tour, int(result.tour[0]))


def proof_of(
    wanted: object,
    bound: object,
    problem: Problem,
    limits: StoppingCriterion | None,
    steps: Sequence[Step],
    started: float,
    threads: int,
    start: object,
    checkpoint: object,
) -> ProofAfter | None:
    """Return the proof that was asked for, or its bound alone, and what it leaves of the limits; or None.

    It goes on from an earlier one where the search starts from a checkpoint with a proof beside it.

    Raises
    ------
    InvalidOption, UnsupportedProblem, BackendUnavailable
    OutputError
        There cannot be a file for the proof beside the checkpoint.
    """
    if wanted != "auto" and not isinstance(wanted, bool):
        raise InvalidOption(f'prove: {shown(wanted)} is neither True, False nor "auto"')
    tree = wanted is True
    if not tree and (problem.asymmetric or not isinstance(bound, str) or bound != "lp"):
        return _unasked(problem, limits, steps, started, threads) if wanted == "auto" else None
    check_provable(problem)
    if isinstance(checkpoint, (str, os.PathLike)) and (kept := proof_beside(checkpoint)) is not None:
        check_writable(kept)
    resume = proof_beside(start) if isinstance(start, (str, os.PathLike)) and os.path.isfile(start) else None
    if resume is not None and not os.path.isfile(resume):
        resume = None
    few = Share(MaxKicks(SEARCH_KICKS * problem.n), BEFORE) if steps[0].method.name == "lk" else None
    after = ProofAfter(limits, None, threads=threads, tree=tree, resume=resume)
    if limits is None:
        return replace(after, limits=few, search=few is not None and resume is None)
    seconds = limits.limit().seconds
    if seconds is None:
        return after
    shared = limits | Share(MaxRuntime(SEARCH_SHARE * seconds), BEFORE)
    if resume is not None and few is not None:  # which has searched before
        shared = shared | few
    return replace(after, limits=shared, deadline=started + seconds)


def _unasked(
    problem: Problem, limits: StoppingCriterion | None, steps: Sequence[Step], started: float, threads: int
) -> ProofAfter | None:
    """Return a short proof where one is likely to succeed and disturbs nothing, such as repeatability."""
    search = steps[0]
    if problem.n > UNASKED_CITIES or problem.asymmetric or len(steps) > 1 or not has_solver():
        return None
    if search.method.name != "lk" or search.outer is not None:
        return None
    if limits is None:
        return ProofAfter(None, None, threads=threads, at_most=UNASKED_SECONDS)
    if not isinstance(limits, MaxRuntime):
        return None
    seconds = min(UNASKED_SECONDS, UNASKED_SHARE * limits.seconds)
    share = Share(MaxRuntime(limits.seconds - seconds), str(limits))
    return ProofAfter(share, started + limits.seconds, threads=threads, at_most=seconds)
