"""What an SVG document draws: its shapes, each with all that is said of it and of what it is in.

The document is read as a tree of elements that know where their bytes are. Between two tags that stay, the
shapes of a colour are compared as a whole; all bytes that are of no shape must be where they were.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from xml.parsers import expat

import numpy as np

from warptsp.strokes.verify._svg_shapes import GEOMETRY, Figure, canonical, drawn_by, outline_of
from warptsp.strokes.verify.work import NotVerified, Rules, inner_first

_UNDRAWN = {
    "defs", "clipPath", "mask", "pattern", "symbol", "marker", "metadata", "namedview", "title", "desc",
    "style", "linearGradient", "radialGradient", "filter",
}  # fmt: skip
_WRITTEN = {"text", "image", "use"}  # what cuts may pass where inner ones come first
_HOLDING = {"g", "svg", "a"}
_UNDERSTOOD = {
    "id", "class", "style", "transform", "display", "visibility", "color", "fill", "fill-opacity",
    "fill-rule", "stroke", "stroke-width", "stroke-opacity", "stroke-linecap", "stroke-linejoin",
    "stroke-miterlimit", "stroke-dasharray", "stroke-dashoffset", "vector-effect", "opacity",
    "clip-rule", "shape-rendering", "color-interpolation", "pointer-events", "cursor", "role",
    "tabindex", "marker", "marker-start", "marker-mid", "marker-end", "xml:space", "xml:id",
    "inkscape:label", "inkscape:connector-curvature", "sodipodi:nodetypes", "font-family", "font-size",
    "font-style", "font-weight", "text-anchor",
}  # fmt: skip
_DIRECTED = ("marker", "marker-start", "marker-mid", "marker-end", "stroke-dasharray")
_PAINTS = ("stroke", "fill")
_PASSED_ON = (*_PAINTS, "color", "stroke-opacity", *_DIRECTED)
_AS_ONE = ("fill", "opacity", "url(", "filter", "mask", "clip", "blend", "path-effect", "all:", "@import",
           "marker")  # fmt: skip
_OF_PATHS = re.compile(r"(^|[{;\s*/])d\s*:|\[\s*id")
_ID = re.compile(rb"""\sid\s*=\s*("[^"]*"|'[^']*')""")
_TOLERANCE = Decimal("1e-9")


@dataclass(slots=True)
class _Node:
    """An element: its name without the prefix, what it says, and its bytes."""

    name: str
    attributes: dict[str, str]
    begin: int
    inside: int = 0  # behind its first tag
    last: int = 0  # where its last tag begins
    end: int = 0
    line: int = 0
    children: list[_Node] = field(default_factory=list)

    def all(self) -> list[_Node]:
        """It and all that is in it."""
        found, at = [self], 0
        while at < len(found):
            found += found[at].children
            at += 1
        return found


@dataclass(frozen=True, slots=True)
class _Context:
    """What an element inherits, with what it says itself."""

    matrix: tuple[float, ...] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    style: dict[str, str] = field(default_factory=lambda: {"fill": "black", "stroke": "none", "color": ""})
    names: frozenset[str] = frozenset()  # ids of it and of what it is in
    page: int = 0
    groups: tuple[Hashable, ...] = ()  # around it, where they may be mixed

    def within(self, node: _Node) -> _Context:
        """That of an element in it."""
        return replace(self, matrix=_times(self.matrix, _transform(node.attributes.get("transform", ""))),
                       style=_styled(self.style, node), names=self.names | _ids(node))  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Work:
    """What a shape or a part of it draws, under which state; and where that is for whoever asks."""

    state: Hashable
    form: tuple[object, ...]
    colour: Hashable
    stretch: int
    line: int
    figures: tuple[Figure, ...]
    matrix: tuple[float, ...]
    page: int


def verify(before: bytes, after: bytes, rules: Rules) -> None:
    """Compare two documents: the same shapes between what stays, runs of colours whole and in order.

    Raises `NotVerified`, which says where they differ.
    """
    first, second = _Document(before, rules), _Document(after, rules)
    if first.skeleton != second.skeleton:
        raise NotVerified("is not written: what is no shape would change, or change places")
    if first.ids != second.ids:
        raise NotVerified("is not written: ids of shapes would be lost or appear twice")
    runs, others = _runs(first.works, rules), _runs(second.works, rules)
    if [key for key, _ in runs] != [key for key, _ in others]:
        raise NotVerified("is not written: colours or groups would be mixed, or change places")
    for (_, one), (_, two) in zip(runs, others, strict=True):
        _same(one, two)
    if rules.inner_first:
        _check_inner_first(second.works)


def _runs(works: list[_Work], rules: Rules) -> list[tuple[Hashable, list[_Work]]]:
    """Works that follow each other in a stretch and have one colour."""
    found: list[tuple[Hashable, list[_Work]]] = []
    for work in works:
        key = (work.stretch, None if rules.ungrouped else work.colour)
        if not found or found[-1][0] != key:
            found.append((key, []))
        found[-1][1].append(work)
    return found


def _same(one: list[_Work], two: list[_Work]) -> None:
    """Whether the works of a run are the same, but for the last digits of sums."""
    counts = [Counter((work.state, work.form) for work in works) for works in (one, two)]
    lost, added = counts[0] - counts[1], counts[1] - counts[0]
    left = list(added.elements())
    for state, form in lost.elements():
        other = next((w for w in left if w[0] == state and _near(form, w[1])), None)
        if other is None:
            line = next(work.line for work in one if (work.state, work.form) == (state, form))
            raise NotVerified(f"is not written: the shape in line {line} would be lost or changed")
        left.remove(other)
    if left:
        raise NotVerified("is not written: a shape would be added")


def _near(one: object, two: object) -> bool:
    """Whether two forms have the same letters, and numbers that differ by rounding only."""
    a, b = _flat(one), _flat(two)
    if [type(x) for x in a] != [type(x) for x in b]:
        return False
    size = max((abs(x) for x in a if isinstance(x, Decimal)), default=Decimal(0))
    return all(
        abs(x - y) <= _TOLERANCE * size if isinstance(x, Decimal) and isinstance(y, Decimal) else x == y
        for x, y in zip(a, b, strict=True)
    )


def _flat(form: object) -> list[object]:
    return [x for part in form for x in _flat(part)] if isinstance(form, tuple) else [form]


def _check_inner_first(works: list[_Work]) -> None:
    outlines = []
    for work in works:
        points = np.array([point for figure in work.figures for point in outline_of(figure)])
        a, b, c, d, e, f = work.matrix
        placed = np.stack(
            [a * points.real + c * points.imag + e, b * points.real + d * points.imag + f], axis=1
        )
        if points[0] == points[-1]:
            placed[-1] = placed[0]
        outlines.append(placed)
    pair = inner_first(outlines, [work.page for work in works])
    if pair is not None:
        raise NotVerified(
            f"is not written: the shape in line {works[pair[1]].line} would be cut after the one around it: "
            "what stands between them keeps its place, and so do groups and colours (--ungroup mixes these)"
        )


class _Document:
    """The works of a document, and the bytes between them."""

    def __init__(self, data: bytes, rules: Rules) -> None:
        self.data = data
        self.rules = rules
        self.works: list[_Work] = []
        self.skeleton: list[bytes] = []
        self.ids: Counter[str] = Counter()
        self.stretch = self.pages = 0
        self.sheet = self.selectors = ""
        self.chosen: set[str] = set()  # names, ids and classes
        root = self._tree()
        text = data.decode("utf-8", errors="replace")
        self.named = set(re.findall(r"#([^\s{}()#.,:;>+~\[\]'\"]+)", text))
        self._add(data[: root.begin])
        self._walk(root, _Context())
        self._add(data[root.end :])

    def _tree(self) -> _Node:
        parser = expat.ParserCreate()
        stack = [_Node("", {}, 0)]

        def begin(name: str, attributes: dict[str, str]) -> None:
            at = parser.CurrentByteIndex
            node = _Node(
                name.rpartition(":")[2],
                attributes,
                at,
                _closing(self.data, at),
                line=parser.CurrentLineNumber,
            )
            stack[-1].children.append(node)
            stack.append(node)

        def end(name: str) -> None:
            node = stack.pop()
            if self.data[node.inside - 2 : node.inside] == b"/>":
                node.last = node.end = node.inside
            else:
                node.last = parser.CurrentByteIndex
                node.end = _closing(self.data, node.last)

        def doctype(name: str, system: str | None, public: str | None, internal: int) -> None:
            if internal:
                raise NotVerified("is not written: its document type declares entities")

        def text(data: str) -> None:
            if stack[-1].name == "style":
                self.sheet += data

        def instruction(target: str, data: str) -> None:
            self.sheet += "@import" if target == "xml-stylesheet" else ""

        parser.StartElementHandler, parser.EndElementHandler = begin, end
        parser.StartDoctypeDeclHandler, parser.CharacterDataHandler = doctype, text
        parser.ProcessingInstructionHandler = instruction
        try:
            parser.Parse(self.data, True)
        except (expat.ExpatError, LookupError) as error:
            raise NotVerified(f"is not written: it is no XML: {error}") from None
        return stack[0].children[0]

    def _add(self, data: bytes) -> None:
        if data.strip():
            self.skeleton.append(data.strip())

    def _walk(self, node: _Node, outside: _Context) -> None:
        """Go through an element that holds others; its own tags stay where they are."""
        context = outside.within(node)
        if node.name == "svg":
            self.pages += 1
            context = replace(context, page=self.pages)
        mixed = self.rules.ungrouped and self._may_mix(node, context)
        if not mixed:
            self._add(self.data[node.begin : node.inside])
            self.stretch += 1
        else:
            tag = _ID.sub(b"", self.data[node.begin : node.inside])
            context = replace(context, groups=(*context.groups, tag, self._rest(node)))
            self.ids.update(_ids(node))
        at, alone = node.inside, mixed and len(_shapes(node)) == 1
        for child in node.children:
            if not alone:
                self._add(self.data[at : child.begin])
            at = child.end
            if alone and _is_beside(child):
                continue  # it goes with the shape
            if child.name in GEOMETRY:
                self._shape(child, context)
            elif child.name in _HOLDING:
                self._walk(child, context)
            else:
                passed = child.name in _UNDRAWN or (self.rules.inner_first and child.name in _WRITTEN)
                self.stretch += not passed
                self._add(self.data[child.begin : child.end])
                self.stretch += not passed
        if not alone:
            self._add(self.data[at : node.last])
        if not mixed:
            self.stretch += 1
            self._add(self.data[node.last : node.end])

    def _rest(self, node: _Node) -> bytes:
        """What a group of one shape holds beside it."""
        if len(_shapes(node)) != 1:
            return b""
        at, found = node.inside, []
        for child in node.children:
            found.append(self.data[at : child.begin].strip())
            if _is_beside(child):
                found.append(self.data[child.begin : child.end])
            at = child.end
        return b"".join([*found, self.data[at : node.last].strip()])

    def _may_mix(self, node: _Node, context: _Context) -> bool:
        """Whether the shapes of a group look the same in groups of their own."""
        if node.name != "g" or _is_layer(node):
            return False
        groups = [child for child in node.all() if child.name == "g"]
        plain = all(not (_said(n) - (_UNDERSTOOD - {"opacity"})) and not _ids(n) & self.named for n in groups)
        if len(_shapes(node)) == 1 and (plain or not self._has_parts(node, context)):
            return all(n.name in GEOMETRY or n.name in _UNDRAWN or (n.name == "g" and not _is_layer(n))
                       for n in _outside_of_shapes(node))  # fmt: skip
        drawn = all(n.name in GEOMETRY or n.name == "g" for n in _outside_of_shapes(node))
        return plain and drawn and not any(_is_layer(n) for n in groups)

    def _has_parts(self, node: _Node, context: _Context) -> bool:
        """Whether the only shape in a group becomes several."""
        while node.name not in GEOMETRY:
            if self._rest(node):
                return False
            shapes = (child for child in node.children if child.name in GEOMETRY or _shapes(child))
            node = next(child for child in shapes if not _is_hidden(child))
            context = context.within(node)
        several = node.name == "path" and len(drawn_by(node.name, node.attributes)) > 1
        return several and self._in_parts(node, context)

    def _in_parts(self, node: _Node, context: _Context) -> bool:
        """Whether the subpaths of a path may become paths, which look the same."""
        style = context.style
        seen_through = "url(" in style["stroke"] or style["fill"] != "none" or any(
            text.strip() not in ("", "1", "1.0")
            for text in (_look(node).get("opacity", ""), style.get("stroke-opacity", ""))
        )  # fmt: skip
        marked = any(style.get(name, "none") != "none" for name in _DIRECTED[:-1])
        return not (
            _said(node) - _UNDERSTOOD
            or seen_through
            or marked
            or _moves(node)
            or context.names & self.named
            or _OF_PATHS.search(self.sheet)
            or any(word in self.sheet for word in _AS_ONE)
        )

    def _shape(self, node: _Node, outside: _Context) -> None:
        if any("%" in node.attributes.get(name, "") for name in GEOMETRY[node.name]):
            self.ids.update(_ids(node))
            self.stretch += 1
            self._add(self.data[node.begin : node.end])
            self.stretch += 1
            return
        figures = [] if _is_hidden(node) else drawn_by(node.name, node.attributes)
        if not figures:  # others may pass what draws nothing
            self._add(self.data[node.begin : node.end])
            return
        context = outside.within(node)
        style = context.style
        self.ids.update(_ids(node))
        inner = self.data[node.inside : node.last]
        own = {k: v for k, v in node.attributes.items() if k not in GEOMETRY[node.name] and k != "id"}
        state: Hashable = (context.groups, frozenset(own.items()), node.name if self.sheet.strip() else "")
        colour = (
            *(
                style["color"] if style[paint].lower() == "currentcolor" else style[paint]
                for paint in _PAINTS
            ),
            node.attributes.get("class", ""),
            self._painted(node, context, own),
        )
        directed = any(style.get(name, "none") != "none" for name in _DIRECTED)
        sheet = _OF_PATHS.search(self.sheet) or any(
            w in self.sheet for w in ("marker", "dasharray", "@import")
        )
        free = not (
            _said(node) - _UNDERSTOOD or directed or _moves(node) or context.names & self.named or sheet
        )
        parts = self._in_parts(node, context)
        groups = [[figure] for figure in figures] if parts and len(figures) > 1 else [figures]
        turn, enter = not self.rules.keep_directions, not self.rules.keep_entries
        for number, group in enumerate(groups):
            held = inner if number == 0 else b""
            self.works.append(_Work((state, held), canonical(group, free, turn, enter), colour, self.stretch,
                                    node.line, tuple(group), context.matrix, context.page))  # fmt: skip

    def _painted(self, node: _Node, context: _Context, own: dict[str, str]) -> Hashable:
        """What a style sheet that speaks of colours can tell a shape from others by, beside its class."""
        if not any(word in self.sheet for word in ("fill", "stroke", "@import")):
            return None
        whole = "@import" in self.sheet
        if not self.selectors:
            self.selectors = "|" + re.sub(r"(?s)/\*.*?\*/|\{[^{}]*\}", "|", self.sheet)
            self.chosen = set(re.split(r"[^\w#.-]+|(?<=.)(?=[#.])", self.selectors))
        return (
            node.name if whole or node.name in self.chosen else "",
            frozenset(name for name in context.names if whole or f"#{name}" in self.chosen),
            frozenset(own.items() if whole or "[" in self.selectors else ()),
        )


def _shapes(node: _Node) -> list[_Node]:
    return [n for n in _outside_of_shapes(node) if n.name in GEOMETRY and not _is_hidden(n)]


def _is_beside(node: _Node) -> bool:
    """Whether it draws nothing where it stands, and holds nothing that does."""
    return _is_hidden(node) or node.name in _UNDRAWN or (node.name in _HOLDING and not _shapes(node))


def _moves(node: _Node) -> bool:
    return any(child.name.startswith(("animate", "set")) for child in node.all())


def _is_hidden(node: _Node) -> bool:
    return _look(node).get("display", "").strip() == "none"


def _outside_of_shapes(node: _Node) -> list[_Node]:
    """What is in a group and in its groups, but not what is in shapes or in what is not drawn."""
    found, at = list(node.children), 0
    while at < len(found):
        if found[at].name in _HOLDING and not _is_hidden(found[at]):
            found += found[at].children
        at += 1
    return found


def _is_layer(node: _Node) -> bool:
    return any(name.rpartition(":")[2] == "groupmode" for name in node.attributes)


def _ids(node: _Node) -> frozenset[str]:
    return frozenset(value for name, value in node.attributes.items() if name == "id")


def _look(node: _Node) -> dict[str, str]:
    declared = {}
    for part in node.attributes.get("style", "").split(";"):
        name, colon, value = part.partition(":")
        if colon:
            declared[name.strip()] = value.strip()
    return {**node.attributes, **declared}


def _said(node: _Node) -> set[str]:
    declared = {part.partition(":")[0].strip() for part in node.attributes.get("style", "").split(";")}
    names = (set(node.attributes) - GEOMETRY.get(node.name, set())) | (declared - {""})
    return {name for name in names if not name.startswith(("data-", "aria-", "xmlns"))}


def _styled(style: dict[str, str], node: _Node) -> dict[str, str]:
    look = _look(node)
    own = {
        name: look[name].strip() for name in _PASSED_ON if look.get(name, "").strip() not in ("", "inherit")
    }
    return {**style, **own}


def _closing(data: bytes, begin: int) -> int:
    """The place behind the > of a tag."""
    match = re.compile(rb"""(?:[^'">]|"[^"]*"|'[^']*')*>""").match(data, begin)
    return match.end() if match else len(data)


def _transform(text: str) -> tuple[float, ...]:
    found: tuple[float, ...] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    for name, inside in re.findall(r"(\w+)\s*\(([^)]*)\)", text):
        n = [float(number) for number in re.findall(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", inside)]
        if name == "matrix":
            one = tuple(n)
        elif name == "translate":
            one = (1.0, 0.0, 0.0, 1.0, n[0], n[1] if len(n) > 1 else 0.0)
        elif name == "scale":
            one = (n[0], 0.0, 0.0, n[-1], 0.0, 0.0)
        elif name == "rotate":
            c, s = math.cos(math.radians(n[0])), math.sin(math.radians(n[0]))
            x, y = (n[1], n[2]) if len(n) > 2 else (0.0, 0.0)
            one = (c, s, -s, c, x - c * x + s * y, y - s * x - c * y)
        else:
            slope = math.tan(math.radians(n[0]))
            one = (1.0, 0.0, slope, 1.0, 0.0, 0.0) if name == "skewX" else (1.0, slope, 0.0, 1.0, 0.0, 0.0)
        found = _times(found, one)
    return found


def _times(m: tuple[float, ...], n: tuple[float, ...]) -> tuple[float, ...]:
    a, b, c, d, e, f = m
    return (a * n[0] + c * n[1], b * n[0] + d * n[1], a * n[2] + c * n[3], b * n[2] + d * n[3],
            a * n[4] + c * n[5] + e, b * n[4] + d * n[5] + f)  # fmt: skip
