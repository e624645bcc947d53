"""Symmetrical moves against random ones, an array of fixed size, and symmetrical 3-opt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.reproduce.harness import (
    DEVICES,
    Cell,
    Results,
    Section,
    Setting,
    number,
    published,
    run,
)
from benchmarks.reproduce.instances import instance, unrounded

DOCUMENT = "003"
TABLES = ("figure 6",)
SYMMETRIC, RANDOM, ARRAY, THREE = "symmetric", "random", "50 elements", "3-opt"
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    SYMMETRIC: ("symmetric-two-opt", {"order": "hardware"}),
    RANDOM: ("symmetric-two-opt", {"order": "random"}),
    ARRAY: ("symmetric-two-opt", {"order": "hardware", "elements": 50}),
    THREE: ("symmetric-three-opt", {}),
}


def instances() -> list[str]:
    """Return the names of those that the document's tables have."""
    names = [
        row["instance"] for table in ("5.4 table 2", "6.4.3 table 1") for row in published("003").rows(table)
    ]
    return sorted(set(names), key=lambda name: int("".join(filter(str.isdigit, name))))


def cells(setting: Setting) -> Iterator[Cell]:
    for what in METHODS:
        for name in instances():
            yield Cell(f"{name} {what}", {"instance": name, "what": what})


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    problem = instance(setting.instances, cell.facts["instance"])
    method, params = METHODS[cell.facts["what"]]
    return run(unrounded(problem), setting, method=method, start="given", params=params, judge=problem)


def report(results: Results) -> list[Section]:
    rows = []
    devices = results.devices()
    for name in instances():
        # Tours are the same on both devices.
        found = {
            what: next((r for device in devices if (r := results.get(f"{name} {what}", device))), None)
            for what in METHODS
        }
        line: list[object] = [name]
        line += [number(r and r["error"]) for r in found.values()]
        line += [number(r and r["evaluations"]) for what, r in found.items() if what != THREE]
        line += [
            number(results.value(f"{name} {what}", device, "seconds"))
            for device in devices
            for what in METHODS
        ]
        rows.append(line)
    words = ["instance", *(f"error, %, {what}" for what in METHODS)]
    words += [f"evaluations, {what}" for what in METHODS if what != THREE]
    words += [f"s, {what}, {DEVICES[device]}" for device in devices for what in METHODS]
    text = (
        f"{published('003').notes('figure 6')} Symmetric moves are in the order of the hardware; random ones "
        "end after as many failures in a row as the square of the number of cities, which are counted. 50 "
        "elements are the array of figure 5. 3-opt is the document's future work as we read it. Distances "
        "are not rounded."
    )
    text += _compared(results)
    return [Section("Figure 6: symmetric and random moves", words, rows, text)]


def _compared(results: Results) -> str:
    """Return what the cells say about the document's two statements."""
    pairs = [
        tuple(results.get(f"{name} {what}", device) for what in (SYMMETRIC, RANDOM))
        for name in instances()
        for device in results.devices()[:1]
    ]
    found = [(one, other) for one, other in pairs if one and other]
    if not found:
        return ""
    shorter = 100 * (1 - sum((100 + a["error"]) / (100 + b["error"]) for a, b in found) / len(found))
    slower = sum(a["evaluations"] > b["evaluations"] for a, b in found)
    return (
        f" Here tours of symmetric moves are {shorter:.2f} % shorter on average of {len(found)} instances, "
        f"and take more evaluations at {slower} of them."
    )
