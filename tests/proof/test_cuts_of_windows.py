"""Cuts from windows of an instance hold for all of it, and proofs with them are proofs."""

import signal

import numpy as np
import pytest
from few_cuts import leave_out_sweeps

import warptsp
from warptsp import OpenPath, Problem, _native
from warptsp.construct import construct
from warptsp.proof import branch_and_cut, node_solver, proven_bound, read_proof, windows
from warptsp.proof.closed_instance import ClosedInstance
from warptsp.proof.windows import Windows

pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")


@pytest.fixture(autouse=True)
def small_windows(monkeypatch):
    monkeypatch.setattr(branch_and_cut, "FEWEST_CITIES", 30)
    monkeypatch.setattr(windows, "MOST_CITIES", 40)


def problem_of(seed: int, n: int = 80) -> Problem:
    """Plane and globe, lattices and duplicates, paths, fixed edges."""
    draw = np.random.default_rng(seed)
    path = [None, OpenPath(), OpenPath(start=5), OpenPath(3, 40), None][seed % 5]
    fixed = np.array([[0, 50], [50, 7], [8, 70]], np.int32)[: seed % 4]
    options = {"open": path, "fixed_edges": fixed.reshape(-1, 2)}
    if seed % 3 == 0:
        return Problem.from_points(draw.integers(0, 9, (n, 2)), "EUC_2D", **options)
    if seed % 3 == 1:
        return Problem.from_points(draw.random((n, 2)), **options)
    return Problem.from_points(np.round(draw.random((n, 2)) * [80, 170], 2), "GEO", **options)


def found(problem: Problem, tour, threads: int = 1, token=None):
    instance = ClosedInstance.of(problem, problem.length(tour))
    cuts, reports = [], []
    Windows(
        instance,
        instance.close(tour),
        seed=1,
        token=token or _native.StopToken(),
        threads=threads,
        report=lambda: reports.append(1),
    ).find(cuts.append)
    return instance, cuts, reports


@pytest.mark.parametrize("seed", range(10))
def test_every_tour_passes_the_cuts(seed):
    problem = problem_of(seed, 160)
    instance, cuts, reports = found(problem, construct(problem, seed=seed))
    assert len(cuts) > 3
    assert reports
    draw, n = np.random.default_rng(seed), instance.size
    least = [np.inf] * len(cuts)
    for _ in range(100):
        tour = draw.permutation(n) if draw.random() < 0.5 else np.roll(np.arange(n), draw.integers(n))
        for number, (class_of, lengths, bound, _) in enumerate(cuts):
            classes = class_of[tour]
            value = int(lengths[classes, np.roll(classes, -1)].sum())
            assert value >= bound, seed
            least[number] = min(least[number], value - bound)
    for class_of, lengths, _, _ in cuts:
        assert set(class_of.tolist()) == set(range(len(lengths)))


@pytest.mark.parametrize("seed", range(8))
def test_proofs_with_windows(seed, tmp_path):
    problem, file = problem_of(seed), tmp_path / "proof.json"
    proof = warptsp.prove(problem, construct(problem, "random", seed=seed), certificate=file)
    assert proof.proved
    assert proven_bound(problem, read_proof(file, problem)) == pytest.approx(proof.length, rel=3e-7)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(branch_and_cut, "FEWEST_CITIES", 10_000)
        assert warptsp.prove(problem).length == pytest.approx(proof.length, rel=1e-6)


def test_the_same_cuts_with_any_number_of_threads():
    problem = problem_of(4)
    tour = construct(problem)
    _, one, _ = found(problem, tour)
    for threads in (2, 5):
        _, several, reports = found(problem, tour, threads)
        assert reports
        assert len(one) == len(several)
        for first, second in zip(one, several, strict=True):
            assert np.array_equal(first[0], second[0])
            assert np.array_equal(first[1], second[1])
            assert first[2:] == second[2:]


def test_windows_raise_the_bound(monkeypatch):
    """Nothing but subtours and blossoms is sought elsewhere."""
    problem = Problem.from_points(np.random.default_rng(8).integers(0, 10_000, (300, 2)), "EUC_2D")
    tour, bounds = warptsp.solve(problem, kicks=2000).tour, []
    monkeypatch.setattr(windows, "MOST_CITIES", 150)
    leave_out_sweeps(monkeypatch)
    whole = node_solver.NodeSolver.cut_at_root

    def few(solver, effort):
        return (solver.instance.size < problem.n or effort < 2) and whole(solver, effort)

    monkeypatch.setattr(node_solver.NodeSolver, "cut_at_root", few)
    for fewest in (1000, 100):
        monkeypatch.setattr(branch_and_cut, "FEWEST_CITIES", fewest)
        bounds.append(warptsp.prove(problem, tour, tree=False).lower_bound)
    assert bounds[0] < bounds[1]


@pytest.mark.parametrize("threads", [1, 3])
def test_stopped_within_windows(threads):
    problem = problem_of(1, 200)
    best = warptsp.prove(problem)
    for call in 2, 12, 25:
        left = iter(range(call))
        proof = warptsp.prove(
            problem,
            best.tour,
            threads=threads,
            on_interrupt="return",
            callback=lambda now, left=left: next(left, None) is None and signal.raise_signal(signal.SIGINT),
        )
        assert proof.interrupted or proof.proved
        assert proof.lower_bound <= best.length <= proof.length
    with pytest.raises(ZeroDivisionError):
        warptsp.prove(problem, threads=threads, callback=lambda now: now.lower_bound > 0 and 1 / 0)


def test_a_time_limit_is_shared_by_windows():
    problem = problem_of(1, 200)
    tour = construct(problem)
    token = _native.StopToken()
    token.set_deadline(0.0)
    found(problem, tour, token=token)  # nothing fails where there is no time
    proof = warptsp.prove(problem, tour, time_limit=0.2)
    assert proof.lower_bound <= proof.length
