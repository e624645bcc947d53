"""How many of the small TSPLIB instances are solved to their optimum within ten seconds.

Every instance up to 1000 cities, several seeds, one thread; a run ends at the optimum or after ten
seconds.
"""

from __future__ import annotations

import csv
import statistics
from pathlib import Path

from common import note, parser, report, run_worker, table, tsplib_file

BAR = 0.95
SECONDS = 10.0
CITIES = 1000
QUICK = ("berlin52", "brg180", "gil262", "gr202", "linhp318", "rat783")


def small_instances(shared: Path) -> list[tuple[str, int]]:
    """Return name and number of cities of the instances, smallest first."""
    with open(Path(shared, "data", "known_lengths.csv"), encoding="utf-8") as lines:
        rows = [(row["name"], int(row["n"])) for row in csv.DictReader(lines) if row["set"] == "tsplib"]
    found = [(name, n) for name, n in rows if n <= CITIES and tsplib_file(shared, name).is_file()]
    return sorted(found, key=lambda row: (row[1], row[0]))


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3, 4, 5])
    options = options_parser.parse_args()
    seeds = options.seeds[:1] if options.quick else options.seeds
    rows, results = [], []
    for name, cities in small_instances(options.shared):
        if options.quick and name not in QUICK:
            continue
        times, misses = [], []
        for seed in seeds:
            job = {"job": "small", "instance": name, "shared": str(options.shared), "threads": 1}
            run = run_worker({**job, "time_limit": SECONDS, "seed": seed})
            if run["length"] <= run["known"]:
                times.append(run["wall"])
            else:
                misses.append(100 * (run["length"] / run["known"] - 1))
        note(f"{name}: optimal {len(times)} of {len(seeds)}")
        results.append({"instance": name, "cities": cities, "seconds": times, "missed_by": misses})
        middle = f"{statistics.median(times):.2f}" if times else "-"
        over = ", ".join(f"{gap:.3f} %" for gap in misses)
        if misses:
            rows.append([name, cities, f"{len(times)} of {len(seeds)}", middle, over])
    solved = sum(len(row["seconds"]) for row in results)
    every = sum(all_solved["missed_by"] == [] for all_solved in results)
    runs = len(results) * len(seeds)
    share = solved / runs if runs else 0.0
    verdict = "met" if share >= BAR else "**missed**"
    text = (
        f"{solved} of {runs} runs ended at the optimum within {SECONDS:g} s: {100 * share:.1f} % "
        f"(target {100 * BAR:g} %: {verdict}); {every} of {len(results)} instances with every seed.\n\n"
        + (table(["instance", "cities", "optimal", "median s", "missed by"], rows) if rows else "")
    )
    report("small_instances", "Optima up to 1000 cities", text, results, options.output)


if __name__ == "__main__":
    main()
