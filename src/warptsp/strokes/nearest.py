"""The nearest stroke next: what most programs do, and what no plan may be worse than."""

import numpy as np

import warptsp._native as _native
from warptsp.strokes.model import Ends, Ordering, Section
from warptsp.strokes.search import Cities, metric_of

_AHEAD = 16  # neighbours that are looked up at once
_RECENT = 64  # options that have become possible since the tree was built, at least, before it is built again


def nearest_first(section: Section) -> Ordering:
    """The order in which each unit is the nearest to the one before, in the norm of the machine's frame.

    Without a start the first unit comes first, or what is nearest to its beginning. Where the section ends
    does not matter.
    """
    return _of_tour(section) if section.parent is None and section.units.free else _one_by_one(section)


def _of_tour(section: Section) -> Ordering:
    """Where every unit may be drawn in either direction: the nearest neighbour tour along fixed edges."""
    cities = Cities.of(section.units, Ends(section.ends.start))
    points = np.ascontiguousarray(section.machine.frame(cities.points))
    distances = _native.Distances.of_points(metric_of(points, section.machine).kind, points)
    tour = _native.nearest_neighbor(distances, 0, cities.fixed, 1, _native.StopToken())
    assert tour is not None  # nothing stops it
    return cities.order_of(tour)


def _one_by_one(section: Section) -> Ordering:
    """The same for directions that must be kept, and for units that wait until others are drawn.

    The points at which units can be entered are in a k-d tree, which is built again without those that are
    drawn whenever half of them are, and is asked for all points at which they are left at once.
    """
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]

    units, machine, parent = section.units, section.machine, section.parent
    n = len(units)
    turnable = np.flatnonzero(units.reversible & ~units.single)
    enter = machine.frame(np.concatenate([units.first, units.last[turnable]]))
    leave = machine.frame(np.concatenate([units.last, units.first[turnable]]))
    owner = np.concatenate([np.arange(n), turnable])
    backward_option = np.full(n, -1, dtype=np.intp)
    backward_option[turnable] = np.arange(n, n + len(turnable))
    norm = np.inf if machine.maximum else 2
    waits_for = np.zeros(n, dtype=np.intp)
    if parent is not None:
        np.add.at(waits_for, parent[parent >= 0], 1)
    may_be_next = bytearray((waits_for == 0).tobytes())  # of each unit; bytes are read faster than arrays
    open_ = np.frombuffer(may_be_next, dtype=np.bool_)
    unit_of, around_of = owner.tolist(), None if parent is None else parent.tolist()
    order: list[int] = []
    backwards = np.zeros(n, dtype=np.bool_)
    at = enter[0] if section.ends.start is None else machine.frame(section.ends.start[None])[0]
    option = -1  # the last one
    recent: list[int] = []
    built = begun = left = 0  # the tree's options, its units, and how many of these are not drawn yet
    while len(order) < n:
        if not order or 2 * left < begun or len(recent) > max(_RECENT, built // 8):
            known, recent = np.flatnonzero(open_[owner]), []
            tree, built, begun = cKDTree(enter[known]), len(known), int(open_.sum())
            left = begun
            nearest = tree.query(leave[known], k=min(_AHEAD, built), p=norm)[1].reshape(built, -1)
            near_of = dict(zip(known.tolist(), known[nearest].tolist(), strict=True))
        near = near_of.get(option, [])
        count = min(4 * _AHEAD if near else _AHEAD, built)
        option = next((other for other in near if may_be_next[unit_of[other]]), -1)
        while left and option < 0:
            found = known[np.atleast_1d(tree.query(at, k=count, p=norm)[1])]
            fresh = found[open_[owner[found]]]
            option = int(fresh[0]) if len(fresh) else -1
            count = min(4 * count, built)
        if recent:
            late = np.array([other for other in recent if may_be_next[unit_of[other]]], dtype=np.intp)
            tried = late if option < 0 else np.append(late, option)
            option = int(tried[np.linalg.norm(enter[tried] - at, ord=norm, axis=1).argmin()])
        unit = unit_of[option]
        order.append(unit)
        may_be_next[unit] = False
        if unit in recent:
            recent = [other for other in recent if unit_of[other] != unit]
        else:
            left -= 1
        backwards[unit] = option >= n
        at = leave[option]
        if around_of is not None and (around := around_of[unit]) >= 0:
            waits_for[around] -= 1
            if waits_for[around] == 0:
                may_be_next[around] = True
                recent.append(around)
                if backward_option[around] >= 0:
                    recent.append(int(backward_option[around]))
    return Ordering(np.array(order, dtype=np.intp), backwards)
