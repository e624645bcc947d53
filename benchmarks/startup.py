"""How long it takes to import the package, and to solve 52 cities from shell to prompt.

The import is timed in a process that has already imported NumPy, so that NumPy's own time is excluded; the
target is 0.15 s. ``warptsp solve`` runs on random cities, whose optimum it does not know, and on berlin52,
with no options except the picture and tour it writes; the target is 1 s. Medians of several processes; the
first, which fills the disk cache, is left out.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from common import parser, report, spread, table, tsplib_file

IMPORT_BAR, SOLVE_BAR = 0.15, 1.0
IMPORT = "import numpy, time; t = time.perf_counter(); import warptsp{}; print(time.perf_counter() - t)"


def import_seconds(then: str = "") -> float:
    """Return how long ``import warptsp``, and a statement after it, take after NumPy's import."""
    command = [sys.executable, "-c", IMPORT.format(then)]
    return float(subprocess.run(command, capture_output=True, check=True).stdout)


def command_seconds(*words: str) -> float:
    """Return how long the command takes from shell to prompt."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-m", "warptsp", *words], capture_output=True, check=True)
    return time.perf_counter() - started


def write_instance(path: Path) -> Path:
    """Write 52 random cities."""
    import numpy as np

    np.savetxt(path, np.random.default_rng(52).random((52, 2)), delimiter=",", header="x,y", comments="")
    return path


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--repeats", type=int, default=15)
    options = options_parser.parse_args()
    repeats = 5 if options.quick else options.repeats
    measured: dict[str, tuple[float, list[float]]] = {}

    def measure(what: str, bar: float, run: Callable[[], float]) -> None:
        measured[what] = (bar, [run() for _ in range(repeats + 1)][1:])

    measure("import warptsp", IMPORT_BAR, import_seconds)
    measure("import warptsp; warptsp.solve", IMPORT_BAR, lambda: import_seconds("; warptsp.solve"))
    measure("warptsp --help", SOLVE_BAR, lambda: command_seconds("--help"))
    with tempfile.TemporaryDirectory() as folder:
        outputs = ("--output", str(Path(folder, "tour.tour")), "--picture", str(Path(folder, "tour.svg")))
        for instance in (
            write_instance(Path(folder, "random52.csv")),
            tsplib_file(options.shared, "berlin52"),
        ):
            if instance.is_file():
                words = ("solve", str(instance), *outputs)
                measure(
                    f"warptsp solve {instance.name}", SOLVE_BAR, lambda words=words: command_seconds(*words)
                )
    rows = [
        [what, spread(times), f"{bar:g}", "met" if statistics.median(times) <= bar else "**missed**"]
        for what, (bar, times) in measured.items()
    ]
    text = table(["what", "seconds", "bar, s", ""], rows)
    report(
        "startup", "Start-up", text, {what: times for what, (_, times) in measured.items()}, options.output
    )


if __name__ == "__main__":
    main()
