"""What comes before the search: candidate lists and start tours, their seconds, bytes and gaps; one thread.

Seconds are CPU seconds, so that other work on the machine matters little; minimum of several runs.
Gaps are over the best known length. Bytes per city are the peak, without the coordinates but with the result
(Linux with glibc only); no figure below 100 000 cities, where the process itself dominates.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import Any

from common import gap_percent, load, note, parser, report, table
from worker import peak, reset_peak, status

INSTANCES = ("E10k.0", "C10k.0", "E100k.0", "C100k.0", "E1M.0", "C1M.0")
QUICK = ("E10k.0", "C10k.0")
RUNS = 3
MIN_MEASURED = 100_000
M_MMAP_THRESHOLD = -3  # of glibc's malloc.h


def least_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least processor time of some runs, and the last result."""
    seconds, result = float("inf"), None
    for _ in range(RUNS):
        result = None
        begin = time.process_time()
        result = work()
        seconds = min(seconds, time.process_time() - begin)
    return seconds, result


def peak_bytes(work: Callable[[], Any]) -> float:
    """Return by how many bytes the process grew at most while it worked."""
    reset_peak()
    before = status("VmRSS:")
    work()
    return peak() - before


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--instances", nargs="+", choices=INSTANCES, default=list(INSTANCES))
    options = options_parser.parse_args()
    # Memory that the C library keeps when it is freed would hide what the next work takes.
    ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 1 << 20)

    from warptsp.construct import CONSTRUCTIONS, construct
    from warptsp.neighbors import candidate_lists

    rows, results = [], []
    for name in QUICK if options.quick else options.instances:
        note(name)
        problem = load(options.shared, name)
        known = problem.known_length

        def add(what: str, work: Callable[[], Any], problem: Any = problem, known: Any = known) -> None:
            seconds, result = least_seconds(work)
            tour = result if result.ndim == 1 else None
            del result
            bytes_each = peak_bytes(work) / problem.n if problem.n >= MIN_MEASURED else None
            gap = None
            if tour is not None and known is not None:
                gap = gap_percent(problem.length(tour), known.length)
            results.append(
                {"instance": problem.name, "what": what, "seconds": seconds, "bytes": bytes_each, "gap": gap}
            )
            shown = "" if gap is None else f"{gap:.1f}"
            grown = "" if bytes_each is None else f"{bytes_each:.0f}"
            rows.append([problem.name, what, f"{seconds:.3f}", grown, shown])

        for count, per_quadrant in ((10, 2), (10, 0), (5, 0)):
            what, given = f"candidates: {count}, {per_quadrant} a quadrant", (problem, count, per_quadrant)
            add(what, lambda given=given: candidate_lists(*given))
        made = (name for name, found in CONSTRUCTIONS.items() if not found.matrix)
        for start in (name for name in made if name not in ("random", "given")):
            add(start, lambda problem=problem, start=start: construct(problem, start))
    text = table(["instance", "what", "seconds", "bytes a city", "gap in %"], rows)
    report("geometry", "Candidate lists and start tours", text, results, options.output)


if __name__ == "__main__":
    main()
