"""Arcs and helices of G-code as points."""

import math
from collections.abc import Mapping

from warptsp.strokes.gcode_words import Unknown

Point = tuple[float, float, float]
SAG = 0.01  # by which a chord may miss its arc, in the file's unit


def points_of_arc(
    a: Point, b: Point, values: Mapping[str, str], clockwise: bool, plane: str, absolute: bool
) -> list[Point]:
    """Points along an arc or a helix from `a` to `b`, by the words of its line.

    `plane` is G18, G19, or else that of X and Y; `absolute` says whether the centre is given as a place.
    Raises `Unknown` where a radius alone tells no centre.
    """
    first, second, third = {"G18": (2, 0, 1), "G19": (1, 2, 0)}.get(plane, (0, 1, 2))
    if "R" in values:
        u, v = _centre(a[first], a[second], b[first], b[second], float(values["R"]), clockwise)
    else:
        base = (0.0, 0.0) if absolute else (a[first], a[second])
        u, v = base[0] + float(values.get("IJK"[first], 0)), base[1] + float(values.get("IJK"[second], 0))
    radius = math.hypot(a[first] - u, a[second] - v)
    begin = math.atan2(a[second] - v, a[first] - u)
    end = math.atan2(b[second] - v, b[first] - u)
    turn = (begin - end if clockwise else end - begin) % (2 * math.pi)
    if (a[first] == b[first] and a[second] == b[second]) or turn < 1e-9:
        turn = 2 * math.pi
    step = 2 * math.acos(max(1 - SAG / radius, 0.0)) if radius > SAG else math.pi
    count = min(max(math.ceil(turn / max(step, 1e-9)), 8), 4096)
    points = [a]
    for k in range(1, count):
        angle = begin + (-turn if clockwise else turn) * k / count
        point = [0.0, 0.0, 0.0]
        point[first], point[second] = u + radius * math.cos(angle), v + radius * math.sin(angle)
        point[third] = a[third] + (b[third] - a[third]) * k / count
        points.append((point[0], point[1], point[2]))
    return [*points, b]


def _centre(
    x: float, y: float, to_x: float, to_y: float, radius: float, clockwise: bool
) -> tuple[float, float]:
    """The centre of an arc of which the radius is given: negative for the longer one."""
    half = math.hypot(to_x - x, to_y - y) / 2
    if half == 0:
        raise Unknown(f"an arc of radius {radius:g} that ends where it begins")
    away = math.sqrt(max(radius**2 - half**2, 0.0)) * (-1 if clockwise == (radius > 0) else 1)
    return (x + to_x) / 2 - away * (to_y - y) / (2 * half), (y + to_y) / 2 + away * (to_x - x) / (2 * half)
