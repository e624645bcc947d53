"""Groups that are searched as floors of one path; no plan has more travel than the nearest stroke next."""

import importlib

import numpy as np
import pytest

from warptsp.strokes import arrange
from warptsp.strokes.model import Ordering


@pytest.mark.parametrize("machine", ["euclidean", "max"])
@pytest.mark.parametrize("back", [False, True])
def test_floors_keep_groups_and_are_no_longer_than_one_after_the_other(monkeypatch, machine, back):
    rng = np.random.default_rng(4)
    paths = [rng.random((2, 2)) * 10 + rng.random(2) * 100 for _ in range(120)]
    groups = rng.integers(0, 4, 120).tolist()
    options = {
        "home": [0, 0],
        "back": back,
        "groups": groups,
        "machine": machine,
        "kicks": 1000,
        "threads": 1,
    }
    together = arrange(paths, device="cpu", **options)
    assert [groups[i] for i in together.order] == sorted(groups)
    monkeypatch.setattr(importlib.import_module("warptsp.strokes.parts"), "FLOORS", 1)
    apart = arrange(paths, device="cpu", **options)
    assert [groups[i] for i in apart.order] == sorted(groups)
    assert together.travel <= 1.02 * apart.travel


def test_no_time_is_time_for_a_curve():
    rng = np.random.default_rng(0)
    paths = list(rng.random((500, 1, 2)) + 0.01 * rng.random((500, 2, 2)))
    plan = arrange(paths, time_limit=0, device="cpu")
    assert plan.travel < 0.2 * plan.travel_before


def by_nearest(paths, groups, around, free, norm):
    """Always the nearest end, slowly: group after group, and nothing before what lies in it."""
    at, left, order, travel = np.zeros(2), set(range(len(paths))), [], 0.0
    while left:
        group = min(groups[i] for i in left)
        waiting = {around[j] for j in left}
        ready = [i for i in left if groups[i] == group and i not in waiting]
        ways = [(i, False) for i in ready] + [(i, True) for i in ready if free[i]]
        ends = np.array([paths[i][-1 if back else 0] for i, back in ways])
        costs = np.linalg.norm(ends - at, ord=norm, axis=1)
        best = int(np.argmin(costs))
        i, back = ways[best]
        travel += costs[best]
        at = paths[i][0 if back else -1]
        order.append(i)
        left.remove(i)
    return travel, order


def square(low, size):
    return low + size * np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]], dtype=float)


def drawing(rng, n, loops, nested):
    """Strokes, and closed ones: anywhere, or each around the one before, and around no other."""
    paths, around = [], [-1] * n
    for i in range(n):
        if nested and i % 3:
            paths.append(square(paths[-1][0] - 1, paths[-1][1, 0] - paths[-1][0, 0] + 2))
            around[i - 1] = i
        elif nested:  # each three in a cell of their own, for chance must put none into another
            cell = np.array(divmod(i // 3, 10)) * 100.0
            paths.append(square(cell + 20 + rng.random(2) * 50, 1 + 5 * rng.random()))
        elif loops and i % 2:
            paths.append(square(rng.random(2) * 1000, 1 + 5 * rng.random()))
        else:
            paths.append(rng.random(2) * 1000 + rng.random((rng.integers(1, 4), 2)) * 50)
    return paths, around


@pytest.mark.parametrize("kind", ["strokes", "loops", "nested", "one way", "some one way"])
@pytest.mark.parametrize("groups", [1, 7])
@pytest.mark.parametrize("machine", ["euclidean", "max"])
@pytest.mark.parametrize(("n", "seconds"), [(1, 0.0), (30, 0.0), (120, 0.0), (120, 0.02)])
def test_never_more_travel_than_the_nearest_next(n, seconds, machine, groups, kind):
    seed = np.random.SeedSequence().entropy % 10**6
    rng = np.random.default_rng(seed)
    paths, around = drawing(rng, n, kind == "loops", kind == "nested")
    free = np.full(n, kind != "one way")
    if kind == "some one way":
        free = rng.random(n) < 0.5
    group = np.zeros(n, dtype=int) if kind == "nested" else rng.integers(0, groups, n)
    travel, _ = by_nearest(paths, group, around, free, np.inf if machine == "max" else 2)
    plan = arrange(paths, home=[0, 0], groups=group.tolist(), reversible=free, inner_first=kind == "nested",
                   machine=machine, time_limit=seconds, threads=1, device="cpu")  # fmt: skip
    assert plan.travel <= travel * (1 + 1e-12), f"seed {seed}"
    assert (np.diff(group[plan.order]) >= 0).all(), f"seed {seed}"


def test_a_search_that_finds_nothing_good_is_not_taken(monkeypatch):
    """As on a busy machine: a tour of which only the beginning has been improved."""
    module = importlib.import_module("warptsp.strokes.parts")
    rng = np.random.default_rng(5)
    paths, around = drawing(rng, 300, True, False)
    groups = rng.integers(0, 5, 300)
    travel, _ = by_nearest(paths, groups, around, np.ones(300, dtype=bool), 2)

    def poor(section, *_):
        return Ordering(rng.permutation(len(section.units)), np.zeros(len(section.units), dtype=np.bool_))

    monkeypatch.setattr(module, "searched", poor)
    for group in (groups.tolist(), None):
        plan = arrange(paths, home=[0, 0], groups=group, kicks=1000, threads=1, device="cpu")
        if group is None:
            travel, _ = by_nearest(paths, [0] * 300, around, np.ones(300, dtype=bool), 2)
        assert plan.travel <= travel * (1 + 1e-12)
