"""Files that are larger, deeper or elsewhere than they look."""

import gzip
import shlex
import sys

import numpy as np
import processes
import pytest
from processes import run_code

from warptsp import Problem, read_tour
from warptsp.cli import run
from warptsp.errors import InvalidOption, ParseError
from warptsp.io import _files, load


@pytest.fixture
def bomb(tmp_path):
    file = tmp_path / "bomb.csv.gz"
    file.write_bytes(gzip.compress(b"1,2\n" * (_files.ALWAYS // 4 + 1), mtime=0))
    return file


def test_a_packed_text_has_a_bound(bomb, monkeypatch):
    with pytest.raises(ParseError, match=r"bomb.csv.gz: has \d+ packed bytes and more than 32000000"):
        load(bomb)
    with pytest.raises(ParseError, match="set WARPTSP_MAX_UNPACKED"):
        read_tour(bomb, Problem.from_points([[0, 0], [1, 1]]))
    monkeypatch.setenv("WARPTSP_MAX_UNPACKED", "1k")
    with pytest.raises(ParseError, match="more than 1000 unpacked"):
        load(bomb)
    monkeypatch.setenv("WARPTSP_MAX_UNPACKED", "lots")
    with pytest.raises(InvalidOption, match="'lots' is not a number of bytes, such as 500M or 20G"):
        load(bomb)


def test_the_bound_can_be_raised_and_grows_with_the_file(tmp_path, monkeypatch):
    file = tmp_path / "grid.csv.gz"
    file.write_bytes(gzip.compress(b"1,2\n3,4\n" * 1000, mtime=0))
    monkeypatch.setattr(_files, "ALWAYS", 100)
    with pytest.raises(ParseError, match="looks like a trap"):
        load(file)
    monkeypatch.setenv("WARPTSP_MAX_UNPACKED", " 8000 ")
    assert load(file).n == 2000
    monkeypatch.delenv("WARPTSP_MAX_UNPACKED")
    monkeypatch.setattr(_files, "RATIO", 1000)
    assert load(file).n == 2000


def test_no_more_than_the_bound_is_unpacked(bomb, monkeypatch):
    monkeypatch.setenv("WARPTSP_MAX_UNPACKED", "2M")
    read = []
    original = gzip.GzipFile.read

    def counted(stream, size=-1):
        piece = original(stream, size)
        read.append(len(piece))
        return piece

    monkeypatch.setattr(gzip.GzipFile, "read", counted)
    with pytest.raises(ParseError, match="packed bytes"):
        load(bomb)
    assert sum(read) < 4_000_000


def header(shape, descr="'<f8'"):
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize("shape", ["(10000000000, 2)", "(-1, 2)", f"({'9' * 23}, 2)", "(2**70, 2)", "[2, 2]"])
@pytest.mark.parametrize("piped", [False, True])
def test_a_header_that_lies_about_the_shape(tmp_path, shape, piped):
    file = tmp_path / ("a.npy.gz" if piped else "a.npy")
    data = header(shape) + bytes(32)
    file.write_bytes(gzip.compress(data) if piped else data)
    with pytest.raises(ParseError, match=r"a\.npy(\.gz)?: is not a readable \.npy file"):
        load(file)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_packed_arrays_are_those_of_the_file(tmp_path, order, version):
    array = np.asarray(np.arange(12.0).reshape(6, 2), order=order)
    with open(tmp_path / "a.npy", "wb") as stream:
        np.lib.format.write_array(stream, array, version=version)
    (tmp_path / "b.npy.gz").write_bytes(gzip.compress((tmp_path / "a.npy").read_bytes()))
    (tmp_path / "b.f64.gz").write_bytes(gzip.compress(array.tobytes()))
    for name in ("a.npy", "b.npy.gz", "b.f64.gz"):
        assert np.array_equal(load(tmp_path / name).coordinates, array)


@pytest.mark.parametrize(
    "address", ["https://example.org/a.csv", "http:/example.org/a.gz", "s3://bucket/a.npy"]
)
def test_addresses_are_not_fetched(address, capsys):
    assert run(["info", address]) == 2
    host = address.split("/", 1)[1].strip("/")
    said = capsys.readouterr().err
    assert f"{address.split(':')[0]}://{host}: is an address, and nothing is fetched: download it" in said
    with pytest.raises(ParseError, match="is an address"):
        read_tour(address, Problem.from_points([[0, 0]]))


def test_a_folder_may_look_like_an_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "https:").mkdir()
    (tmp_path / "https:" / "a.csv").write_text("1,2\n3,4\n")
    assert load("https:/a.csv").n == 2
    with pytest.raises(ParseError, match="no such file"):
        load("C:/a.csv")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no /dev")
@pytest.mark.parametrize("name", ["/dev/zero", "/dev/null", "/dev/urandom"])
@pytest.mark.parametrize("format_", [None, "f64", "csv"])
def test_devices_may_have_no_end(name, format_):
    with pytest.raises(ParseError, match="is a device, which may have no end"):
        load(name, format_)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no /dev")
@pytest.mark.parametrize(
    ("shell", "words"),
    [
        ("warptsp solve - < /dev/zero", "<stdin>: is a device, which may have no end"),
        ("warptsp solve - < /dev/null", "<stdin>: is empty"),
        (
            "printf 'x,y\\n0,0\\n3,4\\n' | warptsp check - -",
            "<stdin>: is empty, as it is when it is read once more",
        ),
        ("cat /dev/zero | warptsp solve -", "<stdin>: begins with 1048576 zero bytes"),
        ("cat /dev/zero | warptsp check /dev/stdin a.tour", "/dev/stdin: begins with 1048576 zero bytes"),
    ],
)
def test_standard_input_without_end(shell, words):
    line = shell.replace("warptsp", f"{shlex.quote(sys.executable)} -m warptsp", 1)
    done = processes.run(["bash", "-c", line])
    assert done.returncode == 2
    assert done.stderr.startswith(f"warptsp: error: {words}")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no /dev")
@pytest.mark.parametrize(("name", "n"), [("/dev/stdin", 2), ("-", 300_000)])  # the second in two pieces
def test_pipes_are_read_to_the_end(name, n):
    rows = "".join(f"{city},{city % 997}\n" for city in range(n))
    done = run_code(f"import warptsp; print(warptsp.load({name!r}, 'csv').n)", input=rows, check=True)
    assert done.stdout.strip() == str(n)


@pytest.mark.parametrize("name", ["a\0b", b"a\0b", "\ud800", 5, None, ["a"]])
def test_what_is_no_name_of_a_file(name):
    for door in (load, lambda name: read_tour(name, Problem.from_points([[0, 0]]))):
        with pytest.raises(ParseError, match=r"no file is called .*: the name of one is needed"):
            door(name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("h.kml", "<html/>"),
        ("h.gpx", "<!DOCTYPE gpx><gpx/>"),
        ("h.json", '{"type": "Point", "coordinates": [Infinity, 1]}'),
        ("h.json", '{"type": "Point", "coordinates": [1]}'),
        ("h.json", '{"durations": [[0, 1]]}'),
        ("h.json", "[" * 100_000),
        ("h.csv", "lat,lon\n91,0\n"),
        ("h.tsp", "DIMENSION: x"),
    ],
)
def test_the_file_is_named_once(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(ParseError) as caught:
        load(tmp_path / name)
    assert str(caught.value).count(name) == 1
    assert " is not XML" not in str(caught.value)
    assert "cannot be read as JSON" not in str(caught.value)


def test_a_lack_of_memory_is_no_damage():
    with pytest.raises(ParseError, match="f: is damaged: 'anything'"), _files.undamaged("f"):
        raise ValueError("anything")
    with pytest.raises(MemoryError), _files.undamaged("f"):
        raise MemoryError
