"""Which closed loop lies in which, so that what falls out of the sheet last is cut last."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warptsp.strokes.joining import Outline
from warptsp.strokes.model import Flags, Ints, Path

_SPREAD = 8  # vertices of a stroke that say whether it lies in a loop
_BLOCK = 1 << 22  # of pairs of a point and an edge: 32 MB for each array of them


def parents(
    paths: Sequence[Path],
    loops: Flags,
    group: NDArray[np.int64],
    unit: Ints,
    several: Sequence[Outline] = (),
) -> tuple[Ints, bool]:
    """For each unit, a loop or a chain of strokes, a loop that must come later, -1 where there is none; and
    whether units are in a right order already, perhaps another one.

    A stroke is in a loop of its group if its vertices are. Where it is in several, these follow each other,
    the larger behind the smaller: two that cross each other may, and one in another must. A stroke that
    crosses every loop around it has no right order, and counts by its middle vertex. A k-d tree of these
    vertices finds those near a loop. Where the strokes of an outline that `several` close are several units,
    these follow each other, too.
    """
    closed = [_Loop(paths[loop], [int(unit[loop])], group[loop]) for loop in np.flatnonzero(loops).tolist()]
    closed += [_Loop(o.path, np.unique(unit[o.strokes]).tolist(), group[o.strokes[0]]) for o in several]
    by_size = sorted(
        closed, key=lambda loop: (float(np.ptp(loop.polygon, axis=0).sum()), _area(loop.polygon))
    )
    in_order = sorted(closed, key=lambda loop: loop.units[-1])
    found = _linked(paths, by_size, group, unit, as_given=False)
    right = _come_first(found) or _come_first(_linked(paths, in_order, group, unit, as_given=True))
    return found, right


class _Loop(NamedTuple):
    """A closed outline, the units that draw it, ascending, and their group."""

    path: Path
    units: list[int]
    group: int

    @property
    def polygon(self) -> Path:
        return self.path[:, :2]


def _come_first(found: Ints) -> bool:
    inner = np.flatnonzero(found >= 0)
    return bool((found[inner] > inner).all())


def _linked(
    paths: Sequence[Path], closed: list[_Loop], group: NDArray[np.int64], unit: Ints, *, as_given: bool
) -> Ints:
    """The same for loops that are looked at in this order, which is right."""
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]

    count = int(unit.max(initial=-1)) + 1
    found = np.full(count, -1, dtype=np.intp)
    last = np.arange(count)  # for each unit one on the way to the last of those behind it
    if not closed:
        return found
    for loop in closed:
        found[loop.units[:-1]] = last[loop.units[:-1]] = loop.units[1:]
    inside_of = np.array([path[len(path) // 2, :2] for path in paths])
    low = np.array([loop.polygon.min(axis=0) for loop in closed])
    high = np.array([loop.polygon.max(axis=0) for loop in closed])
    radius = (high - low).max(axis=1) / 2 * (1 + 1e-9)
    around = cKDTree(inside_of).query_ball_point((low + high) / 2, radius, p=np.inf)
    drawn_by = unit.tolist()
    some = [  # loops near which there is another stroke than their own
        (loop, np.array(near)) for loop, near in zip(closed, around, strict=True)
        if any(drawn_by[stroke] not in loop.units for stroke in near)
    ]  # fmt: skip
    for whole in (True, False):
        for loop, near in some:
            polygon, own = loop.polygon, np.array(loop.units[:1])
            near = near[group[near] == loop.group]
            for linked in (False, True)[: 1 + whole]:  # most of those with one behind them come first already
                left = near[(found[unit[near]] >= 0) == linked]
                # Two loops on each other contain each other's vertices or not, as rounding has it; one is the
                # later.
                left = left[_lasts(last, unit[left]) != _lasts(last, own)]
                if not len(left):
                    continue
                held = left[_contains(polygon, inside_of[left])]
                if whole:
                    spread = (paths[s][:: max(1, len(paths[s]) // _SPREAD), :2] for s in held.tolist())
                    held = held[[bool(_contains(polygon, vertices).all()) for vertices in spread]]
                ends = _lasts(last, unit[held])
                if as_given and not whole:
                    ends = ends[ends < own]
                found[ends] = last[ends] = own
    return found


def _lasts(last: Ints, units: Ints) -> Ints:
    ends = last[units]
    while ((further := last[ends]) != ends).any():
        ends = further
    last[units] = ends
    return ends


def _area(polygon: Path) -> float:
    x, y = (polygon - polygon[0]).T
    return abs(float(np.dot(x[1:], y[:-1]) - np.dot(y[1:], x[:-1]))) / 2


def _contains(polygon: Path, points: Path) -> Flags:
    """Which points lie inside, by the even-odd rule."""
    result = np.zeros(len(points), dtype=np.bool_)
    a, b = polygon, np.concatenate([polygon[1:], polygon[:1]])  # np.roll takes longer than all else here
    step = max(1, _BLOCK // len(polygon))
    for begin in range(0, len(points), step):
        x, y = points[begin : begin + step, 0, None], points[begin : begin + step, 1, None]
        crossing = (a[:, 1] > y) != (b[:, 1] > y)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            at = a[:, 0] + (y - a[:, 1]) / (b[:, 1] - a[:, 1]) * (b[:, 0] - a[:, 0])
        result[begin : begin + step] = (crossing & (x < at)).sum(axis=1) % 2 == 1
    return result


def heights(parent: Ints) -> Ints:
    """How many levels of strokes lie in each; 0 for those that contain nothing."""
    height = np.zeros(len(parent), dtype=np.intp)
    for _ in range(len(parent)):
        inner = np.flatnonzero(parent >= 0)
        raised = height.copy()
        np.maximum.at(raised, parent[inner], height[inner] + 1)
        if (raised == height).all():
            break
        height = raised
    return height
