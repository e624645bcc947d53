"""Symmetrical moves against random ones and the hardware, an array of fixed size, and symmetrical 3-opt."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

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
from benchmarks.reproduce.instances import instance, known_instances, unrounded

if TYPE_CHECKING:
    from warptsp.papers.symmetric.cpu import Order
    from warptsp.problem import Problem

DOCUMENT = "003"
TABLES = ("figure 6", "figure 7")
SYMMETRIC, RANDOM, ARRAY, THREE = "symmetric", "random", "50 elements", "3-opt"
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    SYMMETRIC: ("symmetric-two-opt", {"order": "hardware"}),
    RANDOM: ("symmetric-two-opt", {"order": "random"}),
    ARRAY: ("symmetric-two-opt", {"order": "hardware", "elements": 50}),
    THREE: ("symmetric-three-opt", {}),
}
MOST_CITIES = 4500  # "from 50 to around 4500 cities"
NEAR = 1.05  # times the length of the local optimum
SEEDS = range(1, 6)  # of random moves; the first is that of the table
DRAWN = ("pr1002", "rl1304")  # symmetric moves end with fewer evaluations, and with more
POINTS = 40  # of a curve


def instances() -> dict[str, int]:
    """Return the cities of the document's 70 instances: all of the plane but one with a fixed edge."""
    found = known_instances("EUC_2D")
    return {name: cities for name, cities in found if cities < MOST_CITIES and name != "linhp318"}


def tabled() -> set[str]:
    """Return the names of those that the document's tables have."""
    tables = ("5.4 table 2", "6.4.3 table 1")
    return {row["instance"] for table in tables for row in published("003").rows(table)}


def cells(setting: Setting) -> Iterator[Cell]:
    for what in METHODS:
        for name in instances():
            if what in (SYMMETRIC, RANDOM) or name in tabled():
                yield Cell(f"{name} {what}", {"instance": name, "what": what})
    if setting.device == "cpu":
        for name in instances():
            yield Cell(f"{name} near", {"instance": name, "near": True})
            if setting.full:
                yield Cell(f"{name} seeds", {"instance": name, "seeds": True})
        for name in DRAWN:
            for what in (SYMMETRIC, RANDOM):
                yield Cell(f"{name} {what} curve", {"instance": name, "curve": METHODS[what][1]["order"]})


def course(problem: Problem, order: Order, parts: int, *, log: bool = False) -> list[tuple[int, int, float]]:
    """Return steps, evaluations and length of a descent at so many points, evenly or by factors."""
    import numpy as np

    import warptsp._native as _native
    from warptsp.backends.instance import SearchInstance
    from warptsp.papers.symmetric.cpu import Circle, search_on_threads

    token = _native.StopToken()
    built = SearchInstance.build(problem, token)
    assert built is not None
    circle = Circle.of(built, np.arange(problem.n, dtype=np.int32), order=order, least_gain=0.0)
    whole, again = (search_on_threads(circle, seed=1, chains=1, threads=1) for _ in range(2))
    assert whole.descend(math.inf, token)
    steps = int(whole.counters()["steps"])
    shares = (part / parts for part in range(1, parts + 1))
    points, made = [(0, 0, float(again.lengths()[0]))], 0
    for until in sorted({math.ceil(steps**share if log else steps * share) for share in shares}):
        # At temperature 0 a step of annealing is one of a descent.
        again.anneal(0.0, 1.0, steps, 0, until - made, token)
        made = until
        points.append((made, int(again.counters()["evaluations"]), float(again.lengths()[0])))
    return points


def share_near(points: Sequence[tuple[int, int, float]]) -> float:
    """Return after what share of its steps a descent is near the length that it ends with."""
    *_, (steps, _, length) = points
    return next(made for made, _, now in points if now <= NEAR * length) / steps


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    problem = instance(setting.instances, cell.facts["instance"])
    if "near" in cell.facts:
        return {"share": round(share_near(course(unrounded(problem), "hardware", 400)), 4)}
    if "seeds" in cell.facts:
        method, params = METHODS[RANDOM]
        options = {"method": method, "start": "given", "params": params, "judge": problem}
        found = [run(unrounded(problem), setting, seed=seed, **options) for seed in SEEDS]
        return {figure: [each[figure] for each in found] for figure in ("length", "evaluations")}
    if "curve" in cell.facts:
        points = course(unrounded(problem), cell.facts["curve"], POINTS, log=True)
        return {"points": [(evaluations, round(length)) for _, evaluations, length in points[1:]]}
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
        "end after n^2 failures in a row at n cities, which are counted. 50 elements are the array of "
        "figure 5. Distances are not rounded."
    )
    text += _compared(results) + _near(results)
    lines = {}
    for name in DRAWN:
        curves = {
            what: results.value(f"{name} {what} curve", "cpu", "points") for what in (SYMMETRIC, RANDOM)
        }
        if all(curves.values()):
            last, first = curves[SYMMETRIC][-1][1], curves[SYMMETRIC][0][0]
            for what, curve in curves.items():
                lines[f"{name}, {what}"] = [(x, length / last) for x, length in curve if x >= first]
    chart = Chart(
        "Symmetric and random moves", "evaluations", "times the last length of symmetric moves", lines
    )
    return [Section("Figure 6: symmetric and random moves", words, rows, text, chart), _hardware(results)]


def _compared(results: Results) -> str:
    """Return what the cells say about the document's two statements."""
    pairs = [
        (results.get(f"{name} {SYMMETRIC}", "cpu"), results.get(f"{name} seeds", "cpu"))
        for name in instances()
    ]
    found = [(one, other) for one, other in pairs if one and other]
    if not found:
        return ""
    shorter, slower = [], []
    for seed in range(len(SEEDS)):
        shorter.append(
            100 * (1 - statistics.mean(one["length"] / other["length"][seed] for one, other in found))
        )
        slower.append(sum(one["evaluations"] > other["evaluations"][seed] for one, other in found))
    return (
        f" With seeds 1 to {len(SEEDS)} of random moves, tours of symmetric ones are {min(shorter):.2f} to "
        f"{max(shorter):.2f} % shorter on average of {len(found)} instances, but take more evaluations at "
        f"only {min(slower)} to {max(slower)}."
    )


def _near(results: Results) -> str:
    """Return how soon descents are near their end."""
    shares = [s for name in instances() if (s := results.value(f"{name} near", "cpu", "share")) is not None]
    if not shares:
        return ""
    low, high = published("003").facts["near_percent"]
    within = sum(low <= 100 * share <= high for share in shares)
    return (
        f" The document's descents are within 5 % of their last length at usually {low} to {high} % of the "
        f"time; so are {within} of {len(shares)} here, by iterations, at a median of "
        f"{100 * statistics.median(shares):.0f} %."
    )


def _hardware(results: Results) -> Section:
    """Return how many times as long as the hardware one core takes for the same iterations."""
    clock = published("003").facts["clock_hz"]
    points = []
    for name, cities in instances().items():
        if result := results.get(f"{name} {SYMMETRIC}", "cpu"):
            points.append((cities, result["seconds"] * clock / (35 * result["iterations"])))
    chart = Chart("The hardware over one core", "cities", "times", {"35 cycles of 150 MHz": points})
    text = ""
    if points:
        most = max(points)
        text = (
            f"{published('003').notes('figure 7')} A call on one core here takes "
            f"{min(s for _, s in points):.1f} to {max(s for _, s in points):.0f} times as long as the "
            f"hardware would; at {most[0]} cities {most[1]:.1f} times, {most[1] / most[0]:.4f} for each city."
        )
    return Section("Figure 7: the hardware over its emulator", (), (), text, chart)
