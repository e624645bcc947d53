"""Lower bounds: how far below the best known length, in how many CPU seconds and bytes, on one thread.

Each bound is sought along the tour that `warptsp.lower_bound` makes itself, a local optimum, whose seconds
stand apart. The limit is the bound after 2000 iterations. Seconds are CPU seconds, the median of several runs
(one from 100 000 cities on); bytes per city are the growth of the process at its peak, coordinates not
included (Linux with glibc only). The last column is how many times as fast two threads are, in wall time.
Without ``--quick`` it takes a quarter of an hour.
"""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable
from typing import Any

from common import gap_percent, load, note, parser, report, table
from geometry import M_MMAP_THRESHOLD, MIN_MEASURED, peak_bytes

INSTANCES = (
    "pr2392", "fl3795", "fnl4461", "E10k.0", "C10k.0", "d18512", "E100k.0", "C100k.0", "E1M.0",
)  # fmt: skip
QUICK = ("pr2392", "E10k.0")
RUNS = 3
ITERATIONS = (50, 100, 300)
LIMIT = 2000
MAX_CITIES_OF_LIMIT = 20_000


def median_seconds(work: Callable[[], Any], runs: int) -> tuple[float, float, Any]:
    """Return the median processor time and wall time of some runs, and the last result."""
    cpu, wall, result = [], [], None
    for _ in range(runs):
        begin, begin_wall = time.process_time(), time.monotonic()
        result = work()
        cpu.append(time.process_time() - begin)
        wall.append(time.monotonic() - begin_wall)
    return statistics.median(cpu), statistics.median(wall), result


def gap_table(results: list[dict[str, Any]]) -> str:
    """Return how far each bound is below the best known length, in how many seconds, and its limit."""
    counts = list(dict.fromkeys(one["iterations"] for one in results))
    rows = []
    for name in dict.fromkeys(one["instance"] for one in results):
        by_count = {one["iterations"]: one for one in results if one["instance"] == name}
        cells = [
            "-" if one is None or one["gap"] is None else f"{one['gap']:.3f} in {one['seconds']:.3g} s"
            for one in map(by_count.get, counts)
        ]
        limit = next(iter(by_count.values()))["limit"]
        rows.append([name, *cells, "-" if limit is None else f"{limit:.3f}"])
    return table(["instance", *(f"{count} trees" for count in counts), "limit"], rows)


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--instances", nargs="+", choices=INSTANCES, default=list(INSTANCES))
    options = options_parser.parse_args()
    ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 1 << 20)

    from warptsp import _native, lower_bound
    from warptsp.bound.reference_tour import reference_tour

    results = []
    for name in QUICK if options.quick else options.instances:
        note(name)
        problem = load(options.shared, name)
        known = problem.known_length
        assert known is not None
        large = problem.n >= MIN_MEASURED
        runs = 1 if large else RUNS
        tour_seconds, _, tour = median_seconds(
            lambda problem=problem: reference_tour(problem, 1, _native.StopToken()), runs
        )

        def bound(iterations: int, problem: Any = problem, tour: Any = tour, threads: int = 1) -> Any:
            return lower_bound(problem, tour, iterations=iterations, threads=threads, device="cpu")

        limit = limit_seconds = None
        if problem.n <= MAX_CITIES_OF_LIMIT and not options.quick:
            limit_seconds, _, found = median_seconds(lambda bound=bound: bound(LIMIT), 1)
            limit = gap_percent(known.length, found.value)
        bytes_each = peak_bytes(lambda: bound(3)) / problem.n if large else None
        for iterations in ITERATIONS if not large else ITERATIONS[:2]:
            seconds, alone, found = median_seconds(lambda iterations=iterations: bound(iterations), runs)
            gap = gap_percent(known.length, found.value)
            speedup = None
            if large:
                _, both, _ = median_seconds(lambda iterations=iterations: bound(iterations, threads=2), runs)
                speedup = alone / both
            results.append(
                {
                    "instance": problem.name,
                    "iterations": iterations,
                    "tour_seconds": tour_seconds,
                    "seconds": seconds,
                    "gap": gap,
                    "limit": limit,
                    "limit_seconds": limit_seconds,
                    "bytes": bytes_each,
                    "speedup": speedup,
                }
            )
    report("bounds", "How close lower bounds come", gap_table(results), results, options.output)


if __name__ == "__main__":
    main()
