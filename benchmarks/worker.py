"""One measurement in a process of its own: a job as JSON on stdin, its result as JSON on stdout.

The clocks start when the instance is in memory in the form that the solver takes, and stop when it has
returned a tour. So reading is never counted: only the solver's own work happens in between.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def solve_warptsp(job: dict[str, Any]) -> dict[str, Any]:
    """Solve with this package; ``horizon`` tells whether the search may know its time limit beforehand.

    A GPU is opened within the time that is measured.
    """
    from common import load, thinned

    import warptsp
    from warptsp import stop

    _warm_up()
    before = status("VmRSS:")
    problem = load(Path(job["shared"]), job["instance"])
    limit = job["time_limit"]
    criterion = (
        stop.MaxRuntime(limit) if job.get("horizon", True) else stop.Custom(lambda s: s.elapsed >= limit)
    )
    if job.get("target") is not None:
        criterion = criterion | stop.TargetLength(job["target"])
    reset_peak()
    wall, cpu = time.monotonic(), time.process_time()
    result = warptsp.solve(
        problem,
        stop=criterion,
        seed=job["seed"],
        threads=job["threads"],
        device=job.get("device", "cpu"),
        method=job.get("method", "lk"),
        params=job.get("params"),
        prove=False,
    )
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    known = problem.known_length
    return {
        "length": result.length,
        "known": None if known is None else known.length,
        "cities": problem.n,
        "wall": wall,
        "cpu": cpu,
        "history": thinned(result.history),
        "counters": result.counters,
        "peak_bytes": peak() - before,
    }


def solve_small(job: dict[str, Any]) -> dict[str, Any]:
    """Solve with this package, and stop at the known length."""
    from common import load

    known = load(Path(job["shared"]), job["instance"]).known_length
    return solve_warptsp({**job, "target": None if known is None else known.length})


def solve_kicks(job: dict[str, Any]) -> dict[str, Any]:
    """Solve with this package, or another version of it, on one thread, with a number of kicks.

    No more of it is used than every version has. With ``form`` "matrix" it is given a matrix of distances.
    """
    import inspect

    import numpy as np
    from common import load

    import warptsp

    _warm_up()
    problem = load(Path(job["shared"]), job["instance"])
    if job.get("form") == "matrix":
        cities = np.arange(problem.n)
        problem = warptsp.Problem.from_matrix(problem.distance(cities[:, None], cities[None]))
    alone = {"bound": False} if "bound" in inspect.signature(warptsp.solve).parameters else {}
    kicks = round(job["kicks_per_city"] * problem.n)
    cpu = time.process_time()
    result = warptsp.solve(
        problem, method=job["method"], kicks=kicks, seed=job["seed"], threads=1, device="cpu", **alone
    )
    return {"length": result.length, "cpu": time.process_time() - cpu, "kicks": kicks}


def solve_in_time(job: dict[str, Any]) -> dict[str, Any]:
    """Solve uniform points or a random matrix without a warm-up, as in a user's first call.

    The limit is from the call on, after the import. The CPU seconds used after it are told, too, since they
    do not depend on other programs.
    """
    import threading

    import numpy as np

    import warptsp

    random = np.random.default_rng(job["seed"])
    problem: Any = random.random((job["cities"], 2))
    if job["kind"] == "matrix":
        half = np.triu(random.integers(1, 1000, (job["cities"], job["cities"]), dtype=np.int32), 1)
        problem = warptsp.Problem.from_matrix(half + half.T)
    solve = warptsp.solve  # imports it
    at_limit: list[float] = []
    watch = threading.Timer(job["time_limit"], lambda: at_limit.append(time.process_time()))
    watch.daemon = True
    watch.start()
    wall = time.monotonic()
    result = solve(
        problem,
        method=job["method"],
        start=job["start"],
        time_limit=job["time_limit"],
        seed=job["seed"],
        threads=job["threads"],
        device="cpu",
    )
    wall, cpu = time.monotonic() - wall, time.process_time()
    return {
        "wall": wall,
        "cpu_over": cpu - at_limit[0] if at_limit else 0.0,
        "ended": not result.stop_reason.startswith("time limit"),
    }


def read(job: dict[str, Any]) -> dict[str, Any]:
    """Read a file with this package; the peak is the whole process's above what it held with all imported."""
    import warptsp

    small = Path(job["path"]).with_name("warm_up.csv")
    small.write_text("x,y\n0,0\n1,0\n", encoding="utf-8")
    warptsp.load(small)
    before = status("VmRSS:")
    reset_peak()
    wall = time.monotonic()
    problem = warptsp.load(job["path"])
    return {"wall": time.monotonic() - wall, "peak_bytes": peak() - before, "cities": problem.n}


def picture(job: dict[str, Any]) -> dict[str, Any]:
    """Draw a greedy tour, which `job["tour"]` keeps, and in a figure the space-filling one beside it.

    Instance and tours are in memory when the clock starts; it stops when the file is on the disk.
    """
    import numpy as np
    from common import load

    from warptsp.construct import construct
    from warptsp.plotting import draw, plot

    problem = load(Path(job["shared"]), job["instance"])
    if not Path(job["tour"]).exists():
        np.save(job["tour"], construct(problem, "greedy", threads=job["threads"]))
    tour = np.load(job["tour"])
    start = construct(problem, "space-filling") if job["kind"] == "figure" else None
    before = status("VmRSS:")
    reset_peak()
    wall, cpu = time.monotonic(), time.process_time()
    if job["kind"] == "figure":
        plot(problem, tour, job["file"], start=start, panels=job["panels"])
    else:
        draw(job["file"], problem, tour)
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    size = Path(job["file"]).stat().st_size
    return {"wall": wall, "cpu": cpu, "peak_bytes": peak() - before, "file_bytes": size}


def _warm_up() -> None:
    """Import all that a search imports, so that the clock sees the search alone."""
    import numpy as np

    import warptsp

    warptsp.solve(np.random.default_rng(1).random((100, 2)), kicks=10, threads=1)


def status(field: str) -> int:
    """Return a figure of /proc/self/status in bytes; 0 where there is none."""
    try:
        with open("/proc/self/status", encoding="ascii") as lines:
            return next((1024 * int(line.split()[1]) for line in lines if line.startswith(field)), 0)
    except OSError:
        return 0


def reset_peak() -> None:
    """Begin a new count of the peak of resident memory, so that reading the instance is not in it."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w", encoding="ascii") as stream:
        stream.write("5")


def peak() -> int:
    """Return the peak of resident memory in bytes."""
    return status("VmHWM:") or 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


JOBS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "warptsp": solve_warptsp,
    "small": solve_small,
    "kicks": solve_kicks,
    "limit": solve_in_time,
    "read": read,
    "picture": picture,
}

if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    job = json.load(sys.stdin)
    print(json.dumps(JOBS[job["job"]](job)))
