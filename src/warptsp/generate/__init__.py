"""Instances made to order: random, grids with a known optimum, and those of the DIMACS challenge."""

from .dimacs import dimacs, is_dimacs_name
from .grid import grid, grid_optimal_length, grid_optimal_tour
from .random import clustered, uniform

__all__ = [
    "clustered",
    "dimacs",
    "grid",
    "grid_optimal_length",
    "grid_optimal_tour",
    "is_dimacs_name",
    "uniform",
]
