"""SVG: shapes change their places among their siblings; all else stays byte for byte.

The document is not written anew: the text of an element moves as it is, and only one that is turned around,
or entered elsewhere, gets other path data. Groups, transforms, styles, comments and layers survive. What
would not look the same then (markers, dashes), or is what something else refers to, moves as it is only.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np

from warptsp.errors import ParseError
from warptsp.strokes.model import Path
from warptsp.strokes.plan import Plan

from ._curves import Subpath, parse_path, path_text
from .drawing import Drawing, Source, StrokeFormat

__all__ = ["FORMAT"]

_GEOMETRY = {
    "path": ("d",),
    "line": ("x1", "y1", "x2", "y2"),
    "polyline": ("points",),
    "polygon": ("points",),
    "rect": ("x", "y", "width", "height", "rx", "ry"),
    "circle": ("cx", "cy", "r"),
    "ellipse": ("cx", "cy", "rx", "ry"),
}
# What is in these is not drawn where it stands.
_CONTAINERS = ("g", "svg", "a", "use", "text", "image")  # what comes behind them is drawn behind them
_ANIMATIONS = ("animate", "animateColor", "animateMotion", "animateTransform", "set")
_ELSEWHERE = ("defs", "clipPath", "mask", "pattern", "symbol", "marker", "metadata", "switch", "namedview")
_LENGTH = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(px|mm|cm|in|pt|pc|q)?\s*", re.I)
_PERCENT = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+))%\s*")
_RATIO = re.compile(r"\s*(?:(none)|x(Min|Mid|Max)Y(Min|Mid|Max))(?:\s+(meet|slice))?\s*")
_MM = {"mm": 1.0, "cm": 10.0, "in": 25.4, "pt": 25.4 / 72, "pc": 25.4 / 6, "q": 0.25}
_PIXEL = 25.4 / 96  # mm, as CSS defines it
_TRANSFORM = re.compile(r"\s*,?\s*(matrix|translate|scale|rotate|skewX|skewY)\s*\(([^)]*)\)")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_NAMED = re.compile(r"#([^\s{}()#.,:;>+~\[\]'\"]+)")  # in a style sheet: an element by its id, or a colour
_DECLARATION = re.compile(r"(?:^|;)\s*([\w-]+)\s*:\s*([^;]*)")
_MARKERS = ("marker", "marker-start", "marker-mid", "marker-end")
_DASHES = "stroke-dasharray"
_INHERITED = ("fill", *_MARKERS, _DASHES)

Matrix = tuple[float, float, float, float, float, float]
_IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(slots=True)
class _Element:
    """A shape: where its text is, what it draws, and how that lies in the drawing.

    `slot` is what changes places: the shape, or the groups that hold nothing but it.
    """

    name: str  # with its prefix
    slot: tuple[int, int]
    begin: int
    tag_end: int  # of its first tag, behind the >
    end: int
    attributes: dict[str, str]
    subpaths: list[Subpath]
    matrix: Matrix
    run: int
    names: frozenset[str]  # the ids of it and of what it is in
    split: bool  # whether its subpaths may become elements of their own
    marked: bool = False  # whether it has markers or is animated, so that what is written is what shows
    fixed: bool = False  # whether it may neither be turned around nor be entered elsewhere


@dataclass(slots=True)
class _Open:
    """An element that is open while the document is read."""

    local: str
    matrix: Matrix
    size: tuple[float, float]  # of the page that it is on, in its own units; 0 where nobody says
    style: dict[str, str]  # what is inherited
    names: frozenset[str]
    hidden: bool
    run: int
    begin: int = 0
    shape: _Element | None = None
    shapes: list[_Element] = field(default_factory=list)  # in it, at any depth
    pinned: bool = False  # whether it is, or holds, what has a place of its own


@dataclass(frozen=True, slots=True)
class _Stroke:
    element: int
    subpaths: tuple[Subpath, ...]
    part: int = 0  # of an element whose subpaths become elements: which one


def _read(source: Source) -> Drawing:
    reader = _Reader(source)
    elements = reader.elements()
    strokes: list[_Stroke] = []
    for number, element in enumerate(elements):
        if element.split:
            parts = [s if element.fixed else s.in_pieces() for s in element.subpaths]
            strokes += [_Stroke(number, (subpath,), part) for part, subpath in enumerate(parts)]
        else:
            strokes.append(_Stroke(number, tuple(element.subpaths)))
    paths = [_points(stroke, elements[stroke.element].matrix) for stroke in strokes]
    free = np.array([not elements[stroke.element].fixed for stroke in strokes], dtype=np.bool_)
    single = np.array([len(stroke.subpaths) == 1 for stroke in strokes], dtype=np.bool_)
    return Drawing(
        paths=paths,
        reversible=free,
        loops=single & free,
        groups=[elements[stroke.element].run for stroke in strokes],
        rewrite=lambda plan: _rewritten(reader, strokes, plan),
        y_up=False,
        unit=reader.unit,
    )


def _points(stroke: _Stroke, matrix: Matrix) -> Path:
    """The vertices of a stroke in the drawing; of several subpaths the first and the last count."""
    vertices = np.array([vertex for subpath in stroke.subpaths for vertex in subpath.vertices])
    a, b, c, d, e, f = matrix
    x, y = vertices.real, vertices.imag
    with np.errstate(over="ignore", invalid="ignore"):  # what is out of bounds is refused with its number
        points = np.stack([a * x + c * y + e, b * x + d * y + f], axis=1)
    if len(stroke.subpaths) == 1 and stroke.subpaths[0].closed:
        points[-1] = points[0]
    return points


def _rewritten(reader: _Reader, strokes: list[_Stroke], plan: Plan) -> bytes:
    """The document with the shapes of each run in their new order, in the places of the old ones."""
    data, elements = reader.source.data, reader.found
    runs: dict[int, list[bytes]] = {}
    for number in plan.order.tolist():
        stroke = strokes[number]
        element = elements[stroke.element]
        runs.setdefault(element.run, []).append(_drawn(reader, element, stroke, plan, number))
    places: dict[int, list[_Element]] = {}
    for element in elements:
        places.setdefault(element.run, []).append(element)
    filled: dict[int, bytes] = {}
    for run, texts in runs.items():
        slots = places[run]
        texts = [*texts[: len(slots) - 1], b"\n".join(texts[len(slots) - 1 :])]
        for slot, text in zip(slots, texts, strict=True):
            filled[slot.slot[0]] = text
    pieces, at = [], 0
    for begin, end in sorted(element.slot for element in elements):
        pieces += [data[at:begin], filled[begin]]
        at = end
    return b"".join([*pieces, data[at:]])


def _drawn(reader: _Reader, element: _Element, stroke: _Stroke, plan: Plan, number: int) -> bytes:
    """The text of what changes places: as it is, or with other path data in it."""
    begin, end = element.slot
    data = reader.source.data
    shape = _shape(reader, element, stroke, bool(plan.backwards[number]), int(plan.entry[number]))
    return data[begin : element.begin] + shape + data[element.end : end]


def _shape(reader: _Reader, element: _Element, stroke: _Stroke, backwards: bool, entry: int) -> bytes:
    """The text of a shape."""
    data = reader.source.data
    alone = not element.split or len(element.subpaths) == 1
    if alone and not backwards and entry == 0:
        return data[element.begin : element.end]
    prefix, colon, local = element.name.rpartition(":")
    if local in ("line", "polyline", "polygon"):
        name, geometry = element.name, _turned(local, element.attributes, backwards, entry)
    else:
        subpaths = list(stroke.subpaths)
        if entry:
            subpaths = [subpaths[0].entered_at(entry)]
        if backwards:
            subpaths = [subpath.turned() for subpath in reversed(subpaths)]
        name, geometry = f"{prefix}{colon}path", {"d": path_text(subpaths)}
    first = stroke.part == 0
    kept = {
        key: value
        for key, value in element.attributes.items()
        if key not in _GEOMETRY[local] and (first or key != "id")
    }
    tag = f"<{name}" + "".join(f" {key}={quoteattr(value)}" for key, value in {**kept, **geometry}.items())
    # What the encoding of the document lacks was a reference there, too.
    encoded = tag.encode(reader.encoding, errors="xmlcharrefreplace")
    rest = data[element.tag_end : element.end]
    if not rest:
        return encoded + b"/>"
    inside = rest[: rest.rfind(b"</")] if first else b""
    return encoded + b">" + inside + f"</{name}>".encode(reader.encoding)


def _turned(local: str, attributes: dict[str, str], backwards: bool, entry: int) -> dict[str, str]:
    """The geometry of a line, a polyline or a polygon from its other end or another vertex, as written."""
    if local == "line":
        pairs = (("x1", "x2"), ("y1", "y2"), ("x2", "x1"), ("y2", "y1"))
        return {new: attributes[old] for new, old in pairs if old in attributes}
    numbers = _NUMBER.findall(attributes["points"])
    points = list(zip(numbers[::2], numbers[1::2], strict=True))
    if entry and local == "polygon":
        points = points[entry:] + points[:entry]
    elif entry:  # a polyline that ends where it begins
        points = points[entry:-1] + points[: entry + 1]
    return {"points": " ".join(f"{x},{y}" for x, y in (points[::-1] if backwards else points))}


class _Reader:
    """Goes through the document once, and notes each shape with its place in the text."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.parser = expat.ParserCreate()
        self.stack: list[_Open] = []
        self.found: list[_Element] = []
        self.runs = 0
        self.unit = ""
        self.encoding = "utf-8"
        self.sheet = ""  # all style sheets
        self.referenced: set[str] = set()  # the ids that links mean

    def elements(self) -> list[_Element]:
        """The shapes that are drawn, in the order of the document."""
        parser = self.parser
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._doctype
        parser.XmlDeclHandler = self._declared
        parser.CharacterDataHandler = self._text
        parser.ProcessingInstructionHandler = self._instruction
        try:
            parser.Parse(self.source.data, True)
        except expat.ExpatError as error:
            self._fail(f"is not XML: {expat.errors.messages[error.code]}", error.lineno)
        except (LookupError, ValueError) as error:  # an encoding that Python does not have
            if isinstance(error, ParseError):
                raise
            self._fail(f"is not XML: {error}")
        self._settle()
        return self.found

    def _settle(self) -> None:
        """Say which shapes only move: that may depend on what stands behind them."""
        sheet = self.sheet
        imported = "@import" in sheet  # and may say anything
        fills = imported or "fill" in sheet
        directs = imported or "marker" in sheet or "dasharray" in sheet
        referenced = self.referenced | set(_NAMED.findall(sheet))
        for shape in self.found:
            whole = shape.marked or imported or "marker" in sheet or bool(shape.names & referenced)
            if whole or (fills and len(shape.subpaths) > 1):
                shape.split = False
            # Style sheets choose elements by their names, so none gets another one.
            renamed = shape.name.rpartition(":")[2] in ("rect", "circle", "ellipse")
            shape.fixed |= whole or directs or (renamed and bool(sheet.strip()))

    def _fail(self, message: str, line: int | None = None) -> NoReturn:
        line = line or self.parser.CurrentLineNumber
        raise ParseError(message, file=self.source.file, line=line) from None

    def _doctype(self, name: str, system: str | None, public: str | None, internal: int) -> None:
        # Many programs write the document type of SVG 1.1, which is never fetched here; entities are another
        # matter, since they can expand to any size.
        if internal:
            self._fail("has a document type with declarations of its own: they are refused, since they can "
                       "expand to any size")  # fmt: skip

    def _declared(self, version: str, encoding: str | None, standalone: int) -> None:
        self.encoding = encoding or "utf-8"
        if self.encoding.lower().startswith("utf-16"):  # without a byte order mark
            self._fail("is UTF-16 text: save it as UTF-8")

    def _text(self, text: str) -> None:
        if self.stack and self.stack[-1].local == "style":
            self.sheet += text

    def _instruction(self, target: str, data: str) -> None:
        if target == "xml-stylesheet":
            self.sheet += "@import"

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2]
        if not self.stack:
            if local != "svg":
                self._fail(f"the document is {local[:40]!r}: svg is needed")
            try:
                page, size, self.unit = _page(attributes)
            except ValueError as error:
                self._fail(f"svg {error}")
            style = _inherited({"fill": "black"}, _look(attributes))
            self.stack.append(_Open(local, page, size, style, _names(attributes), False, run=self._new_run()))
            return
        if len(self.stack) > 200:
            self._fail("has elements within elements more than 200 deep")
        above = self.stack[-1]
        try:
            matrix = _product(above.matrix, _matrix(attributes.get("transform", "")))
        except ValueError as error:
            self._fail(f"{local} has a transform that {error}")
        look = _look(attributes)
        hidden = above.hidden or local in _ELSEWHERE or look.get("display", "").strip() == "none"
        size = above.size
        if local == "svg" and not hidden:
            try:
                inner, size = _inner_page(attributes, size)
            except ValueError as error:
                self._fail(f"svg {error}")
            matrix = _product(matrix, inner)
        style = _inherited(above.style, look)
        names = above.names | _names(attributes) if "id" in attributes else above.names
        for key, value in attributes.items():
            if key.rpartition(":")[2] == "href" and value.strip().startswith("#"):
                self.referenced.add(value.strip()[1:])
        if local in _ANIMATIONS and above.shape is not None:
            above.shape.marked = True
        at = self.parser.CurrentByteIndex
        opened = _Open(local, matrix, size, style, names, hidden, run=self._new_run(), begin=at)
        opened.pinned = (local in _CONTAINERS and local != "g") or _is_layer(attributes)
        self.stack.append(opened)
        if local not in _GEOMETRY or hidden:
            return
        if any(_PERCENT.fullmatch(attributes.get(key, "")) for key in _GEOMETRY[local]):
            opened.pinned = True  # as a rule the background of the page: it stays where it is
            return
        try:
            subpaths = _subpaths(local, attributes)
        except ValueError as error:
            self._fail(f"{local} {error}")
        if subpaths:
            opened.shape = _Element(
                name, (at, -1), at, _tag_end(self.source.data, at), -1, dict(attributes), subpaths, matrix,
                above.run, names, style["fill"] == "none" or len(subpaths) == 1,
                marked=any(style.get(key, "none") != "none" for key in _MARKERS),
                fixed=style.get(_DASHES, "none") != "none",
            )  # fmt: skip
            self.found.append(opened.shape)

    def _end(self, name: str) -> None:
        closed = self.stack.pop()
        shape = closed.shape
        end = _tag_end(self.source.data, self.parser.CurrentByteIndex)
        if shape is not None:
            alone = self.source.data[shape.tag_end - 2 : shape.tag_end] == b"/>"
            shape.end = shape.tag_end if alone else end
            shape.slot = shape.begin, shape.end
            closed.shapes.append(shape)
        if not self.stack:
            return
        above = self.stack[-1]
        if closed.local == "g" and not closed.pinned and len(closed.shapes) == 1:
            only = closed.shapes[0]
            if len(only.subpaths) == 1 or not only.split:  # it changes places as its shape would
                only.slot, only.run = (closed.begin, end), above.run
                above.shapes.append(only)
                return
        above.shapes += closed.shapes
        above.pinned |= closed.pinned
        if closed.local in _CONTAINERS or closed.pinned:
            above.run = self._new_run()

    def _new_run(self) -> int:
        self.runs += 1
        return self.runs - 1


def _tag_end(data: bytes, begin: int) -> int:
    """The place behind the > of a tag; one in the value of an attribute is none."""
    quote = 0
    for place in range(begin, len(data)):
        byte = data[place]
        if quote:
            if byte == quote:
                quote = 0
        elif byte in b"'\"":
            quote = byte
        elif byte == 0x3E:
            return place + 1
    return len(data)


def _is_layer(attributes: dict[str, str]) -> bool:
    """Whether a group is a layer of Inkscape or vpype: layers keep their order."""
    return any(name.rpartition(":")[2] == "groupmode" for name in attributes)


def _names(attributes: dict[str, str]) -> frozenset[str]:
    return frozenset([attributes["id"]] if "id" in attributes else [])


def _view_box(attributes: dict[str, str]) -> list[float]:
    """Left, top, width and height; empty if there is none."""
    box = [float(number) for number in _NUMBER.findall(attributes.get("viewBox", ""))]
    return box if len(box) == 4 and min(box[2:]) > 0 else []


def _page(attributes: dict[str, str]) -> tuple[Matrix, tuple[float, float], str]:
    """From user units to what is measured: mm where the document has a size on paper, or else its own.

    And the size of the page in user units.
    """
    box = _view_box(attributes)
    scales, size, unit = [], [], ""
    for name, side in zip(("width", "height"), box[2:] or (0.0, 0.0), strict=True):
        found = _LENGTH.fullmatch(attributes.get(name, ""))
        if found is None or float(found[1]) <= 0:
            size.append(side)
            continue
        kind = (found[2] or "px").lower()
        length = float(found[1]) * _MM.get(kind, 1.0)  # in mm or in pixels
        size.append(side or (length if kind == "px" else length / _PIXEL))
        if kind != "px":
            unit = "mm"
            scales.append(length / side if side else _PIXEL)
    scale = min(scales, default=1.0)
    left, top = box[:2] or (0.0, 0.0)
    return (scale, 0.0, 0.0, scale, -scale * left, -scale * top), (size[0], size[1]), unit


def _inner_page(attributes: dict[str, str], size: tuple[float, float]) -> tuple[Matrix, tuple[float, float]]:
    """Where an svg within another one lies (SVG 1.1, chapter 7.9), and its own size."""

    def length(name: str, whole: float, default: str) -> float:
        share = _PERCENT.fullmatch(attributes.get(name, default))
        return float(share[1]) / 100 * whole if share else _length(attributes, name)

    x, y = length("x", size[0], "0"), length("y", size[1], "0")
    width, height = length("width", size[0], "100%"), length("height", size[1], "100%")
    box = _view_box(attributes)
    if not box:
        return (1.0, 0.0, 0.0, 1.0, x, y), (width, height)
    # Where the outer page has no size, nobody knows how large the inner one is: its units are the outer ones.
    across, down = (width / box[2] or 1.0), (height / box[3] or 1.0)
    ratio = _RATIO.fullmatch(attributes.get("preserveAspectRatio", ""))
    if ratio is None or not ratio[1]:
        across = down = (max if ratio and ratio[4] == "slice" else min)(across, down)
    shares = {"Min": 0.0, "Mid": 0.5, "Max": 1.0}
    x_share, y_share = (shares[(ratio and ratio[place]) or "Mid"] for place in (2, 3))
    x += (width - across * box[2]) * x_share if width else 0.0
    y += (height - down * box[3]) * y_share if height else 0.0
    return (across, 0.0, 0.0, down, x - across * box[0], y - down * box[1]), (box[2], box[3])


def _look(attributes: dict[str, str]) -> dict[str, str]:
    """What an element says of its look: its style, or else its attributes."""
    style = attributes.get("style")
    return {**attributes, **dict(_DECLARATION.findall(style))} if style else attributes


def _inherited(above: dict[str, str], look: dict[str, str]) -> dict[str, str]:
    """The properties that what is in an element takes over from it."""
    own = {name: look[name].strip() for name in _INHERITED if name in look}
    own = {name: value for name, value in own.items() if value not in ("", "inherit")}
    return {**above, **own} if own else above


def _length(attributes: dict[str, str], name: str) -> float:
    found = _LENGTH.fullmatch(attributes.get(name, "0"))
    if found is None:
        raise ValueError(f"has {name}={attributes[name][:40]!r}: a number of user units, mm, cm, in, pt, "
                         "pc or q is needed")  # fmt: skip
    size = (found[2] or "px").lower()
    return float(found[1]) * (1.0 if size == "px" else _MM[size] / _PIXEL)


def _subpaths(local: str, attributes: dict[str, str]) -> list[Subpath]:
    """What a shape draws, as SVG 1.1 defines it by path data (chapter 9)."""
    if local == "path":
        return parse_path(attributes.get("d", ""))

    def length(name: str) -> float:
        return _length(attributes, name)

    def text(*values: float | str) -> str:
        return " ".join(v if isinstance(v, str) else repr(v) for v in values)

    if local == "line":
        return parse_path(text("M", length("x1"), length("y1"), "L", length("x2"), length("y2")))
    if local in ("polyline", "polygon"):
        points = attributes.get("points", "")
        numbers = _NUMBER.findall(points)
        other = _NUMBER.sub(" ", points).strip(" ,\t\r\n")
        if other:
            raise ValueError(f"has {other[:20]!r} in its points: numbers are needed")
        if len(numbers) % 2:
            raise ValueError(f"has {len(numbers)} numbers in its points: pairs are needed")
        if len(numbers) < 4:
            return []
        return parse_path("M" + " ".join(numbers) + ("Z" if local == "polygon" else ""))
    if local == "rect":
        return _rectangle(length("x"), length("y"), length("width"), length("height"),
                          attributes, length, text)  # fmt: skip
    rx = length("r" if local == "circle" else "rx")
    ry = rx if local == "circle" else length("ry")
    x, y = length("cx"), length("cy")
    if rx <= 0 or ry <= 0:
        return []
    arcs = [("A", rx, ry, "0 0 1", x + dx * rx, y + dy * ry) for dx, dy in ((0, 1), (-1, 0), (0, -1), (1, 0))]
    return parse_path(text("M", x + rx, y, *(value for arc in arcs for value in arc), "Z"))


def _rectangle(x, y, w, h, attributes, length, text) -> list[Subpath]:  # type: ignore[no-untyped-def]
    if w <= 0 or h <= 0:
        return []
    rx = length("rx") if "rx" in attributes else length("ry") if "ry" in attributes else 0.0
    ry = length("ry") if "ry" in attributes else rx
    rx, ry = min(max(rx, 0.0), w / 2), min(max(ry, 0.0), h / 2)
    if rx == 0 or ry == 0:
        return parse_path(text("M", x, y, "H", x + w, "V", y + h, "H", x, "Z"))
    arc = ("A", rx, ry, "0 0 1")
    return parse_path(text(
        "M", x + rx, y, "H", x + w - rx, *arc, x + w, y + ry, "V", y + h - ry, *arc, x + w - rx, y + h,
        "H", x + rx, *arc, x, y + h - ry, "V", y + ry, *arc, x + rx, y, "Z",
    ))  # fmt: skip


def _matrix(text: str) -> Matrix:
    found, place = _IDENTITY, 0
    while match := _TRANSFORM.match(text, place):
        numbers = [float(number) for number in _NUMBER.findall(match[2])]
        found = _product(found, _one(match[1], numbers))
        place = match.end()
    if text[place:].strip(" ,\t\r\n"):
        raise ValueError(
            f"has {text[place:][:30].strip()!r}: matrix, translate, scale, rotate or skew is needed"
        )
    return found


def _one(kind: str, n: list[float]) -> Matrix:
    allowed = {
        "matrix": (6,),
        "translate": (1, 2),
        "scale": (1, 2),
        "rotate": (1, 3),
        "skewX": (1,),
        "skewY": (1,),
    }
    if len(n) not in allowed[kind]:
        raise ValueError(f"has {len(n)} numbers for {kind}")
    if kind == "matrix":
        return n[0], n[1], n[2], n[3], n[4], n[5]
    if kind == "translate":
        return 1.0, 0.0, 0.0, 1.0, n[0], n[1] if len(n) == 2 else 0.0
    if kind == "scale":
        return n[0], 0.0, 0.0, n[-1], 0.0, 0.0
    angle = math.radians(n[0])
    if kind == "rotate":
        c, s = math.cos(angle), math.sin(angle)
        x, y = (n[1], n[2]) if len(n) == 3 else (0.0, 0.0)
        return c, s, -s, c, x - c * x + s * y, y - s * x - c * y
    slope = math.tan(angle)
    return (1.0, 0.0, slope, 1.0, 0.0, 0.0) if kind == "skewX" else (1.0, slope, 0.0, 1.0, 0.0, 0.0)


def _product(m: Matrix, n: Matrix) -> Matrix:
    """First `n`, then `m`."""
    a, b, c, d, e, f = m
    g, h, i, j, k, l = n  # noqa: E741
    return (a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f)


FORMAT = StrokeFormat(name="svg", title="an SVG drawing", endings=(".svg",), read=_read)
