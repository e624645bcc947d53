"""Path data of SVG: segments that can be turned around and written again with the digits of the source.

Grammar and arcs are those of SVG 1.1, chapter 8 and appendix F.6.
"""

from __future__ import annotations

import cmath
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from warptsp.strokes.files.drawing import written

_TOKEN = re.compile(
    r"[\s,]*(?:([MmZzLlHhVvCcSsQqTtAa])|([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?))"
)
_NUMBER = re.compile(r"(?:[0-9]+(?:\.([0-9]*))?|\.([0-9]+))(?:[eE]([-+]?[0-9]+))?")
_COUNTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
_FLAG = re.compile(r"[\s,]*([01])")
_STEPS = 16  # straight pieces in the outline of a curve


@dataclass(frozen=True, slots=True)
class Segment:
    """A line (no controls), a Bezier curve of one or two controls, or an arc.

    `arc` has what path data say of it: radii, rotation in degrees, whether it is the large one, and whether
    it turns clockwise.
    """

    start: complex
    end: complex
    controls: tuple[complex, ...] = ()
    arc: tuple[float, float, float, bool, bool] | None = None

    def turned(self) -> Segment:
        """The same from its end to its start."""
        arc = self.arc
        if arc is not None:
            arc = (*arc[:4], not arc[4])
        return Segment(self.end, self.start, self.controls[::-1], arc)

    def outline(self) -> list[complex]:
        """Points along it, without its start."""
        if self.arc is not None:
            return _arc_points(self.start, self.end, self.arc)
        row = [self.start, *self.controls, self.end]
        if len(row) == 2:
            return [self.end]
        points = []
        for step in range(1, _STEPS):
            t, left = step / _STEPS, row
            while len(left) > 1:  # de Casteljau
                left = [a + t * (b - a) for a, b in pairwise(left)]
            points.append(left[0])
        return [*points, self.end]

    def text(self, decimals: int) -> str:
        """As it stands in path data, behind its start."""
        if self.arc is not None:
            rx, ry, rotation, large, sweep = self.arc
            size = " ".join(written(value, decimals) for value in (rx, ry, rotation))
            return f"A{size} {int(large)} {int(sweep)} {_pair(self.end, decimals)}"
        letter = "LQC"[len(self.controls)]
        return letter + " ".join(_pair(point, decimals) for point in (*self.controls, self.end))


@dataclass(frozen=True, slots=True)
class Subpath:
    """Segments from one pen-down to the next pen-up; closed if it ends in z."""

    segments: tuple[Segment, ...]
    closed: bool

    @property
    def vertices(self) -> list[complex]:
        """Its start, and the end of each segment."""
        return [self.segments[0].start, *(segment.end for segment in self.segments)]

    @property
    def outline(self) -> list[complex]:
        """Points along it."""
        return [self.segments[0].start, *(point for segment in self.segments for point in segment.outline())]

    def turned(self) -> Subpath:
        """The same backwards."""
        return Subpath(tuple(s.turned() for s in reversed(self.segments)), self.closed)

    def entered_at(self, vertex: int) -> Subpath:
        """A closed one from another vertex."""
        return Subpath(self.segments[vertex:] + self.segments[:vertex], self.closed)


def path_text(subpaths: list[Subpath], decimals: int) -> str:
    """Path data, in absolute coordinates."""
    texts = []
    for subpath in subpaths:
        texts.append("M" + _pair(subpath.segments[0].start, decimals))
        texts += [segment.text(decimals) for segment in subpath.segments]
        if subpath.closed:
            texts.append("Z")
    return "".join(texts)


@lru_cache(maxsize=16)  # a path of thousands of subpaths asks for each of them
def decimals_of(text: str) -> int:
    """How many digits stand behind the point, at most, in the numbers of a text.

    >>> decimals_of("M1 2.50L-.125 1e-6"), decimals_of("10")
    (6, 0)
    """
    return max((len(whole or part or "") - int(exponent or 0)
                for whole, part, exponent in _NUMBER.findall(text)), default=0)  # fmt: skip


def _pair(point: complex, decimals: int) -> str:
    return f"{written(point.real, decimals)} {written(point.imag, decimals)}"


def parse_path(data: str) -> list[Subpath]:
    """The subpaths of path data; those that draw nothing are left out.

    A subpath that only closes is a dot where lines have round ends: a line from a point to itself. Raises
    `ValueError` if the data are malformed; the message says where.
    """
    found: list[Subpath] = []
    segments: list[Segment] = []
    at = start = 0j
    before = ""
    control = 0j

    def finish(closed: bool) -> None:
        if closed and before == "M":
            segments.append(Segment(at, at))
        if segments:
            if closed and at != start:
                segments.append(Segment(at, start))
            found.append(Subpath(tuple(segments), closed))
            segments.clear()

    for letter, numbers in _commands(data):
        kind, relative = letter.upper(), letter.islower()
        base = at if relative else 0j
        if not before and kind != "M":
            raise ValueError(f"begins with {letter!r}: M is needed")
        if kind == "Z":
            finish(True)
            at = start
        elif kind == "M":
            finish(False)
            at = start = base + complex(*numbers)
        else:
            segment, control = _segment(kind, numbers, at, base, relative, control, before)
            segments.append(segment)
            at = segment.end
        if not (math.isfinite(at.real) and math.isfinite(at.imag) and abs(at) < 1e100):
            raise ValueError("goes out of all bounds: finite coordinates are needed")
        before = kind
    finish(False)
    return found


def _segment(
    kind: str, n: list[float], at: complex, base: complex, relative: bool, control: complex, before: str
) -> tuple[Segment, complex]:
    """The segment of a command, and the control point that S or T would mirror."""
    if kind == "L":
        return Segment(at, base + complex(*n)), 0j
    if kind == "H":
        return Segment(at, complex((at.real if relative else 0.0) + n[0], at.imag)), 0j
    if kind == "V":
        return Segment(at, complex(at.real, (at.imag if relative else 0.0) + n[0])), 0j
    points = [base + complex(x, y) for x, y in zip(n[::2], n[1::2], strict=False)]
    if kind == "S":
        points.insert(0, 2 * at - control if before in "CS" else at)
    elif kind == "T":
        points.insert(0, 2 * at - control if before in "QT" else at)
    elif kind == "A":
        end = base + complex(n[5], n[6])
        if at == end or n[0] == 0 or n[1] == 0:
            return Segment(at, end), 0j
        return Segment(at, end, (), (abs(n[0]), abs(n[1]), n[2], n[3] != 0, n[4] != 0)), 0j
    return Segment(at, points[-1], tuple(points[:-1])), points[-2]


def _arc_points(start: complex, end: complex, arc: tuple[float, float, float, bool, bool]) -> list[complex]:
    """Points along an arc, without its start (appendix F.6.5)."""
    rx, ry, rotation, large, clockwise = arc
    turn = cmath.exp(1j * math.radians(rotation))
    half = (start - end) / 2 / turn
    scale = math.hypot(half.real / rx, half.imag / ry)
    scale *= scale  # a power would not become infinite, but raise
    if not 0 < scale < math.inf:
        return [end]
    if scale > 1:
        rx, ry, scale = rx * math.sqrt(scale), ry * math.sqrt(scale), 1.0
    factor = math.sqrt((1 - scale) / scale) * (-1 if large == clockwise else 1)
    local = complex(factor * rx * half.imag / ry, -factor * ry * half.real / rx)
    centre = local * turn + (start + end) / 2
    one = math.atan2((half.imag - local.imag) / ry, (half.real - local.real) / rx)
    two = math.atan2((-half.imag - local.imag) / ry, (-half.real - local.real) / rx)
    sweep = (two - one) % (2 * math.pi) if clockwise else -((one - two) % (2 * math.pi))
    angles = [one + sweep * step / _STEPS for step in range(1, _STEPS)]
    return [*(centre + turn * complex(rx * math.cos(a), ry * math.sin(a)) for a in angles), end]


def _commands(data: str) -> Iterator[tuple[str, list[float]]]:
    place, letter = 0, ""
    length = len(data.rstrip())
    while place < length:
        token = _TOKEN.match(data, place)
        if token is None:
            raise ValueError(f"has {data[place : place + 20].strip()!r}: a command or a number is needed")
        if token[1]:
            letter, place = token[1], token.end()
        elif not letter or letter in "Zz":
            raise ValueError(f"has the number {token[2]} where a command is needed")
        numbers: list[float] = []
        count = _COUNTS[letter.upper()]
        while len(numbers) < count:
            flag = letter in "Aa" and len(numbers) in (3, 4)
            match = (_FLAG if flag else _TOKEN).match(data, place)
            if match is None or (not flag and match[1]):
                raise ValueError(f"ends {letter!r} after {len(numbers)} of {count} numbers")
            numbers.append(float(match[1] if flag else match[2]))
            place = match.end()
        yield letter, numbers
        if letter in "Mm":
            letter = "L" if letter == "M" else "l"
