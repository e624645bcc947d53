"""The exhaustive methods: moves evaluated per second in a pass, and whole descents.

Every move of a neighbourhood is evaluated once in a pass, and counted once; a 3-opt triple is four moves. On
a GPU the seconds of a pass are those of its kernels (including choosing and applying its move), by
the GPU's clock; on the CPU they are CPU seconds. Descents are measured from the start tour in host
memory to the last tour there, on a GPU that is already in use, with kernels compiled, excluding set-up.
Climbers of `hill-climbing` descend from random tours to local optima for a while; their passes have
n (n - 3) / 2 moves.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from common import note, parser, report, table

PASSES = (  # neighborhood, cities, metric, start
    ("two-opt", 100_000, "EUC_2D", "random"),
    ("two-opt", 100_000, "EXACT_2D", "random"),
    ("two-opt", 100_000, "EUC_2D", "greedy"),
    ("two-opt", 1_000_000, "EUC_2D", "random"),
    ("two-opt", 10_000, "EUC_2D", "greedy"),
    ("three-opt", 1_000, "EUC_2D", "random"),
    ("three-opt", 1_000, "EXACT_2D", "random"),
    ("swap", 1_000, "EUC_2D", "random"),
    ("swap", 10_000, "EUC_2D", "random"),
    ("relocate", 1_000, "EUC_2D", "random"),
    ("relocate", 10_000, "EUC_2D", "random"),
)
DESCENTS = (
    ("two-opt", 2_000, "EUC_2D", "given"),
    ("two-opt", 2_000, "EUC_2D", "greedy"),
    ("two-opt", 2_000, "EXACT_2D", "given"),
    ("two-opt", 500, "EUC_2D", "given"),
    ("three-opt", 200, "EUC_2D", "given"),
    ("swap", 1_000, "EUC_2D", "given"),
    ("relocate", 1_000, "EUC_2D", "given"),
)
CLIMBED = (200, 500, 783, 1_000, 2_000, 4_000, 8_000)


def measure_climbers(sizes: tuple[int, ...], device: Any, threads: int) -> list[list[Any]]:
    """Return (cities, metric, climbers, 10^9 moves/s) of random-restart hill climbing."""
    import warptsp
    from warptsp.papers.hill_climbing.cuda import climbers_of
    from warptsp.papers.hill_climbing.instance import ClimbInstance

    rows: list[list[Any]] = []
    for n in sizes:
        points = np.random.default_rng(n).integers(0, 10_000, (n, 2)).astype(float)
        for metric in ("EUC_2D", "EXACT_2D"):
            problem = warptsp.Problem.from_points(points, metric)
            if device is None:
                begun = time.process_time()
                method, limit = "hill-climbing", 1.0
                result = warptsp.solve(
                    problem, method=method, device="cpu", threads=threads, time_limit=limit, bound=False
                )
                seconds = time.process_time() - begun
                passes, climbers = result.counters["passes"], result.counters["climbers"]
            else:
                search = climbers_of(device, ClimbInstance.build(problem), "auto", seed=1)
                search.proceed(None, 0.05)
                before, begun = search.passes, search.seconds
                for _ in range(8):
                    search.proceed(None, 0.05)
                passes, seconds, climbers = search.passes - before, search.seconds - begun, search.climbers
            rows.append([n, metric, climbers, f"{passes * (n * (n - 3) // 2) / seconds / 1e9:.4g}"])
            note(" ".join(map(str, ("hill-climbing", *rows[-1]))))
    return rows


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--device", default="cuda:0", help="cpu or cuda:N")
    options_parser.add_argument("--threads", type=int, default=1, help="of the CPU")
    options = options_parser.parse_args()

    from warptsp import Problem, _native
    from warptsp.construct import construct
    from warptsp.papers.exhaustive.descent import descent_on_cpu
    from warptsp.papers.exhaustive.neighborhood import NEIGHBORHOODS, Sought, Start

    token = _native.StopToken()
    device = None
    clock = time.process_time if options.device == "cpu" else time.perf_counter
    if options.device != "cpu":
        from warptsp.backends.cuda.device import Device
        from warptsp.machine import Devices
        from warptsp.papers.exhaustive.cuda import CudaDescent

        device = Device.open(Devices.parse(options.device).gpus[0])

    def descent_of(name: str, n: int, metric: str, start: str) -> Any:
        extent = 1_000_000 if n >= 100_000 else 10_000
        points = np.random.default_rng(n).integers(0, extent, (n, 2)).astype(float)
        problem = Problem.from_points(points, metric)
        tour = construct(problem, start, seed=1)
        begin = Start.of(problem, tour, Sought((NEIGHBORHOODS[name],)), token)
        assert begin is not None
        return descent_on_cpu(begin, options.threads) if device is None else CudaDescent(device, begin)

    results: list[dict[str, Any]] = []
    rows = []
    for name, n, metric, start in PASSES if not options.quick else PASSES[4:]:
        if device is None and n >= 1_000_000:
            continue
        descent = descent_of(name, n, metric, start)
        descent.proceed(1.0, 1, token)
        best = float("inf")
        for _ in range(3 if n >= 100_000 else 8):
            before, begun = descent.counters(), clock()
            descent.proceed(10.0, 1 if n >= 1_000_000 else 5, token)
            after, spent = descent.counters(), clock() - begun
            passes = after["passes"] - before["passes"]
            seconds = spent if device is None else after["kernel_seconds"] - before["kernel_seconds"]
            if passes:
                best = min(best, seconds / passes)
        counters = descent.counters()
        moves = counters["evaluations"] / counters["passes"]
        rows.append([name, n, metric, start, f"{best * 1e3:.4g}", f"{moves / best / 1e9:.4g}"])
        results.append({"method": name, "cities": n, "metric": metric, "start": start, "seconds": best})
        note(" ".join(map(str, rows[-1])))
    passes_table = table(["method", "cities", "metric", "start", "ms a pass", "10^9 moves/s"], rows)

    rows = []
    for name, n, metric, start in DESCENTS:
        best = (float("inf"), 0.0)
        for _ in range(1 if device is None else 3):
            begun = clock()
            descent = descent_of(name, n, metric, start)
            ready = clock()
            while not descent.proceed(0.05, -1, token):
                pass
            length, tour = descent.length, descent.tour()
            best = min(best, (clock() - ready, ready - begun))
        assert sorted(tour.tolist()) == list(range(n))
        counters = descent.counters()
        rows.append([name, n, metric, start, f"{best[0] * 1e3:.4g}", counters["moves"], f"{length:.10g}"])
        results.append({"method": name, "cities": n, "metric": metric, "descent": best[0], **counters})
        note(" ".join(map(str, rows[-1])))
    descents_table = table(["method", "cities", "metric", "start", "ms", "moves", "length"], rows)

    rows = measure_climbers(CLIMBED[:2] if options.quick else CLIMBED, device, options.threads)
    results += [
        dict(zip(("method", "cities", "metric", "climbers", "rate"), ("hill-climbing", *row), strict=True))
        for row in rows
    ]
    climbers_table = table(["cities", "metric", "climbers", "10^9 moves/s"], rows)
    where = "CPU" if device is None else device.name
    how = (__doc__ or "").partition("\n\n")[2]
    text = f"{how}\nDevice: {where}.\n\n## Passes\n\n{passes_table}\n\n## Descents\n\n{descents_table}"
    text += f"\n\n## Climbers\n\n{climbers_table}"
    name, title = ("exhaustive", "") if device is not None else ("exhaustive_cpu", " on a CPU")
    report(name, f"Exhaustive methods{title}", text, results, options.output)


if __name__ == "__main__":
    main()
