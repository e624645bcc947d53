"""``warptsp report``: tours that are there already as one page for a browser."""

from pathlib import Path
from typing import Annotated

from warptsp.cli._command import argument, as_command, option
from warptsp.cli._drawing import Axes, Map
from warptsp.cli._options import InstanceFile, OpenOrClosed, Quiet, Reading
from warptsp.cli._outputs import check_page_name
from warptsp.cli._tours import read_tours
from warptsp.cli.streams import say


@as_command("warptsp report usa13509.tsp start.tour best.tour usa13509.html")
def command(
    instance: InstanceFile,
    tours: Annotated[tuple[Path, ...], argument("TOUR...", required=True)],
    page: Annotated[Path, argument("FILE")],
    title: Annotated[str | None, option("Heading of the page; default: the name of the instance.")],
    axes: Axes,
    below: Map,
    open_: OpenOrClosed,
    quiet: Quiet,
    reading: Reading,
) -> None:
    """Put tours of INSTANCE, the files TOUR..., into one HTML page, FILE.

    A browser opens the page without a network or a server. With several tours, such as start, checkpoint and
    best, a slider goes from the longest to the shortest. warptsp solve --report makes such a page of a run.
    """
    from dataclasses import replace

    from warptsp.outputs import check_outputs
    from warptsp.report import Report, check_reportable, write

    check_page_name(page, "FILE")
    tiles = below.chosen()
    check_outputs(
        [("FILE", page)], [("the instance itself", instance), *(("a tour", file) for file in tours)]
    )
    problem = axes.turned(reading.load(instance))
    check_reportable(problem, tiles)
    problem, cities, _ = read_tours(problem, tours, open_)
    found = dict(zip(map(str, tours), cities, strict=True))
    report = Report.of_tours(problem, found)
    write(replace(report, title=title or "", tiles=tiles), page)
    if not quiet:
        say(f"report       {page}")
