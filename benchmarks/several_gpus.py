"""How much faster several GPUs of one machine are: the time to a gap, compared with one GPU.

A run knows its time limit and cools its tour over it, so the time to a gap is that of the shortest run that
ends with it, interpolated between the runs of a list of limits. Times are wall-clock times, from coordinates
in host memory to the tour there, including its check. With ``--uniform N`` the coordinates of N random cities
are read from a file, and the tour is written to one.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import gap_percent, load, note, parser, report, table

UNIFORM = 0.7124  # a random uniform tour is this times the root of cities times area, in the limit

# Gap in per cent, and time limits, by instance, for one GPU; those of k GPUs are divided by k.
LIMITS: dict[str, tuple[float, tuple[float, ...]]] = {
    "E1M.0": (1.0, (0.5, 0.7, 1.0)),
    "E3M.0": (1.0, (0.8, 1.1, 1.5)),
    "E10M.0": (1.0, (1.4, 1.7, 2.0, 2.4)),
}


def solve_once(problem: Any, known: float, gpus: int, seconds: float, seed: int) -> dict[str, Any]:
    """Solve with a time limit on so many GPUs, and return what a row of the first table says."""
    import warptsp

    device = "cuda:" + ",".join(map(str, range(gpus)))
    result = warptsp.solve(problem, device=device, time_limit=seconds, seed=seed)
    problem.check_tour(result.tour)
    counters, first = result.counters, result.history[0].seconds
    search = max(point.seconds for point in result.history) - first
    return {
        "device": result.device,
        "limit": seconds,
        "seed": seed,
        "gap": gap_percent(result.length, known),
        "wall": result.seconds,
        "first": first,
        "search": search,
        "kernel": counters["kernel_seconds"],
        "kicks": counters["kicks"],
        "bytes": counters["device_bytes"],
    }


def time_to(gap: float, runs: list[dict[str, Any]]) -> float | None:
    """Return the time of a run that ends at this gap, between those that end above and below it."""
    ordered = sorted(runs, key=lambda run: run["wall"])
    if ordered[0]["gap"] <= gap:
        return ordered[0]["wall"] if ordered[0]["gap"] == gap else None
    for above, below in itertools.pairwise(ordered):
        if below["gap"] <= gap:
            share = (above["gap"] - gap) / (above["gap"] - below["gap"])
            return float(above["wall"] + share * (below["wall"] - above["wall"]))
    return None


def measure(options: argparse.Namespace) -> tuple[str, list[dict[str, Any]]]:
    """Return the tables of the instances, and their runs."""
    import warptsp

    rows, ratios, found = [], [], []
    for name in options.instances:
        problem = load(options.shared, name)
        known = problem.known_length.length
        gap, limits = LIMITS[name]
        times: dict[int, float | None] = {}
        for gpus in options.gpus:
            warptsp.solve(
                problem, device="cuda:" + ",".join(map(str, range(gpus))), kicks=1
            )  # compiles, and opens
            runs = []
            for limit in limits:
                for seed in options.seeds:
                    note(f"{name}: {gpus} GPUs, {limit / gpus:.3g} s, seed {seed}")
                    one = solve_once(problem, known, gpus, limit / gpus, seed)
                    runs.append(one)
                    rows.append(
                        [
                            name,
                            gpus,
                            f"{one['limit']:.2f}",
                            f"{one['wall']:.2f}",
                            f"{one['gap']:.3f}",
                            f"{one['kicks'] / problem.n:.2f}",
                            f"{one['first']:.2f}",
                            f"{one['kernel']:.2f}",
                            f"{100 * (1 - one['kernel'] / one['search']):.0f}",
                            f"{one['bytes'] / problem.n:.0f}",
                        ]
                    )
            found += [{"instance": name, "gpus": gpus, **run} for run in runs]
            middle = [
                {
                    figure: float(np.median([run[figure] for run in runs if run["limit"] == limit]))
                    for figure in ("wall", "gap")
                }
                for limit in sorted({run["limit"] for run in runs})
            ]
            times[gpus] = time_to(gap, middle)
        base = times.get(1)
        for gpus, seconds in times.items():
            shown = "-" if seconds is None else f"{seconds:.2f}"
            ratio = "-" if seconds is None or base is None else f"{base / seconds:.2f}"
            ratios.append([name, f"{gap:g} %", gpus, shown, ratio])
    head = [
        "instance", "GPUs", "limit s", "wall s", "gap %", "kicks a city", "first tour s", "in the kernel s",
        "% of the search outside it", "bytes a city of each GPU",
    ]  # fmt: skip
    text = table(["instance", "gap", "GPUs", "time to it, s", "times as fast as one"], ratios)
    return text + "\n\n" + table(head, rows), found


def measure_uniform(options: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """Return a run from coordinates in a file to a tour in a file."""
    import warptsp

    n, gpus = options.uniform, max(options.gpus)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        cities, tour = Path(folder) / "cities.npy", Path(folder) / "tour.npy"
        np.save(cities, np.random.default_rng(1).random((n, 2)) * 1e6)
        warptsp.solve(np.random.default_rng(2).random((1_000_000, 2)), device="cuda", kicks=1)  # compiles
        times = [time.perf_counter()]

        def step(what: str) -> None:
            times.append(time.perf_counter())
            note(f"{what}: {times[-1] - times[-2]:.2f} s")

        problem = warptsp.load(cities)
        step("read")
        device = "cuda:" + ",".join(map(str, range(gpus)))
        result = warptsp.solve(problem, device=device, time_limit=options.seconds, seed=options.seeds[0])
        step("solved")
        np.save(tour, result.tour)
        step("written")
        seconds = np.diff(times).tolist()
        estimate = UNIFORM * float(np.sqrt(n * 1e12))
        gap = gap_percent(result.length, estimate)
        facts = [
            ["cities", f"{n:,}"],
            ["GPUs", result.device],
            ["time limit of the search, s", f"{options.seconds:g}"],
            ["coordinates read, s", f"{seconds[0]:.1f}"],
            ["solved, s", f"{seconds[1]:.1f}"],
            ["tour written, s", f"{seconds[2]:.1f}"],
            ["in all, s", f"{sum(seconds):.1f}"],
            ["first tour after, s", f"{result.history[0].seconds:.1f}"],
            ["in the kernel, s", f"{result.counters['kernel_seconds']:.1f}"],
            ["kicks a city", f"{result.counters['kicks'] / n:.2f}"],
            ["gap over 0.7124 sqrt(n A), %", f"{gap:.3f}"],
            ["bytes a city of each GPU", f"{result.counters['device_bytes'] / n:.0f}"],
        ]
        history = [(point.seconds, gap_percent(point.length, estimate)) for point in result.history]
        reached = [
            [f"{g:g}", next((f"{s:.1f}" for s, h in history if h <= g), "-")] for g in (5, 3, 2, 1.5, 1.2, 1)
        ]
    text = table(["", ""], facts) + "\n\n" + table(["gap %", "after s of the search"], reached)
    return text, {"facts": facts, "history": history}


def main() -> None:
    """Run what the options ask for, and print or write the report."""
    options_parser = parser(__doc__)
    options_parser.add_argument(
        "--instances", nargs="*", choices=list(LIMITS), default=list(LIMITS), metavar="NAME"
    )
    options_parser.add_argument("--gpus", nargs="+", type=int, default=[1, 2])
    options_parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    options_parser.add_argument(
        "--uniform", type=int, default=0, metavar="N", help="random cities, from a file"
    )
    options_parser.add_argument("--seconds", type=float, default=120.0, help="time limit for these")
    options_parser.add_argument(
        "--folder", type=Path, help="folder for their files; default: a temporary one"
    )
    options = options_parser.parse_args()
    if options.quick:
        options.instances = ["E1M.0"]
    text, results = measure(options)
    data: dict[str, Any] = {"runs": results}
    if options.uniform:
        more, data["uniform"] = measure_uniform(options)
        text += "\n\n" + more
    report("gpus", "Several GPUs", text, data, options.output)


if __name__ == "__main__":
    main()
