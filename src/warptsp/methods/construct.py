"""The start tour and nothing else: for baselines, for speed, and to look at constructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warptsp.methods.protocol import Run
    from warptsp.problem import Problem


def run(problem: Problem, run: Run) -> None:
    """Build the start tour."""
    from warptsp.construct import construct

    run.enter("start tour")
    if problem.asymmetric:
        from warptsp.methods.asymmetric import Doubled

        tour = Doubled(problem).start(run)
    else:
        tour = construct(problem, run.start, seed=run.seed, threads=run.threads, token=run.token)
    if tour is not None:
        run.offer(tour)
