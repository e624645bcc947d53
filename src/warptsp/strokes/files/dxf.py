"""DXF: entities of the model space change places, layer after layer; all other lines stay byte for byte.

The document is not written anew: the lines of an entity move as they are, and only a line or a polyline that
is turned around gets its points in another order. ezdxf says where each begins and ends.
"""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from warptsp._checks import short
from warptsp.errors import BackendUnavailable, ParseError
from warptsp.strokes.files.drawing import Drawing, Source, StrokeFormat
from warptsp.strokes.model import Path
from warptsp.strokes.plan import Plan

_DRAWN = ("LINE", "LWPOLYLINE", "POLYLINE", "ARC", "CIRCLE", "ELLIPSE", "SPLINE", "POINT")
_MESH = 16 + 64  # flags of a POLYLINE that is a surface
_PLAIN = ("", "BYLAYER", "CONTINUOUS")  # line types without dashes, which would show a direction
_SWAPPED = {10: 11, 20: 21, 30: 31, 11: 10, 21: 20, 31: 30}
_OTHERS = {b"AutoCAD Binary DXF": "a binary DXF file", b"AC10": "a DWG drawing"}
_SIGN = re.compile(rb"(\s*)([-+]?)(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Tag:
    """Two lines of the file, with what ends them: a group code and its value."""

    code: int
    name: bytes
    value: bytes

    @property
    def text(self) -> str:
        return self.value.strip().decode("latin-1")


@dataclass(slots=True)
class _Chunk:
    """The tags of an entity and of what belongs to it, such as the vertices of a POLYLINE."""

    tags: list[_Tag]
    begin: int  # the number of its first line
    in_model: bool = False  # whether it is one of the list in the model space, and not on paper
    stretch: int = -1  # between two entities that stay; -1 for one of these

    def first(self, code: int, default: str = "") -> str:
        """The first value of a group code."""
        return next((tag.text for tag in self.tags if tag.code == code), default)

    @property
    def kind(self) -> str:
        return self.tags[0].text.upper()

    @property
    def flags(self) -> int:
        return int(float(self.first(70, "0")))

    @property
    def group(self) -> tuple[str, ...]:
        """Layer and colour: what a program for a laser or a plotter chooses the tool by."""
        return self.first(8).upper(), self.first(62, "256"), self.first(420)


@dataclass(slots=True)
class _Document:
    """A file as the bytes in front of its entities, these, and the bytes behind them."""

    head: bytes = b""
    chunks: list[_Chunk] = field(default_factory=list)
    tail: bytes = b""


def _read(source: Source) -> Drawing:
    try:
        import ezdxf
        import ezdxf.filemanagement
        import ezdxf.path
    except ImportError:
        raise BackendUnavailable("DXF needs ezdxf: pip install 'warptsp[dxf]'") from None
    for start, kind in _OTHERS.items():
        if source.data.startswith(start):
            raise ParseError(f"is {kind}: save it as a DXF file of text (ASCII)", file=source.file)
    try:
        document = _document(source)
        loaded = ezdxf.filemanagement.read(_stream(ezdxf, source.data))
        found = _entities(document, list(loaded.modelspace()))
        strokes = [chunk for chunk in document.chunks if chunk.stretch >= 0]
        paths = [_points(ezdxf, entity, chunk) for entity, chunk in zip(found, strokes, strict=True)]
        plain = {layer.dxf.name.upper(): layer.dxf.linetype.upper() in _PLAIN for layer in loaded.layers}
    except ParseError:
        raise
    except Exception as error:  # a library's own, of many kinds, about a file that nobody vouches for
        why = short(str(error)) or "it is empty"
        raise ParseError(f"is no DXF drawing: {why}", file=source.file) from None
    layers: dict[tuple[object, ...], int] = {}
    keys = [(chunk.stretch, *(() if source.ungroup else chunk.group)) for chunk in strokes]
    groups = [layers.setdefault(key, len(layers)) for key in keys]

    def rewrite(plan: Plan) -> bytes:
        return _rewritten(document, strokes, plan)

    return Drawing(
        paths=paths,
        reversible=np.array([_may_turn(chunk, plain) for chunk in strokes], dtype=np.bool_),
        loops=np.zeros(len(paths), dtype=np.bool_),
        groups=groups,
        rewrite=rewrite,
    )


def _stream(ezdxf: Any, data: bytes) -> io.StringIO:
    """The text of a file in its own code page; a byte that this does not have stays as it is."""
    head = io.StringIO(data.decode("utf-8", errors="ignore"), newline=None)
    encoding = ezdxf.filemanagement.dxf_stream_info(head).encoding
    return io.StringIO(data.decode(encoding, errors="surrogateescape"), newline=None)


def _tags(source: Source) -> Iterator[_Tag]:
    lines = re.findall(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", source.data)
    number = -2
    for number in range(0, len(lines) - 1, 2):
        try:
            code = int(lines[number])
        except ValueError:
            raise ParseError(f"is no DXF drawing: {short(lines[number].decode('latin-1').strip())!r} is no "
                             "group code", file=source.file, line=number + 1) from None  # fmt: skip
        yield _Tag(code, lines[number], lines[number + 1])
        if code == 0 and lines[number + 1].strip().upper() == b"EOF":  # what is behind it is not read
            break
    yield _Tag(-1, b"".join(lines[number + 2 :]), b"")


def _document(source: Source) -> _Document:
    """Cut the section ENTITIES into entities; those that are not of the list stay where they are."""
    found = _Document()
    head: list[_Tag] = []
    tail: list[_Tag] = []
    section = ""
    for number, tag in enumerate(_tags(source)):
        if tag.code == 0 and tag.text.upper() in ("ENDSEC", "EOF"):
            section = ""
        if section == "ENTITIES":
            if tag.code == 0 and tag.text.upper() not in ("VERTEX", "SEQEND", "ATTRIB"):
                found.chunks.append(_Chunk([], 2 * number + 1))
            (found.chunks[-1].tags if found.chunks else head).append(tag)
            continue
        (tail if found.chunks else head).append(tag)
        if tag.code == 2 and len(head) > 1 and head[-2].text.upper() == "SECTION":
            section = tag.text.upper()
    found.head, found.tail = _bytes(head), _bytes(tail)
    stretch = 0
    for chunk in found.chunks:
        kind = chunk.kind
        chunk.in_model = kind in _DRAWN and chunk.first(67, "0") == "0"
        mesh = kind == "POLYLINE" and chunk.flags & _MESH
        if chunk.in_model and not mesh and chunk.first(60, "0") == "0":  # and visible
            chunk.stretch = stretch
        else:
            stretch += 1
    return found


def _bytes(tags: list[_Tag]) -> bytes:
    return b"".join(part for tag in tags for part in (tag.name, tag.value))


def _entities(document: _Document, in_order: list[Any]) -> list[Any]:
    """What ezdxf makes of each entity that moves, by its place, or else by its handle."""
    mine = [chunk for chunk in document.chunks if chunk.in_model]
    found = [entity for entity in in_order if entity.dxftype() in _DRAWN]
    if [chunk.kind for chunk in mine] != [entity.dxftype() for entity in found]:
        by_handle = {entity.dxf.handle: entity for entity in found}
        found = [by_handle.get(chunk.first(5)) for chunk in mine]
    pairs = [(chunk, entity) for chunk, entity in zip(mine, found, strict=True) if chunk.stretch >= 0]
    for chunk, entity in pairs:
        if entity is None or entity.dxftype() != chunk.kind:
            raise ValueError(f"the {chunk.kind} in line {chunk.begin} is not one that ezdxf finds there")
        if chunk.kind == "POLYLINE" and "SEQEND" not in [t.text.upper() for t in chunk.tags if t.code == 0]:
            raise ValueError(f"the POLYLINE in line {chunk.begin} has no SEQEND, where its vertices end")
    return [entity for _, entity in pairs]


def _points(ezdxf: Any, entity: Any, chunk: _Chunk) -> Path:
    if entity.dxftype() == "POINT":
        return np.array([[entity.dxf.location.x, entity.dxf.location.y]])
    try:
        path = ezdxf.path.make_path(entity)
    except Exception as error:
        raise ValueError(f"the {chunk.kind} in line {chunk.begin}: {error}") from None
    vertices = list(path.flattening(max(_size(path) / 500, 1e-9)))
    if not vertices:  # a polyline of one vertex draws nothing, and moves as if it were a point
        return np.array([[float(chunk.first(10, "0")), float(chunk.first(20, "0"))]])
    points = np.array([[vertex.x, vertex.y] for vertex in vertices])
    if path.is_closed:
        points[-1] = points[0]
    elif chunk.kind == "LWPOLYLINE" and chunk.flags & 1:
        points = np.concatenate([points, points[:1]])  # ezdxf knows no such polyline in files of no version
    return points


def _size(path: Any) -> float:
    points = np.array([[vertex.x, vertex.y] for vertex in path.control_vertices()]).reshape(-1, 2)
    return float(np.ptp(points, axis=0).max()) if len(points) else 0.0


def _may_turn(chunk: _Chunk, plain: dict[str, bool]) -> bool:
    """Whether an entity looks the same from its other end."""
    kind = chunk.first(6).upper()
    whole = plain.get(chunk.first(8).upper(), False) if kind in ("", "BYLAYER") else kind in _PLAIN
    codes = [tag.code for tag in chunk.tags]
    if not whole or any(code >= 1000 or code == 102 for code in codes):  # what programs add of their own
        return False
    if chunk.kind == "LINE":
        return all(codes.count(code) == codes.count(other) for code, other in _SWAPPED.items())
    return chunk.kind == "LWPOLYLINE" and not chunk.flags & 1


def _rewritten(document: _Document, strokes: list[_Chunk], plan: Plan) -> bytes:
    order = iter(plan.order.tolist())
    pieces = [document.head]
    for chunk in document.chunks:
        if chunk.stretch < 0:
            pieces.append(_bytes(chunk.tags))
            continue
        number = next(order)
        tags = strokes[number].tags
        pieces.append(_bytes(_turned(strokes[number]) if plan.backwards[number] else tags))
    return b"".join([*pieces, document.tail])


def _turned(chunk: _Chunk) -> list[_Tag]:
    """The tags of an entity that is drawn from its end to its start."""
    if chunk.kind == "LINE":
        values = {tag.code: tag.value for tag in chunk.tags}
        return [
            _Tag(tag.code, tag.name, values[_SWAPPED[tag.code]]) if tag.code in _SWAPPED else tag
            for tag in chunk.tags
        ]
    starts = [place for place, tag in enumerate(chunk.tags) if tag.code == 10]
    end = starts[-1] + 1
    while end < len(chunk.tags) and chunk.tags[end].code in (20, 40, 41, 42, 91):
        end += 1
    vertices = [chunk.tags[a:b] for a, b in zip(starts, [*starts[1:], end], strict=True)]
    # Widths and bulges belong to the segment behind a vertex.
    places = [[tag for tag in vertex if tag.code not in (40, 41, 42)] for vertex in vertices]
    segments = [[_backwards(tag) for tag in vertex if tag.code in (40, 41, 42)] for vertex in vertices]
    turned = list(zip(places[::-1], [*segments[-2::-1], segments[-1]], strict=True))
    inside = [tag for place, segment in turned for tag in (*place, *segment)]
    return [*chunk.tags[: starts[0]], *inside, *chunk.tags[end:]]


def _backwards(tag: _Tag) -> _Tag:
    """A width or a bulge of a segment that is drawn backwards."""
    if tag.code != 42:
        other = 81 - tag.code
        return _Tag(other, tag.name.replace(str(tag.code).encode(), str(other).encode()), tag.value)
    match = _SIGN.match(tag.value)
    assert match is not None
    if not tag.text.strip("+-0."):  # nothing to turn
        return tag
    sign = b"" if match[2] == b"-" else b"-"
    return _Tag(42, tag.name, match[1] + sign + match[3])


FORMAT = StrokeFormat(
    name="dxf", title="a DXF drawing", endings=(".dxf",), read=_read,
    same="same strokes on the same layers", ungroups=True,
)  # fmt: skip
