"""Pictures of tours, SVG or PNG, with nothing but NumPy.

An SVG holds the tour as one path with whole-number steps. Beyond `VECTOR_CITIES` cities no viewer likes that
any more, and no eye could tell: the SVG then holds a PNG of suitable size.
"""

from __future__ import annotations

import base64
import os
import struct
import zlib
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from warptsp.errors import InvalidOption, UnsupportedProblem
from warptsp.outputs import atomic_write
from warptsp.result import format_length
from warptsp.stop._check import checked_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warptsp.problem import Problem

VECTOR_CITIES = 100_000
DOTTED_CITIES = 3_000  # more cities than these are seen only as corners of the tour
UNITS = 10  # SVG steps a pixel

PAPER = (255, 255, 255)
LINE = (31, 84, 153)
DOT = (196, 54, 38)


def check_drawable(problem: Problem, path: str | os.PathLike[str]) -> None:
    """Make sure that the tour of a problem can be drawn into this kind of file, before it is solved.

    Raises
    ------
    InvalidOption
        If the name ends in neither .svg nor .png.
    UnsupportedProblem
        If the instance has no coordinates, such as a bare matrix.
    """
    if Path(path).suffix.lower() not in (".svg", ".png"):
        raise InvalidOption(f"picture: {os.fspath(path)!r} ends in neither .svg nor .png")
    if _plane(problem) is None:
        raise UnsupportedProblem(
            f"picture: the instance {problem.name} has distances but no coordinates to draw; "
            "TSPLIB files can carry them in a DISPLAY_DATA_SECTION"
        )


def draw(
    path: str | os.PathLike[str],
    problem: Problem,
    tour: NDArray[np.int32],
    *,
    size: int | None = None,
    title: str | None = None,
) -> None:
    """Draw a tour into an SVG or PNG file; the ending of the name tells which.

    Parameters
    ----------
    path : path
        File to write, ``.svg`` or ``.png``.
    problem : Problem
        The instance; its coordinates, or display coordinates, are drawn. Latitudes point up, and longitudes
        are shortened by the cosine of the mean latitude.
    tour : ndarray of int, shape (n,)
        The cities, numbered from 0, in visiting order; checked.
    size : int, optional
        Pixels of the longer side; 1000 to 4000 by the number of cities if not given.
    title : str, optional
        Line below an SVG picture; name, number of cities and length if not given.

    Raises
    ------
    InvalidOption, UnsupportedProblem, InvalidTour, OutputError
        For another ending, no coordinates, no tour, a file that cannot be written.
    """
    check_drawable(problem, path)
    problem.check_tour(tour)
    if size is None:
        size = int(np.clip(4.0 * np.sqrt(problem.n), 1000, 4000))
    size = checked_count("picture size", size, minimum=16, what="a number of pixels, 16 or more")
    pixels, width, height = _fit(problem, size)
    stops = pixels[np.asarray(tour)]
    closed = problem.open is None
    if Path(path).suffix.lower() == ".png":
        content = _png(stops, closed, width, height)
    else:
        if title is None:
            length = format_length(problem.length(tour))
            title = f"{problem.name or 'tour'}, {problem.n} cities, length {length}"
        content = _svg(stops, closed, width, height, title).encode()
    with atomic_write(path) as stream:
        stream.write(content)


def _plane(problem: Problem) -> NDArray[np.float64] | None:
    """Return coordinates to draw, x to the right and y upwards, or None."""
    if problem.display is None and problem.coordinates is not None and problem.metric.geographic:
        degrees = problem.coordinates
        if problem.metric.name == "GEO":  # degrees and minutes, DDD.MM
            whole = np.trunc(degrees)
            degrees = whole + (degrees - whole) / 0.6
        return _map_projection(degrees)
    return problem.plot_points


def _map_projection(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    latitude, longitude = degrees[:, 0], degrees[:, 1]
    # Cut the globe open where the widest band without cities is, so that no short edge crosses the picture.
    around = np.sort(np.mod(longitude, 360.0))
    gaps = np.diff(np.append(around, around[0] + 360.0))
    west = around[(int(np.argmax(gaps)) + 1) % len(around)]
    x = np.mod(longitude - west, 360.0) * np.cos(np.radians(latitude.mean()))
    return np.column_stack((x, latitude))


def _fit(problem: Problem, size: int) -> tuple[NDArray[np.float64], int, int]:
    """Return the cities in pixels, y downwards, with a margin, and the picture's width and height."""
    plane = _plane(problem)
    if plane is None:
        raise UnsupportedProblem(f"picture: the instance {problem.name} has no coordinates")
    low, high = plane.min(axis=0), plane.max(axis=0)
    margin = max(4.0, 0.02 * size)
    extent = high - low
    longest = extent.max()
    scale = (size - 2 * margin) / longest if longest > 0 and np.isfinite(longest) else 0.0
    if not np.isfinite(scale):
        scale = 0.0
    width, height = (int(np.ceil(side * scale + 2 * margin)) for side in extent)
    pixels = np.empty_like(plane, dtype=np.float64)
    pixels[:, 0] = (plane[:, 0] - low[0]) * scale + margin
    pixels[:, 1] = (high[1] - plane[:, 1]) * scale + margin
    return pixels, width, height


def _line_width(cities: int) -> float:
    return float(np.clip(3.0 - 0.5 * np.log10(max(cities, 1)), 1.0, 2.0))


def _svg(stops: NDArray[np.float64], closed: bool, width: int, height: int, title: str) -> str:
    caption = 24
    text = escape(title)
    if len(stops) > VECTOR_CITIES:
        data = base64.b64encode(_png(stops, closed, width, height)).decode()
        body = f'<image width="{width}" height="{height}" href="data:image/png;base64,{data}"/>'
    else:
        units = np.rint(stops * UNITS).astype(np.int64)
        pen = f'stroke-linejoin="round" stroke-linecap="round" transform="scale({1 / UNITS:g})"'
        body = (
            f'<path d="{_path(units, closed)}" fill="none" stroke="rgb{LINE}" '
            f'stroke-width="{_line_width(len(stops)) * UNITS:g}" {pen}/>'
        )
        if len(stops) <= DOTTED_CITIES:
            dots = "".join(f"M{x} {y}h0" for x, y in units.tolist())
            radius = 2.5 * _line_width(len(stops)) * UNITS
            body += f'\n<path d="{dots}" fill="none" stroke="rgb{DOT}" stroke-width="{radius:g}" {pen}/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + caption}" '
        f'viewBox="0 0 {width} {height + caption}">\n'
        f"<title>{text}</title>\n"
        f'<rect width="100%" height="100%" fill="rgb{PAPER}"/>\n'
        f"{body}\n"
        f'<text x="{width / 2:g}" y="{height + 12}" font-family="sans-serif" font-size="14" '
        f'text-anchor="middle" fill="#444">{text}</text>\n'
        "</svg>\n"
    )


def _path(units: NDArray[np.int64], closed: bool) -> str:
    steps = np.diff(units, axis=0)
    steps = steps[steps.any(axis=1)]
    # "l3-4 5 6": whole numbers relative to the last point are the shortest text there is.
    relative = " ".join(f"{dx} {dy}" for dx, dy in steps.tolist())
    return f"M{units[0, 0]} {units[0, 1]}" + (f"l{relative}" if relative else "h0") + ("z" if closed else "")


def _png(stops: NDArray[np.float64], closed: bool, width: int, height: int) -> bytes:
    fine = 3 if max(width, height) <= 2000 else 2
    thickness = _line_width(len(stops)) * fine
    lines = _coverage(_along(stops * fine, closed), thickness, width, height, fine)
    if len(stops) <= DOTTED_CITIES:
        dots = _coverage(iter([stops * fine]), 2.5 * thickness, width, height, fine)
    else:
        dots = np.zeros_like(lines)
    # 16 levels of line and 16 of dot: a palette of 256 colours.
    levels = np.arange(16)[:, None] / 15.0
    line_part = np.array(PAPER) * (1 - levels) + np.array(LINE) * levels
    palette = line_part[:, None, :] * (1 - levels[None]) + np.array(DOT) * levels[None]
    return _encode_png(lines * 16 + dots, np.rint(palette.reshape(256, 3)).astype(np.uint8))


def _along(stops: NDArray[np.float64], closed: bool):  # type: ignore[no-untyped-def]
    """Yield points along the edges of the tour, at most one unit apart, in arrays of half a million."""
    ends = np.roll(stops, -1, axis=0) if closed else np.append(stops[1:], stops[-1:], axis=0)
    counts = np.ceil(np.abs(ends - stops).max(axis=1)).astype(np.int64) + 1
    total = np.cumsum(counts)
    begin = 0
    while begin < len(stops):
        base = total[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, base + 500_000)))
        count = counts[begin:end]
        edge = np.repeat(np.arange(begin, end), count)
        rank = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        share = (rank / counts[edge])[:, None]
        yield stops[edge] * (1.0 - share) + ends[edge] * share
        begin = end


def _coverage(points, thickness: float, width: int, height: int, fine: int):  # type: ignore[no-untyped-def]
    """Return how much of each pixel, 0 to 15, discs of this diameter around the points cover."""
    mask = np.zeros((height * fine, width * fine), dtype=bool)
    for some in points:
        x = np.clip(some[:, 0].astype(np.int64), 0, width * fine - 1)
        y = np.clip(some[:, 1].astype(np.int64), 0, height * fine - 1)
        mask[y, x] = True
    pen = int(thickness / 2)
    if pen:
        thin = mask.copy()
        for dy in range(-pen, pen + 1):
            for dx in range(-pen, pen + 1):
                if dx * dx + dy * dy <= thickness * thickness / 4:
                    mask |= _shifted(thin, dy, dx)
    covered = mask.reshape(height, fine, width, fine).sum(axis=(1, 3), dtype=np.uint8)
    return (covered.astype(np.uint16) * 15 // (fine * fine)).astype(np.uint8)


def _shifted(mask: NDArray[np.bool_], dy: int, dx: int) -> NDArray[np.bool_]:
    moved = np.zeros_like(mask)
    height, width = mask.shape
    moved[max(dy, 0) : height + min(dy, 0), max(dx, 0) : width + min(dx, 0)] = mask[
        max(-dy, 0) : height + min(-dy, 0), max(-dx, 0) : width + min(-dx, 0)
    ]
    return moved


def _encode_png(index: NDArray[np.uint8], palette: NDArray[np.uint8]) -> bytes:
    """Encode an image of palette indices; PNG specification (W3C, third edition), colour type 3, filter 0."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = index.shape
    rows = np.zeros((height, width + 1), dtype=np.uint8)
    rows[:, 1:] = index
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
        + chunk(b"PLTE", palette.tobytes())
        + chunk(b"IDAT", zlib.compress(rows.tobytes(), 6))
        + chunk(b"IEND", b"")
    )
