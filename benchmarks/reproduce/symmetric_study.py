"""Symmetrical 2-opt and annealing: block size at d2103, and time against quality at d493."""

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
    number,
    published,
    run,
)
from benchmarks.reproduce.instances import instance

DOCUMENT = "003"
TABLES = ("figure 17", "figure 18", "figure 19")
BLOCKS = (32, 64, 96, 128, 256, 384, 512)
SECONDS = (0.3, 0.5, 1.0, 2.0, 5.47, 10.0, 20.0)
REDUCED_SECONDS = 2.0


def cells(setting: Setting) -> Iterator[Cell]:
    for seconds in SECONDS:
        if setting.full or seconds <= REDUCED_SECONDS:
            yield Cell(f"d493, {seconds:g} s", {"seconds": seconds})
    if setting.device != "cpu":
        for block in (None, *BLOCKS):
            yield Cell(f"d2103, block {block}", {"block": block})


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    if "seconds" in cell.facts:
        problem = instance(setting.instances, "d493")
        seconds = cell.facts["seconds"]
        return run(problem, setting, method="symmetric-annealing", start="given", time_limit=seconds)
    problem = instance(setting.instances, "d2103")
    return run(
        problem, setting, method="symmetric-two-opt", start="given", params={"block": cell.facts["block"]}
    )


def blocks_of(cities: int, block: int) -> int:
    """Return the document's number of blocks: half of the cities have a thread each."""
    return cities // (2 * block)


def report(results: Results) -> list[Section]:
    blocks = [(block, blocks_of(2103, block)) for block in (2**power for power in range(3, 10))]
    blocks.append((35, blocks_of(2103, 35)))
    chart = Chart(
        "Blocks of the document's launch, d2103", "threads a block", "blocks", {"d2103": sorted(blocks)}
    )
    text = f"{published('003').notes('figure 17')} Each holds a part of the tour; here each has a copy."
    sections = [Section("Figure 17: number of blocks, d2103", (), (), text, chart)]
    points: list[tuple[float, float]] = []
    rows: list[list[object]] = []
    for block in (*BLOCKS, None):
        result = results.get(f"d2103, block {block}", "cuda")
        if result is not None:
            seconds = result.get("kernel_seconds", result["seconds"])
            rows.append(
                [block or "planned", number(seconds), number(result["seconds"]), number(result["error"])]
            )
            points += [(block, seconds)] if block else []
    chart = Chart("Symmetrical 2-opt, d2103, GPU", "threads a block", "s", {"d2103": points})
    words = ["threads a block", "s, kernels", "s in all", "error, %"]
    text = published("003").notes("figure 18")
    sections.append(Section("Figure 18: block size, d2103", words, rows, text, chart))
    names = {seconds: f"d493, {seconds:g} s" for seconds in SECONDS}
    lines = {"published": [(5.47, 4.3)], **results.lines(names.items(), "error")}
    rows = []
    for seconds, name in names.items():
        errors = [results.value(name, device, "error") for device in results.devices()]
        rows.append([f"{seconds:g}", *map(number, errors)])
    chart = Chart("Symmetrical annealing, d493", "s", "error, %", lines, log_y=False)
    words = ["time limit, s", *(f"error, %, {DEVICES[device]}" for device in results.devices())]
    sections.append(
        Section("Figure 19: cooling, d493", words, rows, published("003").notes("figure 19"), chart)
    )
    return sections
