"""Where things lie on the page of an SVG drawing: sizes, lengths and transforms (SVG 1.1, chapter 7)."""

import math
import re

_LENGTH = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(px|mm|cm|in|pt|pc|q)?\s*", re.I)
PERCENT = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+))%\s*")
_RATIO = re.compile(r"\s*(?:(none)|x(Min|Mid|Max)Y(Min|Mid|Max))(?:\s+(meet|slice))?\s*")
_MM = {"mm": 1.0, "cm": 10.0, "in": 25.4, "pt": 25.4 / 72, "pc": 25.4 / 6, "q": 0.25}
_PIXEL = 25.4 / 96  # mm, as CSS defines it
_TRANSFORM = re.compile(r"\s*,?\s*(matrix|translate|scale|rotate|skewX|skewY)\s*\(([^)]*)\)")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
Matrix = tuple[float, float, float, float, float, float]
IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def _view_box(attributes: dict[str, str]) -> list[float]:
    """Left, top, width and height; empty if there is none."""
    box = [float(number) for number in _NUMBER.findall(attributes.get("viewBox", ""))]
    return box if len(box) == 4 and min(box[2:]) > 0 else []


def page(attributes: dict[str, str]) -> tuple[Matrix, tuple[float, float], str]:
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


def inner_page(attributes: dict[str, str], size: tuple[float, float]) -> tuple[Matrix, tuple[float, float]]:
    """Where an svg within another one lies (SVG 1.1, chapter 7.9), and its own size."""

    def length(name: str, whole: float, default: str) -> float:
        share = PERCENT.fullmatch(attributes.get(name, default))
        return float(share[1]) / 100 * whole if share else length_of(attributes, name)

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


def length_of(attributes: dict[str, str], name: str) -> float:
    found = _LENGTH.fullmatch(attributes.get(name, "0"))
    if found is None:
        raise ValueError(f"has {name}={attributes[name][:40]!r}: a number of user units, mm, cm, in, pt, "
                         "pc or q is needed")  # fmt: skip
    size = (found[2] or "px").lower()
    return float(found[1]) * (1.0 if size == "px" else _MM[size] / _PIXEL)


def matrix_of(text: str) -> Matrix:
    found, place = IDENTITY, 0
    while match := _TRANSFORM.match(text, place):
        numbers = [float(number) for number in _NUMBER.findall(match[2])]
        found = product(found, _one(match[1], numbers))
        place = match.end()
    if text[place:].strip(" ,\t\r\n"):
        raise ValueError(
            f"has {text[place:][:30].strip()!r}: matrix, translate, scale, rotate or skew is needed"
        )
    return found


def _one(kind: str, n: list[float]) -> Matrix:
    allowed = {"matrix": (6,), "translate": (1, 2), "scale": (1, 2), "rotate": (1, 3), "skewX": (1,),
               "skewY": (1,)}  # fmt: skip
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


def product(m: Matrix, n: Matrix) -> Matrix:
    """First `n`, then `m`."""
    a, b, c, d, e, f = m
    g, h, i, j, k, l = n  # noqa: E741
    return (a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f)
