"""The call: strokes in, their order, directions and entries out. Long: a plan whose steps share it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptsp._checks import checked_number
from warptsp.errors import InvalidOption
from warptsp.run import COMPLETE, PROVED

from .directed import by_windows, matrix_size, searched_as_matrix, searched_as_options, two_ways
from .entries import Options, best_options
from .joining import Chains, joined
from .machine import Machine, machine_of
from .model import (
    Ends,
    Path,
    Units,
    checked_flags,
    checked_groups,
    checked_paths,
    checked_point,
)
from .nearest import nearest_first
from .nesting import heights, parents
from .plan import Plan, travel_points
from .refine import Refined, refine, travel_of
from .search import Effort, searched

__all__ = ["arrange"]

DEFAULT_SECONDS = 6.0
"""Without a time limit everything together takes at most this long, and less where little is left to gain."""
RESERVE = 2e-5
"""Seconds for each stroke that the plan takes behind the search: 1 to 2 s for 100 000 on one busy core."""
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


def arrange(
    paths: Iterable[ArrayLike],
    *,
    home: ArrayLike | None = None,
    back: bool = False,
    reversible: bool | ArrayLike = True,
    loops: bool | ArrayLike = True,
    groups: Sequence[object] | None = None,
    inner_first: bool = False,
    outlines: Iterable[ArrayLike] | None = None,
    join: float = 0.0,
    machine: Machine | str = "euclidean",
    time_limit: float | None = None,
    **options: Any,
) -> Plan:
    """Put strokes, holes and cuts into an order with little travel between them.

    Parameters
    ----------
    paths : iterable of array_like, each of shape (k, 2) or (k, 3)
        The points of each stroke; one point is a hole. A stroke of three points or more whose last point is
        its first is a closed loop.
    home : array_like, shape (2,) or (3,), optional
        Where the tool starts. Without it the first stroke may be any.
    back : bool
        Whether the tool returns there.
    reversible : bool or array_like of bool, shape (n,)
        Whether a stroke may be drawn from its last point to its first. Loops keep their direction in any
        case: it changes no travel.
    loops : bool or array_like of bool, shape (n,)
        Whether a closed loop may be entered at any of its vertices; otherwise at its first point.
    groups : sequence, optional
        For each stroke its group, such as a colour, a tool or a layer. Groups stay together, whole numbers in
        ascending order, anything else in the order in which the groups first appear.
    inner_first : bool
        Whether what lies in a closed loop comes before it, within its group.
    outlines : iterable of array_like, optional
        The strokes once more, with as many points as it takes to say what lies in a loop: a circle may be
        entered at four points and still be round. By default `paths`.
    join : float
        Ends of strokes of a group that are at most this far apart are joined: these strokes follow each other
        and the tool stays down. 0 joins nothing.
    machine : Machine or {"euclidean", "max"}
        What a travel costs: `Euclidean`, `MaxOfAxes` or `AxisTimes`.
    time_limit : float, optional
        Wall-clock seconds for the whole call. By default at most 6, and less where little is left to gain.
    **options
        Those of `warptsp.solve` that say how to search: ``kicks``, ``seed``, ``threads``, ``device``,
        ``method``, ``params``, ``callback``.

    Returns
    -------
    Plan
        Never with more travel than the order that was given, where that keeps groups and ``inner_first``, nor
        than drawing always the nearest stroke next, however little time there is.

    Raises
    ------
    InvalidProblem, InvalidOption
        An argument is invalid; the message names it.

    Examples
    --------
    >>> import warptsp.strokes
    >>> rows = [[[0, y], [10, y]] for y in range(4)]
    >>> plan = warptsp.strokes.arrange(rows, home=[0, 0])
    >>> plan.order.tolist(), plan.backwards.tolist(), plan.travel
    ([0, 1, 2, 3], [False, True, False, True], 3.0)
    """
    started = time.monotonic()
    drawing = checked_paths(paths)
    n = len(drawing)
    axes = drawing[0].shape[1] if drawing else 2
    place = checked_point("home", home, axes)
    free = checked_flags("reversible", reversible, n)
    group = checked_groups(groups, n)
    tolerance = checked_number("join", join, minimum=0.0, what="a distance of 0 or more")
    cost = machine_of(machine)
    if back and place is None:
        raise InvalidOption("back: to which home position? Give home, too")
    effort = _effort_of(time_limit, options, started, n * RESERVE)
    anywhere = checked_flags("loops", loops, n)
    shapes = drawing if outlines is None else checked_paths(outlines)
    if len(shapes) != n:
        raise InvalidOption(f"outlines: {len(shapes)} for {n} strokes; one for each is needed")
    task = _Task.of(drawing, free, group, anywhere, shapes if inner_first else None, tolerance, cost)
    ends = Ends(place, place if back else None)
    before = _travel(drawing, place, back, cost)
    order, entry = _given_order(task), task.first_entries()
    if n > 0:
        greedy = _greedy(task, ends)
        tried = [(order, entry), (greedy, entry), _arranged(task, ends, greedy, effort)]
        order, entry = min(tried, key=lambda found: travel_of(task.entered(found[1]), cost, ends, found[0]))
    plan = _plan_of(task, ends, order, started, effort, entry)
    mixed = _travel_mixed(task, ends)
    return replace(plan, travel_before=before, travel_mixed=mixed, seconds=time.monotonic() - started)


class _Task:
    """What one call puts in order: chains of strokes as units, their groups, and who must come first."""

    def __init__(
        self,
        paths: list[Path],
        chains: Chains,
        closed: NDArray[np.bool_],
        group: NDArray[np.int64],
        parent: NDArray[np.intp] | None,
        machine: Machine,
    ) -> None:
        self.paths = paths
        self.chains = chains
        self.units = chains.units
        self.closed = closed  # units that are one closed loop, entered anywhere
        self.group = group
        self.parent = parent
        self.machine = machine

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
    ) -> _Task:
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

    def first_entries(self) -> NDArray[np.intp]:
        return np.zeros(len(self.units), dtype=np.intp)

    def entered(self, entry: NDArray[np.intp]) -> Units:
        """The units, with closed loops entered at these vertices."""
        loops = np.flatnonzero(entry)
        if len(loops) == 0:
            return self.units
        return self.units.entered_at(_entered(self, loops, entry), loops)

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


def _effort_of(time_limit: float | None, options: dict[str, Any], started: float, reserve: float) -> Effort:
    unknown = set(options) - {"kicks", "seed", "threads", "device", "method", "params", "callback", "stop"}
    if unknown:
        raise InvalidOption(f"there is no option {min(unknown)}: kicks, seed, threads, device, method, "
                            "params, callback and stop are passed on to the search")  # fmt: skip
    if time_limit is not None:
        limit = checked_number("time_limit", time_limit, minimum=0.0, what="a number of seconds, 0 or more")
        return Effort(options, started + limit - reserve, limit)
    if "kicks" in options or "stop" in options:
        return Effort(options, np.inf, np.inf)
    return Effort(options, started + DEFAULT_SECONDS, DEFAULT_SECONDS, settle=True)


def _given_order(task: _Task) -> Refined:
    """The order of the input, as far as groups and inner cuts allow."""
    keys = [np.arange(len(task.units))]
    if task.parent is not None:
        keys.append(heights(task.parent))
    order = np.lexsort([*keys, task.group])
    return Refined(order, np.zeros(len(task.units), dtype=np.bool_))


def _greedy(task: _Task, ends: Ends) -> Refined:
    """The nearest next, group after group, each from the end of the last."""
    order: list[NDArray[np.intp]] = []
    backwards = np.zeros(len(task.units), dtype=np.bool_)
    start = ends.start
    for members in _members(task.group):
        units = task.units.of(members)
        found = nearest_first(units, task.machine, Ends(start), task.parents_among(members))
        order.append(members[found.order])
        backwards[members] = found.backwards
        start = _end_of(units, found)
    return Refined(np.concatenate(order), backwards)


def _travel_mixed(task: _Task, ends: Ends) -> float | None:
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


def _beginning(task: _Task, members: NDArray[np.intp]) -> Path | None:
    """Where a group begins in any order; None unless it is one unit that can be entered in one place."""
    unit = int(members[0])
    if len(members) > 1 or task.closed[unit] or (task.units.reversible[unit] and not task.units.single[unit]):
        return None
    point: Path = task.units.first[unit]
    return point


def _end_of(units: Units, found: Refined) -> Path:
    """Where the last unit of an order is left."""
    last = int(found.order[-1])
    end: Path = units.first[last] if found.backwards[last] else units.last[last]
    return end


def _arranged(task: _Task, ends: Ends, greedy: Refined, effort: Effort) -> tuple[Refined, NDArray[np.intp]]:
    """All groups at once where that can be, or else one after the other, each from the end of the last."""
    n = len(task.units)
    if _can_be_floors(task):
        part = _Part(task, np.arange(n), ends, effort, greedy, np.unique(task.group, return_inverse=True)[1])
        together = part.arranged(1.0)
        if (np.diff(task.group[together.order]) >= 0).all():
            return together, part.entry
    order: list[NDArray[np.intp]] = []
    backwards = np.zeros(n, dtype=np.bool_)
    entry = task.first_entries()
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
        start = _end_of(part.units, found)
    whole = Refined(np.concatenate(order), backwards)
    if len(groups) > 1:  # directions and entries, with what comes after each group in view
        options, vertices = _options(task, np.arange(n), task.units.entered_at(
            _entered(task, np.flatnonzero(task.closed), entry), np.flatnonzero(task.closed)))  # fmt: skip
        chosen, _ = best_options(options, whole.order, task.machine, ends)
        _apply(np.arange(n), vertices, chosen, whole, entry)
    return whole, entry


def _can_be_floors(task: _Task) -> bool:
    """Whether one search can keep the groups apart: in the plane, where nothing else needs the third axis."""
    units = task.units
    return (
        1 < len(np.unique(task.group)) <= FLOORS
        and units.first.shape[1] == 2
        and task.machine.exact
        and not task.machine.maximum  # in which all ways up to the next floor would be equal
        and task.parent is None
        and bool((units.reversible | units.single).all())
    )


class _Part:
    """A group, on its way to an order: its units with the entries chosen so far."""

    def __init__(
        self,
        task: _Task,
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
        settled = (self.units.reversible | self.units.single).all() and self.task.machine.exact
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
        task = self.task
        options, vertices = _options(task, self.members, self.units)
        chosen, cost = best_options(options, found.order, task.machine, self.ends)
        entry = task.first_entries()
        whole = Refined(self.members[found.order], np.zeros(len(task.units), dtype=np.bool_))
        _apply(self.members, vertices, chosen, whole, entry)
        found.backwards[:] = whole.backwards[self.members]
        self._enter(entry)
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
        whole = Refined(self.members[found.order], np.zeros(len(self.task.units), dtype=np.bool_))
        entry = self.task.first_entries()
        _apply(self.members, vertices, chosen, whole, entry)
        found.backwards[:] = whole.backwards[self.members]
        self._enter(entry)

    def _enter(self, entry: NDArray[np.intp]) -> None:
        self.entry = entry[self.members]
        if len(self.loops):
            points = _entered(self.task, self.members[self.loops], entry)
            self.units = self.units.entered_at(points, self.loops)

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
        if machine.exact and (units.reversible | units.single).all():
            return searched(units, machine, ends, begun, effort, share, self.floors)
        directed = not (units.reversible | units.single).all()
        if begun is None:
            begun = self._directed(searched(units, machine, ends, None, effort, share * 0.3))
        found = refine(units, machine, ends, begun, None, effort.deadline)
        if not directed:
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
            last = int(part.order[-1])
            start = units.first[last] if part.backwards[last] else units.last[last]
        return Refined(np.concatenate(order), backwards)

    def _directed(self, found: Refined, units: Units | None = None, ends: Ends | None = None) -> Refined:
        """An order in which what keeps its direction does: that one, or its reverse, or nearest first."""
        units, ends = units or self.units, ends or self.ends
        if (units.reversible | units.single).all():
            return found
        machine = self.task.machine
        tried = [found.order, found.order[::-1], nearest_first(units, machine, ends).order]
        options = two_ways(units)
        results = []
        for order in tried:
            chosen, cost = best_options(options, order, machine, ends)
            results.append((cost, Refined(order.copy(), chosen == 1)))
        return min(results, key=lambda result: result[0])[1]


def _options(
    task: _Task, members: NDArray[np.intp], units: Units
) -> tuple[Options, list[NDArray[np.intp] | None]]:
    """All ways to draw some units, and which vertices the options of a loop are."""
    plain = two_ways(units)
    closed = np.flatnonzero(task.closed[members])
    vertices: list[NDArray[np.intp] | None] = [None] * len(members)
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


def _entered(task: _Task, units: NDArray[np.intp], entry: NDArray[np.intp]) -> NDArray[np.float64]:
    """The points at which loops are entered."""
    axes = task.units.first.shape[1]
    return np.array([task.loop(int(unit))[entry[unit]] for unit in units]).reshape(-1, axes)


def _apply(
    members: NDArray[np.intp],
    vertices: list[NDArray[np.intp] | None],
    chosen: NDArray[np.intp],
    order: Refined,
    entry: NDArray[np.intp],
) -> None:
    """Write chosen options into an order and into the entries."""
    for place, unit in enumerate(members.tolist()):
        tried = vertices[place]
        if tried is None:
            order.backwards[unit] = bool(chosen[place])
        else:
            entry[unit] = tried[chosen[place]]
            order.backwards[unit] = False


def _plan_of(
    task: _Task,
    ends: Ends,
    order: Refined,
    started: float,
    effort: Effort,
    entry: NDArray[np.intp],
) -> Plan:
    """The plan of an order of units, measured stroke by stroke."""
    n = len(task.paths)
    strokes: list[int] = []
    backwards = np.zeros(n, dtype=np.bool_)
    vertex = np.zeros(n, dtype=np.intp)
    down = np.zeros(n, dtype=np.bool_)
    for unit in order.order.tolist():
        chain, flags = task.chains.strokes[unit], task.chains.backwards[unit]
        turned = bool(order.backwards[unit])
        inside = chain[::-1] if turned else chain
        strokes += inside
        backwards[chain] = [flag != turned for flag in flags]
        down[inside[1:]] = True
        vertex[chain[0]] = entry[unit]
    plan = Plan(
        order=np.array(strokes, dtype=np.intp),
        backwards=backwards,
        entry=vertex,
        joined=down,
        travel=0.0,
        travel_before=0.0,
        home=ends.start,
        back=ends.end is not None,
        machine=task.machine,
        seconds=time.monotonic() - started,
        kicks=effort.kicks,
        stop_reason=_reason(task, effort),
        interrupted=effort.interrupted,
        signal=effort.signal,
    )
    drawn = plan.drawn(task.paths)
    return replace(plan, travel=_travel(drawn, ends.start, ends.end is not None, task.machine))


def _reason(task: _Task, effort: Effort) -> str:
    """Why the last search ended; a proof counts only where it is one of the whole plan, in its own cost."""
    if not effort.reasons:
        return "nothing to search"
    units = task.units
    whole = (
        len(effort.reasons) == 1
        and task.parent is None
        and not task.closed.any()
        and bool((task.group == task.group[0]).all())
        and bool((units.reversible | units.single).all())
        and task.machine.exact
        and not task.machine.maximum  # which is searched on a grid
    )
    last = effort.reasons[-1]
    return COMPLETE if last == PROVED and not whole else last


def _travel(drawn: Sequence[Path], home: Path | None, back: bool, machine: Machine) -> float:
    from math import fsum

    starts, ends = travel_points(drawn, home, back)
    return fsum(machine.cost(starts, ends).tolist()) if len(starts) else 0.0
