"""Branches: which ones are chosen, and what is proved while they are tried."""

import numpy as np
import pytest

import warptsp
from warptsp import Problem
from warptsp.construct import construct

pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")
from warptsp._native import Effort, StopToken
from warptsp.proof import branching, node_solver, proven_bound, read_proof
from warptsp.proof.closed_instance import ClosedInstance
from warptsp.proof.node_solver import NodeSolver


def cities(seed: int, n: int = 100) -> Problem:
    return Problem.from_points(np.random.default_rng(seed).integers(0, 1000, (n, 2)), "EUC_2D")


@pytest.fixture
def node():
    problem = cities(1)
    instance = ClosedInstance.of(problem, problem.length(construct(problem)))
    solver = NodeSolver(instance, construct(problem), seed=0, token=StopToken())
    solver.cut_at_root(Effort.SUBTOURS)
    return solver


def test_more_steps_raise_the_best_few(node, monkeypatch):
    monkeypatch.setattr(branching, "PROBE_STEPS", 1)
    few, many = branching.candidates_of(node, 0), branching.candidates_of(node, 5000)
    assert len(few) > branching.FEW == len(many)
    for candidates in (few, many):
        scores = [candidate.score for candidate in candidates]
        assert scores == sorted(scores, reverse=True)
    before = {candidate.sides: candidate.gains for candidate in few[: branching.FEW]}
    assert before.keys() == {candidate.sides for candidate in many}
    assert all(min(np.subtract(now.gains, before[now.sides])) > -1e-6 for now in many)
    assert any(now.gains != before[now.sides] for now in many)


def test_probes_keep_nothing(node):
    program = node.program
    known = program.objective
    program.solve()
    branching.candidates_of(node, 500)
    assert program.objective == pytest.approx(known, abs=1e-6)
    program.solve()
    assert program.objective == pytest.approx(known, abs=1e-6)


@pytest.fixture
def tried(few_cuts, monkeypatch):
    """Branches of every root are tried; the fixture is how many were."""
    count, try_them = [], NodeSolver._tried

    def counted(solver, candidates, gap):
        count.extend(candidates)
        return try_them(solver, candidates, gap)

    monkeypatch.setattr(NodeSolver, "_tried", counted)
    monkeypatch.setattr(node_solver, "TELLING", 1e9)
    monkeypatch.setattr(node_solver, "DEAR", -1)
    monkeypatch.setattr(branching, "CANDIDATES", 4)
    return count


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_what_trials_prove_is_believed(tried, seed, threads, tmp_path):
    problem, file = cities(seed, 60), tmp_path / "proof.json"
    proof = warptsp.prove(problem, construct(problem), threads=threads, certificate=file)
    assert proof.proved
    if proof.nodes:
        assert len(tried) == node_solver.TRIED
    assert proven_bound(problem, read_proof(file, problem)) == proof.length


def test_what_was_stopped_behind_a_trial_goes_on(tried, tmp_path):
    problem, file = cities(1, 140), tmp_path / "proof.json"
    best = warptsp.prove(problem)
    first = warptsp.prove(problem, best.tour, checkpoint=file, callback=lambda now: now.nodes >= 2)
    assert tried
    assert not first.proved
    assert first.root_bound <= first.lower_bound <= best.length
    tried.clear()
    certificate = tmp_path / "certificate.json"
    second = warptsp.prove(problem, resume=file, certificate=certificate)
    assert second.proved
    assert not tried
    assert second.length == best.length
    assert proven_bound(problem, read_proof(certificate, problem)) == best.length


def test_the_better_side_of_a_trial_is_taken(tried, monkeypatch):
    """What a trial has proved of a node is kept for it."""
    examined, examine = [], NodeSolver.examine

    def noted(solver, node):
        examined.append((len(node.branches), node.evidence.bound))
        return examine(solver, node)

    monkeypatch.setattr(NodeSolver, "examine", noted)
    problem = cities(1)
    warptsp.prove(problem, warptsp.prove(problem).tour, threads=1)
    root = max(bound for depth, bound in examined if depth == 0)
    assert any(bound > root for depth, bound in examined if depth == 1)
