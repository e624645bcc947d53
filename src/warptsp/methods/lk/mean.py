"""Nearly symmetric distances: the mean of both directions, searched by the symmetric search.

Road tables of towns with few one-way streets are hardly longer in the one direction than in the other. Their
assignment is far from a tour, as it goes to and fro, and moves that reverse nothing see little. The symmetric
search of the sum of both directions finds a better tour, and the directed search begins with the better
direction of that.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp.methods.first_search import FirstSearch
from warptsp.methods.lk import cpu, tuning
from warptsp.methods.lk.params import LkParams
from warptsp.methods.protocol import Run
from warptsp.problem import Problem
from warptsp.problem.values import EXACT_INTEGERS

_ROWS, _NEAREST = 200, 8  # that the measure looks at
_START = "greedy"


def asymmetry(matrix: NDArray[Any]) -> float:
    """Return the difference between the two directions of short edges as a share of their sum, 0 to 1.

    Short edges are those to the 8 nearest cities of up to 200 cities; a symmetric matrix has 0.
    """
    n = len(matrix)
    cities = np.unique(np.linspace(0, n - 1, _ROWS).astype(np.intp))
    there = matrix[cities].astype(np.float64)
    back = matrix[:, cities].T.astype(np.float64)
    nearer = np.minimum(there, back)
    nearer[np.arange(len(cities)), cities] = np.inf
    count = min(_NEAREST, n - 1)
    nearest = np.argpartition(nearer, count - 1, axis=1)[:, :count]
    there, back = np.take_along_axis(there, nearest, axis=1), np.take_along_axis(back, nearest, axis=1)
    total = float((there + back).sum())
    return float(np.abs(there - back).sum()) / total if total > 0 else 0.0


def seconds_for_mean(problem: Problem, run: Run) -> float:
    """Return how long the mean is worth searching; 0 if it is not.

    Missing and fixed arcs have a direction, which the mean has not; without a time limit there is no share.
    """
    remaining = None if run.time_limit is None else run.remaining()
    if remaining is None or run.kick_limit is not None:
        return 0.0
    if problem.wall is not None or len(problem.fixed_edges) or problem.n < tuning.MEAN_CITIES:
        return 0.0
    if asymmetry(problem.given_matrix()) > tuning.MEAN_ASYMMETRY:
        return 0.0
    return tuning.MEAN_SHARE * remaining


def search_mean(problem: Problem, run: Run, seconds: float) -> NDArray[np.int32] | None:
    """Search the sum of both directions for so many seconds; the tour or path in its better direction, None
    if there is none by then."""
    matrix: Any = problem.given_matrix()
    whole = problem.integral and 2.0 * float(matrix.max()) <= EXACT_INTEGERS
    total = np.add(matrix, matrix.T, dtype=np.int64 if whole else np.float64)
    symmetric = Problem.from_matrix(total, open=problem.open)
    path = problem.open
    both = path is None or (path.start is None and path.end is None)
    of_mean = FirstSearch(
        run,
        symmetric,
        lambda tour: [tour, tour[::-1]] if both else [tour],
        seconds=seconds,
        start=run.start if isinstance(run.start, np.ndarray) else _START,
    )
    cpu.search(symmetric, of_mean.run, LkParams())
    return of_mean.found
