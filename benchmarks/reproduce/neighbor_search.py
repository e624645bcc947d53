"""2-opt, 3-opt and iterated local search over neighbour lists."""

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
TABLES = ("3", "optima", "CRO", "figures 5, 6")
# The document's, one move a pass, and then every tour accepted; and what it names as open.
ALGORITHM_1 = {"acceptance": "always", "segment": 0}  # goes on from every new tour
BETTER = {"acceptance": "better", "segment": 0, "chains": 1}  # and takes back what is longer
ANNEALED = {"acceptance": "annealed", "segment": 0, "chains": 1}  # if it lost too much for a temperature
SEARCHES: dict[str, dict[str, Any]] = {
    "2-opt": {"method": "neighbor-two-opt", "params": {"moves": "one"}},
    "3-opt": {"method": "neighbor-three-opt", "params": {"moves": "one"}},
    "2-opt, next edges": {"method": "neighbor-two-opt", "params": {"moves": "one", "edges": "next"}},
    "3-opt, next edges": {"method": "neighbor-three-opt", "params": {"moves": "one", "edges": "next"}},
    "3-opt, many moves a pass": {"method": "neighbor-three-opt", "params": {"moves": "many"}},
    "3-opt, first improvement": {
        "method": "neighbor-three-opt",
        "params": {"improvement": "first", "moves": "many"},
    },
    **{
        f"ils {kicks:g} n{end}": {"method": "ils", "params": {**way, "iterations": kicks}}
        for end, way, of_n in (
            ("", ALGORITHM_1, (0.1, 1.0, 10.0)),
            (", better", BETTER, (0.1, 1.0, 10.0)),
            (", annealed", ANNEALED, (1.0, 10.0)),
        )
        for kicks in of_n
    },
    "ils 10 n, annealed, 32 chains": {
        "method": "ils",
        "params": {**ANNEALED, "iterations": 10.0, "chains": 32},
    },
}
# What might explain the published 0.78 % at 1 n: local search over all cities after every kick, on the CPU.
PASSES = {"restart": "pass"}
HYPOTHESES: dict[str, dict[str, Any]] = {
    f"ils 1 n, passes, {improvement}{end}": {
        "method": "ils",
        "params": {**way, **PASSES, "improvement": improvement, "iterations": 1.0},
    }
    for improvement in ("best", "first")
    for end, way in (("", ALGORITHM_1), (", better", BETTER))
}
SEARCHES |= HYPOTHESES
# One tour searched with all of a GPU, from 2000 cities on; beside it stands one core with one chain.
WHOLE: dict[str, str] = {f"ils {kicks} n, whole GPU": f"ils {kicks} n, better" for kicks in (1, 10)}
MIN_OF_WHOLE = 2000
SEARCHES |= {
    f"ils {kicks:g} n, whole GPU": {"method": "ils", "params": {"acceptance": "better", "iterations": kicks}}
    for kicks in (1.0, 10.0)
}
# Cities up to which a search is a matter of seconds on two cores.
REDUCED = {search: 1100 if " 1 n" in search else 500 if " 10 n" in search else 2400 for search in SEARCHES}
REDUCED["ils 10 n, annealed, 32 chains"] = 200
STAND_INS = ("rl5934", "d18512")


def cells(setting: Setting) -> Iterator[Cell]:
    found = [
        (cities, Cell(f"{name}, {search}", {"instance": name, "search": search}))
        for search in SEARCHES
        for name, cities in known_instances("EUC_2D")
        if (setting.full or cities <= REDUCED[search])
        and (setting.device == "cpu" or search not in HYPOTHESES)
        and (search not in WHOLE or (setting.device == "cuda" and cities >= MIN_OF_WHOLE))
    ]
    if setting.side_by_side > 1:  # the long ones first, so that none is left for the end
        found.sort(key=lambda pair: -pair[0])
    yield from (cell for _, cell in found)


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    problem = instance(setting.instances, cell.facts["instance"])
    return run(problem, setting, start="nearest-neighbor", **SEARCHES[cell.facts["search"]])


def report(results: Results) -> list[Section]:
    instances = known_instances("EUC_2D")
    theirs = {row["search"]: row for row in published("004").rows("3")}
    solved = published("004").rows("optima")[0]
    rows: list[list[object]] = []
    for search in (search for search in SEARCHES if search not in HYPOTHESES):
        row = theirs.get(search, {})
        line: list[object] = [search, number(row.get("cpu_error")), number(row.get("gpu_error"))]
        line.append(solved["solved"] if search == "ils 10 n" else "-")
        for device in results.devices():
            found = [
                (cities, result)
                for name, cities in instances
                if (result := results.get(f"{name}, {search}", device)) is not None
            ]
            errors = [result["error"] for _, result in found]
            mean = number(statistics.mean(errors)) if errors else "-"
            largest = max((cities for cities, _ in found), default=None)
            line += [
                mean,
                sum(error <= 0 for error in errors) if errors else "-",
                len(found),
                number(largest),
            ]
        rows.append([*line, *speedups(row, _gains(results, search))])
    words = [
        "search",
        "mean error, %, CPU, published",
        "GPU, published",
        f"optimal of {solved['instances']}, published",
    ]
    for device in results.devices():
        words += [f"mean error, %, {DEVICES[device]}", "optimal", "instances", "up to cities"]
    words += SPEEDUPS
    text = (
        "Speed-ups are of whole calls, instance by instance. On the GPU searches of 10 n kicks, and those "
        "that undo longer tours, ran ten at a time; one by itself would be faster. Every search is one "
        "chain, as the document's are, except for those with 32 chains. After a kick *ils* examines the "
        "ends of changed edges. *Whole GPU*: one tour, kicked in all its parts at once, beside one chain on "
        "a CPU core that undoes longer tours, too."
    )
    table = Section("Table 3: searches", words, rows, text)
    return [
        table,
        _hypotheses(results),
        *(_times(results, device) for device in results.devices()),
        _largest(results),
    ]


def _hypotheses(results: Results) -> Section:
    searches = ["ils 1 n", "ils 1 n, better", *HYPOTHESES]
    common = [
        (name, cities)
        for name, cities in known_instances("EUC_2D")
        if all(results.get(f"{name}, {search}", "cpu") is not None for search in searches)
    ]
    rows: list[list[object]] = []
    for search in searches if common else ():
        found = [results.get(f"{name}, {search}", "cpu") or {} for name, _ in common]
        rows.append(
            [
                search,
                number(statistics.mean(result["error"] for result in found)),
                sum(result["error"] <= 0 for result in found),
                number(sum(result["seconds"] for result in found)),
            ]
        )
    words = ["search", "mean error, %", "optimal", "s in all"]
    text = (
        f"Over {len(common)} instances up to {max((n for _, n in common), default=0)} cities, on a CPU core. "
        "*passes*: after a kick all cities are examined, not only the ends of changed edges; *best*: a pass "
        "makes the best move of all cities, as the document's text says; *first*: one city after the other "
        "makes its best move."
    )
    return Section("1 n kicks: what might explain 0.78 %", words, rows, text)


def _times(results: Results, device: str) -> Section:
    lines = {
        search: points
        for search in SEARCHES
        if search not in HYPOTHESES
        if (points := results.lines(_names(search), "seconds").get(DEVICES[device]))
    }
    chart = Chart(f"Searches, {DEVICES[device]}", "cities", "s", lines)
    return Section(f"Figures 5 and 6: seconds by number of cities, {DEVICES[device]}", (), (), chart=chart)


def _gains(results: Results, search: str) -> list[float]:
    """Return how many times faster a search is on the GPU than on the CPU, for instances with both."""
    pairs = zip(_names(WHOLE.get(search, search)), _names(search), strict=True)
    found = [
        [results.value(name, device, "seconds") for device, (_, name) in zip(DEVICES, pair, strict=True)]
        for pair in pairs
    ]
    return [cpu / gpu for cpu, gpu in found if cpu and gpu]


def _names(search: str) -> list[tuple[float, str]]:
    return [(float(cities), f"{name}, {search}") for name, cities in known_instances("EUC_2D")]


def _largest(results: Results) -> Section:
    rows: list[list[object]] = [
        [
            f"CRO (6857 cities), published, {row['device'].upper()}",
            "ils 10 n",
            row["length"],
            "-",
            row["seconds"],
        ]
        for row in published("004").rows("CRO")
    ]
    for device in results.devices():
        for name in STAND_INS:
            for search in SEARCHES:
                if search in HYPOTHESES:
                    continue
                result = results.get(f"{name}, {search}", device)
                if result is not None:
                    rows.append(
                        [
                            f"{name}, {DEVICES[device]}",
                            search,
                            number(result["length"]),
                            number(result["error"]),
                            number(result["seconds"]),
                        ]
                    )
    return Section(
        "In place of CRO",
        ["instance", "search", "length", "error, %", "s"],
        rows,
        published("004").notes("CRO"),
    )
