"""How long it takes to import the package, and to solve 52 cities from shell to prompt.

The import is timed in a process that has already imported NumPy, so that NumPy's own time is excluded; the
target is 0.15 s. ``warptsp solve`` runs on random cities, whose optimum it does not know, and on berlin52,
with no options except the picture and tour it writes; the target is 1 s. The modules are compiled once for
all processes, as an installation does it. Medians of several processes; the first, which fills the disk
cache, is left out. ``--beside`` is the interpreter of another version of the package, whose processes take
turns with those of this one.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import parser, report, spread, table, tsplib_file

IMPORT_BAR, SOLVE_BAR = 0.15, 1.0
IMPORT = "import numpy, time; t = time.perf_counter(); import warptsp{}; print(time.perf_counter() - t)"


def import_seconds(python: str, environment: dict[str, str], then: str) -> float:
    """Return how long ``import warptsp``, and a statement after it, take after NumPy's import."""
    command = [python, "-c", IMPORT.format(then)]
    return float(subprocess.run(command, capture_output=True, check=True, env=environment).stdout)


def command_seconds(python: str, environment: dict[str, str], *words: str) -> float:
    """Return how long the command takes from shell to prompt."""
    started = time.perf_counter()
    subprocess.run([python, "-m", "warptsp", *words], capture_output=True, check=True, env=environment)
    return time.perf_counter() - started


def write_instance(path: Path) -> Path:
    """Write 52 random cities."""
    import numpy as np

    np.savetxt(path, np.random.default_rng(52).random((52, 2)), delimiter=",", header="x,y", comments="")
    return path


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--repeats", type=int, default=15)
    options_parser.add_argument("--beside", metavar="PYTHON", help="the interpreter of another version")
    options = options_parser.parse_args()
    repeats = 5 if options.quick else options.repeats
    pythons = [sys.executable, *([options.beside] if options.beside else [])]
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(Path(folder, "compiled"))
        outputs = ("--output", str(Path(folder, "tour.tour")), "--picture", str(Path(folder, "tour.svg")))
        runs: list[tuple[str, float, tuple[str, ...] | str]] = [
            ("import warptsp", IMPORT_BAR, ""),
            ("import warptsp; warptsp.solve", IMPORT_BAR, "; warptsp.solve"),
            ("warptsp --help", SOLVE_BAR, ("--help",)),
        ]
        for instance in (
            write_instance(Path(folder, "random52.csv")),
            tsplib_file(options.shared, "berlin52"),
        ):
            if instance.is_file():
                runs.append((f"warptsp solve {instance.name}", SOLVE_BAR, ("solve", str(instance), *outputs)))
        measured: dict[str, list[list[float]]] = {what: [[] for _ in pythons] for what, _, _ in runs}
        for what, _, words in runs:
            for _ in range(repeats + 1):
                for python, times in zip(pythons, measured[what], strict=True):
                    times.append(
                        import_seconds(python, environment, words)
                        if isinstance(words, str)
                        else command_seconds(python, environment, *words)
                    )
    rows = []
    for what, bar, _ in runs:
        seconds = [spread(times[1:]) for times in measured[what]]
        met = statistics.median(measured[what][0][1:]) <= bar
        rows.append([what, *seconds, f"{bar:g}", "met" if met else "**missed**"])
    beside = ["the other version, s"] if options.beside else []
    text = table(["what", "seconds", *beside, "target, s", ""], rows)
    report("startup", "Start-up", text, measured, options.output)


if __name__ == "__main__":
    main()
