"""What the outer level costs: the same kicks by the main solver itself, by threads that each have a part of
the tour, and by Dask workers on this machine.

Threads and workers of a cluster do the same tasks, so the tour is the same, and the difference is Dask's
overhead: processes, sending coordinates and answers, scheduling. CPU seconds are those of this
process and all that it starts, from the call of `solve` to its return, including the start and end of
workers. They are read from the system's process table at every progress event, so that some
tenths of a second at the end of a worker are missed.

Meant for a machine on which nothing else runs, with as many cores as workers: threads that share a core, or
its caches, with others take more CPU seconds.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import psutil
from common import gap_percent, load, note, parser, report, table

BAR = 1.15  # CPU seconds of Dask workers, in those of threads


class CpuSeconds:
    """CPU seconds of this process and its descendants since it was made; ended ones count as last seen."""

    def __init__(self) -> None:
        self._own = psutil.Process()
        self._seen: dict[int, float] = {}
        self._before = 0.0
        self._before = self.now()

    def now(self) -> float:
        """Look, and return the seconds so far."""
        for process in [self._own, *self._own.children(recursive=True)]:
            try:
                times = process.cpu_times()
            except psutil.Error:
                continue  # it has just ended
            self._seen[process.pid] = times.user + times.system
        return sum(self._seen.values()) - self._before


def measure(problem: Any, options: argparse.Namespace, who: str, workers: int) -> dict[str, Any]:
    """Run one of them; "plain" is the main solver without an outer level."""
    import warptsp

    note(f"{problem.name}: {who}, {workers} workers")
    cluster = None if who == "plain" else f"{who}:{workers}"
    params = {"rounds": options.rounds, "kicks": options.kicks / options.rounds}
    if options.part is not None:
        params["part"] = options.part
    cpu, begun = CpuSeconds(), time.monotonic()
    result = warptsp.solve(
        problem,
        kicks=round(options.kicks * problem.n) if cluster is None else None,
        threads=workers,
        device="cpu",
        seed=1,
        cluster=cluster,
        cluster_params=params if cluster else None,
        callback=lambda progress: cpu.now() < 0,
        bound=False,
    )
    known = result.known.length if result.known is not None else 0.7124 * problem.n**0.5 * 1e6
    found = {
        "who": who,
        "workers": workers,
        "seconds": time.monotonic() - begun,
        "cpu_seconds": cpu.now(),
        "length": result.length,
        "gap_percent": gap_percent(result.length, known),
        "counters": dict(result.counters),
    }
    note(str(found))
    return found


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--instance", default="E1M.0")
    options_parser.add_argument("--workers", nargs="+", type=int, default=[8])
    options_parser.add_argument("--who", nargs="+", default=["threads", "local", "plain"])
    options_parser.add_argument("--kicks", type=float, default=2.0, help="total kicks per city")
    options_parser.add_argument("--rounds", type=int, default=2)
    options_parser.add_argument("--part", type=int, help="cities per task")
    options = options_parser.parse_args()
    if options.quick:
        options.instance, options.workers, options.kicks = "E10k.0", [2], 1.0
        options.part = 2000
    problem = load(options.shared, options.instance)
    results = [measure(problem, options, who, workers) for workers in options.workers for who in options.who]
    rows = []
    for found in results:
        same = next((f for f in results if f["who"] == "threads" and f["workers"] == found["workers"]), None)
        ratio = "-" if same is None else f"{found['cpu_seconds'] / same['cpu_seconds']:.2f}"
        counters = found["counters"]
        wire = (counters.get("bytes_sent", 0) + counters.get("bytes_received", 0)) / 1e6
        rows.append(
            [
                found["who"],
                found["workers"],
                f"{found['seconds']:.1f}",
                f"{found['cpu_seconds']:.1f}",
                ratio,
                f"{found['gap_percent']:.3f}",
                *(f"{counters.get(name, 0):.2f}" for name in ("cut_seconds", "link_seconds")),
                f"{wire:.1f}",
            ]
        )
    header = [
        "who",
        "workers",
        "seconds",
        "CPU seconds",
        "CPU / threads",
        "gap, %",
        "cutting, s",
        "linking, s",
    ]
    text = (
        f"{options.instance}, {options.kicks:g} kicks a city in {options.rounds} rounds. Target: Dask takes "
        f"at most {BAR} times the CPU seconds of threads.\n\n{table([*header, 'MB on the wire'], rows)}"
    )
    report("scaling_cluster", "What the outer level costs", text, results, options.output)


if __name__ == "__main__":
    main()
