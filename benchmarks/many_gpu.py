"""Many small problems on a GPU: uniform points, from an array in memory to an array of tours there.

Runs without a limit, with one on kicks, and for comparison one with 100 kicks a city.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np
from common import note, parser, report, spread, table

# Problems, cities, and kicks a city of runs with a limit; None is a run without one.
CASES: tuple[tuple[int, int, tuple[int | None, ...]], ...] = (
    (100_000, 20, (None,)),
    (10_000, 50, (None, 10)),
    (10_000, 100, (None, 10)),
    (2_000, 200, (None, 10)),
    (1_000, 1_000, (10, 30)),
)
LONG = 100
CALLS = 3
MEANING = """Seconds are wall time of `solve_many`, from an array of points to tours with exact lengths,
opening the GPU included, kernels compiled before: the median of three calls, with their range.
A tour counts as optimal if it is as short as the shortest of the runs on this page; nothing
here is proved."""


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--device", default="cuda")
    options = options_parser.parse_args()

    from warptsp import solve_many

    rows, results = [], []
    for count, n, limits in CASES:
        if options.quick:
            count //= 100
        note(f"{count} of {n} cities")
        problems = np.random.default_rng(n).random((count, n, 2))
        solve_many(problems[:2], kicks=1, device=options.device)  # compiles the kernels
        found: list[tuple[int | None, list[float], Any]] = []
        for limit in (*limits, LONG):
            kicks, seconds = None if limit is None else limit * n, []
            for _ in range(1 if limit == LONG else CALLS):
                begin = time.monotonic()
                run = solve_many(problems, kicks=kicks, device=options.device)
                seconds.append(time.monotonic() - begin)
            found.append((kicks, seconds, run))
        best = np.min([run.lengths for _, _, run in found], axis=0)
        for kicks, seconds, run in found:
            gaps = run.lengths / best - 1.0
            row = {
                "problems": count,
                "cities": n,
                "kicks": kicks,
                "seconds": statistics.median(seconds),
                "kicks_each": float(run.kicks.mean()),
                "optimal": 100.0 * float((gaps < 1e-9).mean()),
                "gap": 100.0 * float(gaps.mean()),
            }
            results.append(row)
            limit_text = "none" if kicks is None else f"{kicks} kicks"
            cells = [count, n, limit_text, spread(seconds), f"{row['kicks_each']:.0f}"]
            rows.append([*cells, f"{row['optimal']:.2f}", f"{row['gap']:.4f}"])
    header = ["problems", "cities", "limit", "s", "kicks each", "optimal in %", "gap in %"]
    text = table(header, rows) + "\n\n" + MEANING
    report("many_gpu", "Many problems on a GPU", text, results, options.output)


if __name__ == "__main__":
    main()
