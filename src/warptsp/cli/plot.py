"""``warptsp plot``: a picture of a tour."""

from __future__ import annotations

from pathlib import Path

import click

from warptsp.cli._options import examples, format_option, instance_argument


@click.command(epilog=examples("warptsp plot usa13509.tsp usa13509.tour usa13509.svg"))
@instance_argument
@click.argument("tour", metavar="TOUR", type=click.Path(path_type=Path))
@click.argument("picture", metavar="PICTURE", type=click.Path(path_type=Path))
@format_option
@click.option(
    "--size",
    type=int,
    metavar="PIXELS",
    help="Length of the longer side; by the number of cities if not given.",
)
@click.option("--title", help="Line below an SVG picture.")
def command(
    instance: Path, tour: Path, picture: Path, format_: str | None, size: int | None, title: str | None
) -> None:
    """Draw the tour in the file TOUR through the cities of INSTANCE into PICTURE, .svg or .png."""
    from warptsp.io import load, read_tour
    from warptsp.outputs import check_writable
    from warptsp.plotting import check_drawable, draw
    from warptsp.solver import checked_start

    check_writable(picture)
    problem = load(instance, format=format_)
    check_drawable(problem, picture)
    draw(
        picture, problem, checked_start(problem, read_tour(tour, problem), str(tour)), size=size, title=title
    )
    click.echo(f"picture      {picture}")
