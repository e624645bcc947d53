"""What `solve` does to prove its tour optimal."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warptsp._checks import shown
from warptsp.errors import InvalidOption
from warptsp.interruption import FirstSignal
from warptsp.problem import KnownLength
from warptsp.proof.proving import SEARCH_KICKS, SEARCH_SHARE, check_provable, prove
from warptsp.result import HistoryPoint, Result, Snapshot
from warptsp.stop import MaxKicks, MaxRuntime

if TYPE_CHECKING:
    from warptsp.checkpoint import Checkpoint
    from warptsp.problem import Problem
    from warptsp.proof import Proof
    from warptsp.stop import StoppingCriterion

__all__ = ["ProofAfter", "proof_of"]


@dataclass(frozen=True, slots=True)
class ProofAfter:
    """A proof that follows the search.

    Attributes
    ----------
    limits : StoppingCriterion or None
        Of the search, which leaves time to the proof.
    deadline : float or None
        On the monotonic clock.
    """

    limits: StoppingCriterion | None
    deadline: float | None

    def of(self, result: Result, checkpoint: Checkpoint | None, started: float) -> Result:
        """Return a result with what the proof adds, unless the search was broken off or has proved it."""
        if result.interrupted or result.proved_optimal:
            return result
        left = None if self.deadline is None else max(0.0, self.deadline - time.monotonic())
        with FirstSignal() as signals:
            proof = prove(result.problem, result.tour, time_limit=left, seed=result.seed)
            better = proof.length < result.length
            if better and checkpoint is not None:
                checkpoint.write(proof.tour, proof.length)
        seconds = time.monotonic() - started
        found = replace(
            result,
            seconds=seconds,
            proved_optimal=proof.proved,
            lower_bound=max(proof.lower_bound, result.lower_bound or 0),
            counters={**result.counters, "proof_nodes": proof.nodes},
            stop_reason=_reason(proof, signals.caught),
            interrupted=signals.caught is not None,
            signal=signals.caught,
        )
        if better:
            last = Snapshot(seconds, proof.length, proof.tour)
            found = replace(
                found,
                tour=proof.tour,
                length=proof.length,
                history=[*result.history, HistoryPoint(seconds, proof.length)],
                snapshots=(*result.snapshots, last) if result.snapshots else (),
            )
        if proof.proved:
            problem = result.problem
            known = KnownLength(problem.name, problem.n, problem.metric, found.length, proven=True)
            found = replace(found, known=known)
        return found


def proof_of(
    prove: object, problem: Problem, limits: StoppingCriterion | None, method: str, started: float
) -> ProofAfter | None:
    """Return the proof that was asked for, and what it leaves of the limits; None for none.

    Raises
    ------
    InvalidOption, UnsupportedProblem, BackendUnavailable
    """
    if not isinstance(prove, bool):
        raise InvalidOption(f"prove: {shown(prove)} is neither True nor False")
    if not prove:
        return None
    check_provable(problem)
    if limits is None:
        return ProofAfter(MaxKicks(SEARCH_KICKS * problem.n) if method == "lk" else None, None)
    seconds = limits.limit().seconds
    if seconds is None:
        return ProofAfter(limits, None)
    return ProofAfter(limits | MaxRuntime(SEARCH_SHARE * seconds), started + seconds)


def _reason(proof: Proof, caught: int | None) -> str:
    if proof.proved:
        return "proved optimal"
    return "interrupted during the proof" if caught is not None else "time limit during the proof"
