"""Nodes side by side: the same proof each time, whichever thread is faster, and all that a proof promises."""

import random
import signal
import threading
import time

import numpy as np
import pytest

import warptsp
from warptsp import Problem
from warptsp.construct import construct
from warptsp.proof import node_solver, proven_bound, read_proof
from warptsp.proof.node_solver import NodeSolver
from warptsp.proof.side_by_side import side_by_side

pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")


@pytest.fixture
def held_up(monkeypatch):
    """Every node is held up by chance, here and there in the middle of it."""
    examine, candidates_of, chance = NodeSolver.examine, node_solver.candidates_of, random.Random()

    def late(solver, node):
        time.sleep(chance.random() * 0.02)
        return examine(solver, node)

    def later(solver, steps):
        time.sleep(chance.random() * 0.02)
        return candidates_of(solver, steps)

    monkeypatch.setattr(NodeSolver, "examine", late)
    monkeypatch.setattr(node_solver, "candidates_of", later)


def cities(seed: int, n: int = 100) -> Problem:
    return Problem.from_points(np.random.default_rng(seed).integers(0, 1000, (n, 2)), "EUC_2D")


@pytest.mark.parametrize("threads", [2, 3])
def test_the_same_certificate_twice(few_cuts, held_up, threads, tmp_path):
    problem, contents = cities(1), []
    for number in range(2):
        file = tmp_path / f"{number}.json"
        proof = warptsp.prove(problem, construct(problem), threads=threads, certificate=file)
        assert proof.proved
        assert proof.nodes > 10
        assert proven_bound(problem, read_proof(file, problem)) == proof.length
        contents.append(file.read_bytes())
    assert contents[0] == contents[1]
    assert proof.length == warptsp.prove(problem, threads=1).length


def test_several_are_at_work_at_once(few_cuts, monkeypatch):
    both, examine = threading.Barrier(2, timeout=60), NodeSolver.examine

    def together(solver, node):
        if len(node.branches) == 1:
            both.wait()
        return examine(solver, node)

    monkeypatch.setattr(NodeSolver, "examine", together)
    assert warptsp.prove(cities(1), threads=2).proved


@pytest.mark.parametrize("seed", range(12))
def test_trees_of_matrices_and_of_real_lengths(few_cuts, seed, tmp_path):
    draw = np.random.default_rng(seed)
    if seed % 3:
        half = np.triu(draw.integers(1, [5, 30, 10**6][seed % 3], (30, 30)), 1)
        problem = Problem.from_matrix(half + half.T, fixed_edges=np.array([[1, 2], [2, 3]])[: seed % 3])
    else:
        problem = Problem.from_points(draw.random((30, 2)))
    start, file = construct(problem, "random", seed=seed), tmp_path / "proof.json"
    proof = warptsp.prove(problem, start, threads=4, certificate=file)
    assert proof.proved
    assert proof.length == pytest.approx(warptsp.prove(problem, threads=1).length, rel=1e-6)
    assert proven_bound(problem, read_proof(file, problem)) == pytest.approx(proof.length, rel=3e-7)


@pytest.mark.parametrize("nodes", [1, 3, 5, 8])
def test_what_was_stopped_in_the_tree_goes_on(few_cuts, nodes, tmp_path, monkeypatch):
    monkeypatch.setattr("warptsp.solver.proving.CHECKPOINT_SECONDS", 0.0)
    problem, file = cities(1), tmp_path / "checkpoint.json"
    best = warptsp.prove(problem)
    first = warptsp.prove(
        problem, best.tour, threads=3, checkpoint=file, callback=lambda now: now.nodes >= nodes
    )
    assert not first.proved
    assert first.lower_bound <= best.length
    certificate = tmp_path / "proof.json"
    for threads in (1, 2):
        second = warptsp.prove(problem, resume=file, threads=threads, certificate=certificate)
        assert second.proved
        assert second.length == best.length
        assert proven_bound(problem, read_proof(certificate, problem)) == best.length


def test_checkpoints_while_solvers_are_at_work(few_cuts, held_up, tmp_path, monkeypatch):
    """Each of them is one from which a proof goes on."""
    monkeypatch.setattr("warptsp.solver.proving.CHECKPOINT_SECONDS", 0.0)
    problem, file, kept = cities(1), tmp_path / "checkpoint.json", []
    best = warptsp.prove(problem)
    warptsp.prove(
        problem,
        best.tour,
        threads=3,
        checkpoint=file,
        callback=lambda now: kept.append(file.read_bytes()) if now.nodes else None,
    )
    assert len(kept) > 3
    for contents in kept[1 :: max(1, len(kept) // 5)]:
        file.write_bytes(contents)
        proof = warptsp.prove(problem, resume=file, threads=2)
        assert proof.proved
        assert proof.length == best.length


def test_a_signal_or_a_callback_that_fails_ends_all_solvers(few_cuts):
    problem, before = cities(1), threading.active_count()
    best = warptsp.prove(problem)
    for nodes in (1, 5):
        proof = warptsp.prove(
            problem,
            best.tour,
            threads=3,
            on_interrupt="return",
            callback=lambda now, nodes=nodes: now.nodes > nodes and signal.raise_signal(signal.SIGINT),
        )
        assert proof.interrupted
        assert proof.root_bound <= proof.lower_bound <= best.length == proof.length
        with pytest.raises(ZeroDivisionError):
            warptsp.prove(problem, threads=3, callback=lambda now, nodes=nodes: now.nodes > nodes and 1 / 0)
    assert threading.active_count() == before


def test_a_solver_that_fails_ends_the_others(few_cuts, monkeypatch):
    examine = NodeSolver.examine

    def fail(solver, node):
        if len(node.branches) == 2:
            raise ZeroDivisionError
        return examine(solver, node)

    monkeypatch.setattr(NodeSolver, "examine", fail)
    before = threading.active_count()
    proof = warptsp.prove(cities(1), threads=3)
    assert proof.skipped == "ZeroDivisionError"
    assert not proof.proved
    assert threading.active_count() == before


# The order of events


class Walker:
    """Does tasks that are so many steps, at any speed."""

    def __init__(self) -> None:
        self.work = 0

    def walk(self, task: tuple[int, ...]) -> tuple[int, ...]:
        for _ in range(task[0]):
            time.sleep(random.random() * 0.002)
            self.work += 1
        return task


def walked(workers: int, tasks: list, take) -> None:
    side_by_side(
        [Walker() for _ in range(workers)],
        lambda k: tasks.pop() if tasks else None,
        Walker.walk,
        take,
        poll=lambda busy: None,
        give_up=lambda: None,
    )
    assert not tasks


def course(workers: int, seed: int) -> list[tuple[int, ...]]:
    """Return which worker did what, in the order of its end; tasks bring new ones."""
    draw, events = np.random.default_rng(seed), []
    tasks = [(int(draw.integers(1, 9)), number) for number in range(3)]

    def take(k: int, task: tuple[int, ...]) -> None:
        events.append((k, *task))
        if len(events) < 15:
            tasks.extend((int(draw.integers(0, 9)), len(events), side) for side in range(draw.integers(3)))

    walked(workers, tasks, take)
    return events


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_the_same_course_at_any_speed(workers, seed):
    assert course(workers, seed) == course(workers, seed)


def test_short_tasks_do_not_wait_for_a_long_one_that_began_with_them():
    taken = []
    walked(2, [(1, i) for i in range(4)] + [(3, 9)], lambda k, task: taken.append((k, task[1])))
    assert taken == [(1, 3), (1, 2), (0, 9), (1, 1), (0, 0)]
