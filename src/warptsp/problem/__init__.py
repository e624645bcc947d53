"""Instances of the travelling-salesman problem and their distances."""

from .known import KnownLength, known_length_by_name
from .metric import Metric
from .open_path import OpenPath
from .problem import Problem

__all__ = ["KnownLength", "Metric", "OpenPath", "Problem", "known_length_by_name"]
