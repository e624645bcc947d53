"""``warptsp insert``: new places in a tour whose order is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from warptsp._facts import Fact
from warptsp._words import counted
from warptsp.cli._command import argument, as_command, option
from warptsp.cli._options import Columns, OpenOrClosed, Reading, Seed, TourFile
from warptsp.cli._outputs import TourOutputs
from warptsp.cli.streams import tell
from warptsp.errors import InvalidOption, InvalidProblem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from warptsp.io.format import Instance
    from warptsp.problem import Problem


@as_command(
    "warptsp insert route.csv new.csv -o route2.csv",
    "warptsp insert route.csv new.csv -o route2.csv --improve 3",
    "warptsp insert route.csv -o route2.csv --remove Depot",
)
def command(
    tour_file: TourFile,
    places: Annotated[Path | None, argument("[PLACES]", required=False)],
    remove: Annotated[tuple[str, ...], option("Take a city out first: its number or name.", "CITY")],
    improve: Annotated[
        int,
        option(
            "Let K cities before and after each new one change places, too.",
            "K",
            default=0,
            show_default=True,
        ),
    ],
    seed: Seed,
    open_: OpenOrClosed,
    outputs: TourOutputs,
    reading: Reading,
) -> int:
    """Insert the places of the file PLACES into a tour with the least detour, keeping its order.

    TOUR is a file with places in visiting order: any table, or a .csv, .geojson or .gpx tour that warptsp
    solve has written; PLACES is an instance of the same kind of coordinates. The options for the metric and
    the columns apply to both, as far as PLACES has these columns.
    """
    from warptsp import insertion
    from warptsp.interruption import status
    from warptsp.quantities import length_text

    if places is None and not remove:
        raise InvalidOption("nothing to do: give a file of PLACES, or --remove CITY")
    outputs.check([] if places is None else [("the list of places itself", places)])
    if str(tour_file) == "-":
        raise InvalidOption(
            "-: TOUR is read as places and as an order, and standard input only once: name a file"
        )
    of_tour = reading.read(tour_file, notes=True)
    problem, tour = _with_order(reading, tour_file, of_tour.problem, open_)
    cities, before, inserted = problem.n, problem.length(tour), 0
    if remove:
        result = insertion.remove(problem, tour, {_find_city(problem, text) for text in remove})
        problem, tour = result.problem, result.tour
    removed = cities - problem.n
    if places is not None:
        of_places = _read_places(places, reading, of_tour)
        added = of_places.problem
        if reading.metric is not None and added.metric is problem.metric.unrounded:
            problem = replace(problem, metric=added.metric)  # manhattan, of which whole places are rounded
        if problem.metric not in (added.metric, added.metric.unrounded):
            raise InvalidOption(
                f"{places} has distances of the kind {added.metric.name}, and {tour_file} of "
                f"{problem.metric.name}: give both the same columns, or convert one"
            )
        for theirs, ours in (added.unit, problem.unit), (added.crs, problem.crs):
            if theirs and ours and theirs != ours:
                raise InvalidOption(
                    f"{places} has coordinates in {theirs}, and {tour_file} in {ours}: convert one of them"
                )
        points = added.given_coordinates()
        inserted = len(points)
        wanted = _numbers_of(of_places)
        try:
            result = insertion.insert(
                problem,
                tour,
                points,
                labels=added.labels,
                node_ids=wanted,
                extra=added.extra,
                improve=improve,
                seed=seed,
            )
        except KeyboardInterrupt as error:  # all places are in it, and what was improved by then
            if not hasattr(error, "result"):
                raise
            result = error.result
        if wanted is not None:
            _tell_of_new_numbers(wanted, result.problem.ids_of(range(problem.n, result.problem.n)), places)
    outputs.check_tours(result.problem)
    written = outputs.write(result.problem, result.tour)
    unit = problem.unit
    facts = [
        Fact("file", str(tour_file), f"{tour_file}, {counted(cities)}", "tour"),
        Fact("cities", result.problem.n),
        Fact("inserted", inserted, f"{inserted} inserted, {removed} removed", "places"),
        Fact("removed", removed),
        Fact("length", result.length, length_text(result.length, unit)),
        Fact("length_before", before, length_text(before, unit), "before"),
        Fact("seconds", round(result.seconds, 3)),
    ]
    outputs.tell(facts, written)
    return 0 if result.signal is None else status(result.signal)


def _find_city(problem: Problem, text: str) -> int:
    from warptsp.problem.names import city_of_file

    try:
        return city_of_file(problem, text)
    except InvalidOption as error:
        raise InvalidOption(f"--remove {error}") from None


def _with_order(
    reading: Reading, file: Path, problem: Problem, open_: bool | None
) -> tuple[Problem, NDArray[np.int32]]:
    """The instance as a closed tour or an open path, and the order of its places in the file."""
    from warptsp.io.tours import read_own_tour
    from warptsp.solver.inputs import checked_start, with_open

    found = read_own_tour(file, problem, reading.format, reading.encoding)
    is_open = found.open if open_ is None else open_
    if is_open is not None:
        problem = with_open(problem, is_open)
    return problem, checked_start(problem, found.cities, str(file))


def _read_places(places: Path, reading: Reading, of_tour: Instance) -> Instance:
    """The new places, of which the options say the same as of the tour, as far as they fit."""
    columns = reading.given_columns()
    if of_tour.columns is not None:  # by their names, since the numbers may be others
        names = of_tour.columns.as_options().items()
        columns = {role: str(column) for role, column in names if role in columns}
    if columns and str(places) != "-":
        columns = _columns_there(places, columns, reading.encoding)
    reading = replace(reading, columns=Columns(**columns), format=None, asymmetric=False, sheet=None)
    return reading.read(places, notes=True)


def _columns_there(places: Path, columns: dict[str, str], encoding: str | None) -> dict[str, str]:
    """Those of the columns that a table has; of coordinates all or none."""
    from warptsp.io.format import Source
    from warptsp.io.registry import format_of_instance
    from warptsp.io.table.columns import place_of
    from warptsp.io.table.text import TableText
    from warptsp.io.table.titles import look_like_positions

    source = Source(places, encoding=encoding)
    chosen = format_of_instance(source, None)
    if not chosen.has_columns or chosen.on_maps:
        return {}
    if chosen.binary:  # its reader says what it does not find
        return columns
    titles = TableText(source.text, source.file).first

    def is_there(role: str) -> bool:
        if columns[role].isdecimal() and look_like_positions(titles):
            return False  # the number is that of a column in a tour without names, and here names tell
        try:
            place_of(columns[role], role, titles, len(titles))
        except InvalidProblem:
            return False
        return True

    axes = columns.keys() - {"name", "id"}
    there = {role for role in columns if is_there(role)}
    kept = there if axes <= there else there - axes
    return {role: column for role, column in columns.items() if role in kept}


def _numbers_of(places: Instance) -> NDArray[np.int64] | None:
    """The numbers that the new places have in their file; None if it has none."""
    problem, columns = places
    has_numbers = problem.node_ids is not None
    if columns is not None and columns.id is not None:
        # Numbers 1, 2, 3, ...; unless there are none, which became the names.
        has_numbers = has_numbers or columns.name is not None or problem.labels is None
    return problem.ids_of(range(problem.n)) if has_numbers else None


def _tell_of_new_numbers(wanted: NDArray[np.int64], given: NDArray[np.int64], places: Path) -> None:
    changed = (wanted != given).nonzero()[0]
    if len(changed):
        numbers = ", ".join(f"{wanted[at]} becomes {given[at]}" for at in changed[:3])
        more = ", ..." if len(changed) > 3 else ""
        tell(f"warptsp: note: {places}: the tour has such numbers already: {numbers}{more}")
