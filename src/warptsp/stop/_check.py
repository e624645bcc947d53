"""Checks of the numbers that criteria are made of."""

from __future__ import annotations

import math
import operator

from warptsp.errors import InvalidOption


def checked_number(name: str, value: object, *, minimum: float, what: str) -> float:
    """Return `value` as a finite float of at least `minimum`, or raise `InvalidOption` naming it."""
    if isinstance(value, (str, bytes, bool)):
        number = math.nan
    else:
        try:
            number = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            number = math.nan
    if not minimum <= number < math.inf:
        raise InvalidOption(f"{name}: {value!r} is not {what}")
    return number


def checked_count(name: str, value: object, *, minimum: int, what: str) -> int:
    """Return `value` as an int of at least `minimum`, or raise `InvalidOption` naming it."""
    try:
        number = minimum - 1 if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = minimum - 1
    if number < minimum:
        raise InvalidOption(f"{name}: {value!r} is not {what}")
    return number
