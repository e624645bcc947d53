"""Where lines of G-code cut, and how deep."""

import math
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from warptsp.strokes.files._gcode_lines import Line, State
from warptsp.strokes.files._overlaps import Segment
from warptsp.strokes.model import Path


@dataclass(frozen=True, slots=True)
class Cuts:
    """What some lines do to the workpiece.

    `depths` has one value for each of `segments`: only those of one depth may change places. Rapid moves
    below the top of what is cut have one of their own: they go where something was cut away before. So does
    what is faster than `slowest`, the slowest feed rate of its kind of cuts in its state: straight down as a
    rapid move, in the plane one for each feed rate.
    """

    segments: list[Segment]
    depths: list[Hashable]
    regimes: list[Hashable]  # feed rates and powers of cuts between rapid moves
    top: float
    lit: bool
    in_plane: bool

    @classmethod
    def of(
        cls, lines: list[Line], highest: float = math.inf, slowest: dict[Hashable, float] | None = None
    ) -> "Cuts":
        """All cuts of some lines; moves at the greatest height, behind a rapid move up, count for no top."""
        segments: list[Segment] = []
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
                    segments.append((*_place(line.before), *_place(line.after)))
                    depths.append(("rapid", low))
                continue
            points = line.points
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
                fast = _fast(line, slowest or {})
                depths += [(low, high, fast) if fast else (low, high)] * (len(points) - 1)
            else:
                top = max(top, low)
                segments.append((x, y, x, y))
                depths.append(("rapid" if _fast(line, slowest or {}) else low, low))
        regimes: list[Hashable] = [frozenset(piece) for piece in pieces if piece is not None]
        return cls(segments, depths, regimes, top, lit, in_plane)

    def below(self, top: float, down: float) -> "Cuts":
        """The same without rapid moves in the plane above `top`, and those straight down to above `down`."""
        kept = [
            place for place, (depth, (x, y, *end)) in enumerate(zip(self.depths, self.segments, strict=True))
            if not (isinstance(depth, tuple) and depth[0] == "rapid"
                    and depth[1] > (down if [x, y] == end else top))
        ]  # fmt: skip
        return Cuts([self.segments[k] for k in kept], [self.depths[k] for k in kept], self.regimes, self.top,
                    self.lit, self.in_plane)  # fmt: skip


def slowest_feeds(lines: list[Line], flat: bool) -> dict[Hashable, float]:
    """The slowest feed rate of each kind of cuts in each state; where nothing is cut away, of those down."""
    slowest: dict[Hashable, float] = {}
    for line in lines:
        kind = _kind(line)
        if kind and (kind[0] or not flat):
            feed = float(line.after.feed)
            slowest[kind] = min(feed, slowest.get(kind, feed))
    return slowest


def _kind(line: Line) -> tuple[bool, Hashable] | None:
    """Whether a cut goes down, and in which state; None for what goes straight up."""
    before, after = line.before, line.after
    down = None not in (before.z, after.z) and after.z < before.z  # type: ignore[operator]
    plane = any(point[:2] != line.points[0][:2] for point in line.points)
    return (down, after.hard) if line.cuts and after.feed and (down or plane) else None


def _fast(line: Line, slowest: dict[Hashable, float]) -> float:
    """The feed rate of a cut that is faster than the slowest of its kind, or else 0."""
    feed = float(line.after.feed or 0)
    return feed if feed > slowest.get(_kind(line), math.inf) else 0.0


def _place(state: State) -> tuple[float, float]:
    return float(state.x or 0), float(state.y or 0)


def path_of(lines: list[Line]) -> Path:
    """The places in the plane that lines go through, behind the first of them."""
    points: list[tuple[float, float]] = []
    for line in lines:
        if line.after.x is None or line.after.y is None:
            continue
        found = [point[:2] for point in line.points[1:]] if line.cuts else [_place(line.after)]
        for place in found:
            if not points or points[-1] != place:
                points.append(place)
    return np.array(points, dtype=np.float64).reshape(-1, 2)
