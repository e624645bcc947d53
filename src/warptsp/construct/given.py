"""The cities in the order of the instance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import warptsp._native as _native

from .construction import Construction, keep_fixed_edges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.problem import Problem


def build(problem: Problem, *, seed: int, threads: int, token: _native.StopToken) -> NDArray[np.int32] | None:
    """The order of the file or array."""
    return keep_fixed_edges(problem, np.arange(problem.n, dtype=np.int32), token)


CONSTRUCTION = Construction(
    name="given",
    summary="the cities in the order of the instance",
    build=build,
)
