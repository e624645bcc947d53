"""How long it takes to import the package, and to solve 52 cities from shell to prompt.

The import is timed in a process that has imported NumPy, so that NumPy's own time is not in it; the bar
is 0.15 s. ``warptsp solve`` runs with no option but the picture and tour it writes; the bar is 1 s.
Medians of several processes; the first, which fills the disk cache, is left out.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
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


def write_instance(path: Path) -> None:
    """Write 52 cities for when berlin52 is not at hand."""
    import numpy as np

    np.savetxt(path, np.random.default_rng(52).random((52, 2)), delimiter=",", header="x,y", comments="")


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--repeats", type=int, default=15)
    options = options_parser.parse_args()
    repeats = 5 if options.quick else options.repeats
    with tempfile.TemporaryDirectory() as folder:
        instance = tsplib_file(options.shared, "berlin52")
        if not instance.is_file():
            instance = Path(folder, "places.csv")
            write_instance(instance)
        outputs = ("--output", str(Path(folder, "tour.tour")), "--picture", str(Path(folder, "tour.svg")))
        measured = {
            "import warptsp": (IMPORT_BAR, [import_seconds() for _ in range(repeats + 1)][1:]),
            "import warptsp; warptsp.solve": (
                IMPORT_BAR,
                [import_seconds("; warptsp.solve") for _ in range(repeats + 1)][1:],
            ),
            f"warptsp solve {instance.name}": (
                SOLVE_BAR,
                [command_seconds("solve", str(instance), *outputs) for _ in range(repeats + 1)][1:],
            ),
            "warptsp --help": (SOLVE_BAR, [command_seconds("--help") for _ in range(repeats + 1)][1:]),
        }
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
