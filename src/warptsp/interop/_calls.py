"""What the calls of other packages have in common: a matrix in, a list of cities out."""

from typing import Any

import numpy as np

from warptsp._checks import shown
from warptsp.errors import InvalidProblem
from warptsp.problem import Problem
from warptsp.problem.values import plain_array
from warptsp.result import Result


def matrix_problem(distances: Any) -> Problem:
    """The instance of a square matrix, symmetric or not."""
    matrix = plain_array(distances, "the matrix's entries")
    if matrix.ndim == 0:
        raise InvalidProblem(f"the matrix is {shown(distances)}: rows of distances are needed")
    # One row is no matrix here, as it is in Problem.from_matrix.
    return Problem.from_matrix(np.atleast_2d(matrix), asymmetric=True)


def solve_here(problem: Problem, **options: Any) -> Result:
    """Solve as those packages do, which prove nothing, and raise `KeyboardInterrupt` in notebooks, too."""
    from warptsp.solver import solve

    return solve(problem, bound=False, prove=False, on_interrupt="raise", **options)
