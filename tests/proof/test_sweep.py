"""Sweeps along a frontier: against all tours of small instances, in the proof and in the checker."""

import json
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from instances import whole_points

import warptsp
import warptsp._native as _native
from warptsp import Problem
from warptsp.construct import construct
from warptsp.proof import branch_and_cut, check, node_solver
from warptsp.proof.certificate import FORMAT_UNFINISHED, read_proof
from warptsp.proof.closed_instance import ClosedInstance
from warptsp.proof.evidence import Branch, Certificate, Evidence, Node
from warptsp.proof.linear_program import Outcome
from warptsp.proof.node_solver import NodeSolver

pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")

TOURS = {
    n: np.array([(0, *p) for p in permutations(range(1, n)) if p[0] < p[-1]], dtype=np.int32)
    for n in range(5, 9)
}


def some_problem(random, n):
    """Points with ties, or a matrix."""
    if random.random() < 0.5:
        return Problem.from_points(random.integers(0, random.choice([4, 10, 100]), (n, 2)) * 1.0, "EUC_2D")
    matrix = random.integers(0, random.choice([3, 10, 100]), (n, n))
    return Problem.from_matrix(np.triu(matrix, 1) + np.triu(matrix, 1).T)


def some_branches(random, n):
    branches = []
    for _ in range(random.integers(0, 3)):
        cities = tuple(sorted(random.choice(n, random.integers(2, n - 1), replace=False).tolist()))
        others = set(range(n)) - set(cities)
        if all(set(branch.cities) not in (set(cities), others) for branch in branches):
            most = 2 if len(cities) == 2 else int(random.choice([2, 2, 4]))
            branches.append(Branch(cities, 2, most) if random.random() < 0.5 else Branch(cities, most + 2))
    return tuple(branches)


def are_within(tours, branches):
    within = np.ones(len(tours), dtype=bool)
    for branch in branches:
        inside = np.isin(tours, branch.cities)
        crossings = (inside != np.roll(inside, -1, axis=1)).sum(axis=1)
        within &= crossings >= branch.least
        if branch.most is not None:
            within &= crossings <= branch.most
    return within


def swept_node(random):
    """A node whose prices prove little, and all tours of the instance with their lengths; None where a sweep
    gave up."""
    n = int(random.integers(5, 9))
    problem, tours = some_problem(random, n), TOURS[n]
    instance = ClosedInstance.of(problem, problem.length(tours[0]))
    lengths = instance.lengths[tours, np.roll(tours, -1, axis=1)].sum(axis=1)
    start = tours[lengths.argmin() if random.random() < 0.4 else random.integers(len(tours))]
    solver = NodeSolver(instance, start, seed=0, token=_native.StopToken(), keep_cuts=True)
    for effort in list(_native.Effort)[: random.integers(0, 3)]:
        solver._cut(effort, 0.0, int(random.integers(1, 3)))
    for _ in range(random.integers(0, 7)):
        cities = random.choice(n, random.integers(2, n - 1), replace=False)
        solver.program.add_rows(solver.relaxation.add_subtour(np.sort(cities).astype(np.int32)))
    solver.take_tour(start)
    branches = some_branches(random, n)
    solver.go_to(Node(branches, solver.evidence))
    solver.solve_and_price()
    if solver.program.outcome is not Outcome.OPTIMAL:
        return None
    solver.evidence = replace(solver.evidence, bound=0)
    prices = solver.program.prices * random.uniform(0.6, 1.1, len(solver.program.prices))
    mean = np.abs(prices[:n]).mean()
    prices[:n] -= random.uniform(0.0, 0.5) * mean
    prices[n:] += (prices[n:] >= 0.0) * random.choice([0.0, 0.3, 0.6], len(prices) - n) * mean
    if not solver._sweep(prices, 10**7, None) or solver.evidence.order is None:
        return None
    return solver, tours, lengths


def proves(solver, target, order):
    """Whether the check of the evidence, with this order, excludes tours up to a length."""
    instance, branches, evidence = solver.instance, solver.branches, solver.evidence
    certificate = Certificate(0, solver.tour, instance.exponent, solver.cuts, None, [], [])
    allowed = ~np.eye(instance.size, dtype=bool)
    bound, reduced = check._bound_and_lengths(instance, certificate, evidence, branches, allowed)
    if bound > target:
        return True
    node = Node(branches, evidence)
    swept = check._edges_and_rows(instance, certificate, node, allowed, reduced, target - bound)
    return check.leaves_no_tour(order, *swept, target - bound, target)


@pytest.mark.parametrize("seed", range(3))
def test_a_sweep_and_its_check_are_right_on_all_tours(seed):
    random = np.random.default_rng(seed)
    count = 0
    for _ in range(40):
        if (found := swept_node(random)) is None:
            continue
        count += 1
        solver, tours, lengths = found
        assert solver.length in lengths  # a tour that was found is one
        within = lengths[are_within(tours, solver.branches)]
        assert len(within) == 0 or within.min() >= solver.length
        for order in (solver.evidence.order, random.permutation(solver.instance.size).astype(np.int32)):
            assert proves(solver, min(solver.target, int(lengths.min()) - 1), order)
            if len(within):
                assert not proves(solver, int(within.min()), order)
                assert not proves(solver, int(within.min()) + (3 << 16), order)
    assert count > 10


def test_a_leaf_that_was_swept_is_checked(tmp_path, monkeypatch):
    cut = NodeSolver.cut_at_root
    monkeypatch.setattr(
        NodeSolver,
        "cut_at_root",
        lambda root, effort: effort is _native.Effort.SUBTOURS and cut(root, effort),
    )
    problem = Problem.from_points(np.random.default_rng(5).integers(0, 1000, (80, 2)) * 1.0, "EUC_2D")
    proof = warptsp.prove(problem, threads=1, certificate=tmp_path / "proof.json")
    assert proof.proved
    assert proof.nodes == 0
    certificate = read_proof(tmp_path / "proof.json", problem)
    (leaf,) = certificate.leaves
    assert leaf.evidence.order is not None
    assert check.proven_bound(problem, certificate) == proof.length
    without = replace(leaf, evidence=replace(leaf.evidence, order=None))
    assert check.proven_bound(problem, replace(certificate, leaves=[without])) is None
    longer = replace(certificate, tour=np.roll(proof.tour, 1), length=proof.length)
    longer.tour[[3, 40]] = longer.tour[[40, 3]]
    longer = replace(longer, length=problem.length(longer.tour))
    assert check.proven_bound(problem, longer) is None


def test_a_swept_leaf_of_a_checkpoint_is_swept_again(tmp_path):
    """Of an unfinished proof, whose leaf needs its sweep: read, and proved once more."""
    problem = Problem.from_points(np.random.default_rng(5).integers(0, 1000, (80, 2)) * 1.0, "EUC_2D")
    token = _native.StopToken()
    tour = warptsp.prove(problem, threads=1).tour
    instance = ClosedInstance.of(problem, problem.length(tour))
    solver = NodeSolver(instance, instance.close(tour), seed=0, token=token, keep_cuts=True)
    solver._cut(_native.Effort.SUBTOURS, 0.0, 30)
    assert solver.sweep(10**7)
    swept = solver.evidence
    assert swept.order is not None
    other = NodeSolver(instance, instance.close(tour), seed=0, token=token, keep_cuts=True)
    for cut in solver.cuts.values():
        other.relaxation.adopt(*cut)
    other.program.add_rows(other.relaxation.take_cuts(len(solver.cuts)))
    row_of = {number: row for row, number in enumerate(solver.cuts)}
    other.price_evidence(replace(swept, order=None), row_of)
    assert not other.is_pruned
    other.price_evidence(swept, row_of)
    assert other.is_pruned
    token.request()
    stopped = NodeSolver(instance, instance.close(tour), seed=0, token=_native.StopToken(), keep_cuts=True)
    stopped.token = token
    assert not stopped.sweep(10**7)


def test_a_sweep_leaves_a_branch_of_many_edges_alone():
    """A ring whose every step crosses the branch: shorter tours do not, and pay more than the slack."""
    n, price = 260, 500
    matrix = np.full((n, n), 100_000)
    ring = np.arange(n, dtype=np.int32)
    matrix[ring, (ring + 1) % n], matrix[ring, (ring + 2) % n] = 100, 99
    for city in (0, n // 3, 2 * n // 3):
        matrix[city, city + 1] = 106
    problem = Problem.from_matrix(np.minimum(matrix, matrix.T) * (1 - np.eye(n, dtype=int)))
    instance = ClosedInstance.of(problem, problem.length(ring))
    solver = NodeSolver(instance, ring, seed=0, token=_native.StopToken(), keep_cuts=True)
    branch = Branch(tuple(range(0, n, 2)), n)
    solver.go_to(Node((branch,), solver.evidence))
    prices = np.zeros(n + solver.relaxation.rows)
    prices[:n], prices[n + solver._row_of(branch)] = (100 - price) / 2, price
    bound = solver.relaxation.price(prices, 0)[0]
    slack = (2 * (price - 1) + 7) << 16
    assert bound <= solver.length <= bound + slack
    ended, _, tour = solver.relaxation.sweep(slack, bound + slack, 1, ring, 10**7, solver.token)
    assert not ended or tour is not None


@pytest.mark.parametrize(
    ("price", "length", "right"), [(-(2**62), 1, 2), (-(2**57), 1, 2), (0, 2**24, 2**24), (1, 2**24, 2**24)]
)
def test_prices_and_counts_of_any_size_are_checked(price, length, right):
    n = 60
    problem = Problem.from_points(np.random.default_rng(5).integers(0, 1000, (n, 2)) * 1.0, "EUC_2D")
    tour = np.arange(n, dtype=np.int32)
    cut = tour % 2, np.array([[0, length], [length, 0]], dtype=np.int32), right, []
    evidence = Evidence(0, np.full(n, price, dtype=np.int64), ((1, 1),), tour)
    instance = ClosedInstance.of(problem, problem.length(tour))
    certificate = Certificate(
        problem.length(tour), tour, instance.exponent, {1: cut}, None, [Node((), evidence)]
    )
    assert check.proven_bound(problem, certificate) is None


@pytest.mark.parametrize("tree", [True, False])
def test_a_resumed_proof_takes_the_tour_that_a_sweep_has_found(tree, tmp_path, monkeypatch):
    """Where no node is left that might tell it, too: a longer one was said to be optimal."""
    monkeypatch.setattr(branch_and_cut, "WORTH_WIDE", (1, 1e9))
    monkeypatch.setattr(node_solver, "_ROUNDS", dict.fromkeys(_native.Effort, 2))
    monkeypatch.setattr(node_solver, "FEWEST_STATES", 0)
    file = tmp_path / "proof.json"
    for seed in range(50):
        problem = Problem.from_points(whole_points(40, seed, side=200), "EUC_2D")
        best = warptsp.prove(problem, construct(problem), certificate=file, threads=1)
        document = json.loads(file.read_text())
        if document["elimination"] is not None and all("order" in leaf for leaf in document["leaves"]):
            break
    turned = [np.append(best.tour[k::-1], best.tour[k + 1 :]) for k in range(1, 38)]
    worse = min((tour for tour in turned if problem.length(tour) > best.length), key=problem.length)
    changed = {"format": FORMAT_UNFINISHED, "tour": worse.tolist(), "length": problem.length(worse)}
    file.write_text(json.dumps({**document, **changed}))
    again = warptsp.prove(problem, resume=file, threads=1, tree=tree)
    assert again.proved
    assert again.length == best.length
