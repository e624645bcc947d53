"""Orders of units, group by group: searched, refined, and with the entries of closed loops.

All groups are searched at once where that can be; otherwise one after the other, each from the end of the
last.
"""

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from warptsp.strokes.directed import by_windows, searched_as_matrix, searched_as_options
from warptsp.strokes.entries import Options, best_options
from warptsp.strokes.joining import Chains, closed_by_several, joined
from warptsp.strokes.machine import Machine
from warptsp.strokes.model import Ends, Flags, Ints, Ordering, Path, Section, Units
from warptsp.strokes.nearest import nearest_first
from warptsp.strokes.nesting import heights, parents
from warptsp.strokes.refine import refine, travel_of
from warptsp.strokes.search import Effort, searched

MATRIX = 1000
"""Fixed edges, with that of the ends, up to which directions are searched as one matrix of twice as many
rows; more are searched in windows. 600 strokes that keep their direction, 5 s: 19 736 by local search alone,
17 823 with the matrix."""
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

_Vertices = list[Ints | None]  # of each unit those that its options enter; None for a stroke


@dataclass(frozen=True, slots=True)
class Task:
    """What one call puts in order: chains of strokes as units, their groups, and who must come first."""

    paths: list[Path]
    chains: Chains
    closed: Flags  # units that are one closed loop, entered anywhere
    group: NDArray[np.int64]
    parent: Ints | None
    as_given: bool  # whether inner ones come first in the order of the input, too
    tolerance: float  # of ends that are joined
    machine: Machine

    @property
    def units(self) -> Units:
        return self.chains.units

    @classmethod
    def of(
        cls,
        paths: list[Path],
        free: Flags,
        group: NDArray[np.int64],
        anywhere: Flags,
        outlines: list[Path] | None,  # where inner ones come first
        tolerance: float,
        machine: Machine,
    ) -> "Task":
        axes = paths[0].shape[1] if paths else 2
        first = np.array([path[0] for path in paths]).reshape(-1, axes)
        last = np.array([path[-1] for path in paths]).reshape(-1, axes)
        closed = _are_loops(paths)
        several = [] if outlines is None else closed_by_several(outlines, group)
        within, reach = group.copy(), np.full(len(paths), tolerance)
        for number, outline in enumerate(several, start=1):  # joined among themselves
            within[outline.strokes] = group.max() + number
            reach[outline.strokes] = max(tolerance, outline.gap)
        chains = joined(Units(first, last, free), closed, within, reach)
        heads = np.array([strokes[0] for strokes in chains.strokes], dtype=np.intp)
        unit_of = np.empty(len(paths), dtype=np.intp)
        for unit, strokes in enumerate(chains.strokes):
            unit_of[strokes] = unit
        parent, as_given = None, True
        if outlines is not None:
            parent, as_given = parents(outlines, _are_loops(outlines), group, unit_of, several)
            if not (parent >= 0).any():
                parent = None
        return cls(
            paths, chains, (closed & anywhere)[heads], group[heads], parent, as_given, tolerance, machine
        )

    def entered(self, members: Ints, entry: Ints) -> Units:
        """Some units, the closed loops of them entered at these vertices."""
        units, loops = self.units.of(members), np.flatnonzero(self.closed[members])
        if len(loops) == 0:
            return units
        pairs = zip(members[loops].tolist(), entry[loops].tolist(), strict=True)
        return units.entered_at(np.array([self.loop(unit)[vertex] for unit, vertex in pairs]), loops)

    def section(self, members: Ints, ends: Ends) -> Section:
        """Some units, as they were given; their parents are counted among them."""
        parent = None
        if self.parent is not None:
            local = np.full(len(self.units), -1, dtype=np.intp)
            local[members] = np.arange(len(members))
            above = self.parent[members]
            parent = np.where(above >= 0, local[above], -1)
        return Section(self.units.of(members), self.machine, ends, parent)

    def are_joined(self, stroke: int, following: int, backwards: Flags) -> bool:
        """Whether the tool stays down between two strokes of a chain, which may be an outline's alone."""
        left = self.paths[stroke][0 if backwards[stroke] else -1]
        entered = self.paths[following][-1 if backwards[following] else 0]
        return self.tolerance > 0 and float(np.linalg.norm(left - entered)) <= self.tolerance * (1 + 1e-12)

    def loop(self, unit: int) -> Path:
        """The vertices of a closed loop, each once."""
        return self.paths[self.chains.strokes[unit][0]][:-1]


def _are_loops(paths: list[Path]) -> Flags:
    return np.array([len(path) > 2 and bool((path[0] == path[-1]).all()) for path in paths], dtype=np.bool_)


def given_order(task: Task) -> Ordering:
    """The order of the input, as far as groups and inner cuts allow."""
    keys = [np.arange(len(task.units))]
    if task.parent is not None and not task.as_given:
        keys.append(heights(task.parent))
    order = np.lexsort([*keys, task.group])
    return Ordering(order, np.zeros(len(task.units), dtype=np.bool_))


def nearest_order(task: Task, ends: Ends) -> Ordering:
    """The nearest next, group after group, each from the end of the last."""
    order: list[Ints] = []
    backwards = np.zeros(len(task.units), dtype=np.bool_)
    start = ends.start
    for members in _members(task.group):
        section = task.section(members, Ends(start))
        found = nearest_first(section)
        order.append(members[found.order])
        backwards[members] = found.backwards
        start = section.units.left(found.order[-1], found.backwards)
    return Ordering(np.concatenate(order), backwards)


def travel_mixed(task: Task, ends: Ends) -> float | None:
    """The travel of the nearest next if groups did not matter; None where there is one."""
    n = len(task.units)
    if n == 0 or (task.group == task.group[0]).all():
        return None
    whole = task.section(np.arange(n), ends)
    return travel_of(whole, nearest_first(whole))


def _members(group: NDArray[np.int64]) -> list[Ints]:
    """The units of each group, ascending, group after group."""
    by_group = np.argsort(group, kind="stable")
    return np.split(by_group, np.flatnonzero(np.diff(group[by_group])) + 1)


def _beginning(task: Task, members: Ints) -> Path | None:
    """Where a group begins in any order; None unless it is one unit that can be entered in one place."""
    unit = int(members[0])
    if len(members) > 1 or task.closed[unit] or (task.units.reversible[unit] and not task.units.single[unit]):
        return None
    point: Path = task.units.first[unit]
    return point


def arranged(task: Task, ends: Ends, greedy: Ordering, effort: Effort) -> tuple[Ordering, Ints]:
    """All groups at once where that can be, or else one after the other, each from the end of the last."""
    n = len(task.units)
    if _can_be_floors(task):
        floors = np.unique(task.group, return_inverse=True)[1]
        part = _Part(task, np.arange(n), ends, effort, greedy, floors)
        together = part.arranged(1.0)
        if (np.diff(task.group[together.order]) >= 0).all():
            return together, part.entry
    order: list[Ints] = []
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
            greedy = nearest_first(task.section(members, here))
        part = _Part(task, members, here, effort, greedy)
        found = part.arranged(len(members) / left)
        left -= len(members)
        order.append(members[found.order])
        backwards[members] = found.backwards
        entry[members] = part.entry
        start = part.section.units.left(found.order[-1], found.backwards)
    whole = Ordering(np.concatenate(order), backwards)
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
        members: Ints,
        ends: Ends,
        effort: Effort,
        greedy: Ordering,
        floors: Ints | None = None,
    ) -> None:
        self.task = task
        self.floors = floors
        self.members = members
        self.effort = effort
        self.greedy = greedy  # an order of the members that begins where they do
        self.loops = np.flatnonzero(task.closed[members])
        self.entry = np.zeros(len(members), dtype=np.intp)
        self.given = self.section = task.section(members, ends)
        # A loop is sought at its middle before anything is known of its neighbours.
        middles = [task.loop(int(members[loop])).mean(axis=0) for loop in self.loops]
        if middles:
            units = self.given.units.entered_at(np.array(middles), self.loops)
            self.section = replace(self.given, units=units)

    def arranged(self, share: float) -> Ordering:
        """The order, after rounds of search and choice of entries; the greedy one if that is no longer."""
        effort = self.effort
        deadline = effort.deadline
        if np.isfinite(deadline):  # this group's own
            effort.deadline = time.monotonic() + max(effort.left, 0.0) * share
        try:
            found = self._in_rounds()
        finally:
            effort.deadline = deadline
        if travel_of(self.given, self.greedy) < travel_of(self.section, found):
            self.section, self.entry = self.given, np.zeros_like(self.entry)
            return self.greedy
        return found

    def _in_rounds(self) -> Ordering:
        effort = self.effort
        found = self._searched(None, 0.6 if len(self.loops) else 1.0)
        settled = self.section.units.free and self.section.machine.exact
        if len(self.loops) == 0 and self.floors is None and settled:
            return found  # the tour says all directions, and measures what they cost
        begun = time.monotonic()
        best = self._entered(found)
        effort.deadline -= time.monotonic() - begun  # a search has to leave the time to do this again
        for _ in range(_ROUNDS if len(self.loops) else 0):
            if effort.over:
                break
            kept = found, self.section, self.entry
            found = self._searched(found, 0.5)
            cost = self._entered(found)
            if cost > best:
                found, self.section, self.entry = kept
            if cost >= best * (1 - _WORTH):
                break
            best = cost
        if len(self.loops) and self.section.parent is None and self.floors is None and not effort.over:
            self._with_all_entries(found)
        return found

    def _entered(self, found: Ordering) -> float:
        """Choose all directions and entries along an order; return the cost of its travel."""
        options, vertices = _options(self.task, self.members, self.section.units)
        chosen, cost = best_options(options, found.order, self.section.machine, self.section.ends)
        self._enter(vertices, chosen, found)
        return cost

    def _with_all_entries(self, found: Ordering) -> None:
        """Search orders and entries at once, where there are few: loops as large as the drawing need it."""
        options, vertices = _options(self.task, self.members, self.section.units)
        if len(options.enter) > ENTRIES:
            return
        machine, ends = self.section.machine, self.section.ends
        chosen, _ = best_options(options, found.order, machine, ends)
        found.order, chosen = searched_as_options(
            options, machine, ends, found.order, chosen, self.effort, 1.0
        )
        self._enter(vertices, chosen, found)

    def _enter(self, vertices: _Vertices, chosen: Ints, found: Ordering) -> None:
        self.entry = np.zeros_like(self.entry)  # one that is kept stays as it is
        _choose(vertices, chosen, found.backwards, self.entry)
        self.section = replace(self.section, units=self.task.entered(self.members, self.entry))

    def _searched(self, begun: Ordering | None, share: float) -> Ordering:
        """One search, from an order or from nothing."""
        section, effort = self.section, self.effort
        free = section.units.free
        if len(section.units) == 1:  # as in programs with a tool change behind each cut: thousands of groups
            return _drawn(section, np.zeros(1, dtype=np.intp))[1]
        if begun is None and effort.over:
            return Ordering(self.greedy.order.copy(), self.greedy.backwards.copy())
        if section.parent is not None:
            return refine(section, begun or self._by_height(share * 0.6), effort.deadline)
        if section.machine.exact and free:
            return searched(section, begun, effort, share, self.floors)
        if begun is None:
            begun = _directed(section, searched(section, None, effort, share * 0.3))
        found = refine(section, begun, effort.deadline)
        if free:
            return found
        if len(Options.two_ways(section.units).enter) < MATRIX:
            return searched_as_matrix(section, found, effort, share)
        return by_windows(section, found, effort, WINDOW)

    def _by_height(self, share: float) -> Ordering:
        """What contains nothing first, then what contains that, and so on."""
        units, machine = self.section.units, self.section.machine
        assert self.section.parent is not None
        height = heights(self.section.parent)
        order, start = [], self.section.ends.start
        backwards = np.zeros(len(units), dtype=np.bool_)
        for level in range(int(height.max()) + 1):
            members = np.flatnonzero(height == level)
            here = Section(units.of(members), machine, Ends(start))
            part = _directed(here, searched(here, None, self.effort, share * len(members) / len(height)))
            order.append(members[part.order])
            backwards[members] = part.backwards
            start = here.units.left(part.order[-1], part.backwards)
        return Ordering(np.concatenate(order), backwards)


def _directed(section: Section, found: Ordering) -> Ordering:
    """An order in which what keeps its direction does: that one, or its reverse, or nearest first."""
    if section.units.free:
        return found
    tried = [found.order, found.order[::-1], nearest_first(section).order]
    return min((_drawn(section, order) for order in tried), key=lambda result: result[0])[1]


def _drawn(section: Section, order: Ints) -> tuple[float, Ordering]:
    """An order with the best directions for it, and what its travel costs."""
    options = Options.two_ways(section.units)
    chosen, cost = best_options(options, order, section.machine, section.ends)
    return cost, Ordering(order.copy(), chosen == 1)


def _options(task: Task, members: Ints, units: Units) -> tuple[Options, _Vertices]:
    """All ways to draw some units, and which vertices the options of a loop are."""
    plain = Options.two_ways(units)
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


def _tried(points: Path, entry: Path) -> Ints:
    """The vertices of a loop that may be entries: all of a few, some of many, and those near the present."""
    if len(points) <= _ENTRIES:
        return np.arange(len(points))
    spaced = np.linspace(0, len(points), _ENTRIES // 2, endpoint=False).astype(np.intp)
    away = ((points - entry) ** 2).sum(axis=1)
    near = np.argpartition(away, _ENTRIES // 2)[: _ENTRIES // 2]
    return np.union1d(spaced, near)


def _choose(vertices: _Vertices, chosen: Ints, backwards: Flags, entry: Ints) -> None:
    """Write chosen options into directions and entries."""
    for place, (tried, option) in enumerate(zip(vertices, chosen.tolist(), strict=True)):
        backwards[place] = tried is None and bool(option)
        if tried is not None:
            entry[place] = tried[option]
