"""Proofs of optimality: CPU seconds of search and proof, nodes, the bound without branches; one thread. The
searches alone are given in wall time.

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

from common import load, note, parser, report, table

BARS = {
    "a280": 3, "lin318": 3, "rat783": 3, "p654": 3, "pr299": 10, "pcb442": 10, "u574": 10, "rd400": 10,
    "att532": 15, "d493": 15, "pr1002": 15, "rat575": 60, "gr666": 60, "d657": 60, "u724": 60,
    "E1k.0": 300, "u1060": 300, "vm1084": 300, "pcb1173": 300, "nrw1379": 300,
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


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--instances", nargs="+", metavar="NAME")
    options_parser.add_argument("--large", action="store_true", help="the instances of the longer bars")
    options_parser.add_argument("--limit", type=float, default=400.0, help="seconds of wall time for each")
    options_parser.add_argument("--seed", type=int, default=0)
    options = options_parser.parse_args()

    from warptsp import prove

    chosen = [name for name, bar in BARS.items() if (bar > LARGE) == options.large]
    names = options.instances or (chosen if options.large else [*chosen, "small"])
    names = list(QUICK) if options.quick else names
    if "small" in names:
        names = [name for name in names if name != "small"] + small_instances(Path(options.shared))
    rows, results, seconds_of_small, others = [], [], [], []
    for name in names:
        note(name)
        known = load(options.shared, name).known_length
        problem = replace(load(options.shared, name), name="")
        begin = time.process_time()
        proof = prove(problem, time_limit=options.limit, seed=options.seed, threads=1)
        seconds = time.process_time() - begin
        if name not in BARS:
            seconds_of_small.append(seconds)
        root_gap = 100 * (1 - proof.root_bound / proof.length)
        bar = BARS.get(name, BAR_OF_SMALL)
        rows.append(
            [
                name,
                problem.n,
                proof.length if proof.proved else f"{proof.lower_bound} to {proof.length}",
                f"{proof.search_seconds:.2f}",
                f"{seconds:.2f}",
                bar,
                proof.nodes if proof.nodes else "root",
                f"{root_gap:.3f}",
                "-" if proof.edges_left is None else f"{proof.edges_left / problem.n:.1f}",
                "yes" if proof.proved else "open",
            ]
        )
        results.append(
            {
                "name": name,
                "known": None if known is None else known.length,
                "length": proof.length,
                "bound": proof.lower_bound,
                "proved": proof.proved,
                "search_seconds": proof.search_seconds,
                "seconds": seconds,
                "nodes": proof.nodes,
                "root_gap": root_gap,
                "cuts": proof.cuts,
            }
        )
        if proof.proved and known is not None and known.length != proof.length:
            differs = f"{name}: {proof.length} is proved, and the record says {known.length}."
            if known.proven and name not in OTHER_ARITHMETIC:
                raise SystemExit(differs)
            others.append(f"{differs} {OTHER_ARITHMETIC.get(name, '')}".rstrip())
    head = [
        "instance",
        "cities",
        "length",
        "search s",
        "all s",
        "bar s",
        "nodes",
        "root gap %",
        "left/city",
        "proved",
    ]
    text = table(head, rows)
    if seconds_of_small:
        median = statistics.median(seconds_of_small)
        text += f"\n\nSmall ones: median {median:.2f} s, largest {max(seconds_of_small):.2f} s."
    text += "".join(f"\n\n{other}" for other in others)
    report("proofs", "Proofs of optimality", text, results, options.output)


if __name__ == "__main__":
    main()
