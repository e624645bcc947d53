"""``warptsp plot``: a picture of a tour."""

from pathlib import Path
from typing import Annotated

from warptsp.cli._command import argument, as_command, file_option, option
from warptsp.cli._drawing import Axes
from warptsp.cli._options import InstanceFile, OpenOrClosed, Quiet, Reading, TourFile
from warptsp.cli._tours import read_tours
from warptsp.cli.streams import say
from warptsp.endings import ends_in


@as_command(
    "warptsp plot usa13509.tsp usa13509.tour usa13509.svg",
    "warptsp plot usa13509.tsp best.tour both.pdf --start greedy.tour --difference",
)
def command(
    instance: InstanceFile,
    tour: TourFile,
    picture: Annotated[Path, argument("PICTURE")],
    start: Annotated[Path | None, file_option("Draw the tour in this file to the left of TOUR.", "TOUR2")],
    difference: Annotated[bool, option("Show which edges only one of the two tours has.")],
    size: Annotated[
        int | None,
        option(
            "Length of the longer side; default: by the number of cities, or 200 per inch in a figure.",
            "PIXELS",
        ),
    ],
    title: Annotated[str | None, option("Line above a figure, or below an SVG picture.")],
    axes: Axes,
    open_: OpenOrClosed,
    quiet: Quiet,
    reading: Reading,
) -> None:
    """Draw the tour of INSTANCE in the file TOUR, and write it to PICTURE.

    PICTURE ends in .svg, .png or .pdf. Two tours (--start, --difference) and .pdf need matplotlib:
    pip install 'warptsp[plot]'.
    """
    from warptsp.errors import InvalidOption
    from warptsp.outputs import check_outputs
    from warptsp.plotting import check_drawable, check_figure, draw, plot

    if difference and start is None:
        raise InvalidOption("--difference: from which tour? Name its file with --start")
    simple = start is None and not ends_in(picture, (".pdf",))
    check_outputs([("PICTURE", picture)], [("the instance itself", instance), ("the tour", tour)])
    problem = reading.load(instance)
    (check_drawable if simple else check_figure)(problem, picture)
    problem, (cities, *before), _ = read_tours(problem, [tour] if start is None else [tour, start], open_)
    problem = axes.turned(problem)
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
