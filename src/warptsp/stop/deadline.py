"""Time limits of native work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warptsp._checks import checked_number

if TYPE_CHECKING:
    import warptsp._native as _native

__all__ = ["checked_time_limit", "token_until"]


def checked_time_limit(seconds: object) -> float:
    """Return a time limit as a float.

    Raises
    ------
    InvalidOption
        It is not a finite number, or negative.
    """
    return checked_number("time limit", seconds, minimum=0.0, what="a number of seconds, 0 or more")


def token_until(token: _native.StopToken | None, began: float, time_limit: float | None) -> _native.StopToken:
    """Return a token that stops so many seconds after `began`, a time of `time.monotonic`.

    One that is given is that token, and keeps a deadline that is earlier.
    """
    if token is None:
        from warptsp._native import StopToken

        token = StopToken()
    if time_limit is not None:
        token.set_deadline(min(token.deadline(), began + checked_time_limit(time_limit)))
    return token
