"""2-opt: block size, grid size and jobs a thread.

Every launch of the document's study from the identity, beside the launch that is planned without being told,
and beside the CPU, which has no launches. Launches of few threads, which leave most of a large GPU idle, make
the first passes only: every pass evaluates the same moves, so the time of all of them follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.reproduce.harness import (
    Cell,
    Chart,
    Results,
    Section,
    Setting,
    beside,
    header,
    kernel_ms,
    number,
    published,
    run,
)
from benchmarks.reproduce.instances import random_cities

DOCUMENT = "000"
STUDIES = {500: ("A-1", "4.7"), 1000: ("A-2", "4.9"), 1500: ("A-3", "4.12"), 2000: ("A-4", "4.14")}
TABLES = tuple(table for pair in STUDIES.values() for table in pair)
PLANNED = "{cities} planned"
OF_DOCUMENT = (
    "{cities} document"  # as --document 000 launches it: blocks of 1024 threads, as many as run at once
)
LAUNCH = "{cities} {block}x{grid}"
FEW_THREADS = 2048  # in all
FIRST_PASSES = 200


def cells(setting: Setting) -> Iterator[Cell]:
    for cities in STUDIES:
        yield Cell(PLANNED.format(cities=cities), {"cities": cities, "params": {}})
    if setting.device == "cpu":
        return
    from warptsp.papers import params_of

    for cities in STUDIES:
        params = params_of(DOCUMENT, "two-opt", {}, on_gpu=True)
        yield Cell(OF_DOCUMENT.format(cities=cities), {"cities": cities, "params": params})
    for cities in sorted(STUDIES, reverse=True):
        study, best = (published("000").rows(table) for table in STUDIES[cities])
        # One of the best, 128 x 9 for 500 cities, is not in the study.
        launches = {(row["block"], row["grid"]): row for row in (*(study if setting.full else ()), *best)}
        for row in launches.values():
            launch = {"block": row["block"], "grid": row["grid"]}  # the jobs a thread follow from them
            few = row["block"] * row["grid"] <= FEW_THREADS
            params = {**launch, "passes": FIRST_PASSES} if few else launch
            yield Cell(LAUNCH.format(cities=cities, **launch), {"cities": cities, "params": params})


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    problem = random_cities(cell.facts["cities"])
    return run(problem, setting, method="two-opt", start="given", params=cell.facts["params"])


def report(results: Results) -> list[Section]:
    return [_best(results), _other(results), *(_study(cities, results) for cities in STUDIES)]


def _best(results: Results) -> Section:
    """The best launch of each block size: published, and of ours."""
    rows: list[list[object]] = []
    for cities, (study, best) in STUDIES.items():
        for row in published("000").rows(best):
            ours = [
                (ms, launch)
                for launch in published("000").rows(study)
                if launch["block"] == row["block"]
                and (ms := results.value(LAUNCH.format(cities=cities, **launch), "cuda", kernel_ms))
                is not None
            ]
            fastest = min(ours, key=lambda pair: pair[0], default=None)
            predicted = f"{row['predicted_block']} x {row['predicted_grid']} x {row['predicted_jobs']}"
            observed = f"{row['block']} x {row['grid']} x {row['jobs']}"
            launch = "-" if fastest is None else "{block} x {grid} x {jobs}".format(**fastest[1])
            same = results.value(LAUNCH.format(cities=cities, **row), "cuda", kernel_ms)
            times = [number(row["kernel_ms"]), number(same), launch, number(fastest and fastest[0])]
            rows.append([cities, predicted, observed, *times, row["length"]])
    words = [
        "cities",
        "predicted (block x grid x jobs)",
        "best, published",
        "ms",
        "the same, GPU",
        "best of these launches, GPU",
        "ms a pass",
        "length, published",
    ]
    tables = [best for _, best in STUDIES.values()]
    title = f"Tables {', '.join(tables[:-1])} and {tables[-1]}: best launches"
    text = (
        "At 500 cities times, lengths and moves differ from table A-1's, although the text calls them the "
        "same runs; above, times are cut to few digits, of which tables A-2 to A-4 have more."
    )
    return Section(title, words, rows, text)


def _other(results: Results) -> Section:
    """The launch that is planned, the document's on the whole GPU, and the CPU, which has none."""
    rows: list[list[object]] = []
    for cities in STUDIES:
        planned, document = (cell.format(cities=cities) for cell in (PLANNED, OF_DOCUMENT))
        ways = ((planned, "cuda"), (document, "cuda"), (planned, "cpu"))
        times = (number(results.value(name, device, kernel_ms)) for name, device in ways)
        rows.append([cities, *times, number(results.first(planned, "length"))])
    words = ["cities", "planned, GPU", "1024 x as many as run at once, GPU", "CPU", "length"]
    return Section("Other launches: ms a pass, and the length of our cities", words, rows)


def _study(cities: int, results: Results) -> Section:
    study, _ = STUDIES[cities]
    launches = published("000").rows(study)
    measured = [row for row in launches if results.get(LAUNCH.format(cities=cities, **row), "cuda")]
    rows: list[list[object]] = []
    lines: dict[str, list[tuple[float, float]]] = {}
    only_gpu = Results([row for row in results.rows if row["device"] == "cuda"])
    whole = only_gpu.value(PLANNED.format(cities=cities), "cuda", "passes")

    def total_ms(result: dict[str, Any]) -> float:
        """Of a whole descent, which has the same passes with every launch."""
        left = (whole or result["passes"]) - result["passes"]
        return float(1e3 * result["seconds"] + left * kernel_ms(result))

    def final_length(result: dict[str, Any]) -> float | None:
        """Of a local optimum; None of runs that made the first passes only."""
        return result["length"] if result["passes"] == whole else None

    for row in measured:
        name = LAUNCH.format(cities=cities, **row)
        rows.append(
            [
                f"{row['block']} x {row['grid']} x {row['jobs']}",
                *beside(row["kernel_ms"], only_gpu, name, kernel_ms),
                *beside(row["passes"], only_gpu, name, "passes", "none"),
                *beside(row["total_ms"], only_gpu, name, total_ms),
                *beside(row["length"], only_gpu, name, final_length, "none"),
            ]
        )
        threads = row["block"] * row["grid"]
        lines.setdefault(f"{row['block']}, published", []).append((threads, row["kernel_ms"]))
        ours = only_gpu.value(name, "cuda", kernel_ms)
        lines.setdefault(f"{row['block']}, GPU", []).append((threads, ours or 0.0))
    words = [
        "block x grid x jobs",
        *header("ms a pass", only_gpu),
        *header("passes", only_gpu, ratios=False),
        *header("ms in all", only_gpu),
        *header("length", only_gpu, ratios=False),
    ]
    chart = Chart(f"2-opt, {cities} cities: a pass by threads and block size", "threads", "ms a pass", lines)
    return Section(f"Table {study}: all launches, {cities} cities", words, rows, chart=chart)
