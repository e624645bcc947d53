"""How good tours of asymmetric matrices are: compared with the optimum, elkai (LKH) and the assignment bound.

Random matrices of three kinds: ``random`` has independent entries; ``wind`` has distances in the plane
plus 30 % of the westward component; ``streets`` has distances in the plane, each direction of each pair
longer by 0 to 40 %.
"""

from __future__ import annotations

import time

import numpy as np
from common import gap_percent, note, parser, report, spread, table
from scipy.optimize import linear_sum_assignment

import warptsp

KINDS = ("random", "wind", "streets")
SIZES = (100, 300, 1_000, 3_000)
SECONDS = (2.0, 10.0)
EXACT = 14  # cities
INSTANCES = 10  # of so many cities
LARGEST_PEER = 300  # cities; it takes minutes for some more


def make(kind: str, n: int, seed: int) -> np.ndarray:
    """Return a matrix of whole numbers."""
    rng = np.random.default_rng(seed)
    x, y = rng.random((2, n)) * 10_000
    matrix = np.hypot(x[:, np.newaxis] - x, y[:, np.newaxis] - y)
    if kind == "random":
        matrix = rng.random((n, n)) * 10_000
    elif kind == "wind":
        matrix += 0.3 * np.maximum(0.0, x[:, np.newaxis] - x)
    else:
        matrix *= 1.0 + 0.4 * rng.random((n, n))
    matrix = np.rint(matrix).astype(np.int64)
    np.fill_diagonal(matrix, 0)
    return matrix


def bound(matrix: np.ndarray) -> int:
    """Return the least sum of links of which each city has one in and one out: no tour is shorter."""
    costs = matrix.copy()
    np.fill_diagonal(costs, matrix.sum())
    rows, columns = linear_sum_assignment(costs)
    return int(costs[rows, columns].sum())


def peer(matrix: np.ndarray) -> tuple[int, float] | None:
    """Return length and seconds of one run of elkai, None if it is not there."""
    try:
        import elkai
    except ModuleNotFoundError:
        return None
    begun = time.monotonic()
    tour = elkai.DistanceMatrix(matrix.tolist()).solve_tsp(runs=1)
    return int(matrix[tour[:-1], tour[1:]].sum()), time.monotonic() - begun


def main() -> None:
    options = parser(__doc__).parse_args()
    sizes, seconds = (SIZES[:2], (0.5, 1.0)) if options.quick else (SIZES, SECONDS)
    results, rows, small = [], [], []
    for kind in KINDS:
        gaps = []
        for seed in range(INSTANCES):
            problem = warptsp.Problem.from_matrix(make(kind, EXACT, seed), asymmetric=True)
            optimum = warptsp.solve(problem, method="exact").length
            gaps.append(gap_percent(warptsp.solve(problem, kicks=1_000, threads=1).length, optimum))
        small.append([kind, f"{sum(gap == 0 for gap in gaps)} of {INSTANCES}", spread(gaps)])
        results.append({"kind": kind, "cities": EXACT, "gaps": gaps})
        for n in sizes:
            note(f"{kind}, {n} cities")
            matrix = make(kind, n, n)
            problem = warptsp.Problem.from_matrix(matrix, asymmetric=True)
            lower = bound(matrix)
            lengths = [warptsp.solve(problem, time_limit=limit, threads=1).length for limit in seconds]
            other = peer(matrix) if n <= LARGEST_PEER else None
            shown = "" if other is None else f"{other[0]} in {other[1]:.1f} s"
            rows.append([kind, n, lower, *(f"{v} ({gap_percent(v, lower):.2f})" for v in lengths), shown])
            results.append({"kind": kind, "cities": n, "bound": lower, "lengths": lengths, "peer": other})
    text = (
        f"Instances of {EXACT} cities, 1000 kicks, against the optimum (dynamic programming):\n\n"
        + table(["kind", "optimal", "gap, %: median (range)"], small)
        + "\n\nLarger ones, one thread: length, and in parentheses per cent over the bound of assignments, "
        "which is close to the optimum for `random` only:\n\n"
        + table(["kind", "cities", "bound", *(f"{limit:g} s" for limit in seconds), "elkai, one run"], rows)
    )
    report("asymmetric", "Asymmetric matrices", text, results, options.output)


if __name__ == "__main__":
    main()
