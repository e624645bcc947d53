"""Certificates: a bound's potentials in a file, and the slow and obvious proof of them."""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp.bound.box_tree import BoxTree
from warptsp.bound.document import Document, write_document
from warptsp.bound.held_karp import LowerBound, value_of
from warptsp.claims import bound_of_optimal
from warptsp.errors import UnsupportedProblem
from warptsp.problem import Problem

MAX_DENSE = 20_000
"""Cities up to which all pairs are gone through, in some ten seconds; of a matrix they always are."""

_FORMAT = "warptsp lower bound"
_MAX_POTENTIAL = 2**31 - 1
_MAX_EXPONENT = 1100
# With what prefers fixed edges, one length stays far within 63 bits, and the sum of 20 000, too. What is
# longer counts as so long, which is rounding down, too.
_MAX_LENGTH = 2.0**44
_FIXED_BONUS = 2**46


def write_certificate(path: str | os.PathLike[str], problem: Problem, bound: LowerBound) -> None:
    """Write a bound and its proof as JSON.

    Raises
    ------
    OutputError
        The file cannot be written.
    """
    content = {
        "format": _FORMAT,
        "instance": problem.name,
        "cities": problem.n,
        "bound": bound.value,
        **as_json(bound),
    }
    write_document(path, content)


def as_json(bound: LowerBound) -> dict[str, Any]:
    """Return what proves a bound."""
    return {"exponent": bound.exponent, "root": bound.root, "potentials": bound.potentials.tolist()}


def read_certificate(path: str | os.PathLike[str], problem: Problem) -> LowerBound:
    """Read what a certificate claims; `proven_value` tells whether that is true.

    Raises
    ------
    ParseError
        The file holds no certificate of an instance with so many cities.
    """
    document = Document(path)
    document.check(_FORMAT, "a certificate", problem)
    return bound_of(document, document.content, problem, document.length("bound", integral=problem.integral))


def bound_of(document: Document, entry: dict[str, Any], problem: Problem, value: int | float) -> LowerBound:
    """Accept what is said to prove a bound of this value."""
    potentials = document.array(
        entry.get("potentials"), "potentials", -_MAX_POTENTIAL, _MAX_POTENTIAL, problem.n
    )
    return LowerBound(
        value=value,
        iterations=0,
        seconds=0.0,
        potentials=potentials.astype(np.int32),
        exponent=document.whole(entry.get("exponent"), "exponent", -_MAX_EXPONENT, _MAX_EXPONENT),
        root=document.whole(entry.get("root"), "root", 0, problem.n - 1),
        certified=False,
    )


def proven_value(problem: Problem, bound: LowerBound) -> int | float:
    """Return the bound that potentials prove, computed from all pairs of cities.

    It shares nothing with the native ascent: distances are those by which tours are measured. Up to
    20 000 cities it is Prim's algorithm over all pairs, beyond that `BoxTree`.

    Parameters
    ----------
    problem : Problem
    bound : LowerBound
        Its `potentials`, `exponent` and `root` are used; what it claims is not.

    Raises
    ------
    UnsupportedProblem
        The instance is asymmetric, or has lengths too large for the exponent.
    """
    if (reduced := problem.reduced) is not None:
        return reduced.length(proven_value(reduced.problem, bound))
    n = problem.n
    if problem.asymmetric:
        raise UnsupportedProblem("the matrix is asymmetric, and certificates are for symmetric instances")
    if n < 3:
        return bound_of_optimal(problem.length(np.arange(n, dtype=np.int32)))
    potentials = bound.potentials.astype(np.int64)
    total = -2 * int(potentials.sum()) + _FIXED_BONUS * len(problem.fixed_edges)
    if problem.open is None:
        row = np.delete(_lengths(problem, bound, bound.root), bound.root)
        total += int(np.partition(row, 1)[:2].sum())
        total += _tree_length(problem, bound, np.delete(np.arange(n), bound.root))
    else:
        ends = [end for end in (problem.open.start, problem.open.end) if end is not None]
        free = np.sort(np.delete(potentials, ends))[: 2 - len(ends)]
        total += int(potentials[ends].sum()) + int(free.sum())
        total += _tree_length(problem, bound, np.arange(n))
    return value_of(problem, max(total, 0), bound.exponent)


def _tree_length(problem: Problem, bound: LowerBound, cities: NDArray[np.intp]) -> int:
    """Return the length of the shortest spanning tree of these cities, in units, potentials included."""
    if problem.n > MAX_DENSE and problem.matrix is None:
        return _tree_length_over_boxes(problem, bound, cities)
    total = 0
    nearest = np.full(len(cities), np.iinfo(np.int64).max)  # from the tree to each city outside it
    outside = np.ones(len(cities), dtype=bool)
    at = 0
    for _ in range(len(cities) - 1):
        outside[at] = False
        nearest = np.minimum(nearest, _lengths(problem, bound, int(cities[at]))[cities])
        at = int(np.argmin(np.where(outside, nearest, np.iinfo(np.int64).max)))
        total += int(nearest[at])
    return total


def _tree_length_over_boxes(problem: Problem, bound: LowerBound, cities: NDArray[np.intp]) -> int:
    potentials = bound.potentials.astype(np.int64)
    fixed = problem.fixed_edges[np.isin(problem.fixed_edges, cities).all(axis=1)]
    tree = BoxTree(problem, cities, potentials, lambda distances: _units(distances, bound.exponent))
    others = tree.length(fixed)
    own = _units(np.asarray(problem.distance(fixed[:, 0], fixed[:, 1]), dtype=np.float64), bound.exponent)
    return others + sum(int(length) - _FIXED_BONUS for length in own + potentials[fixed].sum(axis=1))


def _units(distances: NDArray[np.float64], exponent: int) -> NDArray[np.int64]:
    """Return distances in units, rounded down."""
    with np.errstate(over="ignore"):  # such as in units that nobody would choose
        units = np.floor(np.ldexp(np.asarray(distances, dtype=np.float64), exponent))
    return np.minimum(units, _MAX_LENGTH).astype(np.int64)


def _lengths(problem: Problem, bound: LowerBound, city: int) -> NDArray[np.int64]:
    """Return the lengths of a city's edges in units, with potentials; fixed ones are far below the others."""
    others = np.arange(problem.n)
    distances = np.asarray(problem.distance(city, others), dtype=np.float64)
    if problem.matrix is not None:  # entries (i, j) and (j, i) of reals may differ in their last place
        distances = np.minimum(distances, problem.distance(others, city))
    lengths = _units(distances, bound.exponent) + bound.potentials + int(bound.potentials[city])
    for partner in _fixed_partners(problem, city):
        lengths[partner] -= _FIXED_BONUS
    return lengths


def _fixed_partners(problem: Problem, city: int) -> Iterator[int]:
    for pair in problem.fixed_edges[(problem.fixed_edges == city).any(axis=1)]:
        yield int(pair[0] if pair[1] == city else pair[1])
