"""How many bytes per city the solver takes, from 100 000 cities up.

The peak of resident memory from the end of reading to the return of ``solve``, minus what the process
held before it had the instance, with everything imported and a small search done. So the instance, the
result and everything that the search keeps is counted, and nothing that does not grow with the instance.
Linux only: it reads ``/proc``.
"""

from __future__ import annotations

from common import note, parser, report, run_worker, table

BAR = 300.0
SECONDS = {"E100k.0": 10.0, "C100k.0": 10.0, "E1M.0": 30.0, "E10M.0": 120.0}
QUICK = {"E100k.0": 2.0}
DEFAULT = ("E100k.0", "C100k.0", "E1M.0")


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--instances", nargs="+", choices=list(SECONDS), default=list(DEFAULT))
    options_parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    options = options_parser.parse_args()
    seconds = QUICK if options.quick else SECONDS
    rows, results = [], []
    for name in (name for name in options.instances if name in seconds):
        for threads in options.threads:
            note(f"{name}, {threads} threads")
            job = {"job": "warptsp", "instance": name, "shared": str(options.shared), "threads": threads}
            run = run_worker({**job, "time_limit": seconds[name], "seed": 1})
            bytes_each = run["peak_bytes"] / run["cities"]
            results.append({"instance": name, "threads": threads, "bytes_each": bytes_each})
            verdict = "met" if bytes_each <= BAR else "**missed**"
            rows.append([name, run["cities"], threads, f"{bytes_each:.0f}", verdict])
    text = table(["instance", "cities", "threads", "bytes a city", f"at most {BAR:g}"], rows)
    report("memory", "Memory", text, results, options.output)


if __name__ == "__main__":
    main()
