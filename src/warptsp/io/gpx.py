"""GPX 1.1: a tour as a route for navigation devices."""

from __future__ import annotations

import re
from html import escape

import numpy as np
from numpy.typing import NDArray

from warptsp.problem import Problem

from .places import degrees

__all__ = ["tour_gpx"]

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def tour_gpx(problem: Problem, tour: NDArray[np.int32]) -> bytes:
    """A GPX document with the tour as a route, closed unless the instance is an open path.

    Raises
    ------
    InvalidOption
        The cities have no latitude and longitude.
    """
    places = degrees(problem, "GPX").tolist()
    order = tour.tolist()
    if problem.open is None and len(order) > 1:
        order.append(order[0])
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<gpx version="1.1" creator="warptsp" xmlns="http://www.topografix.com/GPX/1/1">',
        f"<rte><name>{_text(problem.name or 'tour')}</name>",
    ]
    for city in order:
        latitude, longitude = places[city]
        name = _text(problem.label(city))
        lines.append(f'<rtept lat="{latitude!r}" lon="{longitude!r}"><name>{name}</name></rtept>')
    lines.append("</rte></gpx>\n")
    return "\n".join(lines).encode()


def _text(value: str) -> str:
    return escape(_NO_XML.sub("?", value), quote=False)
