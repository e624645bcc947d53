"""Stop after a time."""

from __future__ import annotations

from warptsp.stop.criterion import Limit, SearchState, StoppingCriterion
from warptsp.stop.deadline import checked_time_limit


class MaxRuntime(StoppingCriterion):
    """Stop after `seconds` of wall-clock time, counted from the call of ``solve`` until it returns.

    This includes set-up and the final check of the tour, but not reading a file beforehand. The limit is kept
    within 2 % or 0.1 s, whichever is more.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = checked_time_limit(seconds)

    def __call__(self, state: SearchState) -> bool:
        return state.elapsed >= self.seconds

    def limit(self) -> Limit:
        return Limit(seconds=self.seconds)

    def __str__(self) -> str:
        return f"time limit of {self.seconds:g} s"
