"""2-opt from the identity and from a nearest-neighbour tour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.reproduce.harness import (
    DEVICES,
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


def _spread(shares: Iterable[float], digits: int = 0) -> str:
    """Return the least and the largest of some shares in per cent, as words."""
    found = [100 * share for share in shares]
    return f"{min(found):.{digits}f} to {max(found):.{digits}f} %"


def _words(results: Results, device: str) -> str:
    """Return what the table shows of the start tours."""
    theirs = published("000").rows("4.21")
    text = (
        "The nearest-neighbour tours of the document are "
        f"{_spread(row['nn_initial'] / row['naive_initial'] for row in theirs)} as long as the naive ones"
    )
    ours = []
    for row in theirs:
        lengths = [results.value(f"{row['cities']} {start}", device, "start_length") for start in STARTS]
        if all(lengths):
            ours.append(lengths[1] / lengths[0])
    if ours:
        text += f", and ours {_spread(ours, 1)}"
    return f"{text}: they are not what is usually called so. {published('000').notes('4.21')}"


def report(results: Results) -> list[Section]:
    theirs = published("000").rows("4.21")
    sections = []
    for device in results.devices():
        rows = []
        for row in theirs:
            line = [row["cities"]]
            for start in STARTS:
                result = results.get(f"{row['cities']} {start}", device) or {}
                line += [row[f"{start}_passes"], number(result.get("passes"))]
                line += compared(row[f"{start}_ms"] / 1e3, result.get("seconds"))
            naive, nearest = (
                results.value(f"{row['cities']} {start}", device, "start_length") for start in STARTS
            )
            line += [number(row["nn_initial"] / row["naive_initial"])]
            line += [number(nearest / naive if nearest and naive else None)]
            rows.append(line)
        words = ["cities"]
        for start in WORDS.values():
            words += [f"passes, {start}, published", "measured", *compared_header(f"s, {start}")]
        words += ["start lengths, second over first, published", "measured"]
        title = f"Table 4.21 on the {DEVICES[device]}"
        lines: dict[str, list[tuple[float, float]]] = {}
        for start, name in WORDS.items():
            lines[f"{name}, published"] = [(row["cities"], row[f"{start}_ms"] / 1e3) for row in theirs]
            ours = results.lines(((row["cities"], f"{row['cities']} {start}") for row in theirs), "seconds")
            lines[f"{name}, {DEVICES[device]}"] = ours.get(DEVICES[device], [])
        chart = Chart("2-opt by start tour", "cities", "s", lines)
        sections.append(Section(title, words, rows, _words(results, device), chart))
    return sections
