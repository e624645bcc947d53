"""CSV and TSV: places with x, y or latitude, longitude and perhaps names; a matrix of distances; tours."""

from functools import partial

from warptsp.io.format import Format

from .reader import read_table
from .tours import order_in, table_of_tour, tour_in
from .writer import guarded, problem_table, tour_table

__all__ = ["FORMATS", "read_table"]


def _format(name: str, delimiter: str) -> Format:
    return Format(
        name=name,
        endings=(f".{name}",),
        tour_endings=(f".{name}",),
        fallback=name == "csv",
        read=lambda source, options: read_table(source.text, source.file, options, source.written),
        write=partial(problem_table, delimiter=delimiter),
        read_tour=lambda source, problem: tour_in(table_of_tour(source), problem),
        read_order=lambda source: order_in(table_of_tour(source)),
        write_tour=partial(tour_table, delimiter=delimiter),
        has_columns=True,
        guarded=guarded,
    )


FORMATS = (_format("csv", ","), _format("tsv", "\t"))
