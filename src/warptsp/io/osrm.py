"""Tables of durations and distances of routing services: OSRM, Valhalla, GraphHopper and their like."""

import logging
import math
from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import shown
from warptsp._words import as_called
from warptsp.errors import InvalidOption, InvalidProblem
from warptsp.problem import Problem
from warptsp.problem.values import real_array

from ._json import document_in
from .format import Format, Instance, Source
from .options import ReadOptions
from .services import UNITS, as_osrm, check_same, is_routing_answer, refusal_in

_log = logging.getLogger(__name__)

_ASK_FOR_ALL = ", so leave sources and destinations out of the request"
_SHORT = {"metres": "m", "kilometers": "km"}


def osrm_problem(document: Any, annotation: str | None = None, **fields: Any) -> Problem:
    """The instance in a table; see `Problem.from_osrm`."""
    if annotation is not None and (not isinstance(annotation, str) or annotation not in UNITS):
        raise InvalidOption(f"annotation: {shown(annotation)} is neither durations nor distances")
    if not isinstance(document, Mapping) and not is_routing_answer(document):
        raise InvalidProblem(
            f"a table is an object with durations or distances, not {type(document).__name__}"
        )
    if (refusal := refusal_in(document)) is not None:
        raise InvalidProblem(f"the service answered {refusal}")
    document = as_osrm(document)
    present = [key for key in UNITS if document.get(key) is not None]
    if annotation is None and not present:
        raise InvalidProblem(
            "the table has neither durations nor distances: ask the service for one of them"
            f"{as_called('; points are given as a list, and their names as labels', '')}"
        )
    if annotation is not None and annotation not in present:
        there = f"it has {present[0]}" if present else "it has no numbers at all"
        raise InvalidProblem(f"the table has no {annotation}, {there}: ask for annotations={annotation[:-1]}")
    chosen = annotation or present[0]
    matrix = _matrix(document[chosen], chosen)
    _warn_of_missing(matrix)
    sources, destinations = (
        _waypoints(document.get(key), len(matrix)) for key in ("sources", "destinations")
    )
    places, names = sources
    if places is not None and destinations[0] is not None:
        check_same(places.tolist(), destinations[0].tolist(), _ASK_FOR_ALL)
    of_distances = str(document.get("units", "metres"))
    units = {"durations": ("seconds", "s"), "distances": (of_distances, _SHORT.get(of_distances, ""))}
    own: dict[str, Any] = {
        "comment": f"{chosen} in {units[chosen][0]}",
        "labels": names,
        "unit": units[chosen][1],
    }
    for other in set(present) - {chosen}:
        if (weights := _other(document[other], other, len(matrix))) is not None:
            own["other_weights"] = (weights, units[other][1])
    if places is not None:
        own |= {"display": places, "display_degrees": True}
    return Problem.from_matrix(matrix, **{**own, "asymmetric": True, **fields})


def _matrix(rows: Any, chosen: str) -> NDArray[Any]:
    given = rows if isinstance(rows, np.ndarray) else _checked_rows(rows, chosen)
    numbers = real_array(given, chosen, any_size=True)
    if numbers.ndim != 2 or numbers.shape[0] != numbers.shape[1]:
        raise InvalidProblem(
            f"the table's {chosen} have shape {numbers.shape}: it must go from each place to each"
            f"{_ASK_FOR_ALL}"
        )
    numbers = numbers.copy()
    np.fill_diagonal(numbers, 0)
    if numbers.dtype.kind == "f":
        numbers[np.isnan(numbers)] = np.inf
    return numbers


def _other(rows: Any, kind: str, n: int) -> NDArray[np.float64] | None:
    """The other lengths of a table, which no search needs; None if they are no such table, or empty."""
    try:
        numbers = _matrix(rows, kind).astype(np.float64)
    except InvalidProblem as error:
        _log.warning("the %s are left out: %s", kind, error)
        return None
    known = np.isfinite(numbers).sum() > n or n == 1
    return numbers if numbers.shape == (n, n) and known else None


def _warn_of_missing(numbers: NDArray[Any]) -> None:
    missing = np.asarray(numbers == np.inf)
    if missing.any():
        i, j = np.argwhere(missing)[0]
        _log.warning(
            "the table has no route for %d pairs of places, such as from %d to %d (counted from 0): no tour "
            "goes there",
            int(missing.sum()),
            i,
            j,
        )


def _checked_rows(rows: Any, chosen: str) -> list[list[Any]]:
    """Rows of numbers, infinite for null; an array made of anything else could take any memory."""
    if not isinstance(rows, Sequence) or not all(isinstance(row, Sequence) for row in rows):
        raise InvalidProblem(f"the table's {chosen} are not rows of numbers, all of the same length")
    if any(len(row) != len(rows[0]) for row in rows):
        raise InvalidProblem(f"the table's {chosen} are not rows of numbers, all of the same length")
    for i, row in enumerate(rows):
        for j, entry in enumerate(row):
            if entry is not None and (isinstance(entry, bool) or not isinstance(entry, Real)):
                raise InvalidProblem(
                    f"the table's {chosen} have {shown(entry)} from place {i} to place {j} (counted from 0): "
                    "a number is needed"
                )
    return [[math.inf if entry is None else entry for entry in row] for row in rows]


def _waypoints(entries: Any, n: int) -> tuple[NDArray[np.float64] | None, list[str] | None]:
    """Longitudes and latitudes, and the names, of the places; None where not all have them."""
    if not isinstance(entries, list) or len(entries) != n:
        return None, None
    waypoints = [entry if isinstance(entry, Mapping) else {} for entry in entries]
    names = [waypoint.get("name") for waypoint in waypoints]
    try:
        places = np.array([waypoint.get("location") for waypoint in waypoints], dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        places = np.empty(0)
    known = places.shape == (n, 2) and bool(np.isfinite(places).all())
    named = all(isinstance(name, str) and name for name in names)
    return places if known else None, [str(name) for name in names] if named else None


def _read(source: Source, options: ReadOptions, *, annotation: str | None = None) -> Instance:
    with document_in(source) as document:
        return Instance(osrm_problem(document, annotation))


FORMATS = (
    Format(name="osrm", read=_read),
    Format(name="osrm-distances", read=partial(_read, annotation="distances")),
)
