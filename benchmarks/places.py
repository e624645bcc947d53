"""Many cities at one point: tours and bounds beside those of the places alone.

2000 random places, each given k times in random order, or as often as Zipf's law says, on one thread; then as
many tight groups of k cities each, which are not at one point; then a million cities at a tenth as many
places; with ``--gpu`` also on a GPU, and a hundred thousand at a fifth as many.
"""

from __future__ import annotations

import time
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
LONG_SEARCHES, LONG_SEARCH = 2, 60.0  # for the best known tour of groups, and their seconds
LONG = ((100_000, 1_000_000, (30.0,)),)  # places, cities, seconds of a thread
ON_GPU = ((20_000, 100_000, (5.0, 20.0)), (100_000, 1_000_000, (20.0,)))
MORE_SECONDS = 0.5  # for the cities than for the places, on a thread
PROVED, TIMES_PROVED, MOST_OF_PROOF = 300, (1, 5), 60.0  # places, cities at each, and seconds at most


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


def search_groups(times: int, scatter: float, seconds: float, instance: int, seed: int) -> Any:
    """Return the tour of one thread's run."""
    problem = groups(times, scatter, instance)
    run = warptsp.solve(problem, time_limit=seconds, seed=seed, threads=1, device="cpu", bound=False)
    return run.length, run.tour


def bound_of_groups(times: int, scatter: float, instance: int, tour: np.ndarray) -> float:
    """Return the bound that all tours of groups are compared with."""
    return warptsp.lower_bound(groups(times, scatter, instance), tour, iterations=ROUNDS, threads=1).value


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


def in_groups(
    pool: Executor, seeds: Sequence[int], limits: Sequence[float], long_search: float
) -> tuple[list[list[str]], Any]:
    """Tours of tight groups over a bound, and the last of them over the best known, with an instance a seed.

    The best known is of all these runs and of longer ones with other seeds.
    """
    kinds = [(times, scatter) for times in IN_GROUPS for scatter in SCATTERS]
    runs = {
        (*kind, instance): [
            *(pool.submit(search_groups, *kind, seconds, instance, instance) for seconds in limits),
            *(
                pool.submit(search_groups, *kind, long_search, instance, 100 * (number + 1) + instance)
                for number in range(LONG_SEARCHES)
            ),
        ]
        for kind in kinds
        for instance in seeds
    }
    lengths, bounds = {}, {}
    for key, waiting in runs.items():
        tours = [run.result() for run in waiting]
        lengths[key] = [length for length, _ in tours]
        bounds[key] = pool.submit(bound_of_groups, *key, min(tours, key=lambda tour: tour[0])[1])
    rows, results = [], []
    for kind in kinds:
        keys = [(*kind, instance) for instance in seeds]
        over = [[100 * (length / bounds[key].result() - 1) for length in lengths[key]] for key in keys]
        known = [100 * (lengths[key][len(limits) - 1] / min(lengths[key]) - 1) for key in keys]
        of_known = [min(gaps) for gaps in over]
        figures = [*np.median(over, axis=0)[: len(limits)], median(of_known), median(known)]
        rows.append([*map(str, kind), *(f"{figure:.3f}" for figure in figures)])
        results.append({"kind": kind, "lengths": [lengths[key] for key in keys], "over the bound": over})
        note("  ".join(rows[-1]))
    return rows, results


def search_many(count: int, n: int, seconds: float, seed: int, device: str) -> float:
    """Return the length of a tour of n cities at so many places, or of these alone if there are no more."""
    points, random = places(count), np.random.default_rng(SEED_OF_PLACES)
    if n > count:
        further = points[random.integers(0, len(points), n - len(points))]
        points = random.permutation(np.concatenate([points, further]))
    threads = 1 if device == "cpu" else None
    problem = Problem.from_points(points, "EUC_2D")
    return warptsp.solve(problem, time_limit=seconds, seed=seed, threads=threads, device=device).length


def beside_places(
    pool: Executor, seeds: Sequence[int], sizes: Any, device: str, more: float = 0.0
) -> tuple[list[list[str]], Any]:
    """Cities beside their places alone, with the same seed and so many seconds more."""
    rows, results = [], []
    for count, n, limits in sizes:
        for seconds in limits:
            runs = [
                (
                    pool.submit(search_many, count, count, seconds, seed, device),
                    pool.submit(search_many, count, n, seconds + more, seed, device),
                )
                for seed in seeds
            ]
            gaps = [100 * (cities.result() / alone.result() - 1) for alone, cities in runs]
            rows.append([str(count), str(n), f"{seconds:g}", f"{median(gaps):+.4f}"])
            results.append({"places": count, "cities": n, "seconds": seconds, "gaps": gaps})
            note("  ".join(rows[-1]))
    return rows, results


def prove_places(times: int, seed: int) -> tuple[bool, int, float]:
    """Return whether so many cities at each of a few random places were proved, nodes, and CPU seconds."""
    points = np.floor(np.random.default_rng(seed).random((PROVED, 2)) * SIDE)
    problem = Problem.from_points(cities(points, times), "EUC_2D")
    begun = time.process_time()
    proof = warptsp.prove(problem, seed=seed, threads=1, time_limit=MOST_OF_PROOF)
    return proof.proved, proof.nodes, time.process_time() - begun


def in_proofs(pool: Executor, seeds: Sequence[int]) -> tuple[list[list[str]], Any]:
    """Proofs of cities at a few places, with an instance for each seed."""
    runs = {times: [pool.submit(prove_places, times, seed) for seed in seeds] for times in TIMES_PROVED}
    rows, results = [], []
    for times, waiting in runs.items():
        proofs = [run.result() for run in waiting]
        seconds = [spent for _, _, spent in proofs]
        proved = sum(is_proved for is_proved, _, _ in proofs)
        rows.append([str(times), str(proved), f"{median(seconds):.2f}", f"{sum(seconds):.2f}"])
        results.append({"times": times, "proofs": proofs})
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
    long_search = LIMITS[-1] if options.quick else LONG_SEARCH
    sizes = [(2000, 20_000, (1.0,))] if options.quick else LONG
    data = {}
    with ProcessPoolExecutor(options.side_by_side, get_context("spawn")) as pool:
        rows, data["one thread"] = at_places(pool, seeds, longest)
        of_groups, data["tight groups"] = in_groups(pool, seeds, limits, long_search)
        of_proofs, data["proofs"] = in_proofs(pool, seeds)
        of_many, data["long"] = beside_places(pool, seeds, sizes, "cpu", MORE_SECONDS)
    text = (
        f"One thread a run, {options.side_by_side} at once.\n\n"
        f"{COUNT} places, EUC_2D, in a square of {SIDE}; medians of {len(seeds)} seeds, in %: the tour "
        f"over one of the places alone after {longest:g} s, and that over the bound.\n\n"
    )
    columns = [f"{seconds:g} s, {what}" for seconds in LIMITS for what in ("tour", "bound")]
    text += table(["cities a place", "cities", *columns], rows) + (
        f"\n\n## Tight groups\n\n{COUNT} groups around random places in the same square, normally "
        f"distributed with so much scatter: tours over a bound of {ROUNDS} rounds, and the last over the "
        f"best known, in %, medians of {len(seeds)} instances. The best known is of these runs and "
        f"{LONG_SEARCHES} of {long_search:g} s with other seeds.\n\n"
    )
    columns = [*(f"{seconds:g} s" for seconds in limits), "best known", f"{limits[-1]:g} s over best known"]
    text += table(["cities a group", "scatter", *columns], of_groups)
    text += f"\n\n## Proofs\n\n`prove` of {PROVED} random places, {len(seeds)} instances, one thread.\n\n"
    text += table(["cities a place", "proved", "median CPU s", "CPU s in all"], of_proofs)
    columns = ["places", "cities", "limit, s", "tour"]
    text += (
        "\n\n## Many cities\n\nOn one thread; the tour of the cities, with "
        f"{MORE_SECONDS:g} s more, over that of the places alone, in %, median of {len(seeds)} seeds.\n\n"
    ) + table(columns, of_many)
    if options.gpu:
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            rows, data["GPU"] = beside_places(pool, seeds, ON_GPU, "cuda")
        text += (
            "\n\n## On a GPU\n\nWith all threads; the tour of the cities over that of the places alone, with "
            f"the same seed and time limit, in %, median of {len(seeds)} seeds.\n\n"
        ) + table(columns, rows)
    report("places", "Places", text, data, options.output)


if __name__ == "__main__":
    main()
