"""``warptsp report``: tours that are there already as one page for a browser."""

from __future__ import annotations

from pathlib import Path

import click

from warptsp.cli._options import examples, format_option, instance_argument

ENDINGS = (".html", ".htm")


@click.command(epilog=examples("warptsp report usa13509.tsp start.tour best.tour usa13509.html"))
@instance_argument
@click.argument(
    "tours", metavar="TOUR...", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False)
)
@click.argument("page", metavar="FILE", type=click.Path(path_type=Path))
@format_option
@click.option("--title", help="Heading of the page; the name of the instance if not given.")
def command(
    instance: Path, tours: tuple[Path, ...], page: Path, format_: str | None, title: str | None
) -> None:
    """Put the tours in the files TOUR... through the cities of INSTANCE into one page, FILE, ending in .html.

    The page needs no network and no server: a browser opens it. With several tours, such as start, checkpoint
    and best, a slider goes from the longest to the shortest. warptsp solve --report makes one of a run.
    """
    from dataclasses import replace

    from warptsp.io import load, read_tour
    from warptsp.outputs import check_writable
    from warptsp.report import Report, check_reportable, write
    from warptsp.solver import checked_start

    check_page_name(page, "FILE")
    check_writable(page)
    problem = load(instance, format=format_)
    check_reportable(problem)
    found = {str(name): checked_start(problem, read_tour(name, problem), str(name)) for name in tours}
    write(replace(Report.of_tours(problem, found), title=title or ""), page)
    click.echo(f"report       {page}")


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
