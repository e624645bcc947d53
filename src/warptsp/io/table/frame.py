"""Data frames: pandas and what is like it, and GeoDataFrames of points."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import shown
from warptsp.errors import InvalidProblem
from warptsp.io.options import ReadOptions, as_columns
from warptsp.io.table.angles import angle_of
from warptsp.io.table.arcs import arcs_problem, names_arcs
from warptsp.io.table.both import with_a_column_each
from warptsp.io.table.columns import Columns, fitting_metric, named_columns
from warptsp.io.table.degrees import doubt_about_degrees
from warptsp.io.table.text import TableRows, is_number
from warptsp.problem import Metric, Problem
from warptsp.problem.common_metrics import metric_of
from warptsp.problem.matrices import are_distances
from warptsp.problem.values import plain_array, real_array

__all__ = ["problem_of_frame"]

_log = logging.getLogger(__name__)


def problem_of_frame(
    frame: Any,
    metric: Metric | str | None = None,
    columns: Mapping[str, str | int] | None = None,
    **fields: Any,
) -> Problem:
    """The instance in a data frame, a row for each city; see `Problem.from_frame`."""
    options = ReadOptions.of(columns, metric)
    if hasattr(frame, "collect_schema") and hasattr(frame, "collect"):
        raise InvalidProblem(f"a {type(frame).__name__} holds a query and no rows yet: give frame.collect()")
    frame = _with_columns(frame)
    titles = [_text(title) for title in _titles(frame)]
    found = named_columns(titles, options, len(titles), by_number=False)
    points = None if found.said else _geometry(frame)
    if points is None and not options.columns and (square := _square(frame, titles)) is not None:
        fitting_metric(Metric.EXPLICIT, options)
        names, matrix = square
        return Problem.from_matrix(matrix, **{"labels": names, **fields})
    if points is not None:
        coordinates, own_metric = _places(points)
    elif found.positions:
        letters = ("NS", "EW") if found.metric.geographic else ("", "", "")
        coordinates = np.column_stack(
            [
                _numbers(frame, titles, place, np.float64, letter)
                for place, letter in zip(found.positions, letters, strict=False)
            ]
        )
        own_metric = found.metric
        if (doubt := doubt_about_degrees(found, coordinates, options)) is not None:
            _log.warning("the data frame: %s", doubt)
    elif not options.columns and names_arcs(titles):
        fitting_metric(Metric.EXPLICIT, options)
        fields.pop("asymmetric", None)
        return replace(arcs_problem(_as_rows(frame, titles), titles), **fields)
    elif (both := _both_in_one(frame, titles, options)) is not None:
        coordinates, own_metric, place = both
        found = replace(found, positions=(place,))
    else:
        names_shown = ", ".join(map(shown, titles[:8]))
        raise InvalidProblem(
            f"the data frame has the columns {names_shown}: columns x and y, or lat and lon, are needed, or "
            f"{as_columns(lat='COLUMN', lon='COLUMN')} says which they are, "
            "or the points of a GeoDataFrame, or a square table of distances whose rows and columns have the "
            "same names"
        )
    fields.pop("asymmetric", None)  # what may be so is a matrix
    wanted = metric_of(metric, fitting_metric(own_metric, options), coordinates)
    own = {**_names(frame, found, options), "extra": _others(frame, titles, found)}
    return Problem.from_points(coordinates, wanted, **{**own, **fields})


def _square(frame: Any, titles: list[str]) -> tuple[list[str], NDArray[Any]] | None:
    """The distances in a frame whose rows have the names of its columns, and these names; None for others.

    Rows are named by the index, which counts them if nothing else is said, or by the first column.
    """
    first = frame[_titles(frame)[0]] if titles else ()
    rows = len(first) if hasattr(first, "__len__") else -1
    index: Any = getattr(frame, "index", None)
    index = index if hasattr(index, "__len__") else range(len(titles))
    for column, begin in ((index, 0), (first, 1)):
        if not len(column) == rows == len(titles) - begin:
            continue
        names = list(map(_text, _listed(column)))
        if names and names == titles[begin:]:
            # Rows that are only counted may be as many as columns by chance.
            counted = all(map(str.isdecimal, names))
            try:
                matrix = np.column_stack([_numbers(frame, titles, at) for at in range(begin, len(titles))])
            except InvalidProblem:
                if counted:
                    return None
                raise
            if counted and (matrix.diagonal().any() or (len(names) <= 3 and not are_distances(matrix))):
                return None
            return names, matrix
    return None


def _as_rows(frame: Any, titles: list[str]) -> TableRows:
    """The frame as a file of it would be read."""
    rows = [
        (row, ["" if _is_missing(value) else _text(value) for value in values])
        for row, values in enumerate(zip(*(_listed(frame[title]) for title in _titles(frame)), strict=True))
    ]
    return TableRows(rows, "the data frame", titles)


def _both_in_one(
    frame: Any, titles: list[str], options: ReadOptions
) -> tuple[NDArray[np.float64], Metric, int] | None:
    """The coordinates in a column that holds both, as text: ``52.52, 13.405`` or ``POINT (13.405 52.52)``."""
    for place, title in enumerate(titles):
        values = _listed(frame[_titles(frame)[place]])
        if not values or not all(isinstance(value, str) for value in values):
            continue
        column = TableRows([(row, [value]) for row, value in enumerate(values)], "the data frame", [title])
        split = with_a_column_each(column, options)
        if split is column:
            continue
        numbers = [[float(part.replace(",", ".")) for part in pair] for _, pair in split.rows()]
        metric = Metric.GREAT_CIRCLE if "lat" in split.first else Metric.EXACT_2D
        return np.array(numbers), metric, place
    return None


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


def _listed(column: Any) -> list[Any]:
    """What is in a column, as Python's own objects where the column makes them."""
    listed = getattr(column, "to_pylist", None)
    return list(column if listed is None else listed())


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


def _places(points: Any) -> tuple[NDArray[np.float64], Metric]:
    """The coordinates of the points, and the metric that their reference system means."""
    kinds = np.asarray(points.geom_type, dtype=object)
    empty = np.asarray(points.is_empty, dtype=bool)
    wrong = (kinds != "Point") | empty
    if wrong.any():
        row = int(np.argmax(wrong))
        kind = "missing" if kinds[row] is None else "empty" if empty[row] else f"a {kinds[row]}"
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
    if system.is_geographic:
        return np.column_stack([y, x]), Metric.GREAT_CIRCLE
    if system.is_projected:
        _warn_of_mercator(points, system)
        return np.column_stack([x, y]), Metric.EXACT_2D
    raise InvalidProblem(
        f"the coordinate reference system {getattr(system, 'name', system)} is neither geographic nor "
        'projected: use to_crs, such as to_crs("EPSG:4326")'
    )


def _warn_of_mercator(points: Any, system: Any) -> None:
    """Say that the Mercator projection of the web stretches distances, and by how much."""
    operation = getattr(getattr(system, "coordinate_operation", None), "method_name", "")
    if "Pseudo Mercator" not in operation:
        return
    y = np.asarray(points.y, dtype=np.float64)
    middle = float(np.median(y)) if len(y) else 0.0
    _log.warning(
        'the data frame: %s stretches distances, here about %.2f times: frame.to_crs("EPSG:4326") gives '
        "great circles in metres",
        getattr(system, "name", "Web Mercator"),
        np.cosh(middle / 6378137.0),
    )


def _numbers(frame: Any, titles: list[str], place: int, dtype: Any = None, letters: str = "") -> NDArray[Any]:
    """A column of numbers; with `letters`, such as ``NS``, of angles in degrees, minutes and seconds, too."""
    try:
        column = _with_nan(_decimal(frame[_titles(frame)[place]], letters))
        column = real_array(column, "its entries", any_size=dtype is None)
        column = column if dtype is None else column.astype(dtype, copy=False)
        if column.ndim != 1:
            raise InvalidProblem("the frame has it twice")
    except InvalidProblem as error:
        raise InvalidProblem(f"column {shown(titles[place])}: numbers are needed ({error})") from None
    wrong = ~np.isfinite(column) if column.dtype != object else column == np.inf
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidProblem(
            f"column {shown(titles[place])} has {column[row]} in row {row} (counted from 0): finite numbers "
            "are needed; dropna removes such rows"
        )
    return column


def _decimal(column: Any, letters: str) -> Any:
    """A column with its angles as decimal degrees, if it is one of angles; otherwise as it is."""
    values = _listed(column) if letters and getattr(column, "ndim", 1) == 1 else []
    angles = [angle_of(value, letters) if isinstance(value, str) else None for value in values]
    if all(angle is None for angle in angles):
        return column
    pairs = zip(values, angles, strict=True)
    return np.array([_number(value) if angle is None else angle for value, angle in pairs], dtype=object)


def _number(value: Any) -> Any:
    """The number that a text is, or what is there."""
    return float(value) if isinstance(value, str) and is_number(value) and "," not in value else value


def _text(value: Any) -> str:
    try:
        return str(value)
    except ValueError:  # an integer of more digits than Python writes
        return shown(value)


def _with_nan(column: Any) -> Any:
    """A column whose missing objects, None and pandas' NA, are NaN."""
    values = plain_array(column, "its entries")
    if values.dtype == object and values.ndim == 1:
        missing = [value is None or type(value).__name__ == "NAType" for value in values]
        values = np.where(missing, np.nan, values)
    return values


def _names(frame: Any, columns: Columns, options: ReadOptions) -> dict[str, Any]:
    """The names and numbers of the cities, as far as there are any."""
    found: dict[str, Any] = {}
    names = _row_names(frame)
    if columns.id is not None:
        ids = np.asarray(frame[_titles(frame)[columns.id]])
        if _are_whole(ids):
            found["node_ids"] = ids.astype(np.int64)
        elif "id" in options.columns:
            raise InvalidProblem(f"{as_columns(id=options.columns['id'])}: the column holds no node numbers")
        else:
            names = [_text(value) for value in ids]
    elif (numbers := _numbered_rows(frame)) is not None:
        found["node_ids"] = numbers
    if columns.name is not None:
        names = [_text(value) for value in _listed(frame[_titles(frame)[columns.name]])]
    if names is not None:
        found["labels"] = names
    return found


def _others(frame: Any, titles: list[str], columns: Columns) -> dict[str, NDArray[Any]] | None:
    """The columns that hold nothing of a city, which tours in tables keep; shapes are left out."""
    places = set(range(len(titles))) - set(columns.roles().values())
    found = {titles[place]: _plain(frame[_titles(frame)[place]]) for place in sorted(places)}
    return {title: column for title, column in found.items() if column is not None} or None


def _plain(column: Any) -> NDArray[Any] | None:
    """A column as a table writes it, nothing where an entry is missing; None if it holds no plain values."""
    values = np.asarray(column)
    if values.ndim != 1 or (len(values) and hasattr(values[0], "geom_type")):
        return None
    if values.dtype.kind in "biu" or (values.dtype.kind == "f" and not np.isnan(values).any()):
        return values
    missing = np.array([_is_missing(value) for value in values.tolist()], dtype=np.bool_)
    texts = values.astype(str).astype(object) if values.dtype.kind in "mM" else values.astype(object)
    texts[missing] = ""
    return texts


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float) and value != value)
    )


def _are_whole(values: NDArray[Any]) -> bool:
    """Whether these are integers, be it as floats, which a column becomes in which some were missing."""
    if values.dtype.kind == "f":
        return bool(np.isfinite(values).all() and (values == np.floor(values)).all())
    return values.dtype.kind in "iu"


def _numbered_rows(frame: Any) -> NDArray[np.int64] | None:
    """The index, if it was a column that numbers the cities."""
    index = getattr(frame, "index", None)
    name = getattr(index, "name", None)
    if not isinstance(name, str) or named_columns([name], ReadOptions(), 1).id is None:
        return None
    values = np.asarray(index)
    return values.astype(np.int64) if _are_whole(values) else None


def _row_names(frame: Any) -> list[str] | None:
    """The names of the rows, if they are more than numbers."""
    index = getattr(frame, "index", ())
    if getattr(getattr(index, "dtype", None), "kind", "i") != "O":
        return None
    return [_text(name) for name in index]
