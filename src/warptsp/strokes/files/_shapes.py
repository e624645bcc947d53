"""The shapes of SVG: what each draws, and how it is written from another end or another vertex."""

import re

from warptsp.strokes.files._curves import Segment, Subpath, decimals_of, parse_path, path_text
from warptsp.strokes.files._page import length_of
from warptsp.strokes.files.drawing import written

#: Shapes, and the attributes that say where they lie.
GEOMETRY = {
    "path": ("d",),
    "line": ("x1", "y1", "x2", "y2"),
    "polyline": ("points",),
    "polygon": ("points",),
    "rect": ("x", "y", "width", "height", "rx", "ry"),
    "circle": ("cx", "cy", "r"),
    "ellipse": ("cx", "cy", "rx", "ry"),
}
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


def plain_numbers(local: str, attributes: dict[str, str]) -> bool:
    """Whether a shape says where it is in numbers alone, so that others can be written with their digits."""
    if local in ("path", "polyline", "polygon"):
        return True
    return all(_NUMBER.fullmatch(attributes.get(name, "0").strip()) for name in GEOMETRY[local])


def subpaths_of(local: str, attributes: dict[str, str]) -> list[Subpath]:
    """What a shape draws, as SVG 1.1 defines it by path data (chapter 9).

    Raises `ValueError` if its attributes are malformed; the message says which.
    """
    if local == "path":
        return parse_path(attributes.get("d", ""))

    def length(name: str) -> float:
        return length_of(attributes, name)

    if local == "line":
        ends = complex(length("x1"), length("y1")), complex(length("x2"), length("y2"))
        return [Subpath((Segment(*ends),), False)]
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
        return _rectangle(attributes)
    rx = length("r" if local == "circle" else "rx")
    ry = rx if local == "circle" else length("ry")
    x, y = length("cx"), length("cy")
    if rx <= 0 or ry <= 0:
        return []
    corners = [complex(x + dx * rx, y + dy * ry) for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1), (1, 0))]
    arc = (rx, ry, 0.0, False, True)
    return [Subpath(tuple(Segment(corners[k], corners[k + 1], (), arc) for k in range(4)), True)]


def _rectangle(attributes: dict[str, str]) -> list[Subpath]:
    x, y, w, h = (length_of(attributes, name) for name in ("x", "y", "width", "height"))
    if w <= 0 or h <= 0:
        return []
    given = {name: length_of(attributes, name) for name in ("rx", "ry") if name in attributes}
    rx = given.get("rx", given.get("ry", 0.0))
    ry = given.get("ry", rx)
    rx, ry = min(max(rx, 0.0), w / 2), min(max(ry, 0.0), h / 2)
    if rx == 0 or ry == 0:
        rx = ry = 0.0
    points = [
        complex(x + rx, y), complex(x + w - rx, y), complex(x + w, y + ry), complex(x + w, y + h - ry),
        complex(x + w - rx, y + h), complex(x + rx, y + h), complex(x, y + h - ry), complex(x, y + ry),
    ]  # fmt: skip
    segments = []
    for k, start in enumerate(points):
        end = points[(k + 1) % 8]
        if k % 2 and rx:
            segments.append(Segment(start, end, (), (rx, ry, 0.0, False, True)))
        elif start != end:
            segments.append(Segment(start, end))
    return [Subpath(tuple(segments), True)]


def rewritten(
    local: str, attributes: dict[str, str], subpaths: list[Subpath], backwards: bool, entry: int
) -> tuple[str, dict[str, str]]:
    """The name and the geometry of the shape that draws these subpaths backwards, or from another vertex.

    Lines keep their texts; what becomes a path has as many digits behind the point as the source.
    """
    if local == "line":
        if not backwards:
            return local, {name: attributes[name] for name in GEOMETRY[local] if name in attributes}
        pairs = (("x1", "x2"), ("y1", "y2"), ("x2", "x1"), ("y2", "y1"))
        return local, {new: attributes[old] for new, old in pairs if old in attributes}
    if local in ("polyline", "polygon"):
        numbers = _NUMBER.findall(attributes["points"])
        points = list(zip(numbers[::2], numbers[1::2], strict=True))
        points = points[entry:] + points[:entry]
        return local, {"points": " ".join(f"{x},{y}" for x, y in (points[::-1] if backwards else points))}
    decimals = max(decimals_of(attributes.get(name, "")) for name in GEOMETRY[local])
    if local == "rect":
        decimals += any(name in attributes for name in ("rx", "ry"))  # of half a side, at most
    if entry:
        subpaths = [subpaths[0].entered_at(entry)]
    if local in ("circle", "ellipse"):
        (a, _, b, _), arc = subpaths[0].segments, subpaths[0].segments[0].arc
        assert arc is not None
        size = f"A{written(arc[0], decimals)} {written(arc[1], decimals)} 0 0 1 "
        here, there = (" ".join(written(v, decimals) for v in (p.real, p.imag)) for p in (a.start, b.start))
        return "path", {"d": f"M{here}{size}{there}{size}{here}Z"}
    if backwards:
        subpaths = [subpath.turned() for subpath in reversed(subpaths)]
    return "path", {"d": path_text(subpaths, decimals)}
