"""Tables as people write them: each is read right, or refused in a line that names the cure."""

import logging
import unicodedata

import numpy as np
import pytest
from calls import call
from click.testing import CliRunner

import warptsp
from warptsp.cli import commands
from warptsp.errors import InvalidOption, InvalidProblem, ParseError
from warptsp.io import load
from warptsp.io.options import ReadOptions
from warptsp.io.table import read_table
from warptsp.problem import Metric, Problem


def read(text, **options):
    return read_table(text.encode(), "a.csv", ReadOptions(**options)).problem


def told(caplog, least=logging.INFO):
    return [record.getMessage() for record in caplog.records if record.levelno >= least]


@pytest.fixture(autouse=True)
def _notes(caplog):
    caplog.set_level(logging.INFO, "warptsp")


@pytest.mark.parametrize(
    "text",
    [
        "name;x;y\nA;980;1.250\nB;1.100;870\n",
        "980;1.250\n1.100;870\n",
        "name|x|y\nA|980|1.250\nB|1.100|870\n",
        "name\tx\ty\nA\t980\t1.250\nB\t1.100\t870\n",
        ";A;B\nA;0;1.250\nB;1.250;0\n",
    ],
)
def test_points_that_may_separate_thousands_are_asked(text):
    with pytest.raises(ParseError, match=r"'1.250' may be 1.250 or 1250: write one of them .1.2500 is"):
        read(text)


@pytest.mark.parametrize(
    "text",
    [
        "name;x;y\nA;980;1.250\nB;1.10;870\n",
        "980;1.2500\n1.100;870\n",
        "0.125;1.250\n1.100;870\n",
        "name;x;y\nA;1980.5;1.250\nB;1.100;870\n",
        "name;x;y\nA;9.125;1.250\nB;1.100;8.750\n",
        "name,x,y\nA,980,1.250\nB,1.100,870\n",
        "name;lat;lon\nA;9;1.250\nB;1.100;7\n",
    ],
)
def test_points_that_are_surely_decimal_are_read(text):
    values = read(text).coordinates
    assert 1.25 in values
    assert 1.1 in values


def test_blanks_behind_a_comma_and_line_breaks_in_quoted_names():
    found = read('id, name, lat, lon\n1, "Depot", 52.5, 13.4\n2, "Main St, 5", 52.6, 13.5\n')
    assert list(found.labels) == ["Depot", "Main St, 5"]
    rows = 'name,lat,lon\n"A\nstreet 5",52.5,13.4\n"B ""b"" , c",52.6,13.5\n"C\r\nx\ny",52.7,13.6\n'
    assert list(read(rows).labels) == ["A street 5", 'B "b" , c', "C x y"]
    behind = read('id , name ,lat,lon\n"1" , "A ""b"" ,c" ,3,1\n2 , d"e ,4,5\n')
    assert list(behind.labels) == ['A "b" ,c', 'd"e']
    with pytest.raises(ParseError, match=r"a.csv:2: .* is not a CSV line"):
        read('name,lat,lon\n"A" b,1,2\n')
    with pytest.raises(ParseError, match=r"a.csv:8: 'bad' in column lat"):
        read(f"{rows}D,bad,1\n")
    with pytest.raises(ParseError, match=r"a.csv:3: .* is not a CSV line"):
        read('name,lat,lon\n"A\n5",1,2\n"B,3,4\n'.replace("A\n5", "A"))


def test_marks_that_are_not_closed_take_no_time():
    text = "name,x,y\n" + ',"a""b\n' * 100_000
    with pytest.raises(ParseError):
        read(text)


HEADERS = {
    "Customer,Address": "Customer",
    "Stop,Address": "Stop",
    "Location,Address": "Location",
    "Client,Adresse": "Client",
    "Kunde,Adresse": "Kunde",
    "Address,Kunde": "Kunde",
    "Site,Location": "Site",
    "Place,City": "Place",
    "Ort,Kunde": "Kunde",
    "City,Address": "Address",
    "City,Customer Name": "Customer Name",
    "Country Name,City": "City",
    "Price,Shop": "Shop",
    "Point,Remark": "Point",
}


@pytest.mark.parametrize(("header", "name"), HEADERS.items())
def test_names_are_found_by_their_rank_or_are_the_first_column_of_text(header, name, caplog):
    found = read(f"{header},lat,lon\nAcme,Oak Street,52.5,13.4\nBeta,Elm Street,52.6,13.5\n")
    place = header.split(",").index(name)
    assert list(found.labels) == [["Acme", "Beta"], ["Oak Street", "Elm Street"]][place]
    assert list(found.extra) == [header.split(",")[1 - place]]
    if header not in ("Price,Shop", "Country Name,City") and name != "Customer Name":
        assert any(f"column {name!r} names the places" in line for line in told(caplog))


def test_a_column_of_kinds_is_none_of_names():
    found = read("block,x,y\nA,1,2\nA,3,4\nB,5,6\n")
    assert (found.labels, list(found.extra)) == (None, ["block"])


def test_axes_and_a_title_above_the_names_of_columns(caplog):
    assert read("Point,X Axis,Y Axis\nP1,1,2\nP2,3,4\n").coordinates.tolist() == [[1, 2], [3, 4]]
    for title in ("Customers of May,,\n,,\n", "Customers\n", "7\n\n", "Stops of Tuesday\n"):
        found = read(f"{title}name,lat,lon\nA,52.5,13.4\nB,52.6,13.5\n")
        assert (list(found.labels), found.metric) == (["A", "B"], Metric.GREAT_CIRCLE)
        assert "the columns are named in line" in told(caplog)[-1]
    read('"","",""\nname,lat,lon\nA,52.5,13.4\nB,52.6,13.5\n')
    assert told(caplog)[-1].endswith("named in line 2; an empty row above is left out")
    assert "WARNING" not in caplog.text
    read("Depot;0;0\nname;x;y;demand\nA;5;6;1\nB;7;8;2\n")
    assert "WARNING" in caplog.text  # of a place that is left out
    found = read('Depot,1,2\n"x,y",3,4\nEnd,5,6\n')  # a place, and no names of columns
    assert list(found.labels) == ["Depot", "x,y", "End"]
    found = read("Kunden\nKunde;Nord;Ost\nA;52,5;13,4\n", columns={"lat": "Nord", "lon": "Ost"})
    assert found.coordinates.tolist() == [[52.5, 13.4]]


def test_rows_without_coordinates_are_refused_or_left_out(caplog, tmp_path):
    text = "name,lat,lon\nA,52.5,13.4\nB,,\nC,n/a,\nD,52.6,13.5\n"
    with pytest.raises(ParseError, match=r"a.csv:3: nothing in column lat: .*; skip_incomplete=True leaves"):
        read(text)
    found = read(text, skip_incomplete=True)
    assert list(found.labels) == ["A", "D"]
    assert told(caplog)[-1] == "a.csv: 2 rows without coordinates are left out: lines 3, 4 ('B', 'C')"
    both = "name\tat\nA\t52.5, 13.4\nB\t\nD\t52.6, 13.5\n"
    assert list(read(both, skip_incomplete=True).labels) == ["A", "D"]
    with pytest.raises(ParseError, match=r"a.csv:5: latitude 152.6"):
        read(text.replace("D,52.6", "D,152.6"), skip_incomplete=True)
    (tmp_path / "a.tsp").write_text("DIMENSION: 1\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 2 3\n")
    with pytest.raises(InvalidOption, match=r"only a table has rows, and .* is read as tsplib"):
        load(tmp_path / "a.tsp", skip_incomplete=True)
    (tmp_path / "a.csv").write_text(text)
    done = CliRunner().invoke(commands, ["info", str(tmp_path / "a.csv"), "--skip-incomplete"])
    assert "cities               2" in done.output


def test_rows_of_parquet_without_coordinates(tmp_path, caplog):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"name": ["A", "B", "C"], "x": [1, None, 3.0], "y": [4.0, 5, 6], "n": [7, 8, 9]})
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ParseError, match=r"row 1 .counted from 0.: nothing in column x.*skip_incomplete"):
        load(tmp_path / "a.parquet")
    found = load(tmp_path / "a.parquet", skip_incomplete=True)
    assert (list(found.labels), list(found.extra["n"])) == (["A", "C"], [7, 9])
    with pytest.raises(InvalidProblem, match=r"nothing in column x.*dropna"):
        Problem.from_frame(frame)


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [
        ("K;O\nA;52.5, 13.4\n", {"lat": "O", "lon": "O", "name": "K"}, "name 'K', lat 'O', lon 'O'"),
        ("A;52.5, 13.4;7\n", {"lat": 2, "lon": 2, "name": 1}, "name 1, lat 2, lon 2; not used: 3"),
        ("A;52.5N;13.4E\n", {"lat": 2, "lon": 3, "name": 1}, "name 1, lat 2, lon 3"),
    ],
)
def test_columns_that_have_been_split_are_called_as_in_the_file(text, columns, shown):
    found = read_table(text.encode(), "a.csv").columns
    assert found.as_options() == columns
    assert shown in str(found)


# Matrices


SQUARE = np.array([[0, 7, 2, 9], [7, 0, 4, 3], [2, 4, 0, 8], [9, 3, 8, 0]])
FORMS = {
    "blank diagonal": ",A,B,C,D\nA,,7,2,9\nB,7,,4,3\nC,2,4,,8\nD,9,3,8,\n",
    "dashes": ",A,B,C,D\nA,-,7,2,9\nB,7,-,4,3\nC,2,4,-,8\nD,9,3,8,-\n",
    "crosses": ",A,B,C,D\nA,x,7,2,9\nB,7,x,4,3\nC,2,4,x,8\nD,9,3,8,x\n",
    "lower, blanks": ",A,B,C,D\nA,0,,,\nB,7,0,,\nC,2,4,0,\nD,9,3,8,0\n",
    "lower, ragged": ",A,B,C,D\nA,0\nB,7,0\nC,2,4,0\nD,9,3,8,0\n",
    "lower, no diagonal": ",A,B,C,D\nA\nB,7\nC,2,4\nD,9,3,8\n",
    "upper, blanks": ",A,B,C,D\nA,0,7,2,9\nB,,0,4,3\nC,,,0,8\nD,,,,0\n",
    "upper, dashes": "from;A;B;C;D\nA;-;7;2;9\nB;-;-;4;3\nC;-;-;-;8\nD;-;-;-;-\n",
    "header alone": "A,B,C,D\n0,7,2,9\n7,0,4,3\n2,4,0,8\n9,3,8,0\n",
    "names beside": "A,0,7,2,9\nB,7,0,4,3\nC,2,4,0,8\nD,9,3,8,0\n",
    "no corner": "A,B,C,D\nA,0,7,2,9\nB,7,0,4,3\nC,2,4,0,8\nD,9,3,8,0\n",
    "names and numbers": ",A,B,C,D\n0,0,7,2,9\n1,7,0,4,3\n2,2,4,0,8\n3,9,3,8,0\n",
    "without index": "0,1,2,3\n0,7,2,9\n7,0,4,3\n2,4,0,8\n9,3,8,0\n",
    "bare": "0,7,2,9\n7,0,4,3\n2,4,0,8\n9,3,8,0\n",
    "bare, dashes": "-,7,2,9\n7,-,4,3\n2,4,-,8\n9,3,8,-\n",
    "bare, lower": "0\n7,0\n2,4,0\n9,3,8,0\n",
    "bare, lower, blanks": "0 7 2 9\n0 4 3\n0 8\n0\n",
    "bare, no diagonal": "7\n2;4\n9;3;8\n",
    "bare, upper, no diagonal": "7,2,9\n4,3\n8\n",
    "bare, crosses": "x,7,2,9\n7,x,4,3\n2,4,x,8\n9,3,8,x\n",
    "bare, stars, lower": "*\n7;*\n2;4;*\n9;3;8;*\n",
    "bare, blanks, lower, dashes": ";-;-;-\n7;;-;-\n2;4;;-\n9;3;8;\n",
    "bare, blanks, upper": ",7,2,9\n,,4,3\n,,,8\n,,,\n",
    "header alone, lower, blanks": "A;B;C;D\n;;;\n7;;;\n2;4;;\n9;3;8;\n",
    "header alone, lower, ragged": "A,B,C,D\n0\n7,0\n2,4,0\n9,3,8,0\n",
    "header alone, no diagonal": "A,B,C,D\n\n7\n2,4\n9,3,8\n",
    "header alone, upper, crosses": "A B C D\nx 7 2 9\nx 4 3\nx 8\nx\n",
    "crosses, cross in the corner": "x,A,B,C,D\nA,x,7,2,9\nB,7,x,4,3\nC,2,4,x,8\nD,9,3,8,x\n",
}


def test_triangles_without_diagonal_of_many_cities_lose_none():
    lower = "\n".join(",".join(str(5 + i + j) for j in range(i + 1)) for i in range(7))
    upper = "\n".join(",".join(str(5 + i + j) for j in range(7 - i)) for i in range(7))
    for text, first in ((lower, [0, 5, 6, 7, 8, 9, 10, 11]), (upper, [0, *range(5, 12)])):
        assert read(text + "\n").given_matrix()[0].tolist() == first


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("0,27\n", [[0, 27]]),
        ("1\t0\n", [[1, 0]]),
        ("x,0,0\n-69.87,1,1\n170.6854,2,2\n", [[0, 0], [1, 1], [2, 2]]),
        ("name,x,y\nA,0,27\n", [[0, 27]]),
    ],
)
def test_few_places_are_no_triangle(text, places):
    assert read(text).coordinates.tolist() == places


def test_a_blank_diagonal_without_names_is_no_row_of_names():
    found = Problem.from_matrix([[0, 7, 2], [5, 0, 4], [1, 3, 0]], asymmetric=True)
    for mark in ("", "x", "-", "*"):
        rows = np.where(np.eye(3, dtype=bool), mark, found.given_matrix().astype(str))
        text = "\n".join(map(",".join, rows))
        np.testing.assert_array_equal(read(text, asymmetric=True).given_matrix(), found.given_matrix())


@pytest.mark.parametrize("form", FORMS)
def test_matrices_as_they_are_written(form):
    found = read(FORMS[form])
    assert found.metric is Metric.EXPLICIT
    assert found.integral
    np.testing.assert_array_equal(found.given_matrix(), SQUARE)
    names = {"without index": list("0123")}.get(form, None if form.startswith("bare") else list("ABCD"))
    assert (found.labels and list(found.labels)) == names


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (FORMS["no corner"].replace("\nB,7", "\nb,7"), "row 2 of the matrix is called 'b', and column 2 'B'"),
        (FORMS["dashes"].replace("B,7,-,4", "B,7,-,"), "nothing in row 2, column 3 of the matrix: a"),
        (FORMS["dashes"].replace("B,7,-,4", "B,7,-,-1"), "is -1.*: .* infinity stands for an arc that is"),
        (",7,2,9\n7,,4,3\n2,4,,8\n9,3,8,\n", "may be names or distances: give the diagonal zeros"),
        ("x,1,2,3\n1,x,4,3\n2,4,x,8\n3,3,8,x\n", "may be names or distances: give the diagonal zeros"),
        ("1,2\n3\n", "1 field where the first line has 2"),
    ],
)
def test_matrices_with_a_mistake(text, message):
    with pytest.raises(ParseError, match=message):
        read(text)


@pytest.mark.parametrize("form", ["dashes", "bare", "header alone"])
def test_inf_is_a_missing_arc_in_every_form(form):
    found = read(FORMS[form].replace("9", "inf"))
    assert (found.wall, found.missing_arcs([0, 3, 1, 2]).tolist()) == (found.wall, [[0, 3]])


def test_none_in_a_matrix():
    rows = np.where(np.eye(4, dtype=bool), None, SQUARE).tolist()
    assert warptsp.solve(rows).length == warptsp.solve(SQUARE).length
    assert Problem.from_matrix(rows).integral
    rows[0][3] = rows[3][0] = None
    assert Problem.from_matrix(rows).missing_arcs([0, 3, 1, 2]).tolist() == [[0, 3]]


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        ({}, "0 1 2 3"),
        ({"index": [10, 20, 30, 40]}, "10 20 30 40"),
        ({"index": [10, 20, 30, 40], "columns": [10, 20, 30, 40]}, "10 20 30 40"),
        ({"columns": list("abcd")}, "a b c d"),
        ({"index": list("abcd")}, "a b c d"),
        ({"index": range(1, 5), "columns": range(1, 5)}, "1 2 3 4"),
    ],
)
def test_square_frames_with_any_index(names, labels, tmp_path):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    for matrix in (SQUARE, SQUARE.astype(float), np.where(SQUARE == 0, np.nan, SQUARE)):
        frame = pandas.DataFrame(matrix, **names)
        frame.to_csv(tmp_path / "a.csv")
        ambiguous = labels[0] == "1" and "columns" in names and np.isnan(matrix[0, 0])
        for found in (Problem.from_frame(frame), *([] if ambiguous else [load(tmp_path / "a.csv")])):
            assert list(found.labels) == labels.split()
            np.testing.assert_array_equal(found.given_matrix(), SQUARE)


def test_a_first_row_and_column_that_may_be_distances():
    line = [["" if i == j else str(abs(i - j)) for j in range(4)] for i in range(4)]  # places 0, 1, 2, 3
    with pytest.raises(ParseError, match="first row and the first column may be names or distances"):
        read("\n".join(map(",".join, line)))


def test_rows_of_a_frame_that_are_called_otherwise_than_its_columns():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame(SQUARE, index=list("abxd"), columns=list("abcd"))
    with pytest.raises(InvalidProblem, match=r"^the data frame: row 3 of the matrix is called 'x', and"):
        Problem.from_frame(frame)


@pytest.mark.parametrize("names", ["abcd", "xyzw", [0, 1, 2, 3]])  # "xyzw" may be taken for columns of points
@pytest.mark.parametrize("asymmetric", [False, True])
def test_columns_in_another_order_than_the_rows(names, asymmetric, tmp_path):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame(SQUARE, index=list(names), columns=list(names)).iloc[:, [1, 0, 3, 2]]
    frame.to_csv(tmp_path / "a.csv")
    message = rf"row 1 of the matrix is called '{names[0]}', and column 1 '{names[1]}': rows and columns"
    with pytest.raises(InvalidProblem, match=message):
        Problem.from_frame(frame, asymmetric=asymmetric)
    with pytest.raises(ParseError, match=message):
        load(tmp_path / "a.csv", asymmetric=asymmetric)


# Encodings and sheets


NAMES = ["Caf\u00e9 \u201cZ\u00fcrich\u201d", "Stra\u00dfe \u2013 5 \u20ac", "Na\u00efve m\u00b2"]
WESTERN = "name;x;y\n" + "".join(f"{name};1;2\n" for name in NAMES)
OTHERS = {
    "cp1250": "\u0141\u00f3d\u017a Bia\u0142ystok",
    "cp1251": "\u041c\u043e\u0441\u043a\u0432\u0430",
    "shift_jis": "\u6771\u4eac\u99c5",
    "gbk": "\u5317\u4eac\u5e02",
    "iso8859_7": "\u0391\u03b8\u03ae\u03bd\u03b1",
}


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
)
def test_encodings_that_are_known_by_what_they_look_like(encoding, tmp_path, caplog):
    path = tmp_path / "a.csv"
    path.write_bytes(WESTERN.encode(encoding))
    assert list(load(path).labels) == NAMES
    lines = [line for line in told(caplog) if "the text is" in line]
    said = {"cp1252": "not UTF-8 and read as Windows-1252 ('Caf\u00e9')", "utf-16-le": "read as UTF-16"}
    said["utf-16-be"] = said["utf-16-le"]
    assert len(lines) == (encoding in said)
    assert all(said[encoding] in line for line in lines)
    # A byte order mark counts more.
    given = "cp1251" if encoding in ("utf-8-sig", "utf-16", "utf-32") else encoding
    assert list(load(path, encoding=given).labels) == NAMES


@pytest.mark.parametrize("encoding", OTHERS)
def test_other_encodings_are_asked_and_said(encoding, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(f"name;x;y\n{OTHERS[encoding]};1;2\n".encode(encoding))
    with pytest.raises(ParseError, match=r"a.csv:2: is neither UTF-8 nor Windows-1252.*encoding="):
        load(path)
    assert list(load(path, encoding=encoding).labels) == [OTHERS[encoding]]
    done = CliRunner().invoke(commands, ["info", str(path), "--encoding", encoding])
    assert "cities               1" in done.output


def test_encodings_that_do_not_fit(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(WESTERN.encode("cp1252"))
    with pytest.raises(ParseError, match="is not text in utf-8, from byte"):
        load(path, encoding="utf-8")
    for name in ("rot13", "hex", "klingon", 7):
        with pytest.raises(InvalidOption, match=f"encoding {name!r}: there is no such encoding of text"):
            load(path, encoding=name)
    (tmp_path / "a.gpx").write_text("<gpx/>")
    np.save(tmp_path / "a.npy", SQUARE)
    with pytest.raises(InvalidOption, match=r"only tables and JSON need one, and .* is read as npy"):
        load(tmp_path / "a.npy", encoding="utf-8")


def test_cells_of_numbers_separate_no_thousands_and_texts_may(tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    for y, price, refused in ((1.125, 7, False), ("1.125", 7, True), ("1.125", 0.5, True)):
        book = openpyxl.Workbook()
        for row in (("name", "x", "y", "price"), ("A", 980, y, price), ("B", 5, 870, 3)):
            book.active.append(row)
        book.save(tmp_path / "a.xlsx")
        if refused:
            with pytest.raises(ParseError, match=r"'1.125' may be 1.125 or 1125"):
                load(tmp_path / "a.xlsx")
        else:
            assert load(tmp_path / "a.xlsx").coordinates.tolist() == [[980, 1.125], [5, 870]]


def test_sheets_by_name_and_number(tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    book = openpyxl.Workbook()
    for number, title in enumerate(("Depots", "1", "Kunden")):
        sheet = book.active if number == 0 else book.create_sheet()
        sheet.title = title
        for row in (("name", "x", "y"), (title, number, 1)):
            sheet.append(row)
    book.save(tmp_path / "a.xlsx")
    for name, sheets in (("Depots", (None, 1, np.int64(1))), ("1", ("1",)), ("Kunden", ("kunden", 3, "3"))):
        for sheet in sheets:
            assert list(load(tmp_path / "a.xlsx", sheet=sheet).labels) == [name]
    with pytest.raises(InvalidOption, match="sheet: 'x': there is no such sheet; the sheets are 'Depots',"):
        load(tmp_path / "a.xlsx", sheet="x")
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(InvalidOption, match=r"sheet: only a workbook has sheets, and .* is read as csv"):
        load(tmp_path / "a.csv", sheet=1)
    with pytest.raises(InvalidOption, match="sheet: True: the name or number"):
        load(tmp_path / "a.csv", sheet=True)


@pytest.mark.parametrize("name", ["a.txt", "a.tsp", "a.csv"])
@pytest.mark.parametrize(
    "text",
    [
        "3\n1.5 2\n3 4\n5 6\n",
        "3\n1 1.5 2\n2 3 4\n3 5 6\n",
        "3\n\n1,1.5,2\n2,3,4\n3,5,6\n",
        "1.5 2\n3 4\n5 6\n",
    ],
)
def test_a_count_above_the_coordinates(text, name, tmp_path):
    (tmp_path / name).write_text(text)
    assert load(tmp_path / name).coordinates.tolist() == [[1.5, 2], [3, 4], [5, 6]]


def test_a_count_above_a_matrix_and_what_is_none():
    for rows in ("0 5 7\n5 0 9\n7 9 0\n", "0\n5 0\n7 9 0\n"):
        assert read(f"3\n{rows}").matrix.tolist() == [[0, 5, 7], [5, 0, 9], [7, 9, 0]]
    with pytest.raises(ParseError, match=r"a.csv:1: the first line says 4, and 3 rows follow"):
        read("4\n1 2\n3 4\n5 6\n")
    with pytest.raises(ParseError, match="without a header line"):
        read(",3\n1,2\n3,4\n5,6\n")  # a place without x


def test_zones_of_a_map(caplog):
    rows = "name,easting,northing,zone\nA,391000,5820000,{}\nB,448000,5411000,{}\nC,290000,4640000,33u\n"
    read(rows.format("33U", "33U"))
    read(rows.format("Nord", "Süd"))
    assert not caplog.text
    read(rows.format("33U", "31T"))
    assert "places are in several zones of a map, 31T and 33U, and" in caplog.text


@pytest.mark.parametrize(
    ("title", "west", "east"), [("E/W", "W", "E"), ("lon_ref", "w", ""), ("side", "West", "east")]
)
def test_directions_in_a_column_of_their_own_are_signs(title, west, east):
    rows = f"name,lat,N/S,lon,{title}\nLondon,51.5,N,{{}}0.1,{west}\nReading,51.4,N,1,{east}\n"
    with pytest.raises(ParseError, match=r"another column says 'W(EST)?' beside degrees without"):
        read(rows.format(""))
    assert read(rows.format("-")).coordinates[0].tolist() == [51.5, -0.1]
    assert read(rows.format(""), metric="haversine").coordinates[0].tolist() == [51.5, 0.1]
    read(f"name,lat,lon,{title}\nLondon,51.5,0.1,{east}\nReading,51.4,1,N\nHove,50.8,0.2,W\n")


@pytest.mark.parametrize("title", ["Longitude (W)", "lon [°W]", "lon_west"])
def test_a_direction_in_a_title_is_a_sign(title):
    rows = f"name,lat (N),{title}\nNew York,40.7,{{}}74\nBoston,42.4,{{}}71.1\n"
    columns = {"lat": "lat (N)", "lon": title}
    with pytest.raises(ParseError, match=r"the title of a column says 'W(EST)?' beside degrees without"):
        read(rows.format("", ""), columns=columns)
    assert read(rows.format("-", "-"), columns=columns).coordinates[0].tolist() == [40.7, -74]


@pytest.mark.parametrize(
    "titles", ["Lat (deg),Lat (min),Lon (deg),Lon (min)", "lat,LatMin,lon,LonMin", "lat,',lon,'"]
)
def test_minutes_in_columns_of_their_own_are_not_left_out(titles):
    rows = f"name,{titles}\nBonn,50,44,7,5.9\nKiel,54,19.2,10,8\n"
    with pytest.raises(ParseError, match="may be minutes beside whole degrees"):
        read(rows)
    assert read(rows, metric="haversine").coordinates[0].tolist() == [50, 7]
    for other in (rows.replace("44", "94"), rows.replace(",54,", ",54.5,")):  # no minutes
        read(other)


def test_sizes_beside_places():
    rows = "name;x;y;Länge;Breite\nA;100;200;40;30\nB;150;250;60;40\n"
    with pytest.raises(ParseError, match="'Breite' and 'Länge' may be sizes beside 'x' and 'y': give"):
        read(rows)
    assert read(rows, columns={"x": "x", "y": "y"}).coordinates[0].tolist() == [100, 200]
    assert read(rows, columns={"lat": "Breite", "lon": "Länge"}).coordinates[0].tolist() == [30, 40]
    assert read(rows.replace("x;y", "Art;Zahl")).coordinates[0].tolist() == [30, 40]


def test_a_minus_of_unicode():
    assert read("name,x,y\nA,1.5,\u22122\nB,\u22122.5,179\n").coordinates.tolist() == [[1.5, -2], [-2.5, 179]]
    assert read("\u22121 2\n3 \u22124.5\n").coordinates.tolist() == [[-1, 2], [3, -4.5]]
    assert read("name;pos\nA;\u22121.5, 3.25\nB;2.5, 4.75\n").coordinates[0].tolist() == [-1.5, 3.25]
    with pytest.raises(ParseError, match=r"may be .1.250 or .1250: write one of them"):
        read("name;x;y\nA;\u22121.250;870\nB;2.500;4\n")
    assert read(",A,B\nA,\u2212,5\nB,5,\u2212\n").matrix.tolist() == [[0, 5], [5, 0]]


@pytest.mark.parametrize(
    "text", ["1'250;3\n870;4\n", "A;1 250;3\nB;870;4\n", "1,250.5;3\n870;4\n", "x;y\n1'250;3\n870;4\n"]
)
def test_marks_between_thousands_are_told(text):
    with pytest.raises(ParseError, match=r".1.250(.5)?..*: a number .* \(without marks between thousands\)"):
        read(text)


@pytest.mark.parametrize("text", ["x;y\n7.768;15.338\n12.148;23.514\n", "x,y\n504,1.797\n1.386,51\n"])
def test_numbers_that_have_decimals_by_rule_are_told(text, caplog):
    assert read(text).n == 2
    assert "have decimals, not thousands" in caplog.text


def test_a_blank_half_with_a_diagonal_is_no_matrix():
    with pytest.raises(ParseError):
        read("1,2,3,4\n,739,706,317\n,,738,50\n,,,416\n,,,\n")  # names and a triangle without diagonal


@pytest.mark.parametrize(
    "text", ["1\n2,739\n3,706,738\n", "0,838,618\n1,611\n2\n", "1,,,,\n2,7,,,\n3,4,5,,\n4,5,6,8,\n"]
)
def test_a_triangle_with_counted_names_is_asked(text):
    with pytest.raises(ParseError, match="the first column may count the cities or hold distances: write"):
        read(text)


def test_a_triangle_with_names_and_diagonal_loses_none(caplog):
    assert read("A,0,,\nB,7,0,\nC,4,5,0\n").matrix.tolist() == [[0, 7, 4], [7, 0, 5], [4, 5, 0]]
    with pytest.raises(ParseError):
        read("10115,0,,\n10152,7,0,\n10189,4,5,0\n")
    assert read("5\n7 9\n1 2 3\n").n == 4
    assert "the rows are taken for a triangle of distances of 4 cities" in caplog.text


def test_a_gap_in_a_matrix_without_names():
    rows = ["0,1,2,3", "1,0,4,{}", "2,4,0,5", "3,{},5,0"]
    assert read("\n".join(rows).format("\u221e", "inf")).matrix[1, 3] > 20  # more than any tour
    for gap in ("", "NA", "-"):
        with pytest.raises(ParseError, match="in row 2, column 4 of the matrix: a distance is needed, inf"):
            read("\n".join(rows).format(gap, gap))


@pytest.mark.parametrize(
    "titles", ["X_mm,Y_mm", "PosX,PosY", "Mid X,Mid Y", "Ref-X,Ref-Y", "X Position,Y Position", "UTM E,UTM N"]
)
def test_titles_of_axes(titles):
    assert read(f"Firma,Adresse,{titles}\nA,B,1,2\n").coordinates.tolist() == [[1, 2]]


def test_errors_of_formulas_are_missing_and_null_island_is_told(caplog):
    text = "name,lat,lon\nA,52.5,13.5\nB,#N/A,#N/A\nC,0,0\n"
    assert read(text, skip_incomplete=True).n == 2
    assert "1 place lies at latitude 0, longitude 0, as where none is known" in caplog.text


def test_iso_2022_jp_is_asked(tmp_path):
    (tmp_path / "a.csv").write_bytes("name,x,y\n\u6771\u4eac,1,2\n".encode("iso2022_jp"))
    with pytest.raises(ParseError, match=r"is text in ISO-2022-JP: .*iso2022_jp"):
        load(tmp_path / "a.csv")
    assert list(load(tmp_path / "a.csv", encoding="iso2022_jp").labels) == ["\u6771\u4eac"]


def test_names_with_accents_taken_apart_are_found(tmp_path, monkeypatch, capsys):
    """As macOS writes them: 'Köln' was no such city (did you mean 'Köln'?), and two groups beside 'Köln'."""
    monkeypatch.chdir(tmp_path)
    text = "Name,Breite,Länge,Größe\nKöln,50.9,7,schön\nMünchen,48.1,11.6,klein\nUlm,48.4,10,schön\n"
    apart = unicodedata.normalize("NFD", text)
    assert apart != text
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    (tmp_path / "b.csv").write_text(apart, encoding="utf-8")
    named = ["--lat", "Breite", "--lon", "länge", "--name", "Name"]
    assert call("solve", "b.csv", *named, "--open", "--from", "köln", "--to", "Ulm", "-o", "t.csv", "-q") == 0
    assert call("check", "a.csv", "t.csv") == 0
    assert call("insert", "b.csv", "--remove", "MÜNCHEN", "-o", "u.csv") == 0
    assert call("choose", "b.csv", "--groups", "Größe", "--kicks", "1") == 0
    assert capsys.readouterr().err == ""
    both = text + apart.split("\n", 1)[1]
    (tmp_path / "c.csv").write_text(both, encoding="utf-8")
    assert call("choose", "c.csv", "--groups", "größe", "--kicks", "1") == 0
    assert "count as two: write them alike" in capsys.readouterr().err


@pytest.mark.parametrize("data", [b"%PDF-1.4\n%\xc7\xec\x8f\xa2\n", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"])
def test_a_pdf_or_a_picture_is_no_text_of_another_encoding(tmp_path, data):
    (tmp_path / "a.csv").write_bytes(data)
    with pytest.raises(ParseError, match=r"is a (PDF|picture), which holds no cities"):
        load(tmp_path / "a.csv")
