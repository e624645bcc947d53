"""Which closed loop lies in which, so that what falls out of the sheet last is cut last."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warptsp.strokes.model import Flags, Ints, Path

_SPREAD = 8  # vertices of a stroke that say whether it lies in a loop
_BLOCK = 1 << 22  # of pairs of a point and an edge: 32 MB for each array of them


def parents(paths: Sequence[Path], loops: Flags) -> Ints:
    """The smallest closed loop around each stroke, -1 where there is none.

    A stroke is in a loop if its vertices are. One that crosses every loop around it has no right order, and
    counts by its middle vertex. A k-d tree of these vertices finds those near a loop.
    """
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]

    found = np.full(len(paths), -1, dtype=np.intp)
    closed = np.flatnonzero(loops)
    if len(closed) == 0:
        return found
    inside_of = np.array([path[len(path) // 2, :2] for path in paths])
    areas = np.array([_area(paths[loop][:, :2]) for loop in closed.tolist()])
    tree = cKDTree(inside_of)
    by_area = closed[np.argsort(areas, kind="stable")].tolist()
    for whole in (True, False):
        for loop in by_area:
            polygon = paths[loop][:, :2]
            low, high = polygon.min(axis=0), polygon.max(axis=0)
            radius = float((high - low).max()) / 2 * (1 + 1e-9)
            near = np.array(tree.query_ball_point((low + high) / 2, radius, p=np.inf), dtype=np.intp)
            near = near[(found[near] < 0) & (near != loop)]
            held = near[_contains(polygon, inside_of[near])]
            if whole:
                some = [paths[s][:: max(1, len(paths[s]) // _SPREAD), :2] for s in held.tolist()]
                held = held[[bool(_contains(polygon, vertices).all()) for vertices in some]]
            # Two loops on each other contain each other's vertices or not, as rounding has it; one is the
            # parent.
            held = held[[not _is_within(found, loop, int(stroke)) for stroke in held]]
            found[held] = loop
    return found


def _is_within(found: Ints, loop: int, stroke: int) -> bool:
    while loop >= 0:
        if loop == stroke:
            return True
        loop = int(found[loop])
    return False


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
