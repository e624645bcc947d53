"""Excellon: holes and slots change their order, within the lines that follow the choice of a tool.

The numbers stay as they are written, with the decimal point or the zeros that the header promises; a line
that leaves out a coordinate, because it is that of the line before, gets it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from warptsp._checks import short
from warptsp.errors import ParseError
from warptsp.strokes.model import Path
from warptsp.strokes.plan import Plan

from .drawing import Drawing, Source, StrokeFormat

__all__ = ["FORMAT"]

_HOLE = re.compile(r"(?:X([-+]?[\d.]+))?(?:Y([-+]?[\d.]+))?(?:G85(?:X([-+]?[\d.]+))?(?:Y([-+]?[\d.]+))?)?")
_TOOL = re.compile(r"T\d+")
# Lines of the body that say nothing of where or how the next holes are made.
_HARMLESS = ("G05", "G81", "G90", "M71", "M72", "METRIC", "INCH", "FMAT", "ICI,OFF")
# Digits in front of the point and behind it: a comment of Altium, and one of KiCad.
_FORMAT = re.compile(r";.*FORMAT=\{?(\d):(\d)")


@dataclass(slots=True)
class _Block:
    """Holes of one tool, behind the lines that keep their place."""

    before: list[str]
    lines: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Units:
    """How a number without a decimal point is read."""

    whole: int = 2
    digits: int = 6
    name: str = ""
    leading: bool = False  # whether leading zeros are there, so that trailing ones may lack
    told: bool = False  # whether the file says how many digits there are

    def value(self, text: str) -> float:
        """The coordinate that a text is, in the unit of the file."""
        if "." in text:
            return float(text)
        sign = -1.0 if text.startswith("-") else 1.0
        digits = text.lstrip("+-")
        if self.leading:
            digits = digits.ljust(self.digits, "0")
        return sign * int(digits) / 10.0 ** (self.digits - self.whole)


def _read(source: Source) -> Drawing:
    blocks, tail, points, unit = _blocks(source)
    groups = [number for number, block in enumerate(blocks) for _ in block.lines]
    lines = [line for block in blocks for line in block.lines]
    end = "\r\n" if "\r\n" in source.text else "\n"

    def rewrite(plan: Plan) -> bytes:
        drawn: dict[int, list[str]] = {}
        for number in plan.order.tolist():
            drawn.setdefault(groups[number], []).append(lines[number])
        pieces = []
        for number, block in enumerate(blocks):
            pieces += [*block.before, *drawn.get(number, [])]
        return source.encoded(end.join([*pieces, *tail]) + end)

    keep = np.zeros(len(points), dtype=np.bool_)
    return Drawing(paths=points, reversible=keep, loops=keep, groups=groups, rewrite=rewrite, unit=unit)


def _blocks(source: Source) -> tuple[list[_Block], list[str], list[Path], str]:
    units = _Units()
    blocks: list[_Block] = []
    kept: list[str] = []
    points: list[Path] = []
    x = y = ""
    current: _Block | None = None
    header = True
    lines = source.text.splitlines()
    if not any(line.strip() in ("M48", "%") or _TOOL.match(line.strip()) for line in lines):
        raise ParseError(
            "is no Excellon drill file: M48, % or the choice of a tool is needed", file=source.file
        )
    header = any(line.strip() == "M48" for line in lines)
    for number, line in enumerate(lines, start=1):
        word = line.strip().upper()
        if header:
            if word.startswith(("G91", "ICI")) and word != "ICI,OFF":
                raise ParseError(f"{short(word)!r} makes holes depend on their order: only absolute "
                                 "coordinates (G90 or ICI,OFF) are put in order",
                                 file=source.file, line=number)  # fmt: skip
            _note(units, word)
            header = word not in ("%", "M95")
            kept.append(line)
            continue
        match = _HOLE.fullmatch(word)
        if not match or not word:
            if word and not word.startswith((";", "%", "T", "M30", "M00", *_HARMLESS)):
                raise ParseError(f"{short(word)!r} makes holes depend on their order: only tools, holes and "
                                 "slots (G85) are put in order", file=source.file, line=number)  # fmt: skip
            _note(units, word)
            current = None
            kept.append(line)
            continue
        if current is None:
            current = _Block(list(kept))
            kept.clear()
            blocks.append(current)
        try:
            x, y = match[1] or x, match[2] or y
            if not x or not y:
                raise ValueError
            begin = units.value(x), units.value(y)
            text, path = f"X{x}Y{y}", [begin]
            if "G85" in word:
                x, y = match[3] or x, match[4] or y
                text, path = f"{text}G85X{x}Y{y}", [begin, (units.value(x), units.value(y))]
        except (ValueError, OverflowError):
            raise ParseError(f"{short(word)!r} is no hole: X and Y with numbers are needed",
                             file=source.file, line=number) from None  # fmt: skip
        current.lines.append(text)
        points.append(np.array(path))
    return blocks, kept, points, units.name


def _note(units: _Units, word: str) -> None:
    """What a line of the header, or a comment, says of numbers."""
    if word.startswith(("METRIC", "M71")):
        units.name, whole, digits = "mm", 3, 6
    elif word.startswith(("INCH", "M72")):
        units.name, whole, digits = "in", 2, 6
    else:
        comment = _FORMAT.match(word)
        if comment:
            units.told, units.whole = True, int(comment[1])
            units.digits = units.whole + int(comment[2])
        return
    form = re.search(r",(0+)\.(0+)", word)
    if form:
        units.told, whole, digits = True, len(form[1]), len(form[1]) + len(form[2])
    if form or not units.told:
        units.whole, units.digits = whole, digits
    if ",LZ" in word or ",TZ" in word:  # M72 in the body leaves the zeros as they are
        units.leading = ",LZ" in word


FORMAT = StrokeFormat(
    name="excellon", title="an Excellon drill file", endings=(".drl", ".xln", ".exc"), read=_read
)
