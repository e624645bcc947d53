"""Certificates of optimality: what is proved is accepted, and what was changed is not taken for more."""

import copy
import json
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from few_cuts import leave_few_cuts, leave_out_sweeps
from instances import whole_points

import warptsp
from warptsp import OpenPath, Problem
from warptsp.cli import _display, commands
from warptsp.cli import prove as prove_command
from warptsp.construct import construct
from warptsp.errors import InvalidTour, ParseError, UnsupportedProblem
from warptsp.proof import (
    branch_and_cut,
    branching,
    check,
    is_proof,
    node_program,
    node_solver,
    proven_bound,
    read_proof,
)
from warptsp.proof.check import is_complete
from warptsp.proof.evidence import Branch

pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")


@pytest.fixture(scope="module")
def proved(tmp_path_factory):
    """A problem, its proof, and the certificate as a document."""
    with pytest.MonkeyPatch.context() as patched:
        leave_out_sweeps(patched)
        patched.setattr(node_solver, "_ROUNDS", dict.fromkeys(node_solver.Effort, 3))
        for seed in range(50):
            half = np.triu(np.random.default_rng(seed).integers(1, 100, (40, 40)), 1)
            problem = Problem.from_matrix(half + half.T)
            file = tmp_path_factory.mktemp("proof") / "proof.json"
            proof = warptsp.prove(problem, construct(problem), certificate=file)
            document = json.loads(file.read_text())
            if proof.nodes > 2 and document["cuts"]:
                return problem, proof, document
    raise AssertionError("no instance with branches and cuts")


def verdict(problem: Problem, document, folder):
    file = folder / "changed.json"
    file.write_text(json.dumps(document))
    return proven_bound(problem, read_proof(file, problem))


def test_a_tree_is_proved(proved, tmp_path):
    problem, proof, document = proved
    assert len(document["leaves"]) > 1
    assert verdict(problem, document, tmp_path) == proof.length == proof.lower_bound


@pytest.mark.parametrize("path", [None, OpenPath(), OpenPath(start=2), OpenPath(1, 2)], ids=str)
@pytest.mark.parametrize("metric", ["EUC_2D", "EXACT_2D"])
@pytest.mark.parametrize("n", [3, 6, 40])
def test_every_kind_of_problem(path, metric, n, tmp_path):
    points = np.random.default_rng(n).integers(0, 500, (n, 2))
    fixed = np.array([[0, 5], [4, 5]], np.int32)[: n // 3 - 1]
    problem = Problem.from_points(points, metric, open=path, fixed_edges=fixed.reshape(-1, 2))
    file = tmp_path / "proof.json"
    proof = warptsp.prove(problem, construct(problem), certificate=file)
    assert proof.proved
    assert is_proof(file)
    assert proven_bound(problem, read_proof(file, problem)) == pytest.approx(proof.length, rel=3e-7)


@pytest.mark.parametrize("start", range(3))
def test_a_tour_of_no_length(start, tmp_path):
    """No bound is above 0, and none needs to be."""
    half = np.triu(np.random.default_rng(3).integers(0, 2, (25, 25)), 1)
    problem = Problem.from_matrix(half + half.T)
    file = tmp_path / "proof.json"
    proof = warptsp.prove(problem, construct(problem, "random", seed=start), certificate=file)
    assert proof.proved
    assert proof.length == 0
    assert proven_bound(problem, read_proof(file, problem)) == 0


def test_what_was_changed_is_not_proved(proved, tmp_path):
    """A worse tour, a length, a leaf that is gone, a branch that is another one, a cut that claims more."""
    problem, _, document = proved
    worse, leaves = construct(problem, "random", seed=3), document["leaves"]
    branch = copy.deepcopy(leaves)
    branch[0]["branches"][-1][1] ^= 6  # 2 and 4
    changes = [
        {"tour": worse.tolist(), "length": problem.length(worse)},
        {"length": document["length"] - 1},
        {"leaves": branch},
        *({"leaves": leaves[:gone] + leaves[gone + 1 :]} for gone in range(len(leaves))),
        *(
            {"cuts": {**document["cuts"], name: {**cut, "bound": cut["bound"] + 1}}}
            for name, cut in document["cuts"].items()
        ),
    ]
    for change in changes:
        assert verdict(problem, {**document, **change}, tmp_path) is None, change


def test_random_changes_prove_nothing_wrong(proved, tmp_path):
    """Any change is refused, or what it proves is still true."""
    problem, proof, document = proved
    draw = np.random.default_rng(11)
    refused = 0
    for _ in range(60):
        changed = copy.deepcopy(document)
        evidence = changed["leaves"][draw.integers(len(changed["leaves"]))]
        if draw.random() < 0.3 and changed["elimination"] is not None:
            evidence = changed["elimination"]
        for _ in range(draw.integers(1, 4)):
            evidence["prices"][draw.integers(len(evidence["prices"]))] += int(draw.integers(-(2**22), 2**22))
            if evidence["cuts"]:
                evidence["cuts"][draw.integers(len(evidence["cuts"]))][1] += int(
                    draw.integers(-(2**22), 2**22)
                )
        found = verdict(problem, changed, tmp_path)
        refused += found is None
        assert found in (None, proof.length)
    assert refused > 10


@pytest.mark.parametrize(
    "change",
    [
        {"format": "something"},
        {"cities": 41},
        {"cities": "40"},
        {"tour": [0]},
        {"exponent": 17},
        {"exponent": 12.0},
        {"length": None},
        {"cuts": []},
        {"cuts": {"x": {}}},
        {"leaves": {}},
        {"leaves": [{}]},
        {"leaves": [{"branches": [[[0, 1], 3]], "prices": [0] * 40, "cuts": []}]},
        {"leaves": [{"branches": [[[0], 2]], "prices": [0] * 40, "cuts": []}]},
        {"leaves": [{"branches": [], "prices": [0] * 39, "cuts": []}]},
        {"leaves": [{"branches": [], "prices": [2**70] * 40, "cuts": []}]},
        {"leaves": [{"branches": [], "prices": [0] * 40, "cuts": [[10**6, 1]]}]},
        {"elimination": 3},
        {"cuts": {"0": {"classes": [[41]], "lengths": [[0, 1], [1, 0]], "bound": 2, "comb": []}}},
        {"cuts": {"0": {"classes": [[1]], "lengths": [[0, 1]], "bound": 2, "comb": []}}},
        {"cuts": {"0": {"classes": [[1]], "lengths": [[0, 1], [1, 0]], "bound": 2, "comb": [[7]]}}},
    ],
)
def test_damaged_files(proved, tmp_path, change):
    problem, _, document = proved
    with pytest.raises(ParseError):
        verdict(problem, {**document, **change}, tmp_path)


@pytest.mark.parametrize(("levels", "leaves"), [(300, "all"), (100_000, "one"), (20_000, "two")])
def test_trees_of_many_levels_have_an_answer(levels, leaves, tmp_path):
    """Right ones are believed, others refused in a line, in time that grows with the file."""
    points, file = tmp_path / "points.csv", tmp_path / "proof.json"
    points.write_text("x,y\n" + "".join(f"{x},{x * x % 17}\n" for x in range(8)))
    problem, tour = warptsp.load(points), tmp_path / "best.tour"
    warptsp.write_tour(tour, warptsp.prove(problem, certificate=file).tour, problem)
    document = json.loads(file.read_text())
    (root,) = document["leaves"]
    sets = [[k % 7, 7] for k in range(levels)]
    last = [[cities, 4, None] for cities in sets]
    sides = range(levels) if leaves == "all" else range(leaves == "two")
    others = [{**root, "branches": [*last[:k], [sets[k], 2, 2]]} for k in sides]
    file.write_text(json.dumps({**document, "leaves": [*others, {**root, "branches": last}]}))
    checked = run("check", points, tour, "--certificate", file)
    if leaves == "all":
        assert checked.exit_code == 0, checked.output
    else:
        assert isinstance(checked.exception, ParseError)
        assert "claims more than it proves" in str(checked.exception)


def test_a_deep_tree():
    """Deeper than Python's calls can be within each other."""
    last = tuple(Branch((k, k + 1), 4) for k in range(1050))
    deep = [(*last[:k], Branch((k, k + 1), 2, 2)) for k in range(1050)]
    assert is_complete([*deep, last])
    assert not is_complete(deep)
    assert not is_complete([*deep[:700], *deep[701:], last])
    assert not is_complete([*deep[-3:], last])
    few = [(*last[:k], deep[k][-1]) for k in range(3)]
    assert is_complete([last[:3], *few])
    assert not is_complete([last[:3], last[:3], *few])
    assert not is_complete([last[:2], *few])
    assert not is_complete([])
    assert is_complete([()])
    assert not is_complete([(), ()])
    for most, least, is_all in ((6, 8, True), (6, 6, False), (6, 10, False), (5, 7, False)):
        sides = [(Branch((1, 2, 3), 2, most),), (Branch((1, 2, 3), least),)]
        assert is_complete(sides) == is_all, (most, least)
    assert not is_complete([(Branch((1, 2, 3), 4, 6),), (Branch((1, 2, 3), 8),)])
    assert not is_complete([(Branch((1, 2, 3), 2, 6),), (Branch((1, 2), 8),)])


def test_large_and_asymmetric_instances_are_not_checked(proved, tmp_path, monkeypatch):
    problem, _, document = proved
    file = tmp_path / "proof.json"
    file.write_text(json.dumps(document))
    read = read_proof(file, problem)
    one_way = Problem.from_matrix(np.arange(1600).reshape(40, 40) % 37, asymmetric=True)
    with pytest.raises(UnsupportedProblem, match="asymmetric"):
        proven_bound(one_way, read)
    with pytest.raises(InvalidTour):
        verdict(problem, {**document, "tour": [0] * 40}, tmp_path)
    monkeypatch.setattr(check, "MAX_CHECKED", 39)
    with pytest.raises(UnsupportedProblem, match="40 cities"):
        proven_bound(problem, read)


@pytest.mark.parametrize("seed", [1, 3, 5, 7, 9, 18])
def test_many_branches_on_edges_and_sets(seed, tmp_path, monkeypatch):
    """With hardly any cuts the tree has to do the work, and its certificates the proving."""
    leave_few_cuts(monkeypatch)
    monkeypatch.setitem(node_solver._ROUNDS, node_solver.Effort.SUBTOURS, 4)
    points = np.random.default_rng(seed).integers(0, 200, (40, 2))
    problem = Problem.from_points(points, "EUC_2D", open=None if seed % 2 else OpenPath(start=3))
    file = tmp_path / "proof.json"
    proof = warptsp.prove(problem, construct(problem), certificate=file)
    assert proof.proved
    assert proven_bound(problem, read_proof(file, problem)) == proof.length
    monkeypatch.undo()
    assert warptsp.prove(problem).length == proof.length
    if seed == 18:
        sizes = {
            len(branch[0]) for leaf in json.loads(file.read_text())["leaves"] for branch in leaf["branches"]
        }
        assert max(sizes) > 2


@pytest.mark.parametrize("seed", range(4))
def test_edges_that_the_tree_lacks_come_when_they_are_priced(seed, tmp_path, monkeypatch):
    monkeypatch.setattr(branch_and_cut, "NEAR", 0.0)
    monkeypatch.setattr(node_program, "NEAR", 0.0)
    monkeypatch.setattr(branching, "CANDIDATES", 1)
    half = np.triu(np.random.default_rng(seed).integers(1, 30, (40, 40)), 1)
    problem = Problem.from_matrix(half + half.T)
    file = tmp_path / "proof.json"
    proof = warptsp.prove(problem, construct(problem), certificate=file)
    assert proof.proved
    assert proven_bound(problem, read_proof(file, problem)) == proof.length
    monkeypatch.undo()
    assert warptsp.prove(problem).length == proof.length


# The right sides of cuts


def test_the_least_walk_through_classes():
    path = np.abs(np.subtract.outer(np.arange(5), np.arange(5))).astype(np.int64)
    assert check._least_walk(path) == 8
    assert check._least_walk(path[:2, :2]) == 2


def lengths_of(sets, k, weights=None):
    """Count the sets that an edge between two classes leaves."""
    member = np.array([[c in chosen for c in range(k)] for chosen in sets], dtype=np.int64)
    weights = np.ones(len(sets), dtype=np.int64) if weights is None else np.array(weights)
    return (weights[:, None, None] * np.abs(member[:, :, None] - member[:, None, :])).sum(axis=0)


def test_what_is_no_comb():
    teeth = [[2, 3], [4, 5], [6, 7]]
    comb = [[1, 2, 4, 6], *teeth]
    assert check._is_star(lengths_of(comb, 8), 10, comb)
    assert not check._is_star(lengths_of(comb, 8), 11, comb)
    assert not check._is_star(lengths_of(comb, 8) + 1, 10, comb)
    for wrong in (
        [[1, 2, 4], *teeth],  # a tooth outside the handle
        [[1, 2, 3, 4, 6], *teeth],  # one inside
        [[1, 2, 4, 6], *teeth[:2]],
        [[1, 2, 4, 6], [2, 3], [3, 4, 5], [6, 7]],
        [[1, 2, 4, 6]],
        [[1, 2, 4, 6], *teeth, []],
    ):
        assert not check._is_star(lengths_of(wrong, 8), 3 * len(wrong) - 2, wrong)


def test_rows_of_a_chip_are_proved_with_stars(tmp_path):
    rng = np.random.default_rng(7)
    points = np.unique(
        np.stack([rng.integers(0, 51, 180) * 20, rng.integers(0, 3, 180) * 200], axis=1), axis=0
    )
    problem = Problem.from_points(points[rng.permutation(len(points))[:60]].astype(float), "EUC_2D")
    file = tmp_path / "proof.json"
    proof = warptsp.prove(problem, seed=0, certificate=file)
    assert proof.proved
    certificate = read_proof(file, problem)
    used = {number for leaf in certificate.leaves for number, _ in leaf.evidence.cuts}
    combs = [cut for number, cut in certificate.cuts.items() if number in used and len(cut[1]) > 16]
    assert any(len(comb) > 1 and set(comb[0]) <= set(comb[1]) for _, _, _, comb in combs)
    assert proven_bound(problem, certificate) == proof.length


@pytest.mark.parametrize("seed", range(30))
def test_stars_are_what_the_shortest_walk_says(seed):
    # Classes in rows, and some outside; handles that end at any place of a row, two of them at the same one.
    rng = np.random.default_rng(seed)
    rows, k = [[1, 2, 3], [4, 5, 6], [7, 8]] + ([[9, 10]] if seed % 2 else []), 11
    first = np.sort(rng.integers(1, 3, (3, len(rows))), axis=0)
    handles = [[c for row, end in zip(rows, ends, strict=True) for c in row[:end]] for ends in first]
    teeth = [row for row in rows if len(row) > 1]
    weights = []
    for tooth in teeth:
        inside = [len(set(handle) & set(tooth)) for handle in handles]
        weights.append(max([inside.count(i) for i in set(inside) if 0 < i < len(tooth)], default=0))
    sets = [*handles, *teeth]
    lengths = lengths_of(sets, k, [1, 1, 1, *weights])
    crossed = [sum(0 < len(set(h) & set(tooth)) < len(tooth) for tooth in teeth) for h in handles]
    bound = sum(t + t % 2 for t in crossed) + 2 * sum(weights)
    assert check._is_star(lengths, bound, sets)
    assert not check._is_star(lengths, bound + 1, sets)
    assert check._least_walk(lengths) >= bound


@pytest.mark.parametrize("seed", range(30))
def test_dominoes_are_what_the_shortest_walk_says(seed):
    rng = np.random.default_rng(seed)
    k, count = 9, 3 if seed % 3 else 5
    handle = np.flatnonzero(rng.random(k) < 0.5).tolist()
    sets, lengths = [handle], np.zeros((k, k), dtype=np.int64)
    odd = lengths_of([handle], k)
    for _ in range(count):
        sides = rng.permutation([0, 1, 2, *rng.integers(0, 3, k - 3)])
        one, other = (np.flatnonzero(sides == side).tolist() for side in (1, 2))
        sets += [one, other]
        across = lengths_of([one, other], k) == 2
        lengths += lengths_of([one + other], k) + across
        odd += across
    lengths += odd % 2
    bound = 3 * count + 1
    assert check._has_dominoes(lengths, bound, sets)
    assert check._least_walk(lengths) >= bound
    assert check.is_valid((np.arange(k), lengths, bound, sets))
    assert not check._has_dominoes(lengths, bound + 1, sets)
    assert not check._has_dominoes(lengths - 1, bound, sets)
    for wrong in (
        sets[:-2],  # an even number
        [*sets[:-1], sorted({*sets[-1], sets[-2][0]})],  # one class in A and in B
        [*sets[:-1], sorted({*range(k)} - {*sets[-2]})],  # nothing is left out
        [*sets[:-1], []],
    ):
        counted = np.zeros_like(lengths)
        odd = lengths_of(wrong[:1], k)
        for one, other in zip(wrong[1::2], wrong[2::2], strict=True):
            across = np.isin(np.arange(k), one)[:, None] & np.isin(np.arange(k), other)
            counted += lengths_of([sorted({*one, *other})], k) + (across | across.T)
            odd += across | across.T
        assert not check._has_dominoes(counted + odd % 2, 1, wrong)


# The commands


def test_a_proof_that_is_stopped_has_a_certificate_of_its_bound(few_cuts, tmp_path):
    file, stopped = tmp_path / "proof.json", 0
    for seed in range(8):
        points, metric = whole_points(40, seed), ["euclidean", "EUC_2D"][seed % 2]
        problem = Problem.from_points(points, metric)
        best = warptsp.prove(problem).length
        for calls in (0, 5, 20):
            left = iter(range(calls))
            start = construct(problem, "random", seed=seed)
            proof = warptsp.prove(
                problem, start, callback=lambda _, left=left: next(left, None) is None, certificate=file
            )
            assert proof.certified
            bound = proven_bound(problem, read_proof(file, problem))
            assert bound == pytest.approx(proof.lower_bound, rel=1e-11), f"seed {seed}, {calls} calls"
            assert bound <= best, f"seed {seed}, {calls} calls"
            stopped += not proof.proved
    assert stopped > 8


def run(*arguments):
    return CliRunner().invoke(commands, [str(argument) for argument in arguments])


@pytest.fixture
def places(tmp_path):
    file = tmp_path / "places.csv"
    np.savetxt(file, whole_points(90, 6), delimiter=",", header="x,y", comments="", fmt="%d")
    return file


def test_a_bound_that_coarse_units_leave_has_a_certificate(tmp_path):
    """Lengths near 2**51 are counted in units of 16, and the tree ends where some shorter tour is left."""
    matrix = np.triu(2**51 - np.random.default_rng(7).integers(0, 100, (7, 7)), 1)
    problem, file = Problem.from_matrix(matrix + matrix.T), tmp_path / "proof.json"
    proof = warptsp.prove(problem, certificate=file)
    assert (proof.proved, proof.certified) == (False, True)
    assert proven_bound(problem, read_proof(file, problem)) == proof.lower_bound > 0
    again = warptsp.prove(problem, resume=file)
    assert (again.length, again.lower_bound) == (proof.length, proof.lower_bound)


def test_commands(places, tmp_path):
    tour, proof = tmp_path / "best.tour", tmp_path / "proof.json"
    told = run("prove", places, "--output", tour, "--certificate", proof)
    assert told.exit_code == 0
    assert "optimal, proved" in told.output
    checked = run("check", places, tour, "--certificate", proof)
    assert checked.exit_code == 0
    assert "optimal, proved: no tour is shorter" in checked.output
    again = json.loads(run("prove", places, "--tour", tour, "--json").stdout)
    assert again["proved_optimal"]
    stopped = run(
        "prove", places, "--tour", tour, "--time-limit", "0", "--certificate", tmp_path / "none.json"
    )
    assert "not written" in stopped.output
    assert not (tmp_path / "none.json").exists()
    bound = run(
        "prove", places, "--no-tree", "--tour", tour, "--certificate", tmp_path / "bound.json", "--json"
    )
    checked = run("check", places, tour, "--certificate", tmp_path / "bound.json", "--json")
    assert json.loads(checked.stdout)["lower_bound"] == json.loads(bound.stdout)["lower_bound"]
    document = json.loads(proof.read_text())
    document["leaves"] = []
    proof.write_text(json.dumps(document))
    refused = run("check", places, tour, "--certificate", proof)
    assert refused.exit_code != 0
    assert "claims more than it proves" in str(refused.output) + str(refused.exception)
    assert json.loads(run("check", places, tour, "--json").stdout)["proved_optimal"] is None


def test_of_two_real_tours_the_longer_one_is_not_said_to_be_the_shortest(tmp_path):
    """What a proof leaves open of real lengths is told wherever a tour is called optimal."""
    n = 14
    matrix = np.full((n, n), 5.0)
    ring = np.arange(n)
    matrix[ring, (ring + 1) % n] = 1.0
    matrix[0, 2] = matrix[1, 3] = 1.0 + 2e-7  # instead of two edges of the ring
    matrix = np.minimum(matrix, matrix.T)
    instance, file = tmp_path / "ring.csv", tmp_path / "proof.json"
    instance.write_text("\n".join(",".join(map(repr, row)) for row in matrix.tolist()) + "\n")
    assert warptsp.prove(Problem.from_matrix(matrix), ring, certificate=file).proved
    said = []
    for number, tour in enumerate((ring, [0, 2, 1, *range(3, n)])):
        path = tmp_path / f"{number}.tour"
        warptsp.write_tour(path, np.array(tour, dtype=np.int32), Problem.from_matrix(matrix))
        said.append(run("check", instance, path, "--metric", "EXPLICIT", "--certificate", file).output)
    assert "optimal, proved: no tour is shorter\n" in said[0]
    assert "optimal, proved: no tour is shorter than 14, which is rounded down\n" in said[1]


def test_without_the_extra_one_line_says_how_to_get_it(places, monkeypatch):
    monkeypatch.setitem(sys.modules, "highspy", None)
    for command in (["prove", places], ["solve", places, "--prove", "-q"]):
        told = run(*command)
        assert told.exit_code != 0
        assert "pip install 'warptsp[prove]'" in str(told.output) + str(told.exception)
        assert str(told.exception).count("\n") == 0


def test_a_log_says_where_a_proof_is(places, monkeypatch):
    """Lines of a log come every ten seconds; here nobody waits that long."""
    monkeypatch.setattr(prove_command, "LOG_SECONDS", 0.0)
    monkeypatch.setattr(_display, "QUICK_PHASE", 0.0)
    told = run("prove", places)
    assert told.exit_code == 0
    lines = [line for line in told.stderr.splitlines() if "proving: " in line]
    assert lines
    assert all("none below" in line for line in lines)
    assert "too long" in lines[-1]
    assert not run("prove", places, "-q").stderr
