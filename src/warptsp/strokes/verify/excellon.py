"""What a drill file does: holes and slots, each with its tool and its unit, between the lines that stay."""

import re
from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np

from warptsp.strokes.verify.work import NotVerified, Rules, matched, overlaps_in_order

_LETTERS = b"0123456789.+-"
# What unit a line says, in mm, and how many digits are in front of the point and behind it.
_UNITS = {b"METRIC": (1.0, 3, 3), b"M71": (1.0, 3, 3), b"INCH": (25.4, 2, 4), b"M72": (25.4, 2, 4)}
_UNKNOWN, _ABSURD = 0.5, 50.0  # mm: a tool of which no diameter is told, or one so large, is taken as 0.5


@dataclass(slots=True)
class _Numbers:
    """What lines between holes say of numbers and tools."""

    mm: float | None = None
    digits: tuple[int, int] = (2, 4)
    counted: bool = False
    trailing: bool = True  # whether the last digit of a number is that of its last place
    tool: bytes = b""
    tools: dict[bytes, tuple[float, float | None]] = field(default_factory=dict)

    def hear(self, line: bytes) -> None:
        tool = re.match(rb"T0*(\d+)", line)
        if tool:
            self.tool = tool[1]
            if diameter := re.search(rb"C(\d+\.?\d*|\.\d+)(?![\d.])", line):
                self.tools[self.tool] = float(diameter[1]), self.mm
        if comment := re.match(rb";.*FORMAT=\{?(\d):(\d)", line):
            self.digits, self.counted = (int(comment[1]), int(comment[2])), True
        for name, (mm, *digits) in _UNITS.items():
            if line.startswith(name):
                zeros = re.search(rb",(0+)\.(0+)", line)
                self.mm = mm
                if zeros:
                    self.digits, self.counted = (len(zeros[1]), len(zeros[2])), True
                elif not self.counted:
                    self.digits = (digits[0], digits[1])
                if b",LZ" in line or b",TZ" in line:
                    self.trailing = b",LZ" not in line

    def value(self, text: bytes) -> float:
        if b"." in text:
            return float(text)
        number = text.lstrip(b"+-")
        if not number:
            raise NotVerified("is not written: a hole has no X or no Y")
        number = number if self.trailing else number.ljust(sum(self.digits), b"0")
        return (-1.0 if text[:1] == b"-" else 1.0) * int(number) / 10.0 ** self.digits[1]

    def reach(self) -> float:
        """How near to each other hits of the tool overlap."""
        unit = self.mm or 25.4
        diameter, mm = self.tools.get(self.tool, (0.0, None))
        wide = diameter * (mm or unit)
        return (wide if 0 < wide < _ABSURD else _UNKNOWN) / unit


@dataclass(slots=True)
class _Stretch:
    """Holes between two lines of another kind, and the bytes of the lines in front of them."""

    before: list[bytes] = field(default_factory=list)
    holes: list[tuple[bytes, ...]] = field(default_factory=list)
    paths: list[list[tuple[float, float]]] = field(default_factory=list)
    reach: float = 0.0


def verify(before: bytes, after: bytes, rules: Rules) -> None:
    """Compare the holes of two drill files: the same ones in each stretch, all other lines as they were.

    Holes that overlap, but are not the same, keep their order: a drill wanders into the half that is open.

    Raises `NotVerified`, which says where they differ.
    """
    first, second = _run(before), _run(after)
    for number, (old, new) in enumerate(zip(first, second, strict=False)):
        if old.before != new.before:
            raise NotVerified(f"is not written: the lines in front of its stretch {number + 1} would differ")
        place = matched(old.holes, new.holes, _named)
        paths = [np.array(path) for path in old.paths]
        found = overlaps_in_order(paths, [tuple(path) for path in old.paths], place, old.reach)
        if found is not None:
            hole, other = (_named(old.holes[k]) for k in found)
            raise NotVerified(f"is not written: {hole} and {other} overlap and would change places")
    if len(first) != len(second):
        raise NotVerified("is not written: holes of two stretches would be mixed")
    if _ends(before) != _ends(after):
        raise NotVerified("is not written: the ends of its lines would change")


def _named(hole: Hashable) -> str:
    return f"the hole {b' '.join(hole).decode('latin-1')!r}"  # type: ignore[arg-type]


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)  # of bytes: only \n, \r\n and \r end them


def _ends(data: bytes) -> list[bytes]:
    return [line[len(line.rstrip(b"\r\n")) :] for line in _lines(data)]


def _run(data: bytes) -> list[_Stretch]:
    """Go through a program line by line."""
    stretches, numbers = [_Stretch()], _Numbers()
    x = y = b""
    for line in _lines(data):
        words = _words(line.strip(b" \t\r\n"))
        if words is None:
            if stretches[-1].holes:
                stretches.append(_Stretch())
            stretches[-1].before.append(line)
            numbers.hear(line.strip().upper())
            if line.strip(b" \t").upper().startswith(b"G93"):
                x = y = b""  # a coordinate that is left out behind it is nobody's
            continue
        cycle, slot, found = b"", False, []
        for letter, number in words:
            if letter == b"G" and number == b"85":
                slot = True
                found.append((x, y))
            elif letter == b"G":
                cycle = number
            elif letter == b"X":
                x = number
            else:
                y = number
        found.append((x, y))
        places = tuple(coordinate for place in found for coordinate in place)
        hole = (cycle, b"slot" if slot else b"hole", *places)
        if cycle:  # a cycle stays where it is, as a stretch of its own
            if stretches[-1].holes:
                stretches.append(_Stretch())
            stretches[-1].before.append(b" ".join(hole))
        else:
            if not stretches[-1].holes:
                stretches[-1].reach = numbers.reach()
            stretches[-1].holes.append(hole)
            stretches[-1].paths.append([(numbers.value(a), numbers.value(b)) for a, b in found])
    return stretches


def _words(line: bytes) -> list[tuple[bytes, bytes]] | None:
    """The words of a line that drills; None for any other line."""
    words, place = [], 0
    line = line.upper()
    while place < len(line):
        end = place + 1
        while end < len(line) and line[end] in _LETTERS:
            end += 1
        letter, number = line[place : place + 1], line[place + 1 : end]
        if letter not in (b"X", b"Y", b"G") or not number:
            return None
        if letter == b"G" and number not in (b"85", b"81", b"5", b"05"):
            return None
        words.append((letter, number))
        place = end
    return words if any(letter in (b"X", b"Y") for letter, _ in words) else None
