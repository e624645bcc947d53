"""What is in a JSON text: points, or a table of ways."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from warptsp.errors import InvalidProblem, ParseError
from warptsp.problem import Problem

from ._text import decode
from .geojson import geojson_problem
from .osrm import is_osrm_table, osrm_problem

__all__ = ["parse_json"]


def parse_json(data: bytes, file: str, format: str | None = None) -> Problem:
    """The instance in a JSON text: the points of GeoJSON, or the table of a routing service.

    Parameters
    ----------
    data : bytes
    file : str
    format : str, optional
        ``geojson``, ``osrm`` or ``osrm-distances``; by default the contents decide.

    Raises
    ------
    ParseError
        The text is no JSON, or holds something else.
    """

    def fail(message: str, line: int | None = None) -> NoReturn:
        raise ParseError(message, file=file, line=line)

    def refuse(constant: str) -> NoReturn:
        fail(f"{constant} is no JSON number: finite numbers are needed")

    try:
        document: Any = json.loads(decode(data), parse_constant=refuse)
    except json.JSONDecodeError as error:
        fail(f"is not JSON: {error.msg}", error.lineno)
    except (RecursionError, ValueError) as error:
        fail(f"cannot be read as JSON: {error}")
    try:
        if format == "osrm" or (format is None and is_osrm_table(document)):
            return osrm_problem(document)
        if format == "osrm-distances":
            return osrm_problem(document, "distances")
        return geojson_problem(document, fail)
    except InvalidProblem as error:
        if isinstance(error, ParseError):
            raise
        fail(str(error))
