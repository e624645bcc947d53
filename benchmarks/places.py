"""Many cities at one point: tours and bounds beside those of the places alone.

2000 random places, each given k times in random order, or as often as Zipf's law says, on one thread; then as
many tight groups of k cities each, which are not at one point; with ``--gpu`` also a hundred thousand and a
million cities at a fifth and a tenth as many places, on a GPU.
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


def in_groups(seeds: list[int], limits: tuple[float, ...]) -> tuple[list[list[str]], list[dict[str, object]]]:
    """Tours of groups over a bound that the best of them has given, with an instance for each seed."""
    rows, results = [], []
    for times in IN_GROUPS:
        for scatter in SCATTERS:
            gaps: dict[float, list[float]] = {seconds: [] for seconds in limits}
            best = []
            for seed in seeds:
                problem = groups(times, scatter, seed)
                runs = [
                    warptsp.solve(problem, time_limit=seconds, seed=seed, threads=1, device="cpu")
                    for seconds in limits
                ]
                tour = min(runs, key=lambda run: run.length)
                bound = warptsp.lower_bound(problem, tour.tour, iterations=ROUNDS).value
                best.append(100 * (tour.length / bound - 1))
                for seconds, run in zip(limits, runs, strict=True):
                    gaps[seconds].append(100 * (run.length / bound - 1))
            rows.append([str(times), str(scatter), *(f"{median(gaps[seconds]):.3f}" for seconds in limits)])
            results.append({"times": times, "scatter": scatter, "gaps": gaps, "best": best})
            note("  ".join(rows[-1]))
    return rows, results


def on_gpu(seeds: list[int]) -> tuple[list[list[str]], list[dict[str, object]]]:
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
    options = options_parser.parse_args()
    seeds = options.seeds[:1] if options.quick else options.seeds
    points = places(COUNT)

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
    text += table(["cities a place", "cities", *columns], rows)
    data = {"one thread": results}
    limits = LIMITS_OF_GROUPS[:1] if options.quick else LIMITS_OF_GROUPS
    rows, data["tight groups"] = in_groups(seeds, limits)
    text += (
        f"\n\n{COUNT} tight groups, EUC_2D; the tour over a bound of {ROUNDS} rounds, in %, median of "
        f"{len(seeds)} instances.\n\n"
    ) + table(["cities a group", "scatter", *(f"{seconds:g} s" for seconds in limits)], rows)
    if options.gpu:
        rows, data["GPU"] = on_gpu(seeds)
        text += (
            "\n\nOn a GPU, with all threads; the tour of the cities over that of the places alone, with the "
            f"same seed and time limit, in %, median of {len(seeds)} seeds.\n\n"
        ) + table(["places", "cities", "limit, s", "tour"], rows)
    report("places", "Places", text, data, options.output)


if __name__ == "__main__":
    main()
