"""Orders of units, group by group: searched, refined, and with the entries of closed loops.

All groups are searched at once where that can be; otherwise one after the other, each from the end of the
last.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warptsp.strokes.directed import (
    by_windows,
    matrix_size,
    searched_as_matrix,
    searched_as_options,
    two_ways,
)
from warptsp.strokes.entries import Options, best_options
from warptsp.strokes.joining import Chains, joined
from warptsp.strokes.machine import Machine
from warptsp.strokes.model import Ends, Path, Units
from warptsp.strokes.nearest import nearest_first
from warptsp.strokes.nesting import heights, parents
from warptsp.strokes.refine import Refined, refine, travel_of
from warptsp.strokes.search import Effort, searched

MATRIX = 1000
"""Fixed edges up to which directions are searched as one matrix, of twice as many rows; more are searched in
windows. 600 strokes that keep their direction, 5 s: 19 736 by local search alone, 17 823 with the matrix."""
WINDOW = 250
"""Fixed edges in a window of the order."""
ENTRIES = 400
"""Options of all units together up to which orders and entries of loops are searched at once, at the end."""
_ENTRIES = 128
"""Vertices of a loop that are tried as entries: all, or so many evenly spaced and as many near neighbours."""
FLOORS = 1000
"""Groups that are searched together at most: a thousand floors take three of the sixteen digits there are."""
_ROUNDS = 6  # of search and choice of entries; three are usual
_WORTH = 0.002  # of the travel: a round that gains less is the last

_Vertices = list[NDArray[np.intp] | None]  # of each unit those that its options enter; None for a stroke


@dataclass(frozen=True, slots=True)
class Task:
    """What one call puts in order: chains of strokes as units, their groups, and who must come first."""

    paths: list[Path]
    chains: Chains
    closed: NDArray[np.bool_]  # units that are one closed loop, entered anywhere
    group: NDArray[np.int64]
    parent: NDArray[np.intp] | None
    machine: Machine

    @property
    def units(self) -> Units:
        return self.chains.units

    @classmethod
    def of(
        cls,
        paths: list[Path],
        free: NDArray[np.bool_],
        group: NDArray[np.int64],
        anywhere: NDArray[np.bool_],
        outlines: list[Path] | None,  # where inner ones come first
        tolerance: float,
        machine: Machine,
    ) -> Task:
        axes = paths[0].shape[1] if paths else 2
        first = np.array([path[0] for path in paths]).reshape(-1, axes)
        last = np.array([path[-1] for path in paths]).reshape(-1, axes)
        closed = np.array([len(p) > 2 and bool((p[0] == p[-1]).all()) for p in paths], dtype=np.bool_)
        chains = joined(Units(first, last, free), closed, group, tolerance)
        heads = np.array([strokes[0] for strokes in chains.strokes], dtype=np.intp)
        unit_of = np.empty(len(paths), dtype=np.intp)
        for unit, strokes in enumerate(chains.strokes):
            unit_of[strokes] = unit
        parent = None
        if outlines is not None:
            loops = np.array([len(p) > 2 and bool((p[0] == p[-1]).all()) for p in outlines], dtype=np.bool_)
            around = parents(outlines, loops)[heads]
            parent = np.where(around >= 0, unit_of[around], -1)
            parent[group[heads[np.maximum(parent, 0)]] != group[heads]] = -1
            if not (parent >= 0).any():
                parent = None
        return cls(paths, chains, (closed & anywhere)[heads], group[heads], parent, machine)

    def entered(self, members: NDArray[np.intp], entry: NDArray[np.intp]) -> Units:
        """Some units, the closed loops of them entered at these vertices."""
        units, loops = self.units.of(members), np.flatnonzero(self.closed[members])
        if len(loops) == 0:
            return units
        pairs = zip(members[loops].tolist(), entry[loops].tolist(), strict=True)
        return units.entered_at(np.array([self.loop(unit)[vertex] for unit, vertex in pairs]), loops)

    def parents_among(self, members: NDArray[np.intp]) -> NDArray[np.intp] | None:
        """For each of some units which of them must come later, counted among them; -1 for none."""
        if self.parent is None:
            return None
        local = np.full(len(self.units), -1, dtype=np.intp)
        local[members] = np.arange(len(members))
        above = self.parent[members]
        return np.where(above >= 0, local[above], -1)

    def loop(self, unit: int) -> Path:
        """The vertices of a closed loop, each once."""
        return self.paths[self.chains.strokes[unit][0]][:-1]


def given_order(task: Task) -> Refined:
    """The order of the input, as far as groups and inner cuts allow."""
    keys = [np.arange(len(task.units))]
    if task.parent is not None:
        keys.append(heights(task.parent))
    order = np.lexsort([*keys, task.group])
    return Refined(order, np.zeros(len(task.units), dtype=np.bool_))


def nearest_order(task: Task, ends: Ends) -> Refined:
    """The nearest next, group after group, each from the end of the last."""
    order: list[NDArray[np.intp]] = []
    backwards = np.zeros(len(task.units), dtype=np.bool_)
    start = ends.start
    for members in _members(task.group):
        units = task.units.of(members)
        found = nearest_first(units, task.machine, Ends(start), task.parents_among(members))
        order.append(members[found.order])
        backwards[members] = found.backwards
        start = units.left(found.order[-1], found.backwards)
    return Refined(np.concatenate(order), backwards)


def travel_mixed(task: Task, ends: Ends) -> float | None:
    """The travel of the nearest next if groups did not matter; None where there is one."""
    n = len(task.units)
    if n == 0 or (task.group == task.group[0]).all():
        return None
    found = nearest_first(task.units, task.machine, Ends(ends.start), task.parents_among(np.arange(n)))
    return travel_of(task.units, task.machine, ends, found)


def _members(group: NDArray[np.int64]) -> list[NDArray[np.intp]]:
    """The units of each group, ascending, group after group."""
    by_group = np.argsort(group, kind="stable")
    return np.split(by_group, np.flatnonzero(np.diff(group[by_group])) + 1)


def _beginning(task: Task, members: NDArray[np.intp]) -> Path | None:
    """Where a group begins in any order; None unless it is one unit that can be entered in one place."""
    unit = int(members[0])
    if len(members) > 1 or task.closed[unit] or (task.units.reversible[unit] and not task.units.single[unit]):
        return None
    point: Path = task.units.first[unit]
    return point


def arranged(task: Task, ends: Ends, greedy: Refined, effort: Effort) -> tuple[Refined, NDArray[np.intp]]:
    """All groups at once where that can be, or else one after the other, each from the end of the last."""
    n = len(task.units)
    if _can_be_floors(task):
        part = _Part(task, np.arange(n), ends, effort, greedy, np.unique(task.group, return_inverse=True)[1])
        together = part.arranged(1.0)
        if (np.diff(task.group[together.order]) >= 0).all():
            return together, part.entry
    order: list[NDArray[np.intp]] = []
    backwards = np.zeros(n, dtype=np.bool_)
    entry = np.zeros(n, dtype=np.intp)
    start = ends.start
    groups = _members(task.group)
    left = n
    effort.parts = len(groups) > 1
    for number, members in enumerate(groups):
        last = number == len(groups) - 1
        here = Ends(start, ends.end if last else _beginning(task, groups[number + 1]))
        if len(groups) > 1:
            greedy = nearest_first(task.units.of(members), task.machine, here, task.parents_among(members))
        part = _Part(task, members, here, effort, greedy)
        found = part.arranged(len(members) / left)
        left -= len(members)
        order.append(members[found.order])
        backwards[members] = found.backwards
        entry[members] = part.entry
        start = part.units.left(found.order[-1], found.backwards)
    whole = Refined(np.concatenate(order), backwards)
    if len(groups) > 1:  # directions and entries, with what comes after each group in view
        every = np.arange(n)
        options, vertices = _options(task, every, task.entered(every, entry))
        _choose(vertices, best_options(options, whole.order, task.machine, ends)[0], whole.backwards, entry)
    return whole, entry


def _can_be_floors(task: Task) -> bool:
    """Whether one search can keep the groups apart: in the plane, where nothing else needs the third axis."""
    units = task.units
    return (
        1 < len(np.unique(task.group)) <= FLOORS
        and units.first.shape[1] == 2
        and task.machine.exact
        and not task.machine.maximum  # in which all ways up to the next floor would be equal
        and task.parent is None
        and units.free
    )


class _Part:
    """A group, on its way to an order: its units with the entries chosen so far."""

    def __init__(
        self,
        task: Task,
        members: NDArray[np.intp],
        ends: Ends,
        effort: Effort,
        greedy: Refined,
        floors: NDArray[np.int64] | None = None,
    ) -> None:
        self.task = task
        self.floors = floors
        self.members = members
        self.ends = ends
        self.effort = effort
        self.greedy = greedy  # an order of the members that begins where they do
        self.loops = np.flatnonzero(task.closed[members])
        self.entry = np.zeros(len(members), dtype=np.intp)
        units = task.units.of(members)
        # A loop is sought at its middle before anything is known of its neighbours.
        middles = [task.loop(int(members[loop])).mean(axis=0) for loop in self.loops]
        self.units = units.entered_at(np.array(middles), self.loops) if middles else units
        self.parent = task.parents_among(members)

    def arranged(self, share: float) -> Refined:
        """The order, after rounds of search and choice of entries; the greedy one if that is no longer."""
        effort = self.effort
        deadline = effort.deadline
        if np.isfinite(deadline):  # this group's own
            effort.deadline = time.monotonic() + max(effort.left, 0.0) * share
        try:
            found = self._in_rounds()
        finally:
            effort.deadline = deadline
        given, machine = self.task.units.of(self.members), self.task.machine
        greedy = travel_of(given, machine, self.ends, self.greedy)
        if greedy < travel_of(self.units, machine, self.ends, found):
            self.units, self.entry = given, np.zeros_like(self.entry)
            return self.greedy
        return found

    def _in_rounds(self) -> Refined:
        effort = self.effort
        found = self._searched(None, 0.6 if len(self.loops) else 1.0)
        settled = self.units.free and self.task.machine.exact
        if len(self.loops) == 0 and self.floors is None and settled:
            return found  # the tour says all directions, and measures what they cost
        begun = time.monotonic()
        best = self._entered(found)
        effort.deadline -= time.monotonic() - begun  # a search has to leave the time to do this again
        for _ in range(_ROUNDS if len(self.loops) else 0):
            if effort.over:
                break
            kept = found, self.units, self.entry
            found = self._searched(found, 0.5)
            cost = self._entered(found)
            if cost > best:
                found, self.units, self.entry = kept
            if cost >= best * (1 - _WORTH):
                break
            best = cost
        if len(self.loops) and self.parent is None and self.floors is None and not effort.over:
            self._with_all_entries(found)
        return found

    def _entered(self, found: Refined) -> float:
        """Choose all directions and entries along an order; return the cost of its travel."""
        options, vertices = _options(self.task, self.members, self.units)
        chosen, cost = best_options(options, found.order, self.task.machine, self.ends)
        self._enter(vertices, chosen, found)
        return cost

    def _with_all_entries(self, found: Refined) -> None:
        """Search orders and entries at once, where there are few: loops as large as the drawing need it."""
        options, vertices = _options(self.task, self.members, self.units)
        if len(options.enter) > ENTRIES:
            return
        machine = self.task.machine
        chosen, _ = best_options(options, found.order, machine, self.ends)
        found.order, chosen = searched_as_options(
            options, machine, self.ends, found.order, chosen, self.effort, 1.0
        )
        self._enter(vertices, chosen, found)

    def _enter(self, vertices: _Vertices, chosen: NDArray[np.intp], found: Refined) -> None:
        self.entry = np.zeros_like(self.entry)  # one that is kept stays as it is
        _choose(vertices, chosen, found.backwards, self.entry)
        self.units = self.task.entered(self.members, self.entry)

    def _searched(self, begun: Refined | None, share: float) -> Refined:
        """One search, from an order or from nothing."""
        units, machine, ends, effort = self.units, self.task.machine, self.ends, self.effort
        if len(units) == 1:  # as in programs with a tool change behind each cut: thousands of groups
            order = np.zeros(1, dtype=np.intp)
            chosen, _ = best_options(two_ways(units), order, machine, ends)
            return Refined(order, chosen == 1)
        if begun is None and effort.over:
            return Refined(self.greedy.order.copy(), self.greedy.backwards.copy())
        if self.parent is not None:
            if begun is None:
                begun = self._by_height(share * 0.6)
            return refine(units, machine, ends, begun, self.parent, effort.deadline)
        if machine.exact and units.free:
            return searched(units, machine, ends, begun, effort, share, self.floors)
        if begun is None:
            begun = self._directed(searched(units, machine, ends, None, effort, share * 0.3))
        found = refine(units, machine, ends, begun, None, effort.deadline)
        if units.free:
            return found
        if matrix_size(units) <= MATRIX:
            return searched_as_matrix(units, machine, ends, found, effort, share)
        return by_windows(units, machine, ends, found, effort, WINDOW)

    def _by_height(self, share: float) -> Refined:
        """What contains nothing first, then what contains that, and so on."""
        assert self.parent is not None
        height = heights(self.parent)
        order, start = [], self.ends.start
        backwards = np.zeros(len(self.units), dtype=np.bool_)
        for level in range(int(height.max()) + 1):
            members = np.flatnonzero(height == level)
            units = self.units.of(members)
            part = searched(units, self.task.machine, Ends(start, None), None, self.effort,
                            share * len(members) / len(height))  # fmt: skip
            part = self._directed(part, units, Ends(start, None))
            order.append(members[part.order])
            backwards[members] = part.backwards
            start = units.left(part.order[-1], part.backwards)
        return Refined(np.concatenate(order), backwards)

    def _directed(self, found: Refined, units: Units | None = None, ends: Ends | None = None) -> Refined:
        """An order in which what keeps its direction does: that one, or its reverse, or nearest first."""
        units, ends = units or self.units, ends or self.ends
        if units.free:
            return found
        machine = self.task.machine
        tried = [found.order, found.order[::-1], nearest_first(units, machine, ends).order]
        options = two_ways(units)
        results = []
        for order in tried:
            chosen, cost = best_options(options, order, machine, ends)
            results.append((cost, Refined(order.copy(), chosen == 1)))
        return min(results, key=lambda result: result[0])[1]


def _options(task: Task, members: NDArray[np.intp], units: Units) -> tuple[Options, _Vertices]:
    """All ways to draw some units, and which vertices the options of a loop are."""
    plain = two_ways(units)
    closed = np.flatnonzero(task.closed[members])
    vertices: _Vertices = [None] * len(members)
    if len(closed) == 0:
        return plain, vertices
    enter = np.split(plain.enter, plain.offsets[1:-1])
    leave = np.split(plain.leave, plain.offsets[1:-1])
    for loop in closed.tolist():
        points = task.loop(int(members[loop]))
        tried = _tried(points, units.first[loop])
        vertices[loop] = tried
        enter[loop] = leave[loop] = points[tried]
    offsets = np.concatenate([[0], np.cumsum([len(e) for e in enter])]).astype(np.intp)
    return Options(np.concatenate(enter), np.concatenate(leave), offsets), vertices


def _tried(points: Path, entry: Path) -> NDArray[np.intp]:
    """The vertices of a loop that may be entries: all of a few, some of many, and those near the present."""
    if len(points) <= _ENTRIES:
        return np.arange(len(points))
    spaced = np.linspace(0, len(points), _ENTRIES // 2, endpoint=False).astype(np.intp)
    away = ((points - entry) ** 2).sum(axis=1)
    near = np.argpartition(away, _ENTRIES // 2)[: _ENTRIES // 2]
    return np.union1d(spaced, near)


def _choose(
    vertices: _Vertices, chosen: NDArray[np.intp], backwards: NDArray[np.bool_], entry: NDArray[np.intp]
) -> None:
    """Write chosen options into directions and entries."""
    for place, (tried, option) in enumerate(zip(vertices, chosen.tolist(), strict=True)):
        backwards[place] = tried is None and bool(option)
        if tried is not None:
            entry[place] = tried[option]
