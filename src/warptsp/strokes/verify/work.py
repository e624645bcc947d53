"""What verifiers share: the rules, and comparing works, their groups, and the order of what overlaps."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import ParseError

_PAIRS = 1 << 22  # of parts of two works that are measured at once
_MOST = 1 << 28  # such pairs at most: seconds


Points = NDArray[np.float64]
Ints = NDArray[np.intp]


class NotVerified(ParseError):  # noqa: N818 - as its base
    """A file in its new order would not do the same work; it is not written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the command was asked for, as far as it decides which order is right."""

    inner_first: bool = False  # whether what lies in a closed loop must come before it
    keep_directions: bool = False  # whether no stroke may be turned around
    keep_entries: bool = False  # whether no closed one may be entered elsewhere
    ungrouped: bool = False  # whether the groups of the file may be mixed
    join: float = 0.0  # ends at most this far apart may be joined


def matched(before: Sequence[Hashable], after: Sequence[Hashable], named: Callable[[Hashable], str]) -> Ints:
    """For each work of `before` the place in `after` of the same one; equal works in their order.

    Each has its geometry and the whole state under which it is done. Raises `NotVerified` if one is lost,
    added or changed; `named` is what the message calls it.
    """
    places: defaultdict[Hashable, deque[int]] = defaultdict(deque)
    for place, work in enumerate(after):
        places[work].append(place)
    found = np.empty(len(before), dtype=np.intp)
    for number, work in enumerate(before):
        if not places[work]:
            raise NotVerified(f"is not written: {named(work)} would be lost or changed")
        found[number] = places[work].popleft()
    if len(after) != len(before):
        extra = Counter(after) - Counter(before)
        raise NotVerified(f"is not written: {named(next(iter(extra)))} would be added")
    return found


def same_groups(before: Sequence[Hashable], after: Sequence[Hashable], place: Ints, what: str) -> None:
    """Raise `NotVerified` unless groups stay whole and in order: runs of works of a group are the same runs.

    Given is the group of each work, in the order in which they are done, and its place as from `matched`;
    `what` is what the message calls groups: ``"tools"``, ``"colours"``.
    """
    first, second = _runs(before), _runs(after)
    if len(before) != len(after) or (first != second[place]).any() or any(
        before[number] != after[int(at)] for number, at in enumerate(place)
    ):  # fmt: skip
        raise NotVerified(f"is not written: {what} would be mixed, or change places")


def _runs(groups: Sequence[Hashable]) -> Ints:
    """The number of the run that each stands in."""
    changes = [0] + [int(groups[i] != groups[i - 1]) for i in range(1, len(groups))]
    return np.cumsum(np.array(changes[: len(groups)], dtype=np.intp))


def overlaps_in_order(
    paths: Sequence[Points], depths: Sequence[Hashable], place: Ints, reach: float
) -> tuple[int, int] | None:
    """Two works that overlap in the plane, have different depths, and change places; None if there are none.

    Paths are cut into parts that are sorted into square cells. Where all works of a cell with different
    depths are done in the order in which they were, there is nothing to measure; elsewhere every pair is.
    Works of equal depths may change places; holes have their place as depth. `place` is as from `matched`.
    Works overlap where they come as near to each other as `reach`: the width of the tool, 0 if it is not
    known.
    """
    codes: dict[Hashable, int] = {}
    depth = np.array([codes.setdefault(d, len(codes)) for d in depths], dtype=np.intp)
    if len(codes) < 2 or bool((np.diff(place) > 0).all()):
        return None
    parts = _parts(paths, reach)
    cell, part = _cells(parts, reach)
    owner = parts.owner[part]
    runs = _disordered(cell, owner, depth, place)
    pairs = 0
    for members in runs:
        own = part[members]
        pairs += len(own) ** 2
        if pairs > _MOST:
            raise NotVerified("is not written: too many works lie on each other to compare their order")
        found = _inverted(parts, own, depth, place, reach)
        if found is not None:
            return found
    return None


@dataclass(frozen=True, slots=True)
class _Parts:
    """Straight pieces of works, from `a` to `b`."""

    a: Points
    b: Points
    owner: Ints
    size: float


def _parts(paths: Sequence[Points], reach: float) -> _Parts:
    """All paths as pieces no longer than about the mean of their lines."""
    counts = np.array([max(len(path) - 1, 1) for path in paths], dtype=np.intp)
    a = np.concatenate([path[:-1] if len(path) > 1 else path for path in paths])
    b = np.concatenate([path[1:] if len(path) > 1 else path for path in paths])
    owner = np.repeat(np.arange(len(paths)), counts)
    length = np.hypot(*(b - a).T)
    spread = float(np.ptp(np.concatenate([a, b]), axis=0).max())
    size = max(float(length.mean()), 2 * reach, spread / 2**20, 1e-9 * float(np.abs(a).max()), 1e-300)
    cuts = np.maximum(np.ceil(length / size), 1).astype(np.intp)
    which = np.repeat(np.arange(len(a)), cuts)
    number = np.arange(len(which)) - np.repeat(np.cumsum(cuts) - cuts, cuts)
    low, high = (number / cuts[which])[:, None], ((number + 1) / cuts[which])[:, None]
    way = (b - a)[which]
    return _Parts(a[which] + low * way, a[which] + high * way, owner[which], size)


def _cells(parts: _Parts, reach: float) -> tuple[NDArray[np.int64], Ints]:
    """The cells near which each part comes: pairs of a cell and a part."""
    margin = reach / 2 + 1e-6 * parts.size
    low = np.floor((np.minimum(parts.a, parts.b) - margin) / parts.size).astype(np.int64)
    high = np.floor((np.maximum(parts.a, parts.b) + margin) / parts.size).astype(np.int64)
    low, high = low - low.min(axis=0), high - low.min(axis=0)
    wide, tall = (high - low + 1).T
    part = np.repeat(np.arange(len(low)), wide * tall)
    number = np.arange(len(part)) - np.repeat(np.cumsum(wide * tall) - wide * tall, wide * tall)
    column, row = low[part, 0] + number % wide[part], low[part, 1] + number // wide[part]
    return column * (int(high[:, 1].max()) + 1) + row, part


def _disordered(cell: NDArray[np.int64], owner: Ints, depth: Ints, place: Ints) -> list[Ints]:
    """The members of each cell in which works of different depths change places."""
    by_cell = np.lexsort([owner, cell])
    cells, owners = cell[by_cell], owner[by_cell]
    fresh = np.concatenate([[True], cells[1:] != cells[:-1]])
    changed = np.concatenate([[False], depth[owners[1:]] != depth[owners[:-1]]])
    run = np.cumsum(changed | fresh)  # works of one depth that follow each other in a cell
    behind = np.lexsort([place[owners], cells])
    back = (np.diff(run[behind]) < 0) & ~fresh[1:]  # cells keep their places in either order
    starts = np.flatnonzero(fresh)
    wrong = np.unique(np.searchsorted(starts, np.flatnonzero(back), side="right") - 1)
    bounds = np.append(starts, len(cells))
    return [by_cell[bounds[w] : bounds[w + 1]] for w in wrong.tolist()]


def _inverted(parts: _Parts, own: Ints, depth: Ints, place: Ints, reach: float) -> tuple[int, int] | None:
    """Two works among the parts of a cell that touch, differ in depth and change places."""
    owner = parts.owner[own]
    step = max(1, _PAIRS // len(own))
    for begin in range(0, len(own), step):
        mine = owner[begin : begin + step, None]
        wrong = (mine < owner) & (depth[mine] != depth[owner]) & (place[mine] > place[owner])
        i, j = np.nonzero(wrong)
        i += begin
        slack = reach + 1e-6 * max(reach, 1e-3 * parts.size)
        near = _distance(parts.a[own[i]], parts.b[own[i]], parts.a[own[j]], parts.b[own[j]]) <= slack
        if near.any():
            first = int(np.flatnonzero(near)[0])
            return int(owner[i[first]]), int(owner[j[first]])
    return None


def _distance(a: Points, b: Points, c: Points, d: Points) -> Points:
    """How near lines from `a` to `b` come to lines from `c` to `d`, row by row."""
    ends = [_from_point(a, c, d), _from_point(b, c, d), _from_point(c, a, b), _from_point(d, a, b)]
    sides = [_side(a, b, c) * _side(a, b, d), _side(c, d, a) * _side(c, d, b)]
    crossing = (sides[0] < 0) & (sides[1] < 0)
    return np.where(crossing, 0.0, np.minimum.reduce(ends))


def _side(a: Points, b: Points, p: Points) -> Points:
    """On which side of the line from `a` to `b` a point is."""
    turn: Points = (b - a)[:, 0] * (p - a)[:, 1] - (b - a)[:, 1] * (p - a)[:, 0]
    return np.sign(turn)


def _from_point(p: Points, a: Points, b: Points) -> Points:
    """How far a point is from a line between two others."""
    way = b - a
    square = (way**2).sum(axis=1)
    along = np.clip(((p - a) * way).sum(axis=1) / np.where(square > 0, square, 1.0), 0.0, 1.0)
    gap: Points = np.hypot(*(p - a - along[:, None] * way).T)
    return gap


def inner_first(paths: Sequence[Points], kinds: Sequence[Hashable]) -> tuple[int, int] | None:
    """A closed path that is drawn before one of its kind (its group, say) that lies in it, and that one.

    Paths come in the order in which they are drawn. None if there are no two such.
    """
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]

    middles = np.array([path[len(path) // 2] for path in paths]).reshape(-1, 2)
    if len(middles) == 0:
        return None
    tree = cKDTree(middles)
    for number, path in enumerate(paths):
        if len(path) < 4 or (path[0] != path[-1]).any():
            continue
        low, high = path.min(axis=0), path.max(axis=0)
        near = tree.query_ball_point((low + high) / 2, float((high - low).max()) / 2, p=np.inf)
        for other in near:
            if other <= number or kinds[other] != kinds[number]:
                continue
            box = paths[other]  # wholly within, or else it crosses, and has no right order
            within = (box.min(axis=0) >= low).all() and (box.max(axis=0) <= high).all()
            if (
                within
                and not _same_way(path, box)
                and all(_inside(path, point) for point in box[:: max(1, len(box) // 8)])
            ):
                return number, int(other)
    return None


def _same_way(path: Points, other: Points) -> bool:
    """Whether two loops lie on each other, as two passes do."""
    return bool(
        np.isclose(path.min(axis=0), other.min(axis=0)).all()
        and np.isclose(path.max(axis=0), other.max(axis=0)).all()
    )


def _inside(polygon: Points, point: Points) -> bool:
    """Whether a point lies in a closed polygon, by the even-odd rule."""
    a, b = polygon[:-1], polygon[1:]
    across = (a[:, 1] > point[1]) != (b[:, 1] > point[1])
    a, b = a[across], b[across]
    at = a[:, 0] + (point[1] - a[:, 1]) / (b[:, 1] - a[:, 1]) * (b[:, 0] - a[:, 0])
    return int((point[0] < at).sum()) % 2 == 1
