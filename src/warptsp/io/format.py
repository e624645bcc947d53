"""What a format is: one object that knows how instances, tours or both stand in files."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from warptsp.errors import ParseError

from ._files import contents, named, reading, unpacked
from ._text import in_utf8, read_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from warptsp.problem import Problem
    from warptsp.problem.itinerary import Timing

    from .options import ReadOptions
    from .table.columns import Columns

Pieces = Iterable["bytes | memoryview"]
"""What stands in a file, piece by piece."""


class Source:
    """A file that is read."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        encoding: str | None = None,
        likely: str | None = None,
    ) -> None:
        self.path = named(path)  # - is standard input
        self.file = "<stdin>" if self.path == "-" else self.path  # its name in messages
        self.encoding = encoding  # where no byte order mark says it; None once it has been used
        self.written = "utf-8"  # the encoding that it has, once it has been read
        self._likely = likely  # of a text that is no UTF-8
        self._data: bytes | None = None

    @property
    def data(self) -> bytes:
        """The contents, unpacked and without a byte order mark; read once, when they are first asked for."""
        if self._data is None:
            self._data, _, marked = read_bytes(self.path)
            if marked is not None:
                self.encoding, self.written = None, marked
        return self._data

    @property
    def text(self) -> bytes:
        """The same in UTF-8, for formats that do not say their encoding themselves."""
        data = self.data
        encoding, self.encoding = self.encoding, None
        self._data, written = in_utf8(data, self.file, encoding, self._likely)
        if written != "utf-8":
            written = codecs.lookup(written).name
            self.written = "utf-16" if written.startswith("utf-16") else written
        return self._data

    @property
    def bytes(self) -> bytes:
        """The contents, unpacked if the name says that they are packed; read each time they are asked for."""
        with reading(self.path):
            found, name = contents(self.path)
        if not found:
            raise ParseError("is empty: a file with contents is needed", file=name)
        return unpacked(found, name) if self._is_packed else found

    @property
    def _is_packed(self) -> bool:
        return self.path.lower().endswith(".gz")

    @property
    def mappable(self) -> bool:
        """Whether it is a file that may be mapped into memory: not packed, and not read yet."""
        return self._data is None and not self._is_packed and self.path != "-" and os.path.isfile(self.path)


class Instance(NamedTuple):
    """An instance as it stands in a file; and what the columns of a table of places were taken for."""

    problem: Problem
    columns: Columns | None = None


class TourFile(NamedTuple):
    """A tour as it stands in a file."""

    cities: NDArray[np.integer[Any]]  # counted from 0
    open: bool | None = None  # whether the file says that it is an open path, if it does
    length: float | None = None  # how long the file says it is, if it does


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format: its names, how it is recognized, and the functions that read and write it.

    What it cannot do has no function. Readers raise `ParseError`, writers `InvalidOption` for an instance
    that the format cannot hold.
    """

    name: str  # for ``format=`` and ``--format``
    title: str = ""  # what people call it, if that is not the name
    # Endings of names, in lower case, that mean it: of instances, and of the tours that are written.
    endings: tuple[str, ...] = ()
    tour_endings: tuple[str, ...] = ()
    sniff: Callable[[bytes], bool] | None = None  # whether contents begin as this format does
    fallback: bool = False  # whether it takes what no other recognizes, unless its own `sniff` says no
    read: Callable[[Source, ReadOptions], Instance] | None = None  # the instance in a file
    write: Callable[[Problem], Pieces] | None = None  # what stands in the file of an instance
    # The same for a number of cities, of which a block of rows comes after the other.
    write_points: Callable[[int, Iterable[NDArray[np.float64]]], Pieces] | None = None
    # The tour in a file; that it takes each city once is checked later.
    read_tour: Callable[[Source, Problem], TourFile] | None = None
    # What stands in the file of a tour, which has been checked, and when it is where, if it says that.
    write_tour: Callable[[Problem, NDArray[np.int32], Timing], Pieces] | None = None
    # Whether it holds numbers and nothing that says what they are: the caller may name any metric, and its
    # ending alone tells it from others.
    bare: bool = False
    # Whether it is no text: it is read from `Source.bytes`, and its ending alone tells it from others.
    binary: bool = False
    has_columns: bool = False  # whether the caller may say which column holds what
    has_sheets: bool = False  # whether the caller may say which sheet is read
    on_maps: bool = False  # whether a tour is a line on a map: its cities have latitudes and longitudes
    # Raises, before a search, what keeps tours of an instance from a file, whose path is for the message.
    check_tour: Callable[[Problem, str], None] | None = None
    # Whether an instance's own table says that it is an open path, or a closed tour; None if it does not.
    read_order: Callable[[Source], bool | None] | None = None
    guarded: Callable[[str], str] | None = None  # a name as it stands where it is taken for no formula

    def recognizes(self, data: bytes) -> bool:
        """Whether contents are taken for this format's."""
        return self.fallback if self.sniff is None else self.sniff(data)
