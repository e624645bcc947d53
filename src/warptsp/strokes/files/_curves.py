"""Path data of SVG: segments that can be turned around, cut into pieces and written again.

Grammar and arcs are those of SVG 1.1, chapter 8 and appendix F.6.
"""

from __future__ import annotations

import cmath
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from .drawing import number_text

__all__ = ["Segment", "Subpath", "parse_path", "path_text"]

_TOKEN = re.compile(r"[\s,]*(?:([MmZzLlHhVvCcSsQqTtAa])|([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?))")
_COUNTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
_FLAG = re.compile(r"[\s,]*([01])")
_PIECES = 4  # of a curve of a closed path, each of whose ends may be the entry


@dataclass(frozen=True, slots=True)
class Segment:
    """A line (no controls), a Bezier curve of one or two controls, or an arc.

    An arc has its centre in `controls`, and in `arc` the radii, the rotation in degrees, the angle at the
    start and the one that it sweeps, in radians.
    """

    start: complex
    end: complex
    controls: tuple[complex, ...] = ()
    arc: tuple[float, float, float, float, float] | None = None

    def turned(self) -> Segment:
        """The same from its end to its start."""
        arc = self.arc
        if arc is not None:
            rx, ry, rotation, angle, sweep = arc
            arc = rx, ry, rotation, angle + sweep, -sweep
        return Segment(self.end, self.start, self.controls[::-1], arc)

    def pieces(self) -> list[Segment]:
        """The same curve as several; a line stays as it is."""
        if not self.controls:
            return [self]
        rest, found = self, []
        for left in range(_PIECES, 1, -1):
            piece, rest = rest._split(1.0 / left)
            found.append(piece)
        return [*found, rest]

    def _split(self, t: float) -> tuple[Segment, Segment]:
        if self.arc is not None:
            rx, ry, rotation, angle, sweep = self.arc
            turn = cmath.exp(1j * math.radians(rotation))
            at = angle + t * sweep
            middle = self.controls[0] + turn * complex(rx * math.cos(at), ry * math.sin(at))
            one = (rx, ry, rotation, angle, t * sweep)
            two = (rx, ry, rotation, at, (1 - t) * sweep)
            return (
                Segment(self.start, middle, self.controls, one),
                Segment(middle, self.end, self.controls, two),
            )
        row = [self.start, *self.controls, self.end]
        left, right = [row[0]], [row[-1]]
        while len(row) > 1:  # de Casteljau
            row = [a + t * (b - a) for a, b in pairwise(row)]
            left.append(row[0])
            right.append(row[-1])
        right.reverse()
        return (
            Segment(left[0], left[-1], tuple(left[1:-1])),
            Segment(right[0], right[-1], tuple(right[1:-1])),
        )

    def text(self) -> str:
        """As it stands in path data, behind its start."""
        if self.arc is not None:
            rx, ry, rotation, _, sweep = self.arc
            flags = f"{int(abs(sweep) > math.pi)} {int(sweep > 0)}"
            size = f"{number_text(rx)} {number_text(ry)} {number_text(rotation)}"
            return f"A{size} {flags} {_pair(self.end)}"
        letter = "LQC"[len(self.controls)]
        return letter + " ".join(_pair(point) for point in (*self.controls, self.end))


@dataclass(frozen=True, slots=True)
class Subpath:
    """Segments from one pen-down to the next pen-up; closed if it ends in z, or where it begins."""

    segments: tuple[Segment, ...]
    closed: bool

    @property
    def vertices(self) -> list[complex]:
        """Its start, and the end of each segment."""
        return [self.segments[0].start, *(segment.end for segment in self.segments)]

    def turned(self) -> Subpath:
        """The same backwards."""
        return Subpath(tuple(s.turned() for s in reversed(self.segments)), self.closed)

    def entered_at(self, vertex: int) -> Subpath:
        """A closed one from another vertex."""
        return Subpath(self.segments[vertex:] + self.segments[:vertex], self.closed)

    def in_pieces(self) -> Subpath:
        """A closed one whose curves are cut, so that there are vertices on them; any other as it is."""
        if not self.closed:
            return self
        return Subpath(tuple(piece for segment in self.segments for piece in segment.pieces()), True)


def path_text(subpaths: list[Subpath]) -> str:
    """Path data, in absolute coordinates."""
    texts = []
    for subpath in subpaths:
        texts.append("M" + _pair(subpath.segments[0].start))
        texts += [segment.text() for segment in subpath.segments]
        if subpath.closed:
            texts.append("Z")
    return "".join(texts)


def _pair(point: complex) -> str:
    return f"{number_text(point.real)} {number_text(point.imag)}"


def parse_path(data: str) -> list[Subpath]:
    """The subpaths of path data; those that draw nothing are left out.

    Raises
    ------
    ValueError
        It is malformed; the message says where.
    """
    found: list[Subpath] = []
    segments: list[Segment] = []
    at = start = 0j
    before = ""
    control = 0j

    def finish(closed: bool) -> None:
        if segments:
            if closed and at != start:
                segments.append(Segment(at, start))
            same = segments[-1].end == segments[0].start and len(segments) > 1
            found.append(Subpath(tuple(segments), closed or same))
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
            if segment is not None:
                segments.append(segment)
                at = segment.end
        if not (math.isfinite(at.real) and math.isfinite(at.imag) and abs(at) < 1e100):
            raise ValueError("goes out of all bounds: finite coordinates are needed")
        before = kind
    finish(False)
    return found


def _segment(
    kind: str,
    n: list[float],
    at: complex,
    base: complex,
    relative: bool,
    control: complex,
    before: str,
) -> tuple[Segment | None, complex]:
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
        return _arc(at, base + complex(n[5], n[6]), n), 0j
    return Segment(at, points[-1], tuple(points[:-1])), points[-2]


def _arc(start: complex, end: complex, n: list[float]) -> Segment | None:
    rx, ry, rotation = abs(n[0]), abs(n[1]), n[2]
    if start == end:
        return None
    if rx == 0 or ry == 0:
        return Segment(start, end)
    turn = cmath.exp(-1j * math.radians(rotation))
    half = (start - end) / 2 * turn
    x, y = half.real, half.imag
    too_far = (x / rx) ** 2 + (y / ry) ** 2
    if too_far > 1:
        rx, ry = rx * math.sqrt(too_far), ry * math.sqrt(too_far)
    scale = (x / rx) ** 2 + (y / ry) ** 2
    factor = math.sqrt(max(0.0, (1 - scale) / scale)) if scale else 0.0
    if (n[3] != 0) == (n[4] != 0):
        factor = -factor
    local = complex(factor * rx * y / ry, -factor * ry * x / rx)
    centre = local / turn + (start + end) / 2
    one = math.atan2((y - local.imag) / ry, (x - local.real) / rx)
    two = math.atan2((-y - local.imag) / ry, (-x - local.real) / rx)
    sweep = (two - one) % (2 * math.pi) if n[4] else -((one - two) % (2 * math.pi))
    return Segment(start, end, (centre,), (rx, ry, rotation, one, sweep))


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
