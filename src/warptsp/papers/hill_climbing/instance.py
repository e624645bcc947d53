"""A problem as hill climbers want it: float coordinates for a fast scan, and what exact distances need."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.backends.instance import native_distances, tolerance_of
from warptsp.problem import Metric, Problem

MAX_MATRIX_CITIES = 4000  # up to which the distances of other metrics are computed once
# Float distances below it are rounded to the right integer but for a few; longer ones are not rounded at all.
LARGEST_ROUNDED = 2.0**22
# Beyond it the vectorised rounding of double distances would no longer be exact.
LARGEST_PLANE = 2.0**51
_LARGEST_INT = 2.0**28  # sums of four fit into 32 bits


@dataclass(frozen=True, eq=False)
class ClimbInstance:
    """A problem as climbers want it."""

    problem: Problem
    metric: Metric  # EXPLICIT for a matrix, which is made for other metrics, too
    # As the exact arithmetic takes them: of float64, of points or of a matrix of real numbers; or of int32,
    # of a matrix of small integers.
    rows: NDArray[Any]
    tolerance: float  # what a gain must exceed to be more than rounding
    scale: float  # lengths are counted in 1 / scale, so that sums are exact in 64 bits

    @classmethod
    def build(cls, problem: Problem, *, matrix: bool = False) -> "ClimbInstance":
        """Prepare a problem; `matrix` asks for a matrix whatever the metric."""
        bound = problem.distance_bound
        tolerance = tolerance_of(problem)
        scale = 1.0 if problem.integral else 2.0 ** (61 - math.frexp(problem.n * (bound or 1.0))[1])
        if problem.matrix is not None or matrix or (not in_plane(problem) and problem.n <= MAX_MATRIX_CITIES):
            kind = np.int32 if problem.integral and bound <= _LARGEST_INT else np.float64
            rows = distance_matrix(problem, kind)
            return cls(problem, Metric.EXPLICIT, rows, tolerance, scale)
        rows = np.ascontiguousarray(problem.search_points(), dtype=np.float64)
        return cls(problem, problem.metric, rows, tolerance, scale)

    @property
    def rounded(self) -> bool:
        """Whether a fast scan of the plane rounds as the metric does; else `near` has a unit of its own."""
        return self.problem.integral and self.problem.distance_bound < LARGEST_ROUNDED

    @cached_property
    def near(self) -> NDArray[np.float32]:
        """The plane's coordinates, relative to the centre, for a fast scan; shape (n, 2)."""
        # Column by column: along rows of two NumPy takes six times as long for all this.
        low, high = (np.array([end(column) for column in self.rows.T]) for end in (np.min, np.max))
        relative = self.rows - (low + (high - low) / 2)
        if not self.rounded:
            # A power of two, so that squares neither vanish nor overflow.
            largest = max(float(relative.max()), -float(relative.min())) or 1.0
            relative *= 2.0 ** -math.frexp(largest)[1]
        return np.ascontiguousarray(relative, dtype=np.float32)

    @property
    def whole(self) -> bool:
        """Whether `rows` are those of a matrix of integers."""
        return self.rows.dtype == np.int32

    def distances(self) -> _native.Distances:
        """Return what the distances come from, as native climbers take it."""
        return native_distances(self.metric, self.rows, whole=self.whole)


def in_plane(problem: Problem) -> bool:
    """Tell whether float distances in the plane can look for moves."""
    return problem.metric.euclidean and problem.distance_bound < LARGEST_PLANE


def distance_matrix(problem: Problem, kind: type) -> NDArray[Any]:
    """All distances, shape (n, n)."""
    if problem.matrix is not None:
        return np.ascontiguousarray(problem.matrix, dtype=kind)
    cities = np.arange(problem.n)
    matrix: NDArray[Any] = np.empty((problem.n, problem.n), dtype=kind)
    rows = max(1, 1_000_000 // problem.n)
    for begin in range(0, problem.n, rows):
        matrix[begin : begin + rows] = problem.distance(cities[begin : begin + rows, None], cities[None, :])
    return matrix
