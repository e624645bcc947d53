"""What a call on a GPU costs beside its kernels, once they are loaded: few cities."""

from __future__ import annotations

import statistics
import time

import numpy as np
from common import parser, report, table, was_on_gpu
from numpy.typing import NDArray

import warptsp

METHODS = (
    "two-opt",
    "three-opt",
    "swap",
    "symmetric-two-opt",
    "symmetric-three-opt",
    "symmetric-annealing",
    "neighbor-two-opt",
    "neighbor-three-opt",
    "ils",
)
CITIES, CALLS, WARM = 52, 30, 5
COMPILING = 300.0  # seconds in which the kernels must be there
BAR = 2.0  # ms beside the kernels
MEANING = f"""{CITIES} uniform cities, greedy start included, medians of {CALLS} calls after {WARM}
that are not counted. Beside the kernels is what is left of a call's wall time without the time
between the events around its kernels; the target is {BAR:g} ms. These calls have no lower bound
(`bound=False`). The last column is the same with one, as by default: it may take a tenth of the time
that the search has taken."""

HEADER = ["method", "ms", "kernels, ms", "beside them, ms", "", "with a bound, ms"]


def medians(
    points: NDArray[np.float64], method: str, device: str, *, bound: str | bool
) -> tuple[float, float, float]:
    """Milliseconds of a call, of its kernels, and what is left."""
    taken, kernels = [], []
    begun = time.monotonic()
    while not was_on_gpu(warptsp.solve(points, method=method, device=device, bound=bound)):
        if time.monotonic() - begun > COMPILING:
            raise SystemExit(f"{method} on {device}: the GPU has not searched in {COMPILING:g} s")
        time.sleep(0.1)
    for _ in range(WARM + CALLS):
        begun = time.perf_counter()
        found = warptsp.solve(points, method=method, device=device, bound=bound)
        taken.append(1e3 * (time.perf_counter() - begun))
        kernels.append(1e3 * float(found.counters.get("kernel_seconds", 0.0)))
    whole, inside = statistics.median(taken[WARM:]), statistics.median(kernels[WARM:])
    left = (t - k for t, k in zip(taken[WARM:], kernels[WARM:], strict=True))
    return whole, inside, statistics.median(left)


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--device", default="cuda")
    options = options_parser.parse_args()
    points = np.random.default_rng(CITIES).random((CITIES, 2))
    rows, results = [], []
    for method in METHODS:
        whole, inside, beside = medians(points, method, options.device, bound=False)
        bounded = medians(points, method, options.device, bound="auto")[2]
        verdict = "met" if beside <= BAR else "**missed**"
        cells = [f"{ms:.2f}" for ms in (whole, inside, beside)]
        rows.append([f"`{method}`", *cells, verdict, f"{bounded:.2f}"])
        results.append(
            {"method": method, "ms": whole, "kernels": inside, "beside": beside, "beside_bounded": bounded}
        )
    text = MEANING + "\n\n" + table(HEADER, rows)
    report("warm_calls", "Warm calls on a GPU", text, results, options.output)


if __name__ == "__main__":
    main()
