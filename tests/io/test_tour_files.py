"""Whether a tour in a file is an open path, and tours as lines on a map, across the antimeridian, too."""

import dataclasses
import json
import random

import numpy as np
import pytest
from calls import call
from hypothesis import example, given
from hypothesis import strategies as st

from warptsp import OpenPath, Problem
from warptsp.errors import InvalidTour, ParseError
from warptsp.io import load, read_tour, write_problem, write_tour
from warptsp.io.tours import read_tour_file

SAYING = ["a.tour", "a.csv", "a.tsv", "a.geojson", "a.json", "a.gpx", "a.kml"]
SILENT = ["a.txt", "a.npy", "a.i32"]
PACIFIC = [[-18.1, 178.4], [-13.8, -171.8], [-21.1, -175.2], [-36.8, 174.7], [-9.4, 159.9], [21.3, -157.9]]


@pytest.fixture
def pacific():
    return Problem.from_points(PACIFIC, "GREAT_CIRCLE", name="pacific")


@pytest.mark.parametrize("name", SAYING)
@pytest.mark.parametrize("path", [False, True])
def test_what_is_written_is_read_as_what_it_was(tmp_path, pacific, name, path):
    problem = dataclasses.replace(pacific, open=OpenPath() if path else None)
    tour = [3, 0, 2, 1, 5, 4]
    write_tour(tmp_path / name, tour, problem)
    for instance in (pacific, problem):  # whatever the instance says
        found = read_tour_file(tmp_path / name, instance)
        assert found.open is path
        assert found.cities.tolist() == tour
        assert read_tour(tmp_path / name, instance).tolist() == tour


@pytest.mark.parametrize("name", SILENT)
def test_some_files_cannot_say(tmp_path, pacific, name):
    write_tour(tmp_path / name, range(6), dataclasses.replace(pacific, open=OpenPath()))
    assert read_tour_file(tmp_path / name, pacific).open is None


@pytest.mark.parametrize(
    "text", ["1 2 3 4 5 6 1", "id\n1\n2\n3\n4\n5\n6\n1\n", "TOUR_SECTION\n1 2 3 4 5 6 1 -1"]
)
def test_a_tour_may_end_where_it_began(tmp_path, pacific, text):
    (tmp_path / "a.txt").write_text(text)
    found = read_tour_file(tmp_path / "a.txt", dataclasses.replace(pacific, open=OpenPath()))
    assert (found.cities.tolist(), found.open) == ([0, 1, 2, 3, 4, 5], False)
    (tmp_path / "a.txt").write_text(text.replace("6", "1"))
    with pytest.raises(InvalidTour, match="node 1 is there more than once; node 6 is missing"):
        read_tour_file(tmp_path / "a.txt", pacific)


def checked(capsys, *arguments):
    status = call("check", *arguments)
    return status, "".join(capsys.readouterr())


def test_a_list_that_may_be_of_names(tmp_path, caplog):
    (tmp_path / "tour.txt").write_text("2 3 1")
    for names, told in (("123", 0), ("124", 0), ("231", 1)):
        problem = Problem.from_points([(0, 0), (0, 1), (1, 0)], labels=list(names))
        assert read_tour(tmp_path / "tour.txt", problem).tolist() == [1, 2, 0]
        assert caplog.text.count("not for names, which are such numbers, too") == told


def test_check_measures_a_path_as_a_path(tmp_path, pacific, capsys):
    write_problem(tmp_path / "places.csv", pacific)
    path = dataclasses.replace(pacific, open=OpenPath())
    for name in SAYING:
        write_tour(tmp_path / name, range(6), path)
        status, out = checked(capsys, tmp_path / "places.csv", tmp_path / name, "--json")
        assert status == 0
        assert json.loads(out)["open"] is True
        assert json.loads(out)["length"] == pytest.approx(path.length(range(6)))
        status, out = checked(capsys, tmp_path / "places.csv", tmp_path / name)
        assert f"taken as     an open path, as {tmp_path / name} says" in out
        status, out = checked(capsys, tmp_path / "places.csv", tmp_path / name, "--closed")
        assert "taken as     a closed tour, as --closed says" in out


def test_check_says_what_settles_it(tmp_path, pacific, capsys):
    write_problem(tmp_path / "places.csv", pacific)
    for name in SILENT:
        write_tour(tmp_path / name, range(6), pacific)
        status, out = checked(capsys, tmp_path / "places.csv", tmp_path / name)
        assert status == 0
        assert "taken as     a closed tour, as the instance has it" in out
        assert f"{name} does not say; --open does" in out


@pytest.mark.parametrize("command", ["plot", "report"])
def test_pictures_show_a_path_as_a_path(tmp_path, pacific, command, capsys):
    write_problem(tmp_path / "places.csv", pacific)
    write_tour(tmp_path / "path.csv", range(6), dataclasses.replace(pacific, open=OpenPath()))
    write_tour(tmp_path / "tour.csv", range(6), pacific)
    ending = {"plot": "svg", "report": "html"}[command]
    pages = []
    for tour, options in (("path.csv", []), ("path.csv", ["--closed"]), ("tour.csv", ["--open"])):
        page = tmp_path / f"page.{ending}"
        assert call(command, tmp_path / "places.csv", tmp_path / tour, page, *options, "--title", "x") == 0
        pages.append(page.read_bytes().replace(b"path.csv", b"tour.csv"))
    assert pages[0] == pages[2] != pages[1]


def test_files_that_disagree_are_told(tmp_path, pacific, capsys):
    write_problem(tmp_path / "places.csv", pacific)
    write_tour(tmp_path / "path.csv", range(6), dataclasses.replace(pacific, open=OpenPath()))
    write_tour(tmp_path / "tour.csv", range(6), pacific)
    files = [tmp_path / name for name in ("places.csv", "path.csv", "tour.csv", "page.html")]
    assert call("report", *files) == 2
    assert "path.csv is an open path and" in capsys.readouterr().err
    assert call("report", *files, "--open") == 0


# Lines on a map


def parts_of(file):
    geometry = json.loads(file.read_text())["features"][0]["geometry"]
    return [geometry["coordinates"]] if geometry["type"] == "LineString" else geometry["coordinates"]


def test_lines_are_cut_at_the_antimeridian(tmp_path):
    fiji_samoa = Problem.from_points([[-18.0, 178.0], [-14.0, -172.0], [-16.0, 170.0]], "GREAT_CIRCLE")
    write_tour(tmp_path / "a.geojson", [0, 1, 2], fiji_samoa)
    first, second, third = parts_of(tmp_path / "a.geojson")
    assert first == [[178.0, -18.0], [180.0, pytest.approx(-17.2)]]
    back = pytest.approx(-14.0 - 16 / 18)
    assert second == [[-180.0, pytest.approx(-17.2)], [-172.0, -14.0], [-180.0, back]]
    assert third == [[180.0, back], [170.0, -16.0], [178.0, -18.0]]


LONGITUDES = st.one_of(
    st.sampled_from([-180.0, 180.0, 179.5, -179.5, 0.0, 1e-300, 360.0, 190.0]), st.floats(-180.0, 360.0)
)
LATITUDES = st.one_of(st.sampled_from([0.0, 1.0, -90.0, 90.0]), st.floats(-90.0, 90.0))


# The edge from the second to the third crosses the antimeridian exactly where the first lies.
CROSSED = [(0.0, -180.0), (0.0, 98.0), (0.0, -83.0)]


@example(CROSSED, False, False, "GREAT_CIRCLE", random.Random(0))
@example(CROSSED, True, False, "GREAT_CIRCLE", random.Random(3))
@given(
    st.lists(st.tuples(LATITUDES, LONGITUDES), min_size=1, max_size=9),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["GREAT_CIRCLE", "GEO"]),
    st.randoms(),
)
def test_any_line_reads_back_as_a_tour_and_as_an_instance(
    tmp_path_factory, places, path, named, metric, chance
):
    if metric == "GEO":
        places = np.trunc(places)  # the decimals are minutes, fewer than sixty
    labels = [f"c{city}" for city in range(len(places))] if named else None
    problem = Problem.from_points(places, metric, labels=labels, open=OpenPath() if path else None)
    tour = list(range(problem.n))
    chance.shuffle(tour)
    file = tmp_path_factory.mktemp("lines") / "a.geojson"
    write_tour(file, tour, problem)
    for part in parts_of(file):
        assert len(part) > 1
        assert np.abs(np.diff([longitude for longitude, _ in part])).max() <= 180.0
    found = read_tour_file(file, problem)
    problem.check_tour(found.cities)
    # Cities at one place are one to a line.
    ends = problem.coordinates[found.cities], problem.coordinates[tour]
    assert problem.length(found.cities) == pytest.approx(problem.length(tour), rel=1e-12, abs=1e-6), ends
    apart = problem.coordinates[tour[0]] - problem.coordinates[tour[-1]]
    assert problem.n == 1 or found.open is path or (apart[0] == 0.0 and apart[1] % 360.0 == 0.0)
    again = load(file)
    assert again.labels is None or [problem.labels[city] for city in tour] == list(again.labels)
    assert again.coordinates[read_tour(file, again)].tolist() == again.coordinates.tolist()
    if metric == "GREAT_CIRCLE":
        closed = Problem.from_points(places, metric)
        assert again.length(range(again.n)) == pytest.approx(closed.length(tour), rel=1e-12, abs=1e-6)


def test_a_line_of_another_program_is_a_tour(tmp_path, pacific):
    rounded = [[round(longitude, 6), round(latitude, 6), 12.0] for latitude, longitude in PACIFIC]
    line = {"type": "LineString", "coordinates": [*rounded, rounded[0]]}
    points = [{"type": "Feature", "geometry": {"type": "Point", "coordinates": place}} for place in rounded]
    precise = Problem.from_points(np.array(PACIFIC) + 3e-8, "GREAT_CIRCLE")
    for geometry in (line, {"type": "GeometryCollection", "geometries": [line]}):
        feature = {"type": "Feature", "properties": None, "geometry": geometry}
        document = {"type": "FeatureCollection", "features": [feature, *points]}
        (tmp_path / "a.geojson").write_text(json.dumps(document))
        for problem in (pacific, precise):
            assert read_tour_file(tmp_path / "a.geojson", problem).cities.tolist() == list(range(6))
            assert read_tour_file(tmp_path / "a.geojson", problem).open is False


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", '{"type": "Point", "coordinates": [1, 2]}', r"has 0 lines \(LineString"),
        ("a.json", '{"type": "LineString", "coordinates": [[1, 2], [3, 4]]}', "no city at latitude 2"),
        ("a.json", '{"type": "LineString", "coordinates": [1]}', "no coordinates"),
        ("a.json", '{"type": "MultiLineString", "coordinates": [1]}', "no list of coordinates"),
        ("a.json", '{"type": "LineString", "coordinates": []}', "has 0 lines"),
        ("a.json", "[]", "an empty list is no tour: a list of node numbers or of names, or GeoJSON"),
        ("a.json", '{"a": 1}', "an object with the keys 'a' is no tour"),
        ("a.gpx", "<gpx/>", r"has 0 routes \(rte\): one is needed"),
        ("a.kml", "<kml/>", r"has 0 lines \(LineString\): one is needed"),
        ("a.kml", "<osm/>", "the document is 'osm'"),
    ],
)
def test_what_is_no_line_through_the_cities(tmp_path, pacific, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidTour if "no city" in message else ParseError, match=message) as caught:
        read_tour(tmp_path / name, pacific)
    assert str(caught.value).count(name) == 1


def test_a_line_on_a_map_is_no_tour_of_the_plane(tmp_path, pacific):
    write_tour(tmp_path / "a.kml", range(6), pacific)
    with pytest.raises(InvalidTour, match="a line on a map has latitudes and longitudes, and the instance"):
        read_tour(tmp_path / "a.kml", Problem.from_points(PACIFIC))


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ("6 6\n0 2 5\n2 1 6.5\n1 3 7\n3 5 1\n5 4 1\n4 0 8\n", None),
        ("6 6\n0 2 5\n4 0 8\n1 3 7\n3 5 1\n2 1 6\n5 4 1\n", None),
        ("6 6\n0 2 5\n2 1 6\n1 0 7\n3 5 1\n5 4 1\n4 3 8\n", "there more than once"),
        ("6 6\n0 2 5\n2 1 6\n1 3 7\n3 5 1\n5 4 1\n4 1 8\n", "has 6 edges that are no tour: two at each"),
        ("6 6\n0 0 5\n2 1 6\n1 2 7\n3 5 1\n5 4 1\n4 3 8\n", "there more than once"),
        ("6 6\n0 2 5\n2 1 6\n1 3 7\n3 5 1\n5 4 1\n4 6 8\n", "has 6 edges that are no tour: two at each"),
    ],
)
def test_edges_of_linkern(tmp_path, pacific, edges, message):
    (tmp_path / "a.tour").write_text(edges)
    if message is None:
        assert read_tour_file(tmp_path / "a.tour", pacific).cities.tolist() == [0, 2, 1, 3, 5, 4]
        return
    with pytest.raises((InvalidTour, ParseError), match=message):
        read_tour_file(tmp_path / "a.tour", pacific)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("TYPE: TOUR\nCOMMENT: tour of length {}\nTOUR_SECTION\n1 2 3 4 -1\n", True),
        (
            "TYPE: TOUR\nCOMMENT: open path of length {}\nTOUR_SECTION\n1 2 3 4 -1\n",
            False,
        ),
        ("COMMENT : Length = {}\nCOMMENT : Found by LKH\nTYPE : TOUR\nTOUR_SECTION\n1\n2\n3\n4\n-1\n", True),
        ("COMMENT : Optimal tour for a.tsp ({})\nTYPE : TOUR\nTOUR_SECTION\n1\n2\n3\n4\n-1\n", True),
        ('{{"tour": [0, 1, 2, 3], "closed": true, "length": {}}}', True),
        ("4 4\n0 1 {}\n1 2 0\n2 3 0\n3 0 0\n", True),
    ],
)
def test_a_length_that_a_tour_has_not_is_told(tmp_path, caplog, text, told):
    """A checkpoint of another instance of as many cities was a start tour, silently."""
    square = [[0, 0], [0, 10], [10, 10], [10, 0]]
    for metric, length, other in (("EUC_2D", "40", 41), ("euclidean", "40.0", 48), ("euclidean", "41", 46)):
        for number in (length, other):
            caplog.clear()
            (tmp_path / "a.tour").write_text(text.format(number))
            assert read_tour(tmp_path / "a.tour", Problem.from_points(square, metric)).tolist() == [
                0,
                1,
                2,
                3,
            ]
            said = f"says that the tour is {number} long, and here it is 40: is it of another instance"
            assert (said in caplog.text) == bool(caplog.text) == (told and number == other)
