"""``warptsp plot``: a picture of a tour."""

from __future__ import annotations

from pathlib import Path

import click

from warptsp.cli._options import examples, format_option, instance_argument


@click.command(
    epilog=examples(
        "warptsp plot usa13509.tsp usa13509.tour usa13509.svg",
        "warptsp plot usa13509.tsp best.tour both.pdf --start greedy.tour --difference",
    )
)
@instance_argument
@click.argument("tour", metavar="TOUR", type=click.Path(path_type=Path))
@click.argument("picture", metavar="PICTURE", type=click.Path(path_type=Path))
@format_option
@click.option(
    "--start",
    metavar="TOUR2",
    type=click.Path(path_type=Path),
    help="Draw the tour in this file to the left of TOUR.",
)
@click.option("--difference", is_flag=True, help="Show which edges only one of both tours has.")
@click.option(
    "--size",
    type=int,
    metavar="PIXELS",
    help="Length of the longer side; by the number of cities, or 200 an inch, if not given.",
)
@click.option("--title", help="Line above a figure, or below an SVG picture.")
def command(
    instance: Path,
    tour: Path,
    picture: Path,
    format_: str | None,
    start: Path | None,
    difference: bool,
    size: int | None,
    title: str | None,
) -> None:
    """Draw the tour in the file TOUR through the cities of INSTANCE into PICTURE.

    PICTURE is .svg, .png or .pdf. Two tours (--start, --difference) and .pdf need matplotlib: pip install
    'warptsp[plot]'.
    """
    from warptsp.errors import InvalidOption
    from warptsp.io import load, read_tour
    from warptsp.outputs import check_writable
    from warptsp.plotting import check_drawable, check_figure, draw, plot
    from warptsp.solver import checked_start

    if difference and start is None:
        raise InvalidOption("--difference: from which tour? Name its file with --start")
    simple = start is None and picture.suffix.lower() != ".pdf"
    check_writable(picture)
    problem = load(instance, format=format_)
    (check_drawable if simple else check_figure)(problem, picture)

    def cities(path: Path):  # type: ignore[no-untyped-def]
        return checked_start(problem, read_tour(path, problem), str(path))

    if simple:
        draw(picture, problem, cities(tour), size=size, title=title)
    else:
        panels = ["start"] * (start is not None) + ["tour"] + ["difference"] * difference
        before = None if start is None else cities(start)
        plot(problem, cities(tour), picture, start=before, panels=panels, size=size, title=title)
    click.echo(f"picture      {picture}")
