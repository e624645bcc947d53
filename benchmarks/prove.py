"""Proofs of optimality: CPU seconds of search and proof, nodes, the bound without branches; one thread. The
searches alone are given in wall time. With several ``--seeds`` the figures are medians, and all CPU seconds
are given, too.

The instances lose their names first, so that the search does not know their optimum. ``--instances`` takes
names, or ``small`` for TSPLIB up to 200 cities, symmetric and with a length on record. A proof that is not
done after ``--limit`` seconds of wall time is open, and the bound is what it had by then. By default those of
up to 15 seconds and the small ones are proved, which takes minutes; ``--large`` takes the others, up to an
hour.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import load, note, parser, report, table

if TYPE_CHECKING:
    from warptsp import Problem

BARS = {
    "a280": 3, "lin318": 3, "rat783": 3, "p654": 3, "pr299": 10, "pcb442": 10, "u574": 10, "rd400": 10,
    "att532": 15, "d493": 15, "pr1002": 15, "rat575": 60, "gr666": 60, "d657": 60, "u724": 60,
    "E1k.0": 300, "u1060": 300, "vm1084": 300, "pcb1173": 300, "nrw1379": 300,
    "u1432": 25, "rl1304": 60, "u2319": 60, "pr2392": 20,
}  # fmt: skip
BAR_OF_SMALL = 5
LARGE = 15  # seconds; what has a longer bar is measured by --large
SMALL = 200
OTHER_ARITHMETIC = {"d657": "[Why](../proofs.md#distances-that-end-in-a-half)."}  # of the record
QUICK = ("berlin52", "kroA100", "ch150")


def small_instances(shared: Path) -> list[str]:
    """Return the names of TSPLIB's symmetric instances of up to 200 cities, smallest first."""
    found = []
    for file in sorted((shared / "data" / "tsplib").glob("*.tsp")):
        problem = load(shared, file.stem)
        if problem.n <= SMALL and problem.known_length is not None and not len(problem.fixed_edges):
            found.append((problem.n, file.stem))
    return [name for _, name in sorted(found)]


def run(name: str, problem: Problem, seed: int, limit: float) -> dict[str, Any]:
    """Prove one instance."""
    from warptsp import prove

    note(f"{name} {seed}")
    begin = time.process_time()
    proof = prove(replace(problem, name=""), time_limit=limit, seed=seed, threads=1)
    known = problem.known_length
    return {
        "name": name,
        "seed": seed,
        "known": None if known is None else known.length,
        "length": proof.length,
        "bound": proof.lower_bound,
        "proved": proof.proved,
        "search_seconds": proof.search_seconds,
        "seconds": time.process_time() - begin,
        "nodes": proof.nodes,
        "root_gap": 100 * (1 - proof.root_bound / proof.length),
        "left": None if proof.edges_left is None else proof.edges_left / problem.n,
        "cuts": proof.cuts,
    }


def row(name: str, n: int, runs: list[dict[str, Any]]) -> list[Any]:
    """Return an instance's line of the table: medians of its runs."""

    def middle(key: str) -> float:
        return statistics.median(one[key] for one in runs)

    best, proved = min(one["length"] for one in runs), sum(one["proved"] for one in runs)
    left = [one["left"] for one in runs if one["left"] is not None]
    line = [
        name,
        n,
        best if proved else f"{max(one['bound'] for one in runs)} to {best}",
        f"{middle('search_seconds'):.2f}",
        f"{middle('seconds'):.2f}",
        BARS.get(name, BAR_OF_SMALL),
        f"{middle('nodes'):g}" if middle("nodes") else "root",
        f"{middle('root_gap'):.3f}",
        f"{statistics.median(left):.1f}" if left else "-",
        "yes" if proved == len(runs) else f"{proved} of {len(runs)}" if proved else "open",
    ]
    return [*line, ", ".join(f"{one['seconds']:.2f}" for one in runs)] if len(runs) > 1 else line


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--instances", nargs="+", metavar="NAME")
    options_parser.add_argument("--large", action="store_true", help="the instances of the longer bars")
    options_parser.add_argument("--limit", type=float, default=400.0, help="seconds of wall time for each")
    options_parser.add_argument("--seeds", type=int, nargs="+", default=[0], metavar="SEED")
    options = options_parser.parse_args()

    chosen = [name for name, bar in BARS.items() if (bar > LARGE) == options.large]
    names = options.instances or (chosen if options.large else [*chosen, "small"])
    names = list(QUICK) if options.quick else names
    if "small" in names:
        names = [name for name in names if name != "small"] + small_instances(Path(options.shared))
    rows, results, seconds_of_small, others = [], [], [], []
    for name in names:
        problem = load(options.shared, name)
        runs = [run(name, problem, seed, options.limit) for seed in options.seeds]
        results += runs
        seconds = statistics.median(one["seconds"] for one in runs)
        if name not in BARS:
            seconds_of_small.append(seconds)
        if name in BARS or not all(one["proved"] for one in runs):
            rows.append(row(name, problem.n, runs))
        known = problem.known_length
        for length in sorted({one["length"] for one in runs if one["proved"]}):
            if known is None or known.length == length:
                continue
            differs = f"{name}: {length} is proved, and the record says {known.length}."
            if known.proven and name not in OTHER_ARITHMETIC:
                raise SystemExit(differs)
            others.append(f"{differs} {OTHER_ARITHMETIC.get(name, '')}".rstrip())
    head = [
        "instance",
        "cities",
        "length",
        "search s",
        "all s",
        "target s",
        "nodes",
        "root gap %",
        "left/city",
        "proved",
        *(["each s"] if len(options.seeds) > 1 else []),
    ]
    text = table(head, rows) if rows else ""
    if seconds_of_small:
        median = statistics.median(seconds_of_small)
        largest = max(seconds_of_small)
        text += f"\n\n{len(seconds_of_small)} small ones: median {median:.2f} s, largest {largest:.2f} s; "
        text += "those that are not in the table are proved."
    text += "".join(f"\n\n{other}" for other in others)
    report("proofs", "How long proofs take", text, results, options.output)


if __name__ == "__main__":
    main()
