"""How long NVRTC takes for the kernels of each method's first run. Needs no GPU.

CPU seconds of all threads, for closed tours in EUC_2D and, in brackets, GREAT_CIRCLE; seconds by the clock
depend on what else the machine does and on its cores, as the kernels of a file are optimised side by side.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor

from common import parser, report, table

METRICS = ("EUC_2D", "GREAT_CIRCLE")


def compile_once(method: str, metric: str, capability: tuple[int, int]) -> dict[str, float]:
    """Compile what a first run needs, and return seconds of the CPU and by the clock."""
    from warptsp.backends.cuda.compiler import compile_kernels, nvrtc_version
    from warptsp.methods.builds import sources_of

    nvrtc_version()
    # Of a closed tour of some thousand cities.
    left_out = ("LK_DUMMY", 1), ("RESIDENT_ROWS", 4)
    sources = [
        source
        for source in sources_of([method], [metric])
        if source.file != "paths.cu" and not any(item in source.defines.items() for item in left_out)
    ]
    cpu, clock = time.process_time(), time.perf_counter()
    with ThreadPoolExecutor(len(sources)) as pool:
        for done in [pool.submit(compile_kernels, source, capability) for source in sources]:
            done.result()
    return {"cpu": time.process_time() - cpu, "clock": time.perf_counter() - clock}


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
        best = results[method] = {}
        for metric in METRICS:
            runs = [compile_once(method, metric, (major, minor)) for _ in range(repeats)]
            best[metric] = {key: min(run[key] for run in runs) for key in ("cpu", "clock")}
        cells = ["{:.1f} ({:.1f})".format(*(best[name][key] for name in METRICS)) for key in ("cpu", "clock")]
        rows.append([method, *cells])
    text = table(["method", "CPU s", "by the clock, s"], rows)
    report("compiling", "Compiling kernels", text, results, options.output)


if __name__ == "__main__":
    main()
