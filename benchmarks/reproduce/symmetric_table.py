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
    number,
    published,
    ratio,
    run,
)
from benchmarks.reproduce.instances import instance, unrounded

DOCUMENT = "003"
TABLES = ("6.4.3 table 1",)
TABLE = "6.4.3 table 1"
DESCENT, ROUNDED = "descent", "descent, rounded"
FASTER = 50  # times that we want to be, with an error below that which the document's schedules aim at
BELOW = 5.0
SHORTEST, ONE_CHAIN = "shortest schedule", "shortest schedule, one chain"
# Rotations a city of the schedules that are tried: 1, 2, 3, 4, 6, 8, 12, ...
ROTATIONS = (1, *(part * 2**k for k in range(12) for part in (2, 3)))
MIN_SECONDS = 0.3  # what a call takes in any case
MAX_SECONDS = {True: 1000.0, False: 6.0}


def cells(setting: Setting) -> Iterator[Cell]:
    for rounded in (False, True):
        for row in published("003").rows(TABLE):
            name = f"{row['instance']} {ROUNDED if rounded else DESCENT}"
            yield Cell(name, {"instance": row["instance"], "rounded": rounded})
    for share in (FASTER, 1):
        for row in published("003").rows(TABLE):
            seconds = annealing_seconds(row, share)
            if seconds <= MAX_SECONDS[setting.full]:
                facts = {"instance": row["instance"], "seconds": seconds}
                yield Cell(f"{row['instance']} annealing {share}", facts)
    if setting.device != "cpu":
        for row in published("003").rows(TABLE):
            for what, chains in ((SHORTEST, None), (ONE_CHAIN, 1)):
                yield Cell(f"{row['instance']} {what}", {"instance": row["instance"], "chains": chains})


def annealing_seconds(row: dict[str, Any], share: int) -> float:
    """Return the time limit: the published time on the GPU divided, but not less than a call takes."""
    return max(MIN_SECONDS, float(row["annealing_gpu_ms"]) / 1e3 / share)


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    problem = instance(setting.instances, cell.facts["instance"])
    if "chains" in cell.facts:
        for rotations in ROTATIONS:
            params = {"rotations": rotations * problem.n, "chains": cell.facts["chains"]}
            found = run(problem, setting, method="symmetric-annealing", start="given", params=params)
            if found["error"] < BELOW:
                break
        return {**found, "rotations_a_city": rotations}
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
        # Every device ends at the same tour.
        line += beside(row["error"], results, name, "error", "none")[:2]
        line += beside(None, results, f"{row['instance']} {ROUNDED}", "error", "none")[1:2]
        for device in results.devices():
            published_ms = row[f"{DEVICES[device].lower()}_ms"]
            line += compared(published_ms / 1e3, results.value(name, device, "seconds"))
        concorde = row["concorde_ms"] / 1e3
        line.append(number(concorde))
        line += [ratio(concorde, results.value(name, device, "seconds")) for device in results.devices()]
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
    words = ["instance", "Concorde 2-opt error, %", "error, %, published", "error, %", "rounded distances"]
    for device in results.devices():
        words += compared_header(f"{DEVICES[device]} s")
    words += ["Concorde 2-opt s, published", *(f"over {DEVICES[device]}" for device in results.devices())]
    chart = Chart("Symmetrical 2-opt to the local optimum", "cities", "s", lines)
    text = (
        "Errors are in TSPLIB's rounded distances. Descents go by distances that are not rounded, as the "
        "document's seem to; beside their errors are those of descents by rounded ones. Figures of Concorde "
        "are the document's, means of 1000 runs on its Pentium; the last columns divide its times by those "
        "of our calls."
    )
    descents = Section("Without annealing", words, rows, text, chart)
    return [descents, _shortest(results), _annealing(results), _quotients(results)]


def _quotients(results: Results) -> Section:
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in published("003").rows(TABLE):
        name, cities = row["instance"], int("".join(filter(str.isdigit, row["instance"])))
        cpu, gpu = (results.value(f"{name} {DESCENT}", device, "seconds") for device in ("cpu", "cuda"))
        annealing = results.value(f"{name} {SHORTEST}", "cuda", "seconds")
        for what, quotient in {
            "CPU over GPU, published": row["cpu_ms"] / row["gpu_ms"],
            "CPU over GPU": cpu and gpu and cpu / gpu,
            "with annealing over without, published": row["annealing_gpu_ms"] / row["gpu_ms"],
            "with annealing over without": annealing and gpu and annealing / gpu,
        }.items():
            if quotient:
                lines.setdefault(what, []).append((cities, quotient))
    text = (
        "Of whole calls, on the CPU with one thread, with the shortest schedule below 5 %; for few cities a "
        "call on a GPU is mostly set-up."
    )
    chart = Chart("Quotients of times", "cities", "times", lines)
    return Section("Figures 20 and 21: quotients of times", (), (), text, chart)


def _shortest(results: Results) -> Section:
    rows = []
    for row in published("003").rows(TABLE):
        line: list[object] = [row["instance"], number(row["annealing_error"])]
        line.append(number(row["annealing_gpu_ms"] / 1e3))
        for what in (SHORTEST, ONE_CHAIN):
            found = results.get(f"{row['instance']} {what}", "cuda")
            line += [number(found and found[key]) for key in ("error", "rotations_a_city", "seconds")]
            line += compared(row["annealing_gpu_ms"] / 1e3, found and found["kernel_seconds"])[1:]
        rows.append(line)
    words = ["instance", "error, %, published", "GPU s, published"]
    for chains in ("all chains", "one chain"):
        words += [f"error, %, {chains}", "rotations a city", "s in all", "s, kernels", "ratio"]
    text = (
        f"The fewest of {', '.join(map(str, ROTATIONS[:6]))}, ... rotations a city that end below {BELOW:g} "
        "%, with as many chains as the GPU has by default, and with one, as the document has it. Ratios are "
        "of the kernels; a call takes some milliseconds more."
    )
    return Section("With annealing, just below 5 %", words, rows, text)


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
    text = f"The schedule is fitted to a time limit, which is at least {MIN_SECONDS:g} s."
    return Section("With annealing, for a given time", words, rows, text)
