"""The slow and obvious check of a certificate of optimality."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.bound.certificate import proven_value
from warptsp.claims import bound_of_optimal
from warptsp.errors import UnsupportedProblem
from warptsp.problem import Problem
from warptsp.problem.places import Places
from warptsp.proof.check_sweep import MOST_EDGES, MOST_SLACK, SweptEdges, SweptRow, leaves_no_tour
from warptsp.proof.closed_instance import ClosedInstance, has_one_tour, is_optimal, provable_places
from warptsp.proof.evidence import Branch, Certificate, CutDescription, Evidence, Node

MAX_CHECKED = 3000
"""Cities up to which certificates are checked: every leaf looks at all pairs for every cut."""
MAX_PRICE = 2**62
_MAX_CLASSES = 16  # whose shortest closed walk is computed; beyond, a cut must be a star or have dominoes


def proven_bound(problem: Problem, certificate: Certificate) -> int | float | None:
    """Return a length below which no tour is; None if a certificate of optimality does not prove its own.

    Nothing is shared with the native search for cuts: the right sides of cuts are computed from their
    classes, and every leaf's bound from all pairs of cities. Where lengths are real, the bound may be below
    the tour's length by a fraction of 1e-7.

    Raises `UnsupportedProblem`: the instance is asymmetric, or has more than `MAX_CHECKED` cities;
    `InvalidTour`: the certificate's tour is not one of this instance.
    """
    if problem.asymmetric:
        raise UnsupportedProblem("the matrix is asymmetric, and proofs are for symmetric instances")
    count = problem.n if certificate.places is None else certificate.places
    if count > MAX_CHECKED:
        what = "cities" if certificate.places is None else "places"
        raise UnsupportedProblem(
            f"the instance has {count} {what}, and proofs are checked up to {MAX_CHECKED}"
        )
    problem.check_tour(certificate.tour)
    length = problem.length(certificate.tour)
    if (smaller := problem.reduced) is not None:
        found = proven_bound(smaller.problem, certificate)
        if found is None:
            return None
        # Where smaller integers were rounded down, what was proved of them is the bound alone.
        return length if has_one_tour(problem) else min(smaller.length(found), length)
    if length != certificate.length:
        return None
    if has_one_tour(problem):
        return bound_of_optimal(length)
    places = None
    if certificate.places is not None:
        places = provable_places(problem)
        if places is None or places.problem.n != certificate.places or not _are_places(problem, places):
            return None
    instance = ClosedInstance.of(problem, length, certificate.exponent, places=places)
    if problem.integral:
        unit = 1 << max(0, certificate.exponent)
        instance = replace(instance, stride=_difference_of_tours(instance.lengths) or unit)
    if not all(is_valid(cut) for cut in certificate.cuts.values()):
        return None
    nodes = [*certificate.leaves, *certificate.open]
    if not is_complete([node.branches for node in nodes]):
        return None
    units = instance.units(instance.close(certificate.tour))
    target = units - instance.step(units)
    allowed = ~np.eye(instance.size, dtype=bool)
    least = units
    if certificate.elimination is not None:
        bound, reduced = _bound_and_lengths(instance, certificate, certificate.elimination, (), allowed)
        allowed = allowed & (reduced <= target - bound)
        least = min(units, max(bound, target + 1))  # of tours with an edge that was eliminated
    for leaf in nodes:
        bound, reduced = _bound_and_lengths(instance, certificate, leaf.evidence, leaf.branches, allowed)
        if leaf.evidence.order is not None and 0 <= target - bound < MOST_SLACK:
            swept = _edges_and_rows(instance, certificate, leaf, allowed, reduced, target - bound)
            if swept and leaves_no_tour(leaf.evidence.order, *swept, target - bound, target):
                bound = target + 1
        least = min(least, bound)
    proven = instance.value(least)
    if certificate.trees is not None:
        proven = max(proven, proven_value(problem, certificate.trees))
    # Of a proof that is not finished it is what was proved by then.
    return min(proven, length) if certificate.open or is_optimal(problem, length, proven) else None


def _difference_of_tours(lengths: NDArray[np.int64]) -> int:
    """Return what divides the difference of any two closed tours, 0 if all have the same length.

    Exchanges of two edges lead from any tour to any other. One that replaces (a, c) and (b, d) by (b, c) and
    (a, d) makes no difference if a is as much further than b from c as from d. Two that are next to each
    other, or but one, are enough: by such steps one comes from any a past any c to any b.
    """
    common = 0
    for step in (1, 2):
        for a in range(len(lengths) - step):
            further = np.delete(lengths[a] - lengths[a + step], [a, a + step])
            common = math.gcd(common, int(np.gcd.reduce(further - further[:1])))
    return common


def _are_places(problem: Problem, places: Places) -> bool:
    """Return whether each city stands where its place does, alone if a fixed edge or an end of the path is
    there."""
    heads, path = places.heads[places.place], problem.open
    ends = [] if path is None else [end for end in (path.start, path.end) if end is not None]
    for city in [*problem.fixed_edges.reshape(-1).tolist(), *ends]:
        if np.count_nonzero(places.place == places.place[city]) > 1:
            return False
    if problem.matrix is None:
        here = problem.given_coordinates()
        same = bool((here == here[heads]).all())
    else:
        same = all(
            np.array_equal(side[city], side[head])
            for side in (problem.given_matrix(), problem.given_matrix().T)
            for city, head in enumerate(heads.tolist())
        )
    return same and not np.any(problem.distance(np.arange(problem.n, dtype=np.int32), heads))


def is_complete(leaves: list[tuple[Branch, ...]]) -> bool:
    """Return whether branches leave nothing out: each set's two sides, below each other, down to leaves.

    Tours leave a set an even number of times, so that at most k, which is even, and k + 2 at least are all.
    """
    nodes = [(0, leaves)]  # how deep each is, and the leaves below it; a tree may be of any depth
    while nodes:
        depth, below = nodes.pop()
        if len(below) == 1 and len(below[0]) == depth:
            continue
        if len(below) < 2 or any(len(leaf) == depth for leaf in below):
            return False
        cities, most = below[0][depth].cities, max(leaf[depth].most or 0 for leaf in below)
        sides: dict[Branch, list[tuple[Branch, ...]]] = {
            Branch(cities, 2, most): [],
            Branch(cities, most + 2): [],
        }
        for leaf in below:
            if leaf[depth] not in sides:
                return False
            sides[leaf[depth]].append(leaf)
        if most % 2:  # an even number of edges is in neither
            return False
        nodes += [(depth + 1, side) for side in sides.values()]
    return True


def is_valid(cut: CutDescription, least_walk: Callable[[NDArray[np.int64]], int] | None = None) -> bool:
    """Return whether every tour costs the right side of a cut at least."""
    class_of, lengths, bound, comb = cut
    k = len(lengths)
    whole = lengths.astype(np.int64)
    if k < 2 or len(np.unique(class_of)) != k:
        return False
    if np.any(whole.diagonal()) or not np.array_equal(whole, whole.T):
        return False
    if any(np.any(whole > whole[:, [z]] + whole[[z], :]) for z in range(k)):
        return False
    if comb and (_is_star(whole, bound, comb) or _has_dominoes(whole, bound, comb)):
        return True
    return k <= _MAX_CLASSES and (least_walk or _least_walk)(whole) >= bound


def _is_star(lengths: NDArray[np.int64], bound: int, sets: list[list[int]]) -> bool:
    """Return whether lengths count the nested handles and the teeth of a star that an edge leaves.

    Teeth share no class, and each has a weight: the most handles that part it at one place. A closed walk
    that leaves a tooth 2 + 2 s times goes through it in 1 + s parts, and crosses each handle inside the tooth
    but those that part it at s places: weight times s at most. Each handle is left an even number of times
    (Fleischmann, 1988; with one handle, a comb: Groetschel and Padberg, 1979).
    """
    member = np.zeros((len(sets), len(lengths)), dtype=bool)
    for number, classes in enumerate(sets):
        member[number, classes] = True
    h = 1
    while h < len(sets) and not np.any(member[h - 1] & ~member[h]):
        h += 1
    handles, teeth = member[:h], member[h:]
    if len(teeth) < 2 or np.any(teeth.sum(axis=0) > 1) or not np.all(teeth.any(axis=1)):
        return False
    counted = (handles[:, :, None] != handles[:, None, :]).sum(axis=0)
    least = 0
    crossed = np.zeros(h, dtype=np.int64)
    for tooth in teeth:
        inside = (handles & tooth).sum(axis=1)
        parts = (inside > 0) & (inside < tooth.sum())
        weight = int(np.bincount(inside[parts], minlength=1).max())
        crossed += parts
        counted = counted + weight * (tooth[:, None] != tooth[None, :])
        least += 2 * weight
    least += int((crossed + crossed % 2).sum())
    return np.array_equal(counted, lengths) and bound <= least


def _has_dominoes(lengths: NDArray[np.int64], bound: int, sets: list[list[int]]) -> bool:
    """Return whether lengths are those of a domino-parity inequality: a handle, and an odd number of pairs of
    sets A and B.

    A closed walk leaves A, B, and both together, two times or more each: it leaves both, and goes from A to
    B, 3 times or more in all. What else is counted are those ways from an A to its B, and a way more where
    they and leaving the handle are odd together: an even number of times, as a closed walk leaves any set an
    even number of times (Letchford, 2000).
    """
    member = np.zeros((len(sets), len(lengths)), dtype=bool)
    for number, classes in enumerate(sets):
        member[number, classes] = True
    handle, dominoes = member[0], list(zip(member[1::2], member[2::2], strict=False))
    if len(sets) % 4 != 3 or any(
        np.any(a & b) or np.all(a | b) or not (a.any() and b.any()) for a, b in dominoes
    ):
        return False
    odd = handle[:, None] != handle
    counted = np.zeros_like(lengths)
    for a, b in dominoes:
        both = a | b
        across = (a[:, None] & b) | (b[:, None] & a)
        counted += (both[:, None] != both) + across.astype(np.int64)
        odd ^= across
    return np.array_equal(counted + odd, lengths) and bound <= 3 * len(dominoes) + 1


def _least_walk(lengths: NDArray[np.int64]) -> int:
    """Return the length of the shortest closed walk through all classes (Held and Karp, 1962)."""
    k = len(lengths)
    last = k - 1
    sets = np.arange(1 << last)
    least = np.full((1 << last, last), np.iinfo(np.int64).max // 2)  # through a set to its member j
    least[1 << np.arange(last), np.arange(last)] = lengths[last, :last]
    sizes = sum((sets >> j) & 1 for j in range(last))
    for size in range(2, k):
        for j in range(last):
            visited = sets[(sizes == size) & (sets >> j & 1 == 1)]
            least[visited, j] = (least[visited ^ (1 << j)] + lengths[:last, j]).min(axis=1)
    return int((least[-1] + lengths[:last, last]).min())


def native_least_walk(lengths: NDArray[np.int64]) -> int:
    """Return the same, thousands of times as fast; this is for callers who trust the search for cuts."""
    if len(lengths) < 3 or int(lengths.max()) >= 1 << 20:
        return _least_walk(lengths)
    return _native.least_closed_walk(np.ascontiguousarray(lengths, dtype=np.int32))


def _bound_and_lengths(
    instance: ClosedInstance,
    certificate: Certificate,
    evidence: Evidence,
    branches: tuple[Branch, ...],
    allowed: NDArray[np.bool_],
) -> tuple[int, NDArray[Any]]:
    """Return the bound of prices by weak duality, and all reduced lengths.

    A price of a cut that is too small to be one, that is negative, counts as none, unless a branch sets an
    upper limit.
    """
    n = instance.size
    bound = 2 * sum(evidence.cities.tolist())
    size = 2 * max(map(abs, evidence.cities.tolist()), default=0) + int(instance.lengths.max())
    priced = []
    for price, class_of, lengths, limit, _ in _priced(certificate, evidence, branches, n):
        bound += price * limit
        size += abs(price) * int(lengths.max())
        priced.append((price, class_of, lengths))
    kind: Any = np.int64 if size < MAX_PRICE else object
    prices = evidence.cities.astype(kind)
    reduced = instance.lengths.astype(kind) - prices[:, None] - prices[None, :]
    for price, class_of, lengths in priced:
        reduced -= (lengths.astype(kind) * price)[class_of[:, None], class_of[None, :]]
    used, usable = _used_and_usable(instance, branches, allowed)
    upper = np.triu(np.ones((n, n), dtype=bool), 1)
    bound += sum(reduced[upper & usable & ~used & (reduced < 0)].tolist())
    bound += sum(reduced[upper & used].tolist())
    return bound, reduced


def _priced(
    certificate: Certificate, evidence: Evidence, branches: tuple[Branch, ...], n: int
) -> Iterator[tuple[int, NDArray[np.int32], NDArray[np.int32], int, bool]]:
    """Yield prices that count, with classes and lengths of the cut, the limit that is priced, and whether a
    branch sets an upper one, too."""
    limits = {_key(branch.cities, n): branch for branch in branches}
    for number, price in evidence.cuts:
        class_of, lengths, right, _ = certificate.cuts[number]
        least, most = right, None
        if len(lengths) == 2 and right == 2 and lengths[0, 1] == 1:
            branch = limits.get(_key(np.flatnonzero(class_of).tolist(), n))
            if branch is not None:
                least, most = max(right, branch.least), branch.most
        if price >= 0:
            yield price, class_of, lengths, least, most is not None
        elif most is not None:
            yield price, class_of, lengths, most, True


def _used_and_usable(
    instance: ClosedInstance, branches: tuple[Branch, ...], allowed: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the edges that tours must have, and those that they may have."""
    used, usable = np.zeros_like(allowed), allowed.copy()
    for a, b in instance.fixed.tolist():
        used[a, b] = used[b, a] = True
    for branch in branches:
        if len(branch.cities) == 2:
            a, b = branch.cities
            if branch.most == 2:
                used[a, b] = used[b, a] = True
            elif branch.least >= 4:
                usable[a, b] = usable[b, a] = False
    return used, usable


def _edges_and_rows(
    instance: ClosedInstance,
    certificate: Certificate,
    leaf: Node,
    allowed: NDArray[np.bool_],
    reduced: NDArray[Any],
    slack: int,
) -> tuple[SweptEdges, list[SweptRow]] | None:
    """Return what a sweep looks at: edges that pay no more than the slack, and what rows count of them.

    None if these are too many.
    """
    used, usable = _used_and_usable(instance, leaf.branches, allowed)
    u, v = np.nonzero(np.triu(used | (usable & (reduced <= slack)), 1))
    if len(u) > MOST_EDGES * instance.size:
        return None
    pays = np.where(used[u, v], 0, reduced[u, v])
    left_out = np.maximum(-pays, 0)
    edges = SweptEdges(
        np.stack([u, v], axis=1),
        instance.lengths[u, v],
        np.maximum(pays, 0).astype(np.int64),
        np.minimum(left_out, slack + 1).astype(np.int64),
        used[u, v] | (left_out > slack),
    )
    rows = []
    for price, class_of, lengths, least, has_most in _priced(
        certificate, leaf.evidence, leaf.branches, instance.size
    ):
        if price > 0 and not has_most:
            further = (lengths + lengths[:, [0]] + lengths[[0], :]) % 2
            counts = lengths[class_of[u], class_of[v]]
            rows.append(SweptRow(counts, price, least, None, not further.any(), False))
    for branch in leaf.branches:
        if len(branch.cities) > 2:
            inside = np.isin(np.arange(instance.size), branch.cities)
            counts = (inside[u] != inside[v]).astype(np.int32)
            rows.append(SweptRow(counts, 0, branch.least, branch.most, True, True))
    return edges, rows


def _key(cities: tuple[int, ...] | list[int], n: int) -> frozenset[int]:
    """Return a name for a set of cities and for all others: they are left by the same edges."""
    inside = frozenset(cities)
    return inside if 0 in inside else frozenset(range(n)) - inside
