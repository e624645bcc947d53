"""JSON texts of which nobody knows who made them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from warptsp.errors import InvalidProblem, ParseError

from ._text import decode

__all__ = ["begins_as_json", "document_of", "reading_json"]

_TOO_DEEP = "is nested too deeply: places lie a few brackets deep"


def begins_as_json(data: bytes) -> bool:
    """Whether a text begins with an object or a list."""
    return data.lstrip()[:1] in (b"{", b"[")


@contextmanager
def reading_json(file: str) -> Iterator[None]:
    """Name the file in what is wrong with its document.

    Raises
    ------
    ParseError
        In place of `InvalidProblem`, and of the `RecursionError` of a document that is nested too deeply.
    """
    try:
        yield
    except ParseError:
        raise
    except InvalidProblem as error:
        raise ParseError(str(error), file=file) from None
    except RecursionError:
        raise ParseError(_TOO_DEEP, file=file) from None


def document_of(data: bytes, file: str) -> Any:
    """What a JSON text says, as `json` reads it.

    Raises
    ------
    ParseError
        The text is no JSON.
    """

    def fail(message: str, line: int | None = None) -> NoReturn:
        raise ParseError(message, file=file, line=line)

    def refuse(constant: str) -> NoReturn:
        fail(f"{constant} is not a JSON number: finite numbers are needed")

    try:
        return json.loads(decode(data), parse_constant=refuse)
    except ParseError:  # of the function above, which the parser calls
        raise
    except json.JSONDecodeError as error:
        fail(f"is not JSON: {error.msg}", error.lineno)
    except RecursionError:
        fail(_TOO_DEEP)
    except ValueError:
        fail("cannot be read as JSON: an integer has thousands of digits")
