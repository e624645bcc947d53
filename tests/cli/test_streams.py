"""The command with a closed, a full and a broken standard output or standard error, and without an input."""

import json
import os
import sys
from contextlib import ExitStack, chdir
from functools import partial
from importlib.util import find_spec
from tempfile import TemporaryFile

import numpy as np
import processes
import pytest
from instances import unit_points

import warptsp
from warptsp import cli
from warptsp.cli import COMMANDS, streams

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")

HOW = ("closed", "full", "broken")  # the last, a pipe that nobody reads
SOLVE = ["solve", "some.csv", "--kicks", "5"]
CALLS = {
    "solve": [*SOLVE, "-o", "out.tour", "-o", "out.csv", "--picture", "out.svg", "--report", "out.html"],
    "watch": ["watch", *SOLVE[1:], "--no-browser", "-o", "out.tour"],
    "generate": ["generate", "uniform", "20000"],
    "info": ["info", "some.csv"],
    "check": ["check", "some.csv", "some.csv"],
    "merge": ["merge", "some.csv", "some.csv", "some.csv", "-o", "out.tour"],
    "bound": ["bound", "some.csv", "--iterations", "5", "--certificate", "out.json"],
    "prove": ["prove", "some.csv", "--output", "out.tour", "--certificate", "out.json"],
    "choose": ["choose", "some.csv", "--kicks", "5", "-o", "chosen.csv"],
    "insert": ["insert", "some.csv", "--remove", "3", "-o", "fewer.csv"],
    "solve-many": ["solve-many", "many.npy", "--kicks", "5", "-o", "lengths.csv"],
    "strokes": ["strokes", "some.svg", "-o", "out.svg"],
    "plot": ["plot", "some.csv", "some.csv", "out.svg"],
    "report": ["report", "some.csv", "some.csv", "out.html"],
    "methods": ["methods"],
    "devices": ["devices"],
    "completion": ["completion", "bash"],
    "manual": ["manual"],
    "--json": [*SOLVE, "--json", "-o", "out.tour", "--checkpoint", "out.npy"],
    "-o -": [*SOLVE, "-o", "-", "-o", "out.tour"],
    "--help": ["--help"],
    "--version": ["--version"],
    "nothing": [],
}
# An extra brings HiGHS, which `prove` needs.
RUNNABLE = [call for call in CALLS if call != "prove" or find_spec("highspy") is not None]
FILES = {
    "solve": ["out.tour", "out.csv", "out.svg", "out.html"],
    "watch": ["out.tour"],
    "merge": ["out.tour"],
    "bound": ["out.json"],
    "prove": ["out.tour", "out.json"],
    "choose": ["chosen.csv"],
    "insert": ["fewer.csv"],
    "solve-many": ["lengths.csv"],
    "strokes": ["out.svg"],
    "plot": ["out.svg"],
    "report": ["out.html"],
    "--json": ["out.tour", "out.npy"],
    "-o -": ["out.tour"],
}


@pytest.fixture
def folder(tmp_path):
    rows = np.random.default_rng(0).integers(0, 1000, (20, 2))
    text = "\n".join(f"{city},{x},{y},{city % 5}" for city, (x, y) in enumerate(rows, 1))
    (tmp_path / "some.csv").write_text(f"id,x,y,group\n{text}\n")
    np.save(tmp_path / "many.npy", rows[None].astype(float))
    strokes = "".join(f'<path d="M{x} {y}h9"/>' for x, y in rows)
    (tmp_path / "some.svg").write_text(f'<svg xmlns="http://www.w3.org/2000/svg">{strokes}</svg>')
    return tmp_path


def run(folder, arguments, redirections="", **options):
    """Run the command in a shell, with redirections; PYTHONPATH and all else as it is."""
    line = f'exec "$0" -m warptsp "$@" {redirections}'
    return processes.run(["bash", "-c", line, sys.executable, *arguments], cwd=folder, **options)


def fail(how, number):
    """Let this stream of the process fail in this way."""
    reader, bad = os.pipe() if how == "broken" else 2 * [os.open("/dev/full", os.O_WRONLY)]
    os.dup2(bad, number)
    for descriptor in {reader, bad} | ({number} if how == "closed" else set()):
        os.close(descriptor)


def run_failing(folder, words, how, number):
    """The status of the command with a stream that fails, and what the other stream was told."""
    if words in map(CALLS.get, AS_PROCESSES):
        done = run(folder, words, preexec_fn=partial(fail, how, number))
        return done.returncode, done.stderr if number == 1 else done.stdout
    with ExitStack() as stack, TemporaryFile() as told:
        stack.enter_context(chdir(folder))
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for stream, name in ((1, "stdout"), (2, "stderr")):
            patch.setattr(sys, name, getattr(sys, name))
            before = os.dup(stream)
            stack.callback(os.close, before)
            stack.callback(os.dup2, before, stream)
        os.dup2(told.fileno(), 3 - number)
        fail(how, number)
        streams.secure()
        status = cli.run(words)
        told.seek(0)
        return status, told.read().decode()


def is_whole(folder, names):
    problem = warptsp.load(folder / "some.csv")
    for name in set(names) - {"chosen.csv", "fewer.csv", "lengths.csv"}:
        if name.endswith((".tour", ".csv", ".npy")):
            problem.check_tour(warptsp.read_tour(folder / name, problem))
    assert sorted(os.listdir(folder)) == sorted(["many.npy", "some.csv", "some.svg", *names])


def test_every_command_is_called():
    assert set(COMMANDS) <= set(CALLS)


@pytest.mark.parametrize("bad", ["gone", "path", "name", "input"])
@pytest.mark.parametrize("call", [call for call in RUNNABLE if call in FILES])
def test_what_cannot_be_a_file_is_said_before_any_work(folder, tmp_path, monkeypatch, capsys, call, bad):
    """A working directory that was removed, a path and a name that are longer than the system takes."""
    begin = {"gone": "", "path": "a/" * 2500, "name": "n" * 300, "input": "n" * 300}[bad]
    inputs = [name for name in os.listdir(folder) if bad != "input"]
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    if bad == "gone":
        gone.rmdir()
    words = [
        str(folder / word) if word in inputs else f"{begin}{word}" if "." in word else word
        for word in CALLS[call]
    ]
    assert cli.run(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("warptsp: error: ")
    assert said.err.count("\n") == 1
    assert bad != "gone" or "the working directory is gone" in said.err


# A search and a plain command are processes, whose end belongs to it; the others each fail in one way.
AS_PROCESSES = ("solve", "info")
WAYS = [
    (call, how)
    for number, call in enumerate(CALLS)
    if call in RUNNABLE
    for how in (HOW if call in (*AS_PROCESSES, "--json", "-o -") else [HOW[number % len(HOW)]])
]


@pytest.mark.parametrize(("call", "how"), WAYS)
def test_a_standard_output_that_fails(folder, call, how):
    status, errors = run_failing(folder, CALLS[call], how, 1)
    said = [line for line in errors.splitlines() if line.startswith("warptsp: error: ")]
    if how == "broken":
        assert (status, said) == (141, [])
    else:
        assert status == 2, errors
        reason = "Bad file descriptor" if how == "closed" else "No space left on device"
        assert said == [f"warptsp: error: standard output: cannot write: {reason}"]
        assert errors.endswith(f"{said[0]}\n")
    assert "Traceback" not in errors
    assert "ignored" not in errors
    is_whole(folder, FILES.get(call, []))


@pytest.mark.parametrize(("call", "how"), WAYS)
def test_a_standard_error_that_fails_costs_nothing(folder, call, how):
    status, output = run_failing(folder, CALLS[call], how, 2)
    assert status == (2 if call == "nothing" else 0)
    assert output
    is_whole(folder, FILES.get(call, []))
    if call == "--json":
        assert json.loads(output)["outputs"] == ["out.tour"]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("progress", ["plain", "rich"])
def test_progress_that_nobody_sees_costs_nothing(folder, monkeypatch, how, progress):
    monkeypatch.setattr("warptsp.cli._display.QUICK", 0.0)
    status, output = run_failing(folder, [*SOLVE, "--progress", progress, "-o", "out.tour"], how, 2)
    assert status == 0
    assert "length" in output
    is_whole(folder, ["out.tour"])


def test_all_streams_closed(folder):
    done = run(folder, CALLS["solve"], "<&- >&- 2>&-")
    assert done.returncode == 2
    is_whole(folder, FILES["solve"])


def test_a_failure_keeps_its_status_without_words(folder):
    assert run_failing(folder, ["info", "none.csv"], "full", 2)[0] == 2


def test_head_takes_one_line_and_the_other_tour_is_kept(folder):
    """20 000 cities are more than a pipe holds."""
    code = 'set -o pipefail; "$0" -m warptsp "$@" -q | head -1'
    line = ["solve", "big.npy", "--method", "construct", "-o", "-", "-o", "keep.tour"]
    points = unit_points(20_000)
    np.save(folder / "big.npy", points)
    done = processes.run(["bash", "-c", code, sys.executable, *line], cwd=folder)
    assert done.returncode == 141
    assert done.stdout == "NAME : big.tour\n"
    assert "error" not in done.stderr
    problem = warptsp.Problem.from_points(points)
    problem.check_tour(warptsp.read_tour(folder / "keep.tour", problem))


@pytest.mark.parametrize("call", [["info", "-"], ["check", "some.csv", "-"]])
def test_a_closed_standard_input(folder, call):
    done = run(folder, call, "<&-")
    assert done.returncode == 2
    told = "<stdin>: is closed: redirect it from a file or a pipe, or name a file"
    assert done.stderr == f"warptsp: error: {told}\n"


def test_a_terminal_as_input_is_announced(folder):
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    os.write(master, b"0 0\n3 0\n3 4\n\x04")
    done = run(folder, ["info", "-"], stdin=slave)
    os.close(master)
    os.close(slave)
    assert done.stderr == "the instance is read from the terminal; end it with Ctrl-D\n"
    assert "cities               3" in done.stdout


def test_a_file_does_not_take_the_place_of_a_closed_stream(folder):
    """Without a standard error, the next file would be number 2, and complaints would go there."""
    code = (
        "import os, sys\nfrom warptsp.cli import streams\nstreams.secure()\n"
        "number = os.open('file', os.O_CREAT | os.O_WRONLY)\nassert number > 2\n"
        "print('lost', file=sys.stderr, flush=True)\nos.write(number, b'kept')\n"
    )
    done = processes.run(["bash", "-c", '"$0" -c "$1" 2>&- <&-', sys.executable, code], cwd=folder)
    assert done.returncode == 0
    assert (folder / "file").read_text() == "kept"


@pytest.mark.parametrize(
    "environment", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C.UTF-8"}]
)
def test_names_that_are_not_utf_8(folder, environment):
    instance = os.fsencode(folder) + b"/caf\xe9 \xc3\xa9.csv"
    os.rename(folder / "some.csv", instance)
    (folder / "some.svg").unlink()
    (folder / "many.npy").unlink()
    endings = ["tour", "csv", "npy", "svg", "png", "html", "npy"]
    names = [b"\xff" + str(number).encode() + b"." + end.encode() for number, end in enumerate(endings)]
    options = [b"-o", b"-o", b"-o", b"--picture", b"--picture", b"--report", b"--checkpoint"]
    given = [word for option, name in zip(options, names, strict=True) for word in (option, name)]
    command = [sys.executable, "-m", "warptsp", "solve", instance, b"--kicks", b"5", *given]
    done = processes.run(command, cwd=folder, text=False, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(os.fsencode(folder))) == sorted([os.path.basename(instance), *names])
    assert b"\\xff0.tour" in done.stdout
    problem = warptsp.load(os.fsdecode(instance))
    assert problem.name == "caf\xe9 \xe9"


ESCAPES = "\x1b]0;owned\x07\x1b[31m\x7f\x9b2J\u202e\u2066"


@pytest.mark.skipif(sys.getfilesystemencoding() != "utf-8", reason="names its files in a UTF-8 locale")
def test_text_of_others_does_nothing_to_the_terminal(folder, monkeypatch, capfd):
    monkeypatch.chdir(folder)
    rows = "\n".join(f"{i} {i} {i * i}" for i in range(1, 9))
    (folder / "some.tsp").write_text(
        f"NAME : a{ESCAPES}b\nCOMMENT : c{ESCAPES}d\nTYPE : TSP\nDIMENSION : 8\nEDGE_WEIGHT_TYPE : EUC_2D\n"
        f"NODE_COORD_SECTION\n{rows}\nEOF\n"
    )
    calls = [
        ["solve", "some.tsp", "--kicks", "2"],
        ["solve", "some.tsp", "--kicks", "2", "-o", "-"],
        ["solve", "some.tsp", "--kicks", "2", "--json"],
        ["solve", "some.tsp", "--kicks", "2", "-o", f"{ESCAPES}.tour", "--picture", f"{ESCAPES}.svg"],
        ["solve", "some.tsp", "--param", f"{ESCAPES}=1"],
        ["solve", "some.tsp", "--start", ESCAPES],
        ["solve", "some.tsp", "--from", ESCAPES],
        ["solve", f"{ESCAPES}.tsp"],
        ["info", "some.tsp"],
        ["info", "some.tsp", "--format", ESCAPES],
        ["plot", "some.tsp", "some.tsp", f"{ESCAPES}.svg"],
        [ESCAPES],
        ["generate", ESCAPES],
    ]
    for call in calls:
        cli.run(call)
        assert (said := "".join(capfd.readouterr()))
        assert not set(said) & (set(ESCAPES) - set("]0;owned[31m2J")), call
    picture = (folder / f"{ESCAPES}.svg").read_text()
    __import__("xml.dom.minidom").dom.minidom.parseString(picture)
