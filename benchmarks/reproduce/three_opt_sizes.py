"""Document 000, table B-2: best-improvement 3-opt over all triples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.reproduce.chart import Chart
from benchmarks.reproduce.harness import (
    DEVICES,
    Cell,
    Results,
    Section,
    Setting,
    beside,
    header,
    kernel_ms,
    published,
    run,
    run_alone,
)
from benchmarks.reproduce.instances import random_cities

NAME = "three_opt_sizes"
DOCUMENT = "000"
TITLE = "3-opt over all triples (table B-2)"
TABLES = ("B-2",)
REDUCED_CPU = 400


def cells(setting: Setting) -> Iterator[Cell]:
    for row in published("000").rows("B-2"):
        cities = row["cities"]
        if setting.full or setting.device != "cpu" or cities <= REDUCED_CPU:
            yield Cell(str(cities), {"cities": cities})


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    return run(random_cities(cell.facts["cities"]), setting, method="three-opt", start="given")


def report(results: Results) -> list[Section]:
    rows = []
    lines: dict[str, list[tuple[float, float]]] = {"published": []}
    for row in published("000").rows("B-2"):
        name = str(row["cities"])
        rows.append(
            [
                row["cities"],
                *beside(row["kernel_ms"], results, name, kernel_ms),
                *beside(row["passes"], results, name, lambda result: result["passes"], "none"),
                *beside(row["total_ms"] / 1e3, results, name, lambda result: result["seconds"]),
            ]
        )
        lines["published"].append((row["cities"], row["total_ms"] / 1e3))
        for device in results.devices():
            value = results.value(name, device, lambda result: result["seconds"])
            if value is not None:
                lines.setdefault(DEVICES[device], []).append((row["cities"], value))
    words = [
        "cities",
        *header("ms a pass", results),
        *header("passes", results, ratios=False),
        *header("s in all", results),
    ]
    chart = Chart("3-opt from the identity to the local optimum", "cities", "s", lines)
    return [Section("Table B-2: descents", words, rows, chart=chart)]


run_alone(__name__)
