"""The command ``warptsp``: one module for each of its commands, imported when it is used."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from warptsp import interruption
from warptsp._checks import shown
from warptsp._version import __version__
from warptsp._words import called_from_shell, did_you_mean
from warptsp.cli.streams import tell, telling_warnings
from warptsp.errors import InvalidOption, WarpTSPError
from warptsp.outputs import ReaderGone

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = {
    "solve": "find a short tour",
    "solve-many": "find short tours of many instances",
    "watch": "find a short tour and watch it in the browser",
    "generate": "generate an instance: uniform, clustered, grid, DIMACS",
    "info": "show what is in an instance file",
    "check": "check a tour: cities, length, gap",
    "merge": "join tours into one that is no longer than any of them",
    "bound": "compute a lower bound on the length of any tour",
    "prove": "prove that a tour is optimal, or find one that is",
    "plot": "draw a tour, or two tours and their difference: SVG, PNG, PDF",
    "choose": "find a short tour through one place of each group",
    "insert": "insert places into a tour with the least detour, or remove some",
    "strokes": "put strokes, cuts or holes in an order with little travel",
    "report": "put tours into one HTML page",
    "methods": "list the methods, their parameters, and the papers that they are from",
    "devices": "show what this machine and this build can do",
    "completion": "write a shell completion script",
    "manual": "write the manual page",
}


class _LazyGroup(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        with called_from_shell(), telling_warnings():
            return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called; a file in its place is solved."""
        name = args[0]
        if name in COMMANDS:
            found, command, rest = super().resolve_command(ctx, args)
        elif _is_instance(name):
            found, command, rest = "solve", self.get_command(ctx, "solve"), args
        else:
            raise click.UsageError(_unknown(name), ctx)
        if command is not None and not ctx.resilient_parsing:
            _refuse_repeated_files(click.Context(command, parent=ctx, info_name=found), rest)
        return found, command, rest

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the arguments; options of a command that stand before it are shown their place."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            command = next((word for word in args if word in COMMANDS or _is_instance(word)), None)
            if command is None or error.possibilities:
                raise
            raise click.UsageError(
                f"No such option before the command: {error.option_name}. Options follow it: "
                f"warptsp {command} {error.option_name}",
                ctx,
            ) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"warptsp.cli.{cmd_name.replace('-', '_')}").command
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        from click.shell_completion import CompletionItem

        commands = [
            CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)
        ]
        files = [] if commands or incomplete.startswith("--") else [CompletionItem(incomplete, type="file")]
        return commands + click.Command.shell_complete(self, ctx, incomplete) + files

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # The short texts are here, so that --help imports no command.
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def names_file(option: click.Parameter) -> bool:
    """Whether this is an option that names a file or a folder, to be read or written."""
    metavar = getattr(option, "metavar", None) or ""
    named = isinstance(option.type, click.Path) or "FILE" in metavar or "FOLDER" in metavar
    return isinstance(option, click.Option) and named


def _refuse_repeated_files(ctx: click.Context, args: list[str]) -> None:
    """Refuse options of one file that are given several files: all but the last would be forgotten."""
    try:
        _, _, given = ctx.command.make_parser(ctx).parse_args(list(args))
    except click.UsageError:
        return  # which the command itself will raise
    for option in given:
        if names_file(option) and not getattr(option, "multiple", False) and given.count(option) > 1:
            name = max(option.opts, key=len)
            raise InvalidOption(f"{name}: given {given.count(option)} times, but it takes one file")


def _is_instance(name: str) -> bool:
    """Whether what stands in the place of a command is meant as a file, be it there or not."""
    return name == "-" or "." in name or os.sep in name or os.path.isfile(name)


def _unknown(name: str) -> str:
    return f"no such command or file: {shown(name)}{did_you_mean(name, COMMANDS)}"


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="warptsp")
def commands() -> None:
    """Short tours for the travelling-salesman problem, from a handful of cities to a billion.

    Try: warptsp solve places.csv --time-limit 10 --output tour.csv --picture tour.svg

    warptsp FILE is short for warptsp solve FILE.

    Besides the main solver there are the systems of five published papers and theses, which warptsp solve
    --document 000 to 004 runs: G. Ermiş (2015); A. R. Brodtkorb, T. R. Hagen, C. Schulz and G. Hasle (2013);
    M. A. O'Neil and M. Burtscher (2015); I. Mavroidis (2011); J. Fosin, D. Davidović and T. Carić (2013).
    """


def run(arguments: list[str]) -> int:
    """Run the command line with these arguments and return the exit status."""
    try:
        return _run(arguments)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context is not None else ""
        return _complain(error.format_message() + hint)
    except click.Abort as error:  # from any signal, and wherever in click it came
        return _complain("interrupted", interruption.status(interruption.number_of(error.__cause__)))
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
