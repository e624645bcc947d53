"""From how many cities on, and from which time limit on, `device="auto"` should take the GPU.

Every run has a process of its own, in which nothing has used the GPU before: opening it, and loading kernels
that were compiled earlier, counts towards the time. Cities are uniform random, distances rounded
(EUC_2D).

- *main solver*: the gap over 0.7124 sqrt(n A) within a time limit, on one CPU thread, on all of them, and on
  the GPU; and the seconds in which the GPU, with the longest limit, was as good as one thread at its end;
- *other methods*: seconds until the method has finished, on all CPU threads and on the GPU.

`auto` should take the GPU if it is better than one thread and no worse than all of them. Of the other methods
the table has the largest size measured at which this does not hold, the next one, and what `auto` does.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from common import gap_percent, load, note, parser, report, run_worker, seconds_to, table, was_on_gpu

LK_CITIES = (2_000, 5_000, 10_000, 20_000, 200_000)
LK_SECONDS = (0.5, 1.0, 2.0)
TOLERANCE = 0.02  # in points of the gap: what counts as no worse, for a single run
LADDERS: dict[str, tuple[dict[str, Any], tuple[int, ...]]] = {
    "two-opt": ({}, (500, 1_000, 2_000, 4_000, 8_000)),
    "three-opt": ({}, (100, 200, 400, 800, 1_600)),
    "swap": ({}, (1_000, 2_000, 4_000, 8_000, 16_000)),
    "relocate": ({}, (500, 1_000, 2_000, 4_000, 8_000, 16_000)),
    "vnd": ({}, (100, 200, 400, 800, 1_600)),
    "neighbor-two-opt": ({}, (5_000, 20_000, 50_000, 100_000, 300_000)),
    "neighbor-three-opt": ({}, (5_000, 20_000, 50_000, 100_000, 300_000)),
    "ils": ({}, (100, 300, 1_000, 3_000, 10_000)),
    "symmetric-two-opt": ({}, (500, 1_000, 2_500, 3_500, 5_000)),
    "symmetric-annealing": ({}, (100, 500, 2_000)),
    "hill-climbing": ({"climbers": 1_000}, (50, 100, 200, 500)),
}
LONGEST = 8.0  # seconds that a method may take to its end
COMPILING = 120.0  # seconds in which the kernels of a size must be there
CLEAR = 4.0  # times faster on the GPU, after which larger sizes tell nothing


def run(method: str, n: int, device: str, threads: int | None, limit: float, params: Any) -> dict[str, Any]:
    """Return length, seconds and history of a run in a new process."""
    note(f"{method}, {n} cities, {device}, {'all' if threads is None else threads} threads, {limit:g} s")
    job = {"job": "warptsp", "instance": f"uniform-{n}", "shared": ".", "method": method, "params": params}
    return dict(run_worker({**job, "device": device, "threads": threads, "time_limit": limit, "seed": 1}))


def compile_kernels(method: str, n: int, params: Any) -> None:
    """Have the kernels that a run of this size needs in the cache: the CPU searches until they are."""
    import warptsp

    problem = load(Path(), f"uniform-{n}")
    kicks = 1 if method == "lk" else None
    run = {"method": method, "device": "cuda", "params": params, "kicks": kicks, "seed": 1}
    until = time.monotonic() + COMPILING
    while not was_on_gpu(warptsp.solve(problem, time_limit=1, **run)) and time.monotonic() < until:
        pass


def from_which(wins: Sequence[bool]) -> int:
    """Return the number of the size from which on the GPU wins, or how many there are."""
    lost = [number for number, win in enumerate(wins) if not win]
    return lost[-1] + 1 if lost else 0


def least(sizes: Sequence[int], wins: Sequence[bool]) -> str:
    """Return the least size from which on the GPU wins."""
    first = from_which(wins)
    return f"{sizes[first]}" if first < len(sizes) else f"above {sizes[-1]}"


def measure_lk(sizes: Sequence[int], limits: Sequence[float]) -> list[dict[str, Any]]:
    """Return the runs of the main solver for each size and limit."""
    compile_kernels("lk", sizes[0], {})
    cases = [(n, limit) for limit in limits for n in sizes]
    with ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // 4)) as pool:
        alone = list(pool.map(lambda case: run("lk", case[0], "cpu", 1, case[1], {}), cases))
    return [
        {
            "cities": n,
            "limit": limit,
            "runs": [one, run("lk", n, "cpu", None, limit, {}), run("lk", n, "cuda", None, limit, {})],
        }
        for (n, limit), one in zip(cases, alone, strict=True)
    ]


def lk_tables(found: list[dict[str, Any]]) -> str:
    """Return the tables of the main solver."""
    rows, sizes = [], sorted({case["cities"] for case in found})
    limits = sorted({case["limit"] for case in found})
    gaps: dict[tuple[int, float], list[float]] = {}
    for case in found:
        reference = 0.7124 * (case["cities"] * 1e12) ** 0.5
        gaps[case["cities"], case["limit"]] = [gap_percent(one["length"], reference) for one in case["runs"]]
    for n in sizes:
        longest = next(case for case in found if case["cities"] == n and case["limit"] == limits[-1])
        alone, _, gpu = longest["runs"]
        reached = seconds_to(gpu["history"], alone["length"])
        cells = [f"{gap:.2f}" for limit in limits for gap in gaps[n, limit]]
        rows.append([n, *cells, "-" if reached is None else f"{reached:.2f}"])
    head = [f"{limit:g} s: {what}" for limit in limits for what in ("1 thread", "all", "GPU")]
    text = table(["cities", *head, f"GPU, s to 1 thread's gap at {limits[-1]:g} s"], rows)
    choice = []
    for limit in limits:
        wins = [
            gaps[n, limit][2] < gaps[n, limit][0] and gaps[n, limit][2] <= gaps[n, limit][1] + TOLERANCE
            for n in sizes
        ]
        choice.append([f"{limit:g}", least(sizes, wins)])
    return text + "\n\n" + table(["limit, s", "the GPU from"], choice)


def measure_others(methods: Sequence[str], quick: bool) -> list[dict[str, Any]]:
    """Return the runs of the other methods, up to sizes at which the GPU is clearly faster."""
    found = []
    for method in methods:
        params, sizes = LADDERS[method]
        for n in sizes[:2] if quick else sizes:
            compile_kernels(method, n, params)
            gpu, cpu = (run(method, n, device, None, LONGEST, params) for device in ("cuda", "cpu"))
            found.append({"method": method, "cities": n, "runs": [cpu, gpu]})
            if cpu["wall"] > CLEAR * gpu["wall"] or gpu["wall"] < LONGEST - 0.5 < cpu["wall"]:
                break
    return found


def other_table(found: list[dict[str, Any]]) -> str:
    """Return the table of the other methods: the last size at which the CPU wins, and the next one."""
    from warptsp.methods import METHODS

    rows = []
    for method in dict.fromkeys(case["method"] for case in found):
        cases = [case for case in found if case["method"] == method]
        wins, cells = [], []
        for case in cases:
            cpu, gpu = case["runs"]
            # A method that only the limit ends takes a few milliseconds more or less.
            in_time = gpu["wall"] <= (1.01 if cpu["wall"] >= LONGEST - 0.5 else 1) * cpu["wall"]
            wins.append(in_time and gpu["length"] <= 1.001 * cpu["length"])
            cells.append(f"{case['cities']}: {cpu['wall']:.3f} s, {gpu['wall']:.3f}")
        first = from_which(wins)
        before, after = (cells[k] if 0 <= k < len(cells) else "-" for k in (first - 1, first))
        rows.append([method, before, after, METHODS[method].min_gpu_cities])
    return table(["method", "the CPU's last size: all threads, GPU", "the next size", "`auto` from"], rows)


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--methods", nargs="+", choices=["lk", *LADDERS], default=["lk", *LADDERS])
    options = options_parser.parse_args()
    sections, results = [], {}
    if "lk" in options.methods:
        sizes, limits = (LK_CITIES[1:4], LK_SECONDS[:1]) if options.quick else (LK_CITIES, LK_SECONDS)
        results["lk"] = measure_lk(sizes, limits)
        sections.append("## Main solver\n\n" + lk_tables(results["lk"]))
    if others := [method for method in options.methods if method != "lk"]:
        results["others"] = measure_others(others, options.quick)
        sections.append("## Other methods\n\n" + other_table(results["others"]))
    how = (__doc__ or "").partition("\n\n")[2].strip()
    text = "\n\n".join([how, *sections])
    report("device_choice", "Device choice", text, results, options.output)


if __name__ == "__main__":
    main()
