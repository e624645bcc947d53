"""Answers of routing services with a table, in the form of OSRM's: Valhalla, GraphHopper, Google, HERE."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from warptsp.errors import InvalidProblem

from ._text import quoted

UNITS = {"durations": "seconds", "distances": "metres"}
_LONG = {"m": "metres", "km": "kilometers", "mi": "miles"}
_VALHALLA = "sources_to_targets"
_TABLES = (*UNITS, _VALHALLA, "times")
_MOST_PLACES = 10_000  # of an answer that names its entries by number, so that few could ask for much memory


def is_routing_answer(document: object) -> bool:
    """Whether this is the answer of such a service, a refusal included."""
    if isinstance(document, list):
        first = document[0] if document and isinstance(document[0], Mapping) else {}
        return "condition" in first and ("distanceMeters" in first or "duration" in first)
    if not isinstance(document, Mapping) or "type" in document:
        return False
    named = (key in document and not (key in UNITS and isinstance(document[key], Mapping)) for key in _TABLES)
    return any(named) or (
        refusal_in(document) is not None or document.get("code") == "Ok" or _reader_of(document) is not None
    )


def refusal_in(document: Any) -> str | None:
    """What a service answered in place of a table; None if it did not."""
    if not isinstance(document, Mapping):
        return None
    if isinstance(code := document.get("code"), str):
        return None if code == "Ok" else f"{quoted(code)} and no table: {_words(document, 'message')}"
    if "error_code" in document:
        return f"{quoted(str(document['error_code']))} and no table: {_words(document, 'error')}"
    if "error_message" in document and isinstance(status := document.get("status"), str):  # Google
        return f"{quoted(status)} and no table: {_words(document, 'error_message')}"
    error = document.get("error")
    if isinstance(error, Mapping) and "message" in error:  # openrouteservice, Google's newer one
        return f"no table: {_words(error, 'message')}"
    said = next((key for key in ("message", "error") if isinstance(document.get(key), str)), None)
    values = (value for key, value in document.items() if key != "hints")  # of GraphHopper
    if said is None or any(isinstance(value, (Mapping, list)) for value in values):
        return None
    return f"no table: {_words(document, said)}"


def as_osrm(document: Any) -> Mapping[str, Any]:
    """The answer of a service with the keys of OSRM's."""
    if isinstance(document, list):
        return _google_routes(document)
    if (read := _reader_of(document)) is not None:
        return read(document)
    # openrouteservice repeats the request.
    unit = _get(_get(_get(document, "metadata"), "query"), "units")
    return {**document, "units": _LONG.get(unit, unit)} if isinstance(unit, str) else document


def _reader_of(document: Mapping[str, Any]) -> Callable[[Any], Mapping[str, Any]] | None:
    if _VALHALLA in document:
        return _valhalla
    if "times" in document:  # GraphHopper
        return lambda answer: {"durations": answer["times"], "distances": answer.get("distances")}
    if "rows" in document and "origin_addresses" in document:
        return _google
    here = document.get("matrix")
    return _here if isinstance(here, Mapping) and "numOrigins" in here else None


def _words(document: Mapping[str, Any], key: str) -> str:
    return quoted(str(document.get(key, "")), 200)


def _valhalla(document: Mapping[str, Any]) -> Mapping[str, Any]:
    table = document[_VALHALLA]
    found: dict[str, Any] = {}
    if isinstance(table, Mapping):  # its short form
        found = {key: table[key] for key in UNITS if key in table}
    elif isinstance(table, Sequence) and all(
        isinstance(row, Sequence) and all(isinstance(cell, Mapping) for cell in row) for row in table
    ):
        for i, row in enumerate(table):
            for j, cell in enumerate(row):
                if (cell.get("from_index", i), cell.get("to_index", j)) != (i, j):
                    raise InvalidProblem(
                        f"entry {j} of row {i} of {_VALHALLA} (counted from 0) is from place "
                        f"{quoted(str(cell.get('from_index', i)))} to {quoted(str(cell.get('to_index', j)))}"
                    )
        for key, entry in (("durations", "time"), ("distances", "distance")):
            if any(entry in cell for row in table for cell in row):
                found[key] = [[cell.get(entry) for cell in row] for row in table]
    else:
        found = {"durations": table}
    for key, given in (("sources", "sources"), ("destinations", "targets")):
        found[key] = _valhalla_places(document.get(given))
    return {**found, "units": document.get("units", "kilometers")}


def _valhalla_places(entries: Any) -> list[dict[str, Any]] | None:
    if isinstance(entries, list) and len(entries) == 1 and isinstance(entries[0], list):
        entries = entries[0]  # as older versions have them
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        return None
    return [{"location": [entry.get("lon"), entry.get("lat")]} for entry in entries]


def _google(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Google's Distance Matrix: an element without a route has another status than OK."""
    rows = [_list_of(_get(row, "elements")) for row in _list_of(document["rows"])]
    origins, destinations = (_list_of(document.get(f"{end}_addresses")) for end in ("origin", "destination"))
    check_same(origins, destinations)
    found: dict[str, Any] = {}
    for key, entry in (("durations", "duration"), ("distances", "distance")):
        if any(entry in element for row in rows for element in row if isinstance(element, Mapping)):
            found[key] = [[_get(_get(element, entry), "value") for element in row] for row in rows]
    return {**found, "sources": [{"name": name} for name in origins]}


def _google_routes(elements: Sequence[Any]) -> Mapping[str, Any]:
    """Google's computeRouteMatrix: elements in any order, which leave out an index that is 0."""
    routes: dict[tuple[int, int], Any] = {}
    for element in elements:
        ends = [_get(element, key) or 0 for key in ("originIndex", "destinationIndex")]
        wrong = next((end for end in ends if type(end) is not int or not 0 <= end < _MOST_PLACES), None)
        if wrong is not None:
            raise InvalidProblem(f"the table has an index {quoted(str(wrong))}: a whole number is needed")
        routes[ends[0], ends[1]] = element
    size = 1 + max(map(max, routes))
    if not size * size == len(routes) == len(elements):
        raise InvalidProblem(
            f"the table has {len(elements)} elements of {size} places: one from each place to each is needed"
        )
    found: dict[str, Any] = {key: [[None] * size for _ in range(size)] for key in UNITS}
    for (start, end), element in routes.items():
        failed = _get(_get(element, "status"), "code")  # then nothing says whether there is a route
        if not failed and _get(element, "condition") in (None, "ROUTE_EXISTS"):
            found["durations"][start][end] = _seconds(_get(element, "duration"))
            found["distances"][start][end] = _get(element, "distanceMeters") or 0
    return {key: rows for key, rows in found.items() if any(any(row) for row in rows)}


def _seconds(text: Any) -> Any:
    """The number of seconds that Google writes as ``"160s"``; what is none stays, and is refused."""
    try:
        return float(text.removesuffix("s"))
    except (AttributeError, ValueError):
        return text


def _here(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """HERE's matrix routing: entries row by row in one list; where an error code stands there is no route."""
    matrix = document["matrix"]
    rows, columns = (matrix.get(key) for key in ("numOrigins", "numDestinations"))
    if type(rows) is not int or type(columns) is not int:
        raise InvalidProblem(
            "the table does not say in whole numbers how many origins and destinations it has"
        )
    codes = matrix.get("errorCodes") or []
    found: dict[str, Any] = {}
    for key, given in (("durations", "travelTimes"), ("distances", "distances")):
        if given not in matrix:
            continue
        entries = _list_of(matrix[given])
        if len(entries) != rows * columns or rows < 1:
            raise InvalidProblem(f"the table has {len(entries)} {given}, not {rows} x {columns}")
        if isinstance(codes, list) and len(codes) == len(entries):  # 3: the route breaks a wish, and exists
            entries = [None if code not in (0, 3) else e for e, code in zip(entries, codes, strict=True)]
        found[key] = [entries[begin : begin + columns] for begin in range(0, len(entries), columns)]
    return found


def check_same(origins: Sequence[Any], destinations: Sequence[Any], cure: str = "") -> None:
    """Refuse a table between two sets of places, and say with the `cure` how to ask for all."""
    if origins != destinations and len(origins) == len(destinations):
        i = next(i for i, pair in enumerate(zip(origins, destinations, strict=True)) if pair[0] != pair[1])
        raise InvalidProblem(
            f"source and destination {i} (counted from 0) are different places: the table must go from each "
            f"place to each{cure}"
        )


def _get(node: Any, key: str) -> Any:
    return node.get(key) if isinstance(node, Mapping) else None


def _list_of(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
