"""``warptsp generate``: instances to order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from warptsp.errors import InvalidOption

if TYPE_CHECKING:
    from warptsp.problem import Problem

KINDS = ("uniform", "clustered", "grid")
MOST_CITIES = 10_000_000


@click.command()
@click.argument("kind", metavar="KIND")
@click.argument("size", metavar="[SIZE]", required=False)
@click.option("-o", "--output", default="-", metavar="FILE", help="File to write; stdout if not given.")
@click.option("--seed", type=int, help="Seed of the random numbers.  [default: 0]")
@click.option("--side", type=int, metavar="N", help="Side of the square.  [default: 1000000]")
@click.option("--clusters", type=int, metavar="N", help="Number of clusters.  [default: one for 100 cities]")
@click.option(
    "--spread", type=float, metavar="X", help="Standard deviation of a cluster.  [default: side / sqrt(SIZE)]"
)
@click.option("--spacing", type=int, metavar="N", help="Distance of neighbours in a grid.  [default: 100]")
def command(kind: str, size: str | None, output: str, **options: int | float | None) -> None:
    """Make an instance and write it as a TSPLIB file.

    \b
    warptsp generate uniform 1000     cities drawn uniformly from a square
    warptsp generate clustered 1000   cities in normal clusters
    warptsp generate grid 30x40       rows x columns; the comment tells the optimal length
    warptsp generate E10k.0           an instance of the DIMACS challenge, exactly:
                                      E or C; 1k, 3k, 10k, 31k, 100k, 316k, 1M, 3M, 10M
    """
    from warptsp.io import write_problem
    from warptsp.outputs import check_writable

    if output != "-":
        check_writable(output)
    problem = _make(kind, size, {name: value for name, value in options.items() if value is not None})
    write_problem(output, problem, format="tsplib" if output == "-" else None)
    if output != "-":
        click.echo(f"instance     {output}, {problem.name}, {problem.n} cities: {problem.comment}")


def _make(kind: str, size: str | None, options: dict[str, int | float]) -> Problem:
    from warptsp import generate

    if generate.is_dimacs_name(kind):
        _refuse(options, (), kind)
        if size is not None:
            raise InvalidOption(f"SIZE {size!r}: the name {kind} tells the size already; leave it out")
        return generate.dimacs(kind)
    if kind not in KINDS:
        raise InvalidOption(
            f"KIND {kind!r} is unknown; there are {', '.join(KINDS)} and the DIMACS instances, such as E10k.0"
        )
    if size is None:
        wanted = "ROWSxCOLUMNS, such as 30x40" if kind == "grid" else "the number of cities"
        raise InvalidOption(f"SIZE is missing: {kind} needs {wanted}")
    if kind == "grid":
        _refuse(options, ("spacing",), kind)
        match = re.fullmatch(r"(\d+)[xX](\d+)", size)
        if match is None:
            raise InvalidOption(f"SIZE {size!r}: a grid needs ROWSxCOLUMNS, such as 30x40")
        _check_cities(int(match[1]) * int(match[2]), size)
        return generate.grid(int(match[1]), int(match[2]), **options)  # type: ignore[arg-type]
    _refuse(options, ("seed", "side") + (("clusters", "spread") if kind == "clustered" else ()), kind)
    if not size.isdecimal():
        raise InvalidOption(f"SIZE {size!r}: {kind} needs the number of cities")
    _check_cities(int(size), size)
    if kind == "clustered":
        return generate.clustered(int(size), **options)  # type: ignore[arg-type]
    return generate.uniform(int(size), **options)  # type: ignore[arg-type]


def _refuse(options: dict[str, int | float], known: tuple[str, ...], kind: str) -> None:
    for name in options:
        if name not in known:
            fitting = ", ".join(f"--{option}" for option in known) or "no options"
            raise InvalidOption(f"--{name} does not fit {kind}, which takes {fitting}")


def _check_cities(cities: int, size: str) -> None:
    if not 1 <= cities <= MOST_CITIES:
        raise InvalidOption(f"SIZE {size!r}: the number of cities must lie between 1 and {MOST_CITIES}")
