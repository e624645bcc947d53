"""Angles as people write them: degrees, minutes and seconds, and the letter of a direction."""

import itertools
import re

_PART = r"(\d{1,3}(?:[.,]\d*)?)"
_ANGLE = re.compile(
    rf"""(?P<before>[NSEW])?\s*(?P<sign>[+\-\u2212])?\s*{_PART}\s*(?P<mark>[°º˚:d]|deg\b)?\s*
    (?:{_PART}\s*(?P<minutes>['\u2032\u2019\u00b4`:m]|min\b)?\s*
    (?:{_PART}\s*(?P<seconds>"|\u2033|\u201d|''|\u2032\u2032|\u2019\u2019|s\b|sec\b)?\s*)?)?
    (?P<after>[NSEW])?""",
    re.VERBOSE | re.IGNORECASE,
)
_LONGEST = 60  # characters; blanks could be matched in too many ways
_LOOKS_SO = re.compile(r"[°º˚'\u2032\u2033]|\d\s*[NSEWO]$|^[NSEWO]\s*\d", re.IGNORECASE)


def angle_of(text: str, letters: str) -> float | None:
    """The decimal degrees that a text means, such as ``52° 31' 12" N`` or ``N52.52``.

    `letters` are those of the two directions that it may have, the positive one first: ``NS`` or ``EW``. None
    for what is no angle: also a plain number, which may mean something else, and parts that do not fit, such
    as 75 minutes.
    """
    text = text.strip()
    found = _ANGLE.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        return None
    before, after, sign = found["before"], found["after"], found["sign"]
    if letters == "NS" and not after and found["seconds"] in ("s", "S") and not _is_unit(found):
        if (found["seconds"] == "S") == bool(before):
            return None  # seconds or south
        after = None if before else "S"
    letter = (before or after or "").upper()
    spans = [found.span(group) for group in (3, 5, 7) if found[group] is not None]
    parts = [text[begin:end] for begin, end in spans]
    if any(end == begin for (_, end), (begin, _) in itertools.pairwise(spans)):
        return None  # 0117.4 may be 1° 17.4', as at sea, and is no 11° 7.4'
    # Two numbers with nothing but a blank between them may be anything.
    said = letter or found["mark"] or found["minutes"] or len(parts) == 3
    whole = all(re.fullmatch(r"\d+", part) for part in parts[:-1])
    if not said or not whole or (before and after) or (letter and (sign or letter not in letters)):
        return None
    values = [float(part.replace(",", ".")) for part in parts]
    if any(value >= 60.0 for value in values[1:]):
        return None
    # Rounded once: 52° 31' 12" are the number that 52.52 is.
    angle = sum(value * 60.0**power for power, value in enumerate(reversed(values))) / 60.0 ** (
        len(values) - 1
    )
    return -angle if letter == letters[1] or sign in ("-", "\u2212") else angle


def _is_unit(found: re.Match[str]) -> bool:
    """Whether the ``s`` behind the seconds is their unit, as a ``d`` and an ``m`` before it say."""
    marks = found["mark"], found["minutes"]
    if None in marks or not "".join(marks).isalpha():
        return False
    return "".join(marks).isupper() == found["seconds"].isupper()


def hint_of_angle(text: str, letters: str = "") -> str:
    """What to write in place of something that looks like an angle and is none; nothing for other texts."""
    if len(text) > _LONGEST or not _LOOKS_SO.search(text):
        return ""
    if letters == "EW" and re.search(r"(^|\d\W*)O(\W*\d|$)", text.upper()):
        return " (O may be Ost or Oeste: write E or W)"
    if not letters:
        return " (decimal degrees, such as 52.52)"
    return f" (degrees, such as 52.52 or 52° 31' 12\" {letters[0]})"
