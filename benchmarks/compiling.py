"""How long NVRTC takes for the kernels of each method's first run: as it was, and as it is.

As it was: all metrics in one build, all kernels of a file, one thread for it. Needs no GPU. For closed tours
in EUC_2D and, in brackets, GREAT_CIRCLE. CPU seconds are those of all threads; seconds by the clock depend on
what else the machine does and on its cores, as the kernels of a file are now optimised side by side.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from common import parser, report, table

if TYPE_CHECKING:
    from warptsp.backends.cuda.compiler import Source

METRICS = ("EUC_2D", "GREAT_CIRCLE")
ANY_METRIC = ("descent", "symmetric")  # files that were compiled for all metrics at once


def compile_once(method: str, metric: str, capability: tuple[int, int], *, before: bool) -> dict[str, float]:
    """Compile what a first run needs, and return seconds of the CPU and by the clock."""
    from warptsp.backends.cuda import compiler
    from warptsp.backends.cuda.compiler import compile_kernels, nvrtc_version
    from warptsp.methods.builds import sources_of

    nvrtc_version()
    compiler.SPLIT_COMPILE = None if before else 0  # type: ignore[assignment]
    sources = sources_of([method], [metric])
    if before:
        sources = as_before(sources)
    # Of a closed tour of some thousand cities.
    left_out = ("LK_DUMMY", 1), ("RESIDENT_ROWS", 4)
    sources = [
        source
        for source in sources
        if source.file != "paths.cu" and not any(item in source.defines.items() for item in left_out)
    ]
    cpu, clock = time.process_time(), time.perf_counter()
    with ThreadPoolExecutor(len(sources)) as pool:
        done = [pool.submit(compile_kernels, s, capability) for s in sources]
        for each in done:
            each.result()
    return {"cpu": time.process_time() - cpu, "clock": time.perf_counter() - clock}


def as_before(sources: list[Source]) -> list[Source]:
    """Return the sources as they were compiled before: for every metric, and with all kernels."""
    from warptsp.papers.neighbor_lists.cuda import CHAIN_KERNELS, MANY_KERNELS

    named = [
        name.format(three=three) for name in (*MANY_KERNELS, *CHAIN_KERNELS) for three in ("false", "true")
    ]
    every = tuple(dict.fromkeys(named))
    found = []
    for source in sources:
        if source.file.startswith(ANY_METRIC):
            kept = {name: value for name, value in source.defines.items() if name != "METRIC_KIND"}
            found.append(replace(source, defines=kept))
        elif source.file != "neighbor.cu":
            found.append(source)
        elif not found:
            found.append(replace(source, names=every))
    return found


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--arch", default="9.0", help="compute capability")
    options_parser.add_argument("--repeats", type=int, default=3)
    options = options_parser.parse_args()
    os.environ["WARPTSP_CACHE_DIR"] = ""
    from warptsp.methods.builds import methods_with_kernels

    major, minor = map(int, options.arch.split("."))
    repeats = 1 if options.quick else options.repeats
    results, rows = {}, []
    for method in methods_with_kernels()[: 1 if options.quick else None]:
        row = [method]
        for before in (True, False):
            best = {}
            for metric in METRICS:
                runs = [compile_once(method, metric, (major, minor), before=before) for _ in range(repeats)]
                best[metric] = {key: min(run[key] for run in runs) for key in ("cpu", "clock")}
            results[f"{method}, {'before' if before else 'now'}"] = best
            row += [
                "{:.1f} ({:.1f})".format(*(best[metric][key] for metric in METRICS))
                for key in ("cpu", "clock")
            ]
        rows.append(row)
    head = ["method", "CPU s before", "by the clock", "CPU s now", "by the clock"]
    report("compiling", "Compiling kernels", table(head, rows), results, options.output)


if __name__ == "__main__":
    main()
