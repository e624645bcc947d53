"""Proofs about places: they hold for all cities that stand there, and so do their certificates."""

import json
from dataclasses import replace

import numpy as np
import pytest
from instances import crowded, distances, shortest

import warptsp
from warptsp import OpenPath, Problem
from warptsp.errors import ParseError, UnsupportedProblem
from warptsp.problem import Metric
from warptsp.proof import check, proven_bound, proving, read_proof
from warptsp.proof.closed_instance import ClosedInstance, provable_places

pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")

METRICS = [metric for metric in Metric if metric is not Metric.EXPLICIT]


def some_cities(random, metric):
    """Up to eleven cities at fewer places, some on a grid, with any constraints."""
    n = int(random.integers(7, 11))
    points = random.integers(0, random.choice([3, 5, 40]), (random.integers(4, n), metric.dimensions))
    points = points[
        np.concatenate([np.arange(len(points)), random.integers(0, len(points), n - len(points))])
    ]
    points = random.permutation(points) * random.choice([1.0, 1.0, 0.7])
    a, b, c, d = random.permutation(n)[:4].tolist()
    path = [None, None, None, OpenPath(), OpenPath(a), OpenPath(end=a), OpenPath(a, d)][random.integers(7)]
    fields = {"open": path, "fixed_edges": [[b, c]] if random.random() < 0.4 else []}
    problem = Problem.from_points(points, metric, **fields)
    return Problem.from_matrix(distances(problem), **fields) if random.random() < 0.2 else problem


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_what_is_proved_is_shortest_of_all_tours(metric, tmp_path):
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    print("seed", seed)
    random, file, of_places = np.random.default_rng(seed), tmp_path / "proof.json", 0
    for _ in range(12):
        problem = some_cities(random, metric)
        given = None if problem.open or len(problem.fixed_edges) else random.permutation(problem.n)
        proof = warptsp.prove(problem, given, threads=1, certificate=file)
        assert proof.proved
        assert proof.length == pytest.approx(shortest(problem), rel=0 if problem.integral else 1e-6)
        certificate = read_proof(file, problem)
        assert proven_bound(problem, certificate) == pytest.approx(proof.lower_bound, rel=1e-11)
        of_places += certificate.places is not None
    assert of_places > 2 or metric is Metric.GEO or metric.angular  # which have none


@pytest.mark.parametrize(
    ("metric", "side"), [("EUC_2D", 5), ("FLOOR_2D", 6), ("EUC_2D", 1000), ("EXACT_2D", 9)]
)
def test_proofs_of_places_are_those_of_cities(metric, side, monkeypatch):
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    print("seed", seed)
    random, detours = np.random.default_rng(seed), 0
    for tried in range(100):
        if tried >= 8 and (detours or metric == "EXACT_2D"):  # often one of them has detours, but not always
            break
        points = np.unique(random.integers(0, side, (24, 2)), axis=0)
        points = points[random.integers(0, min(14, len(points)), 30)]
        problem = Problem.from_points(points.astype(float), metric)
        proof = warptsp.prove(problem, threads=1)
        instance = ClosedInstance.of(problem, proof.length, places=provable_places(problem))
        detours += instance.over is not None
        with monkeypatch.context() as patch:
            patch.setattr(proving, "provable_places", lambda problem: None)
            of_cities = warptsp.prove(problem, threads=1)
        assert proof.proved
        assert of_cities.proved
        assert proof.length == pytest.approx(of_cities.length, rel=0 if problem.integral else 1e-6)
    assert (detours > 0) == (metric != "EXACT_2D")


@pytest.mark.parametrize("hubs", [2, 3])
def test_where_a_place_has_too_few_cities_the_proof_is_about_cities(hubs, tmp_path):
    """Every second edge would like to lead over the hub, which rounding makes nearer than it is."""
    n, file = hubs + 9, tmp_path / "proof.json"
    matrix = np.full((n, n), 3)
    matrix[:hubs], matrix[:, :hubs] = 1, 1
    matrix[:hubs, :hubs] = 0
    np.fill_diagonal(matrix, 0)
    problem = Problem.from_matrix(matrix)
    assert provable_places(problem) is not None
    proof = warptsp.prove(problem, threads=1, certificate=file)
    assert proof.proved
    assert proof.length == shortest(problem)
    certificate = read_proof(file, problem)
    assert certificate.places is None
    assert proven_bound(problem, certificate) == proof.length


def test_many_cities_at_few_places(monkeypatch, tmp_path):
    monkeypatch.setattr(proving, "MAX_CITIES", 60)
    monkeypatch.setattr(check, "MAX_CHECKED", 60)
    problem, file = crowded(60, 4), tmp_path / "proof.json"
    proof = warptsp.prove(problem, threads=1, certificate=file)
    assert proof.proved
    assert proof.length == warptsp.prove(crowded(60, 1), threads=1).length
    assert proven_bound(problem, read_proof(file, problem)) == proof.length
    assert warptsp.solve(problem, prove=True, threads=1, device="cpu").proved_optimal
    with pytest.raises(UnsupportedProblem, match="61 places of cities: proofs are for up to 60"):
        warptsp.prove(crowded(61, 4))
    monkeypatch.setattr(check, "MAX_CHECKED", 59)
    with pytest.raises(UnsupportedProblem, match="60 places, and proofs are checked up to 59"):
        proven_bound(problem, read_proof(file, problem))


def test_a_certificate_of_places_is_about_the_cities_of_the_instance(tmp_path, monkeypatch):
    problem, file = crowded(20, 3), tmp_path / "proof.json"
    warptsp.prove(problem, threads=1, certificate=file)
    document = json.loads(file.read_text())
    assert (document["cities"], document["places"]) == (60, 20)
    assert sorted(document["tour"]) == list(range(60))
    # One city elsewhere: there is a place more.
    moved = np.array(problem.coordinates)
    moved[7] += 3
    other = Problem.from_points(moved, "EUC_2D")
    with pytest.raises(ParseError, match="places is 20, and the instance has 21"):
        read_proof(file, other)
    # Even a contraction that goes wrong is not believed.
    places, certificate = provable_places(problem), read_proof(file, problem)
    monkeypatch.setattr(check, "provable_places", lambda problem: places)
    assert proven_bound(problem, certificate) is not None
    tour = replace(certificate, length=other.length(certificate.tour))
    assert proven_bound(other, tour) is None
    together = Problem.from_points(problem.coordinates, "EUC_2D", fixed_edges=[certificate.tour[2:4]])
    assert proven_bound(together, certificate) is None
    document["places"] = 60
    file.write_text(json.dumps(document))
    with pytest.raises(ParseError, match="places is 60, and the instance has 20"):
        read_proof(file, problem)


def test_an_unfinished_proof_of_places_goes_on(few_cuts, tmp_path):
    problem, file = crowded(80, 3), tmp_path / "unfinished.json"
    whole = warptsp.prove(problem, threads=1)
    assert whole.nodes > 3
    for rounds in (0, 4, 40):
        told = []

        def stop(progress, told=told, rounds=rounds):
            told.append(progress.lower_bound)
            return len(told) > rounds

        first = warptsp.prove(problem, whole.tour, threads=1, callback=stop, checkpoint=file)
        assert json.loads(file.read_text())["places"] == 80
        on = warptsp.prove(problem, threads=1, resume=file)
        assert on.proved
        assert on.length == whole.length >= first.lower_bound
