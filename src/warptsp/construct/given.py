"""The cities in the order of the instance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.problem import Problem

from .construction import Construction, keep_fixed_edges


def build(problem: Problem, *, seed: int, threads: int, token: _native.StopToken) -> NDArray[np.int32] | None:
    """The order of the file or array."""
    return keep_fixed_edges(problem, np.arange(problem.n, dtype=np.int32), token)


CONSTRUCTION = Construction(
    name="given",
    summary="the cities in the order of the instance",
    build=build,
)
