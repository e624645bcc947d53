"""The shortest tour of a few cities in rational arithmetic: what tests compare every claim with.

Nothing of the package is used here, nothing is rounded, and every float counts as the fraction that it is.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import inf, lcm
from typing import Any

MAX_CITIES = 13  # half a second; 10 cities take some milliseconds


def optimum(
    matrix: Any, *, open: Any = None, fixed: Iterable[Sequence[int]] = (), directed: bool | None = None
) -> tuple[int | Fraction, list[int]] | None:
    """Return the length and the order of a shortest tour, or None if there is no tour.

    Parameters
    ----------
    matrix : array_like
        Whole numbers, floats or fractions of up to `MAX_CITIES` cities; None and infinity are missing arcs.
    open : None, True or pair
        A closed tour, a path with free ends, or one with these ends, each of which may be None.
    fixed : iterable of pairs
        Edges that the tour must have; arcs in their direction where the matrix is directed.
    directed : bool, optional
        Whether it is. By default a matrix is that is not symmetric.
    """
    scale, rows = _whole(matrix)
    n = len(rows)
    assert 0 < n <= MAX_CITIES
    if directed is None:
        directed = any(rows[i][j] != rows[j][i] for i in range(n) for j in range(i))
    arcs = {(int(a), int(b)) for a, b in fixed}
    if not directed:
        arcs |= {(b, a) for a, b in arcs}
    # With every arc that is there the tour gets shorter by more than all of its length.
    bonus = 1 + 2 * n * max((abs(d) for row in rows for d in row if d is not None), default=0)
    costs = [
        [None if d is None or i == j else d - bonus * ((i, j) in arcs) for j, d in enumerate(row)]
        for i, row in enumerate(rows)
    ]
    order = _best_order(costs, open)
    if order is None:
        return None
    used = set(_legs(order, open))
    if any((a, b) not in used and (directed or (b, a) not in used) for a, b in arcs):
        return None
    total = Fraction(sum(rows[a][b] or 0 for a, b in _legs(order, open)), scale)
    return (total.numerator if total.denominator == 1 else total), order


def length(matrix: Any, order: Sequence[int], *, open: Any = None) -> int | Fraction | None:
    """Return how long a tour is, or None if one of its arcs is missing."""
    scale, rows = _whole(matrix)
    entries = [rows[a][b] for a, b in _legs(order, open)]
    if any(d is None for d in entries):
        return None
    total = Fraction(sum(d for d in entries if d is not None), scale)
    return total.numerator if total.denominator == 1 else total


def _whole(matrix: Any) -> tuple[int, list[list[int | None]]]:
    """Return a common denominator, and the matrix times it in whole numbers, 0 on the diagonal."""
    rows: list[list[Fraction | None]] = [
        [
            Fraction(0)
            if i == j
            else None
            if d is None or d == inf
            else Fraction(getattr(d, "item", lambda d=d: d)())
            for j, d in enumerate(row)
        ]
        for i, row in enumerate(matrix)
    ]
    scale = lcm(*(d.denominator for row in rows for d in row if d is not None))
    return scale, [[None if d is None else int(d * scale) for d in row] for row in rows]


def _legs(order: Sequence[int], open: Any) -> list[tuple[int, int]]:
    cities = [int(city) for city in order]
    if len(cities) == 1:
        return []
    return list(
        zip(cities, cities[1:] + cities[:1] if open is None or open is False else cities[1:], strict=False)
    )


def _best_order(costs: list[list[int | None]], open: Any) -> list[int] | None:
    """Dynamic programming (Held and Karp 1962): for each set and last city the best path through the set."""
    n = len(costs)
    closed = open is None or open is False
    start, end = (0, None) if closed else (None, None) if open is True else open
    best: list[dict[int, tuple[int, int]]] = [
        {} for _ in range(1 << n)
    ]  # set -> last city -> (cost, city before)
    for city in range(n):
        if start is None or city == start:
            best[1 << city][city] = (0, -1)
    for visited in range(1, 1 << n):
        for last, (cost, _) in best[visited].items():
            for city, arc in enumerate(costs[last]):
                if arc is None or visited >> city & 1:
                    continue
                into = best[visited | 1 << city]
                if city not in into or cost + arc < into[city][0]:
                    into[city] = (cost + arc, last)
    totals: list[tuple[int, int]] = []
    for last, (cost, _) in best[-1].items():
        back = costs[last][0] if closed and n > 1 else 0
        if back is not None and (end is None or last == end):
            totals.append((cost + back, last))
    if not totals:
        return None
    last, visited, order = min(totals)[1], (1 << n) - 1, []
    while last >= 0:
        order.append(last)
        visited, last = visited & ~(1 << last), best[visited][last][1]
    return order[::-1]
