"""2-opt, 3-opt and iterated local search along neighbour lists, against a slow look at every move."""

import itertools
import logging
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from instances import problem_of, whole_points

import warptsp
from warptsp import Problem
from warptsp.backends.instance import SearchInstance
from warptsp.methods import METHODS
from warptsp.problem import Metric, OpenPath

TWO, THREE = "neighbor-two-opt", "neighbor-three-opt"
ACCEPTANCES = ("always", "better", "annealed")
WAYS = list(itertools.product(("best", "first"), ("one", "many")))


@dataclass(frozen=True)
class Neighborhood:
    """The moves of an instance's lists, one by one."""

    distance: dict  # by pair of cities: far faster than an array is, one by one
    lists: list
    fixed: frozenset

    @classmethod
    def of(cls, problem, neighbors):
        instance = SearchInstance.build(problem, warptsp._native.StopToken())
        count = min(neighbors, problem.n - 1)
        lists = instance.candidates(
            count + (instance.dummy is not None), count // 4, 1, warptsp._native.StopToken()
        )
        size = instance.size
        distance = np.zeros((size, size))
        n = problem.n
        for a in range(n):
            distance[a, :n] = problem.distance(np.full(n, instance.city[a]), instance.city)
        fixed = frozenset(frozenset((int(a), int(b))) for a, b in instance.fixed_edges)
        by_pair = dict(zip(np.ndindex(size, size), distance.ravel().tolist(), strict=True))
        return instance, cls(by_pair, lists.tolist(), fixed)

    def gains(self, tour, three):
        """The gain of every move that shortens a closed tour; each such move is tried by making it."""
        d, n = self.distance, len(tour)
        around = {int(c): (int(tour[p - 1]), int(tour[(p + 1) % n])) for p, c in enumerate(tour)}

        def listed(city, best):
            return (c for c in self.lists[city] if c >= 0 and best > d[city, c])

        def removable(a, b, gone):
            return (link := frozenset((a, b))) not in gone and link not in self.fixed

        for t2, side in itertools.product(range(n), (0, 1)):
            t1 = around[t2][side]
            if not removable(t1, t2, frozenset()):
                continue
            for t3 in listed(t2, d[t1, t2]):
                for t4 in around[t3]:
                    gone = frozenset([frozenset((t1, t2))])
                    if t3 in around[t2] or not removable(t3, t4, gone):
                        continue
                    gone |= {frozenset((t3, t4))}
                    open_gain = d[t1, t2] - d[t2, t3] + d[t3, t4]
                    gain = open_gain - d[t4, t1]
                    if gain > 0 and self._joins(around, gone, [(t2, t3), (t4, t1)]):
                        yield gain
                    if not three:
                        continue
                    for t5 in listed(t4, open_gain):
                        if t5 in around[t4]:
                            continue
                        for t6 in (city for city in around[t5] if removable(t5, city, gone)):
                            gain = open_gain - d[t4, t5] + d[t5, t6] - d[t6, t1]
                            if gain > 0 and self._joins(
                                around, gone | {frozenset((t5, t6))}, [(t2, t3), (t4, t5), (t6, t1)]
                            ):
                                yield gain

    def next_gains(self, tour, three):
        """As `gains`, where only edges to following cities go (`edges="next"`)."""
        d, n = self.distance, len(tour)
        around = {int(c): (int(tour[p - 1]), int(tour[(p + 1) % n])) for p, c in enumerate(tour)}
        edge = {c: (c, after) for c, (_, after) in around.items()}

        def listed(city):
            return [c for c in self.lists[city] if c >= 0 and d[city, c] < d[edge[city]]]

        def try_all(cities):
            gone = [edge[c] for c in cities]
            if self.fixed & {frozenset(e) for e in gone}:
                return
            ends = [c for e in gone for c in e]
            for added in matchings(ends):
                gain = sum(d[e] for e in gone) - sum(d[e] for e in added)
                if gain > 0 and self._joins(around, {frozenset(e) for e in gone}, added):
                    yield gain

        for i in range(n):
            for j in listed(i):
                yield from try_all((i, j))
                for k in listed(j) if three else ():
                    if k != i:
                        yield from try_all((i, j, k))

    @staticmethod
    def _joins(around, gone, added):
        """Whether the links make one closed tour."""
        new = {frozenset(link) for link in added}
        if len(new) < len(added) or any(len(link) < 2 or link in gone for link in new):
            return False
        if any(b in around[a] for a, b in added):
            return False
        links = {c: [o for o in both if frozenset((c, o)) not in gone] for c, both in around.items()}
        for a, b in added:
            links[a].append(b)
            links[b].append(a)
        before, city, seen = None, 0, 0
        while seen == 0 or city != 0:
            following = [o for o in links[city] if o != before] or links[city]
            before, city, seen = city, following[0], seen + 1
        return seen == len(around)


def matchings(cities):
    """All ways to pair the cities."""
    if not cities:
        yield []
    for k in range(1, len(cities)):
        for others in matchings(cities[1:k] + cities[k + 1 :]):
            yield [(cities[0], cities[k]), *others]


FIXED = np.array([[0, 7], [7, 20], [30, 31]], dtype=np.int32)
METRICS = [*(metric.name for metric in Metric if metric.has_coordinates), "whole", "real"]


def solve(problem, method=THREE, *, neighbors=8, start="random", **options):
    params = {"neighbors": neighbors, **options.pop("params", {})}
    options = {"seed": 1, "threads": 2, "device": "cpu", **options}
    result = warptsp.solve(problem, method=method, start=start, params=params, **options)
    problem.check_tour(result.tour)
    assert result.length == problem.length(result.tour)
    return result


def assert_local_optimum(problem, result, neighbors, three):
    instance, moves = Neighborhood.of(problem, neighbors)
    best = max(moves.gains(instance.close(result.tour), three), default=0.0)
    assert best <= instance.tolerance, f"a move gains {best}"


@pytest.mark.parametrize(("improvement", "moves"), WAYS)
@pytest.mark.parametrize("method", [TWO, THREE])
def test_a_local_optimum_of_the_neighbourhood(method, improvement, moves, device):
    for seed, (metric, side) in enumerate((("EUC_2D", 150), ("EXACT_2D", 150), ("EUC_2D", 3), ("EUC_2D", 1))):
        problem = Problem.from_points(whole_points(80, seed, side=side), metric)
        params = {"improvement": improvement, "moves": moves}
        result = solve(problem, method, params=params, seed=seed, device=device, bound=False)
        assert_local_optimum(problem, result, 8, method == THREE)
        if side == 150:
            assert 30 < result.counters["moves"] < result.counters["evaluations"]
            assert result.stop_reason == "the search is complete"


@pytest.mark.parametrize("method", [TWO, THREE])
@pytest.mark.parametrize("metric", METRICS)
def test_every_metric(metric, method, device):
    problem = problem_of(metric, 40, side=300)
    for improvement, moves in (("best", "many"), ("first", "one")):
        params = {"improvement": improvement, "moves": moves}
        result = solve(problem, method, params=params, device=device)
        assert_local_optimum(problem, result, 8, method == THREE)


@pytest.mark.parametrize("edges", ["both", "next"])
@pytest.mark.parametrize("method", [TWO, THREE])
def test_a_pass_makes_the_best_move_of_all(method, edges, device):
    """Pass by pass to a local optimum; with `edges="next"` against all ways to join the pieces."""
    for seed, (n, side) in itertools.product(range(2), ((7, 30), (18, 100))):
        problem = Problem.from_points(whole_points(n, seed, side=side), "EUC_2D")
        params = {"improvement": "best", "edges": edges, "moves": "one"}
        tour = warptsp.solve(problem, method="construct", start="random", seed=seed).tour
        instance, moves = Neighborhood.of(problem, 8)
        gains = moves.gains if edges == "both" else moves.next_gains
        for _ in range(100):
            best = max(gains(instance.close(tour), method == THREE), default=0.0)
            if best <= instance.tolerance:
                break
            after = solve(problem, method, start=tour, params={**params, "passes": 1}, device=device)
            assert problem.length(tour) - after.length == best, f"seed {seed}, {n} cities"
            assert (after.counters["passes"], after.counters["moves"]) == (1, 1)
            tour = after.tour
        else:
            pytest.fail("no local optimum in 100 passes")
        after = solve(problem, method, start=tour, params=params, device=device)
        assert (after.counters["moves"], after.counters["passes"]) == (0, 1), f"seed {seed}, {n} cities"


def test_the_following_edges_of_paths_and_fixed_edges(device):
    for opened, moves in itertools.product((OpenPath(5, 11), None), ("one", "many")):
        problem = Problem.from_points(whole_points(40, 4), "EUC_2D", fixed_edges=FIXED, open=opened)
        params = {"edges": "next", "moves": moves}
        result = solve(problem, params=params, start="greedy", device=device)
        instance, moves_there = Neighborhood.of(problem, 8)
        tour = instance.close(result.tour)
        # Which edges follow depends on the direction, and paths are given from their start to their end.
        best = min(max(moves_there.next_gains(way, True), default=0.0) for way in (tour, tour[::-1]))
        assert best <= instance.tolerance


def test_ils_with_the_documents_neighbourhood():
    problem = Problem.from_points(whole_points(120, 8, side=1000), "EUC_2D")
    document = {"improvement": "best", "restart": "pass", "edges": "next", "acceptance": "better"}
    descent = solve(problem, params={"moves": "one", "edges": "next"})
    kicked = solve(problem, "ils", params={**document, "iterations": 0.3})
    assert kicked.length < descent.length
    instance, moves = Neighborhood.of(problem, 8)
    best = max(moves.next_gains(instance.close(kicked.tour), True), default=0.0)
    assert best <= instance.tolerance


@pytest.mark.parametrize("acceptance", ACCEPTANCES)
@pytest.mark.parametrize("segment", [0, 20])
def test_iterated_local_search(acceptance, segment, device):
    problem = Problem.from_points(whole_points(200, 8), "EUC_2D")
    params = {"acceptance": acceptance, "segment": segment, "iterations": 3.0, "chains": 1}
    first, again, other = (
        solve(problem, "ils", params=params, start="greedy", seed=seed, device=device) for seed in (5, 5, 6)
    )
    assert first.kicks == 600
    assert np.array_equal(first.tour, again.tour)
    assert not np.array_equal(first.tour, other.tour)
    descent = solve(problem, params={"improvement": "first", "moves": "one"}, start="greedy")
    assert first.length < descent.length
    accepted = first.counters["kicks_accepted"]
    assert accepted == 600 if acceptance == "always" else 0 < accepted < 600


AFTER_KICKS = list(itertools.product(("first", "best"), ("ends", "pass")))


@pytest.mark.parametrize("limit", [{"params": {"iterations": 0.0}}, {"kicks": 0}])
@pytest.mark.parametrize("params", [{"restart": "ends"}, {"restart": "pass"}, {"edges": "next"}])
def test_algorithm_1_without_kicks_is_three_opt(params, limit):
    problem = Problem.from_points(whole_points(300, 18), "EUC_2D")
    params = {"improvement": "best", **params}
    ils = solve(
        problem, "ils", start="nearest-neighbor", **{**limit, "params": {**params, **limit.get("params", {})}}
    )
    params = {"improvement": "best", "moves": "one", "edges": params.get("edges", "both")}
    descent = solve(problem, THREE, params=params, start="nearest-neighbor")
    assert np.array_equal(ils.tour, descent.tour)
    for name in ("passes", "moves"):
        assert ils.counters[name] == descent.counters[name]


@pytest.mark.parametrize("acceptance", ACCEPTANCES)
@pytest.mark.parametrize(("improvement", "restart"), AFTER_KICKS)
def test_local_searches_after_a_kick(improvement, restart, acceptance):
    problem = Problem.from_points(whole_points(120, 19), "EUC_2D")
    params = {
        "improvement": improvement,
        "restart": restart,
        "acceptance": acceptance,
        "iterations": 1.0,
        "chains": 3,
    }
    one, two, other = (
        solve(problem, "ils", params=params, start="greedy", threads=threads, seed=seed)
        for threads, seed in ((1, 5), (2, 5), (1, 6))
    )
    assert one.kicks == 120
    assert np.array_equal(one.tour, two.tour)
    assert one.counters == two.counters
    assert not np.array_equal(one.tour, other.tour)
    assert one.length < solve(problem, start="greedy").length
    assert_local_optimum(problem, one, 8, True)
    # By passes: one for each kick at least, and one more for each move.
    assert improvement == "first" or one.counters["passes"] > 3 * one.kicks


@pytest.mark.parametrize(
    "params",
    [{"improvement": "best"}, {"restart": "pass"}, {"improvement": "best", "restart": "pass", "chains": 2}],
)
def test_what_a_gpu_does_not_search(params):
    class OnGpu:
        device = SimpleNamespace(gpus=(0,))

        def use_cpu(self, error):
            raise error

    problem = Problem.from_points(whole_points(20, 0), "EUC_2D")
    method = METHODS["ils"]
    with pytest.raises(warptsp.UnsupportedProblem, match=r"method ils: improvement .* on the CPU only"):
        method.run(problem, OnGpu(), method.params(**params))


def test_better_never_gets_worse_and_finds_the_optimum_of_few_cities(device):
    problem = Problem.from_points(whole_points(12, 10), "EUC_2D")
    best = warptsp.solve(problem, method="exact").length
    params = {"acceptance": "better", "segment": 0, "iterations": 50.0, "chains": 4}
    result = solve(problem, "ils", params=params, device=device)
    assert result.length == best


def test_annealing_accepts_losses_and_keeps_the_best_tour(device):
    problem = Problem.from_points(whole_points(300, 17), "EUC_2D")

    def search(iterations, **params):
        params = {"iterations": iterations, "chains": 1, **params}
        return solve(problem, "ils", params=params, start="greedy", device=device)

    better, annealed = search(2.0, acceptance="better"), search(2.0)
    assert better.counters["kicks_accepted"] < annealed.counters["kicks_accepted"] < annealed.kicks
    # As hot as that it goes on from every tour but the last ones, and loses what it had.
    local, hot = search(0.0), search(0.5, temperature=1e6)
    assert hot.counters["kicks_accepted"] > 0.9 * hot.kicks
    assert hot.length <= local.length
    cold = search(2.0, temperature=0.0)
    assert np.array_equal(cold.tour, better.tour)


def test_annealing_is_cold_when_the_time_is_over(device):
    problem = Problem.from_points(whole_points(300, 18), "EUC_2D")
    params = {"iterations": 1e6, "chains": 1, "temperature": 1e6}
    # As hot as that it accepts every loss until the end, which a machine that does much else may miss.
    for limit in (1.0, 4.0, 16.0):
        result = solve(problem, "ils", params=params, start="greedy", time_limit=limit, device=device)
        assert result.kicks < 3e8
        if result.counters["kicks_accepted"] < result.kicks:
            return
    pytest.fail(f"all {result.kicks} kicks were accepted")


def test_a_limit_on_kicks_and_none_at_all(device):
    problem = Problem.from_points(whole_points(100, 12), "EUC_2D")
    for params in ({}, WHOLE):
        assert solve(problem, "ils", kicks=77, params=params, device=device).kicks == 77
    assert solve(problem, "ils", params={"iterations": 0.25}, device=device).kicks == 25
    nothing = solve(problem, "ils", params={"iterations": 0.0}, device=device)
    assert nothing.kicks == 0
    assert nothing.length < warptsp.solve(problem, method="construct", start="random", seed=1).length


def test_passes_end_a_descent(device):
    problem = Problem.from_points(whole_points(400, 13), "EUC_2D")
    for improvement, moves in WAYS:
        params = {"improvement": improvement, "moves": moves, "passes": 0}
        result = solve(problem, params=params, device=device)
        assert result.counters["moves"] == 0
        lengths = [
            solve(problem, params={**params, "passes": passes}, device=device).length
            for passes in (1, 3, None)
        ]
        assert lengths == sorted(lengths, reverse=True)
        assert lengths[0] < result.length


@pytest.mark.gpu
@pytest.mark.parametrize("metric", ["EUC_2D", "EXACT_2D", "ATT", "whole", "MAN_3D"])
def test_a_gpu_makes_the_moves_of_the_cpu(metric):
    problem = problem_of(metric, 700, side=300)
    for method, (improvement, moves) in itertools.product((TWO, THREE), WAYS):
        params = {"improvement": improvement, "moves": moves}
        cpu, gpu = (solve(problem, method, params=params, neighbors=12, device=d) for d in ("cpu", "cuda"))
        assert np.array_equal(cpu.tour, gpu.tour), f"{method} {improvement} {moves}"
        for name in ("passes", "moves"):
            assert cpu.counters[name] == gpu.counters[name]
    for acceptance, segment in itertools.product(ACCEPTANCES, (0, 30)):
        params = {"acceptance": acceptance, "segment": segment, "iterations": 0.5, "chains": 3}
        cpu, gpu = (solve(problem, "ils", params=params, neighbors=12, device=d) for d in ("cpu", "cuda"))
        assert np.array_equal(cpu.tour, gpu.tour), f"{acceptance} {segment}"
        for name in ("kicks", "moves", "kicks_accepted"):
            assert cpu.counters[name] == gpu.counters[name]


WHOLE = {"improvement": "best", "restart": "pass", "chains": 1}
WHOLE_COUNTERS = ("kicks", "kicks_accepted", "passes", "moves", "evaluations")


def assert_the_passes_of_the_cpu(problem, params, *, on_gpu=None, **options):
    """Tours and all counters are equal, since every pass finds the same move."""
    options = {"neighbors": 12, **options}
    cpu = solve(problem, "ils", params=params, device="cpu", **options)
    gpu = solve(problem, "ils", params={**params, **(on_gpu or {})}, device="cuda", **options)
    assert np.array_equal(cpu.tour, gpu.tour), params
    for name in WHOLE_COUNTERS if problem.n > 3 else ():  # there is only one tour of three cities
        assert cpu.counters[name] == gpu.counters[name], f"{name}, {params}"


@pytest.mark.gpu
@pytest.mark.parametrize("edges", ["next", "both"])
@pytest.mark.parametrize(
    ("metric", "n"),
    [
        *(("EUC_2D", n) for n in (1, 2, 3, 4, 5, 6, 7, 8, 31, 33)),
        *(("EUC_2D", 700), ("EXACT_2D", 700), ("ATT", 50), ("whole", 300), ("MAN_3D", 200)),
    ],
)
def test_a_gpu_makes_the_whole_passes_of_the_cpu(metric, n, edges):
    problem = problem_of(metric, n, side=300)  # short sides have many moves with equal gains
    given = {**WHOLE, "edges": edges, "iterations": 0.3 if n > 40 else 9.0}
    for acceptance, segment in itertools.product(ACCEPTANCES if n > 40 else ("annealed",), (0, 30)):
        params = {**given, "acceptance": acceptance, "segment": segment}
        assert_the_passes_of_the_cpu(problem, params)
    assert_the_passes_of_the_cpu(problem, params, on_gpu={"block": 64}, neighbors=40)


@pytest.mark.gpu
@pytest.mark.parametrize("edges", ["next", "both"])
@pytest.mark.parametrize("opened", [OpenPath(), OpenPath(5, 11), None])
def test_whole_passes_of_paths_and_fixed_edges_on_a_gpu(opened, edges):
    problem = Problem.from_points(whole_points(90, 4), "EUC_2D", fixed_edges=FIXED, open=opened)
    params = {**WHOLE, "acceptance": "always", "edges": edges, "iterations": 2.0}
    assert_the_passes_of_the_cpu(problem, params, start="greedy")


@pytest.mark.gpu
def test_whole_passes_of_a_tour_too_long_for_shared_memory():
    problem = Problem.from_points(whole_points(24_000, 16, side=10**6), "EUC_2D")
    many = {"edges": "next", "moves": "many"}
    start = solve(problem, params=many, start="greedy").tour
    params = {**WHOLE, "acceptance": "always", "edges": "next", "iterations": 0.0005}
    assert_the_passes_of_the_cpu(problem, params, neighbors=8, start=start)


@pytest.mark.gpu
def test_a_tour_too_long_for_shared_memory():
    problem = Problem.from_points(whole_points(24_000, 16, side=10**6), "EUC_2D")
    params = {"iterations": 0.02, "chains": 1}
    cpu, gpu = (solve(problem, "ils", params=params, start="greedy", device=d) for d in ("cpu", "cuda"))
    assert np.array_equal(cpu.tour, gpu.tour)
    cpu, gpu = (solve(problem, TWO, start="greedy", device=d) for d in ("cpu", "cuda"))
    assert np.array_equal(cpu.tour, gpu.tour)


def test_lists_longer_than_the_other_cities_are_cut_aloud(caplog):
    problem = Problem.from_points(whole_points(20, 15), "EUC_2D")
    with caplog.at_level(logging.INFO):
        solve(problem, neighbors=40)
        solve(problem, neighbors=30)
    (default, given) = (record for record in caplog.records if record.msg.startswith("neighbors"))
    assert default.getMessage() == "neighbors: 40, of 19 other cities: the lists have 19"
    assert given.getMessage() == "neighbors: 30, of 19 other cities: the lists have 19"
    assert [default.levelname, given.levelname] == ["INFO", "WARNING"]


def test_that_a_matrix_has_no_quadrants_is_logged(caplog):
    with caplog.at_level(logging.INFO):
        solve(problem_of("whole", 30))
    assert "no quadrants" in caplog.text
