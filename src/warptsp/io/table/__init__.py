"""CSV and TSV: places with x, y or latitude, longitude and perhaps names; a matrix of distances; tours."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from warptsp.io.format import Format, Instance, Source

from .reader import parse_table, read_table
from .tours import parse_tour
from .writer import guarded, problem_table, tour_table

if TYPE_CHECKING:
    from warptsp.io.options import ReadOptions

__all__ = ["FORMATS", "parse_table", "read_table"]


def _read(source: Source, options: ReadOptions) -> Instance:
    return read_table(source.data, source.file, options)


FORMATS = (
    Format(
        name="csv",
        endings=(".csv",),
        tour_endings=(".csv",),
        fallback=True,
        read=_read,
        write=problem_table,
        read_tour=parse_tour,
        write_timed_tour=tour_table,
        has_columns=True,
        guarded=guarded,
    ),
    Format(
        name="tsv",
        endings=(".tsv",),
        tour_endings=(".tsv",),
        read=_read,
        write=partial(problem_table, delimiter="\t"),
        read_tour=parse_tour,
        write_timed_tour=partial(tour_table, delimiter="\t"),
        has_columns=True,
        guarded=guarded,
    ),
)
