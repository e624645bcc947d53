"""Algorithm 1 to the letter: one chain of whole passes of best improvement, kicks, every tour accepted."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

from benchmarks.reproduce.harness import (
    DEVICES,
    SPEEDUPS,
    Cell,
    Chart,
    Results,
    Section,
    Setting,
    number,
    published,
    run,
    speedups,
)
from benchmarks.reproduce.instances import instance, known_instances

DOCUMENT = "004"
TABLES = ("3", "figures 5, 6")
KICKS = ("0.1", "1", "10")  # n
LARGEST = ("pla33810", "pla85900")
FEW = "0.01"  # n, from a local optimum: on a core the way there takes minutes
# Cities up to which a core is done in minutes.
ON_A_CORE = {"0.1": 40_000, "1": 4000, "10": 1400}
SHOWN = ("berlin52", "a280", "pr1002", "d2103", "rl5934", "d18512", "pla33810")
REDUCED = {"0.1": 1500, "1": 500, "10": 150}


def cells(setting: Setting) -> Iterator[Cell]:
    sizes = dict(known_instances())
    on_gpu = setting.device == "cuda"
    found = []
    for kicks in KICKS:
        most = REDUCED[kicks] if not setting.full else 10**6 if on_gpu else ON_A_CORE[kicks]
        found += [(name, n, kicks) for name, n in known_instances("EUC_2D") if n <= most]
        if setting.full and kicks == KICKS[0]:
            found += [(name, sizes[name], FEW) for name in LARGEST]
    if setting.full:
        most = 10**6 if on_gpu else ON_A_CORE[KICKS[0]]
        found += [(name, sizes[name], KICKS[0]) for name in LARGEST if sizes[name] <= most]
    if setting.side_by_side > 1:  # the long ones first, so that none is left for the end
        found.sort(key=lambda cell: -float(cell[2]) * cell[1] ** 2)
    for name, _, kicks in found:
        yield Cell(f"{name}, {kicks} n", {"instance": name, "kicks": kicks})


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    from warptsp.papers import params_of

    problem = instance(setting.instances, cell.facts["instance"])
    kicks = cell.facts["kicks"]
    start: Any = _local_optimum(problem) if kicks == FEW else "nearest-neighbor"
    params = params_of(DOCUMENT, "ils", {"iterations": float(kicks)}, on_gpu=setting.device != "cpu")
    return run(problem, setting, method="ils", start=start, params=params)


def _local_optimum(problem: Any) -> Any:
    import warptsp

    params = {"edges": "next", "moves": "many"}
    way = {"method": "neighbor-three-opt", "device": "cpu", "bound": False, "stop": lambda state: False}
    return warptsp.solve(problem, start="nearest-neighbor", params=params, **way).tour


def report(results: Results) -> list[Section]:
    theirs = {row["search"]: row for row in published("004").rows("3")}
    rows: list[list[object]] = []
    for kicks in KICKS:
        row = theirs[f"ils {kicks} n"]
        line: list[object] = [f"{kicks} n", number(row["cpu_error"]), number(row["gpu_error"])]
        for device in DEVICES:
            found = [
                (cities, result)
                for name, cities in known_instances("EUC_2D")
                if (result := results.get(f"{name}, {kicks} n", device)) is not None
            ]
            errors = [result["error"] for _, result in found]
            line += [
                number(statistics.mean(errors)) if errors else "-",
                sum(error <= 0 for error in errors) if errors else "-",
                len(found),
                max((cities for cities, _ in found), default="-"),
            ]
        gains = [gain for _, _, gain in gains_of(results, kicks)]
        rows.append([*line, *speedups(row, gains)])
    words = ["kicks", "mean error, %, CPU, published", "GPU, published"]
    for device in DEVICES.values():
        words += [f"mean error, %, {device}", "optimal", "instances", "up to cities"]
    text = (
        "Every pass evaluates all pairs of a city and one on its list of 40, and makes the best move of "
        "all, of those of *next edges*; after a kick come as many passes as lead to a local optimum. "
        "Speed-ups are of whole calls, instance by instance; GPU and core end with the same tour after the "
        "same passes. On the CPU 13 cells ran at once, on 16 cores, beside those on the GPU; those of "
        "pla33810 and pla85900 beside other work."
    )
    return [
        Section("Algorithm 1 to the letter", [*words, *SPEEDUPS], rows, text),
        _sizes(results),
        _passes(results),
        _chart(results),
    ]


SIZES = ((0, 400), (400, 2000), (2000, 20_000))


def _sizes(results: Results) -> Section:
    rows: list[list[object]] = []
    for kicks in KICKS:
        for least, most in SIZES:
            gains = [gain for _, n, gain in gains_of(results, kicks) if least <= n < most]
            if gains:
                figures = [number(of(gains)) for of in (min, statistics.mean, max)]
                rows.append([f"{kicks} n", f"{least} to {most}", len(gains), *figures])
    words = ["kicks", "cities", "instances", "GPU over one core: least", "mean", "largest"]
    return Section("Algorithm 1: speed-ups by size", words, rows)


def _passes(results: Results) -> Section:
    rows: list[list[object]] = []
    for name, kicks in (*((name, "0.1") for name in SHOWN), *((name, FEW) for name in LARGEST)):
        cpu, gpu = (results.get(f"{name}, {kicks} n", device) for device in DEVICES)
        if cpu is None or gpu is None:
            continue
        line: list[object] = [
            name,
            f"{kicks} n",
            gpu["passes"],
            number(cpu["seconds"]),
            number(gpu["seconds"]),
        ]
        line += [number(1e6 * cpu["seconds"] / cpu["passes"])]
        line += [number(1e6 * gpu["kernel_seconds"] / gpu["passes"])]
        rows.append([*line, number(cpu["seconds"] / gpu["seconds"])])
    words = [
        "instance",
        "kicks",
        "passes",
        "s, CPU",
        "s, GPU",
        "us a pass, CPU",
        "us a pass, GPU",
        "GPU over one core",
    ]
    text = (
        "A pass on the GPU: the kernels, with its share of kicks; on the CPU everything. Runs of "
        f"{FEW} n begin with a local optimum of many moves a pass: a core takes minutes to reach one from a "
        "nearest-neighbour tour."
    )
    return Section("Algorithm 1: passes", words, rows, text)


def _chart(results: Results) -> Section:
    lines = {}
    for kicks in KICKS:
        for device, label in DEVICES.items():
            names = [(float(n), f"{name}, {kicks} n") for name, n in known_instances("EUC_2D")]
            found = results.lines(names, "seconds").get(label)
            if found and device in results.devices():
                lines[f"{kicks} n, {label}"] = found
    return Section("Algorithm 1: seconds", (), (), chart=Chart("Algorithm 1", "cities", "s", lines))


def gains_of(results: Results, kicks: str) -> list[tuple[str, int, float]]:
    """Return (name, cities, how many times faster on the GPU) of the instances with both."""
    found = []
    for name, cities in known_instances("EUC_2D"):
        cpu, gpu = (results.get(f"{name}, {kicks} n", device) for device in DEVICES)
        if cpu is not None and gpu is not None:
            found.append((name, cities, cpu["seconds"] / gpu["seconds"]))
    return found
