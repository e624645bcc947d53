"""Writes, fsyncs and renames that fail: the old file or the new one is whole, and all others are written."""

import errno
import json
import os

import numpy as np
import pytest
from calls import call, raising
from instances import unit_points
from processes import run_command

import warptsp
from warptsp import outputs
from warptsp.errors import InvalidProblem

ENDINGS = ["tour", "csv", "tsv", "geojson", "gpx", "kml", "txt", "npy", "i32"]
FAULTS = ["open", "write", "fsync", "rename", "folder"]


class Fault:
    """Lets one operation fail for the files whose names begin with ``bad``."""

    def __init__(self, monkeypatch, operation):
        self.hits = 0
        self.bad = set()  # inodes
        opened, sync, replace = open, os.fsync, os.replace

        def fail(number=errno.ENOSPC):
            self.hits += 1
            raise OSError(number, os.strerror(number))

        def fault_open(name, mode, **options):
            if not os.path.basename(str(name)).startswith((".bad", "bad")):
                stream = opened(name, mode, **options)
                self.bad.discard(os.fstat(stream.fileno()).st_ino)  # the number of a bad file that is gone
                return stream
            if operation == "open":
                fail(errno.EACCES)
            stream = opened(name, mode, **options)
            self.bad.add(os.fstat(stream.fileno()).st_ino)
            return Full(stream, fail) if operation == "write" else stream

        def fault_sync(descriptor):
            folder = os.path.isdir(f"/proc/self/fd/{descriptor}")
            bad = os.fstat(descriptor).st_ino in self.bad or (folder and operation == "folder" and self.bad)
            if operation in ("fsync", "folder") and bad and folder == (operation == "folder"):
                self.bad.clear()
                fail(errno.EIO)
            sync(descriptor)

        def fault_replace(source, target):
            if operation == "rename" and os.path.basename(target).startswith("bad"):
                fail(errno.EPERM)
            replace(source, target)

        monkeypatch.setattr(outputs, "open", fault_open, raising=False)
        monkeypatch.setattr(os, "fsync", fault_sync)
        monkeypatch.setattr(os, "replace", fault_replace)


class Full:
    """A file on a disk that is full after some bytes."""

    def __init__(self, stream, fail):
        self._stream, self._fail = stream, fail

    def __enter__(self):
        self._stream.__enter__()
        return self

    def __exit__(self, *error):
        return self._stream.__exit__(*error)

    def __getattr__(self, name):
        return getattr(self._stream, name)

    def write(self, data):
        self._stream.write(bytes(data)[:7])
        self._fail()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    places = np.random.default_rng(0).uniform(0, 50, (20, 2))
    rows = "\n".join(f"{city},name {city},{lat},{lon}" for city, (lat, lon) in enumerate(places, 1))
    (tmp_path / "some.csv").write_text(f"id,name,lat,lon\n{rows}\n")
    return tmp_path


def complaint(capsys, words):
    """The one line of complaint, which names the file."""
    said = capsys.readouterr().err.splitlines()
    lines = [line for line in said if "the checkpoint bad.tour already exists" not in line]
    assert len(lines) == 1, lines
    assert lines[0].startswith("warptsp: error: ")
    assert words in lines[0]


def is_whole(folder, path):
    problem = warptsp.load(folder / "some.csv")
    text = (folder / path).read_bytes()
    if path.endswith((".tour", ".csv", ".tsv", ".txt", ".npy", ".i32")):
        problem.check_tour(warptsp.read_tour(folder / path, problem))
    else:
        ends = {
            "geojson": b"}\n", "gpx": b"</gpx>\n", "kml": b"</kml>\n", "svg": b"</svg>\n",
            "html": b"</html>\n", "png": b"IEND\xaeB`\x82", "pdf": b"%%EOF\n",
        }  # fmt: skip
        assert text.endswith(ends[path.rpartition(".")[2]])


@pytest.mark.parametrize("operation", FAULTS)
@pytest.mark.parametrize(
    ("option", "name"),
    [
        *[("-o", f"bad.{ending}") for ending in ENDINGS],
        *[("--picture", f"bad.{ending}") for ending in ("svg", "png", "pdf")],
        ("--report", "bad.html"),
        ("--checkpoint", "bad.tour"),
    ],
)
def test_one_output_of_solve_fails(folder, monkeypatch, capsys, option, name, operation):
    there = (FAULTS.index(operation) + len(name)) % 2 == 0  # an old file, in turn
    if name.endswith(".pdf"):
        pytest.importorskip("matplotlib", reason="an extra brings it")
    if there:
        (folder / name).write_text("old")
    others = ["a.tour", "b.csv", "c.svg", "e.tour"]
    line = ["-o", others[0], option, name, "-o", others[1], "--picture", others[2]]
    if option != "--checkpoint":
        line += ["--checkpoint", others[3]]
    else:
        others.pop()
    fault = Fault(monkeypatch, operation)
    assert call("solve", "some.csv", "--method", "construct", "-q", *line) == 2
    assert fault.hits
    monkeypatch.undo()
    complaint(capsys, f"{name}: cannot write: ")
    for other in others:
        is_whole(folder, other)
    left = set(os.listdir(folder)) - {"some.csv", *others}
    if operation == "folder":  # the file has its name already, and is whole
        assert left == {name}
        is_whole(folder, name)
    elif there:
        assert left == {name}
        assert (folder / name).read_text() == "old"
    else:
        assert left == set()


@pytest.mark.parametrize("operation", FAULTS[:-1])
@pytest.mark.parametrize(
    "line",
    [
        *(["generate", "uniform", "50", "-o", f"bad.{ending}"] for ending in ("tsp", "npy", "f64")),
        ["plot", "some.csv", "some.csv", "bad.svg"],
        ["plot", "some.csv", "some.csv", "bad.png"],
        ["report", "some.csv", "some.csv", "bad.html"],
    ],
)
def test_the_other_commands(folder, monkeypatch, capsys, line, operation):
    (folder / line[-1]).write_text("old")
    fault = Fault(monkeypatch, operation)
    assert call(*line) == 2
    assert fault.hits
    monkeypatch.undo()
    complaint(capsys, f"{line[-1]}: cannot write: ")
    assert (folder / line[-1]).read_text() == "old"
    assert sorted(os.listdir(folder)) == sorted([line[-1], "some.csv"])


def test_all_that_failed_is_named(folder, monkeypatch, capsys):
    Fault(monkeypatch, "rename")
    line = ["-o", "bad.tour", "-o", "good.tour", "-o", "bad.csv", "--report", "bad.html"]
    assert call("solve", "some.csv", "--method", "construct", "-q", *line) == 2
    captured = capsys.readouterr()
    reason = "cannot write: Operation not permitted"
    assert captured.err == f"warptsp: error: bad.tour: {reason}; bad.csv: {reason}; bad.html: {reason}\n"
    # The result says what is there.
    assert "tour         good.tour\n" in captured.out
    assert "bad" not in captured.out
    assert sorted(os.listdir(folder)) == ["good.tour", "some.csv"]


def test_a_checkpoint_is_listed_where_it_was_written(folder, monkeypatch, capsys):
    line = ["solve", "some.csv", "-q", "--json", "--kicks", "50", "--checkpoint", "bad.tour"]
    assert call(*line) == 0
    assert json.loads(capsys.readouterr().out)["checkpoint"] == "bad.tour"
    Fault(monkeypatch, "fsync")
    assert call(*line) == 2
    assert json.loads(capsys.readouterr().out)["checkpoint"] is None


@pytest.mark.parametrize("method", ["lk", "two-opt", "ils"])
@pytest.mark.parametrize("kind", ["points", "matrix"])
def test_an_array_that_changes_under_the_search(kind, method):
    points = unit_points(200)
    array = points if kind == "points" else np.linalg.norm(points[:, None] - points, axis=2)

    def spoil(progress):
        array[:] = np.nan

    with pytest.raises(InvalidProblem, match="the instance was changed during the search"):
        warptsp.solve(array, method=method, kicks=2000, callback=spoil)


def test_files_may_not_grow(folder):
    """RLIMIT_FSIZE: what is too large fails, what is small is written."""
    resource = pytest.importorskip("resource")
    np.save(folder / "big.npy", unit_points(4000))
    (folder / "out.csv").write_text("old")
    words = ["--method", "construct", "-q", "-o", "out.csv", "-o", "out.i32", "--picture", "out.svg"]
    done = run_command(
        *["solve", "big.npy", *words],
        cwd=folder,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
    )
    assert done.returncode == 2
    said = "; ".join(f"out.{ending}: cannot write: File too large" for ending in ("csv", "svg"))
    assert done.stderr == f"warptsp: error: {said}\n"
    assert (folder / "out.csv").read_text() == "old"
    problem = warptsp.load(folder / "big.npy")
    problem.check_tour(warptsp.read_tour(folder / "out.i32", problem))
    assert sorted(os.listdir(folder)) == ["big.npy", "out.csv", "out.i32", "some.csv"]


def test_a_full_device(folder):
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    (folder / "full.tour").symlink_to("/dev/full")
    done = run_command("solve", "some.csv", "-q", "-o", "full.tour", "-o", "good.tour", cwd=folder)
    assert done.returncode == 2
    assert done.stderr == "warptsp: error: full.tour: cannot write: No space left on device\n"
    is_whole(folder, "good.tour")


def test_a_fault_of_one_writer_does_not_cost_the_others(folder, monkeypatch):
    """Not even one that is a bug."""
    monkeypatch.setattr("warptsp.plotting.draw", raising(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        call("solve", "some.csv", "--kicks", "2", "-q", "--picture", "bad.svg", "-o", "-", "-o", "good.tour")
    is_whole(folder, "good.tour")


def test_a_signal_in_the_middle_of_the_kernel_cache(tmp_path, monkeypatch):
    from warptsp.backends.cuda import cache

    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    monkeypatch.setattr(cache, "_encode", raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        cache.store("key", cache.Code("ptx", b"", {}))
    assert list((tmp_path / "kernels").iterdir()) == []
