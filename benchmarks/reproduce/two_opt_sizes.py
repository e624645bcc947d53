"""2-opt by number of cities: descents and single passes.

Descents from the identity up to 4000 cities, and single passes up to 60 000: whole ones, and on the GPU in
pairs of ranges, as the document divides them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.reproduce.harness import (
    DEVICES,
    Cell,
    Chart,
    Results,
    Section,
    Setting,
    beside,
    compared,
    compared_header,
    header,
    kernel_ms,
    number,
    published,
    run,
)
from benchmarks.reproduce.instances import random_cities
from benchmarks.reproduce.two_opt_occupancy import partitions

DOCUMENT = "000"
TABLES = ("4.15", "4.20", "B-1")
DESCENTS = (500, 1000, 2000, 3000, 4000)
PASSES = (6000, 15000, 30000, 45000, 60000)
RANGE = 3000  # cities of a range
REDUCED_CPU = 2000  # cities up to which a descent is a matter of seconds on two cores


def cells(setting: Setting) -> Iterator[Cell]:
    for cities in DESCENTS:
        if setting.full or setting.device != "cpu" or cities <= REDUCED_CPU:
            yield Cell(f"descent {cities}", {"cities": cities, "passes": None})
    for cities in PASSES:
        passes = 1 if setting.device == "cpu" else 10
        yield Cell(f"pass {cities}", {"cities": cities, "passes": passes})
        if setting.device != "cpu":
            yield Cell(f"ranges {cities}", {"cities": cities, "passes": passes, "range_size": RANGE})


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    asked = ("passes", "range_size")
    params = {name: value for name in asked if (value := cell.facts.get(name)) is not None}
    return run(random_cities(cell.facts["cities"]), setting, method="two-opt", start="given", params=params)


def report(results: Results) -> list[Section]:
    theirs = published("000").rows("4.15")
    rows = []
    for row in theirs:
        name = f"descent {row['cities']}"
        line = [row["cities"]]
        for device in results.devices():
            key = DEVICES[device].lower()
            line += compared(row[f"{key}_ms"] / 1e3, results.value(name, device, "seconds"))
        length, start = (results.first(name, figure) for figure in ("length", "start_length"))
        left = [(row["cpu_length"], row["initial_length"]), (length, start)]
        line += [row["cpu_passes"], row["gpu_passes"], number(results.first(name, "passes"))]
        line += [row["cpu_length"], row["gpu_length"], number(length)]
        rows.append([*line, *(number(100 * end / begin if end and begin else None) for end, begin in left)])
    words = ["cities"]
    for device in results.devices():
        words += compared_header(f"{DEVICES[device]} s")
    words += [
        "passes, CPU, published",
        "GPU",
        "measured",
        "length, CPU, published",
        "GPU",
        "of our cities",
        "% of the identity's length, published",
        "measured",
    ]
    lines = {
        f"published, {key}": [(row["cities"], row[f"{key.lower()}_ms"] / 1e3) for row in theirs]
        for key in DEVICES.values()
    }
    lines |= results.lines(((row["cities"], f"descent {row['cities']}") for row in theirs), "seconds")
    chart = Chart("2-opt from the identity to the local optimum", "cities", "s", lines)
    descents = Section("Table 4.15: descents", words, rows, published("000").notes("4.15"), chart)
    return [descents, _single_passes(results)]


def _single_passes(results: Results) -> Section:
    theirs = published("000").rows("B-1")
    rows = []
    for row in theirs:
        cities = row["cities"]
        launch = f"{row['block']} x {row['grid']} x {row['jobs']}"
        ours = beside(row["kernel_ms"], results, f"pass {cities}", kernel_ms)
        in_ranges = number(results.value(f"ranges {cities}", "cuda", kernel_ms))
        rows.append([cities, launch, *ours, partitions(cities, RANGE)[2], in_ranges])
    lines = {"published": [(row["cities"], row["kernel_ms"]) for row in theirs]}
    lines |= results.lines(((row["cities"], f"pass {row['cities']}") for row in theirs), kernel_ms)
    words = ["cities", "block x grid x jobs, published", *header("ms", results)]
    words += [f"launches in ranges of {RANGE}", "ms, GPU"]
    text = (
        "Launches in ranges evaluate the moves between two of them by number, as the document's do; the "
        "other GPU times are of the kernel that `two-opt` takes unasked. Table 4.20 has 61 and 1172 ms for "
        "6000 and 15 000 cities with the same launches (512 threads: 117 and 2216 ms, 256 threads: 230 "
        "and 4369 ms). " + published("000").tables["4.20"]["notes"][1]
    )
    chart = Chart("2-opt: one pass over all pairs", "cities", "ms", lines)
    return Section("Tables 4.19, 4.20 and B-1: one pass", words, rows, text, chart)
