"""``warptsp solve-many``: short tours of many instances, and a table of their lengths."""

from __future__ import annotations

import csv
import io
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from warptsp._facts import Fact
from warptsp.claims import bound_gap
from warptsp.cli._command import argument, as_command, file_option, option
from warptsp.cli._options import OpenOrClosed, Printing, Reading, device_option, time_option
from warptsp.cli._outputs import output_facts, rescued
from warptsp.cli._values import bound_time
from warptsp.cli.streams import tell
from warptsp.errors import InvalidOption, WarpTSPError
from warptsp.interruption import FirstSignal
from warptsp.progress import in_percent
from warptsp.quantities import length_text
from warptsp.text import well_formed

if TYPE_CHECKING:
    from warptsp.many import ManyProgress, ManyResults
    from warptsp.many.sources import Source
    from warptsp.outputs import Attempts

TELL = 2.0  # seconds between two lines of progress
COLUMNS = (
    *("problem", "cities", "length", "unit", "gap_percent", "lower_bound", "bound_gap_percent"),
    *("proved_optimal", "kicks", "seconds", "seed"),
)
"""Of the table, as `solve --json` calls them."""


@as_command(
    "warptsp solve-many instances/ -o lengths.csv --tours tours/",
    "warptsp solve-many points.npy -o tours.npy --kicks 500",
    "warptsp solve-many rounds/ -o lengths.csv --total-time 60",
    "warptsp solve-many points.npy -o tours.npy --device cuda",
)
def command(
    problems: Annotated[Path, argument("FOLDER|FILE.npy")],
    outputs: Annotated[
        tuple[str, ...],
        file_option(
            "Write the lengths as .csv or .tsv, or, with the ending .npy, all tours as one array. May be "
            "given several times.",
            "FILE",
            "-o",
            "--output",
        ),
    ],
    tours: Annotated[
        Path | None, file_option("Write each tour into this folder, as a TSPLIB file NAME.tour.", "FOLDER")
    ],
    time_limit: Annotated[float | None, time_option("Stop each search after this time: 10, 90s, 1m30s.")],
    kicks: Annotated[int | None, option("Stop each search after N kicks; repeatable.", "N")],
    total_time: Annotated[float | None, time_option("Divide this time among all problems.")],
    seed: Annotated[int, option("Seed of problem 0; problem i has SEED + i.", default=0, show_default=True)],
    threads: Annotated[int | None, option("Problems at once; by default one for each processor.", "N")],
    device: Annotated[
        str,
        device_option(
            "cpu|cuda|cuda:N", "cpu, or a GPU, which searches thousands of problems at once.", default="cpu"
        ),
    ],
    bound: Annotated[
        str | float,
        option(
            "Compute a lower bound beside each search, as warptsp solve does.",
            "auto|none|TIME",
            type=bound_time,
            default="none",
            show_default=True,
        ),
    ],
    open_: OpenOrClosed,
    printing: Printing,
    reading: Reading,
) -> int:
    """Find short tours of all instances in a folder, or of an array of problems.

    FOLDER holds instance files of any format; FILE.npy an array of shape (m, n, 2), points of m problems, or
    (m, n, n), their matrices. Each problem is searched by one thread, as many at once as there are
    processors, or by a GPU. A faulty problem is reported at the end, and does not stop
    the others; the exit status is then 2. Ctrl-C ends the search, and what has been found is written.
    """
    from warptsp.many import solve_many
    from warptsp.many.sources import Source
    from warptsp.outputs import Attempts, check_outputs, make_folder

    for output in outputs:
        if _kind(output) not in (".csv", ".tsv", ".npy"):
            raise InvalidOption(f"--output {output}: lengths are written as .csv or .tsv, tours as .npy")
    read = problems.iterdir() if os.path.isdir(problems) else [problems]
    check_outputs(
        [("--output", output) for output in outputs], [("one of the problems", file) for file in read]
    )
    if tours is not None:
        make_folder(tours)
    source: Any = Source.of(problems)
    asked: dict[str, Any] = {"metric": reading.metric, "asymmetric": reading.asymmetric}
    reading.checked()
    if source.names is not None:
        source, asked = replace(source, reader=reading.problem), {}
    elif unread := reading.only_of_files():
        raise InvalidOption(f"{unread}: {problems} is an array of problems; only files in a folder need it")
    for output in outputs:  # known before hours of search, for which each file is read once more
        if _kind(output) == ".npy" and source.names is not None and len(set(_sizes(source))) > 1:
            raise InvalidOption(
                f"--output {output}: the problems differ in size, so their tours are no array; use --tours "
                "FOLDER"
            )
    with FirstSignal() as signals:  # what has been found is written
        results = solve_many(
            source,
            time_limit=time_limit,
            kicks=kicks,
            total_time=total_time,
            seed=seed,
            open=open_,
            threads=threads,
            device=device,
            bound=bound,
            callback=_Lines(printing.quiet),
            **asked,
        )
        attempts = Attempts()
        written = [output for output in outputs if attempts.make(_write, output, results)]
        folder = tours if tours is not None and _write_tours(tours, results, attempts) else None
        wanted, there = (any(_kind(output) == ".npy" for output in some) for some in (outputs, written))
        if results.solved and not (folder or there) and (tours or wanted or not written):
            folder = _rescued(results, attempts)
    table = [dict(zip(COLUMNS, row, strict=True)) for row in _rows(results)] if printing.as_json else []
    printing.show([*_facts(problems, outputs, written, folder, results), Fact("table", table)])
    for position, error in results.errors.items():
        tell(f"warptsp: problem {_name(results, position)}: {error}")
    attempts.finish()
    return signals.status or (2 if results.errors else 0)


class _Lines:
    """A line on stderr every few seconds."""

    def __init__(self, quiet: bool) -> None:
        self._due = float("inf") if quiet else time.monotonic() + TELL

    def __call__(self, progress: ManyProgress) -> None:
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + TELL
        total = "" if progress.total is None else f" of {progress.total}"
        tell(f"{progress.elapsed:.0f} s: {progress.done + progress.failed}{total} problems")


def _sizes(source: Source) -> Iterator[int]:
    """How many cities the problems in files have, but for those that are faulty."""
    for file in source.items or ():
        with suppress(WarpTSPError):
            yield source.read(file).n


def _name(results: ManyResults, position: int) -> str:
    return str(position) if results.names is None else results.names[position]


def _rows(results: ManyResults) -> list[list[object]]:
    """Return the table of `COLUMNS`; a problem without a tour has no more than its name and its seed."""
    kicks, seconds, proved = results.kicks, results.seconds_each, results.proved_optimal
    rows: list[list[object]] = []
    for position in range(len(results)):
        name, length, seed = _name(results, position), results.length(position), results.seed_of(position)
        if length is None:
            rows.append([name, *[None] * (len(COLUMNS) - 2), seed])
            continue
        bound = results.lower_bound(position)
        gaps = in_percent(results.gap(position)), in_percent(bound_gap(length, bound))
        search = int(kicks[position]), round(float(seconds[position]), 6), seed
        found = name, len(results.tour(position)), length, results.unit(position)
        rows.append([*found, gaps[0], bound, gaps[1], bool(proved[position]), *search])
    return rows


def _as_text(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else value


def _kind(output: str) -> str:
    return os.path.splitext(output)[1].lower()


def _write(output: str, results: ManyResults) -> None:
    """Write all tours as an array, or the table of lengths."""
    from warptsp.outputs import write_pieces, write_whole

    if _kind(output) == ".npy":
        from warptsp.io.npy import array_pieces

        tours = results.tours
        if isinstance(tours, list):
            raise InvalidOption(f"--output {output}: no problem has a tour to write")
        write_pieces(output, array_pieces(tours, header=True))
        return
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t" if _kind(output) == ".tsv" else ",", lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(list(map(_as_text, row)) for row in _rows(results))
    write_whole(output, well_formed(text.getvalue()))


def _write_tours(folder: Path, results: ManyResults, attempts: Attempts) -> bool:
    """Write each tour as a file of its own, whatever becomes of the others; tell whether any is there."""
    from warptsp.io import write_tour

    def write(position: int) -> None:
        result = results[position]  # whose file may be gone since
        write_tour(folder / f"{_name(results, position)}.tour", result.tour, result.problem)

    solved = [position for position in range(len(results)) if results.length(position) is not None]
    return sum(attempts.make(write, position) for position in solved) > 0


def _rescued(results: ManyResults, attempts: Attempts) -> Path | None:
    """Write the tours that are nowhere into a folder among the temporary files."""
    from warptsp.outputs import Attempts, make_folder

    def write(name: str) -> None:
        make_folder(name)
        again = Attempts()
        if not _write_tours(Path(name), results, again):
            again.finish()

    return next(map(Path, rescued("the tours are", write, attempts)), None)


def _facts(
    problems: Path, outputs: tuple[str, ...], written: list[str], tours: Path | None, results: ManyResults
) -> list[Fact]:
    each = [results.length(position) for position in range(len(results))]
    lengths = [length for length in each if length is not None]
    optimal = int(results.proved_optimal.sum())
    proved = f"{optimal} tours are optimal, proved" if lengths else None
    units = {results.unit(position) for position, length in enumerate(each) if length is not None}
    range_ = None
    if len(units) == 1:  # others do not compare
        least, most, mean = (
            length_text(length, *units)
            for length in (min(lengths), max(lengths), sum(lengths) / len(lengths))
        )
        range_ = f"{least} to {most}, mean {mean}"
    pace = f", {1000 * results.seconds / len(results):.2f} ms each" if len(results) else ""
    ended = "early: what was found is kept" if results.interrupted else None
    return [
        Fact("file", str(problems), f"{problems}: {len(results)}, {len(lengths)} with a tour", "problems"),
        Fact("problems", len(results)),
        Fact("solved", results.solved),
        Fact("lengths", each, range_),
        Fact("seed", results.seed),
        Fact("proved_optimal", optimal, proved, "proved"),
        Fact("errors", {_name(results, position): str(error) for position, error in results.errors.items()}),
        Fact("seconds", round(results.seconds, 3), f"{results.seconds:.2f} s{pace}", "time"),
        Fact("interrupted", results.interrupted, ended, "ended"),
        *output_facts(written, None if outputs else "the lengths"),
        Fact("", words=None if tours is None else str(tours), name="tours"),
    ]
