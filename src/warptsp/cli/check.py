"""``warptsp check``: is this a tour, how long is it, how good is it."""

from __future__ import annotations

from pathlib import Path

import click

from warptsp.cli._options import (
    asymmetric_option,
    echo_json,
    examples,
    format_option,
    instance_argument,
    json_option,
)


@click.command(epilog=examples("warptsp check usa13509.tsp usa13509.tour"))
@instance_argument
@click.argument("tour", metavar="TOUR", type=click.Path(path_type=Path))
@format_option
@asymmetric_option
@click.option("--open/--closed", "open_", default=None, help="Take it as an open path, or as a closed tour.")
@json_option
def command(
    instance: Path, tour: Path, format_: str | None, asymmetric: bool, open_: bool | None, as_json: bool
) -> None:
    """Check the tour in the file TOUR against INSTANCE: every city once, exact length, gap if known.

    Exit status 0 if it is a tour, 2 if it is not; then the message says which city is missing or repeated.
    """
    from warptsp.io import load, read_tour
    from warptsp.progress import relative_gap
    from warptsp.result import format_gap, format_length, unit_of
    from warptsp.solver import checked_start, with_open

    problem = load(instance, format=format_, asymmetric=asymmetric)
    if open_ is not None:
        problem = with_open(problem, open_)
    cities = checked_start(problem, read_tour(tour, problem), str(tour))
    length = problem.length(cities)
    known = problem.known_length
    gap = None if known is None else relative_gap(length, known.length)
    if as_json:
        echo_json(
            {
                "instance": problem.name,
                "cities": problem.n,
                "valid": True,
                "length": length,
                "known_length": None if known is None else known.length,
                "known_length_is_optimal": None if known is None else known.proven,
                "gap_percent": None if gap is None else 100.0 * gap,
            }
        )
        return
    click.echo(f"tour         visits each of the {problem.n} cities once")
    click.echo(f"length       {format_length(length)}{unit_of(problem)}")
    if known is not None and gap is not None:
        kind = "optimum" if known.proven else "best known length"
        click.echo(f"gap          {format_gap(gap)} to the {kind}, {format_length(known.length)}")
