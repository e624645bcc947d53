"""Whether time limits are kept, from 5 to 10 million cities.

A limit is kept if ``solve`` returns within 2 % or 0.1 s of it, whichever is more, and not earlier.
"""

from __future__ import annotations

from common import note, parser, report, run_worker, table

SIZES = (5, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
LIMITS = (0.2, 1.0, 5.0, 20.0)
QUICK_SIZES = (100, 10_000, 1_000_000)
QUICK_LIMITS = (0.2, 1.0)


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    options_parser.add_argument("--limits", nargs="+", type=float, default=list(LIMITS))
    options_parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    options = options_parser.parse_args()
    if options.quick:
        options.sizes, options.limits, options.threads = QUICK_SIZES, QUICK_LIMITS, [1]
    rows, results = [], []
    for cities in options.sizes:
        for limit in options.limits:
            for threads in options.threads:
                note(f"{cities} cities, {limit:g} s, {threads} threads")
                job = {"job": "uniform", "cities": cities, "time_limit": limit, "threads": threads}
                run = run_worker({**job, "seed": 1})
                if "error" in run:
                    raise SystemExit(f"warptsp: {run['error']}")
                over = run["wall"] - limit
                kept = abs(over) <= max(0.02 * limit, 0.1)
                results.append({**job, "wall": run["wall"], "kept": kept})
                verdict = "kept" if kept else "**missed**"
                rows.append([cities, threads, f"{limit:g}", f"{run['wall']:.3f}", f"{over:+.3f}", verdict])
    kept_count = sum(row["kept"] for row in results)
    text = f"{kept_count} of {len(results)} kept.\n\n" + table(
        ["cities", "threads", "limit, s", "took, s", "over, s", ""], rows
    )
    report("time_limit", "Time limits", text, results, options.output)


if __name__ == "__main__":
    main()
