"""Instances made to order: random, grids with a known optimum, and those of the DIMACS challenge."""

from warptsp.generate.dimacs import dimacs, is_dimacs_name
from warptsp.generate.grid import grid, grid_optimal_tour
from warptsp.generate.random import RandomPoints, clustered, clustered_points, uniform, uniform_points
from warptsp.problem.lattice import grid_optimal_length

__all__ = [
    "RandomPoints",
    "clustered",
    "clustered_points",
    "dimacs",
    "grid",
    "grid_optimal_length",
    "grid_optimal_tour",
    "is_dimacs_name",
    "uniform",
    "uniform_points",
]
