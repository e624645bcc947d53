"""Objects that people have at hand: dicts, shapes, graphs, tables of Arrow."""

from types import SimpleNamespace

import numpy as np
import pytest
from calls import warned
from instances import distances, shortest
from scipy.spatial.distance import cdist

import warptsp
from warptsp.errors import InvalidOption, InvalidProblem

PLACES = {"Berlin": (52.52, 13.405), "Lisbon": (38.7225, -9.1375), "Rome": (41.9, 12.5)}


class Shape(SimpleNamespace):
    """As much of a point of shapely as is looked at."""

    geom_type = "Point"
    is_empty = False


def shapes():
    return [Shape(x=lon, y=lat) for lat, lon in PLACES.values()]


def test_a_dict_of_places(caplog):
    result = warptsp.solve(PLACES, metric="haversine")
    assert (result.problem.metric.name, list(result.problem.labels)) == ("GREAT_CIRCLE", list(PLACES))
    assert not warned(caplog)
    assert warptsp.solve(PLACES).problem.metric.name == "EXACT_2D"
    assert "the dict: the numbers look like degrees" in warned(caplog)[0]
    assert warptsp.solve({"a": (0, 0, 1), "b": np.array([3, 4, 1])}).length == 10


def test_a_dict_of_distances():
    rows = {"A": {"A": 0, "B": 1, "C": 2}, "B": {"A": 5, "C": 3}, "C": {"A": 2, "B": 9}}
    assert warptsp.solve(rows, asymmetric=True).length == 1 + 3 + 2
    with pytest.raises(InvalidProblem, match="not symmetric"):
        warptsp.solve(rows)
    del rows["B"]["C"]
    with pytest.raises(InvalidProblem, match="no distance leads from 'B' to 'C': every pair is needed"):
        warptsp.solve(rows, asymmetric=True)
    table = [{"A": 0, "B": 1, "C": 2}, {"A": 5, "B": 0, "C": 3}, {"A": 2, "B": 9, "C": 0}]
    assert warptsp.solve(table, asymmetric=True).length == 1 + 3 + 2
    with pytest.raises(InvalidOption, match="does not fit a dict of distances"):
        warptsp.solve(rows, metric="euclidean")


def test_rows_of_a_table():
    rows = [{"name": name, "lat": lat, "lon": lon, "note": "x"} for name, (lat, lon) in PLACES.items()]
    named = {name: {"lat": lat, "lon": lon} for name, (lat, lon) in PLACES.items()}
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": place[::-1]},
            "properties": {"name": name},
        }
        for name, place in PLACES.items()
    ]
    length = warptsp.solve(PLACES, metric="haversine").length
    for given in (rows, named, features, tuple(rows)):
        result = warptsp.solve(given)
        assert (result.length, sorted(result.names)) == (length, sorted(PLACES))
    assert list(warptsp.solve(rows).problem.extra) == ["note"]
    with pytest.raises(InvalidProblem, match=r"row 3 .*is 5: a dict is needed"):
        warptsp.solve([*rows, 5])
    del rows[1]["lon"]
    with pytest.raises(InvalidProblem, match=r"row 1 \(counted from 0\): nothing in column lon: .* needed$"):
        warptsp.solve(rows)


def test_iterators_and_what_holds_no_points():
    lat, lon = zip(*PLACES.values(), strict=True)
    length = warptsp.solve(PLACES, metric="haversine").length
    assert warptsp.solve(zip(lat, lon, strict=True), metric="haversine").length == length
    assert warptsp.solve((place for place in PLACES.values()), metric="haversine").length == length
    with pytest.raises(InvalidProblem, match="a set has no order"):
        warptsp.solve(set(PLACES.values()))
    with pytest.raises(InvalidProblem, match="names alone have no coordinates, which a geocoder finds"):
        warptsp.solve(list(PLACES))
    lazy = SimpleNamespace(columns=["lat", "lon"], collect=None, collect_schema=None)
    with pytest.raises(InvalidProblem, match=r"holds a query and no rows yet: give frame.collect\(\)"):
        warptsp.solve(lazy)


def test_a_dict_of_columns_and_geojson():
    lat, lon = zip(*PLACES.values(), strict=True)
    points = {"type": "MultiPoint", "coordinates": [(b, a) for a, b in PLACES.values()]}
    first = warptsp.solve({"name": list(PLACES), "lat": lat, "lon": lon})
    second = warptsp.solve(points)
    assert first.length == second.length == warptsp.solve(points, metric="haversine").length
    assert list(first.problem.labels) == list(PLACES)
    with pytest.raises(InvalidProblem, match="GeoJSON: the document is 'Polygon': a Point or a MultiPoint"):
        warptsp.solve({"type": "Polygon", "coordinates": []})
    with pytest.raises(InvalidOption, match="does not fit GeoJSON, whose metric is GREAT_CIRCLE"):
        warptsp.solve(points, metric="euclidean")


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ({"a": (1, 2), "b": (2, 3, 4), "c": (1, 1)}, "the place 'b' has 3 coordinates, and 'a' has 2:"),
        ({"a": (1, 2), "b": (1, 2**60 + 1)}, "cannot be kept exactly"),
    ],
)
def test_places_that_do_not_fit_together(places, message):
    with pytest.raises(InvalidProblem, match=message):
        warptsp.solve(places)
    results = warptsp.solve_many([places, {"a": (1, 2), "b": (2, 3)}], kicks=1)
    assert list(results.errors) == [0]
    assert isinstance(results.errors[0], InvalidProblem)
    assert results.solved == 1


@pytest.mark.parametrize("wrong", [{}, {"foo": 3}, {"a": (1, 2), "b": (1, "2")}, {"a": "xy", "b": "zu"}])
def test_other_dicts_are_refused_in_words_of_their_own(wrong):
    with pytest.raises(InvalidProblem, match=r"(a dict with the keys .+|an empty dict) is no instance:"):
        warptsp.solve(wrong)


def test_shapes(caplog):
    array = np.empty(3, dtype=object)
    array[:] = shapes()
    several = SimpleNamespace(geom_type="MultiPoint", geoms=shapes())
    for given in (shapes(), tuple(shapes()), array, several):
        caplog.clear()
        assert warptsp.solve(given).problem.coordinates[0].tolist() == [13.405, 52.52]
        assert "the shapes: the numbers look like degrees" in warned(caplog)[0]
        assert warptsp.solve(given, metric="haversine").problem.coordinates[0].tolist() == [52.52, 13.405]
    wrong = Shape(x=0, y=0)
    wrong.geom_type = "LineString"
    with pytest.raises(InvalidProblem, match=r"shape 3 \(counted from 0\) is a LineString: points are"):
        warptsp.solve([*shapes(), wrong])
    with pytest.raises(InvalidProblem, match="a LineString is one shape"):
        warptsp.solve(wrong)
    with pytest.raises(InvalidProblem, match="is an empty point"):
        warptsp.solve([*shapes(), Shape(x=0, y=0, is_empty=True)])


def test_real_shapes():
    shapely = pytest.importorskip("shapely")
    points = [shapely.Point(lon, lat) for lat, lon in PLACES.values()]
    expected = warptsp.solve(PLACES, metric="haversine").length
    for given in (points, shapely.MultiPoint(points), np.array(points)):
        assert warptsp.solve(given, metric="haversine").length == expected


def test_graphs():
    networkx = pytest.importorskip("networkx")
    graph = networkx.complete_graph(["a", "b", "c", "d"])
    networkx.set_edge_attributes(graph, 2, "weight")
    result = warptsp.solve(graph)
    assert (result.length, list(result.problem.labels)) == (8, ["a", "b", "c", "d"])
    with pytest.raises(InvalidOption, match="metric: a graph holds distances"):
        warptsp.solve(graph, metric="euclidean")
    graph.remove_edge("a", "b")
    with pytest.raises(InvalidProblem, match="the graph has no edge from 'a' to 'b'"):
        warptsp.solve(graph)


def test_tables_of_arrow():
    pyarrow = pytest.importorskip("pyarrow")
    lat, lon = zip(*PLACES.values(), strict=True)
    table = pyarrow.table({"name": list(PLACES), "lat": lat, "lon": lon})

    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return table.__arrow_c_stream__(requested_schema)

    for given in (table, table.to_batches()[0], Stream()):
        problem = warptsp.solve(given).problem
        assert (problem.metric.name, list(problem.labels)) == ("GREAT_CIRCLE", list(PLACES))


def test_a_frame_of_polars():
    polars = pytest.importorskip("polars")
    lat, lon = zip(*PLACES.values(), strict=True)
    problem = warptsp.solve(polars.DataFrame({"city": list(PLACES), "lat": lat, "lng": lon})).problem
    assert (problem.metric.name, list(problem.labels)) == ("GREAT_CIRCLE", list(PLACES))


def test_the_mercator_projection_of_the_web_warns(caplog):
    geopandas = pytest.importorskip("geopandas")
    lat, lon = zip(*PLACES.values(), strict=True)
    globe = geopandas.GeoSeries.from_xy(lon, lat, crs="EPSG:4326")
    warptsp.solve(globe)
    warptsp.solve(globe.to_crs("EPSG:3035"))
    assert not warned(caplog)
    warptsp.solve(globe.to_crs("EPSG:3857"))
    assert "stretches distances, here about 1.34 times" in warned(caplog)[0]
    assert 'frame.to_crs("EPSG:4326") gives great circles' in warned(caplog)[0]


@pytest.mark.parametrize(
    ("name", "metric"),
    [("euclidean", "EXACT_2D"), ("Cityblock", "MAN_2D"), ("manhattan", "MAN_2D"), ("chebyshev", "MAX_2D")],
)
def test_metrics_by_the_names_of_scipy(name, metric):
    points = [[0, 0], [3, 0], [3, 4], [0, 4]]
    assert warptsp.solve(points, metric=name).problem.metric.name == metric
    space = warptsp.solve([[*point, 1] for point in points], metric=name).problem
    assert space.metric.name == metric.replace("2D", "3D")
    points[1][1] = 0.5
    assert warptsp.solve(points, metric=metric).problem.metric.name == metric  # by TSPLIB's name
    for decimals in (points, [[*point, 1.5] for point in points]):
        problem = warptsp.solve(decimals, metric=name).problem
        assert problem.metric is space.metric.unrounded if len(decimals[0]) == 3 else problem.metric.planar
        scipys = cdist(decimals, decimals, name.lower().replace("manhattan", "cityblock"))
        assert distances(problem) == pytest.approx(scipys, rel=1e-15)


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("name", ["manhattan", "chebyshev"])
def test_what_is_not_rounded_is_searched_bounded_and_proved(name, dimensions):
    pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")
    points = np.round(10 * np.random.default_rng(dimensions).random((9, dimensions)), 3)
    for open_path in (False, True):
        found = warptsp.solve(points, metric=name, open=open_path, prove=True)
        problem = found.problem
        assert not problem.integral
        assert found.length == pytest.approx(shortest(problem), rel=1e-12)
        assert found.proved_optimal


def test_a_metric_that_does_not_fit():
    problem = warptsp.Problem.from_points([[0, 0], [1, 1]])
    with pytest.raises(InvalidOption, match="metric: the problem has its own, EXACT_2D"):
        warptsp.solve(problem, metric="haversine")
    with pytest.raises(InvalidOption, match=r"unknown metric 'cosine': use one of EUC_2D, .*, or"):
        warptsp.solve([[0, 0], [1, 1]], metric="cosine")
    assert warptsp.solve([[0, 2], [2, 0]], metric="EXPLICIT").length == 4


def test_tours_keep_the_other_columns_of_a_frame(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "x": [0, 3, 3],
            "y": [0, 0, 4],
            "name": ["a", "b", "c"],
            "load": [1.5, np.nan, 2.0],
            "note": ["x", None, "z"],
            "day": pandas.to_datetime(["2026-01-02", None, "2026-01-04"]),
            "open": [True, False, True],
        }
    )
    warptsp.solve(frame, open=warptsp.OpenPath("a", "c")).save(tmp_path / "a.csv")
    rows = (tmp_path / "a.csv").read_text().splitlines()
    assert rows[0] == "path_position,id,x,y,name,load,note,day,open,distance_from_start,distance_to_next"
    assert rows[1].startswith("1,1,0,0,a,1.5,x,2026-01-02")
    assert rows[2].startswith("2,2,3,0,b,,,")
    assert rows[3].endswith(",True,7.0,")
