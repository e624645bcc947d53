"""Symmetrical 2-opt without and with annealing: 13 instances from their own order."""

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
    number,
    published,
    run,
)
from benchmarks.reproduce.instances import instance, unrounded

DOCUMENT = "003"
TABLES = ("6.4.3 table 1",)
TABLE = "6.4.3 table 1"
DESCENT, ROUNDED = "descent", "descent, rounded"
FASTER = 50  # the bar: an error below 5 % in a fiftieth of the published time
LEAST_SECONDS = 0.3  # what a call takes in any case
MOST_SECONDS = {True: 1000.0, False: 6.0}


def cells(setting: Setting) -> Iterator[Cell]:
    for rounded in (False, True):
        for row in published("003").rows(TABLE):
            name = f"{row['instance']} {ROUNDED if rounded else DESCENT}"
            yield Cell(name, {"instance": row["instance"], "rounded": rounded})
    for share in (FASTER, 1):
        for row in published("003").rows(TABLE):
            seconds = annealing_seconds(row, share)
            if seconds <= MOST_SECONDS[setting.full]:
                facts = {"instance": row["instance"], "seconds": seconds}
                yield Cell(f"{row['instance']} annealing {share}", facts)


def annealing_seconds(row: dict[str, Any], share: int) -> float:
    """Return the time limit: the published time on the GPU divided, but not less than a call takes."""
    return max(LEAST_SECONDS, float(row["annealing_gpu_ms"]) / 1e3 / share)


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    problem = instance(setting.instances, cell.facts["instance"])
    if "seconds" not in cell.facts:
        searched = problem if cell.facts["rounded"] else unrounded(problem)
        return run(searched, setting, method="symmetric-two-opt", start="given", judge=problem)
    seconds = cell.facts["seconds"]
    return run(problem, setting, method="symmetric-annealing", start="given", time_limit=seconds)


def report(results: Results) -> list[Section]:
    theirs = published("003").rows(TABLE)
    rows = []
    for row in theirs:
        name = f"{row['instance']} {DESCENT}"
        line: list[object] = [row["instance"], number(row["concorde_error"])]
        line += beside(row["error"], results, name, "error", "none")
        line += beside(None, results, f"{row['instance']} {ROUNDED}", "error", "none")[1:]
        for device in results.devices():
            published_ms = row[f"{DEVICES[device].lower()}_ms"]
            line += compared(published_ms / 1e3, results.value(name, device, "seconds"))
        rows.append(line)
    cities = [int("".join(filter(str.isdigit, row["instance"]))) for row in theirs]
    lines = {
        f"published, {key}": [
            (n, row[f"{key.lower()}_ms"] / 1e3) for n, row in zip(cities, theirs, strict=True)
        ]
        for key in DEVICES.values()
    }
    names = [f"{row['instance']} {DESCENT}" for row in theirs]
    lines |= results.lines(zip(cities, names, strict=True), "seconds")
    words = ["instance", "Concorde 2-opt error, %", *header("error, %", results, ratios=False)]
    words += [f"rounded distances, {DEVICES[device]}" for device in results.devices()]
    for device in results.devices():
        words += compared_header(f"{DEVICES[device]} s")
    chart = Chart("Symmetrical 2-opt to the local optimum", "cities", "s", lines)
    text = (
        "Errors are those of the tours in TSPLIB's rounded distances. The descents go by distances that are "
        "not rounded, as the document's seem to; beside them is the error of those that go by rounded ones."
    )
    descents = Section("Without annealing", words, rows, text, chart)
    return [descents, _annealing(results)]


def _annealing(results: Results) -> Section:
    rows = []
    for row in published("003").rows(TABLE):
        theirs = row["annealing_gpu_ms"] / 1e3
        line: list[object] = [row["instance"], number(row["annealing_error"]), number(theirs)]
        for device in results.devices():
            for share in (FASTER, 1):
                name = f"{row['instance']} annealing {share}"
                line.append(number(results.value(name, device, "error")))
                line.append(number(results.value(name, device, "seconds")))
        rows.append(line)
    words = ["instance", "error, %, published", "s, published, GPU"]
    for device in results.devices():
        for what in ("a fiftieth of the time", "the same time"):
            words += [f"{DEVICES[device]}, {what}: error, %", "s"]
    text = (
        "The time is given as the limit, and the schedule is fitted to it; no run has less than "
        f"{LEAST_SECONDS:g} s."
    )
    return Section("With annealing", words, rows, text)
