"""Commands made of functions: what a parameter is on the command line stands in its type."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from itertools import chain
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import click

Make = Callable[[str, Any], click.Parameter]
"""What `typing.Annotated` says of a parameter: makes it of its name and its type."""


def option(text: str, metavar: str | None = None, *flags: str, **settings: Any) -> Make:
    """An option with this help text, called as its parameter unless `flags` say otherwise.

    A tuple takes it several times, a bool makes it a flag.
    """

    def make(name: str, kind: Any) -> click.Option:
        called = flags or (f"--{name.strip('_').replace('_', '-')}",)
        several = {
            "is_flag": True if kind is bool else None,
            "multiple": get_origin(kind) is tuple,
            "type": _type(kind),
        }
        return click.Option([name, *called], metavar=metavar, help=text, **{**several, **settings})

    return make


def file_option(text: str, metavar: str = "FILE", *flags: str, **settings: Any) -> Make:
    """An option that takes the name of a file, with what is done with it."""
    return lambda name, kind: option(text, metavar, *flags, type=_path(kind), **settings)(name, kind)


def argument(metavar: str | None, **settings: Any) -> Make:
    """An argument, called as usage texts shall have it; a tuple takes any number of them."""

    def make(name: str, kind: Any) -> click.Argument:
        several = {"nargs": -1 if get_origin(kind) is tuple else 1, "type": _type(kind)}
        return click.Argument([name], metavar=metavar, **{**several, **settings})

    return make


def _path(kind: Any) -> click.Path:
    return click.Path(path_type=Path if Path in (kind, *get_args(kind)) else str)


def _type(kind: Any) -> Any:
    found = next((one for one in (Path, int, float) if one in (kind, *get_args(kind))), None)
    return _path(kind) if found is Path else found


def as_command(*lines: str) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command of a function, whose docstring is the help text, with `lines` as examples.

    A parameter whose type is a dataclass stands for the options that the fields of that are.
    """

    def make(function: Callable[..., Any]) -> click.Command:
        return click.Command(
            function.__module__.rpartition(".")[2],
            callback=lambda **given: function(**_collected(function, given)),
            params=sorted(_parameters(function), key=lambda made: isinstance(made, click.Option)),
            help=inspect.cleandoc(function.__doc__ or ""),
            epilog=examples(*lines),
        )

    return make


def examples(*lines: str) -> str:
    """The last paragraph of a command's help: lines to type, each with what it does behind a #."""
    return "\n".join(["\b", "Examples:" if len(lines) > 1 else "Example:", *(f"  {line}" for line in lines)])


def _parameters(kind: Any) -> Iterator[click.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    of_classes = (inspect.get_annotations(one) for one in getattr(kind, "__mro__", (kind,)))
    for name in dict.fromkeys(chain(*of_classes)):  # of a class its own come before those of its bases
        for make in getattr(hints[name], "__metadata__", ()):
            yield make(name, hints[name].__origin__)
        if is_dataclass(hints[name]):
            yield from _parameters(hints[name])


def _collected(kind: Any, given: dict[str, Any]) -> dict[str, Any]:
    """What a function, or a dataclass, takes of the values that were given."""
    found: dict[str, Any] = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if isinstance(hint, type) and is_dataclass(hint):
            found[name] = hint(**_collected(hint, given))
        elif name in given:
            found[name] = given[name]
    return found
