"""2-opt: occupancy and partitions, which can be computed without a run.

Occupancy: a multiprocessor holds as many blocks as threads, registers and shared memory allow. Partitions: a
tour of r ranges has r (r + 1) / 2 pairs of ranges.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.reproduce.harness import Cell, Chart, Results, Section, Setting, published

DOCUMENT = "000"
OCCUPANCY = {"4.8": 500, "4.10": 1000, "4.11": 1500, "4.13": 2000}
TABLES = (*OCCUPANCY, "4.16", "4.17", "4.18", "4.19")
REGISTERS = 20
BYTES_A_CITY = 10  # two coordinates of 4 bytes, and a place in the tour
BYTES_A_BLOCK = 12
# A multiprocessor of an H100 or H200, of whose shared memory every block takes 1 KB for itself.
HOPPER = {"threads": 2048, "blocks": 32, "registers": 65536, "shared": 233472, "reserved": 1024}


def cells(setting: Setting) -> Iterator[Cell]:
    if setting.device == "cpu":
        yield from (Cell(table, {"cities": cities}) for table, cities in OCCUPANCY.items())
        yield Cell("partitions")


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    if cell.name == "partitions":
        return {"rows": [partitions(row["cities"], 3000) for row in published("000").rows("4.19")]}
    limits = published("000").facts["limits"]
    k600 = {name: limits[f"{key}_a_multiprocessor"] for name, key in KEYS.items()} | {"reserved": 0}
    shared = BYTES_A_CITY * cell.facts["cities"] + BYTES_A_BLOCK
    rows = []
    for block in (1024, 512, 256, 128):
        blocks = active_blocks(block, REGISTERS, shared, k600)
        ours = active_blocks(block, REGISTERS, shared, HOPPER)
        rows.append(
            [block, blocks, _percent(block, blocks, k600), ours, f"{_percent(block, ours, HOPPER)} %"]
        )
    return {"rows": rows}


KEYS = {"threads": "threads", "blocks": "blocks", "registers": "registers", "shared": "shared_bytes"}


def active_blocks(block: int, registers: int, shared: int, limits: dict[str, int]) -> int:
    """Return the blocks that a multiprocessor holds at once."""
    return min(
        limits["threads"] // block,
        limits["blocks"],
        limits["registers"] // (registers * block),
        limits["shared"] // (shared + limits["reserved"]),
    )


def partitions(cities: int, cities_a_range: int) -> list[int]:
    """Return cities, ranges, and pairs of ranges."""
    ranges = -(-cities // cities_a_range)
    return [cities, ranges, ranges * (ranges + 1) // 2]


def _percent(block: int, blocks: int, limits: dict[str, int]) -> int:
    return int(100 * block * blocks / limits["threads"] + 0.5)


def report(results: Results) -> list[Section]:
    rows: list[list[object]] = []
    blocks_of: list[int] = []
    for table, cities in OCCUPANCY.items():
        if computed := results.value(table, "cpu", "rows"):
            blocks_of, _, _, *_ = zip(*computed, strict=True)
            theirs = [f"{blocks}, {percent} %" for _, blocks, percent, *_ in computed]
            rows.append([cities, *theirs, *(f"{blocks}, {percent}" for *_, blocks, percent in computed)])
    sections = []
    if rows:
        words = ["cities", *(f"{chip}, {block}" for chip in ("K600", "H100") for block in blocks_of)]
        title = f"Tables {', '.join([*OCCUPANCY][:-1])} and {[*OCCUPANCY][-1]}: occupancy"
        text = "Active blocks of so many threads, and occupancy; the K600's are as published."
        sections.append(Section(title, words, rows, text))
        sections.append(_picture(results))
    result = results.get("partitions", "cpu")
    if result is not None:
        text = (
            "As published. Tables 4.16 to 4.18 draw the same division for 9000 cities and for an example of "
            "9."
        )
        words = ["cities", "ranges", "partitions"]
        sections.append(
            Section("Table 4.19: ranges of 3000 cities and their pairs", words, result["rows"], text)
        )
    return sections


def _picture(results: Results) -> Section:
    lines: dict[str, list[tuple[float, float]]] = {}
    for table, cities in OCCUPANCY.items():
        for block, _, percent, _, ours_ in results.value(table, "cpu", "rows") or ():
            lines.setdefault(f"{block} threads, K600", []).append((cities, percent))
            lines.setdefault(f"{block} threads, H100", []).append((cities, float(ours_.split()[0])))
    chart = Chart("Occupancy of a multiprocessor", "cities", "%", lines, log_x=False, log_y=False)
    return Section("Occupancy by number of cities", (), (), chart=chart)
