"""Tours as tables that people take home: CSV as theirs was, workbooks, data frames; all read back."""

import datetime
import os
import sys

import numpy as np
import pytest
from calls import call

import warptsp
from warptsp import BackendUnavailable, InvalidOption, OutputError, Problem, load, read_tour, write_tour
from warptsp.errors import ParseError
from warptsp.problem.itinerary import Schedule, Timing

NAMES = ["Depot", 'Bäcker "Müller"; Söhne', "=1+1", "-5", "+49 30 1", "@home", "Rue d'Été, 5"]
ORDER = [3, 0, 6, 1, 5, 2, 4]


def same(found: Problem, problem: Problem, tour) -> None:
    """That an instance is another one with its cities in the order of a tour."""
    np.testing.assert_array_equal(found.coordinates, problem.coordinates[tour])
    assert list(found.labels) == [" ".join(problem.labels[city].split()) for city in tour]
    assert found.ids_of(range(found.n)).tolist() == problem.ids_of(tour).tolist()
    assert {title: list(map(str, column)) for title, column in (found.extra or {}).items()} == {
        title: [str(column[city]) for city in tour] for title, column in (problem.extra or {}).items()
    }


def written(tmp_path, name, problem, **timing):
    """The file of a tour, from which the tour and the instance are read back."""
    write_tour(tmp_path / name, ORDER, problem, **timing)
    assert read_tour(tmp_path / name, problem).tolist() == ORDER
    return tmp_path / name


def places(encoding="utf-8", delimiter=";", decimal=",", extra="Umsatz"):
    """A German table of places."""

    def field(text):
        return '"' + text.replace('"', '""') + '"' if delimiter in text or '"' in text else text

    rows = [["Kunde", "Breite", "Länge", extra, "Straße"]]
    for at, name in enumerate(NAMES):
        numbers = [f"{52 + at / 7:.4f}", f"{13 + at * at / 9:.4f}", f"{at * 12.5}"]
        rows.append([name, *(number.replace(".", decimal) for number in numbers), f"Weg {at}"])
    return "".join(delimiter.join(map(field, row)) + "\r\n" for row in rows).encode(encoding)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize(("delimiter", "decimal"), [(";", ","), (";", "."), ("|", ","), (",", ".")])
def test_csv_is_written_as_the_table_was(tmp_path, encoding, delimiter, decimal):
    (tmp_path / "kunden.csv").write_bytes(places(encoding, delimiter, decimal))
    problem = load(tmp_path / "kunden.csv")
    assert list(problem.labels) == NAMES
    path = written(tmp_path, "route.csv", problem, speed=50, depart="08:00")
    same(load(path), problem, ORDER)
    # In UTF-8 without a mark Excel, for which semicolons are, shows noise.
    mark = "utf-8-sig" if encoding == "utf-8" and delimiter == ";" else encoding
    text = path.read_bytes().decode(mark)
    assert text.encode(mark) == path.read_bytes()
    lines = text.splitlines()
    assert lines[0].split(delimiter) == [
        "position", "id", "Kunde", "Breite", "Länge", "Umsatz", "Straße", "arrival", "distance_from_start_km",
        "time_from_start", "distance_to_next_km", "time_to_next",
    ]  # fmt: skip
    assert lines[1].startswith(
        f"1{delimiter}4{delimiter}-5{delimiter}52{decimal}4286{delimiter}14{decimal}0{delimiter}37{decimal}5"
    )
    assert "08:00:00" in lines[1]
    # From the table of a tour as from the first.
    again = load(path)
    warptsp.solve(again, kicks=1).save(tmp_path / "again.csv")
    titles = (tmp_path / "again.csv").read_bytes().decode(mark).splitlines()[0].split(delimiter)
    assert titles == [
        title for title in lines[0].split(delimiter) if "time" not in title and title != "arrival"
    ]


def test_columns_that_the_caller_names_keep_their_titles(tmp_path):
    (tmp_path / "a.csv").write_text(
        "Nord;Ost;Nr.;id;position;Filiale\n1,5;2,5;70;x;1;a\n1,25;2,5;50;y;2;b\n3,5;4,125;60;z;2;c\n"
    )
    columns = {"y": "Nord", "x": "Ost", "id": "Nr.", "name": "Filiale"}
    problem = load(tmp_path / "a.csv", columns=columns)
    write_tour(tmp_path / "b.csv", [2, 0, 1], problem)
    assert (tmp_path / "b.csv").read_text().splitlines()[:2] == [
        "position;Nord;Ost;Nr.;id;position (2);Filiale;distance_from_start;distance_to_next",
        "1;3,5;4,1250;60;z;2;c;0,0;2,576941016011038",
    ]
    assert read_tour(tmp_path / "b.csv", problem).tolist() == [2, 0, 1]
    found = load(tmp_path / "b.csv", columns=columns)
    same(Problem(found.metric, found.coordinates, labels=found.labels, node_ids=found.node_ids),
         Problem(problem.metric, problem.coordinates, labels=problem.labels, node_ids=problem.node_ids),
         [2, 0, 1])  # fmt: skip


def test_titles_say_the_unit_of_a_plane(tmp_path):
    (tmp_path / "a.csv").write_text("name;X (m);Y (m)\na;0;0\nb;3000;0\nc;3000;4000\n")
    problem = load(tmp_path / "a.csv")
    assert problem.unit == "m"
    for titles, units in (
        ("X (m);Y (km)", "m and km"),
        ("x (km);y", "km and an unknown unit"),
        ("x_mm;y_cm", "mm and cm"),
    ):
        with pytest.raises(ParseError, match=f"x and y are in {units}: one unit for both is needed"):
            load(written_as(tmp_path, titles))
    assert load(written_as(tmp_path, "Rechtswert [km];Hochwert [km]")).unit == "km"
    warptsp.solve(problem).save(tmp_path / "b.csv", speed=36)
    found = load(tmp_path / "b.csv")
    assert found.unit == "m"
    assert (tmp_path / "b.csv").read_text().splitlines()[2].endswith(";5,0;0:08:20;4,0;0:06:40")


@pytest.mark.parametrize(
    "text",
    [
        "nr;x;y\n001;1;2\n002;3;4\n010;7;5\n",
        "x,y,id\n1,2,001\n3,4,002\n7,5,010\n",
        "x id y\n1 001 2\n3 002 4\n7 010 5\n",
    ],
)
def test_numbers_with_zeros_in_front_are_codes_that_keep_them(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    problem = load(tmp_path / "a.csv")
    assert problem.labels == ["001", "002", "010"]
    write_tour(tmp_path / "b.csv", [2, 0, 1], problem)
    assert "010" in (tmp_path / "b.csv").read_text().splitlines()[1]
    assert read_tour(tmp_path / "b.csv", problem).tolist() == [2, 0, 1]
    by_number = load(tmp_path / "a.csv", columns={"id": "id" if "id" in text else "nr"})
    assert by_number.labels is None
    assert by_number.ids_of([2]).tolist() == [10]


@pytest.mark.parametrize("text", ["id,x,y\n12E4,1,2\n7,3,4\n", "x;y;nr\n1;2;12E4\n3;4;7\n"])
def test_codes_that_look_like_powers_of_ten_are_no_numbers(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    assert load(tmp_path / "a.csv").labels == ["12E4", "7"]
    for number in "1.2e+05", "1e+06", "120000":  # as NumPy writes them
        (tmp_path / "a.csv").write_text(text.replace("12E4", number))
        assert load(tmp_path / "a.csv").labels is None


@pytest.mark.parametrize("codes", [("001", "002", "010"), ("x1", "2", "3"), ("1.5", "2", "3")])
def test_codes_beside_names_are_kept_as_a_column(tmp_path, codes):
    rows = [f"{code},{name},{x},2\n" for code, name, x in zip(codes, "ABC", "136", strict=True)]
    (tmp_path / "a.csv").write_text("".join(["Nr,name,x,y\n", *rows]))
    problem = load(tmp_path / "a.csv")
    assert problem.labels == ["A", "B", "C"]
    write_tour(tmp_path / "b.csv", [2, 0, 1], problem)
    head, first = (tmp_path / "b.csv").read_text().splitlines()[:2]
    assert head.startswith("position,id,Nr,name,x,y,")
    assert first.startswith(f"1,3,{codes[2]},C,6,2,")
    assert read_tour(tmp_path / "b.csv", problem).tolist() == [2, 0, 1]


def written_as(tmp_path, titles):
    (tmp_path / "c.csv").write_text(f"{titles}\n0;0\n1;1\n")
    return tmp_path / "c.csv"


def test_no_coordinate_that_is_written_may_be_thousands(tmp_path):
    """1.125 and 1.250 alone are refused behind semicolons: with a zero more they are surely what they are."""
    for mark in ",.":
        (tmp_path / "a.csv").write_text(
            f"name;x;y\na;1{mark}1250;2{mark}2500\nb;3;7{mark}125\nc;5{mark}0625;8\n"
        )
        problem = load(tmp_path / "a.csv")
        fewer = warptsp.solve(problem, kicks=1).remove([2])
        fewer.save(tmp_path / "b.csv")
        found = load(tmp_path / "b.csv")
        np.testing.assert_array_equal(found.coordinates, fewer.problem.coordinates[fewer.tour])


def test_what_an_encoding_does_not_hold_goes_to_utf_8(tmp_path):
    (tmp_path / "a.csv").write_bytes("name;x;y\nLöwe;0;0\nBär;1;1\n".encode("cp1252"))
    problem = load(tmp_path / "a.csv")
    more = warptsp.solve(problem).insert([[5, 5]], labels=["Łódź"])
    more.save(tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_bytes().decode("utf-8-sig").count("Łódź") == 1
    (tmp_path / "c.csv").write_bytes("name;x;y\nŁódź;0;0\nPoznań;1;1\nKraków;1;0\n".encode("cp1250"))
    polish = load(tmp_path / "c.csv", encoding="cp1250")
    write_tour(tmp_path / "d.csv", [2, 0, 1], polish)
    assert "Kraków" in (tmp_path / "d.csv").read_bytes().decode("cp1250")
    assert read_tour(tmp_path / "d.csv", polish).tolist() == [2, 0, 1]
    plain = Problem(polish.metric, polish.coordinates, labels=polish.labels)
    write_tour(tmp_path / "d.csv", [2, 1, 0], plain)
    assert read_tour(tmp_path / "d.csv", polish).tolist() == [2, 1, 0]  # in UTF-8


# Workbooks


@pytest.fixture
def openpyxl():
    return pytest.importorskip("openpyxl", reason="an extra reads Excel: pip install 'warptsp[excel]'")


def cells(openpyxl, path):
    return list(openpyxl.load_workbook(path).active.iter_rows())


def test_a_workbook_has_texts_numbers_and_times(tmp_path, openpyxl):
    (tmp_path / "kunden.csv").write_bytes(places("cp1252", extra="PLZ").replace(b";12,5;", b";01067;"))
    problem = load(tmp_path / "kunden.csv")
    path = written(tmp_path, "route.xlsx", problem, speed=50, stop_time=300, depart="22:30")
    found = load(path)
    assert found.style.columns[:2] == (("id", "id"), ("Kunde", "name"))
    assert [row[2].value for row in cells(openpyxl, path)[1:]] == [NAMES[city] for city in ORDER]
    assert all(row[2].data_type == "s" for row in cells(openpyxl, path))  # none is a formula
    first, *rows = cells(openpyxl, path)
    by = {title.value: [row[at] for row in rows] for at, title in enumerate(first)}
    assert by["PLZ"][ORDER.index(1)].value == "01067"
    assert by["PLZ"][ORDER.index(3)].value == "37,5"  # all of a column are numbers, or none
    assert by["arrival"][0].value == datetime.timedelta(hours=22, minutes=30)
    assert {cell.number_format for cell in by["arrival"]} == {"[hh]:mm"}
    schedule = Schedule.of(problem, np.array(ORDER, dtype=np.int32), Timing(50, 300, "22:30"))
    for cell, seconds in zip(by["time_from_start"], schedule.seconds, strict=False):
        assert cell.value.total_seconds() == round(seconds)
    np.testing.assert_array_equal(found.coordinates, problem.coordinates[ORDER])


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["12", "-3.5", "", "n/a"], [12, -3.5, None, "n/a"]),
        (["01067", "10115", "", "4"], ["01067", "10115", None, "4"]),
        (["4929000000000000", "7", "0", "1"], ["4929000000000000", "7", "0", "1"]),
        (["-0", "1e5", "1.50", "8"], ["-0", "1e5", "1.50", 8]),
    ],
)
def test_a_column_with_codes_holds_no_numbers(tmp_path, openpyxl, given, kept):
    problem = Problem.from_points([[0, 0], [1, 0], [1, 1], [0, 1]], extra={"given": given})
    write_tour(tmp_path / "a.xlsx", [0, 1, 2, 3], problem)
    first, *rows = cells(openpyxl, tmp_path / "a.xlsx")
    at = [cell.value for cell in first].index("given")
    assert [row[at].value for row in rows] == kept


@pytest.mark.parametrize("labels", [
    ["a\nb", " c ", "_x0041_", "a\x01b", "\n'=", "#REF!", "1e5", "日本", "x" * 32_767],
    ["=A1", "'=A1", "{=A1}", "TRUE", "0012", "2026-01-01", "https://a.b", "\ta", "=" * 300],
])  # fmt: skip
def test_every_name_comes_back_from_a_workbook(tmp_path, openpyxl, labels):
    problem = Problem.from_points(np.arange(18).reshape(9, 2), labels=labels, extra={"note": labels[::-1]})
    tour = [8, 1, 2, 7, 3, 4, 5, 6, 0]
    for name in ("a.xlsx", "a.csv", "a.tsv"):
        write_tour(tmp_path / name, tour, problem, csv_safe=True)
        assert read_tour(tmp_path / name, problem).tolist() == tour
    found = load(tmp_path / "a.xlsx")
    assert list(found.labels) == [" ".join(labels[city].split()) for city in tour]
    assert all(cell.data_type != "f" for row in cells(openpyxl, tmp_path / "a.xlsx") for cell in row)


def test_a_workbook_is_written_whole_or_not_at_all(tmp_path, openpyxl, monkeypatch):
    path = tmp_path / "a.xlsx"
    path.write_bytes(b"old")
    problem = Problem.from_points([[0, 0], [1, 1]])

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OutputError, match="No space left"):
        write_tour(path, [0, 1], problem)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.xlsx"]


def test_what_no_sheet_holds_is_refused_before_the_search(tmp_path, openpyxl, capsys, monkeypatch):
    (tmp_path / "a.csv").write_text(f"name,x,y\n{'n' * 32_768},0,0\nb,1,1\n")
    assert call("solve", tmp_path / "a.csv", "-o", tmp_path / "a.xlsx", "-q") == 2
    assert "a text of 32768 characters, and a cell has at most 32767" in capsys.readouterr().err
    many = Problem.from_points(np.zeros((1_048_576, 2)))
    with pytest.raises(InvalidOption, match="1048576 cities, and a sheet has 1048575 below its first row"):
        write_tour(tmp_path / "a.xlsx", range(many.n), many)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "b.csv").write_text("x,y\n0,0\n1,1\n")
    assert call("solve", tmp_path / "b.csv", "-o", tmp_path / "b.xlsx", "-q") != 0
    captured = capsys.readouterr()
    assert "workbooks need openpyxl, which is not installed: pip install 'warptsp[excel]'" in captured.err
    assert captured.out == ""
    assert not (tmp_path / "b.xlsx").exists()


def test_from_a_sheet_to_a_sheet_with_arrivals(tmp_path, openpyxl, capsys):
    """What README says: sixty stops, one line."""
    book = openpyxl.Workbook()
    book.active.append(["Kunde", "Breite", "Länge", "Tel.", "Seit"])
    rng = np.random.default_rng(3)
    for at in range(60):
        book.active.append([f"Kunde {at}", *np.round(rng.random(2) / 2 + (52, 13), 5).tolist(), f"030{at}",
                            datetime.date(2026, 4, 3)])  # fmt: skip
    book.save(tmp_path / "stops.xlsx")
    files = ["-o", tmp_path / "route.xlsx", "-o", tmp_path / "route.gpx", "--report", tmp_path / "route.html"]
    assert call("solve", tmp_path / "stops.xlsx", *files, "--speed", "30", "--stop-time", "5m",
                "--depart", "08:00", "--time-limit", "1") == 0  # fmt: skip
    shown = capsys.readouterr().out
    assert "arrivals     08:00  Kunde 0\n" in shown
    assert "with stops of 5 min" in shown
    rows = cells(openpyxl, tmp_path / "route.xlsx")
    titles = [cell.value for cell in rows[0]]
    assert titles[:8] == ["position", "id", "Kunde", "Breite", "Länge", "Tel.", "Seit", "arrival"]
    assert [cell.value for cell in rows[1][5:7]] == ["0300", "2026-04-03"]
    problem = load(tmp_path / "stops.xlsx")
    tour = read_tour(tmp_path / "route.xlsx", problem)
    assert read_tour(tmp_path / "route.gpx", problem).tolist() == tour.tolist()
    same(load(tmp_path / "route.xlsx"), problem, tour)
    # A CSV file for Excel, too.
    write_tour(tmp_path / "route.csv", tour, problem)
    assert (tmp_path / "route.csv").read_bytes().startswith(b"\xef\xbb\xbfposition,id,Kunde")
    # New places go into it.
    (tmp_path / "new.csv").write_text("Kunde,Breite,Länge\nNeu,52.1,13.1\n", encoding="utf-8")
    assert call("insert", tmp_path / "route.xlsx", tmp_path / "new.csv", "-o", tmp_path / "r2.xlsx") == 0
    assert len(cells(openpyxl, tmp_path / "r2.xlsx")) == 62


def test_columns_that_could_be_those_of_a_tour(tmp_path, openpyxl):
    """Each title stands once, and what a shop calls Nr is no second id."""
    table = "position,position,position (3),Nr,x,y\na,b,c,A-1,1,2\nd,e,f,A-2,3,4\ng,h,i,A-3,9,8\n"
    (tmp_path / "a.csv").write_text(table)
    problem = load(tmp_path / "a.csv")
    for name in ("b.csv", "b.xlsx"):
        write_tour(tmp_path / name, [2, 0, 1], problem)
        assert read_tour(tmp_path / name, problem).tolist() == [2, 0, 1]
        found = load(tmp_path / name)
        assert list(found.labels) == ["A-3", "A-1", "A-2"]
        assert found.ids_of(range(3)).tolist() == [3, 1, 2]
        first = {title: column[0] for title, column in found.extra.items()}
        assert first == {"position (4)": "g", "position (2)": "h", "position (3)": "i"}


def test_what_names_places_does_so_in_any_order_and_times_do_not(tmp_path, openpyxl):
    (tmp_path / "a.csv").write_text("x,y,Empfänger\n1,2,Ott\n3,4,1860\n9,8,Ely\n", encoding="utf-8")
    problem = load(tmp_path / "a.csv")
    write_tour(tmp_path / "b.csv", [1, 2, 0], problem)
    same(load(tmp_path / "b.csv"), problem, [1, 2, 0])
    problem = Problem.from_points([[1.0, 2.0], [3.0, 4.0], [9.0, 8.0]], "haversine")
    write_tour(tmp_path / "b.xlsx", [1, 2, 0], problem, speed=30)
    found = load(tmp_path / "b.xlsx")
    assert (found.labels, found.extra) == (None, None)


@pytest.mark.parametrize("title", ["id", "position", "arrival"])
def test_names_below_a_title_of_our_own(tmp_path, title):
    (tmp_path / "a.csv").write_text(f"x,y,note,{title}\n1,2,u,A-1\n3,4,v,A-2\n9,8,w,A-3\n")
    problem = load(tmp_path / "a.csv", columns={} if title == "id" else {"name": title})
    assert list(problem.labels) == ["A-1", "A-2", "A-3"]
    write_tour(tmp_path / "b.csv", [2, 0, 1], problem)
    found = load(tmp_path / "b.csv")
    assert (list(found.labels), found.extra) == (["A-3", "A-1", "A-2"], {"note": ["w", "u", "v"]})
    assert read_tour(tmp_path / "b.csv", problem).tolist() == [2, 0, 1]


# Data frames


def test_a_frame_has_the_columns_of_the_table():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame({"Ort": list("abc"), "lat": [1.0, 2, 3], "lon": [4.0, 5, 7], "load": [7, 8, 9]})
    result = warptsp.solve(Problem.from_frame(frame, columns={"name": "Ort"}))
    found = result.to_frame(speed=60, depart="08:00")
    assert list(found.columns) == [
        "position", "id", "Ort", "lat", "lon", "load", "arrival", "distance_from_start_km", "time_from_start",
        "distance_to_next_km", "time_to_next",
    ]  # fmt: skip
    assert found.index.tolist() == result.tour.tolist()
    assert found["Ort"].tolist() == result.names
    assert found["arrival"].iloc[0] == pandas.Timedelta(hours=8)
    assert found["distance_to_next_km"].sum() == pytest.approx(result.length / 1000, abs=0.01)
    assert found["time_to_next"].sum().total_seconds() == pytest.approx(result.length / 1000 * 60, abs=1)
    slow = result.to_frame(speed=1e-6, depart=datetime.time(8, 0, 0, 500_000))
    assert slow["time_to_next"].sum().total_seconds() == pytest.approx(result.length * 3.6e6)
    assert slow["arrival"].iloc[0].total_seconds() == 28800.5
    slow = result.to_frame(speed=60, stop_time=1e300)
    assert slow["time_from_start"].isna().tolist() == [False, False, True]
    path = warptsp.solve([[0, 0], [1, 0], [5, 0]], open=True).to_frame()
    assert path["distance_to_next"].isna().tolist() == [False, False, True]


@pytest.mark.parametrize(
    "title", ["amount", "number"]
)  # which is that of the places, as far as they have one
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_integers_beside_missing_ones_and_dates_stay_what_they_are(tmp_path, library, title):
    """NumPy makes floats of such integers: a customer's number 1 became 1.0, and 2**53 + 1 another one."""
    frames = pytest.importorskip(library, reason=f"{library} is not installed")
    day, number = datetime.datetime(2026, 4, 3), [2**53 + 1, None, 7]
    columns = {"x": [0, 3, 3], "y": [0, 0, 4], "day": [day, day.replace(hour=9), None], title: number}
    if library == "pandas":
        columns[title] = frames.array(number, dtype="Int64")
    frame = frames.table(columns) if library == "pyarrow" else frames.DataFrame(columns)
    warptsp.solve(frame).save(tmp_path / "a.csv")
    rows = [line.split(",")[4:6] for line in (tmp_path / "a.csv").read_text().splitlines()]
    assert sorted(rows[1:]) == [["", "7"], ["2026-04-03", str(2**53 + 1)], ["2026-04-03 09:00:00", ""]]


def test_maps_of_projected_places(tmp_path):
    geopandas = pytest.importorskip("geopandas", reason="an extra draws maps: pip install 'warptsp[geo]'")
    x, y = [390_000.0, 392_000.0, 391_000.0, 388_000.0], [5_820_000.0, 5_819_000.0, 5_815_000.0, 5_817_000.0]
    geometry = geopandas.points_from_xy(x, y)
    points = geopandas.GeoDataFrame({"name": list("abcd")}, geometry=geometry, crs=25833)
    problem = Problem.from_frame(points)
    assert (problem.unit, problem.crs) == ("m", "EPSG:25833")
    result = warptsp.solve(problem)
    assert "km" in str(result).splitlines()[0]
    stops = result.to_geodataframe(speed=30)
    assert stops.crs == "EPSG:25833"
    assert stops.geometry.x.tolist() == [x[city] for city in result.tour]
    assert stops["time_from_start"].iloc[0].total_seconds() == 0
    line = result.to_geodataframe(line=True)
    assert line.geometry.length.iloc[0] == pytest.approx(result.length) == line["length"].iloc[0]
    result.save(tmp_path / "a.geojson", speed=30)
    assert read_tour(tmp_path / "a.geojson", problem).tolist() == result.tour.tolist()
    drawn = geopandas.read_file(tmp_path / "a.geojson")
    near = drawn[drawn.geometry.geom_type == "Point"].to_crs(25833)
    np.testing.assert_allclose(near.geometry.x, [x[city] for city in result.tour], atol=0.01)
    same_globe = warptsp.solve(Problem.from_frame(points.to_crs(4326)))
    assert same_globe.to_geodataframe(line=True).crs == "EPSG:4326"
    web = Problem.from_frame(points.to_crs(3857))  # whose metres are none
    assert (web.unit, web.crs) == ("", "EPSG:3857")
    wrong = Problem.from_points([[1, 2], [3, 4]], crs="EPSG:0")
    with pytest.raises(InvalidOption, match="'EPSG:0' is no coordinate reference system"):
        warptsp.solve(wrong).save(tmp_path / "b.geojson")
    far = Problem.from_points([[1e9, 1e9], [3e9, 4e9]], crs="EPSG:25833")
    with pytest.raises(InvalidOption, match=r"GeoJSON: node 1 has no latitude and longitude in EPSG:25833"):
        warptsp.solve(far).save(tmp_path / "b.geojson")


def test_lines_across_the_antimeridian_are_cut():
    pytest.importorskip("geopandas", reason="an extra draws maps: pip install 'warptsp[geo]'")
    result = warptsp.solve([[0, 179], [1, -179], [2, 178]], metric="haversine")
    assert result.to_geodataframe(line=True).geometry.geom_type.tolist() == ["MultiLineString"]
    with pytest.raises(InvalidOption, match="a GeoDataFrame needs latitudes and longitudes"):
        warptsp.solve([[0, 0], [1, 1]]).to_geodataframe()


@pytest.mark.parametrize(
    ("module", "make", "message"),
    [
        ("pandas", lambda result: result.to_frame(), "a data frame needs pandas"),
        ("geopandas", lambda result: result.to_geodataframe(), "a GeoDataFrame needs GeoPandas"),
        ("pyproj", lambda result: result.save("a.gpx"), "coordinates in EPSG:25833 are put on maps by"),
    ],
)
def test_what_is_not_installed_is_said(monkeypatch, module, make, message):
    result = warptsp.solve(Problem.from_points([[0, 0], [1, 1], [2, 0]], crs="EPSG:25833"))
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(BackendUnavailable, match=message):
        make(result)
