"""Data frames: pandas and what is like it, and GeoDataFrames of points."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import shown
from warptsp.errors import InvalidProblem, ParseError
from warptsp.io.format import Instance
from warptsp.io.options import ReadOptions
from warptsp.io.systems import warn_of_mercator
from warptsp.problem import Metric, Problem
from warptsp.problem.values import plain_array, real_array

from .columns import Columns, named_columns
from .fields import NODE_NUMBERS
from .reader import read, read_points
from .rows import CHUNK, COUNTED, Cells, Table, is_whole

_UNITS = {"metre": "m", "kilometre": "km"}  # as pyproj calls those of axes


def problem_of_frame(
    frame: Any,
    metric: Metric | str | None = None,
    columns: Mapping[str, str | int] | None = None,
    **fields: Any,
) -> Problem:
    """The instance in a data frame, a row for each city; see `Problem.from_frame`."""
    options = ReadOptions({} if columns is None else columns, metric, bool(fields.pop("asymmetric", False)))
    problem = read_frame(frame, options).problem
    return replace(problem, **fields) if fields else problem


def read_frame(frame: Any, options: ReadOptions, file: str | None = None) -> Instance:
    """The instance in a data frame, or in a file that is read as one."""
    if hasattr(frame, "collect_schema") and hasattr(frame, "collect"):
        raise InvalidProblem(f"a {type(frame).__name__} holds a query and no rows yet: give frame.collect()")
    table = TableFrame(_with_columns(frame), file)
    points = None if options.columns.keys() - {"name", "id"} else _geometry(frame)
    if points is None:
        return read(table, options)
    found = named_columns(table.first, options, len(table.first), by_number=False)
    coordinates, metric, fields = _places(points)
    columns = replace(found, positions=(), metric=metric)
    cells = table.cells(columns)._replace(positions=coordinates)
    return read_points(table, options, columns, cells, **fields)


class TableFrame(Table):
    """A data frame as a table: its columns, of which a named index is the first, as they are.

    Rows are counted from 0, as by the frame.
    """

    by_number = False
    first_line = -1  # no row names the columns
    rows_called = COUNTED

    def __init__(self, frame: Any, file: str | None = None) -> None:
        super().__init__(file or "the data frame")
        self._is_file = file is not None
        self._drops = getattr(frame, "dropna", frame) is not None
        titles = _titles(frame)
        self._columns = [_column(frame, title, place) for place, title in enumerate(titles)]
        self._index: Any = getattr(frame, "index", None)
        name = getattr(self._index, "name", None)
        self._index_is_first = isinstance(name, str) and name not in titles
        if self._index_is_first:
            titles, self._columns = [name, *titles], [self._index, *self._columns]
        self.titles = self.first = [_text(title) for title in titles]
        self.titled = True
        self.count = next(
            (len(column) for column in (*self._columns, self._index) if hasattr(column, "__len__")), 0
        )
        self._rows: Sequence[int] = range(self.count)
        kind = getattr(getattr(self._index, "dtype", None), "kind", "none")
        self.rows_are_named = kind == "O"
        numbers = np.asarray(self._index) if kind in "iu" else self._rows
        self.rows_are_numbered = not np.array_equal(numbers, self._rows)

    @cached_property
    def row_names(self) -> list[str] | None:  # type: ignore[override]
        if not hasattr(self._index, "__len__"):
            return None
        names = list(map(_text, np.asarray(self._index).tolist()))
        return [names[row] for row in self._rows]

    def fail(self, message: str, line: int | None = None, column: str | None = None) -> NoReturn:
        try:
            super().fail(message, line, column)
        except ParseError as error:
            raise (error if self._is_file else InvalidProblem(str(error))) from None

    def way_out(self) -> str:
        return super().way_out() if self._is_file else "; dropna removes such rows" * self._drops

    def _chunks(self) -> Iterator[tuple[list[int], list[list[str]]]]:
        if not self._columns:
            return
        numbered = zip(self._rows, zip(*map(_listed, self._columns), strict=True), strict=True)
        while part := list(islice(numbered, CHUNK)):
            yield [row for row, _ in part], [[_field(value) for value in values] for _, values in part]

    def beginning(self) -> Iterator[tuple[int, list[str]]]:
        yield self.first_line, self.first

    def head(self) -> tuple[list[str], list[str]]:
        rows = [[_field(value) for value in islice(_listed(column), 2)] for column in self._columns]
        found = [[column[row] for column in rows] for row in range(min(2, self.count or 0))]
        return (found[0], found[-1]) if found else (self.first, self.first)

    def skip_incomplete(self, places: Sequence[int]) -> None:
        super().skip_incomplete(places)
        kept = {line for line, _ in self.rows()}
        self._needed = ()
        self._columns = [
            without_depth(
                [value for row, value in zip(self._rows, _listed(column), strict=True) if row in kept]
            )
            for column in self._columns
        ]
        self._rows = sorted(kept)
        self.count = len(kept)

    def with_columns(self, place: int, titles: Sequence[str], rows: list[tuple[int, list[str]]]) -> Table:
        split = copy.copy(self)
        more = len(titles) - len(self.first) + 1
        new = [[row[place + at] for _, row in rows] for at in range(more)]
        split._columns = [*self._columns[:place], *new, *self._columns[place + 1 :]]
        split.titles = split.first = list(titles)
        return split

    def numbers(self, count: int, begin: int = 0) -> NDArray[Any] | None:
        if self.count != count - begin:  # only a square is wanted as a whole
            return None
        try:
            columns = [
                real_array(_with_nan(column), "its entries", any_size=True)
                for column in self._columns[begin:count]
            ]
        except InvalidProblem:
            return None
        if any(column.ndim != 1 or (column != column).any() for column in columns):
            return None
        return np.column_stack(columns) if columns else None

    def cells(self, columns: Columns) -> Cells:
        places, id, name = columns.positions, columns.id, columns.name
        numbers = [self._numbers(*column) for column in zip(places, columns.letters, strict=True)]
        positions = np.column_stack(numbers) if numbers else np.empty((0, 0))
        ids: Any = None
        if id is not None:
            values = np.asarray(self._columns[id])
            whole = is_whole(values) and bool((values < NODE_NUMBERS).all())
            ids = values.astype(np.float64) if whole else list(map(_field, _listed(self._columns[id])))
        names = None if name is None else [_field(value) for value in _listed(self._columns[name])]
        own = {*places, id, name, *([0] if self._index_is_first else [])}
        rest = {place: _plain(self._columns[place]) for place in range(len(self.first)) if place not in own}
        return Cells(
            positions, ids, names, {place: values for place, values in rest.items() if values is not None}
        )

    def _numbers(self, place: int, letters: str) -> NDArray[np.float64]:
        """A column of numbers, or of texts that are numbers; with `letters` of angles, too."""
        title = self.first[place]
        column = self._columns[place]
        try:
            values = _with_nan(column)
            if values.dtype.kind not in "iuf" and any(isinstance(value, str) for value in values.tolist()):
                pairs = zip(self._rows, values.tolist(), strict=True)
                return np.array(
                    [self.number(_field(value).strip(), row, title, letters) for row, value in pairs]
                )
            numbers = real_array(values, "its entries").astype(np.float64, copy=False)
        except ParseError:
            raise
        except InvalidProblem as error:
            if str(error).startswith(self.file):
                raise
            self.fail(f"column {shown(title)}: numbers are needed ({error})")
        if not np.isfinite(numbers).all():
            at = int(np.argmin(np.isfinite(numbers)))
            self.number("" if numbers[at] != numbers[at] else str(numbers[at]), self._rows[at], title)
        return numbers


def _with_columns(frame: Any) -> Any:
    """A frame as it is, or as a table of pyarrow if it only offers a stream of Arrow's data."""
    known = any(hasattr(frame, name) for name in ("columns", "column_names", "geom_type"))
    if known or not hasattr(frame, "__arrow_c_stream__"):
        return frame
    try:
        import pyarrow
    except ImportError:
        raise InvalidProblem(
            f"{type(frame).__name__} offers its columns as a stream of Arrow: install pyarrow, or give a "
            "data frame of pandas or Polars"
        ) from None
    try:
        return pyarrow.table(frame)
    except (pyarrow.ArrowException, TypeError, ValueError) as error:
        raise InvalidProblem(f"{type(frame).__name__} holds no table: {shown(str(error))}") from None


def _titles(frame: Any) -> list[Any]:
    """The names of the columns; those of Arrow's tables are called otherwise."""
    names = getattr(frame, "column_names", None)
    return list(getattr(frame, "columns", ()) if names is None else names)


def _column(frame: Any, title: Any, place: int) -> Any:
    """One of the columns, also of several with the same name."""
    column = frame[title]
    return frame.iloc[:, place] if getattr(column, "ndim", 1) > 1 and hasattr(frame, "iloc") else column


def without_depth(values: Any) -> Any:
    """A column; lists in a list become an array of objects, since they need not fit together."""
    nested = isinstance(values, (list, tuple)) and any(isinstance(value, (list, Mapping)) for value in values)
    return np.fromiter(values, dtype=object, count=len(values)) if nested else values


def _listed(column: Any) -> list[Any]:
    """What is in a column, as Python's own objects where the column makes them."""
    listed = getattr(column, "to_pylist", None)
    if listed is not None:
        return list(listed())
    return list(column if hasattr(column, "__iter__") else np.asarray(column))


def _geometry(frame: Any) -> Any:
    """The active geometry of a GeoDataFrame, or a GeoSeries itself; None for other data frames."""
    try:
        geometry = frame.geometry
    except AttributeError:
        if hasattr(type(frame), "crs"):  # GeoPandas gives set_geometry to all data frames of pandas
            raise InvalidProblem(
                "the GeoDataFrame has no active geometry: name its column with set_geometry"
            ) from None
        return None
    return geometry if hasattr(geometry, "geom_type") else None


def _places(points: Any) -> tuple[NDArray[np.float64], Metric, dict[str, str]]:
    """The coordinates of the points, and the metric, unit and name that their reference system means."""
    kinds = np.asarray(points.geom_type, dtype=object)
    empty = np.asarray(points.is_empty, dtype=bool)
    wrong = (kinds != "Point") | empty
    if wrong.any():
        row = int(np.argmax(wrong))
        kind = "missing" if not isinstance(kinds[row], str) else "empty" if empty[row] else f"a {kinds[row]}"
        raise InvalidProblem(
            f"the geometry in row {row} (counted from 0) is {kind}: points are needed; the centroids of "
            "other shapes are such points"
        )
    x, y = (np.asarray(values, dtype=np.float64) for values in (points.x, points.y))
    system = points.crs
    if system is None:
        raise InvalidProblem(
            "the points have no coordinate reference system, so that distances are unknown: give one with "
            'set_crs, such as set_crs("EPSG:4326") for longitudes and latitudes'
        )
    if system.is_geographic and _has_degrees(system):
        return np.column_stack([y, x]), Metric.GREAT_CIRCLE, {}
    if system.is_projected:
        units = {axis.unit_name for axis in getattr(system, "axis_info", ())}
        fields = {"crs": system.to_string()} if hasattr(system, "to_string") else {}
        operation = getattr(getattr(system, "coordinate_operation", None), "method_name", "")
        if "Pseudo Mercator" in operation:
            name = getattr(system, "name", "the reference system")
            cure = 'frame.to_crs("EPSG:4326") gives great circles in metres'
            warn_of_mercator("the data frame", name, y, cure)
        elif len(units) == 1:
            fields["unit"] = _UNITS.get(units.pop(), "")
        return np.column_stack([x, y]), Metric.EXACT_2D, fields
    raise InvalidProblem(
        f"the coordinate reference system {getattr(system, 'name', system)} has no degrees on the Earth from "
        'Greenwich, and is not projected: use to_crs, such as to_crs("EPSG:4326")'
    )


def _has_degrees(system: Any) -> bool:
    """Whether a geographic system has the degrees of maps: not grads, from Paris, on the Moon or rotated."""
    units = {axis.unit_name for axis in getattr(system, "axis_info", ())[:2]}
    meridian, body = getattr(system, "prime_meridian", None), getattr(system, "ellipsoid", None)
    return (
        units <= {"degree"}
        and not getattr(system, "is_derived", False)
        and (meridian is None or meridian.longitude == 0)
        and (body is None or 6.3e6 < body.semi_major_metre < 6.4e6)
    )


def _text(value: Any) -> str:
    try:
        return str(value)
    except ValueError:  # an integer of more digits than Python writes
        return shown(value)


def _field(value: Any) -> str:
    """A value as a file has it."""
    return "" if _is_missing(value) else _text(value)


def _with_nan(column: Any) -> Any:
    """A column whose missing objects, None and pandas' NA, are NaN."""
    values = plain_array(column, "its entries")
    if values.dtype == object and values.ndim == 1:
        missing = [value is None or type(value).__name__ == "NAType" for value in values]
        values = np.where(missing, np.nan, values)
    return values


def _plain(column: Any) -> NDArray[Any] | None:
    """A column as a table writes it, nothing where an entry is missing; None if it holds no plain values."""
    values = np.asarray(column)
    if values.ndim != 1 or (len(values) and hasattr(values[0], "geom_type")):
        return None
    mixed = values.dtype.kind == "f" and (isinstance(column, list) or bool(np.isnan(values).any()))
    if values.dtype.kind in "biuf" and not mixed:
        return values
    if mixed:  # NumPy has no missing integers, nor any beside reals, which the column itself may have
        own = (entry.item() if isinstance(entry, np.generic) else entry for entry in _listed(column))
        values = np.fromiter(own, dtype=np.object_, count=len(values))
    are_times = values.dtype.kind in "mM"
    entries = (values.astype(f"{values.dtype.kind}8[us]") if are_times else values).tolist()  # Python's own
    missing = np.array(list(map(_is_missing, entries)), dtype=np.bool_)
    texts = values.astype(object)
    if are_times:
        texts[:] = [str(entry).removesuffix(" 00:00:00") for entry in entries]  # a date is no midnight
    texts[missing] = ""
    return texts


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float) and value != value)
    )
