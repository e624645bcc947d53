"""How a tour got shorter: the gap over time on logarithmic axes, or the length if no optimum is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from warptsp.plotting.colours import BLUE, css
from warptsp.progress import relative_gap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from warptsp.problem import KnownLength

MAX_POINTS = 2000
SOONEST = 1e-3  # seconds: a logarithm has no zero


def draw_curve(
    axes: Axes, history: Sequence[tuple[float, int | float]], seconds: float | None, known: KnownLength | None
) -> None:
    """Draw the best length, or its gap to the known one, after each of one or more improvements.

    `seconds` is when the run ended.
    """
    times = np.maximum([point[0] for point in history], SOONEST)
    lengths = np.array([point[1] for point in history], dtype=np.float64)
    end = max(float(times[-1]), seconds or 0.0)
    gaps = None
    if known is not None and known.length > 0:
        gaps = np.array([100.0 * (relative_gap(length, known.length) or 0.0) for _, length in history])
    if known is not None and gaps is not None and gaps[0] > 0.0:
        reached = int(np.argmax(gaps <= 0.0)) if gaps[-1] <= 0.0 else None
        _draw_gaps(axes, times, gaps, end, reached)
        kind = "optimum" if known.proven else "best known length"
        what = f"Gap to the {kind}"
        if reached is not None:
            late = times[reached] > np.sqrt(times[0] * end)
            axes.annotate(
                f"{kind} after {times[reached]:.3g} s", (times[reached], axes.get_ylim()[0]),
                xytext=(-6 if late else 6, 5), textcoords="offset points", ha="right" if late else "left",
                size=8, color=css(BLUE),
            )  # fmt: skip
    else:
        _draw_steps(axes, times, lengths, end)
        what = "Length"
    axes.set_xscale("log")
    begin = float(times[0])
    axes.set_xlim(begin, end if end > 1.05 * begin else 2.0 * begin)
    _label_decades(axes.xaxis, np.log10(end / begin), "s")
    axes.set_title(what, size=10, loc="left")
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)


def _draw_gaps(
    axes: Axes, times: NDArray[np.float64], gaps: NDArray[np.float64], end: float, reached: int | None
) -> None:
    positive = gaps if reached is None else gaps[:reached]
    low, high = float(positive[positive > 0.0].min()), float(positive.max())
    # An optimum that is reached lies below every logarithm: the curve falls off the picture.
    bottom = low / 1.3 if reached is None else low / 3.0
    if reached is None:
        _draw_steps(axes, times, gaps, end)
    else:
        _draw_steps(axes, times[:reached], positive, float(times[reached]))
        last = float(positive[-1])
        axes.plot([times[reached]] * 2, [last, bottom], color=css(BLUE), linewidth=1.5)
        axes.plot(times[reached], bottom, "v", color=css(BLUE), markersize=5, clip_on=False, zorder=5)
    axes.set_yscale("log")
    axes.set_ylim(bottom, 1.3 * high)
    _label_decades(axes.yaxis, np.log10(1.3 * high / bottom), "%")


def _draw_steps(axes: Axes, times: NDArray[np.float64], values: NDArray[np.float64], end: float) -> None:
    if len(times) > MAX_POINTS:
        wanted = np.geomspace(times[0], times[-1], MAX_POINTS)
        kept = np.unique(np.append(np.searchsorted(times, wanted, side="right") - 1, len(times) - 1))
        times, values = times[kept], values[kept]
    axes.plot(
        np.append(times, end), np.append(values, values[-1]), color=css(BLUE), linewidth=1.5,
        drawstyle="steps-post",
    )  # fmt: skip


def _label_decades(axis, decades: float, unit: str) -> None:  # type: ignore[no-untyped-def]
    digits = (1.0,) if decades > 2.5 else (1.0, 2.0, 5.0)
    axis.set_major_locator(LogLocator(subs=digits, numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:g} {unit}"))
    axis.set_minor_formatter(NullFormatter())
