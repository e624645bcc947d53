"""Tours in matplotlib's axes.

Up to `VECTOR_CITIES` cities edges are lines. More are an image that is drawn by `raster` whenever matplotlib
draws: at the resolution of the file, or of the part that a window shows.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.transforms import IdentityTransform
from numpy.typing import NDArray

from warptsp.plotting.colours import BLACK, BLUE, GREY, VERMILION, Colour, css
from warptsp.plotting.picture import DOTTED_CITIES
from warptsp.plotting.plane import PANEL, Edges, around_the_world, edges_missing_in, fixed_edges
from warptsp.plotting.raster import INK, Pen, View, opacity
from warptsp.problem import Problem

VECTOR_CITIES = 20_000
THICKEST = 1.0  # points


class TourFigure(Figure):  # type: ignore[misc, unused-ignore]
    """A figure that a notebook shows, whether pyplot was imported or not."""

    def _repr_png_(self) -> bytes:
        from io import BytesIO

        stream = BytesIO()
        self.savefig(stream, format="png", dpi=min(self.dpi, 100.0))
        return stream.getvalue()


class EdgeImage(AxesImage):  # type: ignore[misc, unused-ignore]
    """Edges, drawn at the resolution and for the part of the plane that are asked for."""

    def __init__(
        self,
        axes: Axes,
        plane: NDArray[np.float64],
        edges: Edges,
        colour: Colour,
        thickest: float,
        ink: float,
        **options: Any,
    ) -> None:
        super().__init__(axes, extent=(*axes.get_xlim(), *axes.get_ylim()), **options)
        self.set_data(np.zeros((1, 1)))  # what it would show is drawn by make_image
        self._plane, self._edges, self._colour = plane, edges, colour
        self._thickest, self._ink = thickest, ink
        self._drawn: tuple[View, float] | None = None
        self._pixels = np.zeros((0, 0, 4), dtype=np.uint8)

    def make_image(self, renderer: Any, magnification: float = 1.0, unsampled: bool = False) -> Any:
        """Return red, green, blue and opacity, the lowest row first, and where they belong."""
        axes: Any = self.axes
        left, bottom, right, top = np.rint(axes.bbox.extents * magnification).astype(int).tolist()
        width, height = right - left, top - bottom
        if width < 1 or height < 1:
            return None, 0, 0, IdentityTransform()
        (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
        view = View((x0, y0), (width / (x1 - x0), height / (y1 - y0)), (0.0, 0.0), width, height)
        thickest = max(1.0, self._thickest * axes.figure.dpi / 72 * magnification)
        if self._drawn != (view, thickest):
            pen = Pen.suited(self._plane, self._edges, view, thickest=thickest, ink=self._ink)
            self._pixels = np.empty((height, width, 4), dtype=np.uint8)
            self._pixels[..., :3] = self._colour
            self._pixels[..., 3] = opacity(self._plane, self._edges, view, pen.width, pen.stride)
            self._drawn = view, thickest
        return self._pixels, left / magnification, bottom / magnification, IdentityTransform()

    def get_cursor_data(self, event: Any) -> None:
        """Say that there is nothing to tell about a pixel."""


def draw_tour(axes: Axes, problem: Problem, plane: NDArray[np.float64], edges: Edges) -> None:
    """Draw a tour, the fixed edges in it, the cities of a small one, and the ends of a path."""
    _draw_edges(axes, problem, plane, edges, BLUE, THICKEST)
    fixed = fixed_edges(problem)
    if len(fixed.begins):
        _draw_edges(axes, problem, plane, fixed, BLACK, 2 * THICKEST)
    points: dict[str, Any] = {"linestyle": "none", "marker": "o", "color": css(VERMILION)}
    if len(plane) <= DOTTED_CITIES:
        pen = Pen.suited(plane, edges, _view_in_points(plane), thickest=THICKEST)
        size = min(0.3 * pen.spacing, 3.5)
        if size >= 2.2 * pen.width:
            axes.plot(*plane.T, markersize=size, markeredgewidth=0, zorder=4, **points)
    if problem.open is not None:
        first, last = (edges.begins[0], edges.ends[-1]) if len(edges.begins) else (0, 0)
        axes.plot(
            *plane[last], markersize=5, markeredgewidth=1.5, markerfacecolor="white", zorder=5, **points
        )
        axes.plot(*plane[first], markersize=6, markeredgewidth=0, zorder=6, **points)
    _tidy(axes)


def draw_difference(
    axes: Axes, problem: Problem, plane: NDArray[np.float64], before: Edges, after: Edges
) -> None:
    """Draw the edges that both tours have pale, and those that only one of them has in its colour."""
    gone = edges_missing_in(before, after, problem.n)
    new = edges_missing_in(after, before, problem.n)
    layers = (
        (Edges(after.begins[~new], after.ends[~new]), GREY, 0.5, 0.3 * INK, "kept"),
        (Edges(before.begins[gone], before.ends[gone]), VERMILION, THICKEST, 0.6 * INK, "removed"),
        (Edges(after.begins[new], after.ends[new]), BLUE, THICKEST, 0.6 * INK, "added"),
    )
    for edges, colour, thickest, ink, name in layers:
        axes.plot([], [], color=css(colour), linewidth=1.5, label=f"{len(edges.begins)} {name}")
        if len(edges.begins):
            _draw_edges(axes, problem, plane, edges, colour, thickest, ink)
    _tidy(axes)
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3, frameon=False, fontsize=8, handlelength=1.2,
        columnspacing=1.2, borderaxespad=0.2,
    )  # fmt: skip


def _draw_edges(
    axes: Axes,
    problem: Problem,
    plane: NDArray[np.float64],
    edges: Edges,
    colour: Colour,
    thickest: float,
    ink: float = INK,
) -> None:
    view = _view_in_points(plane)
    plane, edges = around_the_world(problem, plane, edges)
    if problem.n > VECTOR_CITIES:
        axes.add_image(EdgeImage(axes, plane, edges, colour, thickest, ink, zorder=2))
        return
    if not len(edges.begins):
        return
    if np.array_equal(edges.begins[1:], edges.ends[:-1]):
        stops = plane[np.append(edges.begins, edges.ends[-1:])]
    else:  # lines one by one, NaN between them
        stops = np.full((3 * len(edges.begins), 2), np.nan)
        stops[0::3], stops[1::3] = plane[edges.begins], plane[edges.ends]
    width = Pen.suited(plane, edges, view, thickest=thickest, ink=ink).width
    axes.plot(
        *stops.T, color=css(colour), linewidth=width, zorder=2, solid_joinstyle="round",
        solid_capstyle="round",
    )  # fmt: skip


def _view_in_points(plane: NDArray[np.float64]) -> View:
    return View.fit(plane, int(72 * PANEL))


def _tidy(axes: Axes) -> None:
    axes.set_aspect("equal")
    axes.set_axis_off()
