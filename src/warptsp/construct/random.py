"""The cities in random order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.problem import Problem

from .construction import Construction, keep_fixed_edges


def build(problem: Problem, *, seed: int, threads: int, token: _native.StopToken) -> NDArray[np.int32] | None:
    """The order that belongs to the seed, on every machine."""
    return keep_fixed_edges(problem, _native.random_tour(problem.n, seed % 2**64, token), token)


CONSTRUCTION = Construction(
    name="random",
    summary="the cities in random order",
    build=build,
)
