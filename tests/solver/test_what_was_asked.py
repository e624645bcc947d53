"""What a call asks for is what is solved: ends that are given last or first, and small matrices."""

import contextlib
import json
import math

import exact
import numpy as np
import pytest
from calls import invoke
from instances import unit_points

import warptsp
from warptsp.errors import InvalidOption, InvalidProblem, NoTourFound
from warptsp.groups import choose
from warptsp.interop import fast_tsp
from warptsp.problem import Metric, OpenPath, Problem
from warptsp.problem.missing import with_infinity

INF = math.inf
LONELY = [[0, 1, INF, 1], [1, 0, INF, 1], [INF, INF, 0, INF], [1, 1, INF, 0]]  # no arc leaves the third
CHAIN = [[0, 3, INF], [INF, 0, 2], [INF, INF, 0]]  # a path from 0 to 2, and no tour


@pytest.mark.parametrize("seed", range(24))
def test_whether_arcs_suffice_depends_on_the_ends(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    directed = seed % 2 == 0
    matrix = rng.integers(1, 9, (n, n)).astype(float)
    matrix[rng.random((n, n)) < rng.choice([0.3, 0.5, 0.7])] = INF
    matrix = matrix if directed else np.minimum(matrix, matrix.T)
    np.fill_diagonal(matrix, 0.0)
    first, last = map(int, rng.permutation(n)[:2])
    for options, path in [
        ({}, None),
        ({"start_city": last}, None),
        ({"open": True}, OpenPath()),
        ({"open": True, "start_city": first}, OpenPath(first)),
        ({"end_city": last}, OpenPath(None, last)),
        ({"start_city": first, "end_city": last}, OpenPath(first, last)),
        ({"open": OpenPath(first, last)}, OpenPath(first, last)),
    ]:
        ends = None if path is None else (path.start, path.end)
        found = exact.optimum(matrix, open=ends, directed=True)
        best = INF if found is None else found[0]
        many = warptsp.solve_many([matrix], asymmetric=True, open=options.get("open"))
        length = INF
        with contextlib.suppress(InvalidProblem, NoTourFound):
            length = warptsp.solve(matrix, asymmetric=True, **options).length
        assert length == best, options
        if "start_city" not in options and "end_city" not in options:
            assert (many.length(0) or INF) == best, options


def test_a_problem_is_asked_for_its_arcs_by_what_searches():
    problem = Problem.from_matrix(CHAIN, asymmetric=True, labels=["a", "b", "c"])
    assert warptsp.solve(problem, open=True).names == ["a", "b", "c"]
    words = r"row 2 of the matrix \(counted from 0\) has no finite entry: no arc leaves node 3 \(c\)"
    for search in (
        warptsp.solve,
        lambda it: warptsp.merge(it, [[0, 1, 2]] * 2),
        lambda it: warptsp.solve(it, end_city="b"),
    ):
        with pytest.raises(InvalidProblem, match=words):
            search(problem)
    with pytest.raises(InvalidProblem, match="no arc leaves node 3"):
        warptsp.lower_bound(Problem.from_matrix(LONELY))
    ring = [[0, 1, INF, 1], [1, 0, 1, INF], [INF, 1, 0, 1], [1, INF, 1, 0]]
    fixed = Problem.from_matrix(ring, fixed_edges=[[0, 2]])
    with pytest.raises(
        InvalidProblem, match="the fixed edge from node 1 to node 3 is missing from the matrix"
    ):
        warptsp.solve(fixed)


def test_a_proof_asks_for_arcs_and_claims_nothing_without_a_tour():
    pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")
    for start in (None, [0, 1, 2, 3]):
        with pytest.raises(InvalidProblem, match="no arc leaves node 3"):
            warptsp.prove(Problem.from_matrix(LONELY), start)
    holes = [
        [0, 1, INF, INF, 1],
        [1, 0, 1, 1, INF],
        [INF, 1, 0, INF, 1],
        [INF, 1, INF, 0, 1],
        [1, INF, 1, 1, 0],
    ]
    with pytest.raises(NoTourFound) as caught:
        warptsp.prove(Problem.from_matrix(holes))
    assert (caught.value.result.length, caught.value.result.lower_bound or 0) == (INF, 0)


def test_a_place_without_arcs_is_not_chosen():
    holes = [[0, 1, INF, 1], [1, 0, INF, 1], [INF, INF, 0, INF], [1, 1, INF, 0]]
    assert choose(Problem.from_matrix(holes), [[0], [1, 2], [3]]).places.tolist() == [0, 1, 3]
    with pytest.raises(NoTourFound, match="no tour was found that goes through each group once") as caught:
        choose(Problem.from_matrix(holes), [[0], [1], [2], [3]])
    assert caught.value.proved


PATH = Problem.from_points(unit_points(6), labels=list("ABCDEF"), open=OpenPath("A", "C"))


@pytest.mark.parametrize(
    ("options", "ends"),
    [
        ({}, OpenPath(0, 2)),
        ({"open": True}, OpenPath(0, 2)),
        ({"start_city": "B"}, OpenPath(1, 2)),
        ({"end_city": "B"}, OpenPath(0, 1)),
        ({"start_city": "C", "end_city": "A"}, OpenPath(2, 0)),
        ({"open": True, "start_city": 1}, OpenPath(1, 2)),
        ({"open": OpenPath(start=1)}, OpenPath(1, None)),
        ({"open": OpenPath()}, OpenPath()),
        ({"open": False}, None),
        ({"open": False, "start_city": "B"}, None),
    ],
)
def test_ends_that_the_problem_has_stay_unless_others_are_given(options, ends):
    found = warptsp.solve(PATH, kicks=5, **options)
    assert found.problem.open == ends
    for end, place in () if ends is None else ((ends.start, 0), (ends.end, -1)):
        assert end in (None, found.tour[place])
    if ends is None:
        assert found.names[0] == options.get("start_city", "A")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start_city": "C"}, "start_city and end_city: the path of the problem ends at 'C' already"),
        ({"end_city": "A"}, "start_city and end_city: the path of the problem starts at 'A' already"),
        ({"metric": "EUC_2D"}, "metric: the problem has its own"),
    ],
)
def test_what_contradicts_the_problem_is_refused(options, message):
    with pytest.raises(InvalidOption, match=message):
        warptsp.solve(PATH, **options)


@pytest.mark.parametrize("diagonal", [0, 1, 999, math.inf, math.nan, -1])
@pytest.mark.parametrize("n", [2, 3])
def test_what_may_be_asymmetric_is_a_matrix(n, diagonal, caplog, tmp_path):
    square = np.array([[0, 2, 9], [1, 0, 4], [7, 4, 0]], dtype=float)[:n, :n]
    length = 3 if n == 2 else 13
    np.fill_diagonal(square, diagonal)
    np.save(tmp_path / "a.npy", square)
    for array in (square, square.tolist(), tmp_path / "a.npy"):
        assert warptsp.solve(array, asymmetric=True).length == length
    assert caplog.messages == []
    if diagonal not in (-1,) and not math.isnan(diagonal):
        np.savetxt(tmp_path / "a.csv", square, delimiter=",", fmt="%g")
        assert warptsp.solve(tmp_path / "a.csv", asymmetric=True).length == length
    for array in (square, np.maximum(square, square.T)) if diagonal in (999, -1) else ():
        with pytest.raises(
            InvalidProblem, match=f"{n} rows of {n} numbers with {diagonal} on the diagonal may"
        ):
            warptsp.solve(array)
        assert warptsp.solve(array, metric="euclidean").problem.coordinates.tolist() == array.tolist()


def test_a_table_of_distances_says_which_arcs_are_missing(tmp_path):
    file = tmp_path / "a.csv"
    for text in ("0,3,Inf\n inf,0,2\n+infinity,inf,0\n", ",a,b,c\na,0,3,inf\nb,inf,0,2\nc,inf,inf,0\n"):
        file.write_text(text)
        problem = warptsp.load(file, asymmetric=True)
        assert np.isinf(with_infinity(problem.matrix, problem.wall)).sum() == 4
        assert warptsp.solve(problem, open=True).tour.tolist() == [0, 1, 2]
    for text in ("inf,3,4\n3,inf,2\n4,2,inf\n", "inf,inf\n1,inf\n"):  # no titles, though these might be some
        file.write_text(text)
        assert warptsp.load(file, asymmetric=True).n == text.count("\n")
    file.write_text("x,y\ninf,2\n")
    with pytest.raises(InvalidProblem, match="'inf' in column"):
        warptsp.load(file)


ROUNDED = [metric.name for metric in Metric if metric.integral and (metric.planar or metric.spatial)]


@pytest.mark.parametrize("metric", ROUNDED)
@pytest.mark.parametrize("n", [3, 60, 2000])
def test_a_metric_that_rounds_all_away_is_doubtful(metric, n, caplog):
    dimensions = Metric[metric].dimensions
    unit = np.random.default_rng(n).random((n, dimensions)) * [10.0, 1.0, 1.0][:dimensions]
    small = Problem.from_points(0.1 * unit, metric)
    warning = small.doubt or ""
    assert warning.startswith(f"{metric} rounds distances to whole numbers, and most neighbours lie closer")
    exact = {"MAN": "EXACT_MAN", "MAX": "EXACT_MAX"}.get(metric[:3], "EXACT")
    assert f'metric="{exact}_{dimensions}D"' in warning.replace("'", '"')
    whole = np.floor(unit)
    for plain in (1e5 * unit, whole, np.zeros_like(unit)):
        assert Problem.from_points(plain, metric).doubt is None
    if n < 100:
        result = warptsp.solve(small, kicks=0)
        assert f"warning      {warning}" in result.summary()
        assert result.as_dict()["warning"] == warning
        assert "warning" not in warptsp.solve(Problem.from_points(whole, metric), kicks=0).summary()
        assert caplog.messages == [warning]


def test_the_command_doubts_degrees_that_are_rounded(tmp_path):
    rows = "1 52.52 13.40\n2 52.53 13.41\n3 52.54 13.35\n"
    header = "TYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
    (tmp_path / "a.tsp").write_text(header + rows + "EOF\n")
    words = "EUC_2D rounds distances to whole numbers, and most neighbours lie closer together than one: "
    words += "--metric EXACT_2D does not round"
    told = invoke("info", tmp_path / "a.tsp")
    assert f"warning              {words}" in told.stdout
    told = invoke("solve", tmp_path / "a.tsp")
    assert told.stderr.count(f"warptsp: warning: {words}\n") == 1
    assert f"warning      {words}" in told.stdout
    done = invoke("solve", tmp_path / "a.tsp", "--metric", "EXACT_2D", "--json")
    assert json.loads(done.stdout)["length"] == pytest.approx(0.12882, abs=1e-5)
    assert "warning" not in done.stderr


NO_TOUR = "from,to,cost\nA,B,1\nB,A,1\nB,C,1\nC,B,2\nC,A,3\nD,B,1\nA,D,1\nD,C,4\nC,E,1\nE,C,1\n"


def test_of_arcs_without_a_tour_nothing_false_is_said(tmp_path):
    (tmp_path / "nt.csv").write_text(NO_TOUR)
    with contextlib.chdir(tmp_path):
        names = ["-o", "x.csv", "-o", "x.tour", "--report", "x.html", "--json", "--checkpoint", "kept.tour"]
        done = invoke("solve", "nt.csv", *names)
        assert isinstance(done.exception, NoTourFound)  # status 2, as all errors
        assert done.exception.proved
        told = json.loads(done.stdout, parse_constant=pytest.fail)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.tour", "nt.csv"]
        assert "length inf" in (tmp_path / "kept.tour").read_text()
        text = invoke("solve", "nt.csv", "-o", "x.csv").stdout
    for key in ("length", "lower_bound", "known_length", "gap_percent", "bound_gap_percent", "report"):
        assert told[key] is None, key
    assert (told["proved_optimal"], told["outputs"], told["stop_reason"]) == (
        False,
        [],
        "proved that there is no tour",
    )
    ((tail, head),) = told["missing_arcs"]
    assert f"{tail},{head}," not in NO_TOUR
    at = told["names"].index(tail)
    assert [leg is None for leg in told["legs"]] == [place == at for place in range(5)]
    assert f"length       none: 1 arc is missing, such as the one from {tail} to {head}" in text
    assert "not written: there is none" in text
    assert "optimal" not in text


def test_a_tour_through_missing_arcs_has_no_length(tmp_path):
    rows = [[0, 1, INF, 2], [1, 0, 3, INF], [INF, 3, 0, 4], [2, INF, 4, 0]]
    problem, tour = Problem.from_matrix(rows, unit="m"), [0, 2, 1, 3]
    with pytest.raises(NoTourFound, match=r"; solve\(merge=\.\.\.\) searches on$") as caught:
        warptsp.merge(problem, [tour, tour])
    assert caught.value.result.length == INF
    assert warptsp.merge(problem, [tour, [0, 1, 2, 3]]).length == 10
    assert (fast_tsp.compute_cost(tour, rows), fast_tsp.score_tour(tour, rows, 10)) == (INF, 0)
    durations = [[None if d == INF else d for d in row] for row in rows]
    places = [{"location": [place, place % 2]} for place in range(4)]
    (tmp_path / "m.json").write_text(json.dumps({"durations": durations, "sources": places}))
    for name, cities in (("a.txt", "1 3 2 4"), ("b.txt", "1 2 3 4")):
        (tmp_path / name).write_text(cities)
    instance, through, there = (tmp_path / name for name in ("m.json", "a.txt", "b.txt"))
    assert "infinite  " in invoke("merge", instance, through, there).stdout
    page = tmp_path / "page.html"
    for command in ("merge", through, through), ("check", through), ("report", there, through, page):
        done = invoke(command[0], instance, *command[1:])
        assert done.exit_code != 0, command
        assert "missing" in str(done.exception), command
    told = json.loads(invoke("bound", instance, "--tour", through, "--json").stdout)
    assert (told["lower_bound"], told["length"], told["bound_gap_percent"]) == (10, None, None)


def test_a_tour_with_missing_arcs_is_marked_where_somebody_writes_it(tmp_path):
    (tmp_path / "nt.csv").write_text(NO_TOUR)
    with pytest.raises(NoTourFound) as caught:
        warptsp.solve(tmp_path / "nt.csv")
    result = caught.value.result
    assert (result.length, result.proved_optimal, result.lower_bound, result.known) == (
        INF,
        False,
        None,
        None,
    )
    assert (result.gap, result.bound_gap, result.history) == (None, None, [])
    assert np.isinf(result.legs).sum() == len(result.missing_arcs) == 1
    result.save(tmp_path / "x.csv")
    legs = [line.rpartition(",")[2] for line in (tmp_path / "x.csv").read_text().splitlines()[1:]]
    assert legs.count("inf") == 1


def test_merge_says_that_a_given_tour_has_no_length(tmp_path):
    ring = "from,to,cost\nA,B,1\nB,C,1\nC,D,1\nD,A,1\nA,C,1\nC,A,3\nB,D,2\nD,B,1\n"
    (tmp_path / "arcs.csv").write_text(ring)
    (tmp_path / "bad.csv").write_text("position,id\n1,1\n2,4\n3,3\n4,2\n")
    (tmp_path / "good.csv").write_text("position,id\n1,1\n2,2\n3,3\n4,4\n")
    with contextlib.chdir(tmp_path):
        done = invoke("merge", "arcs.csv", "bad.csv", "good.csv", "--json")
    told = json.loads(done.stdout, parse_constant=pytest.fail)
    assert ([tour["length"] for tour in told["tours"]], told["length"]) == ([None, 4], 4)
