"""The set-up of a search on a GPU: numbering, candidate lists, greedy tour; seconds, bytes and lengths.

Seconds are wall-clock time from the call to the end of the GPU's work, minimum of several runs; numbering
includes copying the coordinates to the GPU. Kernels are compiled beforehand. Bytes per city are the maximum
that arrays on the GPU took up to the end of the step, including the results of earlier steps.
Gaps are over the best known length, or over the CPU's greedy tour with `--compare`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from common import gap_percent, load, note, parser, report, table

INSTANCES = ("E10k.0", "C10k.0", "E100k.0", "C100k.0", "E1M.0", "C1M.0", "E10M.0")
QUICK = ("E100k.0",)
RUNS = 3


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--instances", nargs="+", default=list(INSTANCES))
    options_parser.add_argument(
        "--uniform", nargs="+", type=int, default=[], help="random instances of these sizes"
    )
    options_parser.add_argument("--compare", action="store_true", help="with the CPU's greedy tour")
    options = options_parser.parse_args()

    from warptsp import Metric
    from warptsp.backends.cuda import geometry, greedy, plane_candidates
    from warptsp.backends.cuda.device import Device
    from warptsp.construct import construct

    rows: list[list[Any]] = []
    results: list[dict[str, Any]] = []

    def measure(name: str, points: Any, metric: Metric, known: float | None) -> None:
        n = len(points)
        with Device.open() as device:

            def add(what: str, work: Callable[[], Any], length_of: Callable[[Any], float] | None) -> Any:
                seconds, result = float("inf"), None
                for _ in range(RUNS):
                    result = None
                    device.synchronize()
                    begin = time.perf_counter()
                    result = work()
                    device.synchronize()
                    seconds = min(seconds, time.perf_counter() - begin)
                bytes_each = device.memory_peak() / n
                gap = None
                if length_of is not None and known is not None:
                    gap = gap_percent(length_of(result), known)
                results.append(
                    {"instance": name, "what": what, "seconds": seconds, "bytes": bytes_each, "gap": gap}
                )
                shown = "" if gap is None else f"{gap:.2f}"
                rows.append([name, what, f"{1000 * seconds:.1f}", f"{bytes_each:.0f}", shown])
                print("|", " | ".join(map(str, rows[-1])), "|", flush=True)
                return result

            layout: Any = add("numbering", lambda: geometry.build(device, points), None)

            def search(count: int, per_quadrant: int) -> Any:
                return add(
                    f"candidates: {count}, {per_quadrant} a quadrant",
                    lambda: plane_candidates.candidate_lists(device, layout, count, per_quadrant),
                    None,
                )

            candidates = search(8, 1)
            tour = add(
                "greedy from 8, 1 a quadrant",
                lambda lists=candidates: greedy.greedy_tour(device, layout, lists, 1, metric),
                lambda tour: geometry.tour_length(device, layout.points, tour, metric),
            )
            del candidates
            search(5, 0)
            search(10, 2)
            add("second order", lambda: geometry.second_order(device, layout, 0.4, (0.3, 0.6)), None)
            add("length", lambda: geometry.tour_length(device, layout.points, tour, metric), None)

    for name in QUICK if options.quick else options.instances:
        note(name)
        problem = load(options.shared, name)
        known = problem.known_length
        length = None if known is None else float(known.length)
        if options.compare:
            length = float(problem.length(construct(problem, "greedy")))
        measure(name, problem.search_points(), problem.metric, length)
    for n in options.uniform:
        note(f"{n} uniform")
        points = np.random.default_rng(n).random((n, 2)) * 1e6
        # What the tour of uniform cities tends to: D. S. Johnson, L. A. McGeoch, E. E. Rothberg (1996).
        measure(f"uniform {n}", points, Metric.EXACT_2D, 0.7124 * 1e6 * np.sqrt(n))
    text = table(["instance", "what", "milliseconds", "bytes a city", "gap in %"], rows)
    report("gpu_setup", "Set-up on a GPU", text, results, options.output)


if __name__ == "__main__":
    main()
