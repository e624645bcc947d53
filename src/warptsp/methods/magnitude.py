"""Instances whose numbers are too large, too small or too far from 0 for a search, in a frame of their own.

Searches look for moves in single precision, where squares of distances overflow from about 1e19 on and vanish
below 1e-22, and keep constants that no distance may reach. The frame is shifted by a coordinate that all
others are near to, and scaled by a power of two: neither rounds. So distances keep all their digits, moves
are the same, and lengths differ by that power alone. Distances that are rounded to integers are never scaled.

An entry of a matrix that stands for a forbidden edge may be so large that all others vanish beside it in a
sum. If one such entry is longer than any tour without it, a smaller one of which that is true, too, orders
all tours in the same way. Where there are several, the gap below the smallest is closed by a power of two,
and their ratios remain: that keeps the order of all tours that have none of them.

Numbers may be so different that the smallest of them vanish in any frame. Tours are searched then, and
nothing is proved of them. Integers above 2**53 are searched in smaller ones (`Problem.reduced`).
"""

import itertools
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from warptsp.methods.protocol import Report, Run, View, ViewedRun, says_nothing
from warptsp.problem import Problem
from warptsp.problem.search import Reduced

P = TypeVar("P")

MIN_EXTENT_KEPT, MAX_EXTENT_KEPT = 2.0**-40, 2.0**50
"""Extents, or largest entries of a matrix, that are searched as they are."""
USUAL = 20  # what others become: 2**19 to 2**20
MIN_EXPONENT = -1022  # of a unit; smaller ones do not have all digits
FAR = 2.0**16  # extents from 0; from there a difference of two coordinates of an axis is exact
HIGH = 2.0**20  # times the longest possible tour of the other entries: a wall that hides what they differ in


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """An instance as methods are given it: the instance itself where its numbers are ordinary ones."""

    problem: Problem
    unit: float = 1.0  # a power of two by which lengths of `problem` become those of the instance
    # The entry of a forbidden edge, and in its place that of `problem`; infinite if there is none.
    wall: float = math.inf
    lowered: float = math.inf
    # Of several such entries: the instance's from the first number on are multiplied by two to the power of
    # the second, up to the next level.
    levels: tuple[tuple[float, int], ...] = ()
    faithful: bool = True  # whether every entry has kept all its digits

    @classmethod
    def of(cls, problem: Problem) -> "Frame":
        """Choose the frame for an instance."""
        if (reduced := problem.reduced) is not None:
            return _WholeFrame(reduced.problem, faithful=reduced.exact, reduced=reduced)
        if problem.matrix is not None:
            return cls(problem) if problem.integral else cls._of_matrix(problem, problem.matrix)
        if problem.metric.geographic:
            return cls(problem)
        low, high = problem.bounds
        extent = float((high - low).max())
        unit = 1.0 if problem.metric.integral else _unit(extent)
        far = np.maximum(np.abs(low), np.abs(high)) > FAR * extent
        if unit == 1.0 and not far.any():
            return cls(problem)
        shifted = problem.coordinates - np.where(far, low, 0.0)
        return cls(replace(problem, coordinates=shifted / unit), unit)

    @classmethod
    def _of_matrix(cls, problem: Problem, matrix: NDArray[Any]) -> "Frame":
        largest = float(matrix.max())
        longest = _longest_below(matrix, largest)
        shown, wall = matrix, math.inf
        levels: tuple[tuple[float, int], ...] = ()
        if longest > 0.0:
            wall = largest
            shown = np.where(matrix == wall, math.ldexp(1.0, math.frexp(problem.n * longest)[1] + 1), matrix)
        elif levels := _levels(matrix, largest):
            shown = _closed(matrix, levels)
        highest = float(shown.max())
        unit = _unit(highest)
        if shown is matrix and unit == 1.0:
            return cls(problem, faithful=_are_faithful(matrix, matrix))
        scaled, its_wall = shown / unit, problem.wall
        if its_wall is not None and levels:
            its_wall = float(_closed(np.array([its_wall]), levels)[0]) / unit
        elif its_wall is not None:
            its_wall = min(its_wall / unit, float(scaled.max()))
        return cls(
            replace(problem, matrix=scaled, wall=its_wall),
            unit,
            wall,
            highest / unit if wall < math.inf else math.inf,
            levels,
            _are_faithful(scaled, matrix),
        )

    def hides(self, length: float) -> bool:
        """Whether a tour of this length in the frame has entries of which only the tour tells the lengths."""
        return bool(self.levels) and length * self.unit >= math.ldexp(*self.levels[0])

    def bound(self, bound: float) -> float:
        """Return what a lower bound of the frame proves for the instance."""
        if not self.hides(bound):
            return self.length(bound)
        # Of the entries below the first level there are at most n, each a fraction of it.
        begin, power = self.levels[0]
        usual = self.problem.n * math.ldexp(begin, power) / _room(self.problem.n)
        return max(bound * self.unit, math.ldexp(bound * self.unit - usual, -power))

    def length(self, length: float) -> float:
        """Return the instance's length of a tour that has this one in the frame, which it does not hide."""
        walls = math.floor(length / self.lowered + 0.25)  # what is left is at most half of one
        if walls <= 0:
            return length * self.unit
        return (length - walls * self.lowered) * self.unit + walls * self.wall

    def length_here(self, length: float | None) -> float | None:
        """Return the length in the frame of a tour that has this one in the instance, or one like it."""
        if length is not None and self.levels:
            return float(_closed(np.array([length]), self.levels)[0]) / self.unit
        if length is None or length < self.wall:
            return None if length is None else length / self.unit
        walls = round(length / self.wall)  # beside which the other edges vanish
        return walls * self.lowered

    def search(
        self, search: Callable[[Problem, Run, P], None], lengths: Collection[str], run: Run, params: P
    ) -> None:
        """Let a method search in the frame; the run is told of lengths in the instance.

        `search` is `Method.run`, or what else takes its arguments, and `lengths` are those of its parameters
        and counters that are lengths.
        """
        if self.unit != 1.0 or self.wall != math.inf or self.levels or not self.faithful:
            run = ViewedRun(run, self._view(run, set(lengths)))
            params = _scaled(params, lengths, self.unit)
        search(self.problem, run, params)

    def _view(self, run: Run, lengths: set[str]) -> View:
        """Return how a method in the frame sees a run: lengths are in its unit."""

        def report(report: Report) -> Report:
            counters = dict(report.counters)
            for name in lengths & counters.keys():
                value = counters.pop(name)
                # Of a mean over tours nobody knows how many walls they have.
                if self.wall == math.inf and not self.levels:
                    counters[name] = value * self.unit
            hides = self.hides(report.length)
            length = run.problem.length(report.tour()) if hides else self.length(report.length)
            return replace(report, length=length, counters=counters)

        def report_bound(bound: int | float) -> None:
            run.report_bound(self.bound(bound))

        def report_optimal() -> None:
            best = run.best_length
            # The frame may change entries that this tour has.
            if not self.levels or best is None or best < self.levels[0][0]:
                run.report_optimal()

        return View(
            problem=self.problem,
            best_length=lambda: self.length_here(run.best_length),
            report=report,
            report_bound=report_bound if self.faithful else says_nothing,
            report_optimal=report_optimal if self.faithful else says_nothing,
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _WholeFrame(Frame):
    """A frame for integers above 2**53: others, of which those of the instance follow exactly, or bounds."""

    reduced: Reduced

    def search(
        self, search: Callable[[Problem, Run, P], None], lengths: Collection[str], run: Run, params: P
    ) -> None:
        """Let a method search in the frame."""
        params = _scaled(params, lengths, self.reduced.unit)
        search(self.problem, ViewedRun(run, self._view(run, set(lengths))), params)

    def _view(self, run: Run, lengths: set[str]) -> View:
        reduced, problem = self.reduced, self.problem
        least: int | float = math.inf  # length of a tour that was offered, in smaller integers
        known = reduced.exact and problem.wall is None

        def report(report: Report) -> Report:
            # Of some it is a tour's, of others that of an edge.
            counters = {name: value for name, value in report.counters.items() if name not in lengths}
            length = reduced.length(report.length) if known else run.problem.length(report.tour())
            return replace(report, length=length, counters=counters)

        def offer(tour: NDArray[np.int32]) -> NDArray[np.int32]:
            nonlocal least
            least = min(least, problem.length(tour))
            return tour

        def report_bound(bound: int | float) -> None:
            run.report_bound(reduced.length(math.ceil(bound)))

        def report_optimal() -> None:
            best, length = run.best, run.best_length
            if best is None or length is None:
                return
            bound = min(least, problem.length(best))
            if reduced.exact or length <= reduced.length(bound):
                run.report_optimal()
            else:
                report_bound(bound)

        return View(
            problem=problem,
            best_length=lambda: None if run.best is None else problem.length(run.best),
            offer=offer,
            report=report,
            report_bound=report_bound,
            report_optimal=report_optimal,
        )


def _scaled(params: P, lengths: Collection[str], unit: float) -> P:
    given = ((name, getattr(params, name, None)) for name in lengths)
    scaled: dict[str, Any] = {name: value / unit for name, value in given if value is not None}
    return replace(params, **scaled)  # type: ignore[type-var]


def _are_faithful(scaled: NDArray[np.float64], matrix: NDArray[np.float64]) -> bool:
    """Whether multiplication by powers of two has left all digits to the entries of a matrix."""
    least = scaled.min(where=scaled > 0.0, initial=math.inf)
    return bool(least >= np.finfo(np.float64).tiny) and np.count_nonzero(scaled) == np.count_nonzero(matrix)


def _longest_below(matrix: NDArray[Any], largest: float) -> float:
    """Return the longest entry but the largest one if this hides what the others differ in, and else 0."""
    limit = largest / (HIGH * len(matrix))
    # One row tells whether a matrix is ordinary.
    if ((matrix[0] > limit) & (matrix[0] < largest)).any():
        return 0.0
    longest = float(matrix.max(where=matrix < largest, initial=0.0))
    return longest if longest <= limit else 0.0


def _room(n: int) -> float:
    """Return how many times as long an entry of the next level is as those below it, at least: 4 n."""
    return math.ldexp(1.0, math.frexp(float(n))[1] + 2)


def _levels(matrix: NDArray[Any], largest: float) -> tuple[tuple[float, int], ...]:
    """Return where entries are that hide what smaller ones differ in, and the powers of two that close up."""
    n = len(matrix)
    usual = matrix[0][matrix[0] > 0.0].min(initial=math.inf)  # one row tells whether a matrix is ordinary
    if largest <= HIGH * n * usual:
        return ()
    exponents: set[int] = set()
    for row in matrix:
        exponents.update(np.unique(np.frexp(row[row > 0.0])[1]).tolist())
    levels: list[tuple[float, int]] = []
    power = 0
    for low, high in itertools.pairwise(sorted(exponents)):  # entries below 2**low, and from 2**(high - 1) on
        gap = high - 1 - low  # a power of two, which may be too large for a float
        if gap >= math.log2(HIGH * n):
            power += math.frexp(_room(n))[1] - 1 - gap
            levels.append((math.ldexp(1.0, high - 1), power))
    return tuple(levels)


def _closed(lengths: NDArray[Any], levels: tuple[tuple[float, int], ...]) -> NDArray[np.float64]:
    """Return lengths without the gaps below these levels."""
    begins = np.array([begin for begin, _ in levels])
    powers = np.array([0, *(power for _, power in levels)])
    closed: NDArray[np.float64] = np.ldexp(lengths, powers[np.searchsorted(begins, lengths, side="right")])
    return closed


def _unit(extent: float) -> float:
    """Return the power of two that brings an extent to the usual one; 1 if it is an ordinary one, or 0."""
    if extent == 0.0 or MIN_EXTENT_KEPT <= extent <= MAX_EXTENT_KEPT:
        return 1.0
    return math.ldexp(1.0, max(math.frexp(extent)[1] - USUAL, MIN_EXPONENT))
