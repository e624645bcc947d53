"""The formats that there are, and which of them a file has."""

import logging
import os
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module

from warptsp._checks import shown
from warptsp._words import as_called, listed
from warptsp.endings import FIGURES, PAGES, ends_in
from warptsp.errors import InvalidOption

from .format import Format, Source

_log = logging.getLogger(__name__)

#: Modules beside this one, each with its `FORMATS`; a module is imported when a search gets there.
MODULES = (
    "tsplib",
    "city_list",
    "table",
    "workbook",
    "parquet",
    "npy",
    "json",
    "geojson",
    "osrm",
    "gpx",
    "kml",
    "raw",
)


def formats() -> Iterator[Format]:
    """Every format, one after the other; those of other packages are the last."""
    for module in MODULES:
        yield from import_module(f"{__package__}.{module}").FORMATS
    yield from _from_outside()


@cache
def _from_outside() -> tuple[Format, ...]:
    """The formats that other packages offer by an entry point; one that fails costs only itself."""
    from importlib.metadata import entry_points

    found: list[Format] = []
    for entry in entry_points(group="warptsp.formats"):
        try:
            found += entry.load()
        except Exception as error:
            _log.warning("the formats of %s cannot be used: %s", entry.value, error)
    return tuple(found)


def has_instance_ending(name: str) -> bool:
    """Whether a file is an instance by the ending of its name, also where it is compressed."""
    return name.lower().removesuffix(".gz").endswith(tuple(e for f in _readable() for e in f.endings))


def format_of_instance(source: Source, name: str | None) -> Format:
    """The format of a file with an instance: what `name` says, or else its ending, or else its contents."""
    if name is not None:
        return _called(name)
    path = source.path.lower().removesuffix(".gz")
    found = next((format for format in _readable() if path.endswith(format.endings)), None)
    if found is not None:
        if found.has_columns and not found.binary and (tsplib := _called("tsplib")).recognizes(source.data):
            return tsplib  # some call TSPLIB's files tables
        if found.name == "tsplib" and re.match(rb"\s*[-+.\d]", source.data):
            return _called("csv")  # others' tables of bare numbers, TSPLIB's
        return found
    if path.endswith(".bin"):
        names = ", ".join(format.name for format in _readable() if format.bare and format.sniff is None)
        raise InvalidOption(
            f"{source.file}: bare numbers do not say what they are: give the format, one of {names}"
        )
    return _recognized(source, list(_readable()))


def format_of_tour(source: Source) -> Format:
    """The format of a file with a tour: its contents tell, except for workbooks and bare numbers."""
    able = [format for format in formats() if format.read_tour is not None]
    path = source.path.lower()
    ending = (f for f in able if (f.bare or f.binary) and path.endswith(f.tour_endings))
    if (found := next(ending, None)) is not None and (found.sniff is None or source.mappable):
        return found
    return _recognized(source, able)


def format_to_write(path: str | os.PathLike[str], name: str | None, *, tour: bool) -> Format:
    """The format of a file that gets an instance or a tour: what `name` says, or else the file's ending."""
    what = "tour" if tour else "instance"

    def able() -> Iterator[Format]:
        return (f for f in formats() if ((f.write_tour if tour else f.write) is not None))

    def endings(format: Format) -> tuple[str, ...]:
        return format.tour_endings if tour else format.endings

    if name is not None:
        found = next((format for format in able() if format.name == _lowered(name)), None)
        if found is None:
            raise InvalidOption(f"there is no {what} format {shown(name)} to write: {_one_of(able(), name)}")
        return found
    target = os.fspath(path)
    found = next((format for format in able() if target.lower().endswith(endings(format))), None)
    if found is None:
        known = ", ".join(ending for format in able() for ending in endings(format))
        instead = _drawn(target) if tour else ""
        raise InvalidOption(
            f"{target}: the name's ending means no {what} format: use one of {known}{instead}"
        )
    return found


def _drawn(target: str) -> str:
    """Say how a tour becomes what a name that is none of a tour asks for."""
    if ends_in(target, FIGURES):
        return as_called("; Result.plot draws a tour", "; --picture, or warptsp plot, draws a tour")
    if ends_in(target, PAGES):
        return as_called("; Result.report writes a page", "; --report, or warptsp report, writes a page")
    return ""


def _readable() -> Iterator[Format]:
    return (format for format in formats() if format.read is not None)


def _lowered(name: object) -> str | None:
    return name.lower() if isinstance(name, str) else None


def _called(name: str) -> Format:
    found = next((format for format in _readable() if format.name == _lowered(name)), None)
    if found is None:
        raise InvalidOption(f"there is no format {shown(name)}: {_one_of(_readable(), name)}")
    return found


def _one_of(able: Iterator[Format], name: str) -> str:
    return f"use one of {listed([format.name for format in able], name)}"


def _recognized(source: Source, able: Sequence[Format]) -> Format:
    """The first format that knows the contents, or else the first that takes what no other one knows."""
    for format in sorted(able, key=lambda format: format.fallback):
        if format.recognizes(source.data):
            return format
    raise AssertionError("tables take any text")
