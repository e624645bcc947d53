"""How long reading a million cities takes, and how much memory; TSPLIB: 0.6 s and 200 MB at most."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from common import load, note, parser, report, run_worker, spread, table

SECONDS_BAR, MEGABYTES_BAR = 0.6, 200.0


def write_instances(folder: Path, shared: Path, name: str) -> list[Path]:
    """Write one instance in each of the formats, the coordinates of the CSV with six decimals."""
    import numpy as np

    problem = load(shared, name)
    points = problem.coordinates
    command = [sys.executable, "-m", "warptsp", "generate", name, "--output", str(folder / "instance.tsp")]
    subprocess.run(command, check=True, capture_output=True)
    np.savetxt(folder / "places.csv", points + 0.123456, fmt="%.6f", delimiter=",", header="x,y", comments="")
    np.save(folder / "points.npy", points)
    return [folder / "instance.tsp", folder / "places.csv", folder / "points.npy"]


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--instance", default="E1M.0")
    options_parser.add_argument("--repeats", type=int, default=7)
    options = options_parser.parse_args()
    repeats = 2 if options.quick else options.repeats
    rows, results = [], []
    with tempfile.TemporaryDirectory() as folder:
        for path in write_instances(Path(folder), options.shared, options.instance):
            note(f"reading {path.name}")
            runs = [run_worker({"job": "read", "path": str(path)}) for _ in range(repeats)]
            seconds = [run["wall"] for run in runs]
            megabytes = [run["peak_bytes"] / 1e6 for run in runs]
            met = statistics.median(seconds) <= SECONDS_BAR and max(megabytes) <= MEGABYTES_BAR
            verdict = ("met" if met else "**missed**") if path.suffix == ".tsp" else ""
            size = f"{path.stat().st_size / 1e6:.1f}"
            rows.append(
                [path.suffix, runs[0]["cities"], size, spread(seconds), f"{max(megabytes):.0f}", verdict]
            )
            results.append({"format": path.suffix, "seconds": seconds, "megabytes": megabytes})
    header = ["format", "cities", "file, MB", "seconds", "peak memory, MB"]
    header.append(f"{SECONDS_BAR:g} s and {MEGABYTES_BAR:g} MB")
    report("read", "Reading", table(header, rows), results, options.output)


if __name__ == "__main__":
    main()
