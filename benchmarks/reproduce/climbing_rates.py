"""Random-restart 2-opt: moves and climbers a second by version and number of cities.

The first n cities of d18512. A version runs for about a second of the kernel, as in the document, and its
moves are those of all passes. With a climber a thread, 270 000 of them fill an H100, and one pass of so many
takes about a second from some size on: there those versions get longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.reproduce.harness import (
    DEVICES,
    Cell,
    Chart,
    Results,
    Section,
    Setting,
    number,
    published,
    rate,
    ratio,
    run,
)
from benchmarks.reproduce.instances import first_cities, instance

DOCUMENT = "002"
TABLES = ("figures 2 to 4, 6", "figure 5", "figure 8")
VERSIONS = {  # ours, and what the document calls it
    "auto": "",
    "tuned": "tuned",
    "tiled": "tile",
    "intra": "intra",
    "one-thread": "calc",
    "shared-matrix": "matr_s",
    "global-matrix": "matr_g",
    "read-only-matrix": "matr_g_ro",
}
CITIES = (1000, 200, 100, 2000, 4000, 500, 8000, 50, 18512)
SEVERAL = (1000, 200, 100, 2000, 4000, 500, 50)  # cities at which all versions are compared
MAX_CITIES = {"shared-matrix": 200, "one-thread": 2000, "global-matrix": 2000, "read-only-matrix": 2000}
CLIMBERS = {50: 16384, 100: 16384, 200: 16384}
MOST_ON_GPU = {("matr_s", 110): 240, ("calc", 4000): 1_000_000}  # cities; tried, memory holds more
THREADS = (1, 2, 4, 8, 16)  # of the CPU, as far as it is given so many
SECONDS = 1.0
A_THREAD = (
    "one-thread",
    "global-matrix",
    "read-only-matrix",
)  # versions with a climber a thread that many cities fit
LONGER = {"global-matrix 2000": 20.0, "read-only-matrix 2000": 20.0}
LONG_PASSES, LONG_SECONDS = 1000, 8.0  # cities from which their passes take long, and what they get then


def cells(setting: Setting) -> Iterator[Cell]:
    if setting.device == "cpu":
        for cities in CITIES:
            yield Cell(f"auto {cities}", {"cities": cities, "version": "auto"})
        for cities in SEVERAL:
            yield Cell(f"global-matrix {cities}", {"cities": cities, "version": "global-matrix"})
        for threads in (count for count in THREADS if count <= (setting.threads or 2)):
            yield Cell(
                f"kroA150, {threads} threads", {"instance": "kroA150", "threads": threads, "version": "auto"}
            )
        return
    for version in ("auto", "tuned"):
        for cities in CITIES:
            yield Cell(f"{version} {cities}", {"cities": cities, "version": version})
    yield Cell("kroA150", {"instance": "kroA150", "version": "tuned"})
    for version in ("one-thread", "tuned"):
        for cities, climbers in CLIMBERS.items():
            facts = {"cities": cities, "version": version, "climbers": climbers}
            yield Cell(f"{version} {cities}, {climbers} climbers", facts)
    for version in VERSIONS:
        for cities in SEVERAL if setting.full else (1000, 100):
            if version not in ("auto", "tuned") and cities <= MAX_CITIES.get(version, cities):
                yield Cell(f"{version} {cities}", {"cities": cities, "version": version})


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    facts = cell.facts
    if "instance" in facts:
        problem = instance(setting.instances, facts["instance"])
    else:
        problem = first_cities(setting.instances, "d18512", facts["cities"])
    params = {name: facts[name] for name in ("version", "climbers") if name in facts}
    options: dict[str, Any] = {}
    if "climbers" not in facts:
        long = facts["version"] in A_THREAD and problem.n >= LONG_PASSES
        options["time_limit"] = LONGER.get(cell.name, LONG_SECONDS) if long else SECONDS
    if "threads" in facts:
        options["threads"] = facts["threads"]
    return run(problem, setting, method="hill-climbing", params=params, **options)


def report(results: Results) -> list[Section]:
    return [_rates(results), _statements(results), _threads(results), _climbers(results)]


def _rates(results: Results) -> Section:
    rows = []
    lines: dict[str, list[tuple[float, float]]] = {}
    columns = [(version, "cuda") for version in VERSIONS] + [("auto", "cpu"), ("global-matrix", "cpu")]
    for cities in sorted(CITIES):
        line: list[object] = [cities]
        for version, device in columns:
            value = results.value(f"{version} {cities}", device, rate)
            line.append(number(value))
            if value is not None:
                curve = version if device == "cuda" else "CPU" if version == "auto" else "CPU, matrix"
                lines.setdefault(curve, []).append((cities, value))
        rows.append(line)
    words = [
        "cities",
        *(f"{ours} ({theirs}), GPU" if theirs else f"{ours}, GPU" for ours, theirs in VERSIONS.items()),
        "CPU",
        "CPU, from a matrix",
    ]
    chart = Chart("Random-restart 2-opt, first cities of d18512", "cities", "10^9 moves/s", lines)
    text = (
        f"In 10^9 moves a second. From {LONG_PASSES} cities on {' and '.join(A_THREAD)} ran for "
        f"{LONG_SECONDS:g} s, as a pass of all their climbers takes about one; passes that had not ended do "
        "not count. " + published("002").notes("figures 2 to 4, 6")
    )
    return Section("Figures 2 to 4 and 6: moves a second", words, rows, text, chart)


def _statements(results: Results) -> Section:
    """What the document says of its curves in words, beside the same of ours."""

    def best(version: str, device: str = "cuda") -> float | None:
        values = [results.value(f"{version} {cities}", device, rate) for cities in CITIES]
        return max((value for value in values if value is not None), default=None)

    def over(one: str, other: str, device: str = "cuda") -> dict[int, float]:
        return {
            cities: a / b
            for cities in CITIES
            if (a := results.value(f"{one} {cities}", "cuda", rate)) is not None
            and (b := results.value(f"{other} {cities}", device, rate)) is not None
        }

    def kroa150(threads: str, device: str) -> float | None:
        found: float | None = results.value(f"kroA150{threads}", device, rate)
        return found

    threads = max((count for count in THREADS if kroa150(f", {count} threads", "cpu")), default=0)
    several = kroa150(f", {threads} threads", "cpu")
    tiled = over("tiled", "one-thread")
    on_cpu = results.lines(((cities, f"auto {cities}") for cities in CITIES), rate).get("CPU", [])
    measured = {
        ("tuned", 60): best("tuned"),
        ("auto", 60): best("auto"),
        ("calc", 0.75): calc / matrix
        if (calc := best("one-thread")) and (matrix := best("shared-matrix"))
        else None,
        ("tile", 2.5): tiled[max(tiled)] if tiled else None,
        ("tuned", 3): max(over("tuned", "one-thread").values(), default=None),
        ("tuned", 8): tuned / several if (tuned := kroa150("", "cuda")) and several else None,
        ("cpu", 1600): max(on_cpu, key=lambda point: point[1], default=(None,))[0],
        **MOST_ON_GPU,
    }
    rows = []
    statements = published("002").rows("figures 2 to 4, 6")
    for row in [statements[0] | {"version": "auto"}, *statements]:
        value = measured.get((row["version"], row["value"]))
        factor = ratio(value, row["value"]) if row["unit"] == "10^9 moves/s" else "-"
        rows.append(
            [row["version"], row["statement"], number(row["value"]), row["unit"], number(value), factor]
        )
    words = ["version", "statement", "published", "unit", "measured", "ratio"]
    text = (
        f"`tuned` over CPU cores is over {threads} of ours, at kroA150; over one it is up to "
        f"{number(max(over('tuned', 'auto', 'cpu').values(), default=None))} times."
    )
    shares = over("one-thread", "shared-matrix")
    if shares:
        each = ", ".join(f"{shares[cities]:.2f} at {cities}" for cities in sorted(shares))
        text += f" calc over matr_s: {each} cities."
    return Section("What the text says of the curves", words, rows, text)


def _threads(results: Results) -> Section:
    counts = [count for count in THREADS if results.get(f"kroA150, {count} threads", "cpu")]
    rates = {count: results.value(f"kroA150, {count} threads", "cpu", rate) for count in counts}
    rows = [[f"{count} thread{'s' if count > 1 else ''}", number(value)] for count, value in rates.items()]
    lines = {"CPU": [(float(count), value) for count, value in rates.items()]}
    tuned = results.value("kroA150", "cuda", rate)
    if tuned is not None:
        rows.append(["GPU, tuned", number(tuned)])
        lines["GPU, tuned"] = [(float(count), tuned) for count in counts]
    chart = Chart("Random-restart 2-opt, kroA150", "threads", "10^9 moves/s", lines)
    text = published("002").notes("figure 5")
    return Section("Figure 5: threads at kroA150", ["", "10^9 moves/s"], rows, text, chart)


def _climbers(results: Results) -> Section:
    def per_second(result: dict[str, Any]) -> float:
        return float(result["climbers"] / result["kernel_seconds"])

    rows = []
    lines: dict[str, list[tuple[float, float]]] = {}
    for cities, climbers in CLIMBERS.items():
        found = []
        for version in ("one-thread", "tuned"):
            value = results.value(f"{version} {cities}, {climbers} climbers", "cuda", per_second)
            found.append(value)
            lines.setdefault(version, []).extend([] if value is None else [(cities, value)])
        rows.append([cities, climbers, *map(number, found), ratio(found[1], found[0])])
    words = ["cities", "climbers", "climbers/s, one-thread", "climbers/s, tuned", "ratio"]
    text = "Published: up to 3. " + published("002").notes("figure 8")
    chart = Chart("Random-restart 2-opt, first cities of d18512", "cities", "climbers/s", lines)
    return Section(f"Figure 8: climbers a second, {DEVICES['cuda']}", words, rows, text, chart)
