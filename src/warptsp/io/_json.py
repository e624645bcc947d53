"""JSON texts of which nobody knows who made them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from warptsp.errors import InvalidProblem, ParseError

from ._files import of_file
from ._text import decode
from .format import Source


def begins_as_json(data: bytes) -> bool:
    """Whether a text begins with an object or a list."""
    return data.lstrip()[:1] in (b"{", b"[")


@contextmanager
def document_in(source: Source) -> Iterator[Any]:
    """What a JSON text says, as `json` reads it; the file is named in what is wrong with that."""

    def refuse(constant: str) -> NoReturn:
        raise InvalidProblem(f"{constant} is not a JSON number: finite numbers are needed")

    with of_file(source.file):
        try:
            try:
                document = json.loads(decode(source.text), parse_constant=refuse)
            except InvalidProblem:  # of the function above, which the parser calls
                raise
            except json.JSONDecodeError as error:
                raise ParseError(f"is not JSON: {error.msg}", file=source.file, line=error.lineno) from None
            except ValueError:
                raise InvalidProblem("cannot be read as JSON: an integer has thousands of digits") from None
            yield document
        except RecursionError:
            raise InvalidProblem("is nested too deeply: a few brackets deep is enough") from None
