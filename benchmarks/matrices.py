"""How well a matrix is searched, beside the points that its distances come from: TSPLIB up to 4000 cities.

Every instance with points is solved as it is and as a matrix of its distances, with the same number of
kicks, on one thread. A matrix has no quadrants, so its candidate lists come from distances alone.
"""

from __future__ import annotations

import csv
from pathlib import Path
from statistics import median

from common import note, parser, report, run_worker, table, tsplib_file

CITIES = 500, 4000  # with fewer cities both end at the optimum
KICKS = 20  # a city
WORST = 0.05  # points of a per cent that a matrix may end above the points
QUICK = ("fl1577",)


def instances(shared: Path) -> list[tuple[str, int]]:
    """Return name and known length of the instances with points, smallest first."""
    with open(Path(shared, "data", "known_lengths.csv"), encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["set"] == "tsplib"]
    rows = [row for row in rows if CITIES[0] <= int(row["n"]) <= CITIES[1]]
    rows = [row for row in rows if row["edge_weight_type"] != "EXPLICIT"]
    rows = [row for row in rows if tsplib_file(shared, row["name"]).is_file()]
    return [(row["name"], int(row["length"])) for row in sorted(rows, key=lambda row: int(row["n"]))]


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    options_parser.add_argument("--kicks-per-city", type=float, default=KICKS)
    options_parser.add_argument("--instances", nargs="+")
    options = options_parser.parse_args()
    seeds = options.seeds[:1] if options.quick else options.seeds
    rows, results = [], []
    for name, known in instances(options.shared):
        if name not in (options.instances or (QUICK if options.quick else [name])):
            continue
        job = {"job": "kicks", "instance": name, "shared": str(options.shared), "method": "lk"}
        job["kicks_per_city"] = options.kicks_per_city
        found = {}
        for form in ("points", "matrix"):
            runs = [run_worker({**job, "form": form, "seed": seed}) for seed in seeds]
            gaps = [100 * (run["length"] / known - 1) for run in runs]
            found[form] = (sum(gaps) / len(gaps), median(run["cpu"] for run in runs))
        worse = found["matrix"][0] - found["points"][0]
        numbers = [f"{found[form][k]:.3f}" for k in (0, 1) for form in found]
        rows.append([name, *numbers, f"{worse:+.3f}"])
        results.append({"instance": name, "found": found, "worse": worse})
        note("  ".join(rows[-1]))
    over = [row["instance"] for row in results if row["worse"] > WORST]
    text = (
        f"{options.kicks_per_city:g} kicks a city, means of {len(seeds)} seeds, over the known lengths in %."
        "\n\n"
        + table(["instance", "points", "matrix", "points, CPU s", "matrix, CPU s", "worse by"], rows)
        + f"\n\nWorse by more than {WORST:g} points (target: none): {', '.join(over) or 'none'}.\n"
    )
    report("matrices", "Points and matrices", text, results, options.output)


if __name__ == "__main__":
    main()
