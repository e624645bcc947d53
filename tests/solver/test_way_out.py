"""What is taken home: names, legs, times, tables, GeoJSON, JSON; lengths as people read them."""

import csv
import io
import json

import numpy as np
import pytest
from calls import call, event

import warptsp
from warptsp import OpenPath, Problem
from warptsp.cli._values import speed as speed_of
from warptsp.describe import describe_done
from warptsp.errors import InvalidOption, InvalidProblem
from warptsp.quantities import duration_text, length_text, number_text

PLACES = {
    "Lisbon": (38.7, -9.1), "Berlin": (52.5, 13.4), "Paris": (48.8, 2.3), "Rome": (41.9, 12.5),
    "Suva": (-18.1, 178.4), "Apia": (-13.8, -171.8),
}  # fmt: skip
TABLE = "Ort;Breite;Länge;Umsatz;Bemerkung;id\n" + "".join(
    f"{name};{lat};{lon};{10 * at};{'=1+1' if at == 1 else ''};{at + 7}\n"
    for at, (name, (lat, lon)) in enumerate(PLACES.items())
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "stops.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_all_in_one_call(capsys):
    result = warptsp.solve(
        PLACES, metric="haversine", asymmetric=True, start_city="paris", kicks=10, bound=False, progress=True
    )
    assert result.names[0] == "Paris"
    assert sorted(result.names) == sorted(PLACES)
    assert result.legs.shape == (6,)
    assert result.legs.sum() == pytest.approx(result.length, rel=1e-12)
    assert result.legs[0] == result.problem.distance(*result.tour[:2])
    assert result.legs[-1] == result.problem.distance(result.tour[-1], result.tour[0])
    np.testing.assert_allclose(result.cumulative, np.concatenate(([0], np.cumsum(result.legs)[:-1])))
    assert not result.tour.flags.writeable
    assert capsys.readouterr().out == ""


def test_ends_by_name():
    result = warptsp.solve(PLACES, metric="haversine", start_city="Lisbon", end_city="apia", kicks=10)
    assert (result.names[0], result.names[-1], result.legs.shape) == ("Lisbon", "Apia", (5,))
    assert result.legs.sum() == pytest.approx(result.length, rel=1e-12)
    free = warptsp.solve(PLACES, metric="haversine", open=True, start_city=1, kicks=10)
    assert (free.names[0], free.problem.open) == ("Berlin", OpenPath(1))
    points, names = list(PLACES.values()), list(PLACES)
    problem = Problem.from_points(points, "haversine", labels=names, open=OpenPath("suva", "Rome"))
    assert problem.open == OpenPath(4, 3)
    with pytest.raises(InvalidProblem, match="the path's start is 'Riga': no such city"):
        Problem.from_points(points, "haversine", labels=names, open=OpenPath("Riga"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start_city": "Ber"}, "start_city: 'Ber': no such city; did you mean 'Berlin'"),
        ({"start_city": 6}, "start_city: 6 is not possible, it must lie between 0 and 5"),
        ({"start_city": 1.5}, "start_city: 1.5 is not possible"),
        ({"end_city": "Rome", "open": False}, "end_city: a closed tour has no end"),
        ({"end_city": "Rome", "open": OpenPath(0)}, "open: an OpenPath has its own ends"),
        ({"start_city": 3, "end_city": "Rome"}, "start_city and end_city: both are 3; a round trip is"),
        ({"progress": "yes"}, "progress: 'yes' is neither True nor False"),
    ],
)
def test_ends_that_are_none(options, message):
    with pytest.raises(InvalidOption, match=message):
        warptsp.solve(PLACES, metric="haversine", **options)


def test_a_string_is_a_name_and_a_number_counts_from_0(table):
    """One rule: no string is a number of a file, which counts from 1; where it might be one, that is said."""
    square = [(0, 0), (3, 0), (3, 4), (0, 4)]
    assert warptsp.solve(square, start_city=1).tour[0] == 1
    for given in ("1", "4"):
        with pytest.raises(
            InvalidOption,
            match=f"start_city: '{given}': the cities have no names; give a number, counted from 0 to 3; "
            f"{given} in a file is {int(given) - 1}",
        ):
            warptsp.solve(square, start_city=given)
    numbered = Problem.from_points(square, labels=["1", "2", "3", "0"])
    assert [warptsp.solve(numbered, start_city=city).tour[0] for city in ("1", 1, "0", 0)] == [0, 1, 3, 0]
    assert call("solve", table, "-q", "--from", "7", "--kicks", "1") == 0  # its own number


@pytest.mark.parametrize("command", ["solve", "python"])
@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (("--method", "2opt"), "two-opt"),
        (("--method", "3-opt"), "three-opt"),
        (("--then", "ils2"), "ils"),
        (("--metric", "haversin"), "haversine"),
        (("--metric", "euc2d"), "EUC_2D"),
        (("--document", "03"), "003"),
        (("--start", "nearest"), "nearest-neighbor"),
        (("--format", "cvs"), "csv"),
        (("--name", "Otr"), "Ort"),
        (("--from", "Lisb"), "Lisbon"),
        (("--param", "dept=3"), "depth"),
    ],
)
def test_a_mistyped_name_is_answered_with_the_near_one(table, wrong, right, command, capsys):
    """One function for all names."""
    option, value = wrong
    if command == "solve":
        assert call("solve", table, "-q", option, value) == 2
        assert f"did you mean '{right}'?" in capsys.readouterr().err
        return
    key = {"--from": "start_city", "--param": "params", "--name": "columns"}.get(option, option[2:])
    given = {"params": {"dept": 3}, "columns": {"name": value}}.get(key, value)
    asked = warptsp.load if key in ("format", "columns") else warptsp.solve
    with pytest.raises((InvalidOption, InvalidProblem), match=f"did you mean '{right}'"):
        asked(PLACES if key == "metric" else table, **{key: given})


@pytest.mark.parametrize("command", ["solve", "info", "bound"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.svg", '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0 L1 1"/></svg>'),
        ("a.gcode", "G21\nG0 X1 Y1\nG1 X2 Y2\n"),
        ("a.plt", "IN;SP1;PU0,0;PD100,100;\n"),
        ("a.drl", "M48\nMETRIC\nT1C0.8\n%\nT1\nX1.0Y1.0\nM30\n"),
    ],
)
def test_a_drawing_has_a_command_of_its_own(tmp_path, name, text, command, capsys):
    path = tmp_path / name
    path.write_text(text)
    assert call(command, path) == 2
    assert f": warptsp strokes {path} puts these in order" in capsys.readouterr().err
    other = tmp_path / "a.csv"
    other.write_text(text)
    assert call(command, other) == call(command, tmp_path / f"none.{name}") == 2
    assert "warptsp strokes" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--time-limit", "1h"], True),
        (["--time-limit", "10"], False),
        (["--time-limit", "1h", "--kicks", "5"], True),
        ([], False),
        (["--time-limit", "1h", "-q"], False),
        (["--time-limit", "1h", "--json"], False),
        (["--time-limit", "1h", "--checkpoint", "a.tour"], False),
        (["--time-limit", "1h", "-o", "a.csv"], False),
    ],
)
def test_a_long_run_without_a_file_says_so_at_its_start(table, options, told, capsys, monkeypatch):
    monkeypatch.chdir(table.parent)
    assert call("solve", table, *options) == 0
    assert ("no file for the tour: --output FILE writes it" in capsys.readouterr().err) is told


def test_nothing_is_suggested_where_nothing_is_near(table, capsys):
    assert call("solve", table, "-q", "--method", "ant-colony") == 2
    assert "did you mean" not in capsys.readouterr().err


def test_arrays_of_degrees_are_told_as_tables_are(caplog):
    names = list(PLACES)[:4]
    places = np.array([PLACES[name] for name in names])
    for given in (places, places[:, ::-1], places.tolist(), {name: PLACES[name] for name in names}):
        caplog.clear()
        warptsp.solve(given, kicks=1)
        assert 'metric="haversine" gives great circles, latitude before longitude' in caplog.text
        caplog.clear()
        warptsp.solve(given, metric="euclidean", kicks=1)
        warptsp.solve(np.random.default_rng(1).random((20, 2)) * 50, kicks=1)
        assert "degrees" not in caplog.text


def test_a_table_keeps_all_its_columns(table, tmp_path, capsys):
    out = tmp_path / "route.csv"
    assert call("solve", table, "-o", out, "--from", "Rome", "--speed", "100", "--csv-safe", "-q") == 0
    shown = capsys.readouterr().out
    rows = list(csv.DictReader(io.StringIO(out.read_text(encoding="utf-8-sig")), delimiter=";"))
    assert list(rows[0]) == [
        "position", "Ort", "Breite", "Länge", "Umsatz", "Bemerkung", "id", "distance_from_start_km",
        "time_from_start", "distance_to_next_km", "time_to_next",
    ]  # fmt: skip
    problem = warptsp.load(table)
    tour = warptsp.read_tour(out, problem)
    assert (rows[0]["Ort"], rows[0]["id"], rows[0]["Umsatz"], rows[0]["time_from_start"]) == (
        "Rome",
        "10",
        "30",
        "0:00:00",
    )
    assert {row["Ort"]: row["Bemerkung"] for row in rows}["Berlin"] == "'=1+1"
    total = 1000.0 * sum(float(row["distance_to_next_km"]) for row in rows)
    assert total == pytest.approx(problem.length(tour), abs=3.0)
    assert rows[1]["distance_from_start_km"] == rows[0]["distance_to_next_km"]
    hours, minutes, seconds = map(int, rows[-1]["time_from_start"].split(":"))
    assert 3600 * hours + 60 * minutes + seconds == pytest.approx(
        float(rows[-1]["distance_from_start_km"]) * 36.0, abs=0.6
    )
    assert f"travel time  {duration_text(total * 0.036)} at 100 km/h" in shown
    assert f"length       {length_text(total, 'm')} along great circles" in shown
    assert "great circles, closed tour" in shown


def test_numbers_alone_and_names_that_are_taken(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("position,x,y,demand,load\n5,0,0,1.5,7\n5,3,0,2,8\n5,3,4,3,9\n")
    warptsp.solve(path, open=OpenPath(2, 0)).save(tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text() == (
        "path_position,id,position (2),x,y,demand,load,distance_from_start,distance_to_next\n"
        "1,3,5,3,4,3.0,9,0.0,4.0\n"
        "2,2,5,3,0,2.0,8,4.0,3.0\n"
        "3,1,5,0,0,1.5,7,7.0,\n"
    )
    with pytest.raises(InvalidProblem, match="extra: the column 'a' has no entry for each of the 2 cities"):
        Problem.from_points([[0, 0], [1, 1]], extra={"a": [1]})
    with pytest.raises(InvalidProblem, match="extra is 3: a mapping"):
        Problem.from_points([[0, 0], [1, 1]], extra=3)


def test_any_format_to_stdout(table, capsys):
    for name, beginning in (
        ("csv", "\ufeffposition;Ort;Breite"),
        ("gpx", "<?xml"),
        ("tsv", "position\tOrt"),
        (None, "NAME"),
    ):
        options = [] if name is None else ["--output-format", name]
        assert call(table, "-o", "-", *options, "-q") == 0
        captured = capsys.readouterr()
        assert captured.out.startswith(beginning)
        assert "length       " in captured.err
    assert call(table, "--output-format", "csv", "-q") == 2
    assert "--output-format: no tour goes to stdout" in capsys.readouterr().err
    assert call(table, "-o", "-", "--output-format", "xls", "-q") == 2
    assert "there is no tour format 'xls' to write" in capsys.readouterr().err


def test_geojson_is_a_line_and_numbered_points(table, tmp_path, capsys):
    out = tmp_path / "a.geojson"
    assert call(table, "-o", out, "--speed", "60km/h", "-q") == 0
    line, *points = json.loads(out.read_text(encoding="utf-8"))["features"]
    assert line["geometry"]["type"] == "MultiLineString"  # across the antimeridian
    assert all(abs(longitude) <= 180 for part in line["geometry"]["coordinates"] for longitude, _ in part)
    assert [point["properties"]["position"] for point in points] == [1, 2, 3, 4, 5, 6]
    assert {point["properties"]["name"] for point in points} == set(PLACES)
    for point in points:
        lat, lon = PLACES[point["properties"]["name"]]
        assert point["geometry"] == {"type": "Point", "coordinates": [lon, lat]}
    last = points[-1]["properties"]
    assert last["seconds_from_start"] == pytest.approx(last["distance_from_start"] * 0.06, abs=0.1)
    problem = warptsp.load(table)
    tour = warptsp.read_tour(out, problem)
    assert last["distance_from_start"] + last["distance_to_next"] == pytest.approx(
        problem.length(tour), abs=0.01
    )


def test_json_holds_the_tour(table, capsys):
    assert call(table, "--json", "--from", "Apia", "--speed", "37mph", "-q") == 0
    text = capsys.readouterr().out
    found = json.loads(text)
    assert len(text.splitlines()) == len(found) + 2
    problem = warptsp.load(table)
    assert found["names"][0] == "Apia"
    assert [problem.label(city) for city in found["tour"]] == found["names"]
    assert problem.ids_of(found["tour"]).tolist() == found["ids"]
    assert sum(found["legs"]) == pytest.approx(found["length"], rel=1e-12)
    assert found["cumulative"][-1] + found["legs"][-1] == pytest.approx(found["length"], rel=1e-12)
    assert found["travel_seconds"] == pytest.approx(found["length"] / 1000 / (37 * 1.609344) * 3600)
    assert len(found["cumulative_seconds"]) == 6
    result = warptsp.solve([[0, 0], [3, 0], [3, 4]])
    assert sorted(result.as_dict()["legs"]) == [3.0, 4.0, 5.0]
    assert result.as_dict()["names"] is None
    with pytest.raises(
        InvalidOption, match="speed: distances are Euclidean, not rounded, whose unit is unknown"
    ):
        result.as_dict(speed=50)


@pytest.mark.parametrize(
    ("text", "speed"),
    [
        ("60", 60),
        ("60 km/h", 60),
        ("37mph", 59.545728),
        ("5m/s", 18),
        (".5", 0.5),
        ("0", None),
        ("fast", None),
        ("-3", None),
    ],
)
def test_speeds(text, speed):
    if speed is None:
        with pytest.raises(Exception, match="is not a speed such as 60, 60km/h, 37mph or 5m/s"):
            speed_of(text)
    else:
        assert speed_of(text) == pytest.approx(speed)


def test_a_speed_without_a_unit_of_length(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n3,4\n5,9\n")
    assert call(path, "--speed", "60", "-q") == 2
    assert "--speed: distances are Euclidean, not rounded, whose unit is unknown" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("length", "unit", "text"),
    [
        (17429787.55, "m", "17 430 km"), (999999.9, "m", "1000.00 km"), (850.4, "m", "850.40 m"),
        (0.0, "m", "0.000 m"), (12345678, "km", "12 345 678 km"), (7542, "", "7542"),
        (71.704922623, "", "71.70492262"),
        (1.1044051e8, "", "110440510"), (1.2345678e12, "", "1234567800000"),
    ],
)  # fmt: skip
def test_lengths_as_people_read_them(length, unit, text):
    assert length_text(length, unit) == text


def test_a_bound_is_rounded_down():
    assert length_text(17429999.0, "m") == "17 430 km"
    assert length_text(17429999.0, "m", down=True) == "17 429 km"
    assert length_text(2 * 2**0.5, "") == "2.828427125"
    assert length_text(2 * 2**0.5, "", down=True) == "2.828427124"
    assert length_text(12345678901.5, "", down=True) == "12345678901"
    assert length_text(7542, "", down=True) == "7542"


def test_no_exponents():
    rng = np.random.default_rng(4)
    for value in 10.0 ** rng.uniform(-3, 14.9, 200):
        assert "e" not in number_text(float(value))


def test_how_much_of_a_search_is_done():
    assert describe_done(event()) is None
    assert describe_done(event(time_limit=4.0)) == 0.25
    assert describe_done(event(time_limit=4.0), waited=1.0) == 0.5
    assert describe_done(event(time_limit=4.0, kick_limit=20)) == 0.5
    assert describe_done(event(time_limit=0.5)) == 1.0
