"""Where lines of G-code cut and how deep, and which blocks of them overlap."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from warptsp.strokes.files._gcode_words import Line
from warptsp.strokes.model import Path

_SAG = 0.01  # by which a chord may miss its arc, in the file's unit
_SLACK = 0.05  # nearer than this cuts touch, whatever the width of the tool
_Point = tuple[float, float, float]
_Segment = tuple[float, float, float, float]
_Cell = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Cuts:
    """What some lines do to the workpiece.

    `depths` has one value for each of `segments`: only those of one depth may change places. Rapid moves
    below the top of what is cut have one of their own: they go where something was cut away before.
    """

    segments: list[_Segment]
    depths: list[Hashable]
    regimes: list[Hashable]  # feed rates and powers of cuts between rapid moves
    top: float
    lit: bool
    in_plane: bool

    @classmethod
    def of(cls, lines: list[Line], highest: float = math.inf) -> Cuts:
        """All cuts of some lines; moves at the greatest height, behind a rapid move up, count for no top."""
        segments: list[_Segment] = []
        depths: list[Hashable] = []
        pieces: list[set[Hashable] | None] = [None]
        top, lit, in_plane = -math.inf, True, False
        for line in lines:
            if line.moves and line.after.motion == 0:
                pieces.append(None)
            if line.asks == 2 and not line.fixed and pieces[-1] is None:
                pieces[-1] = set()
            if not line.cuts:
                begin, end = line.before.z, line.after.z
                down = end is not None and (begin is None or end < begin)
                if line.after.motion == 0 and end is not None and (line.moves or down):
                    low = float(end if begin is None else min(begin, end))
                    points = [_at(state.x, state.y, state.z) for state in (line.before, line.after)]
                    segments.append((*points[0][:2], *points[1][:2]))
                    depths.append(("rapid", low))
                continue
            points = _points(line)
            low, high = min(p[2] for p in points), max(p[2] for p in points)
            x, y, _ = points[0]
            if any(p[0] != x or p[1] != y for p in points):
                in_plane = True
                lit = lit and line.after.lit
                top = top if line.air and low == high == highest else max(top, high)
                found = pieces[-1] if pieces[-1] is not None else set()
                feed, power = line.after.feed, line.after.power
                found.add((float(feed) if feed else None, float(power) if power else None))
                pieces[-1] = found
                segments += [(*a[:2], *b[:2]) for a, b in pairwise(points)]
                depths += [(low, high)] * (len(points) - 1)
            else:
                top = max(top, low)
                segments.append((*points[0][:2], *points[0][:2]))
                depths.append((low, low))
        regimes: list[Hashable] = [frozenset(piece) for piece in pieces if piece is not None]
        return cls(segments, depths, regimes, top, lit, in_plane)

    def below(self, top: float, down: float) -> Cuts:
        """The same without rapid moves in the plane above `top`, and those straight down to above `down`."""
        kept = [
            place for place, (depth, (x, y, *end)) in enumerate(zip(self.depths, self.segments, strict=True))
            if not (isinstance(depth, tuple) and depth[0] == "rapid"
                    and depth[1] > (down if [x, y] == end else top))
        ]  # fmt: skip
        return Cuts([self.segments[k] for k in kept], [self.depths[k] for k in kept], self.regimes, self.top,
                    self.lit, self.in_plane)  # fmt: skip


def _at(x: object, y: object, z: object) -> _Point:
    return float(x or 0), float(y or 0), float(z or 0)  # type: ignore[arg-type]


def path_of(lines: list[Line]) -> Path:
    """The places in the plane that lines go through, behind the first of them."""
    points: list[tuple[float, float]] = []
    for line in lines:
        if line.after.x is None or line.after.y is None:
            continue
        found = _points(line)[1:] if line.cuts else [_at(line.after.x, line.after.y, 0)]
        for x, y, _ in found:
            if not points or points[-1] != (x, y):
                points.append((x, y))
    return np.array(points, dtype=np.float64).reshape(-1, 2)


def _points(line: Line) -> list[_Point]:
    """Points along a move, with its begin and its end."""
    if not line.points:
        a = _at(line.before.x, line.before.y, line.before.z)
        b = _at(line.after.x, line.after.y, line.after.z)
        line.points = [a, b] if line.arc is None else [a, *_arc(a, b, line), b]
    return line.points


def _arc(a: _Point, b: _Point, line: Line) -> Iterator[_Point]:
    """Points between the ends of an arc or a helix."""
    assert line.arc is not None
    u, v, w = {"G18": (2, 0, 1), "G19": (1, 2, 0)}.get(line.plane, (0, 1, 2))
    clockwise = line.after.motion == 2
    i, j, radius = line.arc
    begin, end = complex(a[u], a[v]), complex(b[u], b[v])
    if radius is not None:
        chord = end - begin
        if chord == 0:
            return
        side = 1 if clockwise == (radius < 0) else -1
        away = math.sqrt(max(radius**2 - abs(chord) ** 2 / 4, 0.0)) / abs(chord)
        centre = begin + chord / 2 + side * away * 1j * chord
    else:
        centre = complex(i, j) if line.absolute else begin + complex(i, j)
    spoke = begin - centre
    if spoke == 0 or end == centre:
        return
    turn = math.remainder(math.atan2((end - centre).imag, (end - centre).real)
                          - math.atan2(spoke.imag, spoke.real), 2 * math.pi)  # fmt: skip
    way = -1 if clockwise else 1
    if way * turn <= 0 or (begin == end and way * turn < 1e-9):
        turn += way * 2 * math.pi
    step = 2 * math.acos(max(1 - _SAG / abs(spoke), 0.0)) if abs(spoke) > _SAG else 1.0
    count = min(max(math.ceil(abs(turn) / step), 8), 4096)
    for k in range(1, count):
        angle = turn * k / count
        place = centre + spoke * complex(math.cos(angle), math.sin(angle))
        point = [0.0, 0.0, 0.0]
        point[u], point[v], point[w] = place.real, place.imag, a[w] + (b[w] - a[w]) * k / count
        yield point[0], point[1], point[2]


class Overlaps:
    """Which units of a group cuts overlap whose depths are other ones; cells of a grid hold what is near."""

    def __init__(self, width: float, size: float) -> None:
        self.reach = width + _SLACK
        self.size = max(size, 2 * self.reach)
        # Of each cell the segments of each depth, and whose they are.
        self.cells: defaultdict[_Cell, dict[Hashable, list[tuple[_Segment, int]]]] = defaultdict(dict)

    def clear(self) -> None:
        """Begin with a new group."""
        self.cells.clear()

    def add(self, cuts: Cuts, unit: int) -> None:
        """The cuts of a block of a unit."""
        for segment, depth in zip(cuts.segments, cuts.depths, strict=True):
            for cell, part in self._parts(segment, 0.0):
                self.cells[cell].setdefault(depth, []).append((part, unit))

    def of(self, cuts: Cuts) -> set[int]:
        """The units that the cuts of a block overlap."""
        found: set[int] = set()
        if not self.cells:
            return found
        for segment, depth in zip(cuts.segments, cuts.depths, strict=True):
            for cell, part in self._parts(segment, self.reach):
                for other, members in self.cells.get(cell, {}).items():
                    if other == depth:
                        continue
                    for near, unit in members:
                        if unit not in found and _is_near(part, near, self.reach):
                            found.add(unit)
        return found

    def _parts(self, segment: _Segment, margin: float) -> Iterator[tuple[_Cell, _Segment]]:
        """Pieces of a segment, none longer than a cell, each with the cells near which it comes."""
        x, y, to_x, to_y = segment
        size = self.size
        left, right = (x, to_x) if x < to_x else (to_x, x)
        low, high = (y, to_y) if y < to_y else (to_y, y)
        column, row = (left - margin) // size, (low - margin) // size
        if column == (right + margin) // size and row == (high + margin) // size:  # nearly all
            yield (int(column), int(row)), segment
            return
        count = max(math.ceil(math.hypot(to_x - x, to_y - y) / size), 1)
        for k in range(count):
            a, b = k / count, (k + 1) / count
            part = (x + a * (to_x - x), y + a * (to_y - y), x + b * (to_x - x), y + b * (to_y - y))
            left, right = sorted((part[0], part[2]))
            low, high = sorted((part[1], part[3]))
            for column in range(math.floor((left - margin) / size), math.floor((right + margin) / size) + 1):
                for row in range(math.floor((low - margin) / size), math.floor((high + margin) / size) + 1):
                    yield (column, row), part


def _is_near(first: _Segment, second: _Segment, reach: float) -> bool:
    """Whether two segments come as near to each other as `reach`; their boxes say first that they do not."""
    for axis in (0, 1):
        if max(first[axis], first[axis + 2]) + reach < min(second[axis], second[axis + 2]):
            return False
        if max(second[axis], second[axis + 2]) + reach < min(first[axis], first[axis + 2]):
            return False
    return _distance(first, second) <= reach


def _distance(first: _Segment, second: _Segment) -> float:
    """How near two segments come to each other."""
    a, b = complex(*first[:2]), complex(*first[2:])
    c, d = complex(*second[:2]), complex(*second[2:])
    if first[:2] != first[2:] and second[:2] != second[2:]:
        one = _turn(a, b, c) * _turn(a, b, d)
        two = _turn(c, d, a) * _turn(c, d, b)
        if one < 0 and two < 0:
            return 0.0
    return min(_from(a, c, d), _from(b, c, d), _from(c, a, b), _from(d, a, b))


def _turn(a: complex, b: complex, p: complex) -> float:
    cross = ((b - a).conjugate() * (p - a)).imag
    return (cross > 0) - (cross < 0)


def _from(p: complex, a: complex, b: complex) -> float:
    """How far a point is from a segment."""
    way = b - a
    square = way.real**2 + way.imag**2
    if square == 0:
        return abs(p - a)
    along = ((p - a) * way.conjugate()).real / square
    return abs(p - a - min(max(along, 0.0), 1.0) * way)
