"""How often runs without any option end with the optimum of small TSPLIB instances, and after what time.

Every instance up to 500 cities whose optimum is proved, several seeds, one thread. The instances have no name
in these runs, so that no optimum on record ends them. Seconds are CPU seconds of the call.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import replace
from typing import Any

from common import gap_percent, note, parser, report, table, tsplib_file
from small_instances import small_instances

import warptsp

CITIES = 500
# Cities up to which, per cent, ms.
CLASSES = ((50, 99.9, 20.0), (100, 99.5, 60.0), (200, 98.0, 200.0), (500, 95.0, 1000.0))


def runs_of(name: str, problem: warptsp.Problem, seeds: list[int]) -> list[dict[str, Any]]:
    """Return how the runs of an instance ended."""
    known = problem.known_length
    assert known is not None
    unknown = replace(problem, name="")
    found = []
    for seed in seeds:
        begun = time.process_time()
        result = warptsp.solve(unknown, seed=seed, threads=1, prove=False)
        milliseconds = 1e3 * (time.process_time() - begun)
        gap = gap_percent(result.length, known.length) if known.length else 0.0
        found.append({"instance": name, "cities": problem.n, "seed": seed, "ms": milliseconds, "gap": gap})
    return found


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    options = options_parser.parse_args()
    seeds = options.seeds[:1] if options.quick else options.seeds
    most = 60 if options.quick else CITIES
    runs: list[dict[str, Any]] = []
    for name, cities in small_instances(options.shared):
        if cities <= most:
            runs += runs_of(name, warptsp.load(tsplib_file(options.shared, name)), seeds)
            note(f"{name}: {sum(run['gap'] == 0 for run in runs[-len(seeds) :])} of {len(seeds)}")
    rows, least = [], 0
    for cities, percent, bar in CLASSES:
        those = [run for run in runs if least < run["cities"] <= cities]
        if those:
            optimal = 100 * statistics.mean(run["gap"] == 0 for run in those)
            milliseconds = statistics.mean(run["ms"] for run in those)
            verdict = "met" if optimal >= percent and milliseconds <= bar else "**missed**"
            rows.append(
                [
                    f"{least + 1} to {cities}",
                    len(those),
                    f"{optimal:.1f}",
                    f"{milliseconds:.1f}",
                    f"{max(run['ms'] for run in those):.0f}",
                    f"{percent:g} % in {bar:g} ms: {verdict}" if bar else "",
                ]
            )
        least = cities
    text = table(["cities", "runs", "optimal %", "mean ms", "most ms", "target, of uniform instances"], rows)
    text += "\n\nRuns that ended above the optimum:\n\n"
    missed = [
        [run["instance"], run["cities"], run["seed"], f"{run['gap']:.3f}", f"{run['ms']:.0f}"]
        for run in runs
        if run["gap"] > 0
    ]
    text += table(["instance", "cities", "seed", "gap, %", "ms"], missed) if missed else "none."
    report("without_options", "TSPLIB without any option", text, runs, options.output)


if __name__ == "__main__":
    main()
