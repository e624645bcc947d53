"""What a new row is worth in the first step of the dual simplex method: cheap, for many rows.

N. J. Driebeek, "An algorithm for the solution of mixed integer programming problems", Management Science 12
(1966) 576-587; J. A. Tomlin, "An improved branch-and-bound method for integer programming", Operations
Research 19 (1971) 1070-1075.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["FirstStep", "Solution"]


class Solution(NamedTuple):
    """An optimal basis of a linear programme of m rows and k columns whose limits are 0 and 1.

    Attributes
    ----------
    values, reduced_costs : ndarray of float64, shape (k,)
    movable : ndarray of bool, shape (k,)
        False: the limits are the same.
    prices : ndarray of float64, shape (m,)
    inequalities : ndarray of bool, shape (m,)
        Rows that may rise above their lower limit.
    basic : ndarray of int, shape (m,)
        Columns of the basis, or -1 - r for the slack of row r.
    begin, rows, entries : ndarray
        Of the matrix, column by column; no column is empty.
    """

    values: NDArray[np.float64]
    reduced_costs: NDArray[np.float64]
    movable: NDArray[np.bool_]
    prices: NDArray[np.float64]
    inequalities: NDArray[np.bool_]
    basic: NDArray[np.int32]
    begin: NDArray[np.int32]
    rows: NDArray[np.int32]
    entries: NDArray[np.float64]


class FirstStep:
    """One step of the dual simplex method from a solution, for any new row.

    Parameters
    ----------
    solution : Solution
    solve : callable
        ``solve(b)`` returns y with B'y = b for the basis B.
    """

    def __init__(
        self, solution: Solution, solve: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    ) -> None:
        self._solution, self._solve = solution, solve
        basic = solution.basic
        self._places = np.flatnonzero(basic >= 0)
        self._in_basis = basic[self._places]
        moves = solution.movable.copy()
        moves[self._in_basis] = False
        self._columns = np.flatnonzero(moves)
        is_full = solution.values[self._columns] > 0.5
        self._direction = np.where(is_full, -1.0, 1.0)
        rises = solution.inequalities.copy()
        rises[-1 - basic[basic < 0]] = False
        self._rows = np.flatnonzero(rises)
        self._costs = np.maximum(
            0.0,
            np.concatenate(
                [self._direction * solution.reduced_costs[self._columns], solution.prices[self._rows]]
            ),
        )
        # An edge goes from one limit to the other at most; a row's value has none above.
        self._reach = np.repeat([1.0, math.inf], [len(self._columns), len(self._rows)])

    def gains(self, row: NDArray[np.float64], least: float, most: float) -> tuple[float, float]:
        """Return by how much the objective rises at least, for each of two sides.

        Parameters
        ----------
        row : ndarray of float64, shape (k,)
            Coefficients.
        least, most : float
            One side is that the row's value is at least `least`, the other that it is at most `most`.

        Returns
        -------
        (float, float)
            Infinite where nothing can change the value so far.
        """
        solution = self._solution
        of_basis = np.zeros(len(solution.basic))
        of_basis[self._places] = row[self._in_basis]
        y = self._solve(of_basis)
        products = np.add.reduceat(solution.entries * y[solution.rows], solution.begin)
        slopes = np.concatenate([self._direction * (row - products)[self._columns], y[self._rows]])
        value = float(row @ solution.values)
        return self._gain(slopes, least - value), self._gain(-slopes, value - most)

    def _gain(self, slopes: NDArray[np.float64], short: float) -> float:
        """Return the rise where the value is short by so much, and each unit of a variable adds its slope."""
        if short <= 0.0:
            return 0.0
        helpful = np.flatnonzero(slopes > 1e-9)
        ratios = self._costs[helpful] / slopes[helpful]
        order = np.argsort(ratios, kind="stable")
        ratios = ratios[order]
        # Up to each ratio in turn the objective rises by what is still short, times the new row's price.
        reached = np.cumsum((slopes[helpful] * self._reach[helpful])[order])
        end = int(np.searchsorted(reached, short))
        if end == len(reached):
            return math.inf
        still_short = short - np.concatenate([[0.0], reached[:end]])
        return float(still_short @ np.diff(ratios[: end + 1], prepend=0.0))
