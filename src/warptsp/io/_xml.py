"""Text in XML files, and reading XML that nobody vouches for."""

import re
from collections.abc import Callable
from html import escape
from typing import NoReturn
from xml.parsers import expat

from warptsp.errors import ParseError

from ._text import quoted
from .format import Source

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def begins_as_xml(data: bytes) -> bool:
    """Whether a text begins with a tag."""
    return data.lstrip()[:1] == b"<"


def is_kml(data: bytes) -> bool:
    """Whether an XML text begins as KML, which may have a prefix; if not it is GPX, or neither."""
    return re.search(rb"<([\w.-]+:)?kml\b", data[:1000]) is not None


def xml_text(value: str) -> str:
    """A text as it stands between two tags; characters that XML cannot hold become question marks."""
    return escape(_NO_XML.sub("?", value), quote=False)


def parse(parser: expat.XMLParserType, data: bytes, fail: Callable[[str, int | None], NoReturn]) -> None:
    """Have a parser call its functions for a document; what is no XML fails with a message and a line."""
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        fail(f"is not XML: {expat.errors.messages[error.code]}", error.lineno)
    except ParseError:  # of the functions that the parser calls
        raise
    except (LookupError, ValueError) as error:  # an encoding that Python does not have
        fail(f"is not XML: {error}", None)


def read_elements(
    source: Source, end: Callable[[list[str], dict[str, str], str, int], None], root: str
) -> None:
    """Call a function at the end of each element of a document whose outermost one is a `root`.

    It is given the names of the elements around it and its own, without prefixes; its attributes; the text
    right in it; and its line. A document type is refused, and with it entities: no text grows by them, and
    nothing is fetched.
    """
    path: list[str] = []
    open_elements: list[tuple[dict[str, str], list[str], int]] = []
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def fail(message: str, line: int | None = None) -> NoReturn:
        raise ParseError(message, file=source.file, line=line or parser.CurrentLineNumber)

    def begin_element(name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2]
        if not path and local != root:
            fail(f"the document is {quoted(local)}: {root} is needed")
        path.append(local)
        open_elements.append((attributes, [], parser.CurrentLineNumber))

    def end_element(name: str) -> None:
        attributes, texts, line = open_elements.pop()
        end(path, attributes, "".join(texts).strip(), line)
        path.pop()

    def refuse(*declaration: object) -> None:
        fail(
            "has a document type (<!DOCTYPE>): it is refused, since it can expand to any size or fetch files"
        )

    parser.StartElementHandler = begin_element
    parser.EndElementHandler = end_element
    parser.CharacterDataHandler = lambda text: open_elements[-1][1].append(text)
    parser.StartDoctypeDeclHandler = refuse
    parse(parser, source.data, fail)
