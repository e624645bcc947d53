"""Stop after a time."""

from __future__ import annotations

from warptsp._checks import checked_number
from warptsp.stop.criterion import Limit, SearchState, StoppingCriterion


class MaxRuntime(StoppingCriterion):
    """Stop after `seconds` of wall-clock time, counted from the call of ``solve`` until it returns.

    This includes set-up and the final check of the tour, but not reading a file beforehand. The limit is kept
    within 2 % or 0.1 s, whichever is more.
    """

    def __init__(self, seconds: float) -> None:
        what = "a number of seconds, 0 or more"
        self.seconds = checked_number("time limit", seconds, minimum=0.0, what=what)

    def __call__(self, state: SearchState) -> bool:
        return state.elapsed >= self.seconds

    def limit(self) -> Limit:
        return Limit(seconds=self.seconds)

    def __str__(self) -> str:
        return f"time limit of {self.seconds:g} s"
