"""Which closed loop lies in which, so that what falls out of the sheet last is cut last."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warptsp.strokes.model import Flags, Ints, Path

_SPREAD = 8  # vertices of a stroke that say whether it lies in a loop
_BLOCK = 1 << 22  # of pairs of a point and an edge: 32 MB for each array of them


def parents(
    paths: Sequence[Path],
    loops: Flags,
    group: NDArray[np.int64],
    unit: Ints,
    several: Sequence[tuple[list[int], Path]] = (),
) -> tuple[Ints, bool]:
    """For each unit, a loop or a chain of strokes, a loop that must come later, -1 where there is none; and
    whether units are in a right order already, perhaps another one.

    A stroke is in a loop of its group if its vertices are. Where it is in several, these follow each other,
    the larger behind the smaller: two that cross each other may, and one in another must. A stroke that
    crosses every loop around it has no right order, and counts by its middle vertex. A k-d tree of these
    vertices finds those near a loop.

    Loops that `several` strokes make are given as these and the outline. Where one holds something, the last
    of its strokes closes it: that must come behind what is held, and behind the others.
    """
    parts = {len(paths) + number: strokes for number, (strokes, _) in enumerate(several)}
    closing = [max(strokes) for strokes in parts.values()]
    paths = [*paths, *(outline for _, outline in several)]
    loops = np.concatenate([loops, np.ones(len(several), dtype=np.bool_)])
    group, unit = np.concatenate([group, group[closing]]), np.concatenate([unit, unit[closing]])
    closed = np.flatnonzero(loops)
    outlines = [paths[loop][:, :2] for loop in closed.tolist()]
    sizes = [float(np.ptp(outline, axis=0).sum()) for outline in outlines]  # the area of an eight may be 0
    by_size = closed[np.lexsort([[_area(outline) for outline in outlines], sizes])].tolist()
    found = _linked(paths, by_size, group, unit, parts, as_given=False)
    right = _come_first(found) or _come_first(
        _linked(paths, closed.tolist(), group, unit, parts, as_given=True)
    )
    return found, right


def _come_first(found: Ints) -> bool:
    inner = np.flatnonzero(found >= 0)
    return bool((found[inner] > inner).all())


def _linked(
    paths: Sequence[Path],
    closed: list[int],
    group: NDArray[np.int64],
    unit: Ints,
    parts: dict[int, list[int]],
    *,
    as_given: bool,
) -> Ints:
    """The same for loops that are looked at in this order, which is right."""
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]

    count = int(unit.max(initial=-1)) + 1
    found = np.full(count, -1, dtype=np.intp)
    last = np.arange(count)  # for each unit one on the way to the last of those behind it
    if not closed:
        return found
    inside_of = np.array([path[len(path) // 2, :2] for path in paths])
    tree = cKDTree(inside_of)
    for whole in (True, False):
        for loop in closed:
            polygon, own = paths[loop][:, :2], unit[[loop]]
            low, high = polygon.min(axis=0), polygon.max(axis=0)
            radius = float((high - low).max()) / 2 * (1 + 1e-9)
            near = np.array(tree.query_ball_point((low + high) / 2, radius, p=np.inf), dtype=np.intp)
            near = near[group[near] == group[loop]]
            for linked in (False, True)[: 1 + whole]:  # most of those with one behind them come first already
                left = near[(found[unit[near]] >= 0) == linked]
                # Two loops on each other contain each other's vertices or not, as rounding has it; one is the
                # later.
                left = left[_lasts(last, unit[left]) != _lasts(last, own)]
                if not len(left):
                    continue
                held = left[_contains(polygon, inside_of[left])]
                if whole:
                    some = [paths[s][:: max(1, len(paths[s]) // _SPREAD), :2] for s in held.tolist()]
                    held = held[[bool(_contains(polygon, vertices).all()) for vertices in some]]
                if len(held) and loop in parts:
                    others = np.array(parts[loop], dtype=np.intp)
                    held = np.concatenate([held, others[_lasts(last, unit[others]) != _lasts(last, own)]])
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
    return abs(float(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))) / 2


def _contains(polygon: Path, points: Path) -> Flags:
    """Which points lie inside, by the even-odd rule."""
    result = np.zeros(len(points), dtype=np.bool_)
    a, b = polygon, np.roll(polygon, -1, axis=0)
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
