"""Tours made elsewhere join a population, crossover improves them, and how many there should be."""

import time
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from calls import given_time
from instances import whole_points

import warptsp
from warptsp import MaxKicks, Problem, _native
from warptsp.backends.instance import SearchInstance
from warptsp.construct import construct
from warptsp.generate import dimacs
from warptsp.methods.lk import LkParams, cpu, tuning
from warptsp.methods.lk.population_cuda import (
    GpuPopulation,
    Polish,
    PopulationPlan,
    plan_kicked,
    plan_population,
)
from warptsp.methods.lk.threads import ThreadEngine
from warptsp.methods.lk.tuning import GPU_MIN_MEMBERS
from warptsp.stop.default import NEARLY_SETTLED


def with_candidates(problem):
    token = _native.StopToken()
    built = SearchInstance.build(problem, token)
    return built, built.candidates(8, 2, 1, token)


@pytest.fixture(scope="module")
def instance():
    return with_candidates(dimacs("E1k.0"))


@pytest.fixture(scope="module")
def smaller():
    return with_candidates(Problem.from_points(whole_points(400, side=1_000_000), "EUC_2D"))


def fragments(candidates, first=0, count=5, seed=1, round=1, threads=2, token=None):
    return _native.random_fragments(
        candidates=candidates,
        first=first,
        count=count,
        seed=seed,
        round=round,
        threads=threads,
        token=token or _native.StopToken(),
    )


def cross_to_the_end(search):
    """Generations until nothing is gained."""
    run = _native.PopulationRun.create(search, _native.PopulationPlan(selection=10))
    for round in range(1, 1000):
        if run.proceed(0.0, 1, round, 2, _native.StopToken())[0]:
            return
    raise AssertionError("it goes on")


def test_random_fragments_are_different_tours(instance):
    _, candidates = instance
    tours = fragments(candidates)
    n = len(candidates)
    assert tours.shape == (5, n)
    np.testing.assert_array_equal(np.sort(tours, axis=1), np.tile(np.arange(n), (5, 1)))
    links = [
        {tuple(sorted(link)) for link in zip(tour, np.roll(tour, 1), strict=True)} for tour in tours.tolist()
    ]
    assert all(len(a & b) < 0.7 * n for k, a in enumerate(links) for b in links[:k])
    np.testing.assert_array_equal(tours, fragments(candidates, threads=1))
    np.testing.assert_array_equal(tours[3:], fragments(candidates, first=3, count=2))
    assert (tours != fragments(candidates, seed=2)).any()
    assert (tours != fragments(candidates, round=2)).any()
    stopped = _native.StopToken()
    stopped.request()
    assert fragments(candidates, token=stopped).shape == (0, n)


def test_members_from_elsewhere_are_crossed(instance):
    built, candidates = instance
    tours = fragments(candidates, count=12)
    search = built.tour_search(candidates, tours[0], LkParams().of_search(1000))
    search.add(tours, 2)
    lengths = [built.problem.length(built.city[tour]) for tour in tours]
    assert search.members == 12
    assert search.best_length == min(lengths)
    assert search.mean_length == pytest.approx(np.mean(lengths))
    cross_to_the_end(search)
    assert search.best_length < 0.97 * min(lengths)
    assert search.best_length == built.problem.length(built.city[search.best()])


def test_what_is_no_tour_does_not_join(instance):
    built, candidates = instance
    n = len(candidates)
    tour = np.arange(n, dtype=np.int32)
    search = built.tour_search(candidates, tour, LkParams().of_search(1000))
    twice = tour.copy()
    twice[3] = 4
    outside = tour.copy()
    outside[0] = n
    for wrong, told in ((twice, "the tour names 4 twice"), (outside, "the tour names")):
        with pytest.raises(ValueError, match=told):
            search.add(np.stack([tour, wrong]), 1)
    with pytest.raises(ValueError, match="a tour of 999 cities, not of 1000"):
        search.add(tour[None, :-1].copy(), 1)
    assert search.members == 0


def test_the_shortest_members_stay(instance):
    built, candidates = instance
    tours = fragments(candidates, count=9)
    lengths = sorted(built.problem.length(built.city[tour]) for tour in tours)
    search = built.tour_search(candidates, tours[0], LkParams().of_search(1000))
    search.add(tours, 1)
    search.keep_members(20)
    assert search.members == 9
    search.keep_members(4)
    assert search.members == 4
    assert search.mean_length == pytest.approx(np.mean(lengths[:4]))
    cross_to_the_end(search)
    assert search.mean_length < np.mean(lengths[:4])


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_the_best_member_gathers_what_the_others_have_better(threads, instance):
    """Each tour has its mistakes, pieces the wrong way round, where the others have none."""
    built, candidates = instance
    good = built.close(warptsp.solve(built.problem, kicks=2000, threads=1, seed=1).tour)
    tours = np.tile(good, (6, 1))
    for k, tour in enumerate(tours):
        for at in range(100 * k, 100 * k + (60 if k == 2 else 100), 20):
            tour[at : at + 6] = tour[at : at + 6][::-1].copy()
    search = built.tour_search(candidates, tours[0], LkParams().of_search(1000))
    search.add(tours, 1)
    before, mean = search.best_length, search.mean_length
    gain = search.gather(seed=1, round=1, threads=threads, token=_native.StopToken())
    assert search.best_length == before - gain <= built.problem.length(built.city[good])
    assert search.best_length == built.problem.length(built.city[search.best()])
    assert search.mean_length == pytest.approx(mean - gain / 6)


@pytest.mark.parametrize(
    ("n", "kick_limit", "remaining", "passes"),
    [(5000, None, None, 3), (5000, None, 0.0, 0), (5000, 100, None, 0), (tuning.MAX_QUICK, None, None, 0)],
)
def test_it_gathers_as_long_as_that_gains(monkeypatch, n, kick_limit, remaining, passes):
    monkeypatch.setattr(ThreadEngine, "cross", lambda *_, **__: False)
    gains, rounds, phases = [5.0, 2.0, 0.0], [], []
    search = object.__new__(cpu._Search)
    search.n, search.round = n, 7
    search.run = SimpleNamespace(
        kick_limit=kick_limit, seed=1, threads=1, token=None, elapsed=lambda: 0.0, remaining=lambda: remaining
    )
    search.native = SimpleNamespace(
        gather=lambda round, **_: rounds.append(round) or gains[len(rounds) - 1], return_to_best=lambda: None
    )
    search.report = phases.append
    assert not search.cross()
    assert rounds == [(7 << 32) + k for k in range(passes)]
    assert phases == ["crossover"] * passes


def test_crossover_that_would_not_end_leaves_time_to_gather(monkeypatch):
    clock = []  # seconds of a minute, each of a generation

    def proceed(*_):
        clock.append(1)
        return False, 1

    endless = SimpleNamespace(create=lambda *_: SimpleNamespace(proceed=proceed))
    monkeypatch.setattr("warptsp.methods.lk.threads.PopulationRun", endless)
    search, gathered = object.__new__(cpu._Search), []
    search.n, search.round, search.report = 5000, 0, lambda phase: False
    search.run = SimpleNamespace(
        kick_limit=None, seed=1, threads=1, token=None,
        elapsed=lambda: float(len(clock)), remaining=lambda: 60.0 - len(clock),
    )  # fmt: skip
    search.native = SimpleNamespace(
        members=10, gather=lambda **_: gathered.append(len(clock)) or 0.0, return_to_best=lambda: None
    )
    assert not search.cross()
    assert gathered == [59]


@pytest.mark.parametrize("generation", [1, 20])
@pytest.mark.parametrize("plan", [{"selection": 10}, {"selection": 70, "patient": True}])
def test_crossover_goes_on_when_a_far_better_tour_joins(plan, generation, instance):
    built, candidates = instance
    good = built.close(warptsp.solve(built.problem, kicks=3000, threads=1).tour)
    search = built.tour_search(candidates, fragments(candidates, count=1)[0], LkParams().of_search(1000))
    search.add(fragments(candidates, count=20), 1)
    run = _native.PopulationRun.create(search, _native.PopulationPlan(**plan, uneven=True))
    ended, round = False, 0
    while not ended:
        round += 1
        ended, _ = run.proceed(0.0, 1, round, 2, _native.StopToken())
        if round == generation:
            search.add(good[np.newaxis], 1)
            before = search.mean_length - search.least_length
    assert search.mean_length - search.least_length < 0.01 * before


CROSSED = PopulationPlan(members=11, kicks_per_city=1.0, growth_seconds=None, selection=5)


class SearchOnCpu:
    """What the crossover of a GPU's members needs of the search on the GPU, done by the CPU."""

    def __init__(self, built, candidates, tour):
        self.search = built.tour_search(candidates, tour, LkParams().of_search(len(tour)))
        self.rounds = SimpleNamespace(mean_link=self.search.length / len(tour))
        self.taken = []
        self.fails_at = None  # a round
        self.number = 0

    def go_on_from(self, tour):
        self.taken.append(tour)
        self.search.go_on_from(tour)

    def round(self, *, optimize, kicks_per_city, temperature, seed, token):
        self.number += 1
        if self.number == self.fails_at:
            raise KeyboardInterrupt
        self.search.kicks(int(kicks_per_city * len(self.taken[0])), temperature, seed, self.number, token)

    @property
    def tour(self):
        return SimpleNamespace(download=self.search.best)


@pytest.fixture
def crossed(instance):
    """A population and members for it, its search, and a run of a minute."""
    built, candidates = instance
    tours = fragments(candidates, count=12)
    lead = SimpleNamespace(
        candidates=SimpleNamespace(download=lambda: candidates), search_instance=lambda: built
    )
    run = SimpleNamespace(threads=2, seed=1, token=_native.StopToken(), kick_limit=None)
    begun = time.monotonic()
    run.elapsed = lambda: time.monotonic() - begun
    run.remaining = lambda: 60.0 - run.elapsed()
    population = GpuPopulation([lead], tours[0], LkParams(), run)
    return population, tours, SearchOnCpu(built, candidates, tours[0]), run


def test_the_best_member_is_improved_while_all_are_crossed(crossed, monkeypatch):
    population, tours, search, run = crossed
    monkeypatch.setattr(tuning, "GPU_POLISH", 1)
    members = []

    def report(phase):
        assert phase == "crossover"
        members.append(population._native.members)
        return False

    polish = Polish(search, run)
    assert not population.cross(CROSSED, tours[1:], tours[0], report, polish=polish)
    assert set(members) == {12}
    # The first is the tour of the search, the others were the best members of their time.
    built = population.cities[0].search_instance()
    lengths = [built.problem.length(built.city[tour]) for tour in search.taken]
    assert len(lengths) > 3
    assert lengths[1:] == sorted(lengths[1:], reverse=True)
    assert population.best_length == built.problem.length(built.city[population.best()])
    assert population.best_length <= lengths[-1]


def test_what_is_left_of_the_time_is_for_the_best_member_to_gather(crossed, monkeypatch):
    population, tours, search, run = crossed
    monkeypatch.setattr(tuning, "MAX_QUICK", 999)
    monkeypatch.setattr(tuning, "GATHERING", 1.0)
    lengths = []

    def report(phase):
        lengths.append((population._native.least_length, population._native.mean_length))
        return False

    polish = Polish(search, run)
    assert not population.cross(CROSSED, tours[1:], tours[0], report, polish=polish)
    assert population._made == 1
    (first, mean), *gathered = lengths
    # The best one is far shorter then, all others are as they were.
    assert gathered[-1][0] < first - 3 * (mean - first)
    assert population._native.members == 13
    assert population.best_length == gathered[-1][0]


def test_nobody_looks_at_members_that_are_being_crossed(crossed):
    population, tours, search, run = crossed
    search.fails_at = 2
    with pytest.raises(KeyboardInterrupt):
        population.cross(CROSSED, tours[1:], tours[0], lambda phase: False, polish=Polish(search, run))
    crossing = population._crossing
    best = population.best()
    assert crossing.is_done()
    assert sorted(best) == list(range(1000))


def test_a_stopped_crossover_changes_nothing_more(crossed):
    population, tours, search, run = crossed
    run.token.request()
    assert population.cross(CROSSED, tours[1:], tours[0], lambda phase: True, polish=Polish(search, run))
    assert len(search.taken) == 1
    assert search.number == 0


def plan(n, seconds=None, kicks=None, threads=16, most=100, **options):
    return plan_population(
        n, room=550_000, most=most, threads=threads, seconds=seconds, kicks=kicks, **options
    )


@pytest.mark.parametrize("n", [2_000, 18_512, 100_000])
@pytest.mark.parametrize("threads", [1, 16])
def test_plans_keep_their_time(n, threads):
    sizes = []
    for seconds in (0.02, 0.5, 2.0, 10.0, 60.0, 600.0):
        made = plan(n, seconds, threads=threads)
        sizes.append(0 if made is None else made.members)
        if made is not None:
            assert GPU_MIN_MEMBERS <= made.members <= 100
            assert 0 < made.growth_seconds < seconds
            assert made.kicks_per_city > 0
    assert sizes == sorted(sizes)
    assert sizes[0] == 0
    assert sizes[-1] == 100


def test_each_thread_has_a_pair_to_cross():
    for seconds in (10, 20, 30, 45, 60):
        assert plan(1_000_000, seconds, most=300).members >= 15
    assert plan(1_000_000, 5, most=300) is None
    assert plan(100_000, 1.0, threads=48, most=300).members == 47


def test_time_that_members_do_not_need_is_for_their_crossover():
    hurried, leisurely, idle = (plan(100_000, seconds) for seconds in (3.0, 10.0, 600.0))
    assert hurried.selection < leisurely.selection < idle.selection
    assert leisurely.kicks_per_city < idle.kicks_per_city


def test_between_clusters_it_is_for_later_populations():
    usual, later = (plan(100_000, 60.0, clustered=clustered, later=True) for clustered in (False, True))
    assert usual.selection > later.selection > tuning.GPU_SELECTION
    assert plan(100_000, 60.0, clustered=True) == plan(100_000, 60.0) == usual


def test_plans_to_kick_members_again_keep_their_time():
    def again(seconds, members=100, n=100_000):
        return plan_kicked(n, members, room=550_000, threads=16, seconds=seconds, crossing=4e-7)

    kick, crossing = tuning.GPU_KICK * tuning.GPU_AGAIN_KICKS, tuning.GPU_AGAIN_CROSSING * 4e-7
    sizes = []
    for seconds in (0.01, 0.2, 1.0, 2.0, 60.0):
        made = again(seconds)
        sizes.append(0 if made is None else made.members)
        if made is not None:
            assert made.kicked
            assert made.growth_seconds == pytest.approx(max(550_000, made.members * 100_000) * kick)
            assert made.growth_seconds + made.members * 100_000 * crossing <= seconds
    assert sizes[0] == 0 < sizes[2] < sizes[3] < sizes[4] == 100
    assert sizes == sorted(sizes)
    assert again(60.0, members=GPU_MIN_MEMBERS - 1) is None
    # A GPU is half empty: fewer members would take as long.
    assert again(0.9 * 550_000 * kick, n=2000) is None


def test_plans_for_kicks():
    assert plan(5000, kicks=10) is None
    made = plan(5000, kicks=100)
    assert made.growth_seconds is None
    assert made.members * made.kicks_per_city <= 100
    assert plan(5000, kicks=1000).members == 100
    assert plan(5000, kicks=1000, most=0) is None
    assert plan(5000, kicks=1000, seconds=0.01) is None
    assert plan(5000, kicks=100, threads=64, gpus=4) == plan(5000, kicks=100, threads=64)


def test_more_gpus_grow_better_members_in_the_same_time():
    one, four = plan(100_000, 10.0, most=1000), plan(100_000, 10.0, most=1000, gpus=4)
    assert four.kicks_per_city > 1.5 * one.kicks_per_city
    assert four.members >= 0.9 * one.members


@pytest.mark.parametrize(
    ("uneven", "gaining", "next_one"),
    [(False, 1.0, 0.1), (False, 1.0, 1.0), (True, 1e-9, 0.1), (True, 1.0, 0.1)],
)
def test_kicks_between_populations_where_long_links_carry_much(monkeypatch, uneven, gaining, next_one):
    """They go on as long as they gain; a population that does not is the last one, as is a large one."""
    problem = dimacs("E1k.0")
    monkeypatch.setattr(tuning, "MIN_UNEVEN", problem.n)
    monkeypatch.setattr(tuning, "UNEVEN", 0.0 if uneven else 1.0)
    monkeypatch.setattr(tuning, "CLUSTERED", 1.0)
    monkeypatch.setattr(tuning, "NEXT_POPULATION", next_one)
    monkeypatch.setattr(tuning, "GAINING", gaining)
    phases = []
    result = warptsp.solve(
        problem, stop=MaxKicks(12 * problem.n), threads=1, seed=1,
        callback=lambda progress: phases.append(progress.phase),
    )  # fmt: skip
    assert result.kicks == 12 * problem.n
    populations = sum(a != "population" == b for a, b in pairwise(phases))
    searched = "search" in phases[: len(phases) - phases[::-1].index("population")]
    if not uneven:
        assert not searched
        # A limit on kicks grants a member more than it takes: each population can be a little smaller.
        assert populations > 2 if next_one < 1.0 else populations == 1
    elif gaining == 1.0:
        assert (populations, searched) == (1, False)
    else:
        assert (populations > 1, searched) == (True, True)


class WholeSearchOnCpu(SearchOnCpu):
    """What the engine of GPUs needs of their search, done by the CPU."""

    def __init__(self, lead, tour):
        super().__init__(lead.search_instance(), lead.candidates.download(), tour)
        self.cities = lead
        self.rounds.plan = SimpleNamespace(parts=4)
        self.taken.append(tour)
        self.temperatures = []
        self.rounds.counters = dict
        self.rounds.gpus = 1
        self._count(0.0)

    length = property(lambda self: self.search.length)
    best_length = property(lambda self: self.search.best_length)

    def best(self):
        return self.search.best()

    def problems_best(self, buffer=None):
        return self.cities.problems(self.best())

    def return_to_best(self):
        self.search.return_to_best()

    def round(self, *, optimize, **options):
        begun = time.monotonic()
        if optimize:
            self.search.optimize(60.0, options["token"])
        else:
            self.temperatures.append(options["temperature"])
            super().round(optimize=optimize, **options)
        self._count(time.monotonic() - begun)

    def _count(self, seconds):
        counts = self.search.counters()
        self.rounds.kicks = counts["kicks"] + counts["kicks_refused"]
        self.rounds.kernel_seconds = getattr(self.rounds, "kernel_seconds", 0.0) + seconds


class RunOfGpus:
    """A run with these limits."""

    threads, seed, kick_limit, time_limit, may_end_early = 1, 1, None, None, False

    def __init__(self, **limits):
        vars(self).update(limits)
        self.token, self.begun, self.phases = _native.StopToken(), time.monotonic(), []
        self.length, self.ending = np.inf, None

    def report_limit(self, reason):
        self.ending = reason

    def elapsed(self):
        return time.monotonic() - self.begun

    def remaining(self):
        return None if self.time_limit is None else max(0.0, self.time_limit - self.elapsed())

    def update(self, *, length, kicks, tour, phase, **counters):
        assert length <= self.length
        self.length = length
        self.phases.append(phase)
        return (self.kick_limit is not None and kicks >= self.kick_limit) or self.remaining() == 0


def engine_of_gpus(built, candidates, monkeypatch, run, **params):
    """The engine on a pretended GPU, and the sizes of the populations that it grows there."""
    from warptsp.methods.lk import cuda, population_cuda

    grown = []

    def grow(population, plan, report, *, mean_link):
        population.number += 1
        grown.append(plan.members)
        population._counts["kicks_made"] += round(plan.members * plan.kicks_per_city * problem.n)
        return None if report("population") else population._starts(plan)

    monkeypatch.setattr(population_cuda.GpuPopulation, "grow", grow)
    monkeypatch.setattr(cuda, "plan_launch", lambda *_, **__: SimpleNamespace(resident=1, cities=1000))
    monkeypatch.setattr(tuning, "GPU_CROSSING", 1e-7)
    problem = built.problem
    lead = SimpleNamespace(
        n=problem.n, metric=problem.metric, closing=0, device=SimpleNamespace(memory_free=lambda: 10**10),
        candidates=SimpleNamespace(download=lambda: candidates), search_instance=lambda: built,
        problems=built.open, numbered=built.close,
    )  # fmt: skip
    lead.problems_own = lambda tour: built.open(tour.download())
    search = WholeSearchOnCpu(lead, fragments(candidates, count=1)[0])
    return cuda._CudaSearch(problem, run, LkParams(**params), [lead.device], [lead], search), grown


def test_the_engine_of_gpus_keeps_to_a_number_of_kicks(smaller, monkeypatch):
    built, _ = smaller
    kicks = 30 * built.problem.n
    run = RunOfGpus(kick_limit=kicks)
    engine, grown = engine_of_gpus(*smaller, monkeypatch, run)
    assert engine.descend()
    engine.improve()
    assert engine.kicks == kicks
    assert grown[0] == 30 * (1 - tuning.GPU_FIRST_SHARE) // tuning.GPU_KICKS_FOR_MEMBER
    assert run.phases.index("search") < run.phases.index("population") < run.phases.index("crossover")
    # A hot start, and after crossover nothing but cold kicks.
    heat = engine.search.temperatures
    assert heat[0] > 0 == heat[-1]
    assert built.problem.length(engine.best()) == run.length


def test_the_engine_of_gpus_plans_its_time(instance, monkeypatch):
    def attempt(seconds):
        run = RunOfGpus(time_limit=seconds)
        engine, grown = engine_of_gpus(*instance, monkeypatch, run, population=20)
        if engine.descend():
            engine.improve()
        assert run.elapsed() >= seconds
        assert engine.combined == bool(grown)
        return grown

    assert GPU_MIN_MEMBERS <= given_time(attempt, bool)[0] <= 20


@pytest.mark.parametrize(
    ("left", "early", "seconds"), [(5.0, True, 20.0), (5.0, False, 0.5), (-1e-9, True, 0.5)]
)
def test_the_engine_of_gpus_ends_when_a_population_comes_to_the_same(
    left, early, seconds, smaller, monkeypatch
):
    monkeypatch.setattr("warptsp.methods.lk.engine.LEFT", left)
    monkeypatch.setattr(tuning, "TELLING_MEMBERS", 15)
    run = RunOfGpus(time_limit=seconds, may_end_early=early)
    engine, grown = engine_of_gpus(*smaller, monkeypatch, run, population=15)
    if engine.descend():
        engine.improve()
    assert (run.ending == NEARLY_SETTLED) == (run.elapsed() < seconds) == (left > 0 and early)
    assert len(grown) == 2 or run.ending is None
    assert engine.alone is None or engine.alone >= engine._best_length()


@pytest.mark.parametrize("early", [False, True])
def test_the_engine_of_gpus_kicks_its_members_again(early, instance, monkeypatch):
    monkeypatch.setattr("warptsp.methods.lk.engine.LEFT", -1.0)
    starts = GpuPopulation._starts
    made = []

    def noted(population, plan):
        before = {tuple(tour) for tour in population._native.member_tours()}
        tours = starts(population, plan)
        made.append((plan.kicked, before.issuperset(map(tuple, tours))))
        return tours

    def attempt(seconds):
        made.clear()
        run = RunOfGpus(time_limit=seconds, may_end_early=early)
        engine, _ = engine_of_gpus(*instance, monkeypatch, run, population=15)
        if engine.descend():
            engine.improve()
        return made

    monkeypatch.setattr(GpuPopulation, "_starts", noted)
    monkeypatch.setattr(tuning, "GPU_AGAIN_GAIN", -1.0)  # whatever they gain
    first, second, *_ = given_time(attempt, lambda made: len(made) > 2)
    assert first == (False, False)
    # A run that may end when another population finds nothing asks new members.
    assert second == (not early, not early)
    monkeypatch.setattr(tuning, "GPU_AGAIN_GAIN", 1.0)
    assert not any(kicked for kicked, _ in attempt(1.0))  # where they have gained too little


def test_the_engine_of_gpus_grows_larger_populations_without_a_limit(instance, monkeypatch):
    engine, grown = engine_of_gpus(*instance, monkeypatch, RunOfGpus(), population=50)
    engine.first_cycle = 1
    report = engine.report
    monkeypatch.setattr(engine, "report", lambda phase: report(phase) or len(grown) == 3)
    assert engine.descend()
    engine.improve()
    assert grown == [2 * GPU_MIN_MEMBERS, 4 * GPU_MIN_MEMBERS, 50]
    assert engine.search.rounds.kicks == engine.n  # no annealing after the first


def test_members_of_a_matrix_do_not_depend_on_its_order():
    """Fragments follow each other along the start tour, as numbers say nothing of places."""
    random = np.random.default_rng(7)
    centres = random.random((30, 2))
    places = centres[random.integers(0, len(centres), 1500)] + 0.002 * random.normal(size=(1500, 2))
    means = []
    for order in (construct(Problem.from_points(places), "space-filling"), random.permutation(1500)):
        own = places[order]
        problem = Problem.from_matrix(np.hypot(*(own[:, None] - own[None]).transpose(2, 0, 1)))
        instance = SearchInstance.build(problem, _native.StopToken())
        candidates = instance.candidates(8, 1, 1, _native.StopToken())
        start = instance.greedy(1, _native.StopToken())
        search = instance.tour_search(candidates, start, LkParams().of_search(problem.n))
        search.grow(
            count=10, kicks_per_city=0.0, temperature=0.0, steps=6, long_links=False, seed=1, round=1,
            threads=1, token=_native.StopToken(),
        )  # fmt: skip
        means.append(search.mean_length)
    assert means[1] < 1.12 * means[0]  # 1.25 in the order of the matrix
