"""The main solver on a GPU: gap at given time limits, and time to given gaps compared with the CPU.

Every run is one call of `warptsp.solve`, from coordinates in host memory to the tour in host memory, in one
process; each kernel has been compiled and each device opened once before. Three tables:

- *bars*: the median gap of three seeds within a time limit, of one seed from a minute on; with `--sharper`
  against sharper targets, and that table alone;
- *launch*: the search's kernel in those runs: kicks per second, registers, shared memory, parts at once, the
  share of the search's time that is spent outside it, and the maximum memory that arrays took, in total and
  per city, next to the estimate made before a run;
- *time to gap*: seconds until the tour was that good, on one CPU thread, on all, and on the GPU.
"""

from __future__ import annotations

import argparse
import statistics
from typing import Any

from common import (
    added_to,
    gap_percent,
    is_available,
    load,
    note,
    parser,
    report,
    seconds_to,
    spread,
    table,
    thinned,
    was_on_gpu,
)

BARS: dict[str, list[tuple[float, float]]] = {
    "E10k.0": [(0.008, 5), (0.004, 20)],
    "d18512": [(0.5, 0.4), (0.2, 2), (0.010, 10)],
    "E100k.0": [(1.0, 0.6), (0.04, 10), (0.02, 60)],
    "C100k.0": [(0.5, 3), (0.08, 30)],
    "pla85900": [(0.5, 2), (0.06, 8)],
    "E1M.0": [(1.0, 4), (0.17, 10), (0.09, 30), (0.05, 100)],
    "E10M.0": [(1.0, 20), (0.20, 60), (0.10, 300)],
}
SHARPER_BARS: dict[str, list[tuple[float, float]]] = {
    "E10k.0": [(0.001, 5)],
    "E100k.0": [(0.010, 10), (0.003, 60), (0.0012, 300)],
    "C100k.0": [(0.3, 3), (0.02, 30), (0.002, 60)],
    "pla85900": [(0.010, 8), (0.002, 60), (0.0005, 300)],
    "E1M.0": [(0.12, 10), (0.05, 30), (0.022, 100), (0.010, 300)],
    "E10M.0": [(0.15, 60), (0.045, 300)],
}
COMPARED = {"d18512": 2.0, "E100k.0": 3.0, "E1M.0": 4.0}  # seconds
GAPS = (5.0, 2.0, 1.0, 0.7, 0.5, 0.4, 0.3, 0.2)
QUICK = ("d18512", "E100k.0")


def run(problem: Any, device: str, seconds: float, seed: int, threads: int | None = None) -> dict[str, Any]:
    """Solve with a time limit that the search knows."""
    import warptsp

    known = problem.known_length.length
    result = warptsp.solve(problem, device=device, time_limit=seconds, seed=seed, threads=threads)
    problem.check_tour(result.tour)
    gap = gap_percent(problem.length(result.tour), known)
    note(f"{gap:.3f} % after {result.seconds:.2f} s")
    return {
        "device": result.device,
        "gap": gap,
        "wall": result.seconds,
        "kicks": result.counters["kicks"],
        "counters": result.counters,
        "history": [(seconds, gap_percent(length, known)) for seconds, length in thinned(result.history)],
    }


def measure_bars(options: argparse.Namespace, problems: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the runs of each bar."""
    found = []
    for name in options.instances:
        for gap, seconds in options.bars[name]:
            if seconds > options.longest:
                continue
            runs = []
            for seed in options.seeds if seconds < 60 else options.seeds[:1]:
                note(f"{name}: {gap:g} % within {seconds:g} s, seed {seed}")
                runs.append(run(problems[name], "cuda", seconds, seed))
            found.append({"instance": name, "gap": gap, "seconds": seconds, "runs": runs})
    return found


def bar_table(bars: list[dict[str, Any]], digits: int = 3) -> str:
    """Return the first table, with gaps to so many digits."""
    rows = []
    for bar in bars:
        gaps = [one["gap"] for one in bar["runs"]]
        verdict = "met" if statistics.median(gaps) <= bar["gap"] else "**missed**"
        target = f"{bar['gap']:g} % in {bar['seconds']:g} s"
        rows.append([bar["instance"], target, spread(gaps, digits), verdict])
    return table(["instance", "target", "gap %", ""], rows)


def describe_launches(bars: list[dict[str, Any]], problems: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of the second table, from the last run of each instance."""
    from warptsp.backends.cuda.device import Device
    from warptsp.backends.cuda.launch_plan import needed_bytes, plan_launch

    rows = []
    with Device.open() as device:
        for name, bar in {bar["instance"]: bar for bar in bars}.items():
            one = bar["runs"][-1]
            problem = problems[name]
            plan = plan_launch(device, problem.metric, problem.n)
            first = one["history"][0][0]
            search, counters = one["wall"] - first, one["counters"]
            kicks = max(1, one["kicks"])
            cells = [
                plan.parts,
                plan.cities,
                plan.shared,
                f"{plan.blocks} ({100 * plan.blocks * 32 / device.threads_per_multiprocessor:.0f} %)",
                f"{plan.registers}, {plan.local_bytes}",
                f"{one['kicks'] / search / 1e6:.2f}",
                f"{one['kicks'] / problem.n:.0f}",
                f"{counters['passes'] / kicks:.1f}",
                f"{counters['branches'] / kicks:.0f}, {counters['chains'] / kicks:.0f}",
                f"{first:.2f}",
                f"{100 * (1 - counters['kernel_seconds'] / search):.0f}",
                f"{counters['device_bytes'] / 1e9:.3f}, {counters['device_bytes'] / problem.n:.0f}",
                f"{needed_bytes(problem) / 1e9:.3f}",
            ]
            rows.append({"instance": name, "cells": cells})
    return rows


def launch_table(rows: list[dict[str, Any]]) -> str:
    """Return the second table."""
    head = [
        "instance", "parts", "cities", "bytes of shared memory", "warps an SM (occupancy)",
        "registers, local bytes", "million kicks/s", "kicks a city", "passes a kick",
        "branches, chains a kick", "set-up s", "% outside the kernel", "peak GB, bytes a city", "GB computed",
    ]  # fmt: skip
    return table(head, [[row["instance"], *row["cells"]] for row in rows])


def measure_devices(options: argparse.Namespace, problems: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a run on each back end for each instance compared."""
    found = []
    for name in options.instances:
        if name not in COMPARED:
            continue
        seconds = min(COMPARED[name], 3.0) if options.quick else COMPARED[name]
        for label, device, threads in (
            ("CPU, 1 thread", "cpu", 1),
            ("CPU, all", "cpu", None),
            ("GPU", "cuda", None),
        ):
            note(f"{name}: {label}, {seconds:g} s")
            found.append(
                {"instance": name, "label": label, **run(problems[name], device, seconds, 1, threads)}
            )
    return found


def device_table(runs: list[dict[str, Any]]) -> str:
    """Return the third table: seconds to each gap, and how many times faster the GPU was."""
    rows = []
    for name in dict.fromkeys(one["instance"] for one in runs):
        three = [one for one in runs if one["instance"] == name]
        for gap in GAPS:
            reached = [seconds_to(one["history"], gap) for one in three]
            if all(seconds is None for seconds in reached):
                continue
            cells = ["-" if seconds is None else f"{seconds:.2f}" for seconds in reached]
            ratios = [
                "-" if seconds is None or reached[2] is None else f"{seconds / reached[2]:.0f}"
                for seconds in reached[:2]
            ]
            rows.append([name, f"{gap:g}", *cells, *ratios])
        end = f"after {max(one['wall'] for one in three):.0f} s"
        rows.append([name, end, *(f"{one['gap']:.3f} %" for one in three), "", ""])
    labels = [one["label"] for one in runs[:3]]
    return table(["instance", "gap %", *labels, "one thread / GPU", "all / GPU"], rows)


def main() -> None:
    """Run what the options ask for, and print or write the report."""
    options_parser = parser(__doc__)
    options_parser.add_argument(
        "--instances", nargs="+", choices=list(BARS), default=list(BARS), metavar="NAME"
    )
    options_parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    options_parser.add_argument("--sharper", action="store_true", help="sharper targets, their table alone")
    options_parser.add_argument(
        "--longest", type=float, default=300.0, help="limit up to which bars are tried"
    )
    options_parser.add_argument(
        "--compare", action=argparse.BooleanOptionalAction, default=True, help="with the CPU"
    )
    options_parser.add_argument(
        "--add", action="store_true", help="keep what the report in --output has of other instances"
    )
    options = options_parser.parse_args()
    if options.add and options.output is None:
        options_parser.error("--add is of no use without --output")
    if options.quick:
        options.instances, options.seeds = list(QUICK), options.seeds[:1]
    options.bars = SHARPER_BARS if options.sharper else BARS
    options.instances = [name for name in options.instances if name in options.bars]
    options.instances = [name for name in options.instances if is_available(options.shared, name)]
    problems = {name: load(options.shared, name) for name in options.instances}
    import warptsp

    for problem in problems.values():
        # The first call waits until most kernels are compiled, the others until all are.
        warptsp.solve(problem, device="cuda", kicks=1)
        while not was_on_gpu(warptsp.solve(problem, device="cuda", time_limit=2.0)):
            pass
    bars = measure_bars(options, problems)
    name = "gpu_sharper" if options.sharper else "gpu_search"
    results: dict[str, list[Any]] = {"bars": bars}
    if options.sharper:
        if options.add:
            results = added_to(name, options.output, results, list(BARS))
        report(name, "Sharper targets on a GPU", bar_table(results["bars"], 4), results, options.output)
        return
    results["launches"] = describe_launches(bars, problems)
    results["devices"] = measure_devices(options, problems) if options.compare else []
    if options.add:
        results = added_to(name, options.output, results, list(BARS))
    tables = [bar_table(results["bars"])]
    tables.append(launch_table(results["launches"]))
    if results["devices"]:
        tables.append(device_table(results["devices"]))
    report(name, "The search on a GPU", "\n\n".join(tables), results, options.output)


if __name__ == "__main__":
    main()
