"""The calls of other packages: what they take and give back, beside these where they are installed."""

import inspect
import itertools
import math
import os
from functools import partial

import exact
import numpy as np
import processes
import pytest
from calls import given_time

from warptsp.errors import InvalidOption, InvalidProblem, InvalidTour, UnsupportedProblem
from warptsp.interop import elkai, fast_tsp, python_tsp


def matrix(n, seed=0, *, asymmetric=False):
    """Whole numbers that keep the triangle inequality."""
    places = np.random.default_rng(seed).integers(0, 1000, (n, 2))
    distances = np.ceil(np.hypot(*(places[:, np.newaxis] - places).transpose(2, 0, 1))).astype(int)
    if asymmetric:
        distances += 1 + np.maximum(0, places[:, :1] - places[:, 0])
        np.fill_diagonal(distances, 0)
    return distances


def length(tour, distances):
    return sum(distances[a][b] for a, b in itertools.pairwise([*tour, tour[0]]))


def optimum(distances):
    return exact.optimum(distances)[0]


@pytest.mark.parametrize("asymmetric", [False, True])
def test_few_cities_are_optimal(asymmetric):
    distances = matrix(7, 1, asymmetric=asymmetric)
    best = optimum(distances)
    assert length(fast_tsp.find_tour(distances, 0.2), distances) == best
    assert length(fast_tsp.solve_tsp_exact(distances.tolist()), distances) == best
    assert length(elkai.solve_int_matrix(distances), distances) == best
    assert length(elkai.DistanceMatrix(distances.tolist()).solve_tsp(runs=1)[:-1], distances) == best
    for name in python_tsp.__all__:
        tour, distance = getattr(python_tsp, name)(distances)
        assert distance == best == length(tour, distances), name
        assert tour[0] == 0
        assert all(type(city) is int for city in tour)


def test_fast_tsp():
    distances = matrix(40)
    tour = fast_tsp.find_tour(distances, duration_seconds=0.2)
    assert fast_tsp.is_valid_tour(40, tour)
    assert not fast_tsp.is_valid_tour(40, tour[:-1])
    assert not fast_tsp.is_valid_tour(3, [0, 1, 1])
    assert not fast_tsp.is_valid_tour(3, [1, 2, 3])
    assert fast_tsp.compute_cost(tour, distances) == length(tour, distances)
    greedy = fast_tsp.greedy_nearest_neighbor(distances)
    assert fast_tsp.score_tour(greedy, distances, length(tour, distances)) == pytest.approx(0.02)
    assert fast_tsp.score_tour(tour, distances, length(tour, distances)) == 1.0
    assert fast_tsp.is_valid_dist_matrix(distances) is None
    assert "must be square" in fast_tsp.is_valid_dist_matrix([[1, 2]])
    many = fast_tsp.find_tour(distances * 0.5, 30, max_threads=None, stop_when_converged=True)
    assert length(many, distances) <= length(greedy, distances)
    with pytest.raises(InvalidOption, match="candidates: 'best'"):
        fast_tsp.find_tour(distances, candidates="best")
    with pytest.raises(InvalidTour, match="each of 40 cities once"):
        fast_tsp.score_tour([1, 2], distances, 5)
    with pytest.raises(UnsupportedProblem, match="40 cities are too many"):
        fast_tsp.solve_tsp_exact(distances)


def test_elkai():
    distances = matrix(30)
    tour = elkai.DistanceMatrix(distances).solve_tsp(runs=1)
    assert tour[0] == tour[-1] == 0
    assert sorted(tour[1:]) == list(range(30))
    open_end = elkai.solve_float_matrix(distances / 3.0, runs=np.int64(1))
    assert sorted(open_end) == list(range(30))
    assert elkai.solve_int_matrix(distances, 1, skip_end=False)[-1] == 0
    names = elkai.Coordinates2D({"a": (0, 0), "b": (0, 0.4), "c": (0.5, 0), "d": (0.5, 0.4)}).solve_tsp()
    assert names in (["a", "b", "d", "c", "a"], ["a", "c", "d", "b", "a"])  # distances are not rounded
    with pytest.raises(InvalidOption, match="runs: 0"):
        elkai.DistanceMatrix(distances).solve_tsp(runs=0)
    with pytest.raises(InvalidProblem, match=r"place of 'a' is \(0,\)"):
        elkai.Coordinates2D({"a": (0,)})
    with pytest.raises(InvalidProblem, match="not list"):
        elkai.Coordinates2D([(0, 0)])
    with pytest.raises(InvalidProblem, match="needed"):
        elkai.Coordinates2D({})


def test_python_tsp(tmp_path, capsys):
    distances = matrix(30)
    start = list(np.random.default_rng(1).permutation(30))
    file = tmp_path / "log.txt"
    options = {"x0": start, "alpha": 0.99, "log_file": str(file), "verbose": True}
    tour, distance = given_time(
        lambda seconds: python_tsp.solve_tsp_simulated_annealing(
            distances, max_processing_time=seconds, **options
        ),
        lambda found: found[1] < length(start, distances),
    )
    assert distance == length(tour, distances)
    assert capsys.readouterr().out.endswith(file.read_text())
    assert str(distance) in file.read_text()
    again, longer = python_tsp.solve_tsp_record_to_record(distances, x0=tour, max_iterations=10)
    assert longer <= distance
    assert sorted(again) == sorted(tour)
    given_time(
        lambda seconds: python_tsp.solve_tsp_local_search(distances / 2, max_processing_time=seconds),
        lambda found: found[1] <= distance,
    )
    with pytest.raises(InvalidTour, match="3 cities"):
        python_tsp.solve_tsp_local_search(distances, x0=[0, 1, 2])


@pytest.mark.parametrize(
    "wrong", [[[0, 1], [1, 0, 2]], [1, 2, 3], [], [[0, -1], [1, 0]], [[0, math.nan], [1, 0]]]
)
def test_what_is_no_matrix_is_refused(wrong):
    for function in (fast_tsp.find_tour, elkai.solve_int_matrix, python_tsp.solve_tsp_local_search):
        with pytest.raises(InvalidProblem):
            function(wrong)


@pytest.mark.skipif(os.name != "posix", reason="signals as here are those of POSIX")
def test_ctrl_c_is_a_keyboard_interrupt():
    """In a process of its own, which a signal that comes too late ends alone."""
    code = (
        "import math, os, signal, threading\nfrom warptsp.interop import fast_tsp\n"
        "distances = [[int(1000 * abs(math.sin(i * j + i + j))) for j in range(300)] for i in range(300)]\n"
        "distances = [[distances[min(i, j)][max(i, j)] for j in range(300)] for i in range(300)]\n"
        "try:\n    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "    fast_tsp.find_tour(distances, duration_seconds=600)\n"
        "except KeyboardInterrupt:\n    print('ended')\n"
    )
    assert processes.run_code(code).stdout.strip() == "ended"


PEERS = [
    ("fast_tsp", fast_tsp, fast_tsp.__all__),
    ("elkai", elkai, elkai.__all__),
    ("python_tsp.heuristics", python_tsp, python_tsp.__all__),
    ("python_tsp.exact", python_tsp, python_tsp.__all__),
]


@pytest.mark.parametrize(("package", "ours", "names"), PEERS, ids=[peer[0] for peer in PEERS])
def test_the_signatures_are_those_of_the_package(package, ours, names):
    theirs = pytest.importorskip(package, reason=f"{package.split('.')[0]} is not installed")
    public = {name for name in dir(theirs) if name.startswith(("solve_tsp", "find", "is_valid", "compute"))}
    assert public <= set(names)
    for name in filter(partial(hasattr, theirs), names):
        pair = getattr(theirs, name), getattr(ours, name)
        methods = [tuple(kind.solve_tsp for kind in pair)] if inspect.isclass(pair[1]) else []
        for calls in (pair, *methods):
            expected, found = (
                [(p.name, p.default) for p in inspect.signature(one).parameters.values()] for one in calls
            )
            assert expected == found
