"""Stop when the tour has not become shorter for a while."""

from __future__ import annotations

from warptsp._checks import checked_count, checked_number
from warptsp.errors import InvalidOption
from warptsp.stop.criterion import SearchState, StoppingCriterion


class NoImprovement(StoppingCriterion):
    """Stop when the best tour has not become shorter for `seconds`, or for `kicks`; give one of them."""

    def __init__(self, seconds: float | None = None, *, kicks: int | None = None) -> None:
        if (seconds is None) == (kicks is None):
            raise InvalidOption(
                "NoImprovement: give either seconds or kicks, such as NoImprovement(seconds=5)"
            )
        self.seconds: float | None = None
        self.kicks: int | None = None
        if seconds is not None:
            self.seconds = checked_number(
                "no improvement", seconds, minimum=0.0, what="a number of seconds, 0 or more"
            )
        if kicks is not None:
            self.kicks = checked_count(
                "no improvement", kicks, minimum=1, what="a number of kicks, 1 or more"
            )

    def __call__(self, state: SearchState) -> bool:
        if self.kicks is not None:
            return state.kicks - state.improved_at_kicks >= self.kicks
        return self.seconds is not None and state.elapsed - state.improved_at >= self.seconds

    def __str__(self) -> str:
        span = f"{self.kicks} kicks" if self.kicks is not None else f"{self.seconds:g} s"
        return f"no improvement for {span}"
