"""Places inserted into a tour, and taken out of it."""

import contextlib
import csv
import itertools
import json

import numpy as np
import pytest
from calls import invoke
from instances import unit_points

import warptsp
from warptsp import insertion
from warptsp.problem import OpenPath, Problem

PATHS = {"closed": None, "free": OpenPath(), "from": OpenPath(3, None), "between": OpenPath(3, 5)}


def tour_of(n, path, rng):
    order = rng.permutation(n)
    if path is not None and path.start is not None:
        order = np.concatenate([[path.start], order[order != path.start]])
    if path is not None and path.end is not None:
        order = np.concatenate([order[order != path.end], [path.end]])
    return order.astype(np.int32)


@pytest.mark.parametrize("kind", PATHS)
@pytest.mark.parametrize(("n", "count"), [(2, 1), (8, 1), (30, 12)])
def test_places_are_inserted_cheapest_first(kind, n, count):
    rng = np.random.default_rng(1)
    path = PATHS[kind] if n > 5 or kind == "closed" else OpenPath()
    problem = Problem.from_points(unit_points(n), "EXACT_2D", open=path)
    tour, points = tour_of(n, path, rng), rng.random((count, 2)) * 2 - 0.5
    found = insertion.insert(problem, tour, points)
    kept = found.tour[found.tour < n].tolist()
    assert kept in (tour.tolist(), np.roll(tour, -int(np.argmin(tour))).tolist())
    whole, order, left = found.problem, tour.tolist(), set(range(n, n + count))
    low = 1 if path is not None and path.start is not None else 0
    high = 0 if path is not None and path.end is not None else 1
    while left:  # the slow and obvious way
        _, city, k = min(
            (whole.length(np.array([*order[:k], city, *order[k:]])), city, k)
            for city in left
            for k in range(low, len(order) + high)
        )
        order.insert(k, city)
        left.remove(city)
    assert found.length == pytest.approx(whole.length(np.array(order)))


@pytest.mark.parametrize("kind", PATHS)
def test_improvement_disturbs_nothing_beyond_its_reach(kind):
    rng = np.random.default_rng(7)
    problem = Problem.from_points(unit_points(60), open=PATHS[kind])
    tour, points = tour_of(60, PATHS[kind], rng), rng.random((2, 2))
    plain = insertion.insert(problem, tour, points)
    better = insertion.insert(problem, tour, points, improve=4)
    assert better.length <= plain.length + 1e-9
    cities = plain.tour.tolist()
    near = {cities[(cities.index(c) + d) % 62] for c in (60, 61) for d in range(-4, 5)}
    still = [city for city in plain.tour.tolist() if city not in near]
    kept = [city for city in better.tour.tolist() if city not in near]
    if PATHS[kind] is None:
        at = kept.index(still[0])
        kept = kept[at:] + kept[:at]
    assert kept == still
    everything = insertion.insert(problem, tour, points, improve=100)
    assert everything.length < plain.length


def test_fixed_edges_are_kept():
    square = [[0, 0], [10, 0], [10, 10], [0, 10]]
    problem = Problem.from_points(square, fixed_edges=[[0, 1], [1, 2], [2, 3]])
    found = insertion.insert(problem, [0, 1, 2, 3], [[5, 0], [10, 5]], improve=2)
    assert {(a, b) for a, b in found.problem.fixed_edges.tolist()} == {(0, 1), (1, 2), (2, 3)}
    whole = Problem.from_points(square, fixed_edges=list(itertools.pairwise([0, 1, 2, 3, 0])))
    with pytest.raises(warptsp.InvalidProblem, match="close a cycle"):
        insertion.insert(whole, [0, 1, 2, 3], [[5, 0]])


def test_the_fixed_edge_of_two_cities_is_kept():
    """Their tour has that edge twice, and a new place goes into one of the two."""
    problem = Problem.from_points([[0, 0], [10, 0]], fixed_edges=[[0, 1]])
    found = warptsp.solve(problem).insert([[5, 1], [5, 2]])
    assert found.problem.n == 4
    assert found.problem.fixed_edges.tolist() == [[0, 1]]
    found.problem.check_tour(found.tour)


def test_results_insert_and_remove():
    result = warptsp.solve(unit_points(20), kicks=10)
    more = result.insert([[0.5, 0.5]])
    assert more.problem.n == 21
    assert more.remove([20]).tour.tolist() == result.tour.tolist()
    assert more.remove([20]).length == pytest.approx(result.length)
    less = result.remove([0, 5])
    points = result.problem.coordinates[[c for c in result.tour if c not in (0, 5)]]
    found = less.problem.coordinates[less.tour]
    at = int(np.flatnonzero((points == found[0]).all(axis=1))[0])
    assert np.roll(points, -at, axis=0).tolist() == found.tolist()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.insert([[1, 2, 3]]), "shape"),
        (lambda r: r.insert([[1, 2]], improve=-1), "improve"),
        (lambda r: r.insert([[1, 2]], labels=["a", "b"]), "labels"),
        (lambda r: r.insert([[1, np.nan]]), "finite"),
        (lambda r: r.insert("x"), "the places are not numbers"),
        (lambda r: r.insert([[1, 2], [3]]), "the places are not in rows of one length"),
        (lambda r: r.remove([99]), "cities are 0 to"),
        (lambda r: r.remove(5), "cities: 5 is no list of numbers of cities"),
        (lambda r: r.remove(None), "cities: None is no list"),
        (lambda r: r.remove(range(20)), "at least one"),
        (lambda r: warptsp.solve(np.ones((4, 4)) - np.eye(4)).insert([[0, 0]]), "matrix"),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(warptsp.WarpTSPError, match=message):
        call(warptsp.solve(unit_points(20), kicks=1))
    path = Problem.from_points(unit_points(5), open=OpenPath(0, None))
    with pytest.raises(warptsp.InvalidOption, match="end of the path"):
        insertion.remove(path, [0, 1, 2, 3, 4], [0])


@pytest.mark.parametrize("kind", PATHS)
def test_fixed_edges_at_the_ends_of_what_is_improved(kind):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(6, 12))
        tour = tour_of(n, PATHS[kind], rng)
        steps = np.stack([tour, np.roll(tour, -1)], axis=1)[: n if PATHS[kind] is None else n - 1]
        edges = steps[rng.permutation(len(steps))[: int(rng.integers(1, len(steps)))]]
        problem = Problem.from_points(unit_points(n, seed), fixed_edges=edges, open=PATHS[kind])
        places = rng.random((int(rng.integers(1, 4)), 2))
        found = insertion.insert(problem, tour, places, improve=int(rng.integers(1, 4)))
        found.problem.check_tour(found.tour)  # which has every fixed edge
        assert found.length <= insertion.insert(problem, tour, places).length * (1 + 1e-12), seed


def test_a_fixed_edge_from_the_end_to_the_start():
    square = Problem.from_points([[0, 0], [1, 0], [1, 1], [0, 1]], fixed_edges=[[0, 3]])
    assert insertion.insert(square, [0, 1, 2, 3], [[0.5, 0.5]], improve=1).tour.tolist()[0] == 0


def test_the_command(tmp_path):
    with contextlib.chdir(tmp_path):
        (tmp_path / "a.csv").write_text("name,x,y\nA,0,0\nB,10,0\nC,10,10\nD,0,10\n")
        (tmp_path / "new.csv").write_text("name,x,y\nE,5,0\nF,10,4\n")
        (tmp_path / "far.csv").write_text("name,lat,lon\nE,5,0\n")

        def run(*arguments):
            return invoke("insert", *arguments)

        done = run("a.csv", "new.csv", "-o", "b.csv", "--json")
        assert done.exit_code == 0, done.exception
        assert json.loads(done.stdout)["length"] == pytest.approx(40)
        with open("b.csv", newline="") as stream:
            assert "".join(row["name"] for row in csv.DictReader(stream)) in ("AEBFCD", "ADCFBE")
        again = run("b.csv", "-o", "c.csv", "--remove", "E", "--remove", "F")
        assert again.exit_code == 0, again.exception
        assert "2 removed" in again.stdout
        assert run("a.csv", "new.csv", "-o", "-").stdout.count("\n") > 6
        (tmp_path / "a.csv").write_text("name,x,y,phone\nA,0,0,1\nB,10,0,2\nC,10,10,3\nD,0,10,4\n")
        assert run("a.csv", "new.csv", "-o", "d.csv").exit_code == 0
        with open("d.csv", newline="") as stream:
            phones = {row["name"]: row["phone"] for row in csv.DictReader(stream)}
        assert phones == {"A": "1", "B": "2", "C": "3", "D": "4", "E": "", "F": ""}
        assert run("a.csv", "new.csv", "-q").output == ""
        for arguments, message in (
            (["a.csv"], "nothing to do"),
            (["a.csv", "far.csv"], "same columns"),
            (["a.csv", "new.csv", "-o", "-", "--json"], "both want"),
            (["a.csv", "--remove", "Z"], "no such city"),
        ):
            failed = run(*arguments)
            assert message in str(failed.exception), failed.output
