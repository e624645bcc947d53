"""What is said to be proved: the gate that every claim passes, and claims about hostile numbers."""

import json
import logging
import math
import random
import signal
from dataclasses import replace
from fractions import Fraction

import claims
import exact
import numpy as np
import pytest
from calls import invoke
from instances import unit_points

import warptsp
from warptsp import Problem
from warptsp.bound import held_karp, proven_value, read_certificate, write_certificate
from warptsp.claims import check_is_tour
from warptsp.describe import describe_bound, describe_gap
from warptsp.errors import InvalidOption, NoTourFound
from warptsp.io.instances import write_problem
from warptsp.methods import METHODS
from warptsp.methods.magnitude import Frame
from warptsp.methods.method import Method
from warptsp.problem import OpenPath
from warptsp.problem.itinerary import length_of
from warptsp.proof import proven_bound, read_proof
from warptsp.proof.linear_program import has_solver
from warptsp.solver import stages
from warptsp.stop.default import BEFORE_PROOF

FRESH = 300  # calls; .ci/claims makes as many as there is time for


# The oracle itself


def test_the_oracle_knows_ends_fixed_edges_and_missing_arcs():
    line = [[abs(i - j) for j in range(5)] for i in range(5)]
    assert exact.optimum(line)[0] == 8
    assert exact.optimum(line, open=True)[0] == 4
    assert exact.optimum(line, open=(2, None))[0] == 6
    assert exact.optimum(line, open=(1, 2))[0] == 7
    assert exact.optimum(line, fixed=[(0, 4), (1, 3)])[0] == 10
    assert exact.optimum(line, open=True, fixed=[(0, 4)])[0] == 7
    one_way = [[0, 0.1, None], [math.inf, 0, 0.2], [None, None, 0]]
    assert exact.optimum(one_way) is None
    assert exact.optimum(one_way, open=True) == (Fraction(0.1) + Fraction(0.2), [0, 1, 2])
    assert exact.optimum(one_way, open=True, fixed=[(2, 1)]) is None


# Claims of calls


def test_every_claim_about_hostile_numbers_holds():
    first = random.SystemRandom().randrange(1 << 48)
    print("seed", first)
    for seed in range(first, first + FRESH):
        given = claims.case(seed)
        print(seed, given)
        claims.check(given)


ZERO = [[0, 2.5, 0, 0], [2.5, 0, 0, 0], [0, 0, 0, 2.5], [0, 0, 2.5, 0]]


@pytest.mark.parametrize("limits", [{}, {"kicks": 20}, {"time_limit": 0.05}, {"method": "exact"}], ids=str)
@pytest.mark.parametrize("fields", [{}, {"open": OpenPath()}, {"open": OpenPath(0, 3)}], ids=str)
def test_a_tour_of_length_0_among_longer_edges(fields, limits):
    problem = Problem.from_matrix(ZERO, **fields)
    result = warptsp.solve(problem, **limits)
    assert (result.length, result.proved_optimal, result.lower_bound) == (0, True, 0)
    directed = Problem.from_matrix([[0, 1, 2.5], [0, 0, 0.5], [1.5, 0, 0]], asymmetric=True, open=OpenPath())
    assert warptsp.solve(directed, **limits).length == 0
    many = warptsp.solve_many([problem] * 3, **{name: limits[name] for name in limits if name != "method"})
    assert many.lengths.tolist() == [0, 0, 0]
    assert many.proved_optimal.all()


def test_the_only_path_through_missing_arcs():
    i = math.inf
    problem = Problem.from_matrix([[0, i, i], [0, 0, 0], [i, 0, 0]], asymmetric=True, open=OpenPath())
    result = warptsp.solve(problem)
    assert (result.tour.tolist(), result.length, result.proved_optimal) == ([2, 1, 0], 0, True)


@pytest.mark.parametrize("n", [1, 3, 13, 40])
@pytest.mark.parametrize("limits", [{}, {"kicks": 5}, {"method": "two-opt"}], ids=str)
def test_length_0_needs_no_proof(n, limits):
    for matrix in (np.zeros((n, n)), np.zeros((n, n), dtype=int)):
        result = warptsp.solve(matrix, **limits)
        assert (result.length, result.proved_optimal, result.lower_bound) == (0, True, 0)
    assert warptsp.solve_many([np.zeros((n, 2))] * 2, kicks=5).proved_optimal.all()


def test_nothing_is_proved_where_small_entries_vanish():
    matrix = np.full((15, 15), 1e-150)
    matrix[0, 1] = 1e160
    result = warptsp.solve(matrix, asymmetric=True, kicks=5)
    assert result.length == pytest.approx(15e-150, rel=1e-12)
    wide = np.random.default_rng(0).permutation(np.logspace(-278, 286, 225)).reshape(15, 15)
    for given, asymmetric in ((wide, True), (np.minimum(wide, wide.T), False)):
        frame = Frame.of(Problem.from_matrix(given, asymmetric=asymmetric))
        assert not frame.faithful
        result = warptsp.solve(given, asymmetric=asymmetric, kicks=5)
        assert not result.proved_optimal
        assert result.lower_bound is None or result.lower_bound <= result.length
    assert Frame.of(Problem.from_matrix(unit_points(9) @ unit_points(9).T + 1e200, asymmetric=True)).faithful


def test_integers_of_any_size_stay_integers():
    seed = random.SystemRandom().randrange(1 << 32)
    print("seed", seed)
    chance = np.random.default_rng(seed)
    for n in (7, 20):
        for base in (2**31, 10**12, 2**48, 2**53 - 100):
            matrix = base + chance.integers(0, 100, (n, n))
            for asymmetric in (False, True):
                given = matrix if asymmetric else np.maximum(matrix, matrix.T)
                np.fill_diagonal(given, 0)
                result = warptsp.solve(given, asymmetric=asymmetric, kicks=20)
                own = exact.length(given, result.tour)
                assert type(result.length) is int
                assert result.length == own == result.as_dict()["length"], (n, base)
                assert result.lower_bound is None or type(result.lower_bound) is int
                if n == 7:
                    assert own == exact.optimum(given)[0] == result.lower_bound


def test_integers_are_symmetric_only_if_they_are_equal():
    matrix = 10**13 + np.arange(9).reshape(3, 3)
    with pytest.raises(warptsp.InvalidProblem, match="not symmetric"):
        Problem.from_matrix(matrix)
    for given in (matrix, matrix.astype(float)):  # whole reals, too, were not rounded
        problem = Problem.from_matrix(given, asymmetric=True)
        assert problem.asymmetric
        np.testing.assert_array_equal(problem.matrix, given - np.diag(np.diag(given)))
    rounded = np.array([[0, 0.1 + 0.2, 1e-9], [0.3, 0, 1e-9], [1e-9, 1e-9 * (1 + 1e-15), 0]])
    assert not Problem.from_matrix(rounded).asymmetric
    rounded[2, 1] = 1e-9 * (1 + 1e-10)  # much of this pair, little of the longest
    with pytest.raises(warptsp.InvalidProblem, match="not symmetric"):
        Problem.from_matrix(rounded)


def test_long_integers_in_files(tmp_path):
    matrix = 2**53 - 1 - np.arange(25).reshape(5, 5)
    np.fill_diagonal(matrix, 0)
    problem = Problem.from_matrix(matrix, asymmetric=True)
    tour = np.array([0, 2, 4, 1, 3])
    for ending in ("atsp", "npy", "csv"):
        file = tmp_path / f"long.{ending}"
        write_problem(file, problem)
        again = warptsp.load(file, asymmetric=True)
        assert again.matrix.dtype == np.int64
        assert again.length(tour) == exact.length(matrix, tour) > 2**55
    warptsp.write_tour(tmp_path / "long.tour", tour, problem)
    assert f"of length {problem.length(tour)}\n" in (tmp_path / "long.tour").read_text()


def test_missing_arcs_among_long_integers():
    wall = 2**53
    matrix = np.full((6, 6), wall)
    for city in range(6):
        matrix[city, (city + 1) % 6] = 2**52 + city
    problem = Problem.from_matrix(matrix, asymmetric=True, wall=wall)
    assert problem.integral
    assert warptsp.solve(problem).length == 6 * 2**52 + 15
    longer = np.where(matrix < wall, 2**53 - 1 - matrix % 8, wall)
    long = Problem.from_matrix(longer, asymmetric=True, wall=wall)
    assert long.wall > wall  # which no entry that counts reaches
    for again in (long, replace(long, open=OpenPath(2, 1))):
        np.testing.assert_array_equal(again.matrix, long.matrix)
        assert warptsp.solve(again).proved_optimal


# The gate


@pytest.fixture
def told(caplog):
    caplog.set_level(logging.WARNING, logger="warptsp.claims")
    return lambda: [record.message for record in caplog.records if "claim was withdrawn" in record.message]


@pytest.fixture
def liar(monkeypatch):
    """A method that says that the tour in order is optimal."""

    def run(problem, run, params):
        run.offer(np.arange(problem.n, dtype=np.int32))
        run.report_optimal()

    monkeypatch.setitem(METHODS, "liar", Method(name="liar", summary="", run=run, asymmetric=True, ends=True))


@pytest.mark.parametrize("n", [5, 10])
@pytest.mark.parametrize("whole", [False, True])
def test_a_tour_that_is_not_optimal_is_not_said_to_be(liar, told, n, whole):
    points = np.random.default_rng(n).permutation(n)[:, None] * [100, 1]  # the tour in order is much longer
    problem = Problem.from_points(points, "EUC_2D" if whole else None)
    result = warptsp.solve(problem, method="liar", prove=False)
    assert not result.proved_optimal
    assert result.lower_bound is None or result.lower_bound < result.length
    assert result.known is None
    assert result.stop_reason == result.stages[0].stop_reason == "the search is complete"
    assert "proved" not in result.summary()
    assert result.tour.tolist() == list(range(n))  # a false claim does not cost the tour
    assert len(told()) == 1
    again = warptsp.solve(Problem.from_points(points[np.argsort(points[:, 0])]), method="liar", prove=False)
    assert again.proved_optimal


@pytest.mark.parametrize("n", [8, 30])
def test_a_running_search_tells_no_bound_above_its_tour(monkeypatch, told, n):
    problem = Problem.from_points(np.random.default_rng(n).integers(0, 99, (n, 2)), "EUC_2D")
    order, heard = np.arange(n, dtype=np.int32), []

    def run(problem, run, params):
        length = problem.length(order)
        run.offer(order)
        for bound in (1, length + 1):
            run.report_bound(bound)
            for _ in range(3):
                run.update(length=length, kicks=0, tour=lambda: order)

    monkeypatch.setitem(METHODS, "liar", Method(name="liar", summary="", run=run, ends=True))
    result = warptsp.solve(problem, method="liar", prove=False, bound=False, callback=heard.append)
    assert [progress.lower_bound for progress in heard] == [1, 1, 1, None, None, None]
    assert result.lower_bound is None
    assert len(told()) == 2  # once for the running search, and once for its result


def test_a_bound_that_a_tour_reaches_proves_it_whoever_made_it(monkeypatch):
    problem = Problem.from_points(np.random.default_rng(1).integers(0, 99, (20, 2)), "EUC_2D")
    optimum = warptsp.solve(problem, prove=False, bound=False)

    def run(problem, run, params):
        run.offer(optimum.tour)
        run.report_bound(optimum.length)

    monkeypatch.setitem(METHODS, "teller", Method(name="teller", summary="", run=run, ends=True))
    result = warptsp.solve(problem, method="teller", prove=False, bound=False)
    assert result.lower_bound == result.length
    assert result.proved_optimal
    assert "optimal, proved: no tour is shorter" in result.summary()


@pytest.mark.parametrize("whole", [False, True])
def test_a_callback_is_told_no_length_of_a_tour_through_missing_arcs(whole):
    """Such a tour has none: what a search counts for a missing arc is made up."""
    n, chance = 30, np.random.default_rng(2)
    matrix = chance.integers(1, 9, (n, n)).astype(object if whole else float)
    matrix[chance.random((n, n)) < 0.8] = np.inf
    matrix[np.arange(n), (np.arange(n) + 1) % n] = 9
    matrix = np.minimum(matrix, matrix.T)
    problem, heard = Problem.from_matrix(matrix), []

    def told(progress):
        heard.append((progress.length, progress.start_length))
        tour = progress.tour()
        assert math.isfinite(progress.length) == (not len(problem.missing_arcs(tour)))
        assert describe_gap(progress) is None  # under a start tour that is none
        assert describe_bound(progress) != "inf %"

    result = warptsp.solve(problem, start="random", kicks=100, threads=1, prove=False, callback=told)
    assert heard[0] == (math.inf, math.inf)
    assert heard[-1] == (result.length, math.inf)
    if not has_solver():
        return
    lengths = []
    proof = warptsp.prove(
        problem, chance.permutation(n), callback=lambda progress: lengths.append(progress.length)
    )
    assert lengths[0] == math.inf
    assert proof.length == result.length


@pytest.mark.parametrize(
    "fields", [{"open": OpenPath()}, {"open": OpenPath(0, 4)}, {"fixed_edges": [[0, 1]]}]
)
def test_constraints_are_those_of_the_problem(liar, told, fields):
    line = np.arange(5.0)[:, None] * [1, 0]
    assert warptsp.solve(Problem.from_points(line, **fields), method="liar").proved_optimal
    crossed = Problem.from_points(line[[0, 3, 1, 2, 4]], **fields)
    assert not warptsp.solve(crossed, method="liar").proved_optimal
    assert len(told()) == 1


def test_a_bound_above_every_tour_is_not_given(monkeypatch, told):
    problem = Problem.from_points(np.random.default_rng(0).integers(0, 99, (9, 2)), "EUC_2D")
    best = warptsp.solve(problem).length
    value_of = held_karp.value_of
    monkeypatch.setattr(held_karp, "value_of", lambda *arguments: value_of(*arguments) + best)
    bound = warptsp.lower_bound(problem)
    assert (bound.value, bound.certified) == (0, False)
    assert len(told()) == 1
    found = warptsp.solve(problem, method="two-opt", bound=5.0, prove=False)
    assert found.lower_bound is None
    assert not found.proved_optimal


def test_a_bound_of_a_long_tour_is_held_against_its_length(monkeypatch, told):
    problem = Problem.from_points(unit_points(60))
    tour = warptsp.solve(problem, kicks=20).tour
    value_of = held_karp.value_of
    monkeypatch.setattr(held_karp, "value_of", lambda *arguments: 1.5 * value_of(*arguments))
    assert not warptsp.lower_bound(problem, tour).certified
    assert len(told()) == 1
    # What is only rounded is no contradiction, and ends below the length.
    monkeypatch.setattr(held_karp, "value_of", lambda *arguments: problem.length(tour))
    assert warptsp.lower_bound(problem, tour).value == problem.length(tour) * (1 - 1e-12)


def test_that_there_is_no_tour_is_not_said_where_there_is_one(told):
    i = math.inf
    ring = [[0, 1, i, i, 2], [1, 0, 3, i, i], [i, 3, 0, 1, i], [i, i, 1, 0, 1], [2, i, i, 1, 0]]
    problem = Problem.from_matrix(ring)
    wrong = replace(warptsp.solve(problem), tour=np.array([0, 2, 1, 3, 4]), lower_bound=2 * problem.wall)
    with pytest.raises(NoTourFound) as caught:
        check_is_tour(problem, wrong)
    assert not caught.value.proved
    assert len(told()) == 1
    star = Problem.from_matrix([[0, 1, 1, 1], [1, 0, i, 1], [1, i, 0, i], [1, 1, i, 0]], open=OpenPath(0, 1))
    with pytest.raises(NoTourFound) as caught:
        warptsp.solve(star)
    assert caught.value.proved


def test_a_search_with_directions_reads_long_integers_as_they_are():
    n = 13  # more than are solved by dynamic programming
    matrix = np.full((n, n), 2**53 - 2)
    matrix[np.arange(n), (np.arange(n) + 1) % n] = 2**53 - 3  # which half a unit more would round up
    result = warptsp.solve(matrix, asymmetric=True, kicks=10)
    assert (result.length, result.proved_optimal) == (n * (2**53 - 3), True)


def test_an_optimum_of_0_is_not_rounded(tmp_path):
    pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")
    rows = "\n".join(",".join(map(str, row)) for row in ZERO)
    (tmp_path / "a.csv").write_text(rows + "\n")
    done = invoke("prove", tmp_path / "a.csv", "--metric", "EXPLICIT")
    assert "optimal, proved: no tour is shorter\n" in done.output


def test_a_signal_at_the_end_of_the_search_is_why_no_proof_follows(monkeypatch):
    pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")

    def late(run, method):
        signal.raise_signal(signal.SIGINT)
        return best_tour(run, method)

    best_tour = stages._best_tour
    monkeypatch.setattr(stages, "_best_tour", late)
    result = warptsp.solve(unit_points(200), prove=True, on_interrupt="return")
    assert result.stages[0].stop_reason == BEFORE_PROOF
    assert (result.stop_reason, result.interrupted, result.signal) == ("Ctrl-C", True, signal.SIGINT)
    assert "proof_nodes" not in result.counters


LARGE = (1 << 53, 1 << 63, 1 << 64, 10**30)


def large_integers(base: int, n: int, *, directed: bool = False, spread: int = 99) -> list[list[int]]:
    chance = random.Random(base % 1009 + n)
    rows = [[0 if i == j else base + chance.randint(0, spread) for j in range(n)] for i in range(n)]
    if not directed:
        rows = [[rows[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]
    return rows


@pytest.mark.parametrize("base", LARGE)
@pytest.mark.parametrize("n", [5, 13])
def test_large_integers_are_searched_in_all_their_digits(base, n):
    for directed in (False, True):
        rows = large_integers(base, n, directed=directed)
        best = exact.optimum(rows)[0]
        result = warptsp.solve(rows, asymmetric=directed, kicks=200, seed=1, threads=1)
        assert (result.length, result.length) == (exact.length(rows, result.tour), best)
        assert type(result.length) is int
        bound = result.lower_bound  # None where the search ended before there was one
        assert bound is None or (type(bound) is int and bound <= best)


def test_large_integers_that_differ_beyond_doubles():
    pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")
    # The rest of these has 100 bits: few cities are gone through, of more nothing false is proved.
    for n, directed in ((6, True), (8, False), (13, True), (14, False)):
        rows = large_integers(1 << 70, n, directed=directed, spread=10**30)
        result = warptsp.solve(rows, asymmetric=directed, kicks=200, threads=1)
        assert result.length == exact.length(rows, result.tour)
        if n > exact.MAX_CITIES:
            proof = warptsp.prove(rows, time_limit=5)
            assert proof.lower_bound <= proof.length == exact.length(rows, proof.tour)
            assert result.lower_bound is None or result.lower_bound <= min(proof.length, result.length)
            continue
        best = exact.optimum(rows)[0]
        assert result.lower_bound is None or result.lower_bound <= best
        assert best <= result.length
        assert result.proved_optimal == (n <= 8)
        assert n > 8 or result.length == best


@pytest.mark.parametrize("kind", ["walls", "above 2**53", "places"])
def test_a_callback_is_told_all_digits_of_long_integers(kind):
    chance = np.random.default_rng(3)
    if kind == "places":  # a random tour is longer than 2**53, and the best one is not
        problem = Problem.from_points(chance.integers(0, 8 * 10**13, (400, 2)), "EUC_2D")
    else:
        base, spread = (2**48, 99) if kind == "walls" else (0, 2**52)
        rows = base + chance.integers(0, spread, (40, 40))
        rows = np.maximum(rows, rows.T)
        wall = chance.random((40, 40)) < 0.5
        rows[wall | wall.T] = 2**60 if kind == "walls" else rows[0, 1]
        problem = Problem.from_matrix(rows, wall=2**60 if kind == "walls" else None)
    heard = []

    def told(progress):
        heard.append(progress.length)
        assert progress.length == length_of(problem, progress.tour())

    warptsp.solve(problem, start="random", kicks=2000, threads=1, device="cpu", callback=told)
    assert len(set(heard)) > 1


def test_large_integers_in_files(tmp_path):
    rows = large_integers(10**30, 6)
    best = exact.optimum(rows)[0]
    problem = Problem.from_matrix(rows, labels=list("abcdef"))
    arcs = [f"{a},{b},{rows[a][b]}\n" for a in range(6) for b in range(6) if a != b]
    (tmp_path / "arcs.csv").write_text("from,to,cost\n" + "".join(arcs))
    for name in ("a.tsp", "a.csv"):
        write_problem(tmp_path / name, problem)
    for name in ("a.tsp", "a.csv", "arcs.csv"):
        read = warptsp.load(tmp_path / name)
        assert read.matrix.tolist() == rows
        warptsp.solve(read).save(tmp_path / "a.tour")
        assert f"length {best}\n" in (tmp_path / "a.tour").read_text()
    said = json.loads(json.dumps(warptsp.solve(problem).as_dict()))
    assert said["length"] == said["lower_bound"] == sum(said["legs"]) == best
    write_problem(tmp_path / "a.npy", Problem.from_matrix(large_integers(1 << 60, 6)))
    assert warptsp.load(tmp_path / "a.npy").matrix.tolist() == large_integers(1 << 60, 6)
    with pytest.raises(InvalidOption, match=r"holds integers below 2\*\*63"):
        write_problem(tmp_path / "a.npy", problem)


def test_bounds_and_certificates_of_large_integers(tmp_path):
    pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")
    rows = large_integers(10**30, 11)
    best = exact.optimum(rows)[0]
    problem = Problem.from_matrix(rows)
    heard = []
    proof = warptsp.prove(
        problem, np.arange(11), certificate=tmp_path / "proof.json", callback=heard.append, threads=1
    )
    assert (proof.proved, proof.length, proof.lower_bound) == (True, best, best)
    assert all(progress.lower_bound <= best <= progress.length for progress in heard)
    assert proven_bound(problem, read_proof(tmp_path / "proof.json", problem)) == best
    bound = warptsp.lower_bound(problem)
    write_certificate(tmp_path / "bound.json", problem, bound)
    assert 11 * 10**30 < bound.value <= best
    assert proven_value(problem, read_certificate(tmp_path / "bound.json", problem)) >= bound.value
    # Of another instance it proves nothing.
    longer = Problem.from_matrix([[d + (d > 0) for d in row] for row in rows])
    assert proven_bound(longer, read_proof(tmp_path / "proof.json", longer)) in (None, best + 11)


def test_a_bound_of_large_integers_is_not_that_of_a_start_tour():
    unit, n, chance = 10**12, 13, random.Random(197)
    for _ in range(15):
        # The digits below a unit do not fit beside the longest edge, and are rounded away.
        rows = [[0] * n for _ in range(n)]
        for i in range(n):
            for j in range(i):
                rest = chance.choice([0, unit - 1, unit - 1])
                rows[i][j] = rows[j][i] = chance.choice([1, 2]) * unit + rest
        rows[0][1] = rows[1][0] = unit << 44
        rows[0][2] = rows[2][0] = 0
        best, start = exact.optimum(rows)
        begin = chance.randrange(n - 3)
        start[begin : begin + 4] = start[begin : begin + 4][::-1]
        result = warptsp.solve(rows, start=start, threads=1, bound=False, prove=False)
        assert result.lower_bound is not None
        assert result.lower_bound <= best, rows
        assert not result.proved_optimal or result.length == best


@pytest.mark.parametrize("n", [3, 8])
def test_a_certificate_of_large_integers_proves_what_is_claimed(tmp_path, n):
    pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")
    rows = large_integers(1 << 70, n, spread=10**30)
    problem, file = Problem.from_matrix(rows), tmp_path / "proof.json"
    assert not problem.reduced.exact
    proof = warptsp.prove(problem, threads=1, certificate=file)
    assert proof.certified
    assert proven_bound(problem, read_proof(file, problem)) == proof.lower_bound <= exact.optimum(rows)[0]


def test_a_certificate_of_two_or_three_cities_claims_no_digit_that_is_rounded(tmp_path):
    pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")
    for n in (1, 2, 3):
        problem = Problem.from_points(unit_points(n, 1) + 0.1)
        proof = warptsp.prove(problem, certificate=tmp_path / "proof.json")
        bound = warptsp.lower_bound(problem)
        write_certificate(tmp_path / "bound.json", problem, bound)
        assert proven_bound(problem, read_proof(tmp_path / "proof.json", problem)) == proof.lower_bound
        proven = proven_value(problem, read_certificate(tmp_path / "bound.json", problem))
        assert bound.value <= proven <= proof.length * (1 - 1e-12)


def test_large_integers_beside_infinity_keep_their_digits():
    i, large = math.inf, 2**60 + 1
    result = warptsp.solve([[0, large, i], [i, 0, large], [large, i, 0]], asymmetric=True)
    assert (result.length, result.proved_optimal) == (3 * large, True)
    with pytest.raises(NoTourFound) as caught:
        warptsp.solve([[0, large, i, i], [large, 0, large, large], [i, large, 0, i], [i, large, i, 0]])
    assert caught.value.proved


def test_a_first_tour_too_long_for_whole_numbers_proves_nothing():
    # The first tour has several walls, and with one of them fewer whole numbers tell tours apart again.
    first = random.SystemRandom().randrange(1 << 32)
    print("seed", first)
    chance = random.Random(first)
    for _ in range(40):
        n = 7
        wall = 7 * 10**12 + 64
        rows = np.zeros((n, n), dtype=np.int64)
        for i in range(n):
            for j in range(i):
                there = chance.random() < 0.45
                rows[i, j] = rows[j, i] = 10**12 + chance.randint(-9, 9) if there else wall
        result = warptsp.solve(rows)
        assert (result.length, result.proved_optimal) == (exact.optimum(rows)[0], True), rows.tolist()
