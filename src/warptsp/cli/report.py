"""``warptsp report``: tours that are there already as one page for a browser."""

from __future__ import annotations

from pathlib import Path

import click

from warptsp.cli._options import (
    TableOptions,
    asymmetric_option,
    examples,
    format_option,
    instance_argument,
    load_instance,
    quiet_option,
    table_options,
)
from warptsp.cli._tours import open_option, read_tours
from warptsp.cli.streams import say

ENDINGS = (".html", ".htm")


@click.command(epilog=examples("warptsp report usa13509.tsp start.tour best.tour usa13509.html"))
@instance_argument
@click.argument(
    "tours", metavar="TOUR...", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False)
)
@click.argument("page", metavar="FILE", type=click.Path(path_type=Path))
@format_option
@open_option
@table_options
@asymmetric_option
@quiet_option
@click.option("--title", help="Heading of the page; default: the name of the instance.")
def command(
    instance: Path,
    tours: tuple[Path, ...],
    page: Path,
    format_: str | None,
    open_: bool | None,
    table: TableOptions,
    asymmetric: bool,
    title: str | None,
    quiet: bool,
) -> None:
    """Put the tours in the files TOUR... of the cities of INSTANCE into one page, FILE, which ends in .html.

    A browser opens the page without a network or a server. With several tours, such as start, checkpoint and
    best, a slider goes from the longest to the shortest. warptsp solve --report makes such a page of a run.
    """
    from dataclasses import replace

    from warptsp.outputs import check_writable
    from warptsp.report import Report, check_reportable, write

    check_page_name(page, "FILE")
    check_writable(page)
    problem = load_instance(instance, format_, table, asymmetric=asymmetric)
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

    if Path(name).suffix.lower() not in ENDINGS:
        raise InvalidOption(f"{option} {str(name)!r}: the name must end in .html, the page that is written")
