"""A matrix is searched as well as the points whose distances it has."""

import numpy as np

import warptsp


def clustered(clusters: int, each: int, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    centres = random.integers(0, 1_000_000, (clusters, 1, 2))
    return (centres + random.normal(0, 3000, (clusters, each, 2))).reshape(-1, 2).round()


def test_clusters() -> None:
    """A list of the nearest neighbours never leaves a cluster: tours are then several per cent longer."""
    total = {"points": 0.0, "matrix": 0.0, "nearest": 0.0}
    for seed in (1, 2):
        problem = warptsp.Problem.from_points(clustered(20, 25, seed), "EUC_2D")
        cities = np.arange(problem.n)
        matrix = warptsp.Problem.from_matrix(problem.distance(cities[:, None], cities[None]))
        for name, instance, params in (
            ("points", problem, {}),
            ("matrix", matrix, {}),
            ("nearest", matrix, {"per_quadrant": 0}),
        ):
            total[name] += warptsp.solve(instance, kicks=250, seed=1, threads=1, params=params).length
    assert total["matrix"] < 1.015 * total["points"]
    assert total["nearest"] > 1.04 * total["points"]  # so that the first line tests something


def test_time_is_too_short_for_lists_to_all_sides() -> None:
    """Such lists cost some ten times as much: a run of milliseconds does with nearest neighbours."""
    from warptsp.methods.lk.cpu import _per_quadrant
    from warptsp.methods.lk.params import LkParams
    from warptsp.run import Run, Settings
    from warptsp.stop import MaxKicks, MaxRuntime

    matrix = warptsp.Problem.from_matrix(np.ones((1000, 1000), dtype=np.int32))
    points = warptsp.Problem.from_points(np.zeros((1000, 2)))

    def per_quadrant(problem: warptsp.Problem, stop: warptsp.stop.StoppingCriterion) -> int:
        return _per_quadrant(problem, Run(Settings(problem), stop), LkParams())

    assert per_quadrant(matrix, MaxKicks(1)) == 2
    assert per_quadrant(matrix, MaxRuntime(100)) == 2
    assert per_quadrant(matrix, MaxRuntime(0.001)) == 0
    assert per_quadrant(points, MaxRuntime(0.001)) == 2
