"""SVG: shapes change their places among their siblings; all else stays byte for byte.

The document is not written anew: the text of an element moves as it is, and only one that is turned around,
or entered elsewhere, gets other path data. Groups, transforms, styles, comments and layers survive. What
would not look the same then (markers, dashes), or is what something else refers to, moves as it is only.
A group keeps its place, and so do runs of one colour, unless they may be mixed: then a group becomes one
around each of its shapes.
"""

import re
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

import numpy as np

from warptsp.strokes.files._curves import Subpath
from warptsp.strokes.files._elements import Element, Reader
from warptsp.strokes.files._page import Matrix
from warptsp.strokes.files._shapes import GEOMETRY, rewritten
from warptsp.strokes.files.drawing import Drawing, Source, StrokeFormat
from warptsp.strokes.model import Path
from warptsp.strokes.plan import Plan

_ID = re.compile(rb"""\sid\s*=\s*("[^"]*"|'[^']*')""")


@dataclass(frozen=True, slots=True)
class _Stroke:
    element: int
    subpaths: tuple[Subpath, ...]
    part: int = 0  # of an element whose subpaths become elements: which one

    @property
    def closed(self) -> bool:
        """Whether it is one loop, which may be entered elsewhere."""
        return len(self.subpaths) == 1 and self.subpaths[0].closed


def _read(source: Source) -> Drawing:
    reader = Reader(source)
    elements = reader.elements()
    strokes: list[_Stroke] = []
    for number, element in enumerate(elements):
        if element.split:
            strokes += [_Stroke(number, (subpath,), part) for part, subpath in enumerate(element.subpaths)]
        else:
            strokes.append(_Stroke(number, tuple(element.subpaths)))
    vertices = [[v for subpath in stroke.subpaths for v in subpath.vertices] for stroke in strokes]
    outlines = [[v for subpath in stroke.subpaths for v in subpath.outline] for stroke in strokes]
    free = np.array([not elements[stroke.element].fixed for stroke in strokes], dtype=np.bool_)
    closed = np.array([stroke.closed for stroke in strokes], dtype=np.bool_)
    return Drawing(
        paths=[_placed(v, s, elements[s.element].matrix) for v, s in zip(vertices, strokes, strict=True)],
        outlines=[_placed(o, s, elements[s.element].matrix) for o, s in zip(outlines, strokes, strict=True)],
        reversible=free & ~closed,
        loops=free & closed,
        groups=[elements[stroke.element].run for stroke in strokes],
        rewrite=lambda plan: _rewritten(reader, strokes, plan),
        y_up=False,
        unit=reader.unit,
    )


def _placed(points: list[complex], stroke: _Stroke, matrix: Matrix) -> Path:
    """Points of a stroke in the drawing; of several subpaths the first and the last count."""
    flat = np.array(points)
    a, b, c, d, e, f = matrix
    x, y = flat.real, flat.imag
    with np.errstate(over="ignore", invalid="ignore"):  # what is out of bounds is refused with its number
        placed = np.stack([a * x + c * y + e, b * x + d * y + f], axis=1)
    if stroke.closed:
        placed[-1] = placed[0]
    return placed


def _rewritten(reader: Reader, strokes: list[_Stroke], plan: Plan) -> bytes:
    """The document with the shapes of each run in their new order, in the places of the old ones."""
    data, elements = reader.source.data, reader.found
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    runs: dict[int, list[bytes]] = {}
    for number in plan.order.tolist():
        stroke = strokes[number]
        element = elements[stroke.element]
        runs.setdefault(element.run, []).append(_drawn(reader, element, stroke, plan, number))
    places: dict[int, list[Element]] = {}
    for element in elements:
        places.setdefault(element.run, []).append(element)
    filled: dict[int, bytes] = {}
    for run, texts in runs.items():
        slots = places[run]
        texts = [*texts[: len(slots) - 1], newline.join(texts[len(slots) - 1 :])]
        for slot, text in zip(slots, texts, strict=True):
            filled[slot.slot[0]] = text
    pieces, at = [], 0
    for begin, end in sorted([*(element.slot for element in elements), *reader.tags]):
        pieces += [data[at:begin], filled.get(begin, b"")]
        at = end
    return b"".join([*pieces, data[at:]])


def _drawn(reader: Reader, element: Element, stroke: _Stroke, plan: Plan, number: int) -> bytes:
    """The text of what changes places: as it is, or with other path data in it."""
    begin, end = element.slot
    data = reader.source.data
    shape = _shape(reader, element, stroke, bool(plan.backwards[number]), int(plan.entry[number]))
    text = data[begin : element.begin] + shape + data[element.end : end]
    for start, stop, keeps_id in reversed(element.around):
        tag = data[start:stop] if keeps_id and stroke.part == 0 else _ID.sub(b"", data[start:stop])
        name = re.split(rb"[\s/>]", tag[1:], maxsplit=1)[0]
        text = tag + text + b"</" + name + b">"
    return text


def _shape(reader: Reader, element: Element, stroke: _Stroke, backwards: bool, entry: int) -> bytes:
    """The text of a shape."""
    data = reader.source.data
    alone = not element.split or len(element.subpaths) == 1
    if alone and not backwards and entry == 0:
        return data[element.begin : element.end]
    prefix, colon, local = element.name.rpartition(":")
    shape, geometry = rewritten(local, element.attributes, list(stroke.subpaths), backwards, entry)
    name, first = f"{prefix}{colon}{shape}", stroke.part == 0
    kept = {
        key: value
        for key, value in element.attributes.items()
        if key not in GEOMETRY[local] and (first or key != "id")
    }
    tag = f"<{name}" + "".join(f" {key}={quoteattr(value)}" for key, value in {**kept, **geometry}.items())
    # What the encoding of the document lacks was a reference there, too.
    encoded = tag.encode(reader.encoding, errors="xmlcharrefreplace")
    rest = data[element.tag_end : element.end]
    if not rest:
        return encoded + b"/>"
    inside = rest[: rest.rfind(b"</")] if first else b""
    return encoded + b">" + inside + f"</{name}>".encode(reader.encoding)


FORMAT = StrokeFormat(
    name="svg", title="an SVG drawing", endings=(".svg",), read=_read,
    same="same strokes in the same groups", ungroups=True,
)  # fmt: skip
