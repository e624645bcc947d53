"""Checkpoints of proofs: another run goes on from there, with the bound at least, and believes no figure."""

import copy
import json

import numpy as np
import pytest
from click.testing import CliRunner
from few_cuts import leave_few_cuts
from processes import run_code

import warptsp
from warptsp import OpenPath, Problem, _native
from warptsp.cli import commands
from warptsp.construct import construct
from warptsp.errors import OutputError, ParseError
from warptsp.io import write_tour
from warptsp.proof import node_solver, proven_bound, read_proof
from warptsp.proof.certificate import read_unfinished

pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")


@pytest.fixture(autouse=True)
def at_every_round(monkeypatch):
    patch(monkeypatch)


def patch(monkeypatch):
    """Checkpoints are written all the time, and few cuts make trees of small instances, mostly by sets."""
    monkeypatch.setattr("warptsp.solver.proving.CHECKPOINT_SECONDS", 0.0)
    leave_few_cuts(monkeypatch, in_tree=2)


def random_problem(seed: int, n: int = 40) -> Problem:
    draw = np.random.default_rng(seed)
    path = [None, None, OpenPath(), OpenPath(start=2), OpenPath(1, 2)][seed % 5]
    fixed = np.array([[0, 5], [4, 5]], np.int32)[: seed % 3]
    options = {"open": path, "fixed_edges": fixed.reshape(-1, 2)}
    if seed % 2:
        return Problem.from_points(draw.random((n, 2)), **options)
    half = np.triu(draw.integers(1, 100, (n, n)), 1)
    return Problem.from_matrix(half + half.T, **options)


def stopped(problem: Problem, file, calls: int, tour=None) -> warptsp.Proof:
    """Return a proof that ends after so many calls of its callback."""
    left = iter(range(calls))
    tour = construct(problem, "random", seed=1) if tour is None else tour
    return warptsp.prove(
        problem, tour, callback=lambda _: next(left, None) is None, checkpoint=file, threads=1
    )


@pytest.fixture(scope="module")
def in_tree(tmp_path_factory):
    """A problem, and the checkpoint of a proof of it that was stopped among leaves and open nodes."""
    with pytest.MonkeyPatch.context() as patched:
        patch(patched)
        file = tmp_path_factory.mktemp("proof") / "checkpoint.json"
        for seed in range(20):
            points = np.random.default_rng(seed).integers(0, 1000, (100, 2))
            problem = Problem.from_points(points, "EUC_2D")
            best = warptsp.prove(problem).tour
            for calls in range(10, 200, 5):
                stopped(problem, file, calls, best)
                document = json.loads(file.read_text())
                sets = any(len(cities) > 2 for leaf in document["leaves"] for cities, *_ in leaf["branches"])
                if sets and len(document["open"]) > 1:
                    return problem, document
                if not document["open"]:
                    break
    raise AssertionError("no proof was stopped in a tree with branches on sets")


def resumed(problem: Problem, document, folder, **options) -> warptsp.Proof:
    file = folder / "changed.json"
    file.write_text(json.dumps(document))
    return warptsp.prove(problem, resume=file, threads=1, **options)


@pytest.mark.parametrize("seed", range(20))
def test_what_was_stopped_anywhere_goes_on(seed, tmp_path):
    problem = random_problem(seed)
    best = warptsp.prove(problem)
    assert best.proved
    file, certificate = tmp_path / "checkpoint.json", tmp_path / "proof.json"
    for calls in (0, 3, 10, 20, 30, 45, 70, 100):
        first = stopped(problem, file, calls)
        heard = []
        second = warptsp.prove(
            problem,
            resume=file,
            threads=1,
            callback=lambda now, heard=heard: heard.append(now.lower_bound) and None,
            certificate=certificate,
        )
        at = f"seed {seed}, stopped after {calls} calls"
        assert second.proved, at
        assert second.length == pytest.approx(best.length, rel=1e-6), at
        assert min([*heard, second.lower_bound]) >= first.lower_bound * (1 - 1e-12), at
        assert second.length <= first.length, at
        bound = proven_bound(problem, read_proof(certificate, problem))
        assert bound == pytest.approx(second.length, rel=3e-7), at
        if first.proved:
            break


def test_leaves_are_not_examined_again(in_tree, tmp_path):
    problem, document = in_tree
    nodes = []
    assert resumed(problem, document, tmp_path, callback=lambda now: nodes.append(now.nodes) and None).proved
    assert nodes[0] >= len(document["leaves"]) > 0


@pytest.mark.parametrize("same", [False, True])
def test_stopped_while_an_earlier_proof_is_taken_up(in_tree, same, tmp_path, monkeypatch, caplog):
    """What has not been computed anew is not lost, neither in its own file nor in another one."""
    problem, document = in_tree
    file, token = tmp_path / "changed.json", _native.StopToken()
    kept = file if same else tmp_path / "other.json"
    calls, go_to = [], node_solver.NodeSolver.go_to

    def counted(solver, node):
        calls.append(node)
        if len(calls) == 2:
            token.request()
        go_to(solver, node)

    monkeypatch.setattr(node_solver.NodeSolver, "go_to", counted)
    proof = resumed(problem, document, tmp_path, checkpoint=kept, token=token)
    assert len(calls) == 2
    assert not proof.proved
    assert "no time to take up this proof, whose bound is not told; the file keeps it" in caplog.text
    assert 0.9 * proof.length < proof.lower_bound <= proof.length
    again = json.loads(kept.read_text())
    assert {name: again[name] for name in ("leaves", "open", "cuts")} == {
        name: document[name] for name in ("leaves", "open", "cuts")
    }
    caplog.clear()
    assert resumed(problem, again, tmp_path).proved
    assert not caplog.text


def test_a_proof_that_was_killed(in_tree, tmp_path):
    problem, _ = in_tree
    tour, points, file = tmp_path / "best.tour", tmp_path / "points.npy", tmp_path / "checkpoint.json"
    np.save(points, problem.search_points())
    write_tour(tour, warptsp.prove(problem).tour, problem)
    program = f"""
import os, numpy as np, warptsp
from warptsp.io import read_tour
from warptsp.proof import branch_and_cut, node_solver
from warptsp.solver import proving
proving.CHECKPOINT_SECONDS = 0.0
node_solver._ROUNDS = dict.fromkeys(node_solver.Effort, 1)
node_solver._ROUNDS_IN_TREE = 2, 2
node_solver.MOST_STATES = 0
branch_and_cut.WORTH_DOMINOES, branch_and_cut.WORTH_WIDE = (0, 0), (1, 1e9)
problem = warptsp.Problem.from_points(np.load({str(points)!r}), "EUC_2D")
def kill(now):
    if now.nodes > 3:
        os.kill(os.getpid(), 9)
warptsp.prove(problem, read_tour({str(tour)!r}, problem), threads=1, checkpoint={str(file)!r}, callback=kill)
"""
    assert run_code(program).returncode == -9
    proof = warptsp.prove(problem, resume=file)
    assert proof.proved
    assert proof.length == warptsp.prove(problem).length


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 30])
def test_a_finished_proof_and_one_of_few_cities_have_a_checkpoint_too(n, is_open, tmp_path):
    points = np.random.default_rng(n).integers(0, 100, (n, 2))
    problem = Problem.from_points(points, "EUC_2D", open=OpenPath() if is_open else None)
    file, certificate = tmp_path / "checkpoint.json", tmp_path / "proof.json"
    first = warptsp.prove(problem, checkpoint=file, certificate=certificate)
    again = warptsp.prove(problem, resume=file)
    assert (first.proved, again.proved, again.length) == (True, True, first.length)
    assert proven_bound(problem, read_proof(certificate, problem)) == first.length


def test_a_better_tour_is_taken(in_tree, tmp_path):
    problem, document = in_tree
    worse = construct(problem, "random", seed=5)
    assert resumed(problem, document, tmp_path, tour=worse).length == warptsp.prove(problem).length
    changed = {**document, "tour": worse.tolist(), "length": problem.length(worse)}
    assert resumed(problem, changed, tmp_path).length == warptsp.prove(problem).length


@pytest.mark.parametrize("seed", range(3))
def test_changed_prices_prove_nothing_wrong(in_tree, seed, tmp_path):
    problem, document = in_tree
    draw = np.random.default_rng(seed)
    best = warptsp.prove(problem).length
    changed = copy.deepcopy(document)
    nodes = [changed["elimination"]] if seed == 0 else [*changed["leaves"], *changed["open"]]
    for _ in range(20):
        node = nodes[draw.integers(len(nodes))]
        node["prices"][draw.integers(len(node["prices"]))] += int(draw.integers(-(2**30), 2**30))
        if node["cuts"]:
            node["cuts"][draw.integers(len(node["cuts"]))][1] = int(draw.integers(-(2**61), 2**61))
    certificate = tmp_path / "proof.json"
    proof = resumed(problem, changed, tmp_path, certificate=certificate)
    assert proof.length == best == proof.lower_bound, f"seed {seed}"
    assert proven_bound(problem, read_proof(certificate, problem)) == best, f"seed {seed}"


def test_huge_prices_of_many_fixed_edges_prove_nothing():
    """Their sum is beyond 64 bits: 160 edges of -2^56 each."""
    half = 160
    lengths = np.full((2 * half, 2 * half), 1 << 16, dtype=np.int64)
    np.fill_diagonal(lengths, 0)
    side = np.arange(half, dtype=np.int32)
    relaxation = _native.Relaxation(lengths, np.arange(2 * half, dtype=np.int32), 1, _native.StopToken())
    relaxation.add_columns(np.stack([side, side + half], axis=1))
    for column in range(half):
        relaxation.set_column_bounds(column, 1, 1)
    relaxation.add_subtour(side)
    prices = np.zeros(2 * half + 1)
    prices[-1] = 2.0**40
    assert relaxation.price(prices, 0)[0] is None


def test_files_that_would_prove_too_much_are_refused(in_tree, tmp_path):
    problem, document = in_tree
    file = tmp_path / "changed.json"

    def refused(change, match):
        changed = copy.deepcopy(document)
        change(changed)
        file.write_text(json.dumps(changed))
        with pytest.raises(ParseError, match=match):
            warptsp.prove(problem, resume=file)

    def stronger(changed):
        changed["cuts"][min(changed["cuts"])]["bound"] += 1

    def twice(changed):
        for node in [*changed["leaves"], *changed["open"]]:
            node["branches"].append(node["branches"][-1])
        sides = copy.deepcopy([*changed["leaves"], *changed["open"]])
        for node in sides:
            cities, least, most = node["branches"][-1]
            node["branches"][-1] = [cities, most + 2, None] if most else [cities, 2, least - 2]
        changed["open"] += sides

    refused(stronger, "is not valid")
    refused(lambda changed: changed["open"].pop(), "leave something out")
    refused(lambda changed: changed["leaves"].pop(), "leave something out")
    refused(lambda changed: changed.update(open=[], leaves=[]), "leave something out")
    refused(twice, "two branches on one set")
    refused(lambda changed: changed.update(length=1), "claims a length of 1")
    refused(
        lambda changed: changed.update(format="warptsp proof of optimality"), "is not an unfinished proof"
    )
    refused(lambda changed: changed.update(cities=3), "unfinished proof for 3 cities")


def test_a_checkpoint_is_a_certificate_of_a_bound_and_its_folder_must_be_there(in_tree, tmp_path):
    problem, document = in_tree
    file = tmp_path / "checkpoint.json"
    file.write_text(json.dumps(document))
    assert 0 < proven_bound(problem, read_proof(file, problem)) <= document["length"]
    assert len(read_unfinished(file, problem).open) == len(document["open"])
    with pytest.raises(OutputError):
        warptsp.prove(problem, checkpoint=tmp_path / "none" / "checkpoint.json")


def test_the_command(tmp_path):
    points = np.random.default_rng(1).integers(0, 1000, (40, 2))
    places, file = tmp_path / "places.csv", tmp_path / "checkpoint.json"
    places.write_text("x,y\n" + "\n".join(f"{x},{y}" for x, y in points))
    replaced = f"the checkpoint {file} already exists and will be replaced; --resume continues from it"
    for resume, warning in (([], False), (["--resume", str(file)], False), ([], True)):
        done = CliRunner().invoke(
            commands, ["prove", str(places), "--json", "--checkpoint", str(file), *resume]
        )
        assert (replaced in done.stderr) == warning
        assert json.loads(done.stdout)["checkpoint"] == str(file)
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["proved_optimal"]
    assert json.loads(file.read_text())["format"] == "warptsp unfinished proof"
    places.write_text("lat,lon\n" + "\n".join(f"{x / 99},{y / 99}" for x, y in points))
    done = CliRunner().invoke(commands, ["prove", str(places), "--resume", str(file), "-o", str(file)])
    assert "this file is the proof that this one continues already" in str(done.exception)
    assert json.loads(file.read_text())["format"] == "warptsp unfinished proof"
