"""What `solve` does to prove its tour optimal."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from warptsp._checks import shown
from warptsp.errors import InvalidOption, InvalidTour, OutputError, ParseError
from warptsp.methods.protocol import best_of
from warptsp.outputs import check_writable
from warptsp.problem import Problem
from warptsp.proof.linear_program import has_solver
from warptsp.run import PROVED, Run
from warptsp.run.checkpoint import proof_beside
from warptsp.solver.options import Step
from warptsp.stop import MaxKicks, MaxRuntime, StoppingCriterion
from warptsp.stop.default import BEFORE_PROOF, Completion, Share

if TYPE_CHECKING:  # what proves is imported once there is something to prove
    import numpy as np
    from numpy.typing import NDArray

    from warptsp.proof import Proof, ProofProgress

logger = logging.getLogger(__name__)

UNASKED_CITIES = 200
UNASKED_SECONDS = 0.5
UNASKED_SHARE = 0.1  # of a time limit
UNASKED_LEAST = 0.02  # seconds, below which there is no trying: the first import takes as long
TOLD_EVERY = 0.2  # seconds


@dataclass(frozen=True, slots=True)
class ProofStage:
    """A proof that follows the search, and reports to a run as methods do."""

    criterion: StoppingCriterion | None  # of the search, which leaves time to the proof
    deadline: float | None  # on the monotonic clock
    threads: int = 1
    at_most: float | None = None  # seconds for a proof that nobody has asked for
    tree: bool = True  # False: the bound of the root is wanted, and no more
    search: bool = False  # whether the proof goes on with the search first, of which there was little
    resume: str | None = None  # the checkpoint of an earlier proof, from which this one goes on

    def ends(self, started: float) -> StoppingCriterion:
        """Return what ends the run of the proof, in a call that has started then: time, and tokens."""
        end = Completion() if self.deadline is None else MaxRuntime(self.deadline - started)
        tokens = () if self.criterion is None else self.criterion.tokens()
        return reduce(or_, tokens, end)

    def run(self, run: Run) -> tuple[Proof | None, str | None]:
        """Prove that the best tour of a run is optimal, or find one that is.

        Returns the proof and, where it was given up for that, what went wrong, in a line. Raises
        `BaseException`, such as a second Ctrl-C or an `OutputError`, with what was proved in its attribute
        ``result``.
        """
        try:
            proof = self._proof(run, best_of(run)[0])
        except OutputError:
            raise
        except Exception as error:
            from warptsp.proof.proving import skipped

            return None, skipped(error)
        return proof, None if proof is None else proof.skipped

    def _proof(self, run: Run, tour: NDArray[np.int32]) -> Proof | None:
        problem = run.problem
        if self.at_most is not None and not has_solver():
            return None
        from warptsp.proof.proof import ProofOptions
        from warptsp.proof.proving import prove_with, prove_within

        left = run.remaining()
        if self.at_most is not None:
            seconds = self.at_most if left is None else min(left, self.at_most)
            return prove_within(problem, tour, seconds, seed=run.seed, threads=self.threads, token=run.token)
        options = ProofOptions(
            search=self.search,
            time_limit=left,
            seed=run.seed,
            threads=self.threads,
            tree=self.tree,
            token=run.token,
            callback=_reports(run),
            resume=self.resume,
        )
        checkpoint = run.settings.checkpoint
        if checkpoint is not None and (kept := proof_beside(checkpoint.path)) is not None:
            options = replace(options, checkpoint=kept, checkpoint_interval=checkpoint.interval)
        try:
            return prove_with(options, problem, tour, time.monotonic())
        except (ParseError, InvalidTour) as error:  # it was not named, but only lay beside the tour
            logger.warning("the proof begins anew: %s", error)
        anew = replace(options, resume=None, search=True)
        return prove_with(anew, problem, tour, time.monotonic())

    def reason(self, proof: Proof, run: Run, caught: int | None, before: str) -> str:
        """Say why a proof has ended; `before` is why the search has."""
        if proof.proved:
            return PROVED
        if caught is not None:
            return "interrupted during the proof"
        if run.interrupted and run.stop_reason is not None:
            return run.stop_reason
        if self.at_most is not None:
            return before
        left = run.remaining()
        if left is not None and left <= 0.0:
            return "time limit during the proof"
        if run.token.requested():
            return "stop requested during the proof"
        return "end of a proof that is left open" if self.tree else "bound of the linear programmes"


def _reports(run: Run) -> Callable[[ProofProgress], bool]:
    """Return what tells a run where a proof is, now and then, and whether the proof shall end."""
    due = 0.0

    def told(proof: ProofProgress) -> bool:
        nonlocal due
        if (now := time.monotonic()) < due:
            return False
        due = now + TOLD_EVERY
        run.report_bound(proof.lower_bound)
        return run.update(
            length=run.problem.length(proof.tour()),
            kicks=int(run.counters["kicks"]),
            tour=proof.tour,
            phase="proof",
            proof_nodes=proof.nodes,
            proof_open_nodes=proof.open_nodes,
            proof_edges=proof.edges,
            proof_cuts=proof.cuts,
        )

    return told


def proof_of(
    wanted: object,
    bound: object,
    problem: Problem,
    criterion: StoppingCriterion | None,
    steps: Sequence[Step],
    started: float,
    threads: int,
    start: object,
    checkpoint: object,
) -> ProofStage | None:
    """Return the proof that was asked for, or its bound alone, and what it leaves of the limits; or None.

    It goes on from an earlier one where the search starts from a checkpoint with a proof beside it. Raises
    `OutputError`: there cannot be a file for the proof beside the checkpoint.
    """
    if wanted != "auto" and not isinstance(wanted, bool):
        raise InvalidOption(f'prove: {shown(wanted)} is neither True, False nor "auto"')
    tree = wanted is True
    if not tree and (problem.asymmetric or not isinstance(bound, str) or bound != "lp"):
        return _unasked(problem, criterion, steps, started, threads) if wanted == "auto" else None
    from warptsp.proof.proving import SEARCH_KICKS, SEARCH_SHARE, check_provable, provable_count

    check_provable(problem)
    if isinstance(checkpoint, (str, os.PathLike)) and (kept := proof_beside(checkpoint)) is not None:
        check_writable(kept)
    resume = proof_beside(start) if isinstance(start, (str, os.PathLike)) and os.path.isfile(start) else None
    if resume is not None and not os.path.isfile(resume):
        resume = None
    kicks = MaxKicks(SEARCH_KICKS * provable_count(problem))
    few = Share(kicks, BEFORE_PROOF) if steps[0].method.name == "lk" else None
    after = ProofStage(criterion, None, threads=threads, tree=tree, resume=resume)
    if criterion is None:
        return replace(after, criterion=few, search=few is not None and resume is None)
    seconds = criterion.limit().seconds
    if seconds is None:
        return after
    shared = criterion | Share(MaxRuntime(SEARCH_SHARE * seconds), BEFORE_PROOF)
    if resume is not None and few is not None:  # which has searched before
        shared = shared | few
    return replace(after, criterion=shared, deadline=started + seconds)


def _unasked(
    problem: Problem, criterion: StoppingCriterion | None, steps: Sequence[Step], started: float, threads: int
) -> ProofStage | None:
    """Return a short proof where one is likely to succeed and disturbs nothing, such as repeatability."""
    search = steps[0]
    if problem.n > UNASKED_CITIES or problem.asymmetric or len(steps) > 1:
        return None
    if search.method.name != "lk" or search.outer is not None or problem.n < search.method.min_cities:
        return None
    if criterion is None:
        return ProofStage(None, None, threads=threads, at_most=UNASKED_SECONDS)
    if not isinstance(criterion, MaxRuntime) or not has_solver():
        return None
    seconds = min(UNASKED_SECONDS, UNASKED_SHARE * criterion.seconds)
    if seconds < UNASKED_LEAST:
        return None
    share = Share(MaxRuntime(criterion.seconds - seconds), str(criterion))
    return ProofStage(share, started + criterion.seconds, threads=threads, at_most=seconds)
