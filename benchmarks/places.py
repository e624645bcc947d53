"""Many cities at one point: tours and bounds beside those of the places alone.

2000 random places, each given k times in random order, or as often as Zipf's law says, on one thread; then as
many tight groups of k cities each, which are not at one point; with ``--gpu`` also a hundred thousand and a
million cities at a fifth and a tenth as many places, on a GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from statistics import median
from typing import Any

import numpy as np
from common import note, parser, report, table

import warptsp
from warptsp import Problem

COUNT, SIDE, MOST = 2000, 1_000_000, 400  # places, their square, and cities at one of them
SEED_OF_PLACES = 1
LIMITS = 1.0, 4.0
REFERENCE = 20.0  # seconds for the tour that all are compared with
TIMES = (1, 2, 5, 10, 20, "Zipf")
IN_GROUPS, SCATTERS, LIMITS_OF_GROUPS = (5, 10), (1, 100), (1.0, 3.0, 10.0)
ROUNDS = 1000  # of the bound that tours of groups are compared with
ON_GPU = ((20_000, 100_000, (5.0, 20.0)), (100_000, 1_000_000, (20.0,)))  # places, cities, seconds


def cities(points: np.ndarray, times: int | str) -> np.ndarray:
    random = np.random.default_rng(SEED_OF_PLACES)
    counts = (
        np.full(len(points), times) if times != "Zipf" else np.minimum(random.zipf(1.5, len(points)), MOST)
    )
    return random.permutation(np.repeat(points, counts, axis=0))


def places(count: int) -> np.ndarray:
    drawn = np.floor(np.random.default_rng(SEED_OF_PLACES).random((count, 2)) * SIDE)
    return np.unique(drawn, axis=0)


def groups(times: int, scatter: float, seed: int) -> Problem:
    """Groups of so many cities, which are normally distributed around random places."""
    random = np.random.default_rng(seed)
    centres = np.repeat(random.random((COUNT, 2)) * SIDE, times, axis=0)
    return Problem.from_points(
        random.permutation(centres + random.normal(0, scatter, centres.shape)), "EUC_2D"
    )


def search_places(times: int | str, seconds: float, seed: int) -> tuple[float, float | None]:
    """Return the length and the bound of one thread's run."""
    problem = Problem.from_points(cities(places(COUNT), times), "EUC_2D")
    run = warptsp.solve(problem, time_limit=seconds, seed=seed, threads=1, device="cpu")
    return run.length, run.lower_bound


def search_groups(times: int, scatter: float, limits: Sequence[float], seed: int) -> dict[float, float]:
    """Return the gaps of one thread's tours to a bound that the best of them has given, for each limit."""
    problem = groups(times, scatter, seed)
    runs = [
        warptsp.solve(problem, time_limit=seconds, seed=seed, threads=1, device="cpu") for seconds in limits
    ]
    best = min(runs, key=lambda run: run.length)
    bound = warptsp.lower_bound(problem, best.tour, iterations=ROUNDS).value
    return {seconds: 100 * (run.length / bound - 1) for seconds, run in zip(limits, runs, strict=True)}


def at_places(pool: Executor, seeds: Sequence[int], longest: float) -> tuple[list[list[str]], Any]:
    """Tours and bounds of cities at equal points, over those of the places alone."""
    best = pool.submit(search_places, 1, longest, seeds[0])
    runs = {
        (times, seconds): [pool.submit(search_places, times, seconds, seed) for seed in seeds]
        for times in TIMES
        for seconds in LIMITS
    }
    least, rows, results = best.result()[0], [], []
    for times in TIMES:
        n = len(cities(places(COUNT), times))
        row = [str(times), str(n)]
        for seconds in LIMITS:
            found = [run.result() for run in runs[times, seconds]]
            gap = 100 * (median(length for length, _ in found) / least - 1)
            bounds = [bound for _, bound in found if bound is not None]
            row += [f"{gap:.3f}", f"{100 * (least / median(bounds) - 1):.2f}" if bounds else ""]
            results.append({"times": times, "cities": n, "seconds": seconds, "gap": gap, "bounds": bounds})
        rows.append(row)
        note("  ".join(row))
    return rows, results


def in_groups(pool: Executor, seeds: Sequence[int], limits: Sequence[float]) -> tuple[list[list[str]], Any]:
    """Tours of tight groups over a bound, with an instance for each seed."""
    runs = {
        (times, scatter): [pool.submit(search_groups, times, scatter, limits, seed) for seed in seeds]
        for times in IN_GROUPS
        for scatter in SCATTERS
    }
    rows, results = [], []
    for (times, scatter), waiting in runs.items():
        gaps = [run.result() for run in waiting]
        medians = [median(gap[seconds] for gap in gaps) for seconds in limits]
        rows.append([str(times), str(scatter), *(f"{gap:.3f}" for gap in medians)])
        results.append({"times": times, "scatter": scatter, "gaps": gaps})
        note("  ".join(rows[-1]))
    return rows, results


def on_gpu(seeds: Sequence[int]) -> tuple[list[list[str]], list[dict[str, object]]]:
    """Cities beside their places alone, in the same time with the same seed."""
    rows, results = [], []
    for count, n, limits in ON_GPU:
        points, random = places(count), np.random.default_rng(SEED_OF_PLACES)
        further = points[random.integers(0, len(points), n - len(points))]
        crowded = random.permutation(np.concatenate([points, further]))
        for seconds in limits:
            gaps = []
            for seed in seeds:
                alone, all_cities = (
                    warptsp.solve(
                        Problem.from_points(given, "EUC_2D"), time_limit=seconds, seed=seed, device="cuda"
                    ).length
                    for given in (points, crowded)
                )
                gaps.append(100 * (all_cities / alone - 1))
            rows.append([str(len(points)), str(n), f"{seconds:g}", f"{median(gaps):+.4f}"])
            results.append({"places": len(points), "cities": n, "seconds": seconds, "gaps": gaps})
            note("  ".join(rows[-1]))
    return rows, results


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    options_parser.add_argument("--gpu", action="store_true", help="also long tours, on a GPU")
    options_parser.add_argument("--side-by-side", type=int, default=1, metavar="N", help="N runs at once")
    options = options_parser.parse_args()
    seeds = options.seeds[:1] if options.quick else options.seeds
    longest = LIMITS[-1] if options.quick else REFERENCE
    limits = LIMITS_OF_GROUPS[:1] if options.quick else LIMITS_OF_GROUPS
    data = {}
    with ProcessPoolExecutor(options.side_by_side, get_context("spawn")) as pool:
        rows, data["one thread"] = at_places(pool, seeds, longest)
        of_groups, data["tight groups"] = in_groups(pool, seeds, limits)
    text = (
        f"One thread a run, {options.side_by_side} at once.\n\n"
        f"{COUNT} places, EUC_2D, in a square of {SIDE}; medians of {len(seeds)} seeds, in %: the tour "
        f"over one of the places alone after {longest:g} s, and that over the bound.\n\n"
    )
    columns = [f"{seconds:g} s, {what}" for seconds in LIMITS for what in ("tour", "bound")]
    text += table(["cities a place", "cities", *columns], rows) + (
        f"\n\n## Tight groups\n\n{COUNT} groups around random places in the same square, normally "
        f"distributed with so much scatter: the tour over a bound of {ROUNDS} rounds, in %, median of "
        f"{len(seeds)} instances.\n\n"
    )
    text += table(["cities a group", "scatter", *(f"{seconds:g} s" for seconds in limits)], of_groups)
    if options.gpu:
        rows, data["GPU"] = on_gpu(seeds)
        text += (
            "\n\n## On a GPU\n\nWith all threads; the tour of the cities over that of the places alone, with "
            f"the same seed and time limit, in %, median of {len(seeds)} seeds.\n\n"
        ) + table(["places", "cities", "limit, s", "tour"], rows)
    report("places", "Places", text, data, options.output)


if __name__ == "__main__":
    main()
