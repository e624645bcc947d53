"""Document 000, tables 4.15, 4.20 and B-1: 2-opt on the CPU and the GPU by number of cities.

Descents from the identity up to 4000 cities, and single passes up to 60 000.
"""

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
    number,
    published,
    ratio,
    run,
    run_alone,
)
from benchmarks.reproduce.instances import random_cities

NAME = "two_opt_sizes"
DOCUMENT = "000"
TITLE = "2-opt by number of cities: descents and single passes (tables 4.15, 4.20, B-1)"
TABLES = ("4.15", "4.20", "B-1")
DESCENTS = (500, 1000, 2000, 3000, 4000)
PASSES = (6000, 15000, 30000, 45000, 60000)
REDUCED_CPU = 2000  # cities up to which a descent is a matter of seconds on two cores


def cells(setting: Setting) -> Iterator[Cell]:
    for cities in DESCENTS:
        if setting.full or setting.device != "cpu" or cities <= REDUCED_CPU:
            yield Cell(f"descent {cities}", {"cities": cities, "passes": None})
    for cities in PASSES:
        passes = 1 if setting.device == "cpu" else 10
        yield Cell(f"pass {cities}", {"cities": cities, "passes": passes})


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    params = {} if cell.facts["passes"] is None else {"passes": cell.facts["passes"]}
    return run(random_cities(cell.facts["cities"]), setting, method="two-opt", start="given", params=params)


def report(results: Results) -> list[Section]:
    rows: list[list[object]] = []
    lines: dict[str, list[tuple[float, float]]] = {"published, CPU": [], "published, GPU": []}
    for row in published("000").rows("4.15"):
        name = f"descent {row['cities']}"
        cells: list[object] = [row["cities"]]
        for device in results.devices():
            key = "cpu" if device == "cpu" else "gpu"
            seconds = results.value(name, device, lambda result: result["seconds"])
            theirs = row[f"{key}_ms"] / 1e3
            passes = results.value(name, device, lambda result: result["passes"])
            cells += [
                number(theirs),
                number(seconds),
                ratio(theirs, seconds),
                row[f"{key}_passes"],
                number(passes),
            ]
            if seconds is not None:
                lines.setdefault(f"{DEVICES[device]}", []).append((row["cities"], seconds))
        rows.append(cells)
        for key in ("cpu", "gpu"):
            lines[f"published, {key.upper()}"].append((row["cities"], row[f"{key}_ms"] / 1e3))
    words = ["cities"]
    for device in results.devices():
        name = DEVICES[device]
        words += [f"{name} s, published", "measured", "ratio", f"{name} passes, published", "measured"]
    chart = Chart("2-opt from the identity to the local optimum", "cities", "s", lines)
    descents = Section("Table 4.15: descents", words, rows, published("000").notes("4.15"), chart)
    return [descents, _single_passes(results)]


def _single_passes(results: Results) -> Section:
    rows = []
    lines: dict[str, list[tuple[float, float]]] = {"published": []}
    for row in published("000").rows("B-1"):
        name = f"pass {row['cities']}"
        launch = f"{row['block']} x {row['grid']} x {row['jobs']}"
        rows.append([row["cities"], launch, *beside(row["kernel_ms"], results, name, kernel_ms)])
        lines["published"].append((row["cities"], row["kernel_ms"]))
        for device in results.devices():
            value = results.value(name, device, kernel_ms)
            if value is not None:
                lines.setdefault(DEVICES[device], []).append((row["cities"], value))
    words = ["cities", "block x grid x jobs, published", *header("ms", results)]
    text = (
        "Table 4.20 has 61 and 1172 ms for 6000 and 15 000 cities with the same launches (512 threads: 117 "
        "and 2216 ms, 256 threads: 230 and 4369 ms). " + published("000").tables["4.20"]["notes"][1]
    )
    chart = Chart("2-opt: one pass over all pairs", "cities", "ms", lines)
    return Section("Tables 4.20 and B-1: one pass", words, rows, text, chart)


run_alone(__name__)
