"""What several commands share: values of options, the city that a user means, JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warptsp.cli._completion import formats
from warptsp.errors import InvalidOption

if TYPE_CHECKING:
    from warptsp.problem import Problem

instance_argument = click.argument("instance", metavar="INSTANCE", type=click.Path(path_type=Path))
format_option = click.option(
    "--format",
    "format_",
    metavar="NAME",
    shell_complete=formats,
    help="Format of INSTANCE, if its name and content do not tell.",
)
asymmetric_option = click.option(
    "--asymmetric", is_flag=True, help="A matrix of distances may have others in the opposite direction."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Write the result as JSON to stdout.")


def examples(*lines: str) -> str:
    """Return the last paragraph of a command's help: lines to type, each with what it does behind a #."""
    return "\n".join(["\b", "Examples:" if len(lines) > 1 else "Example:", *(f"  {line}" for line in lines)])


class Seconds(click.ParamType):  # type: ignore[type-arg]
    """A time: ``10``, ``0.5``, ``90s``, ``5m`` or ``2h``."""

    name = "seconds"
    _unit = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}  # noqa: RUF012

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return seconds."""
        if isinstance(value, (int, float)):
            return float(value)
        match = re.fullmatch(r"\s*(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)\s*(ms|s|min|m|h|)\s*", value)
        if match is None:
            self.fail(f"{value!r} is not a time such as 10, 0.5, 90s, 5m or 2h", param, ctx)
        return float(match[1]) * self._unit[match[2]]


def parse_params(texts: tuple[str, ...]) -> dict[str, str]:
    """Turn ``NAME=VALUE`` texts into a dict.

    Raises
    ------
    InvalidOption
        For a text without ``=``, or a name given twice.
    """
    params: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise InvalidOption(f"--param {text!r}: write NAME=VALUE")
        if name.strip() in params:
            raise InvalidOption(f"--param: {name.strip()!r} is given twice")
        params[name.strip()] = value.strip()
    return params


def find_city(problem: Problem, text: str, option: str) -> int:
    """Return the city, numbered from 0, that a user names by its number in the file or by its name.

    Raises
    ------
    InvalidOption
        If there is no such city, or several of this name.
    """
    try:
        return problem.city(text)
    except InvalidOption as error:
        raise InvalidOption(f"{option} {error}") from None


def echo_json(values: Mapping[str, Any]) -> None:
    """Write one JSON object to stdout."""
    click.echo(json.dumps(values, indent=2, default=_plain))


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)
