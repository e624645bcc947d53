"""The nearest neighbour tour: always on to the nearest city not visited yet; about 25 % above the optimum."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.problem import Problem

from .construction import Construction


def build(problem: Problem, *, seed: int, threads: int, token: _native.StopToken) -> NDArray[np.int32] | None:
    """The tour from a city that the seed chooses."""
    first = int(np.random.default_rng(seed).integers(problem.n))
    fixed = problem.fixed_edges
    if problem.matrix is not None:
        return _native.nearest_neighbor_matrix(problem.search_matrix(), first, fixed, token)
    norm = problem.metric.norm
    return _native.nearest_neighbor(problem.search_points(), first, norm, fixed, threads, token)


CONSTRUCTION = Construction(
    name="nearest-neighbor", summary="always on to the nearest city not visited yet", build=build
)
