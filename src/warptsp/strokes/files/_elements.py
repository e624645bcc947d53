"""The shapes of an SVG document: where the text of each stands, what it draws, and how it may change."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NoReturn
from xml.parsers import expat

from warptsp.errors import ParseError
from warptsp.io._xml import parse
from warptsp.strokes.files._curves import Subpath
from warptsp.strokes.files._page import PERCENT, Matrix, inner_page, matrix_of, page, product
from warptsp.strokes.files._shapes import GEOMETRY, plain_numbers, subpaths_of
from warptsp.strokes.files.drawing import Source

# What may stand between shapes without being drawn there. Shapes pass nothing else, known or unknown.
_SILENT = ("defs", "clipPath", "mask", "pattern", "symbol", "marker", "metadata", "namedview", "title",
           "desc", "style", "linearGradient", "radialGradient", "filter")  # fmt: skip
_PASSED = ("text", "image", "use")  # where what lies in a loop must come before it
_ANIMATIONS = ("animate", "animateColor", "animateMotion", "animateTransform", "set")
_NAMED = re.compile(r"#([^\s{}()#.,:;>+~\[\]'\"]+)")  # in a style sheet: an element by its id, or a colour
_DECLARATION = re.compile(r"(?:^|;)\s*([\w-]+)\s*:\s*([^;]*)")
_COUNTING = re.compile(r":(?:first|last|nth|only)-|[+~]|:has\(")  # selectors that depend on the order
_MARKERS = ("marker", "marker-start", "marker-mid", "marker-end")
_DASHES = "stroke-dasharray"
_INHERITED = ("fill", "stroke", "color", "stroke-opacity", *_MARKERS, _DASHES)
# Of a style sheet that draws paths itself, or asks who has an id.
_FORMS = re.compile(r"(?<![\w-])d\s*:|\[\s*id")
_MOVES = re.compile(r"(?<![\w-])transform\s*:")
_NO_ORIGIN = re.compile(r"\s*(0(px)?[\s,]*)*")
# What may be said of a shape that is turned around, entered elsewhere or split; with anything else it only
# changes its place.
_KNOWN = {
    "id", "class", "style", "transform", "display", "visibility", "color", "fill", "fill-opacity",
    "fill-rule", "stroke", "stroke-width", "stroke-opacity", "stroke-linecap", "stroke-linejoin",
    "stroke-miterlimit", "stroke-dasharray", "stroke-dashoffset", "vector-effect", "opacity",
    "clip-rule", "shape-rendering", "color-interpolation", "pointer-events", "cursor", "role",
    "tabindex", *_MARKERS, "xml:space", "xml:id", "inkscape:label", "inkscape:connector-curvature",
    "sodipodi:nodetypes", "font-family", "font-size", "font-style", "font-weight", "text-anchor",
}  # fmt: skip
_GROUP = _KNOWN - {"opacity"}  # what a group may say whose shapes are written in groups of their own
# What a style sheet may say so that parts of a path look as the whole does.
_WHOLE = ("opacity", "url(", "filter", "mask", "clip", "blend", "path-effect", "all:")


@dataclass(slots=True)
class Element:
    """A shape: where its text is, what it draws, and how that lies in the drawing.

    `slot` is what changes places: the shape, or the groups that hold nothing but it. Where groups are mixed,
    the shape is written between copies of the tags `around` it, outermost first.
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
    colours: tuple[str, ...]
    names: frozenset[str]  # the ids of it and of what it is in
    split: bool  # whether its subpaths may become elements of their own
    marked: bool = False  # whether it has markers or is animated, so that what is written is what shows
    fixed: bool = False  # whether it may neither be turned around nor be entered elsewhere
    # Tags as places in the text, and whether it is the shape of this group that keeps the id of it.
    around: list[tuple[int, int, bool]] = field(default_factory=list)

    @property
    def local(self) -> str:
        """Its name without the prefix."""
        return self.name.rpartition(":")[2]


@dataclass(slots=True)
class _Open:
    """An element that is open while the document is read."""

    name: str
    matrix: Matrix
    size: tuple[float, float]  # of the page that it is on, in its own units; 0 where nobody says
    style: dict[str, str]  # what is inherited
    names: frozenset[str]
    hidden: bool
    run: int
    begin: int = 0
    shape: Element | None = None
    shapes: list[Element] = field(default_factory=list)  # in it, at any depth
    pinned: bool = False  # whether it is, or holds, what has a place of its own
    holds: bool = False  # whether it holds anything else than shapes, or is more than a group of them
    written: bool = False  # whether it holds a text or an image

    @property
    def local(self) -> str:
        return self.name.rpartition(":")[2]


class Reader:
    """Goes through the document once, and notes each shape with its place in the text."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.parser = expat.ParserCreate()
        self.stack: list[_Open] = []
        self.found: list[Element] = []
        self.tags: list[tuple[int, int]] = []  # of groups that are written around each of their shapes
        self.runs = 0
        self.unit = ""
        self.encoding = "utf-8"
        self.sheet = ""  # all style sheets
        # Whatever is behind a #: ids that links and style sheets mean, and colours.
        self.referenced = set(_NAMED.findall(source.text))

    def elements(self) -> list[Element]:
        """The shapes that are drawn, in the order of the document."""
        parser = self.parser
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._doctype
        parser.XmlDeclHandler = self._declared
        parser.CharacterDataHandler = self._text
        parser.ProcessingInstructionHandler = self._instruction
        parse(parser, self.source.data, self._fail)
        self._settle()
        return self.found

    def _settle(self) -> None:
        """Say which shapes only move, and which are of one colour: that may depend on what stands behind."""
        sheet = self.sheet
        imported = "@import" in sheet  # and may say anything
        fills = imported or "fill" in sheet or any(word in sheet for word in _WHOLE)
        directs = imported or "marker" in sheet or "dasharray" in sheet
        forms = imported or "marker" in sheet or _FORMS.search(sheet) is not None
        if _MOVES.search(sheet):
            self._fail_of_transform(1)
        if _COUNTING.search(_selectors(sheet)):
            self._fail("has a style sheet that chooses elements by their place among others (:first-child, +"
                       " or ~): another order would look different", 1)  # fmt: skip
        chosen = _chosen_by(sheet)
        last, group = None, -1
        for shape in self.found:
            whole = shape.marked or forms or bool(shape.names & self.referenced)
            if whole or (fills and len(shape.subpaths) > 1):
                shape.split = False
            # Style sheets choose elements by their names, so none gets another one.
            renamed = shape.local in ("rect", "circle", "ellipse")
            shape.fixed |= whole or directs or (renamed and bool(sheet.strip()))
            colours = (shape.run, *(() if self.source.ungroup else (*shape.colours, *chosen(shape))))
            group += colours != last
            last, shape.run = colours, group

    def _fail(self, message: str, line: int | None = None) -> NoReturn:
        line = line or self.parser.CurrentLineNumber
        raise ParseError(message, file=self.source.file, line=line) from None

    def _fail_of_transform(self, line: int | None = None) -> NoReturn:
        self._fail("has a transform in a style, or about another origin: write it as an attribute", line)

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
                matrix, size, self.unit = page(attributes)
            except ValueError as error:
                self._fail(f"svg {error}")
            style = _inherited({"fill": "black", "stroke": "none", "color": ""}, _look(attributes))
            self.stack.append(
                _Open(name, matrix, size, style, _names(attributes), False, run=self._new_run())
            )
            return
        if len(self.stack) > 200:
            self._fail("has elements within elements more than 200 deep")
        above = self.stack[-1]
        try:
            matrix = product(above.matrix, matrix_of(attributes.get("transform", "")))
        except ValueError as error:
            self._fail(f"{local} has a transform that {error}")
        look = _look(attributes)
        inside = above.hidden or above.shape is not None  # of what is drawn, if at all, as one
        drawn = local in GEOMETRY or local in ("g", "svg", "a")
        hidden = inside or not drawn or look.get("display", "").strip() == "none"
        turned = attributes.get("transform", "none").strip()
        origin = "" if turned == "none" else look.get("transform-origin", "")
        moved = look.get("transform", "none").strip() != turned or not _NO_ORIGIN.fullmatch(origin)
        if moved and drawn and not inside:
            self._fail_of_transform()
        size = above.size
        if local == "svg" and not hidden:
            try:
                inner, size = inner_page(attributes, size)
            except ValueError as error:
                self._fail(f"svg {error}")
            matrix = product(matrix, inner)
        style = _inherited(above.style, look)
        names = above.names | _names(attributes) if "id" in attributes else above.names
        if local in _ANIMATIONS and above.shape is not None:
            above.shape.marked = True
        at = self.parser.CurrentByteIndex
        opened = _Open(name, matrix, size, style, names, hidden, run=self._new_run(), begin=at)
        passed = local in _SILENT or (self.source.inner_first and local in _PASSED)
        opened.pinned = local in ("svg", "a") or _is_layer(attributes) or not (drawn or inside or passed)
        opened.written = local in _PASSED
        opened.holds = local != "g" or bool(_said(local, attributes) - _GROUP)
        self.stack.append(opened)
        if local not in GEOMETRY or hidden:
            return
        if any(PERCENT.fullmatch(attributes.get(key, "")) for key in GEOMETRY[local]):
            opened.pinned = True  # as a rule the background of the page: it stays where it is
            return
        try:
            subpaths = subpaths_of(local, attributes)
        except ValueError as error:
            self._fail(f"{local} {error}")
        if subpaths:
            known = not _said(local, attributes) - _KNOWN
            path = local in ("rect", "circle", "ellipse")  # which is a path if it is entered elsewhere
            inks = (style["color"] if ink.lower() == "currentcolor" else ink
                    for ink in (style["stroke"], style["fill"]))  # fmt: skip
            colours = *inks, attributes.get("class", "")
            opened.shape = Element(
                name, (at, -1), at, _tag_end(self.source.data, at), -1, dict(attributes), subpaths, matrix,
                above.run, colours, names, len(subpaths) == 1 or (known and _in_parts(style, look)),
                marked=any(style.get(key, "none") != "none" for key in _MARKERS),
                fixed=not known or style.get(_DASHES, "none") != "none"
                or (path and not plain_numbers(local, attributes)),
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
        above.shapes += closed.shapes
        above.written |= closed.written
        if closed.local == "g" and not closed.pinned and self.source.ungroup and self._mixes(closed, end):
            return
        above.pinned |= closed.pinned
        above.holds |= closed.shape is None
        if closed.local in ("g", "svg", "a") or closed.pinned:
            above.run = self._new_run()

    def _mixes(self, group: _Open, end: int) -> bool:
        """Whether the shapes of a group may change places with those around it; they are told so then."""
        above, data = self.stack[-1], self.source.data
        tag = group.begin, _tag_end(data, group.begin)
        if len(group.shapes) == 1 and not group.written:
            only, at, beside = group.shapes[0], tag[1], b""
            inside = list(takewhile(lambda inner: inner[0] > group.begin, reversed(self.tags)))
            for begin, behind in sorted([only.slot, *inside, (self.parser.CurrentByteIndex, end)]):
                beside += data[at:begin]
                at = behind
            if beside.strip():  # a comment goes with the whole of it
                only.split, only.fixed = False, only.fixed or len(only.subpaths) > 1
                only.around, self.tags = [], self.tags[: len(self.tags) - len(inside)]
            if len(only.subpaths) == 1 or not only.split:  # the group goes with it
                only.slot, only.run = (group.begin, end), above.run
                return True
        if group.holds or group.names & self.referenced or any(s.slot[0] != s.begin for s in group.shapes):
            return False
        for shape in group.shapes:
            shape.around.insert(0, (*tag, shape is group.shapes[0]))
            shape.run = above.run
        if group.shapes:
            self.tags += [tag, (self.parser.CurrentByteIndex, end)]
        return bool(group.shapes)

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


def _said(local: str, attributes: dict[str, str]) -> set[str]:
    """The names of what an element says of itself, but for where it is."""
    style = {name for name, _ in _DECLARATION.findall(attributes.get("style", ""))}
    names = (set(attributes) - set(GEOMETRY.get(local, ()))) | style  # which says other geometry than theirs
    return {name for name in names if not name.startswith(("data-", "aria-", "xmlns"))}


def _in_parts(style: dict[str, str], look: dict[str, str]) -> bool:
    """Whether a path looks the same in parts: nothing is filled, seen through or stretched over it."""
    opaque = all(text.strip() in ("1", "1.0", "") for text in
                 (look.get("opacity", "1"), style.get("stroke-opacity", "1")))  # fmt: skip
    return style["fill"] == "none" and opaque and "url(" not in style["stroke"]


def _selectors(sheet: str) -> str:
    """What a style sheet chooses elements by, without the values of their attributes."""
    rest = re.sub(r"/\*.*?\*/|<!--|-->|\[[^\]]*\]", " ", sheet, flags=re.DOTALL)
    return re.sub(r"@[^;{}]*|\{[^{}]*\}", " ", rest)


def _chosen_by(sheet: str) -> Callable[[Element], tuple[object, ...]]:
    """Return by what a style sheet may choose the colours of a shape, beside its class."""
    if "fill" not in sheet and "stroke" not in sheet and "@import" not in sheet:
        return lambda shape: ()
    rest = re.sub(r"\{[^{}]*\}", " ", re.sub(r"/\*.*?\*/", " ", sheet, flags=re.DOTALL))
    ids, types = set(_NAMED.findall(rest)), set(re.findall(r"(?<![.#\w-])[a-z]+", rest))
    everything = "@import" in sheet

    def chosen(shape: Element) -> tuple[object, ...]:
        says = {k: v for k, v in shape.attributes.items() if k not in GEOMETRY[shape.local]}
        return (
            shape.local if everything or shape.local in types else "",
            shape.names if everything else shape.names & ids,
            says if everything or "[" in rest else {},
        )

    return chosen


def _look(attributes: dict[str, str]) -> dict[str, str]:
    """What an element says of its look: its style, or else its attributes."""
    style = attributes.get("style")
    return {**attributes, **dict(_DECLARATION.findall(style))} if style else attributes


def _inherited(above: dict[str, str], look: dict[str, str]) -> dict[str, str]:
    """The properties that what is in an element takes over from it."""
    own = {name: look[name].strip() for name in _INHERITED if name in look}
    own = {name: value for name, value in own.items() if value not in ("", "inherit")}
    return {**above, **own} if own else above
