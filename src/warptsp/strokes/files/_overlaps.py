"""Which works of a file overlap, so that they keep their order: cuts of other depths, holes of one tool."""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence

import numpy as np

Segment = tuple[float, float, float, float]
_Cell = tuple[int, int]


def cell_of(segments: Sequence[Segment]) -> float:
    """How large cells of a grid are that hold few of these segments, each in few cells."""
    segments = segments or [(0.0, 0.0, 1.0, 0.0)]
    lengths = [abs(s[2] - s[0]) + abs(s[3] - s[1]) for s in segments]
    spread = float(np.abs(np.array(segments)).max())
    return max(2 * sum(lengths) / len(lengths), spread / math.sqrt(len(lengths)), 1e-6)


class Overlaps:
    """Which units of a group segments overlap whose depths are other ones; cells of a grid hold what is near.

    Segments overlap where they come as near to each other as `reach`.
    """

    def __init__(self, reach: float, size: float) -> None:
        self.reach = reach
        self.size = max(size, 2 * reach)
        # Of each cell the segments of each depth and unit: one that is near says that the unit is.
        self.cells: defaultdict[_Cell, dict[Hashable, dict[int, list[Segment]]]] = defaultdict(dict)

    def clear(self) -> None:
        """Begin with a new group."""
        self.cells.clear()

    def add(self, segments: Sequence[Segment], depths: Sequence[Hashable], unit: int) -> None:
        """Works of a unit."""
        for segment, depth in zip(segments, depths, strict=True):
            for cell, part in self._parts(segment, 0.0):
                self.cells[cell].setdefault(depth, {}).setdefault(unit, []).append(part)

    def of(self, segments: Sequence[Segment], depths: Sequence[Hashable]) -> set[int]:
        """The units that works overlap."""
        found: set[int] = set()
        if not self.cells:
            return found
        for segment, depth in zip(segments, depths, strict=True):
            for cell, part in self._parts(segment, self.reach):
                for other, members in self.cells.get(cell, {}).items():
                    if other == depth:
                        continue
                    for unit, there in members.items():
                        if unit not in found and any(_is_near(part, near, self.reach) for near in there):
                            found.add(unit)
        return found

    def _parts(self, segment: Segment, margin: float) -> Iterator[tuple[_Cell, Segment]]:
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


def _is_near(first: Segment, second: Segment, reach: float) -> bool:
    """Whether two segments come as near to each other as `reach`; their boxes say first that they do not."""
    for axis in (0, 1):
        if max(first[axis], first[axis + 2]) + reach < min(second[axis], second[axis + 2]):
            return False
        if max(second[axis], second[axis + 2]) + reach < min(first[axis], first[axis + 2]):
            return False
    return _distance(first, second) <= reach


def _distance(first: Segment, second: Segment) -> float:
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
