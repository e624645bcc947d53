"""Best-improvement swaps: versions and 10 000 cities.

Each of the eight versions of the document mends what a profile of the one before showed: threads, the order
of moves, the reduction, the mapping. They stand beside the launch that is planned without them. How many
lines of cache a warp reads at once follows from the order of moves, and is counted without a run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

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

if TYPE_CHECKING:
    from warptsp.problem import Problem

DOCUMENT = "001"
TABLES = ("section 5", "table 1", "figure 10", "figure 11", "10 000 cities")
VERSIONS = range(1, 9)
LAUNCHES: dict[str, dict[str, int]] = {
    **{f"version {version}": {"version": version} for version in VERSIONS},
    "planned": {},
}
LADDER = {1000: 2500, 2000: 5000}
LARGE, LARGE_PASSES, REDUCED_PASSES = 10_000, 500, 20
LINE = 128  # bytes of the level 1 cache
COUNTED = {2: False, 4: True}  # versions, and whether neighbouring threads take neighbouring moves
COUNTED_THREADS = 105 * 192
EVALUATIONS = 200  # that are timed by themselves
LOOKED_UP = 6 * (4 + 2 * 8)  # bytes of a move: six cities of the tour, and their coordinates


def cells(setting: Setting) -> Iterator[Cell]:
    yield Cell("descent 1000", {"cities": 1000, "params": {}})
    # On the CPU a twentieth of the iterations, and the time multiplied: all passes cost the same.
    passes = LARGE_PASSES if setting.full or setting.device != "cpu" else REDUCED_PASSES
    yield Cell(f"{LARGE} cities", {"cities": LARGE, "params": {"passes": passes}})
    if setting.device == "cpu":
        yield from (Cell(f"lines of version {v}", {"together": COUNTED[v]}) for v in COUNTED)
    else:
        yield Cell(
            f"{LARGE} cities, version 8", {"cities": LARGE, "params": {"passes": passes, "version": 8}}
        )
    for cities, iterations in LADDER.items():
        for name, launch in LAUNCHES.items():
            if setting.device != "cpu" or not launch:
                yield Cell(f"{cities} {name}", {"cities": cities, "params": {**launch, "passes": iterations}})


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    if "together" in cell.facts:
        return {"lines": round(lines_a_request(2000, COUNTED_THREADS, together=cell.facts["together"]), 3)}
    problem = random_cities(cell.facts["cities"], "EXACT_2D")
    params = cell.facts["params"]
    found = run(problem, setting, method="swap", start="given", params=params)
    return found | (launch_of(problem, params["version"]) if "version" in params else {})


def launch_of(problem: Problem, version: int) -> dict[str, Any]:
    """Return what the driver says of the evaluation in a version, and the milliseconds of one by itself."""
    from warptsp._native import StopToken
    from warptsp.backends.cuda.device import Device
    from warptsp.papers.exhaustive.cuda import CudaDescent
    from warptsp.papers.exhaustive.cuda_studies import VersionPass
    from warptsp.papers.exhaustive.neighborhood import Start
    from warptsp.papers.exhaustive.swap import SwapParams

    tour = np.arange(problem.n, dtype=np.int32)
    start = Start.of(problem, tour, SwapParams(version=version).sought, StopToken())
    assert start is not None
    with Device.open(0) as device:
        descent = CudaDescent(device, start)
        plan, tour_of_kernels = descent.stages[0].other, descent._tours[0]
        assert isinstance(plan, VersionPass)
        tour_of_kernels["limit"] = 1  # passes; none is complete, so that all evaluations are alike
        for _ in range(2):  # the first ones are slower
            with device.timer() as timer:
                for _ in range(EVALUATIONS):
                    plan.kernel.launch(plan.grid, plan.block, tour_of_kernels, descent._city[0], plan._best)
            seconds = timer.seconds
        return {
            "registers": plan.kernel.registers,
            "occupancy": round(plan.occupancy, 4),
            "launch": f"{plan.grid} x {plan.block}",
            "evaluation_ms": round(1e3 * seconds / EVALUATIONS, 6),
        }


def lines_a_request(n: int, threads: int, *, together: bool, every: int = 7) -> float:
    """Count the lines of cache that a warp reads at once, on average, in a pass over a random tour.

    The six places of a move are looked up in the tour, and each city's two coordinates, of 4 bytes, one after
    the other, as the document's kernels do. Of the moves of a thread each seventh is counted.
    """
    places = n - 1
    moves = places * (places - 1) // 2
    first = np.arange(places) * (2 * places - 1 - np.arange(places)) // 2  # number of each place's first move
    tour = np.random.default_rng(1).permutation(n)
    thread, share = np.arange(threads), -(-moves // threads)
    lines = requests = 0
    for step in range(0, share, every):
        numbers = step * threads + thread if together else thread * share + step
        works = numbers < moves
        row = np.searchsorted(first, np.minimum(numbers, moves - 1), side="right") - 1
        x, y = row + 1, row + 2 + np.minimum(numbers, moves - 1) - first[row]
        for place in (x - 1, x, x + 1, y - 1, y, (y + 1) % n):
            for line, reads in ((4 * place // LINE, 1), (8 * tour[place] // LINE, 2)):
                of_warp = np.sort(np.where(works, line, -1).reshape(-1, 32), axis=1)
                different = (np.diff(of_warp, axis=1) != 0).sum(axis=1) + (of_warp[:, 0] >= 0)
                lines += reads * int(different.sum())
                requests += reads * int((different > 0).sum())
    return lines / requests


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
        ["the same, version 8", *beside(large["seconds"], results, f"{LARGE} cities, version 8", per_500)],
        ["10^9 moves/s, 10 000 cities", *beside(None, results, f"{LARGE} cities", rate, "more")],
    ]
    text = " ".join(published("001").notes(name) for name in ("section 5", "10 000 cities"))
    columns = ["figure", *header("value", results)]
    sections = [Section("Descent at 1000 cities, 10 000 cities", columns, rows, text)]
    return [*sections, _ladder(results, both, large["seconds"]), _profile(results), *_lines(results)]


def _ladder(results: Results, both: float, seconds: float) -> Section:
    ladder: list[list[object]] = []
    changes = {f"version {row['version']}": row["change"] for row in published("001").rows("figure 10")}
    for cities in LADDER:
        for name in LAUNCHES:
            line: list[object] = [f"{cities} {name}", changes.get(name, "no version: the launch of `swap`")]
            for device in results.devices():
                line += [number(results.value(f"{cities} {name}", device, of)) for of in (kernel_ms, rate)]
            found = results.get(f"{cities} {name}", "cuda") or {}
            line += _division(found) if "evaluation_ms" in found else 3 * ["-"]
            ladder.append(line)
    words = [
        "cities and version",
        "what it changes",
        *(
            f"{what}, {DEVICES[device]}"
            for device in results.devices()
            for what in ("ms a pass", "10^9 moves/s")
        ),
        *(
            f"% of the time of the call, GPU: {what}"
            for what in ("evaluation", "choice and application", "other")
        ),
    ]
    text = (
        published("001").notes("figure 10")
        + " A pass is evaluation, reduction and application. Every version "
        "makes the same moves; distances are in double precision, where the document's are in single. An "
        f"evaluation is timed by itself, {EVALUATIONS} times; the other kernels choose and apply."
    )
    lines = {"published": [(1000.0, both), (float(LARGE), 1e3 * seconds / LARGE_PASSES)]}
    for name in LAUNCHES:
        measured = [(float(cities), f"{cities} {name}") for cities in LADDER]
        measured += [(float(LARGE), f"{LARGE} cities")] if name == "planned" else []
        lines |= {f"{name}, {key}": line for key, line in results.lines(measured, kernel_ms).items()}
    chart = Chart("Swaps: one pass", "cities", "ms", lines)
    return Section("Figure 10: versions", words, ladder, text, chart)


def _division(found: dict[str, Any]) -> list[str]:
    """Return the shares of figure 10, in per cent: evaluation, choice and application, other tasks."""
    passes, call = found["passes"], 1e3 * found["seconds"]
    evaluation, kernels = passes * found["evaluation_ms"], passes * kernel_ms(found)
    return [f"{100 * ms / call:.0f}" for ms in (evaluation, kernels - evaluation, call - kernels)]


def _profile(results: Results) -> Section:
    theirs = published("001").rows("table 1")[0]
    rows: list[list[object]] = [
        [
            "GTX 480, published, version 1",
            "64 x 128",
            theirs["registers"],
            f"{theirs['occupancy_percent']} %",
            number(theirs["us"]),
            "-",
        ]
    ]
    for version in VERSIONS:
        found = results.get(f"1000 version {version}", "cuda") or {}
        if "launch" not in found:
            continue
        throughput = LOOKED_UP * (rate(found) or 0.0)
        occupancy = f"{100 * found['occupancy']:.1f} %"
        alone = number(1e3 * found["evaluation_ms"]) if "evaluation_ms" in found else "-"
        rows.append(
            [f"version {version}", found["launch"], found["registers"], occupancy, alone, number(throughput)]
        )
    words = ["version", "blocks x threads", "registers", "occupancy", "us", "10^9 bytes/s looked up"]
    text = (
        "Of the evaluation at 1000 cities. Occupancy is what the driver's calculator says of the launch. "
        f"Of a move {LOOKED_UP} bytes are looked up: six cities of the tour and their coordinates, in double "
        "precision; the time is that of whole passes."
    )
    return Section("Table 1: profile", words, rows, text)


def _lines(results: Results) -> list[Section]:
    rows: list[list[object]] = []
    for row in published("001").rows("figure 11"):
        found = results.get(f"lines of version {row['version']}", "cpu")
        if found is not None:
            rows.append([row["version"], row["lines"], found["lines"]])
    words = ["version", "transactions a request, published", "counted"]
    text = (
        f"At 2000 cities with {COUNTED_THREADS} threads: lines of {LINE} bytes that a warp reads at once, "
        "counted from the order of moves and a random tour. What the profiler says of misses is not "
        "reproduced."
    )
    return [Section("Figure 11: memory experiment", words, rows, text)] if rows else []
