"""Chains of strokes whose ends meet within a tolerance, so that the tool stays down between them."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warptsp.strokes.model import Flags, Units

# Of each end the nearest so many others are considered: a million strokes from one point must not make 10^12
# pairs. At most one of them is taken.
_NEAREST = 8


class Chains(NamedTuple):
    """Chains, each a list of strokes and of whether they are drawn backwards; and the chains as units."""

    strokes: list[list[int]]
    backwards: list[list[bool]]
    units: Units


def joined(units: Units, loops: Flags, groups: NDArray[np.int64], tolerance: float) -> Chains:
    """Join ends that are at most `tolerance` apart, nearest first, each end once, within groups.

    A chain with a stroke that keeps its direction keeps it, too. Loops and holes stay alone, and no chain is
    closed.
    """
    n = len(units)
    chains = [deque([i]) for i in range(n)]
    backwards = [deque([False]) for _ in range(n)]
    if tolerance <= 0 or n < 2:
        return _as_chains(units, chains, backwards, units.reversible)
    owner = list(range(n))
    # 1: only forwards as the chain stands now, -1: only backwards, 0: either.
    direction = [0 if free else 1 for free in units.reversible.tolist()]

    def is_end(chain: int, right: bool, stroke: int, last: int) -> bool:
        place = -1 if right else 0
        return chains[chain][place] == stroke and (int(right) ^ int(backwards[chain][place])) == last

    for a, b in _pairs(units, loops, groups, tolerance):
        (stroke_a, last_a), (stroke_b, last_b) = divmod(a, 2), divmod(b, 2)
        one, other = owner[stroke_a], owner[stroke_b]
        if one == other:
            continue
        right_one, right_other = is_end(one, True, stroke_a, last_a), is_end(other, True, stroke_b, last_b)
        if not (right_one or is_end(one, False, stroke_a, last_a)):
            continue  # joined already
        if not (right_other or is_end(other, False, stroke_b, last_b)):
            continue
        turned = right_one == right_other  # whether the other comes backwards then
        sign = -direction[other] if turned else direction[other]
        if direction[one] * sign < 0:
            continue  # one of them would be drawn against its direction
        if len(chains[one]) < len(chains[other]):  # the shorter is moved: n log n steps in all
            one, other, right_one, right_other = other, one, right_other, right_one
            sign = -direction[other] if turned else direction[other]
        moved, flags = list(chains[other]), [flag != turned for flag in backwards[other]]
        if right_other:
            moved.reverse()
            flags.reverse()
        if right_one:
            chains[one].extend(moved)
            backwards[one].extend(flags)
        else:
            chains[one].extendleft(moved)
            backwards[one].extendleft(flags)
        for stroke in moved:
            owner[stroke] = one
        direction[one] = direction[one] or sign
        chains[other].clear()
        backwards[other].clear()
    for chain in range(n):
        if direction[chain] < 0 and chains[chain]:
            chains[chain].reverse()
            backwards[chain] = deque(not flag for flag in reversed(backwards[chain]))
    return _as_chains(units, chains, backwards, np.array([sign == 0 for sign in direction], dtype=np.bool_))


def _as_chains(
    units: Units, chains: list[deque[int]], backwards: list[deque[bool]], reversible: Flags
) -> Chains:
    kept = [chain for chain, strokes in enumerate(chains) if strokes]
    starts = np.array([chains[c][0] for c in kept], dtype=np.intp)
    ends = np.array([chains[c][-1] for c in kept], dtype=np.intp)
    turned = np.array([[backwards[c][0], backwards[c][-1]] for c in kept], dtype=np.bool_).reshape(-1, 2)
    first = np.where(turned[:, :1], units.last[starts], units.first[starts])
    last = np.where(turned[:, 1:], units.first[ends], units.last[ends])
    whole = Units(first, last, reversible[kept])
    return Chains([list(chains[c]) for c in kept], [list(backwards[c]) for c in kept], whole)


def _pairs(units: Units, loops: Flags, groups: NDArray[np.int64], tolerance: float) -> list[tuple[int, int]]:
    """Ends of different strokes of one group, numbered 2 i and 2 i + 1, the nearest first."""
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]

    strokes = np.flatnonzero(~(loops | units.single))
    if len(strokes) < 2:
        return []
    points = np.stack([units.first[strokes], units.last[strokes]], axis=1).reshape(2 * len(strokes), -1)
    count = min(_NEAREST + 1, len(points))
    distances, found = cKDTree(points).query(points, k=count, distance_upper_bound=tolerance * (1 + 1e-12))
    rows = np.repeat(np.arange(len(points)), count)
    columns, distances = found.ravel(), distances.ravel()
    near = (columns < len(points)) & (rows < columns)
    rows, columns, distances = rows[near], columns[near], distances[near]
    ends = 2 * strokes[rows // 2] + rows % 2, 2 * strokes[columns // 2] + columns % 2
    fitting = (ends[0] // 2 != ends[1] // 2) & (groups[ends[0] // 2] == groups[ends[1] // 2])
    order = np.argsort(distances[fitting], kind="stable")
    return list(zip(ends[0][fitting][order].tolist(), ends[1][fitting][order].tolist(), strict=True))
