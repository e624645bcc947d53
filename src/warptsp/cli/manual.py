"""``warptsp manual``: the manual page, made from the help texts, so that it is never older than they are."""

import re
from collections.abc import Iterator

import click

from warptsp.cli._command import as_command


@as_command(
    "warptsp manual | man -l -   # read it",
    "warptsp manual > ~/.local/share/man/man1/warptsp.1   # from then on: man warptsp",
)
def command() -> None:
    """Write the manual page of all commands to stdout, as troff source for man."""
    click.echo("\n".join(page()))


def page() -> Iterator[str]:
    """Yield the lines of the page, in troff with the macros of man(7)."""
    from warptsp._version import __version__
    from warptsp.cli import COMMANDS, commands

    context = click.Context(commands, info_name="warptsp", **commands.context_settings)
    yield f'.TH WARPTSP 1 "" "warptsp {__version__}" "User Commands"'
    yield from (".SH NAME", "warptsp \\- short tours for the travelling\\-salesman problem")
    yield from (".SH SYNOPSIS", r".B warptsp", _text("COMMAND [OPTIONS] [ARGUMENTS]"))
    yield from (".SH DESCRIPTION", *_paragraphs(commands.help or ""))
    for name, summary in COMMANDS.items():
        yield from (".TP", rf".B {_text(name)}", _text(summary))
    for name in COMMANDS:
        found = commands.get_command(context, name)
        assert found is not None
        yield from _command(found, click.Context(found, info_name=name, parent=context))
    yield from (".SH EXIT STATUS",)
    for status, meaning in (
        ("0", "Done."),
        ("2", "Bad input: one line on stderr says what, where, and what would be right."),
        (
            "130, 143, 129, 131, 152",
            "Ended by Ctrl-C, SIGTERM, SIGHUP, SIGQUIT or SIGXCPU; solve has written the best tour so far.",
        ),
        ("141", "The reader of standard output has gone; files are written."),
    ):
        yield from (".TP", rf".B {status}", _text(meaning))


def _command(found: click.Command, context: click.Context) -> Iterator[str]:
    yield f".SH COMMAND {_text(context.info_name or '').upper()}"
    yield from (
        rf".B {_text(context.command_path)}",
        _text(" ".join(found.collect_usage_pieces(context))),
        ".PP",
    )
    yield from _paragraphs(found.help or "")
    for parameter in found.get_params(context):
        record = parameter.get_help_record(context)
        if isinstance(parameter, click.Option) and record is not None:  # arguments are told in the text
            yield from (".TP", rf".B {_text(record[0])}", _text(record[1]))
    if found.epilog:
        yield from (".PP", *_paragraphs(found.epilog))


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a help text; one that begins with backspace keeps its lines, as in click."""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip())):
        if number:
            yield ".PP"
        if paragraph.startswith("\b\n"):
            yield from (".nf", *map(_text, paragraph.splitlines()[1:]), ".fi")
        else:
            yield _text(" ".join(paragraph.split()))


def _text(text: str) -> str:
    """Return a line as troff prints it unchanged."""
    escaped = text.rstrip().replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq")
    escaped = "".join(sign if sign.isascii() else rf"\[u{ord(sign):04X}]" for sign in escaped)
    return rf"\&{escaped}" if escaped.startswith(".") else escaped
