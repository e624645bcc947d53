"""Constructions of one native call each, the same on any number of threads."""

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.construct.construction import Construction, keep_fixed_edges
from warptsp.problem import Metric, Problem
from warptsp.problem.search import search_distances


def _greedy(
    problem: Problem, *, seed: int, threads: int, token: _native.StopToken
) -> NDArray[np.int32] | None:
    """J. L. Bentley, *Fast algorithms for geometric traveling salesman problems*, ORSA J. Computing 4 (1992).

    About 14 % above the optimum on uniform points.
    """
    return _native.greedy_edge(search_distances(problem), problem.fixed_edges, threads, token)


def _space_filling(
    problem: Problem, *, seed: int, threads: int, token: _native.StopToken
) -> NDArray[np.int32] | None:
    """The fastest construction that uses the coordinates at all."""
    curve = along_curve(problem.search_points(), problem.metric, token, threads)
    return keep_fixed_edges(problem, curve, token)


def along_curve(
    points: NDArray[np.float64], metric: Metric, token: _native.StopToken, threads: int = 1
) -> NDArray[np.int32] | None:
    """The cities, by their `Problem.search_points`, in the order in which Sierpinski's curve passes them.

    L. K. Platzman and J. J. Bartholdi, *Spacefilling curves and the planar travelling salesman problem*, J.
    ACM 36 (1989). Chosen over Hilbert's by measuring: 34 % above the optimum on uniform points against 37 %.
    The globe is spread out flat; for points in space, where Sierpinski's curve does not go, it is Hilbert's.
    """
    sphere = metric.geographic
    kind = "sierpinski" if points.shape[1] == 2 or sphere else "hilbert"
    return _native.space_filling_curve(points, kind, token, sphere, threads)


def _nearest_neighbor(
    problem: Problem, *, seed: int, threads: int, token: _native.StopToken
) -> NDArray[np.int32] | None:
    """From a city that the seed chooses; about 25 % above the optimum."""
    first = int(np.random.default_rng(seed).integers(problem.n))
    return _native.nearest_neighbor(search_distances(problem), first, problem.fixed_edges, threads, token)


def _random(
    problem: Problem, *, seed: int, threads: int, token: _native.StopToken
) -> NDArray[np.int32] | None:
    """The order that belongs to the seed, on every machine."""
    return keep_fixed_edges(problem, _native.random_tour(problem.n, seed % 2**64, token), token)


def _given(
    problem: Problem, *, seed: int, threads: int, token: _native.StopToken
) -> NDArray[np.int32] | None:
    return keep_fixed_edges(problem, np.arange(problem.n, dtype=np.int32), token)


SIMPLE = (
    Construction("greedy", "the shortest edge that still fits, again and again", _greedy),
    Construction(
        "space-filling", "along Sierpinski's curve; for coordinates only", _space_filling, coordinates=True
    ),
    Construction("nearest-neighbor", "always on to the nearest city not visited yet", _nearest_neighbor),
    Construction("random", "the cities in random order", _random),
    Construction("given", "the cities in the order of the instance", _given),
)
