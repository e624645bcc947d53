"""2-opt from the identity and from a nearest-neighbour tour."""

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
    number,
    published,
    run,
)
from benchmarks.reproduce.instances import random_cities

DOCUMENT = "000"
TABLES = ("4.21",)
STARTS = {"naive": "given", "nn": "nearest-neighbor"}
WORDS = {"naive": "identity", "nn": "nearest neighbour"}
REDUCED_CPU = 2500


def cells(setting: Setting) -> Iterator[Cell]:
    for row in published("000").rows("4.21"):
        cities = row["cities"]
        if setting.full or setting.device != "cpu" or cities <= REDUCED_CPU:
            yield from (Cell(f"{cities} {start}", {"cities": cities, "start": start}) for start in STARTS)


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    problem = random_cities(cell.facts["cities"])
    return run(problem, setting, method="two-opt", start=STARTS[cell.facts["start"]])


def _start_lengths(results: Results, cities: int) -> list[float | None]:
    """Return the length of the nearest-neighbour tour over that of the identity: published, and ours."""
    return _lengths(results, cities, "initial", "start_length")


def _lengths(
    results: Results, cities: int, theirs: str = "length", ours: str = "length"
) -> list[float | None]:
    """Return a length from the nearest-neighbour tour over that from the identity: published, and ours."""
    (row,) = (row for row in published("000").rows("4.21") if row["cities"] == cities)
    naive, nearest = (results.first(f"{cities} {start}", ours) for start in STARTS)
    return [row[f"nn_{theirs}"] / row[f"naive_{theirs}"], nearest / naive if nearest and naive else None]


def report(results: Results) -> list[Section]:
    theirs = published("000").rows("4.21")
    passes, seconds = [], []
    for row in theirs:
        cities = row["cities"]
        starts = [f"{cities} {start}" for start in STARTS]
        line: list[object] = [cities]
        times: list[object] = [cities]
        for start, name in zip(STARTS, starts, strict=True):
            line += [row[f"{start}_passes"], number(results.first(name, "passes"))]
            times += beside(row[f"{start}_ms"] / 1e3, results, name, "seconds")
        lengths = [number(value, 3) for value in _lengths(results, cities)]
        passes.append([*line, *map(number, _start_lengths(results, cities)), *lengths])
        seconds.append(times)
    words, of_times = ["cities"], ["cities"]
    for start in WORDS.values():
        words += [f"passes, {start}, published", "measured"]
        of_times += header(f"s, {start}", results)
    for what in ("start", "final"):
        words += [f"{what} lengths, second over first, published", "measured"]
    lines: dict[str, list[tuple[float, float]]] = {}
    for start, name in WORDS.items():
        lines[f"{name}, published"] = [(row["cities"], row[f"{start}_ms"] / 1e3) for row in theirs]
        ours = results.lines(((row["cities"], f"{row['cities']} {start}") for row in theirs), "seconds")
        lines |= {f"{name}, {device}": points for device, points in ours.items()}
    chart = Chart("2-opt by start tour", "cities", "s", lines)
    return [
        Section(
            "Table 4.21: passes, the same on every device", words, passes, published("000").notes("4.21")
        ),
        Section("Table 4.21: seconds", of_times, seconds, chart=chart),
    ]
