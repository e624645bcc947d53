"""A long tour from a cold start: uniform cities in a file, and the seconds of every stage.

The file is made if it is not there, 16 bytes a city. A cold start is a run that has nothing of it in memory,
and no kernels: these are compiled into an empty folder. With `--warm` both are left as they are. Seconds
count from before the package is imported. The gap is over 0.7124 sqrt(n A), what the tour of uniform cities
tends to (D. S. Johnson, L. A. McGeoch, E. E. Rothberg, 1996).
"""

from __future__ import annotations

import logging
import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import gap_percent, note, parser, report, table

BLOCK = 1 << 22  # cities drawn together


def make(path: Path, n: int) -> None:
    """Write n cities of the unit square, always the same ones."""
    random = np.random.default_rng(n)
    with path.open("wb") as file:
        for begin in range(0, n, BLOCK):
            file.write(random.random((min(BLOCK, n - begin), 2)).astype("<f8").tobytes())
        file.flush()
        os.fsync(file.fileno())


def forget(path: Path) -> None:
    """Let the system keep nothing of the file in memory."""
    file = os.open(path, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


class Stages(logging.Handler):
    """When each stage began: what the run logs, and the first report of each phase of the search."""

    def __init__(self) -> None:
        super().__init__()
        self.start = time.perf_counter()
        self.begun: dict[str, float] = {}
        self.curve: list[tuple[float, float]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.note(record.getMessage())

    def note(self, stage: str) -> None:
        self.begun.setdefault(stage, time.perf_counter() - self.start)

    def __call__(self, event: Any) -> None:
        self.note(event.phase)
        if event.improved:
            self.curve.append((time.perf_counter() - self.start, event.length))


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--cities", type=int, default=1_000_000_000)
    options_parser.add_argument(
        "--file",
        type=Path,
        help="where the cities are, or go",
    )
    options_parser.add_argument("--seconds", type=float, default=100.0, help="time limit of the search")
    options_parser.add_argument("--device", default="auto")
    options_parser.add_argument("--seed", type=int, default=0)
    options_parser.add_argument("--warm", action="store_true")
    options = options_parser.parse_args()
    n, seconds = (1_000_000, 10.0) if options.quick else (options.cities, options.seconds)
    if n < 1:
        options_parser.error(f"--cities {n}: at least 1 is needed")
    if options.file and not options.file.parent.is_dir():
        options_parser.error(f"--file {options.file}: no such folder")

    with tempfile.TemporaryDirectory() as folder:
        path = options.file or Path(folder) / "cities.f64"
        if not path.exists():
            note(f"writing {n} cities to {path}")
            make(path, n)
        if not options.warm:
            forget(path)
            os.environ["WARPTSP_CACHE_DIR"] = folder
        stages = Stages()
        import warptsp
        from warptsp.io import load

        logger = logging.getLogger("warptsp.run")
        logger.addHandler(stages)
        logger.setLevel(logging.INFO)
        problem = load(path, "f64")
        n = problem.n  # a file that was there may hold others
        stages.note("loaded")
        result = warptsp.solve(
            problem,
            time_limit=seconds,
            device=options.device,
            seed=options.seed,
            bound=False,
            callback=stages,
        )
        stages.note("tour checked, and measured")

    shortest = 0.7124 * float(np.prod(problem.bounds[1] - problem.bounds[0]) * n) ** 0.5
    gap = gap_percent(result.length, shortest)
    rows = [[stage, f"{at:.2f}"] for stage, at in stages.begun.items()]
    figures = {
        "cities": n,
        "device": result.device,
        "seconds in all": round(stages.begun["tour checked, and measured"], 2),
        "length": result.length,
        "gap in %": round(gap, 4),
        "kicks a city": round(result.kicks / n, 3),
        "bytes a city on each GPU": round(result.counters.get("device_bytes", 0) / n, 1),
        "bytes a city on the host, file included": round(
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / n, 1
        ),
    }
    curve = [(round(at, 2), round(gap_percent(length, shortest), 4)) for at, length in stages.curve]
    text = "\n\n".join(
        [
            table(["", ""], [[name, str(value)] for name, value in figures.items()]),
            table(["stage", "begins after s"], rows),
        ]
    )
    report(
        "billion",
        "A long tour from a cold start",
        text,
        {**figures, "stages": rows, "curve": curve},
        options.output,
    )


if __name__ == "__main__":
    main()
