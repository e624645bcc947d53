"""The command ``warptsp``: one module for each of its commands, imported when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from warptsp import interruption
from warptsp._version import __version__
from warptsp._words import called_from_shell
from warptsp.cli.streams import tell
from warptsp.errors import WarpTSPError
from warptsp.outputs import ReaderGone

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = {
    "solve": "find a short tour",
    "watch": "find a short tour and watch it in the browser",
    "generate": "generate an instance: uniform, clustered, grid, DIMACS",
    "info": "show what is in an instance file",
    "check": "check a tour: cities, length, gap",
    "bound": "compute a lower bound on the length of any tour",
    "prove": "prove that a tour is optimal, or find one that is",
    "plot": "draw a tour, or two tours and their difference: SVG, PNG, PDF",
    "report": "put tours into one HTML page",
    "devices": "show what this machine and this build can do",
    "completion": "write a shell completion script",
    "manual": "write the manual page",
}


class _LazyGroup(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            with called_from_shell():
                return super().invoke(ctx)
        except interruption.Terminated as error:  # which click would take for Ctrl-C
            raise SystemExit(interruption.status(error.number)) from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"warptsp.cli.{cmd_name}").command
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        from click.shell_completion import CompletionItem

        commands = [
            CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)
        ]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # The short texts are here, so that --help imports no command.
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="warptsp")
def commands() -> None:
    """Short tours for the travelling-salesman problem, from a handful of cities to a hundred million.

    Try: warptsp solve places.csv --time-limit 10 --output tour.csv --picture tour.svg
    """


def run(arguments: list[str]) -> int:
    """Run the command line with these arguments and return the exit status."""
    try:
        return _run(arguments)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context is not None else ""
        return _complain(error.format_message() + hint)
    except click.Abort:
        return _complain("interrupted", 130)
    except ReaderGone:
        return 141
    except WarpTSPError as error:
        return _complain(str(error))
    except MemoryError as error:
        return _complain(f"not enough memory: {error}" if str(error) else "not enough memory")


def _run(arguments: list[str]) -> int:
    try:
        status = commands.main(arguments, prog_name="warptsp", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else str(error))
        return 2
    return status if isinstance(status, int) else 0


def _complain(message: str, status: int = 2) -> int:
    tell(f"warptsp: error: {' '.join(message.split())}")
    return status
