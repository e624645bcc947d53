"""Best-improvement swaps: versions and 10 000 cities.

Each of the eight versions of the document mends what a profile of the one before showed: threads, the order
of moves, the reduction. Ours begins where the eighth ends, with a mapping in whole numbers; what can still be
varied is the launch, so the launches of versions 1 and 2 stand beside the planned one.
"""

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
    kernel_ms,
    number,
    published,
    rate,
    run,
)
from benchmarks.reproduce.instances import random_cities

DOCUMENT = "001"
TABLES = ("section 5", "table 1", "figure 10", "10 000 cities")
LAUNCHES = {
    "as version 1": {"block": 128, "grid": 64},
    "as version 2": {"block": 192, "grid": 105},
    "planned": {},
}
LADDER = {1000: 2500, 2000: 5000}
LARGE, LARGE_PASSES, REDUCED_PASSES = 10_000, 500, 20


def cells(setting: Setting) -> Iterator[Cell]:
    yield Cell("descent 1000", {"cities": 1000, "params": {}})
    # On the CPU a twentieth of the iterations, and the time multiplied: all passes cost the same.
    passes = LARGE_PASSES if setting.full or setting.device != "cpu" else REDUCED_PASSES
    yield Cell(f"{LARGE} cities", {"cities": LARGE, "params": {"passes": passes}})
    for cities, iterations in LADDER.items():
        for name, launch in LAUNCHES.items():
            if setting.device != "cpu" or not launch:
                yield Cell(f"{cities} {name}", {"cities": cities, "params": {**launch, "passes": iterations}})


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    problem = random_cities(cell.facts["cities"], "EXACT_2D")
    return run(problem, setting, method="swap", start="given", params=cell.facts["params"])


def report(results: Results) -> list[Section]:
    theirs = {row["device"]: row["seconds"] for row in published("001").rows("section 5")}
    large = published("001").rows("10 000 cities")[0]
    profile = {row["kernel"]: row for row in published("001").rows("table 1")}
    both = (profile["evaluation"]["us"] + profile["application"]["us"]) / 1e3

    def per_500(result: dict[str, Any]) -> float:
        return float(LARGE_PASSES * kernel_ms(result) / 1e3)

    rows = [
        [
            "descent, 1000 cities, s; published on the CPU",
            *beside(theirs["cpu"], results, "descent 1000", "seconds"),
        ],
        ["the same; published on the GPU", *beside(theirs["gpu"], results, "descent 1000", "seconds")],
        [
            "a pass, 1000 cities, ms (evaluation and application)",
            *beside(both, results, "descent 1000", kernel_ms),
        ],
        ["500 passes, 10 000 cities, s", *beside(large["seconds"], results, f"{LARGE} cities", per_500)],
        ["10^9 moves/s, 10 000 cities", *beside(None, results, f"{LARGE} cities", rate, "more")],
    ]
    text = " ".join(published("001").notes(name) for name in ("section 5", "10 000 cities"))
    sections = [Section("Descent at 1000 cities, 10 000 cities", ["", *header("", results)], rows, text)]
    ladder: list[list[object]] = []
    for cities in LADDER:
        for name in LAUNCHES:
            line: list[object] = [f"{cities} {name}"]
            for device in results.devices():
                line += [number(results.value(f"{cities} {name}", device, of)) for of in (kernel_ms, rate)]
            ladder.append(line)
    words = [
        "cities and launch",
        *(
            f"{what}, {DEVICES[device]}"
            for device in results.devices()
            for what in ("ms a pass", "10^9 moves/s")
        ),
    ]
    text = (
        "The versions of the document: "
        + "; ".join(f"{row['version']} {row['change']}" for row in published("001").rows("figure 10"))
        + ". "
        + published("001").notes("figure 10")
    )
    lines = {
        "published": [(1000.0, both), (float(LARGE), 1e3 * large["seconds"] / LARGE_PASSES)],
    }
    for name in LAUNCHES:
        measured = [(float(cities), f"{cities} {name}") for cities in LADDER]
        measured += [(float(LARGE), f"{LARGE} cities")] if name == "planned" else []
        lines |= {f"{name}, {key}": line for key, line in results.lines(measured, kernel_ms).items()}
    chart = Chart("Swaps: one pass", "cities", "ms", lines)
    return [*sections, Section("Figure 10: launches", words, ladder, text, chart)]
