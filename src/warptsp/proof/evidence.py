"""What a proof of optimality consists of: branches, and prices that prove a bound."""

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from warptsp.bound.held_karp import LowerBound

CutDescription: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int32], int, list[list[int]]]
"""The class of each city, lengths between classes, right side; handles and teeth, or a handle and the
two sets of each domino."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One side of a decision: how many edges of a tour leave a set of two cities or more.

    An edge is in a tour if two edges leave its pair of cities.
    """

    cities: tuple[int, ...]
    least: int  # 2, or two more than the other side's `most`: every tour leaves a set an even number of times
    most: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Prices that prove a bound by weak duality."""

    bound: int  # in units, like the prices; 0 of what was read from a file, and is still to be computed
    cities: NDArray[np.int64]  # their prices
    cuts: tuple[tuple[int, int], ...]  # numbers of cuts, and their prices
    # Of all cities: a sweep along it finds no shorter tour, where prices alone do not prove that.
    order: NDArray[np.int32] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """Tours that have branches in common, and why none of them is shorter than a bound."""

    branches: tuple[Branch, ...]
    evidence: Evidence


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """What a file claims and how."""

    length: int | float  # which no tour is below; where lengths are real, by more than a fraction of 1e-7
    tour: NDArray[np.int32]  # of this length
    exponent: int  # lengths are counted in units of 2**-exponent, rounded down
    cuts: dict[int, CutDescription]
    elimination: Evidence | None  # what excludes all edges but those left, in all nodes
    leaves: list[Node]  # they hold no shorter tour
    # Nodes that were still to be examined, the next one last: of a proof that is not finished.
    open: list[Node] = field(default_factory=list)
    places: int | None = None  # how many places of the instance these are about instead of its cities
    trees: LowerBound | None = None  # of the search for the first tour, with potentials for all cities
