"""Which format a file is to be written in."""

from __future__ import annotations

import os
from collections.abc import Mapping

from warptsp._checks import shown
from warptsp.errors import InvalidOption

__all__ = ["output_format"]


def output_format(
    path: str | os.PathLike[str], format: str | None, formats: Mapping[str, tuple[str, ...]], what: str
) -> str:
    """The format of `formats` by its name, or else by the ending of `path`; `what` it is for, in messages.

    Raises
    ------
    InvalidOption
        There is no such format, or the ending means none.
    """
    if format is not None:
        if format.lower() not in formats:
            names = ", ".join(formats)
            raise InvalidOption(f"there is no {what} format {shown(format)} to write: use one of {names}")
        return format.lower()
    name = os.fspath(path).lower()
    for found, endings in formats.items():
        if name.endswith(endings):
            return found
    known = ", ".join(ending for endings in formats.values() for ending in endings)
    raise InvalidOption(f"{os.fspath(path)}: the name's ending means no {what} format: use one of {known}")
