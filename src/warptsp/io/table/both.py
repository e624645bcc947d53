"""Both coordinates in one column: ``52.52, 13.405``, or ``POINT (13.405 52.52)`` (WKT); and angles without a
header line, which tell by their letters what they are."""

import logging
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from warptsp.io._text import quoted
from warptsp.io.options import ReadOptions, as_columns, as_metric
from warptsp.io.systems import DEGREES, MERCATOR, warn_of_mercator
from warptsp.problem.doubts import look_like_degrees

from .angles import angle_of
from .fields import MINUS, is_name, is_number
from .rows import Table, TableRows
from .titles import has_longitude_first, look_like_positions, rank

_log = logging.getLogger(__name__)

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_WKT = re.compile(
    rf"(?:SRID=(\d+);\s*)?POINT\s*(?:ZM|Z|M)?\s*\(\s*({_NUMBER})\s+({_NUMBER})(?:\s+{_NUMBER})*\s*\)",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"([01]?\d|2[0-9]):[0-5]\d(:[0-5]\d)?")
_SEPARATORS = (
    r"\s*[;/|]\s*",
    r"\s*,\s+",
    r"(?<=[NSEWnsew])\s*,?\s*(?=[\d+-])",
    r"\s*,?\s*(?=[NSEWnsew]\s*\d)",
    r"\s*,\s*",
    r"\s+",
)
_LONGEST = 200  # characters, which two coordinates with all their digits do not have


class _Pair(NamedTuple):
    """Two numbers as they stand in a field, and what the field says of them."""

    first: str
    second: str
    geographic: bool | None = None  # None: their sizes tell
    longitude_first: bool | None = None  # None: the title of the column tells
    system: str | None = None  # its number in the registry of EPSG


def with_a_column_each(table: Table, options: ReadOptions) -> Table:
    """The table with a column for each coordinate, if one holds both; otherwise the table itself."""
    stated = options.columns.keys() - {"name", "id"}
    if stated or look_like_positions(table.first):
        return table
    first, second = (_fields(table, row) for row in table.head())
    found = [place for place, field in enumerate(second) if _pair(field) is not None]
    if len(found) == 1 and len(first) == len(second):
        return _split(table, found[0], options)
    return _with_letters(table, first)


def _fields(table: Table, row: Sequence[str]) -> list[str]:
    """The fields of a row: one if blanks do not separate columns, but what stands in the only one."""
    if table.delimiter == " " and not all(is_number(field) for field in row):
        return [" ".join(row).strip('"').strip()]
    return [field.strip() for field in row]


def _split(table: Table, place: int, options: ReadOptions) -> Table:
    if options.skip_incomplete:
        table.skip_incomplete([place])
    rows = [(line, _fields(table, row)) for line, row in table.rows()]
    table.warn_of_blanks(len(rows))
    titles = table.titles
    if titles is None and _pair(rows[0][1][place]) is None and not _lacks_place(rows[0][1], place):
        titles = rows.pop(0)[1]
    pairs = []
    for line, row in rows:
        if len(row) != len(rows[0][1]):
            table.fail(f"{len(row)} fields where the first line has {len(rows[0][1])}", line)
        pair = _pair(row[place], sure=True)
        if pair is None:
            table.fail(f"{quoted(row[place])}: two coordinates are needed, such as '52.52, 13.405'", line)
        pairs.append(pair)
    systems = sorted({pair.system for pair in pairs if pair.system is not None})
    if len(systems) > 1:
        table.fail(f"SRID {systems[0]} beside SRID {systems[1]}: one system of reference is needed for all")
    if options.parsed is None and MERCATOR.intersection(systems):
        y = np.array([float(pair.second) for pair in pairs if pair.system is not None])
        warn_of_mercator(table.file, f"SRID {systems[0]}", y, "SRID 4326 has degrees")
    said = None if titles is None else has_longitude_first(titles[place])
    longitude_first = [said if pair.longitude_first is None else pair.longitude_first for pair in pairs]
    pairs = [
        _Pair(pair.second, pair.first, pair.geographic) if exchanged else pair
        for pair, exchanged in zip(pairs, longitude_first, strict=True)
    ]
    geographic = _are_degrees(pairs, options)
    for (line, row), known in zip(rows, longitude_first, strict=True):
        if geographic and known is None and options.parsed is None and row[place].startswith("["):
            table.fail(
                f"{quoted(row[place])} may have the longitude first, as GeoJSON has it: call the column "
                f"lonlat or latlon, or give {as_metric('haversine')} for a latitude first",
                line,
            )
    names = ("lat", "lon") if geographic else ("x", "y")
    if not geographic:  # x stands first, as a longitude does
        pairs = [
            pair if known is None else _Pair(pair.second, pair.first)
            for pair, known in zip(pairs, longitude_first, strict=True)
        ]
    unsaid = geographic and options.parsed is None and said is None and not any(p.geographic for p in pairs)
    points = [[float(number.replace(",", ".")) for number in pair[:2]] for pair in pairs if unsaid]
    doubtful = len(points) > 1 and not look_like_degrees(np.array(points))
    _log.log(
        logging.WARNING if doubtful else logging.INFO,
        "%s: column %s is taken for %s and %s%s",
        table.file,
        place + 1 if titles is None else quoted(titles[place]),
        *(_order(longitude_first) if geographic else names),
        f"; {as_metric('euclidean')} for x and y" if geographic else "",
    )
    width = len(rows[0][1])
    called = [at + 1 if titles is None else titles[at] or at + 1 for at in range(width)]
    titles = titles if titles is not None else _other_titles(rows[0][1], [place])
    split = [
        (line, [*row[:place], pair.first, pair.second, *row[place + 1 :]])
        for (line, row), pair in zip(rows, pairs, strict=True)
    ]
    found = table.with_columns(place, [*titles[:place], *names, *titles[place + 1 : width]], split)
    found.called = [*called[: place + 1], *called[place:width]]
    return found


def _lacks_place(row: Sequence[str], place: int) -> bool:
    """Whether a row is one of places with something wrong in its place, and none of names of columns."""
    if not row[place]:
        return all(rank(text, role) is None for text in row for role in ("name", "id"))
    return re.search(r"\d[.,]\d|^POINT\b", row[place], re.IGNORECASE) is not None


def _order(longitude_first: Sequence[bool | None]) -> tuple[str, str]:
    """In which order the coordinates stand in the first row."""
    return ("longitude", "latitude") if longitude_first[0] else ("latitude", "longitude")


def _are_degrees(pairs: Sequence[_Pair], options: ReadOptions) -> bool:
    """Whether pairs, the latitude first, are degrees: as they say, as the caller says, or by their sizes."""
    if options.parsed is not None:
        return options.parsed.geographic
    said = {pair.geographic for pair in pairs} - {None}
    if said:
        return said == {True}
    return all(
        abs(float(pair.first.replace(",", "."))) <= 90.0
        and abs(float(pair.second.replace(",", "."))) <= 360.0
        for pair in pairs
    )


def _pair(field: str, *, sure: bool = False) -> _Pair | None:
    """The two coordinates in a field, the latitude first if that is known; None if it holds none.

    Numbers without decimals may be something else, unless it is sure that coordinates stand there.
    """
    if len(field) > _LONGEST:
        return None
    if (wkt := _WKT.fullmatch(field)) is not None:
        system = None if wkt[1] is None else wkt[1].lstrip("0") in DEGREES
        return _Pair(wkt[2], wkt[3], system, longitude_first=True, system=wkt[1])
    field = field.strip("()[] ").replace(MINUS, "-")
    for separator in _SEPARATORS:
        parts = [part.strip() for part in re.split(separator, field) if part.strip()]
        if len(parts) != 2:
            continue
        if all(map(_CLOCK.fullmatch, parts)):
            return None
        for letters, exchanged in ((("NS", "EW"), False), (("EW", "NS"), True)):
            angles = [angle_of(part, letter) for part, letter in zip(parts, letters, strict=True)]
            if None not in angles:
                return _Pair(repr(angles[0]), repr(angles[1]), True, longitude_first=exchanged)
        decimals = [re.search("[.,]", part) is not None for part in parts]
        enough = all(decimals) or (separator in _SEPARATORS[:2] and (sure or any(decimals)))
        if enough and all(map(is_number, parts)):
            return _Pair(parts[0], parts[1])
    return None


def _with_letters(table: Table, first: Sequence[str]) -> Table:
    """A table without a header line whose angles have letters or signs of degrees."""
    angles = [
        place
        for place, field in enumerate(first)
        if not is_number(field) and (angle_of(field, "NS") is not None or angle_of(field, "EW") is not None)
    ]
    if len(angles) != 2 or table.delimiter == " ":
        return table
    times = [_CLOCK.fullmatch(first[place]) is not None for place in angles]
    if all(times) or (any(times) and sum(map(is_number, first)) > 1):
        return table  # opening hours, say, beside coordinates
    north = angle_of(first[angles[0]], "NS") is not None and angle_of(first[angles[1]], "EW") is not None
    titles = _other_titles(first, angles)
    for place, title in zip(angles, ("lat", "lon") if north else ("lon", "lat"), strict=True):
        titles[place] = title
    lat, lon = titles.index("lat") + 1, titles.index("lon") + 1
    # Without letters nothing tells which of the two stands first.
    either = angle_of(first[lat - 1], "EW") is not None and angle_of(first[lon - 1], "NS") is not None
    way = f"; {as_columns(lat=lon, lon=lat)} exchanges the two" if either else ""
    level = logging.WARNING if either else logging.INFO
    _log.log(level, "%s: no header line: column %d is taken for latitudes%s", table.file, lat, way)
    rows = list(table.rows())
    table.warn_of_blanks(len(rows))
    found = TableRows(rows, table.file, titles)
    found.called = [at + 1 for at in range(len(titles))]
    return found


def _other_titles(first: Sequence[str], known: Sequence[int]) -> list[str]:
    """Names for the columns of a table without any: one text is that of the place."""
    names = [place for place, field in enumerate(first) if place not in known and is_name(field)]
    return ["name" if names == [place] else f"column {place + 1}" for place in range(len(first))]
