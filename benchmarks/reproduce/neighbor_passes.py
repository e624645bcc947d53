"""One pass of 3-opt over quadrant lists of 40."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.reproduce.harness import (
    DEVICES,
    SPEEDUPS,
    Cell,
    Chart,
    Results,
    Section,
    Setting,
    compared,
    compared_header,
    number,
    published,
    run,
    speedups,
)
from benchmarks.reproduce.instances import instance, known_instances

DOCUMENT = "004"
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


def _gains(results: Results, names: Iterable[str]) -> list[float]:
    """Return how many times faster a pass is on the GPU than on the CPU, for instances with both."""
    found = [[results.value(name, device, "pass_ms") for device in DEVICES] for name in names]
    # With fewer passes than asked for nothing is known of one.
    return [cpu / gpu for cpu, gpu in found if cpu and gpu and min(cpu, gpu) > 0]


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
        for device in results.devices():
            found = [ms for name in inside if (ms := results.value(name, device, "pass_ms")) is not None]
            mean = statistics.mean(found) if found else None
            line += [*compared(row[f"{DEVICES[device].lower()}_ms"], mean), len(found)]
        line += speedups(row, _gains(results, inside))
        groups.append(line)
    words = ["cities", "instances, published", "ours"]
    for device in results.devices():
        words += [*compared_header(f"{DEVICES[device]} ms"), "instances measured"]
    words += SPEEDUPS
    # Where there are fewer passes than asked for, the two runs are the same, and nothing is known of a pass.
    lines = {
        device: [(cities, ms) for cities, ms in points if ms > 0]
        for device, points in results.lines(((cities, name) for name, cities in sizes()), "pass_ms").items()
    }
    chart = Chart("One pass of 3-opt, 40 neighbours", "cities", "ms", lines)
    sections = [Section("Table 1: one pass by size", words, groups, published("004").notes("1"), chart)]
    rows = []
    for row in published("004").rows("2"):
        line = [row["instance"]]
        for device in results.devices():
            ours = results.value(row["instance"], device, "pass_ms")
            line += compared(row[f"{DEVICES[device].lower()}_ms"], ours)
        gains = _gains(results, [row["instance"]])
        line += [number(row["speedup"]), number(gains[0] if gains else None)]
        rows.append(line)
    words = ["instance"]
    for device in results.devices():
        words += compared_header(f"{DEVICES[device]} ms")
    words += ["GPU over CPU, published", "GPU over one CPU core, measured"]
    return [*sections, Section("Table 2: one pass, the two largest", words, rows)]
