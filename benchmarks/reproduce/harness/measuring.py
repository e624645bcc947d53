"""Runs of methods, and the cells of a study one after the other or side by side."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.common import host, note, provenance, was_on_gpu
from benchmarks.reproduce.harness.results import append, read_cells
from benchmarks.reproduce.harness.study import Cell, Setting, Study, name_of

if TYPE_CHECKING:
    from warptsp.problem import Problem
    from warptsp.progress import Progress
    from warptsp.result import Result

WARM_UP = 10.0  # seconds that the first pass of a run that is not counted may take
COMPILING = 300.0  # seconds in which the kernels of a GPU must be there

_warm: set[tuple[Any, ...]] = set()


def run(
    problem: Problem, setting: Setting, *, method: str, judge: Problem | None = None, **options: Any
) -> dict[str, Any]:
    """Run a method with ``warptsp.solve``, and return what tables are made of.

    A first short run that is not counted loads what is needed, once for each kind of launch. On one thread of
    the CPU the seconds are those of the processor, so that other work on the machine does not count. Without
    a time limit the method ends by itself. A signal ends the run, not only the method. The length is that of
    the tour in `judge` if it is given: the same cities with other distances.
    """
    import warptsp

    everything = {
        "method": method,
        "device": setting.device,
        "threads": setting.threads,
        "seed": 1,
        "bound": False,
        "prove": False,
        **({} if "time_limit" in options else {"stop": lambda state: False}),
        **options,
    }
    params = "" if setting.device == "cpu" else json.dumps(options.get("params"), sort_keys=True)
    launch = (method, setting.device, problem.metric.name, params, problem.n if params else 0)
    if launch not in _warm:
        _warm.add(launch)
        _warm_up(problem, everything)
    until = time.monotonic() + COMPILING
    while True:
        begun = time.process_time()
        result = warptsp.solve(problem, **everything)
        spent = time.process_time() - begun
        if setting.device == "cpu" or was_on_gpu(result):
            break
        # A whole run may need kernels that the first pass did not.
        if time.monotonic() > until:
            raise RuntimeError("the CPU searched while kernels were compiled, or in place of the GPU")
    found = figures(result, problem if judge is None else judge)
    alone = setting.device == "cpu" and result.threads == 1 and setting.side_by_side == 1
    return {**found, "seconds": round(spent, 6)} if alone else found


def _warm_up(problem: Problem, everything: Mapping[str, Any]) -> None:
    """Run to the first pass or improvement, again until a GPU has its kernels: the CPU searches meanwhile."""
    import warptsp

    until = time.monotonic() + COMPILING
    while True:
        first: list[float] = []

        def enough(event: Progress, first: list[float] = first) -> bool:
            first.append(event.length)
            looked = event.counters.get("passes", 0) > 0 or event.length < first[0]
            return looked or event.elapsed > WARM_UP

        result = warptsp.solve(
            problem, **{**everything, "time_limit": None, "stop": lambda state: False, "callback": enough}
        )
        if everything.get("device", "cpu") == "cpu" or was_on_gpu(result) or time.monotonic() > until:
            return


def figures(result: Result, judge: Problem) -> dict[str, Any]:
    """Return the figures of a result: seconds, length, error in per cent, start and all counters."""
    length = judge.length(result.tour)
    known = judge.known_length
    return {
        "cities": judge.n,
        "seconds": round(result.seconds, 6),
        "length": length,
        "start_length": result.history[0].length if result.history else None,
        "error": None if known is None else round(100 * (length / known.length - 1), 4),
        "stop": result.stop_reason,
        "threads": result.threads,
        **result.counters,
    }


def measure(study: Study, setting: Setting, path: Path, source: Mapping[str, str], until: float) -> None:
    """Measure what is not in the file yet, and write it there; stops at a time of ``time.monotonic()``."""
    name = name_of(study)
    done = {
        (row["cell"], row["device"])
        for row in read_cells(path)
        if row["study"] == name and "error_text" not in row["result"]
    }
    wanted = [
        cell
        for cell in study.cells(setting)
        if (cell.name, setting.device) not in done and re.search(setting.pattern, cell.name)
    ]
    writing = threading.Lock()

    def measure_one(cell: Cell) -> None:
        if time.monotonic() > until:
            note(f"{name}: out of time before {cell.name}")
            return
        begun = time.monotonic()
        try:
            result = study.measure(cell, setting)
        except Exception as error:  # one cell that cannot be measured must not end the run
            result = {"error_text": f"{type(error).__name__}: {error}"}
        note(f"{name}: {cell.name} on {setting.device}, {time.monotonic() - begun:.2f} s")
        if "error_text" in result:
            note(f"  {result['error_text']}")
        row = {"study": name, "cell": cell.name, "device": setting.device, **source, "result": result}
        with writing:
            append(path, row)

    if setting.side_by_side == 1:
        for cell in wanted:
            measure_one(cell)
    else:
        with ThreadPoolExecutor(setting.side_by_side) as pool:
            list(pool.map(measure_one, wanted))


def machine(setting: Setting, commit: str | None) -> dict[str, str]:
    """Return where, when and from which source the cells of a setting come."""
    from warptsp.devices import describe
    from warptsp.machine import resolve_threads

    source, name = provenance(), host()
    if setting.device != "cpu":
        gpus = describe()["gpus"]
        name = f"{gpus[0]['name']} beside {name}" if gpus else name
    threads = resolve_threads(setting.threads)
    return {
        "machine": name,
        "threads": f"{threads} thread{'s' if threads > 1 else ''}"
        + (f", {setting.side_by_side} cells side by side" if setting.side_by_side > 1 else ""),
        "date": source["date"],
        "commit": commit or source["commit"],
    }
