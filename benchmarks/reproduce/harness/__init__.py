"""What the scripts of `benchmarks/reproduce` share: cells that resume, tables side by side, reports.

A study is a module that says in the first line of its docstring what it is about, and has ``DOCUMENT``,
``TABLES`` (those of the document that it repeats) and three functions:

- ``cells(setting)`` yields what there is to measure on one device, the most telling first;
- ``measure(cell, setting)`` measures one cell and returns plain numbers;
- ``report(results)`` returns the sections of the report, from all cells measured so far.

Every finished cell is a line of ``cells.jsonl`` in the output folder, with machine, date and commit, which
`write_cells` states once for all cells that share them, so that
a run that was cut short goes on with ``--resume``, and runs of several machines can be put together by
appending one file to the other.
"""

from __future__ import annotations

from benchmarks.chart import Chart
from benchmarks.reproduce.harness.command import main
from benchmarks.reproduce.harness.documents import Published, published
from benchmarks.reproduce.harness.measuring import run
from benchmarks.reproduce.harness.results import DEVICES, Results, kernel_ms, rate
from benchmarks.reproduce.harness.study import Cell, Section, Setting, Study, name_of, title_of
from benchmarks.reproduce.harness.tables import (
    SPEEDUPS,
    beside,
    compared,
    compared_header,
    header,
    number,
    ratio,
    speedups,
)

__all__ = [
    "DEVICES",
    "SPEEDUPS",
    "Cell",
    "Chart",
    "Published",
    "Results",
    "Section",
    "Setting",
    "Study",
    "beside",
    "compared",
    "compared_header",
    "header",
    "kernel_ms",
    "main",
    "name_of",
    "number",
    "published",
    "rate",
    "ratio",
    "run",
    "speedups",
    "title_of",
]
