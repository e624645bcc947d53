"""Orders of strokes: against every order there is, and what must hold for any drawing."""

import gc
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import warptsp
from warptsp.strokes import AxisTimes, Euclidean, MaxOfAxes, arrange, search
from warptsp.strokes.entries import Options, best_options
from warptsp.strokes.files.registry import uncollected
from warptsp.strokes.joining import joined
from warptsp.strokes.model import Ends, Ordering, Section, Units
from warptsp.strokes.nearest import nearest_first
from warptsp.strokes.nesting import heights, parents
from warptsp.strokes.plan import travel_points
from warptsp.strokes.refine import refine

MACHINES = {"euclidean": Euclidean(), "max": MaxOfAxes(), "seconds": AxisTimes((3.0, 1.0), (2.0, 5.0))}


def travel(machine, drawn, home, back):
    starts, ends = travel_points(drawn, home, back)
    return float(machine.cost(starts, ends).sum()) if len(starts) else 0.0


def ways(path, reversible, loops):
    """Every way to draw a stroke."""
    if len(path) > 2 and (path[0] == path[-1]).all():
        if not loops:
            return [path]
        return [np.concatenate([path[k:-1], path[: k + 1]]) for k in range(len(path) - 1)]
    return [path, path[::-1]] if reversible else [path]


def cheapest(paths, machine, home, back, reversible, groups, parent):
    """The least travel of all orders, directions and entries."""
    best = np.inf
    for order in itertools.permutations(range(len(paths))):
        if groups is not None and sorted(groups) != [groups[i] for i in order]:
            continue
        place = {stroke: k for k, stroke in enumerate(order)}
        if parent is not None and any(p >= 0 and place[i] > place[p] for i, p in enumerate(parent)):
            continue
        for drawn in itertools.product(*(ways(paths[i], reversible[i], True) for i in order)):
            best = min(best, travel(machine, list(drawn), home, back))
    return best


def canonical(path):
    """The same for a stroke and its reverse, and for a loop from any vertex."""
    closed = len(path) > 2 and (path[0] == path[-1]).all()
    rows = [tuple(p) for p in path]
    if closed:
        rows = rows[:-1]
        turns = [rows[k:] + rows[:k] for k in range(len(rows))]
        return ("loop", min(min(turns), min(t[::-1] for t in turns)))
    return ("open", min(rows, rows[::-1]))


def same_set(paths, drawn):
    assert sorted(canonical(p) for p in paths) == sorted(canonical(p) for p in drawn)


def random_paths(rng, n, loops=False):
    found = []
    for k in range(n):
        points = rng.integers(0, 20, (rng.integers(1, 4), 2)).astype(float)
        if loops and k % 2 == 0:
            points = rng.integers(0, 20, (3, 2)).astype(float)
            points = np.concatenate([points, points[:1]])
        found.append(points)
    return found


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 4),
    machine=st.sampled_from(sorted(MACHINES)),
    home=st.booleans(),
    back=st.booleans(),
    directed=st.sampled_from(["none", "some", "all"]),
    grouped=st.booleans(),
)
def test_small_drawings_are_as_short_as_all_orders_allow(seed, n, machine, home, back, directed, grouped):
    rng = np.random.default_rng(seed)
    paths = random_paths(rng, n)
    place = np.array([3.0, 4.0]) if home else None
    back = back and home
    reversible = {"none": np.ones(n, bool), "all": np.zeros(n, bool), "some": rng.random(n) < 0.5}[directed]
    groups = rng.integers(0, 2, n).tolist() if grouped else None
    plan = arrange(
        paths, home=place, back=back, reversible=reversible, groups=groups, machine=MACHINES[machine],
        kicks=1000, threads=1, device="cpu",
    )  # fmt: skip
    drawn = plan.drawn(paths)
    same_set(paths, drawn)
    assert plan.travel == pytest.approx(travel(MACHINES[machine], drawn, place, back))
    assert not plan.backwards[~reversible].any()
    if groups is not None:
        assert [groups[i] for i in plan.order] == sorted(groups)
    best = cheapest(paths, MACHINES[machine], place, back, reversible, groups, None)
    assert plan.travel >= best - 1e-9
    if groups is None and machine != "seconds":  # one group after the other, and a proxy of the time
        assert plan.travel == pytest.approx(best), seed


@pytest.mark.parametrize("seed", range(6))
def test_loops_are_entered_well(seed):
    rng = np.random.default_rng(seed)
    paths = random_paths(rng, 4, loops=True)
    plan = arrange(paths, home=[0, 0], kicks=2000, threads=1, device="cpu")
    same_set(paths, plan.drawn(paths))
    best = cheapest(paths, Euclidean(), np.zeros(2), False, np.ones(4, bool), None, None)
    assert plan.travel == pytest.approx(best)
    kept = arrange(paths, home=[0, 0], kicks=50, loops=False, threads=1, device="cpu")
    assert not kept.entry.any()


def test_entries_along_an_order_are_the_best():
    rng = np.random.default_rng(5)
    sizes = [3, 1, 2, 4]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    enter, leave = rng.random((offsets[-1], 2)), rng.random((offsets[-1], 2))
    ends, order = Ends(rng.random(2), rng.random(2)), np.array([2, 0, 3, 1])
    chosen, cost = best_options(Options(enter, leave, offsets), order, Euclidean(), ends)

    def cost_of(options):
        rows = [offsets[unit] + options[unit] for unit in order]
        starts = np.concatenate([ends.start[None], leave[rows]])
        return Euclidean().cost(starts, np.concatenate([enter[rows], ends.end[None]])).sum()

    every = [cost_of(options) for options in itertools.product(*map(range, sizes))]
    assert cost == pytest.approx(min(every))
    assert cost_of(chosen) == pytest.approx(cost)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["free", "directed", "mixed", "nested"])
def test_local_search_keeps_constraints_and_measures_right(seed, kind):
    rng = np.random.default_rng(seed)
    n = 30
    free = {"free": np.ones(n, bool), "directed": np.zeros(n, bool)}.get(kind, rng.random(n) < 0.5)
    units = Units(rng.random((n, 2)), rng.random((n, 2)), free)
    parent = np.where(np.arange(n) % 5 == 0, -1, np.arange(n) // 5 * 5) if kind == "nested" else None
    order = np.arange(n)[::-1].copy()  # the parent of each five is the last of them
    ends = Ends(None if seed % 2 else np.zeros(2), None if seed % 3 else np.ones(2))
    machine = MACHINES["seconds" if seed % 2 else "euclidean"]

    def cost(found):
        turned = found.backwards[found.order]
        one = np.where(turned[:, None], units.last[found.order], units.first[found.order])
        two = np.where(turned[:, None], units.first[found.order], units.last[found.order])
        total = machine.cost(two[:-1], one[1:]).sum()
        total += 0 if ends.start is None else machine.cost(ends.start, one[0])
        return total + (0 if ends.end is None else machine.cost(two[-1], ends.end))

    begun = Ordering(order, np.zeros(n, bool))
    before = cost(begun)
    last = before
    for rounds in range(1, 6):  # every single round improves, so that no move is valued wrongly
        found = refine(Section(units, machine, ends, parent), begun, np.inf, rounds=rounds)
        assert sorted(found.order) == list(range(n))
        assert cost(found) <= last + 1e-9
        last = cost(found)
        assert not found.backwards[~free].any()
        if parent is not None:
            place = np.argsort(found.order)
            inner = parent >= 0
            assert (place[inner] < place[parent[inner]]).all()
    assert last < 0.7 * before


def test_inner_cuts_come_first():
    def square(x, y, side):
        return np.array([[x, y], [x + side, y], [x + side, y + side], [x, y + side], [x, y]], dtype=float)

    paths = [square(0, 0, 100), square(10, 10, 30), square(60, 60, 30), square(12, 12, 5), square(200, 0, 5),
             np.array([[70.0, 70.0]])]  # fmt: skip
    loops = np.array([len(p) > 1 for p in paths])
    around, as_given = parents(paths, loops, np.zeros(6, int), np.arange(6))
    assert not as_given
    assert around.tolist() == [-1, 0, 0, 1, -1, 2]
    assert heights(around).tolist() == [2, 1, 1, 0, 0, 0]
    plan = arrange(paths, home=[0, 0], inner_first=True, kicks=100, threads=1, device="cpu")
    place = np.argsort(plan.order)
    assert place[3] < place[1] < place[0]
    assert place[5] < place[2] < place[0]
    best = cheapest(paths[:4], Euclidean(), np.zeros(2), False, np.ones(4, bool), None, around[:4])
    small = arrange(paths[:4], home=[0, 0], inner_first=True, kicks=100, threads=1, device="cpu")
    assert best - 1e-9 <= small.travel <= 1.2 * best


@pytest.mark.parametrize("seed", range(3))
def test_what_lies_in_several_outlines_comes_before_each(seed):
    rng = np.random.default_rng(seed)
    low, size = rng.uniform(0, 60, (60, 2)), rng.uniform(0, 60, (60, 2)) * (rng.random((60, 1)) < 0.5)
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]])
    paths = [at + (corners * side if side.any() else corners[:1]) for at, side in zip(low, size, strict=True)]
    group = rng.integers(0, 1 + seed % 3, 60)
    plan = arrange(paths, groups=group.tolist(), inner_first=True, kicks=50, threads=1, device="cpu")
    place = np.argsort(plan.order)
    high = low + size
    within = (low[:, None] > low).all(axis=2) & (high[:, None] < high).all(axis=2)
    inner, outer = np.nonzero(within & (group[:, None] == group))
    assert len(inner) > 20
    assert (place[inner] < place[outer]).all()


def test_an_order_that_has_inner_ones_first_is_never_made_worse():
    square = np.array([[0.0, 0], [8, 0], [8, 8], [0, 8], [0, 0]])
    shapes = {
        "nested": [square / 4 + 2, square],
        "a hole": [np.array([[3.0, 3]]), square],
        "crossing": [np.array([[3.0, 3]]), square, square * 0.9 + 2],
    }
    for name, block in shapes.items():
        places = [(10 * x, 10 * (y if x % 2 else 14 - y)) for x in range(10) for y in range(15)]
        paths = [shape + place for place in places for shape in block]
        plan = arrange(paths, home=[0, 0], inner_first=True, loops=False, time_limit=0, device="cpu")
        assert plan.travel <= plan.travel_before, name


def test_ends_are_joined_within_a_tolerance():
    rng = np.random.default_rng(0)
    way = np.cumsum(rng.random((41, 2)), axis=0)
    pieces = [way[k : k + 2] + 0.0 for k in range(40)]
    turned = rng.random(40) < 0.5
    paths = [p[::-1] if t else p for p, t in zip(pieces, turned, strict=True)]
    shuffled = rng.permutation(40)
    plan = arrange([paths[i] for i in shuffled], join=1e-6, kicks=1, threads=1, device="cpu")
    assert plan.joined.sum() == 39
    assert plan.travel == pytest.approx(0.0, abs=1e-9)
    assert shuffled[plan.order].tolist() in (list(range(40)), list(range(39, -1, -1)))
    apart = arrange([paths[i] for i in shuffled], join=1e-6, groups=list(range(40)), kicks=1, threads=1)
    assert not apart.joined.any()


def test_chains_keep_directions():
    first, last = np.array([[0.0, 0], [2, 0], [2, 0]]), np.array([[1.0, 0], [1, 0], [3, 0]])
    none, groups = np.zeros(3, bool), np.zeros(3, dtype=np.int64)
    free = joined(Units(first, last, np.ones(3, bool)), none, groups, 0.1)
    assert len(free.units) == 1
    # 0 -> 1 <- 2 cannot be one chain if the first two keep their directions, 2 -> 3 goes on from the second's
    # first point, which is its end only backwards.
    held = joined(Units(first, last, np.array([False, False, True])), none, groups, 0.1)
    assert sorted(map(len, held.strokes)) == [1, 2]
    for strokes, flags in zip(held.strokes, held.backwards, strict=True):
        assert not any(flag for stroke, flag in zip(strokes, flags, strict=True) if stroke < 2)


@pytest.mark.parametrize("machine", sorted(MACHINES))
def test_costs_are_those_of_the_formulas(machine):
    a, b = np.array([0.0, 0.0]), np.array([3.0, 0.1])
    expected = {
        "euclidean": np.hypot(3.0, 0.1),
        "max": 3.0,
        # x: 3 < 9/2 is all acceleration: 2 sqrt(3 / 2); y: 0.1 < 1/5: 2 sqrt(0.1 / 5).
        "seconds": max(2 * np.sqrt(1.5), 2 * np.sqrt(0.02)),
    }[machine]
    assert MACHINES[machine].cost(a, b) == pytest.approx(expected)
    assert AxisTimes(2.0, 4.0).cost(a, b + np.array([0, 9.9])) == pytest.approx(10 / 2 + 2 / 4)
    assert AxisTimes((2.0, 1.0)).cost(a, b) == pytest.approx(1.5)


def test_the_order_that_was_given_is_never_made_worse():
    rows = [np.array([[0.0, y], [10.0, y]])[:: -1 if y % 2 else 1] for y in range(200)]
    plan = arrange(rows, home=[0, 0], reversible=False, time_limit=0, device="cpu")
    assert plan.travel <= plan.travel_before == pytest.approx(199)


def test_what_ended_it_is_the_limit_that_was_given():
    strokes = np.random.default_rng(4).random((300, 2, 2)) * 100
    for limit in (0, 0.2):  # seconds without a search, as on a busy machine, and with one
        assert arrange(strokes, time_limit=limit, device="cpu").stop_reason == f"time limit of {limit} s"
    assert arrange(strokes, kicks=100, device="cpu").stop_reason == "limit of 100 kicks"


def test_a_proof_of_a_part_is_none_of_the_plan():
    holes = np.random.default_rng(4).random((12, 1, 2)) * 100
    square = np.array([[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]], dtype=float)
    nested = [square * side + x for x in (0, 400) for side in (1, 2, 3)]
    star = np.array([[[1, 0.1 * i], [5 * i, 9]] for i in range(3)], dtype=float)
    proved = "proved optimal"
    assert arrange(holes[:2], home=[0, 0], threads=1, device="cpu").stop_reason == proved
    for paths, how in [
        (nested, {"inner_first": True}),
        (nested, {}),  # whose entries are chosen
        (star, {"join": 0.3}),  # each of whose strokes could be joined to either other one
        (holes, {"groups": [0, 1] * 6}),
        (holes, {"machine": "max"}),  # which is searched on a grid
        (holes, {"machine": AxisTimes(2.0, 4.0)}),
    ]:
        plan = arrange(paths, home=[0, 0], threads=1, time_limit=0.3, device="cpu", **how)
        assert plan.stop_reason != proved, how


def test_three_dimensions_and_nothing():
    paths = [[[0, 0, 0], [1, 1, 1]], [[5, 5, 5], [1, 1, 2]], [[9, 9, 9]]]
    plan = arrange(paths, home=[0, 0, 0], back=True, kicks=10, threads=1, device="cpu")
    same_set([np.array(p, float) for p in paths], plan.drawn([np.array(p, float) for p in paths]))
    assert arrange([]).travel == 0
    assert arrange([[[1, 2]]], home=[1, 0]).travel == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"paths": [[[0, 0], [1, np.nan]]]}, "finite"),
        ({"paths": [[[0, 0, 0, 0]]]}, "shape"),
        ({"paths": [[[0, 0]], [[0, 0, 0]]]}, "stroke 0 of 2"),
        ({"paths": [["a"]]}, "not numbers"),
        ({"back": True}, "home"),
        ({"home": [1]}, "home"),
        ({"groups": [1]}, "groups"),
        ({"reversible": [True]}, "reversible"),
        ({"join": -1}, "join"),
        ({"machine": "fast"}, "machine"),
        ({"machine": AxisTimes((1, 2, 3))}, "axes"),
        ({"speed": 3}, "option"),
        ({"time_limit": "soon"}, "time_limit"),
    ],
)
def test_what_is_wrong_is_said(arguments, message):
    with pytest.raises(warptsp.WarpTSPError, match=message):
        arrange(**{"paths": [[[0, 0], [1, 1]], [[2, 2], [3, 3]]], **arguments})
    with pytest.raises(warptsp.InvalidOption):
        AxisTimes(0.0)


@pytest.mark.parametrize("back", [False, True])
def test_one_stroke_is_entered_at_its_nearer_end(back):
    plan = arrange([[[12.0, 10.0], [0.0, 1.0]]], home=[3.0, 4.0], back=back)
    assert plan.backwards.tolist() == [not back]
    fixed = arrange([[[12.0, 10.0], [0.0, 1.0]]], home=[3.0, 4.0], back=back, reversible=False)
    assert not fixed.backwards.any()


def test_a_group_ends_towards_the_only_stroke_of_the_next_one():
    paths = [[[-9, 0], [-10.5, 0]], [[10, 0], [11, 0]], [[-12, 0], [-12, 3]]]
    plan = arrange(paths, home=[0, 0], reversible=False, groups=[0, 0, 1], kicks=5, threads=1)
    assert plan.order.tolist() == [1, 0, 2]
    assert plan.travel == 31.5
    holes = [*paths[:2], [[-12, 0]]]
    assert arrange(holes, reversible=[False, False, True], groups=[0, 0, 1], kicks=5).travel == 21.5


def test_groups_of_loops_that_begin_at_one_point_are_put_in_order():
    loops = [[[0, 0], [k, 0], [k, k], [0, 0]] for k in range(1, 5)]
    assert arrange(loops, groups=[0, 0, 1, 1], loops=False, time_limit=0.2).travel == 0.0


@pytest.mark.parametrize(("limit", "least", "most"), [(None, 1.0, 1.03), (30.0, 25.0, 30.0)])
def test_without_a_limit_a_search_takes_what_its_cities_are_worth(monkeypatch, limit, least, most):
    asked = []
    solve = search.solve

    def noted(problem, **options):
        asked.append(options["time_limit"])
        return solve(problem, **options | {"time_limit": 0.05})

    monkeypatch.setattr(search, "solve", noted)
    points = np.random.default_rng(1).random((300, 1, 2))
    arrange(points, time_limit=limit, threads=1, device="cpu")
    assert len(asked) == 1
    assert least <= asked[0] <= most


def test_files_are_read_without_the_collector_which_is_as_before_behind_it():
    @uncollected()
    def inside():
        return gc.isenabled()

    assert gc.isenabled()
    assert not inside()
    assert gc.isenabled()
    gc.disable()
    try:
        assert not inside()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_what_a_callback_raises_has_the_plan():
    def fail(progress):
        raise ZeroDivisionError

    rows = [[[0, y], [10, y]] for y in np.random.default_rng(1).permutation(100)]
    with pytest.raises(ZeroDivisionError) as caught:
        arrange(rows, home=[0, 0], time_limit=60, callback=fail)
    plan = caught.value.result
    assert sorted(plan.order.tolist()) == list(range(100))
    assert plan.travel <= plan.travel_before


@pytest.mark.parametrize("seed", range(8))
def test_what_lies_in_outlines_of_several_strokes_comes_before_them(seed):
    rng = np.random.default_rng(seed)
    strokes, rings = [], []
    for x in (0, 100, 200):
        for half in (40, 25, 12):
            corners = np.add([[-half, -half], [half, -half], [half, half], [-half, half]], [x, 0])
            cuts = sorted(rng.choice(4, rng.integers(1, 5), replace=False).tolist())
            ring = [
                np.roll(corners, -a, axis=0)[: b - a + 1] for a, b in itertools.pairwise([*cuts, cuts[0] + 4])
            ]
            if len(cuts) == 1:
                ring = [np.concatenate([ring[0], ring[0][:1]])]
            rings.append((x, half, range(len(strokes), len(strokes) + len(ring))))
            strokes += [points[:: rng.choice([1, -1])] for points in ring]
        strokes += [np.array([[x, y], [x + 1, y]]) for y in (-2, 3)]
    shuffled = rng.permutation(len(strokes))
    plan = arrange(
        [strokes[s] for s in shuffled], inner_first=True, reversible=seed % 2 == 0, kicks=20, threads=1
    )
    place = np.empty(len(strokes), dtype=int)
    place[shuffled[plan.order]] = np.arange(len(strokes))
    for x, half, ring in rings:
        inside = [k for k, points in enumerate(strokes) if np.abs(points - [x, 0]).max() < half]
        assert max(place[inside]) < min(place[list(ring)]), f"seed {seed}"
        if seed % 2 == 0:  # and each is drawn along
            assert np.ptp(place[list(ring)]) == len(ring) - 1


def test_the_tree_of_nearest_strokes_is_built_again_now_and_then(monkeypatch):
    """Not for each of them: 3600 lines in a frame took 4.3 s."""
    import scipy.spatial

    built, tree = [], scipy.spatial.cKDTree
    monkeypatch.setattr(scipy.spatial, "cKDTree", lambda points: built.append(1) or tree(points))
    lines = [np.array([[x, y], [x + 0.5, y]]) for x in range(20) for y in range(20)]
    frame = np.array([[-1, -1], [21, -1], [21, 21], [-1, 21], [-1, -1]])
    units = Units(
        *(np.array([line[end] for line in [*lines, frame]]) for end in (0, -1)), np.ones(401, dtype=bool)
    )
    parent = np.append(np.full(400, 400), -1)
    nearest_first(Section(units, Euclidean(), Ends(None), parent))
    assert len(built) < 20
