"""Document 004, tables 1 and 2: one pass of 3-opt over quadrant lists of 40."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

from benchmarks.reproduce.chart import Chart
from benchmarks.reproduce.harness import (
    DEVICES,
    Cell,
    Results,
    Section,
    Setting,
    instance,
    known_instances,
    number,
    published,
    ratio,
    run,
    run_alone,
)

NAME = "neighbor_passes"
DOCUMENT = "004"
TITLE = "One pass of 3-opt over neighbour lists (tables 1 and 2)"
TABLES = ("1", "2")
LARGEST = ("pla33810", "pla85900")
PASSES = 10  # a pass is the difference of runs with this many more
NEIGHBORS = 40


def sizes() -> list[tuple[str, int]]:
    """Return (name, cities) of the instances of the tables."""
    names = dict(known_instances())
    return [(name, cities) for name, cities in known_instances("EUC_2D") if cities >= 70] + [
        (name, names[name]) for name in LARGEST
    ]


def cells(setting: Setting) -> Iterator[Cell]:
    found = sizes()
    if not setting.full:
        found = [*found[:-2:4], *found[-2:]]
    for name, cities in reversed(found):
        yield Cell(name, {"instance": name, "cities": cities})


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    """Set-up and the start tour cancel where the time of the passes alone is not counted."""
    problem = instance(setting.instances, cell.facts["instance"])
    runs = [
        run(
            problem,
            setting,
            method="neighbor-three-opt",
            start="nearest-neighbor",
            params={"neighbors": NEIGHBORS, "moves": "one", "passes": passes},
        )
        for passes in (1, 1 + PASSES)
    ]
    spent = [found.get("kernel_seconds", found["seconds"]) for found in runs]
    done = [found["passes"] for found in runs]
    return {**runs[1], "pass_ms": 1e3 * (spent[1] - spent[0]) / max(1, done[1] - done[0])}


def report(results: Results) -> list[Section]:
    groups: list[list[object]] = []
    for row in published("004").rows("1"):
        line: list[object] = [f"{row['least']} to {row['most']}", row["instances"]]
        inside = [
            name
            for name, cities in sizes()
            if row["least"] < cities <= row["most"] or cities == 70 == row["least"]
        ]
        line.append(len(inside))
        means = []
        for device in results.devices():
            found = [ms for name in inside if (ms := results.value(name, device, _pass)) is not None]
            mean = statistics.mean(found) if found else None
            means.append(mean)
            theirs = row["cpu_ms" if device == "cpu" else "gpu_ms"]
            line += [number(theirs), number(mean), ratio(theirs, mean), len(found)]
        groups.append(line)
    words = ["cities", "instances, published", "ours"]
    for device in results.devices():
        words += [f"ms, {DEVICES[device]}, published", "measured", "ratio", "instances measured"]
    lines: dict[str, list[tuple[float, float]]] = {}
    for device in results.devices():
        for name, cities in sizes():
            ms = results.value(name, device, _pass)
            if ms is not None and ms > 0:
                lines.setdefault(DEVICES[device], []).append((cities, ms))
    chart = Chart("One pass of 3-opt, 40 neighbours", "cities", "ms", lines)
    sections = [Section("Table 1: one pass by size", words, groups, published("004").notes("1"), chart)]
    rows = []
    for row in published("004").rows("2"):
        line = [row["instance"]]
        for device in results.devices():
            theirs = row["cpu_ms" if device == "cpu" else "gpu_ms"]
            ours = results.value(row["instance"], device, _pass)
            line += [number(theirs), number(ours), ratio(theirs, ours)]
        rows.append(line)
    words = ["instance"]
    for device in results.devices():
        words += [f"ms, {DEVICES[device]}, published", "measured", "ratio"]
    return [*sections, Section("Table 2: one pass, the two largest", words, rows)]


def _pass(result: dict[str, Any]) -> float:
    return float(result["pass_ms"])


run_alone(__name__)
