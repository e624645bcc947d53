"""Algorithm 1 to the letter: one chain of whole passes of best improvement, kicks, every tour accepted."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

from benchmarks.reproduce.harness import (
    DEVICES,
    Cell,
    Chart,
    Results,
    Section,
    Setting,
    number,
    published,
    run,
)
from benchmarks.reproduce.instances import instance, known_instances

DOCUMENT = "004"
TABLES = ("3", "figures 5, 6")
ALGORITHM_1 = {
    "improvement": "best",
    "restart": "pass",
    "edges": "next",
    "acceptance": "always",
    "neighbors": 40,
}
KICKS = ("0.1", "1", "10")  # n
LARGEST = ("pla33810", "pla85900")
FEW = "0.001"  # n, from a local optimum: on a core the way there takes most of an hour
# Cities up to which a core is done in minutes.
ON_A_CORE = {"0.1": 19_000, "1": 4000, "10": 1400}
REDUCED = {"0.1": 1500, "1": 500, "10": 150}


def cells(setting: Setting) -> Iterator[Cell]:
    sizes = dict(known_instances())
    on_gpu = setting.device == "cuda"
    found = []
    for kicks in KICKS:
        most = REDUCED[kicks] if not setting.full else 10**6 if on_gpu else ON_A_CORE[kicks]
        found += [(name, n, kicks) for name, n in known_instances("EUC_2D") if n <= most]
        if setting.full and kicks == KICKS[0]:
            found += [(name, sizes[name], FEW) for name in LARGEST]
    if setting.full and on_gpu:
        found += [(name, sizes[name], KICKS[0]) for name in LARGEST]
    if setting.side_by_side > 1:  # the long ones first, so that none is left for the end
        found.sort(key=lambda cell: -float(cell[2]) * cell[1] ** 2)
    for name, _, kicks in found:
        yield Cell(f"{name}, {kicks} n", {"instance": name, "kicks": kicks})


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    problem = instance(setting.instances, cell.facts["instance"])
    kicks = cell.facts["kicks"]
    start: Any = "nearest-neighbor"
    if kicks == FEW:
        start = _local_optimum(problem)
    return run(
        problem,
        setting,
        method="ils",
        start=start,
        params={**ALGORITHM_1, "iterations": float(kicks)},
    )


def _local_optimum(problem: Any) -> Any:
    import warptsp

    params = {"edges": "next", "moves": "many"}
    way = {"method": "neighbor-three-opt", "device": "cpu", "bound": False, "stop": lambda state: False}
    return warptsp.solve(problem, start="nearest-neighbor", params=params, **way).tour


def report(results: Results) -> list[Section]:
    rows: list[list[object]] = []
    theirs = {row["search"]: row for row in published("004").rows("3")}
    for kicks in KICKS:
        row = theirs[f"ils {kicks} n"]
        line: list[object] = [f"{kicks} n", number(row["cpu_error"]), number(row["gpu_error"])]
        for device in results.devices():
            found = [result for _, result in _found(results, device, kicks)]
            errors = [result["error"] for result in found]
            line += [
                number(statistics.mean(errors)) if errors else "-",
                sum(error <= 0 for error in errors) if errors else "-",
                len(errors),
            ]
        gains = [gain for _, gain in speedups_of(results, kicks)]
        line += [row["least"], row["mean"], row["most"]] if "least" in row else []
        line += [number(f(gains)) if gains else "-" for f in (min, statistics.mean, max)]
        rows.append([*line, len(gains)])
    return [Section("Algorithm 1", [], rows)]


def _found(results: Results, device: str, kicks: str) -> list[tuple[int, dict[str, Any]]]:
    found = []
    for name, cities in known_instances("EUC_2D"):
        result = results.get(f"{name}, {kicks} n", device)
        if result is not None:
            found.append((cities, result))
    return found


def speedups_of(results: Results, kicks: str) -> list[tuple[int, float]]:
    """Return (cities, how many times faster on the GPU) of the instances with both."""
    found = []
    for name, cities in [*known_instances("EUC_2D"), *((n, 0) for n in LARGEST)]:
        cpu, gpu = (results.get(f"{name}, {kicks} n", device) for device in DEVICES)
        if cpu is not None and gpu is not None:
            found.append((cities, cpu["seconds"] / gpu["seconds"]))
    return found
