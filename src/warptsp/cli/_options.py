"""The options that several commands have."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from warptsp._facts import Fact, lines_of, values_of
from warptsp._words import called_from_shell
from warptsp.cli import _values
from warptsp.cli._command import Make, argument, file_option, option
from warptsp.cli._completion import devices, formats, metrics
from warptsp.cli.streams import echo_json, listening, say, tell
from warptsp.errors import InvalidOption, ParseError, UnreadableFile

if TYPE_CHECKING:
    from warptsp.io.format import Instance
    from warptsp.io.options import ReadOptions
    from warptsp.problem import Problem


def _from_terminal(context: click.Context, parameter: click.Parameter, value: Path) -> Path:
    if str(value) == "-" and sys.stdin is not None and sys.stdin.isatty():
        tell("the instance is read from the terminal; end it with Ctrl-D")
    return value


def time_option(text: str, **settings: Any) -> Make:
    """An option that takes a time."""
    return option(text, "TIME", type=_values.seconds, **settings)


def device_option(values: str, text: str, default: str = "auto") -> Make:
    """``--device``, with the values that a command takes."""
    return option(text, values, default=default, show_default=True, shell_complete=devices)


InstanceFile = Annotated[Path, argument("INSTANCE", callback=_from_terminal)]
TourFile = Annotated[Path, argument("TOUR")]
TimeLimit = Annotated[float | None, time_option("Stop after this time: 10, 90s, 1m30s, 2h.")]
Kicks = Annotated[int | None, option("Stop after N kicks (same seed and threads: same tour).", "N")]
Seed = Annotated[int, option("Seed of the random numbers.", default=0, show_default=True)]
Threads = Annotated[int | None, option("CPU threads.  [default: all]", "N")]
Quiet = Annotated[bool, option("Print no summary; only set the exit status.", None, "-q", "--quiet")]
Json = Annotated[bool, option("Write the result as JSON to stdout.", None, "--json")]
Certificate = Annotated[
    Path | None,
    file_option("Write the proof to this file (JSON); warptsp check --certificate verifies it."),
]
OpenOrClosed = Annotated[
    bool | None,
    option(
        "Treat the tour as an open path or a closed tour.  [default: as the files say]",
        None,
        "--open/--closed",
        default=None,
    ),
]


@dataclass(frozen=True, slots=True)
class Printing:
    """How a command says its result: as JSON, as lines for people, or not at all."""

    as_json: Json
    quiet: Quiet = False

    def show(self, facts: Iterable[Fact], *, on_stderr: bool = False, width: int = 12) -> None:
        """Say it."""
        if self.as_json:
            echo_json(values_of(facts))
        elif not self.quiet:
            (tell if on_stderr else say)(*lines_of(facts, width))


def certificate_fact(file: Path | None, proved: bool, what: str = "nothing was proved") -> Fact:
    """Where a proof is, or why there is none."""
    words = None if file is None else str(file) if proved else f"not written: {what}"
    return Fact("", words=words, name="certificate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which column of a table holds what."""

    x: Annotated[
        str | None,
        option(
            "Column of a table that holds x: its name in the first line, or its number, counted from 1.",
            "COLUMN",
        ),
    ] = None
    y: Annotated[str | None, option("Column that holds y.", "COLUMN")] = None
    z: Annotated[str | None, option("Column that holds z, for points in space.", "COLUMN")] = None
    lat: Annotated[str | None, option("Column that holds latitudes, in decimal degrees.", "COLUMN")] = None
    lon: Annotated[str | None, option("Column that holds longitudes.", "COLUMN")] = None
    name: Annotated[str | None, option("Column that holds the names of the cities.", "COLUMN")] = None
    id: Annotated[str | None, option("Column that holds the numbers of the cities.", "COLUMN")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the options say of how instances are read."""

    columns: Columns
    sheet: Annotated[
        str | None, option("Sheet of a workbook; default: the first that holds anything.", "NAME|N")
    ]
    encoding: Annotated[str | None, option("Encoding of a text that is not UTF-8, such as cp1250.", "NAME")]
    skip_incomplete: Annotated[bool, option("Leave out rows of a table without coordinates.")]
    metric: Annotated[
        str | None,
        option(
            "Metric for the coordinates of INSTANCE, such as EUC_2D, euclidean or haversine.",
            "NAME",
            shell_complete=metrics,
        ),
    ]
    asymmetric: Annotated[bool, option("Allow a matrix whose distances differ by direction.")]
    format: Annotated[
        str | None,
        option(
            "Format of INSTANCE, if its name and contents do not show it.", "NAME", shell_complete=formats
        ),
    ]

    def load(self, path: Path, *, groups: bool = False) -> Problem:
        """Read an instance, and say on stderr what was guessed of it, and what is doubtful."""
        problem = self.read(path, notes=True, groups=groups).problem
        if problem.doubt is not None:
            logging.getLogger("warptsp").warning("%s", problem.doubt)
        return problem

    def read(self, path: Path, *, notes: bool, groups: bool = False) -> Instance:
        """The same, and return what the columns of a table were taken for, which `notes` say on stderr, too.

        With `groups` the command visits one place of each.
        """
        from warptsp.io.instances import read_instance

        options = self.checked(groups=groups)
        try:
            with listening(_Notes(logging.INFO), "warptsp.io") if notes else nullcontext():
                return read_instance(path, self.format, options)
        except UnreadableFile:
            raise
        except ParseError as error:
            if self.format is None and _is_drawing(path):
                raise InvalidOption(
                    f"{error}; a drawing has strokes, no cities: warptsp strokes {path} puts these in order"
                ) from None
            raise

    def checked(self, *, groups: bool = False) -> ReadOptions:
        """The options, as far as they can be checked without a file."""
        from warptsp.io.options import ReadOptions

        said = {name: value for name, value in asdict(self).items() if name not in ("columns", "format")}
        return ReadOptions(self.given_columns(), groups=groups, **said)

    def problem(self, path: Path) -> Problem:
        """Read an instance in any thread, and say nothing of it."""
        with called_from_shell():
            return self.read(path, notes=False).problem

    def only_of_files(self) -> str | None:
        """The first option that was given and says nothing of an array; None if there is none."""
        said = {**self.given_columns(), **asdict(self), "columns": None, "metric": None, "asymmetric": False}
        return next((f"--{name.replace('_', '-')}" for name, value in said.items() if value), None)

    def given_columns(self) -> dict[str, str]:
        """The columns that were named, by what they hold."""
        return {role: column for role, column in asdict(self.columns).items() if column is not None}


def _is_drawing(path: Path) -> bool:
    from warptsp.strokes.files.registry import formats

    return any(path.name.lower().endswith(format.endings) for format in formats())


class _Notes(logging.Handler):
    """Writes to stderr what a reader has taken a file for, a line each; its warnings are told anyway."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno == logging.INFO:
            tell(f"warptsp: note: {record.getMessage()}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """Where a tour begins and ends."""

    open_: Annotated[
        bool | None,
        option(
            "An open path with free ends, or a closed tour.  [default: as the files say]",
            None,
            "--open/--closed",
            default=None,
        ),
    ]
    from_: Annotated[str | None, option("City where the tour or path starts: number or name.", "CITY")]
    to: Annotated[str | None, option("City where the path ends; implies --open.", "CITY")]

    def of(self, problem: Problem) -> tuple[Problem, int | None]:
        """Return the problem with these ends, and the first city of a closed tour if one was named."""
        from warptsp.problem.names import city_of_file
        from warptsp.solver.inputs import with_ends

        return with_ends(problem, self.from_, self.to, self.open_, city_of_file)

    def of_path(self, problem: Problem) -> Problem:
        """Return the problem with these ends, for what says nothing of where a closed tour begins."""
        found, first = self.of(problem)
        if first is not None:
            raise InvalidOption(
                "--from: a closed tour has no first city here; give --open for a path from it"
            )
        return found
