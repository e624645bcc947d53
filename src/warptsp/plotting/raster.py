"""Edges as an image: what the pictures with and without matplotlib have in common.

The native core draws (``native/pictures/raster.h``): ten million edges in about a second.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warptsp._native import StopToken, draw_edges, survey_edges
from warptsp.plotting.plane import Edges
from warptsp.problem.checks import bounds_of

INK = 0.25
"""Share of the area that is covered where there are cities: lines get thinner as they get more."""

MAX_PIXELS_OF_LINE = 4.0
"""Pixels of line for each pixel of the picture that are worth drawing. Only tours near random ones have more;
of them every second edge, or every third, is drawn, with twice the ink, or three times."""


SURVEYED_EDGES = 200_000
"""More need not be examined to know how thick their lines may be."""

MIN_EXTENT = 1e-300
"""Of a plane that is drawn to scale."""


@dataclass(frozen=True)
class View:
    """A part of the plane in a picture of `width` times `height` pixels.

    A point (x, y) is drawn at the pixel ``(x - origin[0]) * scale[0] + shift[0]``, and the same with y, where
    pixels count downwards.
    """

    origin: tuple[float, float]
    scale: tuple[float, float]
    shift: tuple[float, float]
    width: int
    height: int

    @classmethod
    def fit(cls, plane: NDArray[np.float64], size: int) -> "View":
        """Return the view of the whole plane, with a margin, whose longer side has `size` pixels."""
        low, high = bounds_of(plane)
        margin = max(4.0, 0.02 * size)
        extent = high - low
        longest = extent.max()
        # Of cities nearer to each other than any scale could show, a picture is a dot.
        scale = (size - 2 * margin) / longest if longest > MIN_EXTENT else 0.0
        # A line of cities, or all of them at one place, needs a height, too.
        width, height = (
            max(int(np.ceil(side * scale + 2 * margin)), int(np.ceil(size / 8))) for side in extent
        )
        middle = 0.5 * (extent if scale else 0.0 * extent)
        return cls(
            origin=(float(low[0] + middle[0]), float(low[1] + middle[1])),
            scale=(scale, -scale),
            shift=(width / 2, height / 2),
            width=width,
            height=height,
        )

    def pixels(self, plane: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return where points are drawn, y downwards."""
        found: NDArray[np.float64] = (plane - self.origin) * self.scale + self.shift
        return found

    @property
    def _transform(self) -> tuple[float, ...]:
        return (*self.origin, *self.scale, *self.shift)


@dataclass(frozen=True)
class Pen:
    """How edges are drawn into a view."""

    width: float  # of lines, in pixels
    spacing: float  # of the cities, in pixels, where there are any
    stride: int = 1  # every so many-th edge is drawn

    @classmethod
    def suited(
        cls, plane: NDArray[np.float64], edges: Edges, view: View, *, thickest: float, ink: float = INK
    ) -> "Pen":
        """Return the pen that covers the share `ink` of where the edges are, if it need not be thicker."""
        count = max(len(edges.begins), 1)
        sampled = max(1, count // SURVEYED_EDGES)
        pixels = view.width * view.height
        # Four cities to a block, were they spread evenly: the blocks that hold one tell how far they spread.
        block = max(1.0, 2.0 * float(np.sqrt(pixels * sampled / count)))
        token = StopToken()
        found = survey_edges(
            plane, *edges, view._transform, view.width, view.height, block=block, stride=sampled, token=token
        )
        assert found is not None  # nobody stops this token
        length, area = found
        if length == 0.0:  # all cities at one place
            return cls(thickest, float(max(view.width, view.height)))
        spacing = float(np.sqrt(area / count))
        stride = max(1, int(np.ceil(length / (MAX_PIXELS_OF_LINE * pixels))))
        return cls(min(thickest, ink * area / length), spacing, stride)


def opacity(
    plane: NDArray[np.float64], edges: Edges, view: View, width: float, stride: int = 1
) -> NDArray[np.uint8]:
    """Return the opacity of the edges, 0 to 255, shape (height, width), the first row on top.

    An edge from a city to itself is a disc. Where lines are less than a pixel wide, one gets this width times
    the length of the lines in it, so that many lines make a grey of their density. Every so many-th edge is
    drawn, with so many times the ink.
    """
    image = np.zeros((view.height, view.width), dtype=np.uint8)
    draw_edges(image, plane, *edges, view._transform, width, stride=stride, token=StopToken())
    return image
