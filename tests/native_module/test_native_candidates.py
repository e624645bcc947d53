"""Candidate lists against a slow, obvious reference, on any kind of points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import unit_points
from numpy.typing import NDArray

from warptsp import Metric, _native


def candidates(
    points: NDArray[np.float64],
    count: int,
    per_quadrant: int = 0,
    norm: int = 2,
    *,
    sphere: bool = False,
    threads: int = 1,
) -> NDArray[np.int32]:
    rows = np.ascontiguousarray(points, dtype=np.float64)
    metric = Metric.GEO if sphere else Metric[f"{('MAX', 'MAN', 'EXACT')[norm]}_{rows.shape[1]}D"]
    given = _native.Distances.of_points(metric.kind, rows)
    lists = _native.candidate_lists(given, count, per_quadrant, threads, _native.StopToken())
    assert lists is not None
    return lists


def distances(delta: NDArray[np.float64], norm: int) -> NDArray[np.float64]:
    if norm == 2:
        return (delta * delta).sum(axis=1) if delta.shape[1] == 2 else _sum_of_squares(delta)
    return np.abs(delta).sum(axis=1) if norm == 1 else np.abs(delta).max(axis=1)


def _sum_of_squares(delta: NDArray[np.float64]) -> NDArray[np.float64]:
    x, y, z = (delta * delta).T
    return np.asarray((x + y) + z)


def quadrant(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.intp]:
    """Half-open quadrants; coincident points belong to the first."""
    first = (y >= 0) & (x > 0) | (x == 0) & (y == 0)
    return np.select([first, (x <= 0) & (y > 0), (y <= 0) & (x < 0)], [0, 1, 2], 3)


def sectors_of(points: NDArray[np.float64], city: int, sphere: bool) -> NDArray[np.intp]:
    delta = points - points[city]
    if points.shape[1] == 2:
        return quadrant(*delta.T)
    if not sphere:
        return np.asarray((delta < 0) @ np.array([1, 2, 4]))
    x, y, z = points[city]
    across = np.sqrt(x * x + y * y)
    east = np.array([-y / across, x / across, 0.0]) if across > 0 else np.array([0.0, 1.0, 0.0])
    north = np.array([-z * east[1], z * east[0], x * east[1] - y * east[0]])
    return quadrant(
        delta[:, 0] * east[0] + delta[:, 1] * east[1] + delta[:, 2] * east[2],
        delta[:, 0] * north[0] + delta[:, 1] * north[1] + delta[:, 2] * north[2],
    )


def reference(
    points: NDArray[np.float64], city: int, count: int, per_sector: int, norm: int, sphere: bool = False
) -> list[int]:
    """The list of one city, by the definition."""
    distance = distances(points - points[city], norm)
    step = (np.arange(len(points)) - city) % len(points)
    order = np.lexsort((step, distance))
    order = order[order != city]
    sector = sectors_of(points, city, sphere)[order]
    sectors = 8 if points.shape[1] == 3 and not sphere else 4
    near = [order[sector == s][: min(per_sector, count // sectors)] for s in range(sectors)]
    chosen = np.concatenate(near)
    rest = order[: count + len(chosen)]
    chosen = np.concatenate([chosen, rest[~np.isin(rest, chosen)][: count - len(chosen)]])
    chosen = chosen[np.lexsort((step[chosen], distance[chosen]))]
    return [*chosen.tolist(), *[-1] * (count - len(chosen))]


def on_the_sphere(n: int, random: np.random.Generator) -> NDArray[np.float64]:
    points = random.normal(size=(n, 3))
    points /= np.sqrt((points * points).sum(axis=1))[:, None]
    points[:: max(1, n // 3)] = [0.0, 0.0, 1.0]
    return points


CLOUDS = {
    "uniform": lambda n, random: random.random((n, 2)),
    "lattice with duplicates": lambda n, random: random.integers(0, 6, (n, 2)).astype(float),
    "large": lambda n, random: 1e12 + random.normal(size=(n, 2)) * 1e12,
    "small and collinear": lambda n, random: np.repeat(random.integers(0, 50, (n, 1)) * 1e-9, 2, axis=1),
    "vertical line": lambda n, random: np.stack([np.full(n, 3.0), random.integers(0, 2 * n, n)], axis=1),
    "one place": lambda n, random: np.full((n, 2), -7.25),
    "clusters in clusters": lambda n, random: np.exp(random.normal(size=(n, 2)) * 30),
    "space": lambda n, random: random.random((n, 3)),
    "lattice in space": lambda n, random: random.integers(0, 4, (n, 3)).astype(float),
    "sphere": on_the_sphere,
}


@pytest.mark.parametrize("kind", CLOUDS)
@settings(max_examples=25)
@given(
    n=st.integers(1, 90),
    seed=st.integers(0, 2**32 - 1),
    norm=st.sampled_from([2, 1, 0]),
    lists=st.sampled_from([(10, 2), (5, 0), (4, 1), (8, 2), (1, 0), (9, 1), (16, 2), (20, 2)]),
    threads=st.integers(1, 3),
)
def test_equals_the_reference(
    kind: str, n: int, seed: int, norm: int, lists: tuple[int, int], threads: int
) -> None:
    points, sphere = CLOUDS[kind](n, np.random.default_rng(seed)), kind == "sphere"
    count, per_quadrant = lists
    norm = 2 if sphere else norm
    found = candidates(points, count, per_quadrant, norm, sphere=sphere, threads=threads)
    for city in range(n):
        assert found[city].tolist() == reference(points, city, count, per_quadrant, norm, sphere)


@pytest.mark.parametrize("kind", CLOUDS)
def test_a_sample_of_a_large_instance(kind: str) -> None:
    n, sphere = 10_000, kind == "sphere"
    points = CLOUDS[kind](n, np.random.default_rng(11))
    lists = candidates(points, 10, 2, sphere=sphere)
    for city in range(0, n, 1001):
        assert lists[city].tolist() == reference(points, city, 10, 2, 2, sphere)


def test_large_instances_do_not_depend_on_threads() -> None:
    points = unit_points(30_000, 5)
    one = candidates(points, 10, 2)
    for threads in (2, 3, 7):
        np.testing.assert_array_equal(candidates(points, 10, 2, threads=threads), one)


def of_matrix(matrix: np.ndarray, count: int, covers: int, seed: int) -> np.ndarray | None:
    given = _native.Distances.of_matrix(matrix)
    return _native.candidate_lists(given, count, covers, 1 + seed % 3, _native.StopToken())


@settings(max_examples=25)
@given(n=st.integers(1, 40), seed=st.integers(0, 2**32 - 1), whole=st.booleans(), count=st.integers(1, 12))
def test_matrix(n: int, seed: int, whole: bool, count: int) -> None:
    random = np.random.default_rng(seed)
    matrix = random.integers(0, 9, (n, n)).astype(np.int32 if whole else np.float64)
    matrix = np.maximum(matrix, matrix.T)
    lists = of_matrix(matrix, count, 0, seed)
    assert lists is not None
    for city in range(n):
        step = (np.arange(n) - city) % n
        order = [j for j in np.lexsort((step, matrix[city])) if j != city][:count]
        assert list(lists[city]) == order + [-1] * (count - len(order))


def spread(matrix: np.ndarray, city: int, count: int, covers: int) -> list[int]:
    """The list to all sides, by the definition."""
    n = len(matrix)
    step = (np.arange(n) - city) % n
    order = [int(j) for j in np.lexsort((step, matrix[city])) if j != city]
    taken: list[int] = []
    for j in order:
        by = [k for k in taken if matrix[k, j] < matrix[city, j] or matrix[k, j] == matrix[city, j] == 0]
        if len(by) < covers and len(taken) < count:
            taken.append(j)
    chosen = set((taken + [j for j in order if j not in taken])[:count])
    return [j for j in order if j in chosen]


@settings(max_examples=50)
@given(
    n=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
    whole=st.booleans(),
    count=st.integers(1, 12),
    covers=st.integers(1, 4),
    side=st.sampled_from([2, 9, 1000]),
)
def test_matrix_to_all_sides(n: int, seed: int, whole: bool, count: int, covers: int, side: int) -> None:
    random = np.random.default_rng(seed)
    if side == 9:
        matrix = random.integers(0, side, (n, n)).astype(float)
        matrix = np.maximum(matrix, matrix.T)
    else:  # of points, many of which coincide on the small square
        points = random.integers(0, side, (n, 2))
        matrix = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    matrix = matrix.round().astype(np.int32) if whole else matrix
    lists = of_matrix(matrix, count, covers, seed)
    assert lists is not None
    for city in range(n):
        order = spread(matrix, city, count, covers)
        assert list(lists[city]) == order + [-1] * (count - len(order))


def test_more_threads_than_cities() -> None:
    points = unit_points(50, 9)
    np.testing.assert_array_equal(candidates(points, 5, 1, threads=100_000), candidates(points, 5, 1))
    with pytest.raises(ValueError, match="threads is 0"):
        candidates(points, 5, 1, threads=0)


def test_stopped() -> None:
    token = _native.StopToken()
    token.request()
    for given_by in (
        _native.Distances.of_points(Metric.EXACT_2D.kind, unit_points(1000, 1)),
        _native.Distances.of_matrix(np.zeros((50, 50))),
    ):
        assert _native.candidate_lists(given_by, 5, 1, 2, token) is None


@pytest.mark.parametrize(
    ("columns", "count", "per_quadrant", "message"),
    [
        (3, 10, 3, "per_quadrant is 3"),
        (2, 0, 0, "count is 0"),
        (2, 10, 3, "per_quadrant is 3"),
        (2, 10, -1, "per_quadrant is -1"),
    ],
)
def test_bad_arguments(columns: int, count: int, per_quadrant: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        candidates(np.zeros((5, columns)), count, per_quadrant)
