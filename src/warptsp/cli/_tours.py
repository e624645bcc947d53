"""Tours from files, taken as the open paths or closed tours that they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from warptsp._facts import Fact

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from warptsp.cli._options import Printing
    from warptsp.cli._search import Ends
    from warptsp.problem import Problem

open_option = click.option(
    "--open/--closed",
    "open_",
    default=None,
    help="Treat the tour as an open path or a closed tour.  [default: as the files say]",
)


output_option = click.option(
    "-o", "--output", "outputs", multiple=True, type=click.Path(), metavar="FILE",
    callback=lambda context, option, names: TourOutputs(names),
    help="Write the tour; the ending sets the format, - is stdout. May be given several times.",
)  # fmt: skip


class TourOutputs(NamedTuple):
    """Where a command writes its tour: files, - for stdout, or nowhere."""

    names: tuple[str, ...]

    @property
    def to_stdout(self) -> bool:
        """Whether a tour goes to stdout, so that nothing else may."""
        return "-" in self.names

    def check(
        self,
        *,
        as_json: bool,
        inputs: Iterable[tuple[str, Path]],
        others: Iterable[tuple[str, Path | None]] = (),
    ) -> None:
        """Check before any work that a tour can be written there.

        Parameters
        ----------
        as_json : bool
            Whether stdout is taken by JSON.
        inputs, others : iterable of (str, path)
            What is read, behind what it is, and what else is written, behind its option.

        Raises
        ------
        InvalidOption, OutputError
            stdout is taken, no format has this ending, or a file cannot be written, or is named twice.
        """
        from warptsp.errors import InvalidOption
        from warptsp.io.tours import tour_format
        from warptsp.outputs import check_outputs

        if as_json and self.to_stdout:
            raise InvalidOption("--json and --output -: both want stdout; give the tour a file")
        for name in self.names:
            if name != "-":
                tour_format(name)
        check_outputs([*(("--output", name) for name in self.names), *others], inputs)

    def check_tours(self, problem: Problem) -> None:
        """Check before the search that the formats can hold tours of the instance."""
        from warptsp.io.tours import check_tour_output

        for name in self.names:
            if name != "-":
                check_tour_output(name, problem)

    def write(self, tour: NDArray[np.int32], problem: Problem) -> None:
        """Write the tour everywhere, stdout last; what fails does not keep the others from it.

        Raises
        ------
        OutputError
            Of all that could not be written.
        """
        from warptsp.io import write_tour
        from warptsp.outputs import Attempts

        attempts = Attempts()
        for name in sorted(self.names, key="-".__eq__):
            attempts.make(write_tour, name, tour, problem, format="tsplib" if name == "-" else None)
        attempts.finish()

    def show(self, facts: Iterable[Fact], printing: Printing) -> None:
        """Say the facts of a result, and where the tour is; on stderr if the tour is on stdout."""
        printing.show([*facts, *output_facts(self.names, "it")], on_stderr=self.to_stdout)


def output_facts(names: Sequence[str], what: str) -> list[Fact]:
    """Where something was written: the first file and all of them, or how to write it."""
    where = names or [f"not written; --output FILE writes {what}"]
    return [
        Fact("output", next(iter(names), None)),
        Fact("outputs", list(names)),
        *(Fact("", words=words, name="output") for words in where),
    ]


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


def check_has_no_missing_arcs(problem: Problem, tour: NDArray[np.int32], what: str) -> None:
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
    if is_open != (problem.open is not None):
        problem = with_open(problem, is_open)
    cities = [checked_start(problem, found[file].cities, str(file)) for file in files]
    return Tours(problem, cities, reason)
