"""TSPLIB: instances and tours.

The format is that of Reinelt, *TSPLIB 95* (1995), read as it occurs in the wild: keywords in any case and
order, numbers as tokens that may wrap anywhere, a missing ``EOF``, remarks after a value. ``docs/formats.md``
lists what is accepted.
"""

from warptsp.io.format import Format, Instance

from .reader import parse_problem, parse_tour
from .text import looks_like_tsplib
from .writer import problem_tsplib, tour_tsplib

__all__ = ["FORMATS", "parse_problem", "parse_tour", "problem_tsplib", "tour_tsplib"]


FORMATS = (
    Format(
        name="tsplib",
        title="TSPLIB",
        endings=(".tsp", ".atsp", ".tsplib", ".hpp", ".gtsp"),
        tour_endings=(".tour",),
        sniff=looks_like_tsplib,
        read=lambda source, options: Instance(
            parse_problem(source.data, source.file, options.asymmetric, groups=options.groups)
        ),
        write=problem_tsplib,
        read_tour=parse_tour,
        write_tour=tour_tsplib,
    ),
)
