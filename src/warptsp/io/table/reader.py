"""Tables of places, or of distances. Long: rows are read as one of many kinds, in one pass."""

import itertools
import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import short
from warptsp._words import counted
from warptsp.errors import InvalidProblem
from warptsp.io._text import quoted
from warptsp.io.format import Instance
from warptsp.io.options import ReadOptions, as_columns
from warptsp.problem import Metric, Problem
from warptsp.problem.doubts import look_like_degrees, may_be_whole_degrees
from warptsp.problem.origin import TableStyle

from .angles import angle_of
from .arcs import arcs_problem, names_arcs
from .both import with_a_column_each
from .columns import (
    Columns,
    doubt_about_degrees,
    doubt_about_minutes,
    doubt_about_signs,
    doubt_about_zones,
    fitting_metric,
    given_places,
    guessed_columns,
    named_columns,
    way_out_of_degrees,
)
from .fields import (
    GROUPED,
    HINT_OF_THOUSANDS,
    LEADING_ZERO,
    WORDS_FOR_NO_NUMBER,
    is_infinite,
    is_name,
    is_node_number,
    is_number,
)
from .rows import COUNTED, Cells, Table
from .squares import square_in
from .text import TableText, titles_in
from .titles import common_unit, free_title, look_like_positions
from .tour_columns import OF_TOUR, PATH_POSITION, POSITION, TO_THE_NEXT

_log = logging.getLogger(__name__)

_TOTAL = re.compile(
    r"\b(total|sum|summe|gesamt\w*|insgesamt|somme|suma|totale?|totaal|som|mean|average|avg|mittel\w*|"
    r"durchschnitt|moyenne|media|promedio|gemiddelde)\b",
    re.IGNORECASE,
)


def read_table(
    data: bytes, file: str, options: ReadOptions | None = None, encoding: str = "utf-8"
) -> Instance:
    """The instance in the text of a table, and what its columns were taken for, unless it is of distances.

    The text is in UTF-8; `encoding` is that of its file.
    """
    return read(TableText(data, file, encoding), options or ReadOptions())


def read(table: Table, options: ReadOptions) -> Instance:
    """The same for a table from anywhere."""
    _skip_title(table, options)
    _skip_count(table)
    if not options.columns and (matrix := square_in(table, options)) is not None:
        found = Instance(matrix)
    else:
        found = Instance(*_Reader(with_a_column_each(table, options), options).read())
    if _is_total(found.problem):
        label = found.problem.label(found.problem.n - 1)
        name = quoted(label) if label else "which has no name"
        _log.warning(
            "%s: the last city, %s, is the sum or the mean of the others: remove its row", table.file, name
        )
    return found


def _is_total(problem: Problem) -> bool:
    """Whether the last city has the name and the numbers of the sum or the mean, with which sheets end."""
    last = problem.n - 1
    if problem.labels is None or last < 2:
        return False
    name = problem.labels[last]
    if not (_TOTAL.search(name) or (name == "" and problem.labels[last - 1])):
        return False
    values = problem.given_coordinates() if problem.matrix is None else problem.matrix[:, :last]
    others = np.asarray(values[:last], dtype=np.float64)
    near = 1e-3 * np.ptp(others, axis=0)  # as sheets round; a shop in the middle of a town is no mean
    return any((np.abs(values[last] - total) <= near).all() for total in (others.sum(0), others.mean(0)))


def read_points(
    table: Table, options: ReadOptions, columns: Columns, cells: Cells, **fields: Any
) -> Instance:
    """The same where the coordinates are known, and perhaps other `fields` of the instance."""
    return Instance(*_Reader(table, options).points(columns, cells, **fields))


def _skip_title(table: Table, options: ReadOptions) -> None:
    """Leave out lines above the names of the columns that are titles: shorter than these."""
    if table.titles is not None or look_like_positions(table.first):
        return
    named = set(_named_titles(options))
    longest, level = 0, logging.INFO
    for line, titles in table.beginning():
        if line < table.first_line or not titles or titles[0].startswith("#"):
            continue
        here = sum(map(bool, titles))
        if look_like_positions(titles) or (named and named <= set(titles)):
            if line > table.first_line and longest < here:
                shown = quoted(" ".join(filter(None, table.first))) if any(table.first) else "an empty row"
                words = "%s: the columns are named in line %d; %s above is left out"
                _log.log(level, words, table.file, line, shown)
                table.begin_at(line)
            return
        longest = max(longest, here)
        if sum(map(is_number, titles)) > 1:  # such as the place of a depot
            level = logging.WARNING


def _skip_count(table: Table) -> None:
    """Leave out a first line that says how many rows follow, all alike, as exercises have it."""
    said = [field for field in table.first if field]
    if table.titles is not None or len(said) != 1 or not re.fullmatch(r"[1-9][0-9]{0,8}", table.first[0]):
        return
    if table.rows_called == COUNTED and len(table.first) > 1:
        return  # of a list, no field is there to fill up the line
    lines, widths = [], []
    for line, row in itertools.islice(table.rows(), 1, None):
        lines.append(line)
        widths.append(sum(map(bool, row)))
    n = len(lines)
    alike = len(set(widths)) == 1 and widths[0] > 1
    if n < 2 or not (alike or (n == int(said[0]) and widths == list(range(1, n + 1)))):
        return  # perhaps a triangle of distances, of which this is the first row
    if n != int(said[0]):
        table.fail(f"the first line says {said[0]}, and {n} rows follow", table.first_line)
    _log.info("%s: the first line says how many rows follow, and is left out", table.file)
    table.begin_at(lines[0])


def _named_titles(options: ReadOptions) -> list[str]:
    texts = (str(column).strip() for column in options.columns.values())
    return [text for text in texts if not re.fullmatch(r"[0-9]+", text)]


class _Reader:
    """What the columns of a table hold, told by their titles, by the caller, or by the numbers in them."""

    def __init__(self, table: Table, options: ReadOptions) -> None:
        self.table = table
        self.options = options
        self.titles = table.titles
        if self.titles is None and not look_like_positions(table.first):
            self.titles = self._titles_of_comment(table.above)
        if self.titles is None and self._names_columns(table.first):
            self.titles, table.titled = table.first, True

    # What the table is

    def _names_columns(self, fields: list[str]) -> bool:
        """Whether the first line holds the names of columns, and not the first place."""
        if look_like_positions(fields):
            return True
        if _named_titles(self.options):
            return True
        try:
            given = given_places(None, len(fields), self.options)
        except InvalidProblem:  # where there is no such number, a title may be called so
            return any(column in fields for column in self.options.columns.values())
        axes = {role: fields[place] for role, place in given.items() if role not in ("name", "id")}
        if axes:
            letters = {"lat": "NS", "lon": "EW"}
            return not any(
                is_number(text)
                or WORDS_FOR_NO_NUMBER.fullmatch(text)
                or GROUPED.fullmatch(text)
                or (role in letters and angle_of(text, letters[role]) is not None)
                for role, text in axes.items()
            )
        if (grouped := next(filter(GROUPED.fullmatch, fields), "0")) and not is_number(grouped):
            self.table.fail(
                f"{quoted(grouped)}: a number is needed{HINT_OF_THOUSANDS}", self.table.first_line
            )
        return not any(map(is_number, fields)) and not all(map(is_infinite, fields))

    def _titles_of_comment(self, comment: str) -> list[str] | None:
        """The names of columns in the comment above the first line, where `numpy.savetxt` writes them."""
        titles = titles_in(comment.strip().lstrip("#"))
        fits = len(titles) == len(self.table.first)
        known = look_like_positions(titles) or not set(titles).isdisjoint(_named_titles(self.options))
        return titles if fits and known else None

    def read(self) -> tuple[Problem, Columns | None]:
        if not self.options.columns:
            # A place may have opening hours, from and to.
            titles = self.titles or []
            if names_arcs(titles) and not look_like_positions(titles):
                skip = self.options.skip_incomplete
                return arcs_problem(self.table, titles, skip_incomplete=skip), None
        if self.titles is not None:
            return self._with_titles(self.titles)
        if self.options.columns.keys() - {"name", "id"}:
            return self._stated()
        return self._guessed()

    def _columns(self, titles: list[str] | None) -> Columns:
        try:
            return named_columns(titles, self.options, len(self.table.first), by_number=self.table.by_number)
        except InvalidProblem as error:
            self.table.fail(str(error), self.table.first_line)

    def _with_titles(self, titles: list[str]) -> tuple[Problem, Columns]:
        columns = self._columns(titles)
        if not columns.positions:
            shown = short(", ".join(map(quoted, titles)), 200) or "none"
            have = "the first line names" if self.table.by_number else "it has"
            self.table.fail(
                f"{have} the columns {shown}: columns x and y, or lat and lon, are needed"
                f"{self._names_below()}; {as_columns(lat='COLUMN', lon='COLUMN')} says which "
                "they are; addresses need a geocoder first, such as geopy",
                self.table.first_line,
            )
        found = self._places(columns)
        coordinates = found[0].given_coordinates()
        if (doubt := doubt_about_degrees(columns, coordinates, self.options)) is not None:
            _log.warning("%s: %s", self.table.file, doubt)
        on_globe = columns.metric.geographic and not columns.said
        if on_globe and {"x", "y"} <= {title.lower() for title in titles}:
            _log.info("%s: the table has x and y as well as lat and lon, which are used", self.table.file)
        return found

    def _stated(self) -> tuple[Problem, Columns]:
        """A table without titles of which the caller says where the coordinates are."""
        columns = self._columns(None)
        others = [
            place
            for place, text in enumerate(self.table.first)
            if place not in columns.roles().values() and is_name(text)
        ]
        if columns.name is None and len(others) == 1:
            columns = replace(columns, name=others[0])
            _log.info("%s: column %d is taken for names", self.table.file, others[0] + 1)
        return self._places(columns)

    def _names_below(self) -> str:
        """A hint if the names of columns stand below a title."""
        for line, titles in self.table.beginning():
            if line > self.table.first_line and look_like_positions(titles):
                return f"; line {line} names them, so what stands above must go"
        return ""

    def _guessed(self) -> tuple[Problem, Columns | None]:
        """A table of which only the numbers tell what they are."""
        given, numeric, name = self._candidates()
        width = len(self.table.first)
        cells = self._cells(Columns(width, tuple(numeric), Metric.EXACT_2D, given.get("id"), name))
        numbers = cells.positions
        if not given and name is None and len(numeric) > 3:
            self.table.fail(
                f"{len(numbers)} lines of {len(numeric)} numbers: a distance matrix must be square, and "
                "a list of places needs a header line that tells which columns are x and y, or lat and "
                f"lon, or {as_columns(x='COLUMN', y='COLUMN')}",
                self.table.first_line,
            )
        try:
            columns = guessed_columns(width, numbers, numeric, name, self.options)
        except InvalidProblem as error:
            self.table.fail(f"{error}{self._names_below()}", self.table.first_line)
        self._check_first(numbers, columns)
        coordinates = np.ascontiguousarray(numbers[:, [numeric.index(place) for place in columns.positions]])
        ids = cells.ids
        if ids is None and columns.id is not None:
            ids = numbers[:, numeric.index(columns.id)]
        self._check_guess(columns, coordinates)
        return self.points(columns, cells._replace(positions=coordinates, ids=ids))

    def _candidates(self) -> tuple[dict[str, int], list[int], int | None]:
        """The columns that the caller named, the other columns of numbers, and that of names."""
        try:
            given = given_places(None, len(self.table.first), self.options)
        except InvalidProblem as error:
            self.table.fail(str(error), self.table.first_line)
        rest = [place for place in range(len(self.table.first)) if place not in given.values()]
        numeric = [place for place in rest if is_number(self.table.first[place])]
        others = sorted(set(rest).difference(numeric))
        names = [place for place in others if is_name(self.table.first[place]) and "name" not in given]
        name = given.get("name", names[0] if names else None)
        unclear = "name" not in given and (others != names or len(names) > 1)
        below_a_title = len(self.table.first) == 1 and self._names_below()
        if unclear or below_a_title or (name is not None and not 2 <= len(numeric) <= 3):
            way = as_columns(lat="COLUMN", lon="COLUMN")
            self.table.fail(
                f"{len(self.table.first)} columns without a header line: give one that tells which are x and "
                f"y, or lat and lon{self._names_below()}, or say it, such as {way}",
                self.table.first_line,
            )
        return given, numeric, name

    def _check_first(self, numbers: NDArray[np.float64], columns: Columns) -> None:
        """Refuse a first row that pandas may have written above columns without names, or say what it is."""
        first, called = self.table.first, self.table.rows_called
        if first != list(map(str, range(len(first)))) or called == COUNTED or len(numbers) < 2:
            return
        shown = quoted(",".join(first))
        if columns.id is None and (numbers[1:] != np.floor(numbers[1:])).any():
            way = as_columns(**columns.as_options())
            self.table.fail(
                f"{shown} may be a place, or the names that pandas gives columns: remove these, or give "
                f"{way}",
                self.table.first_line,
            )
        _log.warning("%s: the first line, %s, is taken for a place, not for names", self.table.file, shown)

    def _check_guess(self, columns: Columns, coordinates: NDArray[np.float64]) -> None:
        """Say what the columns were taken for; refuse names beside what looks like degrees."""
        doubt = ""
        if columns.name is not None and self.options.parsed is None:
            way = way_out_of_degrees(columns, coordinates)
            if look_like_degrees(coordinates):
                x, y = (place + 1 for place in columns.positions[:2])
                self.table.fail(
                    f"columns {x} and {y} look like degrees, and no header line says so: {way}",
                    self.table.first_line,
                )
            doubt = f"; if these are degrees, {way}" if may_be_whole_degrees(coordinates) else ""
        elif doubt_about_degrees(columns, coordinates, self.options) is not None:
            doubt = f"; they look like degrees: {way_out_of_degrees(columns, coordinates)}"
        # Three columns may be another thing; few lines can count by chance.
        sure = len(columns.positions) == 2 and (columns.id is None or len(coordinates) > 3)
        level = logging.INFO if sure and not doubt else logging.WARNING
        _log.log(level, "%s: no header line: columns are taken for %s%s", self.table.file, columns, doubt)

    # Points

    def _places(self, columns: Columns) -> tuple[Problem, Columns]:
        return self.points(columns, self._cells(columns))

    def _cells(self, columns: Columns) -> Cells:
        if self.options.skip_incomplete:
            self.table.skip_incomplete(columns.positions)
        cells = self.table.cells(columns)
        self.table.tell_of_incomplete(columns.name)
        return cells

    def points(self, columns: Columns, cells: Cells, **fields: Any) -> tuple[Problem, Columns]:
        columns, cells = self._with_names(columns, cells)
        coordinates = cells.positions
        if not columns.metric.geographic:  # thousands of degrees there are none
            self.table.check_thousands(columns.positions)
            if (doubt := doubt_about_zones(cells.rest)) is not None:
                _log.warning("%s: %s", self.table.file, doubt)
        elif self.options.parsed is None and (
            doubt := doubt_about_signs(columns, cells.rest, coordinates)
            or doubt_about_minutes(columns.titles, cells.rest, coordinates)
        ):
            self.table.fail(doubt)
        elif (nowhere := ~coordinates.any(axis=1)).any() and not nowhere.all():
            rows = counted(int(nowhere.sum()), "place lies", "places lie")
            _log.warning("%s: %s at latitude 0, longitude 0, as where none is known", self.table.file, rows)
        ids, names = self._ids_and_names(columns, cells)
        if ids is None and isinstance(cells.ids, list) and names is not cells.ids:
            assert columns.id is not None
            cells = cells._replace(rest={**cells.rest, columns.id: cells.ids})
        if names is not None:
            fields["labels"] = names
        extra = self._extra_titles(cells.rest)
        fields["style"] = self._style(columns, extra, numbered=ids is not None)
        if ids is not None and not np.array_equal(ids, np.arange(1, len(ids) + 1)):
            self._check_ids(ids, columns)
            fields["node_ids"] = ids.astype(np.int64)
        if extra:
            fields["extra"] = {title: cells.rest[place] for place, title in extra.items()}
        metric = fitting_metric(columns.metric, self.options).of(self.options.metric, coordinates)
        try:
            if self.titles and not metric.geographic:
                fields.setdefault("unit", common_unit(self.titles[place] for place in columns.positions))
            problem = Problem(metric, coordinates=coordinates, **fields)
            return problem, replace(columns, called=self.table.called)
        except InvalidProblem as error:
            if not metric.geographic:
                self.table.fail(str(error))
            self.table.fail(*self._about_degrees(str(error), columns, coordinates))

    def _with_names(self, columns: Columns, cells: Cells) -> tuple[Columns, Cells]:
        """The same with the first column of text as names, if nothing else names places; say which it was."""
        if columns.name is None and self.titles is not None and not self.table.rows_are_named:
            others = sorted(cells.rest.keys() - self._places_in_tour())
            place = next((other for other in others if _tells_apart(cells.rest[other])), None)
            ids = cells.ids if isinstance(cells.ids, list) else ()
            if place is not None and all(map(is_node_number, ids)):  # else they are the names
                columns = replace(columns, name=place)
                rest = {p: column for p, column in cells.rest.items() if p != place}
                cells = cells._replace(names=list(map(str, cells.rest[place])), rest=rest)
                self._tell_of_names(place, ())
        elif columns.name is not None and columns.named_too:
            self._tell_of_names(columns.name, columns.named_too)
        return columns, cells

    def _tell_of_names(self, place: int, others: Sequence[int]) -> None:
        titles = self.titles or []
        beside = f", not {' or '.join(quoted(titles[other]) for other in others[:3])}" if others else ""
        column = f"column {quoted(titles[place])} names the places{beside}"
        _log.info("%s: %s; %s takes another", self.table.file, column, as_columns(name="COLUMN"))

    def _ids_and_names(
        self, columns: Columns, cells: Cells
    ) -> tuple[NDArray[np.float64] | None, Sequence[str] | None]:
        """The numbers of the places and their names; what should be a number and is none is a name."""
        ids, names, place = cells.ids, cells.names, columns.id
        if names is None and self.table.rows_are_named:
            names = self.table.row_names
        if names is None and ids is None and self.table.rows_are_numbered:
            names = self.table.row_names
        if not isinstance(ids, list):
            return ids, names
        codes = "id" not in self.options.columns and any(map(LEADING_ZERO.match, ids))
        odd = next((row for row, text in enumerate(ids) if not is_node_number(text)), 0 if codes else None)
        if odd is None:
            return np.array([float(text) for text in ids]), names
        assert place is not None
        if "id" in self.options.columns:
            title = place + 1 if self.titles is None else self.titles[place]
            self.table.fail(
                f"{quoted(ids[odd])} in column {title}: a node number is needed", self._line_of(odd)
            )
        return None, names or ids

    def _line_of(self, number: int) -> int | None:
        """The line of a city."""
        return next((line for city, (line, _) in enumerate(self.table.rows()) if city == number), None)

    def _extra_titles(self, rest: dict[int, Any]) -> dict[int, str]:
        """What the other columns are called, of which those whose name is taken get a number."""
        found: dict[str, int] = {}
        for place in sorted(rest.keys() - self._places_in_tour()):
            title = str(place + 1) if self.titles is None else self.titles[place] or str(place + 1)
            found[free_title(title, found)] = place
        return {place: title for title, place in found.items()}

    def _places_in_tour(self) -> set[int]:
        """The columns that say where the cities were in another tour."""
        titles = [title.lower() for title in self.titles or ()]
        if set(TO_THE_NEXT).isdisjoint(titles) or titles[0] not in (POSITION, PATH_POSITION):
            return set()
        return {place for place, title in enumerate(titles) if title in OF_TOUR}

    def _style(self, columns: Columns, extra: dict[int, str], *, numbered: bool) -> TableStyle:
        """How the table is written, with the titles of its columns if it has any."""
        held = {place: role for role, place in columns.roles().items()}
        if not numbered and columns.id is not None:
            del held[columns.id]  # no node numbers: the names, or left out
            held |= {columns.id: "name"} if columns.name is None else {}
        return self.table.style(
            (extra[place], "") if place in extra else (title, held[place])
            for place, title in enumerate(self.titles or ())
            if place in extra or place in held
        )

    def _about_degrees(
        self, message: str, columns: Columns, coordinates: NDArray[np.float64]
    ) -> tuple[str, int | None]:
        """A message, with a hint if latitudes would be longitudes and the reverse, and the line at fault."""

        def outside(latitude: NDArray[np.float64], longitude: NDArray[np.float64]) -> NDArray[np.bool_]:
            return (np.abs(latitude) > 90.0) | (longitude < -180.0) | (longitude > 360.0)

        latitude, longitude = coordinates[:, 0], coordinates[:, 1]
        bad = outside(latitude, longitude)
        if columns.positions and bad.any():
            lat, lon = map(columns.as_options().__getitem__, ("lat", "lon"))
            message += f"; for metres of a map, {as_columns(x=lon, y=lat)}"
            if not outside(longitude, latitude).any():
                message += f"; {as_columns(lat=lon, lon=lat)} exchanges the two"
        return message, self._line_of(int(np.argmax(bad))) if bad.any() else None

    def _check_ids(self, ids: NDArray[np.float64], columns: Columns) -> None:
        if (ids < 0).any():
            at = int(np.argmax(ids < 0))
            self.table.fail(f"id {ids[at]:.15g}: an integer from 0 upwards is needed", self._line_of(at))
        again = np.setdiff1d(np.arange(len(ids)), np.unique(ids, return_index=True)[1])
        if len(again):
            way = as_columns(name=columns.as_options()["id"])
            self.table.fail(
                f"id {ids[again[0]]:.15g} appears for the second time; names may repeat: {way}",
                self._line_of(again[0]),
            )


def _tells_apart(column: Sequence[Any]) -> bool:
    """Whether a column holds texts that tell places apart, in whatever order its rows are."""
    texts = any(isinstance(text, str) and is_name(text) for text in column[:1024])
    return texts and len(set(column) - {""}) == len(column)
