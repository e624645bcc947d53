"""Strokes, holes and cuts: the tours that pen plotters, lasers, mills and drills drive.

A stroke is an edge that every tour has, and whose two ends may be entered either way. `arrange` puts paths
into an order with little travel between them; docs/strokes.md is the guide.
"""

from warptsp.strokes.arrange import arrange
from warptsp.strokes.machine import AxisTimes, Euclidean, Machine, MaxOfAxes
from warptsp.strokes.plan import Plan

__all__ = ["AxisTimes", "Euclidean", "Machine", "MaxOfAxes", "Plan", "arrange"]
