"""Local search for what a symmetric search cannot measure.

Costs of a machine that are no norm, strokes that keep their direction, and loops that must come before those
around them: or-opt, 2-opt and the exchange of two neighbouring segments (or-3opt), on lists of nearest
neighbours. Each round values all moves at once in NumPy, and makes the best of those that do not interfere.
The or-opt move is Or's (1976); the segment exchange is the 3-opt move that turns nothing around.
"""

import time
from dataclasses import dataclass, replace
from itertools import pairwise
from math import fsum

import numpy as np

from warptsp.strokes.model import Flags, Ints, Ordering, Path, Reals, Section

_NEIGHBOURS = 8
_SEGMENT = 3  # units that or-opt moves at once, at most
_TINY = 1e-9  # of the travel before: gains below are rounding
_BLOCK = 1 << 14  # places whose moves are valued at once, which bounds the memory

# For each place the nearest places to go to, and whether entered by their far ends; shape (m, k).
_Near = tuple[Ints, Flags]


@dataclass(slots=True)
class _Row:
    """The units in their order, between two places that stand for the start and the end.

    `enter` and `leave` have a row for each place; `gap` is the cost of the travel behind it. An open end
    costs nothing.
    """

    section: Section
    order: Ints  # with -1 at both ends
    backwards: Flags
    enter: Path
    leave: Path
    gap: Reals
    free: Flags
    later: Ints  # the place that must stay behind each, and the last that must stay before it
    earlier: Ints
    blocked: Ints  # of places behind each, the first that must stay behind one at or behind it

    @classmethod
    def of(cls, section: Section, found: Ordering) -> "_Row":
        units, ends, parent = section.units, section.ends, section.parent
        order, backwards = found.order, found.backwards
        flags = backwards[order][:, None]
        first, last = units.first[order], units.last[order]
        start, end = (first[:1] if point is None else point[None] for point in (ends.start, ends.end))
        enter = np.concatenate([start, np.where(flags, last, first), end])
        leave = np.concatenate([start, np.where(flags, first, last), end])
        row = cls(
            section,
            np.concatenate([[-1], order, [-1]]), np.concatenate([[False], backwards[order], [False]]),
            enter, leave, np.empty(0),
            np.concatenate([[False], units.reversible[order], [False]]),
            *(np.full(len(order) + 2, place) for place in (len(order) + 2, 0, 0)),
        )  # fmt: skip
        places = np.arange(len(order) + 1)
        row.gap = row.cost(places, places + 1)
        if parent is not None:
            place, inner = row.places(), np.flatnonzero(parent >= 0)
            row.later[place[inner]] = place[parent[inner]]
            np.maximum.at(row.earlier, place[parent[inner]], place[inner])
        row.blocked = np.minimum.accumulate(row.later[::-1])[::-1]
        return row

    def cost(self, a: Ints, b: Ints, a_turned: bool = False, b_turned: bool = False) -> Reals:
        """Of the travels from the places `a` to the places `b`, drawn as now or turned."""
        out = (self.enter if a_turned else self.leave)[a]
        into = (self.leave if b_turned else self.enter)[b]
        cost = self.section.machine.cost(out, into)
        if self.section.ends.start is None:
            cost = np.where(a == 0, 0.0, cost)
        if self.section.ends.end is None:
            cost = np.where(b == len(self.order) - 1, 0.0, cost)
        return cost

    def places(self) -> Ints:
        place = np.empty(len(self.order) - 2, dtype=np.intp)
        place[self.order[1:-1]] = np.arange(1, len(self.order) - 1)
        return place

    def ordering(self) -> Ordering:
        backwards = np.zeros(len(self.order) - 2, dtype=np.bool_)
        backwards[self.order[1:-1]] = self.backwards[1:-1]
        return Ordering(self.order[1:-1].copy(), backwards)

    def rearranged(self, taken: Ints, turned: Flags) -> "_Row":
        """The units at the places `taken`, in this order, some of them turned."""
        order = self.order[taken]
        flags = np.zeros(len(order), dtype=np.bool_)
        flags[order] = self.backwards[taken] ^ turned
        return _Row.of(self.section, Ordering(order, flags))


def travel_of(section: Section, found: Ordering) -> float:
    """The cost of all travels between units in an order, with those from the start and to the end."""
    return fsum(_Row.of(replace(section, parent=None), found).gap.tolist())


def refine(section: Section, begun: Ordering, deadline: float, rounds: int = 1000) -> Ordering:
    """Shorten the travel of an order until nothing improves, or `time.monotonic` has come to the deadline.

    `begun` has units before their parents already.
    """
    if len(section.units) < 2:
        return begun
    row = _Row.of(section, begun)
    for _ in range(rounds):
        if time.monotonic() >= deadline:
            break
        before = row
        for improved in (_insertions, _exchanges):  # the same row where nothing improves
            row = improved(row, _near(row))
        if row is before:
            break
    return row.ordering()


def _near(row: _Row) -> _Near:
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]

    m = len(row.order)
    machine = row.section.machine
    enter, leave = machine.frame(row.enter), machine.frame(row.leave)
    turnable = np.flatnonzero(row.free & (row.enter != row.leave).any(axis=1))
    points = np.concatenate([enter[1:-1], leave[turnable]])
    of_point = np.concatenate([np.arange(1, m - 1), turnable])
    turned = np.arange(len(points)) >= m - 2
    count = min(_NEIGHBOURS + 2, len(points))  # its own ends are among them
    norm = np.inf if machine.maximum else 2
    _, found = cKDTree(points).query(leave, k=count, p=norm)
    found = found.reshape(m, count)
    return of_point[found], turned[found]


def _insertions(row: _Row, near: _Near) -> _Row:
    """Or-opt: runs of one to three units go elsewhere, in either direction where that is allowed."""
    m = len(row.order)
    pieces = []
    for begin in range(0, m, _BLOCK):
        block = np.arange(begin, min(begin + _BLOCK, m))
        targets = near[0][block]
        sources = np.broadcast_to(block[:, None], targets.shape).ravel()
        others = targets.ravel()
        # A run goes behind a place near it, or in front of one.
        for length in range(1, _SEGMENT + 1):
            for turned in (False, True):
                # The run begins at `others`, behind `sources`; or it ends at `sources`, before `others`.
                runs = [(others, others + length - 1, sources), (sources - length + 1, sources, others - 1)]
                if turned and length > 1:
                    runs.append((others - length + 1, others, sources))
                    runs.append((sources, sources + length - 1, others - 1))
                pieces += [_valued(row, *run, turned) for run in runs]
    gain, *moves = (np.concatenate(column) for column in zip(*pieces, strict=True))
    best = np.argsort(-gain, kind="stable")
    return _inserted(row, *(column[best] for column in moves))


def _valued(
    row: _Row, first: Ints, last: Ints, behind: Ints, turned: bool
) -> tuple[Reals, Ints, Ints, Ints, Flags]:
    """The gains of moving the runs from `first` to `last` behind the places `behind`; those above nothing."""
    m = len(row.order)
    ok = (first >= 1) & (last <= m - 2) & (behind >= 0) & (behind <= m - 2)
    ok &= (behind < first - 1) | (behind > last)
    if turned:  # in place, too
        ok |= (first >= 1) & (last <= m - 2) & (behind == first - 1)
    first, last, behind = first[ok], last[ok], behind[ok]
    if turned:
        free = np.concatenate([[0], np.cumsum(row.free)])
        whole = free[last + 1] - free[first] == last - first + 1
        first, last, behind = first[whole], last[whole], behind[whole]
    in_place = behind == first - 1
    after = np.where(in_place, last + 1, behind + 1)
    opened = row.gap[first - 1] + np.where(in_place, 0.0, row.gap[behind] - row.cost(first - 1, last + 1))
    gain = opened + row.gap[last]
    if turned:
        gain = gain - row.cost(behind, last, False, True) - row.cost(first, after, True, False)
    else:
        gain = gain - row.cost(behind, first) - row.cost(last, after)
    good = gain > _TINY * max(float(row.gap.sum()), 1e-300)
    if row.section.parent is not None:  # all that a run passes may stand on its other side
        low = np.where(behind > last, first, behind + 1)
        high = np.where(behind > last, behind, last)
        for step in range(_SEGMENT):
            member = np.minimum(first + step, last)
            good &= (row.later[member] > high) & (row.earlier[member] < low)
    flags = np.full(int(good.sum()), turned)
    return gain[good], first[good], last[good], behind[good], flags


def _inserted(row: _Row, first: Ints, last: Ints, behind: Ints, turned: Flags) -> _Row:
    """Make moves in the order given, leaving out those whose places another one has changed."""
    if len(first) == 0:
        return row
    m = len(row.order)
    following = np.arange(1, m + 1).tolist()
    touched = bytearray(m)  # places whose travel before or behind has changed, or that moved
    flags = np.zeros(m, dtype=np.bool_)
    related = _related(row)
    for a, b, k, turn in zip(first.tolist(), last.tolist(), behind.tolist(), turned.tolist(), strict=True):
        if any(touched[a - 1 : b + 2]) or touched[k] or touched[k + 1]:
            continue
        if related is not None and any(touched[other] for p in range(a, b + 1) for other in related[p]):
            continue
        touched[a - 1 : b + 2] = b"\1" * (b - a + 3)
        touched[k] = touched[k + 1] = 1
        run = list(range(a, b + 1))
        if turn:
            flags[a : b + 1] = True
            run.reverse()
        following[a - 1] = b + 1
        for one, other in pairwise([k, *run, b + 1 if k == a - 1 else k + 1]):
            following[one] = other
    taken, place = np.empty(m - 2, dtype=np.intp), following[0]
    for i in range(m - 2):
        taken[i] = place
        place = following[place]
    return row.rearranged(taken, flags[taken])


def _related(row: _Row) -> list[list[int]] | None:
    """For each place those that must come before or behind it."""
    if row.section.parent is None:
        return None
    place = row.places().tolist()
    related: list[list[int]] = [[] for _ in row.order]
    for unit, parent in enumerate(row.section.parent.tolist()):
        if parent >= 0:
            related[place[unit]].append(place[parent])
            related[place[parent]].append(place[unit])
    return related


def _exchanges(row: _Row, near: _Near) -> _Row:
    """2-opt and or-3opt: a stretch is turned around, or two neighbouring stretches change places."""
    m = len(row.order)
    free = np.concatenate([[0], np.cumsum(row.free)])
    tiny = _TINY * max(float(row.gap.sum()), 1e-300)
    found = []
    for begin in range(0, m - 1, _BLOCK):
        block = np.arange(begin, min(begin + _BLOCK, m - 1))
        for targets, by_far_end in zip(near[0][block].T, near[1][block].T, strict=True):
            # Turned: from i to the far end of j, with i + 1 to j turned around.
            ok = by_far_end & (targets > block)
            i, j = block[ok], targets[ok]
            gain = row.gap[i] + row.gap[j] - row.cost(i, j, False, True) - row.cost(i + 1, j + 1, True, False)
            ok = (gain > tiny) & (free[j + 1] - free[i + 1] == j - i)
            found.append((gain[ok], i[ok], j[ok], j[ok]))
            # Exchanged: i to j + 1, where the travel from j goes to a place near it, k + 1.
            ok = ~by_far_end & (targets > block + 1)
            i, j = block[ok], targets[ok] - 1
            for onward, far in zip(near[0][j].T, near[1][j].T, strict=True):
                ok = ~far & (onward > j + 1)
                a, b, c = i[ok], j[ok], onward[ok] - 1
                found.append(_exchange(row, a, b, c, tiny))
            # The end of the path, which is near nothing, behind j.
            found.append(_exchange(row, i, j, np.full(len(i), m - 2), tiny))
            # The same move seen from its last place: k to i + 1, then i to a place near it, j + 1.
            ok = ~by_far_end & (targets <= block) & (targets >= 1)
            c, i = block[ok], targets[ok] - 1
            for onward, far in zip(near[0][i].T, near[1][i].T, strict=True):
                ok = ~far & (onward > i + 1) & (onward <= c)
                found.append(_exchange(row, i[ok], onward[ok] - 1, c[ok], tiny))
    gain, first, middle, last = (np.concatenate(column) for column in zip(*found, strict=True))
    if row.section.parent is not None and len(gain):
        ok = row.blocked[first + 1] > last
        gain, first, middle, last = gain[ok], first[ok], middle[ok], last[ok]
    if len(gain) == 0:
        return row
    order = np.argsort(-gain, kind="stable")
    taken, turned = np.arange(1, m - 1), np.zeros(m - 2, dtype=np.bool_)
    covered = bytearray(m)  # travels within stretches that have changed; two stretches may share an end
    for i, j, k in zip(first[order].tolist(), middle[order].tolist(), last[order].tolist(), strict=True):
        if covered.find(1, i, k + 1) >= 0:
            continue
        covered[i : k + 1] = b"\1" * (k + 1 - i)
        if j == k:
            taken[i:k] = taken[i:k][::-1].copy()
            turned[i:k] = True
        else:
            taken[i:k] = np.concatenate([taken[j:k], taken[i:j]])
    return row.rearranged(taken, turned)


def _exchange(row: _Row, i: Ints, j: Ints, k: Ints, tiny: float) -> tuple[Reals, Ints, Ints, Ints]:
    """The gains of exchanging i + 1 to j with j + 1 to k; those above nothing."""
    ok = (i < j) & (j < k) & (k <= len(row.order) - 2)
    i, j, k = i[ok], j[ok], k[ok]
    gain = row.gap[i] + row.gap[j] + row.gap[k]
    gain = gain - row.cost(i, j + 1) - row.cost(k, i + 1) - row.cost(j, k + 1)
    good = gain > tiny
    return gain[good], i[good], j[good], k[good]
