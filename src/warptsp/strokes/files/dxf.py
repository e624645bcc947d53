"""DXF: entities of the model space change their order within their layer, through ezdxf."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from warptsp._checks import short
from warptsp.errors import BackendUnavailable, ParseError
from warptsp.strokes.model import Path
from warptsp.strokes.plan import Plan

from .drawing import Drawing, Source, StrokeFormat

__all__ = ["FORMAT"]

_DRAWN = ("LINE", "LWPOLYLINE", "POLYLINE", "ARC", "CIRCLE", "ELLIPSE", "SPLINE", "POINT")
_TURNED = ("LINE", "LWPOLYLINE")


def _read(source: Source) -> Drawing:
    try:
        import ezdxf
        import ezdxf.filemanagement
        import ezdxf.path
    except ImportError:
        raise BackendUnavailable("DXF needs ezdxf: pip install 'warptsp[dxf]'") from None
    try:
        document = ezdxf.filemanagement.read(_stream(ezdxf, source.data))
        space = document.modelspace()
        entities = [entity for entity in space if entity.dxftype() in _DRAWN]
        paths = [_points(ezdxf, entity) for entity in entities]
    except Exception as error:  # a library's own, of many kinds, about a file that nobody vouches for
        raise ParseError(f"is no DXF drawing: {short(str(error))}", file=source.file) from None
    layers: dict[str, int] = {}
    groups = [layers.setdefault(entity.dxf.layer, len(layers)) for entity in entities]

    def rewrite(plan: Plan) -> bytes:
        return _rewritten(document, space, entities, plan)

    return Drawing(
        paths=paths,
        reversible=np.array([entity.dxftype() in _TURNED for entity in entities], dtype=np.bool_),
        loops=np.zeros(len(paths), dtype=np.bool_),
        groups=groups,
        rewrite=rewrite,
    )


def _stream(ezdxf: Any, data: bytes) -> io.StringIO:
    """The text of a file in its own code page; a byte that this does not have stays as it is."""
    head = io.StringIO(data.decode("utf-8", errors="ignore"), newline=None)
    encoding = ezdxf.filemanagement.dxf_stream_info(head).encoding
    return io.StringIO(data.decode(encoding, errors="surrogateescape"), newline=None)


def _points(ezdxf: Any, entity: Any) -> Path:
    if entity.dxftype() == "POINT":
        return np.array([[entity.dxf.location.x, entity.dxf.location.y]])
    path = ezdxf.path.make_path(entity)
    vertices = [path.start, *path.control_vertices(), path.end]
    points = np.array([[vertex.x, vertex.y] for vertex in vertices])
    if path.is_closed:
        points[-1] = points[0]
    return points


def _rewritten(document: Any, space: Any, entities: list[Any], plan: Plan) -> bytes:
    for number in plan.order.tolist():
        entity = entities[number]
        if plan.backwards[number]:
            _turn(entity)
        space.unlink_entity(entity)
        space.add_entity(entity)
    stream = io.StringIO()
    document.write(stream)
    return stream.getvalue().encode(document.output_encoding, errors="dxfreplace")


def _turn(entity: Any) -> None:
    """Draw an entity from its end to its start."""
    if entity.dxftype() == "LINE":
        entity.dxf.start, entity.dxf.end = entity.dxf.end, entity.dxf.start
        return
    points = list(entity.get_points("xyseb"))
    # Widths and bulges belong to the segment behind a vertex.
    turned = [
        (x, y, before[3], before[2], -before[4])
        for (x, y, *_), before in zip(points[::-1], [*points[-2::-1], points[-1]], strict=True)
    ]
    entity.set_points(turned, format="xyseb")


FORMAT = StrokeFormat(name="dxf", title="a DXF drawing", endings=(".dxf",), read=_read)
