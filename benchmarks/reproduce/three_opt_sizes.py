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
    number,
    published,
    run,
)
from benchmarks.reproduce.instances import random_cities

DOCUMENT = "000"
TABLES = ("B-2",)
REDUCED_CPU = 400
DESCENTS = {"2-opt": "given", "2-opt nn": "nearest-neighbor"}  # beside 3-opt from the identity


def cells(setting: Setting) -> Iterator[Cell]:
    for row in published("000").rows("B-2"):
        cities = row["cities"]
        if setting.full or setting.device != "cpu" or cities <= REDUCED_CPU:
            yield Cell(str(cities), {"cities": cities})
        if setting.device == "cpu":
            yield from (
                Cell(f"{cities} {name}", {"cities": cities, "start": start})
                for name, start in DESCENTS.items()
            )


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    start = cell.facts.get("start")
    method = "three-opt" if start is None else "two-opt"
    return run(random_cities(cell.facts["cities"]), setting, method=method, start=start or "given")


def report(results: Results) -> list[Section]:
    theirs = published("000").rows("B-2")
    rows = []
    for row in theirs:
        name = str(row["cities"])
        rows.append(
            [
                row["cities"],
                *beside(row["kernel_ms"], results, name, kernel_ms),
                row["passes"],
                number(results.first(name, "passes")),
                row["length"],
                number(results.first(name, "length")),
                *beside(row["total_ms"] / 1e3, results, name, "seconds"),
            ]
        )
    words = [
        "cities",
        *header("ms a pass", results),
        "passes, published",
        "measured",
        "length, published",
        "of our cities",
        *header("s in all", results),
    ]
    lines = {"published": [(row["cities"], row["total_ms"] / 1e3) for row in theirs]}
    lines |= results.lines(((row["cities"], str(row["cities"])) for row in theirs), "seconds")
    chart = Chart("3-opt from the identity to the local optimum", "cities", "s", lines)
    return [Section("Table B-2: descents", words, rows, chart=chart), _lengths(results)]


def _lengths(results: Results) -> Section:
    """What 3-opt, and another start, take off the length of 2-opt from the identity."""
    by_2_opt = {row["cities"]: row for row in published("000").rows("4.21")}
    rows: list[list[object]] = []
    for row in published("000").rows("B-2"):
        cities = row["cities"]
        if (theirs := by_2_opt.get(cities)) is None:  # nothing to compare with
            continue
        names = (f"{cities} 2-opt", f"{cities} 2-opt nn", str(cities))
        ours, nearest, three = (results.value(name, "cpu", "length") for name in names)
        rows.append(
            [
                cities,
                number(ours),
                _less(theirs["nn_length"], theirs["naive_length"]),
                _less(nearest, ours),
                _less(row["length"], theirs["naive_length"]),
                _less(three, ours),
            ]
        )
    words = ["cities", "length of 2-opt from the identity"]
    for what in ("2-opt from the nearest-neighbour tour", "3-opt from the identity"):
        words += [f"{what}: %, published", "measured"]
    text = "In percent of the length that 2-opt ends with from the identity; below 0 is shorter."
    return Section("Lengths: what 3-opt or another start is worth", words, rows, text)


def _less(length: float | None, than: float | None) -> str:
    return "-" if length is None or than is None else f"{100 * (length / than - 1):+.1f}"
