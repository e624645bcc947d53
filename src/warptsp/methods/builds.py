"""What runs of the methods on a GPU compile: `warptsp devices --compile` does so in advance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from warptsp.errors import InvalidOption
from warptsp.methods import METHODS
from warptsp.problem import Metric, Problem

if TYPE_CHECKING:
    from warptsp.backends.cuda.compiler import Source

FEW, MANY = 16, 3000  # cities, on both sides of what decides on the kernels of a method
USUAL_METRICS = ("EUC_2D", "EXACT_2D", "GREAT_CIRCLE", "EXPLICIT")


def methods_with_kernels() -> list[str]:
    """Return the names of the methods that run on a GPU."""
    return [name for name, method in METHODS.items() if method.kernels is not None]


def sources_of(methods: Iterable[str], metrics: Iterable[str]) -> list[Source]:
    """Return what runs of these methods compile for problems of these metrics, each once.

    Raises `InvalidOption` for a method that does not run on a GPU, or a metric that does not exist.
    """
    found: dict[tuple[object, ...], Source] = {}
    problems = [_example(Metric.parse(name), n) for name in metrics for n in (FEW, MANY)]
    for name in methods:
        method = METHODS.get(name)
        if method is None or method.kernels is None:
            able = ", ".join(methods_with_kernels())
            raise InvalidOption(f"method: {name!r} has no kernels; there are {able}")
        for problem in problems:
            for source in method.kernels(problem):
                found.setdefault(source.key, source)
    return list(found.values())


def _example(metric: Metric, n: int) -> Problem:
    if not metric.has_coordinates:
        return Problem.from_matrix(np.ones((n, n), np.int32) - np.eye(n, dtype=np.int32))
    places = np.arange(n * metric.dimensions).reshape(n, -1) % 80
    return Problem.from_points(places.astype(np.float64), metric)
