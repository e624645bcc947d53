"""Tours as CSV or TSV files."""

from __future__ import annotations

import csv
import re

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidTour, ParseError
from warptsp.io._text import decode, quoted
from warptsp.io.format import Source, TourFile
from warptsp.problem import Problem

from .writer import PATH_POSITION, POSITION, guarded

__all__ = ["parse_tour"]


def parse_tour(source: Source, problem: Problem) -> TourFile:
    """The tour in a table with a column ``id`` or ``name``.

    Raises
    ------
    ParseError
        It has no such column, or a field holds something else.
    InvalidTour
        It is one of another instance, or names do not tell the cities.
    """
    lines, file = decode(source.data).splitlines(), source.file
    delimiter = next((character for character in "\t;," if character in lines[0]), ",")
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        titles = [title.strip().lower() for title in next(rows)]
        column = next((titles.index(name) for name in ("id", "node", "name") if name in titles), None)
        if column is None:
            shown = ", ".join(quoted(title) for title in titles[:8])
            raise ParseError(
                f"the first line names the columns {shown}: a column id or name is needed", file=file, line=1
            )
        values = []
        for row in rows:
            if not row:
                continue
            if len(row) <= column:
                raise ParseError(
                    f"{len(row)} fields: column {quoted(titles[column])} is missing",
                    file=file,
                    line=rows.line_num,
                )
            values.append(row[column].strip())
            if titles[column] != "name" and not re.fullmatch(r"\d{1,15}", values[-1]):
                raise ParseError(
                    f"{quoted(values[-1])} in column {titles[column]}: a node number is needed",
                    file=file,
                    line=rows.line_num,
                )
    except csv.Error as error:
        raise ParseError(f"is not a CSV line: {error}", file=file, line=rows.line_num) from None
    said = {POSITION: False, PATH_POSITION: True}.get(titles[0])
    if titles[column] != "name":
        return TourFile(problem.cities_of(np.array([int(value) for value in values], dtype=np.int64)), said)
    return TourFile(_cities_by_name(values, problem), said)


def _cities_by_name(values: list[str], problem: Problem) -> NDArray[np.int32]:
    if problem.labels is None:
        raise InvalidTour("the tour names its cities, and the instance has no names: give it a column id")
    city_of = {label: city for city, label in enumerate(problem.labels)}
    if len(city_of) < problem.n:
        raise InvalidTour("several cities of the instance have the same name: give the tour a column id")
    city_of = {guarded(label): city for label, city in city_of.items()} | city_of
    unknown = next((value for value in values if value not in city_of), None)
    if unknown is not None:
        raise InvalidTour(f"the instance has no city called {quoted(unknown)}")
    return np.array([city_of[value] for value in values], dtype=np.int32)
