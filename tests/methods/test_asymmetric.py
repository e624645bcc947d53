"""Asymmetric distances: against brute force, and everything that is told of them on the way."""

import re

import numpy as np
import pytest
import scipy.sparse
from calls import invoke
from instances import directed, unit_points

import warptsp
from warptsp import OpenPath, Problem
from warptsp.errors import InvalidOption, InvalidProblem, InvalidTour, ParseError, UnsupportedProblem
from warptsp.io import load, write_problem
from warptsp.methods.directed import Doubled


def test_the_search_comes_close_to_a_hidden_tour():
    """Distances from potentials of a hidden tour: its length is the optimum, by duality of assignments."""
    rng = np.random.default_rng(11)
    n = 100
    hidden = rng.permutation(n)
    leave, enter = rng.integers(0, 500, n), rng.integers(0, 500, n)
    matrix = leave[:, np.newaxis] + enter + rng.integers(0, 300, (n, n))
    matrix[hidden, np.roll(hidden, -1)] = leave[hidden] + enter[np.roll(hidden, -1)]
    problem = Problem.from_matrix(matrix, asymmetric=True)
    optimum = int(leave.sum() + enter.sum())
    assert problem.length(hidden) == optimum
    result = warptsp.solve(problem, kicks=4000, seed=1)
    assert optimum <= result.length <= 1.01 * optimum


def test_the_result_says_so():
    result = warptsp.solve(directed(20, 8), kicks=10)
    assert "distances    asymmetric" in result.summary()
    assert result.as_dict()["asymmetric"] is True
    assert "symmetric" not in warptsp.solve(unit_points(20), kicks=10).summary()


@pytest.mark.parametrize("open", [None, OpenPath(), OpenPath(start=3), OpenPath(2, 5)])
@pytest.mark.parametrize("real", [False, True])
def test_a_tour_through_walls_becomes_a_shorter_one(open, real):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(6, 12))
        problem = directed(n, seed, real=real, open=open)
        doubled = Doubled(problem)
        cities = rng.permutation(n)
        turned = rng.random(n) < rng.choice([0.1, 0.5, 0.9])
        if open is not None:
            for at, end in ((0, open.start), (-1, open.end)):
                if end is not None:
                    place = int(np.flatnonzero(cities == end)[0])
                    cities[[place, at]] = cities[[at, place]]
                    turned[at] = False
        pairs = 2 * cities[:, np.newaxis] + np.where(turned[:, np.newaxis], [1, 0], [0, 1])
        tour = pairs.ravel()
        if open is None:
            tour = np.roll(tour, rng.integers(0, 2 * n))
        doubled.problem.check_tour(tour)
        one_way = doubled.directed(tour)
        problem.check_tour(one_way)
        longer = doubled.problem.length(tour)
        walls = turned.any() and not turned.all()
        if walls:
            assert problem.length(one_way) < longer, seed
        else:
            assert problem.length(one_way) == pytest.approx(longer), seed


def test_a_symmetric_matrix_is_symmetric():
    problem = Problem.from_matrix([[0, 2, 3], [2, 0, 4], [3, 4, 0]], asymmetric=True)
    assert not problem.asymmetric
    assert warptsp.solve(problem).length == 9


def test_files_of_matrices(tmp_path):
    problem = directed(15, 4)
    names = [f"stop {i}" for i in range(15)]
    named = Problem.from_matrix(problem.matrix, labels=names, asymmetric=True)
    for file, written in (("a.csv", problem), ("b.tsv", named), ("c.npy", problem), ("d.tsp", problem)):
        write_problem(tmp_path / file, written)
        read = load(tmp_path / file, asymmetric=True)
        assert read.asymmetric
        np.testing.assert_array_equal(read.matrix, problem.matrix)
        if file != "d.tsp":
            with pytest.raises(ParseError, match=r"not symmetric.*give asymmetric=True$"):
                load(tmp_path / file)
    (tmp_path / "three.csv").write_text("0,1,5\n5,0,1\n1,5,0\n")
    assert warptsp.solve(load(tmp_path / "three.csv", asymmetric=True)).length == 3
    (tmp_path / "points.csv").write_text("x,y\n0,0\n3,4\n")
    assert load(tmp_path / "points.csv", asymmetric=True).distance(0, 1) == 5


def test_the_commands(tmp_path):
    table, tour = str(tmp_path / "a.csv"), str(tmp_path / "a.tour")
    write_problem(tmp_path / "a.csv", directed(15, 4))

    def run(*words, options="--asymmetric"):
        return invoke(*words, *options.split())

    page, picture = tmp_path / "a.html", tmp_path / "a.svg"
    of_tour = {"check": ["a.tour"], "plot": ["a.tour", picture], "report": ["a.tour", page]}
    for command in ("solve", "info", "check", "plot", "report", "watch"):
        refused = run(command, table, *of_tour.get(command, []), options="")
        assert isinstance(refused.exception, ParseError), command
        assert re.search(r"not symmetric.*give --asymmetric$", str(refused.exception)), command
    solved = run("solve", table, "-o", tour, options="--asymmetric --kicks 10 -q")
    assert "distances    asymmetric" in solved.output
    checked = run("check", table, tour)
    assert checked.exit_code == 0
    assert next(line for line in checked.output.splitlines() if line.startswith("length")) in solved.output
    assert "asymmetric" in run("info", table).output
    assert run("report", table, tour, page).exit_code == 0
    assert "asymmetric" in page.read_text()
    undrawn = run("plot", table, tour, picture)  # which has read the matrix
    assert "has distances but no coordinates to draw" in str(undrawn.exception)


def test_solve_takes_asymmetric_distances_as_they_are(tmp_path):
    """As the message says, whatever form they have."""
    matrix = directed(15, 4).matrix
    best = warptsp.solve(directed(15, 4), method="exact").length
    np.save(tmp_path / "a.npy", matrix)
    for given in (matrix, matrix.tolist(), scipy.sparse.csr_array(matrix), tmp_path / "a.npy"):
        with pytest.raises(InvalidProblem, match=r"not symmetric.*give asymmetric=True$"):
            warptsp.solve(given, method="exact")
        assert warptsp.solve(given, method="exact", asymmetric=True).length == best
    points = unit_points(5)
    assert not warptsp.solve(points, asymmetric=True).problem.asymmetric


def test_what_cannot_be():
    with pytest.raises(InvalidProblem, match=r"not symmetric.*if that is intended, give asymmetric=True$"):
        Problem.from_matrix([[0, 1], [2, 0]])
    with pytest.raises(InvalidProblem, match="entry \\(0, 1\\) of the matrix is nan"):
        Problem.from_matrix([[0, np.nan], [2, 0]], asymmetric=True)
    with pytest.raises(InvalidProblem, match="entry \\(1, 0\\) of the matrix is -2"):
        Problem.from_matrix([[0, 1], [-2, 0]], asymmetric=True)
    with pytest.raises(InvalidProblem, match="EXACT_2D is symmetric: only a matrix can be asymmetric"):
        Problem.from_points(np.eye(3)[:, :2], asymmetric=True)
    problem = directed(10, 1)
    with pytest.raises(UnsupportedProblem, match=r"method two-opt needs symmetric distances.*lk, exact"):
        warptsp.solve(problem, method="two-opt")
    with pytest.raises(UnsupportedProblem, match="cluster: a matrix of distances"):
        warptsp.solve(problem, cluster="threads")
    with pytest.raises(InvalidTour, match="must start at node 1"):
        warptsp.solve(problem, open=OpenPath(0, 9), start=np.arange(10)[::-1])


def test_tsplib_files_of_the_type_atsp(tmp_path):
    text = """NAME: four
TYPE: ATSP
DIMENSION: 4
EDGE_WEIGHT_TYPE: EXPLICIT
EDGE_WEIGHT_FORMAT: FULL_MATRIX
EDGE_WEIGHT_SECTION
9999 1 5 5
5 9999 1 5
5 5 9999 1
1 5 5 9999
EOF
"""
    file = tmp_path / "four.atsp"
    file.write_text(text)
    problem = load(file)
    assert problem.asymmetric
    assert warptsp.solve(problem).length == 4
    assert list(warptsp.solve(problem).tour) == [0, 1, 2, 3]
    again = tmp_path / "again.tsp"
    write_problem(again, problem)
    assert load(again).asymmetric
    np.testing.assert_array_equal(load(again).matrix, problem.matrix)
    file.write_text(text.replace("ATSP", "TSP"))
    with pytest.raises(ParseError, match=r"four.atsp:7: .*1 from node 1 to 2, 5 back; .*write TYPE : ATSP"):
        load(file)
    with pytest.raises(InvalidOption, match="no asymmetric open paths"):
        write_problem(again, directed(4, 1, open=OpenPath()))
