"""The methods of five documents, and the main solver, on one instance.

You learn what the methods' names stand for, what each achieves in which time, and how to read a run: how it
progressed (history), why it ended (stop_reason), how far from the optimum it is (gap).

    python examples/comparing_methods.py OUT
"""

import argparse
import csv
from pathlib import Path

import warptsp

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("out", type=Path, help="output folder")
parser.add_argument("--small", action="store_true", help="120 cities and a tenth of a second for each method")
options = parser.parse_args()
options.out.mkdir(parents=True, exist_ok=True)

# 1000 random cities of the DIMACS challenge; the length of the optimal tour is on record.
problem = warptsp.load(Path(__file__).with_name("E1k.0.tsp"))
if options.small:
    problem = warptsp.Problem.from_points(problem.coordinates[:120], "EUC_2D")
seconds = 0.1 if options.small else 20.0

# All start from the same greedy tour, except hill-climbing, which draws its own random ones.
METHODS = {
    "swap": "the best exchange of two cities, while one helps",
    "two-opt": "the best exchange of two edges, while one helps",
    "three-opt": "the best exchange of three edges, while one helps",
    "neighbor-two-opt": "two edges, but only towards near neighbours",
    "neighbor-three-opt": "up to three edges, only towards near neighbours",
    "symmetric-two-opt": "many exchanges around one centre at a time",
    "symmetric-annealing": "the same, accepting worse tours while it is hot",
    "hill-climbing": "two-opt again and again from random tours",
    "ils": "neighbor-three-opt, a small perturbation, and again",
    "lk": "the main solver: iterated Lin-Kernighan",
}
results = {name: warptsp.solve(problem, method=name, time_limit=seconds, seed=1) for name in METHODS}
best = min(result.length for result in results.values())
reference = problem.known_length.length if problem.known_length else best
known = "the optimum" if problem.known_length else "the best tour of these"
print(f"{problem.n} cities; gaps are to {known}")


def gap(length):
    """Return by how many per cent a length is above the reference."""
    return 100 * (length / reference - 1)


with open(options.out / "methods.csv", "w", newline="", encoding="utf-8") as file:
    table = csv.writer(file)
    table.writerow(["method", "length", "gap in %", "seconds", "ended by"])
    for name, result in results.items():
        over = f"{gap(result.length):.2f}"
        table.writerow([name, result.length, over, f"{result.seconds:.2f}", result.stop_reason])
        print(f"{name:20} {over:>7} %  {result.seconds:6.2f} s  {METHODS[name]}")

try:
    import matplotlib.pyplot as plt
except ImportError:
    raise SystemExit("no chart: it needs matplotlib, pip install 'warptsp[plot]'") from None
figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
for name, result in results.items():
    moments, lengths = zip(*result.history, (result.seconds, result.length), strict=True)
    gaps = [gap(length) for length in lengths]
    axes.step(moments, gaps, where="post", label=name, marker="o", markevery=[-1])  # a dot where it ends
axes.set_yscale("symlog", linthresh=0.1)
axes.set_ylim(0, 30)
axes.set(xscale="log", xlabel="seconds", ylabel="gap in %", title=f"{problem.n} cities")
axes.legend(fontsize="small")
figure.savefig(options.out / "gap_over_time.svg")
