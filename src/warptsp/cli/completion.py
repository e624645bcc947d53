"""``warptsp completion``: commands, options and their values by the Tab key."""

from typing import Annotated

import click

from warptsp.cli._command import argument, as_command


@as_command(
    "warptsp completion bash > ~/.local/share/bash-completion/completions/warptsp",
    "warptsp completion zsh > ~/.zfunc/_warptsp   # a folder in fpath, before compinit in ~/.zshrc",
    "warptsp completion fish > ~/.config/fish/completions/warptsp.fish",
)
def command(shell: Annotated[str, argument(None, type=click.Choice(["bash", "zsh", "fish"]))]) -> None:
    """Write a script that lets SHELL complete commands, options, files, methods and devices.

    The script asks the program itself, so a new version of warptsp needs no new script.
    """
    from click.shell_completion import get_completion_class

    from warptsp.cli import commands

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(commands, {}, "warptsp", "_WARPTSP_COMPLETE").source())
