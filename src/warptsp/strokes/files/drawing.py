"""What a file of strokes holds, and how a format of such files reads it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warptsp.io._text import decode
from warptsp.strokes.model import Path
from warptsp.strokes.plan import Plan

_MOST = 12  # decimals of a sum that are exact in a double; with more a number is written with all it has


@dataclass(frozen=True, slots=True)
class Source:
    """The contents of a file, its name for messages, and what was asked for.

    `ungroup` says whether groups, layers and colours may be mixed, `inner_first` whether shapes may pass
    texts so that what lies in a loop comes before it.
    """

    data: bytes
    file: str
    ungroup: bool = False
    inner_first: bool = False

    @property
    def text(self) -> str:
        """UTF-8 if it is that, otherwise Latin-1, which every text is."""
        return decode(self.data)

    def encoded(self, text: str) -> bytes:
        """The bytes of a text in the encoding of the file."""
        try:
            self.data.decode("utf-8")
        except UnicodeDecodeError:
            return text.encode("latin-1")
        return text.encode("utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """The strokes of a file, and how the file is written in another order.

    Attributes
    ----------
    paths : list of ndarray
        The points of each stroke.
    reversible, loops : ndarray of bool, shape (n,)
        Which may be drawn backwards, and which, if closed, may be entered at another vertex.
    groups : sequence of int
        What stays together, in ascending order.
    rewrite : callable
        The contents of the file for a plan.
    home : ndarray or None
        Where the tool stands before the first stroke, if the file says so.
    y_up : bool
        Whether y grows upwards, as everywhere but in SVG.
    unit : str
        What coordinates are in, ``"mm"`` or ``"in"``; empty if the file does not say.
    outlines : list of ndarray, optional
        The strokes with more points than those where they may be entered, for what lies in them and for
        pictures.
    notes : tuple of str
        What keeps its place, and why.
    source, file, format : bytes, str, str
        The contents of the file, its name for messages, and the name of its format; `read_drawing` sets them.
    """

    paths: list[Path]
    reversible: NDArray[np.bool_]
    loops: NDArray[np.bool_]
    groups: Sequence[int]
    rewrite: Callable[[Plan], bytes]
    home: Path | None = None
    y_up: bool = True
    unit: str = ""
    outlines: list[Path] | None = None
    notes: tuple[str, ...] = ()
    source: bytes = b""
    file: str = ""
    format: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrokeFormat:
    """A format of files with strokes."""

    name: str  # for ``--format``
    title: str  # what people call it
    endings: tuple[str, ...]  # of names, in lower case
    read: Callable[[Source], Drawing]  # raises `ParseError`
    same: str  # what its verifier, `warptsp.strokes.verify.NAME`, finds to be the same
    ungroups: bool = False  # whether the groups of a file may be mixed: no tool has to be changed for that


def written(value: float, decimals: int) -> str:
    """A coordinate with so many digits behind the point, and none that say nothing.

    >>> written(0.1 + 0.2, 1), written(-0.0, 2), written(1.5e-30, 31)
    ('0.3', '0', '1.5e-30')
    """
    if not math.isfinite(value):
        raise ValueError(f"{value} is no coordinate")
    if decimals > _MOST:
        return repr(value)
    text = f"{value:.{max(decimals, 0)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text
