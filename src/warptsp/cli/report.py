"""``warptsp report``: tours that are there already as one page for a browser."""

from __future__ import annotations

from pathlib import Path

import click

from warptsp.cli._options import (
    InstanceFile,
    examples,
    instance_argument,
    instance_options,
    quiet_option,
)
from warptsp.cli._tours import open_option, read_tours
from warptsp.cli.streams import say
from warptsp.endings import PAGES, ends_in


@click.command(epilog=examples("warptsp report usa13509.tsp start.tour best.tour usa13509.html"))
@instance_argument
@click.argument(
    "tours", metavar="TOUR...", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False)
)
@click.argument("page", metavar="FILE", type=click.Path(path_type=Path))
@open_option
@instance_options
@quiet_option
@click.option("--title", help="Heading of the page; default: the name of the instance.")
def command(
    instance: InstanceFile,
    tours: tuple[Path, ...],
    page: Path,
    open_: bool | None,
    title: str | None,
    quiet: bool,
) -> None:
    """Put the tours in the files TOUR... of the cities of INSTANCE into one page, FILE, which ends in .html.

    A browser opens the page without a network or a server. With several tours, such as start, checkpoint and
    best, a slider goes from the longest to the shortest. warptsp solve --report makes such a page of a run.
    """
    from dataclasses import replace

    from warptsp.outputs import check_outputs
    from warptsp.report import Report, check_reportable, write

    check_page_name(page, "FILE")
    check_outputs(
        [("FILE", page)], [("the instance itself", instance.path), *(("a tour", file) for file in tours)]
    )
    problem = instance.load()
    check_reportable(problem)
    problem, cities, _ = read_tours(problem, tours, open_)
    found = dict(zip(map(str, tours), cities, strict=True))
    write(replace(Report.of_tours(problem, found), title=title or ""), page)
    if not quiet:
        say(f"report       {page}")


def check_page_name(name: Path | str, option: str) -> None:
    """Make sure that a file will be taken for a page, and that no tour is overwritten by mistake.

    Raises
    ------
    InvalidOption
        If the name has another ending.
    """
    from warptsp.errors import InvalidOption

    if not ends_in(name, PAGES):
        raise InvalidOption(f"{option} {str(name)!r}: the name must end in .html, the page that is written")
