"""Missing arcs, fixed arcs and given ends of directed tours, against dynamic programming and brute force."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from calls import invoke
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import directed, shortest
from test_directed_search import searched

import warptsp
from warptsp import NoTourFound, OpenPath, Problem, stop
from warptsp.construct import CONSTRUCTIONS, construct
from warptsp.construct.directed_paths import DirectedPaths
from warptsp.errors import InvalidOption, InvalidProblem, InvalidTour
from warptsp.few import FewCities
from warptsp.io import load, write_problem

ENDS = [None, (None, None), (0, None), (None, 1), (2, 0)]


def arcs_of(random, n, count):
    """So many arcs of a random path."""
    order = random.permutation(n)
    first = random.choice(n - 1, min(count, n - 1), replace=False)
    return np.stack([order[first], order[first + 1]], axis=1)


def sparse(n, seed, degree=3, *, cycle=True):
    """Arcs from each city to a few others; with `cycle`, also those of a tour."""
    random = np.random.default_rng(seed)
    tails, heads = np.repeat(np.arange(n), degree), random.integers(0, n, n * degree)
    if cycle:
        order = random.permutation(n)
        tails, heads = np.append(tails, order), np.append(heads, np.roll(order, -1))
    keep = np.unique(tails * n + heads)
    keep = keep[keep // n != keep % n]
    costs = random.integers(1, 1000, len(keep))
    return scipy.sparse.csr_array((costs, (keep // n, keep % n)), shape=(n, n))


@st.composite
def constrained(draw):
    """Few cities with missing arcs, fixed arcs and ends; some have no tour."""
    n = draw(st.integers(4, 8))
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    matrix = random.integers(0, 50, (n, n)).astype(np.float64)
    if draw(st.booleans()):
        matrix = np.rint(matrix * random.random() * 100) / 7
    missing = random.random((n, n)) < draw(st.sampled_from([0.0, 0.2, 0.5]))
    ends = draw(st.sampled_from(ENDS))
    fixed = arcs_of(random, n, draw(st.integers(0, 4)))
    matrix[missing] = math.inf
    path = None if ends is None else OpenPath(*ends)
    try:
        problem = Problem.from_matrix(matrix, asymmetric=True, open=path, fixed_edges=fixed)
        problem.check_connected()
    except InvalidProblem:
        return Problem.from_matrix(random.integers(0, 9, (n, n)), asymmetric=True, open=path)
    return problem


@settings(max_examples=120)
@given(constrained())
def test_the_optimum_is_found_or_proved_to_need_missing_arcs(problem):
    best = shortest(problem)
    run = searched(problem)
    problem.check_tour(run.best)
    assert run.course.proved_bound is None or run.course.proved_bound <= best * (1 + 1e-12)
    there = problem.wall is None or best < problem.wall
    assert there == (len(problem.missing_arcs(run.best)) == 0)
    if there:
        assert run.best_length == pytest.approx(best, rel=1e-12)
        assert warptsp.solve(problem).length == pytest.approx(best, rel=1e-12)
    else:
        with pytest.raises(NoTourFound) as caught:
            warptsp.solve(problem)
        assert caught.value.proved


@pytest.mark.parametrize("kicks", [1, 400])
@pytest.mark.parametrize("factor", [1 / 7, 1e13 / 7])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("left", range(3, 9))
def test_runs_end_where_fixed_arcs_leave_too_few_cities_for_a_kick(left, whole, factor, kicks):
    n = 14
    random = np.random.default_rng(left)
    matrix = factor * random.integers(1, 1000, (n, n))
    order = random.permutation(n)
    fixed = np.stack([order[: n - left], order[1 : n - left + 1]], axis=1)
    matrix = np.rint(matrix).astype(np.int64) if whole else matrix
    problem = Problem.from_matrix(matrix, asymmetric=True, fixed_edges=fixed)
    result = warptsp.solve(problem, kicks=kicks)
    best = warptsp.solve(problem, method="exact").length
    assert result.length >= best * (1 - 1e-12)
    if kicks > 1:
        assert result.length == pytest.approx(best, rel=1e-12)
        assert result.proved_optimal


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("count", [0, 1, 3, 11])
def test_thirteen_cities_with_fixed_arcs_and_ends(ends, count):
    random = np.random.default_rng(count)
    path = None if ends is None else OpenPath(*ends)
    fixed = arcs_of(random, 13, count)
    if ends is not None:
        fixed = fixed[~np.isin(fixed, [end for end in ends if end is not None]).any(axis=1)]
    problem = Problem.from_matrix(
        random.integers(0, 999, (13, 13)), asymmetric=True, open=path, fixed_edges=fixed
    )
    assert searched(problem).best_length == problem.length(FewCities.of(problem).optimal_tour())


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize(
    "start", sorted(name for name in CONSTRUCTIONS if not CONSTRUCTIONS[name].coordinates)
)
def test_start_tours_keep_fixed_arcs(start, ends):
    path = None if ends is None else OpenPath(*ends)
    fixed = [(3, 4), (4, 5), (9, 7)]
    problem = Problem.from_matrix(directed(12, 5).matrix, asymmetric=True, open=path, fixed_edges=fixed)
    problem.check_tour(construct(problem, start, seed=3))
    tour = warptsp.solve(problem, method="construct", start=start).tour
    problem.check_tour(tour)
    assert warptsp.solve(problem, start=tour, kicks=5).length <= problem.length(tour)


def test_chains_that_leave_one_tour():
    n = 15
    matrix = directed(n, 1).matrix
    chain = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    for fixed, path in (
        (chain, None),
        (chain, OpenPath()),
        (chain, OpenPath(0, None)),
        (np.delete(chain, 5, axis=0), None),
        (np.vstack([chain, [(n - 1, 0)]]), None),
    ):
        problem = Problem.from_matrix(matrix, asymmetric=True, fixed_edges=fixed, open=path)
        result = warptsp.solve(problem, kicks=10)
        problem.check_tour(result.tour)
        assert result.proved_optimal
        assert result.length == shortest_of_rolls(problem)


def shortest_of_rolls(problem):
    """Of the tours 0, 1, 2, ..., the one that begins where the fixed arcs let it."""
    n, best = problem.n, math.inf
    for shift in range(n):
        tour = np.roll(np.arange(n), shift)
        try:
            problem.check_tour(tour)
        except InvalidTour:
            continue
        best = min(best, problem.length(tour))
    return best


def test_fixed_arcs_have_a_direction():
    matrix = directed(10, 2).matrix
    problem = Problem.from_matrix(matrix, asymmetric=True, fixed_edges=[(7, 2)])
    tour = warptsp.solve(problem).tour.tolist()
    assert tour[(tour.index(7) + 1) % 10] == 2
    with pytest.raises(InvalidTour, match="lacks the fixed edge 8 -> 3"):
        problem.check_tour(tour[::-1])
    # Of symmetric distances, too, two arcs may be in the way of each other.
    ring = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    across = Problem.from_matrix(ring, asymmetric=True, fixed_edges=[(0, 1), (3, 2)])
    assert across.asymmetric
    found = warptsp.solve(across)
    assert found.length == shortest(across)
    across.check_tour(found.tour)
    for fixed, message in (
        ([(0, 1), (0, 2)], "2 fixed edges lead from node 1"),
        ([(1, 0), (2, 0)], "2 fixed edges lead to node 1"),
        ([(0, 1), (1, 0)], "close a cycle through nodes"),
    ):
        with pytest.raises(InvalidProblem, match=message):
            Problem.from_matrix(matrix, asymmetric=True, fixed_edges=fixed)
    with pytest.raises(InvalidProblem, match="cannot start at node 3: a fixed edge leads to it"):
        replace(problem, open=OpenPath(2, None))
    with pytest.raises(InvalidProblem, match="cannot end at node 8: a fixed edge leads from it"):
        replace(problem, open=OpenPath(None, 7))


def test_paths_of_chains_are_closed_and_opened():
    random = np.random.default_rng(4)
    for ends in ENDS:
        for count in (0, 1, 4, 8):
            fixed = arcs_of(random, 12, count)
            path = None if ends is None else OpenPath(*ends)
            try:
                problem = Problem.from_matrix(
                    random.integers(0, 99, (12, 12)), asymmetric=True, open=path, fixed_edges=fixed
                )
            except InvalidProblem:
                continue
            paths = DirectedPaths.of(problem)
            assert (paths.matrix is problem.matrix) == (path is None and not len(fixed))
            m = len(paths.matrix)
            for _ in range(5):
                closed = random.permutation(m).astype(np.int32)
                tour = paths.opened(closed)
                problem.check_tour(tour)
                around = int(paths.matrix[closed, np.roll(closed, -1)].sum()) if m > 1 else None
                assert around is None or around + paths.fixed_length == problem.length(tour)
                again = paths.closed(tour)
                assert np.array_equal(
                    np.roll(again, -int(np.argmin(again))), np.roll(closed, -int(np.argmin(closed)))
                )


# Missing arcs


def test_a_sparse_matrix_has_the_arcs_that_it_stores():
    graph = sparse(300, 1)
    problem = Problem.from_matrix(graph, asymmetric=True)
    assert (problem.matrix.dtype, problem.integral) == (np.int32, True)
    result = warptsp.solve(problem, time_limit=20.0, stop=stop.MaxKicks(20_000), seed=1)
    ahead = np.roll(result.tour, -1)
    assert (graph[result.tour, ahead] > 0).all()
    assert result.length == graph[result.tour, ahead].sum()
    assert all(point.length < problem.wall for point in result.history)
    reals = Problem.from_matrix(graph / 7.0, asymmetric=True)
    assert not reals.integral
    assert warptsp.solve(reals, kicks=20_000, seed=1).length == pytest.approx(result.length / 7.0, rel=0.05)
    stored = scipy.sparse.coo_array(([0, 2, 2, 3], ([0, 0, 1, 2], [1, 1, 2, 0])), shape=(3, 3))
    assert warptsp.solve(stored, asymmetric=True).length == 7  # entries of one place are added


def test_no_tour_exists_and_that_is_proved():
    """Three cities lead to two others only."""
    n = 40
    matrix = np.random.default_rng(3).integers(1, 99, (n, n)).astype(np.float64)
    matrix[:3, 2:] = math.inf
    matrix[:3, :2] = math.inf
    matrix[:3, [20, 21]] = 5
    with pytest.raises(
        NoTourFound, match="no tour goes without missing arcs, which is proved: 1 arc is"
    ) as caught:
        warptsp.solve(matrix, asymmetric=True, kicks=1000)
    assert caught.value.proved
    assert len(caught.value.result.tour) == n
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.proved
    assert again.result.tour.tolist() == caught.value.result.tour.tolist()


def test_two_parts_have_a_path_and_no_tour():
    n = 40
    matrix = np.full((n, n), math.inf)
    matrix[:20, :20], matrix[20:, 20:] = np.random.default_rng(3).integers(1, 99, (2, 20, 20))
    matrix[3, 30] = 1
    with pytest.raises(InvalidProblem, match=r"no way leads from node 21 to node 1, .*: there is no tour"):
        warptsp.solve(Problem.from_matrix(matrix, asymmetric=True))
    with pytest.raises(InvalidProblem, match="no way leads from node 1 to node 21"):
        warptsp.solve(Problem.from_matrix(matrix.T, asymmetric=True))
    tour = warptsp.solve(
        Problem.from_matrix(matrix, asymmetric=True, open=OpenPath()), kicks=3000
    ).tour.tolist()
    assert tour[19:21] == [3, 30]
    tour = warptsp.solve(
        Problem.from_matrix(matrix, asymmetric=True, open=OpenPath(7, 35)), kicks=3000
    ).tour.tolist()
    assert (tour[0], tour[19], tour[20], tour[-1]) == (7, 3, 30, 35)


def test_no_tour_was_found_is_not_that_there_is_none():
    """Its cycles of three cities are the best assignment, and one kick does not tell."""
    problem = Problem.from_matrix(sparse(400, 5, degree=2), asymmetric=True)
    with pytest.raises(NoTourFound, match=r"though there may be one: .* more time may help") as caught:
        warptsp.solve(problem, start=np.random.default_rng(1).permutation(400), kicks=1)
    assert not caught.value.proved


def test_symmetric_matrices_have_missing_edges_too():
    matrix = np.full((20, 20), math.inf)
    for i in range(20):
        for step in (1, 2):
            matrix[i, (i + step) % 20] = matrix[(i + step) % 20, i] = step
    problem = Problem.from_matrix(matrix)
    assert not problem.asymmetric
    assert warptsp.solve(problem, kicks=200).length == 20


def test_walls_stay_what_they_are():
    graph = sparse(30, 2)
    problem = Problem.from_matrix(graph, asymmetric=True)
    named = replace(problem, name="again")
    assert named.wall == problem.wall
    assert np.shares_memory(named.matrix, problem.matrix)
    longest = np.where(problem.matrix < problem.wall, problem.matrix, 0).max(axis=1).sum()
    assert problem.wall == longest + 1
    given = Problem.from_matrix(problem.matrix, asymmetric=True, wall=5000)
    assert np.array_equal(given.matrix, problem.matrix)
    assert (
        len(problem.missing_arcs(np.arange(30)))
        == (problem.distance(np.arange(30), np.arange(1, 31) % 30) > 1000).sum()
    )
    huge = Problem.from_matrix(
        np.where(problem.matrix < problem.wall, 2**30, -1) + 2**31 * (problem.matrix >= problem.wall),
        asymmetric=True,
        wall=2**31 - 1,
    )
    assert huge.matrix.dtype == np.int64


@pytest.mark.parametrize("ending", ["npy", "atsp"])
def test_files_of_missing_arcs(tmp_path, ending, caplog):
    problem = Problem.from_matrix(sparse(8, 2).toarray() / 4.0, asymmetric=True, wall=None)
    problem = Problem.from_matrix(np.where(problem.matrix > 0, problem.matrix, math.inf), asymmetric=True)
    file = tmp_path / f"a.{ending}"
    write_problem(file, problem)
    again = load(file, asymmetric=True)
    np.testing.assert_array_equal(again.matrix, problem.matrix)
    assert again.wall == (None if ending == "atsp" else problem.wall)
    assert ("no word for missing arcs" in caplog.text) == (ending == "atsp")


def test_the_command_line_says_that_there_is_no_tour(tmp_path):
    matrix = np.full((4, 4), math.inf)
    matrix[[0, 1, 2, 3], [1, 0, 3, 2]] = 1
    np.save(tmp_path / "a.npy", matrix)
    done = invoke("solve", tmp_path / "a.npy", "--asymmetric")
    assert done.exit_code != 0
    assert "no way leads from node 1 to node 3" in str(done.exception)
    with pytest.raises(InvalidOption, match="which arcs are missing"):
        write_problem(tmp_path / "a.csv", Problem.from_matrix(sparse(8, 2), asymmetric=True))


def test_what_is_no_distance():
    inf, nan = math.inf, math.nan
    for matrix, message in (
        ([[0, inf, inf], [1, 0, 1], [1, 1, 0]], r"row 0 of the matrix .* no arc leaves node 1"),
        ([[0, 1, inf], [1, 0, inf], [1, 1, 0]], r"column 2 of the matrix .* no arc enters node 3"),
        ([[0, nan, inf], [1, 0, inf], [1, 1, 0]], r"entry \(0, 1\) of the matrix is nan"),
        ([[0, -inf, inf], [1, 0, 1], [1, 1, 0]], r"entry \(0, 1\) of the matrix is -inf"),
        (
            [[0, -1, 2], [1, 0, 1], [1, 1, 0]],
            r"entry \(0, 1\) of the matrix is -1: .* infinity stands for an arc",
        ),
    ):
        with pytest.raises(InvalidProblem, match=message):
            warptsp.solve(Problem.from_matrix(matrix, asymmetric=True))
    ending = [[0, inf, inf], [1, 0, 1], [1, 1, 0]]
    assert warptsp.solve(Problem.from_matrix(ending, asymmetric=True, open=OpenPath(None, 0))).length == 2
    assert warptsp.solve(Problem.from_matrix(ending, asymmetric=True, open=OpenPath())).length == 2
    with pytest.raises(InvalidProblem, match="row 0 of the matrix"):
        warptsp.solve(Problem.from_matrix(ending, asymmetric=True, open=OpenPath(0, None)))
    for wall in (0, -1, "far", True):
        with pytest.raises(InvalidProblem, match="wall is"):
            Problem.from_matrix([[0, 1], [1, 0]], wall=wall)
    with pytest.raises(InvalidProblem, match="only arcs of a matrix can be missing"):
        Problem.from_points(np.eye(3)[:, :2], wall=5)
    empty = scipy.sparse.csr_array((200_000, 200_000))
    with pytest.raises(InvalidProblem, match="which this machine does not have"):
        Problem.from_matrix(
            scipy.sparse.csr_array(empty + scipy.sparse.eye_array(200_000, k=1)), asymmetric=True
        )


def test_the_length_of_fixed_arcs_may_exceed_64_bits():
    n = 1100
    fixed = np.stack([np.arange(1, n - 2), np.arange(2, n - 1)], axis=1)
    problem = Problem.from_matrix(np.full((n, n), 2**53 - 1), asymmetric=True, fixed_edges=fixed)
    assert DirectedPaths.of(problem).fixed_length == (n - 3) * (2**53 - 1)
