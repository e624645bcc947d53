"""How much faster two threads are than one: the ratio of the times to the same gap.

Two measurements on each instance, each the median over the seeds:

- *free-running*: both runs continue for the same time without knowing how long; for several gaps that
  both reach, the ratio of the times at which they reach it.
- *at the limit*: one thread with a time limit, two threads with that limit divided by the target of 1.7. The
  target is met if two threads are at least as good.

Meant for a machine on which nothing else runs: a second thread that shares its core with another program
shows nothing.
"""

from __future__ import annotations

import argparse
import statistics
from typing import Any

from common import gap_percent, is_available, note, parser, report, run_worker, seconds_to, table

BAR = 1.7
SECONDS = {"E10k.0": 10.0, "d18512": 10.0, "E100k.0": 30.0, "C100k.0": 30.0, "E1M.0": 90.0}
QUICK = {"E10k.0": 2.0}
SHARES = (0.2, 0.4, 0.7, 1.0)  # of the time of one thread: the gaps that it has reached then are compared


def measure(name: str, seconds: float, options: argparse.Namespace) -> dict[str, Any]:
    """Run one and two threads on one instance."""
    ratios: dict[float, list[float]] = {share: [] for share in SHARES}
    gaps: dict[str, list[float]] = {"one": [], "two": []}
    for seed in options.seeds:
        note(f"{name}: seed {seed}")
        job = {"job": "warptsp", "instance": name, "shared": str(options.shared), "seed": seed}

        def run(threads: int, limit: float, horizon: bool, job: dict[str, Any] = job) -> dict[str, Any]:
            return dict(run_worker({**job, "threads": threads, "time_limit": limit, "horizon": horizon}))

        one, two = (run(threads, seconds, False)["history"] for threads in (1, 2))
        for share in SHARES:
            reached = [length for time, length in one if time <= share * seconds]
            if reached and (later := seconds_to(two, reached[-1])):
                ratios[share].append(seconds_to(one, reached[-1]) / later)  # type: ignore[operator]
        for key, threads, limit in (("one", 1, seconds), ("two", 2, seconds / BAR)):
            result = run(threads, limit, True)
            gaps[key].append(gap_percent(result["length"], result["known"]))
    return {"instance": name, "seconds": seconds, "ratios": ratios, "gaps": gaps}


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--instances", nargs="+", choices=list(SECONDS), default=list(SECONDS))
    options_parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    options = options_parser.parse_args()
    seconds = QUICK if options.quick else SECONDS
    seeds = options.seeds[:1] if options.quick else options.seeds
    options.seeds = seeds
    results = [
        measure(name, seconds[name], options)
        for name in options.instances
        if name in seconds and is_available(options.shared, name)
    ]
    rows = []
    for found in results:
        shares = [f"{statistics.median(r):.2f}" if r else "-" for r in found["ratios"].values()]
        one, two = (statistics.median(found["gaps"][key]) for key in ("one", "two"))
        verdict = "met" if two <= one else "**missed**"
        rows.append(
            [found["instance"], f"{found['seconds']:g}", *shares, f"{one:.3f}", f"{two:.3f}", verdict]
        )
    header = ["instance", "T, s", *(f"ratio at {share:g} T" for share in SHARES)]
    header += ["gap, 1 thread, T", f"gap, 2 threads, T/{BAR}", ""]
    text = f"Seeds {', '.join(map(str, seeds))}, medians; gaps in %.\n\n{table(header, rows)}"
    report("scaling", "Two threads against one", text, results, options.output)


if __name__ == "__main__":
    main()
