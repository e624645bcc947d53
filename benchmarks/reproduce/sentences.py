"""What pages say in words: ``python -m benchmarks.reproduce.sentences`` prints what they should say instead.

Every figure in a sentence of docs/reproduction follows from the measured cells and the published tables. Run
this after new cells, and write the sentences that it prints into the pages.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.common import REPOSITORY
from benchmarks.reproduce.harness import number, published
from benchmarks.reproduce.harness.results import Results, read_cells
from benchmarks.reproduce.instances import known_instances
from benchmarks.reproduce.iterated_passes import gains_of

PAGES = REPOSITORY / "docs" / "reproduction"
HOPPER = 132  # multiprocessors of an H100, each of 2048 threads
# Published instances of 6000 and 9000 cities are of another scale.
COMPARABLE = 4000


class Measured:
    """The cells behind the pages, and the published tables."""

    def __init__(self) -> None:
        self.plane = known_instances("EUC_2D")
        by_study: dict[str, list[Any]] = {}
        for row in read_cells(PAGES / "cells.jsonl"):
            by_study.setdefault(row["study"], []).append(row)
        self.studies = {study: Results(rows) for study, rows in by_study.items()}

    def get(self, study: str, cell: str, device: str) -> Any:
        found = self.studies[study].get(cell, device)
        assert found is not None, f"{study}: {cell} was not measured on {device}"
        return found

    def row(self, study: str, cell: str, device: str) -> Any:
        """The line of the file, with machine and commit."""
        rows = self.studies[study].rows
        return [row for row in rows if (row["cell"], row["device"]) == (cell, device)][-1]

    def names(self, study: str, device: str) -> list[str]:
        rows = self.studies[study].rows
        return list(dict.fromkeys(row["cell"] for row in rows if row["device"] == device))

    def launches(self) -> Iterator[tuple[int, int, int, float, int]]:
        """(cities, block, grid, ms a pass, passes) of the studied launches."""
        for name in self.names("two_opt_launches", "cuda"):
            if found := re.fullmatch(r"(\d+) (\d+)x(\d+)", name):
                result = self.get("two_opt_launches", name, "cuda")
                passes = result["passes"]
                yield (*map(int, found.groups()), 1e3 * result["kernel_seconds"] / passes, passes)

    def symmetric(self, what: str, device: str, figure: str) -> list[float]:
        rows = published("003").rows("6.4.3 table 1")
        return [self.get("symmetric_table", f"{row['instance']} {what}", device)[figure] for row in rows]

    def mean_error(self, search: str, device: str) -> float:
        names = [f"{name}, {search}" for name, _ in self.plane]
        return statistics.mean(self.get("neighbor_search", name, device)["error"] for name in names)


def spread(values: Iterable[float], digits: int = 0, scale: float = 1.0) -> str:
    found = [scale * value for value in values]
    return f"{min(found):.{digits}f} to {max(found):.{digits}f}"


def more_passes(m: Measured) -> Iterator[float]:
    for row in published("000").rows("4.15"):
        for device, which in (("cpu", "cpu"), ("cuda", "gpu")):
            found = m.get("two_opt_sizes", f"descent {row['cities']}", device)
            yield found["passes"] / row[f"{which}_passes"] - 1
    for row in published("000").rows("4.21"):
        if row["cities"] <= COMPARABLE:
            for device in ("cpu", "cuda"):
                found = m.get("two_opt_starts", f"{row['cities']} naive", device)
                yield found["passes"] / row["naive_passes"] - 1


def start_tours(m: Measured, figure: str) -> Iterator[float]:
    for row in published("000").rows("4.21"):
        for device in ("cpu", "cuda"):
            naive, nearest = (
                m.get("two_opt_starts", f"{row['cities']} {start}", device)[figure]
                for start in ("naive", "nn")
            )
            yield nearest / naive


def best_launch(launches: Iterable[tuple[int, int, int, float, int]], cities: int, block: int) -> float:
    return min(ms for n, b, _, ms, _ in launches if (n, b) == (cities, block))


def of_000(m: Measured) -> Iterator[str]:
    launches = list(m.launches())
    many = [ms for _, b, g, ms, _ in launches if b * g >= 15000]
    yield (
        f"An H100 holds {HOPPER * 2048 // 1000} {HOPPER * 2048 % 1000}; from 15 000 on, a pass is shorter "
        f"than its three launches, {spread(many, 2)} ms."
    )
    few = [passes for _, b, g, _, passes in launches if b * g <= 2048]
    assert set(few) == {200}
    yield f"Launches of up to 2048 threads do only the first {few[0]} passes"
    ratios = []
    for table, cities in (("A-1", 500), ("A-2", 1000), ("A-3", 1500), ("A-4", 2000)):
        rows = published("000").rows(table)
        fastest = {b: min(row["kernel_ms"] for row in rows if row["block"] == b) for b in (128, 1024)}
        ours = best_launch(launches, cities, 128) / best_launch(launches, cities, 1024)
        ratios.append((fastest[128] / fastest[1024], ours))
    theirs, ours = (max(column) for column in zip(*ratios, strict=True))
    yield (
        "With blocks of 128 threads instead of 1024 the K600, whose shared memory then holds too few "
        f"threads, takes up to {theirs:.1f} times as long, an H100 at most {ours:.2f} times."
    )
    more = spread(more_passes(m), 0, 100)
    yield f"From the identity they take {more} % more passes than the published ones"
    rows = published("000").rows("4.21")
    starts = [row["nn_initial"] / row["naive_initial"] for row in rows]
    saved = [1 - row["nn_passes"] / row["naive_passes"] for row in rows]
    yield (
        f"Its nearest-neighbour tours are {spread(starts, 0, 100)} % as long as the identity, and save "
        f"{spread(saved, 0, 100)} % of the passes; ours are "
        f"{spread(start_tours(m, 'start_length'), 1, 100)} % as long, and save "
        f"{spread([1 - share for share in start_tours(m, 'passes')], 0, 100)} %."
    )
    ms = {row["cities"]: row["kernel_ms"] for row in published("000").rows("B-1")}
    partitions = {row["cities"]: row["partitions"] for row in published("000").rows("4.19")}
    yield (
        "from 15 000 to 60 000 cities its time grows "
        f"{ms[60000] / ms[15000]:.0f}-fold, moves {(60000 / 15000) ** 2:.0f}-fold, partitions "
        f"{partitions[60000] / partitions[15000]:.0f}-fold."
    )


def of_001(m: Measured) -> Iterator[str]:
    from warptsp.papers.exhaustive.cuda_studies import MAX_BY_ROOT, MAX_BY_STABLE_ROOT

    versions = sorted(
        {int(name.split()[-1]) for name in m.names("swap_versions", "cuda") if " version " in name}
    )
    assert versions == list(range(1, 9))
    for version in versions[1:]:
        launch = m.get("swap_versions", f"1000 version {version}", "cuda")["launch"]
        assert launch.endswith(" x 192")
    yield "from version 2 on there are as many blocks of 192 threads as the GPU holds"
    for name in m.names("swap_versions", "cuda"):
        chip = "H200" if re.search(r"^[12]000 version", name) else "H100"
        assert chip in m.row("swap_versions", name, "cuda")["machine"], name
    yield "The versions of figure 10 and table 1 ran on the H200, all else on the H100."
    cells = {
        (n, v): m.get("swap_versions", f"{n} version {v}", "cuda") for n in (1000, 2000) for v in versions
    }
    chosen = {
        n: [
            100 * (kernel(cell) - cell["passes"] * cell["evaluation_ms"] / 1e3) / cell["seconds"]
            for (cities, version), cell in cells.items()
            if cities == n and version > 1
        ]
        for n in (1000, 2000)
    }
    assert min(chosen[1000]) > 50
    yield f"from version 2 on, {spread(chosen[1000])} %, and {spread(chosen[2000])} % at 2000;"
    assert all(kernel(cells[n, 2]) < kernel(cells[n, 1]) for n in (1000, 2000))
    yield (
        f"versions 1 to 6 are right up to {MAX_BY_ROOT} cities, version 7 up to {MAX_BY_STABLE_ROOT}; above, "
        "they are refused."
    )


def of_002(m: Measured) -> Iterator[str]:
    threads = [int(name.split()[1]) for name in m.names("climbing_rates", "cpu") if "threads" in name]
    yield f"figure 5 goes up to {max(threads)} threads, where the paper has 20 cores"
    rates = {name: m.get("climbing_rates", name, "cuda") for name in m.names("climbing_rates", "cuda")}
    faster = max(
        (rates[f"tuned {n}"]["evaluations"] / kernel(rates[f"tuned {n}"]))
        / (rates[f"one-thread {n}"]["evaluations"] / kernel(rates[f"one-thread {n}"]))
        for n in (50, 100, 200, 500, 1000, 2000)
    )
    yield f"`tuned` is up to {faster:.1f} times as fast, as in the moves per second of figures 2 to 4"
    page = text("002.md")
    factors = [float(cell) for cell in re.findall(r"\| 16384 \| \d+ \| \d+ \| ([\d.]+) \|", page)]
    assert len(factors) == 3
    yield (
        f"An H100 needs {HOPPER * 2048 // 10_000}0 000 climbers for that; here the number is fixed at 16 384"
    )
    yield f"hence factors of {min(factors):.0f} to {max(factors):.0f}"
    for device in ("cpu", "cuda"):
        done = {
            name
            for name in m.names("climbing_quality", device)
            if m.studies["climbing_quality"].get(name, device) is not None
        }
        failed = set(m.names("climbing_quality", device)) - done
        assert len(done) == 62
        assert {name.split(",")[0] for name in failed} == {"linhp318"}
    yield "linhp318 has a fixed edge, which random starts do not keep, and is left out."
    first = known_instances()[:63]
    others = [name for name, cities in first if (name, cities) not in m.plane]
    yield f"{len(others)} of them have others."


def kernel(result: Any) -> float:
    return result.get("kernel_seconds", result["seconds"])


def chains_of(m: Measured) -> dict[str, int]:
    """Chains on each of 132 multiprocessors, by instance."""
    chains = {}
    for row in published("003").rows("6.4.3 table 1"):
        found = m.get("symmetric_table", f"{row['instance']} shortest schedule", "cuda")
        # Every chain made its schedule, and then rotations of the last descents.
        least = found["rotations_a_city"] * found["cities"]
        chains[row["instance"]] = min(8, found["rotations"] // (132 * least))
    return chains


WORDS = {5: "five", 6: "six", 7: "seven", 8: "eight"}


def iterations_of_the_hardware(m: Measured) -> Iterator[set[str]]:
    """The instances with the published number, and those that have it if small gains are ignored."""
    return (
        {
            row["instance"]
            for row in published("003").rows("5.4 table 2")
            if m.get("symmetric_hardware", row["instance"] + words, "cpu")["iterations"] == row["iterations"]
        }
        for words in ("", ", gains above 0.02")
    )


def of_003(m: Measured) -> Iterator[str]:
    words = WORDS
    rows = published("003").rows("6.4.3 table 1")
    skipped = [
        row for row in rows if f"{row['instance']} annealing 1" not in m.names("symmetric_table", "cuda")
    ]
    assert [row["instance"] for row in skipped] == ["pcb1173", "rl1323", "u1817"]
    minutes = [row["annealing_gpu_ms"] / 60e3 for row in skipped]
    assert f"{min(minutes):.0f} to {max(minutes):.0f}" == "5 to 12"
    yield "the three largest with the published time, which is five to twelve minutes each"
    chains = chains_of(m)
    assert [count for name, count in chains.items() if name != "u1817"] == 12 * [8]
    yield (
        "there are 1056 chains, eight on each of 132 multiprocessors, and at u1817 "
        f"{132 * chains['u1817']}, {words[chains['u1817']]} on each"
    )
    exact, coarse = iterations_of_the_hardware(m)
    assert coarse - exact == {"vm1748"}
    assert "eil51" in exact
    rows = {row["instance"]: row["iterations"] for row in published("003").rows("5.4 table 2")}
    yield f"eil51 takes the published {rows['eil51']} iterations."
    yield (
        f"{WORDS[len(exact)]} of seven match the published ones to the last digit, and so does vm1748 if "
        "gains up to 0.02"
    )
    points = [m.row("symmetric_study", f"d493, {s:g} s", "cuda")["commit"] for s in FIGURE_19]
    assert len(set(points)) == 1
    hosts = {
        m.row("symmetric_table", name, "cpu")["machine"]
        for name in m.names("symmetric_table", "cpu")
        if " annealing " in name
    }
    assert len(hosts) == 1
    assert "Intel(R) Xeon(R) Processor" in hosts.pop()
    yield "The CPU's annealing ran on one thread of an Intel Xeon."


FIGURE_19 = (0.3, 0.5, 1.0, 2.0, 5.47, 10.0, 20.0)


def of_004(m: Measured) -> Iterator[str]:
    for name in m.names("neighbor_search", "cuda"):
        beside = re.search(r"(\d+) cells side by side", m.row("neighbor_search", name, "cuda")["threads"])
        several = re.search(r"ils (10|[\d.]+ n, (better|annealed))", name) and "whole GPU" not in name
        assert (beside is not None) == bool(several), name
        assert beside is None or beside[1] == "10", name
    for search, stated in (("ils 0.1 n", 2.0), ("ils 1 n", 0.78), ("ils 10 n", 0.32)):
        printed, better = (m.mean_error(s, "cpu") for s in (search, f"{search}, better"))
        assert printed > stated + 0.2
        assert better < printed
        assert better < stated + 0.12
    assert m.mean_error("ils 10 n, annealed", "cpu") < 0.32
    for name in ("rl5934", "d18512"):
        annealed, better = (
            m.get("neighbor_search", f"{name}, ils 10 n, {how}", "cpu")["seconds"]
            for how in ("annealed", "better")
        )
        assert annealed < 1.1 * better
    yield "gets below the published error at 10 n, in the time of *better*"
    searches = [f"ils 1 n{how}" for how in ("", ", passes, best", ", passes, first")]
    searches += [f"{search}, better" for search in searches]
    cells = m.studies["neighbor_search"]
    common = [
        (name, n)
        for name, n in m.plane
        if all(cells.get(f"{name}, {search}", "cpu") is not None for search in searches)
    ]
    ends, best, first, *_ = (
        statistics.mean(m.get("neighbor_search", f"{name}, {search}", "cpu")["error"] for name, _ in common)
        for search in searches
    )
    letter = statistics.mean(m.get("iterated_passes", f"{name}, 1 n", "cpu")["error"] for name, _ in common)
    assert ends < letter < best
    assert first < letter
    yield f"ends between the two, at {letter:.2f} % over the same instances"
    found = {s: m.mean_error(s, "cpu") for s in ("3-opt", "3-opt, next edges", "2-opt, next edges")}
    assert found == {s: m.mean_error(s, "cuda") for s in found}
    theirs = {row["search"]: row for row in published("004").rows("3")}
    two, three = theirs["2-opt"], theirs["3-opt"]
    yield f"Hence it ends in better tours: {found['3-opt']:.2f} % against {three['cpu_error']}."
    yield (
        f"That ends at {found['3-opt, next edges']:.2f} %, as good as the published {three['cpu_error']} and "
        f"{three['gpu_error']}, and 2-opt at {found['2-opt, next edges']:.2f} ({two['cpu_error']})."
    )


def of_index(m: Measured) -> Iterator[str]:
    def seconds(study, cell, device, digits=2):
        return number(m.get(study, cell, device)["seconds"], digits)

    def both(study, cell):
        return f"| {seconds(study, cell, 'cuda')} s | {seconds(study, cell, 'cpu')} s |"

    def theirs(document, table, **wanted):
        rows = published(document).rows(table)
        return next(row for row in rows if wanted.items() <= row.items())

    row = theirs("000", "4.15", cities=2000)
    gpu, cpu = (seconds("two_opt_sizes", "descent 2000", device) for device in ("cuda", "cpu"))
    assert "H200" in m.row("two_opt_launches", "2000 document", "cuda")["machine"]
    yield (
        f"2000 cities: {row['gpu_ms'] / 1e3:.1f} s, CPU {row['cpu_ms'] / 1e3:.0f} s | {gpu} s, the thesis's "
        f"launch {seconds('two_opt_launches', '2000 document', 'cuda')} s on an H200 | {cpu} s |"
    )
    gpu, eighth, cpu = (
        seconds("swap_versions", f"10000 cities{version}", device)
        for version, device in (("", "cuda"), (", version 8", "cuda"), ("", "cpu"))
    )
    yield f"500 passes at 10 000 cities: 22.5 s | {gpu} s, the eighth version {eighth} s | {cpu} s |"
    one = m.get("two_opt_sizes", "pass 60000", "cuda")
    yield (
        f"one pass at 60 000 cities: {theirs('000', 'B-1', cities=60_000)['kernel_ms'] / 1e3:.0f} s | "
        f"{1e3 * kernel(one) / one['passes']:.2f} ms | {seconds('two_opt_sizes', 'pass 60000', 'cpu')} s |"
    )
    yield (
        f"3-opt from the identity, 1000 cities: {theirs('000', 'B-2', cities=1000)['total_ms'] / 1e3:.0f} s "
        f"{both('three_opt_sizes', '1000')}"
    )
    rates = {
        (v, d): max(
            1e-9 * r["evaluations"] / kernel(r)
            for name in m.names("climbing_rates", d)
            if name.startswith(f"{v} ") and (r := m.get("climbing_rates", name, d))
        )
        for v, d in (("auto", "cuda"), ("tuned", "cuda"), ("auto", "cpu"))
    }
    yield (
        f"60e9 moves/s | {rounded(rates['auto', 'cuda'], 3)}e9, the document's `tuned` "
        f"{rounded(rates['tuned', 'cuda'], 2)}e9 | {number(rates['auto', 'cpu'], 2)}e9 |"
    )
    exact, coarse = iterations_of_the_hardware(m)
    yield (
        f"iterations at {WORDS[len(published('003').rows('5.4 table 2'))]} instances | the same at "
        f"{WORDS[len(exact)]}, at a {WORDS[len(coarse)]}th if gains up to 0.02 are ignored | as on the GPU |"
    )
    row = theirs("003", "6.4.3 table 1", instance="u1817")
    yield (
        f"u1817: {row['gpu_ms'] / 1e3:.2f} s, CPU {row['cpu_ms'] / 1e3:.0f} s "
        f"{both('symmetric_table', 'u1817 descent')}"
    )
    rows = published("003").rows("6.4.3 table 1")
    their_seconds = [row["annealing_gpu_ms"] / 1e3 for row in rows]
    shortest, longest = min(their_seconds), max(their_seconds)
    yield f"annealing below 5 % at {len(rows)} instances, {shortest:.2f} to {longest:.0f} s |"
    kernels = m.symmetric("shortest schedule", "cuda", "kernel_seconds")
    times = [row["annealing_gpu_ms"] / 1e3 / s for row, s in zip(rows, kernels, strict=True)]
    alone = m.symmetric("shortest schedule, one chain", "cuda", "kernel_seconds")
    alone = [row["annealing_gpu_ms"] / 1e3 / s for row, s in zip(rows, alone, strict=True)]
    assert max(m.symmetric("shortest schedule", "cuda", "error")) < 5
    assert max(m.symmetric("shortest schedule, one chain", "cuda", "error")) < 5
    chains = " or ".join(str(132 * count) for count in sorted(set(chains_of(m).values())))
    yield (
        f"below 5 % at all 13, kernels of {1e3 * min(kernels):.1f} ms to {max(kernels):.1f} s, "
        f"{spread(times)} times as fast with {chains} chains, on an H200 {spread(alone)} times with one;"
    )
    errors = m.symmetric("annealing 50", "cuda", "error")
    assert all(error < row["annealing_error"] for error, row in zip(errors, rows, strict=True))
    assert sum(row["annealing_gpu_ms"] / 50 > 300 for row in rows) == 4
    yield (
        "below the published error at all 13 in 0.3 s, or at the four longest a fiftieth of the published "
        "time"
    )
    assert sum(error < 5 for error in m.symmetric("annealing 50", "cpu", "error")) == 10
    yield "below 5 % at ten in the same times"
    largest = {d: m.get("neighbor_passes", "pla85900", d)["pass_ms"] for d in ("cuda", "cpu")}
    row = theirs("004", "2", instance="pla85900")
    yield (
        f"{row['gpu_ms']} ms, CPU {row['cpu_ms']:.0f} ms | {largest['cuda']:.2f} ms on an H200 | "
        f"{largest['cpu']:.0f} ms |"
    )
    row = next(row for row in published("004").rows("3") if row["search"] == "ils 0.1 n")
    gains = [gain for _, _, gain in gains_of(m.studies["iterated_passes"], "0.1")]
    cpu, gpu = (number(m.get("iterated_passes", "d18512, 0.1 n", d)["seconds"], 2) for d in ("cpu", "cuda"))
    yield (
        f"algorithm 1 to the letter, 0.1 n kicks: on a GPU {row['speedup_mean']} times as fast on average, "
        f"{row['speedup_max']} at most | {statistics.mean(gains):.1f} times one core on average, "
        f"{max(gains):.0f} at most; d18512 {gpu} s, on an H200 | {cpu} s |"
    )
    searches = ("ils 0.1 n", "ils 1 n", "ils 10 n")
    found = {
        d: [[m.mean_error(s + how, d) for s in searches] for how in ("", ", better")] for d in ("cuda", "cpu")
    }
    words = {
        device: [", ".join(f"{error:.2f}" for error in line) for line in lines]
        for device, lines in found.items()
    }
    assert words["cuda"] == words["cpu"]
    printed, better = words["cuda"]
    their_errors = [f"{theirs('004', '3', search=search)['gpu_error']:.2f}" for search in searches]
    yield f"iterated local search, 0.1 n, 1 n, 10 n kicks: {', '.join(their_errors)} % | as printed, "
    yield f"the search continues from every tour: {printed} %; undoing longer tours: {better} % | the same |"


def of_methods(m: Measured) -> Iterator[str]:
    one = m.mean_error("ils 10 n, annealed", "cpu")
    names = [f"{name}, ils 10 n, annealed, 32 chains" for name, _ in m.plane]
    many = [m.get("neighbor_search", name, "cuda")["error"] for name in names]
    yield (
        f"with 10 n kicks {one:.2f} % over the {len(names)} EUC_2D instances of TSPLIB up to 18 512 cities "
        f"with one chain, and {statistics.mean(many):.2f} %, {sum(error <= 0 for error in many)} of them "
        "optimal, with 32."
    )


def rounded(value: float, digits: int) -> str:
    """A whole number with so many significant digits."""
    return f"{float(f'{value:.{digits}g}'):.0f}"


SENTENCES = {
    "000.md": of_000,
    "001.md": of_001,
    "002.md": of_002,
    "003.md": of_003,
    "004.md": of_004,
    "index.md": of_index,
    "../methods.md": of_methods,
}


def text(page: str) -> str:
    return " ".join((PAGES / page).read_text(encoding="utf-8").split())


def stale(m: Measured, page: str) -> list[str]:
    """Return the sentences that a page should have and has not."""
    return [sentence for sentence in SENTENCES[page](m) if sentence not in text(page)]


if __name__ == "__main__":
    for page in SENTENCES:
        for sentence in stale(Measured(), page):
            print(f"{page} should say: {sentence}")
