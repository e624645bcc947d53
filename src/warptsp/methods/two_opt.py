"""Best-improvement 2-opt over all pairs of links, to a tour that no pair improves.

For positions i < j the links (t[i], t[i+1]) and (t[j], t[j+1]) become (t[i], t[j]) and (t[i+1], t[j+1]), and
what lies between is reversed: n (n - 1) / 2 moves a pass, of which the best is applied. G. A. Croes,
"A method for solving traveling-salesman problems", Operations Research 6 (1958); on GPUs K. Rocki and
R. Suda, "Accelerating 2-opt and 3-opt local search using GPU in the travelling salesman problem", HPCS 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warptsp.methods.descent import Neighborhood, check_launch, descend_on_cpu, gpu_lacks, start_tour

if TYPE_CHECKING:
    from warptsp.problem import Problem
    from warptsp.run import Run

__all__ = ["TwoOptParams", "gpu_lacks", "run"]


@dataclass(frozen=True, slots=True)
class TwoOptParams:
    """Parameters of `two-opt`.

    Attributes
    ----------
    passes : int or None
        Passes after which it ends, local optimum or not; None for no limit.
    """

    passes: int | None = None

    def __post_init__(self) -> None:
        check_launch(None, None, None, self.passes)


def run(problem: Problem, run: Run) -> None:
    """Shorten the start tour to a 2-optimal one."""
    params = TwoOptParams(**run.params)
    tour = start_tour(problem, run)
    if tour is not None:
        descend_on_cpu(problem, run, Neighborhood.TWO_OPT, tour, passes=params.passes)
