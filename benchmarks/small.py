"""Small problems, and many of them: how good a tour is after milliseconds, and how long thousands take.

Uniform points in the unit square, one thread, wall time from the call of `warptsp.solve` in Python to its
return. "Optimal" means as short as the best tour of all runs on the instance, three long ones among them;
that is no proof. fast-tsp, elkai and OR-tools are measured as their users call them, where they are
installed.
"""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from chart import Chart
from common import gap_percent, note, parser, report, table

import warptsp

GAPS_AT = (0.01, 0.02, 0.1)
GAP_SIZES = (50, 100, 150, 200, 250, 300, 500, 1000)
BARS_OF_GAPS = {(200, 0.01): 0.10, (1000, 0.02): 0.6, (1000, 0.1): 0.2}  # per cent
BARS_OF_TIMES = {20: 0.6, 50: 2.0, 100: 8.0, 200: 40.0}  # ms to the optimum, median
BARS_OF_ENDS = {50: (99.9, 20.0), 100: (99.5, 60.0), 200: (98.0, 200.0), 500: (95.0, 1000.0)}  # per cent, ms
LARGEST = 2000  # cities, of calls with one kick
FIXED_SIZES = (2, 5, 8, 12, 13, 20, 50, 100, 150, 200, 250, 256, 257, 300, 500, 700, 1000, 1001, 1400, 2000)
MANY = (
    (100, 10_000, 120.0),
    (20, 100_000, 30.0),
    (12, 100_000, 30.0),
)  # cities, problems, seconds on two cores


def instances(cities: int, count: int) -> list[Any]:
    """Return points of so many problems."""
    return list(np.random.default_rng(cities).random((count, cities, 2)))


class Best:
    """The shortest lengths found of each instance."""

    def __init__(self) -> None:
        self._lengths: dict[tuple[int, int], float] = {}

    def take(self, cities: int, number: int, length: float) -> None:
        """Keep a length if it is the shortest so far."""
        key = (cities, number)
        self._lengths[key] = min(length, self._lengths.get(key, length))

    def of(self, cities: int, number: int) -> float:
        """Return the shortest length."""
        return self._lengths[cities, number]

    def equals(self, cities: int, number: int, length: float) -> bool:
        """Whether a length is the shortest, but for the last digits of a sum."""
        return length <= self.of(cities, number) * (1 + 1e-9)


def references(best: Best, sizes: dict[int, int]) -> None:
    """Search each instance for long."""
    for cities, count in sizes.items():
        for number, points in enumerate(instances(cities, count)):
            for seed in (101, 102, 103):
                found = warptsp.solve(points, kicks=20 * cities, seed=seed, threads=1, bound=False)
                best.take(cities, number, found.length)
        note(f"references of {cities} cities")


def fixed_cost(sizes: Iterable[int], count: int) -> dict[int, float]:
    """Return the milliseconds of calls with one kick, medians, by the number of cities."""
    medians = {}
    for cities in sizes:
        taken = []
        for points in instances(cities, count):
            begun = time.perf_counter()
            warptsp.solve(points, kicks=1, threads=1)
            taken.append(1e3 * (time.perf_counter() - begun))
        medians[cities] = statistics.median(taken)
    return medians


def lengths_after(solve: Callable[[Any, float], float], best: Best, count: int) -> list[dict[str, Any]]:
    """Return the lengths of tours after short times."""
    rows = []
    for cities in GAP_SIZES:
        for seconds in GAPS_AT:
            lengths = []
            for number, points in enumerate(instances(cities, count)):
                lengths.append(solve(points, seconds))
                best.take(cities, number, lengths[-1])
            rows.append({"cities": cities, "seconds": seconds, "lengths": lengths})
    return rows


def times_to_best(best: Best, sizes: dict[int, int]) -> list[dict[str, Any]]:
    """Return when runs without any option reached the best length, how they ended and how long they took."""
    rows = []
    for cities, count in sizes.items():
        runs = []
        for number, points in enumerate(instances(cities, count)):
            found = warptsp.solve(points, seed=1, threads=1, prove=False)
            best.take(cities, number, found.length)
            runs.append(found)
        rows.append(
            {
                "cities": cities,
                "reached": [
                    next((1e3 * p.seconds for p in r.history if best.equals(cities, i, p.length)), None)
                    for i, r in enumerate(runs)
                ],
                "ms": [1e3 * r.seconds for r in runs],
                "optimal": sum(best.equals(cities, i, r.length) for i, r in enumerate(runs)),
            }
        )
        note(f"runs of {cities} cities")
    return rows


def many(share: float) -> list[dict[str, Any]]:
    """Return the time that `solve_many` takes, on two threads, for a share of the problems of each bar."""
    rows = []
    for cities, problems, bar in MANY:
        count = max(20, int(share * problems))
        points = np.random.default_rng(cities).random((count, cities, 2))
        begun = time.perf_counter()
        found = warptsp.solve_many(points, threads=2)
        seconds = time.perf_counter() - begun
        some = range(0, count, max(1, count // 200))
        optimal = 0
        for number in some:
            long = [
                warptsp.solve(points[number], kicks=20 * cities, seed=seed, threads=1, bound=False).length
                for seed in (101, 102)
            ]
            optimal += found.lengths[number] <= min(long) * (1 + 1e-9)
        rows.append(
            {
                "cities": cities,
                "problems": problems,
                "bar": bar,
                "solved": count,
                "seconds": seconds,
                "optimal": int(optimal),
                "of": len(some),
            }
        )
        note(f"many of {cities} cities")
    return rows


def peers() -> dict[str, Callable[[Any], float]]:
    """Return the programs that are installed beside this one: what takes points and returns a length."""
    found: dict[str, Callable[[Any], float]] = {}

    def length(points: Any, tour: Any) -> float:
        return float(warptsp.Problem.from_points(points).length(np.asarray(tour)))

    def matrix(points: Any, scale: float = 1e6) -> Any:
        return np.rint(scale * np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))).astype(int)

    if importlib.util.find_spec("fast_tsp"):
        import fast_tsp

        # Its distances are whole numbers of 16 bits.
        found["fast-tsp, 10 ms"] = lambda p: length(p, fast_tsp.find_tour(matrix(p, 46_000).tolist(), 0.01))
    if importlib.util.find_spec("elkai"):
        import elkai

        found["elkai"] = lambda p: length(p, elkai.DistanceMatrix(matrix(p).tolist()).solve_tsp()[:-1])
    if importlib.util.find_spec("ortools"):
        from ortools.constraint_solver import pywrapcp

        def route(points: Any) -> float:
            costs = matrix(points).tolist()
            manager = pywrapcp.RoutingIndexManager(len(points), 1, 0)
            model = pywrapcp.RoutingModel(manager)
            arc = model.RegisterTransitMatrix(costs)
            model.SetArcCostEvaluatorOfAllVehicles(arc)
            solution = model.Solve()
            index, tour = model.Start(0), []
            while not model.IsEnd(index):
                tour.append(manager.IndexToNode(index))
                index = solution.Value(model.NextVar(index))
            return length(points, tour)

        found["OR-tools"] = route
    return found


def verdict(value: float, bar: float, *, more: bool = False) -> str:
    """Say whether a bar is met."""
    return "met" if (value >= bar if more else value <= bar) else "**missed**"


def main() -> None:
    options_parser = parser(__doc__)
    options_parser.add_argument("--count", type=int, default=10, help="instances of each size")
    options_parser.add_argument("--share", type=float, default=0.02, help="of the problems of solve_many")
    options = options_parser.parse_args()
    count = 2 if options.quick else options.count
    share = 0.001 if options.quick else options.share
    best = Best()
    # As many as the bars' shares need.
    timed = {20: 5 * count, 50: 50 * count, 100: 20 * count, 200: 5 * count, 500: 5 * count}
    fixed = fixed_cost(FIXED_SIZES if options.quick else range(2, LARGEST + 1), 5)
    note("fixed cost")
    gaps = lengths_after(
        lambda points, seconds: warptsp.solve(points, time_limit=seconds, threads=1, prove=False).length,
        best,
        count,
    )
    note("gaps after short times")
    times_to_best(best, timed)  # once for what they find, and once measured
    references(best, {cities: max(count, timed.get(cities, 0)) for cities in {*GAP_SIZES, *timed}})
    ends = times_to_best(best, timed)
    crowds = many(share)
    others = []
    for name, solve in peers().items():
        for cities in (50, 100, 200):
            taken, lengths = [], []
            for points in instances(cities, min(count, 5)):
                begun = time.perf_counter()
                lengths.append(solve(points))
                taken.append(1e3 * (time.perf_counter() - begun))
            over = [gap_percent(length, best.of(cities, i)) for i, length in enumerate(lengths)]
            others.append([name, cities, f"{statistics.median(taken):.1f}", f"{statistics.mean(over):.3f}"])

    def mean_gap(row: dict[str, Any]) -> float:
        cities = row["cities"]
        return statistics.mean(gap_percent(x, best.of(cities, i)) for i, x in enumerate(row["lengths"]))

    at = {(row["cities"], row["seconds"]): mean_gap(row) for row in gaps}
    text = "Gaps over the best length found of each instance, per cent, mean; three runs were long.\n\n"
    text += table(
        ["time limit", *map(str, GAP_SIZES)],
        [
            [f"{1e3 * seconds:g} ms", *(f"{at[cities, seconds]:.3f}" for cities in GAP_SIZES)]
            for seconds in GAPS_AT
        ],
    )
    text += "\n\n" + table(
        ["cities", "after", "gap %", "target", ""],
        [
            [c, f"{1e3 * s:g} ms", f"{at[c, s]:.3f}", bar, verdict(at[c, s], bar)]
            for (c, s), bar in BARS_OF_GAPS.items()
        ],
    )
    text += "\n\nWithout any option: when the best length was there, and when the run ended.\n\n"
    rows = []
    for row in ends:
        cities, runs = row["cities"], len(row["ms"])
        reached = [ms if ms is not None else float("inf") for ms in row["reached"]]
        middle, took = statistics.median(reached), statistics.mean(row["ms"])
        optimal = 100 * row["optimal"] / runs
        first = (
            f"{BARS_OF_TIMES[cities]:g} ms: {verdict(middle, BARS_OF_TIMES[cities])}"
            if cities in BARS_OF_TIMES
            else ""
        )
        second = ""
        if cities in BARS_OF_ENDS:
            percent, ms = BARS_OF_ENDS[cities]
            good = optimal >= percent and took <= ms
            second = f"{percent:g} % in {ms:g} ms: {'met' if good else '**missed**'}"
        rows.append([cities, runs, f"{middle:.2f}", first, f"{optimal:.1f}", f"{took:.1f}", second])
    text += table(
        ["cities", "runs", "best after, median ms", "target", "optimal %", "ended after, mean ms", "target"],
        rows,
    )
    text += "\n\nA call with one kick, by the number of cities, median of five.\n\n"
    text += table(["cities", "ms"], [[cities, f"{fixed[cities]:.2f}"] for cities in FIXED_SIZES])
    if options.output is not None and not options.quick:
        chart = Chart("A call with one kick", "cities", "ms", {"warptsp.solve": list(fixed.items())})
        options.output.mkdir(parents=True, exist_ok=True)
        chart.write(options.output / "small.svg")
        text += f"\n\n![Every number of cities from 2 to {LARGEST}](small.svg)"
    text += (
        "\n\n`solve_many` without options, on two threads; the time for all is that of a part, scaled.\n\n"
    )
    rows = []
    for row in crowds:
        whole = row["seconds"] * row["problems"] / row["solved"]
        rows.append(
            [
                f"{row['problems']} x {row['cities']}",
                row["solved"],
                f"{row['seconds']:.1f}",
                f"{whole:.0f} s",
                f"{row['bar']:g} s: {verdict(whole, row['bar'])}",
                f"{row['optimal']} of {row['of']}",
            ]
        )
    text += table(["problems", "measured", "s", "for all", "target", "optimal of those looked at"], rows)
    if others:
        text += "\n\nOther programs, as their users call them.\n\n"
        text += table(["program", "cities", "median ms", "gap %"], others)
    else:
        text += "\n\nfast-tsp, elkai and OR-tools are not installed here."
    data = {"fixed": fixed, "gaps": gaps, "ends": ends, "many": crowds, "others": others}
    report("small", "Small problems", text, data, options.output)


if __name__ == "__main__":
    main()
