"""Excellon: holes and slots change their order, within the lines that follow the choice of a tool.

The numbers stay as they are written, with the decimal point or the zeros that the header promises; a line
that leaves out a coordinate, because it is that of the line before, gets it where that is another one now.

Holes that overlap others of their tool (nibbled slots) keep their order, or else the drill wanders into the
half that is open: all of them move as one, from the place of the first.
"""

import re
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from warptsp._checks import short
from warptsp.errors import ParseError
from warptsp.strokes.files._overlaps import Overlaps, Segment, cell_of
from warptsp.strokes.files.drawing import Drawing, Source, StrokeFormat
from warptsp.strokes.model import Path
from warptsp.strokes.plan import Plan

_NUMBER = r"([-+]?[0-9.]+)"
_HOLE = re.compile(rf"(?:X{_NUMBER})?(?:Y{_NUMBER})?(?:G85(?:X{_NUMBER})?(?:Y{_NUMBER})?)?")
# A cycle in front of a hole, which stays where it is then; the next line may take over its place.
_CYCLE = re.compile(rf"(G0?5|G81)(?=[XY])({_HOLE.pattern})")
_TOOL = re.compile(r"T[0-9]+(?:[CFSBHZ][-+]?[0-9.]+)*")
_DIAMETER = re.compile(r"T0*([0-9]+)(?:.*C([0-9]+\.?[0-9]*|\.[0-9]+)(?![0-9.]))?")
# Lines of the body that say nothing of where or how the next holes are made, but for units and tools.
_KNOWN = re.compile(rf"(?:;.*|%|{_TOOL.pattern}|M00|M02|M30|M95|G0?5|G81|G90|G93X0+Y0+|M71|M72|FMAT,[12]|"
                    r"ICI,OFF|(?:METRIC|INCH)(?:,(?:LZ|TZ|0+\.0+))*)?")  # fmt: skip
_FRONT = re.compile(r"(?:;.*|%|G90|M71|M72)?")  # lines that may stand in front of the header
# Digits in front of the point and behind it: a comment of Altium, and one of KiCad.
_FORMAT = re.compile(r";.*FORMAT=\{?([0-9]):([0-9])")
_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")  # its text, and what ends it
_MM = {"mm": 1.0, "in": 25.4}
_WIDTH = 0.5  # mm: of a tool whose diameter nobody says; boards leave no less between two holes
_WIDEST = 50.0  # mm: what is said to be wider has its point elsewhere


@dataclass(frozen=True, slots=True)
class _Line:
    """A line as it stands: what is written on it and what ends it; for a hole its coordinates as texts."""

    text: str
    end: str
    x: str = ""
    y: str = ""
    to: tuple[str, str] | None = None  # the end of a slot
    cycle: str = ""
    stroke: int = -1  # its number; -1 for a line that stays

    def written(self, x: str, y: str) -> str:
        """The text behind a hole at these coordinates: as it is, if it means the same there."""
        match = _HOLE.fullmatch(self.text.strip(" \t").upper().removeprefix(self.cycle))
        assert match is not None
        first = match[1] or x, match[2] or y
        slot = self.to is not None
        if first == (self.x, self.y) and (
            not slot or (match[3] or first[0], match[4] or first[1]) == self.to
        ):
            return self.text
        end = f"G85X{self.to[0]}Y{self.to[1]}" if self.to else ""
        return f"{self.cycle}X{self.x}Y{self.y}{end}"

    @property
    def left(self) -> tuple[str, str]:
        """The coordinates that the next line takes over."""
        return self.to or (self.x, self.y)


@dataclass(slots=True)
class _Units:
    """How a number without a decimal point is read."""

    whole: int = 2
    digits: int = 6
    name: str = ""
    leading: bool = False  # whether leading zeros are there, so that trailing ones may lack
    told: bool = False  # whether the file says how many digits there are
    tool: str = ""  # the last one
    tools: dict[str, tuple[float, str]] = field(default_factory=dict)  # their diameters, and in which unit

    @property
    def width(self) -> float:
        """The diameter of the tool, in the unit of the file."""
        diameter, name = self.tools.get(self.tool, (0.0, ""))
        unit = _MM.get(self.name, _MM["in"])  # as digits say that are told by nobody
        width = diameter * _MM.get(name, unit)
        return (width if 0 < width < _WIDEST else _WIDTH) / unit

    def value(self, text: str) -> float:
        """The coordinate that a text is, in the unit of the file."""
        if "." in text:
            return float(text)
        sign = -1.0 if text.startswith("-") else 1.0
        digits = text.lstrip("+-")
        if self.leading:
            digits = digits.ljust(self.digits, "0")
        return sign * int(digits) / 10.0 ** (self.digits - self.whole)

    def note(self, word: str) -> bool:
        """What a line of the header, or a comment, says of numbers; whether they mean something else now."""
        before = self.whole, self.digits, self.name, self.leading
        if tool := _DIAMETER.match(word):
            self.tool = tool[1]
            if tool[2]:
                self.tools[self.tool] = float(tool[2]), self.name
        if word.startswith(("METRIC", "M71")):
            self.name, whole, digits = "mm", 3, 6
        elif word.startswith(("INCH", "M72")):
            self.name, whole, digits = "in", 2, 6
        else:
            comment = _FORMAT.match(word)
            if comment:
                self.told, self.whole = True, int(comment[1])
                self.digits = self.whole + int(comment[2])
            return before != (self.whole, self.digits, self.name, self.leading)
        form = re.search(r",(0+)\.(0+)", word)
        if form:
            self.told, whole, digits = True, len(form[1]), len(form[1]) + len(form[2])
        if form or not self.told:
            self.whole, self.digits = whole, digits
        if ",LZ" in word or ",TZ" in word:  # M72 in the body leaves the zeros as they are
            self.leading = ",LZ" in word
        return before != (self.whole, self.digits, self.name, self.leading)


@dataclass(slots=True)
class _Program:
    """The lines of a file, and of the holes that may change places where, how wide and in which stretch."""

    lines: list[_Line] = field(default_factory=list)
    points: list[Path] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    unit: str = ""

    def units(self) -> list[list[int]]:
        """Holes that move as one, in the order of the file: all that overlap, but for the same hole again."""
        same: dict[tuple[int, Segment], list[int]] = {}
        for hole, (group, path) in enumerate(zip(self.groups, self.points, strict=True)):
            same.setdefault((group, (*path[0].tolist(), *path[-1].tolist())), []).append(hole)
        cell, leader, last = cell_of([segment for _, segment in same]), list(range(len(self.points))), -1
        for (group, segment), (hole, *_) in same.items():
            if group != last:
                last, overlaps = group, Overlaps(self.widths[hole] * (1 + 1e-5), cell)  # more than rounding
            for other in overlaps.of([segment], [1]):
                while leader[other] != other:
                    other = leader[other]
                low, high = sorted((leader[hole], other))
                leader[high] = leader[hole] = low
            overlaps.add([segment], [0], leader[hole])  # those of one unit are measured once
        units: dict[int, list[list[int]]] = {}
        for holes in same.values():
            leader[holes[0]] = first = leader[leader[holes[0]]]
            units.setdefault(first, []).append(holes)
        joined = [sorted(chain(*unit)) for unit in units.values() if len(unit) > 1]
        return sorted([*joined, *([hole] for unit in units.values() if len(unit) == 1 for hole in unit[0])])


def _read(source: Source) -> Drawing:
    program = _program(source)
    holes = [line for line in program.lines if line.stroke >= 0]
    units = program.units()

    def rewrite(plan: Plan) -> bytes:
        order = (hole for unit in plan.order.tolist() for hole in units[unit])
        x = y = ""
        pieces = []
        for line in program.lines:
            here = holes[next(order)] if line.stroke >= 0 else line
            if here.x:
                pieces.append(here.written(x, y))
                x, y = here.left
            else:
                pieces.append(line.text)
                x, y = ("", "") if line.text.strip(" \t").upper().startswith("G93") else (x, y)
            pieces.append(line.end)  # which belongs to the place
        return source.encoded("".join(pieces))

    paths = [np.concatenate([program.points[hole] for hole in unit]) for unit in units]
    keep = np.zeros(len(paths), dtype=np.bool_)
    return Drawing(paths=paths, reversible=keep, loops=keep, rewrite=rewrite, unit=program.unit,
                   groups=[program.groups[unit[0]] for unit in units])  # fmt: skip


def _program(source: Source) -> _Program:
    units, found = _Units(), _Program()
    lines = [match.groups() for match in _LINE.finditer(source.text)]
    words = [text.strip(" \t").upper() for text, _ in lines]
    if not any(word in ("M48", "%") or _TOOL.match(word) for word in words):
        raise ParseError(
            "is no Excellon drill file: M48, % or the choice of a tool is needed", file=source.file
        )
    start = words.index("M48") if "M48" in words else -1
    if any(not _FRONT.fullmatch(word) for word in words[: max(start, 0)]):
        raise ParseError("M48 begins the header: only %, comments, units and G90 may stand in front of it",
                         file=source.file, line=start + 1)  # fmt: skip
    header, group, open_ = start >= 0, -1, False
    x = y = ""
    for number, ((text, end), word) in enumerate(zip(lines, words, strict=True), start=1):
        if header:
            if word.startswith(("G91", "ICI")) and word != "ICI,OFF":
                raise ParseError(f"{short(word)!r} makes holes depend on their order: only absolute "
                                 "coordinates (G90 or ICI,OFF) are put in order",
                                 file=source.file, line=number)  # fmt: skip
            units.note(word)
            header = number <= start + 1 or word not in ("%", "M95")
            found.lines.append(_Line(text, end))
            continue
        cycle = _CYCLE.fullmatch(word)
        match = _HOLE.fullmatch(cycle[2] if cycle else word)
        if not match or not word:
            if not _KNOWN.fullmatch(word):
                raise ParseError(f"{short(word)!r} makes holes depend on their order: only tools, holes and "
                                 "slots (G85) are put in order", file=source.file, line=number)  # fmt: skip
            if units.note(word) or word.startswith("G93"):
                x = y = ""  # a coordinate that is left out is nowhere then
            open_ = False
            found.lines.append(_Line(text, end))
            continue
        try:
            x, y = match[1] or x, match[2] or y
            if not x or not y:
                raise ValueError
            begin, to = (x, y), None
            path = [(units.value(x), units.value(y))]
            if "G85" in word:
                to = x, y = match[3] or x, match[4] or y
                path.append((units.value(x), units.value(y)))
        except (ValueError, OverflowError):
            raise ParseError(f"{short(word)!r} is no hole: X and Y with numbers are needed",
                             file=source.file, line=number) from None  # fmt: skip
        if cycle:
            found.lines.append(_Line(text, end, *begin, to, cycle[1]))
            open_ = False
            continue
        group += not open_
        open_ = True
        found.unit = found.unit or units.name
        scale = _MM.get(units.name, 1.0) / _MM.get(found.unit, 1.0)  # M71 may follow M72
        found.lines.append(_Line(text, end, *begin, to, stroke=len(found.points)))
        found.points.append(np.array(path) * scale if scale != 1.0 else np.array(path))
        found.widths.append(units.width * scale)
        found.groups.append(group)
    return found


FORMAT = StrokeFormat(
    name="excellon", title="an Excellon drill file", endings=(".drl", ".xln", ".exc"), read=_read,
    same="same holes of the same tools",
)  # fmt: skip
