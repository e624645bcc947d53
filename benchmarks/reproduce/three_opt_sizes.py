"""Best-improvement 3-opt over all triples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.reproduce.harness import (
    Cell,
    Chart,
    Results,
    Section,
    Setting,
    beside,
    header,
    kernel_ms,
    published,
    run,
)
from benchmarks.reproduce.instances import random_cities

DOCUMENT = "000"
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
    theirs = published("000").rows("B-2")
    rows = []
    for row in theirs:
        name = str(row["cities"])
        rows.append(
            [
                row["cities"],
                *beside(row["kernel_ms"], results, name, kernel_ms),
                *beside(row["passes"], results, name, "passes", "none"),
                *beside(row["total_ms"] / 1e3, results, name, "seconds"),
            ]
        )
    words = [
        "cities",
        *header("ms a pass", results),
        *header("passes", results, ratios=False),
        *header("s in all", results),
    ]
    lines = {"published": [(row["cities"], row["total_ms"] / 1e3) for row in theirs]}
    lines |= results.lines(((row["cities"], str(row["cities"])) for row in theirs), "seconds")
    chart = Chart("3-opt from the identity to the local optimum", "cities", "s", lines)
    return [Section("Table B-2: descents", words, rows, chart=chart)]
