"""Lower bounds on a GPU: how far below the best known length, in how many seconds and bytes.

Seconds are wall time from coordinates in memory to the proof, the greedy tour and the opening of the GPU
included, kernels compiled before: the median of several runs, with their range. The limit is the bound after
2000 iterations. Bytes per city are those of the GPU at the peak. The constant is the bound divided by
sqrt(n A), for n uniform cities in a square of area A.
"""

from __future__ import annotations

import math
import statistics
import time
from typing import Any

from bound import gap_table
from common import UNIFORM, gap_percent, load, note, parser, report

INSTANCES = ("E10k.0", "C10k.0", "E100k.0", "C100k.0", "E1M.0", "E3M.0", "E10M.0")
QUICK = ("E10k.0",)
ITERATIONS = (50, 100, 300)
LIMIT = 2000
RUNS = 5
MAX_REPEATED = 1_000_000  # cities up to which runs are repeated
SQUARE = 1e12  # area of the DIMACS instances


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument(
        "--instances", nargs="+", default=list(INSTANCES), help="by name, or uniform-N"
    )
    options_parser.add_argument("--iterations", nargs="+", type=int, default=list(ITERATIONS))
    options_parser.add_argument("--no-limit", action="store_true", help="leave out the 2000 iterations")
    options_parser.add_argument("--device", default="cuda")
    options = options_parser.parse_args()

    from warptsp import lower_bound
    from warptsp.backends.cuda.device import Device
    from warptsp.backends.cuda.memory import DeviceMemory

    peaks: list[int] = []
    close = Device.close

    def closed(device: Device) -> None:
        """Note what a device has held, before it is closed."""
        if device._pool is not None:
            peaks.append(DeviceMemory.memory_peak(device))
        close(device)

    Device.close = closed  # type: ignore[method-assign]
    results = []
    for name in QUICK if options.quick else options.instances:
        note(name)
        problem = load(options.shared, name)
        known = problem.known_length
        lower_bound(problem, iterations=1, device=options.device)  # compiles the kernels

        def timed(iterations: int, problem: Any = problem) -> tuple[float, Any]:
            begin = time.monotonic()
            found = lower_bound(problem, iterations=iterations, device=options.device)
            return time.monotonic() - begin, found

        limit = None if options.no_limit or options.quick else timed(LIMIT)[1].value
        for iterations in options.iterations:
            runs = [timed(iterations) for _ in range(RUNS if problem.n <= MAX_REPEATED else 1)]
            value = runs[0][1].value
            assert all(found.value == value for _, found in runs)
            seconds = [taken for taken, _ in runs]
            row: dict[str, Any] = {
                "instance": name,
                "iterations": iterations,
                "seconds": statistics.median(seconds),
                "bound": value,
                "gap": None if known is None else gap_percent(known.length, value),
                "limit": None if known is None or limit is None else gap_percent(known.length, limit),
                "bytes": peaks[-1] / problem.n,
                "constant": None,
            }
            if name.startswith("E") or UNIFORM.fullmatch(name):
                row["constant"] = value / math.sqrt(problem.n * SQUARE)
            results.append(row)
    text = gap_table(results)
    report("bounds_gpu", "Lower bounds on a GPU", text, results, options.output)


if __name__ == "__main__":
    main()
