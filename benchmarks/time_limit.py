"""Whether time limits are kept on the CPU: the main solver from 5 to 10 million cities, and all other methods
at the sizes where their slices, first pass or set-up are long.

A limit is kept if ``solve`` returns within 2 % or 0.1 s of it, whichever is more. A method that ends by
itself may return earlier. Other programs on the machine can delay the return, too: the CPU seconds that the
process used after its limit say how much of the delay is its own.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator
from typing import Any

from common import note, parser, report, run_worker

SIZES = (5, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
LIMITS = (0.2, 1.0, 5.0, 20.0)
QUICK_SIZES = (100, 10_000, 1_000_000)
QUICK_LIMITS = (0.2, 1.0)

# Of the other methods: cities in the plane, and with a matrix of distances.
METHOD_SIZES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "two-opt": ((2_000, 20_000, 200_000, 1_000_000), (2_000, 6_000)),
    "three-opt": ((300, 1_000, 5_000), (1_000, 5_000)),
    "swap": ((2_000, 20_000, 200_000, 1_000_000), (2_000, 6_000)),
    "relocate": ((2_000, 20_000, 200_000, 1_000_000), (2_000, 6_000)),
    "vnd": ((300, 1_000, 5_000), (1_000, 5_000)),
    "neighbor-two-opt": ((2_000, 20_000, 200_000, 1_000_000), (2_000, 6_000)),
    "neighbor-three-opt": ((2_000, 20_000, 200_000, 1_000_000), (2_000, 6_000)),
    "ils": ((2_000, 20_000, 200_000, 1_000_000), (2_000, 6_000)),
    "symmetric-two-opt": ((2_000, 20_000, 200_000, 1_000_000), (2_000, 6_000)),
    "symmetric-annealing": ((2_000, 20_000, 200_000, 1_000_000), (2_000, 6_000)),
    "hill-climbing": ((200, 2_000, 20_000, 100_000), (2_000, 6_000)),
    "exact": ((16,), (16,)),
    "construct": ((1_000_000,), (6_000,)),
    "lk": ((), (2_000, 6_000)),
}
METHOD_LIMITS = (0.5, 5.0)
STARTS = ("greedy", "random")
READING = (
    "A limit is kept if the call returns within 2 % or 0.1 s of it, whichever is more. Other programs can "
    "delay the return; CPU seconds are those of the process itself."
)


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--sizes", nargs="*", type=int, default=list(SIZES), help="of lk")
    options_parser.add_argument("--limits", nargs="+", type=float, default=list(LIMITS), help="of lk")
    options_parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    options_parser.add_argument("--methods", nargs="*", default=list(METHOD_SIZES))
    options_parser.add_argument("--most", type=int, default=1_000_000, help="cities of the other methods")
    options_parser.add_argument("--method-limits", nargs="+", type=float, default=list(METHOD_LIMITS))
    options = options_parser.parse_args()
    if options.quick:
        options.sizes, options.limits, options.threads = QUICK_SIZES, QUICK_LIMITS, [1]
        options.most, options.method_limits = 2_000, [0.5]
    results, loads = [], []
    for job in jobs(options):
        note(", ".join(f"{name} {value}" for name, value in job.items() if name != "job"))
        run = run_worker({**job, "seed": 1})
        limit = job["time_limit"]
        over = run["wall"] - limit
        allowed = max(0.02 * limit, 0.1)
        kept = over <= allowed and (run["ended"] or over >= -allowed)
        loads.append(os.getloadavg()[0])
        results.append({**job, **run, "kept": kept})
    load = f"{statistics.mean(loads):.1f}"
    text = f"{load} processes were runnable on {os.cpu_count()} cores on average.\n\n{summary(results)}"
    report("time_limit", "Time limits", text, results, options.output)


def summary(results: list[dict[str, Any]]) -> str:
    """Return what became of the limits."""
    of_lk = [run["kept"] for run in results if run["method"] == "lk"]
    latest = max(run["wall"] - run["time_limit"] for run in results)
    most = max(run["cpu_over"] for run in results)
    return (
        f"{sum(run['kept'] for run in results)} of {len(results)} limits were kept, of method `lk` "
        f"{sum(of_lk)} of {len(of_lk)}. The latest call returned {latest:.3f} s after its limit, and none "
        f"used more than {most:.3f} CPU seconds after it.\n\n{READING}"
    )


def jobs(options: Any) -> Iterator[dict[str, Any]]:
    """Yield what is to be run."""
    plain = {"job": "limit", "method": "lk", "kind": "points", "start": "greedy"}
    for cities in options.sizes:
        for limit in options.limits:
            for threads in options.threads:
                yield {**plain, "cities": cities, "threads": threads, "time_limit": limit}
    for method in options.methods:
        for kind, sizes in zip(("points", "matrix"), METHOD_SIZES[method], strict=True):
            for cities in sizes:
                if cities > options.most:
                    continue
                for start in STARTS if method not in ("exact", "hill-climbing") else STARTS[:1]:
                    for limit in options.method_limits:
                        for threads in options.threads:
                            yield {
                                "job": "limit",
                                "method": method,
                                "kind": kind,
                                "start": start,
                                "cities": cities,
                                "threads": threads,
                                "time_limit": limit,
                            }


if __name__ == "__main__":
    main()
