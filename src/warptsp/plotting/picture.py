"""One tour as an SVG or PNG file, with nothing but NumPy.

An SVG holds the tour as one path with whole-number steps. Beyond `VECTOR_CITIES` cities no viewer likes that
any more, and no eye could tell: the SVG then holds a PNG of suitable size.
"""

import base64
import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import checked_count
from warptsp._words import counted
from warptsp.endings import PICTURES, ends_in
from warptsp.errors import InvalidOption
from warptsp.io._xml import xml_text
from warptsp.outputs import write_whole
from warptsp.plotting import png
from warptsp.plotting.coasts import COARSE, coasts
from warptsp.plotting.colours import ON_PAPER, Colour, Theme, css
from warptsp.plotting.labels import LABELLED, Labels
from warptsp.plotting.plane import (
    Edges,
    around_the_world,
    check_has_places,
    city_plane,
    degree_of,
    drawn_on_earth,
    fixed_edges,
    tour_edges,
)
from warptsp.plotting.raster import Pen, View, opacity
from warptsp.problem import Problem
from warptsp.problem.itinerary import length_of
from warptsp.quantities import length_text

VECTOR_CITIES = 100_000
DOTTED_CITIES = 3_000  # more cities than these are seen only as corners of the tour
UNITS = 10  # SVG steps a pixel
CAPTION = 24  # pixels


def check_drawable(problem: Problem, path: str | os.PathLike[str]) -> None:
    """Make sure that the tour of a problem can be drawn into this kind of file, before it is solved.

    Raises `InvalidOption` for another ending, `UnsupportedProblem` without coordinates.
    """
    if not ends_in(path, PICTURES):
        raise InvalidOption(f"picture: {os.fspath(path)!r} ends in neither .svg nor .png")
    check_has_places(problem)


def draw(
    path: str | os.PathLike[str],
    problem: Problem,
    tour: NDArray[np.int32],
    *,
    size: int | None = None,
    title: str | None = None,
) -> None:
    """Draw a tour into an SVG or PNG file; the ending of the name decides which.

    Up to 3000 cities are drawn as dots, fixed edges are thick and black; a path begins at a disc and ends at
    a ring. An SVG also says where the tour starts, in which direction it goes, and up to 400 numbers and
    names, and has the coastlines of places on the Earth.

    Parameters
    ----------
    path : path
        File to write, ``.svg`` or ``.png``.
    problem : Problem
        The instance; its coordinates, or display coordinates, are drawn. Latitudes point up, and longitudes
        are shortened by the cosine of the mean latitude. Cities in space are seen from above.
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
    picture = Picture.of(problem, tour, size)
    if ends_in(path, (".png",)):
        content = picture.png(ON_PAPER)
    else:
        if title is None:
            length = length_text(length_of(problem, tour), problem.unit)
            title = f"{problem.name or 'tour'}, {counted(problem.n)}, length {length}"
        content = picture.svg(ON_PAPER, title).encode()
    write_whole(path, content)


@dataclass(frozen=True)
class Picture:
    """A tour, and how large everything in its picture is."""

    plane: NDArray[np.float64]
    edges: tuple[NDArray[np.float64], Edges]  # points, and those that are joined
    fixed: tuple[NDArray[np.float64], Edges]
    tour: NDArray[np.int32]
    stops: NDArray[np.int32]  # cities that are dots
    ends: NDArray[np.int32]  # of a path: its first and last city
    names: Sequence[str] | None
    degree: float  # width of a degree of longitude; 0 if the plane is not on the Earth
    view: View
    pen: Pen

    @classmethod
    def of(cls, problem: Problem, tour: NDArray[np.int32], size: int) -> "Picture":
        """Return the picture of a tour, as it is: check it first."""
        plane = city_plane(problem)
        edges = around_the_world(problem, plane, tour_edges(problem, tour))
        view = View.fit(plane, size)
        cities = np.asarray(tour, dtype=np.int32)
        stops = cities if problem.open is None else cities[:-1]  # the last one is a ring
        return cls(
            plane=plane,
            edges=edges,
            fixed=around_the_world(problem, plane, fixed_edges(problem)),
            tour=cities,
            stops=stops if problem.n <= DOTTED_CITIES else stops[:0],
            ends=cities[:0] if problem.open is None else cities[[0, -1]],
            names=problem.labels,
            degree=degree_of(plane[:, 1]) if drawn_on_earth(problem) else 0.0,
            view=view,
            pen=Pen.suited(*edges, view, thickest=max(1.5, max(view.width, view.height) / 500)),
        )

    @property
    def dot(self) -> float:
        """Diameter of a city; 0 where it could not be told from the line."""
        diameter = min(0.3 * self.pen.spacing, 3.5 * self._unit)
        return diameter if diameter >= 2.2 * self.pen.width else 0.0

    @property
    def disc(self) -> float:
        """Diameter of the first city of a path."""
        return 7.5 * self._unit

    @property
    def fixed_width(self) -> float:
        return max(2.0 * self.pen.width, self._unit)

    @property
    def _unit(self) -> float:
        return max(1.2, max(self.view.width, self.view.height) / 500)

    def png(self, theme: Theme) -> bytes:
        def discs(cities: NDArray[np.int32], diameter: float) -> NDArray[np.uint8]:
            return opacity(self.plane, Edges(cities, cities), self.view, max(1.0, diameter))

        layers: list[tuple[NDArray[np.uint8], Colour]] = [
            (opacity(*self.edges, self.view, self.pen.width, self.pen.stride), theme.line)
        ]
        if len(self.fixed[1].begins):
            layers.append((opacity(*self.fixed, self.view, max(1.0, self.fixed_width)), theme.fixed))
        stops = self.stops if self.dot else self.stops[:0]
        if len(stops) or len(self.ends):
            dots = discs(stops, self.dot)
            if len(self.ends):
                dots = np.maximum(dots, discs(self.ends, self.disc))
                hole = discs(self.ends[1:], 0.55 * self.disc)
                dots = np.minimum(dots, np.uint8(255) - hole)
            layers.append((dots, theme.dot))
        return png.encode(layers, theme.paper)

    def svg(self, theme: Theme, title: str | None) -> str:
        """Return an SVG file, without a caption if there is no title."""
        width, height = self.view.width, self.view.height
        bottom = height + (0 if title is None else CAPTION)
        text = xml_text(title or "")
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{bottom}" '
            f'viewBox="0 0 {width} {bottom}">'
        ]
        if title is not None:
            lines.append(f"<title>{text}</title>")
        if theme.paper is not None:
            lines.append(f'<rect width="100%" height="100%" fill="{css(theme.paper)}"/>')
        if len(self.plane) > VECTOR_CITIES:
            data = base64.b64encode(self.png(theme)).decode()
            lines.append(f'<image width="{width}" height="{height}" href="data:image/png;base64,{data}"/>')
        else:
            lines += [*self._land(theme), *self._vectors(theme)]
        if title is not None:
            if theme.paper is not None and self.degree:  # land may lie there
                lines.append(
                    f'<rect y="{height}" width="100%" height="{CAPTION}" fill="{css(theme.paper)}"/>'
                )
            lines.append(
                f'<text x="{width / 2:g}" y="{height + 12}" font-family="sans-serif" font-size="14" '
                f'text-anchor="middle" fill="#444">{text}</text>'
            )
        lines.append("</svg>\n")
        return "\n".join(lines)

    def _land(self, theme: Theme) -> list[str]:
        """Return the land below the tour, if it is to be seen, and not too coarse."""
        view, height = self.view, self.view.height
        if theme.land is None or not 0 < 360.0 * self.degree * view.scale[0] < COARSE:
            return []
        low, high = (np.array([[0, height], [view.width, 0]]) - view.shift) / view.scale + view.origin
        rings = []
        for ring in coasts(low, high, self.degree):
            steps = np.rint(view.pixels(ring)).astype(np.int64)
            places = np.arange(len(steps), dtype=np.int32)
            rings.append(_path(steps, Edges(places, np.roll(places, -1))))
        style = f'fill="{css(theme.land)}" stroke="{css(theme.coast)}" stroke-width="{self._unit / 2.5:.3g}"'
        return [f'<path d="{"".join(rings)}" {style}/>']

    def _labels(self, theme: Theme) -> list[str]:
        """Return what lies above the tour."""
        size, font = (self.view.width, self.view.height), max(11.0, 6.0 * self._unit)
        labels = Labels(self.view.pixels(self.plane[self.tour]), size, font, theme)
        closed = not len(self.ends)
        elements = labels.elements(self.names and [self.names[city] for city in self.tour], closed=closed)
        points, edges = self.edges
        legs = slice(len(self.tour) - (not closed))
        ends = (self.view.pixels(points[side[legs]]) for side in edges)
        arrows = labels.arrows(*ends) if len(self.tour) <= LABELLED else ""
        return [f'<path d="{arrows}" fill="{css(theme.line)}"/>'] * bool(arrows) + elements

    def _vectors(self, theme: Theme) -> list[str]:
        def whole(points: NDArray[np.float64]) -> NDArray[np.int64]:
            return np.rint(self.view.pixels(points) * UNITS).astype(np.int64)

        def stroke(steps: str, colour: Colour, width: float) -> str:
            return (
                f'<path d="{steps}" fill="none" stroke="{css(colour)}" stroke-width="{width * UNITS:.3g}" '
                f'stroke-linejoin="round" stroke-linecap="round" transform="scale({1 / UNITS:g})"/>'
            )

        points, edges = self.edges
        shapes = [stroke(_path(whole(points), edges), theme.line, self.pen.width)]
        points, edges = self.fixed
        if len(edges.begins):
            shapes.append(stroke(_path(whole(points), edges), theme.fixed, self.fixed_width))
        units = whole(self.plane)
        if len(self.stops) and self.dot:
            dots = "".join(f"M{x} {y}h0" for x, y in units[self.stops].tolist())
            shapes.append(stroke(dots, theme.dot, self.dot))
        if len(self.ends):
            (a, b), (c, d) = (units[self.ends] / UNITS).tolist()
            hole, colour = "none" if theme.paper is None else css(theme.paper), css(theme.dot)
            shapes.append(f'<circle cx="{a:g}" cy="{b:g}" r="{self.disc / 2:.3g}" fill="{colour}"/>')
            shapes.append(
                f'<circle cx="{c:g}" cy="{d:g}" r="{0.39 * self.disc:.3g}" fill="{hole}" stroke="{colour}" '
                f'stroke-width="{0.225 * self.disc:.3g}"/>'
            )
        return shapes + self._labels(theme)


def _path(units: NDArray[np.int64], edges: Edges) -> str:
    """Return the steps along edges, piece by piece of those that follow each other."""
    breaks = np.flatnonzero(edges.begins[1:] != edges.ends[:-1]) + 1
    pieces = []
    for begin, end in zip([0, *breaks], [*breaks, len(edges.begins)], strict=True):
        if begin == end:
            continue
        first, last = edges.begins[begin], edges.ends[end - 1]
        closed = first == last and end - begin > 1
        steps = np.diff(
            units[np.append(edges.begins[begin:end], [] if closed else [last]).astype(int)], axis=0
        )
        steps = steps[steps.any(axis=1)]
        # "l3-4 5 6": whole numbers relative to the last point are the shortest text there is.
        relative = " ".join(f"{dx} {dy}" for dx, dy in steps.tolist())
        x, y = units[first]
        pieces.append(f"M{x} {y}" + (f"l{relative}" if relative else "h0") + ("z" if closed else ""))
    return "".join(pieces)
