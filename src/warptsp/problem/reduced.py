"""Matrices of integers that no double holds, as searches see them: less what all entries share.

Every tour has equally many edges, so that the smallest entry can be taken from all, and what is left divided
by its greatest common divisor: tours keep their order, exactly. Where the rest is still too large, it is
divided by more and rounded down. Then a tour is as long as is said here or longer, by less than a unit for
each edge, and lower bounds hold all the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_EXACT = 2**52  # sums of two entries, and twice an entry, are doubles without rounding
_ROUNDED = 2**44  # sums of a tour of some hundred edges are, too


class Reduced(NamedTuple):
    """An instance in smaller numbers, and what they mean.

    An entry of the instance is `unit` times that of `problem`, rounded down if not `exact`, plus `base`.
    """

    problem: Any  # a `Problem`, which imports this module, with the same tours
    unit: int
    base: int
    exact: bool
    edges: int  # of a tour
    wall: int | None  # the entry of the instance for a missing arc

    def length(self, length: int | float) -> int:
        """Return how long a tour of this length is in the instance, at least; exactly if `exact`."""
        if self.wall is not None and self.problem.wall is not None and length >= self.problem.wall:
            return self.wall  # no tour without a missing arc
        return round(length) * self.unit + self.edges * self.base


def reduced_matrix(matrix: NDArray[np.object_], wall: int | None) -> tuple[NDArray[np.int64], int, int, bool]:
    """Return a matrix in smaller numbers, with walls that are longer than all else, and unit, base, exact."""
    there = ~np.eye(len(matrix), dtype=np.bool_)
    if wall is not None:
        there &= (matrix < wall).astype(np.bool_)
    entries = matrix[there]
    if not len(entries):
        return np.where(there | np.eye(len(matrix), dtype=np.bool_), 0, 1), 1, 0, True
    base = int(entries.min())
    rest = entries - base
    span, unit = int(rest.max()), int(np.gcd.reduce(rest)) or 1
    exact = span <= _EXACT * unit
    if not exact:
        unit = -(-span // _ROUNDED)
    small = (rest // unit).astype(np.int64)
    found = np.full(matrix.shape, int(small.max()) + 1, dtype=np.int64)
    found[there] = small
    np.fill_diagonal(found, 0)
    return found, unit, base, exact
