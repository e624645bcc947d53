"""Dicts as instances: tables of routing services, GeoJSON, places or distances by name, columns, rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from warptsp._checks import shown
from warptsp.errors import InvalidOption, InvalidProblem
from warptsp.io.geojson import geojson_problem
from warptsp.io.osrm import is_osrm_table, osrm_problem
from warptsp.io.table.frame import problem_of_frame
from warptsp.io.table.titles import look_like_positions
from warptsp.problem import Metric, Problem
from warptsp.problem.degrees import warn_of_degrees

_FORMS = (
    "places by name, {'Berlin': (52.5, 13.4)}, distances by name, {'Berlin': {'Paris': 1054}}, columns, "
    "{'lat': [...], 'lon': [...]}, GeoJSON or a table of durations or distances"
)


class _Columns:
    """A dict of columns, as far as a data frame is that."""

    def __init__(self, columns: Mapping[Any, Any]) -> None:
        self._columns = columns
        self.columns = list(columns)

    def __getitem__(self, title: Any) -> Any:
        return self._columns[title]


def problem_of_mapping(
    mapping: Mapping[Any, Any], metric: Metric | str | None = None, *, asymmetric: bool = False
) -> Problem:
    """The instance in a dict.

    Parameters
    ----------
    mapping : mapping
        The answer of a routing service (`Problem.from_osrm`); a GeoJSON object of points; places by name,
        ``{"Berlin": (52.5, 13.4), ...}`` or ``{"Berlin": {"lat": 52.5, "lon": 13.4}, ...}``; distances by
        name, ``{"Berlin": {"Paris": 1054, ...}, ...}``; or columns by name, ``{"lat": [...], "lon": [...]}``.
    metric : Metric or str, optional
        That of places.
    asymmetric : bool
        Whether distances by name may differ by direction.
    """
    if is_osrm_table(mapping):
        _check_metric(metric, Metric.EXPLICIT, "a table of durations or distances")
        return osrm_problem(mapping)
    if isinstance(mapping.get("type"), str):
        _check_metric(metric, Metric.GREAT_CIRCLE, "GeoJSON")
        try:
            return geojson_problem(mapping)
        except InvalidProblem as error:
            raise InvalidProblem(f"GeoJSON: {error}") from None
    values = list(mapping.values())
    if values and all(isinstance(value, Mapping) for value in values):
        if look_like_positions([str(key) for key in values[0]]):
            rows = [{"name": str(name), **row} for name, row in mapping.items()]
            return problem_of_records(rows, metric)
        _check_metric(metric, Metric.EXPLICIT, "a dict of distances")
        return _distances(mapping, asymmetric=asymmetric)
    if look_like_positions([str(key) for key in mapping]):
        return problem_of_frame(_Columns(mapping), metric)
    if values and all(_is_place(value) for value in values):
        first = next(iter(mapping))
        for name, place in mapping.items():
            if len(place) != len(mapping[first]):
                raise InvalidProblem(
                    f"the place {shown(name)} has {len(place)} coordinates, and {shown(first)} has "
                    f"{len(mapping[first])}: either all need two or all three"
                )
        points = [list(value) for value in values]
        directed: dict[str, Any] = {"asymmetric": asymmetric} if callable(metric) else {}
        problem = Problem.from_points(points, metric, labels=[str(key) for key in mapping], **directed)
        if metric is None:
            warn_of_degrees("the dict", np.array(points, dtype=np.float64))
        return problem
    if not mapping:
        raise InvalidProblem(f"an empty dict is no instance: {_FORMS} is needed")
    keys = ", ".join(map(shown, list(mapping)[:5]))
    raise InvalidProblem(f"a dict with the keys {keys} is no instance: {_FORMS} is needed")


def problem_of_records(records: Sequence[Mapping[Any, Any]], metric: Metric | str | None = None) -> Problem:
    """The instance in a list of dicts: rows, ``{"lat": 52.5, "lon": 13.4}``, or features of GeoJSON."""
    for number, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise InvalidProblem(
                f"row {number} (counted from 0) is {shown(record)}: a dict is needed, as before it"
            )
    if records[0].get("type") == "Feature":
        return problem_of_mapping({"type": "FeatureCollection", "features": list(records)}, metric)
    for number, record in enumerate(records):
        missing = next((key for key in records[0] if key not in record), None)
        if missing is not None:
            raise InvalidProblem(f"row {number} (counted from 0) lacks {shown(missing)}, which row 0 has")
    columns = {key: [record[key] for record in records] for key in records[0]}
    return problem_of_frame(_Columns(columns), metric)


def _check_metric(metric: Metric | str | None, own: Metric, what: str) -> None:
    if metric is not None and Metric.parse(metric) is not own:
        raise InvalidOption(f"metric: {shown(metric)} does not fit {what}, whose metric is {own.name}")


def _is_place(value: Any) -> bool:
    if isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray)):
        return False
    numbers = all(isinstance(number, (int, float, np.number)) for number in value)
    return len(value) in (2, 3) and numbers


def _distances(rows: Mapping[Any, Mapping[Any, Any]], *, asymmetric: bool) -> Problem:
    names = list(rows)
    matrix: list[list[Any]] = []
    for start in names:
        missing = next((end for end in names if end != start and end not in rows[start]), None)
        if missing is not None:
            raise InvalidProblem(
                f"the dict has no distance from {shown(start)} to {shown(missing)}: every pair is needed"
            )
        matrix.append([0 if end == start else rows[start][end] for end in names])
    return Problem.from_matrix(matrix, labels=[str(name) for name in names], asymmetric=asymmetric)
