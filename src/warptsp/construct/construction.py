"""What a construction is: from an instance to a first tour."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.problem import Problem


@dataclass(frozen=True, slots=True)
class Construction:
    """A construction, as the registry in `constructions.py` holds it.

    ``build(problem, *, seed, threads, token)`` returns a closed tour with the problem's fixed edges, the same
    on any number of threads, or None if the token stopped it. The problem is never an open path.
    """

    name: str  # what ``start=`` and ``--start`` take
    summary: str  # what it is, in one line
    build: Callable[..., NDArray[np.int32] | None]
    coordinates: bool = False  # whether it needs them, and so cannot do a matrix
    matrix: bool = False  # whether it needs a matrix, and so cannot do coordinates


def keep_fixed_edges(
    problem: Problem, order: NDArray[np.int32] | None, token: _native.StopToken
) -> NDArray[np.int32] | None:
    """The order, with each path of fixed edges as a whole where its first city comes."""
    if order is None or len(problem.fixed_edges) == 0:
        return order
    return _native.keep_fixed_edges(order, problem.fixed_edges, token)
