"""``warptsp plot``: a picture of a tour."""

from __future__ import annotations

from pathlib import Path

import click

from warptsp.cli._options import (
    InstanceFile,
    examples,
    file_option,
    instance_argument,
    instance_options,
    quiet_option,
)
from warptsp.cli._tours import open_option, read_tours
from warptsp.cli.streams import say
from warptsp.endings import ends_in


@click.command(
    epilog=examples(
        "warptsp plot usa13509.tsp usa13509.tour usa13509.svg",
        "warptsp plot usa13509.tsp best.tour both.pdf --start greedy.tour --difference",
    )
)
@instance_argument
@click.argument("tour", metavar="TOUR", type=click.Path(path_type=Path))
@click.argument("picture", metavar="PICTURE", type=click.Path(path_type=Path))
@instance_options
@file_option("--start", "Draw the tour in this file to the left of TOUR.", metavar="TOUR2")
@click.option("--difference", is_flag=True, help="Show which edges only one of the two tours has.")
@click.option(
    "--size",
    type=int,
    metavar="PIXELS",
    help="Length of the longer side; default: by the number of cities, or 200 per inch in a figure.",
)
@open_option
@quiet_option
@click.option("--title", help="Line above a figure, or below an SVG picture.")
def command(
    instance: InstanceFile,
    tour: Path,
    picture: Path,
    start: Path | None,
    difference: bool,
    size: int | None,
    open_: bool | None,
    title: str | None,
    quiet: bool,
) -> None:
    """Draw the tour in the file TOUR of the cities of INSTANCE, and write it to PICTURE.

    PICTURE ends in .svg, .png or .pdf. Two tours (--start, --difference) and .pdf need matplotlib:
    pip install 'warptsp[plot]'.
    """
    from warptsp.errors import InvalidOption
    from warptsp.outputs import check_outputs
    from warptsp.plotting import check_drawable, check_figure, draw, plot

    if difference and start is None:
        raise InvalidOption("--difference: from which tour? Name its file with --start")
    simple = start is None and not ends_in(picture, (".pdf",))
    check_outputs([("PICTURE", picture)], [("the instance itself", instance.path), ("the tour", tour)])
    problem = instance.load()
    (check_drawable if simple else check_figure)(problem, picture)
    problem, (cities, *before), _ = read_tours(problem, [tour] if start is None else [tour, start], open_)
    if simple:
        draw(picture, problem, cities, size=size, title=title)
    else:
        panels = ["start"] * len(before) + ["tour"] + ["difference"] * difference
        plot(
            problem,
            cities,
            picture,
            start=before[0] if before else None,
            panels=panels,
            size=size,
            title=title,
        )
    if not quiet:
        say(f"picture      {picture}")
