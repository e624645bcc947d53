"""The gaps of warptsp and of other packages on PyPI after the same seconds on one thread, from one matrix.

``pip install elkai fast-tsp ortools pyvrp``; whatever is missing is left out. Every run is a process of its
own, which gets the matrix of distances as an array, and its clock starts when the matrix is in memory in the
form that the package takes. elkai, which is LKH, takes no limit: it does one run, and its seconds are told.
fast-tsp, elkai and OR-Tools take no seed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from common import gap_percent, is_available, load, note, parser, report, table

INSTANCES = ("kroA100", "rat575", "pr2392", "fnl4461")
SECONDS = (1.0, 10.0)
QUICK = (("kroA100",), (1.0,))
SEEDS = (1, 2, 3)
TIMEOUT = 600.0  # beyond the limit, for preparing Python lists of a matrix and for elkai's one run


def warptsp(matrix: np.ndarray, seconds: float, seed: int) -> Callable[[], Any]:
    import warptsp

    warptsp.solve(np.random.default_rng(1).random((100, 2)), kicks=10, threads=1)  # imports what it needs
    problem = warptsp.Problem.from_matrix(matrix)
    return lambda: warptsp.solve(problem, time_limit=seconds, seed=seed, threads=1).tour.tolist()


def fast_tsp(matrix: np.ndarray, seconds: float, seed: int) -> Callable[[], Any]:
    """It refuses distances over 65535, so longer ones are scaled down to that, which keeps them exact to a
    part in some hundreds of a mean edge; the tour is measured with the true distances all the same.
    """
    import fast_tsp

    scaled = (matrix * min(1.0, 65535 / matrix.max()) + 0.5).astype("uint16")
    return lambda: fast_tsp.find_tour(scaled, duration_seconds=seconds, max_threads=1)


def elkai(matrix: np.ndarray, seconds: float, seed: int) -> Callable[[], Any]:
    import elkai

    distances = elkai.DistanceMatrix(matrix.tolist())
    return lambda: distances.solve_tsp(runs=1)[:-1]


def or_tools(matrix: np.ndarray, seconds: float, seed: int) -> Callable[[], Any]:
    """Its routing solver with guided local search, as its guide recommends for routes."""
    from ortools.constraint_solver import pywrapcp, routing_enums_pb2

    rows = matrix.tolist()

    def search() -> list[int]:
        manager = pywrapcp.RoutingIndexManager(len(rows), 1, 0)
        routing = pywrapcp.RoutingModel(manager)
        routing.SetArcCostEvaluatorOfAllVehicles(routing.RegisterTransitMatrix(rows))
        parameters = pywrapcp.DefaultRoutingSearchParameters()
        parameters.first_solution_strategy = routing_enums_pb2.FirstSolutionStrategy.PATH_CHEAPEST_ARC
        parameters.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
        parameters.time_limit.FromMilliseconds(int(1000 * seconds))
        solution = routing.SolveWithParameters(parameters)
        if solution is None:
            raise SystemExit(f"no tour in {seconds:g} s")
        tour, index = [], routing.Start(0)
        while not routing.IsEnd(index):
            tour.append(manager.IndexToNode(index))
            index = solution.Value(routing.NextVar(index))
        return tour

    return search


def pyvrp(matrix: np.ndarray, seconds: float, seed: int) -> Callable[[], Any]:
    """One vehicle without capacity, from city 0 through all others."""
    import pyvrp

    def search() -> list[int]:
        data = pyvrp.ProblemData(
            locations=[pyvrp.Location(0, 0) for _ in matrix],
            clients=[pyvrp.Client(location) for location in range(1, len(matrix))],
            depots=[pyvrp.Depot(0)],
            vehicle_types=[pyvrp.VehicleType()],
            distance_matrices=[matrix.astype(np.int64)],
            duration_matrices=[np.zeros(matrix.shape, np.int64)],
        )
        limit = pyvrp.stop.MaxRuntime(seconds)
        found = pyvrp.solve(data, limit, seed=seed, collect_stats=False, display=False)
        (route,) = found.best.routes()
        return [0] + [1 + visit.idx for visit in route.schedule() if visit.is_client()]

    return search


@dataclass(frozen=True)
class Solver:
    """A package: its module, what makes its search, and what it can do."""

    module: str
    prepare: Callable[[np.ndarray, float, int], Callable[[], Any]]
    seeded: bool = True
    limited: bool = True
    most_cities: int = 10_000


SOLVERS = {
    "warptsp": Solver("warptsp", warptsp),
    "fast-tsp": Solver("fast_tsp", fast_tsp, seeded=False),
    "PyVRP": Solver("pyvrp", pyvrp),
    "OR-Tools": Solver("ortools", or_tools, seeded=False),
    "elkai": Solver("elkai", elkai, seeded=False, limited=False, most_cities=2_500),
}


def run_here(job: dict[str, Any]) -> dict[str, Any]:
    """Run one solver once, in this process, and return the length of its tour and its seconds."""
    matrix = np.load(job["matrix"])
    search = SOLVERS[job["solver"]].prepare(matrix, job["seconds"], job["seed"])
    wall, cpu = time.monotonic(), time.process_time()
    tour = search()
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    if sorted(tour) != list(range(len(matrix))):
        raise SystemExit("what it returned is no tour")
    return {"length": int(matrix[tour, np.roll(tour, -1)].sum()), "wall": wall, "cpu": cpu}


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Run one solver once, in a process of its own."""
    try:
        process = subprocess.run(
            [sys.executable, __file__, "--worker"],
            input=json.dumps(job),
            capture_output=True,
            text=True,
            timeout=TIMEOUT + job["seconds"],
            check=False,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
    except subprocess.TimeoutExpired:
        return {**job, "error": f"not done in {TIMEOUT + job['seconds']:g} s"}
    if process.returncode:
        return {**job, "error": (process.stderr.strip().splitlines() or ["it failed"])[-1]}
    found = {**job, **json.loads(process.stdout.splitlines()[-1])}
    return {**found, "gap": gap_percent(found["length"], job["known"])}


def cell(runs: list[dict[str, Any]]) -> str:
    """Return the median gap, and the seconds where they are not the limit's."""
    if not runs:
        return "-"
    if errors := [run["error"] for run in runs if "error" in run]:
        return errors[0]
    seconds, limit = statistics.median(run["wall"] for run in runs), runs[0]["seconds"]
    late = f" in {seconds:.1f} s" if seconds > limit * 1.05 + 0.1 else ""
    return f"{statistics.median(run['gap'] for run in runs):.3f}{late}"


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--jobs", type=int, default=1, help="how many runs at a time, each on a core")
    options = options_parser.parse_args()
    instances, limits = QUICK if options.quick else (INSTANCES, SECONDS)
    instances = tuple(name for name in instances if is_available(options.shared, name))
    there = {name: solver for name, solver in SOLVERS.items() if importlib.util.find_spec(solver.module)}
    with tempfile.TemporaryDirectory() as folder:
        jobs = []
        for name in instances:
            problem = load(options.shared, name)
            cities = np.arange(problem.n)
            path = Path(folder, f"{name}.npy")
            np.save(path, np.stack([problem.distance(np.full_like(cities, i), cities) for i in cities]))
            known = problem.known_length
            assert known is not None, name
            for solver, facts in there.items():
                if problem.n <= facts.most_cities:
                    job = {"instance": name, "matrix": str(path), "known": known.length, "solver": solver}
                    for seconds in limits if facts.limited else limits[-1:]:
                        for seed in SEEDS if facts.seeded else SEEDS[:1]:
                            jobs.append({**job, "seconds": seconds, "seed": seed})
        note(
            f"{len(jobs)} runs, {sum(job['seconds'] for job in jobs) / options.jobs / 60:.1f} minutes or more"
        )
        with ThreadPoolExecutor(options.jobs) as pool:
            results = list(pool.map(run, jobs))
    rows = []
    for name in instances:
        for seconds in limits:
            row = [name, f"{seconds:g}"]
            for solver in there:
                of_solver = [r for r in results if (r["instance"], r["solver"]) == (name, solver)]
                row.append(cell([r for r in of_solver if r["seconds"] == seconds]))
            rows.append(row)
    text = (
        "Gap in % to the optimum after the same seconds on one thread, from a matrix of distances; computing "
        "it, and giving it to the package, is not counted.\n"
        "A package that took longer has its seconds beside; elkai (LKH) takes no limit, and does one run.\n"
        f"warptsp and PyVRP: median of seeds {', '.join(map(str, SEEDS))}.\n\n"
    )
    text += table(["instance", "time limit, s", *there], rows)
    for result in results:
        del result["matrix"]
    report("peers", "Peers", text, results, options.output)


if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        print(json.dumps(run_here(json.load(sys.stdin))))
    else:
        main()
