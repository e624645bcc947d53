"""Workbooks of Excel and Parquet files, sound and hostile ones."""

import contextlib
import logging
import os
import re
import sys
import zipfile

import numpy as np
import pytest

import warptsp
from warptsp.errors import BackendUnavailable, OutputError, ParseError
from warptsp.io import load, workbook
from warptsp.io.instances import read_instance
from warptsp.io.options import ReadOptions

PLACES = [("Berlin", 52.52, 13.405), ("Lisbon", 38.7225, -9.1375), ("Rome", 41.9, 12.5)]


@pytest.fixture(scope="module")
def openpyxl():
    return pytest.importorskip("openpyxl")


@pytest.fixture(scope="module")
def pyarrow():
    pytest.importorskip("pyarrow.parquet")
    return pytest.importorskip("pyarrow")


def saved(openpyxl, path, *sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets:
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_a_sheet_is_read_as_a_table(openpyxl, tmp_path):
    path = saved(openpyxl, tmp_path / "stops.xlsx", ("Orte", [("Ort", "Breite", "Länge"), *PLACES]))
    problem, columns = read_instance(path, None, ReadOptions())
    assert (problem.metric.name, problem.name) == ("GREAT_CIRCLE", "stops")
    assert list(problem.labels) == ["Berlin", "Lisbon", "Rome"]
    assert problem.coordinates.tolist() == [list(place[1:]) for place in PLACES]
    assert columns.as_options() == {"lat": "Breite", "lon": "Länge", "name": "Ort"}
    assert load(path, columns={"lat": 3, "lon": "Breite"}).coordinates[0].tolist() == [13.405, 52.52]
    assert warptsp.solve(path).length == warptsp.solve(problem).length


def test_zeros_that_a_format_puts_in_front_are_kept(openpyxl, tmp_path):
    rows = [(1067, 1, 2.5), (80331, 3, 4.5), ("A 7", 5, 6.5), (None, 7, 8.5), (-3, 9, 1.5)]
    path = saved(openpyxl, tmp_path / "a.xlsx", ("a", [("PLZ", "x", "y"), *rows]))
    book = openpyxl.load_workbook(path)
    for cell in [cell for row in book.active["A2:C6"] for cell in row]:
        cell.number_format = "00000"
    book.save(path)
    problem = load(path, columns={"name": "PLZ"})
    assert list(problem.labels) == ["01067", "80331", "A 7", "", "-3"]
    np.testing.assert_array_equal(problem.coordinates, [row[1:] for row in rows])


def test_empty_sheets_rows_and_columns(openpyxl, tmp_path, caplog):
    places = [(None, "a", "52,5 13,4"), (), (None, "b", "48,9 2,4")]
    rows = [(None, None), (None, "name", "where", None), *places]
    path = saved(openpyxl, tmp_path / "a.xlsx", ("title", []), ("places", rows), ("more", [(1, 2)]))
    with caplog.at_level(logging.INFO):
        problem = load(path)
    assert problem.coordinates.tolist() == [[52.5, 13.4], [48.9, 2.4]]
    told = "the sheet 'places' is read, the others are not: 'more'; sheet= names one of them"
    assert caplog.messages[:2] == [f"{path}: {words}" for words in (told, "1 blank row is left out: line 4")]


def test_what_a_reader_of_the_sheet_sees_otherwise_is_told(openpyxl, tmp_path, caplog):
    book = openpyxl.Workbook()
    for row in [("name", "x", "y"), ("A", 1, 2), ("B", 3, 4), ("=B1", 5, 6)]:
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    assert load(tmp_path / "a.xlsx").labels == ["A", "B", ""]
    assert [
        record.message.split(": ", 1)[1] for record in caplog.records if record.levelname == "WARNING"
    ] == ["1 formula has no value, as if nothing stood there: open the file in Excel and save it"]
    book.active.row_dimensions[3].hidden = True
    book.active.row_dimensions[9].hidden = True  # an empty one
    book.save(tmp_path / "a.xlsx")
    assert load(tmp_path / "a.xlsx").n == 3
    assert "1 row that is hidden or filtered out is read like the others" in caplog.text


def test_numbers_without_names_and_a_matrix(openpyxl, tmp_path):
    path = saved(openpyxl, tmp_path / "a.xlsx", ("s", [(3 * i, i * i) for i in range(4)]))
    assert load(path).coordinates.tolist() == [[3 * i, i * i] for i in range(4)]
    named = [("", "A", "B", "C"), ("A", 0, 1, 2), ("B", 1, 0, 3), ("C", 2, 3, 0)]
    path = saved(openpyxl, tmp_path / "b.xlsx", ("s", named))
    assert list(load(path).labels) == ["A", "B", "C"]
    assert load(path).matrix.tolist() == [[0, 1, 2], [1, 0, 3], [2, 3, 0]]


def test_a_fault_says_in_which_row(openpyxl, tmp_path):
    path = saved(openpyxl, tmp_path / "a.xlsx", ("s", [("name", "x", "y"), ("a", 1, 2), ("b", "far", 4)]))
    with pytest.raises(ParseError, match="'far' in column x: a number is needed") as caught:
        load(path)
    assert caught.value.line == 3
    with pytest.raises(ParseError, match="no sheet with anything in it"):
        load(saved(openpyxl, tmp_path / "b.xlsx", ("s", [])))


def with_sheet(path, change):
    """The same workbook with the XML of its sheet as `change` makes it."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    sheet = members["xl/worksheets/sheet1.xml"]
    members["xl/worksheets/sheet1.xml"] = change(sheet)
    assert members["xl/worksheets/sheet1.xml"] != sheet
    changed = path.with_name("changed.xlsx")
    with zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return changed


@pytest.fixture
def squares(openpyxl, tmp_path):
    return saved(openpyxl, tmp_path / "a.xlsx", ("s", [("x", "y"), *((i, i * i) for i in range(50))]))


def test_a_sheet_that_says_it_is_huge(squares, monkeypatch):
    for size in (b"A1", b"A1:XFD1048576"):
        assert load(with_sheet(squares, lambda sheet, size=size: sheet.replace(b"A1:B51", size))).n == 50
    monkeypatch.setattr("warptsp.io.workbook._MOST_CELLS", 90)
    with pytest.raises(ParseError, match="has more than 46 rows of 2 columns"):
        load(squares)


EMPTY = (b"<row/>", b'<row r="60" s="1"></row>', b'<row r="60"><c r="A60" s="1"/> <c r="B60"/></row >')


def test_empty_rows_of_a_sheet_are_not_kept(squares, caplog):
    row = b'<row r="61"><c r="A61"><v>7</v></c><c r="B61"><v>8</v></c></row>'
    changed = with_sheet(
        squares, lambda sheet: sheet.replace(b"</sheetData>", b"".join(EMPTY) * 1000 + row + b"</sheetData>")
    )
    checked = workbook._checked(changed.read_bytes(), "changed.xlsx")
    with zipfile.ZipFile(checked) as archive:
        assert archive.read("xl/worksheets/sheet1.xml").count(b"<row") == 52
    assert [line for line, _ in workbook._rows(checked, "changed.xlsx")[0]] == [*range(1, 52), 61]
    assert load(changed).n == 51
    assert "9 blank rows are left out: lines 52, 53, 54, 55, 56, ..." in caplog.text
    last = with_sheet(changed, lambda sheet: sheet.replace(b"61", b"1048576"))
    assert len(workbook._rows(workbook._checked(last.read_bytes(), "a"), "a")[0]) == 52
    assert load(last).n == 51


def test_what_a_sheet_cannot_have_is_refused(squares, tmp_path, monkeypatch):
    monkeypatch.setattr("warptsp.io.workbook._MOST_CELLS", 500_000)
    title = b'<c r="A1" t="inlineStr"><is><t>' + b"x" * 40_000 + b"</t></is></c>"
    for change, message in (
        (lambda sheet: sheet.replace(b'<row r="51"', b'<row r="1000000000"'), "has a row beyond 1048576"),
        (lambda sheet: re.sub(rb'<c r="A1".*?</c>', title, sheet), "1: has a cell of 40000 char"),
        (lambda sheet: sheet.replace(b"</row>", b'<c r="XFD1"><v>1</v></c></row>'), "of 16384 columns"),
        (lambda sheet: sheet.replace(b"</sheetData>", b"<row/>" * 2_000_000), "looks like a trap"),
    ):
        with pytest.raises(ParseError, match=message):
            load(with_sheet(squares, change))
    (tmp_path / "a.csv").write_text("x" * 40_000 + ",y\n1,2\n3,4\n5,6\n")
    with pytest.raises(ParseError, match="1: a field of 40000 characters: at most 32767 are possible"):
        load(tmp_path / "a.csv")
    for separator in ",", " ":
        (tmp_path / "a.csv").write_text(separator.join("7" * 100_001) + "\n")
        with pytest.raises(ParseError, match="1: 100001 columns: at most 100000 are possible"):
            load(tmp_path / "a.csv")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_folder_for_temporary_files_that_is_full(openpyxl, tmp_path, monkeypatch):
    """openpyxl writes a sheet there first."""
    monkeypatch.setattr("openpyxl.worksheet._writer.create_temporary_file", lambda: "/dev/full")
    monkeypatch.setattr("os.remove", lambda path: None)  # which openpyxl does with it
    (tmp_path / "a.xlsx").write_text("old")
    with pytest.raises(OutputError, match=r"a\.xlsx: cannot write: No space left on device"):
        warptsp.write_tour(tmp_path / "a.xlsx", [0, 1, 2], warptsp.Problem.from_points(np.eye(3, 2)))
    assert (tmp_path / "a.xlsx").read_text() == "old"


def test_hostile_workbooks(openpyxl, tmp_path, monkeypatch):
    path = saved(openpyxl, tmp_path / "a.xlsx", ("s", [("x", "y"), *((i, i * i) for i in range(50))]))
    whole = path.read_bytes()
    seed = np.random.SeedSequence().entropy
    rng = np.random.default_rng(seed)
    print("seed", seed)
    for _ in range(60):
        data = bytearray(whole)
        for place in rng.integers(0, len(data), 3):
            data[place] = rng.integers(0, 256)
        path.write_bytes(bytes(data[: rng.integers(1, len(data) + 1)]))
        with contextlib.suppress(ParseError):
            load(path)
    path.write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(ParseError, match="is damaged"):
        load(path)
    for name, inside, message in (
        ("xl/other.xml", b'<!DOCTYPE a [<!ENTITY b "c">]><a/>', "has a document type"),
        ("xl/other.xml", "\ufeff<!DOCTYPE a []><a/>".encode("utf-16-le"), "has a document type"),
        ("xl/media/zeros", bytes(40_000_000), "looks like a trap"),
    ):
        path.write_bytes(whole)
        with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, inside)
        with pytest.raises(ParseError, match=message):
            load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(ParseError, match="is no workbook of Excel"):
        load(path)
    path.write_bytes(b"\xd0\xcf\x11\xe0" + bytes(508))
    with pytest.raises(ParseError, match="protected by a password"):
        load(path)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    path.write_bytes(whole)
    with pytest.raises(BackendUnavailable, match=r"pip install 'warptsp\[excel\]'"):
        load(path)


def test_parquet(pyarrow, tmp_path, monkeypatch):
    from pyarrow import parquet

    names, lats, lons = zip(*PLACES, strict=True)
    path = tmp_path / "stops.parquet"
    columns = {"name": names, "GPS_lat": lats, "gps lon": lons, "n": [1, 2, 3]}
    parquet.write_table(pyarrow.table(columns), path)
    problem = load(path)
    assert (problem.metric.name, problem.name, list(problem.labels)) == ("GREAT_CIRCLE", "stops", list(names))
    assert problem.coordinates.tolist() == [list(place[1:]) for place in PLACES]
    assert load(path, columns={"x": "gps lon", "y": "n"}).coordinates[1].tolist() == [-9.1375, 2]
    with pytest.raises(ParseError, match="there is no such column"):
        load(path, columns={"x": "far", "y": "n"})
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ParseError, match="is damaged"):
        load(path)
    geometry = pyarrow.table({"geometry": [b"", b""]})
    parquet.write_table(geometry.replace_schema_metadata({"geo": "{}"}), path)
    with pytest.raises(ParseError, match=r"GeoParquet only columns of numbers are read: geopandas.* has"):
        load(path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BackendUnavailable, match=r"pip install 'warptsp\[parquet\]'"):
        load(path)


@pytest.mark.parametrize("kind", ["str", "object", "category"])
def test_parquet_with_the_index_of_a_data_frame(pyarrow, tmp_path, kind):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "a.parquet"
    names = pandas.Index(["A", "B", "C"]).astype(kind)
    distances = [[0, 2, 3], [2, 0, 4], [3, 4, 0]]
    pandas.DataFrame(distances, index=names, columns=["A", "B", "C"]).to_parquet(path)
    problem = load(path)
    assert (problem.metric.name, list(problem.labels)) == ("EXPLICIT", ["A", "B", "C"])
    assert problem.given_matrix().tolist() == distances
    places = {"lat": [1.5, 2.5, 3.5], "lon": [4, 5, 6], "n": [7, 8, 9]}
    pandas.DataFrame(places, index=names).to_parquet(path)
    problem = load(path)
    assert list(problem.labels) == ["A", "B", "C"]
    assert list(problem.extra) == ["n"]
    frame = pandas.DataFrame({**places, "Ort": ["x", "y", "z"]}, index=names)
    frame.to_parquet(path)
    assert list(load(path).labels) == ["x", "y", "z"]
    frame[frame["n"] != 8].reset_index(drop=True).iloc[[1, 0]].to_parquet(path)  # an index of numbers
    problem = load(path)
    assert (list(problem.labels), list(problem.extra), problem.node_ids) == (["z", "x"], ["n"], None)


@pytest.mark.parametrize("names", [["A", None, "C"], [None, None, None]])
def test_parquet_without_some_names(pyarrow, tmp_path, names):
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    encoded = pyarrow.array(names, pyarrow.string()).dictionary_encode()
    for column in (names, encoded, pyarrow.array(names, pyarrow.large_string())):
        parquet.write_table(pyarrow.table({"name": column, "x": [1, 2, 4], "y": [1, 3, 4]}), path)
        assert list(load(path).labels) == [name or "" for name in names]
        table = pyarrow.table({"__index_level_0__": column, "x": [1, 2, 4], "y": [1, 3, 4]})
        parquet.write_table(table, path)
        assert list(load(path).labels) == [name or "" for name in names]
