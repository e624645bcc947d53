"""Data frames, sparse and condensed matrices."""

from types import SimpleNamespace

import numpy as np
import pytest
from instances import Frame, unit_points
from processes import run_code
from scipy import sparse
from scipy.spatial.distance import pdist

import warptsp
from warptsp import Metric, Problem
from warptsp.errors import InvalidProblem


class GeoFrame(Frame):
    """One with an active geometry."""

    def __init__(self, geometry, **columns):
        super().__init__(geometry=[None] * len(geometry.x), **columns)
        self.geometry = geometry


def points(crs, x=(1.0, 2.0, 3.0), y=(4.0, 5.0, 7.0), kinds=("Point",) * 3, empty=(False,) * 3):
    return SimpleNamespace(x=x, y=y, geom_type=kinds, is_empty=empty, crs=crs)


GEOGRAPHIC = SimpleNamespace(is_geographic=True, is_projected=False, name="WGS 84")
PROJECTED = SimpleNamespace(is_geographic=False, is_projected=True, name="UTM 32N")
LOCAL = SimpleNamespace(is_geographic=False, is_projected=False, name="my ship")


def test_columns_have_the_names_of_csv_files():
    plane = Problem.from_frame(Frame(Easting=[0, 3, 3], NORTHING=[0, 0, 4], City=["a", "b", "c"]))
    assert plane.metric is Metric.EXACT_2D
    assert list(plane.labels) == ["a", "b", "c"]
    assert warptsp.solve(plane).length == 12
    space = Problem.from_frame(Frame(x=[0, 1], y=[0, 2], z=[0, 2], id=[7, 9]))
    assert (space.metric, space.distance(0, 1), space.node_id(1)) == (Metric.EXACT_3D, 3, 9)
    globe = Problem.from_frame(Frame(lon=[13.4, 2.35], lat=[52.5, 48.86], id=["BER", "CDG"]), name="flights")
    assert globe.metric is Metric.GREAT_CIRCLE
    assert globe.distance(0, 1) == pytest.approx(877_000, rel=0.01)
    assert (list(globe.labels), globe.name) == (["BER", "CDG"], "flights")
    assert warptsp.solve(Frame(x=[0, 3, 3], y=[0, 0, 4])).length == 12
    assert Problem.from_frame(Frame(name=["A", None, "C"], x=[0, 3, 3], y=[0, 0, 4])).labels == ["A", "", "C"]
    assert Problem.from_frame(Frame(x=[0, 3], y=[0, 4]), "MAN_2D").distance(0, 1) == 7


def test_geometry_and_its_reference_system():
    texts = ["not", "of", "use"]
    globe = Problem.from_frame(GeoFrame(points(GEOGRAPHIC), name=["p", "q", "r"], x=texts, y=texts))
    assert globe.metric is Metric.GREAT_CIRCLE
    assert list(globe.labels) == ["p", "q", "r"]
    np.testing.assert_array_equal(globe.coordinates, [[4, 1], [5, 2], [7, 3]])
    plane = Problem.from_frame(GeoFrame(points(PROJECTED)))
    assert plane.metric is Metric.EXACT_2D
    np.testing.assert_array_equal(plane.coordinates, [[1, 4], [2, 5], [3, 7]])


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (GeoFrame(points(None)), "no coordinate reference system.*set_crs"),
        (GeoFrame(points(LOCAL)), "my ship has no degrees .*, and is not projected: use to_crs"),
        (GeoFrame(points(GEOGRAPHIC, kinds=("Point", "LineString", "Point"))), "in row 1 .*is a LineString"),
        (GeoFrame(points(GEOGRAPHIC, kinds=("Point", None, "Point"))), "in row 1 .*is missing"),
        (GeoFrame(points(GEOGRAPHIC, kinds=("Point", np.nan, "Point"))), "in row 1 .*is missing"),
        (GeoFrame(points(GEOGRAPHIC, empty=(False, False, True))), "in row 2 .*is empty"),
        (Frame(a=[1], b=[2]), "the columns 'a', 'b': columns x and y, or lat and lon, are needed"),
        (Frame(x=[1], X=[1], y=[2]), "columns 'x' and 'X' mean the same"),
        (Frame(x=[1, "far"], y=[2, 3]), "row 1 .counted from 0.: 'far' in column x: a number is needed"),
        (Frame(x=[1, 2], y=[2, None]), "row 1 .counted from 0.: nothing in column y: .*dropna"),
        (Frame(lat=[1, 99], lon=[2, 3]), "latitude 99 of city 1"),
        (Frame(x=[], y=[]), "no cities"),
        (Frame(lat=[], lon=[]), "no cities"),
    ],
)
def test_what_is_wrong_is_said(frame, message):
    with pytest.raises(InvalidProblem, match=message):
        Problem.from_frame(frame)


def test_pandas():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x": rng.random(50), "y": rng.random(50)}, index=[f"place {i}" for i in range(50)])
    result = warptsp.solve(frame, kicks=500)
    assert list(result.problem.labels) == list(frame.index)
    route = frame.iloc[result.tour]
    steps = np.hypot(*(np.roll(route[["x", "y"]], -1, axis=0) - route[["x", "y"]]).to_numpy().T)
    assert steps.sum() == pytest.approx(result.length)
    assert Problem.from_frame(frame.reset_index(drop=True)).labels is None
    numbered = frame.assign(id=np.arange(50) + 100, x=frame["x"].astype("Float64"))
    assert Problem.from_frame(numbered).node_id(3) == 103
    with pytest.raises(InvalidProblem, match="nothing in column x"):
        Problem.from_frame(numbered.assign(x=numbered["x"].where(numbered["x"] > numbered["x"].min())))


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_dates_and_times_of_a_frame_are_whole_texts(unit):
    when = np.array(["2026-01-02T08:30", "NaT"], f"M8[{unit}]")
    lasts = np.array([90 * 60, 30 * 60 * 60], "m8[s]").astype(f"m8[{unit}]")
    problem = Problem.from_frame(Frame(name=["a", "b"], x=[1, 2], y=[3, 4], when=when, lasts=lasts))
    assert list(problem.extra["when"]) == ["2026-01-02 08:30:00", ""]
    assert list(problem.extra["lasts"]) == ["1:30:00", "1 day, 6:00:00"]


def test_a_square_data_frame_of_distances():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    names = ["home", "work", "shop"]
    table = pd.DataFrame([[0, 7, 2], [7, 0, 4], [2, 4, 0]], index=names, columns=names)
    problem = Problem.from_frame(table)
    assert (problem.metric, list(problem.labels), problem.integral) == (Metric.EXPLICIT, names, True)
    assert problem.distance(0, 1) == 7
    table.loc["home", "work"] = 5
    with pytest.raises(InvalidProblem, match="not symmetric"):
        Problem.from_frame(table)
    assert Problem.from_frame(table, asymmetric=True).distance([0, 1], [1, 0]).tolist() == [5, 7]


SQUARE = np.array([[0, 7, 2, 4], [7, 0, 4, 3], [2, 4, 0, 8], [4, 3, 8, 0]])


def test_a_square_is_found_as_in_a_file_of_it(tmp_path):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    counted = pd.DataFrame(SQUARE)  # with the default index and columns
    lettered = pd.DataFrame(SQUARE[:3, :3], index=list("xyz"), columns=list("xyz"))  # no places in space
    for frame in (counted, lettered, lettered.reset_index()):
        frame.to_csv(tmp_path / "a.csv", index=not isinstance(frame.iloc[0, 0], str))
        in_file = warptsp.load(tmp_path / "a.csv")
        problem = Problem.from_frame(frame)
        assert problem.metric is in_file.metric is Metric.EXPLICIT
        assert list(problem.labels) == list(in_file.labels)
        np.testing.assert_array_equal(problem.given_matrix(), in_file.given_matrix())
    assert Problem.from_frame(Frame(name=["a", "b"], a=[0, 1], b=[1, 0])).labels == ["a", "b"]
    assert Problem.from_frame(counted.iloc[:2, :2]).metric is Metric.EXPLICIT
    with pytest.raises(InvalidProblem, match="columns x and y"):  # two points
        Problem.from_frame(pd.DataFrame([[0.5, 0.7], [0.2, 0.9]]))


def test_arcs():
    columns = {"from": ["a", "b", "c"], "to": ["b", "c", "a"], "cost": [1, 2, 3]}
    problem = Problem.from_frame(Frame(**columns), name="ring")
    assert (problem.name, problem.labels, problem.asymmetric) == ("ring", ["a", "b", "c"], True)
    assert warptsp.solve(problem).length == 6
    with pytest.raises(InvalidProblem, match="nothing in column to: the name of a city"):
        Problem.from_frame(Frame(**{**columns, "to": ["b", None, "a"]}))
    with pytest.raises(InvalidProblem, match=r"row 2 .*'a' to 'b' stands in row 0 \(counted from 0\), too"):
        Problem.from_frame(Frame(**{"from": ["a", "b", "a"], "to": ["b", "a", "b"], "cost": [1, 2, 3]}))


def test_geopandas():
    gpd = pytest.importorskip("geopandas", reason="GeoPandas is not installed")
    shapely = pytest.importorskip("shapely", reason="Shapely is not installed")
    points = gpd.points_from_xy([13.4, 2.35, 12.5], [52.5, 48.86, 41.9])
    frame = gpd.GeoDataFrame({"name": ["Berlin", "Paris", "Rome"]}, geometry=points, crs="EPSG:4326")
    globe = Problem.from_frame(frame)
    assert globe.metric is Metric.GREAT_CIRCLE
    assert list(globe.labels) == ["Berlin", "Paris", "Rome"]
    assert globe.distance(0, 1) == pytest.approx(877_000, rel=0.01)
    assert Problem.from_frame(frame.to_crs("EPSG:3035")).distance(0, 1) == pytest.approx(877_000, rel=0.01)
    assert warptsp.solve(frame.geometry).problem.metric is Metric.GREAT_CIRCLE
    rotated = "+proj=ob_tran +o_proj=longlat +o_lon_p=0 +o_lat_p=39 +R=6371229"
    for other in ("EPSG:4807", "EPSG:4803", "ESRI:104905", rotated):  # grads from Paris, Lisbon, Mars
        with pytest.raises(InvalidProblem, match="has no degrees on the Earth from Greenwich"):
            Problem.from_frame(gpd.GeoSeries(points, crs=other))
    with pytest.raises(InvalidProblem, match="set_crs"):
        Problem.from_frame(gpd.GeoSeries(points))
    with pytest.raises(InvalidProblem, match="is a LineString"):
        Problem.from_frame(gpd.GeoSeries([shapely.LineString([(0, 0), (1, 1)])], crs="EPSG:4326"))
    with pytest.raises(InvalidProblem, match="no active geometry"):
        Problem.from_frame(gpd.GeoDataFrame({"name": ["Berlin"]}))
    import pandas as pd

    assert Problem.from_frame(pd.DataFrame({"x": [0, 3], "y": [0, 4]})).distance(0, 1) == 5


def test_condensed_matrices():
    cities = unit_points(12, 5)
    problem = Problem.from_matrix(pdist(cities))
    assert problem.n == 12
    assert problem.distance(3, 8) == np.hypot(*(cities[3] - cities[8]))
    assert warptsp.solve(pdist(cities)).length == pytest.approx(warptsp.solve(cities).length)
    with pytest.raises(InvalidProblem, match=r"shape \(4,\): .*condensed matrix has n \(n - 1\) / 2 numbers"):
        Problem.from_matrix([1, 2, 3, 4])


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.coo_matrix, sparse.lil_matrix])
def test_what_a_sparse_matrix_does_not_store_is_missing(kind):
    full = np.array([[0, 2, 9], [2, 0, 4], [9, 4, 0]])
    assert warptsp.solve(kind(full)).length == 15
    assert Problem.from_matrix(kind(full)).wall is None
    holes = full.copy()
    holes[0, 2] = holes[2, 0] = 0
    path = Problem.from_matrix(kind(holes), open=warptsp.OpenPath())
    assert warptsp.solve(path).length == 6
    with pytest.raises(warptsp.NoTourFound, match="which is proved: 1 arc is missing from the best tour"):
        warptsp.solve(Problem.from_matrix(kind(holes)))
    with pytest.raises(InvalidProblem, match=r"shape \(2, 3\): it must be square"):
        Problem.from_matrix(kind(full[:2]))
    stored = sparse.coo_array(([0, 0, 1, 1, 5, 5], ([0, 1, 0, 2, 1, 2], [1, 0, 2, 0, 2, 1])), shape=(3, 3))
    assert warptsp.solve(stored).length == 6  # a zero that is stored is a distance


def test_arrays_need_none_of_it():
    code = (
        "import sys, numpy, warptsp; warptsp.solve(numpy.random.rand(5, 2)); "
        "assert not {'pandas', 'warptsp.io.table.frame', 'warptsp.io'} & set(sys.modules)"
    )
    run_code(code, check=True)


ANGLES = {"lat": ["52\u00b0 31' 12\" N", "41.9"], "lon": ["13 24 18 E", "12\u00b0 29' 46\" E"]}


@pytest.mark.parametrize(
    "column", ["POINT (13.405 52.52)|POINT (12.4964 41.9)", "52.52, 13.405|41.9, 12.4964"]
)
def test_text_that_holds_both_coordinates(column):
    problem = Problem.from_frame(Frame(name=["Berlin", "Rome"], place=column.split("|"), floor=[3, 4]))
    assert problem.metric.name == "GREAT_CIRCLE"
    assert problem.coordinates.tolist() == [[52.52, 13.405], [41.9, 12.4964]]
    assert list(problem.labels) == ["Berlin", "Rome"]
    assert list(problem.extra) == ["floor"]


def test_angles_in_degrees_minutes_and_seconds():
    problem = Problem.from_frame(Frame(**ANGLES))
    assert problem.coordinates == pytest.approx(np.array([[52.52, 13.405], [41.9, 12.496111]]), abs=1e-6)
    with pytest.raises(InvalidProblem, match=r"row 1 .*'east' in column lon"):
        Problem.from_frame(Frame(lat=ANGLES["lat"], lon=["13 24 18 E", "east"]))


@pytest.mark.parametrize("names", [None, list("abcd")])
def test_square_frames_of_integers_above_2_53_are_exact(names):
    pandas = pytest.importorskip("pandas")
    matrix = [[0 if i == j else 2**60 + i + j for j in range(4)] for i in range(4)]
    problem = warptsp.Problem.from_frame(pandas.DataFrame(matrix, index=names, columns=names))
    assert problem.length([0, 1, 2, 3]) == 4 * 2**60 + 12
