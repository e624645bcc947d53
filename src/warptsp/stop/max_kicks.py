"""Stop after a number of kicks."""

from __future__ import annotations

from warptsp._checks import checked_count
from warptsp.stop.criterion import Limit, SearchState, StoppingCriterion


class MaxKicks(StoppingCriterion):
    """Stop after `kicks` perturbations of the tour, each followed by its local search.

    This is the criterion for repeatable runs: with the same seed and number of threads it gives the same
    tour. 0 stops at the first local optimum.
    """

    def __init__(self, kicks: int) -> None:
        self.kicks = checked_count("kicks", kicks, minimum=0, what="a whole number of kicks, 0 or more")

    def __call__(self, state: SearchState) -> bool:
        return state.kicks >= self.kicks

    def limit(self) -> Limit:
        return Limit(kicks=self.kicks)

    def __str__(self) -> str:
        return f"limit of {self.kicks} kicks"
