"""Nearly symmetric distances: the symmetric search of the mean of both directions, and where it has none."""

import threading

import numpy as np
import pytest
import scipy.sparse
from instances import directed

import warptsp
from warptsp import OpenPath, Problem, stop
from warptsp.methods.lk import tuning
from warptsp.methods.lk.mean import asymmetry, search_mean, seconds_for_mean
from warptsp.run import Run, Settings


def near(n, seed, more=0.1, **fields):
    """Points in the plane, each way between two of them up to so much longer."""
    random = np.random.default_rng(seed)
    x, y = random.random((2, n)) * 10_000
    matrix = np.hypot(x[:, np.newaxis] - x, y[:, np.newaxis] - y) * random.uniform(1, 1 + more, (n, n))
    np.fill_diagonal(matrix, 0)
    return Problem.from_matrix(np.rint(matrix).astype(np.int32), asymmetric=True, **fields)


def begun(problem, seconds=600.0, **options):
    """A run that has a tour, as it has when the mean is searched."""
    criterion = options.pop("stop", stop.MaxRuntime(seconds))
    run = Run(Settings(problem, start="patching", **options), criterion)
    ends = (None, None) if problem.open is None else (problem.open.start, problem.open.end)
    middle = [city for city in range(problem.n) if city not in ends]
    first, last = ([] if end is None else [end] for end in ends)
    run.offer(np.array([*first, *middle, *last], dtype=np.int32))
    return run


def test_the_measure():
    there = np.full((300, 300), 10)
    assert asymmetry(there) == 0.0
    np.fill_diagonal(there, 0)
    there[np.triu_indices(300, 1)] = 30
    assert asymmetry(there) == pytest.approx(20 / 40)
    assert asymmetry(np.zeros((5, 5), dtype=np.int32)) == 0.0
    # Long ways do not count: no good tour takes them.
    problem = near(500, 1, 0.0)
    far = problem.matrix + np.triu(np.where(problem.matrix > 5000, 4000, 0))
    assert not np.array_equal(far, far.T)
    assert asymmetry(far) == 0.0
    assert 0.005 < asymmetry(near(500, 1).matrix) < 0.03


def test_where_there_is_a_mean():
    share = seconds_for_mean(near(300, 1), begun(near(300, 1), 50.0))
    assert 30.0 < share <= tuning.MEAN_SHARE * 50.0
    arc = np.array([(0, 1)], dtype=np.int32)
    for problem in (near(20, 1), directed(300, 1), near(300, 1, fixed_edges=arc)):
        assert seconds_for_mean(problem, begun(problem)) == 0.0
    plain = near(300, 1)
    missing = scipy.sparse.lil_array(plain.matrix)
    missing[3, 4] = 0
    roads = Problem.from_matrix(missing.tocsr(), asymmetric=True)
    assert roads.wall is not None
    assert seconds_for_mean(roads, begun(roads)) == 0.0
    for criterion in (stop.MaxKicks(100), stop.TargetLength(1)):
        assert seconds_for_mean(plain, begun(plain, stop=criterion)) == 0.0


@pytest.mark.parametrize("ends", [None, OpenPath(), OpenPath(3, None), OpenPath(None, 5), OpenPath(2, 7)])
def test_its_tour_is_one_of_the_distances_themselves(ends):
    matrix, huge = near(250, 2).matrix, ends is None or ends.start is not None
    # Sums of both directions that leave 32 bits.
    matrix = matrix.astype(np.int64) * 100_000 if huge else matrix
    problem = Problem.from_matrix(matrix, asymmetric=True, open=ends)
    run = begun(problem)
    before = run.best_length
    told = []
    run.report_optimal = lambda: told.append("optimal")
    found = search_mean(problem, run, 0.3)
    run.close()
    problem.check_tour(found)
    if ends is not None and ends.start is not None:
        assert found[0] == ends.start
    if ends is not None and ends.end is not None:
        assert found[-1] == ends.end
    if ends in (None, OpenPath()):
        assert problem.length(found) <= problem.length(found[::-1].copy())
    assert run.best_length == problem.length(run.best)
    assert run.best_length == problem.length(found)
    assert run.best_length < 0.5 * before
    assert run.counters["kicks"] > 0
    assert not told  # what is proved of the sum is not proved of the distances
    assert run.course.proved_bound is None
    assert run.stop_reason is None


def test_the_run_ends_it():
    problem = near(400, 3)
    run = begun(problem)
    timer = threading.Timer(0.2, run.token.request)
    timer.start()
    found = search_mean(problem, run, 500.0)
    timer.join()
    assert run.elapsed() < 100
    assert found is None or sorted(found) == list(range(400))
    run.close()
    reached = begun(problem, stop=stop.TargetLength(10**9) | stop.MaxRuntime(600.0))
    search_mean(problem, reached, 500.0)
    assert reached.stop_reason is not None
    assert reached.elapsed() < 100


def test_solve_uses_it_and_ends_with_the_directed_search():
    problem = near(300, 4)
    told = []
    result = warptsp.solve(
        problem, time_limit=1.5, threads=1, device="cpu", callback=lambda p: told.append((p.kicks, p.length))
    )
    assert result.length == problem.length(result.tour)
    assert result.lower_bound is not None
    assert result.lower_bound < result.length
    kicks, lengths = zip(*told, strict=True)
    assert list(kicks) == sorted(kicks)
    assert list(lengths) == sorted(lengths, reverse=True)
    assert "kicks_refused" not in result.counters  # figures of the symmetric search are not its own
