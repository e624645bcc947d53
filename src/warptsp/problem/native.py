"""An instance as native code takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    import warptsp._native as _native
    from warptsp.problem.problem import Problem


def search_distances(problem: Problem, points: NDArray[np.float64] | None = None) -> _native.Distances:
    """What lists and start tours are made from: the problem's matrix, or `points`, rows of its
    `Problem.search_points`, of which None stands for all."""
    import warptsp._native as _native

    if problem.matrix is not None:
        return _native.Distances.of_matrix(problem.search_matrix())
    points = problem.search_points() if points is None else points
    return _native.Distances.of_points(problem.metric.kind, points)
