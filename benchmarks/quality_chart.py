"""Draws the table of ``docs/quality.md`` into ``docs/quality.svg``; measures nothing.

``python -m benchmarks.quality_chart``, after the table has changed.
"""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.chart import Chart

PAGE = Path(__file__).parents[1] / "docs" / "quality.md"
DRAWN = ("d18512", "E100k.0", "E1M.0")
COLUMNS = ("one CPU thread", "one H100")


def chart(page: str) -> Chart:
    """Return the chart of the table on the page."""
    lines = {}
    for name in DRAWN:
        row = re.search(rf"^\| {re.escape(name)} \|.*$", page, re.MULTILINE)
        assert row is not None, f"{name} has no row"
        cells = row[0].strip("| ").split("|")[2:]
        for column, cell in zip(COLUMNS, cells, strict=True):
            pairs = re.findall(r"([\d.]+) in ([\d.]+) s", cell)
            lines[f"{name}, {column}"] = [(float(seconds), float(gap)) for gap, seconds in pairs]
    return Chart("Gap against time", "seconds", "gap in per cent", lines)


if __name__ == "__main__":
    chart(PAGE.read_text(encoding="utf-8")).write(PAGE.with_suffix(".svg"))
