"""Random-restart 2-opt: error of the best climber on the 63 smallest TSPLIB instances."""

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

DOCUMENT = "002"
TABLES = ("figure 7",)
INSTANCES = 63
CLIMBERS = {True: 100_000, False: 100}  # full, reduced
RANGES = ((0, 50), (51, 100), (101, 150), (151, 200), (201, 300), (301, 500))


def cells(setting: Setting) -> Iterator[Cell]:
    climbers = CLIMBERS[setting.full]
    for name, cities in known_instances()[:INSTANCES]:
        yield Cell(f"{name}, {climbers} climbers", {"instance": name, "cities": cities, "climbers": climbers})


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    problem = instance(setting.instances, cell.facts["instance"])
    return run(problem, setting, method="hill-climbing", params={"climbers": cell.facts["climbers"]})


def report(results: Results) -> list[Section]:
    sections = []
    for device in results.devices():
        for climbers in CLIMBERS.values():
            found = [
                (cities, name, result)
                for name, cities in known_instances()[:INSTANCES]
                if (result := results.get(f"{name}, {climbers} climbers", device)) is not None
            ]
            if found:
                sections.append(_section(found, climbers, DEVICES[device]))
    return sections


def _section(found: list[tuple[int, str, dict[str, Any]]], climbers: int, device: str) -> Section:
    rows: list[list[object]] = []
    for least, most in RANGES:
        inside = [result for cities, _, result in found if least <= cities <= most]
        if inside:
            errors = [result["error"] for result in inside]
            rows.append(
                [
                    f"{least} to {most}",
                    len(inside),
                    number(statistics.mean(errors)),
                    number(max(errors)),
                    sum(error <= 0 for error in errors),
                    number(sum(result["seconds"] for result in inside)),
                ]
            )
    words = ["cities", "instances", "mean error, %", "largest error, %", "optimal", "s in all"]
    points = [(float(cities), float(result["error"])) for cities, _, result in found]
    chart = Chart(f"{climbers} climbers, {device}", "cities", "error, %", {"instances": points}, log_y=False)
    text = f"{len(found)} of {INSTANCES} instances. " + published("002").notes("figure 7")
    return Section(f"Figure 7: {climbers} climbers, {device}", words, rows, text, chart)
