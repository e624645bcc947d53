"""No table is read otherwise than its owner means without a word."""

import contextlib
import csv
import io
import itertools
import json
import logging
import re
from types import SimpleNamespace

import numpy as np
import pytest
from calls import warned
from instances import Frame

from warptsp._words import called_from_shell
from warptsp.cli import commands, run
from warptsp.cli._options import Columns
from warptsp.errors import InvalidOption, InvalidProblem, ParseError
from warptsp.io import load
from warptsp.io.options import ROLES, ReadOptions
from warptsp.io.table import read_table
from warptsp.problem import Metric, Problem
from warptsp.problem.doubts import look_like_degrees

CAPITALS = np.array([[52.52, 13.405], [48.8566, 2.3522], [41.9028, 12.4964], [40.4168, -3.7038]])


def read(text, columns=None, metric=None, shell=False):
    with called_from_shell() if shell else contextlib.nullcontext():
        return read_table(text.encode(), "file.csv", ReadOptions(columns or {}, metric))


# The property: whatever the layout, a table is read as it is meant, or refused, or something is said.


def meanings():
    """Tables of known meaning: axes and their numbers, whether they are degrees."""
    rng = np.random.default_rng(20)
    return {
        "metres": ("xy", rng.uniform(0, 5000, (30, 2)).round(2)),
        "unit square": ("xy", rng.random((30, 2))),
        "hundred": ("xy", rng.uniform(0, 100, (30, 2)).round(1)),
        "around the origin": ("xy", rng.normal(0, 20, (30, 2)).round(2)),
        "whole": ("xy", rng.integers(0, 1000, (30, 2))),
        "space": ("xyz", rng.uniform(0, 5000, (30, 3)).round(2)),
        "whole space": ("xyz", rng.integers(0, 1000, (30, 3))),
        "capitals": ("lat lon", CAPITALS),
        "germany": ("lat lon", rng.uniform([47, 6], [55, 15], (30, 2)).round(4)),
        "world": ("lat lon", rng.uniform([-35, -120], [60, 150], (30, 2)).round(3)),
        "africa": ("lat lon", rng.uniform([-34, -17], [37, 51], (30, 2)).round(2)),
        "tenths": ("lat lon", np.array([[52.5, 13.4], [48.1, 11.5], [50.1, 8.6]])),
    }


MEANINGS = meanings()
IDS = {
    "no ids": None,
    "from 1": lambda n: np.arange(1, n + 1),
    "from 0": lambda n: np.arange(n),
    "tens": lambda n: np.arange(10, 10 * n + 1, 10),
    "gaps": lambda n: np.cumsum(np.arange(1, n + 1)) + 100,
    "mixed": lambda n: np.roll(np.arange(n), 3) * 7 + 2,
}
LAYOUTS = {
    "coordinates": ["axes"],
    "exchanged": ["reversed"],
    "id": ["id", "axes"],
    "id last": ["axes", "id"],
    "name": ["name", "axes"],
    "name last": ["axes", "name"],
    "id, name": ["id", "name", "axes"],
    "name, id": ["name", "id", "axes"],
    "name between": ["id", "axis", "name", "rest"],
    "more": ["axes", "more"],
    "name, more": ["name", "axes", "more"],
    "remark": ["id", "name", "axes", "remark"],
}
WRITING = {
    "commas": (",", "."),
    "tabs": ("\t", "."),
    "semicolons": (";", "."),
    "decimal commas": (";", ","),
    "quoted decimal commas": (",", ","),
    "blanks": (" ", "."),
    "blanks and decimal commas": (" ", ","),
}


def written(titles, columns, writing, head):
    delimiter, mark = WRITING[writing]
    text = io.StringIO()
    rows = ([str(value).replace(".", mark) for value in row] for row in zip(*columns, strict=True))
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    line = delimiter.join(titles)
    return {"": "", "titles": f"{line}\n", "TITLES": f"{line.upper()}\n", "comment": f"# {line}\n"}[head] + (
        text.getvalue() if writing != "blanks and decimal commas" else text.getvalue().replace('"', "")
    )


def is_meant(problem, axes, values, names, ids):
    metric = {"xy": Metric.EXACT_2D, "xyz": Metric.EXACT_3D, "lat lon": Metric.GREAT_CIRCLE}[axes]
    kept = ids is None or ids[0] == 1 or np.array_equal(problem.node_ids, ids)
    named = names is None or list(problem.labels or ()) == names
    return problem.metric is metric and np.array_equal(problem.coordinates, values) and named and kept


@pytest.mark.parametrize("head", ["", "titles", "comment"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("meaning", MEANINGS)
def test_a_table_is_read_as_it_is_meant_or_something_is_said(meaning, layout, head, caplog):
    axes, values = MEANINGS[meaning]
    if head == "titles" and list(MEANINGS).index(meaning) % 2:
        head = "TITLES"
    titles = list(axes) if axes != "lat lon" else ["lat", "lon"]
    names = [f"stop {'abcdefghij'[i % 10]}{i}" for i in range(len(values))]
    axis_columns = dict(zip(titles, values.T.tolist(), strict=True))
    more = np.random.default_rng(3).integers(1, 50, len(values)).tolist()
    silent = said = 0
    for (place, (how, ids)), (turn, writing) in itertools.product(enumerate(IDS.items()), enumerate(WRITING)):
        if ("id" in layout or layout == "remark") == (ids is None):
            continue
        if head and ids and (place + turn) % 5 != len(head) % 5:
            continue  # names tell columns apart: each writing has one kind of numbers there
        numbers = None if ids is None else ids(len(values))
        known = {**axis_columns, "id": numbers, "name": names, "demand": more, "remark": names}
        order = {"axes": titles, "reversed": titles[::-1], "axis": titles[:1], "rest": titles[1:]}
        order["more"] = ["demand"]
        used = [title for part in LAYOUTS[layout] for title in order.get(part, [part])]
        if layout == "name between" and numbers is None:
            known["id"] = list(range(len(values)))
        text = written(used, [known[title] for title in used], writing, head)
        if "blanks" in writing:
            text = text.replace("stop ", "stop_").replace('"', "")
        blank = "_" if "blanks" in writing else " "
        expected = [name.replace(" ", blank) for name in names] if "name" in used else None
        caplog.clear()
        try:
            with caplog.at_level(logging.INFO, "warptsp"):
                problem, _ = read(text)
        except InvalidProblem:
            said += 1
            continue
        order_told = head != "" or layout != "exchanged" or axes == "lat lon"
        if order_told and is_meant(problem, axes, values, expected, numbers):
            silent += 1
        elif not order_told and is_meant(problem, axes, values[:, ::-1], expected, numbers):
            pass  # without names, x and y exchanged are the same tour in a mirror
        else:
            said += 1
            assert warned(caplog), f"{how}, {writing}: read as {problem!r} without a word\n{text[:200]}"
    if head in ("titles", "TITLES") or (head == "comment" and layout != "remark"):
        assert silent > said  # what has names of columns is read, and not refused


# What is guessed, and what is asked


PLACES = "1,Berlin,52.5,13.4\n2,Munich,48.1,11.5\n3,Frankfurt,50.1,8.6\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PLACES, "columns 3 and 4 look like degrees, .*: give --lat 3 --lon 4 .or the reverse.* or --x 3"),
        ("a,1,52.5,13.4\nb,2,48.1,11.5\n", "columns 3 and 4 look like degrees"),
        ("a,52.5,13.4\nb,48.1,11.5\n", "columns 2 and 3 look like degrees"),
        ("a;52,5;13,4\nb;48,1;11,5\n", "columns 2 and 3 look like degrees"),
        ("a\t113.4\t52.5\nb\t111.5\t48.1\n", "give --lat 3 --lon 2 for great circles"),
        ("101,Berlin,5200.5,1300.4\n205,Munich,4800.1,1100.5\n", "--id 1 --x 3 --y 4"),
        ("10,52.5,1300.4\n20,48.1,1100.5\n", "three columns of numbers .*--x 1 --y 2 --z 3, or --id 1 --x"),
        ("7,52.5,1300.4\n3,48.1,1100.5\n", "three columns of numbers"),
        ("a,100.5,200.5,3\nb,300.5,400.5,9\n", "three columns of numbers .*--x 2 --y 3 --z 4"),
        ("5,Berlin,6\n7,Munich,8\n", "columns 1 and 3 without names .* are not adjacent.*--x 1 --y 3"),
        ("52,5 13,4\n48,1 11,5\n", "3 columns without a header line: .*--lat COLUMN --lon COLUMN"),
        ("5,5 -60,3\n1,2 5,3\n", "3 columns without a header line"),
        (",5,6\nMunich,7,8\n", "3 columns without a header line"),
        ("n/a,5,6\n1,7,8\n", "3 columns without a header line"),
        ("Berlin,Germany,520.5,130.4\nMunich,Germany,480.1,110.5\n", "4 columns without a header line"),
        ("a,b,c,d\nname,x,y\na,1,2\n", "line 2 names them, so what stands above must go"),
        ("Halt,Nord,Hoehe\na,1,2\n", "are needed; --lat COLUMN --lon COLUMN says which they are"),
        ("Halt,lat,Ost\na,1,2\n", "the first line names the columns 'Halt', 'lat', 'Ost'"),
        ("name,lat,y\na,1,2\n", "columns x and y, or lat and lon, are needed"),
        ("lat,latitude,lon\n1,2,3\n", "mean the same: remove one of them; --lat 1 takes the first"),
        ("lat,lon\n113.4,52.5\n111.5,48.1\n", "latitude 113.4 .*; --lat lon --lon lat exchanges the two"),
        ("lat,lon\n5113,452\n5111,448\n", "for metres of a map, --x lon --y lat$"),
        ("number,x,y\n3,1,2\n3,4,5\n", "id 3 appears for the second time; names may repeat: --name number"),
    ],
)
def test_what_has_two_meanings_is_asked(text, message):
    with pytest.raises(ParseError, match=message) as caught:
        read(text, shell=True)
    assert caught.value.line is not None


@pytest.mark.parametrize(
    ("text", "level", "message"),
    [
        ("1,520,134\n2,481,115\n3,501,86\n4,7,7\n", logging.INFO, "taken for id 1, x 2, y 3$"),
        ("1,520,134\n2,481,115\n", logging.WARNING, "taken for id 1, x 2, y 3$"),
        ("520,134,0\n481,115,1\n501,86,2\n5,5,3\n", logging.INFO, "taken for x 1, y 2, id 3$"),
        ("520,134\n481,115\n", logging.INFO, "taken for x 1, y 2$"),
        ("1,a,520,134\n2,b,481,115\n3,c,4,5\n4,d,9,9\n", logging.INFO, "taken for id 1, name 2, x 3, y 4$"),
        ("520,134,40\n481,115,77\n400,20,10\n", logging.WARNING, "taken for x 1, y 2, z 3$"),
        ("52.5,13.4\n48.1,11.5\n", logging.WARNING, "they look like degrees: give columns={'lat': 1,"),
        ("13.4,-52.5\n111.5,-48.1\n", logging.WARNING, "give columns={'lat': 2, 'lon': 1} for great"),
        ("x,y\n13.4,52.5\n11.5,48.1\n", logging.WARNING, "columns x and y look like degrees.*'lat': 'y',"),
        ("a,52,13\nb,48,11\n", logging.WARNING, "if these are degrees, give columns="),
        ("0,5\n5,0\n", logging.WARNING, "2 lines of 2 numbers are taken for distances; columns={'x': 1,"),
        ("0,1,2\n1,0,3\n2,3,0\n", logging.WARNING, "3 lines of 3 numbers are taken for distances"),
        ("x,y,lat,lon\n1,2,3,4\n", logging.INFO, "has x and y as well as lat and lon, which are used"),
        ("x,y\n1,2\n3,4\n", None, ""),
        ("id,name,lat,lon\n5,a,52.5,13.4\n7,b,48.1,11.5\n", None, ""),
        ("x,y\n0.25,0.5\n0.75,0.125\n", None, ""),
        ("x;y\n52,5;13,4\n480,1;11,5\n", None, ""),
        ("0,1,2,3\n1,0,4,5\n2,4,0,6\n3,5,6,0\n", None, ""),
    ],
)
def test_what_is_taken_for_what_is_one_line(text, level, message, caplog):
    with caplog.at_level(logging.INFO, "warptsp"):
        read(text)
    assert [record.levelno for record in caplog.records] == ([] if level is None else [level])
    assert level is None or re.search(f"^file.csv: .*{message}", caplog.messages[0])


def test_a_matrix_whose_cities_are_called_by_numbers():
    problem, columns = read(",1,2\n1,0,4\n2,4,0\n")
    assert (problem.metric, problem.matrix.tolist(), columns) == (Metric.EXPLICIT, [[0, 4], [4, 0]], None)
    assert read("0;1,5\n1,5;0\n")[0].matrix.tolist() == [[0, 1.5], [1.5, 0]]


def test_a_comment_may_name_the_columns(tmp_path):
    np.savetxt(tmp_path / "a.csv", CAPITALS, delimiter=",", header="lat,lon")
    assert load(tmp_path / "a.csv").metric is Metric.GREAT_CIRCLE
    np.savetxt(tmp_path / "a.txt", CAPITALS[:, ::-1], header="lon lat")
    assert np.array_equal(load(tmp_path / "a.txt").coordinates, CAPITALS)
    assert read("# taken in May, with care\n1,2\n3,4\n")[1].titles is None
    assert np.array_equal(read("# Nord,lon\n1,2\n3,4\n", {"lat": "Nord"})[0].coordinates, [[1, 2], [3, 4]])


def test_degrees_or_not():
    rng = np.random.default_rng(8)
    print("seed 8")
    for n in (20, 100, 3000):
        for side in (1, 10, 50, 90, 179, 300):
            assert not look_like_degrees(rng.random((n, 2)) * side)
            assert not look_like_degrees((rng.random((n, 2)) - 0.5) * side)
        assert not look_like_degrees(rng.integers(0, 80, (n, 2)).astype(float))
        for low, high in ((40, 200), (0.4, 0.6)):
            assert not look_like_degrees(rng.uniform(low, high, (n, 2)))
        assert look_like_degrees(rng.uniform([-50, -170], [70, 170], (n, 2)))
        germany, chile = ([47, 6], [55, 15]), ([-56, -74], [-17, -66])
        for low, high in (germany, chile, ([25, -125], [49, -67]), ([50, -6], [59, 2])):
            region = rng.uniform(low, high, (n, 2))
            assert look_like_degrees(region)
            assert look_like_degrees(region[:, ::-1])


# What the caller says


@pytest.mark.parametrize(
    ("text", "columns", "metric", "expected"),
    [
        (PLACES, {"lat": 3, "lon": 4}, None, ("GREAT_CIRCLE", [52.5, 13.4], "Berlin", 1)),
        (PLACES, {"lat": "3", "lon": "4", "name": "2"}, None, ("GREAT_CIRCLE", [52.5, 13.4], "Berlin", 1)),
        (PLACES, {"lon": 3, "lat": 4}, None, ("GREAT_CIRCLE", [13.4, 52.5], "Berlin", 1)),
        (PLACES, {"x": 3, "y": 4}, "man_2d", ("MAN_2D", [52.5, 13.4], "Berlin", 1)),
        (PLACES, None, "EUC_2D", ("EUC_2D", [52.5, 13.4], "Berlin", 1)),
        ("70,5.5,650\n90,7.5,850\n", {"id": 1}, None, ("EXACT_2D", [5.5, 650], "70", 70)),
        ("70,5.5,650\n90,7.5,850\n", {"name": 1}, None, ("EXACT_2D", [5.5, 650], "70", 1)),
        ("70,5.5,6.5\n90,7.5,8.5\n", {"x": 1, "y": 2, "z": 3}, None, ("EXACT_3D", [70, 5.5, 6.5], "1", 1)),
        ("Halt,Nord,lon\na,1,2\n", {"lat": "Nord"}, None, ("GREAT_CIRCLE", [1, 2], "a", 1)),
        ("Halt,Nord,lon\na,1,2\n", {"lat": "nord", "name": "HALT"}, None, ("GREAT_CIRCLE", [1, 2], "a", 1)),
        ("Halt,N,O\na,1,2\n", {"lat": 2, "lon": 3, "name": 1}, None, ("GREAT_CIRCLE", [1, 2], "a", 1)),
        ("x,y,lat,lon\n1,2,3,4\n", {"x": "x"}, None, ("EXACT_2D", [1, 2], "1", 1)),
        ("x,y,z\n1,2,3\n", {"x": "x"}, "EUC_2D", ("EUC_2D", [1, 2], "1", 1)),
        ("x,y,h\n1,2,3\n", {"z": "h"}, None, ("EXACT_3D", [1, 2, 3], "1", 1)),
        ("lat,lon\n1.3,2\n", None, "GEO", ("GEO", [1.3, 2], "1", 1)),
        ("number,x,y\n3,1,2\n3,4,5\n", {"name": "number"}, None, ("EXACT_2D", [1, 2], "3", 1)),
        ("1.0,a,5,6\n4.0,b,7,8\n", {"x": 3, "y": 4, "id": 1}, None, ("EXACT_2D", [5, 6], "a", 1)),
        ("0,5\n5,0\n", {"x": 1, "y": 2}, None, ("EXACT_2D", [0, 5], "1", 1)),
        ("0,5\n5,0\n", None, "EUC_2D", ("EUC_2D", [0, 5], "1", 1)),
        ("2020,x,y\n3,1,2\n", {"id": "2020"}, None, ("EXACT_2D", [1, 2], "3", 3)),
        ("a,b\n1,2\n3,4\n", {"x": "a", "y": "b"}, None, ("EXACT_2D", [1, 2], "1", 1)),
    ],
)
def test_columns_and_metric_that_the_caller_says(text, columns, metric, expected, caplog):
    def first_of(problem):
        return problem.metric.name, problem.coordinates[0].tolist(), problem.label(0), problem.node_id(0)

    problem, found = read(text, columns, metric)
    assert first_of(problem) == expected
    assert not [message for message in warned(caplog) if "degrees" in message]
    again, _ = read(text, found.as_options(), problem.metric)
    assert np.array_equal(again.coordinates, problem.coordinates)
    assert first_of(again) == expected


@pytest.mark.parametrize(
    ("columns", "metric", "message"),
    [
        ({"lat": 3}, None, "columns={'lat': 3}: which column holds lon must be given, too"),
        ({"y": 3}, None, "which column holds x must be given, too"),
        ({"z": 3}, None, "which column holds x and y must be given, too"),
        ({"lat": 3, "x": 4}, None, "a place has either x and y, or lat and lon"),
        ({"lat": 3, "lon": 3}, None, "the same column cannot hold both"),
        ({"lat": 3, "lon": 5}, None, "columns={'lon': 5}: there is no such column; the columns are 4"),
        ({"lat": 0, "lon": 1}, None, "there is no such column"),
        ({"lat": 3, "lon": "Ost"}, None, "there is no such column; the columns are '1', 'Berlin', '52.5',"),
        ({"latitude": 3}, None, "columns: there is no 'latitude': use one of x, y, z, lat, lon, name, id"),
        ({"lat": 3.0}, None, "columns: lat is 3.0: the name or number of a column is needed"),
        ({"lat": True}, None, "columns: lat is True"),
        (["lat", "lon"], None, "columns: .* is not a mapping such as {'lat': 3, 'lon': 'Longitude'}"),
        (None, "KILOMETRES", "unknown metric 'KILOMETRES'"),
        ({"x": 3, "y": 4}, "GEO", r'metric="GEO" takes latitudes and longitudes: .*columns=\{\'lat\''),
        ({"lat": 3, "lon": 4}, "EUC_2D", 'metric="EUC_2D" takes x and y'),
        ({"x": 3, "y": 4}, "EUC_3D", "takes 3 coordinates, and the table has 2"),
        ({"x": 3, "y": 4}, "EXPLICIT", "does not fit a table of coordinates"),
    ],
)
def test_what_a_caller_says_wrongly(columns, metric, message):
    with pytest.raises((InvalidProblem, InvalidOption), match=message) as caught:
        read(PLACES, columns, metric)
    assert "\n" not in str(caught.value)


def test_numbers_of_places_that_are_none():
    text = "name,Nr,x,y\na,1,2,3\nb,4a,5,6\n"
    assert read(text)[0].node_ids is None
    with pytest.raises(ParseError, match=r"file.csv:3: '4a' in column Nr: a node number is needed"):
        read(text, {"id": "Nr"})
    with pytest.raises(InvalidProblem, match=r"row 0 .counted from 0.: 'a' in column k: a node number is"):
        Problem.from_frame(Frame(x=[1], y=[2], k=["a"]), columns={"id": "k"})


def test_two_columns_of_one_name():
    with pytest.raises(ParseError, match="--lat b: 2 columns have this name"):
        read("b,b,c\n1,2,3\n", {"lat": "b", "lon": "c"}, shell=True)
    assert read("b,b,c\n1,2,3\n", {"lat": "2", "lon": "c"})[1].as_options() == {"lat": 2, "lon": "c"}


def test_other_files_have_no_columns_and_some_have_another_metric(tmp_path, caplog):
    np.save(tmp_path / "a.npy", CAPITALS)
    CAPITALS.tofile(tmp_path / "a.f64")
    (tmp_path / "a.tsp").write_text("DIMENSION: 1\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 2 3\n")
    (tmp_path / "a.geojson").write_text('{"type": "Point", "coordinates": [1, 2]}')
    for name in ("a.npy", "a.f64"):
        assert load(tmp_path / name, metric="GREAT_CIRCLE").metric is Metric.GREAT_CIRCLE
        assert load(tmp_path / name, metric="MAN_2D").metric is Metric.MAN_2D
        assert not caplog.records
        assert load(tmp_path / name).metric is Metric.EXACT_2D
        said = 'look like degrees, and distances are those of the plane: metric="haversine"'
        assert said in warned(caplog)[0]
        caplog.clear()
        with pytest.raises(InvalidProblem):
            load(tmp_path / name, metric="EUC_3D")
    assert load(tmp_path / "a.tsp", metric="CEIL_2D").metric is Metric.CEIL_2D
    for name, metric in (("a.tsp", "GEO"), ("a.tsp", "EUC_3D"), ("a.geojson", "GEO"), ("a.tsp", "EXPLICIT")):
        with pytest.raises(InvalidOption, match=f'metric="{metric}" does not fit .*{name}, whose metric is'):
            load(tmp_path / name, metric=metric)
    for name in ("a.tsp", "a.npy", "a.f64", "a.geojson"):
        with pytest.raises(InvalidOption, match=r"only a table has columns, and .* is read as"):
            load(tmp_path / name, columns={"x": 1, "y": 2})
    np.save(tmp_path / "m.npy", 1 - np.eye(3))
    assert load(tmp_path / "m.npy", metric="EUC_3D").metric is Metric.EUC_3D
    assert load(tmp_path / "m.npy", metric="EXPLICIT").metric is Metric.EXPLICIT


# Data frames


def test_columns_of_data_frames(caplog):
    frame = Frame(Nord=[52.5, 48.1], Ost=[13.4, 11.5], Halt=["a", "b"], Nr=[7.0, 9.0])
    found = Problem.from_frame(frame, columns={"lat": "Nord", "lon": "ost", "name": "Halt", "id": "Nr"})
    assert (found.metric, found.label(1), found.node_id(1)) == (Metric.GREAT_CIRCLE, "b", 9)
    assert not caplog.records
    with pytest.raises(InvalidProblem, match=r"columns=\{'lat': 'COLUMN', 'lon': 'COLUMN'\} says which"):
        Problem.from_frame(frame)
    with pytest.raises(InvalidProblem, match=r"columns=\{'lat': 1\}: there is no such column; .*'Nord'"):
        Problem.from_frame(frame, columns={"lat": 1, "lon": "Ost"})
    plane = Frame(x=[13.4, 11.5], y=[52.5, 48.1])
    assert Problem.from_frame(plane).metric is Metric.EXACT_2D
    assert "the data frame: columns x and y look like degrees" in warned(caplog)[0]
    for wrong, metric in ((plane, "GREAT_CIRCLE"), (Frame(lat=[1], lon=[2]), "EUC_2D"), (plane, "EUC_3D")):
        with pytest.raises(InvalidOption, match=f'metric="{metric}" takes'):
            Problem.from_frame(wrong, metric)


def test_an_index_that_numbers_the_cities():
    index = np.array([12, 40])
    for name, ids in (("id", [12, 40]), ("Nr", [12, 40]), ("year", [1, 2]), (None, [1, 2])):
        named = type("Index", (), {"name": name, "dtype": index.dtype, "__array__": lambda *_, **__: index})()
        assert Problem.from_frame(Frame(named, x=[1, 2], y=[3, 4])).ids_of([0, 1]).tolist() == ids


def test_numbers_of_an_index_are_names_where_nothing_else_is():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pd.DataFrame({"x": [0, 3, 3], "y": [0, 0, 4]}, index=[10, 20, 30])
    found = Problem.from_frame(frame)
    assert (found.labels, found.ids_of([0, 2]).tolist(), found.city("20")) == (["10", "20", "30"], [1, 3], 1)
    assert Problem.from_frame(frame.reset_index(drop=True)).labels is None
    assert Problem.from_frame(frame.assign(name=["a", "b", "c"])).labels == ["a", "b", "c"]
    assert Problem.from_frame(frame.assign(id=[7, 8, 9])).labels is None
    assert Problem.from_frame(frame.assign(Kunde=["a", "b", "c"])).labels == ["a", "b", "c"]
    rows = frame.reset_index(drop=True)
    assert Problem.from_frame(rows[rows.x > 0]).labels == ["1", "2"]  # as they are called in the whole frame


def test_columns_that_are_named_come_before_a_geometry():
    frame = Frame(x=[1.0, 2.0], y=[3.0, 4.0])
    frame.geometry = SimpleNamespace(
        x=[5.0, 6.0], y=[7.0, 8.0], geom_type=["Point"] * 2, is_empty=[False] * 2, crs=None
    )
    assert Problem.from_frame(frame, columns={"x": "x", "y": "y"}).coordinates.tolist() == [[1, 3], [2, 4]]


def test_pandas_without_titles():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pd.read_csv(io.StringIO(PLACES), header=None)
    with pytest.raises(InvalidProblem, match="the data frame: it has the columns '0', '1', '2', '3'"):
        Problem.from_frame(frame)
    found = Problem.from_frame(frame, columns={"id": 0, "name": 1, "lat": 2, "lon": 3})
    assert (found.metric, found.label(0)) == (Metric.GREAT_CIRCLE, "Berlin")
    assert found.coordinates[0].tolist() == [52.5, 13.4]
    twice = frame.rename(columns={1: "x", 2: "x", 3: "y"})  # which no name tells apart
    for other, message in (
        (twice, "the data frame: columns 'x' and 'x' mean the same: remove one of them$"),
        (pd.DataFrame(), "the data frame: it has the columns none: columns x and y"),
    ):
        with pytest.raises(InvalidProblem, match=message):
            Problem.from_frame(other)
    numbered = frame.rename(columns={0: "id", 2: "lat", 3: "lon"}).set_index("id")
    assert Problem.from_frame(numbered.iloc[1:]).ids_of([0, 1]).tolist() == [2, 3]


# The command line


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "h.csv"
    path.write_text(PLACES)
    return str(path)


def shell(capsys, *arguments):
    status = run([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_every_command_that_reads_an_instance_takes_columns(place, tmp_path, capsys):
    tour = tmp_path / "t.csv"
    tour.write_text("name\nBerlin\nMunich\nFrankfurt\n")
    said = ["--lat", "3", "--lon", "4"]
    for arguments in (
        ["info", place],
        ["solve", place, "-q", "-o", tmp_path / "o.csv"],
        ["check", place, tour],
        ["plot", place, tour, tmp_path / "p.svg"],
        ["report", place, tour, tmp_path / "p.html"],
        ["watch", place, "-q", "--no-browser", "--time-limit", "wrong"],
    ):
        status, _, err = shell(capsys, *arguments, *said)
        assert status == (2 if arguments[0] == "watch" else 0), err
        if arguments[0] != "watch":
            status, _, err = shell(capsys, *arguments)
            assert status == 2
            assert err.count("\n") == 1
            assert "give --lat 3 --lon 4 (or the reverse)" in err
            status, _, err = shell(capsys, *arguments, "--metric", "MAN_2D")
            assert status == 0
    for name in ("info", "solve", "check", "plot", "report", "watch"):
        found = {option for parameter in commands.get_command(None, name).params for option in parameter.opts}
        assert {f"--{role}" for role in ROLES} | {"--metric"} <= found
    assert tuple(Columns.__annotations__) == ROLES


def test_info_says_what_columns_were_taken_for(place, tmp_path, capsys):
    _, out, err = shell(capsys, "info", place, "--lat", "3", "--lon", "4")
    assert "columns              name 2, lat 3, lon 4; not used: 1 (no header line)\n" in out
    assert err == ""
    _, out, _ = shell(capsys, "info", place, "--lat", "3", "--lon", "4", "--json")
    assert json.loads(out)["columns"] == {"lat": 3, "lon": 4, "name": 2}
    path = tmp_path / "a.csv"
    path.write_text("Name,Latitude,Lng,Remark\na,1,2,\n")
    said = "columns              name 'Name', lat 'Latitude', lon 'Lng'; not used: 'Remark'\n"
    assert said in shell(capsys, "info", path)[1]
    path.write_text("x,y," + ",".join(f"c{i}" for i in range(30)) + "\n1,2" + ",0" * 30 + "\n")
    assert "'c6', 'c7', 22 more\n" in shell(capsys, "info", path)[1]


def test_guesses_are_one_line_on_stderr(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("1,a,520,134\n2,b,481,115\n3,c,4,5\n4,d,9,9\n")
    status, _, err = shell(capsys, "solve", path, "-q")
    assert status == 0
    assert err == f"warptsp: note: {path}: no header line: columns are taken for id 1, name 2, x 3, y 4\n"
    path.write_text("x,y\n13.4,52.5\n11.5,48.1\n")
    status, _, err = shell(capsys, "solve", path, "-q")
    assert status == 0
    assert err.startswith("warptsp: warning: ")
    assert "give --lat y --lon x (or the reverse) for great circles, or --x x --y y" in err
    for settled in (["--x", "x", "--y", "y"], ["--lat", "y", "--lon", "x"], ["--metric", "EXACT_2D"]):
        assert shell(capsys, "solve", path, "-q", *settled)[2] == ""
    assert [type(handler) for handler in logging.getLogger("warptsp").handlers] == [logging.NullHandler]


@pytest.mark.parametrize("text", ["0,1\n3.5,4\n7.1,8\n", "0\t1\t2\n1.5\t2\t3\n4\t5\t6\n"])
def test_what_pandas_calls_columns_is_no_place(text, caplog):
    with pytest.raises(ParseError, match=r"'0,1(,2)?' may be a place, or the names that pandas gives"):
        read(text)
    assert read(text, {"x": 1, "y": 2})[0].coordinates[0].tolist() == [0, 1]
    assert read("0,1\n3,4\n")[0].n == 2
    assert "the first line, '0,1', is taken for a place" in caplog.text


@pytest.mark.parametrize(
    ("titles", "metric"),
    [
        ("Name;Breitengrad;Längengrad", "GREAT_CIRCLE"),
        ("Ort;Breite (°);Laenge (°)", "GREAT_CIRCLE"),
        ("nombre;latitud;longitud", "GREAT_CIRCLE"),
        ("nome;latitudine;longitudine", "GREAT_CIRCLE"),
        ("название;Широта;Долгота", "GREAT_CIRCLE"),
        ("名称;纬度;经度", "GREAT_CIRCLE"),
        ("stop name;GPS Lat;GPS-Lon", "GREAT_CIRCLE"),
        ("city;geo_lat;geo_lon", "GREAT_CIRCLE"),
        ("Name;Y_WGS84;X_WGS84", "GREAT_CIRCLE"),
        ("Längengrad;Breitengrad;name", "GREAT_CIRCLE"),
        ("label;X (m);Y (m)", "EXACT_2D"),
        ("label;X [km];Northing [km]", "EXACT_2D"),
    ],
)
def test_names_of_columns_in_large_languages(titles, metric):
    rows = [";".join(str(20.5 + row) for _ in titles.split(";")) for row in range(3)]
    problem, columns = read("\n".join([titles, *rows]))
    assert problem.metric.name == metric
    assert sorted(columns.roles()) == sorted(["name", *(["lat", "lon"] if problem.geographic else "xy")])
    assert list(problem.labels) == ["20.5", "21.5", "22.5"]


def test_columns_of_a_tour_are_not_those_of_its_cities():
    written = "position,id,name,lat,lon,open,distance_from_start,time_from_start,distance_to_next\n"
    rows = "1,1,Rome,41.89,12.48,8,0,00:00,1105.2\n2,2,Paris,48.86,2.34,9,1105.2,11:03,1105.2\n"
    assert list(read(written + rows)[0].extra) == ["open"]
    # A table of someone else may have a column of that name.
    assert list(read("position,id,x,y\n7,1,2,3\n8,2,3,4\n")[0].extra) == ["position"]


def test_a_city_is_a_name_only_where_nothing_else_is():
    problem, columns = read("city,name,lat,lon\nParis,Louvre,48.86,2.34\nRome,Forum,41.89,12.48\n")
    assert list(problem.labels) == ["Louvre", "Forum"]
    assert columns.left_out() == ["'city'"]
    assert list(read("city,lat,lon\nParis,48.86,2.34\nRome,41.89,12.48\n")[0].labels) == ["Paris", "Rome"]


@pytest.mark.parametrize("front", ["id,", ""])
def test_no_digit_of_other_columns_is_lost(tmp_path, front):
    """Codes with zeros in front, of letters' form or with more digits than a float has; also far below."""
    rows = [f"{k + 5},{k},{k * k},{k},{k}" for k in range(20_000)]
    rows[15_000] = "15005,15000,225000000,01234,1"
    rows[15_001] = "15006,15001,225030001,12E4,1425678901234567891"
    lines = [row.partition(",")[2] for row in rows] if not front else rows
    path = tmp_path / "a.csv"
    path.write_text("\n".join([f"{front}x,y,zip,order", *lines, ""]))
    problem = load(path)
    assert problem.extra["zip"][15_000:15_002] == ["01234", "12E4"]
    assert problem.extra["order"][15_001] == "1425678901234567891"
    path.write_text(f"{front}x,y,amount\n{'1,' * bool(front)}1,2,1.5\n{'2,' * bool(front)}3,4,2\n")
    assert load(path).extra["amount"].tolist() == [1.5, 2.0]  # numbers that lose nothing are numbers


@pytest.mark.parametrize("ids", [[2**53 + 1, 2**53, 3], [1425678901234567891, 1425678901234567892, 3]])
def test_ids_that_no_float_holds_are_names(tmp_path, ids):
    path = tmp_path / "a.csv"
    path.write_text("id,x,y\n" + "".join(f"{id},{k},{k * k}\n" for k, id in enumerate(ids)))
    rows = [{"id": id, "x": k, "y": k * k} for k, id in enumerate(ids)]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    for name in ("a.csv", "a.json"):
        assert load(tmp_path / name).labels == list(map(str, ids))
