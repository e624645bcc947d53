"""Many problems in one call."""

import csv
import gc
import json
import os
import pickle
import signal
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

import warptsp
from warptsp import cli
from warptsp.errors import InvalidOption, InvalidProblem, ParseError, WarpTSPError
from warptsp.many.table import mark_of
from warptsp.many.taking import CITIES_TOGETHER, LEAST_TOGETHER

KICKS = 30


def points(count, n, seed=0):
    return np.random.default_rng(seed).random((count, n, 2))


def same(results, position, problem, seed=0):
    alone = warptsp.solve(problem, kicks=KICKS, seed=seed + position, threads=1, bound=False)
    found = results[position]
    assert np.array_equal(found.tour, alone.tour)
    assert found.length == alone.length == results.lengths[position] == results.length(position)
    assert (found.kicks, found.stop_reason, found.seed) == (alone.kicks, alone.stop_reason, alone.seed)
    assert found.proved_optimal == alone.proved_optimal == results.proved_optimal[position]


@pytest.mark.parametrize("threads", [1, 3])
def test_an_array_of_points_is_solved_as_one_by_one(threads):
    array = points(12, 25)
    results = warptsp.solve_many(array, kicks=KICKS, seed=7, threads=threads)
    assert results.tours.shape == (12, 25)
    assert len(results) == results.solved == 12
    for position, problem in enumerate(array):
        same(results, position, problem, seed=7)
    some = warptsp.solve_many(array[5:], kicks=KICKS, seed=12, threads=threads)
    assert np.array_equal(some.tours, results.tours[5:])  # seeds go by position


@pytest.mark.usefixtures("patient")
def test_a_batch_is_solved_as_one_by_one_without_a_limit():
    rng = np.random.default_rng(11)
    squares = np.rint(100 * rng.random((3, 14, 14)))
    problems = [
        *rng.random((3, 12, 2)),
        *rng.random((4, 20, 2)).astype(np.float32),
        *rng.integers(0, 20, (4, 18, 2)),  # several tours are as short
        *rng.random((2, 26, 3)),
        *rng.random((2, 60, 2)),
        *(square + square.T for square in squares),
        *(0.3 * (square + square.T) for square in squares),
        *(warptsp.Problem.from_points(1000 * rng.random((40, 2)), metric="EUC_2D") for _ in range(2)),
        warptsp.Problem.from_points(1e8 * rng.random((20, 2)), metric="CEIL_2D"),
        warptsp.Problem.from_points(100 * rng.random((9, 2)), metric="MAN_2D"),
        1e-30 * rng.random((20, 2)),  # searched in a frame of its own
        np.zeros((15, 2)),
        np.ones((15, 2)),
    ]
    results = warptsp.solve_many(problems, seed=5)
    assert not results.errors
    for position, problem in enumerate(problems):
        alone = warptsp.solve(problem, seed=5 + position, threads=1, bound=False, prove=False)
        found = results[position]
        assert np.array_equal(found.tour, alone.tour), position
        assert (found.length, found.kicks, found.stop_reason) == (
            alone.length,
            alone.kicks,
            alone.stop_reason,
        )
        assert found.proved_optimal == alone.proved_optimal == results.proved_optimal[position]
    assert results.proved_optimal[:7].all()


@pytest.mark.parametrize("params", [{}, {"depth": 3, "candidates": 5, "temperature": 0.3}, {"breadth": (2,)}])
@pytest.mark.parametrize("kicks", [0, 1, 137])
def test_a_batch_keeps_limits_and_parameters(kicks, params):
    array = points(5, 45, seed=2)
    results = warptsp.solve_many(array, kicks=kicks, params=params, seed=1)
    for position, problem in enumerate(array):
        alone = warptsp.solve(problem, kicks=kicks, params=params, seed=1 + position, threads=1, bound=False)
        assert np.array_equal(results.tour(position), alone.tour)
        assert (results.length(position), results.kicks[position]) == (alone.length, alone.kicks)


def test_mixed_sizes_and_kinds():
    rng = np.random.default_rng(3)
    problems = [rng.random((n, 2)) for n in range(1, 22)]
    problems.append(np.rint(100 * rng.random((14, 14))))
    problems[-1] = problems[-1] + problems[-1].T - np.diag(2 * problems[-1].diagonal())
    problems.append(warptsp.Problem.from_points(rng.random((20, 2)), open=warptsp.OpenPath(3, None)))
    problems.append(warptsp.Problem.from_points(rng.random((20, 2)), fixed_edges=[[0, 9], [9, 4]]))
    problems.append(warptsp.Problem.from_matrix(rng.integers(1, 99, (15, 15)), asymmetric=True))
    results = warptsp.solve_many(problems, kicks=KICKS)
    assert isinstance(results.tours, list)
    for position, problem in enumerate(problems):
        same(results, position, problem)
    assert results[22].problem.open == warptsp.OpenPath(3, None)
    assert isinstance(results[24].length, int)


def test_matrices_of_integers_have_integer_lengths():
    matrices = np.random.default_rng(1).integers(1, 100, (3, 13, 13))
    results = warptsp.solve_many(matrices + matrices.transpose(0, 2, 1), kicks=KICKS)
    assert results.lengths.dtype == np.int64
    asymmetric = warptsp.solve_many(matrices, kicks=KICKS, asymmetric=True)
    assert (asymmetric.lengths <= results.lengths).all()


def test_one_bad_problem_does_not_stop_the_others():
    array = points(200, 8)
    array[117, 3, 1] = np.nan
    results = warptsp.solve_many(array, kicks=KICKS)
    assert list(results.errors) == [117]
    assert isinstance(results.errors[117], InvalidProblem)
    assert results.solved == 199
    assert np.isnan(results.lengths[117])
    assert (results.tours[117] == -1).all()
    with pytest.raises(InvalidProblem, match="coordinate 1 of city 3"):
        results[117]
    missing = warptsp.solve_many([array[0], "missing.tsp"], kicks=KICKS)
    assert isinstance(missing.errors[1], ParseError)
    assert missing.tours.shape == (2, 8)


@pytest.mark.parametrize("n", [8, 3])
def test_a_masked_entry_is_an_error_of_its_problem(n):
    array = np.ma.masked_array(points(5, n))
    assert warptsp.solve_many(array, kicks=KICKS).solved == 5
    array[2, 1, 0] = np.ma.masked
    results = warptsp.solve_many(array, kicks=KICKS)
    assert list(results.errors) == [2]
    with pytest.raises(InvalidProblem, match=r"entry \[1, 0\] \(counted from 0\) is masked"):
        results[2]
    assert results.solved == 4


@pytest.mark.parametrize("source", ["list", "array", "generator"])
def test_results_can_be_pickled(source):
    problems = points(4, 6)
    given = {"list": list(problems), "array": problems, "generator": iter(problems)}[source]
    results = warptsp.solve_many(given, kicks=KICKS, metric="haversine", open=True)
    again = pickle.loads(pickle.dumps(results))
    assert np.array_equal(again.tours, results.tours)
    if source == "generator":
        with pytest.raises(InvalidOption, match="problem 1 came from an iterator"):
            again[1]
    else:
        assert again[1].problem.open == warptsp.OpenPath()
        assert again[1].length == results[1].length == again[1].problem.length(again[1].tour)


@pytest.mark.parametrize("position", [slice(1), 1.0, "1", None, True])
def test_a_position_is_a_number(position):
    results = warptsp.solve_many(points(2, 6), kicks=KICKS)
    with pytest.raises(InvalidOption, match="a whole number from 0 to 1 is needed"):
        results[position]
    assert results[np.int64(1)].length == results[-1].length


def test_a_generator_is_not_kept():
    class Points:  # an array that tells when it is gone
        def __init__(self, array):
            self.array = array

        def __array__(self, dtype=None, copy=None):
            return self.array

    alive, most = weakref.WeakSet(), 0

    def stream():
        nonlocal most
        for array in points(1200, 6):
            problem = Points(array)
            alive.add(problem)
            gc.collect(0)
            most = max(most, len(alive))
            yield problem

    results = warptsp.solve_many(stream(), kicks=KICKS, threads=2)
    assert results.tours.shape == (1200, 6)
    assert most <= 2 * CITIES_TOGETHER // LEAST_TOGETHER + 20  # what two threads have taken
    with pytest.raises(InvalidOption, match="problem 4 came from an iterator"):
        results[4]
    given = points(300, 6)
    problem = warptsp.Problem.from_points(given[4])
    for form in (problem, given[4], {f"city {i}": tuple(place) for i, place in enumerate(given[4])}):
        assert results.result(4, form).length == problem.length(results.tours[4])
    for other in (given[3], given[4][:5]):
        with pytest.raises(InvalidOption, match="problem 4 is not what was solved"):
            results.result(4, other)


def test_a_problem_is_known_by_more_than_the_length_of_its_tour():
    matrix = np.full((14, 14), 5)
    path = warptsp.Problem.from_matrix(matrix, open=warptsp.OpenPath(0))
    fixed = warptsp.Problem.from_matrix(matrix, fixed_edges=[(3, 7)])
    given = [matrix, path, fixed, points(1, 9)[0], matrix.astype(object) + 2**60]
    results = warptsp.solve_many(iter(given))
    shorter = matrix.copy()
    tour = results.tours[0].tolist()
    shorter[tour[0], tour[2]] = shorter[tour[2], tour[0]] = 1  # which the tour does not use
    ends = tuple(results.tours[1][[0, -1]].tolist())
    onward = tuple(results.tours[2][:2].tolist())
    others = [
        warptsp.Problem.from_matrix(shorter),
        warptsp.Problem.from_matrix(matrix, open=warptsp.OpenPath(*ends)),
        warptsp.Problem.from_matrix(matrix, fixed_edges=[onward]),
        given[3][::-1].copy(),
        given[4] + (shorter - matrix),
    ]
    for position, (same, other) in enumerate(zip(given, others, strict=True)):
        assert results.result(position, same).lower_bound == results.lower_bound(position)
        with pytest.raises(InvalidOption, match=f"problem {position} is not what was solved"):
            results.result(position, other)


def test_a_problem_with_the_same_checksum_is_not_what_was_solved():
    """One whose tour has another length: the lowest bits of a coordinate can make any checksum."""
    given = points(2, 6)
    results = warptsp.solve_many(iter(given), kicks=KICKS)
    other = np.ascontiguousarray(given[0][::-1] * 2.0)
    bits, wanted = other.view(np.uint64)[0], mark_of(warptsp.Problem.from_points(given[0]))
    bits[0] &= np.uint64(0xFFFFFFFF00000000)
    without, reached = mark_of(warptsp.Problem.from_points(other)), {}
    for bit in range(32):  # a basis of what they change, by its highest bit (a checksum is linear)
        bits[0] ^= np.uint64(1 << bit)
        change, used = mark_of(warptsp.Problem.from_points(other)) ^ without, 1 << bit
        bits[0] ^= np.uint64(1 << bit)
        while change.bit_length() in reached:
            change, used = (a ^ b for a, b in zip((change, used), reached[change.bit_length()], strict=True))
        reached[change.bit_length()] = change, used
    change, used = without ^ wanted, 0
    while change:
        change, used = (a ^ b for a, b in zip((change, used), reached[change.bit_length()], strict=True))
    bits[0] |= np.uint64(used)
    assert mark_of(warptsp.Problem.from_points(other)) == wanted
    assert results.result(0, given[0]).length == results.lengths[0]
    with pytest.raises(InvalidOption, match="problem 0 is not what was solved"):
        results.result(0, other)


def test_a_file_that_has_changed_since_is_not_what_was_solved(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("x,y\n0,0\n0,3\n4,0\n")
    results = warptsp.solve_many(tmp_path)
    (tmp_path / "b.csv").write_text("x,y\n0,0\n0,3\n5,0\n")
    assert results[0].length == 12
    with pytest.raises(InvalidOption, match="problem 1 is not what was solved"):
        results[1]


def test_lengths_that_64_bits_do_not_hold():
    matrix = np.array([[0, 2**62, 2**62], [2**62, 0, 2**62], [2**62, 2**62, 0]], dtype=object)
    results = warptsp.solve_many([warptsp.Problem.from_matrix(matrix), points(1, 5)[0]])
    assert results.length(0) == 3 * 2**62
    assert results.lengths.tolist() == [3.0 * 2**62, results.length(1)]
    assert warptsp.solve_many([warptsp.Problem.from_matrix(matrix)]).lengths.tolist() == [3.0 * 2**62]


@pytest.mark.parametrize(("count", "cities", "error"), [(3, 6, LookupError), (7, 20, OSError)])
def test_what_an_iterator_raises_comes_with_all_that_came_before(count, cities, error):
    def stream():
        yield from points(count, cities)
        raise error("no more")

    with pytest.raises(error, match="no more") as caught:
        warptsp.solve_many(stream(), kicks=KICKS, threads=1)
    assert caught.value.result.solved == count


@pytest.mark.skipif(os.name != "posix", reason="signals as they are on POSIX")
def test_a_signal_keeps_what_is_done():
    sent = threading.Event()

    def stream():
        for number, array in enumerate(points(10_000, 20)):
            if number == 400:
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                sent.set()
            yield array

    results = warptsp.solve_many(stream(), kicks=KICKS, threads=2, on_interrupt="return")
    assert sent.is_set()
    assert results.interrupted
    assert results.signal == signal.SIGINT
    assert 400 - 3 * CITIES_TOGETHER // 20 <= results.solved < 10_000
    assert results.lengths[:18].min() > 0


@pytest.mark.parametrize("answer", [True, np.bool_(True)])
def test_a_callback_ends_it(answer):
    told = []

    def callback(progress):
        told.append(progress)
        return answer

    results = warptsp.solve_many(points(2, 200), time_limit=60.0, callback=callback, threads=1)
    assert results.interrupted
    assert results.signal is None
    assert results.solved == 1
    assert told[0].total == 2
    with pytest.raises(InvalidOption, match="problem 1 has no tour"):
        results[1]


def test_total_time_is_shared():
    results = warptsp.solve_many(points(4, 60), total_time=0.4, threads=1)
    assert results.solved == 4
    with pytest.raises(InvalidOption, match="nobody knows how many"):
        warptsp.solve_many(iter(points(4, 6)), total_time=0.4)


@pytest.mark.parametrize(
    ("problems", "options", "error"),
    [
        (np.zeros((4, 2)), {}, InvalidProblem),
        (7, {}, InvalidProblem),
        ("nothing.txt", {}, InvalidProblem),
        ([], {"kicks": -1}, InvalidOption),
        ([], {"time_limit": "long"}, InvalidOption),
        ([], {"seed": -1}, InvalidOption),
        ([], {"method": "magic"}, InvalidOption),
        ([], {"metric": "furlongs"}, WarpTSPError),
        ([], {"total_time": -1}, InvalidOption),
    ],
)
def test_what_is_wrong_with_all_is_said_at_once(problems, options, error):
    with pytest.raises(error):
        warptsp.solve_many(problems, **options)


def test_no_problems():
    results = warptsp.solve_many([])
    assert len(results) == results.solved == 0
    assert results.tours == []


def run(*arguments):
    return cli.run(["solve-many", *map(str, arguments)])


def test_the_command_solves_a_folder(tmp_path: Path, capsys):
    folder = tmp_path / "rounds"
    folder.mkdir()
    for number, array in enumerate(points(3, 7)):
        np.savetxt(folder / f"{number}.csv", array, delimiter=",", header="x,y", comments="")
    (folder / "notes.md").write_text("not an instance")
    (folder / "._0.csv").write_bytes(b"\0\5\x16\7 what macOS keeps of a file")
    table, tours = tmp_path / "lengths.csv", tmp_path / "tours"
    assert run(folder, "-o", table, "--tours", tours, "--kicks", KICKS) == 0
    assert "3 with a tour" in capsys.readouterr().out
    rows = [line.split(",") for line in table.read_text().splitlines()]
    assert rows[0][:3] == ["problem", "cities", "length"]
    expected = warptsp.solve_many(folder, kicks=KICKS)
    assert [row[0] for row in rows[1:]] == expected.names == ["0.csv", "1.csv", "2.csv"]
    assert [float(row[2]) for row in rows[1:]] == expected.lengths.tolist()
    for position, name in enumerate(expected.names):
        problem = warptsp.load(folder / name)
        tour = warptsp.read_tour(tours / f"{name}.tour", problem)
        assert problem.length(tour) == expected.length(position)


def test_the_table_says_what_a_result_does(tmp_path: Path, shared_data: Path, capsys):
    """Of published instances, directed ones, proved ones, and one that is wrong."""
    folder, table = tmp_path / "rounds", tmp_path / "table.csv"
    folder.mkdir()
    for name in ("burma14", "berlin52", "br17"):
        file = next(shared_data.rglob(f"{name}.*sp"))
        (folder / file.name).write_bytes(file.read_bytes())
    np.savetxt(folder / "few.csv", points(1, 7)[0], delimiter=",", header="x,y", comments="")
    np.savetxt(folder / "many.csv", points(1, 60)[0], delimiter=",", header="x,y", comments="")
    np.savetxt(folder / "metres.csv", points(1, 60)[0], delimiter=",", header="x (m),y (m)", comments="")
    (folder / "wrong.csv").write_text("x,y\n0,zero\n")
    assert run(folder, "-o", table, "--kicks", 2000, "--seed", 5, "--json") == 2
    told = json.loads(capsys.readouterr().out)
    rows = {row.pop("problem"): row for row in told["table"]}
    with table.open() as file:
        written = {row.pop("problem"): row for row in csv.DictReader(file)}
    assert told["seed"] == 5
    results = warptsp.solve_many(folder, kicks=2000, seed=5)
    assert list(rows) == list(written) == results.names
    for position, name in enumerate(results.names):
        row, text = rows[name], written[name]
        words = {None: "", True: "yes", False: "no"}
        assert (
            text
            == {
                key: words[value] if value is None or isinstance(value, bool) else str(value)
                for key, value in row.items()
            }
            or name == "wrong.csv"
        )
        assert row["seed"] == 5 + position
        if name == "wrong.csv":
            assert row["length"] is row["lower_bound"] is None
            continue
        result = results[position].as_dict()
        keys = [
            "cities",
            "length",
            "unit",
            "gap_percent",
            "lower_bound",
            "bound_gap_percent",
            "proved_optimal",
            "seed",
        ]
        assert [row[key] for key in keys] == [result[key] for key in keys], name
    assert (rows["berlin52.tsp"]["gap_percent"], rows["berlin52.tsp"]["proved_optimal"]) == (0.0, False)
    assert (rows["few.csv"]["gap_percent"], rows["few.csv"]["proved_optimal"]) == (0.0, True)
    assert rows["many.csv"]["gap_percent"] is rows["many.csv"]["lower_bound"] is None


def test_lengths_of_different_units_are_not_compared(tmp_path: Path, capsys):
    square = "0,0\n0,1\n1,1\n1,0\n"
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(f"x (km),y (km)\n{square}")
    assert run(tmp_path) == 0
    assert "lengths      4 km to 4 km, mean 4 km\n" in capsys.readouterr().out
    (tmp_path / "c.csv").write_text(f"lat,lon\n{square}")
    assert run(tmp_path, "-o", tmp_path / "all.tsv") == 0
    assert " mean " not in capsys.readouterr().out
    rows = [line.split("\t") for line in (tmp_path / "all.tsv").read_text().splitlines()]
    assert [row[3] for row in rows] == ["unit", "km", "km", "m"]


def test_bounds_are_computed_where_they_are_wanted(tmp_path: Path, capsys):
    array = points(3, 60)
    results = warptsp.solve_many(array, kicks=200, seed=4, bound=60.0)
    for position, problem in enumerate(array):
        alone = warptsp.solve(problem, kicks=200, seed=4 + position, threads=1, bound=60.0)
        assert np.array_equal(results.tour(position), alone.tour)
        assert 0.9 * alone.length < results.lower_bound(position) < alone.length
        assert results[position].lower_bound == results.lower_bound(position)
    np.save(tmp_path / "points.npy", array)
    assert run(tmp_path / "points.npy", "--kicks", 200, "--seed", 4, "--bound", "60", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["table"]
    assert all(0 < row["bound_gap_percent"] < 10 for row in rows)
    with pytest.raises(warptsp.InvalidOption, match='bound: "lp" is for one problem'):
        warptsp.solve_many(array, bound="lp")


def test_json_that_is_no_instance_is_left_out(tmp_path: Path, capsys):
    (tmp_path / "a.csv").write_text("x,y\n0,0\n1,1\n2,0\n")
    (tmp_path / "package.json").write_text('{"name": "warptsp", "version": [1, 2]}')
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "table.json").write_text('{"code": "Ok", "durations": [[0, 1, 2], [1, 0, 2], [2, 2, 0]]}')
    (tmp_path / "tour.geojson").write_text("{}")  # a format of its own, so that something is wrong with it
    assert run(tmp_path, "--json", "--kicks", 1) == 2
    told = capsys.readouterr()
    names = ["a.csv", "table.json", "tour.geojson"]
    assert [row["problem"] for row in json.loads(told.out)["table"]] == names
    assert "left out, as other JSON than instances: broken.json, package.json" in told.err
    assert "problem tour.geojson: " in told.err
    assert warptsp.solve_many(tmp_path, kicks=1).names == names


def test_the_command_solves_an_array(tmp_path: Path, capsys):
    array = points(5, 9)
    array[2, 0] = np.inf
    np.save(tmp_path / "points.npy", array)
    assert run(tmp_path / "points.npy", "-o", tmp_path / "tours.npy", "--kicks", KICKS, "--json") == 2
    told = capsys.readouterr()
    assert "problem 2: coordinate" in told.err
    facts = json.loads(told.out)
    assert (facts["problems"], facts["solved"], facts["lengths"][2]) == (5, 4, None)
    found = np.load(tmp_path / "tours.npy")
    assert np.array_equal(found, warptsp.solve_many(array, kicks=KICKS).tours)


def test_wrong_options_of_the_command(tmp_path: Path, capsys):
    np.save(tmp_path / "points.npy", points(2, 5))
    assert run(tmp_path / "points.npy", "-o", tmp_path / "a.txt") == 2
    assert "lengths are written as .csv" in capsys.readouterr().err
    empty = tmp_path / "empty"
    empty.mkdir()
    assert run(empty) == 2
    assert "no instances in this folder" in capsys.readouterr().err
    (empty / "a.csv").write_text("x,y\n0,0\n1,1\n2,0\n")
    (empty / "b.csv").write_text("x,y\n0,0\n1,1\n")
    assert run(empty, "-o", tmp_path / "a.npy") == 2
    assert "differ in size" in capsys.readouterr().err
