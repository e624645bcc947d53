"""Symmetrical 2-opt in the order of the hardware: iterations, of 35 clock cycles each."""

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
    header,
    number,
    published,
    ratio,
    run,
)
from benchmarks.reproduce.instances import instance, unrounded

DOCUMENT = "003"
TABLES = ("5.4 table 2",)
COARSE = 0.02  # a least gain that gives one more of the published numbers


def cells(setting: Setting) -> Iterator[Cell]:
    for gain in (0.0, COARSE):
        for row in published("003").rows("5.4 table 2"):
            yield Cell(cell_name(row["instance"], gain), {"instance": row["instance"], "gain": gain})


def cell_name(instance: str, gain: float) -> str:
    """Return the name of a cell; gains up to this are left alone."""
    return f"{instance}, gains above {gain:g}" if gain else instance


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    problem = instance(setting.instances, cell.facts["instance"])
    params = {"order": "hardware", "least_gain": cell.facts["gain"]}
    method = "symmetric-two-opt"
    return run(unrounded(problem), setting, method=method, start="given", params=params, judge=problem)


def report(results: Results) -> list[Section]:
    theirs = published("003").rows("5.4 table 2")
    rows = []
    for row in theirs:
        name = row["instance"]
        rows.append(
            [
                name,
                row["iterations"],
                *(number(results.first(cell_name(name, least), "iterations")) for least in (0.0, COARSE)),
                *beside(row["us"] / 1e6, results, name, "seconds"),
                number(row["concorde_us"] / 1e6),
                number(row["speedup"]),
                *(
                    ratio(row["concorde_us"] / 1e6, results.value(name, device, "seconds"))
                    for device in results.devices()
                ),
            ]
        )
    words = [
        "instance",
        "iterations, published",
        "measured",
        f"gains above {COARSE:g}",
        *header("s", results),
        "Concorde 2-opt s, published",
        "over FPGA, published",
        *(f"over {DEVICES[device]}" for device in results.devices()),
    ]
    text = (
        "Distances are not rounded; CPU and GPU make the same iterations, each of 35 clock cycles on the "
        "FPGA at 150 MHz, whose seconds are published. Concorde's times are the document's; the last "
        "columns divide them by the others."
    )
    cities = [int("".join(filter(str.isdigit, row["instance"]))) for row in theirs]
    names = [row["instance"] for row in theirs]
    lines = {"published": [(n, row["iterations"]) for n, row in zip(cities, theirs, strict=True)]}
    lines |= results.lines(zip(cities, names, strict=True), "iterations")
    chart = Chart("Iterations in the order of the hardware", "cities", "iterations", lines)
    return [Section("Table 2: iterations to the local optimum", words, rows, text, chart)]
