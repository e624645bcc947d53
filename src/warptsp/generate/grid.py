"""Grids, whose optimal tours are known: the proof is in `warptsp.problem.lattice`."""

import numpy as np
from numpy.typing import NDArray

from warptsp.problem import Metric, Problem
from warptsp.problem.lattice import checked_lattice, grid_optimal_length


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
    rows, columns, spacing = checked_lattice(rows, columns, spacing)
    y, x = np.divmod(np.arange(rows * columns), columns)
    optimum = grid_optimal_length(rows, columns, spacing=spacing)
    return Problem(
        Metric.EUC_2D,
        coordinates=np.stack([x, y], axis=1).astype(np.float64) * spacing,
        name=f"grid{rows}x{columns}",
        comment=f"grid of spacing {spacing}; the optimal tour is {optimum} long",
    )


def grid_optimal_tour(rows: int, columns: int) -> NDArray[np.int32]:
    """An optimal tour of `grid`."""
    rows, columns, _ = checked_lattice(rows, columns, 1)
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
