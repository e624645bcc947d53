"""Tours from files, taken as the open paths or closed tours that they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from warptsp.problem import Problem

open_option = click.option(
    "--open/--closed",
    "open_",
    default=None,
    help="Treat the tour as an open path or a closed tour.  [default: as the files say]",
)


def check_output(output: str | None, *, as_json: bool, inputs: Iterable[tuple[str, Path]]) -> None:
    """Check before any work that a tour can be written there: a file, - for stdout, or nowhere.

    Raises
    ------
    InvalidOption, OutputError
        stdout is taken, no format has this ending, or the file cannot be written or is one of the `inputs`.
    """
    from warptsp.errors import InvalidOption
    from warptsp.io.tours import tour_format
    from warptsp.outputs import check_outputs

    if as_json and output == "-":
        raise InvalidOption("--json and --output -: both want stdout; give the tour a file")
    if output not in (None, "-"):
        tour_format(output)
        check_outputs([("--output", output)], inputs)


class Tours(NamedTuple):
    """The tours in files, checked, for the instance that they are tours of: closed, or an open path."""

    problem: Problem
    cities: list[NDArray[np.int32]]
    reason: str  # why it is taken as closed or open


def with_tour(
    problem: Problem, file: Path | None, open_: bool | None
) -> tuple[Problem, NDArray[np.int32] | None]:
    """Return an instance, closed or open as `read_tours` says, and the tour in a file if there is one."""
    from warptsp.solver import with_open

    if file is not None:
        found = read_tours(problem, [file], open_)
        return found.problem, found.cities[0]
    return (problem if open_ is None else with_open(problem, open_)), None


def check_arcs(problem: Problem, tour: NDArray[np.int32], what: str) -> None:
    """Accept a tour that goes through no missing arc.

    Raises
    ------
    InvalidTour
        Naming what it is, and the first such arc.
    """
    from warptsp.errors import InvalidTour

    if problem.wall is not None and len(missing := problem.missing_arcs(tour)):
        tail, head = (problem.label(city) for city in missing[0].tolist())
        number = "1 missing arc" if len(missing) == 1 else f"{len(missing)} missing arcs"
        raise InvalidTour(f"{what} goes through {number}, such as the one from {tail} to {head}")


def read_tours(problem: Problem, files: Sequence[Path], open_: bool | None) -> Tours:
    """Read tours of an instance; what `open_` says counts first, then what the files say, then the instance.

    Raises
    ------
    ParseError, InvalidTour
        One of them is no tour of this instance, or one says that it is a path and another that it is closed.
    """
    from warptsp.errors import InvalidTour
    from warptsp.io.tours import read_tour_file
    from warptsp.solver import checked_start, with_open

    found = {file: read_tour_file(file, problem) for file in files}
    said = {tour.open: file for file, tour in found.items() if tour.open is not None}
    if open_ is None and len(said) == 2:
        raise InvalidTour(
            f"{said[True]} is an open path and {said[False]} a closed tour: give --open or --closed"
        )
    if open_ is not None:
        is_open, reason = open_, f"as {'--open' if open_ else '--closed'} says"
    elif said:
        ((is_open, file),) = said.items()
        reason = f"as {file} says"
    else:
        is_open = problem.open is not None
        other = "--closed" if is_open else "--open"
        reason = f"as the instance has it ({files[0]} does not say; {other} does)"
    if is_open != (problem.open is not None):
        problem = with_open(problem, is_open)
    cities = [checked_start(problem, found[file].cities, str(file)) for file in files]
    return Tours(problem, cities, reason)
