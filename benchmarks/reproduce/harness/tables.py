"""Numbers side by side: published, measured, and their ratio."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Literal

from benchmarks.reproduce.harness.results import DEVICES, Figure, Results


def number(value: float | None, digits: int = 3) -> str:
    """Return a number with some significant digits, whole numbers and large ones in full, ``-`` for None."""
    if value is None:
        return "-"
    if value == 0 or (isinstance(value, int) and abs(value) < 10**9):
        return str(value)
    magnitude = math.floor(math.log10(abs(value)))
    if magnitude >= 9:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{max(0, digits - 1 - magnitude)}f}"


def ratio(published: float | None, measured: float | None) -> str:
    """Return how many times smaller the measured value is than the published one, ``-`` if one is missing."""
    if not published or not measured:
        return "-"
    return f"{number(published / measured, 2 if published < 100 * measured else 3)}"


def compared(published: float | None, measured: float | None) -> list[str]:
    """Return the cells of a table row: published, measured, and their ratio, where less is better."""
    return [number(published), number(measured), ratio(published, measured)]


def compared_header(what: str) -> list[str]:
    """Return the header that belongs to `compared`."""
    return [f"{what}, published", "measured", "ratio"]


# The header that belongs to `speedups`.
SPEEDUPS = (
    "GPU over CPU, published: least",
    "mean",
    "largest",
    "GPU over one CPU core, measured: least",
    "mean",
    "largest",
)


def speedups(published: Mapping[str, float | None], measured: Sequence[float]) -> list[str]:
    """Return the cells of a table row: least, mean and largest speed-up, published and then measured."""
    theirs = [number(published.get(f"speedup_{which}")) for which in ("min", "mean", "max")]
    if not measured:
        return [*theirs, "-", "-", "-"]
    return [*theirs, *map(number, (min(measured), statistics.mean(measured), max(measured)))]


def beside(
    published: float | None,
    results: Results,
    name: str,
    of: Figure,
    ratios: Literal["less", "more", "none"] = "less",
) -> list[str]:
    """Return the cells of a table row: published, then measured and the ratio for each device.

    The ratio is published over measured where less is better, as for times, and measured over published where
    more is, as for rates.
    """
    row = [number(published)]
    for device in results.devices():
        value = results.value(name, device, of)
        row.append(number(value))
        if ratios != "none":
            row.append(ratio(value, published) if ratios == "more" else ratio(published, value))
    return row


def header(what: str, results: Results, *, ratios: bool = True) -> list[str]:
    """Return the header that belongs to `beside`."""
    words = [f"{what}, published"]
    for device in results.devices():
        words.append(f"{what}, {DEVICES[device]}")
        if ratios:
            words.append("ratio")
    return words
