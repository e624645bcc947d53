"""What is in a JSON text: points, or a table of ways."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from warptsp.errors import InvalidProblem, ParseError
from warptsp.problem import Problem

from ._text import decode
from .geojson import geojson_problem, line_geojson
from .lines import Place
from .osrm import is_osrm_table, osrm_problem

__all__ = ["parse_json", "parse_line"]

_TOO_DEEP = "is nested too deeply: places lie a few brackets deep"


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

    def fail(message: str) -> NoReturn:
        raise ParseError(message, file=file)

    document = _document(data, file)
    try:
        if format == "osrm" or (format is None and is_osrm_table(document)):
            return osrm_problem(document)
        if format == "osrm-distances":
            return osrm_problem(document, "distances")
        return geojson_problem(document, fail)
    except ParseError:
        raise
    except InvalidProblem as error:
        fail(str(error))
    except RecursionError:
        fail(_TOO_DEEP)


def parse_line(data: bytes, file: str) -> list[list[Place]]:
    """The parts of the one line in a GeoJSON text.

    Raises
    ------
    ParseError
        The text is no GeoJSON, or has no line, or several.
    """

    def fail(message: str) -> NoReturn:
        raise ParseError(message, file=file)

    try:
        return line_geojson(_document(data, file), fail)
    except RecursionError:
        fail(_TOO_DEEP)


def _document(data: bytes, file: str) -> Any:
    """What a JSON text says, as `json` reads it."""

    def fail(message: str, line: int | None = None) -> NoReturn:
        raise ParseError(message, file=file, line=line)

    def refuse(constant: str) -> NoReturn:
        fail(f"{constant} is no JSON number: finite numbers are needed")

    try:
        return json.loads(decode(data), parse_constant=refuse)
    except ParseError:  # of the function above, which the parser calls
        raise
    except json.JSONDecodeError as error:
        fail(f"is not JSON: {error.msg}", error.lineno)
    except RecursionError:
        fail(_TOO_DEEP)
    except ValueError:
        fail("cannot be read as JSON: an integer has thousands of digits")
