"""The set-up of a search on a GPU against that of the CPU."""

import numpy as np
import pytest
from numpy.typing import NDArray

from warptsp import Problem, _native
from warptsp.backends.cuda.cities import PlaneCities
from warptsp.backends.cuda.device import Device
from warptsp.backends.cuda.geometry import build, second_order, setup_bytes, tour_length
from warptsp.backends.cuda.greedy import greedy_tour, tour_of_links
from warptsp.backends.cuda.plane_candidates import candidate_lists
from warptsp.backends.cuda.primitives import scan_exclusive, sort_by_key
from warptsp.generate import dimacs
from warptsp.problem import Metric
from warptsp.problem.search import search_distances

pytestmark = pytest.mark.gpu

METRICS = [metric for metric in Metric if metric.planar or metric.spatial]


def cloud(kind: str, n: int, dimensions: int = 2) -> NDArray[np.float64]:
    random = np.random.default_rng(n)
    shape = (n, dimensions)
    match kind:
        case "uniform":
            return random.random(shape)
        case "lattice":
            side = int(np.ceil(n ** (1 / dimensions)))
            return np.stack(np.unravel_index(np.arange(n), (side + 1,) * dimensions), axis=1).astype(float)
        case "duplicates":
            return random.integers(0, 6, shape).astype(float)
        case "large":
            return 1e12 + random.normal(size=shape) * 1e12
        case "line":
            return np.repeat(random.integers(0, 4 * n, (n, 1)) * 1e-9, dimensions, axis=1)
        case "upright":
            return np.stack([*[np.full(n, 3.0)] * (dimensions - 1), np.arange(n) * 0.5], axis=1)
        case "one place":
            return np.full(shape, -7.25)
        case "clusters":
            middles = random.normal(size=(20, dimensions))
            return middles[random.integers(0, 20, n)] + 1e-3 * random.normal(size=shape)
        case "clusters in clusters":
            return np.exp(random.normal(size=shape) * 30)
    raise AssertionError(kind)


KINDS = [
    "uniform",
    "lattice",
    "duplicates",
    "large",
    "line",
    "upright",
    "one place",
    "clusters",
    "clusters in clusters",
]


@pytest.mark.parametrize("n", [1, 31, 2047, 2048, 2049, 3_000_017])
def test_scan(gpu: Device, n: int) -> None:
    values = np.random.default_rng(n).integers(-5, 100, n).astype(np.int32)
    on_device, scanned = gpu.upload(values), gpu.empty(n, np.int32)
    total = scan_exclusive(gpu, on_device, scanned, n)
    expected = np.cumsum(values, dtype=np.int32)
    np.testing.assert_array_equal(scanned.download(), np.append(0, expected[:-1]))
    assert total.download()[0] == expected[-1]


@pytest.mark.parametrize("n", [1, 2, 4095, 4097, 1_000_003])
@pytest.mark.parametrize("bits", [1, 10, 48, 64])
def test_sort_is_stable(gpu: Device, n: int, bits: int) -> None:
    keys = np.random.default_rng(n).integers(0, 2**bits, n, dtype=np.uint64)
    values = np.arange(n, dtype=np.int32)
    found = sort_by_key(gpu, gpu.upload(keys), gpu.upload(values), n, bits)
    np.testing.assert_array_equal(found[0].download(), np.sort(keys))
    np.testing.assert_array_equal(found[1].download(), np.argsort(keys, kind="stable"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 9, 1000, 70_001])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_numbering_and_candidates(gpu: Device, kind: str, n: int, dimensions: int) -> None:
    points = cloud(kind, n, dimensions)
    layout = build(gpu, points)
    token = _native.StopToken()
    city = _native.space_filling_curve(points, "hilbert", token)
    np.testing.assert_array_equal(layout.city.download(), city)
    numbered = points[city]
    np.testing.assert_array_equal(layout.points.download(), numbered)
    for count, per_quadrant, norm in [(5, 0, 2), (8, 1, 2), (10, 2, 2), (16, 4, 2), (8, 1, 1), (10, 2, 0)]:
        lists = candidate_lists(gpu, layout, count, per_quadrant, norm)
        metric = Metric[f"{('MAX', 'MAN', 'EXACT')[norm]}_{dimensions}D"]
        of_points = _native.Distances.of_points(metric.kind, numbered)
        expected = _native.candidate_lists(of_points, count, per_quadrant, 4, token)
        np.testing.assert_array_equal(lists.download(), expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dimensions", [2, 3])
def test_second_order(gpu: Device, kind: str, dimensions: int) -> None:
    n = 50_000
    layout = build(gpu, cloud(kind, n, dimensions))
    orders = [
        order.download()
        for angle, shift in [(0.3, (0.1, 0.9)), (0.3, (0.1, 0.9)), (2.0, (0.5, 0.2))]
        if (order := second_order(gpu, layout, angle, shift)) is not None
    ]
    assert len(orders) == 3
    for order in orders:
        np.testing.assert_array_equal(np.sort(order), np.arange(n))
    np.testing.assert_array_equal(orders[0], orders[1])
    if kind == "uniform":
        points = layout.points.download()
        for order in orders:
            steps = np.diff(points[order], axis=0)
            assert np.linalg.norm(steps, axis=1).sum() < 1.2 * n ** (1 - 1 / dimensions)
        assert (np.abs(np.diff(orders[2])) > n // 4).sum() > 2


@pytest.mark.parametrize("n", [3, 4, 65, 1000, 500_000])
def test_tour_of_links(gpu: Device, n: int) -> None:
    random = np.random.default_rng(n)
    tour = np.append(0, 1 + random.permutation(n - 1)).astype(np.int32)
    links = np.empty((n, 2), dtype=np.int32)
    links[tour, 0], links[tour, 1] = np.roll(tour, -1), np.roll(tour, 1)
    turned = random.random(n) < 0.5
    turned[0] = False
    links[turned] = links[turned, ::-1]
    np.testing.assert_array_equal(tour_of_links(gpu, gpu.upload(links), n).download(), tour)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 3, 4, 5, 30_000])
@pytest.mark.parametrize("metric", [Metric.EUC_2D, Metric.MAX_2D, Metric.EXACT_3D])
def test_greedy_tour(gpu: Device, kind: str, n: int, metric: Metric) -> None:
    layout = build(gpu, cloud(kind, n, metric.dimensions))
    candidates = candidate_lists(gpu, layout, 10, 2, metric.norm)
    tours = [greedy_tour(gpu, layout, candidates, 2, metric) for _ in range(2)]
    np.testing.assert_array_equal(np.sort(tours[0].download()), np.arange(n))
    np.testing.assert_array_equal(tours[0].download(), tours[1].download())


@pytest.mark.parametrize("name", ["E100k.0", "C100k.0", "space"])
@pytest.mark.parametrize(("count", "per_quadrant"), [(8, 1), (10, 2), (5, 0)])
def test_greedy_tour_is_as_short_as_the_cpus(gpu: Device, name: str, count: int, per_quadrant: int) -> None:
    stars = Problem.from_points(np.round(1e6 * cloud("uniform", 100_000, 3)), "EUC_3D")
    problem = stars if name == "space" else dimacs(name)
    layout = build(gpu, problem.search_points())
    candidates = candidate_lists(gpu, layout, count, per_quadrant)
    tour = greedy_tour(gpu, layout, candidates, per_quadrant, problem.metric)
    edges = np.empty((0, 2), dtype=np.int32)
    expected = _native.greedy_edge(search_distances(problem), edges, 4, _native.StopToken())
    length = tour_length(gpu, layout.points, tour, problem.metric)
    assert length == problem.length(layout.city.download()[tour.download()])
    assert length < 1.01 * problem.length(expected)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n", [3, 1000, 300_000])
def test_tour_length(gpu: Device, metric: Metric, n: int) -> None:
    problem = Problem.from_points(1e4 * cloud("uniform", n, metric.dimensions), metric)
    layout = build(gpu, problem.search_points())
    tour = np.random.default_rng(n).permutation(n).astype(np.int32)
    length = tour_length(gpu, layout.points, gpu.upload(tour), metric)
    expected = problem.length(layout.city.download()[tour])
    if metric.integral:
        assert isinstance(length, int)
        assert length == expected
    else:
        assert length == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("n", [1, 3, 1000, 300_001])
def test_a_tour_in_the_problems_numbers(gpu: Device, n: int) -> None:
    problem = Problem.from_points(cloud("uniform", n), "EUC_2D")
    layout = build(gpu, problem.search_points())
    cities = PlaneCities(gpu, layout, problem, gpu.empty((n, 1), np.int32))
    own = np.random.default_rng(n).permutation(n).astype(np.int32)
    tour = gpu.upload(own)
    expected = cities.problems(own)
    assert (cities.problems_own(tour) == np.roll(expected, -int(np.argmin(expected)))).all()
    before, behind = cities.some_links(tour, 50)
    place = np.empty(n, np.int64)
    place[expected] = np.arange(n)
    assert ((place[behind] - place[before]) % n == 1 % n).all()


def test_stops(gpu: Device) -> None:
    points = cloud("uniform", 10_000)
    token = _native.StopToken()
    layout = build(gpu, points, token)
    candidates = candidate_lists(gpu, layout, 8, 1, token=token)
    token.request()
    assert build(gpu, points, token) is None
    assert second_order(gpu, layout, 0.3, (0.1, 0.9), token) is None
    assert candidate_lists(gpu, layout, 8, 1, token=token) is None
    assert greedy_tour(gpu, layout, candidates, 1, Metric.EUC_2D, token) is None


@pytest.mark.parametrize("n", [1000, 1_000_000])
@pytest.mark.parametrize(("count", "per_quadrant"), [(5, 0), (10, 2)])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_memory(gpu: Device, n: int, count: int, per_quadrant: int, dimensions: int) -> None:
    with Device.open(gpu.ordinal) as fresh:
        layout = build(fresh, cloud("clusters", n, dimensions))
        candidates = candidate_lists(fresh, layout, count, per_quadrant)
        metric = Metric.EXACT_2D if dimensions == 2 else Metric.EXACT_3D
        assert greedy_tour(fresh, layout, candidates, per_quadrant, metric) is not None
        needed = setup_bytes(n, count, dimensions)
        assert fresh.memory_peak() <= needed
        if n == 1_000_000 and dimensions == 2:
            assert fresh.memory_peak() > 0.9 * needed
