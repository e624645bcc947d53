"""Dicts and lists as instances, in Python and from JSON: places or distances by name, columns, rows."""

import logging
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import shown
from warptsp._words import counted
from warptsp.errors import InvalidProblem
from warptsp.problem import Metric, Problem
from warptsp.problem.doubts import warn_of_degrees
from warptsp.problem.values import real_array

from ._text import quoted
from .format import Instance
from .geojson import geojson_problem, is_geojson
from .options import ReadOptions, as_metric, other_metric
from .osrm import osrm_problem
from .services import is_routing_answer
from .systems import DEGREES, MERCATOR, warn_of_mercator
from .table.fields import is_counted, is_infinite
from .table.frame import read_frame, without_depth
from .table.reader import read
from .table.rows import COUNTED, TableRows
from .table.titles import has_longitude_first, look_like_positions

_log = logging.getLogger(__name__)

_FORMS = (
    'places by name, {"Berlin": [52.5, 13.4]}, distances by name, {"Berlin": {"Paris": 1054}}, columns, '
    '{"lat": [...], "lon": [...]}, a list of rows or of objects, GeoJSON or the table of a routing service'
)
_MOST_CELLS = 30_000_000  # of objects whose keys differ
_LEVELS = 3  # of objects in objects in which coordinates are looked for


class _Columns:
    """A dict of columns, as far as a data frame is that."""

    dropna = None  # as a data frame has

    def __init__(self, columns: Mapping[Any, Any], index: Sequence[Any] | None = None) -> None:
        # An entry beside the columns is of all of them, such as the name of the tour.
        self._columns = {
            title: without_depth(values)
            for title, values in columns.items()
            if hasattr(values, "__len__") and not isinstance(values, (str, Mapping))
        }
        self.columns = list(self._columns)
        sizes = {len(values): title for title, values in self._columns.items()}
        if len(sizes) > 1:
            (one, first), (other, second) = list(sizes.items())[:2]
            raise InvalidProblem(
                f"column {shown(first)} has {counted(one, 'entry', 'entries')}, and column {shown(second)} "
                f"{other}: all have as many"
            )
        self.index = None if index is None else np.array(index, dtype=object)

    def __getitem__(self, title: Any) -> Any:
        return self._columns[title]


class _Rows(TableRows):
    """A list of rows as a table; rows are counted from 0."""

    rows_called = COUNTED

    def __init__(self, values: Sequence[Any], file: str, titles: list[str] | None = None) -> None:
        self._values = values
        first = [] if titles else values[0]
        flags = [value for value in first if isinstance(value, (bool, np.bool_))]
        if flags and not any(isinstance(value, str) for value in first):
            raise InvalidProblem(f"row 0 (counted from 0): {_text(flags[0])}: a number is needed")
        texts = [(row, [_text(value) for value in fields]) for row, fields in enumerate(values)]
        decimals = {at for fields in values for at, value in enumerate(fields) if isinstance(value, float)}
        super().__init__(texts, file, titles, decimals=decimals)

    def numbers(self, count: int, begin: int = 0) -> NDArray[Any] | None:
        rows = self._values
        if self.titled or self._needed or any(len(row) != count for row in rows):
            return None
        if any(type(value) is not float and type(value) is not int for row in rows for value in row):
            return None
        try:
            return real_array([row[begin:] for row in rows], "its entries").astype(np.float64)
        except InvalidProblem:
            return None


def _text(value: Any) -> str:
    if isinstance(value, str):
        return " ".join(value.split())
    return "" if value is None else str(value)


def problem_of_object(
    given: Mapping[Any, Any] | Sequence[Any], metric: Metric | str | None = None, *, asymmetric: bool = False
) -> Problem:
    """The instance in a dict, or in a list of dicts, of Python.

    That is the answer of a routing service (`Problem.from_osrm`); a GeoJSON object of points; places by name,
    ``{"Berlin": (52.5, 13.4), ...}`` or ``{"Berlin": {"lat": 52.5, "lon": 13.4}, ...}``; distances by name,
    ``{"Berlin": {"Paris": 1054, ...}, ...}``; or columns by name, ``{"lat": [...], "lon": [...]}``. Of
    several: rows, ``{"lat": 52.5, "lon": 13.4}``, or features of GeoJSON.
    """
    if callable(metric):
        if isinstance(given, Mapping) and given and _are_places(given.values()):
            return _places(given, metric, asymmetric=asymmetric)
        Metric.parse(metric)
    document = given if isinstance(given, Mapping) else list(given)
    return read_object(document, ReadOptions(metric=metric, asymmetric=asymmetric)).problem


def read_object(document: Any, options: ReadOptions, file: str | None = None) -> Instance:
    """The instance in a dict or a list, from Python or, where there is a `file`, as `json` reads it."""
    found = _in_object(document, options, file)
    if found is None:
        raise InvalidProblem(f"{told(document, file)} is no instance: {_FORMS} is needed")
    return found


def _in_object(
    document: Any, options: ReadOptions, file: str | None, levels: int = _LEVELS
) -> Instance | None:
    """The same; None if this is no instance."""
    if is_routing_answer(document):
        _check_no_table(options, file, "a table of durations or distances", Metric.EXPLICIT)
        return Instance(_with_names(osrm_problem(document), document))
    if is_geojson(document):
        _check_no_table(options, file, "GeoJSON", Metric.GREAT_CIRCLE)
        try:
            return Instance(geojson_problem(document, file or "GeoJSON"))
        except InvalidProblem as error:
            raise InvalidProblem(f"{'' if file else 'GeoJSON: '}{error}") from None
    if isinstance(document, Mapping):
        return _in_mapping(document, options, file) or _in_wrapping(document, options, file, levels)
    if isinstance(document, list) and document and isinstance(document[0], Mapping):
        return _in_records(document, options, file)
    if isinstance(document, list) and document and all(map(_is_list, document)):
        return read(_Rows(document, file or "the list"), options)
    return None


def told(document: Any, file: str | None = None) -> str:
    """What a dict or a list holds, in a few words."""
    noun = _noun(file)
    if isinstance(document, Mapping):
        keys = ", ".join(map(quoted, map(str, list(document)[:5])))
        return f"{noun} with the keys {keys}" if keys else f"an empty {noun.split()[1]}"
    if isinstance(document, list):
        if not document:
            return "an empty list"
        return f"a list of {counted(len(document), 'entry', 'entries')} such as {shown(document[0])}"
    return shown(document)


def _noun(file: str | None) -> str:
    return "a dict" if file is None else "an object"


def _check_no_table(options: ReadOptions, file: str | None, what: str, own: Metric) -> None:
    """Refuse what is said of a table, and another metric."""
    options.check_no_table(file or "this", what)
    if options.parsed not in (None, own):
        raise other_metric(str(options.metric), file or what, own)


# Objects


def _in_mapping(mapping: Mapping[Any, Any], options: ReadOptions, file: str | None) -> Instance | None:
    keys, values = list(map(str, mapping)), list(mapping.values())
    positions = look_like_positions(keys)
    if not values:
        return None
    if all(isinstance(value, Mapping) for value in values):
        if positions:  # as pandas writes a frame
            return _in_indexed_columns(mapping, options, file)
        if _has_position(values[0]):
            names = [{}] * len(values) if is_counted(keys) else [{"name": key} for key in keys]
            rows = [{**name, **_flattened(row)} for name, row in zip(names, values, strict=True)]
            return _in_records(rows, options, file)
        ends = [set(map(str, row)) for row in values]
        if len(ends[0]) == len(keys) and all(other == ends[0] != set(keys) for other in ends):
            return _in_indexed_columns(mapping, options, file)  # rows are called otherwise than columns
        if len(values) > 1:
            _check_no_table(options, file, f"{_noun(file)} of distances", Metric.EXPLICIT)
            return Instance(_distances(mapping, asymmetric=options.asymmetric))
    if positions:
        return read_frame(_Columns(mapping), options, file)
    if _are_places(values):
        _check_no_table(replace(options, metric=None), file, f"{_noun(file)} of places", Metric.EXACT_2D)
        return Instance(_places(mapping, options.metric, file=file))
    if isinstance(mapping.get("elements"), list):
        return _in_records(_of_overpass(mapping["elements"], file), options, file)
    if _are_esri(features := mapping.get("features")):
        return _in_records(_of_esri(features, mapping, options, file), options, file)
    titles, data = mapping.get("columns"), mapping.get("data")
    if _is_list(titles) and _is_list(data) and data and all(map(_is_list, data)):
        table = _Rows(data, file or "the dict", list(map(str, titles)))
        index = list(map(str, mapping["index"])) if _is_list(mapping.get("index")) else []
        if len(index) == len(data) and not is_counted(index):
            table.row_names, table.rows_are_named = index, True
        return read(table, options)
    return None


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _in_wrapping(
    mapping: Mapping[Any, Any], options: ReadOptions, file: str | None, levels: int
) -> Instance | None:
    """The instance in the only table that an object has; a list of as many texts names its places."""
    tables = [key for key, value in mapping.items() if _is_table(value)] or [
        key for key, value in mapping.items() if isinstance(value, Mapping) and value
    ]
    found = None
    if len(tables) == 1 and levels:
        found = _in_object(mapping[tables[0]], options, file, levels - 1)
    if found is None:
        return None
    others = {quoted(str(key)): value for key, value in mapping.items() if key != tables[0]}
    if others:
        places = [key for key, value in others.items() if _are_places([value]) or _has_position(value)]
        lost = f"; the tour leaves out {places[0]}, which looks like a place" if places else ""
        beside = ", ".join(list(others)[:8]) + lost
        level = logging.WARNING if places else logging.INFO
        _log.log(level, "%s: %s is read, beside %s", file or "the dict", quoted(str(tables[0])), beside)
    return found._replace(problem=_with_names(found.problem, mapping))


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], (list, Mapping))


def _has_position(value: Any) -> bool:
    return isinstance(value, Mapping) and look_like_positions(map(str, _flattened(value)))


def _with_names(problem: Problem, mapping: Any) -> Problem:
    """The same with the only list of as many texts as names, if it has none."""
    if problem.labels is not None or not isinstance(mapping, Mapping):
        return problem
    names = [
        value
        for value in mapping.values()
        if isinstance(value, list)
        and len(value) == problem.n
        and all(isinstance(name, str) for name in value)
    ]
    return replace(problem, labels=names[0]) if len(names) == 1 else problem


def _in_indexed_columns(
    mapping: Mapping[Any, Mapping[Any, Any]], options: ReadOptions, file: str | None
) -> Instance:
    """Columns whose entries are named by their rows, ``{"lat": {"0": 52.5, ...}, ...}``."""
    rows = list(dict.fromkeys(key for column in mapping.values() for key in column))
    names = None if is_counted(list(map(str, rows))) else list(map(str, rows))
    columns = {title: [column.get(row) for row in rows] for title, column in mapping.items()}
    return read_frame(_Columns(columns, names), options, file)


def _are_places(values: Iterable[Any]) -> bool:
    return all(
        isinstance(value, (Sequence, np.ndarray))
        and not isinstance(value, str)
        and len(value) in (2, 3)
        and all(isinstance(number, (int, float, np.number)) for number in value)
        for value in values
    )


def _places(
    mapping: Mapping[Any, Any], metric: Any, *, asymmetric: bool | None = None, file: str | None = None
) -> Problem:
    """The instance of places by name; `asymmetric` for a metric that is a function."""
    first = next(iter(mapping))
    for name, place in mapping.items():
        if len(place) != len(mapping[first]):
            raise InvalidProblem(
                f"the place {shown(name)} has {len(place)} coordinates, and {shown(first)} has "
                f"{len(mapping[first])}: either all need two or all three"
            )
    points = [list(place) for place in mapping.values()]
    directed = {} if asymmetric is None else {"asymmetric": asymmetric}
    problem = Problem.from_points(points, metric, labels=[str(key) for key in mapping], **directed)
    if metric is None:
        warn_of_degrees(file or "the dict", np.array(points, dtype=np.float64))
    return problem


def _distances(rows: Mapping[Any, Mapping[Any, Any]], *, asymmetric: bool) -> Problem:
    """The instance of distances by name; each may stand in one direction alone if both are the same."""
    names = list(dict.fromkeys([*rows, *(end for row in rows.values() for end in row)]))
    matrix: list[list[Any]] = []
    for start in names:
        ways = [rows.get(start, {}).get(end) for end in names]
        if not asymmetric:
            backward = (rows.get(end, {}).get(start) for end in names)
            ways = [back if way is None else way for way, back in zip(ways, backward, strict=True)]
        missing = next(
            (end for end, way in zip(names, ways, strict=True) if way is None and end != start), None
        )
        if missing is not None:
            raise InvalidProblem(
                f"no distance leads from {shown(start)} to {shown(missing)}: every pair is needed"
            )
        ways = [math.inf if isinstance(way, str) and is_infinite(way) else way for way in ways]
        matrix.append([0 if end == start else way for end, way in zip(names, ways, strict=True)])
    labels = list(map(str, names))
    named = {} if is_counted(labels) else {"labels": labels}
    return Problem.from_matrix(matrix, asymmetric=asymmetric, **named)


# Lists of objects


def _in_records(records: Sequence[Any], options: ReadOptions, file: str | None) -> Instance:
    """Rows, each a dict; what a row lacks is missing there."""
    for number, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise InvalidProblem(
                f"row {number} (counted from 0) is {shown(record)}: {_noun(file)} is needed, as before it"
            )
    if records[0].get("type") == "Feature":
        return read_object({"type": "FeatureCollection", "features": list(records)}, options, file)
    if _are_esri(records):
        records = _of_esri(records, {}, options, file)
    rows = list(map(_flattened, records))
    titles = list(dict.fromkeys(key for row in rows for key in row))
    if len(titles) * len(rows) > max(_MOST_CELLS, 10 * sum(map(len, rows))):
        raise InvalidProblem(f"{len(rows)} objects have {len(titles)} different keys: the same are needed")
    if options.parsed is None and not look_like_positions(map(str, titles)):
        _check_order(rows[0])
    return read_frame(_Columns({title: [row.get(title) for row in rows] for title in titles}), options, file)


def _flattened(record: Mapping[Any, Any]) -> Mapping[Any, Any]:
    return dict(_flat(record)) if any(isinstance(value, Mapping) for value in record.values()) else record


def _check_order(row: Mapping[Any, Any]) -> None:
    """Refuse a list of two degrees of which nothing says which is the latitude: programs differ in that."""
    for key, value in row.items():
        if has_longitude_first(str(key)) is not None or not _are_places([value]) or len(value) != 2:
            continue
        if all(abs(number) <= 180.0 for number in value) and any(number % 1 for number in value):
            raise InvalidProblem(
                f"{quoted(str(key))} is {shown(value)}: call it latlon or lonlat, whichever it is, or give "
                f"{as_metric('euclidean')} for x and y"
            )


def _flat(record: Mapping[Any, Any], levels: int = _LEVELS) -> Iterator[tuple[Any, Any]]:
    """The entries of an object, and in their places those of objects in it that hold coordinates."""
    for key, value in record.items():
        inner: dict[Any, Any] = {}
        if isinstance(value, Mapping) and levels:
            point = value.get("coordinates") if value.get("type") == "Point" else None
            if isinstance(point, list) and len(point) in (2, 3):  # as GeoJSON and MongoDB have it
                inner = {"lon": point[0], "lat": point[1]}
            else:
                inner = dict(_flat(value, levels - 1))
        if inner and look_like_positions(map(str, inner)):
            yield from inner.items()
        else:
            yield key, value


def _are_esri(features: Any) -> TypeGuard[list[Mapping[str, Any]]]:
    """Whether these are features of ArcGIS, each with attributes and a point."""
    return _is_table(features) and all(
        isinstance(feature, Mapping)
        and all(isinstance(feature.get(part), Mapping) for part in ("attributes", "geometry"))
        and "x" in feature["geometry"]
        for feature in features
    )


def _of_esri(
    features: Sequence[Mapping[str, Any]], beside: Mapping[str, Any], options: ReadOptions, file: str | None
) -> list[dict[str, Any]]:
    """Rows of such features, whose system of reference stands beside them or with the first point."""
    system = beside.get("spatialReference", features[0]["geometry"].get("spatialReference"))
    system = system if isinstance(system, Mapping) else {}
    codes = {str(system.get(key)) for key in ("wkid", "latestWkid")}
    x, y = ("lon", "lat") if codes & DEGREES else ("x", "y")
    rows = [
        {**feature["attributes"], x: feature["geometry"]["x"], y: feature["geometry"].get("y")}
        for feature in features
    ]
    if options.parsed is None and (mercator := codes & MERCATOR):
        northings = np.array([row[y] for row in rows if isinstance(row[y], (int, float))], dtype=np.float64)
        warn_of_mercator(
            file or "the dict", f"wkid {min(mercator)}", northings, "outSR=4326 asks for degrees"
        )
    return rows


def _of_overpass(elements: list[Any], file: str | None) -> list[dict[str, Any]]:
    """Rows of the nodes in an answer of Overpass, and of ways that have a center."""
    rows: list[dict[str, Any]] = []
    for element in elements:
        element = element if isinstance(element, Mapping) else {}
        place = element if "lat" in element else element.get("center")
        if isinstance(place, Mapping) and "lat" in place and "lon" in place:
            tags = element.get("tags")
            name = tags.get("name") if isinstance(tags, Mapping) else None
            rows.append({"id": element.get("id"), "name": name, "lat": place["lat"], "lon": place["lon"]})
    if not rows:
        raise InvalidProblem("has no elements with lat and lon: ask Overpass for nodes, or for out center")
    if len(rows) < len(elements):
        _log.warning(
            "%s: elements without a place are left out, %d of %d",
            file or "the dict",
            len(elements) - len(rows),
            len(elements),
        )
    left_out = set() if any(row["name"] is not None for row in rows) else {"name"}
    if any(not isinstance(element, Mapping) or element.get("type") != "node" for element in elements):
        left_out.add("id")  # the numbers of ways are their own
    return [{key: value for key, value in row.items() if key not in left_out} for row in rows]
