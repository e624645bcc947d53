"""The formats of files with strokes: which one a file has, and the one place that reads and writes files."""

import gc
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import shown
from warptsp._words import as_called, listed
from warptsp.errors import InvalidOption, ParseError
from warptsp.io._files import contents, named, reading
from warptsp.strokes.files.drawing import Drawing, Source, StrokeFormat
from warptsp.strokes.joining import closed_by_several
from warptsp.strokes.model import LARGEST
from warptsp.strokes.plan import Plan
from warptsp.strokes.verify import NotVerified, Rules, verify
from warptsp.strokes.verify.work import inner_first

_log = logging.getLogger(__name__)

#: Modules beside this one, each with its `FORMAT`; a module is imported when a search gets there.
MODULES = ("svg", "hpgl", "gcode", "excellon", "dxf")


def formats() -> Iterator[StrokeFormat]:
    """Every format, one after the other."""
    for module in MODULES:
        yield import_module(f"{__package__}.{module}").FORMAT


def format_of(path: str | os.PathLike[str], name: str | None = None) -> StrokeFormat:
    """The format of a file: what `name` says, or else the ending of its name.

    Raises `InvalidOption` if there is no such format, or the ending means none.
    """
    if name is not None:
        found = next((format for format in formats() if format.name == name.lower()), None)
        if found is None:
            able = [format.name for format in formats()]
            raise InvalidOption(
                f"there is no format of strokes {shown(name)}: use one of {listed(able, name)}"
            )
        return found
    file = os.fspath(path)
    found = next((format for format in formats() if file.lower().endswith(format.endings)), None)
    if found is None and file == "-":
        names = ", ".join(format.name for format in formats())
        raise InvalidOption(f"standard input does not say what format it has: use one of {names}")
    if found is None:
        known = ", ".join(ending for format in formats() for ending in format.endings)
        raise InvalidOption(f"{file}: the name's ending means no format of strokes: use one of {known}")
    return found


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep Python from looking for cycles of objects meanwhile; as a decorator, during a call.

    A program of 100 000 lines becomes millions of objects without a cycle, and looking through all of them
    again and again took 30 % of the time. Who has switched the collector off already keeps it off.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@uncollected()
def read_drawing(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    ungroup: bool = False,
    inner_first: bool = False,
) -> Drawing:
    """The strokes in a file; ``-`` is standard input, for which `format` is needed.

    Parameters
    ----------
    path : path-like
    format : str, optional
        Otherwise the ending of the name says it.
    ungroup : bool
        Whether groups and colours of SVG, or layers and colours of DXF, may be mixed.
    inner_first : bool
        Whether what lies in a closed path is to come before it, so that in SVG shapes may pass texts.

    Raises
    ------
    ParseError
        The file is missing, or not what its format says, or has nothing that can be put in order.
    InvalidOption
        There is no such format.
    """
    kind = format_of(path, format)
    name = named(path)
    with reading(name):
        data, file = contents(name)
    mark = data[:3] if data.startswith(b"\xef\xbb\xbf") else b""  # of UTF-8, which is written again
    source = data
    data = data.removeprefix(mark)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ParseError("is UTF-16 text: save it as UTF-8", file=file, line=1)
    if ungroup and not kind.ungroups:
        raise InvalidOption(
            f"{as_called('ungroup', '--ungroup')}: {kind.title} keeps the order of its tools and pens; "
            "SVG and DXF have groups to mix"
        )
    drawing = kind.read(Source(data, file, ungroup, inner_first))
    for number, stroke in enumerate(drawing.paths):
        if not (np.abs(stroke) <= LARGEST).all():
            raise ParseError(f"stroke {number} goes out of all bounds: finite coordinates up to {LARGEST:g} "
                             "are needed", file=file)  # fmt: skip
    if not drawing.paths:
        raise ParseError(f"has no strokes: {kind.title} with lines, curves or holes is needed", file=file)
    inside = drawing.rewrite
    return replace(
        drawing, rewrite=lambda plan: mark + inside(plan), source=source, file=file, format=kind.name
    )


@uncollected()
def rewritten(drawing: Drawing, plan: Plan, rules: Rules | None = None) -> bytes:
    """The contents of a drawing's file in the order of a plan, verified to do the same work.

    `rules` are what was asked for, which the verifier checks. Raises NotVerified if the file would not do the
    same work.
    """
    contents = drawing.rewrite(plan)
    try:
        verify(drawing.format, drawing.source, contents, rules or Rules())
    except NotVerified as error:
        raise NotVerified(error.message, file=drawing.file, line=error.line) from None
    shapes, group = drawing.outlines or drawing.paths, drawing.groups
    several = closed_by_several(shapes, np.asarray(group))

    def is_too_late(order: NDArray[np.intp]) -> bool:
        """Whether something comes behind an outline around it, which the last of several strokes closes."""
        place = np.empty(len(order))
        place[order] = np.arange(len(order))
        drawn = list(zip(place.tolist(), shapes, group, strict=True))
        for outline in several:
            last = place[outline.strokes].max()
            drawn.append((last + 0.5, outline.path, group[outline.strokes[0]]))
        drawn.sort(key=lambda one: one[0])
        return inner_first([path for _, path, _ in drawn], [kind for _, _, kind in drawn]) is not None

    if is_too_late(plan.order) and not is_too_late(np.arange(len(plan.order))):
        option = as_called("inner_first=True", "--inner-first")
        _log.warning("%s: what lies in a closed outline comes behind it now, where the file had it first, as "
                     "cuts need it: %s keeps that", drawing.file, option)  # fmt: skip
    return contents
