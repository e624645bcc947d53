"""What the search on a GPU is told about cities that the CPU numbers; arrays stay on the host here."""

import numpy as np
import pytest
from pretended_gpu import PretendedArray, PretendedGpu

from warptsp import _native
from warptsp.backends.cuda.cities import HostCities, MatrixCities, compact_order, is_plain
from warptsp.backends.cuda.launch_plan import needed_bytes
from warptsp.backends.instance import SearchInstance, has_dummy
from warptsp.problem import Metric, OpenPath, Problem


def problem(kind, n=60, **fields):
    random = np.random.default_rng(n)
    match kind:
        case "globe":
            return Problem.from_points(random.uniform(-60, 60, (n, 2)), "GREAT_CIRCLE", **fields)
        case "space":
            return Problem.from_points(random.integers(0, 100, (n, 3)), "EUC_3D", **fields)
        case "plane":
            return Problem.from_points(random.integers(0, 100, (n, 2)), "EUC_2D", **fields)
    points = random.integers(0, 1000, (n, 2))
    matrix = np.hypot(*(points[:, None] - points[None, :]).T)
    return Problem.from_matrix(matrix.round().astype(int) if kind == "integers" else matrix, **fields)


KINDS = ["globe", "space", "plane", "integers", "reals"]
FIELDS = {
    "closed": {},
    "free ends": {"open": OpenPath()},
    "one end": {"open": OpenPath(end=7)},
    "two ends": {"open": OpenPath(start=3, end=20)},
    "fixed": {"fixed_edges": [(0, 9), (9, 4), (30, 31)]},
    "both": {"fixed_edges": [(0, 9), (9, 4)], "open": OpenPath(start=3)},
}


@pytest.fixture(params=FIELDS)
def fields(request):
    return FIELDS[request.param]


def cities_of(instance):
    token = _native.StopToken()
    cities = HostCities.build(PretendedGpu(0), instance, instance.candidates(8, 2, 1, token), token)
    assert cities is not None
    return cities


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_instance_in_other_numbers(kind, fields):
    given = problem(kind, **fields)
    instance = SearchInstance.build(given, _native.StopToken())
    cities = cities_of(instance)
    assert cities.n == given.n + has_dummy(given) == instance.size
    tour = cities.renumbered(instance.greedy(1, _native.StopToken()))
    np.testing.assert_array_equal(np.sort(tour), np.arange(cities.n))
    path = cities.problems(tour)
    given.check_tour(path)

    def length(tour):
        """What the GPU would add up."""
        if cities.matrix is not None:
            return cities.length(PretendedArray(None, tour))
        rows = cities.points.download()[tour]
        real = np.isfinite(rows).all(axis=1)
        number = np.where(real, np.append(instance.city, -1)[tour], -1)
        return sum(
            given.distance(int(a), int(b))
            for a, b in zip(number, np.roll(number, -1), strict=True)
            if a >= 0 and b >= 0
        )

    assert length(tour) - cities.closing == pytest.approx(given.length(path), rel=1e-12)
    again = cities.numbered(path)
    assert length(again) == pytest.approx(length(tour), rel=1e-12)
    np.testing.assert_array_equal(cities.problems(again), path)
    # Every fixed edge is a link of the tour.
    after = dict(zip(tour.tolist(), np.roll(tour, -1).tolist(), strict=True))
    partners = np.full((cities.n, 2), -1) if cities.fixed is None else cities.fixed.download()
    for a, b in np.argwhere(partners >= 0):
        other = partners[a, b]
        assert after[int(a)] == other or after[int(other)] == a
    assert (partners >= 0).sum() == 2 * len(instance.fixed_edges)


@pytest.mark.parametrize("kind", KINDS)
def test_candidates_in_the_search_s_numbers(kind, fields):
    given = problem(kind, **fields)
    instance = SearchInstance.build(given, _native.StopToken())
    cities = cities_of(instance)
    rows = cities.candidates.download()
    assert rows.shape == (cities.n, 8)
    own = instance.candidates(8, 2, 1, _native.StopToken())
    old = cities.old if isinstance(cities, MatrixCities) else np.arange(cities.n)
    np.testing.assert_array_equal(old[rows], own[old])
    if cities.matrix is not None:
        np.testing.assert_array_equal(cities.matrix.download(), instance.rows[np.ix_(old, old)].astype("f4"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [13, 700])
def test_other_orders(kind, n):
    given = problem(kind, n, open=OpenPath())
    instance = SearchInstance.build(given, _native.StopToken())
    cities = cities_of(instance)
    orders = [cities.second_order(k, _native.StopToken()).download() for k in (1, 2, 1)]
    for order in orders:
        assert order.dtype == np.int32
        np.testing.assert_array_equal(np.sort(order), np.arange(n + 1))
    np.testing.assert_array_equal(orders[0], orders[2])
    if n == 700:
        # Neighbours in an order are near each other, and its pieces are not those of the numbering.
        tour = cities.problems(orders[0])
        assert given.length(tour) < 0.25 * given.length(np.random.default_rng(1).permutation(n))
        for order in orders[:2]:
            assert (np.abs(np.diff(order[:-1])) > n // 4).sum() > 2


@pytest.mark.parametrize("n", [1, 2, 16, 17, 18, 33, 500])
def test_the_order_of_a_matrix(n):
    random = np.random.default_rng(n)
    line = random.permutation(n)
    matrix = np.abs(line[:, None] - line[None, :])
    order = compact_order(matrix, 1)
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    for block in np.array_split(order, max(1, n // 50)):
        assert np.ptp(line[block]) < 4 * len(block)
    np.testing.assert_array_equal(np.sort(compact_order(np.zeros((n, n)), 3)), np.arange(n))


@pytest.mark.parametrize("kind", KINDS)
def test_the_instance_for_populations(kind):
    given = problem(kind, 300)
    cities = cities_of(SearchInstance.build(given, _native.StopToken()))
    lists = cities.candidates.download()
    tour = cities.numbered(np.arange(300, dtype=np.int32))
    from warptsp.methods.lk import LkParams

    native = cities.search_instance().tour_search(lists, tour, LkParams().of_search(len(tour)))
    assert native.length == pytest.approx(given.length(np.arange(300)), rel=1e-9)
    native.optimize(60.0, _native.StopToken())
    assert native.best_length == pytest.approx(given.length(cities.problems(native.best())), rel=1e-9)


def test_a_stop_ends_it():
    token = _native.StopToken()
    instance = SearchInstance.build(problem("space"), token)
    cities = cities_of(instance)
    token.request()
    assert cities.second_order(1, token) is None
    of_matrix = SearchInstance.build(problem("reals"), token)
    rows = of_matrix.candidates(8, 2, 1, _native.StopToken())
    assert HostCities.build(PretendedGpu(0), of_matrix, rows, token) is None


def test_joining_keeps_fixed_edges():
    """Two closed tours of two paths each; one of the links between the paths is fixed."""
    points = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [2, 0], [3, 0], [3, 1], [2, 1]], dtype=float)
    # Paths of one city each; 0 1 2 3 and 4 5 6 7 are closed in themselves.
    n = len(points)
    before = [3, 0, 1, 2, 7, 4, 5, 6]
    paths = np.array([[2 * before[p] + 1, 2 * before.index(p), p, p, 1] for p in range(n)], np.int32)

    def arranged(fixed, points=points, row=()):
        partners = np.full((n if len(fixed) else 0, 2), -1, np.int32)  # none: straight lines choose the joins
        for a, b in fixed:
            for one, other in ((a, b), (b, a)):
                partners[one, 0 if partners[one, 0] < 0 else 1] = other
        row = np.array(row, np.int32)
        distances = _native.Distances.of_points(Metric.EXACT_2D.kind, points)
        graph = _native.PathGraph(distances=distances, fixed=partners, row=row)
        places = np.empty((n, 2), np.int32)
        tours = graph.arrange(paths, np.array([0, n], np.int32), places, 1)
        if tours == 0:
            return 0, None
        tour = np.empty(n, int)
        tour[places[:, 0]] = np.arange(n)
        links = {frozenset(link) for link in zip(tour.tolist(), np.roll(tour, -1).tolist(), strict=True)}
        return tours, links

    tours, links = arranged([])
    assert tours == 2
    assert len(links) == n
    turned = np.random.default_rng(1).permutation(n)  # the points in another order
    assert links >= {frozenset((1, 4)), frozenset((2, 7))}
    assert arranged([], points[turned], np.argsort(turned)) == (tours, links)
    with pytest.raises(ValueError, match="the points or the matrix lack a row"):
        arranged([], points, np.arange(1, n + 1))
    for fixed in ([(1, 2)], [(1, 2), (4, 7)], [(0, 1), (1, 2), (2, 3)]):
        tours, links = arranged(fixed)
        assert tours == 2
        assert all(frozenset(edge) in links for edge in fixed)
    assert arranged([(0, 1), (1, 2), (2, 3), (3, 0)])[0] == 0
    for link in (-1, 2 * n, 2):
        paths[0, 0] = link
        with pytest.raises(ValueError, match="linked to nothing"):
            arranged([])


def test_memory_that_is_needed():
    assert is_plain(problem("plane"))
    assert is_plain(problem("space"))
    assert not is_plain(problem("globe"))
    assert not is_plain(problem("plane", open=OpenPath()))
    small, large = (needed_bytes(problem("integers", n)) for n in (100, 300))
    assert 4 * (300**2 - 100**2) < large - small < 6 * (300**2 - 100**2)
