"""CSV, TSV, .npy and GeoJSON instances."""

import io
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warptsp.errors import InvalidOption, ParseError
from warptsp.io import load, write_problem
from warptsp.io.table import read_table
from warptsp.io.table.writer import problem_table
from warptsp.problem import Metric, Problem


def parse(text):
    return read_table(text if isinstance(text, bytes) else text.encode(), "file.csv").problem


@pytest.mark.parametrize(
    "text",
    [
        "x,y\n1,2\n3,4\n5.5,-60\n",
        "x,y\r\n1,2\r\n3,4\r\n5.5,-60",
        "x,y\r1,2\r3,4\r5.5,-60",
        " X ; Y \n1;2\n3 ; 4\n5.5;-6e1\n",
        "y\tx\n2\t1\n4\t3\n-60\t5.5\n",
        "1,2\n3,4\n5.5,-60\n",
        "1 2\n3   4\n  5.5 -60\n",
        "# places\n\n1,2\n# more\n3,4\n\n5.5,-60\n\n",
        '"x","y"\n"1","2"\n3,4\n5.5,-60\n',
        "x,y,remark\n1,2,a\n3,4,\n5.5,-60,c\n",
        "1,1,2\n2,3,4\n3,5.5,-60\n",
        "0,1,2\n1,3,4\n2,5.5,-60\n",
        "easting;northing\n1;2\n3;4\n5.5;-60",
        "x|y\n1|2\n3|4\n5.5|-60\n",
        "sep=;\nx;y\n1;2\n3;4\n5.5;-60\n",
        ",,\nx,y,\n1,2,\n3,4,\n,,\n5.5,-60,\n,,\n , ,\n",
        "x;y\n1;2\n3;4\n5,5;-60\n",
        "x;y\n1,;2,0\n3;4\n5,5;-6,0e1\n",
        'x,y\n1,2\n3,4\n"5,5","-60,0"\n',
        "x y\n1 2\n3 4,0\n5,5 -60\n",
    ],
)
def test_the_same_points_in_many_ways(text):
    problem = parse(text)
    assert problem.metric is Metric.EXACT_2D
    assert problem.coordinates.tolist() == [[1, 2], [3, 4], [5.5, -60]]
    assert problem.labels is None


def test_latitude_and_longitude_mean_great_circles():
    problem = parse('Name;Longitude;Latitude\nBerlin;13.405;52.52\n"Paris; France";2.3522;48.8566\n')
    assert problem.metric is Metric.GREAT_CIRCLE
    assert problem.coordinates.tolist() == [[52.52, 13.405], [48.8566, 2.3522]]
    assert list(problem.labels) == ["Berlin", "Paris; France"]
    for titles in ("stop_lat,stop_lon", "decimalLatitude,decimalLongitude", "Latitude (deg),Long [\u00b0]"):
        assert parse(f"{titles}\n1,2\n").metric is Metric.GREAT_CIRCLE
    # Not 52390: a comma before three decimals is no doubt among degrees.
    assert parse("lat;lon\n52,390;13,064\n").coordinates.tolist() == [[52.39, 13.064]]


def test_names_and_ids():
    assert list(parse("a,1,2\nb,3,4\n").labels) == ["a", "b"]
    assert list(parse("1,2,a\n3,4,b\n").labels) == ["a", "b"]
    assert parse("id,x,y\n7,1,2\n0,3,4\n").node_ids.tolist() == [7, 0]
    assert list(parse("id,x,y\nA1,1,2\nA2,3,4\n").labels) == ["A1", "A2"]
    both = parse("id,name,x,y\n7,a,1,2\n9,b,3,4\n")
    assert both.node_ids.tolist() == [7, 9]
    assert list(both.labels) == ["a", "b"]
    assert list(parse("name,x,y\nK\u00f6ln,1,2\n".encode("latin-1")).labels) == ["K\u00f6ln"]


def test_three_dimensions():
    problem = parse("x,y,z\n1,2,3\n4,5,6\n")
    assert problem.metric is Metric.EXACT_3D
    assert parse("10,2,3\n4,5,6\n").metric is Metric.EXACT_3D


@pytest.mark.parametrize(
    ("text", "coordinates", "labels"),
    [
        ("name\tx\ty\tnote\na\t0\t0\tu\nb\t1\t0\t\nc\t1\t1\t\n", [(0, 0), (1, 0), (1, 1)], "abc"),
        ('"name" "x" "y"\n"New York" 1 2\n"Paris"  3 4\n', [(1, 2), (3, 4)], ["New York", "Paris"]),
        (f'name,x,y,area\na,0,1,"{"POLYGON " * 20_000}"\nb,2,3,""\n', [(0, 1), (2, 3)], "ab"),
        ("name,x,y,from,to,time\na,0,1,8,12,15\nb,2,3,12,20,10\n", [(0, 1), (2, 3)], "ab"),
    ],
)
def test_fields_of_other_columns(text, coordinates, labels):
    problem = parse(text)
    np.testing.assert_array_equal(problem.coordinates, coordinates)
    assert list(problem.labels) == list(labels)


def test_a_matrix_of_places_that_are_called_as_axes_are_and_two_points():
    assert parse("0,1\n2,3\n").metric is Metric.EXACT_2D
    problem = parse(",X,Y,Z\nX,0,5,6\nY,5,0,7\nZ,6,7,0\n")
    assert problem.metric is Metric.EXPLICIT
    assert problem.length([0, 1, 2]) == 18


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("# nothing\n", None, "no lines but comments"),
        ("x,y\n", 1, "no cities below the header line"),
        ("foo,bar\n1,2\n", 1, "names the columns 'foo', 'bar': columns x and y, or lat and lon, are needed"),
        (",".join(f"title{i}" for i in range(99)), 1, r"columns 'title0', .{150,190}\.\.\.: columns x and y"),
        (
            "name,address\nA,Main St 1\n",
            1,
            "addresses need a geocoder first, such as geopy$",
        ),
        ('My;places;of May\n\n"name";"lat";"lon"\na;1;2\n', 1, "are needed; line 3 names them, so what"),
        ("x,x,y\n1,2,3\n", 1, "columns 'x' and 'x' mean the same"),
        ("lat,latitude,lon\n1,2,3\n", 1, "columns 'lat' and 'latitude' mean the same"),
        ("x,y\n1,2\n\n3\n", 4, "1 field where the first line has 2"),
        ("x,y\n1,2\n3,4,5\n", 3, "3 fields where the first line has 2"),
        ("x,y\n1,2\n3,\n", 3, "nothing in column y: a finite number is needed"),
        ("x,y\n1,2\n3,nan\n", 3, "'nan' in column y: a finite number is needed"),
        ("x,y\n1,2\n-inf,3\n", 3, "'-inf' in column x: a finite number is needed"),
        ("x,y\n1,2\n3,1e999\n", 3, "'1e999' is too large"),
        ("x,y\n1,2\n3,four\n", 3, "'four' in column y: a number is needed"),
        ("x;y\n1;2.5\n3,5;4\n", 3, "'3,5' in column x: a number is needed .decimals above have a point"),
        ("x;y\n1;2,5\n3.5;4\n", 3, "'3.5' in column x: a number is needed .decimals above have a comma"),
        ("x;y\n1;2\n1,234;-56,789\n", 3, "'1,234' may be 1.234 or 1234: write one of them"),
        ("x;y\n1;2\n1,234,5;4\n", 3, "'1,234,5' in column x: .* .without marks between thousands.$"),
        ("x;y\n1;2\n1.234,5;4\n", 3, "'1.234,5' in column x: .* .without marks between thousands.$"),
        ("A;B\nA;0;1,500\nB;1,500;0\n", 2, "'1,500' may be 1.500 or 1500"),
        (";A;B\nA;0;1,500\nB;1,500;0\n", 2, "'1,500' may be 1.500 or 1500"),
        ("lat;lon\n52\u00b061';13\u00b024'\n", 2, "degrees, such as 52.52 or 52\u00b0 31' 12\" N"),
        ("lat;lon\n52.52 E;13.4 N\n", 2, "degrees, such as 52.52"),
        ("lat;lon\n52.52 N;13.4 O\n", 2, "O may be Ost or Oeste: write E or W"),
        ("x;y\n52.52 N;13.4 E\n", 2, "decimal degrees, such as 52.52"),
        ("x,y\n1,2\n3,5,4\n", 3, "3 fields where the first line has 2; what has a comma in it stands in"),
        ('name,x,y\n"a\nb,1,2\n', 2, "a quotation mark is closed in its line"),
        ("1,2\n3,4\n5,six\n", 3, "'six' in column 2"),
        ("1,2,3,4,5\n1,2,3,4,5\n", 1, "2 lines of 5 numbers: a distance matrix must be square"),
        ("1,2,3,4,a\n1,2,3,4,b\n", 1, "5 columns without a header line"),
        ("id,x,y\n1,1,2\n1,3,4\n", 3, "id 1 appears for the second time"),
        ("lat,lon\n52,13\n91,2\n", 3, "latitude 91 .* latitude before longitude"),
        ("lat,lon\n52,13\n1,-181\n", 3, "longitude -181"),
        ("0,1,2\n1,0,3\n2,4,0\n", None, "the matrix is not symmetric"),
        ("0,1,2,3\n1,0,3,3\n2,3,0,3\n", 1, "3 lines of 4 numbers: a distance matrix must be square"),
        ('x,y\n1,2\n"3,4\n', 3, "is not a CSV line"),
        ("0,1,2,3\n1,0,4,5\n2,4,0,6\n3,5,7,0\n", None, "not symmetric"),
        (",A,B\nA,0,x\nB,4,0\n", 2, "'x' in column B"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_errors(text, line, message, newline):
    with pytest.raises(ParseError, match=message) as caught:
        parse(text.replace("\n", newline))
    assert caught.value.line == line
    assert "\n" not in str(caught.value)


@given(
    st.lists(st.tuples(*[st.floats(-1e15, 1e15)] * 2), min_size=1, max_size=20), st.booleans(), st.booleans()
)
def test_tables_read_back_the_same(rows, with_ids, with_names):
    points = np.array(rows)
    points[np.abs(points) < 1e-100] = 0.0  # a spread as small as that is refused, and tested elsewhere
    fields = {}
    if with_ids:
        fields["node_ids"] = np.arange(len(rows)) * 3
    if with_names:
        fields["labels"] = [f'city {i}, "{i}"' for i in range(len(rows))]
    problem = Problem.from_points(points, **fields)
    found = parse(b"".join(problem_table(problem)))
    assert np.array_equal(found.coordinates, problem.coordinates)
    assert np.array_equal(found.ids_of(np.arange(found.n)), problem.ids_of(np.arange(found.n)))
    assert found.label(0) == problem.label(0)


def test_a_comma_stays_a_comma_in_long_tables():
    rows = "a;1,5;2\n" * 70_000
    assert parse(f"name;x;y\n{rows}").coordinates.tolist()[-1] == [1.5, 2]
    with pytest.raises(ParseError, match=r"'1.5' in column x: .* .decimals above have a comma") as caught:
        parse(f"name;x;y\n{rows}a;1.5;2\n")
    assert caught.value.line == 70_002


def test_formats(tmp_path):
    path = tmp_path / "places"
    for text, metric in (
        ("x,y\n1,2\n", Metric.EXACT_2D),
        ("NAME: x\nDIMENSION: 1\nEDGE_WEIGHT_TYPE: MAN_2D\nNODE_COORD_SECTION\n1 2 3\n", Metric.MAN_2D),
        ('{"type": "Point", "coordinates": [1, 2]}', Metric.GREAT_CIRCLE),
        ("name,x,y\na,1,2\n", Metric.EXACT_2D),
    ):
        path.write_text(text)
        assert load(path).metric is metric
    with pytest.raises(ParseError, match="TSPLIB"):
        load(path, format="tsplib")
    assert load(path, format="CSV").name == "places"
    assert load(path, format="tsv").name == "places"
    with pytest.raises(InvalidOption, match="there is no format 'xls': use one of tsplib, csv, tsv, xlsx,"):
        load(path, format="xls")
    with pytest.raises(InvalidOption, match=r"ending means no instance format: use one of \.tsp"):
        write_problem(tmp_path / "a.xls", load(path))
    with pytest.raises(InvalidOption, match="there is no instance format 'gpx' to write"):
        write_problem(tmp_path / "a.tsp", load(path), format="gpx")
    with pytest.raises(InvalidOption, match=r"a table cannot say that distances are EUC_2D: write a \.tsp"):
        list(problem_table(Problem.from_points([[1, 2]], "EUC_2D")))
    with pytest.raises(InvalidOption, match="fixed edges"):
        list(problem_table(Problem.from_points(np.eye(3, 2), fixed_edges=[[0, 1]])))
    with pytest.raises(InvalidOption, match=r"one number does not say that it is a distance: write a \.npy"):
        list(problem_table(Problem.from_matrix([[0]])))


def test_standard_input(monkeypatch):
    class Input:
        buffer = io.BytesIO(b"x,y\n1,2\n")

    monkeypatch.setattr(sys, "stdin", Input)
    assert load("-").n == 1
    Input.buffer = io.BytesIO(b"x,y\n1,two\n")
    with pytest.raises(ParseError, match="<stdin>:2: 'two'"):
        load("-")


# .npy


@pytest.mark.parametrize(
    ("array", "metric"),
    [
        (np.zeros((5, 2)), Metric.EXACT_2D),
        (np.zeros((5, 3), dtype=np.float32), Metric.EXACT_3D),
        (np.zeros((2, 2)), Metric.EXPLICIT),
        (np.ones((2, 2)), Metric.EXACT_2D),
        (np.ones((5, 5), dtype=np.uint8), Metric.EXPLICIT),
        (np.asfortranarray(np.ones((5, 2))), Metric.EXACT_2D),
        (np.ones((4, 2), dtype=">f8"), Metric.EXACT_2D),
    ],
)
def test_npy(tmp_path, array, metric):
    np.save(tmp_path / "a.npy", array)
    assert load(tmp_path / "a.npy").metric is metric


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((5, 4)), r"shape \(5, 4\)"),
        (np.zeros(5), r"shape \(5,\)"),
        (np.array([["a", "b"]]), "holds <U1 values"),
        (np.array([[1 + 2j, 3]]), "real numbers are needed"),
        (np.array([[1, object()]]), "is not a readable .npy file"),
        (np.full((3, 2), np.nan), "is nan"),
    ],
)
def test_bad_npy(tmp_path, array, message):
    np.save(tmp_path / "a.npy", array, allow_pickle=True)
    with pytest.raises(ParseError, match=message):
        load(tmp_path / "a.npy")


@pytest.mark.parametrize("archive", [False, True])
def test_what_is_no_array_is_not_called_a_pickle(tmp_path, archive):
    """NumPy advises to load any other file unsafely, by an argument that nobody here has."""
    (tmp_path / "a.csv").write_text("x,y\n0,0\n3,4\n")
    if archive:
        np.savez(tmp_path / "a.npz", np.ones((3, 2)))
    with pytest.raises(ParseError, match=r"is not a readable .npy file: the magic string is not correct"):
        load(tmp_path / ("a.npz" if archive else "a.csv"), format="npy")
