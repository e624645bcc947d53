"""Random-restart hill climbing: the same climbers everywhere, local optima in exact arithmetic, limits."""

from typing import Any

import numpy as np
import pytest
from calls import given_time
from instances import distances, mixed, whole_points

import warptsp
from warptsp import Metric, OpenPath, Problem, Result, stop
from warptsp.errors import UnsupportedProblem
from warptsp.papers.hill_climbing import cuda_tuning as tuning
from warptsp.papers.hill_climbing.cuda_plan import ring_shares
from warptsp.papers.hill_climbing.cuda_tuning import STRIPS

VERSIONS = [
    "auto",
    "shared-matrix",
    "global-matrix",
    "read-only-matrix",
    "one-thread",
    "intra",
    "tiled",
    "tuned",
]
METRICS = [metric.name for metric in Metric if metric.dimensions == 2]
SIDE = 700  # of squares so small that nearest integers of float distances are exact


def squares(n: int, metric: str = "EUC_2D", side: int = SIDE) -> Problem:
    places = whole_points(n, n, side=side)
    return Problem.from_points(places / (10.0 if metric in ("GEO", "GREAT_CIRCLE") else 1.0), metric)


def climb(problem: Problem, device: str = "cpu", *, seed: int = 5, **params: Any) -> Result:
    result = warptsp.solve(
        problem, method="hill-climbing", device=device, seed=seed, threads=2, params={"climbers": 6, **params}
    )
    problem.check_tour(result.tour)
    assert result.length == pytest.approx(problem.length(result.tour), rel=1e-12)
    return result


def deltas(matrix: np.ndarray, tour: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The moves by their number (two_opt_scan.h): one link, the other one, and delta."""
    n = len(tour)
    link, reach = (grid.ravel() for grid in np.meshgrid(range(n), range(2, n // 2 + 1), indexing="ij"))
    once = (n % 2 == 1) | (reach < n // 2) | (link < n // 2)
    link, other = link[once], (link + reach)[once] % n
    next_city = np.roll(tour, -1)
    length = matrix[tour, next_city]
    delta = matrix[tour[link], tour[other]] + matrix[next_city[link], next_city[other]]
    return link, other, delta - length[link] - length[other]


def random_start(seed: int, climber: int, n: int) -> np.ndarray:
    state = mixed(mixed(mixed(seed) + 0x68696C6C) + climber)
    tour = np.arange(n)
    for i in range(n - 1, 0, -1):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        j = ((mixed(state) >> 32) * (i + 1)) >> 32
        tour[i], tour[j] = tour[j], tour[i]
    return tour


def reference(problem: Problem, seed: int, climber: int) -> tuple[np.ndarray, int]:
    """One climber, by the definition: its tour and its number of moves."""
    matrix = distances(problem)
    n = problem.n
    tour = random_start(seed, climber, n)
    for moves in range(10 * n):
        link, other, delta = deltas(matrix, tour)
        at = int(np.argmin(delta))
        if delta[at] >= -1e-9:
            return tour, moves
        first, second = sorted((int(link[at]), int(other[at])))
        tour[first + 1 : second + 1] = tour[first + 1 : second + 1][::-1]
    raise AssertionError("the descent does not end")


def canonical(tour: np.ndarray) -> np.ndarray:
    turned = np.roll(tour, -int(np.argmin(tour)))
    return turned if turned[1] < turned[-1] else np.roll(turned[::-1], 1)


@pytest.mark.parametrize("n", [4, 5, 6, 7, 8, 9, 31, 64, 101])
def test_the_climbers_are_those_of_the_definition(device: str, n: int) -> None:
    problem = squares(n)
    climbers = [reference(problem, 11, k) for k in range(4)]
    lengths = [problem.length(tour) for tour, _ in climbers]
    result = climb(problem, device, seed=11, climbers=4)
    assert result.length == min(lengths)
    assert (canonical(result.tour) == canonical(climbers[int(np.argmin(lengths))][0])).all()
    counters = result.counters
    assert counters["climbers"] == counters["kicks"] == 4
    assert counters["moves"] == sum(moves for _, moves in climbers)
    assert counters["best_optimum"] == min(lengths)
    assert counters["worst_optimum"] == max(lengths)
    assert counters["mean_optimum"] == pytest.approx(np.mean(lengths), rel=1e-12)
    assert counters["evaluations"] == counters["passes"] * (n * (n - 3) // 2)
    assert counters["passes"] >= counters["moves"] + 4


@pytest.mark.parametrize("metric", METRICS)
def test_on_the_cpu_climbers_may_read_a_matrix(metric: str) -> None:
    problem = squares(60, metric, side=100_000 if metric not in ("GEO", "GREAT_CIRCLE") else 700)
    computed, read = climb(problem, "cpu", seed=5), climb(problem, "cpu", seed=5, version="global-matrix")
    assert read.length == computed.length
    assert (canonical(read.tour) == canonical(computed.tour)).all()


def assert_locally_optimal(problem: Problem, result: Result) -> None:
    """By exact distances."""
    matrix = distances(problem)
    assert deltas(matrix, result.tour)[2].min() >= -(0.5 if problem.integral else 1e-11 * matrix.max())


@pytest.mark.parametrize("metric", METRICS)
def test_the_best_tour_is_a_local_optimum_in_exact_arithmetic(device: str, metric: str) -> None:
    problem = squares(150, metric, side=100_000 if metric not in ("GEO", "GREAT_CIRCLE") else 700)
    plane = device == "cuda" and metric in ("EXACT_2D", "CEIL_2D", "ATT")
    for version in VERSIONS if plane else ["auto"]:
        assert_locally_optimal(problem, climb(problem, device, version=version))


@pytest.mark.gpu
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("cycles", [1, tuning.CLIMB_CYCLES])  # a launch ends within each pass, or hardly ever
def test_every_version_climbs_alike(version: str, cycles: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "CLIMB_CYCLES", cycles)
    block = 32 if cycles == 1 and version not in ("auto", "shared-matrix") else None
    sizes = ((13, "EUC_2D"), (70, "EXACT_2D")) if cycles == 1 else ((n, "EUC_2D") for n in (12, 64, 149, 200))
    for n, metric in sizes:
        problem, climbers = squares(n, metric), 5 if cycles == 1 else 40
        reached = climb(problem, "cuda", version=version, climbers=climbers, block=block)
        expected = climb(problem, "cpu", climbers=climbers)
        assert reached.length == expected.length
        assert (canonical(reached.tour) == canonical(expected.tour)).all()
        for name in ("moves", "best_optimum", "mean_optimum", "worst_optimum"):
            assert reached.counters[name] == pytest.approx(expected.counters[name], rel=1e-12), name
        assert reached.counters["kernel_seconds"] > 0


def spoilt_circle(n: int, *turned: tuple[int, int]) -> tuple[Problem, np.ndarray]:
    """Return cities on a circle, and their order with some stretches of it turned around."""
    angles = 2 * np.pi * np.arange(n) / n
    tour = np.arange(n, dtype=np.int32)
    for first, last in turned:
        tour[first:last] = tour[first:last][::-1]
    places = 1e6 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return Problem.from_points(places, "EXACT_2D"), tour


@pytest.mark.gpu
@pytest.mark.parametrize("version", ["intra", "tiled"])
@pytest.mark.parametrize("cycles", [1, tuning.CLIMB_CYCLES])
def test_more_cities_than_16_bits_number(version: str, cycles: int, monkeypatch: pytest.MonkeyPatch) -> None:
    n, turned = 70_000, ((10, 21), (66_001, 69_000))
    if cycles == 1:  # a slice of a pass a launch
        n, turned = 9_000, ((10, 21), (300, 8_999))
    monkeypatch.setattr(tuning, "CLIMB_CYCLES", cycles)
    circle, tour = spoilt_circle(n, *turned)
    params = {"version": version, "climbers": 1, "block": 1024}
    result = warptsp.solve(
        circle, method="hill-climbing", start=tour, device="cuda", params=params, bound=False
    )
    assert result.counters["moves"] == 2
    assert (canonical(result.tour) == np.arange(n)).all()


@pytest.mark.parametrize("version", ["auto", "one-thread", "tiled"])
def test_a_limit_ends_a_pass_of_many_cities(version: str, device: str) -> None:
    if device == "cpu" and version != "auto":
        pytest.skip("a kernel")
    problem = squares(120_000, side=10**6)
    result = warptsp.solve(
        problem,
        method="hill-climbing",
        device=device,
        time_limit=0.1,
        params={"version": version},
        bound=False,
    )
    problem.check_tour(result.tour)
    assert result.stop_reason == "time limit of 0.1 s"
    assert result.counters["climbers"] == 0


@pytest.mark.gpu
@pytest.mark.parametrize("version", ["shared-matrix", "global-matrix", "one-thread"])
def test_of_many_that_end_at_once_the_first_of_the_shortest_counts(version: str) -> None:
    # Nearly as many threads as an H200 has end with one of a few lengths, and all at about the same time.
    problem, limits = squares(16), {"climbers": 200_000}
    whole, found = climb(problem, "cuda", **limits), climb(problem, "cuda", version=version, **limits)
    assert found.length == whole.length
    assert (canonical(found.tour) == canonical(whole.tour)).all()
    for name in ("climbers", "moves", "best_optimum", "mean_optimum", "worst_optimum"):
        assert found.counters[name] == pytest.approx(whole.counters[name], rel=1e-12), name


@pytest.mark.gpu
@pytest.mark.parametrize("version", ["auto", "intra", "tiled"])
def test_the_block_changes_nothing(version: str) -> None:
    problem = squares(230, "EXACT_2D")
    lengths = {
        climb(problem, "cuda", version=version, block=block, climbers=50).length
        for block in (64, 96, 256, 512)
    }
    assert len(lengths) == 1


@pytest.mark.gpu
def test_what_does_not_fit() -> None:
    with pytest.raises(UnsupportedProblem, match=r"cities do not fit .* use version auto or global-matrix"):
        climb(squares(5000), "cuda", version="shared-matrix")
    with pytest.raises(UnsupportedProblem, match="use version auto or global-matrix"):
        climb(squares(100, "GEO"), "cuda", version="tiled")


@pytest.mark.parametrize("kind", [int, float])
def test_matrices(device: str, kind: type) -> None:
    matrix = distances(squares(60))
    problem = Problem.from_matrix(matrix.astype(kind) * (1 if kind is int else 0.125))
    result = climb(problem, device)
    assert deltas(distances(problem), result.tour)[2].min() >= 0
    # Distances that are an eighth of those of the points: the same climbers.
    points = climb(squares(60), device)
    assert result.length == points.length * (1 if kind is int else 0.125)
    assert (result.tour == points.tour).all()


def test_the_result_depends_on_the_seed_alone(device: str) -> None:
    problem = squares(90, "EXACT_2D")
    options: dict[str, Any] = {"method": "hill-climbing", "device": device, "kicks": 25}
    tours = [
        warptsp.solve(problem, seed=seed, threads=threads, **options).tour
        for seed, threads in ((1, 1), (1, 2), (1, 3), (2, 1))
    ]
    assert (tours[0] == tours[1]).all()
    assert (tours[0] == tours[2]).all()
    assert (tours[0] != tours[3]).any()


def test_limits(device: str) -> None:
    problem = squares(120)
    options: dict[str, Any] = {"method": "hill-climbing", "device": device}
    result = warptsp.solve(problem, kicks=7, **options)
    assert (result.counters["climbers"], result.stop_reason) == (7, "limit of 7 kicks")
    result = warptsp.solve(problem, kicks=7, params={"climbers": 9}, **options)
    assert result.counters["climbers"] == 7
    result = warptsp.solve(problem, kicks=9, params={"climbers": 7}, **options)
    assert result.counters["climbers"] == 7
    # Enough of them for the default rule to end it early.
    result = warptsp.solve(squares(8), params={"climbers": 5000}, bound=False, **options)
    assert (result.counters["climbers"], result.stop_reason) == (5000, "the search is complete")
    best = climb(problem, device, climbers=40, seed=0).length
    result = warptsp.solve(problem, stop=stop.TargetLength(best), **options)
    assert result.length <= best
    result = given_time(
        lambda seconds: warptsp.solve(problem, time_limit=seconds, **options),
        lambda result: result.counters["climbers"] >= 1,
    )
    assert result.stop_reason.startswith("time limit of ")
    problem.check_tour(result.tour)


def test_a_given_tour_is_the_start_of_the_first_climber(device: str) -> None:
    problem = squares(110)
    optimum = climb(problem, device, climbers=1).tour
    result = warptsp.solve(
        problem, method="hill-climbing", device=device, start=optimum, params={"climbers": 1}
    )
    assert result.counters["moves"] == 0
    assert result.length == problem.length(optimum)
    spoilt = optimum.copy()
    spoilt[[10, 40]] = spoilt[[40, 10]]
    result = warptsp.solve(
        problem, method="hill-climbing", device=device, start=spoilt, params={"climbers": 1}
    )
    assert result.counters["moves"] > 0
    assert result.length < problem.length(spoilt)


def test_what_it_cannot_do() -> None:
    problem = squares(20)
    with pytest.raises(UnsupportedProblem, match="open paths; use the method lk"):
        warptsp.solve(problem, method="hill-climbing", open=OpenPath(0, 1))
    fixed = Problem.from_points(problem.coordinates, "EUC_2D", fixed_edges=[(0, 1)])
    with pytest.raises(UnsupportedProblem, match="fixed edges; use the method lk"):
        warptsp.solve(fixed, method="hill-climbing")
    with pytest.raises(UnsupportedProblem, match="version tiled is a GPU kernel"):
        climb(problem, version="tiled")


@pytest.mark.parametrize("n", [12, 13, 40, 101, 258])
def test_the_shares_of_a_pass_are_all_moves(n: int) -> None:
    for strip in STRIPS:
        for segments in range(1, n):
            shares = ring_shares(n, strip, segments)
            if shares is None:
                continue
            strips, steps = shares
            assert steps % strip == 0
            # As RingShares in native/papers/hill_climbing/ring_scan.h.
            starts = [min(2 + t * strip, n // 2 - strip + 1) for t in range(strips)]
            assert {start + r for start in starts for r in range(strip)} == set(range(2, n // 2 + 1))
            starts = [min(t * steps, n - steps) for t in range(segments)]
            assert {start + s for start in starts for s in range(steps)} == set(range(n))
        assert n // 2 <= strip or any(ring_shares(n, strip, segments) for segments in (1, 2, 3))


# Perturbed local optima in place of random starts


def test_the_first_perturbed_climbers_are_random_ones() -> None:
    problem = squares(60)
    for climbers in (1, 7, 16):
        random, perturbed = (
            climb(problem, climbers=climbers, restart=restart) for restart in ("random", "perturb")
        )
        assert (random.tour == perturbed.tour).all()
        assert random.counters == perturbed.counters
    assert climb(problem, climbers=80).counters != climb(problem, climbers=80, restart="perturb").counters


@pytest.mark.parametrize("metric", ["EUC_2D", "EXACT_2D", "GEO"])
def test_perturbed_climbers_end_at_local_optima_and_come_lower(metric: str) -> None:
    problem = squares(100, metric)
    random = climb(problem, climbers=200)
    perturbed = climb(problem, climbers=1500, restart="perturb")
    assert perturbed.counters["passes"] < 2 * random.counters["passes"]
    assert_locally_optimal(problem, perturbed)
    assert perturbed.counters["mean_optimum"] < random.counters["mean_optimum"]
    assert perturbed.length < random.length


def test_a_given_tour_is_the_start_of_the_first_line() -> None:
    problem = squares(50)
    start = warptsp.solve(problem, method="lk", kicks=200, seed=1, device="cpu").tour
    params = {"climbers": 40, "restart": "perturb"}
    result = warptsp.solve(problem, method="hill-climbing", start=start, params=params, device="cpu")
    assert result.length <= problem.length(start)
