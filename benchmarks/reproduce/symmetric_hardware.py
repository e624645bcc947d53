"""Document 003, table 2 of section 5.4: iterations and clock cycles of the order of the hardware."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.reproduce.harness import (
    Cell,
    Results,
    Section,
    Setting,
    beside,
    header,
    instance,
    published,
    run,
    run_alone,
)

NAME = "symmetric_hardware"
DOCUMENT = "003"
TITLE = "Symmetrical 2-opt in the order of the hardware (table 2)"
TABLES = ("5.4 table 2",)


def cells(setting: Setting) -> Iterator[Cell]:
    for row in published("003").rows("5.4 table 2"):
        yield Cell(row["instance"], {"instance": row["instance"]})


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    problem = instance(setting.instances, cell.facts["instance"])
    return run(problem, setting, method="symmetric-two-opt", start="given", params={"order": "hardware"})


def report(results: Results) -> list[Section]:
    rows = []
    for row in published("003").rows("5.4 table 2"):
        name = row["instance"]
        rows.append(
            [
                name,
                *beside(row["iterations"], results, name, lambda result: result["iterations"]),
                *beside(row["cycles"], results, name, lambda result: result["clock_cycles"]),
                *beside(row["us"] / 1e6, results, name, lambda result: result["seconds"]),
                *beside(None, results, name, lambda result: result["error"], "none")[1:],
            ]
        )
    words = [
        "instance",
        *header("iterations", results),
        *header("cycles", results),
        *header("s", results),
        *header("error, %", results, ratios=False)[1:],
    ]
    text = "The seconds published are those of the FPGA, 35 cycles of 150 MHz an iteration."
    return [Section("Table 2: iterations to the local optimum", words, rows, text)]


run_alone(__name__)
