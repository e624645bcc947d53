"""Reading and writing instances and tours; ``docs/formats.md`` describes every format."""

from warptsp.outputs import check_writable

from .instances import FORMATS, load, problem_format, write_points, write_problem
from .tours import TOUR_FORMATS, check_tour_output, read_tour, tour_format, write_tour

__all__ = [
    "FORMATS",
    "TOUR_FORMATS",
    "check_tour_output",
    "check_writable",
    "load",
    "problem_format",
    "read_tour",
    "tour_format",
    "write_points",
    "write_problem",
    "write_tour",
]
