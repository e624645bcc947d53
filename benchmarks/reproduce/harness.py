"""What the scripts of `benchmarks/reproduce` share: cells that resume, tables side by side, reports.

A study is a module that says in the first line of its docstring what it is about, and has ``DOCUMENT``,
``TABLES`` (those of the document that it repeats) and three functions:

- ``cells(setting)`` yields what there is to measure on one device, the most telling first;
- ``measure(cell, setting)`` measures one cell and returns plain numbers;
- ``report(results)`` returns the sections of the report, from all cells measured so far.

Every finished cell is a line of ``cells.jsonl`` in the output folder, with machine, date and commit, so that
a run that was cut short goes on with ``--resume``, and runs of several machines can be put together by
appending one file to the other.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from benchmarks.common import DIMACS, REPOSITORY, note, provenance, table
from benchmarks.reproduce.chart import Chart

if TYPE_CHECKING:
    from warptsp.problem import Problem
    from warptsp.progress import Progress
    from warptsp.result import Result

PUBLISHED = Path(__file__).parent / "published"
CELLS = "cells.jsonl"
EXAMPLES = """\
examples:
  python -m benchmarks.reproduce --list
  python -m benchmarks.reproduce swap_versions symmetric_table   two studies, on the CPU, in minutes
  python -m benchmarks.reproduce --device both --resume          all of them; goes on where it was cut off
  python -m benchmarks.reproduce two_opt_sizes --device cuda --full

Reports, pictures and measured cells are in the folder of --output. Studies of documents 002 to 004 need
instances of TSPLIB (http://comopt.ifi.uni-heidelberg.de/software/TSPLIB95/), unpacked, in that of
--instances.
"""
WARM_UP = 10.0  # seconds that the first pass of a run that is not counted may take
DEVICES = {"cpu": "CPU", "cuda": "GPU"}


@dataclass(frozen=True)
class Setting:
    """What a study is to measure, and with what."""

    device: str
    full: bool
    instances: Path
    threads: int | None = None
    pattern: str = ""
    side_by_side: int = 1


@dataclass(frozen=True)
class Cell:
    """One measurement: a name that is unique in its study on a device, and whatever it needs to be made."""

    name: str
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """A part of a report: a table, and perhaps a picture."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[object]]
    text: str = ""
    chart: Chart | None = None


class Study(Protocol):
    """A module of this package that measures something."""

    __name__: str
    DOCUMENT: str
    TABLES: Sequence[str]
    cells: Callable[[Setting], Iterable[Cell]]
    measure: Callable[[Cell, Setting], dict[str, Any]]
    report: Callable[[Results], list[Section]]


def name_of(study: Study) -> str:
    """Return the name of a study: that of its file."""
    return study.__name__.rpartition(".")[2]


def title_of(study: Study) -> str:
    """Return what a study is about: the first line of its docstring, and the tables that it repeats."""
    first = (study.__doc__ or "").partition("\n")[0].removesuffix(".")
    return f"{first} ({', '.join(study.TABLES)})"


# --- what was published


@dataclass(frozen=True)
class Published:
    """The figures of one document, as they stand in ``published/``."""

    document: str
    what: str
    hardware: str
    tables: dict[str, Any]
    facts: dict[str, Any]

    def rows(self, number: str) -> list[dict[str, Any]]:
        """Return the rows of a table by the names of its columns."""
        found = self.tables[number]
        return [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]

    def notes(self, number: str) -> str:
        """Return what is to be said about the published table, as one paragraph."""
        return " ".join(self.tables[number].get("notes", ()))


@cache
def published(document: str) -> Published:
    """Return the published figures of a document, 000 to 004."""
    content = json.loads((PUBLISHED / f"{document}.json").read_text(encoding="utf-8"))
    named = {name: content.pop(name) for name in ("document", "what", "hardware", "tables")}
    return Published(**named, facts=content)


# --- measuring


def instance(folder: Path, name: str) -> Problem:
    """Return a TSPLIB instance of the folder."""
    from warptsp.io import load

    return load(folder / f"{name}.tsp")


def known_instances(metric: str | None = None) -> list[tuple[str, int]]:
    """Return (name, cities) of the TSPLIB instances with a length on record, smallest first."""
    import csv
    from importlib.resources import files

    lines = files("warptsp.problem").joinpath("known_lengths.csv").read_text(encoding="utf-8").splitlines()
    rows = [row for row in csv.DictReader(lines) if DIMACS.fullmatch(row["name"]) is None]
    found = {(row["name"], int(row["n"])) for row in rows if metric is None or row["metric"] == metric}
    return sorted(found, key=lambda row: (row[1], row[0]))


_warm: set[tuple[Any, ...]] = set()


def run(
    problem: Problem, setting: Setting, *, method: str, judge: Problem | None = None, **options: Any
) -> dict[str, Any]:
    """Run a method with ``warptsp.solve``, and return what tables are made of.

    A first short run that is not counted loads what is needed, once for each kind of launch. On one thread of
    the CPU the seconds are those of the processor, so that other work on the machine does not count. Without
    a time limit the method ends by itself. A signal ends the run, not only the method. The length is that of
    the tour in `judge` if it is given: the same cities with other distances.
    """
    import warptsp

    everything = {
        "method": method,
        "device": setting.device,
        "threads": setting.threads,
        "seed": 1,
        **({} if "time_limit" in options else {"stop": lambda state: False}),
        **options,
    }
    params = "" if setting.device == "cpu" else json.dumps(options.get("params"), sort_keys=True)
    launch = (method, setting.device, problem.metric.name, params, problem.n if params else 0)
    if launch not in _warm:
        _warm.add(launch)
        _warm_up(problem, everything)
    begun = time.process_time()
    result = warptsp.solve(problem, **everything)
    spent = time.process_time() - begun
    if result.interrupted:
        raise KeyboardInterrupt
    found = figures(result, problem if judge is None else judge)
    alone = setting.device == "cpu" and result.threads == 1 and setting.side_by_side == 1
    return {**found, "seconds": round(spent, 6)} if alone else found


def _warm_up(problem: Problem, everything: Mapping[str, Any]) -> None:
    """Run to the first pass or improvement: before it kernels are compiled, with a tour at hand already."""
    import warptsp

    first: list[float] = []

    def enough(event: Progress) -> bool:
        first.append(event.length)
        looked = event.counters.get("passes", 0) > 0 or event.length < first[0]
        return looked or event.elapsed > WARM_UP

    warptsp.solve(
        problem, **{**everything, "time_limit": None, "stop": lambda state: False, "callback": enough}
    )


def figures(result: Result, judge: Problem) -> dict[str, Any]:
    """Return the figures of a result: seconds, length, error in per cent, start and all counters."""
    length = judge.length(result.tour)
    known = judge.known_length
    return {
        "cities": judge.n,
        "seconds": round(result.seconds, 6),
        "length": length,
        "start_length": result.history[0].length if result.history else None,
        "error": None if known is None else round(100 * (length / known.length - 1), 4),
        "stop": result.stop_reason,
        "threads": result.threads,
        **result.counters,
    }


Figure = str | Callable[[dict[str, Any]], Any]  # a figure of a result: its name, or how it is computed


def kernel_ms(result: Mapping[str, Any]) -> float:
    """Return the milliseconds of a pass: of the kernels on a GPU, of everything on the CPU."""
    seconds: float = result.get("kernel_seconds", result["seconds"])
    passes: int = max(1, result.get("passes", 1))
    return 1e3 * seconds / passes


def rate(result: Mapping[str, Any]) -> float:
    """Return evaluated moves in 10^9 a second, of the kernels on a GPU."""
    seconds: float = result.get("kernel_seconds", result["seconds"])
    return 1e-9 * float(result["evaluations"]) / seconds


# --- cells that are done


@dataclass
class Results:
    """The measured cells of one study, and what is beside them in the tables."""

    rows: list[dict[str, Any]]

    def get(self, name: str, device: str) -> dict[str, Any] | None:
        """Return the result of a cell on a device, None if it was not measured or failed."""
        for row in reversed(self.rows):
            if row["cell"] == name and row["device"] == device and "error_text" not in row["result"]:
                return dict(row["result"])
        return None

    def value(self, name: str, device: str, of: Figure) -> Any:
        """Return a figure of a cell, None if there is none."""
        result = self.get(name, device)
        if result is None:
            return None
        return result[of] if isinstance(of, str) else of(result)

    def lines(self, cells: Iterable[tuple[float, str]], of: Figure) -> dict[str, list[tuple[float, float]]]:
        """Return a line of a chart for each device: points (x, figure) of cells given as (x, name)."""
        names = list(cells)
        found = {
            DEVICES[device]: [(x, y) for x, name in names if (y := self.value(name, device, of)) is not None]
            for device in self.devices()
        }
        return {device: points for device, points in found.items() if points}

    def devices(self) -> list[str]:
        """Return the devices that cells were measured on."""
        return [device for device in DEVICES if any(row["device"] == device for row in self.rows)]

    def failures(self) -> list[str]:
        """Return what went wrong, a line for each kind of fault and device."""
        found: dict[tuple[str, str], list[str]] = {}
        for row in self.rows:
            if "error_text" in row["result"] and self.get(row["cell"], row["device"]) is None:
                key = (DEVICES[row["device"]], row["result"]["error_text"])
                found.setdefault(key, []).append(row["cell"])
        return [
            f"{', '.join(dict.fromkeys(cells))} ({device}): {text}" for (device, text), cells in found.items()
        ]

    def machines(self) -> list[str]:
        """Return a line for each machine and commit that cells were measured with."""
        found: dict[tuple[str, ...], set[str]] = {}
        for row in self.rows:
            key = (DEVICES[row["device"]], row["machine"], row["threads"])
            found.setdefault(key, set()).add(f"{row['date']} at {row['commit']}")
        return [
            f"{device}: {machine}, {threads}; {', '.join(sorted(dates))}"
            for (device, machine, threads), dates in sorted(found.items())
        ]


def read_cells(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of cells; the last line may have been cut off, and is left out then."""
    if not path.is_file():
        return []
    rows = []
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError as error:
            if number < len(lines):
                raise SystemExit(f"{path}, line {number}: {error}") from error
    return rows


def append(path: Path, row: Mapping[str, Any]) -> None:
    """Add a row to a file of cells, behind a line that was cut off if there is one."""
    with open(path, "a+b") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                _drop_last_line(path)
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def _drop_last_line(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: content.rfind(b"\n") + 1])


def measure(study: Study, setting: Setting, path: Path, source: Mapping[str, str], until: float) -> None:
    """Measure what is not in the file yet, and write it there; stops at a time of ``time.monotonic()``."""
    name = name_of(study)
    done = {
        (row["cell"], row["device"])
        for row in read_cells(path)
        if row["study"] == name and "error_text" not in row["result"]
    }
    wanted = [
        cell
        for cell in study.cells(setting)
        if (cell.name, setting.device) not in done and re.search(setting.pattern, cell.name)
    ]
    writing = threading.Lock()

    def measure_one(cell: Cell) -> None:
        if time.monotonic() > until:
            note(f"{name}: out of time before {cell.name}")
            return
        begun = time.monotonic()
        try:
            result = study.measure(cell, setting)
        except Exception as error:  # one cell that cannot be measured must not end the run
            result = {"error_text": f"{type(error).__name__}: {error}"}
        note(f"{name}: {cell.name} on {setting.device}, {time.monotonic() - begun:.2f} s")
        if "error_text" in result:
            note(f"  {result['error_text']}")
        row = {"study": name, "cell": cell.name, "device": setting.device, **source, "result": result}
        with writing:
            append(path, row)

    if setting.side_by_side == 1:
        for cell in wanted:
            measure_one(cell)
    else:
        with ThreadPoolExecutor(setting.side_by_side) as pool:
            list(pool.map(measure_one, wanted))


def machine(setting: Setting, commit: str | None) -> dict[str, str]:
    """Return where, when and from which source the cells of a setting come."""
    from warptsp.devices import describe, resolve_threads

    source = provenance()
    name = source["machine"]
    if setting.device != "cpu":
        gpus = describe()["gpus"]
        name = f"{gpus[0]['name']} beside {name}" if gpus else name
    threads = resolve_threads(setting.threads)
    return {
        "machine": name,
        "threads": f"{threads} thread{'s' if threads > 1 else ''}"
        + (f", {setting.side_by_side} cells side by side" if setting.side_by_side > 1 else ""),
        "date": source["date"],
        "commit": commit or source["commit"],
    }


# --- tables side by side


def number(value: float | None, digits: int = 3) -> str:
    """Return a number with some significant digits, whole numbers and large ones in full, ``-`` for None."""
    if value is None:
        return "-"
    if value == 0 or (isinstance(value, int) and abs(value) < 10**9):
        return str(value)
    magnitude = math.floor(math.log10(abs(value)))
    if magnitude >= 9:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{max(0, digits - 1 - magnitude)}f}"


def ratio(published: float | None, measured: float | None) -> str:
    """Return how many times smaller the measured value is than the published one, ``-`` if one is missing."""
    if not published or not measured:
        return "-"
    return f"{number(published / measured, 2 if published < 100 * measured else 3)}"


def compared(published: float | None, measured: float | None) -> list[str]:
    """Return the cells of a table row: published, measured, and their ratio, where less is better."""
    return [number(published), number(measured), ratio(published, measured)]


def compared_header(what: str) -> list[str]:
    """Return the header that belongs to `compared`."""
    return [f"{what}, published", "measured", "ratio"]


def beside(
    published: float | None,
    results: Results,
    name: str,
    of: Figure,
    ratios: Literal["less", "more", "none"] = "less",
) -> list[str]:
    """Return the cells of a table row: published, then measured and the ratio for each device.

    The ratio is published over measured where less is better, as for times, and measured over published where
    more is, as for rates.
    """
    row = [number(published)]
    for device in results.devices():
        value = results.value(name, device, of)
        row.append(number(value))
        if ratios != "none":
            row.append(ratio(value, published) if ratios == "more" else ratio(published, value))
    return row


def header(what: str, results: Results, *, ratios: bool = True) -> list[str]:
    """Return the header that belongs to `beside`."""
    words = [f"{what}, published"]
    for device in results.devices():
        words.append(f"{what}, {DEVICES[device]}")
        if ratios:
            words.append("ratio")
    return words


# --- reports


def markdown(study: Study, results: Results, folder: Path) -> str:
    """Return the report of a study, and write its pictures into a folder, in place of former ones."""
    for old in folder.glob(f"{name_of(study)}_[0-9]*.svg"):
        old.unlink()
    source = published(study.DOCUMENT)
    lines = [f"- published: {source.what}; {source.hardware}"]
    lines += [f"- measured, {line}" for line in results.machines()]
    blocks = ["\n".join(lines)]
    for place, section in enumerate(study.report(results), start=1):
        blocks.append(f"### {section.title}")
        if section.text:
            blocks.append(section.text)
        if section.rows:
            blocks.append(table(section.header, section.rows))
        if section.chart is not None and not section.chart.empty:
            name = f"{name_of(study)}_{place}.svg"
            section.chart.write(folder / name)
            blocks.append(f"![{section.chart.title}]({name})")
    failures = results.failures()
    if failures:
        blocks.append("Not measured:\n\n" + "\n".join(f"- {line}" for line in failures))
    return "\n\n".join(blocks)


def write_report(study: Study, results: Results, output: Path) -> str:
    """Write the report of a study as Markdown, JSON and pictures, and return the Markdown."""
    output.mkdir(parents=True, exist_ok=True)
    text = markdown(study, results, output)
    name = name_of(study)
    (output / f"{name}.md").write_text(f"# {title_of(study)}\n\n{text}\n", encoding="utf-8")
    tables = {table: published(study.DOCUMENT).tables[table] for table in study.TABLES}
    content = {"study": name, "document": study.DOCUMENT, "published": tables, "measured": results.rows}
    (output / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return text


def fill_page(page: Path, name: str, text: str) -> bool:
    """Put a report between the marks of its study in a page of the docs; tell whether it has them."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    content = page.read_text(encoding="utf-8")
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not pattern.search(content):
        return False
    filled = pattern.sub(lambda _: f"{begin}\n\n{text}\n\n{end}", content)
    if filled != content:
        page.write_text(filled, encoding="utf-8")
    return True


# --- the command


def options_of(studies: Sequence[Study], arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    options = argparse.ArgumentParser(
        prog="python -m benchmarks.reproduce",
        description="Measure what the documents published, and put it beside their figures.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [name_of(study) for study in studies]
    options.add_argument("studies", nargs="*", metavar="STUDY", help="those of --list; all if none")
    options.add_argument("--list", action="store_true", help="list the studies, and do nothing")
    devices = [*DEVICES, "both"]
    options.add_argument("--device", choices=devices, default="cpu", help="cpu if not given")
    size = options.add_mutually_exclusive_group()
    size.add_argument("--reduced", action="store_true", help="minutes at most on two cores; the default")
    size.add_argument("--full", action="store_true", help="as published; may take hours")
    options.add_argument("--resume", action="store_true", help="leave out what the output folder has already")
    options.add_argument("--report", action="store_true", help="measure nothing: reports of what there is")
    options.add_argument(
        "--seconds", type=float, metavar="N", help="begin no cell of a study after N seconds"
    )
    options.add_argument(
        "--cells", default="", metavar="PATTERN", help="only cells whose name matches this regular expression"
    )
    options.add_argument(
        "--side-by-side", type=int, default=1, metavar="N", help="N cells at once, where only tours count"
    )
    options.add_argument("--threads", type=int, metavar="N", help="of the CPU; all if not given")
    instances = Path(os.environ.get("WARPTSP_SHARED", REPOSITORY.parent / "shared"), "data", "tsplib")
    options.add_argument(
        "--instances",
        type=Path,
        default=instances,
        metavar="FOLDER",
        help=f"of .tsp files; {instances} if not given",
    )
    options.add_argument(
        "--output",
        type=Path,
        default=Path("reproduction"),
        metavar="FOLDER",
        help="for cells and reports; reproduction if not given",
    )
    options.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="of pages to fill; gets the cells and pictures, too"
    )
    options.add_argument("--commit", help="commit to write down, where there is no repository")
    found = options.parse_args(arguments)
    unknown = set(found.studies) - set(names)
    if unknown:
        options.error(f"no study {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    return found


def chosen(studies: Sequence[Study], options: argparse.Namespace) -> Iterator[Study]:
    """Yield the studies that are asked for, in the order that they were asked for."""
    by_name = {name_of(study): study for study in studies}
    for name in options.studies or by_name:
        yield by_name[name]


def main(studies: Sequence[Study], arguments: Sequence[str] | None = None) -> None:
    """Run studies as the command line says."""
    options = options_of(studies, arguments)
    if options.list:
        for study in studies:
            print(f"{name_of(study):20} {study.DOCUMENT}  {title_of(study)}")
        return
    path = options.output / CELLS
    options.output.mkdir(parents=True, exist_ok=True)
    devices = list(DEVICES) if options.device == "both" else [options.device]
    wanted = list(chosen(studies, options))
    if not (options.report or options.instances.is_dir()):
        note(f"no folder {options.instances}: TSPLIB instances cannot be measured; --instances names another")
    if not options.resume and not options.report:
        names = {name_of(study) for study in wanted}
        kept = [r for r in read_cells(path) if r["study"] not in names or r["device"] not in devices]
        path.write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")
    for study in wanted:
        for device in () if options.report else devices:
            setting = Setting(
                device, options.full, options.instances, options.threads, options.cells, options.side_by_side
            )
            until = time.monotonic() + (options.seconds or math.inf)
            measure(study, setting, path, machine(setting, options.commit), until)
        results = Results([row for row in read_cells(path) if row["study"] == name_of(study)])
        text = write_report(study, results, options.output)
        print(f"\n# {title_of(study)}\n\n{text}", flush=True)
        if options.docs is not None:
            shutil.copyfile(path, options.docs / CELLS)
            text = markdown(study, results, options.docs)
            filled = [fill_page(page, name_of(study), text) for page in sorted(options.docs.glob("*.md"))]
            if not any(filled):
                note(f"no page of {options.docs} has a place for {name_of(study)}")
