"""Tours from files, taken as the open paths or closed tours that they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from warptsp.cli._options import Ends
    from warptsp.problem import Problem


class Tours(NamedTuple):
    """The tours in files, checked, for the instance that they are tours of: closed, or an open path."""

    problem: Problem
    cities: list[NDArray[np.int32]]
    reason: str  # why it is taken as closed or open


def with_tour(problem: Problem, file: Path | None, ends: Ends) -> tuple[Problem, NDArray[np.int32] | None]:
    """Return an instance, closed or open as ends and `read_tours` say, and the tour in a file if any."""
    from warptsp.solver.inputs import checked_start

    if file is None:
        return ends.of_path(problem), None
    is_open = True if ends.open_ is None and ends.to is not None else ends.open_
    found = read_tours(problem, [file], is_open)
    problem = ends.of_path(found.problem)
    return problem, checked_start(problem, found.cities[0], str(file))


def read_tours(problem: Problem, files: Sequence[Path], open_: bool | None) -> Tours:
    """Read tours of an instance, closed or open as `open_` says, or else the files, or else the instance."""
    from warptsp.errors import InvalidTour
    from warptsp.io.tours import read_tour_file
    from warptsp.solver.inputs import checked_start, with_open

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
    problem = with_open(problem, is_open)
    cities = [checked_start(problem, found[file].cities, str(file)) for file in files]
    return Tours(problem, cities, reason)
