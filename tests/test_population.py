"""Tours that are made elsewhere join a population, and crossover makes better ones of them."""

import numpy as np
import pytest

from warptsp import _native
from warptsp.backends.cpu import tour_search
from warptsp.backends.instance import SearchInstance
from warptsp.generate import dimacs
from warptsp.methods.lk import LkParams


@pytest.fixture(scope="module")
def instance():
    token = _native.StopToken()
    built = SearchInstance.build(dimacs("E1k.0"), token)
    return built, built.candidates(8, 2, 1, token)


def fragments(candidates, count=5, seed=1, round=1, threads=2):
    return _native.random_fragments(
        candidates=candidates, count=count, seed=seed, round=round, threads=threads
    )


def test_random_fragments_are_different_tours(instance):
    _, candidates = instance
    tours = fragments(candidates)
    n = len(candidates)
    assert tours.shape == (5, n)
    np.testing.assert_array_equal(np.sort(tours, axis=1), np.tile(np.arange(n), (5, 1)))
    links = [
        {tuple(sorted(link)) for link in zip(tour, np.roll(tour, 1), strict=True)} for tour in tours.tolist()
    ]
    assert all(len(a & b) < 0.7 * n for k, a in enumerate(links) for b in links[:k])
    np.testing.assert_array_equal(tours, fragments(candidates, threads=1))
    assert (tours != fragments(candidates, seed=2)).any()
    assert (tours != fragments(candidates, round=2)).any()


def test_members_from_elsewhere_are_crossed(instance):
    built, candidates = instance
    tours = fragments(candidates, count=12)
    search = tour_search(built, candidates, tours[0], **LkParams().of_search())
    search.add(tours, 2)
    lengths = [built.problem.length(built.city[tour]) for tour in tours]
    assert search.members == 12
    assert search.best_length == min(lengths)
    assert search.mean_length == pytest.approx(np.mean(lengths))
    for number in range(1, 21):
        search.generation(selection=10, seed=1, round=number, threads=2, token=_native.StopToken())
    assert search.best_length < 0.97 * min(lengths)
    assert search.best_length == built.problem.length(built.city[search.best()])


def test_what_is_no_tour_does_not_join(instance):
    built, candidates = instance
    n = len(candidates)
    tour = np.arange(n, dtype=np.int32)
    search = tour_search(built, candidates, tour, **LkParams().of_search())
    twice = tour.copy()
    twice[3] = 4
    outside = tour.copy()
    outside[0] = n
    for wrong in (twice, outside):
        with pytest.raises(ValueError, match="names a city twice, or none"):
            search.add(np.stack([tour, wrong]), 1)
    with pytest.raises(ValueError, match="other cities"):
        search.add(tour[None, :-1].copy(), 1)
    assert search.members == 0
