"""Every door of the library and of the drop-ins, given values of any kind: a valid result, or one line."""

import dataclasses
import datetime
import decimal
import fractions
import math
import warnings

import numpy as np
import pytest
from instances import unit_points

import warptsp
import warptsp.interop.networkx
from warptsp import Metric, OpenPath, Problem, generate, stop
from warptsp.errors import InvalidProblem, InvalidTour, WarpTSPError
from warptsp.interop import elkai, fast_tsp, python_tsp

LONGEST = 400
POINTS = unit_points(14, 14)
MATRIX = np.hypot(*(POINTS[:, None] - POINTS[None]).transpose(2, 0, 1))
SMALL = MATRIX[:5, :5]
MATRIX_DOORS = (elkai.DistanceMatrix, fast_tsp.find_tour, python_tsp.solve_tsp_local_search)
MASKED = np.ma.array(SMALL, mask=np.eye(5, k=1, dtype=bool))

VALUES = {
    "nan": float("nan"),
    "inf": float("inf"),
    "minus-inf": -float("inf"),
    "400-digits": 10**400,
    "minus-400-digits": -(10**400),
    "5000-digits": 10**5000,
    "decimal-nan": decimal.Decimal("NaN"),
    "decimal-huge": decimal.Decimal("1e999999"),
    "decimal": decimal.Decimal("0.01"),
    "fraction": fractions.Fraction(1, 100),
    "fraction-huge": fractions.Fraction(10**400, 3),
    "float32": np.float32(0.01),
    "int8": np.int8(-1),
    "uint64": np.uint64(2**64 - 1),
    "true": True,
    "numpy-true": np.True_,
    "text-number": "1",
    "text": "x",
    "no-text": "",
    "bytes": b"1",
    "none": None,
    "list": [1],
    "no-list": [],
    "ragged": [[1, 2], [3]],
    "mapping": {1: 2},
    "object": object(),
    "complex": 1j,
    "datetime64": np.datetime64("2020-01-01"),
    "timedelta64": np.timedelta64(1, "s"),
    "timedelta": datetime.timedelta(1),
    "minus-one": -1,
    "zero": 0,
    "2**63": 2**63,
    "2**64": 2**64,
    "1e308": 1e308,
    "denormal": 5e-324,
    "array-0d": np.array(3),
    "array-1d": np.array([1, 2]),
    "array-3d": np.zeros((2, 2, 2)),
    "array-bool": np.eye(3, dtype=bool),
    "array-complex": np.eye(3) * 1j,
    "array-times": np.zeros((3, 3), "m8[s]"),
    "array-dates": np.zeros((3, 3), "M8[s]"),
    "array-texts": np.full((3, 3), "1"),
    "array-void": np.zeros((3, 3), "V4"),
    "array-records": np.zeros(3, [("x", "f8"), ("y", "f8")]),
    "array-objects": np.array([[0, object()], [1, 0]], dtype=object),
    "array-long-double": np.full((2, 2), 1, np.longdouble) * np.longdouble(1e300),
    "masked": MASKED,
    "masked-rows": list(MASKED),
    "function": repr,
    "type": int,
    "ellipsis": ...,
}


def solved(problem=POINTS, **options):
    return warptsp.solve(problem, **{"kicks": 3, "threads": 1, **options})


def points(**fields):
    return Problem.from_points(POINTS, **fields)


def edges(value, all_of_them=False):
    networkx = pytest.importorskip("networkx", reason="networkx is not installed")
    graph = networkx.complete_graph(5)
    for a, b in graph.edges:
        graph[a][b]["weight"] = value if all_of_them or (a, b) == (1, 2) else 1
    return warptsp.interop.networkx.problem(graph)


def cycle(**options):
    networkx = pytest.importorskip("networkx", reason="networkx is not installed")
    return warptsp.interop.networkx.solve(
        networkx.complete_graph(5), **{"weight": None, "kicks": 1, "threads": 1, **options}
    )


def frame(**columns):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    return Problem.from_frame(pandas.DataFrame({"x": [1, 2], "y": [2, 3], **columns}, dtype=object))


DOORS = {
    "time_limit": lambda value: solved(time_limit=value),
    "kicks": lambda value: solved(SMALL, kicks=value, time_limit=0.01),
    "seed": lambda value: solved(seed=value),
    "threads": lambda value: solved(SMALL, threads=value),
    "start": lambda value: solved(start=value),
    "open": lambda value: solved(open=value),
    "device": lambda value: solved(device=value),
    "method": lambda value: solved(method=value),
    "params": lambda value: solved(params=value),
    "then": lambda value: solved(then=value),
    "then_params": lambda value: solved(then="two-opt", then_params=value),
    "snapshots": lambda value: solved(snapshots=value),
    "MaxRuntime": stop.MaxRuntime,
    "MaxKicks": stop.MaxKicks,
    "TargetLength": stop.TargetLength,
    "TargetGap": stop.TargetGap,
    "TargetGap reference": lambda value: stop.TargetGap(1, reference=value),
    "NoImprovement": lambda value: stop.NoImprovement(seconds=value if value is not None else 1),
    "NoImprovement kicks": lambda value: stop.NoImprovement(kicks=value if value is not None else 1),
    "uniform": lambda value: generate.uniform(value),
    "uniform seed": lambda value: generate.uniform(5, seed=value),
    "uniform side": lambda value: generate.uniform(5, side=value),
    "clustered": lambda value: generate.clustered(value),
    "clustered clusters": lambda value: generate.clustered(5, clusters=value),
    "clustered spread": lambda value: generate.clustered(5, spread=value),
    "grid": lambda value: generate.grid(value, 3),
    "grid spacing": lambda value: generate.grid(3, 3, spacing=value),
    "grid_optimal_length": lambda value: generate.grid_optimal_length(value, 3),
    "grid_optimal_tour": lambda value: generate.grid_optimal_tour(2, value),
    "dimacs": generate.dimacs,
    "solve": lambda value: solved(value),
    "from_points": Problem.from_points,
    "from_matrix": Problem.from_matrix,
    "from_array": Problem.from_array,
    "from_frame": Problem.from_frame,
    "from_osrm": Problem.from_osrm,
    "point": lambda value: Problem.from_points([[0, value], [1, 0]]),
    "entry": lambda value: Problem.from_matrix([[0, value], [value, 0]]),
    "durations": lambda value: Problem.from_osrm({"durations": value}),
    "duration": lambda value: Problem.from_osrm({"durations": [[0, value], [1, 0]]}),
    "location": lambda value: Problem.from_osrm(
        {"durations": [[0, 1], [1, 0]], "sources": [{"location": [0, value]}] * 2, "destinations": value}
    ),
    "annotation": lambda value: Problem.from_osrm({"durations": [[0, 1], [1, 0]]}, value),
    "metric": lambda value: Problem(value, coordinates=POINTS),
    "labels": lambda value: points(labels=value),
    "name": lambda value: points(name=value),
    "comment": lambda value: points(comment=value),
    "node_ids": lambda value: points(node_ids=value),
    "fixed_edges": lambda value: points(fixed_edges=value),
    "problem open": lambda value: points(open=value),
    "path's start": lambda value: points(open=OpenPath(value)),
    "path's end": lambda value: points(open=OpenPath(None, value)),
    "display": lambda value: Problem.from_matrix(SMALL, display=value),
    "asymmetric": lambda value: Problem.from_matrix(SMALL, asymmetric=value),
    "display_degrees": lambda value: Problem.from_matrix(SMALL, display=POINTS[:5], display_degrees=value),
    "length": lambda value: points().length(value),
    "check_tour": lambda value: points().check_tour(value),
    "distance": lambda value: points().distance(value, 0),
    "city": lambda value: points(labels=list("abcdefghijklmn")).city(value),
    "ids_of": lambda value: points().ids_of(value),
    "cities_of": lambda value: points().cities_of(value),
    "load": warptsp.load,
    "read_tour": lambda value: warptsp.read_tour(value, points()),
    "load format": lambda value: warptsp.load("there is no such file", value),
    "fast_tsp.find_tour": lambda value: fast_tsp.find_tour(value, 0.01),
    "fast_tsp duration": lambda value: fast_tsp.find_tour(SMALL, value),
    "fast_tsp threads": lambda value: fast_tsp.find_tour(SMALL, 0.01, value),
    "fast_tsp candidates": lambda value: fast_tsp.find_tour(SMALL, 0.01, 1, value),
    "fast_tsp greedy": fast_tsp.greedy_nearest_neighbor,
    "fast_tsp exact": fast_tsp.solve_tsp_exact,
    "fast_tsp.is_valid_tour": lambda value: fast_tsp.is_valid_tour(3, value),
    "fast_tsp.is_valid_dist_matrix": fast_tsp.is_valid_dist_matrix,
    "fast_tsp.compute_cost": lambda value: fast_tsp.compute_cost(value, SMALL),
    "fast_tsp.score_tour": lambda value: fast_tsp.score_tour(value, SMALL, 1),
    "fast_tsp cost": lambda value: fast_tsp.score_tour(range(5), SMALL, value),
    "elkai.DistanceMatrix": elkai.DistanceMatrix,
    "elkai.Coordinates2D": elkai.Coordinates2D,
    "elkai place": lambda value: elkai.Coordinates2D({1: value}),
    "elkai coordinate": lambda value: elkai.Coordinates2D({1: (value, 1), 2: (0, 0)}),
    "elkai matrix": elkai.solve_float_matrix,
    "elkai runs": lambda value: elkai.solve_int_matrix(SMALL, value),
    "python_tsp": python_tsp.solve_tsp_lin_kernighan,
    "python_tsp x0": lambda value: python_tsp.solve_tsp_local_search(SMALL, value, max_processing_time=0.01),
    "python_tsp seconds": lambda value: python_tsp.solve_tsp_local_search(SMALL, max_processing_time=value),
    "python_tsp iterations": lambda value: python_tsp.solve_tsp_record_to_record(SMALL, max_iterations=value),
    "python_tsp exact": python_tsp.solve_tsp_dynamic_programming,
    "networkx graph": warptsp.interop.networkx.problem,
    "networkx one length": lambda value: edges(value),
    "networkx lengths": lambda value: edges(value, all_of_them=True),
    "networkx weight": lambda value: cycle(weight=value),
    "networkx source": lambda value: cycle(source=value),
    "networkx init_cycle": lambda value: cycle(init_cycle=value),
    "frame x": lambda value: frame(x=[1, value]),
    "frame xs": lambda value: frame(x=[value, value]),
    "frame id": lambda value: frame(id=[value, value]),
    "frame name": lambda value: frame(name=[value, value]),
}
# What would wait or compute for long is no matter of this test.
FINE_AND_SLOW = {
    ("time_limit", "1e308"), ("fast_tsp duration", "1e308"), ("python_tsp seconds", "1e308"),
    ("time_limit", "true"), ("MaxRuntime", "true"), ("elkai runs", "2**63"),
}  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
def test_a_valid_result_or_one_line(door):
    for name, value in VALUES.items():
        if (door, name) in FINE_AND_SLOW:
            continue
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Warning: converting a masked element")
            try:
                DOORS[door](value)
            except WarpTSPError as error:
                message = str(error)
                assert "\n" not in message, (name, message)
                assert len(message) < LONGEST, (name, message)
            except Exception as error:
                error.add_note(f"{door} was given {name}")
                raise


@pytest.mark.parametrize(
    "values", [MASKED, list(MASKED), tuple(MASKED), np.ma.array([SMALL[0, 1]] * 10, mask=[0, 1] * 5)]
)
def test_masked_entries_are_not_forgotten(values):
    masked = r"entry \[\d(, \d)?\] \(counted from 0\) is masked, and so are [45]"
    for door in (Problem.from_matrix, Problem.from_array, *MATRIX_DOORS, warptsp.solve):
        with pytest.raises(InvalidProblem, match=masked):
            door(values)


def test_masked_points_and_tours_are_not_forgotten():
    places = np.ma.masked_greater(POINTS, 0.9)
    edges = np.ma.array([[0, 1], [1, 2]], mask=[[0, 0], [0, 1]])
    for door in (
        Problem.from_points,
        lambda _: Problem("EXACT_2D", places),
        lambda _: points(fixed_edges=edges),
    ):
        with pytest.raises(InvalidProblem, match="masked"):
            door(places)
    tour = np.ma.array(np.arange(14), mask=np.arange(14) == 3)
    for door in (points().length, points().check_tour, lambda tour: warptsp.solve(points(), start=tour)):
        with pytest.raises(InvalidTour, match=r"entry \[3\] \(counted from 0\) is masked"):
            door(tour)
    unmasked = np.ma.array(POINTS, mask=False)
    assert np.array_equal(Problem.from_points(unmasked).coordinates, POINTS)


def test_masked_sparse_entries_are_not_forgotten():
    from scipy import sparse

    class Masked(sparse.coo_array):
        def tocoo(self, copy=False):
            return self

    matrix = Masked(SMALL)
    matrix.data = np.ma.array(matrix.data, mask=[False] * 19 + [True])
    with pytest.raises(InvalidProblem, match="masked"):
        Problem.from_matrix(matrix)


@pytest.mark.parametrize("shape", [(10**6, 10**6), (10**9, 10**9), (2**31, 2**31), (3, 3)])
def test_a_sparse_matrix_takes_memory_for_what_it_holds(shape):
    from scipy import sparse

    matrix = sparse.coo_array(([1.0, 2.0], ([0, 0], [1, 2])), shape=shape)
    with pytest.raises(InvalidProblem, match=r"which this machine does not have|not symmetric|at most"):
        Problem.from_matrix(matrix)


def test_what_a_sparse_matrix_lacks_is_named_so():
    from scipy import sparse

    with pytest.raises(InvalidProblem, match=r"entry \(0, 1\) is 2 and entry \(1, 0\) is missing; if"):
        Problem.from_matrix(sparse.csr_array([[0, 2, 3], [0, 0, 4], [0, 0, 0]]))


def test_a_sparse_matrix_of_narrow_integers_adds_up():
    from scipy import sparse

    matrix = sparse.coo_array((np.full(4, 100, np.int8), ([0, 0, 1, 1], [1, 1, 0, 0])), shape=(2, 2))
    assert Problem.from_matrix(matrix).matrix[0, 1] == 200


def test_a_condensed_matrix_that_fits_nowhere():
    n = 1_000_000_001
    with pytest.raises(InvalidProblem, match=r"cities takes 8e.09 GB, which this machine does not have"):
        Problem.from_matrix(np.broadcast_to(np.float64(1), (n * (n - 1) // 2,)))


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ([91, 0], "latitude 91"),
        ([-90.01, 0], "latitude -90.01"),
        ([0, 360.5], "longitude 360.5"),
        ([0, -181], "-181"),
    ],
)
@pytest.mark.parametrize("metric", ["GEO", "GREAT_CIRCLE"])
def test_degrees_out_of_range(metric, place, message):
    with pytest.raises(InvalidProblem, match=f"{message} of city 1 .*: degrees are needed, latitude before"):
        Problem(Metric[metric], coordinates=[[1, 2], place])


def test_minutes_and_angles_are_looked_at(caplog):
    Problem.from_points([[1.59, 2.0], [-12.3, 5.59]], "GEO")
    assert not caplog.records
    warned = Problem.from_points([[1.59, 2.0], [-12.3, 5.75]], "GEO")
    dataclasses.replace(warned, name="again", open=OpenPath())
    assert len(caplog.records) == 1
    assert "1 coordinates have 60 minutes or more, such as 5.75 of city 1" in caplog.text
    caplog.clear()
    Problem.from_points([[0, 0, 360], [-360, 1, 2]], "XRAY1")
    assert not caplog.records
    Problem.from_points([[0, 0, 361], [-360, 1, 2]], "XRAY2")
    assert "XRAY2 takes angles in degrees" in caplog.text


def test_objects_that_are_numbers_are_taken_exactly():
    whole = np.array([[0, 2**53], [2**53, 0]], dtype=object)
    assert Problem.from_matrix(whole).matrix[0, 1] == 2**53
    assert Problem.from_matrix(np.array([[0, 7], [7, 0]], dtype=object)).integral
    half = fractions.Fraction(1, 2)
    assert Problem.from_matrix([[0, half], [decimal.Decimal("0.5"), 0]]).matrix[0, 1] == 0.5
    for large in (2**53 + 1, 2**63, 10**30 + 1):
        assert Problem.from_matrix(np.array([[0, large], [large, 0]], dtype=object)).distance(0, 1) == large
    with pytest.raises(InvalidProblem, match=r"among real numbers"):
        Problem.from_matrix([[0, 2**53 + 1, 1], [2**53 + 1, 0, 0.5], [1, 0.5, 0]])
    with pytest.raises(InvalidProblem, match=r"1329 bits: up to 10\*\*300"):
        Problem.from_matrix([[0, 10**400], [10**400, 0]])


@pytest.mark.parametrize("large", [3, 2**31, 2**52 + 1, 2**53 - 1, 2**53 + 1, 10**30 + 1])
def test_integers_beside_infinity_stay_integers(large):
    """Their sums, too, which doubles would round."""
    rows = [[math.inf, large, math.inf], [large - 1, 0, large], [large - 2, large, math.inf]]
    for given in (rows, np.array(rows, dtype=object), [[*row] for row in np.array(rows, dtype=object)]):
        problem = Problem.from_matrix(given, asymmetric=True)
        assert problem.integral
        assert problem.length([0, 1, 2]) == 3 * large - 2
        assert len(problem.missing_arcs([2, 1, 0])) == 1
        again = dataclasses.replace(problem, name="again")
        assert (again.wall, again.length([0, 1, 2])) == (problem.wall, 3 * large - 2)


@pytest.mark.parametrize("kind", ["i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8"])
def test_negative_entries_of_every_width_are_seen(kind):
    largest = np.iinfo(kind).max
    good = np.array([[0, 1, largest], [1, 0, 2], [largest, 2, 0]], dtype=kind)
    assert Problem.from_matrix(good).length([0, 1, 2]) == 3 + int(largest)
    good[0, 1] = good[1, 0] = -1
    with pytest.raises(InvalidProblem, match=r"entry \(0, 1\) of the matrix is -1"):
        Problem.from_matrix(good)


def test_a_wall_is_compared_exactly_with_integers_beyond_doubles():
    wall = 2**60 + 1
    there = Problem.from_matrix([[0, 2**60, wall], [5, 0, 7], [9, wall, 0]], asymmetric=True, wall=wall)
    assert there.distance(0, 1) == 2**60
    assert len(there.missing_arcs([0, 1, 2])) == 0
    assert len(there.missing_arcs([0, 2, 1])) == 2


def test_reals_beside_infinity_stay_reals():
    reals = [[math.inf, 3.0], [3, 0]]
    for rows in (reals, np.array(reals), [[math.inf, 3], [3, math.nan]]):
        assert not Problem.from_matrix(rows).integral


def test_lengths_that_64_bits_do_not_hold_are_refused_in_one_line():
    """Of coordinates, which are doubles: integers of any size are for matrices."""
    points = np.zeros((20_000, 2))
    points[0] = 8e13
    with pytest.raises(InvalidProblem, match=r"20000 cities .* lengths of tours leave .*64 bits; scale the"):
        Problem.from_points(points, "EUC_2D")
    assert Problem.from_points(points[:15_000], "EUC_2D").integral


def test_drop_ins_say_which_row_is_ragged():
    ragged = [[0, 1, 2], [1, 0, 3], [2, 3]]
    for door in (*MATRIX_DOORS, Problem.from_matrix):
        with pytest.raises(
            InvalidProblem, match=r"entry 2 \(counted from 0\) is a row of 2, and the first is"
        ):
            door(ragged)
