"""The files that ``warptsp insert`` takes: tours and places, with and without names, numbers and options."""

import csv
import json
import signal
from dataclasses import replace

import numpy as np
import pytest

from warptsp import OpenPath, Problem, insertion
from warptsp.cli import run
from warptsp.errors import InvalidOption, InvalidProblem
from warptsp.io import write_tour

CALLED = {
    "u": "x", "v": "y", "w": "name", "Nord": "lat", "N": "lat", "Ost": "lon", "E": "lon", "Wo": "name",
    "Ort": "name", "Jméno": "name",
}  # fmt: skip
"""What the columns of these tables hold; tables of their tours have the same titles."""
SQUARE = [(0, 0), (10, 0), (10, 10), (0, 10)]


@pytest.fixture
def insert(tmp_path, monkeypatch, capsys):
    """Runs the command in a folder of its own; the rows of the new tour, the summary, and what was said."""
    monkeypatch.chdir(tmp_path)

    def inserting(*arguments, status=0):
        found = run(["insert", *arguments, "-o", "out.csv", "--json"])
        told = capsys.readouterr()
        assert found == status, told.err
        if status:
            return told.err
        text = (tmp_path / "out.csv").read_bytes().decode(inserting.encoding)
        delimiter = next(mark for mark in ";|," if mark in text)
        rows = [
            {CALLED.get(title, title): value for title, value in row.items()}
            for row in csv.DictReader(text.splitlines(), delimiter=delimiter)
        ]
        return rows, json.loads(told.out), told.err

    inserting.encoding = "utf-8"
    inserting.write = lambda name, text: (tmp_path / name).write_text(text)
    return inserting


@pytest.mark.parametrize("name", ["t.geojson", "t.json", "t.gpx", "t.kml", "t.csv", "t.tsv"])
@pytest.mark.parametrize("path", [False, True])
def test_tours_that_warptsp_writes(insert, name, path):
    places = Problem.from_points([(0, 0), (0, 10), (10, 10), (10, 0)], "GREAT_CIRCLE", labels=list("ABCD"))
    instance = replace(places, open=OpenPath()) if path else places
    write_tour(name, [0, 1, 2, 3], instance)
    insert.write("new.csv", "name,lat,lon\nE,5,10\n")
    rows, summary, _ = insert(name, "new.csv")
    names = "".join(row["name"] for row in rows)
    assert names in (("ABECD",) if path else ("ABECD", "ADCEB"))
    assert ("path_position" in rows[0]) is path
    assert summary["length_before"] == pytest.approx(instance.length([0, 1, 2, 3]))


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("x,y\n0,0\n10,0\n10,10\n0,10\n", []),
        ("0 0\n10 0\n10 10\n0 10\n", []),
        ("name,x,y\nA,0,0\nA,10,0\nA,10,10\nB,0,10\n", []),
        ("u,v\n0,0\n10,0\n10,10\n0,10\n", ["--x", "u", "--y", "v"]),
        ("k,u,v,w\n4,0,0,A\n3,10,0,B\n2,10,10,B\n1,0,10,D\n", ["--x", "u", "--y", "v", "--name", "w"]),
        ("# a,b\n\nx|y\n0|0\n10|0\n10|10\n0|10\n", []),
        ("0,0\n10,0\n10,10\n0,10\n", ["--x", "1", "--y", "2"]),
    ],
)
def test_rows_are_the_order(insert, text, options):
    insert.write("t.csv", text)
    insert.write("new.csv", "id,x,y\n9,5,0\n")
    rows, summary, _ = insert("t.csv", "new.csv", *options)
    assert [(int(row["x"]), int(row["y"])) for row in rows] == [(0, 0), (5, 0), *SQUARE[1:]]
    assert rows[1]["id"] == "9"
    assert (summary["length_before"], summary["length"]) == (40, 40)


def test_other_formats_of_places_in_order(insert):
    np.save("t.npy", np.array(SQUARE, dtype=float))
    insert.write("new.csv", "x,y\n5,0\n")
    assert insert("t.npy", "new.csv")[1]["length"] == 40
    parquet, pyarrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    x, y = zip(*SQUARE, strict=True)
    parquet.write_table(pyarrow.table({"x": x, "y": y}), "t.parquet")
    assert insert("t.parquet", "new.csv")[1]["length"] == 40


def test_positions_say_what_they_say(insert):
    insert.write("new.csv", "x,y\n5,0\n")
    insert.write("t.csv", "path_position,name,x,y\n1,A,0,0\n2,A,10,0\n3,B,10,10\n4,C,0,10\n")
    _, summary, _ = insert("t.csv", "new.csv")
    assert summary["length"] == 30
    assert insert("t.csv", "new.csv", "--closed")[1]["length"] == 40
    insert.write("t.csv", "position,x,y\n1,0,0\n3,10,0\n2,10,10\n4,0,10\n")
    assert "t.csv:4: position 2 stands below position 3" in insert("t.csv", "new.csv", status=2)


@pytest.mark.parametrize(
    ("tour", "new", "options"),
    [
        ("Nord;Ost\n0;0\n10;0\n", "Nord;Ost;Wer\n5;0;E\n", ["--lat", "Nord", "--lon", "Ost"]),
        ("Nord;Ost\n0;0\n10;0\n", "lat,lon,Nord\n5,0,60\n", ["--lat", "Nord", "--lon", "Ost"]),
        ("Ort;N;E\nA;0;0\nB;10;0\n", "E;N\n0;5\n", ["--lat", "2", "--lon", "3", "--name", "1"]),
        ("N;E;Wo\n0;0;A\n10;0;B\n", "N,E,Wo\n5,0,E\n", ["--lat", "N", "--lon", "E", "--name", "Wo"]),
        ("N;E\n0;0\n10;0\n", "name lon lat\nE 0 5\n", ["--lat", "N", "--lon", "E"]),
        ("0;0\n10;0\n", "id,lat,lon\n3,5,0\n", ["--lat", "1", "--lon", "2"]),
    ],
)
def test_columns_hold_for_places_that_have_them(insert, tour, new, options):
    insert.write("t.csv", tour)
    insert.write("new.csv", new)
    rows, _, _ = insert("t.csv", "new.csv", *options)
    assert sorted((float(row["lat"]), float(row["lon"])) for row in rows) == [(0, 0), (5, 0), (10, 0)]
    if "Wo" in options:
        assert {row["name"] for row in rows} == {"A", "B", "E"}


def test_places_of_a_map_need_no_columns(insert):
    insert.write("t.csv", "Nord;Ost\n0;0\n10;0\n")
    insert.write("new.geojson", '{"type": "Point", "coordinates": [0, 5]}')
    assert len(insert("t.csv", "new.geojson", "--lat", "Nord", "--lon", "Ost")[0]) == 3


def test_units_are_not_mixed(insert):
    insert.write("tour.csv", "x (km),y (km)\n0,0\n10,0\n10,10\n0,10\n")
    insert.write("new.csv", "x (m),y (m)\n5000,100\n")
    told = insert("tour.csv", "new.csv", status=2)
    assert "new.csv has coordinates in m, and tour.csv in km: convert one of them" in told
    insert.write("new.csv", "x,y\n5,0\n")
    assert insert("tour.csv", "new.csv")[1]["length"] == 40


def test_the_metric_holds_for_both(insert):
    insert.write("t.csv", "x,y\n0,0\n10,0\n")
    insert.write("new.csv", "x,y\n5,3\n")
    assert insert("t.csv", "new.csv", "--metric", "MAX_2D")[1]["length"] == 20
    insert.write("t.csv", "x,y\n0,0\n10.5,0\n")  # whole places in a tour of decimals
    assert insert("t.csv", "new.csv", "--metric", "manhattan")[1]["length"] == 27
    insert.write("t.csv", "x,y\n0,0\n10,0\n")  # and the reverse
    insert.write("new.csv", "x,y\n5,3.25\n")
    assert insert("t.csv", "new.csv", "--metric", "manhattan")[1]["length"] == 26.5


def test_other_columns_and_free_numbers_are_kept(insert):
    insert.write("t.csv", "id,x,y,tel,count\n3,0,0,1,7\n5,10,0,2,7\n")
    insert.write("new.csv", "fax,id,x,y,tel,count\n9,5,1,0,004,1\n9,2,2,0,005,2\n9,3,3,0,006,3\n")
    rows, _, told = insert("t.csv", "new.csv")
    assert {row["id"]: (row["tel"], row["count"]) for row in rows} == {
        "3": ("1", "7"), "5": ("2", "7"), "6": ("004", "1"), "2": ("005", "2"), "7": ("006", "3"),
    }  # fmt: skip
    assert "fax" not in rows[0]
    assert "warptsp: note: new.csv: the tour has such numbers already: 5 becomes 6, 3 becomes 7" in told
    rows, _, told = insert("t.csv", "new.csv", "--remove", "5")
    assert {row["id"] for row in rows} == {"3", "5", "2", "6"}
    assert "already: 3 becomes 6\n" in told
    insert.write("new.csv", "id,x,y\n1,1,0\n2,2,0\n")
    assert insert("t.csv", "new.csv")[2] == ""
    insert.write("t.csv", "x,y\n0,0\n10,0\n")
    assert "already: 1 becomes 3, 2 becomes 4\n" in insert("t.csv", "new.csv")[2]
    insert.write("new.csv", "x,y\n1,0\n2,0\n")
    rows, _, told = insert("t.csv", "new.csv")
    assert (sorted(row["id"] for row in rows), told) == (["1", "2", "3", "4"], "")


def test_standard_input_holds_places_and_no_tour(insert):
    insert.write("new.csv", "x,y\n1,0\n2,0\n")
    told = insert("-", "new.csv", status=2)
    assert told.count("\n") == 1
    assert "TOUR is read as places and as an order, and standard input only once: name a file" in told


@pytest.mark.parametrize("name", ["_inserted", "_stretch"])
def test_a_signal_ends_it_and_keeps_what_holds_all_places(insert, tmp_path, monkeypatch, name):
    insert.write("t.csv", "x,y\n0,0\n10,0\n10,10\n5,15\n0,10\n-5,5\n")
    insert.write("new.csv", "x,y\n9,1\n")
    whole = getattr(insertion, name)

    def interrupted(*arguments):
        signal.raise_signal(signal.SIGINT)
        return whole(*arguments)

    monkeypatch.setattr(insertion, name, interrupted)
    insert("t.csv", "new.csv", "--improve", "1", status=130)
    assert (tmp_path / "out.csv").exists() == (name == "_stretch")


def test_numbers_and_columns_in_python():
    columns = {"count": [1, 2, 3, 4], "b": list("abcd")}
    problem = Problem.from_points(SQUARE, node_ids=[4, 7, 9, 2], extra=columns)
    new = {"node_ids": [7, 1], "extra": {"count": [5, 6], "c": [7, 8]}}
    found = insertion.insert(problem, range(4), [[5, 0], [6, 0]], **new).problem
    assert found.node_ids.tolist() == [4, 7, 9, 2, 10, 1]
    assert found.extra == {"count": [1, 2, 3, 4, 5, 6], "b": ["a", "b", "c", "d", "", ""]}
    for fields in ({"node_ids": [1]}, {"extra": {"b": ["x"]}}):
        with pytest.raises(InvalidOption, match=": 1 values for 2 places; one for each is needed"):
            insertion.insert(problem, range(4), [[5, 0], [6, 0]], **fields)
    with pytest.raises(InvalidProblem, match="node id 1 is used for more than one city"):
        insertion.insert(problem, range(4), [[5, 0], [6, 0]], node_ids=[1, 1])


def test_the_encoding_holds_for_both(insert, tmp_path):
    for name, rows in (("t.csv", "Říp,0,0\nŽďár,10,0\n"), ("new.csv", "Nový Žďár,5,3\n")):
        (tmp_path / name).write_text(f"Jméno,u,v\n{rows}", encoding="cp1250")
    columns = ["--x", "u", "--y", "v", "--name", "Jméno"]
    insert.encoding = "cp1250"
    rows, *_ = insert("t.csv", "new.csv", "--encoding", "cp1250", *columns)
    assert [row["name"] for row in rows] == ["Říp", "Nový Žďár", "Žďár"]
