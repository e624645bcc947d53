"""A chart of a few lines, as SVG, with nothing but the standard library."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 36, 50
DOTTED = 500  # points of a line that are drawn as dots, too, if there are no more
LETTER = 7  # width of a letter of the names of the lines, about
COLOURS = ("#1f5499", "#c43626", "#2e8b57", "#8a5a9e", "#c98a1b", "#444444", "#17a2b8", "#b03a7a")

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Chart:
    """Lines through points; ``log_x`` and ``log_y`` for logarithmic axes."""

    title: str
    x: str
    y: str
    lines: Mapping[str, Points]
    log_x: bool = True
    log_y: bool = True

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not any(self.lines.values())

    def write(self, path: Path) -> None:
        """Write the chart into an SVG file."""
        path.write_text(self.svg(), encoding="utf-8")

    def svg(self) -> str:
        """Return the chart as the text of an SVG file."""
        points = [point for line in self.lines.values() for point in line]
        across = _axis([x for x, _ in points], self.log_x, LEFT, WIDTH - RIGHT)
        up = _axis([y for _, y in points], self.log_y, HEIGHT - BOTTOM, TOP)
        longest = max(map(len, self.lines), default=0)
        width = max(WIDTH, WIDTH - RIGHT + 30 + LETTER * longest)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" '
            'font-family="sans-serif" font-size="12">',
            f'<rect width="{width}" height="{HEIGHT}" fill="white"/>',
            f'<text x="{LEFT}" y="20" font-size="14">{escape(self.title)}</text>',
            f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">'
            f"{escape(self.x)}</text>",
            f'<text transform="translate(16 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" '
            f'text-anchor="middle">{escape(self.y)}</text>',
        ]
        for tick in across.ticks:
            place = across.at(tick)
            parts.append(
                f'<path d="M{place:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>'
                f'<text x="{place:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{tick:g}</text>'
            )
        for tick in up.ticks:
            place = up.at(tick)
            parts.append(
                f'<path d="M{LEFT} {place:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                f'<text x="{LEFT - 6}" y="{place + 4:.1f}" text-anchor="end">{tick:g}</text>'
            )
        for number, (name, line) in enumerate(self.lines.items()):
            colour = COLOURS[number % len(COLOURS)]
            dashes = ' stroke-dasharray="6 3"' if number >= len(COLOURS) else ""
            places = [(across.at(x), up.at(y)) for x, y in sorted(line)]
            path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
            if path:
                parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.5"{dashes}/>')
            if len(places) <= DOTTED:
                parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in places]
            row = TOP + 14 + 18 * number
            parts.append(
                f'<circle cx="{WIDTH - RIGHT + 16}" cy="{row - 4}" r="4" fill="{colour}"/>'
                f'<text x="{WIDTH - RIGHT + 26}" y="{row}">{escape(name)}</text>'
            )
        return "\n".join([*parts, "</svg>"]) + "\n"


@dataclass(frozen=True)
class _Axis:
    ticks: list[float]
    at: Callable[[float], float]


def _axis(values: Sequence[float], log: bool, first: float, last: float) -> _Axis:
    low, high = (min(values), max(values)) if values else (1.0, 10.0)
    if log:
        ticks = _log_ticks(low, high)
        scale: Callable[[float], float] = math.log10
    else:
        ticks = _even_ticks(low, high)
        scale = float
    begin, end = scale(min(low, ticks[0])), scale(max(high, ticks[-1]))
    span = (end - begin) or 1.0
    return _Axis(ticks, lambda value: first + (scale(value) - begin) / span * (last - first))


def _log_ticks(low: float, high: float) -> list[float]:
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if len(exponents) <= 3 else (1,)
    ticks = [step * 10.0**exponent for exponent in exponents for step in steps]
    inside = [tick for tick in ticks if low <= tick <= high]
    return inside if len(inside) >= 2 else [low, high] if low < high else [low]


def _even_ticks(low: float, high: float) -> list[float]:
    low = min(low, 0.0) if low < 0.5 * high else low
    if low == high:
        return [low]
    step = 10.0 ** math.floor(math.log10(high - low))
    step = next(factor * step for factor in (0.2, 0.5, 1.0, 2.0) if (high - low) / (factor * step) <= 6)
    return [step * k for k in range(math.floor(low / step), math.ceil(high / step) + 1)]
