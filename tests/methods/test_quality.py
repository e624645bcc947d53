"""How good tours are after a fixed number of kicks.

Kicks are counted and seeds are fixed, so that every figure repeats to the last digit on any machine. A gap is
the mean over eight seeds, or four, over the best length that runs of 40 to 100 kicks a city came to. The
bounds lie between the gap that was measured and that of a weakened search, in brackets: half the kicks, or
moves of depth 4 (with `ils` lists of 4 neighbours).

    uniform     0.442 % (0.639, 0.682)      asymmetric  0.468 % (0.784, no effect)
    clustered   0.065 % (0.762, 0.448)      population  0.001 % (0.032, 0.021)
    matrix      0.053 % (0.103, 0.126)      ils         0.742 % (1.296, 1.407)
    open        0.215 % (0.247, 0.363)

A change of the search for which a bound is too tight by chance is measured with `benchmarks/regression.py`
on more instances; if it is no worse there, the figures here are taken anew.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import warptsp
from warptsp import OpenPath, Problem


def uniform(n: int, **fields: Any) -> Problem:
    points = np.random.default_rng(n).integers(0, 10**6, (n, 2)).astype(float)
    return Problem.from_points(points, "EUC_2D", **fields)


def clustered(n: int) -> Problem:
    random = np.random.default_rng(n)
    centers = random.random((n // 100, 2)) * 10**6
    places = centers[random.integers(0, len(centers), n)] + random.normal(0, 0.5e6 / np.sqrt(n), (n, 2))
    return Problem.from_points(np.rint(places), "EUC_2D")


def in_six_dimensions(n: int) -> Problem:
    points = np.random.default_rng(n).random((n, 6))
    distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    return Problem.from_matrix(np.rint(1e4 * distances).astype(np.int32))


def asymmetric(n: int) -> Problem:
    random = np.random.default_rng(n)
    points = random.random((n, 2))
    distances = 1e5 * np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    matrix = np.rint(distances * random.uniform(1, 1.4, (n, n))).astype(np.int32)
    np.fill_diagonal(matrix, 0)
    return Problem.from_matrix(matrix, asymmetric=True)


@dataclass(frozen=True)
class Case:
    make: Callable[[], Problem]
    kicks: int
    best: int  # the shortest tour known
    bound: float  # per cent
    options: dict[str, Any] = field(default_factory=dict)
    seeds: int = 8

    def gap(self, share: float = 1.0) -> float:
        """The mean gap in per cent after this share of the kicks."""
        problem = self.make()
        options = {"threads": 1, "device": "cpu", **self.options}
        kicks = int(share * self.kicks)
        lengths = [
            warptsp.solve(problem, kicks=kicks, seed=1 + seed, **options).length for seed in range(self.seeds)
        ]
        return 100.0 * (float(np.mean(lengths)) / self.best - 1.0)


CASES = {
    "uniform": Case(lambda: uniform(1000), 1000, 22912417, 0.54),
    "clustered": Case(lambda: clustered(1000), 2500, 6761580, 0.25, seeds=4),
    "matrix": Case(lambda: in_six_dimensions(300), 300, 1062791, 0.085),
    "open": Case(lambda: uniform(800, open=OpenPath()), 800, 20226530, 0.235),
    "asymmetric": Case(lambda: asymmetric(200), 300, 1252280, 0.75),
    "population": Case(lambda: uniform(400), 4000, 14764003, 0.012, seeds=4),
    "ils": Case(lambda: uniform(500), 500, 16585172, 1.0, {"method": "ils", "params": {"neighbors": 10}}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_gap_after_so_many_kicks(name: str) -> None:
    case = CASES[name]
    assert case.gap() < case.bound


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_half_the_kicks_would_be_noticed(name: str) -> None:
    case = CASES[name]
    assert case.gap(0.5) > case.bound
