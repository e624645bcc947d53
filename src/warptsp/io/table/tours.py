"""Tours as CSV or TSV files."""

import logging
import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidTour
from warptsp.io._text import quoted
from warptsp.io.format import Source, TourFile
from warptsp.problem import Problem

from .fields import is_node_number
from .rows import Table
from .text import TableText
from .titles import KNOWN, plain
from .tour_columns import PATH_POSITION, POSITION, axes_of, places_of

_log = logging.getLogger(__name__)

_MOVED = 1e-3
"""Of the extent of all cities, by which a city of another instance is elsewhere; rounding is far less."""


def tour_in(text: Table, problem: Problem) -> TourFile:
    """The tour in a table with a column of node numbers or names, which are called as in tables of places.

    The first row is titles.
    """
    text.titled = True
    titles = text.first
    id, name = (_column(titles, role, problem) for role in ("id", "name"))
    key = name if id is None else id
    if key is None:
        shown = ", ".join(quoted(title) for title in titles[:8])
        text.fail(f"the first line names the columns {shown}: a column id or name is needed", text.first_line)
    said = _said(text)
    ids: list[int] = []
    names: list[str] = []
    numbers: list[int] = []  # of lines
    axes, places = _axes(titles, problem), []
    last = -np.inf
    for lines, rows in text.chunks():
        if axes:
            numbers += lines
            found = text.fast_numbers(rows, axes, len(titles))
            places.append(np.full((len(rows), len(axes)), np.nan) if found is None else found)
        for line, row in zip(lines, rows, strict=True):
            if len(row) <= key:
                text.fail(f"{len(row)} fields: column {quoted(titles[key])} is missing", line)
            if id is not None:
                if not is_node_number(value := row[id].strip()):
                    text.fail(f"{quoted(value)} in column {titles[id]}: a node number is needed", line)
                ids.append(int(value.partition(".")[0]))
            if name is not None:
                names.append(row[name].strip() if name < len(row) else "")
        if said is not None:
            last = _check_order(text, lines, rows, last)
    if id is None:
        cities = cities_by_name(names, problem)
    else:
        cities = problem.cities_of(np.array(ids, dtype=np.int64))
        if name is not None and problem.labels is not None:
            _check_names(text, titles[id], titles[name], cities, names, problem)
    if places:
        _compare_places(text, numbers, np.concatenate(places), cities, problem)
    return TourFile(cities, said)


def order_in(text: Table) -> bool | None:
    """Whether a table of the places of a tour says that it is an open path; None if it does not say."""
    text.titled = True
    said = _said(text)
    if said is not None:
        last = -np.inf
        for lines, rows in text.chunks():
            last = _check_order(text, lines, rows, last)
    return said


def _said(text: Table) -> bool | None:
    return {POSITION: False, PATH_POSITION: True}.get(text.first[0].lower())


def table_of_tour(source: Source) -> TableText:
    """The table in a file, whose first line names its columns."""
    text = TableText(source.text, source.file)
    title = " ".join(text.first).strip('"')
    if text.delimiter == " " and any(plain(title) in KNOWN[role] for role in ("id", "name")):
        text.delimiter, text.first = "\t", [title]  # one column, of which blanks and commas separate nothing
    return text


def _column(titles: Sequence[str], role: str, problem: Problem) -> int | None:
    """The column with the title that the instance has for a role, or else with the best known one.

    A tour may have others as columns of its instance.
    """
    own = None if problem.style is None else problem.style.title_of(role)
    if own in titles:
        return titles.index(own)
    words = list(KNOWN[role])
    found = [(words.index(plain(title)), at) for at, title in enumerate(titles) if plain(title) in words]
    return min(found)[1] if found else None


def _axes(titles: Sequence[str], problem: Problem) -> list[int]:
    """The columns of the coordinates, as a tour of this instance has them; none if they are not all there."""
    style = problem.style
    theirs = [(style and style.title_of(axis)) or axis for axis in axes_of(problem)]
    return [titles.index(title) for title in theirs] if set(theirs) <= set(titles) else []


def _compare_places(
    text: Table,
    lines: Sequence[int],
    places: NDArray[np.float64],
    cities: NDArray[np.int32],
    problem: Problem,
) -> None:
    """Say where a city is not at its place, as tours have it or as the instance was given; what is no plain
    number is not compared."""
    own = places_of(problem)
    if own is None:
        return
    far = _MOVED * np.ptp(own, axis=0).max()
    is_moved = (np.abs(places - own[cities]) > far).any(axis=1)
    if problem.coordinates is not None:
        is_moved &= (np.abs(places - problem.given_coordinates()[cities]) > far).any(axis=1)
    moved = np.flatnonzero(is_moved)
    if len(moved):
        first = moved[0]
        there, here = (", ".join(f"{x:.15g}" for x in row) for row in (places[first], own[cities[first]]))
        _log.warning(
            "%s:%d: the city is at (%s), and at (%s) in the instance: is the tour of another one?",
            text.file, lines[first], there, here,
        )  # fmt: skip


def _check_order(text: Table, lines: list[int], rows: list[list[str]], last: float) -> float:
    """Refuse rows that something has sorted otherwise, below position `last`; return the last position."""
    title = text.first[0]
    positions = np.concatenate([[last], text.positions(lines, rows, [0], text.first, [""])[:, 0]])
    falls = np.flatnonzero(np.diff(positions) <= 0.0)
    if len(falls):
        at = int(falls[0])
        text.fail(
            f"position {positions[at + 1]:.15g} stands below position {positions[at]:.15g}: the rows are not "
            f"in the order of the column {title}: sort by it, or leave the column out if the order of the "
            "rows is meant",
            lines[at],
        )
    return float(positions[-1])


def _check_names(
    text: Table, id: str, name: str, cities: NDArray[np.int32], names: list[str], problem: Problem
) -> None:
    """Refuse a row whose name is not that of its city, which no other column of the row holds either."""
    labels = [problem.label(city) for city in cities.tolist()]
    odd = {
        at
        for at, (label, found) in enumerate(zip(labels, names, strict=True))
        if label != found and label and found and _bare(label) != _bare(found)
    }
    if not odd:
        return
    for at, (line, row) in enumerate(text.rows()):
        # The names may have come from another column, when the caller said which.
        if at in odd and _bare(labels[at]) not in map(_bare, row):
            raise InvalidTour(
                f"{text.file}:{line}: {id} {problem.node_id(cities[at])} is {quoted(labels[at])} in the "
                f"instance, and {quoted(names[at])} here: a tour of this instance is needed, or none of its "
                f"names (column {quoted(name)})"
            )


def _bare(name: str) -> str:
    """A name as it is compared: without what tables add to it and take from it.

    That is the apostrophe of `guarded`, with others before the name, and all white space but one blank
    between two words. Accents may be written as macOS does, which takes them apart.
    """
    return " ".join(unicodedata.normalize("NFC", name).split()).lstrip("' ")


def cities_by_name(values: Sequence[str], problem: Problem) -> NDArray[np.int32]:
    """The cities with these names, which differ."""
    if problem.labels is None:
        raise InvalidTour("the tour names its cities, and the instance has no names: give it a column id")
    city_of = {label: city for city, label in enumerate(problem.labels)}
    if len(city_of) < problem.n:
        raise InvalidTour("several cities of the instance have the same name: give the tour a column id")
    cities = list(map(city_of.get, values))
    if None in cities:
        bare = {_bare(label): city for label, city in city_of.items()}
        cities = [city_of.get(value, bare.get(_bare(value))) for value in values]
    if None in cities:
        raise InvalidTour(f"the instance has no city called {quoted(values[cities.index(None)])}")
    return np.array(cities, dtype=np.int32)
