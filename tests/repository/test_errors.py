"""The exceptions: what they say, and what else they are."""

import contextlib
import pickle
import re
from errno import ENOENT
from pathlib import Path

import pytest
from calls import invoke
from error_messages import is_known, said

import warptsp
from warptsp import errors
from warptsp.strokes.files import read_drawing


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "it is wrong"),
        ({"file": "a.tsp"}, "a.tsp: it is wrong"),
        ({"file": "a.tsp", "line": 3, "keyword": "TYPE"}, "a.tsp:3: it is wrong"),
        ({"line": 3}, "line 3: it is wrong"),
    ],
)
def test_a_parse_error_says_where(arguments, text):
    error = errors.ParseError("it is wrong", **arguments)
    assert str(error) == text
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == text
    assert (copy.file, copy.line, copy.keyword) == (error.file, error.line, error.keyword)


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("InvalidProblem", ValueError),
        ("ParseError", errors.InvalidProblem),
        ("InvalidTour", ValueError),
        ("InvalidOption", ValueError),
        ("UnsupportedProblem", errors.WarpTSPError),
        ("BackendUnavailable", RuntimeError),
        ("DeviceOutOfMemory", MemoryError),
        ("OutputError", OSError),
        ("MissingFile", errors.ParseError),
        ("MissingFile", FileNotFoundError),
        ("UnreadableFile", OSError),
    ],
)
def test_each_error_is_also_what_python_programs_expect(name, base):
    error = getattr(errors, name)("message")
    assert isinstance(error, errors.WarpTSPError)
    assert isinstance(error, base)
    assert str(error) == "message"


@pytest.mark.parametrize("read", [warptsp.load, warptsp.solve, warptsp.solve_many, read_drawing])
def test_a_missing_file_is_what_python_calls_it(read, tmp_path):
    for name in ("none.npy", "none.svg") if read is not read_drawing else ("none.svg",):
        with pytest.raises(FileNotFoundError, match=f"{name}: ") as caught:
            read(tmp_path / name)
        error = caught.value
        assert isinstance(error, errors.ParseError)
        assert (error.errno, error.filename, error.file) == (ENOENT, *[str(tmp_path / name)] * 2)
        copy = pickle.loads(pickle.dumps(error))
        assert (str(copy), copy.errno, copy.filename) == (str(error), error.errno, error.filename)
    with pytest.raises(OSError, match="is a directory") as caught:
        warptsp.load(tmp_path)
    assert not isinstance(caught.value, FileNotFoundError)


def test_every_message_on_the_page_of_errors_is_one():
    page = (Path(__file__).parents[2] / "docs" / "errors.md").read_text(encoding="utf-8")
    rows = [re.split(r"(?<!\\)\|", line)[1] for line in page.splitlines() if line.startswith("| `")]
    entries = [entry.replace("\\|", "|") for row in rows for entry in re.findall("`(.+?)`", row)]
    known = [*said().texts, *(message.template for message in said().messages)]
    stale = [entry for entry in entries if not is_known(entry, known)]
    assert not stale, f"docs/errors.md has messages that no line of the source has: {stale}"


PYTHON = re.compile(r"\b[A-Za-z_]\w*=|\b\w+\.[a-z_]\w*\(|\b(?:Problem|Result|OpenPath|scipy|warptsp)[.(]")
SHELL = re.compile(r"(?<![\w-])--?[a-z]|warptsp (solve|watch|plot|report|check|info|generate)\b")
# What has one kind of caller only: by module, and by how the message begins.
OF_SHELL = ("cli/",)
OF_PYTHON = ("interop/", "io/table/frame.py")
OF_PYTHON_TEXTS = (
    "stop: ",
    "open: ",
    "NoImprovement: ",
    "panel ",
    "the sparse matrix",
    "the path's ",  # its ends are options that take names
    "open is ",
    "metric is ",
    "cluster: a dask Client ",
)
NEITHER = (
    "annotations=",
    "CUDA_VISIBLE_DEVICES=",
    "--gpus all",
    "NAME=VALUE",
)  # of other programs, or of both


def wrong_words(template, place, known):
    """The words of a message that one of its callers does not know."""
    for text in [*NEITHER, *known]:
        template = template.replace(text, "")
    found = []
    if not place.startswith(OF_PYTHON) and not template.startswith(OF_PYTHON_TEXTS):
        found += PYTHON.findall(template)
    if not place.startswith(OF_SHELL):
        found += SHELL.findall(template)
    return found


def test_messages_name_what_their_callers_have():
    """What Python and the command line call differently goes through `as_called`."""
    known = [python for python, _, _ in said().words_of_callers if wrong_words(python, "", [])]
    wrong = [(m.place, m.template) for m in said().messages if wrong_words(m.template, m.place, known)]
    assert not wrong, wrong


def test_the_words_of_each_caller_are_its_own():
    assert len(said().words_of_callers) > 5
    for python, shell, place in said().words_of_callers:
        assert not SHELL.search(python), place
        assert not PYTHON.search(shell), place
        assert python != shell, place


def test_the_command_line_speaks_of_options(tmp_path):
    """The same faults as Python's callers make; each message is given in the words of who made it."""
    (tmp_path / "a.csv").write_text("0,1,5\n2,0,1\n1,5,0\n")
    (tmp_path / "b.csv").write_text("x,y\n0,0\n3,4\n5,6\n7,1\n")
    (tmp_path / "c.csv").write_text("0,1,5\n1,0,1\n5,1,0\n")
    (tmp_path / "c.tour").write_text("1\n2\n3\n")
    (tmp_path / "o.json").write_text('{"code": "Ok"}')
    faults = [
        ("solve a.csv", "give --asymmetric"),
        ("solve b.csv --then-param passes=1", "--then-param: there is no second method; name it with --then"),
        (
            "solve b.csv --cluster-param part=1",
            "--cluster-param: there is no cluster; name it with --cluster",
        ),
        ("solve b.csv --method exact --param a=1", "--param: method exact has no parameters"),
        ("solve b.csv --target-gap 1", "give --target-gap PERCENT%bound, or --target-length"),
        ("solve c.csv --picture c.svg", "DISPLAY_DATA_SECTION"),
        ("plot c.csv c.tour c.svg", "DISPLAY_DATA_SECTION"),
        ("solve o.json", "ask the service for one of them"),
        ("solve b.csv --start nowhere", "neither a construction"),
        ("solve b.csv --kicks -1", "kicks"),
        ("solve b.csv --no-improvement -1", "--no-improvement"),
        ("solve b.csv --no-improvement-kicks -1", "no improvement"),
        ("solve b.csv --time-limit 0 --threads 0", "threads"),
        ("solve b.csv --device gpu", "device"),
        ("solve b.csv --method nothing", "method"),
        ("solve b.csv --format nothing", "format"),
    ]
    with contextlib.chdir(tmp_path):
        for line, expected in faults:
            failed = invoke(*line.split())
            assert failed.exit_code != 0, line
            told = failed.output if isinstance(failed.exception, SystemExit) else str(failed.exception)
            assert expected in told, line
            assert not PYTHON.search(told), line
    with pytest.raises(errors.InvalidOption, match=r"^then_params: .* name it with then$"):
        warptsp.solve([[0, 0], [1, 1], [2, 0], [3, 3]], then_params={"passes": 1})
    with pytest.raises(errors.InvalidOption, match=r"^params: method exact has no parameters"):
        warptsp.solve([[0, 0], [1, 1], [2, 0], [3, 3]], method="exact", params={"a": 1})


def test_one_city_is_a_city(tmp_path):
    (tmp_path / "one.csv").write_text("x,y\n1,2\n")
    (tmp_path / "one.tour").write_text("1\n")
    with contextlib.chdir(tmp_path):
        for line in ("solve one.csv", "check one.csv one.tour", "generate uniform 1 -o two.tsp"):
            done = invoke(*line.split())
            assert done.exit_code == 0, done.output
            assert "1 cities" not in done.output
            assert "city" in done.output


@pytest.mark.parametrize("line", ["info b.csv", "check b.csv b.tour", "plot b.csv b.tour b.svg",
                                  "report b.csv b.tour b.html", "solve b.csv --kicks 1"])  # fmt: skip
def test_every_command_on_an_instance_can_be_quiet(tmp_path, line):
    (tmp_path / "b.csv").write_text("x,y\n0,0\n3,4\n5,6\n7,1\n")
    (tmp_path / "b.tour").write_text("1\n2\n3\n4\n")
    with contextlib.chdir(tmp_path):
        done = invoke(*line.split(), "-q")
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    assert bool(done.stdout) == line.startswith("solve")  # whose option is about progress
