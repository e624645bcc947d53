"""Tours in files: written, read, refused."""

import csv
import dataclasses
import json
import os
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from warptsp.errors import InvalidOption, InvalidTour, OutputError, ParseError
from warptsp.io import TOUR_FORMATS, load, read_tour, write_problem, write_tour
from warptsp.io.registry import format_to_write
from warptsp.io.tours import check_tour_output
from warptsp.problem import OpenPath, Problem

PLACES = [[52.52, 13.405], [48.8566, 2.3522], [41.9, 12.5], [-10.0, 350.0]]
NAMES = ["Berlin", "Paris <\u00cele>", 'Ro"ma, RM', "\x07Sea"]


@pytest.fixture
def places():
    return Problem.from_points(PLACES, "GREAT_CIRCLE", labels=NAMES, name="places")


@pytest.mark.parametrize("format_", ["tsplib", "csv", "tsv", "list"])
@pytest.mark.parametrize("metric", ["EUC_2D", "GREAT_CIRCLE", "EXPLICIT"])
@pytest.mark.parametrize("numbered", [False, True])
def test_tours_read_back(tmp_path, format_, metric, numbered):
    fields = {"node_ids": [5, 0, 7, 2]} if numbered else {}
    if metric == "EXPLICIT":
        problem = Problem.from_matrix(np.ones((4, 4)), **fields)
    else:
        problem = Problem.from_points(PLACES, metric, **fields)
    path = tmp_path / f"a{TOUR_FORMATS[format_][0]}"
    write_tour(path, [2, 0, 3, 1], problem)
    found = read_tour(path, problem)
    assert found.dtype == np.int32
    assert found.tolist() == [2, 0, 3, 1]
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_long_tours(tmp_path):
    n = 300_000
    problem = Problem.from_points(np.zeros((n, 2)))
    tour = np.random.default_rng(0).permutation(n)
    for name in ("a.tour", "a.csv"):
        write_tour(tmp_path / name, tour, problem)
        assert np.array_equal(read_tour(tmp_path / name, problem), tour)


def test_csv_has_the_cities_in_order(tmp_path, places):
    write_tour(tmp_path / "a.csv", [2, 0, 1, 3], places)
    legs = [places.distance(a, b) for a, b in ((2, 0), (0, 1), (1, 3), (3, 2))]
    far = [f"{round(sum(legs[:at]) / 1000.0, 3)},{round(legs[at] / 1000.0, 3)}" for at in range(4)]
    assert (tmp_path / "a.csv").read_text("utf-8") == (
        "position,id,name,lat,lon,distance_from_start_km,distance_to_next_km\n"
        f'1,3,"Ro""ma, RM",41.9,12.5,{far[0]}\n'
        f"2,1,Berlin,52.52,13.405,{far[1]}\n"
        f"3,2,Paris <\u00cele>,48.8566,2.3522,{far[2]}\n"
        f"4,4,\x07Sea,-10.0,-10.0,{far[3]}\n"
    )
    write_tour(tmp_path / "b.csv", [1, 0], Problem.from_points([[0, 0.5], [3, 4]], "EUC_2D"))
    assert (tmp_path / "b.csv").read_text() == (
        "position,id,x,y,distance_from_start,distance_to_next\n1,2,3,4.0,0,5\n2,1,0,0.5,5,5\n"
    )


def line_in(file):
    """The line of a tour, which stands before its points."""
    return json.loads(file.read_text("utf-8"))["features"][0]


def test_geojson_is_a_closed_line(tmp_path, places):
    write_tour(tmp_path / "a.geojson", [2, 0, 1, 3], places)
    feature = line_in(tmp_path / "a.geojson")
    assert feature["type"] == "Feature"
    assert feature["geometry"]["type"] == "LineString"
    line = feature["geometry"]["coordinates"]
    assert line == [[12.5, 41.9], [13.405, 52.52], [2.3522, 48.8566], [-10.0, -10.0], [12.5, 41.9]]
    assert feature["properties"]["length"] == places.length([2, 0, 1, 3])
    assert feature["properties"]["order"][0] == NAMES[2]
    path = dataclasses.replace(places, open=OpenPath())
    write_tour(tmp_path / "a.geojson", [2, 0, 1, 3], path)
    assert len(line_in(tmp_path / "a.geojson")["geometry"]["coordinates"]) == 4
    write_tour(tmp_path / "one.geojson", [0], Problem.from_points([[1, 2]], "GREAT_CIRCLE"))
    assert line_in(tmp_path / "one.geojson")["geometry"]["coordinates"] == [[2, 1], [2, 1]]
    write_tour(tmp_path / "geo.geojson", [0, 1], Problem.from_points([[52.30, -13.15], [0, 0]], "GEO"))
    line = line_in(tmp_path / "geo.geojson")["geometry"]["coordinates"]
    assert line[0] == pytest.approx([-13.25, 52.5])  # TSPLIB's minutes as decimals


def test_gpx_is_a_route(tmp_path, places):
    write_tour(tmp_path / "a.gpx", [2, 0, 1, 3], places)
    root = ElementTree.parse(tmp_path / "a.gpx").getroot()
    space = "{http://www.topografix.com/GPX/1/1}"
    points = root.findall(f"{space}rte/{space}rtept")
    assert [float(point.get("lat")) for point in points] == [41.9, 52.52, 48.8566, -10.0, 41.9]
    assert [float(point.get("lon")) for point in points] == [12.5, 13.405, 2.3522, -10.0, 12.5]
    assert [point.find(f"{space}name").text for point in points[:4]] == [NAMES[2], NAMES[0], NAMES[1], "?Sea"]


def test_maps_need_latitudes(tmp_path):
    plane = Problem.from_points([[0, 0], [3, 4]])
    for name in ("a.gpx", "a.geojson", "a.json"):
        with pytest.raises(InvalidOption, match="needs latitudes and longitudes, and the instance has"):
            write_tour(tmp_path / name, [0, 1], plane)
        with pytest.raises(InvalidOption, match="needs latitudes"):
            check_tour_output(tmp_path / name, plane)
    assert list(tmp_path.iterdir()) == []
    check_tour_output(tmp_path / "a.tour", plane)


def test_tour_formats():
    assert format_to_write("a/b.OPT.TOUR", None, tour=True).name == "tsplib"
    assert format_to_write("x", "GPX", tour=True).name == "gpx"
    with pytest.raises(InvalidOption, match=r"a\.xls: the name's ending means no tour format: use one of"):
        format_to_write("a.xls", None, tour=True)
    with pytest.raises(InvalidOption, match=r"\.i32; Result\.plot draws a tour$"):
        format_to_write("a.PDF", None, tour=True)
    with pytest.raises(InvalidOption, match=r"\.i32; Result\.report writes a page$"):
        format_to_write("a.htm", None, tour=True)
    with pytest.raises(InvalidOption, match="there is no tour format 'xls' to write: use one of tsplib"):
        format_to_write("a.tour", "xls", tour=True)


def test_nothing_is_half_written(tmp_path, places):
    path = tmp_path / "a.tour"
    write_tour(path, [0, 1, 2, 3], places)
    before = path.read_bytes()
    with pytest.raises(InvalidTour, match="missing"):
        write_tour(path, [0, 1, 2, 2], places)
    assert path.read_bytes() == before
    with pytest.raises(OutputError, match="cannot write"):
        write_tour(tmp_path / "no" / "a.tour", [0, 1, 2, 3], places)
    assert os.listdir(tmp_path) == ["a.tour"]


# Reading


@pytest.mark.parametrize(
    "text",
    [
        "3 1 2 4",
        "3\n1\r\n2\n4\n",
        "2 0 1 3",
        "4\n2 0 1 3\n",
        "\ufeff3 1 2 4",
        "position,id\n1,3\n2,1\n3,2\n4,4\n",
        "Node;other\n3;a\n\n1;b\n2;c\n4;d\n",
        "name\nRoma\nBerlin\nParis\nSea\n",
        # Tables as the reader of instances takes them.
        "sep=;\nid;x\n3;0\n1;0\n2;0\n4;0\n",
        "\n\nid,x\n3,0\n# from the office\n1,0\n,\n2,0\n4,0\n,,\n",
        "id|x\n3|0\n1|0\n2|0\n4|0\n",
        "id x\n3 0\n1 0\n2 0\n4 0\n",
        "id,x\n3.0,0\n1.,0\n2.00,0\n4,0\n",
        "x,Nr.\n0,3\n0,1\n0,2\n0,4\n",
        "number,index,x\n1,3,0\n2,1,0\n3,2,0\n4,4,0\n",
        "Ort;km\nRoma;1\nBerlin;2\nParis;3\nSea;4\n",
        "label,city\nRoma,x\nBerlin,x\nParis,x\nSea,x\n",
        'stop name\n"Roma"\nBerlin\n Paris\nSea\n',
        '"id"\n"3"\n"1"\n"2"\n"4"\n',
        "# mine\nid,x\n3,0\n1,0\n2,0\n4,0\n",
        "#,x\n3,0\n1,0\n2,0\n4,0\n",
        "名称\nRoma\nBerlin\nParis\nSea\n",
    ],
)
def test_other_lists(tmp_path, text):
    problem = Problem.from_points(PLACES, "GREAT_CIRCLE", labels=["Berlin", "Paris", "Roma", "Sea"])
    path = tmp_path / "a.txt"
    path.write_text(text, encoding="utf-8")
    assert read_tour(path, problem).tolist() == [2, 0, 1, 3]


BREAKS = ["\n", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@pytest.mark.parametrize("mark", BREAKS)
def test_names_with_line_breaks_stand_on_one_line(tmp_path, ending, mark):
    labels = [f"Ro{mark}ma", f"{mark}=1", f'a "b"{mark}{mark}, c', "d"]
    problem = Problem.from_points(PLACES, labels=labels, extra={f"k{mark}m": [mark, "1", "2", "3"]})
    matrix = Problem.from_matrix(np.ones((4, 4)), labels=labels)
    for instance in (problem, matrix):
        write_problem(tmp_path / f"p.{ending}", instance)
        assert list(load(tmp_path / f"p.{ending}").labels) == ["Ro ma", "=1", 'a "b"  , c', "d"]
        for safe in (False, True):
            path = tmp_path / f"a.{ending}"
            write_tour(path, [2, 0, 3, 1], instance, csv_safe=safe)
            assert len(path.read_text().splitlines()) == 5
            assert read_tour(path, instance).tolist() == [2, 0, 3, 1]
            rows = csv.reader(path.read_text().splitlines(), delimiter="\t" if ending == "tsv" else ",")
            names = ['"' + row[2].replace('"', '""') + '"' for row in rows]
            (tmp_path / "names.txt").write_text("\n".join(["name", *names[1:]]))
            assert read_tour(tmp_path / "names.txt", instance).tolist() == [2, 0, 3, 1]
    write_tour(tmp_path / f"a.{ending}", [2, 0, 3, 1], problem)
    assert list(load(tmp_path / f"a.{ending}").labels) == ['a "b"  , c', "Ro ma", "d", "=1"]


def test_names_and_titles_that_look_like_other_marks(tmp_path):
    labels = ["#1; a", "sep=;", "b|c\td", "#e"]
    problem = Problem.from_points(PLACES, labels=labels, extra={"#a;b": [1, 2, 3, 4], "\t": [1, 2, 3, 4]})
    for path in (tmp_path / "a.csv", tmp_path / "a.tsv"):
        write_tour(path, [2, 0, 3, 1], problem)
        assert read_tour(path, problem).tolist() == [2, 0, 3, 1]
        assert list(load(path).labels) == [labels[city] for city in (2, 0, 3, 1)]
        for names in (labels, ["", "", " sep=", ""]):
            write_problem(path, Problem.from_matrix(np.ones((4, 4)), labels=names))
            assert list(load(path).labels) == [name.strip() for name in names]


def test_quoted_line_breaks_of_older_tours(tmp_path):
    problem = Problem.from_points(PLACES, labels=["Berlin", "Pa\n\nris", "Ro\r\nma", "Sea"])
    path = tmp_path / "a.csv"
    text = 'id,name,x\n3,"Ro\r\nma",0\n1,Berlin,0\n2,"Pa\n\nris",0\n{},Sea,0\n'
    path.write_text(text.format(4), newline="")
    assert read_tour(path, problem).tolist() == [2, 0, 1, 3]
    path.write_text(text.format("x"), newline="")
    with pytest.raises(ParseError, match=r"a\.csv:8: 'x' in column id"):
        read_tour(path, problem)
    path.write_text('name\n"Ro\r\nma"\nBerlin\n"Pa\n\nris"\nSea\n', newline="")
    assert read_tour(path, problem).tolist() == [2, 0, 1, 3]


@pytest.mark.parametrize("title", ["position", "path_position"])
def test_rows_in_another_order_are_refused(tmp_path, places, title):
    path = tmp_path / "a.csv"
    path.write_text(f"{title},id\n1,3\n2,1\n3.0,2\n\n10,4\n")
    assert read_tour(path, places).tolist() == [2, 0, 1, 3]
    path.write_text(f"id,{title}\n3,2\n1,1\n2,9\n4,3\n")  # a column of its instance
    assert read_tour(path, places).tolist() == [2, 0, 1, 3]
    message = rf"a\.csv:4: position 1 stands below position 2: .* of the column {title}: sort by it, or leave"
    for rows in ("1,3\n2,1\n1,2\n10,4\n", "0,3\n2,1\n1,2\n3,4\n"):
        path.write_text(f"{title},id\n{rows}")
        with pytest.raises(ParseError, match=message):
            read_tour(path, places)
    path.write_text(f"{title},id\n1,3\n2,1\n2,2\n10,4\n")
    with pytest.raises(ParseError, match="position 2 stands below position 2"):
        read_tour(path, places)
    path.write_text(f"{title},id\n1,3\nx,1\n3,2\n4,4\n")
    with pytest.raises(ParseError, match=rf"a\.csv:3: 'x' in column {title}: a number is needed"):
        read_tour(path, places)


def test_names_of_another_instance_are_refused(tmp_path):
    problem = Problem.from_points(PLACES, labels=["A", "C", "=  b", "'t Hof"])
    path = tmp_path / "a.csv"
    for names in (["A", "C", "=  b", "'t Hof"], ["A", "", "'= b", "'t  Hof"]):
        rows = "".join(f"{city},{name}\n" for city, name in enumerate(names, start=1))
        path.write_text(f"id,name\n{rows}")
        assert read_tour(path, problem).tolist() == [0, 1, 2, 3]
    path.write_text("id,name\n1,A\n\n2,B\n3,= b\n4,'t Hof\n")
    with pytest.raises(InvalidTour, match=r"^.*a\.csv:4: id 2 is 'C' in the instance, and 'B' here: "):
        read_tour(path, problem)
    assert read_tour(path, dataclasses.replace(problem, labels=None)).tolist() == [0, 1, 2, 3]
    assert read_tour(path, dataclasses.replace(problem, labels=["A", "", "= b", "'t Hof"])) is not None


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
@pytest.mark.parametrize("titles", ["name,lat,lon", "name,x,y", "Nr,Breite,Länge"])
def test_places_of_another_instance_are_told(tmp_path, caplog, titles, ending):
    """The same names, or numbers, elsewhere: lengths were those of another tour, silently."""
    if ending == ".xlsx":
        pytest.importorskip("openpyxl")
    tour = [2, 0, 3, 1]
    for file, last in ("a", "48.5,11.75"), ("rounded", "48.5004,11.75"), ("b", "48.6,11.75"):
        rows = f"1,48.25,11.5\n2,48.0,11.25\n3,48.75,11.0\n4,{last}\n"
        (tmp_path / f"{file}.csv").write_text(f"{titles}\n{rows}", encoding="utf-8")
        write_tour(tmp_path / f"{file}_tour{ending}", tour, load(tmp_path / f"{file}.csv"))
    problem = load(tmp_path / "a.csv")
    for file in ("a", "rounded", "b"):
        caplog.clear()
        assert read_tour(tmp_path / f"{file}_tour{ending}", problem).tolist() == tour
        said = (
            "the city is at (48.6, 11.75), and at (48.5, 11.75) in the instance: is the tour of another one?"
        )
        assert (f"b_tour{ending}:4: {said}" in caplog.text) == bool(caplog.text) == (file == "b")
    # What is no plain number, or has gone, is not compared.
    if ending == ".csv":
        text = (tmp_path / "b_tour.csv").read_text(encoding="utf-8-sig")
        (tmp_path / "c.csv").write_text(text.replace("48.6", "?"), encoding="utf-8")
        caplog.clear()
        assert read_tour(tmp_path / "c.csv", problem).tolist() == tour
        assert not caplog.text


@pytest.mark.parametrize("metric", ["haversine", "GEO"])
def test_places_as_the_instance_was_given_are_its_own(tmp_path, caplog, metric):
    """Tours have longitudes up to 180, and decimal degrees; a sorted table of the instance has its own."""
    rows = ["1,10.5,200", "2,11.25,205", "3,12,170"]
    (tmp_path / "p.csv").write_text("\n".join(["id,lat,lon", *rows]), encoding="utf-8")
    problem = load(tmp_path / "p.csv", metric=metric)
    (tmp_path / "sorted.csv").write_text("\n".join(["id,lat,lon", *rows[::-1]]), encoding="utf-8")
    write_tour(tmp_path / "written.csv", [2, 1, 0], problem)
    for file in ("sorted.csv", "written.csv"):
        assert read_tour(tmp_path / file, problem).tolist() == [2, 1, 0]
    assert not caplog.text
    (tmp_path / "empty.csv").write_text("id,lat,lon\n", encoding="utf-8")
    with pytest.raises(InvalidTour, match="a tour of 0 cities"):
        read_tour(tmp_path / "empty.csv", problem)


def test_names_may_come_from_another_column(tmp_path):
    (tmp_path / "p.csv").write_text("id,city,shop,x,y\n1,A,k,0,0\n2,B,l,0,1\n3,C,m,1,0\n")
    cities, shops = load(tmp_path / "p.csv"), load(tmp_path / "p.csv", columns={"name": "shop"})
    for one, other in ((cities, shops), (shops, cities)):
        write_tour(tmp_path / "a.csv", [2, 0, 1], one)
        assert read_tour(tmp_path / "a.csv", other).tolist() == [2, 0, 1]


def test_arrays(tmp_path):
    problem = Problem.from_points(PLACES)
    np.save(tmp_path / "a.npy", [2, 0, 1, 3])
    assert read_tour(tmp_path / "a.npy", problem).tolist() == [2, 0, 1, 3]
    np.save(tmp_path / "a.npy", [2.0, 0, 1, 3])
    with pytest.raises(InvalidTour, match="integers, not float64"):
        read_tour(tmp_path / "a.npy", problem)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("1 2 3", "a tour of 3 cities for an instance places of 4: node 4 is missing"),
        ("1 2 3 3", "node 3 is there more than once; node 4 is missing"),
        ("1 2 3 5", "the instance places has no node 5: its nodes are 1 to 4"),
        ("0 1 2 4", "there is no city 4: the list has a 0, so it counts from 0 to 3"),
        ("1 2\n3 4.5", ":2: '4.5' in a list of cities: an integer is needed"),
        ("1 2\n3 x", ":2: 'x' in a list of cities"),
        ("1 2\n3 nan", ":2: 'nan' in a list of cities"),
        ("1 2\n3 -4", "no node -4"),
        ("a,b\n1,2\n", "columns 'a', 'b': a column id or name is needed"),
        ("position,id\n1,3\n2\n", ":3: 1 fields: column 'id' is missing"),
        ("position,id\n1,3\n2,x\n", ":3: 'x' in column id: a node number is needed"),
        ('id,b\n1,"2\n', "is not a CSV line"),
        ("name\nBerlin\nBonn\n", "no city called 'Bonn'"),
    ],
)
def test_files_that_are_no_tour(tmp_path, places, text, message):
    path = tmp_path / "a.txt"
    path.write_text(text)
    with pytest.raises((ParseError, InvalidTour), match=message) as caught:
        read_tour(path, places)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_names_must_be_there_and_differ(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("name\na\na\n")
    for labels, message in ((None, "the instance has no names"), (["a", "a"], "have the same name")):
        with pytest.raises(InvalidTour, match=message):
            read_tour(path, Problem.from_points([[0, 0], [1, 1]], labels=labels))


def test_constraints_are_not_the_readers_business(tmp_path):
    problem = Problem.from_points(np.eye(4, 2), fixed_edges=[[0, 2]], open=OpenPath(start=3))
    (tmp_path / "a.txt").write_text("1 2 3 4")
    assert read_tour(tmp_path / "a.txt", problem).tolist() == [0, 1, 2, 3]


def test_lengths_in_comments(tmp_path, places):
    write_tour(tmp_path / "a.tour", [0, 1, 2, 3], places)
    text = (tmp_path / "a.tour").read_text()
    assert f"COMMENT : tour of length {places.length([0, 1, 2, 3])}\n" in text
