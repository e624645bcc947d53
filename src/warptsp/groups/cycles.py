"""Groups of places as a problem with directions.

The transformation of C. Noon and J. Bean, "An efficient transformation of the generalized traveling salesman
problem", INFOR 31 (1993) 39-44. The places of a group are a cycle of arcs that cost nothing. What enters
a group at a place follows that cycle to the place before, and what leaves there has the cost of leaving the
place where it was entered. Every arc between groups is so much longer than all of a tour that there are as
many of them as groups, and no more. At the end the places are chosen once more for the order of the groups
that was found, the best ones: a shortest path through the groups as layers.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.errors import InvalidProblem, NoTourFound
from warptsp.problem import Problem
from warptsp.problem.values import EXACT_INTEGERS

NO_TOUR = "no tour was found that goes through each group once without missing arcs"

_SECONDS_OF_STEP, _SECONDS_OF_PAIR = 4e-6, 2e-9
"""From group to group, and from place to place, where the best places for an order are chosen at the end."""
_LONGEST_SUM = 1e280  # of reals; sums of walls for missing arcs, too, are numbers then


class Cycles:
    """Places, group by group, each a cycle; a path has one more group, the way from its end to its start."""

    def __init__(
        self,
        problem: Problem,
        owner: NDArray[np.intp],
        order: NDArray[np.intp],
        between: NDArray[np.float64],
    ) -> None:
        self.order = order
        self.owner = owner[order]
        self.between = between
        if problem.open is not None:
            self.order = np.append(self.order, problem.n)
            self.owner = np.append(self.owner, len(np.unique(owner)))
            self.between = np.pad(self.between, ((0, 1), (0, 1)))
            for end, ways in (
                (problem.open.start, self.between[-1]),
                (problem.open.end, self.between[:, -1]),
            ):
                if end is not None:
                    ways[self.order != end] = np.inf
        self.closed = problem.open is None
        same = self.owner[:, np.newaxis] == self.owner
        self.between[same] = np.inf
        first = np.flatnonzero(np.diff(self.owner, prepend=-1))
        self.before = np.arange(len(self.order)) - 1
        self.before[first] = np.append(first[1:], len(self.order)) - 1
        self.count = len(first)
        self.first = first
        self.integral = problem.integral

    def directed(self) -> Problem:
        """The problem with directions that has the same tours."""
        finite = np.where(np.isfinite(self.between), self.between, 0.0)
        longest = float(np.maximum.reduceat(finite.max(axis=1), self.first).sum())
        toll = longest + 1.0 if self.integral else 2.0 * longest or 1.0
        total = (self.count + 1) * (toll + float(finite.max()))
        if not total <= (EXACT_INTEGERS if self.integral else _LONGEST_SUM):
            raise InvalidProblem(
                f"distances up to {finite.max():.6g} between {self.count} groups: arcs between groups must "
                "be longer than a tour, and sums of these are too large; give the distances in a larger unit"
            )
        matrix = np.empty_like(self.between)
        matrix[self.before] = self.between + toll
        rest = np.arange(len(self.order))
        matrix[self.before, rest] = 0.0
        np.fill_diagonal(matrix, 0.0)
        problem = Problem.from_matrix(matrix, asymmetric=True)
        try:
            problem.check_connected()
        except InvalidProblem:  # names nodes of its own
            raise NoTourFound(NO_TOUR, proved=True) from None
        return problem

    def tour_of(self, places: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the tour that enters each group at one of these places, in their order."""
        number = np.empty(len(self.order), dtype=np.intp)
        number[self.order] = np.arange(len(self.order))
        entered = number[places if self.closed else np.insert(places, 0, len(self.order) - 1)]
        return np.concatenate([self._cycle(place) for place in entered]).astype(np.int32)

    def seconds_of_choice(self) -> float:
        """Estimate how long it takes to choose the best places for an order of the groups."""
        sizes = np.diff(self.first, append=len(self.order))
        pairs = len(self.order) ** 2 / self.count
        return float(sizes.min()) * (_SECONDS_OF_STEP * self.count + _SECONDS_OF_PAIR * pairs)

    def _cycle(self, place: int) -> NDArray[np.intp]:
        """The places of a group from the one where it is entered."""
        begin, end = np.searchsorted(self.owner, [self.owner[place], self.owner[place] + 1])
        return np.roll(np.arange(begin, end), begin - place)

    def entered(self, tour: NDArray[np.int32], token: _native.StopToken) -> NDArray[np.int32]:
        """The best places of the instance for the order in which a tour enters the groups.

        The best ones found by the time the token stops it. Raises `NoTourFound`: it enters a group twice.
        """
        groups = self.owner[tour]
        enters = groups != np.roll(groups, 1)
        if self.count == 1:
            enters = np.arange(len(tour)) == 0
        if np.count_nonzero(enters) != self.count:
            raise NoTourFound(NO_TOUR, proved=False)
        places = self.order[self._best_of(tour[enters], token)]
        if not self.closed:
            places = np.roll(places, -int(np.argmax(places)) - 1)[:-1]
        return places.astype(np.int32)

    def _best_of(self, entries: NDArray[np.int32], token: _native.StopToken) -> NDArray[np.intp]:
        """The places of the shortest tour that goes through the groups of these places in their order."""
        layers = [np.flatnonzero(self.owner == group) for group in self.owner[entries]]
        smallest = int(np.argmin([len(layer) for layer in layers]))
        layers = layers[smallest:] + layers[:smallest]
        layers[0] = np.roll(layers[0], -int(np.argmax(layers[0] == entries[smallest])))  # for a start
        if len(layers) == 1:
            return layers[0][:1]
        steps = [self.between[np.ix_(here, there)] for here, there in pairwise([*layers, layers[0]])]
        best, length = layers[0], np.inf
        for first in range(len(layers[0])):
            if first > 0 and token.stopped():
                break
            costs, come_from = np.where(np.arange(len(layers[0])) == first, 0.0, np.inf), []
            for step in steps:
                ways = costs[:, np.newaxis] + step
                come_from.append(ways.argmin(axis=0))
                costs = ways.min(axis=0)
            if costs[first] < length:
                length, last, chosen = costs[first], first, []
                for layer, before in zip(reversed(layers), reversed(come_from), strict=True):
                    last = int(before[last])
                    chosen.append(layer[last])
                best = np.array(chosen[::-1])
        return best


def distances_between(
    problem: Problem, order: NDArray[np.intp], token: _native.StopToken
) -> NDArray[np.float64] | None:
    """Return the distances between places in an order, infinite where the arc is missing; None if stopped."""
    found = np.empty((len(order), len(order)))
    for row, place in zip(found, order, strict=True):
        if token.stopped():
            return None
        row[:] = _distances_from(problem, place, order)
    return found


def _distances_from(problem: Problem, place: int, others: NDArray[np.intp]) -> NDArray[np.float64]:
    if problem.matrix is None:
        return np.array(problem.distance(np.full(len(others), place), others), dtype=np.float64)
    found: NDArray[np.float64] = problem.matrix[place, others].astype(np.float64)
    if problem.wall is not None:
        found[found >= problem.wall] = np.inf
    return found


def nearest_places(problem: Problem, owner: NDArray[np.intp]) -> NDArray[np.int32] | None:
    """Return a place of each group, from place to nearest place; None where that meets no arc."""
    start, end = (None, None) if problem.open is None else (problem.open.start, problem.open.end)
    last = np.zeros(problem.n, dtype=bool) if end is None else owner == owner[end]
    here = start if start is not None else end if last.all() and end is not None else int(np.argmin(last))
    places, left = [here], owner != owner[here]
    while left.any():
        ways = _distances_from(problem, here, np.arange(problem.n))
        ways[~left] = np.inf
        if end is not None:  # its group comes last, and nothing else of it
            ways[last if (left & ~last).any() else np.arange(problem.n) != end] = np.inf
        here = int(ways.argmin())
        if not np.isfinite(ways[here]):
            return None
        left &= owner != owner[here]
        places.append(here)
    back = np.array(places[:1])
    closes = problem.open is not None or len(places) == 1
    if (closes or np.isfinite(_distances_from(problem, here, back)[0])) and end in (None, here):
        return np.array(places, dtype=np.int32)
    return None
