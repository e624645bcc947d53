"""Proofs of long lengths and of few arcs: exact ones, and certificates that are verified."""

from itertools import permutations

import numpy as np
import pytest
from few_cuts import leave_out_sweeps
from instances import shortest, unit_points

import warptsp
from warptsp import OpenPath, Problem
from warptsp.construct import construct
from warptsp.errors import NoTourFound

pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")
from warptsp._native import Effort, StopToken
from warptsp.proof import branching, check, closed_instance, node_program, proven_bound, read_proof
from warptsp.proof.closed_instance import ClosedInstance, exponent_for, is_optimal
from warptsp.proof.evidence import Evidence
from warptsp.proof.linear_program import LinearProgram
from warptsp.proof.node_solver import NodeSolver
from warptsp.solver.proving import prove

inf = np.inf


@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D", "MAN_2D", "MAX_2D", "ATT"])
@pytest.mark.parametrize("bits", [31, 32, 33, 40, 45])
def test_long_integers(metric, bits, tmp_path):
    """From 2**32 on units are coarser than 2**-16, and still no length is rounded."""
    path = [None, OpenPath(), OpenPath(0, 1)][bits % 3]
    problem = Problem.from_points(unit_points(8, bits) * 2.0**bits, metric, open=path)
    file = tmp_path / "proof.json"
    proof = prove(problem, construct(problem, "random"), certificate=file)
    assert proof.proved
    assert proof.length == proof.lower_bound == shortest(problem)
    assert proven_bound(problem, read_proof(file, problem)) == proof.length


@pytest.mark.parametrize("seed", [94, 249, 257, 338, 654, 719])
def test_long_costs_do_not_lead_the_solver_astray(seed):
    """With costs of 31 bits HiGHS ends these with the status 'Unknown'."""
    points = np.random.default_rng(seed).integers(0, 20, (19 + seed % 20, 2))
    proof = prove(Problem.from_points(points * 2.0**30, "MAX_2D"), threads=1)
    assert proof.skipped is None
    assert proof.lower_bound >= proof.length * (1 - 1e-12)
    small = prove(Problem.from_points(points, "MAX_2D"), threads=1)
    assert proof.length == small.length << 30


@pytest.mark.parametrize("asked", [{"prove": True}, {"bound": "lp"}, {"prove": "auto"}])
def test_a_search_in_long_integers_is_followed_by_a_proof(asked):
    problem = Problem.from_points(unit_points(40, 3) * 1e10, "EUC_2D")
    result = warptsp.solve(problem, kicks=None if "prove" in asked else 40, time_limit=1, **asked)
    assert "no proof" not in result.stop_reason
    assert result.lower_bound <= result.length
    assert result.lower_bound > 0.9 * result.length


@pytest.mark.parametrize("exponent", [16, 3, 0, -1, -5, -30])
def test_coarse_units_prove_no_more_than_there_is(exponent):
    """Of integers that are longer than units can count, a bound is rounded down, and no proof of all."""
    problem = Problem.from_points(unit_points(9, 1) * 1e6, "EUC_2D")
    best = shortest(problem)
    instance = ClosedInstance.of(problem, best, exponent)
    tours = [np.random.default_rng(seed).permutation(9).astype(np.int32) for seed in range(20)]
    for tour in tours:
        assert instance.value(instance.units(tour)) <= problem.length(tour)
    if exponent >= 0:
        assert all(instance.value(instance.units(tour)) == problem.length(tour) for tour in tours)
        assert instance.value(instance.step(instance.units(tours[0]))) == 1
    least = min(instance.value(instance.units(tour)) for tour in tours)
    assert is_optimal(problem, least, least)


def test_sums_of_long_lengths_are_exact():
    """Tours of many long edges have fewer bits for fractions, so that prices add up in 64 bits."""
    few, many = (
        Problem.from_points(np.random.default_rng(1).random((n, 2)) * 2**31, "EUC_2D") for n in (10, 1000)
    )
    length = [problem.length(np.arange(problem.n)) for problem in (few, many)]
    assert exponent_for(few, length[0]) == 16
    assert exponent_for(many, length[1]) < 16
    assert length[1] << exponent_for(many, length[1]) < 2**55


@pytest.mark.parametrize("kind", [np.int64, float])
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_edges_that_no_tour_needs_may_be_of_any_length(kind, share, tmp_path):
    """Units suit the tour: they would be coarse, or sums too large, if they suited such edges."""
    draw = np.random.default_rng(int(10 * share))
    matrix = draw.random((40, 40)) * 1000 if kind is float else draw.integers(0, 1000, (40, 40))
    matrix = np.triu(matrix, 1).astype(kind)
    far = draw.random((40, 40)) < share
    far[np.arange(39), np.arange(1, 40)] = far[0, 39] = False
    proofs = []
    for wall in (100_000, 10**15):
        given = np.triu(np.where(far, kind(wall), matrix), 1)
        problem = Problem.from_matrix(given + given.T)
        proofs.append(prove(problem, construct(problem), threads=1, certificate=tmp_path / "proof.json"))
        assert proofs[-1].proved
        assert proven_bound(problem, read_proof(tmp_path / "proof.json", problem)) is not None
    assert proofs[0].length == pytest.approx(proofs[1].length, rel=2e-7)
    assert proofs[1].lower_bound == pytest.approx(proofs[1].length, rel=2e-7)


# Few arcs


def with_few_arcs(n, seed, *, real):
    """A cycle through all cities and 0.7 n other edges."""
    draw = np.random.default_rng((n, seed))
    cycle = draw.permutation(n)
    ends = [*zip(cycle, np.roll(cycle, 1), strict=True), *draw.integers(0, n, (int(0.7 * n), 2))]
    matrix = np.full((n, n), inf)
    for a, b in ends:
        matrix[a, b] = matrix[b, a] = draw.random() * 100 if real else draw.integers(1, 100)
    np.fill_diagonal(matrix, 0)
    return matrix


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("n", [14, 18, 24, 30])
def test_few_arcs(n, real):
    """The search of a proof ends at tours with missing arcs; the proof goes on from there."""
    for seed in range(5):
        print(f"n {n}, real {real}, seed {seed}")
        problem = Problem.from_matrix(with_few_arcs(n, seed, real=real))
        proof = prove(problem, threads=1)
        assert proof.proved
        assert len(problem.missing_arcs(proof.tour)) == 0
        if seed < 2:
            for asked in ({"prove": True}, {"bound": "lp"}):
                result = warptsp.solve(problem, threads=1, **asked)
                assert result.length == pytest.approx(proof.length, rel=1e-7)
                assert all(point.length < problem.wall for point in result.history)


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("n", [6, 7, 10])
def test_that_a_bipartite_graph_has_no_cycle_is_proved(n, real):
    matrix = np.full((2 * n + 1, 2 * n + 1), inf)
    matrix[:n, n:] = np.random.default_rng(n).random((n, n + 1)) * 9 if real else 1
    matrix[n:, :n] = matrix[:n, n:].T
    np.fill_diagonal(matrix, 0)
    for call in (
        lambda: prove(matrix),
        lambda: warptsp.solve(matrix, prove=True),
        lambda: warptsp.solve(matrix, bound="lp"),
    ):
        with pytest.raises(NoTourFound, match="which is proved") as raised:
            call()
        assert raised.value.proved
        assert raised.value.result is not None


# Ties


def test_equal_lengths_do_not_hold_up_the_simplex_method(monkeypatch):
    """Holes of a square grid of which some are missing: six times the steps where costs are not perturbed."""
    grid = np.stack(np.meshgrid(np.arange(22), np.arange(22)), axis=-1).reshape(-1, 2)
    holes = 100.0 * grid[np.random.default_rng(5).permutation(484)[:440]]
    problem = Problem.from_points(holes, "EUC_2D")
    programs = []

    class Watched(LinearProgram):
        def __init__(self, *given):
            super().__init__(*given)
            programs.append(self)

    monkeypatch.setattr(node_program, "LinearProgram", Watched)
    tour = warptsp.solve(problem, threads=1, kicks=20_000, prove=False).tour
    assert prove(problem, tour, threads=1).proved
    assert programs[0].iterations < 12_000


def test_a_dive_finds_the_tour_that_the_bound_of_a_grid_allows():
    """Where nothing but ties is left, edges can be fixed for nothing; a tree would go on for hours."""
    grid = np.stack(np.meshgrid(np.arange(22), np.arange(22)), axis=-1).reshape(-1, 2)
    holes = 100.0 * grid[np.random.default_rng(5).permutation(484)[:440]]
    problem = Problem.from_points(holes, "EUC_2D")
    instance = ClosedInstance.of(problem, problem.length(construct(problem)))
    node = NodeSolver(instance, instance.close(construct(problem)), seed=0, token=StopToken())
    for effort in (Effort.SUBTOURS, Effort.BLOSSOMS, Effort.TIGHTENING):
        node.cut_at_root(effort)
    node.price_to_the_end()
    root = node.evidence
    assert instance.value(root.bound) < 0.99 * instance.value(node.length)
    before = node.program.solve(), node.program.objective, node.length
    found = node.fork(1).dive(lambda: None)
    assert instance.value(root.bound) == instance.value(instance.units(found))
    problem.check_tour(instance.open(found))
    assert (node.program.solve(), node.program.objective, node.length) == before
    assert node.branches == ()
    assert node.evidence is root


def test_a_bound_below_a_dive_is_none_of_the_whole(few_cuts, monkeypatch):
    """It holds where edges are fixed; who asks meanwhile is told that of the root."""
    problem = Problem.from_points(unit_points(60, 1) * 1000, "EUC_2D")
    tour, told = construct(problem, "random", seed=1), []

    def below(self, report):
        self.evidence = Evidence(self.length, self.evidence.cities, ())
        told.clear()
        report()

    monkeypatch.setattr(NodeSolver, "dive", below)
    best = prove(problem, tour, callback=lambda now: told.append(now.lower_bound)).length
    assert told[0] < best


def raster(n: int, metric: str, **given) -> Problem:
    return Problem.from_points(np.random.default_rng(n).integers(0, 60, (n, 2)) * 10, metric, **given)


def shifted(n: int) -> Problem:
    """Multiples of 6, plus one number for each city and one for all."""
    draw = np.random.default_rng(n)
    city = draw.integers(0, 6, n)
    half = np.triu(draw.integers(0, 9, (n, n)) * 6 + city[:, None] + city + 5, 1)
    return Problem.from_matrix(half + half.T)


@pytest.mark.parametrize(
    ("problem", "stride"),
    [
        (raster(7, "MAN_2D"), 20),
        (raster(7, "MAX_2D"), 10),
        (raster(7, "EUC_2D"), 1),
        (raster(7, "MAN_2D", open=OpenPath()), 10),
        (raster(7, "MAN_2D", open=OpenPath(0, 3), fixed_edges=np.array([[1, 2]])), 20),
        (shifted(7), 6),
    ],
)
def test_tours_differ_by_multiples_of_the_stride(problem, stride, tmp_path):
    instance = ClosedInstance.of(problem, 1000)
    assert instance.stride == check._difference_of_tours(instance.lengths) == stride << instance.exponent
    n = instance.size
    lengths = {instance.units(np.array([*order, n - 1])) for order in permutations(range(n - 1))}
    assert len({length % instance.stride for length in lengths}) == 1
    for length in lengths:
        for less in (0, 1, instance.stride - 1):
            assert instance.value(length - less) << instance.exponent == length
    proof = prove(problem, construct(problem), certificate=tmp_path / "proof.json")
    assert proof.proved
    assert proof.length == shortest(problem)
    assert proven_bound(problem, read_proof(tmp_path / "proof.json", problem)) == proof.length


def test_a_proof_on_a_raster_ends_one_stride_below_the_tour(monkeypatch, tmp_path):
    leave_out_sweeps(monkeypatch)
    problem = raster(130, "MAX_2D")
    tour = warptsp.solve(problem, threads=1, kicks=20_000, prove=False).tour
    proof = prove(problem, tour, threads=1, certificate=tmp_path / "proof.json")
    assert proof.proved
    assert proven_bound(problem, read_proof(tmp_path / "proof.json", problem)) == proof.length
    monkeypatch.setattr(check, "_difference_of_tours", lambda lengths: 1)
    assert proven_bound(problem, read_proof(tmp_path / "proof.json", problem)) is None
    monkeypatch.setattr(closed_instance, "_stride_of", lambda lengths, unit: unit)
    assert prove(problem, tour, threads=1).nodes > proof.nodes


def test_a_wrong_stride_makes_no_proof_that_is_accepted(monkeypatch, tmp_path):
    monkeypatch.setattr(closed_instance, "_stride_of", lambda lengths, unit: 1000 * unit)
    problem = raster(20, "EUC_2D")
    proof = prove(problem, construct(problem), certificate=tmp_path / "proof.json")
    assert proof.proved
    assert proven_bound(problem, read_proof(tmp_path / "proof.json", problem)) is None


def test_a_wide_gap_leaves_few_edges_in_the_programme_of_the_tree():
    """A bad tour leaves nearly all pairs: only some of them are columns, and none is lost to pricing."""
    problem = Problem.from_points(unit_points(120, 7) * 1000, "EUC_2D")
    instance = ClosedInstance.of(problem, problem.length(construct(problem, "random")))
    node = NodeSolver(instance, construct(problem, "random"), seed=0, token=StopToken())
    bound = node.solve_and_price()
    assert node.keep_survivors(bound) > 2 * node_program.MOST_NEAR * 120
    assert node.relaxation.columns <= (node_program.MOST_NEAR + 1) * 120


def test_a_node_has_branches_where_perturbed_costs_pass_its_target(monkeypatch):
    problem = Problem.from_points(unit_points(60, seed=3))
    instance = ClosedInstance.of(problem, problem.length(construct(problem)))
    node = NodeSolver(instance, instance.close(construct(problem)), seed=0, token=StopToken())
    node.cut_at_root(Effort.SUBTOURS)
    monkeypatch.setattr(branching, "objective_of", lambda target: node.program.objective - 1e6)
    assert branching.candidates_of(node, 0)
