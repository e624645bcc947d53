"""The search among a tour's long links: the same cities, not longer, and much shorter between clusters."""

import numpy as np
import pytest

import warptsp
from warptsp import Problem, _native
from warptsp.construct import construct
from warptsp.methods.lk import LkParams, long_links, tuning
from warptsp.methods.lk.long_links import improve_long_links, share_of_length


def clusters(n: int, seed: int) -> Problem:
    random = np.random.default_rng(seed)
    centres = random.integers(0, 1_000_000, (max(1, n // 50), 2))
    places = centres[random.integers(0, len(centres), n)] + random.normal(size=(n, 2)) * 1000
    return Problem.from_points(np.rint(places), "EUC_2D")


@pytest.mark.parametrize("n", [100, 101, 1000, 6000])
@pytest.mark.parametrize("start", ["greedy", "space-filling", "random"])
def test_a_tour_that_is_not_longer(n: int, start: str) -> None:
    problem = clusters(n, seed=n)
    token = _native.StopToken()
    tour = construct(problem, start, seed=1, threads=1, token=token)
    assert tour is not None
    better = improve_long_links(problem, tour, LkParams(), kicks=n, seconds=60.0, seed=1, token=token)
    problem.check_tour(better)
    assert problem.length(better) <= problem.length(tour)
    if n >= 1000:
        assert problem.length(better) < 0.97 * problem.length(tour)


def test_only_where_links_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    for problem, uneven in (
        (Problem.from_points(random.random((5000, 2))), False),
        (clusters(5000, 1), True),
    ):
        tour = warptsp.solve(problem, kicks=1000, threads=1, device="cpu").tour
        lengths = np.asarray(problem.distance(tour, np.roll(tour, -1)), dtype=float)
        assert (share_of_length(lengths, problem.n) > tuning.UNEVEN) is uneven
        for step in (1, 7):  # all links, and every seventh
            monkeypatch.setattr(tuning, "SAMPLED_EDGES", problem.n // 4 // step)
            some = long_links.some_lengths(problem, tour)
            np.testing.assert_array_equal(some, lengths[::step])
            assert (share_of_length(some, problem.n) > tuning.UNEVEN) is uneven
        some = np.random.default_rng(2).choice(lengths, len(lengths) // 2)
        assert (share_of_length(some, problem.n) > tuning.UNEVEN) is uneven


def test_a_stop_returns_a_tour() -> None:
    problem = clusters(2000, seed=3)
    tour = construct(problem, "greedy", seed=1, threads=1, token=_native.StopToken())
    assert tour is not None
    token = _native.StopToken()
    token.request()
    assert improve_long_links(problem, tour, LkParams(), seconds=1e-5, seed=1, token=token) is tour
    same = improve_long_links(problem, tour, LkParams(), kicks=10**9, seconds=60.0, seed=1, token=token)
    problem.check_tour(same)
    assert problem.length(same) <= problem.length(tour)


@pytest.mark.parametrize("of_matrix", [False, True])
def test_members_are_searched_among_them(of_matrix: bool) -> None:
    from warptsp.backends.instance import SearchInstance

    problem, token = clusters(4000, seed=6), _native.StopToken()
    if of_matrix:
        cities = np.arange(problem.n)
        problem = Problem.from_matrix(problem.distance(cities[:, None], cities[None]))
    instance = SearchInstance.build(problem, token)
    assert instance is not None
    candidates = instance.candidates(8, 1, 1, token)
    start = np.arange(problem.n, dtype=np.int32)

    def search() -> _native.TourSearch:
        return instance.tour_search(candidates, start, LkParams().of_search(problem.n))

    means = []
    for is_wanted in (False, True):
        population = search()
        population.grow(
            count=4, kicks_per_city=0.0, temperature=0.0, steps=6, long_links=is_wanted, seed=1, round=1,
            threads=2, token=token,
        )  # fmt: skip
        means.append(population.mean_length)
        problem.check_tour(instance.open(population.best()))
        assert problem.length(instance.open(population.best())) == population.best_length
    assert means[1] < 0.97 * means[0]
    tours = np.stack([construct(problem, name, seed=1) for name in ("greedy", "nearest-neighbor")])
    tours = np.stack([instance.close(tour) for tour in tours])
    as_they_are, better, stopped = search(), search(), search()
    as_they_are.add(tours, 2)
    better.add_with_better_long_links(tours, 2, token)
    assert better.mean_length < 0.97 * as_they_are.mean_length
    token.request()
    stopped.add_with_better_long_links(tours, 2, token)
    assert stopped.mean_length == as_they_are.mean_length


def test_cpu_threads_search_among_them(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = clusters(8000, seed=5)
    monkeypatch.setitem(improve_long_links.__kwdefaults__, "kicks", 2000)  # enough here

    def tour(least: int, threads: int) -> warptsp.Result:
        monkeypatch.setattr(tuning, "MIN_LONG_EDGES", least)
        return warptsp.solve(problem, kicks=500, threads=threads, seed=1, device="cpu")

    without = tour(problem.n + 1, 1)
    for threads in (1, 2):  # the whole tour, and parts of it
        result = tour(problem.n, threads)
        problem.check_tour(result.tour)
        assert result.length < 0.995 * without.length
        assert result.kicks == without.kicks == 500
    np.testing.assert_array_equal(tour(problem.n, threads).tour, result.tour)


def test_a_search_goes_on_from_a_tour_of_its_cities_only() -> None:
    from warptsp.backends.instance import SearchInstance

    problem, token = clusters(500, seed=4), _native.StopToken()
    instance = SearchInstance.build(problem, token)
    assert instance is not None
    candidates = instance.candidates(8, 1, 1, token)
    start = np.arange(500, dtype=np.int32)
    search = instance.tour_search(candidates, start, LkParams().of_search(problem.n))
    search.optimize(60.0, token)
    best, length = search.best(), search.best_length
    search.go_on_from(start)
    assert search.length > length == search.best_length
    search.go_on_from(best)
    assert search.length == pytest.approx(length)
    for wrong in (start[1:], np.zeros(500, np.int32), start + 1):
        with pytest.raises(ValueError, match=r"a tour|the tour names"):
            search.go_on_from(wrong)
