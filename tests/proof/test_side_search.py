"""The search for tours beside a proof: better tours, of the instance, the same ones for the same seed."""

import time

import numpy as np
import pytest

import warptsp
from warptsp import OpenPath, Problem, _native
from warptsp.construct import construct

pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")
from warptsp.proof import branch_and_cut, proven_bound, read_proof
from warptsp.proof.closed_instance import ClosedInstance
from warptsp.proof.proof import ProofOptions
from warptsp.proof.proving import prove_with
from warptsp.proof.side_search import search_aside


def points(n: int, seed: int = 0):
    return np.random.default_rng(seed).integers(0, 1000, (n, 2))


def searched(problem: Problem, **options):
    """Search from a random tour along all edges; the instance, the tour before and after, both closed."""
    first = construct(problem, "random", seed=1)
    instance = ClosedInstance.of(problem, problem.length(first))
    tour = instance.close(first)
    edges = np.stack(np.triu_indices(instance.size, 1), axis=1).astype(np.int32)
    options = {"members": 30, "seed": 0, "round": 1, "token": _native.StopToken(), **options}
    return instance, tour, search_aside(instance, edges, tour, **options)


@pytest.mark.parametrize("path", [None, OpenPath(), OpenPath(start=2), OpenPath(1, 2)], ids=str)
@pytest.mark.parametrize("metric", ["EUC_2D", "EXACT_2D"])
def test_an_optimal_tour_from_a_random_one(path, metric):
    problem = Problem.from_points(points(60), metric, open=path, fixed_edges=np.array([[4, 9], [9, 11]]))
    instance, _, after = searched(problem)
    tour = instance.open(after)
    problem.check_tour(tour)
    assert problem.length(tour) == warptsp.prove(problem).length


def test_a_matrix_that_is_no_metric():
    half = np.triu(np.random.default_rng(3).integers(1, 10_000, (40, 40)), 1)
    problem = Problem.from_matrix(half + half.T)
    _, before, after = searched(problem)
    assert problem.length(after) < 0.5 * problem.length(before)
    assert problem.length(after) == warptsp.prove(problem).length


def test_the_same_twice_and_others_in_another_round():
    problem = Problem.from_points(points(1000), "EUC_2D")
    tours = [searched(problem, members=3, round=round)[2] for round in (1, 1, 2)]
    assert np.array_equal(tours[0], tours[1])
    assert not np.array_equal(tours[0], tours[2])


def test_no_time_is_left_for_a_population():
    problem = Problem.from_points(points(300), "EUC_2D")
    instance, _, after = searched(problem, until=0.0)
    problem.check_tour(instance.open(after))
    assert instance.units(after) > instance.units(searched(problem)[2])


def test_too_few_cities_for_a_search_or_no_time_at_all():
    token = _native.StopToken()
    token.request()
    for n, options in (4, {}), (7, {}), (60, {"token": token}):
        _, before, after = searched(Problem.from_points(points(n), "EUC_2D"), **options)
        assert np.array_equal(before, after)


def first_length_in_tree(problem: Problem, tour) -> tuple[int, int]:
    lengths = []
    proof = warptsp.prove(problem, tour, callback=lambda now: lengths.append(now.length) if now.nodes else 0)
    assert proof.proved
    assert lengths
    return lengths[0], proof.length


def test_the_tree_begins_with_a_better_tour(few_cuts, monkeypatch):
    problem = Problem.from_points(points(100, 2), "EUC_2D")
    random = construct(problem, "random", seed=1)
    first, best = first_length_in_tree(problem, random)
    assert first == best
    monkeypatch.setattr(branch_and_cut, "search_aside", lambda instance, edges, tour, **options: tour)
    first, best = first_length_in_tree(problem, random)
    assert first > best, "the test above shows nothing"


def test_searches_in_the_tree_and_its_certificate(few_cuts, monkeypatch, tmp_path):
    """Tours come, by one member each, where edges are gone and branches are made."""
    monkeypatch.setattr(branch_and_cut, "ASIDE_AGAIN", 0)
    monkeypatch.setattr(branch_and_cut, "FEWEST_MEMBERS", 1)
    monkeypatch.setattr(branch_and_cut, "MOST_MEMBERS", 1)
    rounds = []

    def kept(instance, edges, tour, **options):
        rounds.append(options["round"])
        return search_aside(instance, edges, tour, **options) if len(rounds) > 2 else tour

    monkeypatch.setattr(branch_and_cut, "search_aside", kept)
    problem = Problem.from_points(points(120, 5), "EUC_2D", open=OpenPath(start=3))
    file = tmp_path / "proof.json"
    proof = warptsp.prove(problem, construct(problem, "random", seed=1), certificate=file)
    assert rounds == list(range(1, len(rounds) + 1))
    assert len(rounds) > 3
    assert proof.proved
    assert proven_bound(problem, read_proof(file, problem)) == proof.length


def test_a_population_comes_first_where_a_search_is_wanted():
    problem = Problem.from_points(points(200, 4), "EUC_2D")
    greedy, ended = construct(problem), []
    length = problem.length(greedy)
    for search, callback in (
        (False, lambda now: now.lower_bound > 0),
        (True, lambda now: now.length < length),
    ):
        options = ProofOptions(search=search, callback=callback)
        ended.append(prove_with(options, problem, greedy, time.monotonic()))
    assert ended[0].length == length
    assert ended[0].search_seconds == 0.0 < ended[1].search_seconds
    assert ended[1].length == warptsp.prove(problem).length


def test_a_callback_ends_the_first_search():
    problem = Problem.from_points(points(400, 5), "EUC_2D")
    calls = []
    options = ProofOptions(search=True, callback=lambda now: calls.append(now) or True)
    proof = prove_with(options, problem, construct(problem), time.monotonic())
    assert len(calls) == 1
    assert not proof.proved
    problem.check_tour(proof.tour)
    assert 0 <= proof.lower_bound < proof.length
