"""Instances of the travelling-salesman problem and their distances."""

from warptsp.problem.constraints import OpenPath
from warptsp.problem.known import KnownLength, known_length_by_name
from warptsp.problem.metric import Metric
from warptsp.problem.problem import Problem

__all__ = ["KnownLength", "Metric", "OpenPath", "Problem", "known_length_by_name"]
