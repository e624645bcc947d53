"""Every construction, on every kind of instance: a tour, with the fixed edges, from end to end."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import problem_of, unit_points
from numpy.typing import NDArray

from warptsp import _native
from warptsp.construct import CONSTRUCTIONS, construct
from warptsp.errors import InvalidOption, UnsupportedProblem
from warptsp.problem import Metric, OpenPath, Problem
from warptsp.problem.search import search_distances

COORDINATE_METRICS = [metric for metric in Metric if metric is not Metric.EXPLICIT]


def some_fixed_edges(n: int, seed: int) -> NDArray[np.int32]:
    """Edges of a random tour, so that they make paths."""
    random = np.random.default_rng(seed)
    tour = random.permutation(n)
    edges = np.stack([tour[:-1], tour[1:]], axis=1)[random.random(n - 1) < random.random()]
    return np.ascontiguousarray(edges, dtype=np.int32)


def constructions_for(problem: Problem) -> list[str]:
    lacking = "coordinates" if problem.matrix is not None else "matrix"
    return [name for name, made in CONSTRUCTIONS.items() if not getattr(made, lacking)]


def made(problem: Problem, name: str, **options: Any) -> NDArray[np.int32]:
    """The tour of a construction, checked."""
    tour = construct(problem, name, **options)
    assert tour is not None
    assert tour.dtype == np.int32
    problem.check_tour(tour)
    return tour


@pytest.mark.parametrize("metric", list(Metric))
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 300])
def test_closed_tours(metric: Metric, n: int) -> None:
    problem = problem_of(metric, n, seed=n, side=30)
    for name in constructions_for(problem):
        made(problem, name, seed=3)


@settings(max_examples=60)
@given(
    metric=st.sampled_from([Metric.EUC_2D, Metric.EXPLICIT, Metric.GREAT_CIRCLE, Metric.MAN_3D]),
    n=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
    start=st.booleans(),
    end=st.booleans(),
    closed=st.booleans(),
    fixed=st.booleans(),
)
def test_fixed_edges_and_open_paths(
    metric: Metric, n: int, seed: int, start: bool, end: bool, closed: bool, fixed: bool
) -> None:
    edges = some_fixed_edges(n, seed) if fixed and n > 2 else np.empty((0, 2), dtype=np.int32)
    # The ends of an open path: cities without fixed edges, if there are two.
    ends = np.setdiff1d(np.arange(n), edges)[:2].tolist()
    path = None
    if not closed:
        possible = len(ends) == 2
        path = OpenPath(ends[0] if start and possible else None, ends[1] if end and possible else None)
    problem = problem_of(metric, n, seed, side=30, fixed_edges=edges, open=path)
    for name in constructions_for(problem):
        made(problem, name, seed=seed, threads=1 + seed % 3)


def test_a_whole_path_is_fixed() -> None:
    order = np.random.default_rng(4).permutation(20).astype(np.int32)
    edges = np.stack([order[:-1], order[1:]], axis=1)
    for fields in ({}, {"open": OpenPath(int(order[0]), int(order[-1]))}, {"open": OpenPath()}):
        problem = problem_of(Metric.EUC_2D, 20, 1, side=30, fixed_edges=edges, **fields)
        for name in constructions_for(problem):
            made(problem, name)


def test_free_ends_drop_the_longest_link() -> None:
    problem = Problem.from_points([[0.0, 0], [1, 0], [2, 0], [50, 0], [51, 0]], open=OpenPath())
    assert problem.length(made(problem, "greedy")) == 51.0


def greedy_edges(length: NDArray[np.float64], fixed: NDArray[np.int32]) -> set[tuple[int, int]]:
    """The definition: of all edges, the shortest that still fits; ties by (i, (j - i) mod n)."""
    n = len(length)
    degree, root = [0] * n, list(range(n))

    def find(city: int) -> int:
        while root[city] != city:
            city = root[city]
        return city

    edges = sorted((length[i, j], i, (j - i) % n, j) for i in range(n) for j in range(n) if i != j)
    taken = set()
    for a, b in [(int(a), int(b)) for a, b in fixed] + [(a, b) for _, a, _, b in edges]:
        if degree[a] < 2 and degree[b] < 2 and find(a) != find(b):
            degree[a] += 1
            degree[b] += 1
            root[find(a)] = find(b)
            taken.add((min(a, b), max(a, b)))
    return taken


@settings(max_examples=60)
@given(
    metric=st.sampled_from([Metric.EUC_2D, Metric.EXACT_2D, Metric.MAN_2D, Metric.MAX_2D, Metric.EXPLICIT]),
    n=st.integers(3, 60),
    seed=st.integers(0, 2**32 - 1),
)
def test_greedy_is_greedy(metric: Metric, n: int, seed: int) -> None:
    """Up to some hundred cities the first round sees every edge: the tour is that of the definition."""
    problem = problem_of(metric, n, seed, side=30)
    if metric in (Metric.EUC_2D, Metric.EXACT_2D):
        # Distances that differ by rounding alone are in another order than here.
        points = unit_points(n, seed) * 1000
        problem = Problem.from_points(points, Metric.EXACT_2D)
    tour = made(problem, "greedy", threads=1 + seed % 2)
    cities = np.arange(n)
    length = np.asarray(problem.distance(cities[:, None], cities[None, :]), dtype=np.float64)
    expected = greedy_edges(length, problem.fixed_edges)
    found = {(min(a, b), max(a, b)) for a, b in zip(tour.tolist(), np.roll(tour, -1).tolist(), strict=True)}
    assert len(expected) == n - 1
    assert expected <= found


@pytest.mark.parametrize("kind", ["uniform", "clustered", "one place", "a line", "a lattice"])
def test_lengths_on_larger_instances(kind: str) -> None:
    n = 20_000
    random = np.random.default_rng(8)
    points = {
        "uniform": random.random((n, 2)),
        "clustered": random.random((n // 100, 2))[random.integers(0, n // 100, n)]
        + random.normal(size=(n, 2)) / n**0.5,
        "one place": np.ones((n, 2)),
        "a line": np.repeat(random.permutation(n).astype(float)[:, None], 2, axis=1),
        "a lattice": random.integers(0, 60, (n, 2)).astype(float),
    }[kind]
    problem = Problem.from_points(points)
    lengths = {}
    for name in constructions_for(problem):
        tour = made(problem, name, seed=1)
        lengths[name] = problem.length(tour)
        np.testing.assert_array_equal(construct(problem, name, seed=1, threads=3), tour)
    match kind:
        case "uniform":  # over 0.7124 sqrt(n A), the constant of long optimal tours
            gaps = {name: length / (0.7124 * n**0.5) - 1 for name, length in lengths.items()}
            assert 0.10 < gaps["greedy"] < 0.20
            assert 0.18 < gaps["nearest-neighbor"] < 0.32
            assert 0.28 < gaps["space-filling"] < 0.40
        case "clustered":
            assert lengths["greedy"] < 0.5 * lengths["random"]
        case "one place":
            assert set(lengths.values()) == {0.0}
        case "a line":
            shortest = 2 * (n - 1) * 2**0.5
            assert lengths["greedy"] == pytest.approx(shortest)
            assert lengths["space-filling"] == pytest.approx(shortest, rel=0.6)
        case "a lattice":
            assert lengths["greedy"] < 1.3 * 3600


@settings(max_examples=30)
@given(n=st.integers(1, 50), seed=st.integers(0, 2**32 - 1), fixed=st.booleans(), whole=st.booleans())
def test_nearest_neighbor_is_nearest(n: int, seed: int, fixed: bool, whole: bool) -> None:
    edges = some_fixed_edges(n, seed) if fixed and n > 2 else np.empty((0, 2), dtype=np.int32)
    problem = problem_of(Metric.EXACT_2D, n, seed, side=30, fixed_edges=edges)
    first = seed % n
    token = _native.StopToken()
    cities = np.arange(n)
    length = problem.distance(cities[:, None], cities[None, :])
    given = _native.Distances.of_matrix(length) if whole else search_distances(problem)
    tour = _native.nearest_neighbor(given, first, edges, 1, token)
    assert tour is not None
    problem.check_tour(tour)
    # A step that follows no fixed edge goes to the nearest city that is neither visited nor inside a path.
    degree = np.bincount(edges.ravel(), minlength=n)
    fixed_pairs = {frozenset(edge) for edge in edges.tolist()}
    for k in range(n - 1):
        a, b = int(tour[k]), int(tour[k + 1])
        if frozenset((a, b)) in fixed_pairs:
            continue
        left = tour[k + 1 :][degree[tour[k + 1 :]] < 2]
        assert length[a, b] == length[a, left].min()
        assert b == left[length[a, left] == length[a, b]].min()


def test_random_depends_on_the_seed_alone() -> None:
    problem = problem_of(Metric.EUC_2D, 1000, 1, side=30)
    one = made(problem, "random", seed=1)
    np.testing.assert_array_equal(made(problem, "random", seed=1, threads=4), one)
    assert not np.array_equal(one, made(problem, "random", seed=2))
    places = np.array([made(problem, "random", seed=seed)[:1] for seed in range(300)])
    assert 350 < places.mean() < 650


def test_a_tour_is_taken_as_it_is() -> None:
    problem = problem_of(Metric.EUC_2D, 5, 1, side=30)
    tour = np.array([4, 2, 0, 1, 3], dtype=np.int32)
    assert construct(problem, tour) is tour


def test_wrong_names() -> None:
    with pytest.raises(InvalidOption, match=r"'gredy'.*greedy, space-filling"):
        construct(problem_of(Metric.EUC_2D, 5, 1, side=30), "gredy")
    with pytest.raises(UnsupportedProblem, match="coordinates"):
        construct(problem_of(Metric.EXPLICIT, 5, 1, side=30), "space-filling")
    with pytest.raises(UnsupportedProblem, match="needs a distance matrix"):
        construct(problem_of(Metric.EUC_2D, 5, 1, side=30), "patching")


@pytest.mark.parametrize("name", list(CONSTRUCTIONS))
def test_stopped(name: str) -> None:
    token = _native.StopToken()
    token.request()
    kind = Metric.EXPLICIT if CONSTRUCTIONS[name].matrix else Metric.EUC_2D
    problem = problem_of(kind, 500, 1, side=30, fixed_edges=[[0, 1]])
    assert construct(problem, name, token=token) is None


def test_greedy_on_tsplib(shared_data: Path) -> None:
    """Between the optimum and a quarter above it, on instances with structure, too."""
    from warptsp import load

    optima = {"pr1002": 259045, "fl1577": 22249, "pcb442": 50778, "si535": 48450, "gr666": 294358}
    for name, optimum in optima.items():
        problem = load(shared_data / "tsplib" / f"{name}.tsp")
        assert optimum <= problem.length(made(problem, "greedy")) < 1.3 * optimum
