"""What several commands share: values of options, the city that a user means, JSON."""

from __future__ import annotations

import functools
import logging
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warptsp._checks import shown
from warptsp._facts import Fact, lines_of, values_of
from warptsp.cli._completion import devices, formats, metrics
from warptsp.cli.streams import echo_json, say, tell
from warptsp.errors import InvalidOption

if TYPE_CHECKING:
    from warptsp.io.format import Instance
    from warptsp.problem import Problem


def _from_terminal(context: click.Context, parameter: click.Parameter, value: Path) -> Path:
    if str(value) == "-" and sys.stdin is not None and sys.stdin.isatty():
        tell("the instance is read from the terminal; end it with Ctrl-D")
    return value


instance_argument = click.argument(
    "instance", metavar="INSTANCE", type=click.Path(path_type=Path), callback=_from_terminal
)
json_option = click.option("--json", "as_json", is_flag=True, help="Write the result as JSON to stdout.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print no summary; only set the exit status.")


@dataclass(frozen=True, slots=True)
class Printing:
    """How a command says its result: as JSON, as lines for people, or not at all."""

    as_json: bool
    quiet: bool = False

    def show(self, facts: Iterable[Fact], *, on_stderr: bool = False) -> None:
        """Say it."""
        if self.as_json:
            echo_json(values_of(facts))
        elif not self.quiet:
            (tell if on_stderr else say)(*lines_of(facts))


def printing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--json`` and ``--quiet``; the command gets a `Printing`."""
    return json_option(quiet_option(grouped(printing=Printing)(command)))


def file_option(
    name: str, what: str, *, metavar: str = "FILE", path_type: type = Path
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add an option that takes the name of a file, with what is done with it."""
    return click.option(name, metavar=metavar, type=click.Path(path_type=path_type), help=what)


new_certificate_option = file_option(
    "--certificate", "Write the proof to this file (JSON); warptsp check --certificate verifies it."
)


def certificate_fact(file: Path | None, proved: bool) -> Fact:
    """Where a proof is."""
    words = None if file is None else str(file) if proved else "not written: nothing was proved"
    return Fact("", words=words, name="certificate")


_COLUMNS = {
    "x": "Column of a table that holds x: its name in the first line, or its number, counted from 1.",
    "y": "Column that holds y.",
    "z": "Column that holds z, for points in space.",
    "lat": "Column that holds latitudes, in decimal degrees.",
    "lon": "Column that holds longitudes.",
    "name": "Column that holds the names of the cities.",
    "id": "Column that holds the numbers of the cities.",
}


@dataclass(frozen=True, slots=True)
class InstanceFile:
    """INSTANCE, and what the options say of it."""

    path: Path
    format: str | None
    columns: Mapping[str, str]
    metric: str | None
    asymmetric: bool
    sheet: str | None = None
    encoding: str | None = None
    skip_incomplete: bool = False

    def load(self, *, groups: bool = False) -> Problem:
        """Read it, and say on stderr what was guessed of it, and what is doubtful."""
        problem = self.read(notes=True, groups=groups).problem
        if problem.doubt is not None:
            logging.getLogger("warptsp").warning("%s", problem.doubt)
        return problem

    def read(self, *, notes: bool, groups: bool = False) -> Instance:
        """The same, and return what the columns of a table were taken for, which notes would say.

        Parameters
        ----------
        notes : bool
            Whether that is said on stderr, too, and not only warnings.
        groups : bool
            Whether the command visits one place of each group.
        """
        from warptsp.io.instances import read_instance
        from warptsp.io.options import ReadOptions

        options = ReadOptions.of(
            self.columns,
            self.metric,
            self.asymmetric,
            groups=groups,
            sheet=self.sheet,
            encoding=self.encoding,
            skip_incomplete=self.skip_incomplete,
        )
        with _with_notes() if notes else nullcontext():
            return read_instance(self.path, self.format, options)


def instance_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how INSTANCE is read; the command gets an `InstanceFile`."""

    @functools.wraps(command)
    def collecting(instance: Path, format_: str | None, **options: Any) -> Any:
        columns = {role: options.pop(role) for role in _COLUMNS}
        given = {role: column for role, column in columns.items() if column is not None}
        names = ("metric", "asymmetric", "sheet", "encoding", "skip_incomplete")
        said = {name: options.pop(name) for name in names}
        return command(instance=InstanceFile(instance, format_, given, **said), **options)

    added = [
        click.option(
            "--format",
            "format_",
            metavar="NAME",
            shell_complete=formats,
            help="Format of INSTANCE, if its name and contents do not show it.",
        ),
        *(click.option(f"--{role}", metavar="COLUMN", help=text) for role, text in _COLUMNS.items()),
        click.option(
            "--sheet", metavar="NAME|N", help="Sheet of a workbook; default: the first that holds anything."
        ),
        click.option(
            "--encoding", metavar="NAME", help="Encoding of a text that is not UTF-8, such as cp1250."
        ),
        click.option(
            "--skip-incomplete", is_flag=True, help="Leave out rows of a table without coordinates."
        ),
        click.option(
            "--metric",
            metavar="NAME",
            shell_complete=metrics,
            help="Metric for the coordinates of INSTANCE, such as EUC_2D, euclidean or haversine.",
        ),
        click.option(
            "--asymmetric", is_flag=True, help="Allow a matrix whose distances differ by direction."
        ),
    ]
    return functools.reduce(lambda found, option: option(found), reversed(added), collecting)


def grouped(**kinds: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Collect the options of a command that belong together in dataclasses, whose fields they are.

    Parameters
    ----------
    **kinds : type
        The dataclass of each parameter that the command gets instead of the options.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def collecting(**options: Any) -> Any:
            groups: dict[str, Any] = {}
            for name, kind in kinds.items():
                names = [field.name for field in fields(kind) if field.name in options]
                groups[name] = kind(**{field: options.pop(field) for field in names})
            return command(**groups, **options)

        return collecting

    return decorate


class _Notes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno == logging.INFO:
            tell(f"warptsp: note: {record.getMessage()}")


@contextmanager
def _with_notes() -> Iterator[None]:
    """Write to stderr what a reader has taken a file for, a line each; its warnings are told anyway."""
    logger, handler = logging.getLogger("warptsp.io"), _Notes()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def examples(*lines: str) -> str:
    """Return the last paragraph of a command's help: lines to type, each with what it does behind a #."""
    return "\n".join(["\b", "Examples:" if len(lines) > 1 else "Example:", *(f"  {line}" for line in lines)])


class Seconds(click.ParamType):  # type: ignore[type-arg]
    """A time: ``10``, ``0.5``, ``90s``, ``5 min``, ``1m30s``, ``1h30`` or ``00:01:30``."""

    name = "seconds"
    _wanted = "a time such as 10, 0.5, 90s, 1m30s or 2h"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return seconds."""
        if isinstance(value, (int, float)):
            return float(value)
        seconds = seconds_in(value)
        if seconds is None:
            self.fail(f"{value!r} is not {self._wanted}", param, ctx)
        return seconds


def time_option(name: str, what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add an option that takes a time."""
    return click.option(name, type=Seconds(), metavar="TIME", help=what)


time_limit_option = time_option("--time-limit", "Stop after this time: 10, 90s, 1m30s, 2h.")
kicks_option = click.option(
    "--kicks", type=int, metavar="N", help="Stop after N kicks (same seed and threads: same tour)."
)
seed_option = click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of the random numbers."
)
threads_option = click.option("--threads", type=int, metavar="N", help="CPU threads.  [default: all]")


def device_option(
    values: str, what: str, default: str = "auto"
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add ``--device``, with the values that a command takes."""
    return click.option(
        "--device", default=default, show_default=True, metavar=values, shell_complete=devices, help=what
    )


_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_UNIT_NAMES = {
    "ms": "ms|msecs?|milliseconds?",
    "d": "d|days?",
    "h": "h|hrs?|hours?",
    "m": "m|mins?|minutes?",
    "s": "s|secs?|seconds?",
}
_TIME = re.compile(
    r"(\d+\.?\d*(?:e[-+]?\d+)?|\.\d+)\s*("
    + "|".join(f"(?P<{unit}>{names})" for unit, names in _UNIT_NAMES.items())
    + r"|)(?![a-z])\s*"
)


def seconds_in(text: str) -> float | None:
    """The seconds that a text means: with units, from the largest to the smallest, or ``HH:MM:SS``.

    >>> seconds_in("1m30s"), seconds_in("1h30"), seconds_in("00:01:30"), seconds_in("10sec")
    (90.0, 5400.0, 90.0, 10.0)
    """
    text = text.strip().lower()
    if (clock := re.fullmatch(r"(\d+):([0-5]\d):([0-5]\d(?:\.\d*)?)", text)) is not None:
        return int(clock[1]) * 3600.0 + int(clock[2]) * 60.0 + float(clock[3])
    total, at, last = 0.0, 0, ""
    order = list(_UNITS)
    while at < len(text) or not at:
        part = _TIME.match(text, at)
        if part is None or (last and part[2] == "" and last not in "hm"):
            return None
        # What has no unit behind hours are minutes, and so on.
        behind = order[order.index(last) + 1] if last else "s"
        unit = next((name for name in order if part[name]), behind)
        if last and order.index(unit) <= order.index(last):
            return None
        total, at, last = total + float(part[1]) * _UNITS[unit], part.end(), unit
    return total


class BoundSeconds(Seconds):
    """What a lower bound may take: a time, ``auto``, or ``none``; or ``lp``."""

    name = "auto, lp, none or seconds"
    _wanted = "auto, lp, none, nor a time such as 10, 0.5, 90s, 1m30s or 2h"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return what `warptsp.solve` takes."""
        words = {"auto": "auto", "lp": "lp", "none": False}
        return words[value] if value in words else super().convert(value, param, ctx)


class Speed(click.ParamType):  # type: ignore[type-arg]
    """A speed in kilometres per hour, or with its unit: ``60``, ``60km/h``, ``37mph``, ``5 m/s``."""

    name = "speed"
    _units = {"": 1.0, "km/h": 1.0, "kmh": 1.0, "kph": 1.0, "mph": 1.609344, "m/s": 3.6, "kn": 1.852}  # noqa: RUF012

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return kilometres per hour."""
        found = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([a-z/]*)\s*", str(value).lower())
        if found is None or found[2] not in self._units or float(found[1]) <= 0.0:
            self.fail(f"{value!r} is not a speed such as 60, 60km/h, 37mph or 5m/s", param, ctx)
        return float(found[1]) * self._units[found[2]]


class Gap(click.ParamType):  # type: ignore[type-arg]
    """A gap in per cent, ``0.8``, or one to the lower bound, ``0.8%bound``."""

    name = "gap"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, and the reference that `warptsp.stop.TargetGap` takes."""
        if isinstance(value, tuple):  # what this has returned before
            return value
        number, percent, reference = str(value).partition("%")
        try:
            if reference not in ("", "bound") or (percent and not reference):
                raise ValueError
            return float(number), reference or None
        except ValueError:
            self.fail(
                f"{value!r} is not a number of per cent, such as 0.8, nor one to the lower bound, 0.8%bound",
                param,
                ctx,
            )


def parse_params(texts: tuple[str, ...]) -> dict[str, str]:
    """Turn ``NAME=VALUE`` texts into a dict.

    Raises
    ------
    InvalidOption
        For a text without ``=``, or a name given twice.
    """
    params: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise InvalidOption(f"--param {shown(text)}: write NAME=VALUE")
        if name.strip() in params:
            raise InvalidOption(f"--param: {shown(name.strip())} is given twice")
        params[name.strip()] = value.strip()
    return params


def find_city(problem: Problem, text: str, option: str) -> int:
    """Return the city, numbered from 0, that a user names by its number in the file or by its name.

    Raises
    ------
    InvalidOption
        If there is no such city, or several of this name.
    """
    try:
        return problem.city(text)
    except InvalidOption as error:
        raise InvalidOption(f"{option} {error}") from None
