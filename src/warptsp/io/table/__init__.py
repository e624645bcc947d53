"""CSV and TSV: places with x, y or latitude, longitude and perhaps names; a matrix of distances; tours."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from warptsp.io.format import Format, Instance, Source

from .reader import read_table
from .tours import parse_order, parse_tour
from .writer import guarded, problem_table, tour_table

if TYPE_CHECKING:
    from warptsp.io.options import ReadOptions

__all__ = ["FORMATS", "read_table"]


def _read(source: Source, options: ReadOptions) -> Instance:
    return read_table(source.text, source.file, options, source.written)


def _format(name: str, delimiter: str) -> Format:
    return Format(
        name=name,
        endings=(f".{name}",),
        tour_endings=(f".{name}",),
        fallback=name == "csv",
        read=_read,
        write=partial(problem_table, delimiter=delimiter),
        read_tour=parse_tour,
        read_order=parse_order,
        write_tour=partial(tour_table, delimiter=delimiter),
        has_columns=True,
        guarded=guarded,
    )


FORMATS = (_format("csv", ","), _format("tsv", "\t"))
