"""The length of an optimal tour of a square lattice; `warptsp.generate.grid` makes such instances.

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

import math

from warptsp._checks import checked_whole
from warptsp.errors import InvalidOption


def grid_optimal_length(rows: int, columns: int, *, spacing: int = 100) -> int:
    """Length of the optimal tour of a grid, in EUC_2D's rounded distances; the proof heads this module."""
    rows, columns, spacing = checked_lattice(rows, columns, spacing)
    n = rows * columns
    if n % 2 == 0:
        return n * spacing
    return (n - 1) * spacing + math.floor(math.sqrt(2.0 * spacing * spacing) + 0.5)


def checked_lattice(rows: int, columns: int, spacing: int) -> tuple[int, int, int]:
    """Return the three as ints, or raise `InvalidOption` for a grid that is too small or too large."""
    rows = checked_whole("rows", rows, 2, 2**31 - 1)
    columns = checked_whole("columns", columns, 2, 2**31 - 1)
    if rows * columns > 2**31 - 1:
        raise InvalidOption(f"a grid of {rows} x {columns} cities is not possible, it has fewer than 2**31")
    return rows, columns, checked_whole("spacing", spacing, 1, 10**9)
