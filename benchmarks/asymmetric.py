"""How good tours of asymmetric matrices are after CPU seconds of one thread, with bounds and other programs.

These are elkai, which is LKH for Python, and OR-tools' routing library; `pip install elkai ortools`.

The classes are those of asymmetric_instances.py; with --shared, also the instances of TSPLIB in data/atsp.
Each run is a process of its own. The CPU seconds are those of the call of `solve`, from the matrix in memory.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from asymmetric_instances import CLASSES, make
from common import gap_percent, note, parser, report, table

import warptsp
from warptsp.groups import choose

SIZES = (1_000, 3_162)
SECONDS = (10.0,)
PEERS = ("elkai", "ortools")
PEER_CITIES, PEER_SECONDS = 316, 5.0  # elkai prepares a matrix for 7 s and more at 1000 cities
GROUPED = ("berlin52", "kroA100", "lin318", "pcb442", "pr1002")  # instances of TSPLIB in groups
GROUP_SECONDS = (1.0, 10.0)
LONG = {("street", 3_162): 60.0, ("uniform", 10_000): 20.0, ("street", 10_000): 60.0}


def solved(matrix: np.ndarray, seconds: float) -> dict[str, Any]:
    """Return what one thread came to."""
    problem = warptsp.Problem.from_matrix(matrix, asymmetric=True)
    begun = time.process_time()
    result = warptsp.solve(problem, time_limit=seconds, threads=1, device="cpu")
    return {
        "length": result.length,
        "bound": result.lower_bound,
        "proved": result.proved_optimal,
        "cpu": time.process_time() - begun,
    }


def elkai(matrix: np.ndarray, seconds: float) -> int:
    """Return the length after one run of elkai, which knows no time limit."""
    import elkai

    tour = elkai.DistanceMatrix(matrix.tolist()).solve_tsp(runs=1)
    return int(matrix[tour[:-1], tour[1:]].sum())


def ortools(matrix: np.ndarray, seconds: float) -> int:
    """Return the length after guided local search of one vehicle, from its own default start."""
    from ortools.constraint_solver import pywrapcp, routing_enums_pb2

    manager = pywrapcp.RoutingIndexManager(len(matrix), 1, 0)
    routing = pywrapcp.RoutingModel(manager)
    routing.SetArcCostEvaluatorOfAllVehicles(routing.RegisterTransitMatrix(matrix.tolist()))
    parameters = pywrapcp.DefaultRoutingSearchParameters()
    parameters.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    parameters.time_limit.FromMilliseconds(int(1000 * seconds))
    return int(routing.SolveWithParameters(parameters).ObjectiveValue())


def peer(name: str, matrix: np.ndarray, seconds: float) -> dict[str, Any] | None:
    """Return what another program came to, None if it is not installed."""
    begun = time.process_time()
    try:
        length = {"elkai": elkai, "ortools": ortools}[name](matrix, seconds)
    except ModuleNotFoundError:
        return None
    return {"length": length, "cpu": time.process_time() - begun}


def in_process(*arguments: str) -> Any:
    """Return what this script prints when it is called so."""
    done = subprocess.run(
        [sys.executable, __file__, *arguments], capture_output=True, text=True, check=True, timeout=3600
    )
    return json.loads(done.stdout.splitlines()[-1])


def child(what: str, kind: str, size: str, seconds: str) -> None:
    """Run one search, and print what came of it."""
    matrix = make(kind, int(size))
    limit = float(seconds)
    print(json.dumps(peer(what, matrix, limit) if what in PEERS else solved(matrix, limit)))


def cell(run: dict[str, Any] | None) -> str:
    """Return a run as the table has it."""
    return "" if run is None else f"{run['length']}{'*' if run.get('proved') else ''} in {run['cpu']:.2f} s"


def of_classes(sizes: tuple[int, ...], limits: tuple[float, ...]) -> tuple[str, list[Any]]:
    rows: dict[str, list[str]] = {kind: [kind] for kind in CLASSES}
    results = []
    for n in sizes:
        for kind in CLASSES:
            note(f"{kind}, {n} cities")
            found = [in_process("solved", kind, str(n), str(limit)) for limit in limits]
            results.append({"class": kind, "cities": n, "runs": found})
            last = found[-1]
            gap = f"{gap_percent(last['length'], last['bound']):.2f}"
            rows[kind].append(f"optimal, {last['cpu']:.2f} s" if last["proved"] else gap)
    return table(["class", *(f"{n} cities" for n in sizes)], rows.values()), results


def of_peers(n: int, seconds: float) -> tuple[str, list[Any]]:
    """Return what other programs came to beside ours, each in a process of its own."""
    rows, results = [], []
    for kind in CLASSES:
        note(f"{kind}, {n} cities, other programs")
        runs = [in_process(name, kind, str(n), str(seconds)) for name in ("solved", *PEERS)]
        results.append({"class": kind, "cities": n, "limit": seconds, "peers": runs})
        rows.append([kind, *map(cell, runs)])
    return table(["class", "warptsp", "elkai, one run", "OR-tools"], rows), results


def of_long_runs() -> tuple[str, list[Any]]:
    rows, results = [], []
    for (kind, n), limit in LONG.items():
        note(f"{kind}, {n} cities, {limit:g} s")
        run = in_process("solved", kind, str(n), str(limit))
        results.append({"class": kind, "cities": n, "limit": limit, "runs": [run]})
        gap = f"{gap_percent(run['length'], run['bound']):.2f}"
        rows.append([kind, n, f"{limit:g} s", cell(run), run["bound"], gap])
    return table(["class", "cities", "limit", "length", "bound", "gap, %"], rows), results


def of_tsplib(folder: Path, limit: float) -> tuple[str, list[Any]]:
    rows, results = [], []
    with (folder / "known_lengths.csv").open() as file:
        for row in csv.DictReader(file):
            note(row["name"])
            optimum = int(row["length"])
            problem = warptsp.load(folder / f"{row['name']}.atsp")
            begun = time.process_time()
            stop = warptsp.TargetLength(optimum) | warptsp.MaxRuntime(limit)
            result = warptsp.solve(problem, stop=stop, threads=1, device="cpu")
            cpu = time.process_time() - begun
            rows.append([row["name"], optimum, result.length, f"{cpu:.2f}", result.lower_bound])
            results.append({"name": row["name"], "length": result.length, "cpu": cpu})
    return table(["instance", "optimum", "length", "CPU s", "bound by then"], rows), results


def groups_of(problem: warptsp.Problem) -> np.ndarray:
    """Return groups of five places on average, as in GTSPLIB: around places that are far apart."""
    between = distances(problem)
    centres = list(np.unravel_index(between.argmax(), between.shape))
    nearest = between[centres].min(axis=0)
    while len(centres) < -(-problem.n // 5):
        centres.append(int(nearest.argmax()))
        np.minimum(nearest, between[centres[-1]], out=nearest)
    return between[:, centres].argmin(axis=1)


def distances(problem: warptsp.Problem) -> np.ndarray:
    """Return all distances."""
    every = np.arange(problem.n)
    return np.asarray(problem.distance(every[:, np.newaxis], every))


def of_groups(folder: Path, limits: tuple[float, ...]) -> tuple[str, list[Any]]:
    """Return what tours through one place of each group came to."""
    rows, results = [], []
    for name in GROUPED:
        note(f"{name}, groups")
        problem = warptsp.load(folder / f"{name}.tsp")
        groups = groups_of(problem).tolist()
        runs = []
        for limit in limits:
            begun = time.process_time()
            choice = choose(problem, groups, time_limit=limit, threads=1)
            runs.append({"length": choice.length, "cpu": time.process_time() - begun})
        results.append({"name": name, "groups": max(groups) + 1, "runs": runs})
        rows.append([name, problem.n, max(groups) + 1, *map(cell, runs)])
    return table(["instance", "places", "groups", *(f"limit {limit:g} s" for limit in limits)], rows), results


def main() -> None:
    if len(sys.argv) > 1 and sys.argv[1] in ("solved", *PEERS):
        child(*sys.argv[1:])
        return
    options = parser(__doc__).parse_args()
    sizes, limits = ((1_000,), (1.0,)) if options.quick else (SIZES, SECONDS)
    text, results = of_classes(sizes, limits)
    text = (
        f"One thread, limit of {limits[-1]:g} s: proved optimal after so many CPU seconds, or the gap to the "
        "lower bound in %, which for `rtilt`, `stilt`, `crane` and `street` is far below the optimum.\n\n"
        + text
    )
    others, more = of_peers(PEER_CITIES, 1.0 if options.quick else PEER_SECONDS)
    text += f"\n\nOther programs: {PEER_CITIES} cities, {PEER_SECONDS:g} s; * if proved optimal. "
    text += "elkai, which is LKH, knows no limit:\n\n" + others
    results += more
    if not options.quick:
        longer, more = of_long_runs()
        text += "\n\nLonger runs:\n\n" + longer
        results += more
    folder = Path(options.shared) / "data" / "atsp"
    if folder.is_dir():
        tsplib, more = of_tsplib(folder, 1.0 if options.quick else 10.0)
        text += "\n\nTSPLIB, until the optimum is found:\n\n" + tsplib
        results += more
    folder = Path(options.shared) / "data" / "tsplib"
    if folder.is_dir():
        grouped, more = of_groups(folder, GROUP_SECONDS[:1] if options.quick else GROUP_SECONDS)
        text += "\n\nOne place of each group of five on average (`warptsp choose`):\n\n" + grouped
        results += more
    report("asymmetric", "Asymmetric matrices", text, results, options.output)


if __name__ == "__main__":
    main()
