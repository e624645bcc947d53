"""Strokes that keep their direction, and machines whose cost is no norm, exactly: as a symmetric matrix.

Each way to draw a unit is a fixed edge between a city where it is entered and one where it is left. Travels
lead from where one is left to where another is entered, so distances between two cities of one kind are
prohibitive; a tour without them runs through all fixed edges in one direction, and that is the direction of
drawing. This is the transformation of Jonker and Volgenant (1983) from asymmetric to symmetric tours.

A unit that may be drawn in several ways, backwards or from another entry, has such an edge for each. A tour
goes through all of them in a cycle, at no cost, from the one that it enters; the travel that leaves the last
of them has the cost of leaving the first. This is the transformation of Noon and Bean (1993) from generalized
tours.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from warptsp.problem import Problem
from warptsp.strokes.entries import Options
from warptsp.strokes.machine import Machine
from warptsp.strokes.model import Ends, Ints, Ordering, Section
from warptsp.strokes.search import Effort


def searched_as_matrix(section: Section, begun: Ordering, effort: Effort, share: float) -> Ordering:
    """The best order found, with its directions, measured by the machine's own cost."""
    options, chosen = Options.two_ways(section.units), begun.backwards.astype(np.intp)
    order, chosen = searched_as_options(
        options, section.machine, section.ends, begun.order, chosen, effort, share
    )
    return Ordering(order, chosen == 1)


def searched_as_options(
    options: Options, machine: Machine, ends: Ends, order: Ints, chosen: Ints, effort: Effort, share: float
) -> tuple[Ints, Ints]:
    """The same for units with any number of ways to draw them, such as the entries of a loop.

    Returned are the units in their order, and for each its option; those given if nothing better is found.
    """
    offsets = options.offsets
    count = len(options.enter)
    owner = np.repeat(np.arange(len(order)), np.diff(offsets))
    following = np.arange(1, count + 1)  # in the cycle of the options of a unit
    following[offsets[1:] - 1] = offsets[:-1]
    size = count + 1  # the last is the ends
    travel = np.zeros((size, size))
    leave = options.leave[following]  # who is left last was entered behind it in the cycle
    travel[:-1, :-1] = machine.cost(leave[:, None], options.enter[None])
    if ends.start is not None:
        travel[-1, :-1] = machine.cost(ends.start, options.enter)
    if ends.end is not None:
        travel[:-1, -1] = machine.cost(leave, ends.end)
    longest = max(float(travel.max()), 1e-300)
    if count > len(order):
        split = 4.0 * longest  # as many such travels as there are units, in every good tour
        travel += split
        many = np.flatnonzero(following != np.arange(count))
        travel[many, following[many]] = 0.0
        longest += split
    matrix = np.full((2 * size, 2 * size), 4.0 * longest)
    matrix[1::2, ::2] = travel  # 2 i is where i is entered, 2 i + 1 where it is left
    matrix[::2, 1::2] = travel.T
    edges = np.arange(2 * size, dtype=np.int32).reshape(-1, 2)
    matrix[edges[:, 0], edges[:, 1]] = matrix[edges[:, 1], edges[:, 0]] = 0.0
    np.fill_diagonal(matrix, 0.0)
    problem = Problem.from_matrix(matrix, fixed_edges=edges)
    rows = [np.roll(np.arange(offsets[u], offsets[u + 1]), -chosen[u]) for u in order.tolist()]
    ring = np.concatenate([[count], *rows])
    start = np.stack([2 * ring, 2 * ring + 1], axis=1).ravel().astype(np.int32)
    tour = effort.tour(problem, start, share)
    found = None if tour is None else _order_of(tour, owner, offsets)
    return found if found is not None else (order, chosen)


def by_windows(section: Section, begun: Ordering, effort: Effort, size: int) -> Ordering:
    """The same for too many units: stretches of an order one after the other, each between its neighbours.

    A second pass begins half a window later, so that seams move. It ends with the time, or after both passes.
    """
    units, ends = section.units, section.ends
    order, backwards = begun.order.copy(), begun.backwards.copy()
    weights = np.cumsum(1 + (units.reversible & ~units.single)[order])
    for offset in (0.0, 0.5):
        cuts = np.unique(np.searchsorted(weights, np.arange(offset * size, weights[-1], size)))
        edges = np.unique(np.concatenate([[0], cuts, [len(order)]]))
        for number, (low, high) in enumerate(pairwise(edges.tolist())):
            if effort.over:
                return Ordering(order, backwards)
            left = (len(edges) - 1 - number) + (len(edges) - 1 if offset == 0 else 0)
            members = order[low:high]
            start = ends.start if low == 0 else units.left(order[low - 1], backwards)
            end = ends.end if high == len(order) else units.entered(order[high], backwards)
            window = Section(units.of(members), section.machine, Ends(start, end))
            inside = Ordering(np.arange(len(members)), backwards[members])
            found = searched_as_matrix(window, inside, effort, 1 / left)
            order[low:high] = members[found.order]
            backwards[members] = found.backwards
    return Ordering(order, backwards)


def _order_of(tour: NDArray[np.int32], owner: Ints, offsets: Ints) -> tuple[Ints, Ints] | None:
    """The order of the units in a tour and the option of each; None if it has a prohibitive edge."""
    ends = 2 * len(owner)
    tour = np.roll(tour, -int(np.flatnonzero(tour == ends)[0]))
    if tour[1] != ends + 1:  # the other way around
        tour = np.roll(tour[::-1], 1)
    edges = tour[2:].reshape(-1, 2)
    if (edges[:, 0] % 2 != 0).any():
        return None
    drawn = (edges[:, 0] // 2).astype(np.intp)
    units = owner[drawn]
    first = np.ones(len(units), dtype=np.bool_)
    first[1:] = units[1:] != units[:-1]
    order = units[first]
    if len(order) != len(offsets) - 1:
        return None  # the options of a unit are apart
    chosen = np.empty(len(order), dtype=np.intp)
    chosen[order] = drawn[first] - offsets[order]
    return order, chosen
