"""Arcs that are not there: entries so long that a tour with one of them is longer than any without.

A search takes such an entry, a wall, for a distance like any other. Tours with fewer missing arcs are
shorter, and a lower bound of at least a wall proves that there is no tour without a missing arc.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import shown
from warptsp.errors import InvalidProblem
from warptsp.problem.constraints import OpenPath
from warptsp.problem.names import Cities, words_for
from warptsp.problem.values import EXACT_INTEGERS

_BLOCK = 4 * 1024 * 1024  # entries looked at together
_LARGEST_WALL = 2**57  # in 64 bits, in which sums of many stay


def with_wall(matrix: NDArray[Any], given: Any) -> tuple[NDArray[Any], int | float | None]:
    """Put walls in the places of missing arcs, which are entries from `given` on, by default infinite ones.

    Returns the matrix, which has a zero diagonal, and the wall: longer than any tour without a missing arc,
    None if every arc is there. It is not copied if no arc is missing, or all walls are there already; it is
    of integers of 64 bits if the wall leaves those of 32, and of Python's if it leaves those.
    """
    if given is None:
        if matrix.dtype.kind == "i" or matrix.max(initial=0) != math.inf:
            return matrix, None
        given = math.inf
    elif isinstance(given, bool) or not isinstance(given, (int, float, np.number)) or not given > 0:
        raise InvalidProblem(f"wall is {shown(given)}: the least entry of a missing arc is needed, above 0")
    real = matrix.dtype == np.float64
    blocks = _blocks(len(matrix))
    of_rows = [matrix[rows].max(axis=1, initial=0, where=matrix[rows] < given) for rows in blocks]
    with np.errstate(over="ignore"):  # such long entries are refused later
        rows_longest = np.concatenate(of_rows)
        longest = rows_longest.sum().item() if real else sum(rows_longest.tolist())
    largest = matrix.max(initial=0)
    if not largest >= given:
        return matrix, None
    wall = _power_above(longest) if real else _integer_above(int(longest))
    if largest == wall and given == wall:
        return matrix, wall
    kind: Any = np.int32 if wall <= np.iinfo(np.int32).max else np.int64
    if real or matrix.dtype == np.object_:
        kind = matrix.dtype
    elif wall > _LARGEST_WALL:
        kind = np.object_
    changed: Any = np.array(matrix, dtype=kind)
    for rows in blocks:
        changed[rows][matrix[rows] >= given] = wall
    return changed, wall


def _integer_above(longest: int) -> int:
    """Return an integer above one, which a float holds."""
    return longest + 1 if longest < EXACT_INTEGERS else 1 << longest.bit_length()


def _power_above(longest: float) -> float:
    """Return a power of two, which no scaling rounds, well above a sum of reals."""
    return math.ldexp(1.0, math.frexp(longest)[1] + 1) if 0 < longest < 1e300 else 1.0


def check_connected(
    matrix: NDArray[Any],
    wall: int | float,
    path: OpenPath | None,
    fixed_edges: NDArray[np.int32],
    names: Cities,
) -> None:
    """Accept missing arcs that leave a way from each city to each, but for the ends of a path.

    Raises `InvalidProblem`: there is no tour, as cities that no arc leaves, or that no way leads to, show.
    """
    n = len(matrix)
    out, into = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    for rows in _blocks(n):
        there = matrix[rows] < wall
        out[rows] = there.sum(axis=1)
        into += there.sum(axis=0)
    start, last = (None, None) if path is None else (path.start, path.end)
    for counts, word, end, other, line in (
        (out, "leaves", last, start, "row"),
        (into, "enters", start, last, "column"),
    ):
        lonely = np.flatnonzero(counts <= 1)  # the diagonal
        spared = lonely[:0] if path is None else lonely[lonely != other][:1] if end is None else [end]
        wrong = np.setdiff1d(lonely, spared)
        if len(wrong) and n > 1:
            raise InvalidProblem(
                f"{line} {wrong[0]} of the matrix (counted from 0) has no finite entry: no arc {word} "
                f"{words_for(names, wrong[0])}, so that there is no tour; each direction of a road is an arc"
            )
    lacking = missing_arcs(matrix, wall, fixed_edges)
    if len(lacking):
        tail, head = (words_for(names, city) for city in lacking[0])
        raise InvalidProblem(
            f"the fixed edge from {tail} to {head} is missing from the matrix: there is no tour"
        )
    if path is None:
        _check_ways(matrix, wall, 0, 0, names)
    elif start is not None and last is not None:
        _check_ways(matrix, wall, start, last, names)


def _check_ways(matrix: NDArray[Any], wall: int | float, start: int, last: int, names: Cities) -> None:
    for arcs, begins, backwards in ((matrix, [start], False), (matrix.T, [start, last], True)):
        other = _out_of_reach(arcs, wall, begins)
        if len(other):
            ends = (other[0], start) if backwards else (start, other[0])
            tail, head = (words_for(names, city) for city in ends)
            raise InvalidProblem(
                f"no way leads from {tail} to {head}, as arcs are missing from the matrix: there is no tour"
            )


def _out_of_reach(arcs: NDArray[Any], wall: int | float, begins: list[int]) -> NDArray[np.intp]:
    """Return the cities to which no way leads from some."""
    out = np.ones(len(arcs), dtype=np.bool_)
    out[begins] = False
    ahead = list(begins)
    while ahead and out.any():
        found = np.flatnonzero(out & (arcs[ahead.pop()] < wall))
        out[found] = False
        ahead += found.tolist()
    return np.flatnonzero(out)


def missing_arcs(matrix: NDArray[Any], wall: int | float | None, arcs: NDArray[Any]) -> NDArray[Any]:
    """Return those of the arcs, shape (m, 2), that are missing."""
    if wall is None:
        return arcs[:0]
    return np.asarray(arcs[matrix[arcs[:, 0], arcs[:, 1]] >= wall])


def with_infinity(matrix: NDArray[Any], wall: int | float | None) -> NDArray[Any]:
    """Return a matrix that says by itself which arcs are missing."""
    return matrix if wall is None else np.where(matrix >= wall, np.inf, matrix)


def _blocks(n: int) -> list[slice]:
    step = max(1, _BLOCK // max(n, 1))
    return [slice(begin, begin + step) for begin in range(0, n, step)]
