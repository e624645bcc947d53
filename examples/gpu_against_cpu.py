"""The same search on the GPU and on the CPU.

You learn to choose a device, what happens if there is no GPU, and from which size on a GPU pays off.
What to expect is measured in docs/performance/gpu.md.

    python examples/gpu_against_cpu.py OUT
"""

import argparse
import csv
from pathlib import Path

import warptsp
from warptsp.generate import dimacs

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("out", type=Path, help="output folder")
parser.add_argument("--small", action="store_true", help="two sizes, a fifth of a second each")
options = parser.parse_args()
options.out.mkdir(parents=True, exist_ok=True)
runs = {"E1k.0": 0.2, "E10k.0": 0.2} if options.small else {"E10k.0": 5, "E100k.0": 10, "E1M.0": 30}

# A device that is asked for by name is used or refused, with the reason; "auto" would take the CPU instead.
devices = ["cuda", "cpu"]
try:
    # The first run compiles the kernels, some seconds; they are kept, so that later runs start at once.
    warptsp.solve(dimacs("E1k.0"), device="cuda", kicks=1)
except (warptsp.BackendUnavailable, warptsp.DeviceFailure, warptsp.DeviceOutOfMemory) as reason:
    print(f"CPU alone: {reason}")
    devices.remove("cuda")

rows = []
for name, seconds in runs.items():
    problem = dimacs(name)  # random cities of the DIMACS challenge, with an optimal or best known length
    for device in devices:
        result = warptsp.solve(problem, device=device, time_limit=seconds, seed=1)
        gap = 100 * result.gap
        rows.append([name, problem.n, result.device, f"{result.seconds:.2f}", result.length, f"{gap:.3f}"])
        print(f"{name:8} {result.device:7} {result.seconds:5.1f} s  {gap:.2f} % over the shortest tour known")

with open(options.out / "devices.csv", "w", newline="", encoding="utf-8") as file:
    csv.writer(file).writerows([["instance", "cities", "device", "seconds", "length", "gap in %"], *rows])

# What "auto" would take here, and why, is logged:
#     import logging
#     logging.basicConfig(level=logging.INFO)
#     warptsp.solve(problem, time_limit=1)
