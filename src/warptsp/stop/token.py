"""Stop from another thread, and at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from warptsp._checks import shown
from warptsp.errors import InvalidOption
from warptsp.stop.criterion import SearchState, StoppingCriterion
from warptsp.stop.max_runtime import MaxRuntime

if TYPE_CHECKING:
    import warptsp._native as _native


class StopToken(StoppingCriterion):
    """Stop when another thread asks for it.

    Give the token as (part of) the stopping criterion and call `request` from anywhere: the search ends
    within milliseconds, even in the middle of its set-up, and ``solve`` returns the best tour so far. A
    token that has been used stays requested; create a new one for the next run.

    Examples
    --------
    >>> token = StopToken()
    >>> threading.Timer(5.0, token.request).start()  # doctest: +SKIP
    >>> warptsp.solve(points, stop=token)  # doctest: +SKIP
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal handler may call request while we hold it
        self._requested = False
        self._searches: list[_native.StopToken] = []

    def request(self) -> None:
        """Ask every search that uses this token to stop; safe from any thread and from signal handlers."""
        with self._lock:
            self._requested = True
            for search in self._searches:
                search.request()

    @property
    def requested(self) -> bool:
        """Whether the stop has been requested."""
        return self._requested

    @contextmanager
    def watched_by(self, search: _native.StopToken) -> Iterator[None]:
        """Pass requests on to the native token of a running search, for as long as the context lasts."""
        with self._lock:
            self._searches.append(search)
            if self._requested:
                search.request()
        try:
            yield
        finally:
            with self._lock:
                self._searches.remove(search)

    def __call__(self, state: SearchState) -> bool:
        return self._requested

    def tokens(self) -> tuple[StopToken, ...]:
        return (self,)

    def __str__(self) -> str:
        return "stop requested"

    def __repr__(self) -> str:
        return f"StopToken(requested={self._requested})"


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
