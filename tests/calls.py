"""The command line in this process, and what a log and a search tell."""

import logging
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import pytest
from click.testing import CliRunner, Result

from warptsp.cli import commands, run
from warptsp.progress import Progress

Found = TypeVar("Found")


def call(*arguments: object) -> int:
    """The exit status of a command."""
    return run(list(map(str, arguments)))


def invoke(*arguments: object) -> Result:
    """A command, with its output and what it has raised."""
    return CliRunner().invoke(commands, list(map(str, arguments)))


def warned(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The warnings, and worse, that have been logged."""
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def event(**given: Any) -> Progress:
    """What a search of three cities tells, with other values where they are given."""
    values = {
        "elapsed": 1.0, "length": 200, "kicks": 10, "improved": True, "phase": "search", "time_limit": None,
        "kick_limit": None, "known_length": None, "counters": {},
        "tour": lambda: np.arange(3, dtype=np.int32),
    }  # fmt: skip
    return Progress(**values | given)


def raising(error: BaseException) -> Callable[..., Any]:
    """What raises it, whatever it is called with."""

    def fail(*_arguments: object, **_options: object) -> None:
        raise error

    return fail


def given_time(
    attempt: Callable[[float], Found], came_far: Callable[[Found], bool], seconds: float = 0.1
) -> Found:
    """Attempt it within some seconds, and within more until it comes far enough: machines differ."""
    while not came_far(found := attempt(seconds)):
        assert seconds < 100, f"{seconds} s are not enough: {found}"
        seconds *= 4
    return found
