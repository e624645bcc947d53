"""What lies above a tour in an SVG: where it starts, in which direction it goes, numbers and names of stops.

The same as on a page, which lays it out anew at each zoom.
"""

from collections.abc import Sequence
from unicodedata import east_asian_width

import numpy as np
from numpy.typing import NDArray

from warptsp.io._xml import xml_text
from warptsp.plotting.colours import Theme, css

LABELLED = 400  # stops up to which they have numbers
LETTERS = 28  # of a name

# In heights of the font.
LETTER, WIDE_LETTER = 0.6, 1.0  # more than most fonts need: nothing is measured here
ROW = 1.3
APART = 0.7  # from the middle of a stop
ARROW_EDGE = 4.0  # of an edge that has an arrow
HALO = 0.3


class Labels:
    """Labels of a picture of this width and height, and the room that they leave.

    `stops` are pixels, y downwards, in the order of the tour; `font` is the height of letters in pixels.
    """

    def __init__(self, stops: NDArray[np.float64], size: tuple[int, int], font: float, theme: Theme) -> None:
        self.stops, self.size, self.font, self.theme = stops, np.array(size), font, theme
        dots = stops if len(stops) <= LABELLED else stops[:0]
        self.boxes = np.concatenate((dots - 0.4 * font, dots + 0.4 * font), axis=1)

    def elements(self, names: Sequence[str] | None, *, closed: bool) -> list[str]:
        """Return flags at the ends, and up to 400 numbers, with names if there are any, as many as fit."""
        size, (wide, high) = self.font, self.font * np.array([0.5, ROW])
        flags, written = [], []
        for place, text in [(0, "start")] if closed else [(0, "start"), (len(self.stops) - 1, "end")]:
            if (box := self._room(place, text, wide, raised=True)) is not None:
                x, y = box
                width = _width(text, size) + 2 * wide
                flags.append(
                    f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{high:.1f}" '
                    f'fill="{css(self.theme.dot)}"/>{self._text(x + wide, y, text, "#fff")}'
                )
        for place in range(len(self.stops) if len(self.stops) <= LABELLED else 0):
            number, name = str(place + 1), "" if names is None else names[place]
            name = name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…"
            for text in dict.fromkeys((f"\u2002{name}" if name else "", "")):
                if (box := self._room(place, number + text, 1.0)) is None:
                    continue
                bold = f'<tspan font-weight="bold" fill="{css(self.theme.line)}">{number}</tspan>'
                written.append(self._text(*box, bold + xml_text(text), self.theme.ink))
                break
        halo = []
        if self.theme.paper is not None and written:
            # Below them as texts of their own: not every program has paint-order.
            edge = (
                f'stroke="{css(self.theme.paper)}" stroke-width="{HALO * size:.3g}" stroke-linejoin="round"'
            )
            halo = [f'<g aria-hidden="true" {edge}>', *written, "</g>"]
        return [f'<g font-family="sans-serif" font-size="{size:g}">', *halo, *written, *flags, "</g>"]

    def arrows(self, begins: NDArray[np.float64], ends: NDArray[np.float64]) -> str:
        """Return the path of an arrow in the middle of each edge that is long enough for one."""
        way = ends - begins
        length = np.hypot(*way.T)
        length[:1] *= 2.0  # the first one has an arrow sooner
        seen = (length > ARROW_EDGE * self.font) & (np.abs(begins + ends - self.size) < self.size).all(axis=1)
        along = way[seen] / np.hypot(*way[seen].T)[:, None] * (0.4 * self.font)
        across, middle = along[:, ::-1] * [-1.0, 1.0], (begins + ends)[seen] / 2
        corners = np.stack((middle + along, middle - along + across, middle - along - across), axis=1)
        steps = ["L".join(f"{x:.1f} {y:.1f}" for x, y in corner) for corner in corners.tolist()]
        return "".join(f"M{step}z" for step in steps)

    def _text(self, x: float, y: float, text: str, fill: str) -> str:
        return f'<text x="{x:.1f}" y="{y + (ROW - 0.3) * self.font:.1f}" fill="{fill}">{text}</text>'

    def _room(
        self, place: int, text: str, margin: float, *, raised: bool = False
    ) -> tuple[float, float] | None:
        """Take the first box beside a stop in which there is nothing yet; return its upper left corner."""
        x, y = self.stops[place]
        wide, high, apart = _width(text, self.font) + 2 * margin, ROW * self.font, APART * self.font
        corners = [
            (x + apart, y - high / 2), (x - apart - wide, y - high / 2), (x - wide / 2, y - apart - high),
            (x - wide / 2, y + apart), (x + apart, y - apart - high), (x + apart, y + apart),
        ]  # fmt: skip
        for corner in corners[4:] + corners[:4] if raised else corners:
            low, up = np.array(corner), np.array(corner) + (wide, high)  # noqa: RUF005
            free = not ((self.boxes[:, :2] < up) & (self.boxes[:, 2:] > low)).all(axis=1).any()
            if free and (low >= 0).all() and (up <= self.size).all():
                self.boxes = np.append(self.boxes, [[*low, *up]], axis=0)
                return corner
        return None


def _width(text: str, font: float) -> float:
    return font * sum(WIDE_LETTER if east_asian_width(letter) in "WF" else LETTER for letter in text)
