"""The search for an order of units between two ends: a tour whose fixed edges are the units.

A unit that may be drawn in either direction is a fixed edge between two cities, a hole or a loop that is
entered at a given vertex is one city; the ends are cities, too. What the tour's length cannot say is left to
`directed` (strokes that keep their direction, costs that are no norm) and `refine`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp.problem import Metric, OpenPath, Problem
from warptsp.solver import solve
from warptsp.stop import DefaultStop, MaxKicks, MaxRuntime
from warptsp.strokes.machine import Machine
from warptsp.strokes.model import Ends, Ints, Ordering, Path, Section, Units

# Groups of so few cities end after so many kicks for each, where one search alone would wait for a tenth of a
# second whether it gets better: fifty groups of two rectangles took 9.2 s for what takes 0.9.
_FEW, _KICKS = 60, 100
# Seconds that a search takes without a limit, and more for each city: five times as many gain 0.1 to 0.4 %
# (3000 to 33 000 holes, 1000 to 10 000 lines). Not so with a matrix, where directions are still found.
_ENOUGH, _ENOUGH_PER_CITY = 1.0, 7.5e-5


@dataclass(slots=True)
class Effort:
    """How long a search takes: what `warptsp.solve` is told, and what it did.

    A time limit covers all searches, and each gets its share of what is left. One that has used up its share
    names the whole limit as its reason to end.
    """

    options: dict[str, Any]
    deadline: float
    limit: float  # seconds until then, with what is done beside the searches
    settle: bool = False  # whether a search ends before its time where little is left to gain
    parts: bool = False  # whether each of several groups has searches of its own
    kicks: int = 0
    interrupted: bool = False
    signal: int | None = None
    failure: Exception | None = None  # that ended a search
    reasons: list[str] = field(default_factory=list)

    @property
    def left(self) -> float:
        """Seconds; infinite without a limit."""
        return self.deadline - time.monotonic()

    @property
    def over(self) -> bool:
        """Whether nothing more may begin."""
        return self.interrupted or self.left <= 0

    def interrupt(self, number: int) -> None:
        """End all searches because of this signal, be it between two of them."""
        self.interrupted, self.signal = True, number

    def tour(
        self, problem: Problem, start: NDArray[np.int32] | None, share: float
    ) -> NDArray[np.int32] | None:
        """The tour of one search, which takes a share of the time that is left; the start if nothing is."""
        if self.interrupted or (self.over and start is not None):
            return start
        options = dict(self.options)
        share_over = None
        if np.isfinite(self.deadline):
            options["time_limit"] = max(self.left, 0.0) * share  # even 0 is time for a curve through all
            share_over = str(MaxRuntime(options["time_limit"]))
            if self.settle and problem.coordinates is not None:
                options["time_limit"] = min(options["time_limit"], _ENOUGH + _ENOUGH_PER_CITY * problem.n)
        if self.settle:
            options["stop"] = DefaultStop(problem.n, telling=False)
            if self.parts and problem.n <= _FEW:
                options["stop"] |= MaxKicks(_KICKS * problem.n)
        if start is not None:
            options["start"] = start
        elif self.over:
            options.update(start="space-filling", method="construct")
        try:
            result = solve(problem, bound=False, prove=False, **options)
        except Exception as error:  # of a callback, say; what was found is a tour all the same
            if not hasattr(error, "result"):
                raise
            self.failure, self.interrupted, result = error, True, error.result
        self.kicks += result.kicks
        self.interrupted |= result.interrupted
        reason = result.stop_reason
        self.reasons.append(str(MaxRuntime(self.limit)) if reason == share_over else reason)
        return result.tour


@dataclass(frozen=True, slots=True)
class Cities:
    """The cities of some units and ends: `first` and `last` of each unit, `start` and `end`."""

    points: Path
    first: Ints
    last: Ints
    start: int | None
    end: int | None

    @classmethod
    def of(cls, units: Units, ends: Ends, *, apart: bool = False) -> Cities:
        """Number them: the start, the end where it is another place, then one or two for each unit.

        The end is another city even in the same place if the two are `apart`.
        """
        given = [point for point in (ends.start, ends.end) if point is not None]
        if len(given) == 2 and not apart and (given[0] == given[1]).all():
            given.pop()
        start = None if ends.start is None else 0
        end = None if ends.end is None else len(given) - 1
        counts = np.where(units.single, 1, 2)
        first = len(given) + np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.intp)
        last = first + counts - 1
        points = np.empty((len(given) + int(counts.sum()), units.first.shape[1]))
        for city, point in enumerate(given):
            points[city] = point
        points[last], points[first] = units.last, units.first
        return cls(points, first, last, start, end)

    @property
    def fixed(self) -> NDArray[np.int32]:
        """Both cities of each unit that has two."""
        two = self.first != self.last
        return np.stack([self.first[two], self.last[two]], axis=1, dtype=np.int32, casting="unsafe")

    @property
    def path(self) -> OpenPath | None:
        """None for a tour that comes back to its start."""
        return None if self.start is not None and self.start == self.end else OpenPath(self.start, self.end)

    def tour_of(self, order: Ordering) -> NDArray[np.int32]:
        """The tour in which the units have this order."""
        turned = order.backwards[order.order]
        one = np.where(turned, self.last[order.order], self.first[order.order])
        two = np.where(turned, self.first[order.order], self.last[order.order])
        both = np.stack([one, two], axis=1)
        kept = np.ones(both.shape, dtype=np.bool_)
        kept[:, 1] = one != two
        head = [] if self.start is None else [self.start]
        tail = [] if self.end is None or self.end == self.start else [self.end]
        return np.concatenate([head, both[kept], tail]).astype(np.int32)

    def order_of(self, tour: NDArray[np.int32]) -> Ordering:
        """The order of the units in a tour that has them all, drawn from the start."""
        if self.start is not None and tour[0] != self.start:
            at = int(np.flatnonzero(tour == self.start)[0])
            # An open path that ends at its start city is the same one backwards.
            tour = np.roll(tour, -at) if self.start == self.end else tour[::-1]
        elif self.start is None and self.end is not None and tour[-1] != self.end:
            tour = tour[::-1]
        unit = np.full(len(self.points), -1, dtype=np.intp)
        unit[self.first] = unit[self.last] = np.arange(len(self.first))
        place = np.empty(len(tour), dtype=np.intp)
        place[tour] = np.arange(len(tour))
        backwards = place[self.first] > place[self.last]
        units = unit[tour]
        entered = np.where(backwards, self.last, self.first)
        order = units[(units >= 0) & (tour == entered[units])]
        return Ordering(order, backwards)


def searched(
    section: Section, begun: Ordering | None, effort: Effort, share: float, floors: Ints | None = None
) -> Ordering:
    """The best order found if all may be drawn in either direction, measured in the norm of the frame.

    `floors` is the group of each unit, from 0 on, in the Euclidean plane. Groups become floors, so far above
    each other that a short path goes up once: all are searched together. The caller checks that it does.
    """
    units, machine, ends = section.units, section.machine, section.ends
    cities = Cities.of(units, ends, apart=floors is not None)
    points = machine.frame(cities.points)
    metric = metric_of(points, machine)
    if floors is not None:
        points, metric = _lifted(points, cities, floors), Metric.EXACT_3D
    problem = Problem.from_points(points, metric, fixed_edges=cities.fixed, open=cities.path)
    start = None if begun is None else cities.tour_of(begun)
    tour = effort.tour(problem, start, share)
    if tour is None:
        return begun or Ordering(np.arange(len(units)), np.zeros(len(units), dtype=np.bool_))
    found = cities.order_of(tour)
    if floors is not None and ends.start is None and floors[found.order[0]] > floors[found.order[-1]]:
        return Ordering(found.order[::-1], ~found.backwards)  # a path with free ends may go down as well
    return found


def _lifted(points: Path, cities: Cities, floors: Ints) -> Path:
    height = float(np.ptp(points, axis=0).max()) or 1.0  # any, where all begin and end at one point
    z = np.zeros(len(points))
    z[cities.first] = z[cities.last] = height * floors
    if cities.end is not None:
        z[cities.end] = height * float(floors.max())
    return np.column_stack([points, z])


def metric_of(frame: Path, machine: Machine) -> Metric:
    """The norm of a machine's frame."""
    return Metric[f"EXACT_{'MAX_' if machine.maximum else ''}{frame.shape[1]}D"]
