"""Document 003, table 1 of section 6.4.3: 13 instances from their own order, without and with annealing."""

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
    instance,
    number,
    published,
    run,
    run_alone,
)
from benchmarks.reproduce.instances import unrounded

NAME = "symmetric_table"
DOCUMENT = "003"
TITLE = "Symmetrical 2-opt without and with annealing (table 1)"
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
    rows = []
    lines: dict[str, list[tuple[float, float]]] = {"published, GPU": [], "published, CPU": []}
    for row in published("003").rows(TABLE):
        name = f"{row['instance']} {DESCENT}"
        line: list[object] = [row["instance"], number(row["concorde_error"])]
        line += beside(row["error"], results, name, _error, "none")
        line += beside(None, results, f"{row['instance']} {ROUNDED}", _error, "none")[1:]
        for device in results.devices():
            key = "cpu_ms" if device == "cpu" else "gpu_ms"
            only = Results([r for r in results.rows if r["device"] == device])
            line += beside(row[key] / 1e3, only, name, _seconds)
        rows.append(line)
        cities = int("".join(filter(str.isdigit, row["instance"])))
        for key in ("gpu_ms", "cpu_ms"):
            lines[f"published, {key[:3].upper()}"].append((cities, row[key] / 1e3))
        for device in results.devices():
            value = results.value(name, device, _seconds)
            if value is not None:
                lines.setdefault(DEVICES[device], []).append((cities, value))
    words = ["instance", "Concorde 2-opt error, %", *header("error, %", results, ratios=False)]
    words += [f"rounded distances, {DEVICES[device]}" for device in results.devices()]
    for device in results.devices():
        words += [f"{DEVICES[device]} s, published", "measured", "ratio"]
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
                line.append(number(results.value(name, device, _error)))
                line.append(number(results.value(name, device, _seconds)))
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


def _error(result: dict[str, Any]) -> float:
    return float(result["error"])


def _seconds(result: dict[str, Any]) -> float:
    return float(result["seconds"])


run_alone(__name__)
