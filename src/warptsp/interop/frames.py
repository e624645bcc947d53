"""Data frames: pandas and what is like it, and GeoDataFrames of points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidProblem
from warptsp.io._columns import Columns, named_columns
from warptsp.problem import Metric, Problem

__all__ = ["problem_of_frame"]


def problem_of_frame(frame: Any, metric: Metric | str | None = None, **fields: Any) -> Problem:
    """The instance in a data frame, a row for each city; see `Problem.from_frame`."""
    points = _geometry(frame)
    titles = [str(title) for title in getattr(frame, "columns", ())]
    columns = named_columns(titles)
    if points is not None:
        coordinates, own_metric = _places(points)
    elif columns.positions:
        coordinates = np.column_stack(
            [_numbers(frame, titles, place, np.float64) for place in columns.positions]
        )
        own_metric = columns.metric
    elif (names := _row_names(frame)) is not None and names == titles:
        matrix = np.column_stack([_numbers(frame, titles, place) for place in range(len(titles))])
        if metric is not None:
            raise InvalidProblem("a data frame of distances has no other metric")
        return Problem.from_matrix(matrix, **{"labels": names, **fields})
    else:
        shown = ", ".join(map(repr, titles[:8]))
        raise InvalidProblem(
            f"the data frame has the columns {shown}: columns x and y, or lat and lon, are needed, "
            "or the points of a GeoDataFrame, or a square table of distances whose rows and columns have the "
            "same names"
        )
    return Problem.from_points(coordinates, metric or own_metric, **{**_names(frame, columns), **fields})


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
        return np.column_stack([x, y]), Metric.EXACT_2D
    raise InvalidProblem(
        f"the coordinate reference system {getattr(system, 'name', system)} is neither geographic nor "
        'projected: use to_crs, such as to_crs("EPSG:4326")'
    )


def _numbers(frame: Any, titles: list[str], place: int, dtype: Any = None) -> NDArray[Any]:
    try:
        column = np.asarray(frame[list(frame.columns)[place]])
        column = column.astype(np.float64) if column.dtype == object or dtype is not None else column
        if column.dtype.kind not in "iuf":
            raise ValueError(f"it holds {column.dtype}")
    except (TypeError, ValueError) as error:
        raise InvalidProblem(f"column {titles[place]!r}: numbers are needed ({error})") from None
    wrong = ~np.isfinite(column)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidProblem(
            f"column {titles[place]!r} has {column[row]} in row {row} (counted from 0): finite numbers are "
            "needed; dropna leaves such rows out"
        )
    return column


def _names(frame: Any, columns: Columns) -> dict[str, Any]:
    """The names and numbers of the cities, as far as there are any."""
    found: dict[str, Any] = {}
    names = _row_names(frame)
    if columns.id is not None:
        ids = np.asarray(frame[list(frame.columns)[columns.id]])
        if np.issubdtype(ids.dtype, np.integer):
            found["node_ids"] = ids
        else:
            names = [str(value) for value in ids]
    if columns.name is not None:
        names = [str(value) for value in frame[list(frame.columns)[columns.name]]]
    if names is not None:
        found["labels"] = names
    return found


def _row_names(frame: Any) -> list[str] | None:
    """The names of the rows, if they are more than numbers."""
    index = getattr(frame, "index", None)
    if getattr(getattr(index, "dtype", None), "kind", "i") != "O":
        return None
    assert index is not None
    return [str(name) for name in index]
