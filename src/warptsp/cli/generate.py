"""``warptsp generate``: instances to order."""

from __future__ import annotations

import re
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import click

from warptsp._checks import shown
from warptsp._words import counted, did_you_mean
from warptsp.cli._command import argument, as_command, file_option, option
from warptsp.cli._completion import one_of
from warptsp.cli._options import Quiet
from warptsp.cli.streams import say
from warptsp.errors import InvalidOption

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from warptsp.generate import RandomPoints
    from warptsp.problem import Problem

KINDS = ("uniform", "clustered", "grid")
MAX_CITIES = 10_000_000  # of what is made in memory and written as text


def _kinds() -> Iterable[tuple[str, str]]:
    from warptsp.generate.dimacs import SIZES

    kinds = [(kind, "to order") for kind in KINDS]
    return kinds + [(f"{letter}{size}.0", "DIMACS challenge") for letter in "EC" for size in SIZES]


@dataclass(frozen=True, slots=True)
class Kind:
    """What an instance to order is like; `given` has what was said of it."""

    seed: Annotated[int | None, option("Seed of the random numbers.  [default: 0]")]
    side: Annotated[int | None, option("Side of the square.  [default: 1000000]", "N")]
    clusters: Annotated[int | None, option("Number of clusters.  [default: one per 100 cities]", "N")]
    spread: Annotated[
        float | None, option("Standard deviation of a cluster.  [default: side / sqrt(SIZE)]", "X")
    ]
    spacing: Annotated[int | None, option("Distance between neighbours in a grid.  [default: 100]", "N")]

    def given(self) -> dict[str, int | float]:
        """The options that are not left to their defaults."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@as_command(
    "warptsp generate uniform 1000 -o u1k.tsp     # cities drawn uniformly from a square",
    "warptsp generate clustered 1000 --seed 7     # cities in normal clusters",
    "warptsp generate grid 30x40 -o grid.tsp      # rows x columns; the comment has the optimal length",
    "warptsp generate E10k.0 -o E10k.0.tsp        # an instance of the DIMACS challenge, exactly",
    "warptsp generate uniform 100000000 -o u.npy  # in pieces, straight to disk",
)
def command(
    kind: Annotated[str, argument("KIND", shell_complete=one_of(_kinds))],
    size: Annotated[str | None, argument("[SIZE]", required=False)],
    output: Annotated[
        str, file_option("File to write; default: stdout.", "FILE", "-o", "--output", default="-")
    ],
    options: Kind,
    threads: Annotated[int | None, option("Threads that generate .npy and .f64.  [default: all]", "N")],
    quiet: Quiet,
) -> None:
    """Generate an instance; the ending of FILE sets the format (TSPLIB if there is no FILE).

    KIND is uniform, clustered or grid, or the name of an instance of the DIMACS challenge: E (uniform) or C
    (clustered), the size 1k, 3k, 10k, 31k, 100k, 316k, 1M, 3M or 10M, and a number, as in E10k.0. SIZE is the
    number of cities, or ROWSxCOLUMNS for a grid. In .npy and .f64 files distances are Euclidean, not rounded.
    """
    from warptsp.generate import RandomPoints
    from warptsp.io import write_problem
    from warptsp.io.registry import format_to_write
    from warptsp.outputs import check_writable

    format = format_to_write(output, "tsplib" if output == "-" else None, tour=False)
    if output != "-":
        check_writable(output)
    problem = _make(kind, size, options.given(), in_pieces=format.write_points is not None)
    if isinstance(problem, RandomPoints):
        _write_pieces(output, problem, threads)
    else:
        write_problem(output, problem, format=format.name)
    if output != "-" and not quiet:
        say(f"instance     {output}, {problem.name}, {counted(problem.n)}: {problem.comment}")


def _write_pieces(output: str, points: RandomPoints, threads: int | None) -> None:
    from warptsp.io import write_points
    from warptsp.machine import resolve_threads

    blocks = points.blocks(resolve_threads(threads))
    if not sys.stderr.isatty():
        write_points(output, points.n, blocks)
        return
    with click.progressbar(length=points.n, label="cities", file=sys.stderr) as bar:
        write_points(output, points.n, _shown(blocks, bar.update))


def _shown(
    blocks: Iterator[NDArray[np.float64]], update: Callable[[int], None]
) -> Iterator[NDArray[np.float64]]:
    for block in blocks:
        yield block
        update(len(block))


def _make(
    kind: str, size: str | None, options: dict[str, int | float], *, in_pieces: bool
) -> Problem | RandomPoints:
    from warptsp import generate

    if generate.is_dimacs_name(kind):
        _refuse(options, (), kind)
        if size is not None:
            raise InvalidOption(f"SIZE {shown(size)}: the name {kind} already gives the size; leave it out")
        return generate.dimacs(kind)
    if kind not in KINDS:
        raise InvalidOption(
            f"KIND {shown(kind)} is unknown; there are {', '.join(KINDS)} and the DIMACS instances, "
            f"such as E10k.0{did_you_mean(kind, KINDS)}"
        )
    if size is None:
        wanted = "ROWSxCOLUMNS, such as 30x40" if kind == "grid" else "the number of cities"
        raise InvalidOption(f"SIZE is missing: {kind} needs {wanted}")
    if kind == "grid":
        _refuse(options, ("spacing",), kind)
        match = re.fullmatch(r"(\d{1,10})[xX](\d{1,10})", size)
        if match is None:
            raise InvalidOption(f"SIZE {shown(size)}: a grid needs ROWSxCOLUMNS, such as 30x40")
        _check_cities(int(match[1]) * int(match[2]), size)
        return generate.grid(int(match[1]), int(match[2]), **options)  # type: ignore[arg-type]
    _refuse(options, ("seed", "side") + (("clusters", "spread") if kind == "clustered" else ()), kind)
    if not re.fullmatch(r"\d{1,18}", size):
        raise InvalidOption(f"SIZE {shown(size)}: {kind} needs the number of cities")
    if not in_pieces:
        _check_cities(int(size), size)
    make = generate.clustered_points if kind == "clustered" else generate.uniform_points
    points = make(int(size), **options)  # type: ignore[arg-type]
    return points if in_pieces else points.problem()


def _refuse(options: dict[str, int | float], known: tuple[str, ...], kind: str) -> None:
    for name in options:
        if name not in known:
            fitting = ", ".join(f"--{option}" for option in known) or "no options"
            raise InvalidOption(f"--{name} does not fit {kind}, which takes {fitting}")


def _check_cities(cities: int, size: str) -> None:
    if not 1 <= cities <= MAX_CITIES:
        raise InvalidOption(
            f"SIZE {shown(size)}: the number of cities must lie between 1 and {MAX_CITIES}; "
            "uniform and clustered instances may be larger as .npy or .f64"
        )
