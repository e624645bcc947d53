"""Many cities at one point: tours and bounds beside those of the places alone, on one thread.

2000 random places, each given k times in random order, or as often as Zipf's law says.
"""

from __future__ import annotations

from statistics import median

import numpy as np
from common import note, parser, report, table

import warptsp
from warptsp import Problem

COUNT, SIDE, MOST = 2000, 1_000_000, 400  # places, their square, and cities at one of them
SEED_OF_PLACES = 1
LIMITS = 1.0, 4.0
REFERENCE = 20.0  # seconds for the tour that all are compared with
TIMES = (1, 2, 5, 10, 20, "Zipf")


def cities(points: np.ndarray, times: int | str) -> np.ndarray:
    random = np.random.default_rng(SEED_OF_PLACES)
    counts = (
        np.full(len(points), times) if times != "Zipf" else np.minimum(random.zipf(1.5, len(points)), MOST)
    )
    return random.permutation(np.repeat(points, counts, axis=0))


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    options = options_parser.parse_args()
    seeds = options.seeds[:1] if options.quick else options.seeds
    drawn = np.floor(np.random.default_rng(SEED_OF_PLACES).random((COUNT, 2)) * SIDE)
    points = np.unique(drawn, axis=0)

    def solve(times: int | str, seconds: float, seed: int) -> warptsp.Result:
        problem = Problem.from_points(cities(points, times), "EUC_2D")
        return warptsp.solve(problem, time_limit=seconds, seed=seed, threads=1, device="cpu")

    longest = LIMITS[-1] if options.quick else REFERENCE
    best = solve(1, longest, seeds[0]).length
    rows, results = [], []
    for times in TIMES:
        row, n = [str(times)], len(cities(points, times))
        row.append(str(n))
        for seconds in LIMITS:
            runs = [solve(times, seconds, seed) for seed in seeds]
            gap = 100 * (median(run.length for run in runs) / best - 1)
            bounds = [run.lower_bound for run in runs if run.lower_bound is not None]
            row.append(f"{gap:.3f}")
            row.append(f"{100 * (best / median(bounds) - 1):.2f}" if bounds else "")
            results.append({"times": times, "cities": n, "seconds": seconds, "gap": gap, "bounds": bounds})
        rows.append(row)
        note("  ".join(row))
    text = (
        f"{len(points)} places, EUC_2D, in a square of {SIDE}; medians of {len(seeds)} seeds, in %: the tour "
        f"over one of the places alone after {longest:g} s, and that over the bound.\n\n"
    )
    columns = [f"{seconds:g} s, {what}" for seconds in LIMITS for what in ("tour", "bound")]
    report(
        "places",
        "Places",
        text + table(["cities a place", "cities", *columns], rows),
        results,
        options.output,
    )


if __name__ == "__main__":
    main()
