"""Proofs of optimality: the optimum of enumeration, never a tour that is too long, and bounds that hold."""

import signal
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
from few_cuts import leave_out_sweeps
from instances import problem_of, whole_points

import warptsp
from warptsp import OpenPath, Problem, _native
from warptsp.claims import bound_of_optimal
from warptsp.construct import construct
from warptsp.errors import (
    BackendUnavailable,
    InvalidTour,
    NoTourFound,
    UnsupportedProblem,
    WarpTSPError,
)
from warptsp.few import FewCities
from warptsp.io import read_tour
from warptsp.proof.closed_instance import TOLERANCE, ClosedInstance
from warptsp.proof.evidence import Node

pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")
from warptsp.proof import branch_and_cut, node_solver, proven_bound, proving, read_proof
from warptsp.proof.linear_program import LinearProgram
from warptsp.solver.proving import prove

LARGEST_TSPLIB = 200


def random_instance(seed: int) -> Problem:
    """Up to 12 cities: ties, duplicates, collinear points, matrices, real lengths, paths, fixed edges."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(1, 13))
    fields = {}
    paths = [None, None, None, OpenPath(), OpenPath(start=0), OpenPath(end=n - 1), OpenPath(0, n - 1)]
    path = paths[draw.integers(len(paths))]
    if path is not None and n > 2:
        fields["open"] = path
    if n > 6 and draw.random() < 0.3:
        fields["fixed_edges"] = np.array([[1, 3], [3, 4]] if draw.random() < 0.5 else [[2, 5]])
    kind = seed % 6
    if kind == 0:
        return Problem.from_points(draw.integers(0, 100, (n, 2)), "EUC_2D", **fields)
    if kind == 1:
        return Problem.from_points(draw.integers(0, 5, (n, 2)), "EUC_2D", **fields)
    if kind == 2:
        return Problem.from_points(np.stack([draw.integers(0, 20, n), np.zeros(n)], 1), "EUC_2D", **fields)
    if kind == 3:
        half = np.triu(draw.integers(0, [2, 10, 1000][draw.integers(3)], (n, n)), 1)
        return Problem.from_matrix(half + half.T, **fields)
    if kind == 4:
        return Problem.from_points(draw.random((n, 2)) * 10.0 ** draw.integers(-5, 6), **fields)
    return Problem.from_points(np.round(draw.random((n, 2)), 1), **fields)


def assert_proved(seed: int) -> None:
    problem = random_instance(seed)
    best = problem.length(FewCities.of(problem).optimal_tour())
    proof = prove(problem, construct(problem, "random", seed=seed), seed=seed)
    problem.check_tour(proof.tour)
    assert proof.proved, f"seed {seed}"
    assert proof.length == problem.length(proof.tour)
    if problem.integral:
        assert proof.length == proof.lower_bound == best, f"seed {seed}"
    else:
        assert best <= proof.length, f"seed {seed}"
        assert proof.length * (1 - TOLERANCE) <= proof.lower_bound <= best, f"seed {seed}"


@pytest.mark.parametrize("first", range(0, 120, 30))
def test_the_optimum_of_enumeration_from_any_tour(first):
    for seed in range(first, first + 30):
        assert_proved(seed)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_units_of_a_much_longer_tour_are_too_coarse_for_a_proof(scale, tmp_path):
    """Rounding takes up to a unit from each edge: certificates did not pass, and tours were not excluded."""
    for seed in range(6):
        half = np.triu(np.random.default_rng(seed).random((50, 50)) * scale, 1)
        problem = Problem.from_matrix(half + half.T)
        file = tmp_path / "proof.json"
        proof = prove(problem, construct(problem, "random", seed=seed), certificate=file)
        assert proof.proved
        assert proof.length * (1 - TOLERANCE) <= proof.lower_bound <= proof.length
        assert proven_bound(problem, read_proof(file, problem)) is not None, f"seed {seed}"


def test_a_bound_that_was_told_does_not_fall(tmp_path):
    """The search of a tour of reals knows a bound that is finer than what a proof excludes."""
    file = tmp_path / "checkpoint.json"
    for seed in range(6):
        told = []
        problem = Problem.from_points(np.random.default_rng(seed).random((12, 2)))
        told.append(prove(problem, callback=lambda now: True, checkpoint=file).lower_bound)
        told.append(prove(problem, resume=file).lower_bound)
        assert told == sorted(told), f"seed {seed}"
        told.clear()
        proof = prove(problem, callback=lambda now, told=told: told.append(now.lower_bound))
        assert [*told, proof.lower_bound] == sorted([*told, proof.lower_bound]), f"seed {seed}"


@pytest.mark.parametrize("name", ["manhattan", "chebyshev"])
def test_norms_of_decimals_are_proved_as_those_of_whole_numbers_are(name):
    for seed in range(3):
        whole = np.random.default_rng(seed).integers(0, 100_000, (40, 2 + seed % 2))
        expected = prove(Problem.from_points(whole, name))
        proof = prove(Problem.from_points(whole / 1000, name))
        assert (expected.proved, proof.proved) == (True, True), f"seed {seed}"
        assert proof.length == pytest.approx(expected.length / 1000, rel=2 * TOLERANCE)
        assert proof.length * (1 - TOLERANCE) <= proof.lower_bound <= proof.length


def test_many_pairs_of_equal_lengths(few_cuts):
    """Rounding adds up over them, and kept proofs from their end."""
    for seed in range(60):
        points = np.random.default_rng(seed).integers(0, 4, (27, 2)).astype(float)
        assert prove(Problem.from_points(points), seed=seed).proved, f"seed {seed}"


def test_the_bound_of_a_tree_is_no_more_than_what_its_nodes_exclude(few_cuts):
    proof = prove(Problem.from_points(np.random.default_rng(3).random((60, 2))))
    assert proof.proved
    assert proof.nodes > 0
    assert proof.length * (1 - TOLERANCE) <= proof.lower_bound <= proof.length * (1 - 0.4 * TOLERANCE)


def test_the_bound_of_a_tree_that_is_stopped_is_no_more_than_that_either():
    """Nodes that are left may promise more than those that are done."""
    problem = Problem.from_points(np.random.default_rng(3).random((20, 2)))
    tour = construct(problem)
    instance = ClosedInstance.of(problem, problem.length(tour))
    state = branch_and_cut.BranchAndCut(
        instance, instance.close(tour), proving.ProofOptions(), _native.StopToken()
    )
    state.nodes = 1
    state._open = [Node((), replace(state._root.evidence, bound=state.length))]
    assert state.bound == state.least_allowed < state.length


@pytest.mark.parametrize(("exponent", "fewer"), [(25, 3), (26, 6)])
def test_no_tour_is_shorter_by_more_than_the_tolerance(exponent, fewer):
    """Rounding takes nearly a unit from each edge of a ring, and none from those of another one."""
    n, unit = 13, 2.0**-exponent
    ring = np.arange(n)
    matrix = np.full((n, n), 5.0)
    matrix[ring, (ring + 1) % n] = 1.0 + 0.999 * unit
    matrix[ring, (ring + 5) % n] = 1.0 - fewer * unit
    problem = Problem.from_matrix(np.minimum(matrix, matrix.T))
    proof = prove(problem, ring)
    assert proof.proved
    assert proof.length * (1 - TOLERANCE) <= problem.length(ring * 5 % n)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 2000, 100))
def test_the_optimum_of_enumeration_a_thousand_times(first):
    for seed in range(first, first + 100):
        assert_proved(seed)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["EUC_2D", "no triangles"])
def test_what_needs_cuts_and_branches(seed, kind):
    """A matrix without order needs more branches; every one of them must be there."""
    problem = problem_of(kind, 60 if kind == "EUC_2D" else 40, seed)
    first = prove(problem, construct(problem, "random", seed=seed), seed=seed)
    second = prove(problem, seed=seed + 1)
    assert first.proved
    assert second.proved
    assert first.length == second.length == first.lower_bound
    assert first.root_bound <= first.length
    assert warptsp.lower_bound(problem, first.tour).value <= first.length


def test_the_same_twice():
    problem = Problem.from_points(whole_points(90, 7), "EUC_2D")
    tour = construct(problem)
    first, second = prove(problem, tour), prove(problem, tour)
    assert (first.cuts, first.nodes) == (second.cuts, second.nodes)
    assert np.array_equal(first.tour, second.tour)


def test_the_root_is_the_same_with_any_number_of_threads(monkeypatch):
    """Cuts, their order and prices."""
    leave_out_sweeps(monkeypatch)
    problem = Problem.from_points(whole_points(110, 11), "EUC_2D")
    tour = construct(problem)
    seen = []
    for threads in (1, 2, 5):
        rounds = []
        proof = prove(
            problem,
            tour,
            threads=threads,
            tree=False,
            callback=lambda progress, rounds=rounds: rounds.append((progress.lower_bound, progress.cuts)),
        )
        assert proof.cuts["local"] > 0
        seen.append((proof.cuts, proof.lower_bound, rounds))
    assert seen[0] == seen[1] == seen[2]


def test_without_a_tree(monkeypatch):
    """The bound of the root, which is a proof only where no branch is needed."""
    leave_out_sweeps(monkeypatch)
    for seed in (1, 2):
        problem = Problem.from_points(np.random.default_rng(seed).integers(0, 10_000, (80, 2)), "EUC_2D")
        proof, root = prove(problem), prove(problem, tree=False)
        assert root.nodes == 0
        assert root.lower_bound == root.root_bound == proof.root_bound <= proof.length <= root.length
        assert root.proved == (root.lower_bound == root.length) == (proof.nodes == 0) == (seed == 2)


def test_small_instances_of_tsplib(shared_data):
    for name in ("burma14", "gr17", "ulysses22", "bayg29", "dantzig42", "att48", "berlin52", "kroA100"):
        problem = warptsp.load(shared_data / "tsplib" / f"{name}.tsp")
        proof = prove(problem, construct(problem))
        assert proof.proved, name
        assert proof.length == problem.known_length.length, name


@pytest.mark.slow
def test_instances_of_tsplib(shared_data):
    seen = 0
    for file in sorted((shared_data / "tsplib").glob("*.tsp")):
        problem = warptsp.load(file)
        if problem.n > LARGEST_TSPLIB or problem.known_length is None:
            continue
        proof = prove(problem)
        assert proof.proved, problem.name
        assert proof.length == proof.lower_bound == problem.known_length.length, problem.name
        seen += 1
    assert seen > 30


# Stopping


def test_no_time():
    problem = Problem.from_points(whole_points(200, 1), "EUC_2D")
    for tour in construct(problem), None:
        proof = prove(problem, tour, time_limit=0)
        problem.check_tour(proof.tour)
        assert not proof.proved
        assert 0 <= proof.lower_bound <= proof.length == problem.length(proof.tour if tour is None else tour)


@pytest.mark.parametrize("rounds", [1, 2, 5, 10, 20, 40])
def test_stopped_at_any_round_the_bound_holds(rounds):
    problem = Problem.from_points(np.random.default_rng(2).integers(0, 1000, (100, 2)), "EUC_2D")
    best = prove(problem)
    tour = construct(problem)
    seen = []
    proof = prove(problem, tour, callback=lambda progress: seen.append(progress) or len(seen) >= rounds)
    assert proof.lower_bound <= best.length <= proof.length
    assert all(progress.lower_bound <= best.length <= progress.length for progress in seen)
    assert proof.proved == (proof.lower_bound == proof.length)


@pytest.mark.parametrize("seed", range(8))
def test_a_signal_at_a_random_moment_keeps_tour_and_bound(seed, tmp_path):
    """Ctrl-C in some round, of `prove` and of a search that is followed by a proof, with its checkpoint."""
    draw = np.random.default_rng(seed)
    problem = Problem.from_points(draw.integers(0, 1000, (80, 2)), "EUC_2D")
    best = prove(problem).length
    left = int(draw.integers(0, 12))

    def interrupt(progress):
        nonlocal left
        left -= getattr(progress, "phase", "proof") == "proof"
        if left < 0:
            signal.raise_signal(signal.SIGINT)

    proof = prove(problem, construct(problem), callback=interrupt, on_interrupt="return")
    problem.check_tour(proof.tour)
    assert proof.lower_bound <= best <= proof.length == problem.length(proof.tour), f"seed {seed}"
    assert proof.interrupted or proof.proved, f"seed {seed}"

    left, file = 0, tmp_path / "best.npy"
    result = warptsp.solve(
        problem,
        prove=True,
        start="random",
        method="two-opt",
        checkpoint=file,
        callback=interrupt,
        on_interrupt="return",
    )
    assert result.lower_bound <= best <= result.length == problem.length(result.tour), f"seed {seed}"
    assert result.interrupted or result.proved_optimal, f"seed {seed}"
    assert problem.length(read_tour(file, problem)) == result.length, f"seed {seed}"


def test_stopped_within_a_linear_programme(monkeypatch):
    """The prices that it has by then count."""
    problem = Problem.from_points(np.random.default_rng(6).integers(0, 10_000, (200, 2)), "EUC_2D")
    tour = warptsp.prove(problem, tree=False).tour
    token, solve, seen = _native.StopToken(), LinearProgram.solve, []

    def broken_off(programme):
        seen.append(programme.outcome)
        if len(seen) < 3:
            return solve(programme)
        programme.most_steps = 2
        outcome = solve(programme)
        token.request()
        return outcome

    monkeypatch.setattr(LinearProgram, "solve", broken_off)
    bounds = []
    proof = prove(problem, tour, token=token, callback=lambda now: bounds.append(now.lower_bound) and None)
    assert len(seen) == 3
    assert max(bounds) < proof.lower_bound < proof.length
    assert proof.lower_bound > 0.95 * proof.length


def test_stopped_from_another_thread():
    problem = Problem.from_points(whole_points(150, 3), "EUC_2D")
    best = prove(problem).length
    draw = np.random.default_rng(4)
    for _ in range(6):
        token = _native.StopToken()
        timer = threading.Timer(draw.uniform(0, 0.3), token.request)
        timer.start()
        proof = prove(problem, construct(problem), token=token)
        timer.join()
        assert proof.lower_bound <= best <= proof.length


def test_a_token_of_users_ends_a_proof_and_its_search():
    problem, token = Problem.from_points(whole_points(150, 3), "EUC_2D"), warptsp.StopToken()
    assert prove(whole_points(30), token=token).proved
    proof = prove(problem, callback=lambda progress: token.request(), token=token)
    assert not proof.proved
    assert proof.length == problem.length(proof.tour)
    # It has been requested by now: neither a search nor a proof begins.
    assert not prove(problem, token=token).proved
    assert not token._searches


@pytest.mark.parametrize(
    ("answer", "ends"), [(True, True), (np.bool_(True), True), (np.bool_(False), False), (1, False)]
)
def test_what_a_callback_answers(answer, ends):
    problem = Problem.from_points(whole_points(150, 3), "EUC_2D")
    proof = prove(problem, callback=lambda progress: answer)
    assert proof.proved is not ends
    if ends:  # the search has left a bound, which is better than none
        assert 0.95 * proof.length < proof.lower_bound < proof.length


@pytest.mark.parametrize("path", [OpenPath(0, 1), OpenPath(1, 0), OpenPath(0), OpenPath(None, 0), OpenPath()])
def test_a_path_of_two_cities(path, tmp_path):
    problem = Problem.from_points([[0, 0], [3, 4]], open=path)
    file = tmp_path / "path.json"
    proof = prove(problem, certificate=file)
    assert proof.proved
    assert (proof.length, proof.lower_bound, proof.bound_gap) == (5, bound_of_optimal(5.0), 0)
    assert proven_bound(problem, read_proof(file, problem)) == proof.lower_bound
    assert warptsp.solve(problem, method="construct", prove=True).proved_optimal


def test_a_callback_that_fails():
    problem = Problem.from_points(np.random.default_rng(5).random((30, 2)))
    with pytest.raises(ZeroDivisionError):
        prove(problem, callback=lambda progress: 1 / 0)


# Missing arcs


def without_a_tour(n: int) -> np.ndarray:
    """Three cities in a row, or five: triangles with a city in common, which a tour would come to twice."""
    matrix = np.full((n, n), np.inf)
    np.fill_diagonal(matrix, 0)
    for one, two in [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4)] if n == 5 else [(0, 1), (1, 2)]:
        matrix[one, two] = matrix[two, one] = 1
    return matrix


@pytest.mark.parametrize("n", [3, 5])
@pytest.mark.parametrize("integral", [False, True])
def test_that_there_is_no_tour_is_proved_of_a_given_one_too(n, integral, tmp_path):
    matrix = without_a_tour(n)
    if integral:
        matrix = np.where(np.isinf(matrix), 99, matrix).astype(int)
    problem = Problem.from_matrix(matrix, wall=99 if integral else None)
    for tour in (None, np.arange(n)):
        with pytest.raises(NoTourFound, match="which is proved") as caught:
            prove(problem, tour, threads=1)
        assert caught.value.proved
    assert not caught.value.result.proved  # of a tour that there is not, nothing is


def test_a_tour_through_missing_arcs_that_nothing_was_proved_of():
    problem = Problem.from_matrix(without_a_tour(5))
    with pytest.raises(NoTourFound, match="though there may be one") as caught:
        prove(problem, np.arange(5), time_limit=0)
    assert not caught.value.proved


def test_a_tour_through_missing_arcs_gives_way_to_one_without():
    matrix = without_a_tour(5)
    matrix[1, 3] = matrix[3, 1] = 7
    proof = prove(matrix, np.arange(5))
    assert proof.proved
    assert proof.length == 11


# What it refuses


def test_without_highs(monkeypatch):
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(BackendUnavailable, match=r"pip install 'warptsp\[prove\]'"):
        prove([[0, 0], [1, 0], [0, 1], [1, 1]])


def test_instances_and_tours_that_are_refused(monkeypatch):
    points = np.random.default_rng(1).random((5, 2))
    with pytest.raises(UnsupportedProblem, match="asymmetric"):
        prove(Problem.from_matrix([[0, 1, 2], [3, 0, 4], [5, 6, 0]], asymmetric=True))
    with pytest.raises(InvalidTour):
        prove(points, [0, 1, 2, 3, 3])
    monkeypatch.setattr(proving, "MAX_CITIES", 4)
    with pytest.raises(UnsupportedProblem, match="5 cities"):
        prove(points)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"certificate": 5}, "certificate: 5 is not the name of a file"),
        ({"checkpoint": 5}, "checkpoint: 5 is not the name of a file"),
        ({"resume": 5}, "resume: 5 is not the name of a file"),
        ({"certificate": "there/is/no/such.json"}, "there is no directory .*there/is/no; create it first"),
        ({"certificate": "a", "checkpoint": "a"}, "checkpoint .a.: this file is taken by certificate"),
        ({"callback": 5}, "callback: 5 is not callable"),
        ({"token": 5}, "token: 5 is not a StopToken"),
        ({"token": warptsp.MaxRuntime(3)}, r"token: MaxRuntime\(seconds=3\.0\) is not a StopToken"),
        ({"seed": -1}, r"seed: -1 is not a whole number from 0 to 2\*\*64 - 1"),
        ({"seed": 0.5}, "seed"),
        ({"time_limit": -1}, "time limit"),
        ({"threads": 0}, "threads"),
    ],
)
def test_what_is_wrong_is_said_before_any_work(options, message, monkeypatch):
    monkeypatch.setattr("warptsp.solver.solve", None)
    with pytest.raises(WarpTSPError, match=message):
        prove([[0, 0], [1, 0], [0, 1], [1, 1]], **options)


def efforts_of_a_root(monkeypatch, name, worth) -> set[node_solver.Effort]:
    """Those of a proof with one round for each, where gaps are worth so much."""
    leave_out_sweeps(monkeypatch)
    monkeypatch.setattr(branch_and_cut, name, worth)
    monkeypatch.setattr(node_solver, "_ROUNDS", dict.fromkeys(node_solver.Effort, 1))
    efforts, cut = set(), node_solver.NodeSolver.cut_at_root

    def noted(solver, effort):
        efforts.add(effort)
        return cut(solver, effort)

    monkeypatch.setattr(node_solver.NodeSolver, "cut_at_root", noted)
    problem = Problem.from_points(np.random.default_rng(1).integers(0, 1000, (100, 2)), "EUC_2D")
    assert warptsp.prove(problem).proved
    assert node_solver.Effort.LOCAL in efforts
    return efforts


@pytest.mark.parametrize(
    ("worth", "sought"), [((0.0, np.inf), True), ((np.inf, np.inf), False), ((0.0, 0.0), False)]
)
def test_dominoes_are_sought_where_the_gap_is_worth_them(monkeypatch, worth, sought):
    efforts = efforts_of_a_root(monkeypatch, "WORTH_DOMINOES", worth)
    assert (node_solver.Effort.DOMINOES in efforts) == sought


@pytest.mark.parametrize(
    ("worth", "sought"), [((0.0, np.inf), True), ((np.inf, 0.0), True), ((np.inf, np.inf), False)]
)
def test_large_pieces_are_sought_where_the_gap_is_worth_them(monkeypatch, worth, sought):
    efforts = efforts_of_a_root(monkeypatch, "WORTH_WIDE", worth)
    assert (node_solver.Effort.WIDE in efforts) == sought


def test_no_certificate_is_written_of_a_claim_that_was_withdrawn(monkeypatch, tmp_path):
    problem, file = Problem.from_points(whole_points(30, 1), "EUC_2D"), tmp_path / "proof.json"
    assert warptsp.prove(problem, certificate=file).certified
    file.unlink()
    monkeypatch.setattr(proving, "confirmed_bound", lambda *_: None)
    proof = warptsp.prove(problem, certificate=file)
    assert (proof.proved, proof.certified, proof.lower_bound) == (False, False, 0)
    assert not file.exists()
