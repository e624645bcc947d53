"""Lengths and gaps as people read them: in kilometres or metres where that is known, without an exponent."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

_LEAST = Decimal("0.001")  # per cent that a gap is told with
_PLAIN = 4  # digits in front of the point that are not grouped, as the SI brochure has it


def number_text(length: int | float, *, down: bool = False) -> str:
    """A length in full if it is an integer, with ten significant digits if not; rounded down if told so.

    >>> number_text(7542), number_text(71.70492262345), number_text(12345678901.5)
    ('7542', '71.70492262', '12345678902')
    """
    if isinstance(length, int):
        return str(length)
    in_full = 1e9 <= abs(length) < 1e15
    if down and math.isfinite(length):
        ten_digits = Context(prec=10, rounding=ROUND_FLOOR)
        length = float(math.floor(length) if in_full else ten_digits.create_decimal(length))
    return f"{length:.0f}" if in_full else f"{length:.10g}"


def length_text(length: int | float, unit: str, *, digits: int = 5, down: bool = False) -> str:
    """A length with its unit.

    That is ``"m"``, ``"km"``, ``"s"`` or nothing, as `Problem.unit` has it; what is not a whole number of
    kilometres already has so many significant digits. A lower bound must be rounded down.

    >>> length_text(17429787.55, "m"), length_text(850.4, "m"), length_text(30000, "km")
    ('17 430 km', '850.40 m', '30 000 km')
    >>> length_text(3838.949640268863, "km", down=True), length_text(1e16, "km")
    ('3838.94964 km', '1e+16 km')
    >>> length_text(7530, "s"), length_text(7530.5, "s", down=True), length_text(40.5, "s")
    ('2:05 h (7530 s)', '2:05 h (7530.5 s)', '40.5 s')

    >>> length_text(math.inf, "m")  # of a tour through missing arcs
    'infinite'
    """
    if math.isinf(length):
        return "infinite"
    if unit == "s":
        exact = f"{number_text(length, down=down)} s"
        minutes = int(length // 60.0)
        return f"{minutes // 60}:{minutes % 60:02} h ({exact})" if minutes else exact
    if unit == "m":
        if abs(length) < 1000.0:
            return f"{_rounded(float(length), digits, down)} m"
        return f"{_rounded(length / 1000.0, digits, down)} km"
    if unit == "km":
        return f"{grouped(number_text(length, down=down))} km"
    return number_text(length, down=down)


def duration_text(seconds: float) -> str:
    """A time on the road, from an hour on to the minute.

    >>> duration_text(40), duration_text(90), duration_text(5400), duration_text(200000)
    ('40 s', '1 min 30 s', '1 h 30 min', '2 d 7 h 33 min')
    """
    whole = round(seconds)
    if whole >= 3600:
        whole = 60 * round(seconds / 60.0)
    parts = [(whole // 86400, "d"), (whole // 3600 % 24, "h"), (whole // 60 % 60, "min"), (whole % 60, "s")]
    return " ".join(f"{number} {unit}" for number, unit in parts if number) or "0 s"


def grouped(digits: str) -> str:
    """A number whose digits in front of the point stand in threes, if they are more than four.

    >>> grouped("1234"), grouped("12345.678")
    ('1234', '12 345.678')
    """
    whole, point, rest = digits.partition(".")
    plain = len(whole) > _PLAIN and whole.isdecimal()
    return f"{int(whole):,}".replace(",", " ") + point + rest if plain else digits


def _rounded(value: float, digits: int, down: bool) -> str:
    whole = 1 if abs(value) < 1.0 else int(math.log10(abs(value))) + 1
    decimals = max(0, min(3, digits - whole))
    if down:
        value = math.floor(value * 10.0**decimals) / 10.0**decimals
    return grouped(f"{value:.{decimals}f}")


def finite(number: int | float, digits: int | None = None) -> int | float | None:
    """Return a number, rounded to so many digits, as JSON can hold it; None for one that is infinite.

    >>> finite(2.3456, 3), finite(float("inf"))
    (2.346, None)
    """
    if not math.isfinite(number):
        return None
    return number if digits is None else round(number, digits)


def format_gap(gap: float, *, up: bool = False) -> str:
    """Write a relative gap in per cent, exact zero as ``0 %``; one that is proved must be rounded up.

    >>> format_gap(0.0123441), format_gap(0.0123441, up=True), format_gap(1e-9, up=True)
    ('1.234 %', '1.235 %', '0.001 %')
    >>> format_gap(0.07, up=True), format_gap(0.070000000001, up=True), format_gap(math.inf, up=True)
    ('7.000 %', '7.001 %', 'inf %')
    """
    if gap == 0:
        return "0 %"
    if up and gap < 1e10:  # beyond, or infinite, there are no such digits
        percent = Decimal(repr(float(gap))).scaleb(2)
        return f"{max(_LEAST, percent.quantize(_LEAST, ROUND_CEILING)):f} %"
    return f"{100.0 * gap:.3f} %"
