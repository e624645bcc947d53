"""The instance or the tour that the keywords and sections of a TSPLIB file mean."""

import dataclasses
import logging
import re
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from warptsp._words import as_called, counted
from warptsp.errors import InvalidProblem, InvalidTour
from warptsp.io._text import quoted
from warptsp.io.format import Source, TourFile
from warptsp.problem import Metric, OpenPath, Problem
from warptsp.problem.values import EXACT_INTEGERS

from .matrix import weights
from .text import Section, TsplibText
from .writer import OPEN_OR_CLOSED

_log = logging.getLogger(__name__)

# How long a tour is, as this package, LKH and the optimal tours of TSPLIB say.
_LENGTH = re.compile(r"(?i)\blength\W*(\d+\.?\d*(?:e[-+]?\d+)?)|^optim.*\((\d+)\)$")
_WEIGHT_TYPES = ", ".join(metric.name for metric in Metric)


def parse_problem(data: bytes, file: str, asymmetric: bool = False, *, groups: bool = False) -> Problem:
    """The instance in the text of a TSPLIB file; with `groups` of GTSPLIB, too: sets are column "group"."""
    text = TsplibText(data, file)
    kind = text.first_word("TYPE") or ("TOUR" if set(text.sections) == {"TOUR"} else "TSP")
    if kind == "TOUR":
        start = as_called("start=", "--start")
        text.fail(
            f"is a tour, not an instance: give that, and the tour behind it or as {start}", keyword="TYPE"
        )
    in_sets = kind in ("GTSP", "AGTSP")
    if in_sets and not groups:
        text.fail_entry(
            "TYPE",
            f"TYPE is {kind}, one place of each set: "
            f"{as_called('warptsp.groups.choose', 'warptsp choose')} finds such tours",
        )
    if in_sets != ("GTSP_SET" in text.sections):
        lacks = "has no GTSP_SET_SECTION" if in_sets else "has GTSP_SET_SECTION: TYPE is GTSP or AGTSP then"
        text.fail(f"TYPE is {kind}, and the file {lacks}", keyword="TYPE")
    if kind not in ("TSP", "ATSP", "HPP") and not in_sets:
        text.fail_entry(
            "TYPE",
            f"TYPE is {quoted(kind)}: warptsp reads TSP (symmetric), ATSP (asymmetric) and HPP (open "
            "path) instances",
        )
    if (edges := text.sections.get("EDGE_DATA")) is not None:
        text.fail(
            "EDGE_DATA_SECTION: a tour of these edges alone is not searched for from such a file; a matrix "
            "in a .npy file does it, with inf for all other edges",
            edges.begin,
            edges.keyword,
        )
    if not text.sections:
        text.fail("has no cities: NODE_COORD_SECTION or EDGE_WEIGHT_SECTION is missing")
    metric = _metric(text)
    fields: dict[str, Any] = {"name": text.name(), "comment": "\n".join(text.comments)}
    if kind == "HPP":
        fields["open"] = OpenPath()
    if metric is Metric.EXPLICIT:
        fields["asymmetric"] = asymmetric or kind in ("ATSP", "AGTSP")
        fields["matrix"], node_ids = weights(text, may_be_asymmetric=fields["asymmetric"]), None
        fields["display"] = _display(text, len(fields["matrix"]), None)
    else:
        fields["coordinates"], node_ids = _coordinates(text, metric)
        fields["display"] = _display(text, len(fields["coordinates"]), node_ids)
    fields["node_ids"] = node_ids
    section = "EDGE_WEIGHT" if metric is Metric.EXPLICIT else "NODE_COORD"
    if metric is not Metric.EXPLICIT and "EDGE_WEIGHT" in text.sections:
        _log.warning("%s: EDGE_WEIGHT_SECTION is left out: EDGE_WEIGHT_TYPE is %s", text.file, metric.name)
    try:
        problem = Problem(metric, **fields)
    except InvalidProblem as error:
        plane = "; metres of a map have EDGE_WEIGHT_TYPE EUC_2D" if metric.geographic else ""
        text.fail(f"{error}{plane}", text.sections[section].begin, text.sections[section].keyword)
    problem = _with_fixed_edges(text, problem)
    return dataclasses.replace(problem, extra={"group": _sets(text, problem)}) if in_sets else problem


def _sets(text: TsplibText, problem: Problem) -> list[int]:
    """The number of the set of each city; a row has that number, nodes and -1."""
    section = text.sections["GTSP_SET"]
    numbers = section.numbers
    wrong = (numbers != np.floor(numbers)) | (numbers < -1) | (numbers > EXACT_INTEGERS)
    if wrong.any():
        index = int(np.argmax(wrong))
        text.fail_number(
            section,
            index,
            f"{numbers[index]:.15g} in {section.keyword}: a set's number, a node or -1 is needed",
        )
    if not len(numbers) or numbers[-1] != -1:
        text.fail_number(section, len(numbers) - 1, f"{section.keyword} does not end with -1")
    place = {node: city for city, node in enumerate(problem.ids_of(np.arange(problem.n)).tolist())}
    owner, seen = [-1] * problem.n, set()
    begin = 0
    for end in np.flatnonzero(numbers == -1).tolist():
        row = numbers[begin:end].astype(np.int64).tolist()
        if not row and begin == end == len(numbers) - 1:
            break  # one more -1 ends the section
        if len(row) < 2:
            what = f"set {row[0]} is empty" if row else "a set without number and nodes"
            text.fail_number(section, begin, f"{what}: its number, its nodes and -1 are needed")
        number = row[0]
        if number in seen:
            text.fail_number(section, begin, f"set {number} is there for the second time")
        seen.add(number)
        for index, node in enumerate(row[1:], begin + 1):
            city = place.get(node)
            if city is None:
                text.fail_number(section, index, f"set {number} names node {node}, which there is not")
            if owner[city] >= 0:
                text.fail_number(section, index, f"node {node} is in set {number} and in set {owner[city]}")
            owner[city] = number
        begin = end + 1
    if -1 in owner:
        node = problem.node_id(owner.index(-1))
        text.fail(f"node {node} is in no set", section.begin, section.keyword)
    said = text.first_word("GTSP_SETS")
    if said is not None and said != str(len(seen)):
        text.fail_entry("GTSP_SETS", f"GTSP_SETS is {quoted(said)}, and there are {len(seen)} sets")
    return owner


def _metric(text: TsplibText) -> Metric:
    word = text.first_word("EDGE_WEIGHT_TYPE")
    if word is None:
        text.fail(f"EDGE_WEIGHT_TYPE is missing: one of {_WEIGHT_TYPES}", keyword="EDGE_WEIGHT_TYPE")
    if word not in Metric.__members__:
        text.fail_entry(
            "EDGE_WEIGHT_TYPE",
            f"unknown EDGE_WEIGHT_TYPE {quoted(word)}: one of {_WEIGHT_TYPES} is needed",
        )
    return Metric[word]


def _coordinates(text: TsplibText, metric: Metric) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    declared = text.first_word("NODE_COORD_TYPE")
    accepted = "THREED_COORDS" if metric.dimensions == 3 else "TWOD_COORDS"
    if declared not in (None, accepted):
        text.fail_entry(
            "NODE_COORD_TYPE",
            f"NODE_COORD_TYPE is {quoted(declared)}: EDGE_WEIGHT_TYPE {metric.name} needs {accepted}",
        )
    section = text.sections.get("NODE_COORD")
    if section is None:
        text.fail(
            f"NODE_COORD_SECTION is missing: EDGE_WEIGHT_TYPE {metric.name} needs it",
            keyword="NODE_COORD_SECTION",
        )
    axes = "x, y, z" if metric.dimensions == 3 else "x, y"
    return _node_rows(text, section, metric.dimensions, f"node, {axes}")


def _node_rows(
    text: TsplibText, section: Section, dimensions: int, what: str
) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    """The coordinates and, if they are not 1, 2, ..., the node ids of a section."""
    columns = 1 + dimensions
    count, rest = divmod(len(section.numbers), columns)
    dimension = text.dimension(count if rest == 0 else None)
    if rest or count == 0:
        text.fail_odd_line(
            section,
            columns,
            what,
            f"{section.keyword} has {len(section.numbers)} numbers: a city has {columns} ({what})",
        )
    rows = section.numbers.reshape(count, columns)
    ids = _node_ids(text, section, rows, what)
    if count != dimension:
        line = text.entries["DIMENSION"].line
        message = f"DIMENSION is {dimension} (line {line}) but {section.keyword} has {counted(count)}"
        known = np.arange(1, count + 1) if ids is None else ids
        if count < dimension <= 2 * count + 100:
            missing = np.setdiff1d(np.arange(1, dimension + 1), known)
            if len(missing) == dimension - count:
                more = f" and {len(missing) - 1} more are" if len(missing) > 1 else " is"
                message += f": node {missing[0]}{more} missing"
        text.fail_odd_line(section, columns, what, message)
    return np.ascontiguousarray(rows[:, 1:]), ids


def _node_ids(
    text: TsplibText, section: Section, rows: NDArray[np.float64], what: str
) -> NDArray[np.int64] | None:
    count, columns = rows.shape
    given = rows[:, 0]
    if given[0] == 1.0 and np.array_equal(given, np.arange(1, count + 1)):
        return None
    fractional = (given != np.floor(given)) | (given < 0) | (given >= EXACT_INTEGERS)
    if fractional.any():
        row = int(np.argmax(fractional))
        message = f"node number {given[row]:.15g}: it must be an integer from 0 to 2**53 - 1"
        _fail_at_row(text, section, row, columns, what, message)
    ids: NDArray[np.int64] = given.astype(np.int64)
    order = np.argsort(ids, kind="stable")
    repeated = ids[order[1:]] == ids[order[:-1]]
    if repeated.any():
        row = int(order[1:][repeated].min())
        _fail_at_row(text, section, row, columns, what, f"node {ids[row]} appears for the second time")
    return ids


def _fail_at_row(
    text: TsplibText, section: Section, row: int, columns: int, what: str, message: str
) -> NoReturn:
    # A number too few or too many shifts all that follow: then that line is the fault to tell.
    numbers = text.data[section.begin : section.end]
    regular = all(len(line.split(None, columns + 1)) in (0, columns) for line in numbers.splitlines())
    if regular:
        text.fail_number(section, row * columns, f"{message} in {section.keyword}")
    text.fail_odd_line(section, columns, what, message)


def _display(text: TsplibText, n: int, node_ids: NDArray[np.int64] | None) -> NDArray[np.float64] | None:
    section = text.sections.get("DISPLAY_DATA")
    if section is None and text.first_word("EDGE_WEIGHT_TYPE") == "EXPLICIT":
        section = text.sections.get("NODE_COORD")
    if section is None or text.first_word("DISPLAY_DATA_TYPE") == "NO_DISPLAY":
        return None
    dimensions = 3 if text.first_word("NODE_COORD_TYPE") == "THREED_COORDS" else 2
    if section.keyword == "DISPLAY_DATA_SECTION":
        dimensions = 2
    rows, ids = _node_rows(text, section, dimensions, "node, x, y" + ", z" * (dimensions - 2))
    own = np.arange(1, n + 1) if node_ids is None else node_ids
    shown = np.arange(1, n + 1) if ids is None else ids
    order, shown_order = np.argsort(own, kind="stable"), np.argsort(shown, kind="stable")
    if not np.array_equal(own[order], shown[shown_order]):
        stranger = np.setdiff1d(shown, own)[0]
        text.fail(
            f"{section.keyword} names node {stranger}, which the instance does not have",
            section.begin,
            section.keyword,
        )
    display = np.empty((n, 2))
    display[order] = rows[shown_order, :2]
    return display


def _with_fixed_edges(text: TsplibText, problem: Problem) -> Problem:
    section = text.sections.get("FIXED_EDGES")
    if section is None:
        return problem
    numbers = text.until_minus_one(section)
    if (behind := section.numbers[len(numbers) :]).max(initial=-1.0) > -1.0:
        index = len(numbers) + int(np.argmax(behind > -1.0))
        text.fail_number(
            section,
            index,
            f"{section.numbers[index]:.15g} behind the -1 that ends {section.keyword}: one -1 is needed, "
            "behind the last edge",
        )
    if len(numbers) % 2:
        text.fail_number(section, len(numbers) - 1, "the last fixed edge has one end: it needs two")
    try:
        edges = problem.cities_of(numbers.astype(np.int64)).reshape(-1, 2)
    except InvalidTour as error:
        known = problem.ids_of(np.arange(problem.n))
        index = int(np.argmin(np.isin(numbers, known)))
        text.fail_number(section, index, f"a fixed edge names an unknown node: {error}")
    try:
        return dataclasses.replace(problem, fixed_edges=edges)
    except InvalidProblem as error:
        text.fail(str(error), section.begin, section.keyword)


def parse_tour(source: Source, problem: Problem) -> TourFile:
    """The first tour in a TSPLIB file, and what its comments say of its ends and its length."""
    text = TsplibText(source.data, source.file)
    section = text.sections.get("TOUR")
    if section is None:
        text.fail("has no TOUR_SECTION: it is not a tour", keyword="TOUR_SECTION")
    numbers = text.until_minus_one(section)
    if "DIMENSION" in text.entries and text.dimension() != problem.n:
        called = f" {problem.name}" if problem.name else ""
        raise InvalidTour(
            f"{text.file}: a tour of {text.dimension()} cities (DIMENSION, line "
            f"{text.entries['DIMENSION'].line}) for an instance{called} of {problem.n}"
        )
    if len(section.numbers) > problem.n + 2:
        _log.info("%s: more than one tour; the first is taken", text.file)
    kinds = [OPEN_OR_CLOSED.get(comment.partition(" of length ")[0]) for comment in text.comments]
    said = next((kind for kind in kinds if kind is not None), None)
    length = next((match[1] or match[2] for match in map(_LENGTH.search, text.comments) if match), None)
    return TourFile(
        problem.cities_of(numbers.astype(np.int64)), said, None if length is None else float(length)
    )
