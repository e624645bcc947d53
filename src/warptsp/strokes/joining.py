"""Chains of strokes whose ends meet within a tolerance, so that the tool stays down between them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warptsp.strokes.model import Flags, Path, Units

# Of each end the nearest so many others are considered: a million strokes from one point must not make 10^12
# pairs. At most one of them is taken.
_NEAREST = 8
_GAP = 1e-5  # of a drawing's size: 0.01 mm in a metre, between lines and arcs that make an outline


class Chains(NamedTuple):
    """Chains, each a list of strokes and of whether they are drawn backwards; and the chains as units."""

    strokes: list[list[int]]
    backwards: list[list[bool]]
    units: Units


class Outline(NamedTuple):
    """Open strokes that close an outline together: these, and the vertices along all of them."""

    strokes: list[int]
    path: Path
    gap: float  # between their ends, at most


def joined(
    units: Units, loops: Flags, groups: NDArray[np.int64], tolerance: float | NDArray[np.float64]
) -> Chains:
    """Join ends that are at most `tolerance` apart, nearest first, each end once, within groups; all strokes
    of a group have the same.

    A chain with a stroke that keeps its direction keeps it, too. Loops and holes stay alone, and no chain is
    closed.
    """
    n = len(units)
    links: dict[int, int] = {}  # ends that are joined, numbered 2 i and 2 i + 1
    leader, size = list(range(n)), [1] * n  # a chain is drawn as its leader is drawn forwards
    turned = [False] * n  # whether a stroke runs against the one that leads it
    # Of a leader's chain: 1 only so, -1 only the other way around, 0 either.
    direction = [0 if free else 1 for free in units.reversible.tolist()]

    def chain_of(stroke: int) -> tuple[int, bool]:
        back = False
        while leader[stroke] != stroke:
            stroke, back = leader[stroke], back != turned[stroke]
        return stroke, back

    for a, b in _pairs(units, loops, groups, tolerance):
        (one, a_back), (other, b_back) = chain_of(a // 2), chain_of(b // 2)
        if one == other or a in links or b in links:
            continue
        turn = (a % 2 != a_back) == (b % 2 != b_back)  # both are the right, or the left end of their chain
        if direction[one] * direction[other] * (-1 if turn else 1) < 0:
            continue  # one of them would be drawn against its direction
        if size[one] < size[other]:  # so that leaders are found in log n steps
            one, other = other, one
        leader[other], turned[other] = one, turn
        size[one] += size[other]
        direction[one] = direction[one] or (-direction[other] if turn else direction[other])
        links[a], links[b] = b, a

    def onward(end: int) -> list[int]:
        """The ends at which the strokes behind this end are entered, one after the other."""
        entered = []
        while end in links:
            entered.append(links[end])
            end = links[end] ^ 1
        return entered

    leaders = [stroke for stroke in range(n) if leader[stroke] == stroke]
    drawn: list[list[int]] = []  # the ends at which the strokes of each chain are entered
    for stroke in leaders:
        drawn.append(
            [*(end ^ 1 for end in reversed(onward(2 * stroke))), 2 * stroke, *onward(2 * stroke + 1)]
        )
        if direction[stroke] < 0:
            drawn[-1] = [end ^ 1 for end in reversed(drawn[-1])]
    points = np.stack([units.first, units.last], axis=1).reshape(2 * n, units.first.shape[1])
    first = points[np.array([ends[0] for ends in drawn], dtype=np.intp)]
    last = points[np.array([ends[-1] ^ 1 for ends in drawn], dtype=np.intp)]
    free = np.array([direction[stroke] == 0 for stroke in leaders], dtype=np.bool_)
    strokes = [[end // 2 for end in ends] for ends in drawn]
    return Chains(strokes, [[end % 2 == 1 for end in ends] for ends in drawn], Units(first, last, free))


def closed_by_several(paths: Sequence[Path], groups: NDArray[np.int64]) -> list[Outline]:
    """Outlines that several open strokes of a group close, as CAD programs leave them where they explode
    one."""
    if len(paths) < 2:
        return []
    ends = np.array([[path[0], path[-1]] for path in paths])
    loops = (ends[:, 0] == ends[:, 1]).all(axis=1)
    if loops.all():  # of 100 000 holes, say
        return []
    gap = _GAP * float(np.ptp(ends, axis=(0, 1)).max())
    units = Units(ends[:, 0], ends[:, 1], np.ones(len(paths), dtype=np.bool_))
    chains = joined(units, loops, groups, gap)
    away = np.hypot(*(chains.units.first - chains.units.last).T[:2])
    found = []
    for chain in np.flatnonzero(away <= gap).tolist():
        strokes, backwards = chains.strokes[chain], chains.backwards[chain]
        if len(strokes) > 1:
            drawn = [paths[s][::-1] if back else paths[s] for s, back in zip(strokes, backwards, strict=True)]
            found.append(Outline(strokes, np.concatenate([*drawn, drawn[0][:1]]), gap))
    return found


def _pairs(
    units: Units, loops: Flags, groups: NDArray[np.int64], tolerance: float | NDArray[np.float64]
) -> list[tuple[int, int]]:
    """Ends of different strokes of one group, numbered 2 i and 2 i + 1, the nearest first."""
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]

    strokes = np.flatnonzero(~(loops | units.single))
    reach = np.repeat(np.broadcast_to(tolerance, len(units))[strokes], 2)  # of each end
    if len(strokes) < 2 or reach.max() <= 0:
        return []
    points = np.stack([units.first[strokes], units.last[strokes]], axis=1).reshape(2 * len(strokes), -1)
    count = min(_NEAREST + 1, len(points))
    distances, found = cKDTree(points).query(points, k=count, distance_upper_bound=reach.max() * (1 + 1e-12))
    rows = np.repeat(np.arange(len(points)), count)
    columns, distances = found.ravel(), distances.ravel()
    near = (columns < len(points)) & (rows < columns) & (distances <= reach[rows] * (1 + 1e-12))
    rows, columns, distances = rows[near], columns[near], distances[near]
    ends = 2 * strokes[rows // 2] + rows % 2, 2 * strokes[columns // 2] + columns % 2
    fitting = (ends[0] // 2 != ends[1] // 2) & (groups[ends[0] // 2] == groups[ends[1] // 2])
    order = np.argsort(distances[fitting], kind="stable")
    return list(zip(ends[0][fitting][order].tolist(), ends[1][fitting][order].tolist(), strict=True))
