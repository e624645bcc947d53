"""``warptsp watch``: a search in the browser, while it runs."""

from typing import Any

import click

from warptsp.cli import solve
from warptsp.cli._command import examples

NOT_HERE = ("watch", "explain_launch", "arch")


def _run(no_browser: bool, **options: Any) -> int:
    """Find a short tour through the cities of INSTANCE, and show it in the browser as it gets better.

    The same as warptsp solve --watch, with all its options, except that it also opens the browser. The page
    has buttons that stop the search and save its tour: to the files of --output, or as a download. Only this
    machine can reach it, and only with its address, which holds a token.

    When the search has ended, the page stays as it is, and the command exits as soon as the page has the last
    tour. Ctrl-C or SIGTERM ends the search; the best tour so far is written.
    """
    assert solve.command.callback is not None
    return int(
        solve.command.callback(watch=True, browser=not no_browser, explain_launch=False, arch=None, **options)
    )


command = click.Command(
    "watch",
    callback=_run,
    help=_run.__doc__,
    epilog=examples(
        "warptsp watch usa13509.tsp --time-limit 60 -o usa13509.tour",
        "warptsp watch places.csv --no-browser --port 8000",
    ),
    params=[
        *(parameter for parameter in solve.command.params if parameter.name not in NOT_HERE),
        click.Option(
            ["--no-browser"],
            is_flag=True,
            help="Do not open the browser; the address is on stderr either way.",
        ),
    ],
)
