"""What the coordinator of many machines does for a round, apart from the search: seconds and bytes per city.

Uniform cities are written to a file and read through a memory map; a tour along a space-filling curve is cut,
every part answers with its cities as they are, and the parts are joined, checked and measured. Memory is
the process's own (RssAnon), the maximum during a step; pages of the mapped file are not counted.
Linux only: it reads ``/proc``.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from common import note, parser, report, table
from numpy.typing import NDArray

from warptsp import _native
from warptsp.cluster.cutting import cut_boxes, cut_stretches, link, put
from warptsp.construct import construct
from warptsp.devices import available_threads
from warptsp.io import load, read_tour, write_tour
from warptsp.problem import Problem

BAR_SECONDS, BAR_BYTES = 60.0, 100.0


class Steps:
    """Times steps, and watches memory meanwhile."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.rows: list[dict[str, Any]] = []
        self._peak = 0
        threading.Thread(target=self._watch, daemon=True).start()

    def __call__(self, name: str, step: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Do a step and note what it took."""
        self._peak = own_memory()
        wall, cpu = time.perf_counter(), cpu_seconds()
        result = step(*arguments, **options)
        row = {"step": name, "seconds": time.perf_counter() - wall, "cpu_seconds": cpu_seconds() - cpu}
        row["bytes_each"] = max(self._peak, own_memory()) / self.n
        self.rows.append(row)
        seconds = f"{row['seconds']:.2f} s, CPU {row['cpu_seconds']:.2f} s"
        note(f"{name}: {seconds}, {row['bytes_each']:.1f} bytes a city")
        return result

    def sum_of(self, *words: str) -> float:
        """Return the seconds of the steps that begin with one of these words."""
        return sum(row["seconds"] for row in self.rows if row["step"].startswith(words))

    def _watch(self) -> None:
        while True:
            self._peak = max(self._peak, own_memory())
            time.sleep(0.02)


def own_memory() -> int:
    """Return the bytes of the process that are no file's."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    return 0


def cpu_seconds() -> float:
    """Return the CPU time of this process and of those that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def measure(n: int, part: int, threads: int, folder: Path, text: bool) -> Steps:
    """Do all that a round needs but the search."""
    steps = Steps(n)
    file = folder / "points.f64"
    command = [sys.executable, "-m", "warptsp", "generate", "uniform", str(n)]
    command += ["-o", str(file), "--threads", str(threads)]
    steps("generate and write the cities", subprocess.run, command, check=True, stdout=subprocess.DEVNULL)
    problem = steps("read and check the cities", load, file)
    token = _native.StopToken()
    curve = {"seed": 0, "threads": threads, "token": token}
    tour = steps("number along a curve", construct, problem, "space-filling", **curve)
    parts, rng = max(2, n // part), np.random.default_rng(1)
    cut = steps("cut stretches", cut_stretches, problem, tour, parts, n // 3, threads)
    tour = linked(steps, cut, problem, "stretches", threads)
    cut = steps("cut boxes", cut_boxes, problem, tour, parts, rng, threads)
    tour = linked(steps, cut, problem, "boxes", threads)
    steps("check the tour", problem.check_tour, tour, threads=threads)
    steps("length of the tour", problem.length, tour, threads=threads)
    for ending in ("npy", "tour") if text else ("npy",):
        name = folder / f"tour.{ending}"
        steps(f"write .{ending}", write_tour, name, tour, problem)
        steps(f"read .{ending}", read_tour, name, problem)
    return steps


def linked(steps: Steps, cut: _native.TourCut, problem: Problem, kind: str, threads: int) -> Any:
    """Return the tour of all parts, after each has answered with its cities as they are."""
    assert problem.coordinates is not None
    note(f"{cut.parts} parts, {cut.paths} paths")
    steps(f"take the cities of {kind}, one thread", take, cut, problem.coordinates)
    steps(f"put the answers of {kind}, one thread", answer, cut)
    tour, closed_tours = steps(f"link {kind}", link, cut, problem, threads)
    note(f"{closed_tours} closed tours")
    return tour


def take(cut: _native.TourCut, points: NDArray[np.float64]) -> None:
    """Make what tasks hold."""
    for part in range(cut.parts):
        points.take(cut.cities(part), axis=0)


def answer(cut: _native.TourCut) -> None:
    """Give back every part as it is, but from another city and in the other direction."""
    for part in range(cut.parts):
        put(cut, part, np.roll(np.arange(cut.size(part), dtype=np.int32), 7)[::-1])


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--cities", type=float, default=1e7)
    options_parser.add_argument("--part", type=float, default=1e6, help="cities per part")
    options_parser.add_argument("--threads", type=int, default=available_threads())
    options_parser.add_argument("--folder", type=Path, help="folder for temporary files")
    options_parser.add_argument("--no-text", action="store_true", help="no TSPLIB tour")
    options = options_parser.parse_args()
    n = 1_000_000 if options.quick else int(options.cities)
    part = 100_000 if options.quick else int(options.part)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        steps = measure(n, part, options.threads, Path(folder), not options.no_text)
    boxes = steps.sum_of("cut boxes", "put the answers of boxes", "link boxes")
    peak = max(row["bytes_each"] for row in steps.rows if not row["step"].endswith(".tour"))
    rows = [
        [row["step"], f"{row['seconds']:.2f}", f"{row['cpu_seconds']:.2f}", f"{row['bytes_each']:.0f}"]
        for row in steps.rows
    ]
    text = table(["step", "seconds", "CPU seconds", "own bytes a city, at most"], rows)
    text = (
        f"{n} uniform cities, parts of {part}, {options.threads} threads.\n\n{text}\n\n"
        f"Cutting boxes, putting answers back and linking: {boxes:.1f} s (at most {BAR_SECONDS:g} s "
        f"for 10^8 on 16 cores); own memory at most {peak:.0f} bytes a city (at most {BAR_BYTES:g}), "
        "text not counted."
    )
    report(f"coordinator_{n}", "The coordinator", text, steps.rows, options.output)


if __name__ == "__main__":
    main()
