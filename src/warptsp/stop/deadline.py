"""Time limits of native work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from warptsp._checks import checked_number, shown
from warptsp.errors import InvalidOption
from warptsp.stop.token import StopToken

if TYPE_CHECKING:
    import warptsp._native as _native


def checked_time_limit(seconds: object) -> float:
    """Return a time limit as a float. Raises `InvalidOption`: it is not a finite number, or negative."""
    return checked_number("time limit", seconds, minimum=0.0, what="a number of seconds, 0 or more")


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
        native.set_deadline(min(native.deadline(), began + checked_time_limit(time_limit)))
    if isinstance(token, StopToken):
        with token.watched_by(native):
            yield native
    else:
        yield native
