"""Grids, whose optimal tours are known.

Let m x k cities, m, k >= 2, be the points of a square lattice of spacing s.

*Lower bound.* A tour has m k edges, and no two cities are nearer than s, so it is at least m k s long.

*An even number of cities.* One of m and k is even, say the number of rows m. Walk through the rows to and
fro, each time through all columns but the first. As m is even the walk ends in the last row beside the first
column, which leads back to the start: a tour of length m k s, which is optimal.

*An odd number of cities.* Colour the lattice like a chess board. An edge of length s joins the two colours,
and no closed walk that alternates between two colours visits an odd number of cities. So at least one edge is
longer than s; the next distance is sqrt(2) s, and (m k - 1) s + sqrt(2) s is a lower bound. It is reached:
walk through the rows but the last two as before; as their number is odd the walk ends at the last column.
Return through the last two rows together, down and up, column by column; as k - 1 is even this ends in the
upper of the two, beside the first column. A diagonal step leads to the first column's last city, and that
column back to the start.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidOption
from warptsp.problem import Metric, Problem

__all__ = ["grid", "grid_optimal_length", "grid_optimal_tour"]


def grid(rows: int, columns: int, *, spacing: int = 100) -> Problem:
    """A rows x columns grid of cities.

    Parameters
    ----------
    rows, columns : int
        At least 2 each.
    spacing : int
        Distance between neighbours.

    Returns
    -------
    Problem
        City ``row * columns + column`` lies at ``(column, row) * spacing``; EUC_2D. The comment gives the
        optimal length.

    Raises
    ------
    InvalidOption
        A number is out of range.
    """
    _check(rows, columns, spacing)
    y, x = np.divmod(np.arange(rows * columns), columns)
    optimum = grid_optimal_length(rows, columns, spacing=spacing)
    return Problem(
        Metric.EUC_2D,
        coordinates=np.stack([x, y], axis=1).astype(np.float64) * spacing,
        name=f"grid{rows}x{columns}",
        comment=f"grid of spacing {spacing}; the optimal tour is {optimum} long",
    )


def grid_optimal_length(rows: int, columns: int, *, spacing: int = 100) -> int:
    """Length of the optimal tour of `grid`, in EUC_2D's rounded distances; the proof heads this module."""
    _check(rows, columns, spacing)
    n = rows * columns
    if n % 2 == 0:
        return n * spacing
    return (n - 1) * spacing + math.floor(math.sqrt(2.0 * spacing * spacing) + 0.5)


def grid_optimal_tour(rows: int, columns: int) -> NDArray[np.int32]:
    """An optimal tour of `grid`."""
    _check(rows, columns, 1)
    cities = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    if rows % 2 and columns % 2 == 0:
        cities = cities.T
    single = len(cities) if len(cities) % 2 == 0 else len(cities) - 2
    parts = [row[1:] if number % 2 == 0 else row[:0:-1] for number, row in enumerate(cities[:single])]
    if single < len(cities):
        back = cities[single:, :0:-1].T.copy()  # one row for each column, from the last to the second
        back[1::2] = back[1::2, ::-1]
        parts.append(back.reshape(-1))
    parts.append(cities[::-1, 0])
    return np.concatenate(parts)


def _check(rows: int, columns: int, spacing: int) -> None:
    for name, value in (("rows", rows), ("columns", columns)):
        if value < 2 or rows * columns > 2**31 - 1:
            raise InvalidOption(
                f"{name}: {value} is not possible, a grid has at least 2 rows and 2 columns, and fewer than "
                "2**31 cities"
            )
    if not 1 <= spacing <= 10**9:
        raise InvalidOption(f"spacing: {spacing} is not possible, it must lie between 1 and 10**9")
