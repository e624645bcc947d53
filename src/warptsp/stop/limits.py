"""Stop after a time, after a number of kicks, or when the tour has not become shorter for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from warptsp._checks import checked_count, checked_number, shown
from warptsp.errors import InvalidOption
from warptsp.stop.criterion import Limit, SearchState, StoppingCriterion, StopToken

if TYPE_CHECKING:
    import warptsp._native as _native

SECONDS = "a number of seconds, 0 or more"  # what a time is, in messages


class MaxRuntime(StoppingCriterion):
    """Stop after `seconds` of wall-clock time, counted from the call of ``solve`` until it returns.

    This includes set-up and the final check of the tour, but not reading a file beforehand. The limit is kept
    within 2 % or 0.1 s, whichever is more.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = checked_number("time limit", seconds, minimum=0.0, what=SECONDS)

    def __call__(self, state: SearchState) -> bool:
        return state.elapsed >= self.seconds

    def limit(self) -> Limit:
        return Limit(seconds=self.seconds)

    def __str__(self) -> str:
        return f"time limit of {self.seconds:g} s"


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


class NoImprovement(StoppingCriterion):
    """Stop when the best tour has not become shorter for `seconds`, or for `kicks`; give one of them."""

    def __init__(self, seconds: float | None = None, *, kicks: int | None = None) -> None:
        if (seconds is None) == (kicks is None):
            raise InvalidOption(
                "NoImprovement: give either seconds or kicks, such as NoImprovement(seconds=5)"
            )
        self.seconds, self.kicks = seconds, kicks
        if seconds is not None:
            self.seconds = checked_number("no improvement", seconds, minimum=0.0, what=SECONDS)
        if kicks is not None:
            what = "a number of kicks, 1 or more"
            self.kicks = checked_count("no improvement", kicks, minimum=1, what=what)

    def __call__(self, state: SearchState) -> bool:
        if self.kicks is not None:
            return state.kicks - state.improved_at_kicks >= self.kicks
        return self.seconds is not None and state.elapsed - state.improved_at >= self.seconds

    def __str__(self) -> str:
        span = f"{self.kicks} kicks" if self.kicks is not None else f"{self.seconds:g} s"
        return f"no improvement for {span}"


@contextmanager
def token_until(
    token: StopToken | _native.StopToken | None, began: float, time_limit: float | None
) -> Iterator[_native.StopToken]:
    """Have a native token that stops so many seconds after `began`, a time of `time.monotonic`.

    A native one that is given is that token, and keeps a deadline that is earlier. A request of a `StopToken`
    is passed on for as long as the context lasts. Raises `InvalidOption`: it is no token, or the time limit
    is none.
    """
    import warptsp._native as _native

    if not (token is None or isinstance(token, (StopToken, _native.StopToken))):
        raise InvalidOption(f"token: {shown(token)} is not a StopToken")
    native = token if isinstance(token, _native.StopToken) else _native.StopToken()
    if time_limit is not None:
        native.set_deadline(min(native.deadline(), began + MaxRuntime(time_limit).seconds))
    if isinstance(token, StopToken):
        with token.watched_by(native):
            yield native
    else:
        yield native
