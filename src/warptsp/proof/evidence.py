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
    """One side of a decision: how many edges of a tour leave a set of cities.

    Attributes
    ----------
    cities : tuple of int
        Two or more.
    least : int
        2, or two more than the other side's `most`: every tour leaves a set an even number of times.
    most : int or None
        None: no limit. An edge is in a tour if two edges leave its pair of cities.
    """

    cities: tuple[int, ...]
    least: int
    most: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Prices that prove a bound by weak duality.

    Attributes
    ----------
    bound : int
        In units, like the prices; 0 of what was read from a file, and is still to be computed.
    cities : ndarray of int64
        Prices of the cities.
    cuts : tuple of (int, int)
        Numbers of cuts, and their prices.
    order : ndarray of int32 or None
        Of all cities: a sweep along it finds no shorter tour, where prices alone do not prove that.
    """

    bound: int
    cities: NDArray[np.int64]
    cuts: tuple[tuple[int, int], ...]
    order: NDArray[np.int32] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """Tours that have branches in common, and why none of them is shorter than a bound."""

    branches: tuple[Branch, ...]
    evidence: Evidence


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """What a file claims and how.

    Attributes
    ----------
    length : int or float
        No tour is shorter; where lengths are real, by more than a fraction of 1e-7.
    tour : ndarray of int32, shape (n,)
        A tour of this length.
    exponent : int
        Lengths are counted in units of ``2**-exponent``, rounded down.
    cuts : dict of int to tuple
        The class of each city, lengths between classes, the right side, and the classes in each handle
        and tooth of a comb or star, or in a handle and in the two sets of each domino.
    elimination : Evidence or None
        What excludes all edges but those left, in all nodes.
    leaves : list of Node
        They hold no shorter tour.
    open : list of Node
        Those that were still to be examined, the next one last: of a proof that is not finished.
    places : int or None
        How many places of the instance these are about instead of its cities.
    trees : LowerBound or None
        The bound of the search for the first tour, with potentials for all cities.
    """

    length: int | float
    tour: NDArray[np.int32]
    exponent: int
    cuts: dict[int, CutDescription]
    elimination: Evidence | None
    leaves: list[Node]
    open: list[Node] = field(default_factory=list)
    places: int | None = None
    trees: LowerBound | None = None
