"""What the values of options mean: times, speeds, gaps."""

import re

import click

from warptsp._checks import shown
from warptsp.errors import InvalidOption

_UNITS = {  # in seconds, and what they are called
    "d": (86400.0, "d|days?"),
    "h": (3600.0, "h|hrs?|hours?"),
    "m": (60.0, "m|mins?|minutes?"),
    "s": (1.0, "s|secs?|seconds?"),
    "ms": (0.001, "ms|msecs?|milliseconds?"),
}
_NAMES = "|".join(f"(?P<{unit}>{names})" for unit, (_, names) in _UNITS.items())
_TIME = re.compile(rf"(\d+\.?\d*(?:e[-+]?\d+)?|\.\d+)\s*({_NAMES}|)(?![a-z])\s*")
_SPEEDS = {"": 1.0, "km/h": 1.0, "kmh": 1.0, "kph": 1.0, "mph": 1.609344, "m/s": 3.6, "kn": 1.852}


def seconds_in(text: str) -> float | None:
    """The seconds that a text means: with units, from the largest to the smallest, or ``HH:MM:SS``.

    >>> seconds_in("1m30s"), seconds_in("1h30"), seconds_in("00:01:30"), seconds_in("10sec")
    (90.0, 5400.0, 90.0, 10.0)
    """
    text = text.strip().lower()
    if (clock := re.fullmatch(r"(\d+):([0-5]\d):([0-5]\d(?:\.\d*)?)", text)) is not None:
        return int(clock[1]) * 3600.0 + int(clock[2]) * 60.0 + float(clock[3])
    total, at, last = 0.0, 0, ""
    order = list(_UNITS)
    while at < len(text) or not at:
        part = _TIME.match(text, at)
        if part is None or (last and part[2] == "" and last not in "hm"):
            return None
        # What has no unit behind hours are minutes, and so on.
        behind = order[order.index(last) + 1] if last else "s"
        unit = next((name for name in order if part[name]), behind)
        if last and order.index(unit) <= order.index(last):
            return None
        total, at, last = total + float(part[1]) * _UNITS[unit][0], part.end(), unit
    return total


def seconds(text: str, wanted: str = "a time such as 10, 0.5, 90s, 1m30s or 2h") -> float:
    """A time: ``10``, ``0.5``, ``90s``, ``5 min``, ``1m30s``, ``1h30`` or ``00:01:30``."""
    found = seconds_in(text)
    if found is None:
        raise click.BadParameter(f"{text!r} is not {wanted}")
    return found


def stop_time(text: str) -> float:
    """A time with its unit: who stops for 5 may mean minutes."""
    if re.fullmatch(r"\s*\d*\.?\d*\s*", text) and text.strip("0. "):
        raise click.BadParameter(f"{text!r} has no unit: write {text}m for minutes or {text}s for seconds")
    return seconds(text, "a time such as 5m, 90s or 1m30s")


def bound_time(text: str) -> str | float:
    """What a lower bound may take, as `warptsp.solve` has it: a time, ``auto``, or ``none``; or ``lp``."""
    if text in ("auto", "lp", "none"):
        return text if text != "none" else False
    return seconds(text, "auto, lp, none, nor a time such as 10, 0.5, 90s, 1m30s or 2h")


def speed(text: str) -> float:
    """A speed in kilometres per hour, or with its unit: ``60``, ``60km/h``, ``37mph``, ``5 m/s``."""
    found = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([a-z/]*)\s*", text.lower())
    if found is None or found[2] not in _SPEEDS or float(found[1]) <= 0.0:
        raise click.BadParameter(f"{text!r} is not a speed such as 60, 60km/h, 37mph or 5m/s")
    return float(found[1]) * _SPEEDS[found[2]]


def gap(text: str) -> tuple[float, str | None]:
    """A gap in per cent, ``0.8``, or one to the lower bound, ``0.8%bound``, as `TargetGap` takes it."""
    number, percent, reference = text.partition("%")
    try:
        if reference not in ("", "bound") or (percent and not reference):
            raise ValueError
        return float(number), reference or None
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is not a number of per cent, such as 0.8, nor one to the lower bound, 0.8%bound"
        ) from None


def numbers(text: str) -> tuple[float, ...]:
    """Numbers with commas between them: ``0,0``."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a list of numbers such as 0,0") from None


def parse_params(texts: tuple[str, ...]) -> dict[str, str]:
    """Turn ``NAME=VALUE`` texts into a dict."""
    params: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise InvalidOption(f"--param {shown(text)}: write NAME=VALUE")
        if name.strip() in params:
            raise InvalidOption(f"--param: {shown(name.strip())} is given twice")
        params[name.strip()] = value.strip()
    return params
