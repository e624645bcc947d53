"""Windows of a long tour: each has a population, and what they come to is put back as one tour."""

import numpy as np
import pytest
from instances import problem_of, unit_points

import warptsp
from warptsp import MaxKicks, OpenPath, Problem, _native
from warptsp.backends.cpu import tour_search
from warptsp.backends.instance import SearchInstance
from warptsp.methods.lk import LkParams, cpu, tuning

N = 3000


def search_of(problem, start=None):
    """A search after its first descent, from this tour."""
    token = _native.StopToken()
    instance = SearchInstance.build(problem, token)
    candidates = instance.candidates(8, 2, 1, token)
    tour = np.arange(len(candidates), dtype=np.int32) if start is None else instance.close(start)
    search = tour_search(instance, candidates, tour, **LkParams().of_search(problem.n))
    search.optimize(60, token)
    return instance, search


def begin(search, token, *, parts=12, boxes=True, members=5, round=2, threads=1, quick=False):
    search.begin_windows(
        parts=parts, boxes=boxes, members=members, kicks_per_city=0.02, temperature=0.2, quick=quick,
        selection=10, idle=2, seed=7, round=round, threads=threads, token=token,
    )  # fmt: skip


def one_pass(search, slice=60.0, **options):
    token = _native.StopToken()
    begin(search, token, **options)
    while not search.proceed(slice, token):
        pass


def length_of(instance, search):
    tour = instance.open(search.best())
    instance.problem.check_tour(tour)
    return instance.problem.length(tour)


@pytest.mark.parametrize("boxes", [True, False])
@pytest.mark.parametrize("kind", ["EXACT_2D", "EUC_2D", "MAN_2D"])
def test_a_pass_makes_a_shorter_tour_of_the_length_that_it_says(kind, boxes):
    instance, search = search_of(problem_of(kind, N, 1, side=100_000))
    lengths = [search.best_length]
    for round in range(3):
        one_pass(search, boxes=boxes, round=round, parts=20 - 5 * round)
        assert search.best_length == search.length == pytest.approx(length_of(instance, search), rel=1e-12)
        lengths.append(search.best_length)
    assert lengths[0] > lengths[1] > lengths[2] > lengths[3]
    assert lengths[3] < (0.992 if boxes else 0.997) * lengths[0]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_tour_does_not_depend_on_time(threads):
    tours = []
    for slice in (60.0, 1e-3, 1e-4):
        _, search = search_of(Problem.from_points(unit_points(N, 2), "EXACT_2D"))
        for round in range(2):
            one_pass(search, slice, threads=threads, round=round, members=3, parts=30)
        tours.append(search.best())
    for tour in tours[1:]:
        np.testing.assert_array_equal(tours[0], tour)


def test_fixed_edges_stay():
    points = unit_points(N, 3)
    start = warptsp.solve(Problem.from_points(points), method="construct").tour
    ends = np.arange(0, N - 3, 5)
    chains = np.concatenate(
        [np.stack([start[ends], start[ends + 1]], 1), np.stack([start[ends + 1], start[ends + 2]], 1)]
    )
    instance, search = search_of(Problem.from_points(points, fixed_edges=chains), start)
    before = search.best_length
    for round in range(2):
        one_pass(search, round=round)
    assert search.best_length < before
    assert search.best_length == pytest.approx(length_of(instance, search), rel=1e-12)


def test_an_open_path_stays_one():
    instance, search = search_of(Problem.from_points(unit_points(N, 3), open=OpenPath()))
    before = search.best_length
    for round in range(2):
        one_pass(search, round=round)
    assert search.best_length < before
    assert search.best_length - instance.closing == pytest.approx(length_of(instance, search), rel=1e-12)


def test_between_two_slices_and_after_a_stop_there_is_a_tour():
    instance, search = search_of(Problem.from_points(unit_points(N, 4), "EXACT_2D"))
    token = _native.StopToken()
    begin(search, token, parts=30)
    last, seen = search.best_length, set()
    while not search.proceed(0.005, token):
        assert search.best_length == pytest.approx(length_of(instance, search), rel=1e-12)
        assert search.best_length <= last
        last = search.best_length
        seen.add(last)
        if len(seen) == 5:
            token.request()
    assert len(seen) == 5
    assert search.best_length == pytest.approx(length_of(instance, search), rel=1e-12)
    assert search.best_length <= last
    search.kicks(10, 0.0, 1, 1, _native.StopToken())
    assert search.best_length == pytest.approx(length_of(instance, search), rel=1e-12)


def test_windows_ended_in_the_middle_keep_what_they_have():
    instance, search = search_of(Problem.from_points(unit_points(N, 5), "EXACT_2D"))
    before = search.best_length
    token = _native.StopToken()
    begin(search, token, parts=1, members=3)
    # Members and a few generations, no more: the only window is still in work.
    while not search.proceed(0.0, token) and search.best_length == before and search.counters()["kicks"] == 0:
        search.end_round()
        break
    assert search.best_length <= before
    assert search.best_length == pytest.approx(length_of(instance, search), rel=1e-12)


@pytest.mark.parametrize(("threads", "clusters"), [(1, 0), (2, 30)])
def test_long_tours_with_many_kicks_go_into_windows(monkeypatch, threads, clusters):
    monkeypatch.setattr(tuning, "MIN_WINDOWED", N)
    monkeypatch.setattr(tuning, "MIN_WINDOW_MEMBERS", 4)
    small = {"size": 500, "largest": 1000, "members": 4, "least": 4}
    unused = {"least": 10**9}
    plain, in_clusters = (unused, small) if clusters else (small, unused)
    monkeypatch.setattr(tuning, "PLAIN_WINDOWS", tuning.PLAIN_WINDOWS._replace(**plain))
    monkeypatch.setattr(tuning, "CLUSTER_WINDOWS", tuning.CLUSTER_WINDOWS._replace(**in_clusters))
    points = unit_points(N, 6)
    if clusters:
        points = 0.01 * points + unit_points(clusters, 7)[np.arange(N) % clusters]
    problem = Problem.from_points(points, "EXACT_2D")
    runs = []
    for _ in range(2):
        phases = []
        result = warptsp.solve(
            problem, stop=MaxKicks(4 * N), threads=threads, seed=3,
            callback=lambda progress, phases=phases: phases.append(progress.phase),
        )  # fmt: skip
        assert "windows" in phases
        assert result.kicks == 4 * N
        runs.append(result)
    np.testing.assert_array_equal(runs[0].tour, runs[1].tour)
    monkeypatch.setattr(tuning, "MIN_WINDOWED", N + 1)
    without = warptsp.solve(problem, stop=MaxKicks(4 * N), threads=threads, seed=3, params={"population": 0})
    # As good as whole tours: of five seeds of the clustered instance two end a little longer.
    assert runs[0].length < 1.002 * without.length


def test_quick_members_make_many_shorter_moves():
    points = 0.01 * unit_points(N, 6) + unit_points(30, 7)[np.arange(N) % 30]
    problem = Problem.from_points(points, "EXACT_2D")
    steps, lengths = [], []
    for quick in (False, True):
        instance, search = search_of(problem)
        before = search.counters()["steps"]
        one_pass(search, quick=quick, parts=3, members=12)
        assert search.best_length == pytest.approx(length_of(instance, search), rel=1e-12)
        steps.append(search.counters()["steps"] - before)
        lengths.append(search.best_length)
    assert steps[1] < 0.5 * steps[0]
    assert lengths[1] < 1.02 * lengths[0]


def test_windows_opened_later_can_have_more_members():
    steps = []
    for members in (2, 20):
        _, search = search_of(Problem.from_points(unit_points(N, 9), "EXACT_2D"))
        token = _native.StopToken()
        before = search.counters()["steps"]
        begin(search, token, members=2, parts=10)
        assert search.windows_done == 0
        seen = set()
        while not search.proceed(1e-3, token):
            seen.add(search.windows_done)
            if search.windows_done >= 2:
                search.window_members(members)
        assert max(seen) <= 10
        assert search.windows_done == 0
        steps.append(search.counters()["steps"] - before)
    assert steps[1] > 3 * steps[0]


def test_the_last_pass_within_a_time(monkeypatch):
    monkeypatch.setattr(tuning, "MIN_WINDOWED", N)
    monkeypatch.setattr(tuning, "MIN_WINDOW_MEMBERS", 4)
    monkeypatch.setattr(tuning, "PLAIN_WINDOWS", tuning.PLAIN_WINDOWS._replace(size=200, members=3, least=2))
    problem = Problem.from_points(unit_points(N, 6), "EXACT_2D")
    result = warptsp.solve(problem, time_limit=2.0, threads=1, seed=3, bound=None)
    problem.check_tour(result.tour)
    assert problem.length(result.tour) == pytest.approx(result.length, rel=1e-12)


@pytest.mark.parametrize(
    ("most", "phase", "other"), [(N, "population", "windows"), (0, "windows", "population")]
)
def test_rows_have_populations_of_whole_tours(monkeypatch, most, phase, other):
    monkeypatch.setattr(tuning, "MIN_WINDOWED", N)
    monkeypatch.setattr(tuning, "MIN_WINDOW_MEMBERS", 4)
    monkeypatch.setattr(tuning, "PLAIN_WINDOWS", tuning.PLAIN_WINDOWS._replace(members=4, least=4))
    monkeypatch.setattr(cpu, "LONG", N)
    # Every tour counts as one along rows, and none as one of clusters.
    monkeypatch.setattr(tuning, "UNEVEN", 0.0)
    monkeypatch.setattr(tuning, "CLUSTERED", 1.0)
    monkeypatch.setattr(tuning, "MAX_WHOLE_CITIES", most)
    phases = set()
    warptsp.solve(
        Problem.from_points(unit_points(N, 6), "EXACT_2D"), stop=MaxKicks(8 * N), threads=1, seed=1,
        callback=lambda progress: phases.add(progress.phase),
    )  # fmt: skip
    assert phase in phases
    assert other not in phases


def test_windows_need_a_population_and_places(monkeypatch):
    monkeypatch.setattr(tuning, "MIN_WINDOWED", 100)
    points = unit_points(300, 7)
    matrix = np.linalg.norm(points[:, None] - points[None], axis=2)
    matrix = (matrix + matrix.T) / 2
    for problem, params in (
        (Problem.from_points(points, "EXACT_2D"), {"population": 6}),
        (Problem.from_matrix(matrix), {}),
    ):
        phases = []
        warptsp.solve(
            problem, stop=MaxKicks(20 * 300), params=params, threads=1,
            callback=lambda progress, phases=phases: phases.append(progress.phase),
        )  # fmt: skip
        assert "windows" not in phases
