"""How long to a given gap: warptsp on one thread, compared with targets.

Each target is a pair (gap, seconds) that the search, including set-up, has to reach on one thread. Two
figures are given for it:

- *at the limit*: a run that is given the target's seconds as its time limit, which it may plan for, as a
  user would run it. The target is met if the median over the seeds meets it.
- *free-running*: when a run that does not know its limit passes the gap.

Every run is a process of its own, one after the other; worker.py describes the clocks and what they
count. peers.py compares with other packages.
"""

from __future__ import annotations

import argparse
import statistics
from typing import Any

from common import (
    gap_percent,
    is_available,
    note,
    parser,
    report,
    run_worker,
    seconds_to,
    spread,
    table,
)

BARS: dict[str, list[tuple[float, float]]] = {
    "pr1002": [(0.2, 0.13)],
    "pr2392": [(0.2, 1.5), (0.02, 7)],
    "fnl4461": [(0.5, 0.2), (0.2, 0.6), (0.05, 20)],
    "C10k.0": [(0.9, 7)],
    "E10k.0": [(0.5, 0.5), (0.13, 20)],
    "usa13509": [(1.0, 0.4), (0.25, 5), (0.16, 20)],
    "d18512": [(1.0, 0.3), (0.5, 0.9), (0.2, 7), (0.12, 20)],
    "pla85900": [(0.5, 5), (0.2, 35)],
    "E100k.0": [(1.0, 2.5), (0.5, 10), (0.28, 55)],
    "C100k.0": [(1.2, 55)],
    "E1M.0": [(2.0, 30), (1.0, 90)],
}
# With `--long`: limits of minutes, and optima in seconds.
LONG_BARS: dict[str, list[tuple[float, float]]] = {
    "pr2392": [(0.0, 2)],
    "fnl4461": [(0.0, 15)],
    "usa13509": [(0.0, 120)],
    "d18512": [(0.0, 120)],
    "E31k.0": [(0.0006, 100), (0.0001, 300)],
    "E100k.0": [(0.012, 120), (0.004, 600)],
    "C100k.0": [(0.08, 120)],
}
QUICK = ("pr1002", "E10k.0")
QUICK_SECONDS = 2.0


def measure(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Run all there is to run on one instance."""
    bars = options.bars[name]
    job = {"job": "warptsp", "instance": name, "shared": str(options.shared), "threads": 1}
    if options.param:
        job["params"] = dict(text.split("=", 1) for text in options.param)
    longest = max(seconds for _, seconds in bars)
    found: dict[str, Any] = {"instance": name, "bars": []}
    free = []
    for seed in options.seeds if options.free else ():
        note(f"{name}: seed {seed}, {longest:g} s, free-running")
        run = run_worker({**job, "time_limit": longest, "horizon": False, "seed": seed})
        free.append({**run, "gap": gap_percent(run["length"], run["known"])})
    found["free"] = free
    for gap, seconds in bars:
        runs = []
        for seed in options.seeds:
            note(f"{name}: seed {seed}, {gap:g} % within {seconds:g} s")
            run = run_worker({**job, "time_limit": seconds, "seed": seed})
            runs.append({**run, "gap": gap_percent(run["length"], run["known"])})
        found.update(cities=runs[0]["cities"], known=runs[0]["known"])
        length = found["known"] * (1 + gap / 100)
        reached = [seconds_to(run["history"], length) for run in free]
        found["bars"].append({"gap": gap, "seconds": seconds, "runs": runs, "free_seconds": reached})
    return found


def bar_rows(found: dict[str, Any]) -> list[list[str]]:
    """Return a row of the first table for each bar of an instance."""
    rows = []
    for bar in found["bars"]:
        gaps = [run["gap"] for run in bar["runs"]]
        met = statistics.median(gaps) <= bar["gap"]
        reached = [seconds for seconds in bar["free_seconds"] if seconds is not None]
        count = len(bar["free_seconds"])
        free = spread(reached, 2) if reached else "not reached" if count else "-"
        if 0 < len(reached) < count:
            free += f", {len(reached)} of {count} seeds"
        verdict = "met" if met else "**missed**"
        limit = f"{bar['gap']:g} % in {bar['seconds']:g} s"
        rows.append([found["instance"], limit, spread(gaps), verdict, free])
    return rows


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--instances", nargs="+", choices=sorted({*BARS, *LONG_BARS}), metavar="NAME")
    options_parser.add_argument("--long", action="store_true", help="limits of minutes, and optima")
    options_parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    options_parser.add_argument(
        "--free", action=argparse.BooleanOptionalAction, default=True, help="free-running runs, too"
    )
    options_parser.add_argument(
        "--param", action="append", metavar="NAME=VALUE", help="parameter of the method"
    )
    options = options_parser.parse_args()
    options.bars = LONG_BARS if options.long else BARS
    if options.quick:
        options.bars = {name: [bar for bar in BARS[name] if bar[1] <= QUICK_SECONDS] for name in QUICK}
        options.seeds = options.seeds[:1]
    options.instances = [name for name in options.instances or options.bars if name in options.bars]
    seconds = sum(
        sum(limits) + (max(limits) if options.free else 0)
        for limits in ([bar[1] for bar in options.bars[name]] for name in options.instances)
    )
    if not options.quick:
        note(f"about {seconds * len(options.seeds) / 60:.0f} minutes")
    results = []
    for name in options.instances:
        if not is_available(options.shared, name):
            note(f"{name}: skipped, it is not in {options.shared}")
            continue
        results.append(measure(name, options))
    ours = table(
        ["instance", "target", "gap at the limit, %", "", "free-running, s"],
        [row for found in results for row in bar_rows(found)],
    )
    seeds = ", ".join(map(str, options.seeds))
    text = (
        f"One thread, seeds {seeds}: median (least to greatest). Gap to the optimum or best known.\n\n{ours}"
    )
    report("time_to_gap", "Time to gap", text, results, options.output)


if __name__ == "__main__":
    main()
