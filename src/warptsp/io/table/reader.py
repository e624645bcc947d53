"""Tables of places, or of distances. Long: rows are read as one of many kinds, in one pass."""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidProblem
from warptsp.io._text import as_integers, quoted
from warptsp.io.format import Instance
from warptsp.io.options import ReadOptions, as_columns
from warptsp.problem import Metric, Problem
from warptsp.problem.common_metrics import metric_of
from warptsp.problem.matrices import are_distances

from .arcs import arcs_problem, names_arcs
from .both import with_a_column_each
from .columns import (
    Columns,
    fitting_metric,
    given_places,
    guessed_columns,
    named_columns,
)
from .degrees import doubt_about_degrees, look_like_degrees, may_be_whole_degrees, way_out_of_degrees
from .distances import distance, infinite_square, is_infinite
from .text import WORDS_FOR_NO_NUMBER, TableText, is_name, is_node_number, is_number, titles_in
from .titles import look_like_positions
from .writer import OF_TOUR, PATH_POSITION, POSITION, TO_NEXT, whole_if_possible

__all__ = ["parse_table", "read_table", "read_text"]

_log = logging.getLogger(__name__)


def parse_table(data: bytes, file: str, options: ReadOptions | None = None) -> Problem:
    """The instance in the text of a CSV or TSV file.

    Raises
    ------
    ParseError
        With file, line and column.
    InvalidOption
        The metric of `options` does not fit.
    """
    return read_table(data, file, options).problem


def read_table(data: bytes, file: str, options: ReadOptions | None = None) -> Instance:
    """The same, and what its columns were taken for; None if they hold distances."""
    return read_text(TableText(data, file), options or ReadOptions())


def read_text(text: TableText, options: ReadOptions) -> Instance:
    """The same for a text that is cut into lines, or a table whose fields are known already."""
    return Instance(*_Table(with_a_column_each(text, options), options).read())


class _Table:
    """What the columns of a text hold, told by their titles, by the caller, or by the numbers in them."""

    def __init__(self, text: TableText, options: ReadOptions) -> None:
        self.text = text
        self.options = options
        self.titles: list[str] | None = None
        self.extra: dict[int, Any] = {}  # what is in the columns that hold nothing of a city
        if not look_like_positions(text.first):
            self.titles = self._titles_of_comment(text.above)
        if self.titles is None and self._names_columns(text.first):
            self.titles, text.titled = text.first, True

    # What the table is

    def _names_columns(self, fields: list[str]) -> bool:
        """Whether the first line holds the names of columns, and not the first place."""
        if look_like_positions(fields):
            return True
        if self._named_titles():
            return True
        try:
            given = given_places(None, len(fields), self.options)
        except InvalidProblem:  # where there is no such number, a title may be called so
            return any(column in fields for column in self.options.columns.values())
        axes = [fields[place] for role, place in given.items() if role not in ("name", "id")]
        if axes:
            return not any(is_number(text) or WORDS_FOR_NO_NUMBER.fullmatch(text) for text in axes)
        return not any(map(is_number, fields)) and not all(map(is_infinite, fields))

    def _named_titles(self) -> list[str]:
        texts = (str(column).strip() for column in self.options.columns.values())
        return [text for text in texts if not re.fullmatch(r"[0-9]+", text)]

    def _titles_of_comment(self, comment: str) -> list[str] | None:
        """The names of columns in the comment above the first line, where `numpy.savetxt` writes them."""
        titles = titles_in(comment.strip().lstrip("#"))
        fits = len(titles) == len(self.text.first)
        known = look_like_positions(titles) or not set(titles).isdisjoint(self._named_titles())
        return titles if fits and known else None

    def read(self) -> tuple[Problem, Columns | None]:
        if not self.options.columns:
            # Of a symmetric matrix, the first row is the first column, and no row of titles.
            infinite = infinite_square(self.text)
            if infinite is not None and (matrix := self._square(infinite)) is not None:
                return matrix, None
            # Before anything is told by titles: places may be called X, Y and Z.
            matrix = None if is_number(self.text.first[0]) else self._labelled_matrix()
            if matrix is not None:
                return matrix, None
            # A place may have opening hours, from and to.
            titles = self.titles or []
            if names_arcs(titles) and not look_like_positions(titles):
                return arcs_problem(self.text, titles), None
        if self.titles is not None:
            return self._with_titles(self.titles)
        if self.options.columns.keys() - {"name", "id"}:
            return self._stated()
        return self._guessed()

    def _columns(self, titles: list[str] | None) -> Columns:
        try:
            return named_columns(titles, self.options, len(self.text.first))
        except InvalidProblem as error:
            self.text.fail(str(error), self.text.first_line)

    def _with_titles(self, titles: list[str]) -> tuple[Problem, Columns]:
        columns = self._columns(titles)
        if not columns.positions:
            shown = ", ".join(quoted(field) for field in titles[:8])
            self.text.fail(
                f"the first line names the columns {shown}: columns x and y, or lat and lon, are needed"
                f"{self._names_below()}; {as_columns(lat='COLUMN', lon='COLUMN')} says which they are",
                self.text.first_line,
            )
        found = self._places(columns)
        coordinates = found[0].given_coordinates()
        if (doubt := doubt_about_degrees(columns, coordinates, self.options)) is not None:
            _log.warning("%s: %s", self.text.file, doubt)
        if (
            columns.metric.geographic
            and not columns.said
            and {"x", "y"} <= {title.lower() for title in titles}
        ):
            _log.info("%s: the table has x and y as well as lat and lon, which are used", self.text.file)
        return found

    def _stated(self) -> tuple[Problem, Columns]:
        """A table without titles of which the caller says where the coordinates are."""
        columns = self._columns(None)
        others = [
            place
            for place, text in enumerate(self.text.first)
            if place not in columns.roles().values() and is_name(text)
        ]
        if columns.name is None and len(others) == 1:
            columns = replace(columns, name=others[0])
            _log.info("%s: column %d is taken for names", self.text.file, others[0] + 1)
        return self._places(columns)

    def _names_below(self) -> str:
        """A hint if the names of columns stand below a title."""
        for line, titles in self.text.beginning():
            if line > self.text.first_line and look_like_positions(titles):
                return f"; line {line} names them, so what stands above must go"
        return ""

    def _guessed(self) -> tuple[Problem, Columns | None]:
        """A table of which only the numbers tell what they are."""
        given, numeric, name = self._candidates()
        numbers, ids, labels = self._read(numeric, given.get("id"), name)
        if not given and name is None:
            if (matrix := self._square(numbers)) is not None:
                return matrix, None
            if len(numeric) > 3:
                self.text.fail(
                    f"{len(numbers)} lines of {len(numeric)} numbers: a distance matrix must be square, and "
                    "a list of places needs a header line that tells which columns are x and y, or lat and "
                    f"lon, or {as_columns(x='COLUMN', y='COLUMN')}",
                    self.text.first_line,
                )
        try:
            columns = guessed_columns(len(self.text.first), numbers, numeric, name, self.options)
        except InvalidProblem as error:
            self.text.fail(f"{error}{self._names_below()}", self.text.first_line)
        coordinates = _chosen(numbers, [numeric.index(place) for place in columns.positions])
        if ids is None and columns.id is not None:
            ids = numbers[:, numeric.index(columns.id)]
        self._check_guess(columns, coordinates)
        return self._points(columns, coordinates, ids, labels), columns

    def _candidates(self) -> tuple[dict[str, int], list[int], int | None]:
        """The columns that the caller named, the other columns of numbers, and that of names."""
        try:
            given = given_places(None, len(self.text.first), self.options)
        except InvalidProblem as error:
            self.text.fail(str(error), self.text.first_line)
        rest = [place for place in range(len(self.text.first)) if place not in given.values()]
        numeric = [place for place in rest if is_number(self.text.first[place])]
        others = sorted(set(rest).difference(numeric))
        names = [place for place in others if is_name(self.text.first[place]) and "name" not in given]
        name = given.get("name", names[0] if names else None)
        unclear = "name" not in given and (others != names or len(names) > 1)
        below_a_title = len(self.text.first) == 1 and self._names_below()
        if unclear or below_a_title or (name is not None and not 2 <= len(numeric) <= 3):
            self._fail_without_names()
        return given, numeric, name

    def _fail_without_names(self) -> NoReturn:
        way = as_columns(lat="COLUMN", lon="COLUMN")
        self.text.fail(
            f"{len(self.text.first)} columns without a header line: give one that tells which are x and y, "
            f"or lat and lon{self._names_below()}, or say it, such as {way}",
            self.text.first_line,
        )

    def _check_guess(self, columns: Columns, coordinates: NDArray[np.float64]) -> None:
        """Say what the columns were taken for; refuse names beside what looks like degrees."""
        doubt = ""
        if columns.name is not None and self.options.metric is None:
            way = way_out_of_degrees(columns, coordinates, self.options)
            if look_like_degrees(coordinates):
                x, y = (place + 1 for place in columns.positions[:2])
                self.text.fail(
                    f"columns {x} and {y} look like degrees, and no header line says so: {way}",
                    self.text.first_line,
                )
            doubt = f"; if these are degrees, {way}" if may_be_whole_degrees(coordinates) else ""
        elif doubt_about_degrees(columns, coordinates, self.options) is not None:
            doubt = f"; they look like degrees: {way_out_of_degrees(columns, coordinates, self.options)}"
        # Three columns may be another thing; few lines can count by chance.
        sure = len(columns.positions) == 2 and (columns.id is None or len(coordinates) > 3)
        level = logging.INFO if sure and not doubt else logging.WARNING
        _log.log(level, "%s: no header line: columns are taken for %s%s", self.text.file, columns, doubt)

    # Points

    def _places(self, columns: Columns) -> tuple[Problem, Columns]:
        letters = ("NS", "EW") if columns.metric.geographic else ()
        coordinates, ids, names = self._read(columns.positions, columns.id, columns.name, letters)
        return self._points(columns, coordinates, ids, names), columns

    def _points(
        self,
        columns: Columns,
        coordinates: NDArray[np.float64],
        ids: NDArray[np.float64] | None,
        names: list[str] | None,
    ) -> Problem:
        if not columns.metric.geographic:  # thousands of degrees there are none
            self.text.check_commas(columns.positions)
        fields: dict[str, object] = {}
        if names is not None:
            fields["labels"] = names
        if ids is not None and not np.array_equal(ids, np.arange(1, len(ids) + 1)):
            self._check_ids(ids, columns)
            fields["node_ids"] = ids.astype(np.int64)
        if self.extra:
            fields["extra"] = self._named_extra()
        metric = metric_of(self.options.asked, fitting_metric(columns.metric, self.options), coordinates)
        try:
            return Problem(metric, coordinates=coordinates, **fields)  # type: ignore[arg-type]
        except InvalidProblem as error:
            if not metric.geographic:
                self.text.fail(str(error))
            self.text.fail(
                f"{error}{self._exchanged(columns, coordinates)}", self._line_of_bad_degrees(coordinates)
            )

    def _named_extra(self) -> dict[str, Any]:
        """The other columns by their names, of which those that are taken get a number."""
        found: dict[str, Any] = {}
        titles = [title.lower() for title in self.titles or ()]
        is_tour = TO_NEXT in titles and titles[0] in (POSITION, PATH_POSITION)
        for place, column in self.extra.items():
            title = str(place + 1) if self.titles is None else self.titles[place] or str(place + 1)
            if is_tour and title.lower() in OF_TOUR:
                continue  # where the city was in another tour
            number = 1
            unique = title
            while unique in found:
                number += 1
                unique = f"{title} ({number})"
            found[unique] = column
        return found

    def _exchanged(self, columns: Columns, coordinates: NDArray[np.float64]) -> str:
        """A hint if latitudes would be longitudes, and the reverse."""
        low, high = coordinates.min(axis=0), coordinates.max(axis=0)
        fits = low[0] >= -180.0 and high[0] <= 360.0 and low[1] >= -90.0 and high[1] <= 90.0
        named = columns.as_options()
        return f"; {as_columns(lat=named['lon'], lon=named['lat'])} exchanges the two" if fits else ""

    def _read(
        self, places: Sequence[int], id: int | None, name: int | None, letters: Sequence[str] = ()
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None, list[str] | None]:
        """The numbers in some columns, the numbers of the places, and their names."""
        numbers = self.text.numbers(len(self.text.first)) if name is None else None
        if numbers is None or (
            id is not None and not np.array_equal(numbers[:, id], np.floor(numbers[:, id]))
        ):
            return self._slowly_read(places, id, name, letters or [""] * len(places))
        self.text.warn_of_blanks(len(numbers))
        rest = set(range(numbers.shape[1])) - {*places, id}
        self.extra = {place: whole_if_possible(numbers[:, place]) for place in sorted(rest)}
        return _chosen(numbers, places), None if id is None else numbers[:, id], None

    def _slowly_read(
        self, places: Sequence[int], id: int | None, name: int | None, letters: Sequence[str]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None, list[str] | None]:
        """Row by row: for tables with names, and to find what is wrong with the others."""
        values: list[NDArray[np.float64]] = []
        ids: list[str] = []
        names: list[str] = []
        known = {*places, id, name}
        rest = [place for place in range(len(self.text.first)) if place not in known]
        extra: dict[int, list[str]] = {place: [] for place in rest}
        for lines, rows in self.text.chunks():
            values.append(self.text.positions(lines, rows, places, self.titles, letters))
            if name is not None:
                names += [row[name].strip() for row in rows]
            if id is not None:
                ids += [row[id].strip() for row in rows]
            for place, column in extra.items():
                column += [row[place].strip() for row in rows]
        if not values:
            self.text.fail("has no cities below the header line", self.text.first_line)
        coordinates = np.concatenate(values)
        self.text.warn_of_blanks(len(coordinates))
        self.extra = dict(extra)
        if id is None:
            return coordinates, None, names or None
        odd = next((row for row, text in enumerate(ids) if not is_node_number(text)), None)
        if odd is None:
            return coordinates, np.array([float(text) for text in ids]), names or None
        if "id" in self.options.columns:
            line = next(itertools.islice(self.text.rows(), odd, None))[0]
            self.text.fail(f"{quoted(ids[odd])} in column {id + 1}: a node number is needed", line)
        if names:
            _log.info("%s: column %d holds no node numbers, and is left out", self.text.file, id + 1)
        return coordinates, None, names or ids  # what is no number is a name

    def _check_ids(self, ids: NDArray[np.float64], columns: Columns) -> None:
        name = as_columns(name=columns.as_options()["id"])
        seen: set[float] = set()
        repeated = len(np.unique(ids)) < len(ids)
        for (line, _), value in zip(self.text.rows(), ids.tolist(), strict=False):
            if value < 0 or value > 2**53:
                self.text.fail(f"id {value:.15g}: an integer from 0 upwards is needed", line)
            if repeated and value in seen:
                self.text.fail(f"id {value:.15g} appears for the second time; names may repeat: {name}", line)
            if repeated:
                seen.add(value)
            elif not (ids < 0).any() and not (ids > 2**53).any():
                return

    def _line_of_bad_degrees(self, coordinates: NDArray[np.float64]) -> int | None:
        latitude, longitude = coordinates[:, 0], coordinates[:, 1]
        bad = (np.abs(latitude) > 90.0) | (longitude < -180.0) | (longitude > 360.0)
        if not bad.any():
            return None
        row = int(np.argmax(bad))
        return next((line for place, (line, _) in enumerate(self.text.rows()) if place == row), None)

    # Matrices

    def _labelled_matrix(self) -> Problem | None:
        """A matrix whose first row and first column hold the same names, or None if it is none."""
        names = self.text.first[1:]
        count = len(names)
        rows: list[list[str]] = []
        below = self.text.rows()
        if not self.text.titled:
            next(below)
        for line, row in below:
            if len(rows) >= count or len(row) != count + 1 or row[0].strip() != names[len(rows)]:
                return None
            rows.append([str(line), *row[1:]])
        if not rows or len(rows) != count:
            return None
        matrix = np.array(
            [
                [
                    distance(self.text, text.strip(), int(row[0]), name)
                    for text, name in zip(row[1:], names, strict=True)
                ]
                for row in rows
            ]
        )
        self.text.check_commas(range(1, count + 1))
        try:
            fitting_metric(Metric.EXPLICIT, self.options)
            numbers = as_integers(matrix, lambda: [text for row in rows for text in row[1:]])
            return Problem.from_matrix(numbers, labels=names, asymmetric=self.options.asymmetric)
        except InvalidProblem as error:
            self.text.fail(str(error))

    def _square(self, numbers: NDArray[np.float64]) -> Problem | None:
        """The distances in a square of numbers; None if it holds points, or is no square."""
        n, wanted = len(numbers), self.options.metric
        small = n in (2, 3)
        if numbers.shape[1] != n or (small and wanted not in (None, Metric.EXPLICIT)):
            return None
        self.text.check_commas(range(n))
        try:
            said = wanted is Metric.EXPLICIT or self.options.asymmetric
            if small and not said and not are_distances(numbers):
                return None
            matrix = as_integers(numbers, lambda: [text for _, row in self.text.rows() for text in row])
            problem = Problem.from_matrix(matrix, asymmetric=self.options.asymmetric)
        except InvalidProblem as error:
            self.text.fail(str(error))
        fitting_metric(Metric.EXPLICIT, self.options)
        if small and not said:
            way = as_columns(**{axis: place + 1 for place, axis in enumerate("xyz"[:n])})
            _log.warning(
                "%s: %d lines of %d numbers are taken for distances; %s for places", self.text.file, n, n, way
            )
        return problem


def _chosen(numbers: NDArray[np.float64], places: Sequence[int]) -> NDArray[np.float64]:
    """Some of the columns, without a copy if they are all."""
    if list(places) == list(range(numbers.shape[1])):
        return numbers
    return np.ascontiguousarray(numbers[:, list(places)])
