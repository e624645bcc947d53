"""How long tours of many cities take to draw, and how much memory in addition to cities and tours.

Uniform cities in the order of a random generator, which is the worst case for caches, and a greedy tour.
`draw` makes a PNG of it; `plot` makes figures with the space-filling tour next to it, and with the
difference. Their time includes importing matplotlib.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from pathlib import Path

from common import note, parser, report, run_worker, spread, table

KINDS: list[tuple[str, str, str, list[str]]] = [
    ("one tour, `draw`, PNG", "simple", "png", []),
    ("two tours, `plot`, PNG", "figure", "png", ["start", "tour"]),
    ("two tours, `plot`, PDF", "figure", "pdf", ["start", "tour"]),
    ("two tours and difference, `plot`, PNG", "figure", "png", ["start", "tour", "difference"]),
]


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--cities", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    options_parser.add_argument("--repeats", type=int, default=3)
    options = options_parser.parse_args()
    cities = [100_000] if options.quick else options.cities
    repeats = 1 if options.quick else options.repeats
    rows, results = [], []
    with tempfile.TemporaryDirectory() as folder:
        for n in cities:
            for what, kind, suffix, panels in KINDS:
                note(f"{n} cities: {what}")
                job = {
                    "job": "picture",
                    "shared": str(options.shared),
                    "instance": f"uniform-{n}",
                    "tour": str(Path(folder, f"{n}.npy")),
                    "file": str(Path(folder, f"picture.{suffix}")),
                    "kind": kind,
                    "panels": panels,
                    "threads": os.cpu_count(),
                }
                runs = [run_worker(job) for _ in range(repeats)]
                seconds, cpu = [run["wall"] for run in runs], [run["cpu"] for run in runs]
                peak = statistics.median(run["peak_bytes"] for run in runs) / 1e6
                size = runs[0]["file_bytes"] / 1e6
                rows.append([n, what, spread(seconds, 1), spread(cpu, 1), f"{peak:.0f}", f"{size:.1f}"])
                results.append({"cities": n, "what": what, "seconds": seconds, "cpu": cpu, "megabytes": peak})
    header = ["cities", "what", "seconds", "CPU seconds", "peak memory, MB", "file, MB"]
    report("pictures", "Pictures", table(header, rows), results, options.output)


if __name__ == "__main__":
    main()
