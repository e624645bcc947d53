"""Native functions that are called with what they should not be: an exception, or an answer; never a crash.

Under the address sanitizer (`.ci/sanitize`) a look behind the end of an array is seen, too.
"""

# ruff: noqa: B008 - a default is the right argument, and never changed

import contextlib
import inspect
import random
import time
import zlib

import numpy as np
import pytest

from warptsp import _native
from warptsp.problem import Metric

N = 40
DRAW = np.random.default_rng(1)
POINTS = DRAW.random((N, 2)) * 100.0
TOUR = DRAW.permutation(N).astype(np.int32)
MATRIX = np.abs(POINTS[:, None, 0] - POINTS[None, :, 0])
WHOLE = (MATRIX * 100).astype(np.int32)
LISTS = np.argsort(MATRIX, axis=1, kind="stable")[:, 1:7].astype(np.int32)
EDGES = np.array([[0, 5], [5, 9]], np.int32)
NONE = np.empty((0, 2), np.int32)
FEW_EDGES = np.array([[0, 5], [5, 6]], np.int32)
PAIRS = np.full((N, 2), -1, np.int32)
EXACT = Metric.EXACT_2D.kind
REFUSED = (ValueError, TypeError, OverflowError, IndexError, MemoryError)


def token():
    """Whatever is begun ends soon, sooner on a slow machine or later: no test here asks how far it came."""
    made = _native.StopToken()
    made.set_deadline(time.monotonic() + 0.05)
    return made


def distances(kind, points, matrix=None):
    if matrix is None:
        return _native.Distances.of_points(kind, points)
    return _native.Distances.of_matrix(matrix)


CALLS = {}  # by name, a call and its right arguments


def attacked(call):
    """Register a call whose defaults are right, and whose arguments are to be replaced one by one."""
    defaults = {name: given.default for name, given in inspect.signature(call).parameters.items()}
    CALLS[call.__name__] = call, defaults
    return call


@attacked
def tour_search(
    kind=EXACT, points=POINTS, matrix=None, candidates=LISTS, tour=TOUR, fixed_edges=EDGES,
    depth=6, breadth=(5, 3), segment=50, walks=0.1, walk=5, long_links=0.0, small_integers=False,
):  # fmt: skip
    kicks = _native.Kicks(segment=segment, walks=walks, walk=walk, long_links=long_links)
    made = _native.TourSearch.create(
        distances=distances(kind, points, matrix), small_integers=small_integers, dummy=False,
        candidates=candidates, tour=tour, fixed_edges=fixed_edges, tolerance=1e-9,
        params=_native.LkParams(depth=depth, breadth=breadth, kicks=kicks),
    )  # fmt: skip
    made.optimize(0.01, token())
    made.kicks(20, 0.1, 1, 1, token())
    return made


@attacked
def prove(points=POINTS[:20], trees=50, exact=MATRIX[:20, :20].copy()):
    few = np.argsort(MATRIX[:20, :20], axis=1, kind="stable")[:, 1:7].astype(np.int32)
    start = np.arange(20, dtype=np.int32)
    tour_search(points=points, candidates=few, tour=start, fixed_edges=EDGES).prove(trees, token(), exact)


@attacked
def population_run(members=3, at_once=2, selection=10, idle=1, agreeing=2, most=3, threads=1):
    search = tour_search()
    plan = _native.PopulationPlan(
        members=members, at_once=at_once, selection=selection, idle=idle, agreeing=agreeing, most=most
    )
    made = _native.PopulationRun.create(search, plan)
    del search
    for round in range(1, 4):
        made.proceed(0.0, 0, round, threads, token())


ANNEALING = _native.AnnealingPlan(kicks=20, step=10, start=0.1, cold=0.04)


def batch(made, count=1, **changed):
    given = {
        "tolerances": np.full(count, 1e-9), "seeds": np.arange(count, dtype=np.uint64), "candidates": 6,
        "per_quadrant": 1, "params": _native.LkParams(depth=6), "trees": 0, "plan": ANNEALING,
    }  # fmt: skip
    made.search(**{**given, **changed}, token=token())


@attacked
def batch_of_points(
    points=POINTS.reshape(2, 20, 2), metric=EXACT, small_integers=False,
    seeds=np.arange(2, dtype=np.uint64), candidates=6, per_quadrant=1, depth=6, segment=50, trees=30,
):  # fmt: skip
    params = _native.LkParams(depth=depth, kicks=_native.Kicks(segment=segment))
    for plan in (ANNEALING, _native.PopulationPlan(members=3, idle=2, agreeing=2, most=3)):
        batch(
            _native.Batch.of_points(metric, points), 2, small_integers=small_integers, seeds=seeds,
            candidates=candidates, per_quadrant=per_quadrant, params=params, trees=trees, plan=plan,
        )  # fmt: skip


@attacked
def batch_plan(kicks=20, step=10, start=0.1, cold=0.04):
    plan = _native.AnnealingPlan(kicks=kicks, step=step, start=start, cold=cold)
    batch(_native.Batch.of_points(EXACT, POINTS[None]), small_integers=False, plan=plan)


@attacked
def batch_of_integers(integers=WHOLE[None], small_integers=True, tolerances=np.full(1, 1e-9)):
    batch(_native.Batch.of_matrices(integers), small_integers=small_integers, tolerances=tolerances)


@attacked
def batch_of_numbers(reals=MATRIX[None], candidates=6, per_quadrant=1):
    made = _native.Batch.of_matrices(reals)
    batch(made, small_integers=False, candidates=candidates, per_quadrant=per_quadrant)


@attacked
def begin_round(parts=3, kicks=50, temperature=0.1, last_temperature=0.0, threads=2):
    made = tour_search()
    made.begin_round(
        parts=parts, boxes=True, optimize=True, kicks=kicks, temperature=temperature,
        last_temperature=last_temperature, seed=1, round=1, threads=threads, repeatable=True, token=token(),
    )  # fmt: skip
    made.proceed(0.01, token())
    made.end_round()


@attacked
def grow(count=3, kicks_per_city=0.1, temperature=0.1, threads=2):
    made = tour_search()
    made.grow(
        count=count, kicks_per_city=kicks_per_city, temperature=temperature, steps=3, long_links=True, seed=1,
        round=1, threads=threads, token=token(),
    )  # fmt: skip
    made.return_to_best()


@attacked
def add(tours=TOUR[None], threads=2, count=1):
    made = tour_search()
    made.add(tours, threads)
    made.add_with_better_long_links(tours, threads, token())
    made.keep_members(count)


@attacked
def go_on_from(tour=TOUR):
    tour_search().go_on_from(tour)


@attacked
def nothing_was_begun(seconds=0.01):
    made = tour_search()
    made.end_round()
    made.proceed(seconds, token())
    made.return_to_best()
    made.forget()
    made.best()


@attacked
def neighbor_search(
    kind=EXACT, points=POINTS, matrix=None, neighbors=LISTS, tour=TOUR, fixed_edges=EDGES, best=0, many=0,
):  # fmt: skip
    made = _native.NeighborSearch.create(
        distances=distances(kind, points, matrix), neighbors=neighbors, tour=tour,
        fixed_edges=fixed_edges, tolerance=1e-9, three=True, next_only=False,
        best=bool(best), many=bool(many), token=token(),
    )  # fmt: skip
    made.descend(passes=-1, threads=1, seconds=0.01, token=token())
    return made


@attacked
def descend(passes=5, threads=2, seconds=0.01):
    neighbor_search(best=1, many=1).descend(passes=passes, threads=threads, seconds=seconds, token=token())


@attacked
def iterate(chains=2, count=10, temperature=0.1, cold=9, segment=5, threads=2, seconds=0.01):
    neighbor_search(best=chains % 2).iterate(
        chains=chains, count=count, always=False, temperature=temperature, cold=cold, segment=segment, seed=1,
        threads=threads, seconds=seconds, everywhere=bool(segment % 2), token=token(),
    )  # fmt: skip


@attacked
def descent(
    neighborhoods=(0,), kind=EXACT, points=POINTS, matrix=None, tour=TOUR,
    fixed_edges=EDGES, threads=2, kept=1, before=2, passes=-1, seconds=0.01,
):  # fmt: skip
    made = _native.Descent.create(
        neighborhoods=list(neighborhoods), distances=distances(kind, points, matrix), tour=tour,
        fixed_edges=fixed_edges, tolerance=1e-9, threads=threads, kept=[kept], before=[(3, before)],
    )  # fmt: skip
    made.proceed(seconds, passes, token())


@attacked
def symmetric_tours(
    kind=EXACT, points=POINTS, matrix=None, fixed=PAIRS, planar=1, center_x=50.0, scale=1.0, slack=0.0,
    place_error=1e-3, circle=TOUR[1:], chains=2, elements=0, random=False, triples=False, threads=2,
    temperature=1.0, factor=0.9, steps=50, chain=1,
):  # fmt: skip
    made = _native.SymmetricTours.create(
        distances=distances(kind, points, matrix), triples=triples, fixed=fixed, circle=circle, seed=1,
        chains=chains, threads=threads, instance=_native.SymmetricInstance(
            elements=elements, random=random, tolerance=1e-9, planar=planar, center_x=center_x, center_y=50.0,
            scale=scale, slack=slack, place_error=place_error,
        ),
    )  # fmt: skip
    made.descend(0.01, token())
    made.anneal(temperature, factor, 100, 0, steps, token())
    made.cities(chain)


@attacked
def hill_climbers(
    kind=EXACT, points=POINTS, matrix=None, count=3, first=0, threads=2, start=TOUR, scale=1e6
):  # fmt: skip
    made = _native.HillClimbers(distances=distances(kind, points, matrix), tolerance=1e-9, scale=scale)
    for perturbed in (False, True):
        made.climb(
            seed=1, first=first, count=count, threads=threads, given=start, perturbed=perturbed, token=token()
        )


@attacked
def hill_climbers_of_integers(matrix=WHOLE):
    hill_climbers(matrix=matrix)


PATHS = np.array([[2, 3, 0, 1, 2], [0, 1, 2, 3, 2]], np.int32)


@attacked
def path_graph(
    kind=EXACT, points=POINTS, row=TOUR, fixed=PAIRS, paths=PATHS, begin=np.array([0, 2], np.int32), threads=2
):
    made = _native.PathGraph(distances=distances(kind, points), row=row, fixed=fixed)
    made.arrange(paths, begin, np.zeros((2, 2), np.int32), threads)


@attacked
def boxes(points=POINTS, tour=TOUR, parts=3, rotation=4, fixed=EDGES, threads=2):
    return _native.TourCut.boxes(points, tour, parts, 1, rotation, fixed, threads, _native.StopToken())


@attacked
def stretches(tour=TOUR, parts=3, rotation=4, fixed=EDGES, threads=2):
    return _native.TourCut.stretches(tour, parts, rotation, fixed, threads, token())


@attacked
def put(part=0, order=boxes().cities(0)):
    made = boxes()
    made.put(part, order)
    made.cities(part)
    made.path_begin(part)


@attacked
def link(
    order=np.arange(len(boxes().ends()), dtype=np.int32), points=POINTS[boxes().ends()], kind=EXACT, threads=2
):
    boxes().link(order, points, kind, threads, token())


@attacked
def held_karp(
    kind=EXACT,
    points=POINTS,
    tour=TOUR,
    fixed_edges=np.stack([TOUR[:2], TOUR[1:3]]),
    further=(~np.isin(np.arange(N), TOUR[:3])).astype(np.int32),
    rounds=20,
    threads=2,
):
    options = (tour, fixed_edges, False, -1, -1, further, rounds, threads, token())
    _native.held_karp(distances(kind, points), *options)


@attacked
def held_karp_of_a_path(matrix=WHOLE, tour=TOUR, start=int(TOUR[0]), end=-1):
    of_matrix = distances(EXACT, POINTS, matrix)
    _native.held_karp(of_matrix, tour, NONE, True, start, end, None, 5, 1, token())


@attacked
def held_karp_of(given=distances(EXACT, POINTS)):
    _native.held_karp(given, TOUR, NONE, False, -1, -1, None, 5, 1, token())


SPACE = np.column_stack([POINTS, POINTS[:, 0]])
CHAIN = {"from_": np.arange(N - 1, dtype=np.int32), "to": np.arange(1, N, dtype=np.int32)}
CURVE = {"points": POINTS, "sphere": False, "threads": 2}
FIXED = {"fixed_edges": EDGES, "threads": 2}
QUERY = {"count": 8, "per_quadrant": 2, "threads": 2}
SEEDED = {"seed": 1, "threads": 2}
LENGTHS = np.take_along_axis(MATRIX, LISTS, axis=1)
BOTH_WAYS = np.stack([TOUR, TOUR[::-1]])
TWO = np.stack([MATRIX[:11, :11], MATRIX[5:16, 5:16]])
FEW = np.stack([MATRIX[:7, :7], MATRIX[5:12, 5:12]])
KEPT = {"fixed_edges": FEW_EDGES}
PATH = {"open": True, "start": 2, "end": 3}


def of_cities(function):
    def call(kind=EXACT, points=POINTS, matrix=None, **given):
        return function(distances(kind, points, matrix), **given, token=token())

    call.__name__ = function.__name__
    return call


# Calls with other right arguments, and functions as they are; those of the first group have a token, too.
FUNCTIONS = [
    (_native.tight_groups, {"lists": LISTS, "lengths": LENGTHS, "ratio": 2.5}),
    (_native.space_filling_curve, {**CURVE, "kind": "hilbert"}),
    (_native.space_filling_curve, {**CURVE, "kind": "sierpinski"}),
    (_native.random_tour, {"n": 9, "seed": 1}),
    (_native.random_fragments, {"candidates": LISTS, "first": 0, "count": 2, "round": 1, **SEEDED}),
    (_native.keep_fixed_edges, {"order": TOUR, "fixed_edges": EDGES}),
    (_native.merge_tours, {"orders": BOTH_WAYS, "lengths": np.ones((2, N)), **SEEDED}),
    (_native.tree_clusters, {**CHAIN, "length": np.arange(N - 1, dtype=np.int32) % 7, "threads": 1}),
    (_native.optimal_tours, {"distances": TWO, **KEPT}),
    (_native.optimal_tours, {"distances": np.tri(9)[None] * 2.5, "directed": True, **PATH}),
    (_native.optimal_tours, {"distances": WHOLE[None, :10, :10].astype(np.int64), **KEPT}),
]  # fmt: skip
FUNCTIONS_WITHOUT = [
    (of_cities(_native.candidate_lists), QUERY | {"points": POINTS}),
    (of_cities(_native.candidate_lists), QUERY | {"kind": Metric.GEO.kind, "points": SPACE}),
    (of_cities(_native.candidate_lists), QUERY | {"matrix": MATRIX}),
    (of_cities(_native.greedy_edge), FIXED | {"points": POINTS, "tiles": 2}),
    (of_cities(_native.greedy_edge), FIXED | {"matrix": WHOLE}),
    (of_cities(_native.nearest_neighbor), FIXED | {"points": POINTS, "start": 3}),
    (of_cities(_native.nearest_neighbor), FIXED | {"matrix": MATRIX, "start": 3}),
    (tour_search, {"matrix": WHOLE, "tour": TOUR}),
    (tour_search, {"matrix": MATRIX, "tour": TOUR}),
    (tour_search, {"kind": Metric.EUC_2D.kind, "points": POINTS, "small_integers": True}),
    (tour_search, {"kind": Metric.EXACT_3D.kind, "points": SPACE}),
    (neighbor_search, {"matrix": WHOLE}),
    (neighbor_search, {"matrix": MATRIX}),
    (descent, {"matrix": WHOLE}),
    (descent, {"matrix": MATRIX}),
    (symmetric_tours, {"matrix": MATRIX, "planar": 0}),
    (_native.shorter_tours, {"distances": FEW, "lengths": np.full(2, 1.5), "steps": 1000, **KEPT, **PATH}),
    (_native.whole_exponent, {"longest": 5.0, "integral": True}),
    (_native.takes_each_once, {"tour": TOUR, "threads": 2}),
    (_native.edge_sums, {"points": POINTS, "cities": TOUR, "kind": EXACT, "threads": 2}),
    (_native.choose_joins, {"joins": np.zeros(80, np.uint8)}),
    (_native.dimacs_uniform, {"n": 200, "seed": 3}),
    (_native.dimacs_clustered, {"n": 200, "seed": 3}),
    (_native.parse_numbers, {"text": b"1 2 3", "begin": 2, "expected": 3}),
    (_native.parse_table, {"text": b"1 2\n3 4\n", "begin": 0, "columns": 2, "delimiter": " "}),
    (_native.format_integers, {"rows": np.zeros((3, 2), np.int64)}),
]  # fmt: skip


def with_token(function):
    return lambda **given: function(**given, token=token())


for number, (function, right) in enumerate(FUNCTIONS + FUNCTIONS_WITHOUT):
    called = with_token(function) if number < len(FUNCTIONS) else function
    CALLS[f"{function.__name__} {number}"] = called, right


@attacked
def survey_edges(
    points=POINTS, begins=TOUR, ends=TOUR, scale=1.0, width=100, height=100, block=4.0, stride=1
):
    view = (0.0, 0.0, scale, 1.0, 0.0, 0.0)
    _native.survey_edges(points, begins, ends, view, width, height, block, stride, token())


@attacked
def draw_edges(
    points=POINTS, begins=TOUR, ends=TOUR[::-1].copy(), scale=1.0, shift=0.0, line_width=1.5, stride=1
):
    view = (0.0, 0.0, scale, 1.0, shift, 0.0)
    for width in (line_width, line_width / 10.0):
        picture = np.zeros((90, 80), np.uint8)
        _native.draw_edges(picture, points, begins, ends, view, width, stride, token())


@attacked
def draw_edges_into(opacity=np.zeros((90, 80), np.uint8)):
    view = (0.0, 0.0, 1.0, 1.0, 0.0, 0.0)
    _native.draw_edges(opacity, POINTS, TOUR, TOUR[::-1].copy(), view, 1.5, 1, token())


def hostile_arrays(array, chance):
    """What is not, or only just, the array that a function asks for.

    Of matrices it is `Problem` that knows whether they are symmetric, so these are.
    """
    if array.ndim == 2 and array.shape == (N, N):
        yield array[:-1, :-1].copy()
        yield array[:, :-1].copy()
        yield array[:-1].copy()
        yield array[:0]
        yield array.astype(object)
        yield array.reshape(-1)
        for value in (2**31 - 1, -(2**31)) if array.dtype.kind == "i" else (np.nan, np.inf, -1e308, 1e308):
            changed = array.copy()
            a, b = chance.sample(range(N), 2)
            changed[a, b] = changed[b, a] = value
            yield changed
            yield np.full_like(array, value)
        return
    yield array[:0]
    yield array[:-1]
    yield np.concatenate([array, array[:1]])
    yield array[::-1]
    yield array[..., None]
    yield array.reshape(-1)
    yield array.T
    yield np.repeat(array, 2, axis=array.ndim - 1)
    yield array.astype(object)
    yield array.astype(np.float32)
    yield array.astype(np.int64)
    yield array.byteswap().view(array.dtype.newbyteorder())
    yield None
    frozen = array.copy()
    frozen.flags.writeable = False
    yield frozen
    if array.ndim == 2:
        yield array[:, :1]
        yield array[:, :0]
        yield np.ascontiguousarray(np.hstack([array, array[:, :1]]))
    wrong = [-1, -2, N, 2**31 - 1, -(2**31), 0]
    if array.dtype.kind == "f":
        wrong = [np.nan, np.inf, -np.inf, 1e308, 5e-324]
    if array.dtype == np.uint64:
        wrong = [2**64 - 1, 2**63, 2**61]
    if array.dtype != np.uint8:
        for value in wrong:
            changed = array.copy()
            changed.flat[chance.randrange(max(1, array.size))] = value
            yield changed
            yield np.full_like(array, value)


def hostile_numbers(number):
    if isinstance(number, float):
        return [-1.0, 0.0, 1e308, 5e-324, float("inf"), float("nan")]
    return [-1, 0, 1, 2, -(2**31), 2**31, -(2**63), 2**64]


@pytest.mark.parametrize("name", CALLS)
def test_no_argument_crashes_a_native_function(name):
    call, arguments = CALLS[name]
    call(**arguments)  # otherwise every hostile argument would be refused for another reason
    for argument, right in arguments.items():
        if not isinstance(right, np.ndarray | int | float | tuple):
            continue
        seed = zlib.crc32(f"{name} {argument}".encode())
        print("seed", seed, name, argument)
        chance = random.Random(seed)
        with np.errstate(over="ignore"):  # single precision has no 1e308
            hostile = list(
                hostile_arrays(right, chance) if isinstance(right, np.ndarray) else hostile_numbers(right)
            )
        for wrong in hostile:
            with contextlib.suppress(*REFUSED):
                call(**{**arguments, argument: wrong})
