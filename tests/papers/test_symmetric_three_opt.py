"""Symmetrical 3-opt: 3-optimal tours, those of its definition, the same on every device."""

import itertools

import numpy as np
import pytest
from instances import MATRICES, distances, problem_of
from test_symmetric import OTHERS, PLANAR, best_gain, closed, same_cycle, tolerance

import warptsp

METHOD = "symmetric-three-opt"


def solve(problem, start="random", **options):
    return warptsp.solve(problem, **{"method": METHOD, "start": start, "bound": False, **options})


def best_gain_of_three(problem, tour):
    """The most that the exchange of three edges can gain, but for those that must stay; by brute force."""
    d, t, free = closed(problem, tour)
    u = np.roll(t, -1)
    triples = list(itertools.combinations(np.flatnonzero(free), 3))
    i, j, k = np.array(triples, dtype=np.intp).reshape(-1, 3).T
    a, b, first, last = (u[i], t[j]), (u[j], t[k]), t[i], u[k]  # what lies between the edges
    old = d[first, a[0]] + d[a[1], b[0]] + d[b[1], last]
    most = 0.0
    for x, y in itertools.product((a, a[::-1]), (b, b[::-1])):
        for one, two in ((x, y), (y, x)):
            gains = old - (d[first, one[0]] + d[one[1], two[0]] + d[two[1], last])
            most = max(most, gains.max(initial=0.0))
    return most


def reference(problem, tour):
    """Rows, groups and rungs as triples.h numbers them; moves by edges that go and come, and
    the tour by a walk along them. Slow and obvious."""
    d, least, t = distances(problem).tolist(), tolerance(problem), [int(city) for city in tour]
    n = len(t)
    ranges = -(-n // 32)
    rows = [
        (turned, apart, 32 * r) for apart in range(2, n) for turned in (False, True) for r in range(ranges)
    ]

    def triples(row, group):
        """By rung: the positions of the three edges, each from its strand's beginning to its end."""
        turned, apart, begin = row
        for rung in range(32):
            i, middle = begin + rung, group - 2 * rung if turned else group
            if 1 <= middle < apart and (i < n if turned else i + apart < n):
                j, k = (i + middle) % n, (i + apart) % n
                b = ((j + 1) % n, j) if turned else (j, (j + 1) % n)
                yield rung, ((i, (i + 1) % n), b, (k, (k + 1) % n)), middle

    def gain(edges):
        (a, b), (c, e), (f, g) = (tuple(t[p] for p in edge) for edge in edges)
        return d[a][b] + d[c][e] + d[f][g] - d[a][e] - d[c][g] - d[f][b]

    def first_move(row):
        turned, apart, _ = row
        for group in range(1, apart + (62 if turned else 0)):
            accepted = [entry for entry in triples(row, group) if gain(entry[1]) > least]
            if accepted:
                low, _, middle = accepted[0]
                room = n - apart if turned else min(n - apart, middle, apart - middle)
                accepted = [entry for entry in accepted if entry[0] < low + room]
                return [edges for _, edges, _ in accepted[: len(accepted) - (len(accepted) % 3 == 2)]]
        return []

    quiet = steps = moves = 0
    while quiet < len(rows):
        made = first_move(rows[steps % len(rows)])
        if not made:
            quiet, steps = quiet + 1, steps + 1
            continue
        beside = {p: [(p - 1) % n, (p + 1) % n] for p in range(n)}

        def replace(p, old, new, beside=beside):
            beside[p][beside[p].index(old)] = new

        changes = []
        for (a, b), (c, e), (f, g) in made:
            changes += [(a, b, e), (e, c, a), (c, e, g), (g, f, c), (f, g, b), (b, a, f)]
        marked = [(p, old, ("new", new)) for p, old, new in changes]
        for change in marked:
            replace(*change)
        beside = {p: [q[1] if isinstance(q, tuple) else q for q in ends] for p, ends in beside.items()}
        start = made[0][0][0]
        order = [start, made[0][1][1]]  # from A on to B
        while len(order) < n:
            one, other = beside[order[-1]]
            order.append(other if one == order[-2] else one)
        old = t
        t = [0] * n
        for place, p in enumerate(order):
            t[(start + place) % n] = old[p]
        quiet, moves = 0, moves + len(made)
    return np.array(t), steps, moves


@pytest.mark.parametrize("kind", [*PLANAR, "GEO", *MATRICES])
def test_the_tour_of_the_definition(kind, device):
    for n in (5, 6, 9, 16, 33):  # the last one has two ranges of rungs
        problem = problem_of(kind, n, seed=n, side=60 if n % 2 else 1000)
        tour, steps, moves = reference(problem, np.arange(n))
        result = solve(problem, "given", device=device)
        assert same_cycle(result.tour, tour)
        assert result.counters["rows"] == steps
        assert result.counters["moves"] == moves
        assert result.counters["kicks"] == 0


@pytest.mark.parametrize("kind", [*PLANAR, *OTHERS, *MATRICES])
def test_three_optimal_in_exact_arithmetic(kind, device):
    for n in (4, 12, 45):
        problem = problem_of(kind, n)
        result = solve(problem, seed=n, device=device)
        assert best_gain_of_three(problem, result.tour) <= tolerance(problem)
        assert best_gain(problem, result.tour) <= tolerance(problem)
        assert result.length == problem.length(result.tour)
        assert result.stop_reason == "the search is complete"
