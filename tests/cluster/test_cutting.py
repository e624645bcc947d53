"""Cutting a tour into parts, and linking what comes back."""

import threading
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from warptsp._native import TourCut
from warptsp.cluster.cutting import cut_boxes, cut_stretches, link, put
from warptsp.construct import construct
from warptsp.errors import InvalidTour
from warptsp.problem import Problem

Edge = frozenset[int]


def edges_of(cycle: Iterable[int]) -> set[Edge]:
    cities = [int(city) for city in cycle]
    return {frozenset(pair) for pair in zip(cities, cities[1:] + cities[:1], strict=True)}


def kept_links(begin: NDArray[np.int32]) -> set[Edge]:
    """The links of a part, in its own numbers, that stand for the tour outside."""
    return {frozenset((int((first - 1) % begin[-1]), int(first))) for first in begin[:-1]}


def random_answer(begin: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int32]:
    """A closed tour with the links that must stay, and nothing else of the old one but by chance."""
    size = int(begin[-1])
    if len(begin) - 1 == size:
        whole = np.arange(size)
    else:
        kept = np.zeros(size, dtype=bool)  # the link in front of a city
        kept[begin[:-1]] = True
        first = int(np.flatnonzero(~kept)[0])
        chains: list[list[int]] = []
        for city in (np.arange(size) + first) % size:
            if kept[city]:
                chains[-1].append(city)
            else:
                chains.append([city])
        rng.shuffle(chains)
        whole = np.concatenate([chain[:: rng.choice([-1, 1])] for chain in chains])
    return np.roll(whole, rng.integers(size))[:: rng.choice([-1, 1])].astype(np.int32)


class Reference:
    """What the parts make of the tour, slowly."""

    def __init__(self, cut: TourCut, tour: NDArray[np.int32]) -> None:
        self.inner: list[set[Edge]] = []
        begins = set()
        for part in range(cut.parts):
            cities, begin = cut.cities(part), cut.path_begin(part)
            begins.update(int(cities[first]) for first in begin[:-1])
            paths = [cities[a:b].tolist() for a, b in pairwise(begin)]
            self.inner.append({frozenset(p) for path in paths for p in pairwise(path)})
        self.gaps = [
            frozenset((int(tour[i - 1]), int(tour[i]))) for i in range(len(tour)) if int(tour[i]) in begins
        ]

    def answer(
        self, part: int, cities: NDArray[np.int32], begin: NDArray[np.int32], order: NDArray[np.int32]
    ) -> None:
        if len(cities) > 3:
            links = edges_of(order) - kept_links(begin)
            self.inner[part] = {frozenset(int(cities[city]) for city in link) for link in links}

    def links(self) -> list[Edge]:
        return [*self.gaps, *(link for inner in self.inner for link in inner)]

    def closed_tours(self, n: int) -> int:
        neighbours: list[list[int]] = [[] for _ in range(n)]
        for a, b in map(tuple, self.links()):
            neighbours[a].append(b)
            neighbours[b].append(a)
        assert all(len(own) == 2 for own in neighbours)
        seen: set[int] = set()
        count = 0
        for first in range(n):
            if first not in seen:
                count += 1
                todo = [first]
                while todo:
                    city = todo.pop()
                    if city not in seen:
                        seen.add(city)
                        todo += neighbours[city]
        return count


def made_cut(
    kind: str,
    problem: Problem,
    tour: NDArray[np.int32],
    parts: int,
    rng: np.random.Generator,
    threads: int = 1,
) -> TourCut:
    if kind == "boxes":
        return cut_boxes(problem, tour, parts, rng, threads)
    return cut_stretches(problem, tour, parts, int(rng.integers(len(tour))), threads)


def in_strips(points: NDArray[np.float64], strips: int) -> NDArray[np.int32]:
    """A tour that goes through strips one after the other: its cuts have long paths."""
    return np.lexsort((points[:, 0], (points[:, 1] * strips).astype(int))).astype(np.int32)


@pytest.mark.parametrize("kind", ["stretches", "boxes"])
def test_parts_hold_the_tour_as_paths(kind: str) -> None:
    n = 40_000
    problem = Problem.from_points(np.random.default_rng(1).random((n, 2)))
    tour = in_strips(problem.given_coordinates(), 60)
    place = np.empty(n, dtype=np.int64)
    place[tour] = np.arange(n)
    for threads in (1, 3):
        cut = made_cut(kind, problem, tour, 7, np.random.default_rng(2), threads)
        label = np.full(n, -1)
        for part in range(cut.parts):
            label[cut.cities(part)] = part
        assert (label >= 0).all()
        rotations = 0
        for part in range(cut.parts):
            own, begin = place[cut.cities(part)], cut.path_begin(part)
            inside = np.ones(len(own) - 1, dtype=bool)
            inside[begin[1:-1] - 1] = False
            assert (np.diff(own)[inside] % n == 1).all()
            assert (np.flatnonzero(np.diff(own) < 0).size) <= 1  # in tour order from the rotation on
            rotations += (label[tour[(own[begin[:-1]] - 1) % n]] == part).sum()
        assert rotations <= 1  # a path may end only where the reading of the tour began
        sizes = [cut.size(part) for part in range(cut.parts)]
        assert (cut.parts, sum(sizes)) == (7, n)
        if kind == "stretches":
            assert max(sizes) - min(sizes) <= 1
            assert cut.paths == 7
        else:
            # Random cuts shift a quarter of a part's share, samples some per cent.
            assert max(sizes) < 2 * min(sizes)
            assert cut.paths > 100
        linked, closed_tours = link(cut, problem, threads)
        assert edges_of(linked) == edges_of(tour)
        assert closed_tours == 1


@pytest.mark.parametrize("kind", ["stretches", "boxes"])
def test_any_valid_answers_make_a_tour(kind: str) -> None:
    seed = int(np.random.default_rng().integers(1 << 32))
    print("seed", seed)
    rng = np.random.default_rng(seed)
    several = 0
    for _ in range(150):
        n = int(rng.integers(8, 200))
        points = rng.random((n, 2))
        if rng.random() < 0.2:
            points = np.round(points, 1)  # coincident cities
        tour = in_strips(points, 5) if rng.random() < 0.7 else rng.permutation(n).astype(np.int32)
        at = rng.choice(n - 1, rng.integers(1, n // 2), replace=False)[: rng.choice([0, n])]
        problem = Problem.from_points(points, fixed_edges=np.stack([tour[at], tour[at + 1]], axis=1))
        threads = int(rng.integers(1, 4))
        cut = made_cut(kind, problem, tour, int(rng.integers(1, 9)), rng, threads)
        reference = Reference(cut, tour)
        for part in np.flatnonzero(rng.random(cut.parts) < 0.7).tolist():
            cities, begin = cut.cities(part), cut.path_begin(part)
            order = random_answer(begin, rng)
            reference.answer(part, cities, begin, order)
            put(cut, part, order)
            assert edges_of(cut.cities(part)) >= reference.inner[part]
        linked, closed_tours = link(cut, problem, threads)
        if linked is None:
            assert len(at)
            continue
        assert linked.dtype == np.int32
        problem.check_tour(linked)
        assert closed_tours == reference.closed_tours(n)
        several += closed_tours > 1
        lost = set(reference.links()) - edges_of(linked)
        assert len(lost) <= 2 * (closed_tours - 1)
        if closed_tours == 1:
            assert edges_of(linked) == set(reference.links())
        assert np.array_equal(linked, link(cut, problem, 1)[0])
    assert several > 10 if kind == "boxes" else several == 0


def test_closed_tours_are_joined_where_that_is_cheap() -> None:
    rng = np.random.default_rng(3)
    problem = Problem.from_points(rng.random((20_000, 2)))
    tour = construct(problem, "space-filling", seed=0, threads=1, token=None)
    assert tour is not None
    cut = cut_boxes(problem, tour, 8, rng, 1)
    reference = Reference(cut, tour)
    for part in range(cut.parts):
        cities, begin = cut.cities(part), cut.path_begin(part)
        order = random_answer(begin, rng)
        reference.answer(part, cities, begin, order)
        put(cut, part, order)
    linked, closed_tours = link(cut, problem, 1)
    assert linked is not None
    problem.check_tour(linked)
    links = np.array([sorted(edge) for edge in reference.links()])
    before = problem.distance(links[:, 0], links[:, 1]).sum()
    assert closed_tours == reference.closed_tours(problem.n) > 1
    # A gap is about as long as the distance of neighbours, 0.007.
    assert problem.length(linked) - before < 0.05 * (closed_tours - 1)


def test_the_same_cut_whatever_the_threads_and_the_order_of_answers() -> None:
    rng = np.random.default_rng(4)
    problem = Problem.from_points(rng.random((100_000, 2)), "EUC_2D")
    tour = rng.permutation(100_000).astype(np.int32)
    results = []
    for threads in (1, 2, 5):
        cut = cut_boxes(problem, tour, 5, np.random.default_rng(5), threads)
        answers = [
            random_answer(cut.path_begin(part), np.random.default_rng(part)) for part in range(cut.parts)
        ]
        putting = [threading.Thread(target=put, args=(cut, part, answers[part])) for part in range(cut.parts)]
        for thread in putting[:: 1 if threads == 1 else -1]:
            thread.start()
        for thread in putting:
            thread.join()
        results.append(link(cut, problem, threads)[0])
    assert all(np.array_equal(results[0], other) for other in results[1:])


def test_bad_answers_are_refused_and_change_nothing() -> None:
    rng = np.random.default_rng(6)
    problem = Problem.from_points(rng.random((300, 2)))
    tour = in_strips(problem.given_coordinates(), 9)
    cut = cut_boxes(problem, tour, 3, rng, 1)
    begin = cut.path_begin(1)
    size = int(begin[-1])
    good = random_answer(begin, rng)
    twice, outside, lacking = good.copy(), good.copy(), np.arange(size, dtype=np.int32)
    twice[3] = twice[5]
    outside[3] = size
    lacking[[begin[1] - 1, begin[1] - 2]] = lacking[[begin[1] - 2, begin[1] - 1]]
    for bad, message in (
        (good[:-1], f"has {size - 1} cities, the part has {size}"),
        (twice, f"has city {twice[5]} twice"),
        (outside, f"has city {size}: they are counted from 0 to {size - 1}"),
        (-good, "has city -"),
        (good.astype(np.int64) + (1 << 32), "has city 2147483647"),
        (lacking, "lacks 1 of the"),
        (rng.permutation(size), "edges between its paths"),
        (good.astype(float), "a row of integers"),
        (good.reshape(1, -1), "a row of integers"),
    ):
        with pytest.raises(InvalidTour, match=f"part 1 .*{message}"):
            put(cut, 1, bad)
        assert edges_of(link(cut, problem, 1)[0]) == edges_of(tour)
    put(cut, 1, good.astype(np.uint64))
    with pytest.raises(InvalidTour, match="part 1 has its answer already"):
        put(cut, 1, good)
    with pytest.raises(IndexError, match="no part 3 of 3"):
        put(cut, 3, good)


def test_geographic_coordinates_are_cut_as_they_are() -> None:
    rng = np.random.default_rng(7)
    degrees = np.stack([rng.uniform(-80, 80, 500), rng.uniform(-180, 180, 500)], axis=1)
    tour = rng.permutation(500).astype(np.int32)
    for metric in ("GEO", "GREAT_CIRCLE"):
        problem = Problem.from_points(degrees, metric)
        cut = cut_boxes(problem, tour, 4, rng, 1)
        for part in range(cut.parts):
            put(cut, part, random_answer(cut.path_begin(part), rng))
        problem.check_tour(link(cut, problem, 1)[0])


def test_what_cannot_be_cut_is_refused() -> None:
    problem = Problem.from_points(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="parts is 0"):
        cut_stretches(problem, np.arange(3, dtype=np.int32), 0, 0, 1)
    with pytest.raises(ValueError, match="5"):
        cut_stretches(problem, np.array([0, 1, 5], dtype=np.int32), 2, 0, 1)
