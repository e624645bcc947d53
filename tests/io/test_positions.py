"""Coordinates as people have them: both in one column, WKT, degrees and minutes; blank rows; UTF-16."""

import logging

import numpy as np
import pytest

from warptsp.errors import ParseError
from warptsp.io.options import ReadOptions
from warptsp.io.table import read_table
from warptsp.io.table.angles import angle_of

HASH = (
    "2 rows begin with a # as comments do, and are left out: lines 2, 4; "
    "quotation marks make it part of a name"
)
BERLIN, LISBON = (52.52, 13.405), (38.7225, -9.1375)


def read(text, metric=None, **columns):
    return read_table(text.encode(), "file.csv", ReadOptions(columns, metric))


@pytest.mark.parametrize(
    ("text", "letters", "angle"),
    [
        ("52°31'12\"N", "NS", 52.52),
        ("52° 31\u2032 12\u2033 N", "NS", 52.52),
        ("52 31 12", "NS", 52.52),
        ("52:31:12", "NS", 52.52),
        ("52d31m12s", "NS", 52.52),
        ("52°31,2' n", "NS", 52.52),
        ("N52.52", "NS", 52.52),
        ("52.52°", "NS", 52.52),
        ("-9° 8' 15\"", "EW", -9.1375),
        ("9°8'15''W", "EW", -9.1375),
        ("W 9 8 15", "EW", -9.1375),
        ("0° 30' S", "NS", -0.5),
        ("33 51 31 S", "NS", -(33 + 51 / 60 + 31 / 3600)),
        ("33°51'31.5S", "NS", -(33 + 51 / 60 + 31.5 / 3600)),
        ("33:51:31S", "NS", -(33 + 51 / 60 + 31 / 3600)),
        ("33D51M31S", "NS", 33 + 51 / 60 + 31 / 3600),
        ("33d51m31S", "NS", -(33 + 51 / 60 + 31 / 3600)),
        ("33d51m31s S", "NS", -(33 + 51 / 60 + 31 / 3600)),
        ("S33 51 31s", "NS", -(33 + 51 / 60 + 31 / 3600)),
        ("33 51 31 s", "EW", 33 + 51 / 60 + 31 / 3600),
        ("33 51 31 s", "NS", None),
        ("N33 51 31 S", "NS", None),
        ("0117.4N", "NS", None),
        ("10351.2E", "EW", None),
        ("52.52", "NS", None),
        ("52 31", "NS", None),
        ("52°61'", "NS", None),
        ("52.5°31'", "NS", None),
        ("-52.5 S", "NS", None),
        ("13° E", "NS", None),
        ("N 52° N", "NS", None),
        ("1e3°", "NS", None),
        ("", "NS", None),
    ],
)
def test_angles(text, letters, angle):
    assert angle_of(text, letters) == (None if angle is None else pytest.approx(angle, rel=1e-15))


@pytest.mark.parametrize(
    "text",
    [
        "name;lat;lon\nBerlin;52°31'12\"N;13°24'18\"E\nLisbon;38 43 21;9° 8' 15\" W\n",
        "Berlin;52°31'12\"N;13°24'18\"E\nLisbon;38 43 21 N;9° 8' 15\" W\n",
        "13°24'18\"E;52°31'12\"N;Berlin\n9° 8' 15\" W;38 43 21 N;Lisbon\n",
        "Ort;wo\nBerlin;52°31'12\"N 13°24'18\"E\nLisbon;N38°43'21\" W9°8'15\"\n",
        "Ort;wo\nBerlin;13°24'18\"E, 52°31'12\"N\nLisbon;38.7225, -9.1375\n",
        "name;coordinates\nBerlin;52.52, 13.405\nLisbon;38.7225, -9.1375\n",
        'name,coordinates\nBerlin,"52.52, 13.405"\nLisbon,"(38.7225,-9.1375)"\n',
        "Berlin;52,52 13,405\nLisbon;38,7225 -9,1375\n",
        "Berlin\t52,52; 13,405\nLisbon\t38,7225; -9,1375\n",
        "name;lon,lat\nBerlin;13.405, 52.52\nLisbon;-9.1375, 38.7225\n",
        "name,wkt\nBerlin,POINT (13.405 52.52)\nLisbon,POINT(-9.1375 38.7225)\n",
        "POINT Z (13.405 52.52 34)|Berlin\nPOINT (-9.1375 38.7225)|Lisbon\n",
        "name\tgeom\nBerlin\tSRID=4326;POINT(13.405 52.52)\nLisbon\tSRID=4326;POINT(-9.1375 38.7225)\n",
    ],
)
def test_both_coordinates_in_one_column_and_angles(text, caplog):
    with caplog.at_level(logging.INFO):
        problem, columns = read(text)
    assert problem.metric.name == "GREAT_CIRCLE"
    np.testing.assert_allclose(problem.coordinates, [BERLIN, LISBON], rtol=0, atol=1e-12)
    assert list(problem.labels) == ["Berlin", "Lisbon"]
    assert columns.roles().keys() == {"lat", "lon", "name"}
    assert caplog.records or text.startswith("name;lat;lon")


def test_angles_without_titles_lose_no_place(caplog):
    """With nothing that says which is the latitude, the order is a guess."""
    text = "13:24:18;52:31:12\n9:8:15;38:43:21\n"
    assert read(text, lat=2, lon=1)[0].coordinates.tolist() == [[52.52, 13.405], [38.7225, 9.1375]]
    assert not caplog.text
    assert read(text)[0].coordinates.tolist() == [[13.405, 52.52], [9.1375, 38.7225]]
    assert "taken for latitudes; columns={'lat': 2, 'lon': 1} exchanges the two" in caplog.text
    with pytest.raises(ParseError, match=r"file.csv:1: '1,000.5' in column 1.*without marks"):
        read('"1,000.5";7\n3;4\n', x=1, y=2)


def test_nothing_but_that_column():
    for rows in (
        '"lat, lon"\n"52.52, 13.405"\n"38.7225, -9.1375"\n',
        "wkt\nPOINT(13.405 52.52)\nPOINT (-9.1375 38.7225)\n",
    ):
        problem, _ = read(rows)
        np.testing.assert_allclose(problem.coordinates, [BERLIN, LISBON])
        assert problem.labels is None


@pytest.mark.parametrize("wrong", ["52.52 13.40x", "52.52, N/A", "", "POINT(13.4)"])
def test_a_first_place_that_is_wrong_is_no_row_of_names(wrong):
    with pytest.raises(ParseError, match=r"file.csv:1: .*two coordinates are needed"):
        read(f"Alt;{wrong}\nBerlin;52.52, 13.405\nLisbon;38.7225, -9.1375\n")
    assert read("Name;\nBerlin;52.52, 13.405\nLisbon;38.7225, -9.1375\n")[0].n == 2


def test_a_list_of_two_degrees_may_have_either_first():
    rows = 'name,{}\nBerlin,"[13.405, 52.52]"\nLisbon,"[-9.1375,38.7225]"\n'
    with pytest.raises(ParseError, match=r"file.csv:2: '\[13.405, 52.52\]' may have the longitude first"):
        read(rows.format("coordinates"))
    assert read(rows.format("lonlat"))[0].coordinates.tolist() == [list(BERLIN), list(LISBON)]
    assert read(rows.format("coordinates"), "haversine")[0].coordinates[0].tolist() == [13.405, 52.52]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Bores\n12.5;33.2\n4.5;1.5\n88.5;70.5\n", True),
        ("geom\nPOINT (1 2)\nPOINT (4 6)\n", True),
        ("latlon\n12.5;33.2\n4.5;1.5\n88.5;70.5\n", False),
        ("Stops\n52.5;13.2\n52.6;13.5\n52.7;13.4\n", False),
    ],
)
def test_degrees_that_may_be_local_coordinates_are_told(text, told, caplog):
    assert read(text)[0].metric.name == "GREAT_CIRCLE"
    assert ('tude; metric="euclidean" for x and y' in caplog.text) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name,x,y\nA,1,2\nB,3,4\nC,9,1\nTotal,13,7\n", True),
        ("id,x,y\n5,1,2\n6,3,4\n7,9,1\n,13,7\n", True),
        ("name;lat;lon\nA;50,5;7\nB;51,5;8\nMittelwert;51;7,5\n", True),
        (",A,B,C,Sum\nA,0,1,2,3\nB,1,0,3,4\nC,2,3,0,5\nSum,3,4,5,12\n", True),
        ("name,x,y\nA,1,2\nB,3,4\nC,9,1\nTotal Sud,13,8\n", False),
        ("name,x,y\nA,1,2\nB,3,4\nC,9,1\nD,13,7\n", False),
        ("name,lat,lon\nA,48.85,2.34\nB,48.87,2.36\nTotal Centre,48.86,2.3503\n", False),
    ],
)
def test_a_row_of_totals_is_told(text, told, caplog):
    read(text)
    assert ("is the sum or the mean of the others" in caplog.text) == told


def test_what_is_no_degree_is_x_and_y(caplog):
    numbers = "g;n\n389000.5, 5819000.5;1\n389100.5, 5819500.5;2\n"
    for text in ("geom\nPOINT (389000 5819000)\nPOINT (389100 5819500)\n", numbers):
        problem, _ = read(text)
        assert problem.metric.name == "EXACT_2D"
        assert np.floor(problem.coordinates).tolist() == [[389000, 5819000], [389100, 5819500]]
    problem, _ = read("geom\nPOINT (1 2)\nPOINT (4 6)\n", "EXACT_2D")
    assert (problem.coordinates.tolist(), problem.distance(0, 1)) == ([[1, 2], [4, 6]], 5)
    for system, stretches in ((25832, False), (3857, True)):
        problem, _ = read(f"a\tgeom\n1\tSRID={system};POINT(1 2)\n2\tSRID={system};POINT(4 6)\n")
        assert problem.metric.name == "EXACT_2D"
        assert ("Web Mercator, stretches distances" in caplog.text) == stretches


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a\tgeom\n1\tSRID=4326;POINT(1 2)\n2\tSRID=3857;POINT(4 6)\n", None, "one system of reference is"),
        ("name;wo\na;52.5, 13.4\nb;somewhere\n", 3, "'somewhere': two coordinates are needed"),
        ("name;wo\na;52.5, 13.4\n\nb\n", 4, "1 fields where the first line has 2"),
        ("geom\nPOINT (1 2)\nLINESTRING (1 2, 3 4)\n", 3, "two coordinates are needed"),
        ("name,lat,lon\na,50.1,7.1\nb,12:30:00,8.2\n", 3, "'12:30:00' in column lat may be a time"),
        ("name;wo\na;SRID=4326;POINT(1 2)\n", 1, "columns x and y, or lat and lon, are needed"),
    ],
)
def test_a_row_that_holds_something_else(text, line, message):
    with pytest.raises(ParseError, match=message) as caught:
        read(text)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("title", "longitude_first"),
    [
        ("lat/lon", False),
        ("LatLng", False),
        ("lat, long (WGS84)", False),
        ("wo", False),
        ("lon/lat", True),
        ("lon, lat", True),
        ("Coordinates (lon, lat)", True),
        ("[Longitude; Latitude]", True),
        ("coords_lonlat", True),
        ("GeoPoint(lng,lat)", True),
        ("Koordinaten (Länge, Breite)", True),
    ],
)
def test_the_title_says_which_coordinate_is_the_first(title, longitude_first, caplog):
    caplog.set_level(logging.INFO)
    problem, _ = read(f"name\t{title}\nA\t13, 52.5\nB\t9.75, 53.5\nC\t11, 48\n".replace("13,", "13.0,"))
    expected = [(13, 52.5), (9.75, 53.5), (11, 48)]
    expected = [(second, first) for first, second in expected] if longitude_first else expected
    np.testing.assert_array_equal(problem.given_coordinates(), expected)
    order = "longitude and latitude" if longitude_first else "latitude and longitude"
    assert f"is taken for {order}" in caplog.text


def test_letters_say_more_than_the_title_and_one_of_a_pair_may_be_whole():
    problem, _ = read("name\tlon, lat\nA\t52° 30' N 13° E\nB\t53° 30' N 9° 45' E\n")
    np.testing.assert_array_equal(problem.given_coordinates(), [(52.5, 13), (53.5, 9.75)])
    problem, _ = read("name\two\nA\t48, 11.5\nB\t52.5, 13.25\nC\t50, 10\n")
    np.testing.assert_array_equal(problem.given_coordinates(), [(48, 11.5), (52.5, 13.25), (50, 10)])


LIKE_COMMENTS = "1 row begins with a # as comments do, and is left out"
QUOTED = "; quotation marks make it part of a name"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x,y\n1,2\n\n3,4\n,\n5,6\n", "2 blank rows are left out: lines 3, 5"),
        ("1 2\n\n3 4\n5 6\n", "1 blank row is left out: line 2"),
        ("name;x;y\r\na;1;2\r\n;;\r\nb;3;4\r\nc;5;6\r\n;;\r\n;;\r\n", "1 blank row is left out: line 3"),
        ("name;latlon\na;1.5, 2.5\n\nb;3.5, 4.5\nc;1.5, 6.5\n", "1 blank row is left out: line 3"),
        ("x,y\n# a remark\n1,2\n3,4\n5,6\n\n\n", ""),
        ('name,x,y\n#1 Depot,0,0\nHome,7,9\n#3 Bar,1,8\n"#4",2,2\n', HASH),
        ("#7 km north 1\nname x y\n#1 1 2\na 3 4\nb 5 6\nc 7 8\n# 9 9\n", f"{LIKE_COMMENTS}: line 3{QUOTED}"),
        ('name,x,y\na,1,2\n"b, c",3,4\n#1 "d, e",1,9\n#2,5,6\nf,7,8\n', f"{LIKE_COMMENTS}: line 5{QUOTED}"),
        ("name\tx\ty\tnote\n#1\t1\t2\t\na\t3\t4\t\nb\t5\t6\tc\n", f"{LIKE_COMMENTS}: line 2{QUOTED}"),
        ("#1;10;2\nb;3;40\nc;50;6\n", f"{LIKE_COMMENTS}: line 1{QUOTED}"),
        ("# x y\n1 2\n3 4\n#made 2024 by us\n5 6\n", ""),
        ("\n\nx,y\n1,2\n3,4\n5,6\n,,\n,\n", ""),
    ],
)
def test_blank_rows_are_left_out_with_a_warning(text, said, caplog):
    problem, _ = read(text)
    assert problem.n in (2, 3)
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == (
        [f"file.csv: {said}"] if said else []
    )


@pytest.mark.parametrize(
    "text",
    [
        "Anna;52.52;13.40;8:00;17:00\nBert;52.62;13.50;9:00;18:30\nCarl;52.72;13.30;10:00;12:00\n",
        "8:30:00;47:30:00;52.52;13.40\n9:30:00;17:00:00;52.62;13.50\n",
        "Anna;8:00;17:00\nBert;9:00;18:30\n",
        "Anna;Hof 1;8:00/17:00\nBert;Hof 2;9:00/18:30\n",
        "Kunde;Zeiten\nAnna;8:00, 17:00\nBert;9:00, 18:30\n",
    ],
)
def test_times_of_day_without_titles_are_no_coordinates(text):
    with pytest.raises(ParseError, match=r"(without a header|columns x and y)"):
        read(text)
    problem, _ = read("A;52:31:12;13:24:36\nB;52:30:00;13:30:00\n")
    np.testing.assert_allclose(problem.given_coordinates(), [(52.52, 13.41), (52.5, 13.5)])


def test_a_name_in_quotation_marks_is_no_line_of_titles():
    problem, _ = read('"a" 1.5 2.5\n"x y z" 3.5 4.5\n"b" 5.5 6.5\n')
    assert problem.labels == ["a", "x y z", "b"]


@pytest.mark.parametrize("field", ["1" + " " * 100_000 + "x", "1 N" * 50_000, "POINT (" + "1 " * 100_000])
def test_long_fields_take_no_time(field):
    with pytest.raises(ParseError):
        read(f"name;lat;lon\nBerlin;{field};13.4\n")
    with pytest.raises(ParseError):
        read(f"name;where\nBerlin;52.5, 13.4\nRome;{field}\n")
