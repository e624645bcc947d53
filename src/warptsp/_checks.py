"""Checks of what users give, and how messages show it."""

import math
import operator

from warptsp.errors import BackendUnavailable, InvalidOption

_SHOWN = 60  # characters of a value in a message


def shown(value: object) -> str:
    """A value for a message, on one line and not too long, whatever it is."""
    try:
        text = repr(value)
    except Exception:  # an integer of more digits than Python writes, or an object's own fault
        text = f"a value of type {type(value).__name__}"
    return short(text)


def short(text: str, limit: int = _SHOWN) -> str:
    """A text for a message, on one line and of so many characters at most."""
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def checked_number(name: str, value: object, *, minimum: float, what: str) -> float:
    """Return `value` as a finite float of at least `minimum`, or raise `InvalidOption` naming it."""
    if isinstance(value, (str, bytes, bool)):
        number = math.nan
    else:
        try:
            number = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            number = math.nan
    if not minimum <= number < math.inf:
        raise InvalidOption(f"{name}: {shown(value)} is not {what}")
    return number


def checked_count(name: str, value: object, *, minimum: int, what: str, maximum: int = (1 << 63) - 1) -> int:
    """Return `value` as an int from `minimum` to `maximum`, or raise `InvalidOption` naming it."""
    number = _index(value)
    if number is not None and number > maximum:
        raise InvalidOption(f"{name}: {shown(value)} is too large: the maximum is {maximum}")
    if number is None or number < minimum:
        raise InvalidOption(f"{name}: {shown(value)} is not {what}")
    return number


def checked_whole(name: str, value: object, least: int, most: int) -> int:
    """Return a whole number of a range as an int, or raise `InvalidOption` naming it."""
    number = _index(value)
    if number is None or not least <= number <= most:
        raise InvalidOption(f"{name}: {shown(value)} is not possible, it must lie between {least} and {most}")
    return number


def check_ranges(options: object, **ranges: tuple[float, float | None]) -> None:
    """Accept options that are None or in their ranges, whose ends belong to them, or raise `InvalidOption`.

    A range whose end is None has none.
    """
    for name, (least, most) in ranges.items():
        value = getattr(options, name)
        if value is not None and not least <= value <= (math.inf if most is None else most):
            what = f"{least} or more" if most is None else f"between {least} and {most}"
            raise InvalidOption(f"{name}: {shown(value)} is not {what}")


def check_on_interrupt(on_interrupt: object) -> None:
    """Accept what a call is told to do about signals, or raise `InvalidOption`."""
    if on_interrupt is not None and on_interrupt not in ("raise", "return"):
        raise InvalidOption(f'on_interrupt: {shown(on_interrupt)} is neither "raise" nor "return"')


def not_installed(needed: str, extra: str, instead: str = "") -> BackendUnavailable:
    """The error where a package that an extra brings is not there; what it is `needed` for begins it."""
    return BackendUnavailable(f"{needed}, which is not installed: pip install 'warptsp[{extra}]'{instead}")


def _index(value: object) -> int | None:
    try:
        return None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None
