"""JSON texts of which nobody knows who made them."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import isinf
from typing import Any, NoReturn

from warptsp.errors import InvalidProblem, ParseError

from ._files import of_file
from ._text import decode, quoted
from .format import Source

_LARGE = re.compile(rb"[eE]\+?[0-9]{3}|(?<![0-9])[0-9]{300}")  # what may be a number beyond all floats


def begins_as_json(data: bytes) -> bool:
    """Whether a text begins with an object or a list."""
    return data.lstrip()[:1] in (b"{", b"[")


@contextmanager
def document_in(source: Source) -> Iterator[Any]:
    """What a JSON text, or JSON Lines, says as `json` reads it; what is wrong with it is said of the file."""

    def refuse(constant: str) -> NoReturn:
        raise InvalidProblem(
            f'{constant} is not a JSON number: finite numbers are needed, in a matrix "inf" for a missing arc'
        )

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            again = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
            raise InvalidProblem(f"an object has the key {quoted(again)} twice: each once is needed")
        return found

    def finite(text: str) -> float:
        if isinf(number := float(text)):
            raise InvalidProblem(f"{quoted(text)} is too large for a floating-point number")
        return number

    def parsed(text: bytes) -> Any:
        checked = finite if _LARGE.search(text) else None  # a function is slow where numbers are many
        return json.loads(decode(text), parse_constant=refuse, parse_float=checked, object_pairs_hook=unique)

    def whole() -> Any:
        """The document, or the list of those in the lines of JSON Lines."""
        try:
            return parsed(source.text)
        except json.JSONDecodeError as error:
            if error.msg == "Extra data":
                with suppress(json.JSONDecodeError):
                    return [parsed(line) for line in source.text.splitlines() if line.strip()]
            raise

    with of_file(source.file):
        try:
            try:
                document = whole()
            except InvalidProblem:  # of the functions above, which the parser calls
                raise
            except json.JSONDecodeError as error:
                raise ParseError(f"is not JSON: {error.msg}", file=source.file, line=error.lineno) from None
            except ValueError:
                raise InvalidProblem("cannot be read as JSON: an integer has thousands of digits") from None
            yield document
        except RecursionError:
            raise InvalidProblem("is nested too deeply: a few brackets deep is enough") from None
