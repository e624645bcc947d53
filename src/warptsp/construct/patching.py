"""A tour that the assignment of one way out of each city and one into each is patched to.

R. M. Karp, "A patching algorithm for the nonsymmetric traveling-salesman problem", SIAM J. Computing 8 (1979)
561-573. Good where distances have a direction, and the assignment has few cycles; of a symmetric matrix it
has many, since it goes to and fro.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.construct.construction import Construction, keep_fixed_edges
from warptsp.construct.directed_paths import DirectedPaths
from warptsp.problem import Problem

NAME = "patching"
_LEAST = 3  # cities of a native search
_LARGEST_SUM = 2.0**59  # of scaled distances over a tour: sums and potentials stay in 64 bits
_ROOM = 32  # cities that real distances leave room for at least: of few, potentials would be too large


@dataclass(frozen=True, slots=True, eq=False)
class DirectedInstance:
    """A matrix as the native search of directed tours takes it."""

    paths: DirectedPaths  # the closed tours that it searches
    scale: float  # the power of two that it multiplies distances by
    wall: int | float | None  # the distance of a missing arc

    @classmethod
    def of(cls, problem: Problem) -> "DirectedInstance":
        """Make it; only open paths and fixed arcs take a copy of the matrix."""
        paths = DirectedPaths.of(problem)
        return cls(paths, scale_of(paths.matrix, integral=problem.integral), problem.wall)

    @property
    def only_tour(self) -> NDArray[np.int32] | None:
        """The instance's tour, if there is only one; otherwise there are cities enough for a search."""
        m = len(self.paths.matrix)
        return self.paths.opened(np.arange(m, dtype=np.int32)) if m < _LEAST else None

    def search(self, seed: int, threads: int) -> _native.DirectedSearch:
        """Return a search that has not begun."""
        return _native.DirectedSearch.create(
            self.paths.matrix, scale=self.scale, wall=self.wall, seed=seed, threads=threads
        )


def scale_of(matrix: NDArray[np.int32] | NDArray[np.float64], *, integral: bool) -> float:
    """Return the power of two that a search multiplies distances by before it rounds them to integers.

    Integers stay as they are, if sums of them stay in 64 bits. Of real numbers as many bits are kept as sums
    leave room for: the rounding error of a distance is 2**-59 of a tour of the longest ones, or less; of few
    cities 2**-54 of the longest, as of a float64.
    """
    longest = float(matrix.max(initial=0))
    if longest == 0.0 or (integral and longest * len(matrix) <= _LARGEST_SUM):
        return 1.0
    bits = math.floor(math.log2(_LARGEST_SUM / max(len(matrix), _ROOM)) - math.log2(longest)) - 1
    return math.ldexp(1.0, min(bits, 1000))


def patched(problem: Problem, token: _native.StopToken, threads: int) -> NDArray[np.int32] | None:
    """Return the tour, a path in its own direction where the problem is open; None if it was stopped."""
    instance = DirectedInstance.of(problem)
    if (only := instance.only_tour) is not None:
        return only
    search = instance.search(0, threads)
    search.assign(math.inf, token)
    if token.stopped() or not search.prepare(token):
        return None
    return instance.paths.opened(search.patch(token))


def build(problem: Problem, *, seed: int, threads: int, token: _native.StopToken) -> NDArray[np.int32] | None:
    """Patch the assignment; without choice, so the seed has no effect."""
    if problem.asymmetric:
        return patched(problem, token, threads)
    # Fixed edges without a direction make no chains of arcs.
    free = replace(problem, fixed_edges=problem.fixed_edges[:0]) if len(problem.fixed_edges) else problem
    return keep_fixed_edges(problem, patched(free, token, threads), token)


PATCHING = Construction(NAME, "the assignment problem, patched (of matrices)", build, matrix=True)
